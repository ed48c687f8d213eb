//! The predicted timeline as an SVG picture: a row for each stream, and the arena below.

use std::{collections::BTreeMap, fmt::Write as _};

use tfrt_compiler::plan::{Block, Event, Memory, Plan, Problem, Queue};

use super::{bytes, time, trace::stream_name};

/// Sizes in pixels.
const WIDTH: f64 = 1400.0;
const LEFT: f64 = 80.0;
const ROW: f64 = 34.0;
const BAR: f64 = 22.0;
const TOP: f64 = 30.0;
const ARENA: f64 = 240.0;

/// Draws the timeline. Boxes say what they are while the pointer is above them.
pub(super) fn draw(problem: &Problem, plan: &Plan) -> String {
    let schedule = &plan.schedule;
    let end = schedule.time_ns.max(1) as f64;
    let x = |ns: u64| LEFT + (WIDTH - LEFT - 10.0) * ns as f64 / end;
    let arena_top = TOP + ROW * schedule.stream_count as f64 + 30.0;
    let height = arena_top + ARENA + 20.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"16\">{} predicted</text>", time(schedule.time_ns));
    for stream in 0..schedule.stream_count {
        let y = TOP + ROW * stream as f64;
        _ = writeln!(svg, "<text x=\"4\" y=\"{}\">{}</text>", y + 15.0, stream_name(plan, stream));
        _ = writeln!(svg, "<path d=\"M{LEFT} {}H{WIDTH}\" stroke=\"#d0d7de\"/>", y + BAR);
    }
    for &op in &schedule.order {
        let (span, stream) = (schedule.spans[op], schedule.streams[op]);
        let (left, right) = (x(span.start_ns), x(span.end_ns));
        let fill = match problem.ops[op].queue {
            Queue::Copy => "#d4a72c",
            Queue::Compute if plan.critical_path.contains(&op) => "#cf5c36",
            Queue::Compute => "#4c8dbf",
        };
        let y = TOP + ROW * stream as f64;
        let title = format!("{}\n{} to {}", problem.ops[op].label, time(span.start_ns), time(span.end_ns));
        rectangle(&mut svg, (left, y, right - left, BAR), fill, &title);
    }
    for event in &schedule.events {
        let Event { after: Some(after), before: Some(before) } = *event else { continue };
        let y = |op: usize| TOP + ROW * schedule.streams[op] as f64 + BAR / 2.0;
        let (from, to) = (x(schedule.spans[after].end_ns), x(schedule.spans[before].start_ns));
        _ = writeln!(
            svg,
            "<path d=\"M{from:.1} {:.1}L{to:.1} {:.1}\" stroke=\"#57606a\" stroke-dasharray=\"3 2\"/>",
            y(after),
            y(before)
        );
    }
    draw_arena(&mut svg, problem, plan, arena_top, &x);
    svg + "</svg>\n"
}

/// Draws when each buffer of the arena is in use, and where it lies.
fn draw_arena(svg: &mut String, problem: &Problem, plan: &Plan, top: f64, x: &dyn Fn(u64) -> f64) {
    let total = plan.layout.arena_bytes.max(1) as f64;
    _ = writeln!(svg, "<text x=\"4\" y=\"{}\">arena</text>", top + 12.0);
    _ = writeln!(svg, "<text x=\"4\" y=\"{}\">{}</text>", top + 28.0, bytes(plan.layout.arena_bytes));
    let mut uses: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
    for (op, span) in problem.ops.iter().zip(&plan.schedule.spans) {
        for &buffer in op.reads.iter().chain(&op.writes) {
            let whole = match problem.buffers[buffer].memory {
                Memory::Part { whole, .. } => whole,
                _ => buffer,
            };
            let used = uses.entry(whole).or_insert((span.start_ns, span.end_ns));
            *used = (used.0.min(span.start_ns), used.1.max(span.end_ns));
        }
    }
    for (buffer, (start, end)) in uses {
        let place = plan.layout.places[buffer];
        if place.block != Block::Arena {
            continue;
        }
        let size = problem.buffers[buffer].size_bytes;
        let y = top + ARENA * place.offset_bytes as f64 / total;
        let title = format!("{}\n{} at {}", problem.buffers[buffer].label, bytes(size), place.offset_bytes);
        let area = (x(start), y, x(end) - x(start), ARENA * size as f64 / total);
        rectangle(svg, area, "#8ab17d", &title);
    }
}

fn rectangle(svg: &mut String, (x, y, width, height): (f64, f64, f64, f64), fill: &str, title: &str) {
    let title = title.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    _ = writeln!(
        svg,
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{height:.1}\" fill=\"{fill}\" stroke=\"white\" \
         stroke-width=\"0.5\"><title>{title}</title></rect>",
        width.max(1.0)
    );
}
