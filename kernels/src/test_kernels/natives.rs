//! Native functions, which programs call by the names they declare them under.

use tfrt_host::{
    AsyncValue, AsyncValueRef, Chain, Diagnostic, ExecutionContext, IndirectPromise, KernelRegistry, Status,
};

pub(super) fn register(registry: &mut KernelRegistry) {
    registry.add_native("native_sink", |_, _, _| Vec::new());
    registry.add_native("native_async_sink", |_, _, _| vec![AsyncValue::new(Chain)]);
    registry.add_native("native_add", |cx, arguments, _| {
        vec![when_there(cx, arguments, |_, a, b| AsyncValue::new(a.wrapping_add(b)))]
    });
    registry.add_native("native_async_add", |cx, arguments, _| {
        vec![when_there(cx, arguments, |cx, a, b| cx.spawn(move || Ok(a.wrapping_add(b))).into_untyped())]
    });
    // The error is an ordinary value and is not reported.
    registry.add_native("native_error", |_, _, _| {
        vec![AsyncValue::from_error(Diagnostic::from("something bad happened"))]
    });
}

/// A function of two integers.
type Binary = fn(&ExecutionContext, i32, i32) -> AsyncValue;

/// Applies `function` to two arguments when they are available.
fn when_there(cx: &ExecutionContext, arguments: &[AsyncValue], function: Binary) -> AsyncValue {
    let Some(pending) = arguments.iter().find(|value| value.status() == Status::Pending) else {
        return match integers(arguments) {
            Ok([a, b]) => function(cx, a, b),
            Err(error) => error,
        };
    };
    let (promise, result) = IndirectPromise::new();
    let (cx, arguments) = (cx.clone(), arguments.to_vec());
    // One level for each of the two arguments.
    pending.clone().and_then(move || promise.forward_to(when_there(&cx, &arguments, function)));
    result
}

/// Returns the integers in two available values, or an error.
fn integers(arguments: &[AsyncValue]) -> Result<[i32; 2], AsyncValue> {
    let [a, b] = arguments else {
        let message = format!("the native function takes two arguments, got {}", arguments.len());
        return Err(AsyncValue::from_error(Diagnostic::invalid_argument(message)));
    };
    let integer = |value: &AsyncValue| match AsyncValueRef::<i32>::from_untyped(value.clone()).get() {
        Some(Ok(&integer)) => Ok(integer),
        Some(Err(error)) => Err(AsyncValue::from_error(error)),
        None => Err(AsyncValue::from_error(Diagnostic::internal("an argument is not there yet"))),
    };
    Ok([integer(a)?, integer(b)?])
}
