//! A recording as an HTML page: how much memory was reserved and held over time, the place and
//! lifetime of each block, and the holders at the peak. It is one file of HTML and SVG, without
//! scripts and external resources.

use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Write as _};
use std::io;

use super::origin::Origin;
use super::out_of_memory::Bytes;
use super::timeline::{EventKind, MemoryLog};

/// The most blocks that are drawn. Of more, those that hold the most memory for the longest time
/// are drawn.
const MAX_BLOCKS: usize = 20_000;
/// The most holders that the table lists and that have their own colour.
const MAX_HOLDERS: usize = 24;
/// The width of the drawings, and of the numbers to their left, in units of the page.
const WIDTH: f64 = 1200.0;
const LEFT: f64 = 90.0;
const CURVES_HEIGHT: f64 = 200.0;
const BLOCKS_HEIGHT: f64 = 460.0;

/// A block from its grant to its end.
#[derive(Debug)]
struct Span<'a> {
    start_ns: u64,
    end_ns: u64,
    /// Whether it was released during the recording.
    freed: bool,
    address: u64,
    bytes: u64,
    stream: u32,
    origin: &'a Origin,
}

/// A time, and the bytes held and reserved from then on.
#[derive(Debug, Clone, Copy)]
struct Sample {
    time_ns: u64,
    live: u64,
    reserved: u64,
}

/// The place of a segment in the drawing.
#[derive(Debug, Clone, Copy, Default)]
struct SegmentPlace {
    bytes: u64,
    /// The part that was ever used; the rest is not drawn.
    used: u64,
    /// The number of bytes drawn below it.
    below: u64,
}

/// The contents of a recording.
struct Story<'a> {
    spans: Vec<Span<'a>>,
    samples: Vec<Sample>,
    /// By address.
    segments: BTreeMap<u64, SegmentPlace>,
    /// The total used size of all segments.
    height: u64,
    start_ns: u64,
    end_ns: u64,
    dropped: u64,
}

impl<'a> Story<'a> {
    fn new(log: &'a MemoryLog) -> Self {
        let start_ns = log.events.first().map_or(0, |event| event.time_ns);
        let end_ns = log.events.last().map_or(0, |event| event.time_ns).max(start_ns + 1);
        let mut spans: Vec<Span<'a>> = Vec::new();
        let mut live_spans: HashMap<u64, usize> = HashMap::new();
        let mut segments: BTreeMap<u64, SegmentPlace> = BTreeMap::new();
        let mut samples = Vec::with_capacity(log.events.len());
        let (mut live, mut reserved) = (0u64, 0u64);
        for event in &log.events {
            match &event.kind {
                EventKind::Granted { serial, address, bytes, stream, origin } => {
                    live += bytes;
                    live_spans.insert(*serial, spans.len());
                    spans.push(Span {
                        start_ns: event.time_ns,
                        end_ns,
                        freed: false,
                        address: *address,
                        bytes: *bytes,
                        stream: *stream,
                        origin,
                    });
                }
                EventKind::Freed { serial } => {
                    if let Some(span) = live_spans.remove(serial).map(|index| &mut spans[index]) {
                        (span.end_ns, span.freed) = (event.time_ns, true);
                        live -= span.bytes;
                    }
                }
                EventKind::Reserved { address, bytes } => {
                    reserved += bytes;
                    let known = segments.entry(*address).or_default();
                    known.bytes = known.bytes.max(*bytes);
                }
                EventKind::Released { bytes, .. } => reserved = reserved.saturating_sub(*bytes),
            }
            samples.push(Sample { time_ns: event.time_ns, live, reserved });
        }
        for span in &spans {
            if let Some((start, segment)) = segments.range_mut(..=span.address).next_back() {
                segment.used = segment.used.max(span.address + span.bytes - start).min(segment.bytes);
            }
        }
        let mut height = 0;
        for segment in segments.values_mut() {
            segment.below = height;
            height += segment.used;
        }
        Self { spans, samples, segments, height: height.max(1), start_ns, end_ns, dropped: log.dropped }
    }

    fn peak(&self) -> Sample {
        let first = Sample { time_ns: self.start_ns, live: 0, reserved: 0 };
        self.samples
            .iter()
            .copied()
            .fold(first, |peak, sample| if sample.live > peak.live { sample } else { peak })
    }

