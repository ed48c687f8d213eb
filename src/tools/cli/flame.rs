//! A flame graph of traced calls as an SVG picture: each box is as wide as the time that threads or
//! streams spent in it, and lies below the box that called it.

use std::{collections::BTreeMap, fmt::Write as _, time::Duration};

use tfrt_device::trace::CATEGORY as DEVICE;
use tfrt_host::tracing::Trace;

use super::{bench::readable, profile::nested};

/// Sizes in pixels.
const WIDTH: f64 = 1200.0;
const ROW: f64 = 18.0;
const LETTER: f64 = 6.6;
/// Boxes that are narrower are left out, with the boxes below them.
const MIN_WIDTH: f64 = 0.3;
const COLORS: [&str; 6] = ["#e8a33d", "#e07b39", "#d9603b", "#eabf5f", "#cf7a4b", "#f0b27a"];

/// The calls with one way of being called.
#[derive(Default)]
struct Frame {
    time_ns: u64,
    count: u64,
    inner: BTreeMap<String, Frame>,
}

impl Frame {
    /// The number of rows that a frame and the frames below it take.
    fn depth(&self) -> usize {
        1 + self.inner.values().map(Self::depth).max().unwrap_or(0)
    }
}

/// Draws a flame graph. Times and counts are divided by `calls`, the number of traced calls. A box shows
/// its name and time when the pointer is on it.
pub(super) fn draw(trace: &Trace, calls: u32) -> String {
    let root = frames(trace);
    let height = ROW * root.depth() as f64 + 2.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"monospace\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    let scale = WIDTH / root.time_ns.max(1) as f64;
    let picture = Picture { calls: calls.max(1), total_ns: root.time_ns.max(1), scale };
    picture.draw(&mut svg, ("all", &root), (0.0, 0));
    svg + "</svg>\n"
}

/// Sums up the spans of threads and of streams by what they are in.
fn frames(trace: &Trace) -> Frame {
    let mut root = Frame::default();
    for track in &trace.tracks {
        let spans = nested(&track.events);
        let mut paths: Vec<Vec<&str>> = Vec::with_capacity(spans.len());
        for span in &spans {
            let kind = if span.event.category == DEVICE { "streams" } else { "threads" };
            let mut path = span.outer.map_or_else(|| vec![kind], |outer| paths[outer].clone());
            path.push(&span.event.name);
            root.time_ns += span.own_ns;
            let mut frame = &mut root;
            for &name in &path {
                frame = frame.inner.entry(name.to_owned()).or_default();
                frame.time_ns += span.own_ns;
            }
            frame.count += u64::from(span.event.category != "blocks");
            paths.push(path);
        }
    }
    root
}

struct Picture {
    calls: u32,
    total_ns: u64,
    /// Pixels for a nanosecond.
    scale: f64,
}

impl Picture {
    /// Draws a frame from this pixel and row on, and the frames in it below.
    fn draw(&self, svg: &mut String, (name, frame): (&str, &Frame), (x, row): (f64, usize)) {
        let width = frame.time_ns as f64 * self.scale;
        if width < MIN_WIDTH {
            return;
        }
        let time = readable(Duration::from_nanos(frame.time_ns / u64::from(self.calls)));
        let share = 100.0 * frame.time_ns as f64 / self.total_ns as f64;
        let mut title = format!("{name}\n{time} per call, {share:.1} %");
        if frame.count > 0 {
            _ = write!(title, ", {:.1} ×", frame.count as f64 / f64::from(self.calls));
        }
        let (y, color) = (ROW * row as f64 + 1.0, COLORS[name.bytes().map(usize::from).sum::<usize>() % 6]);
        let fits = (width / LETTER) as usize;
        let label: String = match name.chars().count() {
            length if length <= fits => name.to_owned(),
            _ if fits > 3 => name.chars().take(fits - 1).chain(['…']).collect(),
            _ => String::new(),
        };
        _ = writeln!(
            svg,
            "<g><title>{}</title><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{}\" \
             fill=\"{color}\" stroke=\"white\" stroke-width=\"0.5\"/><text x=\"{:.1}\" y=\"{:.1}\">{}</text></g>",
            escape(&title),
            ROW - 1.0,
            x + 2.0,
            y + 12.5,
            escape(&label)
        );
        let mut inner: Vec<_> = frame.inner.iter().collect();
        inner.sort_by_key(|(_, frame)| std::cmp::Reverse(frame.time_ns));
        let mut x = x;
        for (name, frame) in inner {
            self.draw(svg, (name, frame), (x, row + 1));
            x += frame.time_ns as f64 * self.scale;
        }
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use tfrt_host::tracing::{Event, TrackTrace};

    use super::*;

    #[test]
    fn boxes_are_as_wide_as_their_time() {
        let event = |category, name: &'static str, start_ns, duration_ns| Event {
            category,
            name: name.into(),
            start_ns,
            duration_ns: Some(duration_ns),
            value: None,
        };
        // In the order in which they end.
        let thread = vec![
            event("op", "tf.A<1>", 20, 30),
            event("kernel", "execute", 10, 50),
            event("function", "main", 0, 75),
        ];
        let stream = vec![event(DEVICE, "launch of f", 30, 25)];
        let track = |events| TrackTrace { id: 1, name: String::new(), events, dropped: 0 };
        let svg = draw(&Trace { tracks: vec![track(thread), track(stream)] }, 1);
        // All is 100 ns in 1,200 pixels.
        let has = |title: &str, x: f64, width: f64| {
            let drawn = svg.split("<g>").find(|drawn| drawn.contains(title));
            let drawn = drawn.unwrap_or_else(|| panic!("{title} is not in {svg}"));
            let rectangle = format!("<rect x=\"{x:.1}\"");
            assert!(drawn.contains(&rectangle), "{drawn}");
            assert!(drawn.contains(&format!("width=\"{width:.1}\"")), "{drawn}");
        };
        has("<title>threads\n", 0.0, 900.0);
        has("<title>main\n", 0.0, 900.0);
        has("<title>execute\n", 0.0, 600.0);
        has("<title>tf.A&lt;1&gt;\n", 0.0, 360.0);
        has("<title>launch of f\n", 900.0, 300.0);
    }
}
