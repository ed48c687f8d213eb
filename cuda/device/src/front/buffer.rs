//! Device memory: allocators and their buffers.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};

use parking_lot::Mutex;
use tfrt_host::{Diagnostic, ErrorCode};

use super::backing::HalBacking;
use super::context::Context;
use super::managed::{DeviceSide, Queueing};
use super::module::Module;
use super::stream::{Stream, StreamRef, check_stream};
use super::{Owned, check};
use crate::allocator::{Allocation, CachingAllocator, MemoryLog, Options, Request, Statistics};
use crate::error::{DeviceError, Result, Status};
use crate::hal::Teardown;
use crate::origin::Origin;

/// An allocator of a context's memory. Clones share it.
#[derive(Clone)]
pub struct DeviceAllocator(Arc<AllocatorInner>);

struct AllocatorInner {
    /// Declared before the context, so that it is dropped while a thread still watches its fences.
    caching: Arc<CachingAllocator<HalBacking>>,
    context: Context,
    destroyed: AtomicBool,
}

impl Drop for AllocatorInner {
    fn drop(&mut self) {
        if let Some(timeline) = self.context.device().timeline() {
            timeline.end(&self.caching);
        }
    }
}

impl Owned for DeviceAllocator {
    const KIND: &'static str = "allocator";

    fn context(&self) -> &Context {
        &self.0.context
    }

    fn is_destroyed(&self) -> bool {
        self.0.destroyed.load(Ordering::Acquire)
    }
}

impl DeviceAllocator {
    pub(super) fn new(context: &Context, options: Options) -> Self {
        let hal = context.hal_shared().clone();
        // A device that fails here will report the same error when it is asked for memory.
        let page_bytes = if options.in_segments { None } else { hal.page_bytes().unwrap_or(None) };
        let (teardown, completions) = (context.teardown().clone(), context.completions());
        let backing = HalBacking { hal, teardown, completions, page_bytes };
        let caching = CachingAllocator::new(Arc::new(backing), options);
        context.add_allocator(&caching);
        if let Some(timeline) = context.device().timeline() {
            timeline.begin(context.device().ordinal(), &caching);
        }
        let context = context.clone();
        Self(Arc::new(AllocatorInner { context, caching, destroyed: AtomicBool::new(false) }))
    }

    /// Returns its context.
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// Allocates memory for work on `stream` and passes the buffer to `then`. Usually this happens
    /// before the call returns. If queued work must finish first, it happens later, on another
    /// thread. The calling thread never waits. `label` names the requester in reports.
    pub fn allocate_with(
        &self,
        stream: &Stream,
        bytes: i64,
        label: &'static str,
        then: impl FnOnce(Result<DeviceBuffer, Diagnostic>) + Send + 'static,
    ) {
        let bytes = match self.check_request(stream, bytes) {
            Ok(bytes) => bytes,
            Err(error) => return then(Err(error.into())),
        };
        let request = Request { stream: stream.as_ref(), bytes, origin: asked_for(label) };
        // The stream stays alive while a request for it waits.
        let (me, stream, origin) = (self.clone(), stream.clone(), self.origin());
        self.0.caching.allocate_with(request, move |granted| {
            let granted_for = stream.granted_for();
            then(granted.map(|allocation| DeviceBuffer::new(me, granted_for, allocation, origin)));
        });
    }

    /// Allocates memory as [`DeviceAllocator::allocate_with`] does. Blocks the calling thread if
    /// queued work must finish first.
    ///
    /// # Errors
    /// [`ErrorCode::OutOfMemory`] with a table of who holds what, or the device's error.
    pub fn allocate(
        &self,
        stream: &Stream,
        bytes: i64,
        label: &'static str,
    ) -> Result<DeviceBuffer, Diagnostic> {
        let bytes = self.check_request(stream, bytes)?;
        let request = Request { stream: stream.as_ref(), bytes, origin: asked_for(label) };
        let allocation = self.0.caching.allocate(request)?;
        Ok(DeviceBuffer::new(self.clone(), stream.granted_for(), allocation, self.origin()))
    }

    /// Allocates memory if it is available now. Returns `None` if queued work must finish first.
    ///
    /// # Errors
    /// See [`DeviceAllocator::allocate`].
    pub fn try_allocate(
        &self,
        stream: &Stream,
        bytes: i64,
        label: &'static str,
    ) -> Result<Option<DeviceBuffer>, Diagnostic> {
        let bytes = self.check_request(stream, bytes)?;
        let request = Request { stream: stream.as_ref(), bytes, origin: asked_for(label) };
        let Some(granted) = self.0.caching.try_allocate(request) else { return Ok(None) };
        Ok(Some(DeviceBuffer::new(self.clone(), stream.granted_for(), granted?, self.origin())))
    }

