//! Results that come later, from the work queue, the blocking pool or the timer.

use std::{
    thread,
    time::{Duration, Instant},
};

use tfrt_host::{
    AsyncValue, AsyncValueRef, Attr, AttributeType, Chain, Diagnostic, ExecutionContext, FunctionRef,
    IndirectPromise, KernelRegistry, Promise, Rest, Value, work_queue::Task,
};

pub(super) fn register(registry: &mut KernelRegistry) {
    register_constant::<bool>(registry);
    register_constant::<i32>(registry);
    registry
        .add("tfrt_test.async_add.i32", |a: i32, b: i32, cx: &ExecutionContext| {
            cx.spawn(move || Ok(a.wrapping_add(b)))
        })
        .doc("Sum, wrapping, computed on the work queue.");
    for name in ["tfrt_test.async_copy.i32", "tfrt_test.async_copy_2.i32"] {
        registry
            .add(name, |value: i32, cx: &ExecutionContext| cx.spawn(move || Ok(value)))
            .doc("The argument, by way of the work queue.");
    }
    register_delays::<i32>(registry);
    register_delays::<i64>(registry);
    register_sleeps(registry);
    registry
        .add(
            "tfrt_test.do.async",
            |arguments: Rest<'_, AsyncValue>, body: FunctionRef<'_>, cx: &ExecutionContext| {
                do_async(&arguments, body, cx)
            },
        )
        .side_effecting()
        .doc("Calls a function on the work queue.");
    registry
        .add("tfrt_test.as_chain", |_arguments: Rest<'_, AsyncValue>| Chain)
        .doc("A chain that is there when the arguments are.");
    registry
        .add("tfrt_test.quiesce", |_chain: Chain, cx: &ExecutionContext| cx.host().quiesce().map(|()| Chain))
        .side_effecting()
        .doc("Waits until the work queue has nothing to do; an error within one of its tasks.");
}

fn register_constant<T: Value + Copy + for<'f> AttributeType<Borrowed<'f> = T>>(
    registry: &mut KernelRegistry,
) {
    registry
        .add(
            format!("tfrt_test.async_constant.{}", T::TYPE_NAME),
            |value: Attr<'_, T>, cx: &ExecutionContext| {
                let value = value.0;
                cx.spawn(move || Ok(value))
            },
        )
        .doc("The attribute's value, by way of the work queue.");
}

/// One to ten milliseconds.
fn random_delay() -> Duration {
    Duration::from_millis(fastrand::u64(1..=10))
}

fn register_delays<T: Value + Copy>(registry: &mut KernelRegistry) {
    registry
        .add(format!("tfrt_test.async_copy.with_delay.{}", T::TYPE_NAME), delayed::<T>)
        .doc("The argument, one to ten milliseconds later.");
    registry
        .add(format!("tfrt_test.copy.with_delay.{}", T::TYPE_NAME), |value: T| {
            thread::sleep(random_delay());
            value
        })
        .doc("The argument. An ill-behaved kernel: it makes its caller wait for one to ten milliseconds.");
}

fn delayed<T: Value + Copy>(value: T, cx: &ExecutionContext) -> Result<AsyncValueRef<T>, Diagnostic> {
    let (promise, result) = Promise::new();
    let host = cx.host().clone();
    let arrive = move || host.add_task(Task::new(move || promise.emplace(value)));
    cx.host().run_at(Instant::now() + random_delay(), arrive)?;
    Ok(result)
}

fn register_sleeps(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_test.usleep", sleep_us)
        .blocking()
        .side_effecting()
        .doc("Sleeps for so many microseconds, then says so.");
    registry
        .add("tfrt_test.blocking.usleep", |duration_us: i32, cx: &ExecutionContext| {
            sleep_us(duration_us, cx);
            Chain
        })
        .blocking()
        .side_effecting()
        .doc("Sleeps for so many microseconds, then says so; the chain is there when it has.");
}

fn sleep_us(duration_us: i32, cx: &ExecutionContext) {
    thread::sleep(Duration::from_micros(u64::try_from(duration_us).unwrap_or(0)));
    cx.host().print(format_args!("Slept for {duration_us} microseconds\n"));
}

fn do_async(
    arguments: &Rest<'_, AsyncValue>,
    body: FunctionRef<'_>,
    cx: &ExecutionContext,
) -> Vec<AsyncValue> {
    let arguments = arguments.to_vec();
    let (promises, values): (Vec<_>, Vec<_>) = body.result_types().map(|_| IndirectPromise::new()).unzip();
    let (body, inner) = (body.to_function(), cx.clone());
    cx.host().add_task(Task::new(move || {
        let results = body.as_ref().execute(&inner, arguments);
        promises.into_iter().zip(results).for_each(|(promise, value)| promise.forward_to(value));
    }));
    values
}
