//! `tfrt_test.benchmark` and `tfrt_test.sync_benchmark`: run a function repeatedly, and report its
//! times.
//!
//! Runs follow one another; a run ends when its result is available. While results are available
//! immediately, the runs stay on one thread and yield after every [`MAX_RUNS`] of them, so that
//! their times include neither queueing nor wake-ups. Nothing blocks: if a result is pending, the
//! next run starts when it becomes available.

use std::{
    fmt::Write,
    time::{Duration, Instant},
};

use rustix::time::{ClockId, clock_gettime};
use tfrt_host::{
    AsyncValue, AsyncValueRef, Attr, Chain, Diagnostic, ExecutionContext, Function, FunctionRef,
    KernelRegistry, Promise, Rest, Status, bef::FunctionKind, work_queue::Task,
};

use tfrt_host::text::format_exponent;

/// The number of runs before the benchmark returns to the work queue.
const MAX_RUNS: usize = 1024;

pub(super) fn register(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_test.benchmark", benchmark)
        .attributes(&["duration_secs", "max_count", "name", "num_warmup_runs"])
        .side_effecting()
        .doc("Runs a function until it has run so often or so long, then prints how long it took.");
    registry
        .add("tfrt_test.sync_benchmark", sync_benchmark)
        .functions(&["target_fn"])
        .attributes(&["duration_secs", "max_count", "num_warmup_runs"])
        .side_effecting()
        .doc(
            "Runs a synchronous function until it has run so often or so long, then prints how long it took.",
        );
}

