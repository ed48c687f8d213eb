//! Collectives: operations in which several devices, or processes, take part. The terms are NCCL's.

use std::fmt;
use std::time::Duration;

use tfrt_host::DType;

use super::{Resources, Result};
use crate::error::DeviceError;
use crate::origin::Caller;

/// The id of a communicator, on which all its ranks agree before they create it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct UniqueId(pub [u8; Self::BYTES]);

impl UniqueId {
    /// The size of an id in bytes.
    pub const BYTES: usize = 128;
}

impl fmt::Debug for UniqueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the id of a communicator")
    }
}

/// A reduction of the elements of several ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReduceOp {
    /// The sum.
    Sum,
    /// The product.
    Product,
    /// The maximum.
    Maximum,
    /// The minimum.
    Minimum,
    /// The mean; for integers, rounded toward zero.
    Average,
}

/// A collective operation. The count of a call is the number of elements that one rank sends, or
/// for [`Collective::ReduceScatter`] receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collective {
    /// All ranks receive the reduction.
    AllReduce(ReduceOp),
    /// All ranks receive what each sends, in the order of the ranks.
    AllGather,
    /// Each rank receives its part of the reduction.
    ReduceScatter(ReduceOp),
    /// All ranks receive what this rank sends.
    Broadcast(u32),
    /// This rank receives the reduction.
    Reduce(ReduceOp, u32),
    /// Sends to this rank.
    Send(u32),
    /// Receives from this rank.
    Receive(u32),
}

impl Collective {
    /// Returns NCCL's name of the operation.
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

    /// Returns the rank that the operation names, if any.
    pub fn peer(self) -> Option<u32> {
        match self {
            Self::Broadcast(rank) | Self::Reduce(_, rank) | Self::Send(rank) | Self::Receive(rank) => {
                Some(rank)
            }
            Self::AllReduce(_) | Self::AllGather | Self::ReduceScatter(_) => None,
        }
    }

    /// Returns how many times the count the rank `rank` of `ranks` sends and receives.
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

/// A call of a collective operation.
#[derive(Clone, Copy)]
pub struct CollectiveCall<'a, C, S> {
    /// The calling rank's communicator.
    pub communicator: &'a C,
    /// The stream on which the call is queued.
    pub stream: &'a S,
    /// The operation.
    pub operation: Collective,
    /// The element type.
    pub dtype: DType,
    /// The number of elements.
    pub count: u64,
    /// The address of the elements to send; zero if there are none.
    pub send: u64,
    /// The address at which elements are received; zero if there are none. It may be that of the
    /// elements to send.
    pub receive: u64,
    /// The origin of the call. Calls of a group are queued only when the group ends.
    pub caller: &'a Caller,
}

/// Creates communicators and queues collectives of their ranks.
pub trait Collectives: Resources {
    /// Creates an id for a communicator.
    ///
    /// # Errors
    /// [`Status::NcclNotFound`](crate::error::Status::NcclNotFound) with what was looked for.
    fn collectives_id(&self) -> Result<UniqueId>;

    /// Creates a rank of a communicator on this context's device. It may wait until all ranks do
    /// the same, but no longer than the timeout.
    fn create_communicator(
        &self,
        id: &UniqueId,
        ranks: u32,
        rank: u32,
        timeout: Duration,
    ) -> Result<Self::Communicator>;

    /// Queues calls as one group, so that none waits for another. Their streams and communicators
    /// may belong to any context of the backend.
    fn run_collectives(&self, calls: &[CollectiveCall<'_, Self::Communicator, Self::Stream>]) -> Result<()>;

    /// Fails all unfinished calls of a communicator with this error. The communicator cannot be
    /// used any more.
    fn abort_communicator(&self, communicator: &Self::Communicator, why: &DeviceError);
}
