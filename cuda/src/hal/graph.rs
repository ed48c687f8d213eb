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

    /// How many operations a graph has.
    fn graph_nodes(&self, graph: &Self::Graph) -> Result<usize>;

    /// Queues the graph's work.
    fn launch_graph(&self, graph: &Self::Graph, stream: &Self::Stream) -> Result<()>;
}
