//! Figures of a device: what a launch, an event, an allocation cost; how fast our kernels move memory and the libraries
//! multiply; how long a step of a small network takes, launch by launch and as a graph.
//!
//! `cargo bench --bench device -- --device auto --json device.json --markdown device.md`. With `--short` everything is
//! small: a rehearsal, whose figures mean nothing. It is no criterion bench, because device time is taken from events and
//! a GPU machine has no Rust: the binary runs alone. What such a machine is sent has it within the golden programs' runner
//! (see `ci/gpu`).

#![expect(clippy::print_stderr, clippy::print_stdout, reason = "the binary runs alone and reports")]

mod mlp;
mod report;
mod throughput;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use tfrt_cuda::allocator::Options;
use tfrt_cuda::front::{
    Choice, Context, DeviceAllocator, DeviceBuffer, DeviceOptions, Event, Platform, Stream,
};
use tfrt_cuda::hal::{EventOptions, StreamOptions};
use tfrt_host::{DType, Diagnostic};
use tfrt_launch::DeviceKernels;

use report::Report;

type Outcome<T = ()> = Result<T, Diagnostic>;

/// A device, and what all measurements need.
struct Bench {
    context: Context,
    stream: Stream,
    allocator: DeviceAllocator,
    kernels: DeviceKernels,
    start: Event,
    end: Event,
    short: bool,
}

pub(crate) fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("device: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<(), String> {
    let (mut choice, mut json, mut markdown, mut short) = (Choice::Auto, None, None, false);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--device" => choice = value()?.parse()?,
            "--json" => json = Some(value()?),
            "--markdown" => markdown = Some(value()?),
            "--short" => short = true,
            // Cargo says so.
            "--bench" => {}
            other => return Err(format!("no option '{other}'")),
        }
    }
    let report = measure(choice, short).map_err(|error| error.to_string())?;
    print!("{}", report.markdown());
    let write = |path: Option<&String>, text: String| match path {
        Some(path) => std::fs::write(path, text).map_err(|error| format!("{path}: {error}")),
        None => Ok(()),
    };
    write(json, report.json())?;
    write(markdown, report.markdown())
}

fn measure(choice: Choice, short: bool) -> Outcome<Report> {
    let mut options = DeviceOptions::default();
    options.choice = choice;
    let platform = Platform::new(&options)?;
    let device = platform.device(0)?;
    let context = device.create_context()?;
    let event = || context.create_event(EventOptions { timing: true, ..EventOptions::default() });
    let bench = Bench {
        stream: context.create_stream(StreamOptions::default())?,
        allocator: context.create_allocator(Options::default()),
        kernels: DeviceKernels::new(&context),
        start: event()?,
        end: event()?,
        context,
        short,
    };
    let mut report = Report::new(device.properties(), platform.backend(), short);
    overheads(&bench, &mut report)?;
    throughput::measure(&bench, &mut report)?;
    mlp::measure(&bench, &mut report)?;
    Ok(report)
}

impl Bench {
    fn allocate(&self, bytes: u64) -> Outcome<DeviceBuffer> {
        self.allocator.allocate(&self.stream, bytes as i64, "bench")
    }

    /// Seconds of device time that `work` takes once: the best of several runs of many repetitions.
    fn device_seconds(&self, mut work: impl FnMut() -> Outcome) -> Outcome<f64> {
        let (runs, repetitions) = if self.short { (1, 1) } else { (5, 20) };
        work()?;
        self.stream.synchronize()?;
        let mut best = f64::INFINITY;
        for _ in 0..runs {
            self.start.record(&self.stream)?;
            for _ in 0..repetitions {
                work()?;
            }
            self.end.record(&self.stream)?;
            self.end.synchronize()?;
            best = best.min(f64::from(self.start.elapsed_ms(&self.end)?) / 1e3 / f64::from(repetitions));
        }
        Ok(best)
    }

    /// Seconds of host time that `call` takes once, with little enough queued that it need not wait.
    fn host_seconds(&self, mut call: impl FnMut() -> Outcome) -> Outcome<f64> {
        let (runs, repetitions) = if self.short { (2, 10) } else { (50, 200) };
        let mut best = Duration::MAX;
        for _ in 0..runs {
            let start = Instant::now();
            for _ in 0..repetitions {
                call()?;
            }
            best = best.min(start.elapsed());
            self.stream.synchronize()?;
        }
        Ok(best.as_secs_f64() / f64::from(repetitions))
    }
}

/// What the host pays for each call.
fn overheads(bench: &Bench, report: &mut Report) -> Outcome {
    let Bench { context, stream, kernels, .. } = bench;
    let tiny = bench.allocate(4)?;
    let launch = || Ok(kernels.fill(stream, DType::F32, &tiny, 1, 1.0)?);
    report.add("launch, host time", bench.host_seconds(launch)? * 1e9, "ns");
    report.add("launch after launch, device time", bench.device_seconds(launch)? * 1e6, "µs");
    let event = context.create_event(EventOptions::default())?;
    let record = || {
        event.record(stream)?;
        Ok(stream.wait(&event)?)
    };
    report.add("event: record and wait, host time", bench.host_seconds(record)? * 1e9, "ns");
    let allocate = || bench.allocate(1 << 20).map(drop);
    report.add("allocate and free, cached, host time", bench.host_seconds(allocate)? * 1e9, "ns");
    let synchronize = || {
        launch()?;
        Ok(stream.synchronize()?)
    };
    report.add("launch and synchronize, host time", bench.host_seconds(synchronize)? * 1e6, "µs");
    Ok(())
}
