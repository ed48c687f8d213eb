//! Figures of a device: what a launch, an event, an allocation cost; how fast our kernels move
//! memory, attend, and the libraries multiply; how long a step of a small network takes, launch by launch
//! and as a graph.
//!
//! `cargo bench --bench device -- --device auto --json device.json --markdown device.md`. With
//! `--short` everything is small: a rehearsal, whose figures mean nothing. It is no criterion
//! bench, because device time is taken from events and a GPU machine has no Rust: the binary runs
//! alone. What such a machine is sent has it within the golden programs' runner (see `ci/gpu`).

#![expect(clippy::print_stderr, clippy::print_stdout, reason = "the binary runs alone and reports")]

mod attention;
pub(crate) mod mlp;
mod report;
mod throughput;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use tfrt_cpu::CpuOptions;
use tfrt_device::allocator::Options;
use tfrt_device::front::{Context, DeviceAllocator, DeviceBuffer, Event, Platform, Stream};
use tfrt_device::hal::{EventOptions, StreamOptions};
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
    let (mut device, mut json, mut markdown, mut short, mut only_network) =
        ("auto", None, None, false, false);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--device" => device = value()?,
            "--json" => json = Some(value()?),
            "--markdown" => markdown = Some(value()?),
            "--short" => short = true,
            // The small network alone.
            "--network" => only_network = true,
            // Cargo says so.
            "--bench" => {}
            other => return Err(format!("no option '{other}'")),
        }
    }
    let report = measure(device, short, only_network).map_err(|error| error.to_string())?;
    print!("{}", report.markdown());
    let write = |path: Option<&String>, text: String| match path {
        Some(path) => std::fs::write(path, text).map_err(|error| format!("{path}: {error}")),
        None => Ok(()),
    };
    write(json, report.json())?;
    write(markdown, report.markdown())
}

/// Opens the devices of this name: `cuda`, `cpu` or `auto`, which is CUDA devices if there are any,
/// else CPU devices.
fn open(device: &str) -> Outcome<Platform> {
    let cpu = || tfrt_cpu::open(&CpuOptions::default());
    let backend = match device {
        "auto" => tfrt_gpu::find().or_else(|_| cpu()),
        "cpu" => cpu(),
        "cuda" | "gpu" => tfrt_gpu::find(),
        _ => return Err(Diagnostic::invalid_argument(format!("'{device}' is none of auto, cpu, cuda"))),
    };
    Ok(Platform::new(backend?))
}

fn measure(device: &str, short: bool, only_network: bool) -> Outcome<Report> {
    let platform = open(device)?;
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
    if !only_network {
        overheads(&bench, &mut report)?;
        throughput::measure(&bench, &mut report)?;
        attention::measure(&bench, &mut report)?;
    }
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

    /// Seconds of host time that `call` takes once, with little enough queued that it need not
    /// wait.
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
