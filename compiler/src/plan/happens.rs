//! What happens before what under a schedule, by vector clocks.

use super::{Event, Schedule};

/// For each stream, how many of its ops have ended.
pub(super) type Clock = Vec<u32>;

/// The order that the streams and the events of a schedule give.
#[derive(Debug)]
pub(super) struct Happens {
    /// The stream of each op.
    streams: Vec<usize>,
    /// The place of each op on its stream, from 1.
    places: Vec<u32>,
    /// For each op, what has ended when it begins.
    begins: Vec<Clock>,
}

impl Happens {
    /// Follows a schedule.
    pub(super) fn new(schedule: &Schedule) -> Happens {
        let count = schedule.streams.len();
        let mut waits: Vec<Vec<usize>> = vec![Vec::new(); count];
        for event in &schedule.events {
            if let Event { after: Some(after), before: Some(before) } = *event {
                waits[before].push(after);
            }
        }
        let mut now: Vec<Clock> = vec![vec![0; schedule.stream_count]; schedule.stream_count];
        let mut happens = Happens {
            streams: schedule.streams.clone(),
            places: vec![0; count],
            begins: vec![Clock::new(); count],
        };
        for &op in &schedule.order {
            let stream = schedule.streams[op];
            for &earlier in &waits[op] {
                let end = happens.end(earlier);
                join(&mut now[stream], &end);
            }
            happens.begins[op].clone_from(&now[stream]);
            now[stream][stream] += 1;
            happens.places[op] = now[stream][stream];
        }
        happens
    }

    /// Returns whether `first` has ended when `second` begins.
    pub(super) fn is_before(&self, first: usize, second: usize) -> bool {
        self.begins[second][self.streams[first]] >= self.places[first]
    }

    /// Returns what has ended when an op begins.
    pub(super) fn begin(&self, op: usize) -> &Clock {
        &self.begins[op]
    }

    /// Returns what has ended when an op ends.
    pub(super) fn end(&self, op: usize) -> Clock {
        let mut clock = self.begins[op].clone();
        clock[self.streams[op]] = self.places[op];
        clock
    }

    /// Returns the stream of an op and its place there, from 1.
    pub(super) fn place(&self, op: usize) -> (usize, u32) {
        (self.streams[op], self.places[op])
    }
}

/// Makes each count the larger one.
pub(super) fn join(clock: &mut Clock, other: &Clock) {
    for (count, other) in clock.iter_mut().zip(other) {
        *count = (*count).max(*other);
    }
}
