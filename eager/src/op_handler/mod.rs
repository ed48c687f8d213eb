//! Op handlers: who runs an op, and where.

mod composite;
mod cpu;
mod device;
mod logging;
mod null;

use std::{fmt, sync::Arc};

use tfrt_host::{Diagnostic, value_type};

pub use composite::CompositeOp;
pub use cpu::CpuOpHandler;
pub use device::DeviceOpHandler;
pub use logging::LoggingOpHandler;
pub use null::NullOpHandler;

use crate::CoreRuntimeOp;

/// Runs ops on one kind of device. Handlers form chains: what one does not know it asks its fall-back for.
pub trait OpHandler: Send + Sync {
    /// The op of this name, to be called often.
    ///
    /// # Errors
    /// NotFound if neither this handler nor its fall-back has such an op.
    fn make_op(&self, name: &str) -> Result<CoreRuntimeOp, Diagnostic>;
}

/// An op handler as a value of programs.
#[derive(Clone)]
pub(crate) struct HandlerRef(pub(crate) Arc<dyn OpHandler>);

value_type!(HandlerRef, "!corert.ophandler");

impl fmt::Debug for HandlerRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HandlerRef")
    }
}
