//! Graphs: a stream's work recorded once and launched many times.

use super::{Resources, Result};

/// Graphs.
pub trait Graphs: Resources {
    /// From now on work on the stream is recorded instead of done; a stream that waits for an event recorded meanwhile
    /// takes part.
    fn begin_capture(&self, stream: &Self::Stream) -> Result<()>;

    /// Ends the capture and makes what was recorded ready for launching.
    ///
    /// # Errors
    /// `StreamCaptureUnjoined` if a stream that takes part was not joined back.
    fn end_capture(&self, stream: &Self::Stream) -> Result<Self::Graph>;

    /// Ends the capture and lets a graph, which is of the same operations in the same order, do what was recorded instead.
    /// Launches that are queued do what the graph was before.
    ///
    /// # Errors
    /// As `end_capture`; `GraphExecUpdateFailure` if what was recorded differs by more than its parameters. The capture is
    /// over and the graph as it was.
    fn end_capture_into(&self, stream: &Self::Stream, graph: &Self::Graph) -> Result<()>;

    /// How many operations a graph has.
    fn graph_nodes(&self, graph: &Self::Graph) -> Result<usize>;

    /// Queues the graph's work on a stream that is not captured.
    fn launch_graph(&self, graph: &Self::Graph, stream: &Self::Stream) -> Result<()>;
}
