//! Events: marks in streams, which others wait for.

use super::{Resources, Result};

/// How an event is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventOptions {
    /// Whether the time of passing is kept.
    pub timing: bool,
    /// Whether the runtime made it for itself: a checker is not told of it, and that it is found to be reached says nothing
    /// to the program unless somebody waits for it.
    pub internal: bool,
}

/// Events.
pub trait Events: Resources {
    /// An event, not recorded.
    fn create_event(&self, options: EventOptions) -> Result<Self::Event>;

    /// Marks what is queued on the stream so far, in place of an earlier mark.
    fn record_event(&self, event: &Self::Event, stream: &Self::Stream) -> Result<()>;

    /// Whether the latest mark was reached; true if there is none. The failure of the work before it is the answer's. A context
    /// that failed is the answer before the mark, too; of the runtime's own events a backend that can tell goes on saying that
    /// they are not reached.
    fn query_event(&self, event: &Self::Event) -> Result<bool>;

    /// Waits until the latest mark is reached.
    fn synchronize_event(&self, event: &Self::Event) -> Result<()>;

    /// Milliseconds from one mark to the other, both reached and both of events with timing.
    fn elapsed_ms(&self, start: &Self::Event, end: &Self::Event) -> Result<f32>;
}
