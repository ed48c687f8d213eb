//! Missing chains of loaded programs.

use tfrt_bef::VerifiedBef;
use tfrt_compiler::chains::{self, check_function};
use tfrt_host::{Diagnostic, ErrorCode, SourceLocation};
use tfrt_ir::Location;

use crate::{Errors, Runtime};

/// A missing chain of a program.
#[derive(Clone, Debug)]
pub struct MissingChain {
    /// What is wrong, at the later of the two kernels.
    pub error: Diagnostic,
    /// Where the two kernels stand, if that is known.
    pub kernels: Vec<SourceLocation>,
}

impl Runtime {
    /// Finds accesses to host and device memory that no chain orders, in a function and in all that
    /// it calls: two kernels that use the same contents, one of which changes them.
    ///
    /// The program's graph and the metadata of its kernels decide, so that a missing chain is found
    /// whether or not the two kernels meet when the function runs. The program is read back as
    /// MLIR. A file without register types does not say what its values are, and nothing is found.
    ///
    /// # Errors
    /// If the program cannot be read as a kernel graph.
    pub fn missing_chains(&self, program: &VerifiedBef, function: &str) -> Result<Vec<MissingChain>, Errors> {
        let ops = crate::operations(self.registry())?;
        let converted = tfrt_convert::bef_to_mlir(program.bytes().to_vec(), &ops, &Location::Unknown)?;
        Ok(check_function(&converted.module, &ops, function).into_iter().map(describe).collect())
    }
}

fn describe(missing: chains::MissingChain) -> MissingChain {
    let mut error = Diagnostic::new(ErrorCode::DataRace, missing.message);
    error.location = place_of(&missing.location);
    error.notes = missing.notes.into_iter().map(|note| note.message).collect();
    MissingChain { error, kernels: missing.kernels.iter().filter_map(place_of).collect() }
}

fn place_of(location: &Location) -> Option<SourceLocation> {
    let (file, line, column) = location.file_position()?;
    Some(SourceLocation { file: file.as_str().into(), line, column })
}
