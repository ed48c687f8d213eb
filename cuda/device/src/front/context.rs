//! Contexts: the resources of a device and their shared state.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::{Mutex, RwLock};
use tfrt_host::host_buffer::HostBuffer;

use super::backing::HalBacking;
use super::buffer::DeviceAllocator;
use super::completion::{Completions, Release, SharedContext};
use super::platform::Device;
use super::trace::Clock;
use crate::allocator::CachingAllocator;
use crate::error::{DeviceError, Result, Status};
use crate::hal::{DynContext, Erased, MemoryInfo, ReleasedOnDrop, Teardown};
use crate::observer::Observer;

/// A context on a device. Clones share it.
#[derive(Clone)]
pub struct Context(Arc<Inner>);

struct Inner {
    id: u64,
    device: Device,
    clock: Clock,
    hal: SharedContext,
    completions: Arc<Completions>,
    observer: Option<Arc<dyn Observer>>,
    /// Whether callers should record origins.
    wants_origins: bool,
    live: Live,
    /// The allocators that must be notified of dropped streams.
    allocators: Mutex<Vec<Weak<CachingAllocator<HalBacking>>>>,
    /// Host memory that the device can access directly.
    pinned: RwLock<Vec<Range<usize>>>,
    /// Buffers pinned by `register_host`, which must stay alive while pinned.
    registered: Mutex<Vec<HostBuffer>>,
}

/// The numbers of live resources.
#[derive(Default)]
pub(super) struct Live {
    pub(super) streams: AtomicUsize,
    pub(super) events: AtomicUsize,
    /// Buffers without an allocator; allocators count theirs.
    pub(super) unpooled_buffers: AtomicUsize,
    pub(super) modules: AtomicUsize,
    pub(super) graphs: AtomicUsize,
    pub(super) libraries: AtomicUsize,
}

/// The number of live resources of a context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveCounts {
    /// The number of streams.
    pub streams: usize,
    /// The number of events.
    pub events: usize,
    /// The number of buffers.
    pub buffers: usize,
    /// The number of modules.
    pub modules: usize,
    /// The number of graphs.
    pub graphs: usize,
    /// The number of BLAS and DNN handles.
    pub libraries: usize,
}

/// Counts a resource while it lives.
pub(super) struct Counted(Context, fn(&Live) -> &AtomicUsize);

impl Counted {
    pub(super) fn new(context: &Context, which: fn(&Live) -> &AtomicUsize) -> Self {
        which(&context.0.live).fetch_add(1, Ordering::Relaxed);
        Self(context.clone(), which)
    }

    pub(super) fn context(&self) -> &Context {
        &self.0
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        (self.1)(&self.0.0.live).fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // While they are registered, nobody else can register the same memory.
        let registered = std::mem::take(self.registered.get_mut());
        let last = (!registered.is_empty()).then(|| -> Release {
            let hal = self.hal.clone();
            Box::new(move || {
                for buffer in registered {
                    // A failure could not be reported to anybody.
                    drop(hal.unregister_host(buffer.as_ptr()));
                }
            })
        });
        self.completions.end(last);
    }
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// Returns a new unique number.
pub(super) fn next_id() -> u64 {
    NEXT_ID.fetch_add(1, Ordering::Relaxed)
}

impl Context {
    pub(super) fn new(
        device: Device,
        hal: Box<DynContext>,
        observer: Option<Arc<dyn Observer>>,
        kin: Arc<Mutex<Vec<Weak<Completions>>>>,
    ) -> Self {
        let teardown = device.teardown().clone();
        let hal = Arc::new(ReleasedOnDrop::new(hal, &teardown));
        let completions = Completions::new(hal.clone(), teardown, kin);
        let wants_origins = observer.is_some() || hal.keeps_origins();
        Self(Arc::new(Inner {
            id: next_id(),
            device,
            clock: Clock::default(),
            hal,
            completions,
            observer,
            wants_origins,
            live: Live::default(),
            allocators: Mutex::default(),
            pinned: RwLock::default(),
            registered: Mutex::default(),
        }))
    }

    /// Returns whether an observer watches.
    pub(crate) fn is_observed(&self) -> bool {
        self.0.observer.is_some()
    }

    /// Returns whether calls should state their [origin](crate::origin).
    pub fn wants_origins(&self) -> bool {
        self.0.wants_origins
    }

    /// Returns a number that is unique among contexts.
    pub fn id(&self) -> u64 {
        self.0.id
    }

