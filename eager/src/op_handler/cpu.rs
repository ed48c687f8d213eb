//! Ops in host memory.

use std::{fmt, sync::Arc};

use tfrt_host::Diagnostic;

use super::{DeviceOps, OpHandler};
use crate::{CoreRuntimeOp, Device, OpRegistry};

/// Runs ops on the host's processor.
pub struct CpuOpHandler {
    ops: DeviceOps,
    fallback: Arc<dyn OpHandler>,
}

impl CpuOpHandler {
    /// Creates a handler of `ops` whose tensors are on `device`, and which leaves other ops to
    /// `fallback`.
    pub fn new(device: Device, ops: Arc<OpRegistry>, fallback: Arc<dyn OpHandler>) -> Self {
        Self { ops: DeviceOps::new(device, ops, |op| op.cpu.is_some()), fallback }
    }
}

impl OpHandler for CpuOpHandler {
    fn make_op(&self, name: &str) -> Result<CoreRuntimeOp, Diagnostic> {
        match self.ops.get(name) {
            Some(op) => Ok(op),
            None => self.fallback.make_op(name),
        }
    }
}

impl fmt::Debug for CpuOpHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CpuOpHandler").field("device", &self.ops.device).finish_non_exhaustive()
    }
}
