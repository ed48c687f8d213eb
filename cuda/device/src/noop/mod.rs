//! A backend that does nothing, as a skeleton for others and to inject faults. It counts calls
//! while a fault or a capture needs that, and fails or delays the chosen call, or loses the device
//! in it.
//!
//! Memory has addresses but no bytes. Work is done when it is queued, so nothing ever waits. Copies
//! to the host leave the host's bytes unchanged.

#![expect(unsafe_code, reason = "the traits' unsafe methods, and pinned host memory")]

mod paging;

use std::alloc::Layout;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tfrt_host::DType;

use crate::error::{DeviceError, Result, Status};
use crate::hal::{
    Attends, Backend, Blas, CollectiveCall, Collectives, Context, Copy2d, DeviceProperties, Dnn,
    DnnOperation, DynBackend, EventOptions, Events, F32Math, FunctionAttributes, Gemm, Graphs, LaunchConfig,
    ManagedMemory, Memory, MemoryInfo, Modules, PackedParameters, Pattern, Resources, Scaling, StreamOptions,
    Streams, Teardown, Transfers, UniqueId, check_emulated, erase,
};

/// A fault that the noop backend injects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoopFault {
    /// No fault.
    None,
    /// The n-th call fails with this status.
    Fail(u64, Status),
    /// The n-th call takes this long.
    Delay(u64, Duration),
    /// The device is lost in the n-th call.
    Lose(u64),
}

/// Makes a backend of this many devices that do nothing, each with this many bytes of memory (zero
/// for no limit).
///
/// # Errors
/// [`Status::InvalidValue`] for more than
/// [`MAX_EMULATED_DEVICES`](crate::hal::MAX_EMULATED_DEVICES) devices.
pub fn open(devices: u32, memory_bytes: u64, fault: NoopFault) -> Result<Arc<dyn DynBackend>> {
    check_emulated(devices)?;
    Ok(erase(NoopBackend::new(devices, memory_bytes, fault)))
}

/// Creates one device whose events are not reached while the returned switch is on.
#[cfg(test)]
pub(crate) fn open_held() -> (Arc<dyn DynBackend>, Arc<AtomicBool>) {
    let backend = NoopBackend::new(1, 0, NoopFault::None);
    let held = backend.faults.held.clone();
    (erase(backend), held)
}

/// Devices that do nothing.
struct NoopBackend {
    devices: u32,
    memory_bytes: u64,
    faults: Arc<Faults>,
    teardown: Teardown,
}

/// The fault, counted over all devices.
struct Faults {
    fault: NoopFault,
    calls: AtomicU64,
    lost: AtomicBool,
    /// Whether events are not reached yet.
    #[cfg(test)]
    held: Arc<AtomicBool>,
}

impl Faults {
    /// Counts a call if a fault needs that, and fails if it is the chosen one.
    fn call(&self) -> Result<()> {
        if self.fault == NoopFault::None {
            return Ok(());
        }
        if self.lost.load(Ordering::Relaxed) {
            return Err(Status::DeviceLost.into());
        }
        let call = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        match self.fault {
            NoopFault::Fail(nth, status) if call == nth => {
                Err(DeviceError::new(status, format!("injected fault in call {call}")))
            }
            NoopFault::Delay(nth, time) if call == nth => {
                std::thread::sleep(time);
                Ok(())
            }
            NoopFault::Lose(nth) if call == nth => {
                self.lost.store(true, Ordering::Relaxed);
                Err(DeviceError::new(
                    Status::DeviceLost,
                    format!("injected loss of the device in call {call}"),
                ))
            }
            _ => Ok(()),
        }
    }
}

impl NoopBackend {
    /// Creates at least one device, each with this much memory; zero means no limit.
    pub(crate) fn new(devices: u32, memory_bytes: u64, fault: NoopFault) -> Self {
        let faults = Faults {
            fault,
            calls: AtomicU64::new(0),
            lost: AtomicBool::new(false),
            #[cfg(test)]
            held: Arc::default(),
        };
        let memory_bytes = if memory_bytes == 0 { 16 << 30 } else { memory_bytes };
        let (devices, teardown) = (devices.max(1), Teardown::new_prompt());
        Self { devices, memory_bytes, faults: Arc::new(faults), teardown }
    }
}

impl Backend for NoopBackend {
    type Context = NoopContext;