    #[inline]
    fn origin(&self) -> Option<Box<Origin>> {
        self.0.context.observer().map(|_| Box::new(Origin::here()))
    }

    /// Checks that work on the stream may request this many bytes, and returns their number.
    #[inline]
    fn check_request(&self, stream: &Stream, bytes: i64) -> Result<u64> {
        check(self, self.context())?;
        check_stream(stream, self.context())?;
        stream.refuse_while_capturing("memory cannot be allocated while a stream is captured")?;
        u64::try_from(bytes)
            .map_err(|_| DeviceError::invalid_value(format!("a buffer cannot have {bytes} bytes")))
    }

    /// Destroys the allocator. Existing buffers stay valid.
    ///
    /// # Errors
    /// `InvalidHandle` if it was destroyed before.
    pub fn destroy(&self) -> Result<()> {
        if self.0.destroyed.swap(true, Ordering::AcqRel) {
            return Err(DeviceError::new(Status::InvalidHandle, "the allocator was destroyed already"));
        }
        Ok(())
    }

    /// Waits for work that may use cached memory, returns that memory to the device, and returns
    /// its size in bytes.
    ///
    /// # Errors
    /// Any error of the device.
    pub fn clear_cache(&self) -> Result<u64, Diagnostic> {
        check(self, self.context())?;
        self.0.caching.clear_cache()
    }

    /// Returns the current statistics.
    pub fn statistics(&self) -> Statistics {
        self.0.caching.statistics()
    }

    /// Starts to record allocations and releases.
    pub fn start_recording(&self) {
        self.0.caching.start_recording();
    }

    /// Returns what was recorded since the last call.
    pub fn take_recording(&self) -> MemoryLog {
        self.0.caching.take_recording()
    }
}

/// Returns the origin of a request in the allocator's form.
#[inline]
fn asked_for(label: &'static str) -> crate::allocator::Origin {
    crate::allocator::Origin { label, location: Origin::location_here() }
}

impl fmt::Debug for DeviceAllocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.caching.fmt(f)
    }
}

/// Converts a failure of the allocator to a device error.
pub(super) fn out_of_memory(error: Diagnostic) -> DeviceError {
    let status = if error.code == ErrorCode::OutOfMemory { Status::OutOfMemory } else { Status::Unknown };
    DeviceError::new(status, error.message)
}

/// A buffer of device memory: from an allocator, a variable of a module, or unified memory. Clones
/// share it. When the last handle is dropped, the memory returns to its allocator. A buffer may be
/// dropped as soon as its last use is queued.
#[derive(Clone)]
pub struct DeviceBuffer {
    memory: Arc<Memory>,
    /// Identifies this handle and its clones among the handles of the memory. It is invalid once a
    /// tensor has taken over the memory.
    handle: u64,
}

/// A stream that memory is granted for: its number here, and its id for an observer.
#[derive(Clone, Copy)]
pub(super) struct GrantedFor {
    pub(super) id: u64,
    pub(super) observed: u64,
}

/// The owner of memory.
enum Owner {
    /// Memory of an allocator, granted for the stream with this number, which may be gone.
    Allocator(DeviceAllocator, u64),
    /// A variable of a module, and the streams it was used on.
    Module(Module, Box<Mutex<Vec<StreamRef>>>),
    /// Unified memory, and the streams it was used on.
    Unified(Arc<DeviceSide>, Box<Mutex<Vec<StreamRef>>>),
    /// Another buffer that this one is a part of.
    Part(DeviceBuffer),
}

/// Small enough to be moved in registers.
struct Memory {
    owner: Owner,
    allocation: Option<Allocation>,
    address: u64,
    bytes: u64,
    /// The number of the valid handle.
    handle: AtomicU64,
    /// The last other stream that used it. Checking this avoids the allocator's lock.
    last_used_on: AtomicU64,
    origin: Option<Box<Origin>>,
}

impl Owned for DeviceBuffer {
    const KIND: &'static str = "buffer";

    fn context(&self) -> &Context {
        self.memory.owner.context()
    }
}

impl Owner {
    #[inline]
    fn context(&self) -> &Context {
        match self {
            Self::Allocator(allocator, _) => allocator.context(),
            Self::Module(module, _) => module.context(),
            Self::Unified(side, _) => side.context(),
            Self::Part(whole) => whole.context(),
        }
    }
}

impl DeviceBuffer {
    #[inline]
    fn new(
        allocator: DeviceAllocator,
        granted_for: GrantedFor,
        allocation: Allocation,
        origin: Option<Box<Origin>>,
    ) -> Self {
        if let Some(observer) = allocator.context().observer() {
            let origin = origin.as_deref().cloned().unwrap_or_default();
            observer.buffer_granted(allocation.address(), allocation.bytes(), granted_for.observed, origin);
        }
        let (address, bytes) = (allocation.address(), allocation.bytes());
        let memory = Memory {
            owner: Owner::Allocator(allocator, granted_for.id),
            allocation: Some(allocation),
            address,
            bytes,
            handle: AtomicU64::new(0),
            last_used_on: AtomicU64::new(0),
            origin,
        };
        Self { memory: Arc::new(memory), handle: 0 }
    }

