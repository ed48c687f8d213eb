//! What traces of allocations are replayed on: our allocator over a simulated device, and two
//! baselines.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tfrt_device::allocator::{
    Allocation, Backing, CachingAllocator, End, Options, Origin, Pages, Request, Statistics,
};
use tfrt_host::Diagnostic;

use super::allocations::{Op, Trace};

/// A device with memory without end, whose streams lag behind the host by a number of calls.
#[derive(Debug, Default)]
pub(crate) struct LaggingDevice {
    lag: u64,
    now: AtomicU64,
    next_address: AtomicU64,
    /// Whether it has memory by the page.
    has_pages: bool,
    pages_mapped: AtomicU64,
}

impl LaggingDevice {
    pub(crate) fn new(lag: u64, has_pages: bool) -> Self {
        Self { lag, has_pages, ..Self::default() }
    }
}

impl Pages for LaggingDevice {
    fn page_bytes(&self) -> u64 {
        2 << 20
    }

    fn reserve_range(&self, bytes: u64) -> Result<u64, Diagnostic> {
        Backing::allocate(self, bytes)
    }

    fn release_range(&self, _address: u64, _bytes: u64) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn create_pages(&self, count: u64) -> Result<Vec<u64>, Diagnostic> {
        Ok((0..count).collect())
    }

