//! Graphs.

use tfrt_device::front::{Graph, Stream};
use tfrt_host::{Arg, Chain, Diagnostic, ExecutionContext, KernelRegistry};

use crate::from;

fn begin_capture(stream: Arg<Stream>, _chain: Chain, cx: &ExecutionContext) -> Result<Chain, Diagnostic> {
    from(cx, stream.context(), || stream.begin_capture())?;
    Ok(Chain)
}

fn end_capture(stream: Arg<Stream>, _chain: Chain) -> Result<(Graph, Chain), Diagnostic> {
    Ok((stream.end_capture()?, Chain))
}

fn update(graph: Arg<Graph>, stream: Arg<Stream>, _chain: Chain) -> Result<Chain, Diagnostic> {
    stream.end_capture_into(&graph)?;
    Ok(Chain)
}

fn launch(
    graph: Arg<Graph>,
    stream: Arg<Stream>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    from(cx, stream.context(), || stream.launch_graph(&graph))?;
    Ok(Chain)
}

fn node_count(graph: Arg<Graph>) -> i64 {
    i64::try_from(graph.node_count()).unwrap_or(i64::MAX)
}

pub(crate) fn register(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_cuda.graph.begin_capture", begin_capture)
        .side_effecting()
        .doc("From now on, work queued on a stream is recorded instead of done.");
    registry
        .add("tfrt_cuda.graph.end_capture", end_capture)
        .side_effecting()
        .doc("Ends a capture; the graph of what was recorded.");
    registry.add("tfrt_cuda.graph.update", update).side_effecting().mutates(&[0]).doc(
        "Ends a capture and lets a graph of the same operations do what was recorded, from its next launch on.",
    );
    registry.add("tfrt_cuda.graph.launch", launch).side_effecting().doc("Queues a graph's work on a stream.");
    registry.add("tfrt_cuda.graph.node_count", node_count).doc("How many operations a graph has.");
}
