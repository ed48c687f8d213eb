//! `tfrt compile --explain`: the plan of a model as a device program, as text and as a timeline.

mod picture;
mod trace;

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use tfrt_compiler::{
    Graph,
    analysis::device_problem,
    lower::cuda::{DevicePlan, HostOp},
    plan::{
        Memory, Options, Plan, Problem, Queue, Streams,
        cost::{Costs, MACHINES, Machine},
        plan,
    },
};
use tfrt_host::{Diagnostic, ErrorCode};

use super::{
    Failure,
    bench::{HOST, readable},
    file_error,
};
use crate::{
    Errors,
    devices::kernel_generator,
    files::{check_output_path, replace_file},
};

/// The most buffers that are listed at the peak.
const MAX_PEAK_BUFFERS: usize = 8;
/// The machine that times of this host tell something of.
const CPU: &str = "cpu";
/// The most ops that are listed on the critical path.
const MAX_PATH_OPS: usize = 5;

/// Options of the plan.
#[derive(clap::Args)]
pub(super) struct ExplainArgs {
    /// Print how the model would run on a device: its streams, events and memory, with predicted
    /// times
    #[arg(long)]
    pub(super) explain: bool,
    /// Compute on at most COUNT streams, or on as many as are predicted to pay
    #[arg(long, value_name = "COUNT|auto", value_parser = streams, default_value = "auto")]
    pub(super) streams: Streams,
    /// Predict for the device NAME
    #[arg(long, value_name = "NAME", value_parser = machine, default_value = MACHINES[0].name)]
    pub(super) predict_for: &'static Machine,
    /// Take the times of ops from FILE, which 'tfrt bench --calibrate' writes
    #[arg(long, value_name = "FILE")]
    costs: Option<PathBuf>,
    /// Draw the predicted timeline in FILE: a picture (.svg) or a Chrome or Perfetto trace (.json)
    #[arg(long, value_name = "FILE", requires = "explain")]
    timeline: Vec<PathBuf>,
}

fn streams(text: &str) -> Result<Streams, String> {
    match text {
        "auto" => Ok(Streams::Auto),
        _ => match text.parse() {
            Ok(count @ 1..=64) => Ok(Streams::AtMost(count)),
            _ => Err("expected 'auto' or a number from 1 to 64".to_owned()),
        },
    }
}

fn machine(name: &str) -> Result<&'static Machine, String> {
    Machine::find(name).ok_or_else(|| {
        let known: Vec<_> = MACHINES.iter().map(|machine| machine.name).collect();
        format!("the devices are {}", known.join(", "))
    })
}

/// The format of a timeline.
#[derive(Clone, Copy)]
enum Format {
    Picture,
    Trace,
}

fn format_of(file: &Path) -> Result<Format, Failure> {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("svg") => Ok(Format::Picture),
        Some("json") => Ok(Format::Trace),
        _ => Err(Failure::Usage(format!("the timeline '{}' must end in .svg or .json", file.display()))),
    }
}

impl ExplainArgs {
    /// Checks what can be checked before the model is compiled.
    pub(super) fn check(&self) -> Result<(), Failure> {
        for file in &self.timeline {
            format_of(file)?;
            check_output_path(file).map_err(|error| file_error("write", file, error))?;
        }
        Ok(())
    }

    /// Plans a graph, writes its timelines, and returns the explanation.
    pub(super) fn explain(&self, graph: &Graph) -> Result<String, Failure> {
        let costs = self.costs()?;
        let problem = device_problem(graph, self.predict_for, costs.as_ref()).map_err(Errors::from)?;
        let options =
            Options { streams: self.streams, device: self.predict_for.queues, ..Options::default() };
        let start = Instant::now();
        let plan = plan(&problem, &options).map_err(|error| Diagnostic::internal(error.to_string()))?;
        let planning = start.elapsed();
        self.write_timelines(&problem, &plan)?;
        let text = self.describe(&problem, &plan, costs.as_ref());
        Ok(text + &format!("planned in      {}\n", readable(planning)))
    }

