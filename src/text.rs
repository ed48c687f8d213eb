//! Programs as MLIR text: what the runtime's kernels look like in it, and how it becomes a BEF file.

use tfrt_convert::{ConvertOptions, add_signatures, mlir_to_bef};
use tfrt_host::{Diagnostic, ErrorCode, KernelRegistry, SourceLocation};
use tfrt_ir::{Diagnostics, OpRegistry, ParseOptions, Source, parse_module};

use crate::Errors;

/// The operations of MLIR text that stand for these kernels.
///
/// # Errors
/// The kernels whose signature has no counterpart in MLIR.
pub fn operations(kernels: &KernelRegistry) -> Result<OpRegistry, Errors> {
    let mut ops = OpRegistry::new();
    ops.add_core_ops();
    add_signatures(&mut ops, kernels).map_err(|errors| -> Errors {
        errors.into_iter().map(|error| Diagnostic::new(ErrorCode::Internal, error)).collect::<Vec<_>>().into()
    })?;
    Ok(ops)
}

/// Parses and verifies MLIR text and encodes it as a BEF file.
///
/// # Errors
/// Everything wrong with the text.
pub(crate) fn compile(
    source: &Source,
    ops: &OpRegistry,
    parse: &ParseOptions,
) -> Result<Vec<u8>, Diagnostics> {
    mlir_to_bef(&parse_module(source, ops, parse)?, ConvertOptions::default())
}

/// The same findings as the runtime's own errors. Warnings and remarks are no errors and are left out.
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
