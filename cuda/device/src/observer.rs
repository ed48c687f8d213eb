//! The hooks of a checker: it is told of everything that orders or touches device memory, and may end an operation with an
//! error. Without one, none of this is computed.

use crate::error::DeviceError;
use crate::origin::Origin;

/// What an operation does with bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// Reads them.
    Read,
    /// Writes them, and perhaps reads them.
    Write,
    /// A launch was given them.
    Launch,
}

/// Bytes of device memory that an operation uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The first.
    pub address: u64,
    /// How many.
    pub bytes: u64,
    /// What for.
    pub kind: AccessKind,
}

impl Access {
    /// Bytes that are read.
    pub fn read(address: u64, bytes: u64) -> Self {
        Self { address, bytes, kind: AccessKind::Read }
    }

    /// Bytes that are written.
    pub fn write(address: u64, bytes: u64) -> Self {
        Self { address, bytes, kind: AccessKind::Write }
    }

    /// Whether they have a byte in common.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.address < other.address.saturating_add(other.bytes)
            && other.address < self.address.saturating_add(self.bytes)
    }

    /// Whether they have a byte in common that one of them writes.
    pub fn conflicts(&self, other: &Self) -> bool {
        (self.kind, other.kind) != (AccessKind::Read, AccessKind::Read) && self.overlaps(other)
    }
}

/// Names a stream, an event or an operation, once in the life of the process.
pub type Id = u64;

/// What ranks of a communicator tell each other: that which is queued so far is done before the others go on.
#[derive(Clone, Copy, Debug)]
pub struct Exchange {
    /// Those who exchange: the communicator, or one of its ranks that sends to another.
    pub line: Id,
    /// Which of their exchanges it is. They have the same order for all.
    pub number: u64,
    /// How many ranks tell.
    pub tell: u32,
    /// How many learn.
    pub learn: u32,
}

/// What an operation on a stream is and touches, as it is queued.
#[derive(Clone, Debug)]
pub struct Queued<'a> {
    /// The operation.
    pub operation: Id,
    /// Where it is queued.
    pub stream: Id,
    /// What it is, for reports: `copy host to device`, `launch of vector_add`, ….
    pub name: &'a str,
    /// What it declares to use.
    pub accesses: &'a [Access],
    /// Where it comes from.
    pub origin: Origin,
}

/// A checker. All calls of one stream come in the order of its work; calls of different streams come as they happen.
/// Methods must be short and must not call the device.
pub trait Observer: Send + Sync {
    /// A stream was made.
    fn stream_created(&self, stream: Id, device: u32, origin: Origin);
    /// The stream's last handle is gone.
    fn stream_destroyed(&self, stream: Id);
    /// The stream's last handle is going, and a capture that began on it was never ended.
    fn capture_left_open(&self, stream: Id, began: Origin);
    /// An event was made.
    fn event_created(&self, event: Id, origin: Origin);
    /// The event's last handle is gone.
    fn event_destroyed(&self, event: Id);
    /// Raw memory of a device (a segment of an allocator's, above all). What the host has a side of has contents from the
    /// first.
    fn allocated(&self, address: u64, bytes: u64, of_host: bool, origin: Origin);
    /// The raw memory is gone.
    fn freed(&self, address: u64);
    /// An allocator grants a buffer to work on `stream`.
    fn buffer_granted(&self, address: u64, bytes: u64, stream: Id, origin: Origin);
    /// A buffer's last handle is gone: everything queued so far may still use it, nothing later may.
    fn buffer_released(&self, address: u64, bytes: u64, origin: Origin);
    /// An operation is queued. An error fails the call.
    ///
    /// # Errors
    /// What the checker found.
    fn queued(&self, operation: &Queued<'_>) -> Result<(), DeviceError>;
    /// The operation begins, and all before it on its stream are done. An error fails the context.
    ///
    /// # Errors
    /// What the checker found.
    fn started(&self, operation: Id) -> Result<(), DeviceError>;
    /// The operation is done; a launch is observed to have read and written these bytes.
    ///
    /// # Errors
    /// What the checker found.
    fn finished(&self, operation: Id, observed: &[Access]) -> Result<(), DeviceError>;
    /// The event marks what is queued on the stream so far.
    fn event_recorded(&self, event: Id, stream: Id, origin: Origin);
    /// What is queued on the stream from now on waits for the event; `recorded` tells whether it ever was recorded.
    ///
    /// # Errors
    /// What the checker found.
    fn stream_waits(&self, stream: Id, event: Id, recorded: bool, origin: Origin) -> Result<(), DeviceError>;
    /// A rank tells the others: what is queued on its stream so far comes before what they do when they have learned.
    fn exchange_told(&self, stream: Id, exchange: Exchange);
    /// A rank learns: what is queued on its stream from now on comes behind what is told, by whoever comes later too.
    fn exchange_learned(&self, stream: Id, exchange: Exchange);
    /// The host waits for an event that was never recorded.
    fn host_waits_for_nothing(&self, origin: Origin);
    /// The host has seen the event.
    fn host_saw_event(&self, event: Id);
    /// The host has seen everything on the stream.
    fn host_saw_stream(&self, stream: Id);
}
