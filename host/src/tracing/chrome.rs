//! Writes a trace as JSON in the Trace Event Format, which Chrome's `about:tracing` and Perfetto's
//! viewer open.
//!
//! Spans become complete events (`"ph":"X"`), moments thread-scoped instants (`"ph":"i"`), counters
//! counter events (`"ph":"C"`), and names of tracks metadata (`"ph":"M"`). Times are in
//! microseconds.

use std::fmt;
use std::io::{self, Write};

use super::trace::{Event, Trace, TrackTrace};

/// A text that displays as a JSON string.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        let mut rest = self.0;
        while let Some(at) = rest.find(|c: char| c == '"' || c == '\\' || c < ' ') {
            f.write_str(&rest[..at])?;
            let escaped = rest.as_bytes()[at];
            match escaped {
                b'"' | b'\\' => write!(f, "\\{}", escaped as char)?,
                control => write!(f, "\\u{control:04x}")?,
            }
            rest = &rest[at + 1..];
        }
        f.write_str(rest)?;
        f.write_str("\"")
    }
}

/// Nanoseconds that display as microseconds.
struct Microseconds(u64);

impl fmt::Display for Microseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

impl Trace {
    /// Writes the trace in Chrome's Trace Event Format.
    ///
    /// # Errors
    /// The errors of `out`, which should be buffered.
    pub fn write_chrome_json(&self, out: &mut impl Write) -> io::Result<()> {
        let pid = std::process::id();
        write!(out, "{{\"displayTimeUnit\":\"ns\",\"droppedEvents\":{},\"traceEvents\":[", self.dropped())?;
        for (i, track) in self.tracks.iter().enumerate() {
            let separator = if i == 0 { "" } else { "," };
            let TrackTrace { id, name, .. } = track;
            write!(
                out,
                "{separator}\n{{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":{pid},\"tid\":{id},\
                 \"args\":{{\"name\":{}}}}}",
                Quoted(name)
            )?;
            for event in track.in_order() {
                write_event(out, event, pid, *id)?;
            }
        }
        out.write_all(b"\n]}\n")
    }
}

fn write_event(out: &mut impl Write, event: &Event, pid: u32, tid: u64) -> io::Result<()> {
    write!(
        out,
        ",\n{{\"name\":{},\"cat\":{},\"pid\":{pid},\"tid\":{tid},\"ts\":{}",
        Quoted(&event.name),
        Quoted(event.category),
        Microseconds(event.start_ns)
    )?;
    match (event.value, event.duration_ns) {
        (Some(value), _) => write!(out, ",\"ph\":\"C\",\"args\":{{\"value\":{value}}}")?,
        (None, Some(duration)) => write!(out, ",\"ph\":\"X\",\"dur\":{}", Microseconds(duration))?,
        (None, None) => out.write_all(b",\"ph\":\"i\",\"s\":\"t\"")?,
    }
    out.write_all(b"}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_survives_quoting() {
        for text in ["", "plain", "\"\\\"", "tab\tline\n\u{0}\u{1f}", "κ→\u{7f}", "\\"] {
            let quoted = Quoted(text).to_string();
            assert_eq!(serde_json::from_str::<String>(&quoted).unwrap(), text, "{quoted}");
        }
    }
}
