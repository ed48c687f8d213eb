//! Plans: decisions about programs, as functions of plain data.
//!
//! [`order`] decides which chains a kernel graph needs. Everything else here plans a program for a
//! device: which stream runs each op, which events order the streams, and where in one arena each
//! buffer lies.
//!
//! # The interface
//!
//! A lowering describes its program as a [`Problem`]: the ops in program order, each with the ops
//! that it follows, its estimated time ([`cost`]) and the buffers that it reads and writes.
//! [`plan`] returns a [`Plan`]:
//!
//! - [`Schedule::order`] is the order in which to issue the ops, and [`Schedule::streams`] the
//!   stream of each. Streams are numbered from 0. Copies run on [`Schedule::copy_stream`], the last
//!   one, if the problem has ops of [`Queue::Copy`].
//! - [`Schedule::events`] are the waits across streams. For each, record an event on the stream of
//!   the op `after` behind that op, and wait for it on the stream of the op `before` in front of
//!   that op. Waits for the same op share one recorded event. `after: None` is the beginning of a
//!   run on stream 0, `before: None` its end on stream 0: the run's inputs are there when stream 0
//!   begins, and its results when stream 0 ends. A captured graph is forked and joined by the same
//!   events.
//! - [`Layout::places`] says where each buffer lies: in the arena, in the block of constants, or in
//!   a buffer of the caller. Offsets are multiples of [`Options::alignment_bytes`], except for
//!   parts of other buffers.
//!
//! Ops need edges for all dependences between them, [`plan`] derives none: two ops that access the
//! same bytes, of which one writes, must be ordered by [`Op::after`], else planning fails with
//! [`PlanError::Unordered`]. Edges that others imply cost nothing.
//!
//! What the lowering decides before it plans:
//!
//! - **Views.** A buffer that is part of another one has [`Memory::Part`]. An op whose results are
//!   all views, such as a concatenation whose operands were written into it, stays in the problem
//!   as an op of no time that accesses nothing, if several ops follow it: it joins streams once.
//! - **Workspaces.** A buffer that one op alone writes.
//! - **Constants** have [`Memory::Constant`]; they lie in a block of their own, and no op writes
//!   them.
//!
//! What the plan decides: [`Op::in_place`] lists results that may take the memory of an operand.
//! The plan takes the operand's place where no later op needs the operand; [`Layout::in_place`]
//! lists these.
//!
//! Two buffers share memory only if every access of one happens before every access of the other,
//! by the order of each stream and the events. [`check`] proves this of a plan, by other means than
//! the planner's.

pub mod cost;
pub mod order;

mod arena;
mod check;
mod dag;
mod events;
mod happens;
mod lifetimes;
mod search;
mod simulate;
mod streams;
#[cfg(test)]
mod tests;

use std::fmt;

pub use arena::{Instance, Packing};
pub use check::{Violation, check};
pub use simulate::Device;

/// A device program before it is planned.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// The ops, each behind those that it follows.
    pub ops: Vec<Op>,
    /// The buffers that they access.
    pub buffers: Vec<Buffer>,
}

/// Something that runs on a device: a launch, a library call or a copy. Ops and buffers are named
/// by their numbers.
#[derive(Clone, Debug, Default)]
pub struct Op {
    /// What reports call it.
    pub label: String,
    /// Earlier ops that must have ended when it begins.
    pub after: Vec<usize>,
    /// How long it takes on a device that runs nothing else.
    pub time_ns: u64,
    /// The part of the device that it keeps busy, above 0 and at most 1. Ops that run together and
    /// need more than the whole device slow each other down.
    pub share: f64,
    /// Where it runs.
    pub queue: Queue,
    /// The buffers that it reads.
    pub reads: Vec<usize>,
    /// The buffers that it writes.
    pub writes: Vec<usize>,
    /// Results that may take the memory of an operand.
    pub in_place: Vec<InPlace>,
}