    /// Writes the timelines of a device program, and returns its explanation.
    pub(super) fn explain_program(
        &self,
        program: &DevicePlan,
        has_fixed_kernels: bool,
    ) -> Result<String, Failure> {
        self.write_timelines(&program.problem, &program.plan)?;
        let mut text = self.describe(&program.problem, &program.plan, self.costs()?.as_ref());
        describe_kernels(&mut text, program, has_fixed_kernels);
        describe_host(&mut text, program, self.predict_for);
        Ok(text)
    }

    /// The times of ops that the user names.
    ///
    /// # Errors
    /// A file that cannot be read, or times of another machine than the one to predict for.
    pub(super) fn costs(&self) -> Result<Option<Costs>, Diagnostic> {
        let Some(file) = &self.costs else { return Ok(None) };
        let costs = read_costs(file)?;
        if costs.device() == HOST && self.predict_for.name != CPU {
            return Err(Diagnostic::invalid_argument(format!(
                "'{}' has times of this host, which tell nothing of the device '{}'; add --predict-for {CPU}",
                file.display(),
                self.predict_for.name
            )));
        }
        Ok(Some(costs))
    }

    fn write_timelines(&self, problem: &Problem, plan: &Plan) -> Result<(), Failure> {
        for file in &self.timeline {
            let text = match format_of(file)? {
                Format::Picture => picture::draw(problem, plan),
                Format::Trace => trace::write(problem, plan),
            };
            replace_file(file, |temporary| std::fs::write(temporary, text))
                .map_err(|error| file_error("write", file, error))?;
        }
        Ok(())
    }

    fn describe(&self, problem: &Problem, plan: &Plan, costs: Option<&Costs>) -> String {
        let copies = problem.ops.iter().filter(|op| op.queue == Queue::Copy).count();
        let mut text = format!("device          {}\n", self.predict_for.summary);
        if let Some(costs) = costs {
            _ = writeln!(text, "costs           {} times measured on '{}'", costs.len(), costs.device());
        }
        let ops = problem.ops.len() - copies;
        _ = writeln!(text, "ops             {ops}, and {copies} copies; at most {} at a time", plan.width);
        let (serial, path) = (plan.predictions.first().map_or(0, |one| one.time_ns), plan.critical_path_ns);
        let share = 100. * path as f64 / serial.max(1) as f64;
        _ = writeln!(text, "critical path   {}, {share:.0} % of one stream's time", time(path));
        describe_path(&mut text, problem, plan);
        describe_predictions(&mut text, plan);
        describe_memory(&mut text, problem, plan);
        text
    }
}

/// Says how many kernels were generated, or why there are none.
fn describe_kernels(text: &mut String, program: &DevicePlan, has_fixed_kernels: bool) {
    let without = |reason: String| format!("the runtime's own alone: {reason}");
    let kernels = match (&program.generator_error, kernel_generator()) {
        _ if has_fixed_kernels => without("--fixed-kernels".to_owned()),
        (Some(error), _) => without(error.replace('\n', "; ")),
        (None, Err(missing)) => without(missing.to_string()),
        (None, Ok(_)) => {
            format!("{} generated for {} elementwise ops", program.kernel_count, program.generated_ops)
        }
    };
    _ = writeln!(text, "kernels         {kernels}");
}

/// Lists what runs on the host, step by step, and why.
fn describe_host(text: &mut String, program: &DevicePlan, machine: &Machine) {
    _ = writeln!(text, "graphs          {}", program.region_count);
    if program.host_ops.is_empty() {
        return;
    }
    let [down, up] = program.copied_bytes;
    let copies = machine.estimate_copy(down).time_ns + machine.estimate_copy(up).time_ns;
    let (ops, copies) = (program.host_ops.len(), time(copies));
    let (down, up) = (bytes(down), bytes(up));
    _ = writeln!(text, "on the host     {ops} ops, which copy {down} there and {up} back in about {copies}");
    let mut ops: Vec<_> = program.host_ops.iter().collect();
    ops.sort_by_key(|op| op.step);
    for HostOp { label, reason, step } in ops {
        let place = match step {
            0 => "at the beginning".to_owned(),
            _ => format!("behind graph {step}"),
        };
        _ = writeln!(text, "  {place}: {label}: {reason}");
    }
}

