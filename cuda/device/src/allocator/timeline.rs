//! The events of an allocator in the order of time, for timelines.
//!
//! Recording is off by default. It is bounded: events that do not fit are counted and dropped.

use tfrt_host::tracing;

use super::origin::Origin;

/// The most events that are kept.
const MAX_EVENTS: usize = 1 << 20;

/// A kind of event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventKind {
    /// A block was granted.
    Granted {
        /// The number of the grant.
        serial: u64,
        /// The address.
        address: u64,
        /// The requested size.
        bytes: u64,
        /// The number of the stream, given by the allocator.
        stream: u32,
        /// The requester.
        origin: Origin,
    },
    /// A block was released.
    Freed {
        /// The number of the grant.
        serial: u64,
    },
    /// A segment was taken from the device.
    Reserved {
        /// The address.
        address: u64,
        /// The size.
        bytes: u64,
    },
    /// A segment was returned to the device.
    Released {
        /// The address.
        address: u64,
        /// The size.
        bytes: u64,
    },
}

/// An event of an allocator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryEvent {
    /// The time, from [`tracing::now_ns`].
    pub time_ns: u64,
    /// The kind.
    pub kind: EventKind,
}

/// The events of one allocator.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryLog {
    /// The events in order.
    pub events: Vec<MemoryEvent>,
    /// The number of events lost for lack of space.
    pub dropped: u64,
}

/// Records events.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    log: MemoryLog,
}

impl Recorder {
    pub(super) fn record(&mut self, kind: EventKind) {
        if self.log.events.len() < MAX_EVENTS {
            self.log.events.push(MemoryEvent { time_ns: tracing::now_ns(), kind });
        } else {
            self.log.dropped += 1;
        }
    }

    pub(super) fn take(&mut self) -> MemoryLog {
        std::mem::take(&mut self.log)
    }
}
