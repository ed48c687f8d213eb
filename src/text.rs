//! Programs as MLIR text: the operations of the runtime's kernels, and compilation to BEF.

use tfrt_convert::{ConvertOptions, mlir_to_bef};
use tfrt_host::{Diagnostic, ErrorCode, KernelRegistry, SourceLocation};
use tfrt_ir::{Diagnostics, OpRegistry, ParseOptions, Source, parse_module};

use crate::Errors;

/// Returns the MLIR operations of these kernels, and those of the dialects of op graphs.
///
/// # Errors
/// All kernels whose signature has no counterpart in MLIR.
pub fn operations(kernels: &KernelRegistry) -> Result<OpRegistry, Errors> {
    let to_errors = |errors: Vec<String>| -> Errors {
        errors.into_iter().map(|error| Diagnostic::new(ErrorCode::Internal, error)).collect::<Vec<_>>().into()
    };
    let mut operations = tfrt_convert::operations(kernels).map_err(to_errors)?;
    tfrt_compiler::dialect::register(&mut operations).map_err(|error| to_errors(vec![error]))?;
    Ok(operations)
}

/// Parses and verifies MLIR text and encodes it as a BEF file.
///
/// # Errors
/// All errors of the text.
pub(crate) fn compile(
    source: &Source,
    ops: &OpRegistry,
    parse: &ParseOptions,
) -> Result<Vec<u8>, Diagnostics> {
    mlir_to_bef(&parse_module(source, ops, parse)?, ops, ConvertOptions::default())
}

/// Converts the errors among diagnostics of MLIR text. Warnings and remarks are left out.
impl From<Diagnostics> for Errors {
    fn from(diagnostics: Diagnostics) -> Self {
        let errors = diagnostics.iter().filter(|finding| finding.severity == tfrt_ir::Severity::Error);
        let diagnostic = |finding: &tfrt_ir::Diagnostic| {
            let mut error = Diagnostic::invalid_argument(&finding.message);
            error.location = finding.location.file_position().map(|(file, line, column)| SourceLocation {
                file: file.as_str().into(),
                line,
                column,
            });
            error.notes.extend(finding.notes.iter().map(|note| note.message.clone()));
            error
        };
        Self(errors.map(diagnostic).collect())
    }
}
