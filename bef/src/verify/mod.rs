//! The verifier: everything a reader of a file relies on, checked once.
//!
//! Checked are
//!
//! **File.** The magic number. Every section header lies in the file, its length too, and its alignment is a power of two
//! of at most 128 (relative to the start of the file). No known section occurs twice; unknown sections are skipped.
//! FormatVersion, Kernels, Types and FunctionIndex exist. The version is one this crate knows, and nothing follows it.
//!
//! **Strings and file names.** The section is UTF-8 and ends with NUL. An offset of a string is the start of one.
//!
//! **Locations.** The LocationPositions section is a sequence of whole triples whose file name exists. An offset of a
//! location is the start of one; a file without locations may hold any offset, which then means *unknown*.
//!
//! **Kernels, Types, FunctionIndex.** Counts fit the section, nothing follows the last entry, every name is a string, no
//! kernel and no type is listed twice, type indices exist, function kinds are known. Named functions have names of their
//! own; native functions have a name.
//!
//! **Function bodies** lie in the section and do not overlap. In each: the location; the register, kernel and result
//! tables; kernel records are aligned, in the order of the kernel table, and do not overlap. For each record every count
//! fits, the kernel code, the location, the functions and the attribute offsets exist, and unknown special metadata is
//! refused. Kernel 0 is the pseudo kernel: no arguments, attributes or functions; its results are the pseudo register and
//! then one register for each argument. Kernels stand after those whose results they read, every register is defined
//! exactly once, and results are defined registers. The number of operands a kernel waits for is its number of arguments
//! (one at most if it is non-strict). Each register's use count is the number of times it is read, and its used-by list is
//! the kernels that do; the pseudo register's is the kernels without arguments.
//!
//! **AttributeTypes.** Kinds are known, attributes do not overlap, and each decodes as its kind, elements of aggregates
//! included: lengths in bounds, headers aligned and consistent, elements aligned for their type, booleans 0 or 1, data
//! types known, shapes and element counts in agreement, aggregates without overlap and at most
//! [`MAX_AGGREGATE_DEPTH`](crate::MAX_AGGREGATE_DEPTH) deep. Attributes not listed are checked when they are read.
//!
//! **AttributeNames, RegisterTypes.** One table for each function with a body; counts agree with the function's kernels,
//! attributes and registers; names are strings, types exist; the special attribute says what the record's metadata says;
//! the types of arguments and results are those of the FunctionIndex.
//!
//! Because bodies, records and attributes may not overlap, time and memory are bounded by a small multiple of the file's
//! size (times the logarithm of it).

mod attributes;
mod body;
mod optional;
mod sections;
mod tables;

use crate::contents::Contents;
use crate::error::BefError;

/// How many errors are collected before the rest is left unsaid.
const MAX_ERRORS: usize = 64;

/// A list of errors that stops growing.
#[derive(Default)]
pub(crate) struct Errors(Vec<BefError>);

impl Errors {
    pub(crate) fn push(&mut self, error: BefError) {
        if self.0.len() < MAX_ERRORS {
            self.0.push(error);
        }
    }

    /// Keeps the value, or notes the error.
    pub(crate) fn note<T>(&mut self, result: Result<T, BefError>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    fn stop_if_any(&mut self) -> Result<(), Vec<BefError>> {
        if self.0.is_empty() { Ok(()) } else { Err(std::mem::take(&mut self.0)) }
    }
}

/// Verifies a whole file. `bytes` must be aligned to [`crate::MAX_ALIGNMENT`].
///
/// A stage starts only when those before it found nothing, because it relies on what they checked.
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