    fn name(&self) -> &'static str {
        "noop"
    }

    fn device_count(&self) -> u32 {
        self.devices
    }

    fn properties(&self, _ordinal: u32) -> Result<DeviceProperties> {
        let name = "noop device".to_owned();
        Ok(DeviceProperties::emulated(name, self.memory_bytes, "none".to_owned(), 1))
    }

    fn can_access_peer(&self, _from: u32, _to: u32) -> Result<bool> {
        Ok(true)
    }

    fn create_context(&self, _ordinal: u32) -> Result<NoopContext> {
        self.faults.call()?;
        Ok(NoopContext {
            faults: self.faults.clone(),
            memory_bytes: self.memory_bytes,
            allocations: Mutex::default(),
            used: AtomicU64::new(0),
        })
    }

    fn teardown(&self) -> &Teardown {
        &self.teardown
    }
}

/// A context of a noop device.
pub(crate) struct NoopContext {
    faults: Arc<Faults>,
    memory_bytes: u64,
    /// Sizes by address.
    allocations: Mutex<BTreeMap<u64, u64>>,
    used: AtomicU64,
}

static NEXT_ADDRESS: AtomicU64 = AtomicU64::new(1 << 48);

/// A stream, which counts the operations of a capture.
#[derive(Default)]
pub(crate) struct Stream {
    is_capturing: AtomicBool,
    /// The number of operations in the capture so far.
    captured: AtomicUsize,
}

