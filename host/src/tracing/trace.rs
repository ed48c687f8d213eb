//! Collected events.

use std::borrow::Cow;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// What kind of thing: `function`, `kernel`.
    pub category: &'static str,
    /// Which one.
    pub name: Cow<'static, str>,
    /// When it began, by the clock of [`super::now_ns`].
    pub start_ns: u64,
    /// How long it took; `None` for a moment.
    pub duration_ns: Option<u64>,
    /// What a counter of this name counts from now on; `None` for what is no counter.
    pub value: Option<u64>,
}

impl Event {
    /// When it ended.
    pub fn end_ns(&self) -> u64 {
        self.start_ns.saturating_add(self.duration_ns.unwrap_or(0))
    }
}

/// The events of one thread or track.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackTrace {
    /// Unique in this process, from 1.
    pub id: u64,
    /// The thread's or track's name.
    pub name: String,
    /// In the order they ended.
    pub events: Vec<Event>,
    /// Events that were lost for lack of space.
    pub dropped: u64,
}

impl TrackTrace {
    /// The events in the order they began, each before those within it.
    #[cfg(feature = "trace-export")]
    pub(super) fn in_order(&self) -> Vec<&Event> {
        // Of two that began and ended at the same time the inner one ended, and was recorded, first.
        let mut events: Vec<_> = self.events.iter().rev().collect();
        events.sort_by_key(|event| (event.start_ns, std::cmp::Reverse(event.end_ns())));
        events
    }
}

/// What [`super::take`] collected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    /// Threads and tracks that recorded something.
    pub tracks: Vec<TrackTrace>,
}

impl Trace {
    /// Events that were lost for lack of space.
    pub fn dropped(&self) -> u64 {
        self.tracks.iter().map(|track| track.dropped).sum()
    }
}
