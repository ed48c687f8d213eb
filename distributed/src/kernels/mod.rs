//! The `tfrt_dist.*` kernels of remote execution.

mod data;
mod execute;
mod handlers;
mod programs;
mod testing;

use tfrt_collectives::DistributedContext;
use tfrt_host::{Diagnostic, ExecutionContext, KernelRegistry, work_queue::Task};
use tokio::sync::oneshot;

use crate::RemoteContext;

pub use testing::{MakeBackend, register_test_kernels};

/// Adds the kernels.
pub fn register(registry: &mut KernelRegistry) {
    data::register(registry);
    execute::register(registry);
    handlers::register(registry);
    programs::register(registry);
}

/// Makes a call beside the program and gives its result to `finish` on the work queue. Cancelling
/// the request cancels the call.
pub(crate) fn spawn<T: Send + 'static>(
    context: &DistributedContext,
    cx: &ExecutionContext,
    call: impl Future<Output = Result<T, Diagnostic>> + Send + 'static,
    finish: impl FnOnce(&ExecutionContext, Result<T, Diagnostic>) + Send + 'static,
) -> Result<(), Diagnostic> {
    let fabric = RemoteContext::of(context)?.fabric().clone();
    let (cx, work) = (cx.clone(), cx.host().external_work());
    // The context keeps the fabric, and with it the threads that the call needs.
    let context = context.clone();
    fabric.handle().spawn(async move {
        let (sender, cancelled) = oneshot::channel();
        let hook = cx.request().when_cancelled(move |reason| drop(sender.send(reason.clone())));
        let result = tokio::select! {
            biased;
            result = call => result,
            Ok(reason) = cancelled => Err(Diagnostic::clone(&reason)),
        };
        drop(hook);
        let host = cx.host().clone();
        host.add_task(Task::new(move || {
            finish(&cx, result);
            drop((cx, context));
        }));
        drop((host, work));
    });
    Ok(())
}

/// Prints what a remote program printed.
pub(crate) fn print(cx: &ExecutionContext, text: &[u8]) {
    if !text.is_empty() {
        cx.host().print(format_args!("{}", String::from_utf8_lossy(text)));
    }
}
