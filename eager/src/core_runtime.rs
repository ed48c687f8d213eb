//! [`CoreRuntime`]: op handlers by name, and the ops they share.

use std::{borrow::Cow, collections::HashMap, fmt, sync::Arc};

use parking_lot::{Mutex, RwLock};
use tfrt_device::Devices;
use tfrt_host::{AsyncValueRef, Chain, Diagnostic, ErrorCode, ExecutionContext, HostContext};

use crate::{
    CoreRuntimeOp, CpuOpHandler, Device, DeviceOpHandler, DeviceQueue, NullOpHandler, OpAttrs, OpHandler,
    OpInvocation, OpRegistry, Results, TensorHandle, ops,
};

/// The name of the device for host memory.
const HOST_DEVICE: &str = "CPU:0";

/// Runs ops eagerly, see the documentation of the crate. Each host has one, [`CoreRuntime::of`].
pub struct CoreRuntime {
    ops: Arc<OpRegistry>,
    device: Device,
    /// Devices with separate memory, by number.
    devices: Mutex<HashMap<u32, Device>>,
    handlers: RwLock<HashMap<String, Arc<dyn OpHandler>>>,
}

impl CoreRuntime {
    /// Creates a runtime with these ops and no handlers.
    pub fn new(ops: OpRegistry) -> Self {
        Self {
            ops: Arc::new(ops),
            device: Device::new(HOST_DEVICE),
            devices: Mutex::default(),
            handlers: RwLock::default(),
        }
    }

    /// Returns the host's runtime, created with all ops of this crate at the first call. This also
    /// creates the host's [`Devices`], so configure those before.
    pub fn of(host: &HostContext) -> Arc<Self> {
        if let Some(runtime) = host.made_context() {
            return runtime;
        }
        // The devices are created first, so that they are destroyed last: at their end they wait
        // for the resources that handlers hold.
        drop(Devices::of(host));
        host.shared_context(|| {
            let mut registry = OpRegistry::new();
            ops::register(&mut registry);
            Self::new(registry)
        })
    }

    /// Returns the ops.
    pub fn ops(&self) -> &Arc<OpRegistry> {
        &self.ops
    }

    /// Returns the device for host memory.
    pub fn host_device(&self) -> &Device {
        &self.device
    }

    /// Returns a handler of all ops in host memory.
    pub fn cpu(&self) -> Arc<dyn OpHandler> {
        self.cpu_with_fallback(Arc::new(NullOpHandler))
    }

    /// Returns a handler of all ops in host memory that passes other ops to `fallback`.
    pub fn cpu_with_fallback(&self, fallback: Arc<dyn OpHandler>) -> Arc<dyn OpHandler> {
        Arc::new(CpuOpHandler::new(self.device.clone(), self.ops.clone(), fallback))
    }

    /// Returns a handler of the ops that `target` can run, which passes other ops to `fallback`.
    /// Handlers of one device share a queue, as long as its context has not failed.
    ///
    /// # Errors
    /// Any error of the device.
    pub fn on_device(
        &self,
        target: &tfrt_device::front::Device,
        fallback: Arc<dyn OpHandler>,
    ) -> Result<Arc<dyn OpHandler>, Diagnostic> {
        let mut devices = self.devices.lock();
        let works =
            |device: &&Device| device.queue().is_some_and(|queue| queue.context().failure().is_none());
        let device = match devices.get(&target.ordinal()).filter(works) {
            Some(device) => device.clone(),
            None => {
                let name = format!("GPU:{}", target.ordinal());
                let device = Device::with_queue(name, DeviceQueue::new(target)?);
                devices.insert(target.ordinal(), device.clone());
                device
            }
        };
        Ok(Arc::new(DeviceOpHandler::new(device, self.ops.clone(), fallback)))
    }

    /// Returns the device with this name: the host's, or one for which a handler was created.
    ///
    /// # Errors
    /// NotFound.
    pub fn device(&self, name: &str) -> Result<Device, Diagnostic> {
        if self.device.name() == name {
            return Ok(self.device.clone());
        }
        let missing = || Diagnostic::new(ErrorCode::NotFound, format!("no device is called '{name}'"));
        self.devices.lock().values().find(|device| device.name() == name).cloned().ok_or_else(missing)
    }

    /// Registers a handler under a name, and replaces an earlier one with that name.
    pub fn register_handler(&self, name: impl Into<String>, handler: Arc<dyn OpHandler>) {
        self.handlers.write().insert(name.into(), handler);
    }

    /// Returns the handler with this name.
    ///
    /// # Errors
    /// NotFound if there is none.
    pub fn handler(&self, name: &str) -> Result<Arc<dyn OpHandler>, Diagnostic> {
        // Existing programs expect this text.
        let missing =
            || Diagnostic::new(ErrorCode::NotFound, "op_handler not found.").note(format!("named '{name}'"));
        self.handlers.read().get(name).cloned().ok_or_else(missing)
    }

    /// Looks an op up and calls it once. Each result may be a separate error, with the caller's
    /// location.
    pub fn execute(
        cx: &ExecutionContext,
        handler: &dyn OpHandler,
        op: &str,
        arguments: impl IntoIterator<Item = TensorHandle>,
        attrs: &OpAttrs,
        result_count: usize,
        chain: Option<&mut AsyncValueRef<Chain>>,
    ) -> Result<Results, Diagnostic> {
        let op: CoreRuntimeOp = handler.make_op(op)?;
        let arguments = arguments.into_iter().map(Cow::Owned).collect();
        Ok(op.call(OpInvocation { cx, arguments, attrs, result_count, chain }))
    }
}

impl fmt::Debug for CoreRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoreRuntime").field("handlers", &self.handlers.read().keys()).finish_non_exhaustive()
    }
}
