//! Ops on a device.

use std::{fmt, sync::Arc};

use tfrt_host::Diagnostic;

use super::{DeviceOps, OpHandler};
use crate::{CoreRuntimeOp, Device, OpRegistry};

/// Runs ops on a device: a GPU, or the CPU device that stands in for one. All its work goes to the
/// device's queue; handlers of devices with different queues use several streams.
pub struct DeviceOpHandler {
    ops: DeviceOps,
    fallback: Arc<dyn OpHandler>,
}

impl DeviceOpHandler {
    /// Creates a handler of those `ops` that have an implementation on devices. Its tensors are on
    /// `device`, which has a queue; it leaves other ops to `fallback`.
    pub fn new(device: Device, ops: Arc<OpRegistry>, fallback: Arc<dyn OpHandler>) -> Self {
        Self { ops: DeviceOps::new(device, ops, |op| op.device.is_some()), fallback }
    }
}

impl OpHandler for DeviceOpHandler {
    fn make_op(&self, name: &str) -> Result<CoreRuntimeOp, Diagnostic> {
        match self.ops.get(name) {
            Some(op) => Ok(op),
            None => self.fallback.make_op(name),
        }
    }
}

impl fmt::Debug for DeviceOpHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceOpHandler").field("device", &self.ops.device).finish_non_exhaustive()
    }
}
