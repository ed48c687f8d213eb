//! Errors, early and late, and cancellation.

use tfrt_host::{Chain, Diagnostic, ExecutionContext, KernelRegistry, Out};

const MESSAGE: &str = "something bad happened";
const MESSAGE_ASYNC: &str = "something bad happened asynchronously";

pub(super) fn register(registry: &mut KernelRegistry) {
    for name in ["tfrt_test.fail", "tfrt_test.fail_s", "tfrt_test.error_s"] {
        registry.add(name, || Err::<i32, _>(Diagnostic::from(MESSAGE))).doc("An error.");
    }
    registry.add("tfrt_test.partial_fail", || (1, Out::<i32>(Err(MESSAGE.into())))).doc("One, and an error.");
    registry
        .add("tfrt_test.report_error_async", |cx: &ExecutionContext| {
            cx.spawn(|| Err::<i32, _>(MESSAGE_ASYNC.into()))
        })
        .doc("An error that is made later.");
    for name in ["tfrt_test.report_error_concrete_async", "tfrt_test.report_error_indirect_async"] {
        registry
            .add(name, |value: i32, cx: &ExecutionContext| {
                cx.spawn(move || if value == 0 { Ok(value) } else { Err(MESSAGE_ASYNC.into()) })
            })
            .doc("Later: zero for zero, otherwise an error.");
    }
    registry
        .add("tfrt_test.cancel", |_chain: Chain, cx: &ExecutionContext| {
            cx.request().cancel();
            (0, Chain)
        })
        .side_effecting()
        .doc("Cancels the request it runs in; only tests do such a thing.");
}
