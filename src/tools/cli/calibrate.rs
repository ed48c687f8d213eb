//! `tfrt bench --calibrate`: the time of each op of a model, for plans.

use std::collections::HashMap;

use tfrt_compiler::plan::cost::Costs;
use tfrt_host::tracing::{Event, Trace};

/// What separates an op's name from its place in the name of a span.
const AT: &str = " at ";

/// Returns the median time of each op in a trace of calls that were made one after the other. A
/// call of an op lasts until its last block ends, on whichever thread.
pub(super) fn costs(trace: &Trace, device: &str) -> Costs {
    let mut events: HashMap<&str, Vec<&Event>> = HashMap::new();
    for event in trace.tracks.iter().flat_map(|track| &track.events) {
        let is_timed = event.duration_ns.is_some() && matches!(event.category, "op" | "blocks");
        if is_timed && event.name.contains(AT) {
            events.entry(&event.name).or_default().push(event);
        }
    }
    let mut costs = Costs::new(device);
    for (span, events) in events {
        if let (Some((op, place)), Some(time_ns)) = (span.split_once(AT), median_ns(events)) {
            costs.insert(op, place, time_ns);
        }
    }
    costs
}

/// The median time of the calls of one op.
fn median_ns(mut events: Vec<&Event>) -> Option<u64> {
    // The span of a call begins before its blocks.
    events.sort_by_key(|event| (event.start_ns, event.category != "op"));
    let mut calls: Vec<(u64, u64)> = Vec::new();
    for event in events {
        match calls.last_mut() {
            Some((_, end)) if event.category != "op" => *end = (*end).max(event.end_ns()),
            // Blocks whose call began before the trace are of no call.
            None if event.category != "op" => {}
            _ => calls.push((event.start_ns, event.end_ns())),
        }
    }
    let mut times: Vec<u64> = calls.into_iter().map(|(start, end)| end - start).collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use tfrt_host::tracing::TrackTrace;

    use super::*;

    fn event(category: &'static str, name: &'static str, start_ns: u64, end_ns: u64) -> Event {
        let duration_ns = Some(end_ns - start_ns);
        Event { category, name: name.into(), start_ns, duration_ns, value: None }
    }

    #[test]
    fn a_call_lasts_until_its_last_block_ends() {
        let caller = vec![
            event("op", "tf.A at x", 10, 20),
            event("op", "tf.A at x", 100, 110),
            event("op", "tf.A at x", 200, 210),
            event("op", "tf.B at y", 300, 307),
            event("kernel", "execute at z", 300, 307),
        ];
        let worker = vec![
            event("blocks", "tf.A at x", 5, 8),
            event("blocks", "tf.A at x", 12, 50),
            event("blocks", "tf.A at x", 105, 130),
            event("blocks", "tf.A at x", 215, 260),
        ];
        let track = |events| TrackTrace { id: 1, name: String::new(), events, dropped: 0 };
        let costs = costs(&Trace { tracks: vec![track(caller), track(worker)] }, "host");
        assert_eq!(costs.len(), 2);
        assert_eq!((costs.time_ns("tf.A", "x"), costs.time_ns("tf.B", "y")), (Some(40), Some(7)));
    }
}
