//! Streams: ordered queues of work, each asynchronous to the host and to the others.

use super::{Events, Result};

/// How a stream is made. None synchronizes with the legacy default stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamOptions {
    /// Lower numbers first, as CUDA has it; clamped to the device's range.
    pub priority: i32,
}

/// Streams.
pub trait Streams: Events {
    /// A stream.
    fn create_stream(&self, options: StreamOptions) -> Result<Self::Stream>;

    /// What a checker knows the stream by; the same for all where there is no checker.
    fn stream_id(&self, _stream: &Self::Stream) -> u64 {
        0
    }

    /// The numerically greatest (least urgent) and smallest (most urgent) priority.
    fn priority_range(&self) -> Result<(i32, i32)>;

    /// Whether all queued work is done.
    fn query_stream(&self, stream: &Self::Stream) -> Result<bool>;

    /// Waits until all queued work is done, and gives its failure.
    fn synchronize_stream(&self, stream: &Self::Stream) -> Result<()>;

    /// Lets work queued after this wait for the event's latest record, of whatever stream. An event that was never
    /// recorded is not waited for.
    fn wait_event(&self, stream: &Self::Stream, event: &Self::Event) -> Result<()>;

    /// Calls `callback` on a thread of the driver's when the stream gets there; it must not call the device. If the context
    /// fails before, it is called or dropped.
    fn host_callback(&self, stream: &Self::Stream, callback: Box<dyn FnOnce() + Send>) -> Result<()>;
}
