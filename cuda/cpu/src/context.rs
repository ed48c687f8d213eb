//! Contexts of the CPU devices, and their memory.

#![expect(unsafe_code, reason = "copies between host pointers and device storage")]

use std::alloc::Layout;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::{
    Bell, Context, Copy2d, Endpoint, ManagedMemory, Memory, MemoryInfo, Paging, Pattern, Resources, Transfers,
};
use tfrt_device::observer::Access;
use tfrt_device::origin::Origin;
use tfrt_device::trace::WorkSize;

use super::Shared;
use super::access::Manner;
use super::bytes::HostPtr;
use super::memory::{Allocation, illegal};
use super::operation::{Operation, Run};
use super::stream::Stream;

/// The alignment of pinned memory.
const PAGE: usize = 4096;

/// A context: the use of a device until an operation on it fails.
pub(crate) struct CpuContext {
    pub(super) device: Arc<Device>,
}

/// The state that a context shares with its streams, events and modules.
pub(super) struct Device {
    pub(super) ordinal: u32,
    pub(super) shared: Arc<Shared>,
    failed: AtomicBool,
    failure: Mutex<Option<DeviceError>>,
    /// Whether the failure was reported at the end of a program.
    taken: AtomicBool,
    /// What is rung when an event is reached, and when the context fails.
    bell: OnceLock<Bell>,
    used: AtomicU64,
    pinned: Mutex<HashMap<usize, Layout>>,
}

impl Device {
    /// Returns the failure, unless there is none or it was reported before.
    pub(super) fn take_failure(&self) -> Option<DeviceError> {
        let failure = self.check().err()?;
        (!self.taken.swap(true, Ordering::Relaxed)).then_some(failure)
    }

    /// Records a result. The first failure makes the context unusable.
    pub(super) fn note(&self, result: Result<()>) {
        if let Err(error) = result {
            match &mut *self.failure.lock() {
                // Work that is stopped at a program's deadline reports what it is and its origin.
                Some(known)
                    if known.status == Status::LaunchTimeout
                        && error.status == Status::LaunchTimeout
                        && known.queued.is_none() =>
                {
                    known.detail = format!("{}; {}", known.detail, error.detail);
                    known.queued = error.queued;
                }
                Some(_) => {}
                failure => *failure = Some(error),
            }
            self.failed.store(true, Ordering::Release);
            self.ring();
        }
    }

    /// Rings the bell, if there is one.
    pub(super) fn ring(&self) {
        if let Some(bell) = self.bell.get() {
            bell();
        }
    }

    /// Sets the bell. Returns whether it is the first.
    pub(super) fn set_bell(&self, bell: Bell) -> bool {
        self.bell.set(bell).is_ok()
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    /// Returns whether the context has failed, for running launches: their results will never be
    /// read, so they end.
    pub(super) fn failed(&self) -> &AtomicBool {
        &self.failed
    }

    /// Returns the failure of the context as an error, if it has failed.
    pub(super) fn check(&self) -> Result<()> {
        if !self.has_failed() {
            return Ok(());
        }
        self.failure.lock().clone().map_or(Ok(()), Err)
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        self.shared.contexts.leave(self.take_failure());
        for (memory, layout) in self.pinned.get_mut().drain() {
            self.shared.unpin(memory as u64);
            // SAFETY: `allocate_host` allocated the memory with this layout, and it was not freed.
            // The context's last handle is gone.
            unsafe { std::alloc::dealloc(std::ptr::with_exposed_provenance_mut(memory), layout) };
        }
    }
}

impl CpuContext {
    pub(super) fn new(shared: Arc<Shared>, ordinal: u32) -> Self {
        let device = Device {
            ordinal,
            shared,
            failed: AtomicBool::new(false),
            failure: Mutex::default(),
            taken: AtomicBool::new(false),
            bell: OnceLock::new(),
            used: AtomicU64::new(0),
            pinned: Mutex::default(),
        };
        let device = Arc::new(device);
        device.shared.contexts.add(&device);
        Self { device }
    }
}

impl Resources for CpuContext {
    type Stream = Stream;
    type Event = super::event::Event;
    type Module = super::module::Module;
    type Function = super::module::Function;
    type Graph = super::graph::Graph;
    type BlasHandle = ();
    type DnnHandle = ();
    type Communicator = super::collectives::Communicator;
}

impl Context for CpuContext {
    fn failure(&self) -> Option<DeviceError> {
        self.device.check().err()
    }

    fn keeps_origins(&self) -> bool {
        true
    }

    fn records_work(&self) -> bool {
        true
    }
}

impl CpuContext {
    /// Returns what a copy accesses of the host's memory, if the checker should know: pinned memory
    /// by its own address, unified memory by that of the device's side.
    fn of_host(&self, memory: *const u8, bytes: u64, access: fn(u64, u64) -> Access) -> Option<Access> {
        let shared = &self.device.shared;
        shared.observer.as_ref()?;
        let address = memory.addr() as u64;
        let pinned = shared.pinned.lock();
        let is_pinned =
            pinned.range(..=address).next_back().is_some_and(|(start, length)| address < start + length);
        if is_pinned {
            return Some(access(address, bytes));
        }
        shared.space.address_of(memory).map(|address| access(address, bytes))
    }

