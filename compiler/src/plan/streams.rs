//! Which stream runs each op.
//!
//! Ops are joined to the fewest chains that edges of the transitive reduction give, so that as few
//! edges as possible lie between chains. Chains are packed onto streams by list scheduling: of the
//! ops whose predecessors are scheduled, the one with the longest path behind it comes next, on the
//! stream of its chain; the first op of a chain chooses the stream on which it begins first. One
//! stream runs the ops in program order.

use super::{Options, Prediction, Problem, Queue, Schedule, Streams, dag::Dag, events, simulate::simulate};

/// The most streams that are tried.
const MAX_STREAMS: usize = 4;

/// Chooses the number of streams, and returns its schedule and the predictions for all numbers that
/// were tried.
pub(super) fn choose(problem: &Problem, dag: &Dag, options: &Options) -> (Schedule, Vec<Prediction>) {
    let width = dag.width(problem);
    let most = match options.streams {
        Streams::Auto => MAX_STREAMS,
        Streams::AtMost(count) => count.max(MAX_STREAMS),
    };
    let schedules: Vec<Schedule> =
        (1..=most.min(width)).map(|count| schedule(problem, dag, count, options)).collect();
    let predictions: Vec<_> = schedules.iter().map(|schedule| predict(problem, schedule)).collect();
    let chosen = match options.streams {
        Streams::AtMost(count) => count.clamp(1, schedules.len()) - 1,
        Streams::Auto => {
            let fastest = (0..predictions.len()).min_by_key(|&index| predictions[index].time_ns).unwrap_or(0);
            let (one, best) = (predictions[0].time_ns as f64, predictions[fastest].time_ns as f64);
            if best < one * (1.0 - options.min_gain) { fastest } else { 0 }
        }
    };
    let schedule = schedules.into_iter().nth(chosen).unwrap_or_default();
    (schedule, predictions)
}

fn predict(problem: &Problem, schedule: &Schedule) -> Prediction {
    let is_copy = |op: Option<usize>| op.is_some_and(|op| problem.ops[op].queue == Queue::Copy);
    let events = schedule.events.iter().filter(|event| !is_copy(event.after) && !is_copy(event.before));
    Prediction {
        stream_count: schedule.stream_count - usize::from(schedule.copy_stream.is_some()),
        event_count: events.count(),
        time_ns: schedule.time_ns,
    }
}

/// Schedules the ops on a number of streams.
fn schedule(problem: &Problem, dag: &Dag, count: usize, options: &Options) -> Schedule {
    let has_copies = problem.ops.iter().any(|op| op.queue == Queue::Copy);
    let stream_count = count + usize::from(has_copies);
    let copy_stream = has_copies.then_some(count);
    let (order, streams) = match count {
        1 => in_program_order(problem),
        _ => pack(problem, dag, count, options.device.event_ns),
    };
    let events = events::needed(dag, &order, &streams, stream_count);
    let mut schedule = Schedule { streams, stream_count, copy_stream, order, events, ..Schedule::default() };
    (schedule.spans, schedule.time_ns) = simulate(problem, &schedule, options.device);
    schedule
}

fn in_program_order(problem: &Problem) -> (Vec<usize>, Vec<usize>) {
    let streams = problem.ops.iter().map(|op| usize::from(op.queue == Queue::Copy)).collect();
    ((0..problem.ops.len()).collect(), streams)
}

/// Returns the order in which ops are issued, and the stream of each.
fn pack(problem: &Problem, dag: &Dag, count: usize, event_ns: u64) -> (Vec<usize>, Vec<usize>) {
    let ops = &problem.ops;
    let chains = dag.chains(|op| ops[op].queue == Queue::Compute);
    let mut chain_of = vec![usize::MAX; ops.len()];
    for (chain, members) in chains.iter().enumerate() {
        members.iter().for_each(|&op| chain_of[op] = chain);
    }
    let mut packing = Packing {
        problem,
        dag,
        event_ns,
        stream_of_chain: vec![None; chains.len()],
        chain_of,
        free_ns: vec![0; count + 1],
        ends_ns: vec![0; ops.len()],
        streams: vec![0; ops.len()],
    };
    // The run ends on stream 0, so what ends last runs there.
    if let Some(last) =
        dag.critical_path().last().and_then(|&op| packing.stream_of_chain.get_mut(packing.chain_of[op]))
    {
        *last = Some(0);
    }
    let mut missing: Vec<usize> = dag.after.iter().map(Vec::len).collect();
    let mut ready: Vec<usize> = (0..ops.len()).filter(|&op| missing[op] == 0).collect();
    let mut order = Vec::with_capacity(ops.len());
    while let Some(place) = packing.next(&ready) {
        let op = ready.swap_remove(place);
        packing.place(op);
        order.push(op);
        for &later in &dag.next[op] {
            missing[later] -= 1;
            if missing[later] == 0 {
                ready.push(later);
            }
        }
    }
    (order, packing.streams)
}

struct Packing<'p> {
    problem: &'p Problem,
    dag: &'p Dag,
    event_ns: u64,
    chain_of: Vec<usize>,
    stream_of_chain: Vec<Option<usize>>,
    /// When each stream is free.
    free_ns: Vec<u64>,
    ends_ns: Vec<u64>,
    streams: Vec<usize>,
}

impl Packing<'_> {
    /// Returns the place of the next op among those that are ready: the one that begins first, and
    /// of these the one with the longest path behind it.
    fn next(&self, ready: &[usize]) -> Option<usize> {
        let remaining = &self.dag.remaining_ns;
        let key = |&place: &usize| {
            let op = ready[place];
            (std::cmp::Reverse(remaining[op]), op)
        };
        (0..ready.len()).min_by_key(key)
    }

    fn place(&mut self, op: usize) {
        let stream = match self.problem.ops[op].queue {
            Queue::Copy => self.free_ns.len() - 1,
            Queue::Compute => self.choose(op),
        };
        let end = self.begin_ns(op, stream) + self.problem.ops[op].time_ns;
        (self.streams[op], self.ends_ns[op], self.free_ns[stream]) = (stream, end, end);
        if let Some(chain) = self.stream_of_chain.get_mut(self.chain_of[op]) {
            *chain = Some(stream);
        }
    }

    /// Returns the stream of an op's chain.
    fn choose(&self, op: usize) -> usize {
        if let Some(Some(stream)) = self.stream_of_chain.get(self.chain_of[op]) {
            return *stream;
        }
        let computing = 0..self.free_ns.len() - 1;
        computing.min_by_key(|&stream| (self.begin_ns(op, stream), stream)).unwrap_or(0)
    }

    /// Returns when an op can begin on a stream.
    fn begin_ns(&self, op: usize, stream: usize) -> u64 {
        let ends = self.dag.after[op].iter().map(|&earlier| {
            let wait = if self.streams[earlier] == stream { 0 } else { self.event_ns };
            self.ends_ns[earlier] + wait
        });
        ends.max().unwrap_or(0).max(self.free_ns[stream])
    }
}
