//! The end of every chain of handlers.

use tfrt_host::{Diagnostic, ErrorCode};

use super::OpHandler;
use crate::CoreRuntimeOp;

/// A handler without ops.
#[derive(Clone, Copy, Debug)]
pub struct NullOpHandler;

impl OpHandler for NullOpHandler {
    fn make_op(&self, name: &str) -> Result<CoreRuntimeOp, Diagnostic> {
        let message = format!("{name} was not supported by NullOpHandler.");
        Err(Diagnostic::new(ErrorCode::NotFound, message))
    }
}
