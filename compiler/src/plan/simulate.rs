//! The predicted time of a schedule.
//!
//! The host issues ops one after the other. An op begins when it is issued, the op before it on its
//! stream has ended, and its waits are over. Ops that run together share the device: if they need
//! more than the whole of it, all of them slow down alike. Copies have engines of their own.

use super::{Event, Problem, Queue, Schedule, Span};

/// What the queues of a device cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Device {
    /// From the issue of an op to the issue of the next one.
    pub issue_ns: u64,
    /// From the end of an op to the beginning of one on another stream that waits for it.
    pub event_ns: u64,
    /// What a wait adds to the time of issuing an op.
    pub wait_issue_ns: u64,
}

impl Default for Device {
    /// A device whose queues cost nothing.
    fn default() -> Self {
        Self { issue_ns: 0, event_ns: 0, wait_issue_ns: 0 }
    }
}

/// Something of an op that is running.
struct Running {
    op: usize,
    /// What is left of its time if it has the device to itself.
    left_ns: f64,
}

/// Predicts when each op of a schedule runs, and how long a run takes.
pub(super) fn simulate(problem: &Problem, schedule: &Schedule, device: Device) -> (Vec<Span>, u64) {
    let mut simulation = Simulation::new(problem, schedule, device);
    simulation.run();
    let Simulation { spans, .. } = simulation;
    let end = spans.iter().map(|span| span.end_ns).max().unwrap_or(0);
    let waits_at_end = schedule.events.iter().any(|event| event.before.is_none());
    let join_ns = if waits_at_end { device.event_ns } else { 0 };
    (spans, end + join_ns)
}

struct Simulation<'p> {
    problem: &'p Problem,
    schedule: &'p Schedule,
    event_ns: f64,
    /// When each op is issued.
    issued_ns: Vec<f64>,
    waits: Vec<Vec<Option<usize>>>,
    /// For each stream, the ops that have not begun, the next one last.
    queues: Vec<Vec<usize>>,
    ends_ns: Vec<Option<f64>>,
    running: Vec<Running>,
    is_busy: Vec<bool>,
    spans: Vec<Span>,
    now_ns: f64,
}

impl<'p> Simulation<'p> {
    fn new(problem: &'p Problem, schedule: &'p Schedule, device: Device) -> Self {
        let count = problem.ops.len();
        let mut waits = vec![Vec::new(); count];
        for Event { after, before } in &schedule.events {
            if let Some(before) = before {
                waits[*before].push(*after);
            }
        }
        let mut issued_ns = vec![0.0; count];
        let mut queues = vec![Vec::new(); schedule.stream_count];
        let mut issue = 0;
        for &op in &schedule.order {
            issue += device.wait_issue_ns * waits[op].len() as u64;
            issued_ns[op] = issue as f64;
            issue += device.issue_ns;
            queues[schedule.streams[op]].push(op);
        }
        queues.iter_mut().for_each(|queue| queue.reverse());
        Self {
            problem,
            schedule,
            event_ns: device.event_ns as f64,
            issued_ns,
            waits,
            queues,
            ends_ns: vec![None; count],
            running: Vec::new(),
            is_busy: vec![false; schedule.stream_count],
            spans: vec![Span::default(); count],
            now_ns: 0.0,
        }
    }

    fn run(&mut self) {
        loop {
            let next_start = self.start_ready();
            if self.running.is_empty() {
                match next_start {
                    Some(start) => self.now_ns = start,
                    None => return,
                }
                continue;
            }
            self.advance(next_start);
        }
    }

    /// Starts all ops that can begin now, and returns when the next one can, as far as that is
    /// known.
    fn start_ready(&mut self) -> Option<f64> {
        let mut next: Option<f64> = None;
        for stream in 0..self.queues.len() {
            let Some(&op) = self.queues[stream].last() else { continue };
            if self.is_busy[stream] {
                continue;
            }
            let Some(ready) = self.ready_ns(op) else { continue };
            if ready <= self.now_ns {
                self.queues[stream].pop();
                self.is_busy[stream] = true;
                self.spans[op].start_ns = self.now_ns.round() as u64;
                self.running.push(Running { op, left_ns: self.problem.ops[op].time_ns as f64 });
            } else {
                next = Some(next.map_or(ready, |next| next.min(ready)));
            }
        }
        next
    }

    /// Returns when an op can begin, if all that it waits for has ended.
    fn ready_ns(&self, op: usize) -> Option<f64> {
        let mut ready = self.issued_ns[op];
        for wait in &self.waits[op] {
            let end = match wait {
                Some(earlier) => self.ends_ns[*earlier]?,
                None => 0.0,
            };
            ready = ready.max(end + self.event_ns);
        }
        Some(ready)
    }

    /// Goes on to the next end of an op, or to `until`.
    fn advance(&mut self, until: Option<f64>) {
        let is_compute = |running: &Running| self.problem.ops[running.op].queue == Queue::Compute;
        let needed: f64 = self
            .running
            .iter()
            .filter(|running| is_compute(running))
            .map(|running| self.share(running.op))
            .sum();
        let slowdown = needed.max(1.0);
        let slowed = |running: &Running| if is_compute(running) { slowdown } else { 1.0 };
        let next_end = self.running.iter().map(|running| self.now_ns + running.left_ns * slowed(running));
        let next_end = next_end.fold(f64::INFINITY, f64::min);
        let now = until.map_or(next_end, |until| next_end.min(until));
        let factors: Vec<f64> = self.running.iter().map(slowed).collect();
        for (running, factor) in self.running.iter_mut().zip(factors) {
            running.left_ns -= (now - self.now_ns) / factor;
        }
        self.now_ns = now;
        // A rest below a thousandth of a nanosecond is a rounding error.
        let (ended, running): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.running).into_iter().partition(|running| running.left_ns < 1e-3);
        self.running = running;
        for Running { op, .. } in ended {
            self.ends_ns[op] = Some(now);
            self.spans[op].end_ns = now.round() as u64;
            self.is_busy[self.schedule.streams[op]] = false;
        }
    }

    fn share(&self, op: usize) -> f64 {
        self.problem.ops[op].share.clamp(0.0, 1.0)
    }
}
