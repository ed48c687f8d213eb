//! `tfrt.call`, and what the other kernels need to call functions now or later.

use tfrt_host::{
    AsyncValue, Diagnostic, ExecutionContext, FunctionRef, IndirectPromise, KernelFrame, KernelRegistry,
};

use super::signature;

pub(super) fn register(registry: &mut KernelRegistry) {
    registry
        .add_raw("tfrt.call", signature(&[], 1), |frame| match frame.function(0) {
            Some(function) => call(frame, function, 0),
            None => frame.fail(Diagnostic::invalid_argument("there is no function to call")),
        })
        .functions(&["callee"])
        .doc("Calls a function with the arguments.");
}

/// Calls `function` with the kernel's arguments from index `first` on. The kernel's results are the
/// function's.
pub(super) fn call(frame: &mut KernelFrame<'_>, function: FunctionRef<'_>, first: usize) {
    if let Err(error) = check_results(function, frame.result_count()) {
        return frame.fail(error);
    }
    let mut call = function.call(frame.context());
    for index in first..frame.argument_count() {
        call.argument(frame.take_argument(index));
    }
    call.run(|index, value| frame.set_result(index, value));
}

/// Checks that `function` has `wanted` results.
pub(super) fn check_results(function: FunctionRef<'_>, wanted: usize) -> Result<(), Diagnostic> {
    let has = function.result_types().len();
    if has == wanted {
        return Ok(());
    }
    let name = function.name();
    Err(Diagnostic::invalid_argument(format!("function '{name}' has {has} results, {wanted} are expected")))
}

/// Sets every result of the kernel to this error.
#[cold]
pub(super) fn propagate(frame: &mut KernelFrame<'_>, error: &AsyncValue) {
    for index in 0..frame.result_count() {
        frame.set_result(index, error.clone());
    }
}

/// The pending results of a kernel that finishes later.
pub(super) struct Results(Vec<IndirectPromise>);

impl Results {
    /// Makes all results of the kernel pending.
    pub(super) fn suspend(frame: &mut KernelFrame<'_>) -> Self {
        let promises = (0..frame.result_count()).map(|index| {
            let (promise, value) = IndirectPromise::new();
            frame.set_result(index, value);
            promise
        });
        Self(promises.collect())
    }

    /// Calls `function`, whose results become the pending ones.
    pub(super) fn call(self, function: FunctionRef<'_>, cx: &ExecutionContext, arguments: Vec<AsyncValue>) {
        if let Some(reason) = cx.request().cancellation() {
            return self.fail(&AsyncValue::from_error(reason.clone()));
        }
        if let Err(error) = check_results(function, self.0.len()) {
            return self.fail(&AsyncValue::from_error(cx.emit(error)));
        }
        let mut call = function.call(cx);
        arguments.into_iter().for_each(|argument| call.argument(argument));
        // Forwarded after the call, so that waiters of a result do not run inside it.
        let mut values = Vec::with_capacity(self.0.len());
        call.run(|_, value| values.push(value));
        self.set(values);
    }

    /// Sets the results.
    pub(super) fn set(self, values: Vec<AsyncValue>) {
        self.0.into_iter().zip(values).for_each(|(promise, value)| promise.forward_to(value));
    }

    /// Sets every result to this error.
    pub(super) fn fail(self, error: &AsyncValue) {
        self.0.into_iter().for_each(|promise| promise.forward_to(error.clone()));
    }
}
