//! [`CoreRuntime`]: op handlers by name, and the ops they share.

use std::{collections::HashMap, fmt, sync::Arc};

use parking_lot::RwLock;
use tfrt_host::{AsyncValueRef, Chain, Diagnostic, ErrorCode, ExecutionContext, HostContext};

use crate::{
    CoreRuntimeOp, CpuOpHandler, Device, NullOpHandler, OpAttrs, OpHandler, OpInvocation, OpRegistry,
    Results, TensorHandle, ops,
};

/// The name of the device that host memory is.
const HOST_DEVICE: &str = "CPU:0";

/// Runs ops eagerly: see the crate's documentation. A host has one, [`CoreRuntime::of`].
pub struct CoreRuntime {
    ops: Arc<OpRegistry>,
    device: Device,
    handlers: RwLock<HashMap<String, Arc<dyn OpHandler>>>,
}

impl CoreRuntime {
    /// A runtime with these ops and no handlers.
    pub fn new(ops: OpRegistry) -> Self {
        Self { ops: Arc::new(ops), device: Device::new(HOST_DEVICE), handlers: RwLock::default() }
    }

    /// The host's runtime, made with all ops of this crate when first asked for.
    pub fn of(host: &HostContext) -> Arc<Self> {
        host.shared_context(|| {
            let mut registry = OpRegistry::new();
            ops::register(&mut registry);
            Self::new(registry)
        })
    }

    /// The ops.
    pub fn ops(&self) -> &Arc<OpRegistry> {
        &self.ops
    }

    /// The device that host memory is.
    pub fn host_device(&self) -> &Device {
        &self.device
    }

    /// A handler of all ops in host memory.
    pub fn cpu(&self) -> Arc<dyn OpHandler> {
        self.cpu_with_fallback(Arc::new(NullOpHandler))
    }

    /// A handler of all ops in host memory that leaves others to `fallback`.
    pub fn cpu_with_fallback(&self, fallback: Arc<dyn OpHandler>) -> Arc<dyn OpHandler> {
        Arc::new(CpuOpHandler::new(self.device.clone(), self.ops.clone(), fallback))
    }

    /// Makes a handler known by a name, in place of an earlier one of that name.
    pub fn register_handler(&self, name: impl Into<String>, handler: Arc<dyn OpHandler>) {
        self.handlers.write().insert(name.into(), handler);
    }

    /// The handler of this name.
    ///
    /// # Errors
    /// NotFound if there is none.
    pub fn handler(&self, name: &str) -> Result<Arc<dyn OpHandler>, Diagnostic> {
        // Existing programs expect this text.
        let missing =
            || Diagnostic::new(ErrorCode::NotFound, "op_handler not found.").note(format!("named '{name}'"));
        self.handlers.read().get(name).cloned().ok_or_else(missing)
    }

    /// Looks an op up and calls it once. Each result may be an error of its own, made at the caller's place.
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
        let arguments = arguments.into_iter().collect();
        Ok(op.call(OpInvocation { cx, arguments, attrs, result_count, chain }))
    }
}

impl fmt::Debug for CoreRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoreRuntime").field("handlers", &self.handlers.read().keys()).finish_non_exhaustive()
    }
}