    /// Creates a buffer for a variable of a module, which stays loaded as long as the buffer lives.
    pub(super) fn of_variable(module: &Module, address: u64, bytes: u64) -> Self {
        Self::without_allocator(Owner::Module(module.clone(), Box::default()), address, bytes)
    }

    /// Creates a buffer of unified memory.
    pub(super) fn of_unified(side: Arc<DeviceSide>, address: u64, bytes: u64) -> Self {
        Self::without_allocator(Owner::Unified(side, Box::default()), address, bytes)
    }

    fn without_allocator(owner: Owner, address: u64, bytes: u64) -> Self {
        let memory = Memory {
            owner,
            allocation: None,
            address,
            bytes,
            handle: AtomicU64::new(0),
            // Any stream may use it.
            last_used_on: AtomicU64::new(u64::MAX),
            origin: None,
        };
        memory.owner.context().counters().unpooled_buffers.fetch_add(1, Ordering::Relaxed);
        Self { memory: Arc::new(memory), handle: 0 }
    }

    /// Returns a part of the buffer, which shares the memory and keeps it alive. A use of the part
    /// counts as a use of the whole buffer, so that the memory is not reused too early.
    ///
    /// # Errors
    /// `InvalidValue` if the part exceeds the buffer; `InvalidHandle` if a tensor has taken the
    /// memory over.
    pub fn slice(&self, offset: u64, bytes: u64) -> Result<Self> {
        if !self.is_valid() {
            return Err(moved());
        }
        let memory = Memory {
            owner: Owner::Part(self.clone()),
            allocation: None,
            address: self.part(offset, bytes, "a slice")?,
            bytes,
            handle: AtomicU64::new(0),
            // The part is never exclusive, because the whole buffer has a handle of its own.
            last_used_on: AtomicU64::new(u64::MAX),
            origin: None,
        };
        Ok(Self { memory: Arc::new(memory), handle: 0 })
    }

    /// Returns its context.
    pub fn context(&self) -> &Context {
        Owned::context(self)
    }

    /// Returns the address of the first byte.
    pub fn address(&self) -> u64 {
        self.memory.address
    }

    /// Returns the size in bytes, as it was requested.
    pub fn len(&self) -> u64 {
        self.memory.bytes
    }

    /// Returns whether the size is zero.
    pub fn is_empty(&self) -> bool {
        self.memory.bytes == 0
    }

    /// Returns whether this handle is valid. It is not once a tensor has taken the memory over.
    pub fn is_valid(&self) -> bool {
        self.memory.handle.load(Ordering::Acquire) == self.handle
    }

    /// Returns whether this is the only handle and the buffer was used only on the stream for which
    /// it was allocated. Work queued there may then change the buffer unobserved.
    pub fn is_exclusive(&self) -> bool {
        if Arc::strong_count(&self.memory) != 1 {
            return false;
        }
        // Acquires the uses that other handles recorded before they were dropped.
        fence(Ordering::Acquire);
        self.memory.last_used_on.load(Ordering::Acquire) == 0
    }

    /// Returns a number that distinguishes handles, except clones.
    pub(super) fn handle(&self) -> (usize, u64) {
        (Arc::as_ptr(&self.memory).addr(), self.handle)
    }

    /// Moves the memory to a new handle. This handle and its clones become invalid.
    ///
    /// # Errors
    /// `InvalidHandle` if that was done before.
    pub fn take_over(&self) -> Result<Self> {
        let next = self.handle + 1;
        match self.memory.handle.compare_exchange(self.handle, next, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Ok(Self { memory: self.memory.clone(), handle: next }),
            Err(_) => Err(moved()),
        }
    }

    /// Checks that work on a stream may use the buffer.
    #[inline]
    pub(super) fn check_usable(&self, stream: &Stream) -> Result<(), DeviceError> {
        check(self, stream.context())?;
        if self.is_valid() { Ok(()) } else { Err(moved()) }
    }

    /// Checks that queued work on a stream may use the buffer, and records the use with the
    /// allocator.
    #[inline]
    pub(super) fn used_by(&self, queueing: &mut Queueing<'_>) -> Result<(), DeviceError> {
        self.check_usable(queueing.stream())?;
        self.note_use(queueing)
    }

    /// Does the same as [`DeviceBuffer::used_by`], for copies between devices of one backend.
    pub(super) fn used_by_peer(&self, queueing: &mut Queueing<'_>) -> Result<(), DeviceError> {
        if !self.context().device().is_kin(queueing.stream().context().device()) {
            return Err(DeviceError::new(Status::InvalidContext, "the buffer belongs to another backend"));
        }
        if !self.is_valid() {
            return Err(moved());
        }
        self.note_use(queueing)
    }