    /// Returns its device.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// Returns the counters of its resources.
    pub(super) fn counters(&self) -> &Live {
        &self.0.live
    }

    pub(super) fn hal(&self) -> &DynContext {
        &***self.0.hal
    }

    pub(super) fn hal_shared(&self) -> &SharedContext {
        &self.0.hal
    }

    /// Returns the clock by which work is shown in traces.
    pub(super) fn clock(&self) -> &Clock {
        &self.0.clock
    }

    /// Returns the teardown that releases resources.
    pub(super) fn teardown(&self) -> &Teardown {
        self.0.completions.teardown()
    }

    /// Wraps a resource of the backend, other than an event, so that it is released when dropped.
    pub(super) fn owned(&self, resource: Erased) -> ReleasedOnDrop<Erased> {
        ReleasedOnDrop::new(resource, self.teardown())
    }

    pub(super) fn completions(&self) -> Weak<Completions> {
        Arc::downgrade(&self.0.completions)
    }

    pub(super) fn completed(&self) -> &Arc<Completions> {
        &self.0.completions
    }

    pub(super) fn observer(&self) -> Option<&Arc<dyn Observer>> {
        self.0.observer.as_ref()
    }

    /// Returns the failure that made the context unusable, if there was one.
    pub fn failure(&self) -> Option<DeviceError> {
        self.hal().failure()
    }

    /// Returns the free and the total memory, in bytes.
    ///
    /// # Errors
    /// Any error of the device.
    pub fn memory_info(&self) -> Result<MemoryInfo> {
        self.hal().memory_info()
    }

    /// Returns the number of live resources.
    pub fn live(&self) -> LiveCounts {
        let count = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
        let live = &self.0.live;
        let allocators = self.allocators();
        let allocated = allocators.iter().map(|allocator| allocator.statistics().num_live as usize);
        LiveCounts {
            streams: count(&live.streams),
            events: count(&live.events),
            buffers: count(&live.unpooled_buffers) + allocated.sum::<usize>(),
            modules: count(&live.modules),
            graphs: count(&live.graphs),
            libraries: count(&live.libraries),
        }
    }

    pub(super) fn add_allocator(&self, allocator: &Arc<CachingAllocator<HalBacking>>) {
        let mut allocators = self.0.allocators.lock();
        allocators.retain(|known| known.strong_count() > 0);
        allocators.push(Arc::downgrade(allocator));
    }

    pub(super) fn allocators(&self) -> Vec<Arc<CachingAllocator<HalBacking>>> {
        self.0.allocators.lock().iter().filter_map(Weak::upgrade).collect()
    }

    /// Creates an allocator of this context's memory. If a checker observes the device, buffers
    /// have red zones.
    pub fn create_allocator(&self, mut options: crate::allocator::Options) -> DeviceAllocator {
        options.in_segments |= self.device().has_memory_in_segments();
        if self.is_observed() {
            options.red_zone_bytes = options.red_zone_bytes.max(crate::allocator::RED_ZONE);
        }
        DeviceAllocator::new(self, options)
    }

    /// Returns whether the device can access the memory directly.
    pub(super) fn is_pinned(&self, buffer: &HostBuffer) -> bool {
        let start = buffer.as_ptr().addr();
        let end = start + buffer.len();
        self.0.pinned.read().iter().any(|range| range.start <= start && end <= range.end)
    }

    pub(super) fn add_pinned(&self, range: Range<usize>) -> Result<()> {
        let mut pinned = self.0.pinned.write();
        if pinned.iter().any(|known| known.start < range.end && range.start < known.end) {
            return Err(Status::HostMemoryAlreadyRegistered.into());
        }
        pinned.push(range);
        Ok(())
    }

    pub(super) fn keep_registered(&self, buffer: HostBuffer) {
        self.0.registered.lock().push(buffer);
    }

    /// Removes a registered buffer. Returns whether it was registered.
    pub(super) fn forget_registered(&self, buffer: &HostBuffer) -> bool {
        let mut registered = self.0.registered.lock();
        let found = registered.iter().position(|known| known.as_ptr() == buffer.as_ptr());
        found.map(|index| registered.swap_remove(index)).is_some()
    }

    pub(super) fn remove_pinned(&self, start: usize) -> bool {
        let mut pinned = self.0.pinned.write();
        let before = pinned.len();
        pinned.retain(|range| range.start != start);
        pinned.len() < before
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "context {} of {:?}", self.0.id, self.0.device)
    }
}