    fn destroy_page(&self, _page: u64) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn map(&self, _address: u64, pages: &[u64]) -> Result<(), Diagnostic> {
        self.pages_mapped.fetch_add(pages.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    fn unmap(&self, _address: u64, _bytes: u64) -> Result<(), Diagnostic> {
        Ok(())
    }
}

impl Backing for LaggingDevice {
    type Stream = u32;
    type Fence = u64;

    fn allocate(&self, bytes: u64) -> Result<u64, Diagnostic> {
        Ok((1 << 40) + self.next_address.fetch_add(bytes.next_multiple_of(512), Ordering::Relaxed))
    }

    fn free(&self, _address: u64, _bytes: u64) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn record(&self, _stream: &u32) -> Result<u64, Diagnostic> {
        Ok(self.now.load(Ordering::Relaxed) + self.lag)
    }

    fn is_reached(&self, fence: &u64) -> Result<bool, Diagnostic> {
        Ok(self.now.load(Ordering::Relaxed) >= *fence)
    }

    fn wait(&self, _stream: &u32, _fence: &u64) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn synchronize(&self, fence: &u64) -> Result<(), Diagnostic> {
        self.now.fetch_max(*fence, Ordering::Relaxed);
        Ok(())
    }

    fn run_after(&self, _ends: Vec<End<Self>>, job: Box<dyn FnOnce() + Send>) {
        job();
    }

    fn when_reached(&self, fence: &u64, then: Box<dyn FnOnce() + Send>) {
        self.now.fetch_max(*fence, Ordering::Relaxed);
        then();
    }

    fn pages(&self) -> Option<&dyn Pages> {
        self.has_pages.then_some(self)
    }
}

/// Something a trace can be replayed on.
pub(crate) trait Replay {
    /// Does what the trace says. The device is at the end of its work afterwards.
    fn replay(&mut self, trace: &Trace);
    /// The most bytes reserved so far.
    fn peak_reserved(&self) -> u64;
}

/// Ours.
pub(crate) struct Caching {
    allocator: Arc<CachingAllocator<LaggingDevice>>,
    held: Vec<Option<Allocation>>,
}

impl Caching {
    pub(crate) fn new(lag: u64, has_pages: bool) -> Self {
        let device = Arc::new(LaggingDevice::new(lag, has_pages));
        let allocator = CachingAllocator::new(device, Options::default());
        Self { allocator, held: Vec::new() }
    }

    /// Pages mapped so far.
    pub(crate) fn pages_mapped(&self) -> u64 {
        self.allocator.backing().pages_mapped.load(Ordering::Relaxed)
    }

    pub(crate) fn statistics(&self) -> Statistics {
        self.allocator.statistics()
    }
}

impl Replay for Caching {
    fn replay(&mut self, trace: &Trace) {
        self.held.resize_with(trace.buffers(), || None);
        let device = self.allocator.backing().clone();
        for op in &trace.ops {
            device.now.store(device.now.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            match *op {
                Op::Allocate { buffer, bytes, stream } => {
                    let request = Request { stream: &stream, bytes, origin: Origin::default() };
                    let allocation = self.allocator.allocate(request).expect("memory without end");
                    self.held[buffer as usize] = Some(allocation);
                }
                Op::Use { buffer, stream } => {
                    let allocation = self.held[buffer as usize].as_ref().expect("allocated");
                    self.allocator.record_use(allocation, &stream).expect("its own memory");
                }
                Op::Free { buffer } => {
                    let allocation = self.held[buffer as usize].take().expect("allocated");
                    self.allocator.free(allocation).expect("its own memory");
                }
            }
        }
        device.now.fetch_add(device.lag, Ordering::Relaxed);
    }

    fn peak_reserved(&self) -> u64 {
        self.statistics().peak_bytes_reserved
    }
}

/// The first free range that fits, in one range of addresses that grows at its end. It knows no
/// streams, so what it hands out may still be in use: no safe allocator has that much freedom.
#[derive(Debug, Default)]
pub(crate) struct FirstFit {
    free: BTreeMap<u64, u64>,
    end: u64,
    held: Vec<(u64, u64)>,
}

impl FirstFit {
    fn allocate(&mut self, bytes: u64) -> (u64, u64) {
        let bytes = bytes.max(1).next_multiple_of(512);
        let found = self.free.iter().find(|(_, length)| **length >= bytes);
        let Some((&address, &length)) = found else {
            // What is free at the end is used up, and the rest added.
            let tail = self.free.last_key_value().map(|(&a, &l)| (a, l)).filter(|(a, l)| a + l == self.end);
            let address = tail.map_or(self.end, |(address, _)| address);
            self.free.remove(&address);
            self.end = address + bytes;
            return (address, bytes);
        };
        self.free.remove(&address);
        if length > bytes {
            self.free.insert(address + bytes, length - bytes);
        }
        (address, bytes)
    }

    fn free(&mut self, (mut address, mut bytes): (u64, u64)) {
        if let Some(length) = self.free.remove(&(address + bytes)) {
            bytes += length;
        }
        if let Some((&before, &length)) = self.free.range(..address).next_back()
            && before + length == address
        {
            (address, bytes) = (before, bytes + length);
        }
        self.free.insert(address, bytes);
    }
}

impl Replay for FirstFit {
    fn replay(&mut self, trace: &Trace) {
        self.held.resize(trace.buffers(), (0, 0));
        for op in &trace.ops {
            match *op {
                Op::Allocate { buffer, bytes, .. } => self.held[buffer as usize] = self.allocate(bytes),
                Op::Use { .. } => {}
                Op::Free { buffer } => self.free(self.held[buffer as usize]),
            }
        }
    }

    fn peak_reserved(&self) -> u64 {
        self.end
    }
}

/// Addresses only go up, until nothing is alive.
#[derive(Debug, Default)]
pub(crate) struct Bump {
    end: u64,
    end_max: u64,
    alive: u64,
}

impl Replay for Bump {
    fn replay(&mut self, trace: &Trace) {
        for op in &trace.ops {
            match *op {
                Op::Allocate { bytes, .. } => {
                    self.end += bytes.max(1).next_multiple_of(512);
                    self.end_max = self.end_max.max(self.end);
                    self.alive += 1;
                }
                Op::Use { .. } => {}
                Op::Free { .. } => {
                    self.alive -= 1;
                    if self.alive == 0 {
                        self.end = 0;
                    }
                }
            }
        }
    }

    fn peak_reserved(&self) -> u64 {
        self.end_max
    }
}
