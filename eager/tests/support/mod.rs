//! What the tests of the core runtime share: a runner of ops, and cases written as text.
#![allow(dead_code, clippy::panic, reason = "each test uses its part, and a test ends that way")]

use std::sync::Arc;

use tfrt_cpu::CpuOptions;
use tfrt_device::front::Platform;
use tfrt_eager::{CoreRuntime, DeviceTensor, OpAttrs, OpHandler, Results, TensorHandle};
use tfrt_host::{
    AsyncValueRef, BefFile, Chain, ExecutionContext, HostContext, KernelRegistry, RequestContext,
    ResourceContext,
    bef::{BefBuilder, OptionalSections, VerifiedBef},
    work_queue,
};
use tfrt_tensor::HostTensor;

mod case;

pub(crate) use case::{Case, allocator};

/// A host with a handler of all ops.
pub(crate) struct Runner {
    pub(crate) host: Arc<HostContext>,
    pub(crate) core: Arc<CoreRuntime>,
    pub(crate) cx: ExecutionContext,
    pub(crate) handler: Arc<dyn OpHandler>,
    /// What the handler's device belongs to.
    _platform: Option<Platform>,
}

impl Runner {
    pub(crate) fn new(queue: &str) -> Self {
        let queue = work_queue::from_str(queue).expect("a queue");
        let host = HostContext::builder(queue, allocator()).build();
        let core = CoreRuntime::of(&host);
        let cx = context(&host);
        Self { handler: core.cpu(), host, core, cx, _platform: None }
    }

    /// The same, with a handler of the ops that run on devices: a GPU if there is one, else the CPU
    /// device.
    pub(crate) fn on_device(queue: &str) -> Self {
        let mut runner = Self::new(queue);
        let options = CpuOptions { memory_bytes: 256 << 20, ..CpuOptions::default() };
        let backend = tfrt_gpu::find().or_else(|_| tfrt_cpu::open(&options));
        let platform = Platform::new(backend.expect("a device"));
        let device = platform.device(0).expect("a device");
        runner.handler = runner.core.on_device(&device, runner.core.cpu()).expect("a handler");
        runner._platform = Some(platform);
        runner
    }

    /// A result once it is there, in host memory.
    pub(crate) fn brought(&self, handle: &TensorHandle) -> TensorHandle {
        self.host.await_values(&[handle.tensor().clone()]).expect("not on a compute thread");
        let Some(tensor) = handle.tensor().get::<DeviceTensor>() else { return handle.clone() };
        let copy = tensor.to_host(&self.cx).expect("a copy").into_untyped();
        self.host.await_values(std::slice::from_ref(&copy)).expect("not on a compute thread");
        TensorHandle::new(self.core.host_device().clone(), tensor.metadata(), copy)
    }

    /// A tensor that ops take.
    pub(crate) fn handle(&self, tensor: impl Into<HostTensor>) -> TensorHandle {
        TensorHandle::from_host(self.core.host_device().clone(), tensor)
    }

    /// Runs a case's op and waits for its results.
    pub(crate) fn run(&self, case: &Case) -> Results {
        let arguments = case.arguments.iter().map(|tensor| self.handle(tensor.clone()));
        let count = case.expected.as_ref().map_or(1, Vec::len);
        let results = self.call(&case.op, arguments, &case.attrs, count);
        results.iter().map(|handle| self.brought(handle)).collect()
    }

    /// Calls an op.
    pub(crate) fn call(
        &self,
        op: &str,
        arguments: impl IntoIterator<Item = TensorHandle>,
        attrs: &OpAttrs,
        count: usize,
    ) -> Results {
        CoreRuntime::execute(&self.cx, &*self.handler, op, arguments, attrs, count, None)
            .unwrap_or_else(|error| panic!("{op}: {error}"))
    }
}

impl Runner {
    /// Calls an op without results that chains order.
    pub(crate) fn call_in_order(
        &self,
        op: &str,
        arguments: impl IntoIterator<Item = TensorHandle>,
        attrs: &OpAttrs,
        chain: &mut AsyncValueRef<Chain>,
    ) {
        CoreRuntime::execute(&self.cx, &*self.handler, op, arguments, attrs, 0, Some(chain))
            .unwrap_or_else(|error| panic!("{op}: {error}"));
    }
}

/// A context outside of any program.
pub(crate) fn context(host: &Arc<HostContext>) -> ExecutionContext {
    let bytes = BefBuilder::new(OptionalSections::Drop).finish().expect("an empty program");
    let verified = VerifiedBef::new(bytes).expect("an empty program verifies");
    let program = BefFile::load(verified, &KernelRegistry::new()).expect("an empty program loads");
    ExecutionContext::new(RequestContext::new(host.clone(), Arc::new(ResourceContext::new())), program)
}
