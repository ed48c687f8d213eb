//! The CPU device, which stands in for a GPU.
//!
//! Streams are ordered queues that run asynchronously to the host and to each other, on a pool with
//! one thread for each core. Device addresses are not valid pointers on the host. PTX modules run
//! through `tfrt-ptx`; BLAS calls, DNN calls and attention through `tfrt-math`. A faulty kernel fails its context,
//! as on a GPU, with an error that says why.
//!
//! Device work never runs on a thread of the host, and streams are never ordered unless the program
//! orders them.

mod access;
mod attention;
mod blas;
mod bytes;
mod collectives;
mod context;
mod dnn;
mod event;
mod graph;
mod memory;
mod module;
mod operation;
mod pool;
mod reduction;
mod stream;

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::hal::{Backend, Contexts, DeviceProperties, DynBackend, Teardown, check_emulated, erase};
use tfrt_device::observer::Observer;

use context::CpuContext;
use memory::AddressSpace;
use pool::Pool;

/// Options of the CPU devices.
#[derive(Clone)]
pub struct CpuOptions {
    /// The number of devices.
    pub devices: u32,
    /// The number of compute threads for all devices together; zero for one per core.
    pub threads: usize,
    /// The memory of each device in bytes; zero to divide half of the machine's memory among the
    /// devices.
    pub memory_bytes: u64,
    /// Observes what is done on the devices.
    pub observer: Option<Arc<dyn Observer>>,
    /// Receives what kernels print. Without it, the text is dropped.
    pub printer: Option<Printer>,
    /// Compiles CUDA C++ to PTX. Without it, compilation fails with [`Status::NvrtcNotFound`].
    pub compiler: Option<Compiler>,
}

/// Called with a source and compiler options; returns PTX.
pub type Compiler = Arc<dyn Fn(&str, &[String]) -> Result<Vec<u8>> + Send + Sync>;

/// Called with the text of one `printf`, possibly from several threads at once.
pub type Printer = Arc<dyn Fn(&str) + Send + Sync>;

impl Default for CpuOptions {
    fn default() -> Self {
        Self { devices: 1, threads: 0, memory_bytes: 0, observer: None, printer: None, compiler: None }
    }
}

impl std::fmt::Debug for CpuOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CpuOptions")
            .field("devices", &self.devices)
            .field("threads", &self.threads)
            .field("memory_bytes", &self.memory_bytes)
            .finish_non_exhaustive()
    }
}

/// Creates CPU devices.
///
/// # Errors
/// [`Status::InvalidValue`] for too many devices; [`Status::OutOfMemory`] if their threads cannot
/// be started.
pub fn open(options: &CpuOptions) -> Result<Arc<dyn DynBackend>> {
    check_emulated(options.devices)?;
    Ok(erase(CpuBackend::new(options)?))
}

/// CPU devices.
struct CpuBackend {
    shared: Arc<Shared>,
    teardown: Teardown,
}

/// The state that all CPU devices share.
struct Shared {
    pool: Pool,
    space: AddressSpace,
    observer: Option<Arc<dyn Observer>>,
    /// Pinned host memory, if somebody observes: its size by its address.
    pinned: Mutex<BTreeMap<u64, u64>>,
    printer: Option<Printer>,
    compiler: Option<Compiler>,
    communicators: collectives::Communicators,
    contexts: Contexts<context::Device>,
    memory_bytes: u64,
    devices: u32,
}

impl Shared {
    /// Tells the checker that host memory is pinned.
    fn pin(&self, address: u64, bytes: u64) {
        if let Some(observer) = &self.observer {
            self.pinned.lock().insert(address, bytes);
            observer.host_pinned(address, bytes);
        }
    }

    /// Tells the checker that host memory is not pinned any more.
    fn unpin(&self, address: u64) {
        if let Some(observer) = &self.observer
            && let Some(bytes) = self.pinned.lock().remove(&address)
        {
            observer.host_unpinned(address, bytes);
        }
    }
}

impl CpuBackend {
    /// Creates the devices.
    ///
    /// # Errors
    /// If the system cannot start threads.
    fn new(options: &CpuOptions) -> Result<Self> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if options.threads == 0 { cores } else { options.threads };
        let devices = options.devices.max(1);
        let memory_bytes = match options.memory_bytes {
            0 => system_memory() / 2 / u64::from(devices),
            bytes => bytes,
        };
        let pool = Pool::new(threads).map_err(|error| {
            DeviceError::new(Status::OutOfMemory, format!("the CPU device gets no threads: {error}"))
        })?;
        let (observer, printer) = (options.observer.clone(), options.printer.clone());
        let compiler = options.compiler.clone();
        let space = AddressSpace::default();
        let communicators = collectives::Communicators::default();
        let contexts = Contexts::default();
        let shared = Shared {
            pool,
            space,
            observer,
            pinned: Mutex::default(),
            printer,
            compiler,
            communicators,
            contexts,
            memory_bytes,
            devices,
        };
        // Queued work keeps its resources alive, so releasing a resource never waits.
        Ok(Self { shared: Arc::new(shared), teardown: Teardown::new_prompt() })
    }
}

/// Returns the size of the machine's memory in bytes, or a guess if the system does not report it.
fn system_memory() -> u64 {
    const GUESS: u64 = 8 << 30;
    let Ok(text) = std::fs::read_to_string("/proc/meminfo") else { return GUESS };
    let kilobytes = text.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix("kB"));
    kilobytes.and_then(|number| number.trim().parse::<u64>().ok()).map_or(GUESS, |kb| kb << 10)
}

impl Backend for CpuBackend {
    type Context = CpuContext;

    fn name(&self) -> &'static str {
        "cpu"
    }

    fn device_count(&self) -> u32 {
        self.shared.devices
    }

    fn properties(&self, _ordinal: u32) -> Result<DeviceProperties> {
        let threads = self.shared.pool.threads();
        let unit = if threads == 1 { "thread" } else { "threads" };
        let emulated = DeviceProperties::emulated(
            format!("CPU device ({threads} {unit})"),
            self.shared.memory_bytes,
            format!("tfrt-ptx {}", env!("CARGO_PKG_VERSION")),
            u32::try_from(threads).unwrap_or(u32::MAX),
        );
        Ok(DeviceProperties { cooperative_blocks_max: tfrt_ptx::MAX_BLOCKS_BEGUN as u64, ..emulated })
    }

    fn can_access_peer(&self, _from: u32, _to: u32) -> Result<bool> {
        Ok(true)
    }

    fn create_context(&self, ordinal: u32) -> Result<CpuContext> {
        Ok(CpuContext::new(self.shared.clone(), ordinal))
    }

    fn teardown(&self) -> &Teardown {
        &self.teardown
    }

    fn take_failures(&self) -> Vec<DeviceError> {
        // A stream that is blocked while the pool is idle stays blocked.
        self.shared.pool.quiesce();
        self.shared.contexts.take_failures(context::Device::take_failure)
    }

    fn abandon(&self, why: &DeviceError) {
        for device in self.shared.contexts.alive() {
            device.note(Err(why.clone()));
        }
    }
}
