//! Op handlers: who runs an op, and where.

mod composite;
mod cpu;
mod device;
mod logging;
mod null;

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use tfrt_host::{Diagnostic, value_type};

pub use composite::CompositeOp;
pub use cpu::CpuOpHandler;
pub use device::DeviceOpHandler;
pub use logging::LoggingOpHandler;
pub use null::NullOpHandler;

use crate::{CoreRuntimeOp, Device, Op, OpInvocation, OpRegistry, dispatch};

/// Runs ops on one kind of device. Handlers form chains: what one does not know it asks its
/// fall-back for.
pub trait OpHandler: Send + Sync {
    /// Returns the op of this name, to be called often.
    ///
    /// # Errors
    /// NotFound if neither this handler nor its fall-back has such an op.
    fn make_op(&self, name: &str) -> Result<CoreRuntimeOp, Diagnostic>;
}

/// The ops that a handler runs on its device, each made when it is first asked for.
struct DeviceOps {
    device: Device,
    ops: Arc<OpRegistry>,
    runs: fn(&Op) -> bool,
    /// By the ops' numbers.
    made: Box<[OnceLock<CoreRuntimeOp>]>,
}

impl DeviceOps {
    /// Those of `ops` that `runs` says yes to.
    fn new(device: Device, ops: Arc<OpRegistry>, runs: fn(&Op) -> bool) -> Self {
        let made = ops.ops().map(|_| OnceLock::new()).collect();
        Self { device, ops, runs, made }
    }

    fn get(&self, name: &str) -> Option<CoreRuntimeOp> {
        let op = self.ops.op(name).filter(|op| (self.runs)(op))?;
        let make = || {
            let (op, device) = (op.clone(), self.device.clone());
            let call = move |invocation: OpInvocation<'_>| dispatch::execute(&op, &device, invocation);
            CoreRuntimeOp::new(self.device.clone(), call)
        };
        Some(self.made[op.number].get_or_init(make).clone())
    }
}

/// An op handler as a value of programs.
#[derive(Clone)]
pub struct HandlerRef(pub(crate) Arc<dyn OpHandler>);

impl HandlerRef {
    /// Makes a handler a value.
    pub fn new(handler: Arc<dyn OpHandler>) -> Self {
        Self(handler)
    }
}

value_type!(HandlerRef, "!corert.ophandler");

impl fmt::Debug for HandlerRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HandlerRef")
    }
}