fn benchmark(
    duration_secs: Attr<'_, i32>,
    max_count: Attr<'_, i32>,
    name: Attr<'_, str>,
    num_warmup_runs: Attr<'_, i32>,
    arguments: Rest<'_, AsyncValue>,
    function: FunctionRef<'_>,
    cx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>, Diagnostic> {
    if function.result_types().len() != 1 {
        return Err("Benchmark op requires the input function have exactly one return value".into());
    }
    let (promise, done) = Promise::new();
    let runner = Box::new(Runner {
        measurement: Measurement::new(name.0, num_warmup_runs.0, max_count.0, duration_secs.0),
        function: function.to_function(),
        arguments: arguments.to_vec(),
        cx: cx.clone(),
        done: promise,
    });
    runner.schedule();
    Ok(done)
}

fn sync_benchmark(
    duration_secs: Attr<'_, i32>,
    max_count: Attr<'_, i32>,
    num_warmup_runs: Attr<'_, i32>,
    arguments: Rest<'_, AsyncValue>,
    function: FunctionRef<'_>,
    cx: &ExecutionContext,
) -> Result<(), Diagnostic> {
    if function.kind() != FunctionKind::Sync {
        return Err("SyncBenchmark op requires the input function be a sync function".into());
    }
    if function.result_types().len() != 0 {
        return Err("SyncBenchmark op requires the input function have zero return value".into());
    }
    if function.argument_types().len() != arguments.len() {
        return Err("Incorrect number of arguments for the target function for the SyncBenchmark op".into());
    }
    let mut measurement = Measurement::new(function.name(), num_warmup_runs.0, max_count.0, duration_secs.0);
    while measurement.wants_more() {
        if let Some(reason) = cx.request().cancellation() {
            return Err(reason.clone().into());
        }
        measurement.start();
        let mut call = function.call(cx);
        for argument in arguments.iter() {
            call.argument(argument?.clone());
        }
        call.run(|_, _| ());
        measurement.stop();
    }
    measurement.print(cx)
}

/// A benchmark between two runs.
struct Runner {
    measurement: Measurement,
    function: Function,
    arguments: Vec<AsyncValue>,
    cx: ExecutionContext,
    done: Promise<Chain>,
}

impl Runner {
    fn schedule(self: Box<Self>) {
        let host = self.cx.host().clone();
        host.add_task(Task::new(move || self.run()));
    }

    fn run(mut self: Box<Self>) {
        for _ in 0..MAX_RUNS {
            if !self.measurement.wants_more() {
                return self.finish();
            }
            if let Some(reason) = self.cx.request().cancellation().cloned() {
                return self.done.set_error(reason);
            }
            self.measurement.start();
            let mut call = self.function.as_ref().call(&self.cx);
            self.arguments.iter().for_each(|argument| call.argument(argument.clone()));
            let mut result = None;
            call.run(|_, value| result = Some(value));
            let Some(result) = result else { return };
            match result.status() {
                Status::Ready => self.measurement.stop(),
                Status::Failed => return self.fail(&result),
                Status::Pending => return result.clone().and_then(move || self.arrived(&result)),
            }
        }
        self.schedule();
    }

    fn arrived(mut self: Box<Self>, result: &AsyncValue) {
        self.measurement.stop();
        if result.status() == Status::Failed { self.fail(result) } else { self.schedule() }
    }

    fn fail(self: Box<Self>, result: &AsyncValue) {
        if let Some(error) = result.error() {
            self.done.set_error(error);
        }
    }

    fn finish(self: Box<Self>) {
        let Self { measurement, cx, done, .. } = *self;
        let printed = measurement.print(&cx);
        cx.settle(done, printed.map(|()| Chain));
    }
}

/// Returns the CPU time of all threads of the process.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// The times of runs.
struct Measurement {
    name: String,
    warm_up_runs: usize,
    runs_max: usize,
    duration_max: Duration,
    runs: usize,
    start_wall: Instant,
    start_cpu: Duration,
    wall: Vec<Duration>,
    cpu: Vec<Duration>,
    wall_total: Duration,
    cpu_total: Duration,
}

impl Measurement {
    fn new(name: &str, warm_up_runs: i32, runs_max: i32, duration_secs: i32) -> Self {
        let count = |number: i32| usize::try_from(number).unwrap_or(0);
        Self {
            name: name.to_owned(),
            warm_up_runs: count(warm_up_runs),
            runs_max: count(warm_up_runs) + count(runs_max),
            duration_max: Duration::from_secs(u64::try_from(duration_secs).unwrap_or(0)),
            runs: 0,
            start_wall: Instant::now(),
            start_cpu: Duration::ZERO,
            wall: Vec::new(),
            cpu: Vec::new(),
            wall_total: Duration::ZERO,
            cpu_total: Duration::ZERO,
        }
    }

    fn wants_more(&self) -> bool {
        self.runs < self.runs_max && self.wall_total < self.duration_max
    }

    fn start(&mut self) {
        self.runs += 1;
        self.start_cpu = cpu_time();
        self.start_wall = Instant::now();
    }

    fn stop(&mut self) {
        if self.runs <= self.warm_up_runs {
            return;
        }
        let wall = self.start_wall.elapsed();
        let cpu = cpu_time().saturating_sub(self.start_cpu);
        self.wall.push(wall);
        self.cpu.push(cpu);
        self.wall_total += wall;
        self.cpu_total += cpu;
    }

    fn print(self, cx: &ExecutionContext) -> Result<(), Diagnostic> {
        if self.wall.is_empty() {
            return Err(Diagnostic::invalid_argument(format!(
                "the benchmark '{}' has no measured run",
                self.name
            )));
        }
        cx.host().print(format_args!("{}", self.summary()));
        Ok(())
    }

    fn summary(mut self) -> String {
        let prefix = format!("BM:{}:", self.name);
        let mut text = String::new();
        let mut line = |what: &str, value: &dyn std::fmt::Display| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{prefix}{what}: {value}");
        };
        line("Duration(ns)", &self.wall_total.as_nanos());
        line("Count", &self.wall.len());
        for (clock, times) in [("Time", &mut self.wall), ("CPU", &mut self.cpu)] {
            times.sort_unstable();
            let per_cent = |p: usize| times[times.len() * p / 100].as_nanos();
            line(&format!("{clock} Min(ns)"), &times[0].as_nanos());
            for p in [50, 95, 99] {
                line(&format!("{clock} {p}%(ns)"), &per_cent(p));
            }
        }
        let utilization = self.cpu_total.as_secs_f64() * 100.0 / self.wall_total.as_secs_f64().max(1e-9);
        line("CPU utilization(percent)", &format_exponent(utilization));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_has_order_statistics_of_measured_runs() {
        let mut measurement = Measurement::new("x", 1, 200, 60);
        let times = (1..=200).rev().map(Duration::from_nanos);
        measurement.wall = times.clone().collect();
        measurement.cpu = times.map(|time| time * 2).collect();
        measurement.wall_total = measurement.wall.iter().sum();
        measurement.cpu_total = measurement.cpu.iter().sum();
        let expected = "BM:x:Duration(ns): 20100\nBM:x:Count: 200\nBM:x:Time Min(ns): 1\nBM:x:Time 50%(ns): 101\n\
                        BM:x:Time 95%(ns): 191\nBM:x:Time 99%(ns): 199\nBM:x:CPU Min(ns): 2\nBM:x:CPU 50%(ns): 202\n\
                        BM:x:CPU 95%(ns): 382\nBM:x:CPU 99%(ns): 398\nBM:x:CPU utilization(percent): 2.000000e+02\n";
        assert_eq!(measurement.summary(), expected);
    }

    #[test]
    fn warm_up_runs_are_not_measured() {
        let mut measurement = Measurement::new("x", 2, 3, 60);
        while measurement.wants_more() {
            measurement.start();
            measurement.stop();
        }
        assert_eq!((measurement.runs, measurement.wall.len()), (5, 3));
    }
}
