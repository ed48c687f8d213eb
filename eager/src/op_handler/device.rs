//! Ops on a device.

use std::{fmt, sync::Arc};

use tfrt_host::Diagnostic;

use super::OpHandler;
use crate::{CoreRuntimeOp, Device, OpRegistry, dispatch};

/// Runs ops on a device: a GPU, or the CPU device that stands in for one. All its work goes to the device's queue; handlers
/// of devices with different queues use several streams.
pub struct DeviceOpHandler {
    device: Device,
    ops: Arc<OpRegistry>,
    fallback: Arc<dyn OpHandler>,
}

impl DeviceOpHandler {
    /// A handler of those `ops` that have an implementation on devices. Its tensors are on `device`, which has a queue; it
    /// leaves other ops to `fallback`.
    pub fn new(device: Device, ops: Arc<OpRegistry>, fallback: Arc<dyn OpHandler>) -> Self {
        Self { device, ops, fallback }
    }
}

impl OpHandler for DeviceOpHandler {
    fn make_op(&self, name: &str) -> Result<CoreRuntimeOp, Diagnostic> {
        let Some(op) = self.ops.op(name).filter(|op| op.device.is_some()) else {
            return self.fallback.make_op(name);
        };
        let (op, device) = (op.clone(), self.device.clone());
        Ok(CoreRuntimeOp::new(self.device.clone(), move |invocation| {
            dispatch::execute(&op, &device, invocation)
        }))
    }
}

impl fmt::Debug for DeviceOpHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceOpHandler").field("device", &self.device).finish_non_exhaustive()
    }
}
