//! A handler that logs every op before another handler runs it.

use std::{
    fmt::{self, Write as _},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use tfrt_host::{AsyncValue, Diagnostic, ExecutionContext};
use tfrt_tensor::Accessor;

use super::OpHandler;
use crate::{
    CoreRuntimeOp, OpAttrs, OpInvocation, Results, TensorHandle,
    tensor_handle::{host_tensor, in_host_memory},
};

static PRINT: Accessor = Accessor::new("logging of tensors");

/// The destination of a log.
type LogSink = dyn Fn(&str) + Send + Sync;

/// Writes each op's name, attributes, arguments and results to a log, and passes the op to its
/// fallback.
pub struct LoggingOpHandler {
    fallback: Arc<dyn OpHandler>,
    log: Arc<Log>,
}

struct Log {
    sink: Box<LogSink>,
    results: bool,
    next: AtomicU64,
}

impl LoggingOpHandler {
    /// Creates a handler that logs the ops of `fallback` to `sink`, and also their results if
    /// `results` is set, before anything else sees them. Pending arguments are logged when they
    /// become available, so their lines may come late.
    pub fn new(
        fallback: Arc<dyn OpHandler>,
        results: bool,
        sink: impl Fn(&str) + Send + Sync + 'static,
    ) -> Self {
        Self { fallback, log: Arc::new(Log { sink: Box::new(sink), results, next: AtomicU64::new(0) }) }
    }
}

impl OpHandler for LoggingOpHandler {
    fn make_op(&self, name: &str) -> Result<CoreRuntimeOp, Diagnostic> {
        let op = self.fallback.make_op(name)?;
        let (name, log): (Arc<str>, _) = (name.into(), self.log.clone());
        Ok(CoreRuntimeOp::new(op.device().clone(), move |invocation: OpInvocation<'_>| {
            let number = log.next.fetch_add(1, Ordering::Relaxed);
            let counts = [invocation.arguments.len(), invocation.result_count];
            (log.sink)(&headline(number, &name, counts, invocation.attrs));
            let cx = invocation.cx;
            let arguments = invocation.arguments.iter().map(|argument| &**argument);
            log.tensors("Input", number, &name, arguments, cx, || {});
            let results = op.call(invocation);
            if !log.results || results.is_empty() {
                return results;
            }
            let (delayed, release) = delay(&results);
            log.tensors("Output", number, &name, &results, cx, release);
            delayed
        }))
    }
}

fn headline(number: u64, name: &str, [arguments, results]: [usize; 2], attrs: &OpAttrs) -> String {
    let plural = |count| if count == 1 { "" } else { "s" };
    let mut text = format!(
        "[{number}] dispatch '{name}' {arguments} argument{}, {results} result{}, ",
        plural(arguments),
        plural(results)
    );
    if attrs.is_empty() {
        text.push_str("no attributes\n");
    } else {
        // Writing to a string does not fail.
        let _ = write!(text, "{attrs}");
    }
    text
}

impl Log {
    /// Logs tensors when all of them are available, and then calls `then`.
    fn tensors<'h>(
        self: &Arc<Self>,
        what: &'static str,
        number: u64,
        name: &Arc<str>,
        handles: impl IntoIterator<Item = &'h TensorHandle>,
        cx: &ExecutionContext,
        then: impl FnOnce() + Send + 'static,
    ) {
        let tensors: Vec<_> = handles.into_iter().map(|handle| handle.tensor().clone()).collect();
        let (log, name, cx) = (self.clone(), name.clone(), cx.clone());
        when_available(tensors, move |tensors| {
            // Tensors on a device are copied first.
            let tensors = tensors.into_iter().map(|tensor| in_host_memory(tensor, &cx)).collect();
            when_available(tensors, move |tensors| {
                let mut text = format!("{what}s for [{number}]: '{name}':\n");
                for (index, tensor) in tensors.iter().enumerate() {
                    let tensor = printed(tensor, &cx);
                    let _ = writeln!(text, "  {what} for [{number}] tensor {index}: {tensor}");
                }
                text.push('\n');
                (log.sink)(&text);
                then();
            });
        });
    }
}

/// Returns the tensors, available only once the returned function is called.
fn delay(handles: &[TensorHandle]) -> (Results, impl FnOnce() + Send + 'static) {
    let (mut delayed, mut releases) = (Results::new(), Vec::new());
    for handle in handles {
        let metadata = handle.metadata().and_then(Result::ok);
        let (promise, late) = TensorHandle::promised(handle.device().clone(), metadata.as_ref());
        delayed.push(late);
        releases.push((promise, handle.tensor().clone()));
    }
    (delayed, move || releases.into_iter().for_each(|(promise, tensor)| promise.forward_to(tensor)))
}

fn printed(value: &AsyncValue, cx: &ExecutionContext) -> String {
    let text = host_tensor(value).and_then(|tensor| {
        let dense = tensor.to_dense(&PRINT, cx.host().allocator()).map_or(tensor.clone(), Into::into);
        dense.print(&PRINT).map_err(Arc::new)
    });
    text.unwrap_or_else(|error| format!("<<error: {}>>", error.message))
}

/// Calls `then` with the values when all are available.
fn when_available(values: Vec<AsyncValue>, then: impl FnOnce(Vec<AsyncValue>) + Send + 'static) {
    match values.iter().find(|value| !value.is_available()).cloned() {
        Some(value) => value.and_then(move || when_available(values, then)),
        None => then(values),
    }
}

impl fmt::Debug for LoggingOpHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoggingOpHandler").finish_non_exhaustive()
    }
}