/// Which kind of stream an op runs on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Queue {
    /// A stream for computations.
    #[default]
    Compute,
    /// The stream for copies between host and device.
    Copy,
}

/// A result and the operand whose memory it may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InPlace {
    /// A buffer that the op writes, in the arena and no part of another one.
    pub result: usize,
    /// A buffer that the op reads, at least as large.
    pub operand: usize,
}

/// Memory that ops access.
#[derive(Clone, Debug, Default)]
pub struct Buffer {
    /// What reports call it.
    pub label: String,
    /// Its size; for a part with a stride, the bytes of all its rows.
    pub size_bytes: u64,
    /// Where it may lie.
    pub memory: Memory,
}

/// Where a buffer may lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Memory {
    /// In the arena. Its contents matter from the first access to the last.
    #[default]
    Arena,
    /// In the block of constants.
    Constant,
    /// In memory of the caller, such as an input or a result of the program.
    External,
    /// Within another buffer, which is no part itself.
    Part {
        /// That buffer.
        whole: usize,
        /// Where in it.
        rows: Rows,
    },
}

/// Rows of the same size at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// Where the first row begins.
    pub offset_bytes: u64,
    /// The size of a row.
    pub row_bytes: u64,
    /// From the beginning of a row to that of the next.
    pub stride_bytes: u64,
    /// The number of rows.
    pub count: u64,
}

impl Rows {
    /// Returns bytes without gaps.
    pub fn contiguous(offset_bytes: u64, size_bytes: u64) -> Rows {
        Rows { offset_bytes, row_bytes: size_bytes, stride_bytes: size_bytes, count: 1 }
    }

    /// Returns where the last row ends.
    pub fn end_bytes(&self) -> u64 {
        match self.count.checked_sub(1) {
            Some(last) => self.offset_bytes + last * self.stride_bytes + self.row_bytes,
            None => self.offset_bytes,
        }
    }

    /// Returns whether the rows of both may have a byte in common.
    pub fn may_overlap(&self, other: &Rows) -> bool {
        if self.end_bytes() <= other.offset_bytes || other.end_bytes() <= self.offset_bytes {
            return false;
        }
        let is_strided = self.count > 1 && other.count > 1 && self.stride_bytes == other.stride_bytes;
        if !is_strided || self.stride_bytes == 0 {
            return true;
        }
        // Within one stride, each covers an interval, which may continue at the beginning.
        let stride = self.stride_bytes;
        let distance = (other.offset_bytes % stride + stride - self.offset_bytes % stride) % stride;
        distance < self.row_bytes || distance + other.row_bytes > stride
    }
}

/// How many streams compute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Streams {
    /// The count that is predicted to be the fastest, and one if others gain little.
    #[default]
    Auto,
    /// At most this many.
    AtMost(usize),
}

/// How to plan.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many streams compute.
    pub streams: Streams,
    /// What the device's queues cost.
    pub device: Device,
    /// More than one stream is chosen only if it saves this part of the time.
    pub min_gain: f64,
    /// What offsets and sizes in the arena are multiples of.
    pub alignment_bytes: u64,
    /// How many steps the search for a smaller arena may take.
    pub max_search_steps: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            streams: Streams::Auto,
            device: Device::default(),
            min_gain: 0.05,
            alignment_bytes: 256,
            max_search_steps: 200_000,
        }
    }
}

/// A planned device program.
#[derive(Clone, Debug)]
pub struct Plan {
    /// When and where ops run.
    pub schedule: Schedule,
    /// Where buffers lie.
    pub layout: Layout,
    /// The most ops that can run at once.
    pub width: usize,
    /// The time of the longest path of ops.
    pub critical_path_ns: u64,
    /// The ops on the longest path.
    pub critical_path: Vec<usize>,
    /// What was predicted for each count of streams, from one.
    pub predictions: Vec<Prediction>,
}

