//! Traces of several tasks as one.

use serde_json::{Value, json};
use tfrt_host::Diagnostic;

use super::program::RemoteTrace;

/// Adds the events of other tasks to a trace in Chrome's format. Each task becomes a process with
/// its name, and its times become those of this process's clock.
///
/// # Errors
/// If a trace is malformed.
pub(super) fn merge(own: &[u8], others: &[RemoteTrace]) -> Result<Vec<u8>, Diagnostic> {
    let mut merged = parse("this process", own)?;
    let mut added = Vec::new();
    for (number, other) in (1..).zip(others.iter().filter(|other| !other.json.is_empty())) {
        let trace = parse(&other.task, &other.json)?;
        added.push(json!({
            "name": "process_name", "ph": "M", "pid": number, "tid": 0, "args": { "name": other.task },
        }));
        let Some(events) = trace.get("traceEvents").and_then(Value::as_array) else { continue };
        let offset_us = other.offset_ns as f64 / 1e3;
        added.extend(events.iter().cloned().map(|mut event| {
            event["pid"] = json!(number);
            if let Some(time) = event.get("ts").and_then(Value::as_f64) {
                event["ts"] = json!(time + offset_us);
            }
            event
        }));
    }
    if let Some(events) = merged.get_mut("traceEvents").and_then(Value::as_array_mut) {
        events.append(&mut added);
    }
    serde_json::to_vec(&merged).map_err(|error| Diagnostic::internal(error.to_string()))
}

fn parse(task: &str, text: &[u8]) -> Result<Value, Diagnostic> {
    serde_json::from_slice(text)
        .map_err(|error| Diagnostic::invalid_argument(format!("the trace of {task} is malformed: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_one_clock() {
        let own = br#"{"traceEvents":[{"name":"a","ph":"X","pid":77,"tid":1,"ts":10.5,"dur":1}]}"#;
        let other = RemoteTrace {
            task: "/job:worker/task:0".to_owned(),
            json: br#"{"traceEvents":[{"name":"b","ph":"X","pid":78,"tid":1,"ts":2.0,"dur":1}]}"#.to_vec(),
            offset_ns: 5_000,
        };
        let merged: Value = serde_json::from_slice(&merge(own, &[other]).unwrap()).unwrap();
        let events = merged["traceEvents"].as_array().unwrap();
        assert_eq!(events.len(), 3);
        assert_eq!(events[1]["args"]["name"], "/job:worker/task:0");
        assert_eq!((&events[2]["ts"], &events[2]["pid"]), (&json!(7.0), &json!(1)));
    }
}
