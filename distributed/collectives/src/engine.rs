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
    /// Each rank receives what all ranks send, in the order of the ranks. Rank `r` sends
    /// `counts[r]` elements.
    AllGather {
        /// The numbers of elements by rank.
        counts: Arc<[usize]>,
    },
    /// Each rank receives its part of the reduction of what all ranks send; all parts have the same
    /// size.
    ReduceScatter(Reduction),
    /// Each rank receives from each rank the part that is meant for it; all parts have the same
    /// size.
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

impl Call {
    /// Describes what must be the same on all ranks.
    pub fn description(&self) -> String {
        let (operation, dtype, group, key) = (self.operation.name(), self.dtype, &self.group, &self.key);
        match &self.operation {
            Operation::Barrier => format!("{operation} '{key}' of group '{group}'"),
            Operation::AllGather { counts } => {
                format!("{operation} '{key}' of group '{group}' of {counts:?} {dtype:?} elements")
            }
            Operation::Broadcast { root } => {
                let count = self.count;
                format!(
                    "{operation} '{key}' of group '{group}' of {count} {dtype:?} elements from rank {root}"
                )
            }
            _ => format!("{operation} '{key}' of group '{group}' of {} {dtype:?} elements", self.count),
        }
    }

    /// Describes the call in a message of this rank.
    pub fn place(&self) -> String {
        let (operation, group, key) = (self.operation.name(), &self.group, &self.key);
        match self.step {
            Some(step) => format!("{operation} '{key}' of group '{group}' in step {step}"),
            None => format!("{operation} '{key}' of group '{group}'"),
        }
    }

    /// Returns whether the ranks exchange elements.
    pub fn has_elements(&self) -> bool {
        match &self.operation {
            Operation::Barrier => false,
            Operation::AllGather { counts } => counts.iter().any(|count| *count > 0),
            _ => self.count > 0,
        }
    }

    /// Checks the sizes of the buffers. `rank` is the caller's rank in the engine.
    ///
    /// # Errors
    /// InvalidArgument if a buffer is missing or has another size than the operation needs.
    pub fn check(&self, rank: usize) -> Result<(), Diagnostic> {
        let ranks = self.members.len();
        let place = self.members.iter().position(|member| *member == rank);
        let Some(place) = place else {
            return Err(Diagnostic::invalid_argument(format!(
                "rank {rank} is not in group '{}'",
                self.group
            )));
        };
        let (send, receive) = match &self.operation {
            Operation::AllReduce(_) => (self.send.as_ref().map(|_| self.count), Some(self.count)),
            Operation::Broadcast { root } if *root >= ranks => {
                let message = format!("group '{}' has no rank {root} to broadcast from", self.group);
                return Err(Diagnostic::invalid_argument(message));
            }
            Operation::Broadcast { .. } => (None, Some(self.count)),
            Operation::AllGather { counts } if counts.len() == ranks => {
                (Some(counts[place]), Some(counts.iter().sum()))
            }
            Operation::AllGather { counts } => {
                let message = format!("{} counts for {ranks} ranks", counts.len());
                return Err(Diagnostic::invalid_argument(message));
            }
            Operation::ReduceScatter(_) => (Some(self.count), Some(self.count / ranks)),
            Operation::AllToAll => (Some(self.count), Some(self.count)),
            Operation::Barrier => (None, None),
        };
        let is_even = self.count.is_multiple_of(ranks);
        if matches!(self.operation, Operation::ReduceScatter(_) | Operation::AllToAll) && !is_even {
            let message = format!("{} elements are not {ranks} equal parts", self.count);
            return Err(Diagnostic::invalid_argument(message));
        }
        self.check_size("sends from", send, self.send.as_ref().map(|guard| guard.len()))?;
        self.check_size("receives in", receive, self.receive.as_ref().map(|guard| guard.len()))
    }

    fn check_size(
        &self,
        verb: &str,
        expected: Option<usize>,
        found: Option<usize>,
    ) -> Result<(), Diagnostic> {
        let size = self.dtype.size().unwrap_or(0);
        let expected = expected.map(|count| count * size);
        if expected == found {
            return Ok(());
        }
        let show = |size: Option<usize>| size.map_or("no buffer".to_owned(), |size| format!("{size} bytes"));
        Err(Diagnostic::invalid_argument(format!(
            "{} {verb} {}, but needs {}",
            self.operation.name(),
            show(found),
            show(expected)
        )))
    }
}

/// Is called once, when a collective is done or has failed. The call's buffers have been released
/// then, unless it failed and the engine may still write to them.
pub type Done = Box<dyn FnOnce(Result<(), Diagnostic>) + Send>;

/// Runs collectives between the ranks of a job, one of which is this process.
///
/// All members of a group must start the same collectives in the same order. An engine reports a
/// mismatch as an error on all ranks. It reports a rank that never comes when the deadline passes,
/// and never waits longer.
pub trait Engine: Send + Sync {
    /// Returns the engine's name and version for messages.
    fn name(&self) -> &str;
    /// Returns the rank of this process.
    fn rank(&self) -> usize;
    /// Returns the number of ranks.
    fn size(&self) -> usize;
    /// Starts a collective and returns at once.
    fn start(&self, call: Call, done: Done);
    /// Ends the engine after the collectives that have started, and waits for that, but not for ever.
    /// Later collectives are errors.
    fn end(&self) {}
}

impl fmt::Debug for dyn Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (rank {} of {})", self.name(), self.rank(), self.size())
    }
}