impl Stream {
    /// Counts an operation.
    fn count(&self) {
        if self.is_capturing.load(Ordering::Acquire) {
            self.captured.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// An event. With timing it keeps the time of its last record.
pub(crate) struct Event(Option<Mutex<Option<Instant>>>);

impl Event {
    fn time(&self) -> Result<Instant> {
        let time = self.0.as_ref().and_then(|time| *time.lock());
        time.ok_or_else(|| Status::InvalidHandle.into())
    }
}

/// The size of the header before pinned memory, which holds the layout.
const PINNED_HEADER: usize = 4096;

impl NoopContext {
    fn call(&self) -> Result<()> {
        self.faults.call()
    }

    fn operation(&self, stream: &Stream) -> Result<()> {
        self.faults.call()?;
        stream.count();
        Ok(())
    }
}

impl Resources for NoopContext {
    type Stream = Stream;
    type Event = Event;
    type Module = ();
    type Function = ();
    type Graph = usize;
    type BlasHandle = ();
    type DnnHandle = ();
    type Communicator = ();
}

impl Context for NoopContext {
    fn failure(&self) -> Option<DeviceError> {
        self.faults.lost.load(Ordering::Relaxed).then(|| Status::DeviceLost.into())
    }
}

impl Memory for NoopContext {
    fn memory_info(&self) -> Result<MemoryInfo> {
        self.call()?;
        let used = self.used.load(Ordering::Relaxed);
        Ok(MemoryInfo { free: self.memory_bytes.saturating_sub(used), total: self.memory_bytes })
    }

    fn allocate(&self, bytes: u64) -> Result<u64> {
        self.call()?;
        let total = self.memory_bytes;
        let take = |used: u64| used.checked_add(bytes).filter(|&sum| sum <= total);
        if self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() {
            return Err(Status::OutOfMemory.into());
        }
        let address = NEXT_ADDRESS.fetch_add(bytes.next_multiple_of(1 << 16) + (1 << 16), Ordering::Relaxed);
        self.allocations.lock().insert(address, bytes);
        Ok(address)
    }

    fn free(&self, address: u64) -> Result<()> {
        // Not counted as a call that may fail, so that memory can always be freed.
        let bytes = self
            .allocations
            .lock()
            .remove(&address)
            .ok_or_else(|| DeviceError::from(Status::InvalidValue))?;
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        Ok(())
    }

    fn allocate_host(&self, bytes: usize) -> Result<*mut u8> {
        self.call()?;
        let layout =
            bytes.checked_add(PINNED_HEADER).map(|size| Layout::from_size_align(size, PINNED_HEADER));
        let Some(Ok(layout)) = layout else { return Err(Status::OutOfMemory.into()) };
        // SAFETY: the size is not zero.
        let block = unsafe { std::alloc::alloc_zeroed(layout) };
        if block.is_null() {
            return Err(Status::OutOfMemory.into());
        }
        // SAFETY: the header has room for the size, and the memory begins after it.
        unsafe {
            block.cast::<usize>().write(layout.size());
            Ok(block.add(PINNED_HEADER))
        }
    }

    unsafe fn free_host(&self, memory: *mut u8) -> Result<()> {
        // SAFETY: the memory came from `allocate_host`, whose header holds the size.
        unsafe {
            let block = memory.sub(PINNED_HEADER);
            let size = block.cast::<usize>().read();
            if let Ok(layout) = Layout::from_size_align(size, PINNED_HEADER) {
                std::alloc::dealloc(block, layout);
            }
        }
        Ok(())
    }

    unsafe fn register_host(&self, _memory: *mut u8, _bytes: usize) -> Result<()> {
        self.call()
    }

    fn unregister_host(&self, _memory: *mut u8) -> Result<()> {
        Ok(())
    }

    fn allocate_managed(&self, bytes: u64) -> Result<ManagedMemory> {
        let size = usize::try_from(bytes).map_err(|_| Status::OutOfMemory)?;
        let address = self.allocate(bytes)?;
        // The host's side has bytes even though the device's has none.
        let mut memory = Vec::<u8>::new();
        if memory.try_reserve_exact(size).is_err() {
            self.free(address)?;
            return Err(Status::OutOfMemory.into());
        }
        memory.resize(size, 0);
        Ok(ManagedMemory { address, host: memory.as_mut_ptr(), host_owner: Box::new(memory) })
    }

    fn is_allocated(&self, address: u64, bytes: u64) -> bool {
        let allocations = self.allocations.lock();
        let found = allocations.range(..=address).next_back();
        found.is_some_and(|(&start, &size)| bytes <= size && address - start <= size - bytes)
    }
}

impl Transfers for NoopContext {
    unsafe fn copy_host_to_device(
        &self,
        stream: &Stream,
        _dst: u64,
        _src: *const u8,
        _bytes: usize,
    ) -> Result<()> {
        self.operation(stream)
    }

    unsafe fn copy_device_to_host(
        &self,
        stream: &Stream,
        _dst: *mut u8,
        _src: u64,
        _bytes: usize,
    ) -> Result<()> {
        self.operation(stream)
    }

    fn copy_device_to_device(&self, stream: &Stream, _dst: u64, _src: u64, _bytes: u64) -> Result<()> {
        self.operation(stream)
    }

    unsafe fn copy_2d(&self, stream: &Stream, _copy: &Copy2d) -> Result<()> {
        self.operation(stream)
    }

    fn set(&self, stream: &Stream, _dst: u64, _pattern: Pattern, _count: u64) -> Result<()> {
        self.operation(stream)
    }
}

impl Streams for NoopContext {
    fn create_stream(&self, _options: StreamOptions) -> Result<Stream> {
        self.call()?;
        Ok(Stream::default())
    }

    fn priority_range(&self) -> Result<(i32, i32)> {
        Ok((0, 0))
    }

    fn query_stream(&self, _stream: &Stream) -> Result<bool> {
        self.call()?;
        Ok(true)
    }

    fn synchronize_stream(&self, _stream: &Stream) -> Result<()> {
        self.call()
    }

    fn wait_event(&self, _stream: &Stream, _event: &Event) -> Result<()> {
        self.call()
    }

    fn host_callback(&self, _stream: &Stream, callback: Box<dyn FnOnce() + Send>) -> Result<()> {
        self.call()?;
        callback();
        Ok(())
    }
}

impl Events for NoopContext {
    fn create_event(&self, options: EventOptions) -> Result<Event> {
        self.call()?;
        Ok(Event(options.timing.then(Mutex::default)))
    }

    fn record_event(&self, event: &Event, _stream: &Stream) -> Result<()> {
        self.call()?;
        if let Some(time) = &event.0 {
            *time.lock() = Some(Instant::now());
        }
        Ok(())
    }

    fn query_event(&self, _event: &Event) -> Result<bool> {
        #[cfg(test)]
        if self.faults.held.load(Ordering::Relaxed) {
            return Ok(false);
        }
        // Not counted as a call that may fail, because the number of queries depends on time.
        self.failure().map_or(Ok(true), Err)
    }

    fn synchronize_event(&self, _event: &Event) -> Result<()> {
        self.failure().map_or(Ok(()), Err)
    }

    fn elapsed_ms(&self, start: &Event, end: &Event) -> Result<f32> {
        self.call()?;
        Ok(end.time()?.saturating_duration_since(start.time()?).as_secs_f32() * 1e3)
    }
}

impl Modules for NoopContext {
    fn load_module(&self, _image: &[u8]) -> Result<()> {
        self.call()
    }

    fn compile(&self, _source: &str, _options: &[String]) -> Result<Vec<u8>> {
        Err(DeviceError::new(Status::NvrtcNotFound, "the noop device has no compiler"))
    }

    fn function(&self, _module: &(), _name: &str) -> Result<()> {
        self.call()
    }

    fn global(&self, _module: &(), name: &str) -> Result<(u64, u64)> {
        Err(DeviceError::new(Status::NotFound, format!("no variable '{name}'")))
    }

    fn function_attributes(&self, _function: &()) -> Result<FunctionAttributes> {
        self.call()?;
        Ok(FunctionAttributes { threads_per_block_max: 1024, ..FunctionAttributes::default() })
    }

    fn occupancy(&self, _function: &(), threads: u32, _shared: u32) -> Result<u32> {
        Ok(2048 / threads.max(1))
    }

    unsafe fn launch(
        &self,
        stream: &Stream,
        _function: &(),
        _config: &LaunchConfig,
        _parameters: PackedParameters<'_>,
    ) -> Result<()> {
        self.operation(stream)
    }
}

impl Graphs for NoopContext {
    fn begin_capture(&self, stream: &Stream) -> Result<()> {
        self.call()?;
        stream.captured.store(0, Ordering::Relaxed);
        stream.is_capturing.store(true, Ordering::Release);
        Ok(())
    }

    fn end_capture(&self, stream: &Stream) -> Result<usize> {
        let was_capturing = stream.is_capturing.swap(false, Ordering::AcqRel);
        self.call()?;
        if was_capturing {
            Ok(stream.captured.load(Ordering::Relaxed))
        } else {
            Err(Status::IllegalState.into())
        }
    }

    fn end_capture_into(&self, stream: &Stream, graph: &usize) -> Result<()> {
        let captured = self.end_capture(stream)?;
        if captured == *graph { Ok(()) } else { Err(Status::GraphExecUpdateFailure.into()) }
    }

    fn graph_nodes(&self, graph: &usize) -> Result<usize> {
        Ok(*graph)
    }

    fn launch_graph(&self, _graph: &usize, stream: &Stream) -> Result<()> {
        self.operation(stream)
    }
}

impl Collectives for NoopContext {
    fn collectives_id(&self) -> Result<UniqueId> {
        self.call()?;
        Ok(UniqueId([0; UniqueId::BYTES]))
    }

    fn create_communicator(&self, _id: &UniqueId, _ranks: u32, _rank: u32, _timeout: Duration) -> Result<()> {
        self.call()
    }

    fn run_collectives(&self, calls: &[CollectiveCall<'_, (), Stream>]) -> Result<()> {
        calls.iter().try_for_each(|call| self.operation(call.stream))
    }

    fn abort_communicator(&self, _communicator: &(), _why: &DeviceError) {}
}

impl Blas for NoopContext {
    fn create_blas(&self, _math: F32Math) -> Result<()> {
        self.call()
    }

    fn axpy(
        &self,
        _blas: &(),
        stream: &Stream,
        _dtype: DType,
        _n: u64,
        _alpha: f64,
        _x: (u64, i64),
        _y: (u64, i64),
    ) -> Result<()> {
        self.operation(stream)
    }

    fn scal(
        &self,
        _blas: &(),
        stream: &Stream,
        _dtype: DType,
        _n: u64,
        _alpha: f64,
        _x: (u64, i64),
    ) -> Result<()> {
        self.operation(stream)
    }

    fn gemm(&self, _blas: &(), stream: &Stream, _gemm: &Gemm) -> Result<()> {
        self.operation(stream)
    }
}

impl Attends for NoopContext {}

impl Dnn for NoopContext {
    fn create_dnn(&self, _math: F32Math) -> Result<()> {
        self.call()
    }

    fn run_dnn(
        &self,
        _dnn: &(),
        stream: &Stream,
        _operation: DnnOperation<'_>,
        _scaling: Scaling,
    ) -> Result<()> {
        self.operation(stream)
    }
}
