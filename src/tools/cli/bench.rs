//! `tfrt bench`: measures a function's latency and throughput.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;
use tfrt_device::Devices;
use tfrt_host::{
    Diagnostic,
    tracing::{self, Trace},
};

use super::{
    Failure, calibrate, file_error, flame, print_json,
    profile::Profile,
    program::{MissingInputs, ProgramArgs, Session, duration},
};
use crate::{
    Console, Errors,
    files::{check_output_path, replace_file},
};

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    program: ProgramArgs,
    /// Make COUNT calls before measuring
    #[arg(long, value_name = "COUNT", default_value_t = 3)]
    warm_up: u32,
    /// Measure for about TIME (500ms, 2s)
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "2s")]
    time: Duration,
    /// Measure COUNT calls instead of a time
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    calls: Option<u32>,
    /// Count COUNT items (images, rows) per call for the throughput
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    items: u64,
    /// Keep COUNT calls in flight, each on a thread of its own
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    concurrency: u16,
    /// Make the calls that are in flight from one thread, each before the results of the ones
    /// before it are there
    #[arg(long, conflicts_with = "calibrate")]
    pipeline: bool,
    /// Trace a few more calls and print the time that each kernel and op takes
    #[arg(long)]
    profile: bool,
    /// Trace a few more calls and draw a flame graph of their time as an SVG picture in FILE
    #[arg(long, value_name = "FILE")]
    flame_graph: Option<PathBuf>,
    /// Measure the time of each op of a model in host memory, and write it to the file that
    /// --output names, for 'tfrt compile --explain --costs'
    #[arg(long, requires = "output", conflicts_with_all = ["concurrency", "profile", "flame_graph"])]
    calibrate: bool,
    /// Write the times of ops to FILE
    #[arg(short, long, value_name = "FILE", requires = "calibrate")]
    output: Option<PathBuf>,
    /// Print the figures as JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// The most calls that are measured, since each latency is kept in memory.
const MAX_CALLS: u32 = 10_000_000;

/// The calls that are traced for a profile.
const PROFILED_CALLS: u32 = 10;

/// The calls that are traced for the times of ops.
const CALIBRATION_CALLS: u32 = 30;
/// What was measured, as the times of ops name it.
pub(super) const HOST: &str = "host";

/// Runs the command.
pub(super) fn run(args: &Args, console: &mut Console) -> Result<(), Failure> {
    if let Some(file) = &args.flame_graph {
        check_output_path(file).map_err(|error| file_error("write", file, error))?;
    }
    let start = Instant::now();
    let mut session = Session::new(&args.program, &[], None, MissingInputs::Random, false, console)?;
    session.progress = false;
    let (setup, load) = (session.setup, start.elapsed() - session.setup.unwrap_or_default());
    let first = timed(&session)?;
    for _ in 0..args.warm_up {
        timed(&session)?;
    }
    let (mut latencies, total) = match args.concurrency {
        _ if args.pipeline => measure_pipelined(args, &session)?,
        1 => measure(args, &session, console)?,
        _ => measure_concurrently(args, &session)?,
    };
    let profile = if session.is_interrupted() { None } else { profile(args, &session)? };
    if let Some(file) = args.output.as_ref().filter(|_| !session.is_interrupted()) {
        calibrate(&session, file)?;
    }
    session.write_timeline()?;
    let (function, is_interrupted) = (session.function.clone(), session.is_interrupted());
    fail_on(session.finish(Vec::new()))?;
    latencies.sort_unstable();
    let figures = Figures { load, setup, first, latencies, total, items: args.items };
    if args.json {
        let mut json = figures.to_json(&function);
        if let Some(profile) = profile {
            json["profile"] = profile.host_json();
            json["device_profile"] = profile.device_json();
        }
        print_json(console, &json);
    } else {
        figures.print(console);
        console.print(profile.map(|profile| profile.to_text()).unwrap_or_default());
    }
    if is_interrupted { Err(Failure::Interrupted) } else { Ok(()) }
}

/// Traces a few calls if the user asks for their profile or for a picture of it, which is written.
fn profile(args: &Args, session: &Session) -> Result<Option<Profile>, Failure> {
    if !args.profile && args.flame_graph.is_none() {
        return Ok(None);
    }
    let trace = trace(session, PROFILED_CALLS)?;
    if let Some(file) = &args.flame_graph {
        let picture = flame::draw(&trace, PROFILED_CALLS);
        replace_file(file, |temporary| std::fs::write(temporary, picture))
            .map_err(|error| file_error("write", file, error))?;
    }
    Ok(args.profile.then(|| Profile::new(&trace, PROFILED_CALLS)))
}

