//! Events: marks in streams that others can wait for.

use super::{Resources, Result};

/// Options of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventOptions {
    /// Whether the event records the time at which it completes.
    pub timing: bool,
    /// Whether the event belongs to the runtime itself. A checker does not observe it. A query
    /// proves nothing to the program; only a wait does.
    pub internal: bool,
}

/// Tells a thread of the front to look at the events of a context.
pub type Bell = Box<dyn Fn() + Send + Sync>;

/// Creates, records and queries events.
pub trait Events: Resources {
    /// Creates an event that is not recorded.
    fn create_event(&self, options: EventOptions) -> Result<Self::Event>;

    /// Records the event behind all work queued on the stream so far. This replaces an earlier
    /// record.
    fn record_event(&self, event: &Self::Event, stream: &Self::Stream) -> Result<()>;

    /// Returns whether the latest record is complete, or true if there is none. If the work before
    /// it or the context has failed, returns that error. For internal events, the backend may keep
    /// reporting "not reached".
    fn query_event(&self, event: &Self::Event) -> Result<bool>;

    /// Has `bell` called each time that what [`query_event`](Self::query_event) has said of an event
    /// is no longer true: when an event is reached that was found not to be, and when the context
    /// fails. Called once, before there are events. Returns whether the bell will be rung; a backend
    /// that cannot tell is polled.
    fn ring_for_events(&self, bell: Bell) -> bool {
        drop(bell);
        false
    }

    /// Waits until the latest record is complete.
    fn synchronize_event(&self, event: &Self::Event) -> Result<()>;

    /// Returns the milliseconds between two complete records of events with timing.
    fn elapsed_ms(&self, start: &Self::Event, end: &Self::Event) -> Result<f32>;
}
