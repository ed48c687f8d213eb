//! The hooks of a checker. A checker observes every operation that orders or accesses device
//! memory, and may fail an operation. Without a checker, none of this is computed.

use std::collections::BTreeMap;
use std::fmt;

use crate::error::DeviceError;
use crate::origin::Origin;

/// The way in which an operation uses bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// It reads them.
    Read,
    /// It writes them, and may read them.
    Write,
    /// It accesses them only by atomic operations and others that threads synchronize by.
    Atomic,
    /// It reads them only by loads that threads synchronize by.
    Poll,
    /// They were passed to a launch.
    Launch,
}

/// Bytes of device memory, or of pinned host memory, that an operation uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The address of the first byte.
    pub address: u64,
    /// The number of bytes.
    pub bytes: u64,
    /// The use.
    pub kind: AccessKind,
}

impl Access {
    /// Makes an access that reads.
    pub fn read(address: u64, bytes: u64) -> Self {
        Self { address, bytes, kind: AccessKind::Read }
    }

    /// Makes an access that writes.
    pub fn write(address: u64, bytes: u64) -> Self {
        Self { address, bytes, kind: AccessKind::Write }
    }

    /// Returns whether the two have a byte in common.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.address < other.address.saturating_add(other.bytes)
            && other.address < self.address.saturating_add(self.bytes)
    }

    /// Returns whether the two have a byte in common and one of them writes it.
    pub fn conflicts(&self, other: &Self) -> bool {
        let reads = |kind| matches!(kind, AccessKind::Read | AccessKind::Poll);
        !(reads(self.kind) && reads(other.kind)) && self.overlaps(other)
    }
}

/// The id of a stream, an event or an operation, unique in the process.
pub type Id = u64;

/// Names the first access of an operation to a byte: the instruction, its source line and the
/// thread. Returns `None` if the operation cannot tell.
pub type Toucher<'a> = dyn Fn(u64, AccessKind) -> Option<String> + 'a;

/// What an operation hands over to others while it runs, and takes over from them: threads write,
/// and then store to a flag, or wait for a flag, and then read.
#[derive(Clone, Debug, Default)]
pub struct Handover {
    /// The bytes that it accesses and does not hand over: by the numbers of words of 64 bytes, a
    /// bit for each byte.
    pub kept: BTreeMap<u64, u64>,
    /// The bytes that it accesses before it has heard of others, in the same form.
    pub early: BTreeMap<u64, u64>,
    /// The addresses of the flags by which others may hear of it, in order; `None` for very many.
    pub told: Option<Vec<u64>>,
    /// The addresses of the flags by which it hears of others, in order; `None` for very many.
    pub heard: Option<Vec<u64>>,
}

impl Handover {
    /// Returns whether all accesses of a byte by this operation come before all those of another
    /// one that runs at the same time, because it hands the byte over to that one.
    pub fn precedes(&self, other: &Self, address: u64) -> bool {
        let is_in = |words: &BTreeMap<u64, u64>| {
            words.get(&(address >> 6)).is_some_and(|bits| bits >> (address % 64) & 1 == 1)
        };
        let is_heard = match (&self.told, &other.heard) {
            (Some(told), Some(heard)) => told.iter().any(|flag| heard.binary_search(flag).is_ok()),
            (Some(flags), None) | (None, Some(flags)) => !flags.is_empty(),
            (None, None) => true,
        };
        is_heard && !is_in(&self.kept) && !is_in(&other.early)
    }
}

/// What an operation was observed to do while it ran.
pub struct Observed<'a> {
    /// The bytes that a launch read and wrote.
    pub accesses: &'a [Access],
    /// Names the accesses.
    pub toucher: &'a Toucher<'a>,
    /// What it handed over while it ran, if it could.
    pub handover: Option<&'a Handover>,
}

impl<'a> Observed<'a> {
    /// Makes an observation of nothing.
    pub fn nothing() -> Self {
        Self { accesses: &[], toucher: &|_, _| None, handover: None }
    }
}

impl fmt::Debug for Observed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observed").field("accesses", &self.accesses).finish_non_exhaustive()
    }
}

