//! Events.

use tfrt_device::front::{Context, Event, Stream};
use tfrt_device::hal::EventOptions;
use tfrt_host::{Arg, Chain, Diagnostic, ExecutionContext, KernelRegistry};

use crate::{Done, from, later};

fn create_with(context: &Context, timing: bool, cx: &ExecutionContext) -> Result<(Event, Chain), Diagnostic> {
    Ok((from(cx, context, || context.create_event(EventOptions { timing, internal: false }))?, Chain))
}

fn create(context: Arg<Context>, _chain: Chain, cx: &ExecutionContext) -> Result<(Event, Chain), Diagnostic> {
    create_with(&context, false, cx)
}

fn create_with_timing(
    context: Arg<Context>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Result<(Event, Chain), Diagnostic> {
    create_with(&context, true, cx)
}

fn record(
    event: Arg<Event>,
    stream: Arg<Stream>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    from(cx, stream.context(), || event.record(&stream))?;
    Ok(Chain)
}

fn poll(event: Arg<Event>, _chain: Chain, cx: &ExecutionContext) -> Done {
    later(cx, |then| from(cx, event.context(), || event.when_reached(then)))
}

fn elapsed(start: Arg<Event>, end: Arg<Event>, _chain: Chain) -> Result<(f32, Chain), Diagnostic> {
    Ok((start.elapsed_ms(&end)?, Chain))
}

fn destroy(event: Arg<Event>, _chain: Chain) -> Result<Chain, Diagnostic> {
    event.destroy()?;
    Ok(Chain)
}

pub(crate) fn register(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_cuda.event.create", create)
        .side_effecting()
        .doc("An event without timing, not recorded yet.");
    registry
        .add("tfrt_cuda.event.create_with_timing", create_with_timing)
        .side_effecting()
        .doc("An event that keeps the time at which it is reached.");
    registry
        .add("tfrt_cuda.event.record", record)
        .side_effecting()
        .doc("Marks what is queued on a stream so far, in place of the event's earlier mark.");
    registry
        .add("tfrt_cuda.event.poll", poll)
        .side_effecting()
        .doc("A chain that is available when the event is reached. No thread waits.");
    registry
        .add("tfrt_cuda.event.synchronize", poll)
        .side_effecting()
        .doc("A chain that is available when the event is reached. No thread waits.");
    registry
        .add("tfrt_cuda.event.elapsed", elapsed)
        .side_effecting()
        .doc("Milliseconds from one event to another, both with timing and reached.");
    registry
        .add("tfrt_cuda.event.destroy", destroy)
        .side_effecting()
        .doc("Destroys an event. What waits for it goes on waiting.");
}
