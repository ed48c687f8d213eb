//! What an allocator did, in the order of time, for timelines.
//!
//! Recording is off unless asked for. It is bounded: events that no longer fit are counted, not kept.

use tfrt_host::tracing;

use super::origin::Origin;

/// Events kept.
const MAX_EVENTS: usize = 1 << 20;

/// A kind of event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventKind {
    /// A block was granted.
    Granted {
        /// Tells grants apart.
        serial: u64,
        /// Where it lies.
        address: u64,
        /// How much was asked for.
        bytes: u64,
        /// For which stream, as numbered by the allocator.
        stream: u32,
        /// For whom.
        origin: Origin,
    },
    /// A block was released.
    Freed {
        /// Which grant's.
        serial: u64,
    },
    /// A segment was taken from the device.
    Reserved {
        /// Where it lies.
        address: u64,
        /// Its size.
        bytes: u64,
    },
    /// A segment was returned to the device.
    Released {
        /// Where it lay.
        address: u64,
        /// Its size.
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

/// Writes the events down.
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
