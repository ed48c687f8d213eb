//! Streams.

use tfrt_device::front::{Context, Event, Stream};
use tfrt_device::hal::StreamOptions;
use tfrt_host::{Arg, Chain, Diagnostic, ExecutionContext, KernelRegistry};

use crate::{Done, from, later};

fn create(
    context: Arg<Context>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Result<(Stream, Chain), Diagnostic> {
    Ok((from(cx, &context, || context.create_stream(StreamOptions::default()))?, Chain))
}

fn create_with_priority(
    context: Arg<Context>,
    priority: i32,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Result<(Stream, Chain), Diagnostic> {
    Ok((from(cx, &context, || context.create_stream(StreamOptions { priority }))?, Chain))
}

fn synchronize(stream: Arg<Stream>, _chain: Chain, cx: &ExecutionContext) -> Done {
    later(cx, |then| stream.when_done(then))
}

fn wait(
    stream: Arg<Stream>,
    event: Arg<Event>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    from(cx, stream.context(), || stream.wait(&event))?;
    Ok(Chain)
}

pub(crate) fn register(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_cuda.stream.create", create)
        .side_effecting()
        .doc("A stream, which synchronizes with no other.");
    registry
        .add("tfrt_cuda.stream.create_with_priority", create_with_priority)
        .side_effecting()
        .doc("A stream of a priority; lower numbers are more urgent, and those out of range are clamped.");
    registry
        .add("tfrt_cuda.stream.synchronize", synchronize)
        .side_effecting()
        .doc("A chain that is available when all work queued on a stream is done. No thread waits.");
    registry
        .add("tfrt_cuda.stream.wait", wait)
        .side_effecting()
        .doc("Lets work queued on a stream from now on wait for an event's latest record.");
}