/// What a number of streams is predicted to give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prediction {
    /// How many streams compute.
    pub stream_count: usize,
    /// The waits between them, without those for copies.
    pub event_count: usize,
    /// The time of a run.
    pub time_ns: u64,
}

/// When and where ops run.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    /// The stream of each op.
    pub streams: Vec<usize>,
    /// How many streams there are, with that for copies.
    pub stream_count: usize,
    /// The stream of copies, if there are any.
    pub copy_stream: Option<usize>,
    /// The ops in the order in which they are issued.
    pub order: Vec<usize>,
    /// The waits across streams, by the place of `before` in [`Schedule::order`].
    pub events: Vec<Event>,
    /// When each op is predicted to run.
    pub spans: Vec<Span>,
    /// The predicted time of a run.
    pub time_ns: u64,
}

/// A wait of one stream for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    /// The op that is waited for; `None` is the beginning of the run on stream 0.
    pub after: Option<usize>,
    /// The op that waits; `None` is the end of the run on stream 0.
    pub before: Option<usize>,
}

/// When something is predicted to happen, from the beginning of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// When it begins.
    pub start_ns: u64,
    /// When it ends.
    pub end_ns: u64,
}

/// Where buffers lie.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// The place of each buffer.
    pub places: Vec<Place>,
    /// The size of the arena, which is the peak of the program's temporary memory.
    pub arena_bytes: u64,
    /// The size of the block of constants.
    pub constant_bytes: u64,
    /// No arena for this schedule can be smaller.
    pub lower_bound_bytes: u64,
    /// The op at which the most bytes are in use.
    pub peak_op: Option<usize>,
    /// The buffers that are in use then, the largest first.
    pub peak_buffers: Vec<usize>,
    /// The results that take the memory of an operand.
    pub in_place: Vec<InPlace>,
}

/// The place of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The memory in which it lies.
    pub block: Block,
    /// Where in it.
    pub offset_bytes: u64,
}

/// Memory in which buffers lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// The arena.
    Arena,
    /// The block of constants.
    Constants,
    /// An external buffer, by its number.
    External(usize),
}

/// Why a problem cannot be planned: the lowering's mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanError {
    /// An op follows one that is not before it.
    Order {
        /// The op.
        op: usize,
        /// The number of the one that it follows.
        after: usize,
    },
    /// An op names a buffer that there is not, or a part does not lie within a whole.
    Buffer {
        /// The number of the buffer.
        buffer: usize,
    },
    /// Two ops access the same bytes, one of them writes, and nothing orders them.
    Unordered {
        /// The earlier op in program order.
        first: usize,
        /// The later one.
        second: usize,
        /// The buffer that the later one accesses.
        buffer: usize,
    },
    /// A result cannot take the memory of an operand, whatever the plan is.
    InPlace {
        /// The op that names them.
        op: usize,
    },
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order { op, after } => write!(f, "op {op} follows op {after}, which is not before it"),
            Self::Buffer { buffer } => write!(f, "buffer {buffer} is missing or not within its whole"),
            Self::Unordered { first, second, buffer } => {
                write!(f, "ops {first} and {second} access buffer {buffer}, and nothing orders them")
            }
            Self::InPlace { op } => write!(f, "op {op} names a result that cannot take its operand's memory"),
        }
    }
}

impl std::error::Error for PlanError {}

/// Plans a device program.
///
/// # Errors
/// What is wrong with the problem.
pub fn plan(problem: &Problem, options: &Options) -> Result<Plan, PlanError> {
    check::check_problem(problem)?;
    let dag = dag::Dag::new(problem);
    let (schedule, predictions) = streams::choose(problem, &dag, options);
    let layout = lifetimes::lay_out(problem, &schedule, options);
    let critical_path = dag.critical_path();
    Ok(Plan {
        schedule,
        layout,
        width: dag.width(problem),
        critical_path_ns: critical_path.iter().map(|&op| problem.ops[op].time_ns).sum(),
        critical_path,
        predictions,
    })
}
