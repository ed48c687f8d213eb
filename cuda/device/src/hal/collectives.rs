//! Collectives: operations in which several devices, or processes, take part. The terms are NCCL's.

use std::fmt;
use std::time::Duration;

use tfrt_host::DType;

use super::{Resources, Result};
use crate::error::DeviceError;
use crate::origin::Caller;

/// What the ranks of a communicator agree on before there is one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct UniqueId(pub [u8; Self::BYTES]);

impl UniqueId {
    /// Bytes of an id.
    pub const BYTES: usize = 128;
}

impl fmt::Debug for UniqueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the id of a communicator")
    }
}

/// How elements of several ranks become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReduceOp {
    /// Their sum.
    Sum,
    /// Their product.
    Product,
    /// The greatest.
    Maximum,
    /// The least.
    Minimum,
    /// Their mean; of integers, rounded toward zero.
    Average,
}

/// An operation. Counts of its calls are of elements: those that one rank sends, and for [`Collective::ReduceScatter`] those
/// that one rank receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collective {
    /// All ranks receive the reduction.
    AllReduce(ReduceOp),
    /// All ranks receive what each sends, in the order of the ranks.
    AllGather,
    /// Each rank receives its part of the reduction.
    ReduceScatter(ReduceOp),
    /// All ranks receive what this one sends.
    Broadcast(u32),
    /// This rank receives the reduction.
    Reduce(ReduceOp, u32),
    /// To this rank, which receives it.
    Send(u32),
    /// From this rank, which sends it.
    Receive(u32),
}

impl Collective {
    /// NCCL's name of it.
    pub fn name(self) -> &'static str {
        match self {
            Self::AllReduce(_) => "all_reduce",
            Self::AllGather => "all_gather",
            Self::ReduceScatter(_) => "reduce_scatter",
            Self::Broadcast(_) => "broadcast",
            Self::Reduce(..) => "reduce",
            Self::Send(_) => "send",
            Self::Receive(_) => "recv",
        }
    }

    /// The rank that it names, if it names one.
    pub fn peer(self) -> Option<u32> {
        match self {
            Self::Broadcast(rank) | Self::Reduce(_, rank) | Self::Send(rank) | Self::Receive(rank) => {
                Some(rank)
            }
            Self::AllReduce(_) | Self::AllGather | Self::ReduceScatter(_) => None,
        }
    }

    /// How many times the count `rank`, one of `ranks`, sends and receives.
    pub fn parts(self, ranks: u32, rank: u32) -> [u64; 2] {
        let ranks = u64::from(ranks);
        match self {
            Self::AllReduce(_) => [1, 1],
            Self::AllGather => [1, ranks],
            Self::ReduceScatter(_) => [ranks, 1],
            Self::Broadcast(root) => [u64::from(root == rank), 1],
            Self::Reduce(_, root) => [1, u64::from(root == rank)],
            Self::Send(_) => [1, 0],
            Self::Receive(_) => [0, 1],
        }
    }
}

/// A call of a collective.
#[derive(Clone, Copy)]
pub struct CollectiveCall<'a, C, S> {
    /// The calling rank's.
    pub communicator: &'a C,
    /// Where it is queued.
    pub stream: &'a S,
    /// What is done.
    pub operation: Collective,
    /// The type of the elements.
    pub dtype: DType,
    /// How many elements.
    pub count: u64,
    /// Address of what is sent; zero if nothing is.
    pub send: u64,
    /// Address of what is received; zero if nothing is. It may be that of what is sent.
    pub receive: u64,
    /// Who called: calls of a group are queued when it ends.
    pub caller: &'a Caller,
}

/// Communicators, and the collectives of their ranks.
pub trait Collectives: Resources {
    /// An id for a communicator.
    ///
    /// # Errors
    /// [`Status::NcclNotFound`](crate::error::Status::NcclNotFound) with what was looked for.
    fn collectives_id(&self) -> Result<UniqueId>;

    /// The communicator of a rank, on this context's device. It may wait until all ranks ask for theirs, but no longer
    /// than it is told to.
    fn create_communicator(
        &self,
        id: &UniqueId,
        ranks: u32,
        rank: u32,
        timeout: Duration,
    ) -> Result<Self::Communicator>;

    /// Queues calls as one group: none waits for another of them. Their streams and communicators may be of any context
    /// of the backend.
    fn run_collectives(&self, calls: &[CollectiveCall<'_, Self::Communicator, Self::Stream>]) -> Result<()>;

    /// Ends what is queued and has not come to its end, as a failure for this reason. The communicator is of no use any
    /// more.
    fn abort_communicator(&self, communicator: &Self::Communicator, why: &DeviceError);
}
