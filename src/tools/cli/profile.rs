//! Where the time of calls goes: a table of kernels and ops, and one of the work on devices, from a
//! trace.

use std::{cmp::Reverse, collections::HashMap, fmt::Write, time::Duration};

use serde_json::json;
use tfrt_device::trace::CATEGORY as DEVICE;
use tfrt_host::tracing::{Event, Trace};

use super::bench::readable;

/// The most rows of the table of places.
const MAX_ROWS: usize = 20;
/// What separates an op's name from its place in the name of a span.
const AT: &str = " at ";

/// The time that threads spent in one kernel or op, without the kernels and ops that it called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Row {
    time: Duration,
    /// The number of calls. Blocks of a call that other threads compute do not count.
    count: u64,
}

/// The time that threads spent in each kernel and op, and devices in each piece of work.
#[derive(Debug)]
pub(super) struct Profile {
    /// The number of traced calls of the function.
    calls: u32,
    /// By the names of spans, the longest first.
    rows: Vec<(String, Row)>,
    /// The work on devices, the longest first.
    device: Vec<(String, Row)>,
    dropped: u64,
}

impl Profile {
    /// Summarizes a trace of so many calls.
    pub(super) fn new(trace: &Trace, calls: u32) -> Self {
        let [mut rows, mut device]: [HashMap<&str, Row>; 2] = Default::default();
        for track in &trace.tracks {
            let spans = nested(&track.events).into_iter();
            for Span { event, own_ns, .. } in spans.filter(|span| span.event.category != "function") {
                let table = if event.category == DEVICE { &mut device } else { &mut rows };
                let row = table.entry(&event.name).or_default();
                row.time += Duration::from_nanos(own_ns);
                row.count += u64::from(event.category != "blocks");
            }
        }
        let [rows, device] = [rows, device]
            .map(|rows| longest_first(rows.into_iter().map(|(name, row)| (name.to_owned(), row))));
        Self { calls, rows, device, dropped: trace.dropped() }
    }

    /// Formats the profile as tables: of the host by name, by name and place, and of the devices'
    /// work.
    pub(super) fn to_text(&self) -> String {
        let mut by_name: HashMap<&str, Row> = HashMap::new();
        for (span, row) in &self.rows {
            let sum = by_name.entry(name_and_place(span).0).or_default();
            sum.time += row.time;
            sum.count += row.count;
        }
        let by_name = longest_first(by_name.into_iter().map(|(name, row)| (name.to_owned(), row)));
        let mut text = format!("profile      of {} calls, time of all threads per call\n", self.calls);
        self.write_table(&mut text, &by_name);
        if self.rows.len() > by_name.len() {
            text += "longest\n";
            self.write_table(&mut text, &self.rows);
        }
        if !self.device.is_empty() {
            let total: Duration = self.device.iter().map(|(_, row)| row.time).sum();
            let total = readable(total / self.calls.max(1));
            _ = writeln!(text, "device       {total} of all streams per call");
            self.write_table(&mut text, &self.device);
        }
        if self.dropped > 0 {
            _ = writeln!(text, "  {} events were dropped, so the times are too short", self.dropped);
        }
        text
    }

    fn write_table(&self, text: &mut String, rows: &[(String, Row)]) {
        let total: Duration = rows.iter().map(|(_, row)| row.time).sum();
        for (name, row) in rows.iter().take(MAX_ROWS) {
            let share = 100. * row.time.as_secs_f64() / total.as_secs_f64().max(f64::MIN_POSITIVE);
            let (time, count) = self.per_call(row);
            _ = writeln!(text, "  {:>10} {share:>5.1} % {count:>8.1} ×  {name}", readable(time));
        }
        if let Some(more @ 1..) = rows.len().checked_sub(MAX_ROWS) {
            _ = writeln!(text, "  and {more} more");
        }
    }

    /// Returns the table of kernels and ops as JSON, with times in microseconds.
    pub(super) fn host_json(&self) -> serde_json::Value {
        self.rows_json(&self.rows)
    }

    /// Returns the table of the devices' work in the form of [`Self::host_json`].
    pub(super) fn device_json(&self) -> serde_json::Value {
        self.rows_json(&self.device)
    }