    /// Allocates memory, which may also be accessible to the host.
    fn take_memory(&self, bytes: u64, of_host: bool) -> Result<Arc<Allocation>> {
        self.device.check()?;
        let total = self.device.shared.memory_bytes;
        let take = |used: u64| used.checked_add(bytes).filter(|&sum| sum <= total);
        if self.device.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() {
            let used = self.device.used.load(Ordering::Relaxed);
            let detail = format!("{bytes} bytes requested, {used} of {total} in use");
            return Err(DeviceError::new(Status::OutOfMemory, detail));
        }
        let allocated = self.device.shared.space.allocate(bytes, of_host);
        let allocation = allocated.inspect_err(|_| {
            self.device.used.fetch_sub(bytes, Ordering::Relaxed);
        })?;
        if let Some(observer) = &self.device.shared.observer {
            observer.allocated(allocation.address, bytes, of_host, Origin::here());
        }
        Ok(allocation)
    }
}

impl Memory for CpuContext {
    fn memory_info(&self) -> Result<MemoryInfo> {
        self.device.check()?;
        let total = self.device.shared.memory_bytes;
        Ok(MemoryInfo { free: total.saturating_sub(self.device.used.load(Ordering::Relaxed)), total })
    }

    fn allocate(&self, bytes: u64) -> Result<u64> {
        Ok(self.take_memory(bytes, false)?.address)
    }

    fn free(&self, address: u64) -> Result<()> {
        // Also done after a failure: the memory must be freed.
        let allocation = self.device.shared.space.free(address)?;
        self.device.used.fetch_sub(allocation.bytes, Ordering::Relaxed);
        if let Some(observer) = &self.device.shared.observer {
            observer.freed(address);
        }
        Ok(())
    }

    fn allocate_host(&self, bytes: usize) -> Result<*mut u8> {
        self.device.check()?;
        let out_of_memory =
            || DeviceError::new(Status::OutOfMemory, format!("the host has no {bytes} bytes"));
        let layout = Layout::from_size_align(bytes.max(1), PAGE).map_err(|_| out_of_memory())?;
        // SAFETY: the size is not zero.
        let memory = unsafe { std::alloc::alloc_zeroed(layout) };
        if memory.is_null() {
            return Err(out_of_memory());
        }
        self.device.pinned.lock().insert(memory.expose_provenance(), layout);
        self.device.shared.pin(memory.addr() as u64, bytes as u64);
        Ok(memory)
    }

    unsafe fn free_host(&self, memory: *mut u8) -> Result<()> {
        let layout = self.device.pinned.lock().remove(&memory.addr());
        let layout = layout.ok_or_else(|| DeviceError::invalid_value("not pinned memory of this context"))?;
        self.device.shared.unpin(memory.addr() as u64);
        // SAFETY: the memory was allocated with this layout, and the caller promises that nothing
        // uses it.
        unsafe { std::alloc::dealloc(memory, layout) };
        Ok(())
    }

    unsafe fn register_host(&self, memory: *mut u8, bytes: usize) -> Result<()> {
        self.device.check()?;
        self.device.shared.pin(memory.addr() as u64, bytes as u64);
        Ok(())
    }

    fn unregister_host(&self, memory: *mut u8) -> Result<()> {
        self.device.shared.unpin(memory.addr() as u64);
        Ok(())
    }

    fn allocate_managed(&self, bytes: u64) -> Result<ManagedMemory> {
        let allocation = self.take_memory(bytes, true)?;
        let (address, host) = (allocation.address, allocation.pointer());
        Ok(ManagedMemory { address, host, host_owner: Box::new(allocation) })
    }

    fn is_allocated(&self, address: u64, bytes: u64) -> bool {
        self.device.shared.space.holds(address, bytes)
    }
}

/// The CPU device has no pages: an allocation is one piece of host memory, so that operations can
/// access slices.
impl Paging for CpuContext {}

impl Transfers for CpuContext {
    unsafe fn copy_host_to_device(
        &self,
        stream: &Stream,
        dst: u64,
        src: *const u8,
        bytes: usize,
    ) -> Result<()> {
        let of_host = self.of_host(src, bytes as u64, Access::read);
        let src = HostPtr(src.cast_mut());
        let accesses = vec![Access::write(dst, bytes as u64)];
        let body = move |run: &mut Run<'_>| {
            // SAFETY: the caller promises that the source is readable until the stream has passed
            // this operation, and that nothing writes it except other copies.
            unsafe { run.shared.space.memory.write_from(dst, src.get(), bytes) }.map_err(illegal)
        };
        stream.core.submit(Operation::with_host(
            Manner::Raw,
            "copy from host to device",
            WorkSize::Bytes(bytes as u64),
            [accesses, Vec::from_iter(of_host)],
            body,
        ))
    }