fn trace(session: &Session, calls: u32) -> Result<Trace, Failure> {
    tracing::enable();
    let traced = (0..calls).try_for_each(|_| timed(session).map(drop));
    session.await_devices();
    tracing::disable();
    let trace = tracing::take();
    traced.map(|()| trace)
}

/// Writes the times of ops to a file.
fn calibrate(session: &Session, file: &Path) -> Result<(), Failure> {
    let device = Devices::of(session.runtime.host()).chosen_device().map_err(Diagnostic::from)?;
    if device.is_some() {
        // There an op's span tells when it was queued.
        return Err(Failure::Usage("--calibrate measures ops in host memory; leave out --device".to_owned()));
    }
    let costs = calibrate::costs(&trace(session, CALIBRATION_CALLS)?, HOST);
    if costs.is_empty() {
        return Err(Diagnostic::invalid_argument("the program calls no ops that a plan could use").into());
    }
    replace_file(file, |temporary| std::fs::write(temporary, costs.to_json()))
        .map_err(|error| file_error("write", file, error))?;
    Ok(())
}

/// Makes one call, which must succeed, and returns its latency.
fn timed(session: &Session) -> Result<Duration, Failure> {
    let start = Instant::now();
    let results = session.call()?;
    let elapsed = start.elapsed();
    let errors = session.take_errors(&results);
    if session.is_interrupted() {
        return Err(Failure::Interrupted);
    }
    fail_on(errors)?;
    Ok(elapsed)
}

/// Fails if there are errors.
fn fail_on(errors: Vec<Diagnostic>) -> Result<(), Failure> {
    if errors.is_empty() { Ok(()) } else { Err(Failure::Errors(Errors(errors))) }
}

/// Returns the latency of each call, and the time of all.
fn measure(args: &Args, session: &Session, console: &Console) -> Result<(Vec<Duration>, Duration), Failure> {
    let progress = progress(args, console.is_terminal);
    let mut latencies = Vec::new();
    let start = Instant::now();
    let mut shown = start;
    let total = loop {
        match timed(session) {
            Ok(latency) => latencies.push(latency),
            // The figures so far are worth showing.
            Err(Failure::Interrupted) if !latencies.is_empty() => break start.elapsed(),
            Err(failure) => return Err(failure),
        }
        let now = Instant::now();
        let calls = latencies.len() as u32;
        let done = args.calls.map_or(now - start >= args.time, |count| calls >= count);
        if done || calls >= MAX_CALLS {
            break now - start;
        }
        // Drawing takes time that is measured, so it is done rarely.
        if now - shown > Duration::from_millis(200) {
            shown = now;
            let elapsed_ms = (now - start).as_millis() as u64;
            progress.set_position(args.calls.map_or(elapsed_ms, |_| calls.into()));
        }
    };
    progress.finish_and_clear();
    Ok((latencies, total))
}

/// Returns the latency of each call, and the time of all, of calls that several threads make at a
/// time.
fn measure_concurrently(args: &Args, session: &Session) -> Result<(Vec<Duration>, Duration), Failure> {
    let caller = session.caller();
    let left = AtomicU32::new(args.calls.unwrap_or(MAX_CALLS));
    let has_failed = AtomicBool::new(false);
    let start = Instant::now();
    // Every thread stops after the call in which the time ends, the last call, or an error.
    let make_calls = || {
        let mut latencies = Vec::new();
        let take = |left: u32| left.checked_sub(1);
        while (args.calls.is_some() || start.elapsed() < args.time)
            && !has_failed.load(Ordering::Relaxed)
            && !caller.is_interrupted()
            && left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
        {
            let begin = Instant::now();
            let errors = caller.call();
            latencies.push(begin.elapsed());
            if let Err(errors) = errors {
                has_failed.store(true, Ordering::Relaxed);
                return Err(errors);
            }
        }
        Ok(latencies)
    };
    let outcomes: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..args.concurrency).map(|_| scope.spawn(make_calls)).collect();
        threads.into_iter().map(thread::ScopedJoinHandle::join).collect()
    });
    let total = start.elapsed();
    let mut latencies = Vec::new();
    for outcome in outcomes {
        let panicked = |_| Diagnostic::internal("a thread that makes calls panicked");
        latencies.extend(outcome.map_err(panicked)?.map_err(|errors| Failure::Errors(Errors(errors)))?);
    }
    fail_on(session.take_errors(&[]))?;
    Ok((latencies, total))
}

