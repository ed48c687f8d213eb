//! A kernel library in which everything panics that the host may call.

#![expect(clippy::panic, reason = "that is what it is for")]

use tfrt_host::{
    AsyncValue, Chain, ExecutionContext, KernelRegistry, KernelSignature, Promise, work_queue::Task,
};

fn register(registry: &mut KernelRegistry) {
    registry.add("panicking.scalar", |number: i64| -> i64 { panic!("no number {number}") });
    registry.add("panicking.boxed", |_: i64| -> String { panic!("no text") });
    registry.add_raw("panicking.raw", KernelSignature::any(), |_| panic!("no frame"));
    registry.add("panicking.blocking", |_: i64| -> i64 { panic!("no waiting") }).blocking();
    registry
        .add("panicking.spawn", |_: i64, cx: &ExecutionContext| cx.spawn::<i64>(|| panic!("no spawning")));
    registry.add("panicking.task", |_: i64, cx: &ExecutionContext| {
        let (promise, value) = Promise::<i64>::new();
        cx.host().add_task(Task::new(move || {
            let _promise = promise;
            panic!("no task");
        }));
        value
    });
    registry.add("panicking.waiter", |_: i64, cx: &ExecutionContext| {
        let (promise, value) = Promise::<i64>::new();
        let source = cx.spawn(|| Ok(Chain));
        source.and_then(move || {
            let _promise = promise;
            panic!("no waiter");
        });
        value
    });
    registry.add_native("panicking_native", |_, _, _| -> Vec<AsyncValue> { panic!("no function") });
}

tfrt_host::kernel_library!(register);
