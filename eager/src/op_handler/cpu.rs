//! Ops in host memory.

use std::{fmt, sync::Arc};

use tfrt_host::Diagnostic;

use super::OpHandler;
use crate::{CoreRuntimeOp, Device, OpRegistry, dispatch};

/// Runs ops on the host's processor.
pub struct CpuOpHandler {
    device: Device,
    ops: Arc<OpRegistry>,
    fallback: Arc<dyn OpHandler>,
}

impl CpuOpHandler {
    /// A handler of `ops` whose tensors are on `device`, and which leaves other ops to `fallback`.
    pub fn new(device: Device, ops: Arc<OpRegistry>, fallback: Arc<dyn OpHandler>) -> Self {
        Self { device, ops, fallback }
    }
}

impl OpHandler for CpuOpHandler {
    fn make_op(&self, name: &str) -> Result<CoreRuntimeOp, Diagnostic> {
        let Some(op) = self.ops.op(name).filter(|op| op.cpu.is_some()) else {
            return self.fallback.make_op(name);
        };
        let (op, device) = (op.clone(), self.device.clone());
        Ok(CoreRuntimeOp::new(self.device.clone(), move |invocation| {
            dispatch::execute(&op, &device, invocation)
        }))
    }
}

impl fmt::Debug for CpuOpHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CpuOpHandler").field("device", &self.device).finish_non_exhaustive()
    }
}