/// Returns the latency of each call, and the time of all, of calls that one thread makes and of
/// which several are in flight. A call's latency lasts from its beginning until its results are
/// there and the calls before it have ended.
fn measure_pipelined(args: &Args, session: &Session) -> Result<(Vec<Duration>, Duration), Failure> {
    let caller = session.caller();
    let mut left = args.calls.unwrap_or(MAX_CALLS);
    let (mut in_flight, mut latencies) = (VecDeque::new(), Vec::new());
    let failed = |errors| Failure::Errors(Errors(errors));
    let start = Instant::now();
    loop {
        let goes_on = (args.calls.is_some() || start.elapsed() < args.time) && !caller.is_interrupted();
        if goes_on && left > 0 && in_flight.len() < args.concurrency.into() {
            left -= 1;
            in_flight.push_back((Instant::now(), caller.start().map_err(failed)?));
            continue;
        }
        let Some((begin, call)) = in_flight.pop_front() else { break };
        call.wait().map_err(failed)?;
        latencies.push(begin.elapsed());
    }
    let total = start.elapsed();
    fail_on(session.take_errors(&[]))?;
    Ok((latencies, total))
}

fn progress(args: &Args, is_terminal: bool) -> ProgressBar {
    let length = args.calls.map_or(args.time.as_millis() as u64, u64::from);
    let target = if is_terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(length), target);
    match ProgressStyle::with_template("measuring {bar:40} {percent}%") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

struct Figures {
    load: Duration,
    /// The duration of the setup function, if there is one.
    setup: Option<Duration>,
    first: Duration,
    /// Sorted.
    latencies: Vec<Duration>,
    total: Duration,
    items: u64,
}

impl Figures {
    /// Returns a percentile of the latencies, by the nearest rank.
    fn percentile(&self, percent: usize) -> Duration {
        let rank = (self.latencies.len() * percent).div_ceil(100).max(1);
        self.latencies.get(rank - 1).copied().unwrap_or_default()
    }

    fn mean(&self) -> Duration {
        self.latencies.iter().sum::<Duration>().div_f64(self.latencies.len().max(1) as f64)
    }

    fn per_second(&self) -> f64 {
        self.latencies.len() as f64 * self.items as f64 / self.total.as_secs_f64().max(f64::MIN_POSITIVE)
    }

    fn latency_rows(&self) -> [(&'static str, Duration); 6] {
        [
            ("min", self.percentile(0)),
            ("mean", self.mean()),
            ("p50", self.percentile(50)),
            ("p90", self.percentile(90)),
            ("p99", self.percentile(99)),
            ("max", self.percentile(100)),
        ]
    }

    fn to_json(&self, function: &str) -> serde_json::Value {
        let us = |time: Duration| time.as_nanos() as f64 / 1e3;
        let rows = self.latency_rows().map(|(name, time)| (name.to_owned(), json!(us(time))));
        json!({
            "function": function,
            "calls": self.latencies.len(),
            "load_us": us(self.load),
            "setup_us": self.setup.map(us),
            "first_call_us": us(self.first),
            "latency_us": serde_json::Map::from_iter(rows),
            "items_per_second": self.per_second(),
        })
    }

    fn print(&self, console: &mut Console) {
        let setup = self.setup.map(|time| format!(", setup {}", readable(time))).unwrap_or_default();
        let mut text = format!(
            "cold start   load {}{setup}, first call {}\nlatency      of {} calls\n",
            readable(self.load),
            readable(self.first),
            self.latencies.len()
        );
        for (name, time) in self.latency_rows() {
            text += &format!("  {name:<10} {}\n", readable(time));
        }
        let unit = if self.items == 1 { "calls" } else { "items" };
        text += &format!("throughput   {:.1} {unit}/s\n", self.per_second());
        console.print(text);
    }
}

/// Formats a time with three or four digits and a unit.
pub(super) fn readable(time: Duration) -> String {
    let ns = time.as_nanos() as f64;
    match ns {
        _ if ns < 1e3 => format!("{ns:.0} ns"),
        _ if ns < 1e6 => format!("{:.2} µs", ns / 1e3),
        _ if ns < 1e9 => format!("{:.2} ms", ns / 1e6),
        _ => format!("{:.2} s", ns / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let latencies: Vec<_> = (1..=10).map(Duration::from_millis).collect();
        let figures = Figures {
            load: Duration::ZERO,
            setup: None,
            first: Duration::ZERO,
            latencies,
            total: Duration::from_millis(55),
            items: 2,
        };
        for (percent, ms) in [(0, 1), (50, 5), (90, 9), (99, 10), (100, 10)] {
            assert_eq!(figures.percentile(percent), Duration::from_millis(ms), "{percent}");
        }
        assert_eq!(figures.mean(), Duration::from_micros(5500));
        assert!((figures.per_second() - 20.0 / 0.055).abs() < 1e-6);
        assert_eq!(readable(Duration::from_micros(1500)), "1.50 ms");
    }
}
