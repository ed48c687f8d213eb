//! The `tfrt_cuda.*` kernels: how programs use devices.
//!
//! A kernel checks only what belongs to the kernel: numbers that mean something, and sizes for
//! which existing programs expect certain messages. Then it calls the [front](tfrt_device::front).
//! No kernel waits on a compute thread:
//!
//! - Where a program must wait for the device, the kernel's chain becomes available later.
//! - A call that may take long is a blocking kernel.
//! - A call that may wait for the device or for other ranks is made on the blocking pool
//!   (`waiting`), so that its results end with their request.
//!
//! Kernels find the devices of their host through [`Devices`].

mod blas;
mod builtin;
mod collectives;
mod context;
mod convolution;
mod dnn;
mod event;
mod graph;
mod launch;
mod memory;
mod module;
mod normalize;
mod stream;
mod tensor;
mod turn;

use std::sync::Arc;

use parking_lot::Mutex;
use tfrt_device::error::DeviceError;
use tfrt_device::front::{Context, Library, LibraryHandle, Platform, Transferred};
use tfrt_device::{Devices, origin};
use tfrt_host::work_queue::Task;
use tfrt_host::{
    AsyncValueRef, CancellationHook, Chain, Diagnostic, ExecutionContext, KernelRegistry, Promise, Value,
};

/// A chain, perhaps later.
type Done = Result<AsyncValueRef<Chain>, Diagnostic>;

/// Makes calls, which come from the kernel that `cx` is in.
fn from<T>(cx: &ExecutionContext, context: &Context, call: impl FnOnce() -> T) -> T {
    let _entered = if context.wants_origins() { origin::enter(cx) } else { None };
    call()
}

/// Makes a call of a library's handle, as [`from`]; the handle must be of the context that the
/// program names.
fn from_library<L: Library>(
    cx: &ExecutionContext,
    context: &Context,
    handle: &LibraryHandle<L>,
    call: impl FnOnce() -> Result<(), DeviceError>,
) -> Result<(), DeviceError> {
    handle.check_context(context)?;
    from(cx, context, call)
}

/// What tells how a device call ended.
type Then = Box<dyn FnOnce(Result<(), DeviceError>) + Send>;

/// A result that the device will tell of, or the request's cancellation: whichever comes first.
struct Awaited<T: Value> {
    cx: ExecutionContext,
    promise: Mutex<Option<Promise<T>>>,
}

impl<T: Value> Awaited<T> {
    /// Returns the result, which becomes an error as soon as the request is cancelled. The device's
    /// work continues and keeps what it uses. The hook is removed when the device reports
    /// completion.
    fn new(cx: &ExecutionContext) -> (Arc<Self>, AsyncValueRef<T>, CancellationHook) {
        let (promise, value) = Promise::new();
        let awaited = Arc::new(Self { cx: cx.clone(), promise: Mutex::new(Some(promise)) });
        let waiting = awaited.clone();
        let hook = cx.request().when_cancelled(move |reason| {
            let reason = reason.clone();
            waiting.on_queue(move |_, promise| promise.set_error(reason));
        });
        (awaited, value, hook)
    }

    /// Settles the result on the work queue, where its waiters may run, unless it is settled already.
    fn on_queue(&self, settle: impl FnOnce(&ExecutionContext, Promise<T>) + Send + 'static) {
        let promise = self.promise.lock().take();
        if let Some(promise) = promise {
            let cx = self.cx.clone();
            self.cx.host().add_task(Task::new(move || settle(&cx, promise)));
        }
    }
}

/// A chain that is available when the device says so, or an error when the request is cancelled.
/// Waiting kernels run on the work queue, not on the thread that tells.
fn later(cx: &ExecutionContext, register: impl FnOnce(Then) -> Result<(), DeviceError>) -> Done {
    let (awaited, chain, hook) = Awaited::new(cx);
    let work = cx.host().external_work();
    register(Box::new(move |outcome| {
        awaited.on_queue(|cx, promise| {
            cx.settle(promise, outcome.map(|()| Chain).map_err(Diagnostic::from));
        });
        // The work last: once it is over, nothing here keeps the request.
        drop((awaited, hook, work));
    }))?;
    Ok(chain)
}

/// Makes a call that may wait on the blocking pool, and returns its result. If the request is
/// cancelled first, the result is an error. The call then still ends and keeps what it uses, and its
/// own result is dropped.
fn waiting<T: Value>(
    cx: &ExecutionContext,
    call: impl FnOnce(&ExecutionContext) -> Result<T, Diagnostic> + Send + 'static,
) -> AsyncValueRef<T> {
    let (awaited, value, hook) = Awaited::new(cx);
    let task = Task::new(move || {
        let result = call(&awaited.cx);
        awaited.on_queue(|cx, promise| cx.settle(promise, result));
        drop((awaited, hook));
    });
    // A queue that refuses a task drops it, and with it the promise, which makes the value an
    // error.
    drop(cx.host().work_queue().add_blocking_task(task, true));
    value
}

/// A chain that is available when a value is, and fails as it does.
fn follow<T: Value>(value: &AsyncValueRef<T>) -> AsyncValueRef<Chain> {
    let (promise, chain) = Promise::new();
    value.clone().then(move |given| match given {
        Ok(_) => promise.emplace(Chain),
        Err(error) => promise.set_error(error),
    });
    chain
}

/// The chain of a copy.
fn transferred(cx: &ExecutionContext, copy: Transferred) -> Done {
    match copy {
        Transferred::Now => Ok(AsyncValueRef::available(Chain)),
        Transferred::Later(register) => later(cx, register),
    }
}

/// The devices that a kernel's program runs on.
fn platform(cx: &ExecutionContext) -> Result<Arc<Platform>, Diagnostic> {
    Ok(Devices::of(cx.host()).platform()?)
}

/// A number that may not be negative.
fn unsigned(what: &str, value: i64) -> Result<u64, Diagnostic> {
    u64::try_from(value).map_err(|_| Diagnostic::invalid_argument(format!("{what} is {value}")))
}

/// Adds the device kernels.
pub fn register(registry: &mut KernelRegistry) {
    registry.add_mutable_type::<tfrt_device::front::DeviceBuffer>();
    registry.add_mutable_type::<tfrt_device::DenseGpuTensor>();
    context::register(registry);
    stream::register(registry);
    event::register(registry);
    memory::register(registry);
    tensor::register(registry);
    turn::register(registry);
    module::register(registry);
    builtin::register(registry);
    launch::register(registry);
    graph::register(registry);
    blas::register(registry);
    collectives::register(registry);
    dnn::register(registry);
    convolution::register(registry);
    normalize::register(registry);
}
