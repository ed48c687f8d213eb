//! Tests of tracing. Recording is a state of the process, so a single test contains all of it.
//! Other tests of this process may record meanwhile, on other tracks.

use super::*;

fn event(name: &'static str, start_ns: u64, duration_ns: Option<u64>) -> Event {
    Event { category: "test", name: name.into(), start_ns, duration_ns, value: None }
}

#[test]
fn spans_are_recorded_on_their_threads_while_enabled() {
    drop(span("test", || "before"));
    enable();
    let track = Track::new("stream 7");
    {
        let _outer = span("test", || "out".to_owned() + "er");
        let _inner = span("test", || "inner");
        instant("test", || "moment");
    }
    let named = std::thread::Builder::new().name("other".to_owned());
    named.spawn(|| drop(span("test", || intern(&String::from("elsewhere"))))).unwrap().join().unwrap();
    track.record("test", "copy", 5, 9);
    let began_while_on = span("test", || "late");
    disable();
    drop(began_while_on);
    drop(span("test", || "after"));
    track.record("test", "after", 5, 9);

    let trace = take();
    let names = |track: &str| -> Vec<&str> {
        trace
            .tracks
            .iter()
            .filter(|t| t.name == track)
            .flat_map(|t| t.events.iter().map(|e| &*e.name))
            .collect()
    };
    let here = std::thread::current().name().unwrap_or_default().to_owned();
    assert_eq!(names(&here), ["moment", "inner", "outer", "late"]);
    assert_eq!(names("other"), ["elsewhere"]);
    assert_eq!(
        trace.tracks.iter().find(|t| t.name == "stream 7").unwrap().events,
        [event("copy", 5, Some(4))]
    );
    let of_this_thread = trace.tracks.iter().find(|t| t.name == here).unwrap();
    let [moment, inner, outer, _] = &of_this_thread.events[..] else { panic!("{of_this_thread:?}") };
    assert!(outer.start_ns <= inner.start_ns && inner.end_ns() <= outer.end_ns());
    assert!(inner.start_ns <= moment.start_ns && moment.duration_ns.is_none());
    assert_eq!(of_this_thread.dropped, 0);
    assert!(take().tracks.iter().all(|t| t.name != here && t.name != "stream 7"));

    if cfg!(miri) {
        // Miri is a thousand times slower: too slow for a quarter of a million events.
        return disable();
    }
    // Events that do not fit are counted.
    enable();
    for _ in 0..MAX_EVENTS_PER_TRACK + 3 {
        track.record("test", "many", 0, 1);
    }
    disable();
    let trace = take();
    let full = trace.tracks.iter().find(|t| t.name == "stream 7").unwrap();
    assert_eq!((full.events.len(), full.dropped), (MAX_EVENTS_PER_TRACK, 3));
    assert!(trace.dropped() >= 3);
}

#[test]
fn interned_names_are_shared() {
    let (a, b) = (intern("a name"), intern(&["a", "name"].join(" ")));
    assert!(std::ptr::eq(a, b));
    assert_ne!(a, intern("another"));
}

#[cfg(feature = "trace-export")]
mod export {
    use prost::Message;

    use super::super::perfetto::{EventType, TracePacket};
    use super::*;

    fn trace() -> Trace {
        // In the order in which they ended: two at the same moment, an instant, and one that
        // outlasts the span it began in.
        let events = vec![
            event("inner \"quoted\"", 1_500, Some(500)),
            event("twin", 1_500, Some(500)),
            event("moment", 1_700, None),
            event("outer", 1_000, Some(2_000)),
            event("astray", 2_500, Some(9_000)),
        ];
        let main = TrackTrace { id: 1, name: "main \\".to_owned(), events, dropped: 2 };
        let stream = TrackTrace {
            id: 2,
            name: "stream".to_owned(),
            events: vec![event("copy", 0, Some(0))],
            dropped: 0,
        };
        Trace { tracks: vec![main, stream] }
    }

    #[test]
    fn chrome_json_holds_every_event() {
        let mut json = Vec::new();
        trace().write_chrome_json(&mut json).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(json["droppedEvents"], 2);
        let events = json["traceEvents"].as_array().unwrap();
        let summary: Vec<_> = events
            .iter()
            .map(|e| {
                let time = |key: &str| e[key].as_f64();
                (
                    e["ph"].as_str().unwrap(),
                    e["name"].as_str().unwrap(),
                    e["tid"].as_u64().unwrap(),
                    time("ts"),
                    time("dur"),
                )
            })
            .collect();
        assert_eq!(
            summary,
            [
                ("M", "thread_name", 1, None, None),
                ("X", "outer", 1, Some(1.0), Some(2.0)),
                ("X", "twin", 1, Some(1.5), Some(0.5)),
                ("X", "inner \"quoted\"", 1, Some(1.5), Some(0.5)),
                ("i", "moment", 1, Some(1.7), None),
                ("X", "astray", 1, Some(2.5), Some(9.0)),
                ("M", "thread_name", 2, None, None),
                ("X", "copy", 2, Some(0.0), Some(0.0)),
            ]
        );
        assert_eq!(events[0]["args"]["name"], "main \\");
        assert!(events.iter().all(|e| e["ph"] == "M" || e["cat"] == "test"));
    }

