//! The verifier: checks once everything that readers of a file rely on.
//!
//! **File.** The magic number is present. Every section header and its data lie in the file, and
//! its alignment is a power of two of at most 128, relative to the start of the file. No known
//! section occurs twice; unknown sections are skipped. FormatVersion, Kernels, Types and
//! FunctionIndex exist. The version is known, and nothing follows it.
//!
//! **Strings and file names.** The section is UTF-8 and ends with NUL. An offset of a string is the
//! start of one.
//!
//! **Locations.** The LocationPositions section is a sequence of whole triples whose file name
//! exists. An offset of a location is the start of one. In a file without locations any offset is
//! accepted and means *unknown*.
//!
//! **Kernels, Types, FunctionIndex.** Counts fit the section, and nothing follows the last entry.
//! Every name is a string, no kernel and no type is listed twice, type indices exist, and function
//! kinds are known. Names of functions are unique, and native functions have a name.
//!
//! **Function bodies** lie in the section and do not overlap. Each has a location and register,
//! kernel and result tables. Kernel records are aligned, in the order of the kernel table, and do
//! not overlap. In each record all counts fit, and the kernel code, the location, the functions and
//! the attribute offsets exist. Unknown special metadata is refused.
//!
//! Kernel 0 is the pseudo kernel. It has no arguments, attributes or functions; its results are the
//! pseudo register and one register per argument. Kernels come after those whose results they read,
//! every register is defined exactly once, and results are defined registers. A kernel waits for as
//! many operands as it has arguments, or at most one if it is non-strict. Each register's use count
//! is the number of its reads, and its used-by list contains the reading kernels. The used-by list
//! of the pseudo register contains the kernels without arguments.
//!
//! **AttributeTypes.** Kinds are known, attributes do not overlap, and each decodes as its kind,
//! including the elements of aggregates: lengths are in bounds, headers are aligned and consistent,
//! elements are aligned for their type, booleans are 0 or 1, data types are known, shapes agree
//! with element counts, and aggregates do not overlap and nest at most
//! [`MAX_AGGREGATE_DEPTH`](crate::MAX_AGGREGATE_DEPTH) deep. Unlisted attributes are checked when
//! they are read.
//!
//! **AttributeNames, RegisterTypes.** There is one table for each function with a body. Counts
//! agree with the function's kernels, attributes and registers. Names are strings and types exist.
//! The special attribute agrees with the record's metadata. The types of arguments and results are
//! those of the FunctionIndex.
//!
//! Because bodies, records and attributes do not overlap, time and memory are bounded by a small
//! multiple of the file's size, times its logarithm.

mod attributes;
mod body;
mod optional;
mod sections;
mod tables;

use crate::contents::Contents;
use crate::error::BefError;

/// The most errors that are collected. Further ones are dropped.
const MAX_ERRORS: usize = 64;

/// A list of errors with a maximum length.
#[derive(Default)]
pub(crate) struct Errors(Vec<BefError>);

impl Errors {
    pub(crate) fn push(&mut self, error: BefError) {
        if self.0.len() < MAX_ERRORS {
            self.0.push(error);
        }
    }

    /// Returns the value, or records the error.
    pub(crate) fn note<T>(&mut self, result: Result<T, BefError>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    fn stop_if_any(&mut self) -> Result<(), Vec<BefError>> {
        if self.0.is_empty() { Ok(()) } else { Err(std::mem::take(&mut self.0)) }
    }
}

/// Verifies a whole file. `bytes` must be aligned to [`crate::MAX_ALIGNMENT`].
///
/// A stage relies on the checks of earlier stages, so it runs only if those found no errors.
pub(crate) fn verify(bytes: &[u8]) -> Result<Contents, Vec<BefError>> {
    let mut errors = Errors::default();
    let mut contents =
        Contents { sections: sections::read(bytes).map_err(|error| vec![error])?, ..Contents::default() };
    sections::check(bytes, &mut contents, &mut errors);
    errors.stop_if_any()?;
    let strings = tables::read(bytes, &mut contents, &mut errors);
    errors.stop_if_any()?;
    tables::read_functions(bytes, &mut contents, &strings, &mut errors);
    errors.stop_if_any()?;
    body::read(bytes, &mut contents, &mut errors);
    errors.stop_if_any()?;
    attributes::read(bytes, &mut contents, &mut errors);
    optional::read(bytes, &mut contents, &strings, &mut errors);
    errors.stop_if_any()?;
    Ok(contents)
}
