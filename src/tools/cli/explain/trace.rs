//! The predicted timeline as a Chrome or Perfetto trace.

use serde_json::{Value, json};
use tfrt_compiler::plan::{Event, Plan, Problem};

/// Returns the trace: a thread for each stream, and a flow for each event.
pub(super) fn write(problem: &Problem, plan: &Plan) -> String {
    let schedule = &plan.schedule;
    let us = |ns: u64| ns as f64 / 1e3;
    let mut events: Vec<Value> = (0..schedule.stream_count)
        .map(|stream| {
            let name = stream_name(plan, stream);
            json!({ "ph": "M", "pid": 1, "tid": stream, "name": "thread_name", "args": { "name": name } })
        })
        .collect();
    for &op in &schedule.order {
        let (span, stream) = (schedule.spans[op], schedule.streams[op]);
        let duration = us(span.end_ns - span.start_ns);
        let args =
            json!({ "op": op, "alone_us": us(problem.ops[op].time_ns), "share": problem.ops[op].share });
        events.push(json!({
            "ph": "X", "pid": 1, "tid": stream, "name": problem.ops[op].label, "cat": "op",
            "ts": us(span.start_ns), "dur": duration, "args": args,
        }));
    }
    for (id, event) in schedule.events.iter().enumerate() {
        let Event { after: Some(after), before: Some(before) } = *event else { continue };
        for (phase, op, time) in
            [("s", after, schedule.spans[after].end_ns), ("f", before, schedule.spans[before].start_ns)]
        {
            events.push(json!({
                "ph": phase, "bp": "e", "id": id, "pid": 1, "tid": schedule.streams[op], "name": "event",
                "cat": "event", "ts": us(time),
            }));
        }
    }
    let trace = json!({ "displayTimeUnit": "ns", "traceEvents": events });
    trace.to_string() + "\n"
}

/// What pictures call a stream.
pub(super) fn stream_name(plan: &Plan, stream: usize) -> String {
    match plan.schedule.copy_stream {
        Some(copies) if copies == stream => "copies".to_owned(),
        _ => format!("stream {stream}"),
    }
}
