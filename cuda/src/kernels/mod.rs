//! The `tfrt_cuda.*` kernels: what programs reach devices with.
//!
//! A kernel checks what is the kernel's (numbers that mean something, sizes that existing programs expect certain messages
//! for) and calls the [front](crate::front). None waits on a compute thread: where a program must wait for the device, the
//! kernel's chain becomes available later.
//!
//! Kernels find the devices of their host in [`Devices`].

mod blas;
mod collectives;
mod context;
mod convolution;
mod devices;
mod dnn;
mod event;
mod graph;
mod launch;
mod memory;
mod module;
mod normalize;
mod stream;
mod tensor;
mod types;

use tfrt_host::work_queue::Task;
use tfrt_host::{AsyncValueRef, Chain, Diagnostic, ExecutionContext, KernelRegistry, Promise};

pub use devices::Devices;
pub use module::keep_functions;
pub use tensor::DenseGpuTensor;

use crate::error::DeviceError;
use crate::front::{Context, Transferred};
use crate::origin;

/// A chain, perhaps later.
type Done = Result<AsyncValueRef<Chain>, Diagnostic>;

/// Makes calls, which come from the kernel that `cx` is in.
fn from<T>(cx: &ExecutionContext, context: &Context, call: impl FnOnce() -> T) -> T {
    let _entered = context.is_observed().then(|| origin::enter(cx));
    call()
}

/// What tells how a device call ended.
type Then = Box<dyn FnOnce(Result<(), DeviceError>) + Send>;

/// A chain that is available when the device says so. Waiting kernels run on the work queue, not on the thread that tells.
fn later(cx: &ExecutionContext, register: impl FnOnce(Then) -> Result<(), DeviceError>) -> Done {
    let (promise, chain) = Promise::new();
    let (caller, work) = (cx.clone(), cx.host().external_work());
    register(Box::new(move |outcome| {
        let host = caller.host().clone();
        host.add_task(Task::new(move || {
            caller.settle(promise, outcome.map(|()| Chain).map_err(Diagnostic::from));
        }));
        drop(work);
    }))?;
    Ok(chain)
}

/// The chain of a copy.
fn transferred(cx: &ExecutionContext, copy: Transferred) -> Done {
    match copy {
        Transferred::Now => Ok(AsyncValueRef::available(Chain)),
        Transferred::Later(register) => later(cx, register),
    }
}

/// A number that may not be negative.
fn unsigned(what: &str, value: i64) -> Result<u64, Diagnostic> {
    u64::try_from(value).map_err(|_| Diagnostic::invalid_argument(format!("{what} is {value}")))
}

/// Adds the device kernels.
pub fn register(registry: &mut KernelRegistry) {
    context::register(registry);
    stream::register(registry);
    event::register(registry);
    memory::register(registry);
    tensor::register(registry);
    module::register(registry);
    launch::register(registry);
    graph::register(registry);
    blas::register(registry);
    collectives::register(registry);
    dnn::register(registry);
    convolution::register(registry);
    normalize::register(registry);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_documented() {
        let mut registry = KernelRegistry::new();
        register(&mut registry);
        registry.check().unwrap();
        let bare: Vec<_> =
            registry.kernels().filter(|k| k.doc().is_empty()).map(tfrt_host::Kernel::name).collect();
        assert!(bare.is_empty(), "without a doc: {bare:?}");
    }
}
