//! The fewest waits between streams: those that the order of each stream and other waits do not
//! imply.

use super::{Event, dag::Dag, happens::Clock, happens::join};

/// Returns the waits that order the ops of a graph on their streams, by the place of the waiting op
/// in `order`. Stream 0 begins and ends the run.
pub(super) fn needed(dag: &Dag, order: &[usize], streams: &[usize], stream_count: usize) -> Vec<Event> {
    // The beginning of the run is the first thing on stream 0.
    let mut now: Vec<Clock> = vec![vec![0; stream_count]; stream_count];
    if let Some(first) = now.first_mut() {
        first[0] = 1;
    }
    let start = now.first().cloned().unwrap_or_default();
    let mut ends: Vec<Clock> = vec![Clock::new(); streams.len()];
    let mut issued = vec![0; streams.len()];
    let mut events = Vec::new();
    for (place, &op) in order.iter().enumerate() {
        issued[op] = place;
        let stream = streams[op];
        let mut earlier = dag.after[op].clone();
        earlier.sort_by_key(|&earlier| std::cmp::Reverse(issued[earlier]));
        for earlier in earlier {
            let end = &ends[earlier];
            let from = streams[earlier];
            if now[stream][from] < end[from] {
                events.push(Event { after: Some(earlier), before: Some(op) });
                join(&mut now[stream], end);
            }
        }
        if now[stream][0] == 0 {
            events.push(Event { after: None, before: Some(op) });
            join(&mut now[stream], &start);
        }
        now[stream][stream] += 1;
        ends[op].clone_from(&now[stream]);
    }
    // The end waits for the last op of each stream.
    for &op in order.iter().rev() {
        let stream = streams[op];
        if now[0][stream] < ends[op][stream] {
            events.push(Event { after: Some(op), before: None });
            let end = ends[op].clone();
            join(&mut now[0], &end);
        }
    }
    events
}
