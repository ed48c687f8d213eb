//! Collected events.

use std::borrow::Cow;

/// A recorded event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The kind of event, such as `function` or `kernel`.
    pub category: &'static str,
    /// The name of the function, kernel or counter.
    pub name: Cow<'static, str>,
    /// The start time by the clock of [`super::now_ns`].
    pub start_ns: u64,
    /// The duration, or `None` for a moment.
    pub duration_ns: Option<u64>,
    /// The value that a counter of this name has from now on, or `None` for other events.
    pub value: Option<u64>,
}

impl Event {
    /// Returns the end time.
    pub fn end_ns(&self) -> u64 {
        self.start_ns.saturating_add(self.duration_ns.unwrap_or(0))
    }
}

/// The events of one thread or track.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackTrace {
    /// The id of the track, unique in this process, from 1.
    pub id: u64,
    /// The name of the thread or track.
    pub name: String,
    /// The events in the order in which they ended.
    pub events: Vec<Event>,
    /// The number of events lost for lack of space.
    pub dropped: u64,
}

impl TrackTrace {
    /// Returns the events in the order in which they began, each before those within it.
    #[cfg(feature = "trace-export")]
    pub(super) fn in_order(&self) -> Vec<&Event> {
        // Of two events with equal times the inner one ended, and was recorded, first.
        let mut events: Vec<_> = self.events.iter().rev().collect();
        events.sort_by_key(|event| (event.start_ns, std::cmp::Reverse(event.end_ns())));
        events
    }
}

/// The events that [`super::take`] collected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    /// The threads and tracks that recorded something.
    pub tracks: Vec<TrackTrace>,
}

impl Trace {
    /// Returns the number of events lost for lack of space.
    pub fn dropped(&self) -> u64 {
        self.tracks.iter().map(|track| track.dropped).sum()
    }
}