    #[inline]
    fn note_use(&self, queueing: &mut Queueing<'_>) -> Result<(), DeviceError> {
        let stream = queueing.stream();
        match &self.memory.owner {
            Owner::Allocator(_, granted_for) if *granted_for == stream.id() => {}
            Owner::Allocator(allocator, _) => self.note_allocated(allocator, stream),
            Owner::Module(_, streams) => note_stream(streams, stream),
            Owner::Unified(side, streams) => {
                queueing.take(side)?;
                note_stream(streams, stream);
            }
            // The whole buffer records the use, and keeps the memory for a graph.
            Owner::Part(whole) => return whole.note_use(queueing),
        }
        queueing.record(|recorded| recorded.buffers.push(self.clone()));
        Ok(())
    }

    /// Records a use on another stream than the one the memory was granted for.
    fn note_allocated(&self, allocator: &DeviceAllocator, stream: &Stream) {
        let memory = &self.memory;
        if memory.last_used_on.swap(stream.id(), Ordering::AcqRel) == stream.id() {
            return;
        }
        if let Some(allocation) = &memory.allocation {
            // The allocation belongs to this allocator, so this cannot fail.
            drop(allocator.0.caching.record_use(allocation, stream.as_ref()));
        }
    }

    /// Returns the address of a part, after checking that queued work may use it and that it is in
    /// bounds.
    pub(super) fn range(
        &self,
        queueing: &mut Queueing<'_>,
        offset: u64,
        bytes: u64,
        what: &str,
    ) -> Result<u64> {
        self.used_by(queueing)?;
        self.part(offset, bytes, what)
    }

    /// Returns the address of a part, after checking that it is in bounds.
    pub(super) fn part(&self, offset: u64, bytes: u64, what: &str) -> Result<u64> {
        match offset.checked_add(bytes) {
            Some(end) if end <= self.len() => Ok(self.address() + offset),
            _ => {
                let detail = format!(
                    "{what} ({bytes} bytes from byte {offset}) exceeds a buffer of {} bytes",
                    self.len()
                );
                Err(DeviceError::invalid_value(detail))
            }
        }
    }
}

/// Records a stream among those that used the memory.
fn note_stream(streams: &Mutex<Vec<StreamRef>>, stream: &Stream) {
    let mut streams = streams.lock();
    if !streams.contains(stream.as_ref()) {
        streams.push(stream.as_ref().clone());
    }
}

/// Drops the owner of memory when the streams that used it have passed the last use. Waiting for
/// the release of dropped resources includes this.
fn drop_after<T: Clone + Send + 'static>(
    streams: &mut Mutex<Vec<StreamRef>>,
    owner: &T,
    teardown: &Teardown,
) {
    for stream in streams.get_mut() {
        let (owner, promised) = (owner.clone(), teardown.promise());
        let release = move || {
            drop(owner);
            drop(promised);
        };
        // If no event can be recorded here, the release moves to a later point.
        drop(stream.mark(Some(Box::new(release))));
    }
}

#[cold]
fn moved() -> DeviceError {
    DeviceError::new(Status::InvalidHandle, "the buffer is invalid: a tensor took its memory over")
}

impl Drop for Memory {
    fn drop(&mut self) {
        let allocator = match &mut self.owner {
            Owner::Allocator(allocator, _) => allocator,
            Owner::Module(module, streams) => {
                drop_after(streams, module, module.context().teardown());
                return self.is_gone();
            }
            Owner::Unified(side, streams) => {
                drop_after(streams, side, side.context().teardown());
                return self.is_gone();
            }
            Owner::Part(_) => return,
        };
        if let Some(observer) = allocator.context().observer() {
            let origin = self.origin.take().map_or_else(Origin::default, |origin| *origin);
            observer.buffer_released(self.address, self.bytes, origin);
        }
        if let Some(allocation) = self.allocation.take() {
            // The allocation belongs to this allocator, so this cannot fail.
            drop(allocator.0.caching.free(allocation));
        }
    }
}

impl Memory {
    /// Counts memory without an allocator; allocators count theirs.
    fn is_gone(&self) {
        self.owner.context().counters().unpooled_buffers.fetch_sub(1, Ordering::Relaxed);
    }
}

impl fmt::Display for DeviceBuffer {
    /// Writes the form that existing programs expect.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_valid() {
            write!(f, "GpuBuffer<pointer={:#x} (CUDA), size={}>", self.address(), self.len())
        } else {
            write!(f, "GpuBuffer<pointer=0x0 (CUDA), size=0>")
        }
    }
}

impl fmt::Debug for DeviceBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