    /// Returns the horizontal position of a time.
    fn x(&self, time_ns: u64) -> f64 {
        let part = (time_ns - self.start_ns) as f64 / (self.end_ns - self.start_ns) as f64;
        LEFT + part * (WIDTH - LEFT)
    }

    /// Returns the vertical position of an address, from the top, or `None` if it is in no recorded
    /// segment.
    fn y(&self, address: u64) -> Option<f64> {
        let (start, segment) = self.segments.range(..=address).next_back()?;
        let offset = address - start;
        let at = (segment.below + offset) as f64 / self.height as f64;
        (offset <= segment.used).then_some(BLOCKS_HEIGHT * (1.0 - at))
    }

    /// Returns the holders at a time and their bytes, the largest first.
    fn holders(&self, time_ns: u64) -> Vec<(&'a Origin, u64, u64)> {
        let mut by_origin: HashMap<&Origin, (u64, u64)> = HashMap::new();
        let alive = |span: &&Span<'_>| span.start_ns <= time_ns && (time_ns < span.end_ns || !span.freed);
        for span in self.spans.iter().filter(alive) {
            let held = by_origin.entry(span.origin).or_default();
            held.0 += span.bytes;
            held.1 += 1;
        }
        let mut holders: Vec<_> =
            by_origin.into_iter().map(|(origin, (bytes, n))| (origin, bytes, n)).collect();
        holders.sort_by_cached_key(|(origin, bytes, _)| (std::cmp::Reverse(*bytes), origin.to_string()));
        holders
    }
}

/// A text that displays with HTML's special characters escaped.
struct Escaped<T>(T);

impl<T: fmt::Display> fmt::Display for Escaped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.to_string().chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// A time since the beginning that displays with a unit.
struct Time(u64);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("0"),
            ns @ ..10_000 => write!(f, "{ns} ns"),
            ns @ ..10_000_000 => write!(f, "{:.1} µs", ns as f64 / 1e3),
            ns @ ..10_000_000_000 => write!(f, "{:.1} ms", ns as f64 / 1e6),
            ns => write!(f, "{:.1} s", ns as f64 / 1e9),
        }
    }
}

/// The colours of the holders at the peak. Others are grey.
struct Colours<'a>(HashMap<&'a Origin, usize>);