/// An exchange between ranks of a communicator: work that is queued on the ranks that tell is done
/// before the ranks that learn continue.
#[derive(Clone, Copy, Debug)]
pub struct Exchange {
    /// The id of the communicator, or of the pair of ranks that exchange a message.
    pub line: Id,
    /// The number of the exchange, which is the same for all ranks.
    pub number: u64,
    /// The number of ranks that tell.
    pub tell: u32,
    /// The number of ranks that learn.
    pub learn: u32,
}

/// An operation on a stream, when it is queued.
#[derive(Clone, Debug)]
pub struct Queued<'a> {
    /// The id of the operation.
    pub operation: Id,
    /// The stream.
    pub stream: Id,
    /// A name for reports, such as `launch of vector_add`.
    pub name: &'a str,
    /// The declared accesses.
    pub accesses: &'a [Access],
    /// The origin of the call.
    pub origin: Origin,
}

/// Observes everything that orders or accesses device memory. Calls for one stream come in the
/// order of its work; calls for different streams come as they happen. Methods must be short and
/// must not call the device.
pub trait Observer: Send + Sync {
    /// A stream was created.
    fn stream_created(&self, stream: Id, device: u32, origin: Origin);
    /// The stream's last handle was dropped.
    fn stream_destroyed(&self, stream: Id);
    /// The stream's last handle is being dropped, and a capture that began on it was never ended.
    fn capture_left_open(&self, stream: Id, began: Origin);
    /// An event was created.
    fn event_created(&self, event: Id, origin: Origin);
    /// The event's last handle was dropped.
    fn event_destroyed(&self, event: Id);
    /// Raw device memory was allocated, for example a segment of an allocator. Memory that the host
    /// can reach has contents from the beginning.
    fn allocated(&self, address: u64, bytes: u64, of_host: bool, origin: Origin);
    /// The raw memory was freed.
    fn freed(&self, address: u64);
    /// Host memory was pinned, so that copies in flight use it directly.
    fn host_pinned(&self, _address: u64, _bytes: u64) {}
    /// The host memory is not pinned any more.
    fn host_unpinned(&self, _address: u64, _bytes: u64) {}
    /// An allocator granted a buffer to work on `stream`.
    fn buffer_granted(&self, address: u64, bytes: u64, stream: Id, origin: Origin);
    /// A buffer's last handle was dropped. Work queued so far may still use the buffer; later work
    /// may not.
    fn buffer_released(&self, address: u64, bytes: u64, origin: Origin);
    /// An operation is being queued. An error fails the call.
    ///
    /// # Errors
    /// A mistake that the checker found.
    fn queued(&self, operation: &Queued<'_>) -> Result<(), DeviceError>;
    /// An operation begins; all earlier ones on its stream are done. An error fails the context.
    ///
    /// # Errors
    /// A mistake that the checker found.
    fn started(&self, operation: Id) -> Result<(), DeviceError>;
    /// An operation is done.
    ///
    /// # Errors
    /// A mistake that the checker found.
    fn finished(&self, operation: Id, observed: &Observed<'_>) -> Result<(), DeviceError>;
    /// An event was recorded behind the work queued on the stream so far.
    fn event_recorded(&self, event: Id, stream: Id, origin: Origin);
    /// Work queued on the stream from now on waits for the event. `recorded` says whether the event
    /// was ever recorded.
    ///
    /// # Errors
    /// A mistake that the checker found.
    fn stream_waits(&self, stream: Id, event: Id, recorded: bool, origin: Origin) -> Result<(), DeviceError>;
    /// A rank tells the others that the work queued on its stream so far precedes what they do
    /// after they learn.
    fn exchange_told(&self, stream: Id, exchange: Exchange);
    /// A rank learns: work queued on its stream from now on follows the work of all ranks that
    /// tell, including those that tell later.
    fn exchange_learned(&self, stream: Id, exchange: Exchange);
    /// The host waits for an event that was never recorded.
    fn host_waits_for_nothing(&self, origin: Origin);
    /// The host has seen that the event is complete.
    fn host_saw_event(&self, event: Id);
    /// The host has seen that all work on the stream is done.
    fn host_saw_stream(&self, stream: Id);
}
