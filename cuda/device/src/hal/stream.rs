//! Streams: ordered queues of work. Each is asynchronous to the host and to other streams.

use super::{Events, Result};

/// Options of a stream. No stream synchronizes with the legacy default stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamOptions {
    /// The priority, clamped to the device's range. As in CUDA, lower numbers are more urgent.
    pub priority: i32,
}

/// Creates streams and waits for them.
pub trait Streams: Events {
    /// Creates a stream.
    fn create_stream(&self, options: StreamOptions) -> Result<Self::Stream>;

    /// Returns the checker's id of the stream. Without a checker, all streams have the same.
    fn stream_id(&self, _stream: &Self::Stream) -> u64 {
        0
    }

    /// Returns the greatest (least urgent) and the smallest (most urgent) priority.
    fn priority_range(&self) -> Result<(i32, i32)>;

    /// Returns whether all queued work is done.
    fn query_stream(&self, stream: &Self::Stream) -> Result<bool>;

    /// Waits until all queued work is done and returns its failure, if there is one.
    fn synchronize_stream(&self, stream: &Self::Stream) -> Result<()>;

    /// Makes work queued from now on wait for the event's latest record, on any stream. Has no
    /// effect if the event was never recorded.
    fn wait_event(&self, stream: &Self::Stream, event: &Self::Event) -> Result<()>;

    /// Calls `callback` on a thread of the driver when the stream reaches this point. The callback
    /// must not call the device. If the context fails first, it is called or dropped.
    fn host_callback(&self, stream: &Self::Stream, callback: Box<dyn FnOnce() + Send>) -> Result<()>;
}