impl<'a> Colours<'a> {
    fn new(holders: &[(&'a Origin, u64, u64)]) -> Self {
        Self(holders.iter().take(MAX_HOLDERS).enumerate().map(|(i, (origin, ..))| (*origin, i)).collect())
    }

    /// Neighbours in the table are far apart on the colour wheel.
    fn of(&self, origin: &Origin) -> String {
        match self.0.get(origin) {
            Some(i) => {
                format!("hsl({} 60% {}%)", (i * 137 + 210) % 360, 52 + 8 * (i % 3))
            }
            None => "#b8b8b8".to_owned(),
        }
    }
}

/// Writes named recordings as one HTML page with this title.
///
/// # Errors
/// The errors of `out`, which should be buffered.
pub fn write_timeline(
    title: &str,
    recordings: &[(String, MemoryLog)],
    out: &mut impl io::Write,
) -> io::Result<()> {
    let mut page = String::new();
    // Writing to a string does not fail.
    let _ = write_page(title, recordings, &mut page);
    out.write_all(page.as_bytes())
}

const STYLE: &str = "\
:root{color-scheme:light}\
body{font:14px/1.45 system-ui,sans-serif;margin:24px auto;max-width:1240px;padding:0 16px;color:#222;background:#fff}\
h1{font-size:20px;margin:0 0 4px}h2{font-size:17px;margin:28px 0 4px}h3{font-size:15px;margin:20px 0 6px}\
p{margin:2px 0;color:#555}\
svg{width:100%;height:auto;display:block;font-size:11px}\
svg text{fill:#666}\
.grid{stroke:#e4e4e4}.segment{stroke:#ccc;stroke-dasharray:3 3}\
rect{stroke:#fff;stroke-width:.3}rect:hover{stroke:#000;stroke-width:1.5}\
table{border-collapse:collapse;margin-top:4px}\
td,th{padding:2px 14px 2px 0;text-align:left}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}\
i{display:inline-block;width:11px;height:11px;border-radius:2px;margin-right:8px;vertical-align:-1px}";

fn write_page(title: &str, recordings: &[(String, MemoryLog)], page: &mut String) -> fmt::Result {
    let title = Escaped(title);
    writeln!(page, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">")?;
    writeln!(page, "<title>Device memory of {title}</title><style>{STYLE}</style></head><body>")?;
    writeln!(page, "<h1>Device memory of {title}</h1>")?;
    if recordings.is_empty() {
        writeln!(page, "<p>No memory was allocated.</p>")?;
    }
    for (name, log) in recordings {
        if recordings.len() > 1 {
            writeln!(page, "<h2>{}</h2>", Escaped(name))?;
        }
        write_recording(&Story::new(log), page)?;
    }
    writeln!(page, "</body></html>")
}

fn write_recording(story: &Story<'_>, page: &mut String) -> fmt::Result {
    let peak = story.peak();
    let holders = story.holders(peak.time_ns);
    let colours = Colours::new(&holders);
    let reserved_max = story.samples.iter().map(|sample| sample.reserved).max().unwrap_or(0);
    writeln!(
        page,
        "<p>{} allocations in {}; at most {} held at once (after {}), {} reserved.</p>",
        story.spans.len(),
        Time(story.end_ns - story.start_ns),
        Bytes(peak.live),
        Time(peak.time_ns - story.start_ns),
        Bytes(reserved_max)
    )?;
    if story.dropped > 0 {
        writeln!(page, "<p>{} later events did not fit the recording.</p>", story.dropped)?;
    }
    // The held memory must be visible even if much more is reserved.
    let off_scale = peak.live > 0 && peak.live < reserved_max / 8;
    let top = if off_scale { peak.live + peak.live / 4 } else { reserved_max.max(peak.live) };
    if off_scale {
        writeln!(page, "<p>The reserved memory exceeds the scale of the curves.</p>")?;
    }
    write_curves(story, top.max(1), peak, page)?;
    write_blocks(story, &colours, page)?;
    write_table(&holders, &colours, peak, page)
}

/// Draws the held and reserved memory over time.
fn write_curves(story: &Story<'_>, top: u64, peak: Sample, page: &mut String) -> fmt::Result {
    writeln!(page, "<h3>Reserved and held over time</h3>")?;
    writeln!(page, "<svg viewBox=\"0 0 {WIDTH} {}\" role=\"img\">", CURVES_HEIGHT + 22.0)?;
    let y = |bytes: u64| CURVES_HEIGHT * (1.0 - 0.88 * bytes.min(top) as f64 / top as f64);
    for quarter in 0..=4 {
        let bytes = top / 4 * quarter;
        let at = y(bytes);
        writeln!(page, "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>")?;
        writeln!(
            page,
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            at + 4.0,
            Bytes(bytes)
        )?;
    }
    let reserved = outline(story, |sample| sample.reserved, y);
    writeln!(page, "<path d=\"{reserved}\" fill=\"#e3e8f0\" stroke=\"#8795ad\"/>")?;
    let live = outline(story, |sample| sample.live, y);
    writeln!(page, "<path d=\"{live}\" fill=\"#6f9bd8\" fill-opacity=\"0.75\" stroke=\"#2f62ab\"/>")?;
    let (x, at) = (story.x(peak.time_ns), y(peak.live));
    writeln!(
        page,
        "<circle cx=\"{x:.1}\" cy=\"{at:.1}\" r=\"3.5\" fill=\"#b3261e\"><title>peak</title></circle>"
    )?;
    for (i, (fill, name)) in
        [("#8795ad", "reserved"), ("#2f62ab", "held"), ("#b3261e", "peak")].iter().enumerate()
    {
        let x = LEFT + 12.0 + 90.0 * i as f64;
        writeln!(page, "<rect x=\"{x}\" y=\"4\" width=\"10\" height=\"10\" fill=\"{fill}\"/>")?;
        writeln!(page, "<text x=\"{}\" y=\"13\">{name}</text>", x + 15.0)?;
    }
    write_times(story, CURVES_HEIGHT, page)?;
    writeln!(page, "</svg>")
}

/// Returns a step curve as a closed path. Each column of the page has one point, the highest.
fn outline(story: &Story<'_>, of: impl Fn(&Sample) -> u64, y: impl Fn(u64) -> f64) -> String {
    let mut path = format!("M{LEFT} {CURVES_HEIGHT}");
    let mut last = 0;
    let mut samples = story.samples.iter().peekable();
    while let Some(sample) = samples.next() {
        let column = story.x(sample.time_ns).floor();
        let (mut highest, mut end) = (of(sample), of(sample));
        while let Some(next) = samples.next_if(|next| story.x(next.time_ns) < column + 1.0) {
            end = of(next);
            highest = highest.max(end);
        }
        let x = story.x(sample.time_ns);
        if highest != last || end != last {
            let _ = write!(path, "L{x:.1} {:.1}L{x:.1} {:.1}", y(last), y(highest));
            if end != highest {
                let _ = write!(path, "L{x:.1} {:.1}", y(end));
            }
        }
        last = end;
    }
    let _ = write!(path, "L{WIDTH} {:.1}L{WIDTH} {CURVES_HEIGHT}Z", y(last));
    path
}

/// Writes the times below a drawing.
fn write_times(story: &Story<'_>, height: f64, page: &mut String) -> fmt::Result {
    for part in 0..=4u64 {
        let time_ns = (story.end_ns - story.start_ns) / 4 * part;
        let anchor = if part == 4 { "end" } else { "middle" };
        writeln!(
            page,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
            story.x(story.start_ns + time_ns),
            height + 16.0,
            Time(time_ns)
        )?;
    }
    Ok(())
}

/// Draws the place and lifetime of each block.
fn write_blocks(story: &Story<'_>, colours: &Colours<'_>, page: &mut String) -> fmt::Result {
    writeln!(page, "<h3>Blocks by address</h3>")?;
    write!(
        page,
        "<p>Each box is a block: its width is how long it was held, its height its size; point at one to"
    )?;
    writeln!(
        page,
        " see whose it is. Dashed lines are where larger segments taken from the device begin.</p>"
    )?;
    let weight = |span: &Span<'_>| span.bytes as u128 * u128::from((span.end_ns - span.start_ns).max(1));
    let mut drawn: Vec<&Span<'_>> = story.spans.iter().collect();
    if drawn.len() > MAX_BLOCKS {
        drawn.sort_by_key(|span| std::cmp::Reverse(weight(span)));
        writeln!(page, "<p>{} small or short-lived blocks are left out.</p>", drawn.len() - MAX_BLOCKS)?;
        drawn.truncate(MAX_BLOCKS);
    }
    writeln!(page, "<svg viewBox=\"0 0 {WIDTH} {}\" role=\"img\">", BLOCKS_HEIGHT + 22.0)?;
    for (address, SegmentPlace { bytes, used, .. }) in &story.segments {
        let (Some(bottom), Some(top)) = (story.y(*address), story.y(address + used)) else { continue };
        if bottom - top < 4.0 {
            continue;
        }
        writeln!(
            page,
            "<line class=\"segment\" x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{bottom:.1}\" y2=\"{bottom:.1}\"/>"
        )?;
        if bottom - top > 12.0 {
            let (x, y) = (LEFT - 8.0, f64::midpoint(bottom, top) + 4.0);
            writeln!(page, "<text x=\"{x}\" y=\"{y:.1}\" text-anchor=\"end\">{}</text>", Bytes(*bytes))?;
        }
    }
    for span in drawn {
        let (Some(bottom), Some(top)) = (story.y(span.address), story.y(span.address + span.bytes)) else {
            continue;
        };
        let (x, end) = (story.x(span.start_ns), story.x(span.end_ns));
        writeln!(
            page,
            "<rect x=\"{x:.2}\" y=\"{top:.2}\" width=\"{:.2}\" height=\"{:.2}\" fill=\"{}\"><title>{}\n{} at {:#x} for \
             stream {}, from {} to {}</title></rect>",
            (end - x).max(0.4),
            (bottom - top).max(0.4),
            colours.of(span.origin),
            Escaped(span.origin),
            Bytes(span.bytes),
            span.address,
            span.stream,
            Time(span.start_ns - story.start_ns),
            if span.freed { Time(span.end_ns - story.start_ns).to_string() } else { "the end".to_owned() },
        )?;
    }
    write_times(story, BLOCKS_HEIGHT, page)?;
    writeln!(page, "</svg>")
}

/// Writes the table of holders at the peak.
fn write_table(
    holders: &[(&Origin, u64, u64)],
    colours: &Colours<'_>,
    peak: Sample,
    page: &mut String,
) -> fmt::Result {
    writeln!(page, "<h3>Holders at the peak</h3><table>")?;
    writeln!(
        page,
        "<tr><th>from</th><th class=\"n\">bytes</th><th class=\"n\">share</th><th class=\"n\">blocks</th></tr>"
    )?;
    for (origin, bytes, blocks) in holders.iter().take(MAX_HOLDERS) {
        writeln!(
            page,
            "<tr><td><i style=\"background:{}\"></i>{}</td><td class=\"n\">{}</td><td class=\"n\">{:.1} %</td><td \
             class=\"n\">{blocks}</td></tr>",
            colours.of(origin),
            Escaped(origin),
            Bytes(*bytes),
            100.0 * *bytes as f64 / peak.live.max(1) as f64
        )?;
    }
    if holders.len() > MAX_HOLDERS {
        let rest = &holders[MAX_HOLDERS..];
        let (bytes, blocks) = rest.iter().fold((0, 0), |(b, n), (_, bytes, blocks)| (b + bytes, n + blocks));
        writeln!(
            page,
            "<tr><td><i style=\"background:#b8b8b8\"></i>({} others)</td><td class=\"n\">{}</td><td></td><td \
             class=\"n\">{blocks}</td></tr>",
            rest.len(),
            Bytes(bytes)
        )?;
    }
    writeln!(page, "</table>")
}

#[cfg(test)]
mod tests {
    use super::super::timeline::MemoryEvent;
    use super::*;

    fn log(kinds: impl IntoIterator<Item = EventKind>) -> MemoryLog {
        let events = kinds.into_iter().enumerate();
        let events = events.map(|(i, kind)| MemoryEvent { time_ns: 1000 * (i as u64 + 1), kind }).collect();
        MemoryLog { events, dropped: 0 }
    }

    fn granted(serial: u64, address: u64, bytes: u64, label: &'static str) -> EventKind {
        EventKind::Granted { serial, address, bytes, stream: 0, origin: Origin::label(label) }
    }

    fn page(log: &MemoryLog) -> String {
        let mut page = Vec::new();
        write_timeline("a <test> & more", &[("one".to_owned(), log.clone())], &mut page).unwrap();
        String::from_utf8(page).unwrap()
    }

    #[test]
    fn the_page_tells_peak_holders_and_places() {
        let log = log([
            EventKind::Reserved { address: 4096, bytes: 4096 },
            granted(1, 4096, 2048, "weights"),
            granted(2, 6144, 1024, "scratch"),
            EventKind::Freed { serial: 2 },
            granted(3, 6144, 512, "weights"),
        ]);
        let story = Story::new(&log);
        let peak = story.peak();
        assert_eq!((peak.live, peak.reserved, peak.time_ns), (3072, 4096, 3000));
        let holders = story.holders(peak.time_ns);
        let told: Vec<_> =
            holders.iter().map(|(origin, bytes, blocks)| (origin.label, *bytes, *blocks)).collect();
        assert_eq!(told, [("weights", 2048, 1), ("scratch", 1024, 1)]);
        assert_eq!(story.y(4096), Some(BLOCKS_HEIGHT));
        assert_eq!(story.y(7168), Some(0.0), "what is behind was never used");
        assert_eq!((story.y(0), story.y(7169), story.y(9000)), (None, None, None));
        let page = page(&log);
        assert_eq!(page.matches("<rect x=").count(), 3 + 3, "three blocks and a legend");
        for part in [
            "Device memory of a &lt;test&gt; &amp; more",
            "3 allocations in 4000 ns",
            "at most 3.0 KiB held at once",
        ] {
            assert!(page.contains(part), "{part}");
        }
    }

    #[test]
    fn an_empty_recording_is_a_page_too() {
        let page = page(&MemoryLog::default());
        assert!(page.contains("0 allocations") && page.ends_with("</body></html>\n"));
    }

    #[test]
    fn long_recordings_are_thinned_out() {
        let reserve = [EventKind::Reserved { address: 0, bytes: 1 << 20 }];
        let blocks = (1..30_000).flat_map(|i| [granted(i, 0, 1024, "block"), EventKind::Freed { serial: i }]);
        let page = page(&log(reserve.into_iter().chain(blocks)));
        assert!(page.contains("9999 small or short-lived blocks are left out"));
        let path = page.split("<path d=\"").nth(1).unwrap().split('"').next().unwrap();
        assert!(path.len() < 60_000, "{} bytes of path", path.len());
    }
}
