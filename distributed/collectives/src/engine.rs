//! What runs collectives of more than one rank.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use tfrt_host::host_buffer::{HostBuffer, ReadGuard, WriteGuard};
use tfrt_host::{DType, Diagnostic};

/// How elements of several ranks become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// The sum.
    Sum,
    /// The least.
    Min,
    /// The greatest.
    Max,
}

/// A collective, without its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Each rank receives the reduction of what all ranks send.
    AllReduce(Reduction),
    /// Each rank receives in its buffer what the buffer of rank `root` of the group holds.
    Broadcast {
        /// The rank in the group that sends.
        root: usize,
    },
    /// Each rank receives what all ranks send, in the order of the ranks. Rank `r` sends `counts[r]` elements.
    AllGather {
        /// The numbers of elements by rank.
        counts: Arc<[usize]>,
    },
    /// Each rank receives its part of the reduction of what all ranks send; all parts have the same size.
    ReduceScatter(Reduction),
    /// Each rank receives from each rank the part that is meant for it; all parts have the same size.
    AllToAll,
    /// No data: all ranks have started it when it is done.
    Barrier,
}

impl Operation {
    /// Returns the name for messages.
    pub fn name(&self) -> &'static str {
        match self {
            Self::AllReduce(Reduction::Sum) => "allreduce (sum)",
            Self::AllReduce(Reduction::Min) => "allreduce (min)",
            Self::AllReduce(Reduction::Max) => "allreduce (max)",
            Self::Broadcast { .. } => "broadcast",
            Self::AllGather { .. } => "allgather",
            Self::ReduceScatter(Reduction::Sum) => "reduce_scatter (sum)",
            Self::ReduceScatter(Reduction::Min) => "reduce_scatter (min)",
            Self::ReduceScatter(Reduction::Max) => "reduce_scatter (max)",
            Self::AllToAll => "all_to_all",
            Self::Barrier => "barrier",
        }
    }
}

/// One rank's part of a collective.
#[derive(Debug)]
pub struct Call {
    /// The group's name, for messages.
    pub group: String,
    /// The members of the group, as ranks of the engine.
    pub members: Arc<[usize]>,
    /// The name that all ranks give this collective.
    pub key: String,
    /// The step of the program that the call belongs to, for messages.
    pub step: Option<i64>,
    /// What is to be done.
    pub operation: Operation,
    /// The type of the elements.
    pub dtype: DType,
    /// The number of elements that this rank sends, or that it receives if it does not send.
    pub count: usize,
    /// The elements to send. Without them, the elements of `receive` are replaced.
    pub send: Option<ReadGuard<HostBuffer>>,
    /// Where the result goes.
    pub receive: Option<WriteGuard<HostBuffer>>,
    /// When the collective has failed unless it is done.
    pub deadline: Instant,
}

/// Is called once, when a collective is done or has failed. The call's buffers have been released then, unless it
/// failed and the engine may still write to them.
pub type Done = Box<dyn FnOnce(Result<(), Diagnostic>) + Send>;

/// Runs collectives between the ranks of a job, one of which is this process.
///
/// All members of a group must start the same collectives in the same order. An engine reports a mismatch as an error
/// on all ranks. It reports a rank that never comes when the deadline passes, and never waits longer.
pub trait Engine: Send + Sync {
    /// Returns the engine's name and version for messages.
    fn name(&self) -> &str;
    /// Returns the rank of this process.
    fn rank(&self) -> usize;
    /// Returns the number of ranks.
    fn size(&self) -> usize;
    /// Starts a collective and returns at once.
    fn start(&self, call: Call, done: Done);
}

impl fmt::Debug for dyn Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (rank {} of {})", self.name(), self.rank(), self.size())
    }
}