    fn rows_json(&self, rows: &[(String, Row)]) -> serde_json::Value {
        let row = |(span, row): &(String, Row)| {
            let ((name, place), (time, count)) = (name_and_place(span), self.per_call(row));
            json!({ "name": name, "place": place, "us": time.as_secs_f64() * 1e6, "count": count })
        };
        rows.iter().map(row).collect()
    }

    /// The time and the number of calls of a row, per call of the function.
    fn per_call(&self, row: &Row) -> (Duration, f64) {
        let calls = self.calls.max(1);
        (row.time / calls, row.count as f64 / f64::from(calls))
    }
}

fn name_and_place(span: &str) -> (&str, Option<&str>) {
    match span.split_once(AT) {
        Some((name, place)) => (name, Some(place)),
        None => (span, None),
    }
}

fn longest_first(rows: impl Iterator<Item = (String, Row)>) -> Vec<(String, Row)> {
    let mut rows: Vec<_> = rows.collect();
    rows.sort_by(|a, b| (Reverse(a.1.time), &a.0).cmp(&(Reverse(b.1.time), &b.0)));
    rows
}

/// A span of a thread or of a stream.
pub(super) struct Span<'a> {
    pub(super) event: &'a Event,
    /// The place of the span that it is in, which comes before.
    pub(super) outer: Option<usize>,
    /// Its duration without that of the spans within it.
    pub(super) own_ns: u64,
}

/// Returns the spans of one thread or stream by their beginnings.
pub(super) fn nested(events: &[Event]) -> Vec<Span<'_>> {
    // Spans nest. Of two that begin at once the inner one ended, and was recorded, first.
    let mut sorted: Vec<_> = events.iter().rev().filter(|event| event.duration_ns.is_some()).collect();
    sorted.sort_by_key(|event| (event.start_ns, Reverse(event.end_ns())));
    let mut spans: Vec<Span<'_>> = Vec::with_capacity(sorted.len());
    let mut open: Vec<usize> = Vec::new();
    for event in sorted {
        while open.last().is_some_and(|&outer| spans[outer].event.end_ns() <= event.start_ns) {
            open.pop();
        }
        let own_ns = event.duration_ns.unwrap_or_default();
        let outer = open.last().copied();
        if let Some(outer) = outer {
            spans[outer].own_ns = spans[outer].own_ns.saturating_sub(own_ns);
        }
        open.push(spans.len());
        spans.push(Span { event, outer, own_ns });
    }
    spans
}

#[cfg(test)]
mod tests {
    use tfrt_host::tracing::TrackTrace;

    use super::*;

    fn event(category: &'static str, name: &'static str, start_ns: u64, duration_ns: u64) -> Event {
        Event { category, name: name.into(), start_ns, duration_ns: Some(duration_ns), value: None }
    }

    #[test]
    fn time_belongs_to_the_innermost_span() {
        // In the order in which they end.
        let caller = vec![
            event("op", "tf.A at x", 20, 30),
            event("kernel", "execute", 10, 50),
            event("op", "tf.A at y", 70, 10),
            event("kernel", "execute", 70, 20),
            event("function", "main", 0, 100),
        ];
        let worker = vec![event("blocks", "tf.A at x", 25, 40)];
        let track = |events| TrackTrace { id: 1, name: String::new(), events, dropped: 0 };
        let stream = vec![event(DEVICE, "launch of f", 30, 30)];
        let trace = Trace { tracks: vec![track(caller), track(worker), track(stream)] };
        let profile = Profile::new(&trace, 1);
        let rows: Vec<_> =
            profile.rows.iter().map(|(name, row)| (&**name, row.time.as_nanos(), row.count)).collect();
        assert_eq!(rows, [("tf.A at x", 70, 1), ("execute", 30, 2), ("tf.A at y", 10, 1)]);
        let text = profile.to_text();
        assert!(text.contains("       80 ns  72.7 %      2.0 ×  tf.A\n"), "{text}");
        assert!(text.contains("device       30 ns of all streams per call\n"), "{text}");
        assert_eq!(profile.device_json()[0]["name"], "launch of f");
        assert_eq!(profile.host_json()[2], json!({ "name": "tf.A", "place": "y", "us": 0.01, "count": 1. }));
    }
}
