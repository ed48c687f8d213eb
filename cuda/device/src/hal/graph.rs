//! Graphs: a stream's work recorded once and launched many times.

use super::{Resources, Result};

/// Captures and launches graphs.
pub trait Graphs: Resources {
    /// Begins a capture: work on the stream is recorded instead of executed. Another stream joins
    /// the capture when it waits for an event that was recorded in it.
    fn begin_capture(&self, stream: &Self::Stream) -> Result<()>;

    /// Ends the capture and returns an executable graph.
    ///
    /// # Errors
    /// `StreamCaptureUnjoined` if a stream that takes part was not joined back.
    fn end_capture(&self, stream: &Self::Stream) -> Result<Self::Graph>;

    /// Ends the capture and updates a graph of the same operations in the same order with what was
    /// recorded. Launches that are already queued are not affected.
    ///
    /// # Errors
    /// The errors of `end_capture`; `GraphExecUpdateFailure` if the recorded work differs by more
    /// than its parameters. The capture is then over and the graph unchanged.
    fn end_capture_into(&self, stream: &Self::Stream, graph: &Self::Graph) -> Result<()>;

    /// Returns the number of operations of a graph.
    fn graph_nodes(&self, graph: &Self::Graph) -> Result<usize>;

    /// Queues the graph's work on a stream that is not being captured.
    fn launch_graph(&self, graph: &Self::Graph, stream: &Self::Stream) -> Result<()>;
}