    /// A track with two counters.
    fn counters() -> Trace {
        let count =
            |name: &'static str, start_ns, value| Event { value: Some(value), ..event(name, start_ns, None) };
        let events = vec![count("held", 1_000, 5), count("reserved", 1_000, 8), count("held", 2_000, 3)];
        Trace { tracks: vec![TrackTrace { id: 3, name: "memory".to_owned(), events, dropped: 0 }] }
    }

    #[test]
    fn chrome_json_holds_counters() {
        let mut json = Vec::new();
        counters().write_chrome_json(&mut json).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
        let counts: Vec<_> = json["traceEvents"].as_array().unwrap()[1..]
            .iter()
            .map(|e| {
                (e["ph"].as_str().unwrap(), e["name"].as_str().unwrap(), e["args"]["value"].as_u64().unwrap())
            })
            .collect();
        assert_eq!(counts, [("C", "reserved", 8), ("C", "held", 5), ("C", "held", 3)]);
    }

    #[test]
    fn perfetto_has_a_track_for_each_counter() {
        let mut bytes = Vec::new();
        counters().write_perfetto(&mut bytes).unwrap();
        let packets = PerfettoTrace::decode(&*bytes).unwrap().packet;
        let described = packets.iter().filter_map(|packet| packet.track_descriptor.as_ref());
        let names: std::collections::HashMap<u64, String> = described
            .filter(|descriptor| descriptor.counter.is_some())
            .map(|descriptor| (descriptor.uuid(), descriptor.name().to_owned()))
            .collect();
        let counts: Vec<_> = packets
            .iter()
            .filter_map(|packet| Some((packet.timestamp(), packet.track_event.as_ref()?)))
            .map(|(time, event)| {
                assert_eq!(event.r#type(), EventType::Counter);
                (time, names[&event.track_uuid()].as_str(), event.counter_value())
            })
            .collect();
        assert_eq!(counts, [(1_000, "reserved", 8), (1_000, "held", 5), (2_000, "held", 3)]);
    }

    #[derive(Clone, PartialEq, Message)]
    struct PerfettoTrace {
        #[prost(message, repeated, tag = "1")]
        packet: Vec<TracePacket>,
    }

    #[test]
    fn perfetto_holds_every_event_properly_nested() {
        use EventType::{Instant, SliceBegin, SliceEnd};
        let mut bytes = Vec::new();
        trace().write_perfetto(&mut bytes).unwrap();
        let decoded = PerfettoTrace::decode(&*bytes).unwrap();
        let mut tracks = Vec::new();
        let mut events = Vec::new();
        for packet in &decoded.packet {
            assert_eq!(packet.trusted_packet_sequence_id, Some(1));
            if let Some(descriptor) = &packet.track_descriptor {
                let thread = descriptor.thread.as_ref().and_then(|thread| thread.thread_name.clone());
                tracks.push((descriptor.uuid.unwrap(), thread));
            }
            if let Some(event) = &packet.track_event {
                assert_eq!(event.track_uuid, tracks.last().map(|track| track.0));
                assert!(event.r#type() == SliceEnd || event.categories == ["test"]);
                let name = event.name.clone().unwrap_or_default();
                events.push((packet.timestamp.unwrap(), event.r#type(), name));
            }
        }
        let process = tracks[0].0;
        assert_eq!(tracks[1], (process + 1, Some("main \\".to_owned())));
        assert_eq!(tracks[2], (process + 2, Some("stream".to_owned())));
        let expected = [
            (1_000, SliceBegin, "outer"),
            (1_500, SliceBegin, "twin"),
            (1_500, SliceBegin, "inner \"quoted\""),
            (1_700, Instant, "moment"),
            (2_000, SliceEnd, ""),
            (2_000, SliceEnd, ""),
            (2_500, SliceBegin, "astray"),
            (3_000, SliceEnd, ""),
            (3_000, SliceEnd, ""),
            (0, SliceBegin, "copy"),
            (0, SliceEnd, ""),
        ];
        assert_eq!(events, expected.map(|(time, kind, name)| (time, kind, name.to_owned())));
    }
}
