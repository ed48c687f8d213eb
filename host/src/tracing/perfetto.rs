//! Writes a trace as a Perfetto protobuf.
//!
//! The messages are declared by hand, with only the fields that are used. Names and field numbers
//! are those of `protos/perfetto/trace/**` in Perfetto's public sources.

use std::io::{self, Write};

use prost::Message;

use super::trace::{Event, Trace, TrackTrace};

/// `perfetto.protos.TracePacket`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct TracePacket {
    /// In nanoseconds.
    #[prost(uint64, optional, tag = "8")]
    pub(super) timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    pub(super) trusted_packet_sequence_id: Option<u32>,
    #[prost(message, optional, tag = "11")]
    pub(super) track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "60")]
    pub(super) track_descriptor: Option<TrackDescriptor>,
}

/// `perfetto.protos.TrackDescriptor`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct TrackDescriptor {
    #[prost(uint64, optional, tag = "1")]
    pub(super) uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    pub(super) name: Option<String>,
    #[prost(message, optional, tag = "3")]
    pub(super) process: Option<ProcessDescriptor>,
    #[prost(message, optional, tag = "4")]
    pub(super) thread: Option<ThreadDescriptor>,
    #[prost(uint64, optional, tag = "5")]
    pub(super) parent_uuid: Option<u64>,
    #[prost(message, optional, tag = "8")]
    pub(super) counter: Option<CounterDescriptor>,
}

/// `perfetto.protos.CounterDescriptor`.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(super) struct CounterDescriptor {}

/// `perfetto.protos.ProcessDescriptor`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ProcessDescriptor {
    #[prost(int32, optional, tag = "1")]
    pub(super) pid: Option<i32>,
    #[prost(string, optional, tag = "6")]
    pub(super) process_name: Option<String>,
}

/// `perfetto.protos.ThreadDescriptor`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ThreadDescriptor {
    #[prost(int32, optional, tag = "1")]
    pub(super) pid: Option<i32>,
    #[prost(int32, optional, tag = "2")]
    pub(super) tid: Option<i32>,
    #[prost(string, optional, tag = "5")]
    pub(super) thread_name: Option<String>,
}

/// `perfetto.protos.TrackEvent`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct TrackEvent {
    #[prost(enumeration = "EventType", optional, tag = "9")]
    pub(super) r#type: Option<i32>,
    #[prost(uint64, optional, tag = "11")]
    pub(super) track_uuid: Option<u64>,
    #[prost(string, repeated, tag = "22")]
    pub(super) categories: Vec<String>,
    #[prost(string, optional, tag = "23")]
    pub(super) name: Option<String>,
    #[prost(int64, optional, tag = "30")]
    pub(super) counter_value: Option<i64>,
}

/// `perfetto.protos.TrackEvent.Type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub(super) enum EventType {
    Unspecified = 0,
    SliceBegin = 1,
    SliceEnd = 2,
    Instant = 3,
    Counter = 4,
}

/// The tag before each packet: field 1 of `perfetto.protos.Trace`, `repeated TracePacket packet`. A
/// trace consists only of packets, so they are written one by one.
const PACKET_FIELD: u8 = 1 << 3 | 2;

/// The sequence of all packets, which come from one writer.
const SEQUENCE_ID: u32 = 1;

/// The id of the process's track. The ids of threads and other tracks follow it. A viewer shows
/// threads under the process with their pid, so other tracks are described as if they were threads.
const PROCESS_UUID: u64 = 1 << 32;

/// The ids of the tracks of counters follow this one.
const COUNTER_UUID: u64 = 1 << 48;

struct Writer<'a, W> {
    out: &'a mut W,
    buffer: Vec<u8>,
}