    unsafe fn copy_device_to_host(
        &self,
        stream: &Stream,
        dst: *mut u8,
        src: u64,
        bytes: usize,
    ) -> Result<()> {
        let of_host = self.of_host(dst, bytes as u64, Access::write);
        let dst = HostPtr(dst);
        let accesses = vec![Access::read(src, bytes as u64)];
        let body = move |run: &mut Run<'_>| {
            // SAFETY: the caller promises that the destination is writable until the stream has
            // passed this operation, and that nothing uses it except other copies.
            unsafe { run.shared.space.memory.read_to(src, dst.get(), bytes) }.map_err(illegal)
        };
        stream.core.submit(Operation::with_host(
            Manner::Raw,
            "copy from device to host",
            WorkSize::Bytes(bytes as u64),
            [accesses, Vec::from_iter(of_host)],
            body,
        ))
    }

    fn copy_device_to_device(&self, stream: &Stream, dst: u64, src: u64, bytes: u64) -> Result<()> {
        let accesses = vec![Access::write(dst, bytes), Access::read(src, bytes)];
        let body = move |run: &mut Run<'_>| run.shared.space.memory.copy(dst, src, bytes).map_err(illegal);
        let (name, size) = ("copy from device to device", WorkSize::Bytes(bytes));
        stream.core.submit(Operation::of_manner(Manner::Raw, name, size, accesses, body))
    }

    unsafe fn copy_2d(&self, stream: &Stream, copy: &Copy2d) -> Result<()> {
        let copy = *copy;
        let is_observed = self.device.shared.observer.is_some();
        let mut accesses = Vec::new();
        if let Endpoint::Device(address) = copy.dst {
            accesses.extend(rows(address, copy.dst_pitch, &copy, is_observed, Access::write));
        }
        if let Endpoint::Device(address) = copy.src {
            accesses.extend(rows(address, copy.src_pitch, &copy, is_observed, Access::read));
        }
        let mut of_host = Vec::new();
        if let Endpoint::Host(pointer) = copy.dst
            && let Some(first) = self.of_host(pointer, 1, Access::write)
        {
            of_host.extend(rows(first.address, copy.dst_pitch, &copy, is_observed, Access::write));
        }
        if let Endpoint::Host(pointer) = copy.src
            && let Some(first) = self.of_host(pointer, 1, Access::read)
        {
            of_host.extend(rows(first.address, copy.src_pitch, &copy, is_observed, Access::read));
        }
        let end = |endpoint: Endpoint| match endpoint {
            Endpoint::Device(address) => Ok(address),
            Endpoint::Host(pointer) => Err(HostPtr(pointer)),
        };
        let (dst, src) = (end(copy.dst), end(copy.src));
        let (dst_pitch, src_pitch, width, height) = (copy.dst_pitch, copy.src_pitch, copy.width, copy.height);
        let body = move |run: &mut Run<'_>| {
            let memory = &run.shared.space.memory;
            for row in 0..height {
                let (to, from) = (row * dst_pitch, row * src_pitch);
                // SAFETY: the rows on the host are within what the caller promised. Only copies use
                // them until the stream has passed this operation.
                unsafe {
                    match (dst, src) {
                        (Ok(dst), Ok(src)) => memory.copy(dst + to as u64, src + from as u64, width as u64),
                        (Ok(dst), Err(src)) => memory.write_from(dst + to as u64, src.get().add(from), width),
                        (Err(dst), Ok(src)) => memory.read_to(src + from as u64, dst.get().add(to), width),
                        (Err(_), Err(_)) => return Err(Status::InvalidValue.into()),
                    }
                }
                .map_err(illegal)?;
            }
            Ok(())
        };
        let (name, size) = ("two-dimensional copy", WorkSize::Bytes((copy.width * copy.height) as u64));
        stream.core.submit(Operation::with_host(Manner::Raw, name, size, [accesses, of_host], body))
    }

    fn set(&self, stream: &Stream, dst: u64, pattern: Pattern, count: u64) -> Result<()> {
        let bytes = count * pattern.size();
        let accesses = vec![Access::write(dst, bytes)];
        let body = move |run: &mut Run<'_>| {
            let memory = &run.shared.space.memory;
            match pattern {
                Pattern::U8(value) => memory.fill(dst, &[value], count),
                Pattern::U16(value) => memory.fill(dst, &value.to_ne_bytes(), count),
                Pattern::U32(value) => memory.fill(dst, &value.to_ne_bytes(), count),
            }
            .map_err(illegal)
        };
        let size = WorkSize::Bytes(bytes);
        stream.core.submit(Operation::of_manner(Manner::Raw, "memory set", size, accesses, body))
    }
}

/// Returns the bytes of one side of a two-dimensional copy: row by row for an observer, because the
/// gaps between rows are not accessed; otherwise as one range, which suffices to keep slices apart.
fn rows(
    address: u64,
    pitch: usize,
    copy: &Copy2d,
    is_observed: bool,
    access: fn(u64, u64) -> Access,
) -> Vec<Access> {
    match copy.height {
        0 => Vec::new(),
        height if is_observed && pitch != copy.width => {
            (0..height).map(|row| access(address + (row * pitch) as u64, copy.width as u64)).collect()
        }
        height => vec![access(address, ((height - 1) * pitch + copy.width) as u64)],
    }
}