fn describe_path(text: &mut String, problem: &Problem, plan: &Plan) {
    let mut ops = plan.critical_path.clone();
    ops.sort_by_key(|&op| (std::cmp::Reverse(problem.ops[op].time_ns), op));
    for &op in ops.iter().take(MAX_PATH_OPS) {
        let op = &problem.ops[op];
        _ = writeln!(text, "  {:>10}  {}", time(op.time_ns), op.label);
    }
    if let Some(more @ 1..) = ops.len().checked_sub(MAX_PATH_OPS) {
        _ = writeln!(text, "  and {more} more");
    }
}

fn describe_predictions(text: &mut String, plan: &Plan) {
    let schedule = &plan.schedule;
    let chosen = schedule.stream_count - usize::from(schedule.copy_stream.is_some());
    let first = plan.predictions.first().map_or(0, |one| one.time_ns) as f64;
    *text += "streams         events        time    gain\n";
    for prediction in &plan.predictions {
        let mark = if prediction.stream_count == chosen { " ← planned" } else { "" };
        let gain = 100. * (1. - prediction.time_ns as f64 / first.max(1.));
        let (streams, events) = (prediction.stream_count, prediction.event_count);
        _ = writeln!(
            text,
            "  {streams:>5} {events:>14} {:>11} {gain:>5.1} %{mark}",
            time(prediction.time_ns)
        );
    }
    if let Some(copies @ 1..) = schedule.events.len().checked_sub(plan.predictions[chosen - 1].event_count) {
        _ = writeln!(text, "  and {copies} events with the stream of copies");
    }
}

fn describe_memory(text: &mut String, problem: &Problem, plan: &Plan) {
    let layout = &plan.layout;
    let temporary = problem.buffers.iter().filter(|buffer| buffer.memory == Memory::Arena);
    let (count, sum) = temporary.fold((0, 0), |(count, sum), buffer| (count + 1, sum + buffer.size_bytes));
    let ratio = layout.arena_bytes as f64 / layout.lower_bound_bytes.max(1) as f64;
    _ = writeln!(
        text,
        "arena           {}, {ratio:.2} of the lower bound; {count} buffers of {}, {} in place",
        bytes(layout.arena_bytes),
        bytes(sum),
        layout.in_place.len()
    );
    _ = writeln!(text, "constants       {}", bytes(layout.constant_bytes));
    let Some(peak) = layout.peak_op else { return };
    _ = writeln!(text, "peak            at {}", problem.ops[peak].label);
    for &buffer in layout.peak_buffers.iter().take(MAX_PEAK_BUFFERS) {
        let buffer = &problem.buffers[buffer];
        _ = writeln!(text, "  {:>10}  {}", bytes(buffer.size_bytes), buffer.label);
    }
    if let Some(more @ 1..) = layout.peak_buffers.len().checked_sub(MAX_PEAK_BUFFERS) {
        _ = writeln!(text, "  and {more} more");
    }
}

fn read_costs(file: &Path) -> Result<Costs, Diagnostic> {
    let text = std::fs::read_to_string(file).map_err(|error| file_error("read", file, error))?;
    Costs::from_json(&text).map_err(|error| {
        Diagnostic::new(ErrorCode::InvalidArgument, format!("'{}': {error}", file.display()))
    })
}

fn time(time_ns: u64) -> String {
    readable(Duration::from_nanos(time_ns))
}

/// Formats a size with a unit.
fn bytes(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.),
    }
}