impl<W: Write> Writer<'_, W> {
    fn packet(&mut self, packet: &TracePacket) -> io::Result<()> {
        self.buffer.clear();
        self.buffer.push(PACKET_FIELD);
        packet.encode_length_delimited(&mut self.buffer).map_err(io::Error::other)?;
        self.out.write_all(&self.buffer)
    }

    fn descriptor(&mut self, descriptor: TrackDescriptor) -> io::Result<()> {
        self.packet(&TracePacket {
            trusted_packet_sequence_id: Some(SEQUENCE_ID),
            track_descriptor: Some(descriptor),
            ..TracePacket::default()
        })
    }

    fn event(
        &mut self,
        track: u64,
        timestamp: u64,
        kind: EventType,
        event: Option<&Event>,
    ) -> io::Result<()> {
        self.packet(&TracePacket {
            timestamp: Some(timestamp),
            trusted_packet_sequence_id: Some(SEQUENCE_ID),
            track_event: Some(TrackEvent {
                r#type: Some(kind.into()),
                track_uuid: Some(track),
                categories: event.iter().map(|event| event.category.to_owned()).collect(),
                name: event.map(|event| event.name.clone().into_owned()),
                counter_value: None,
            }),
            track_descriptor: None,
        })
    }

    /// Writes the value of a counter. Each counter of a track has its own track; `known` are those
    /// already described.
    fn counter<'t>(
        &mut self,
        known: &mut Vec<&'t str>,
        track: &TrackTrace,
        event: &'t Event,
        value: u64,
    ) -> io::Result<()> {
        let number = known.iter().position(|name| *name == event.name).unwrap_or(known.len());
        let uuid = COUNTER_UUID + (track.id << 16) + number as u64;
        if number == known.len() {
            known.push(&event.name);
            self.descriptor(TrackDescriptor {
                uuid: Some(uuid),
                name: Some(event.name.clone().into_owned()),
                parent_uuid: Some(PROCESS_UUID),
                counter: Some(CounterDescriptor {}),
                ..TrackDescriptor::default()
            })?;
        }
        self.packet(&TracePacket {
            timestamp: Some(event.start_ns),
            trusted_packet_sequence_id: Some(SEQUENCE_ID),
            track_event: Some(TrackEvent {
                r#type: Some(EventType::Counter.into()),
                track_uuid: Some(uuid),
                categories: vec![event.category.to_owned()],
                name: None,
                counter_value: Some(i64::try_from(value).unwrap_or(i64::MAX)),
            }),
            track_descriptor: None,
        })
    }

    /// Writes the track's events as beginnings and ends, ordered by time. The spans of a track
    /// nest. A span that outlasts the span it began in is cut off at the end of the outer one.
    fn track(&mut self, track: &TrackTrace, pid: i32) -> io::Result<()> {
        let uuid = PROCESS_UUID + track.id;
        self.descriptor(TrackDescriptor {
            uuid: Some(uuid),
            thread: Some(ThreadDescriptor {
                pid: Some(pid),
                tid: Some(i32::try_from(track.id).unwrap_or(i32::MAX)),
                thread_name: Some(track.name.clone()),
            }),
            ..TrackDescriptor::default()
        })?;
        let mut open_until = Vec::new();
        let mut counters = Vec::new();
        for event in track.in_order() {
            if let Some(value) = event.value {
                self.counter(&mut counters, track, event, value)?;
                continue;
            }
            while let Some(end) = open_until.pop_if(|end| *end <= event.start_ns) {
                self.event(uuid, end, EventType::SliceEnd, None)?;
            }
            if event.duration_ns.is_none() {
                self.event(uuid, event.start_ns, EventType::Instant, Some(event))?;
                continue;
            }
            self.event(uuid, event.start_ns, EventType::SliceBegin, Some(event))?;
            let end = event.end_ns();
            open_until.push(open_until.last().map_or(end, |outer| end.min(*outer)));
        }
        while let Some(end) = open_until.pop() {
            self.event(uuid, end, EventType::SliceEnd, None)?;
        }
        Ok(())
    }
}

impl Trace {
    /// Writes the trace in Perfetto's format (`.pftrace`).
    ///
    /// # Errors
    /// The errors of `out`, which should be buffered.
    pub fn write_perfetto(&self, out: &mut impl Write) -> io::Result<()> {
        let mut writer = Writer { out, buffer: Vec::new() };
        let pid = i32::try_from(std::process::id()).unwrap_or(i32::MAX);
        let process_name = Some(process_name());
        writer.descriptor(TrackDescriptor {
            uuid: Some(PROCESS_UUID),
            process: Some(ProcessDescriptor { pid: Some(pid), process_name }),
            ..TrackDescriptor::default()
        })?;
        for track in &self.tracks {
            writer.track(track, pid)?;
        }
        Ok(())
    }
}

fn process_name() -> String {
    let path = std::env::args_os().next().unwrap_or_default();
    std::path::Path::new(&path).file_name().unwrap_or_default().to_string_lossy().into_owned()
}
