//! Choosing devices: the one place that knows every backend.

use std::fmt;
use std::sync::Arc;

use tfrt_compiler::lower::cuda::Generator;
use tfrt_cpu::{CpuOptions, Printer};
use tfrt_device::checker::Checker;
use tfrt_device::error::DeviceError;
use tfrt_device::front::{MemoryTimeline, Platform, PlatformOptions};
use tfrt_device::hal::DynBackend;
use tfrt_device::noop::{self, NoopFault};
use tfrt_device::observer::Observer;

/// Returns what compiles the kernels that are generated for a model: NVRTC.
///
/// # Errors
/// Why it is not there.
pub(crate) fn kernel_generator() -> Result<Generator, DeviceError> {
    tfrt_gpu::find_nvrtc()?;
    Ok(Generator::new(|source, options| {
        tfrt_gpu::compile_ptx(source, options).map_err(|error| error.to_string())
    }))
}

/// The devices that programs run on.
#[derive(Clone, Default)]
pub enum Choice {
    /// CUDA devices if there are any, else CPU devices.
    #[default]
    Auto,
    /// CPU devices.
    Cpu,
    /// CUDA devices, or an error that says why there are none. With a number, that device alone.
    Cuda(Option<u32>),
    /// Devices that do nothing.
    Noop,
    /// The devices of another backend, such as a plug-in's. With a number, that device alone.
    Backend(Arc<dyn DynBackend>, Option<u32>),
}

impl std::str::FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "cuda" | "gpu" => Ok(Self::Cuda(None)),
            "noop" => Ok(Self::Noop),
            _ => text
                .strip_prefix("cuda:")
                .or_else(|| text.strip_prefix("gpu:"))
                .and_then(|number| number.parse().ok())
                .map(|number| Self::Cuda(Some(number)))
                .ok_or_else(|| format!("'{text}' is none of auto, cpu, cuda, cuda:N, noop")),
        }
    }
}

impl fmt::Debug for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("Auto"),
            Self::Cpu => f.write_str("Cpu"),
            Self::Cuda(only) => f.debug_tuple("Cuda").field(only).finish(),
            Self::Noop => f.write_str("Noop"),
            Self::Backend(backend, only) => {
                f.debug_tuple("Backend").field(&backend.name()).field(only).finish()
            }
        }
    }
}

/// How devices are found and made.
#[derive(Clone)]
pub struct DeviceOptions {
    /// Which devices.
    pub choice: Choice,
    /// The number of CPU or noop devices.
    pub devices: u32,
    /// Bytes of memory of each CPU or noop device; zero for a share of the machine's.
    pub memory_bytes: u64,
    /// The number of threads that compute for the CPU devices; zero for one per core.
    pub threads: usize,
    /// What goes wrong on noop devices.
    pub fault: NoopFault,
    observer: Option<Arc<dyn Observer>>,
    printer: Option<Printer>,
    timeline: Option<Arc<MemoryTimeline>>,
    uses_segments: bool,
    gpu: tfrt_gpu::GpuOptions,
    announce: Option<Announce>,
}

/// Is told which devices [`Choice::Auto`] selects.
type Announce = Arc<dyn Fn(&str) + Send + Sync>;

impl DeviceOptions {
    /// Returns options for this many devices of a choice.
    pub fn new(choice: Choice, devices: u32) -> Self {
        Self { choice, devices, ..Self::default() }
    }

    /// Has a checker observe what is done on CPU devices. On other devices it sees only the calls
    /// of the host.
    #[must_use]
    pub fn checked_by(mut self, checker: Arc<Checker>) -> Self {
        self.observer = Some(checker);
        self
    }

    /// Calls `printer` with what kernels print on CPU devices (`printf`): the text of one call, on
    /// the thread that runs it. A GPU's driver prints to standard output itself.
    #[must_use]
    pub fn printing_to(mut self, printer: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.printer = Some(Arc::new(printer));
        self
    }

    /// Sets the printer as [`DeviceOptions::printing_to`] does, unless there is one already.
    #[must_use]
    pub fn or_printing_to(mut self, printer: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.printer.get_or_insert_with(|| Arc::new(printer));
        self
    }

    /// Has a timeline record what the devices' allocators do.
    #[must_use]
    pub fn recorded_by(mut self, timeline: Arc<MemoryTimeline>) -> Self {
        self.timeline = Some(timeline);
        self
    }

    /// Makes all allocators take memory in segments, even where a device has it by the page: see
    /// [`Options::in_segments`](tfrt_device::allocator::Options::in_segments).
    #[must_use]
    pub fn with_memory_in_segments(mut self) -> Self {
        self.uses_segments = true;
        self
    }

    /// Lets CUDA devices round the operands of f32 products and convolutions to TF32; see
    /// [`tfrt_gpu::GpuOptions::allows_tf32`]. Other devices ignore it.
    #[must_use]
    pub fn with_tf32(mut self) -> Self {
        self.gpu.allows_tf32 = true;
        self
    }

    /// Lets the kernels of convolutions on CUDA devices follow from shapes alone; see
    /// [`tfrt_gpu::GpuOptions::is_deterministic`]. Other devices ignore it.
    #[must_use]
    pub fn with_deterministic_kernels(mut self) -> Self {
        self.gpu.is_deterministic = true;
        self
    }

    /// Calls `announce` when [`Choice::Auto`] has selected devices, with their name, and with the
    /// reason if these are not CUDA devices.
    #[must_use]
    pub fn announcing(mut self, announce: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.announce = Some(Arc::new(announce));
        self
    }

    /// Finds or makes the devices.
    ///
    /// # Errors
    /// Why the devices asked for are not there.
    pub fn open(&self) -> Result<Platform, DeviceError> {
        let mut is_fallback = false;
        let (backend, only) = match &self.choice {
            Choice::Noop => (noop::open(self.devices, self.memory_bytes, self.fault)?, None),
            Choice::Cpu => (self.cpu()?, None),
            Choice::Auto => {
                let found = tfrt_gpu::find_with(self.gpu);
                is_fallback = found.is_err();
                self.announce_auto(&found);
                (found.or_else(|_| self.cpu())?, None)
            }
            Choice::Cuda(only) => (tfrt_gpu::find_with(self.gpu)?, *only),
            Choice::Backend(backend, only) => (backend.clone(), *only),
        };
        let options = PlatformOptions {
            only,
            is_fallback,
            observer: self.observer.clone(),
            timeline: self.timeline.clone(),
            uses_segments: self.uses_segments,
        };
        Platform::with_options(backend, &options)
    }

    fn announce_auto(&self, found: &Result<Arc<dyn DynBackend>, DeviceError>) {
        let Some(announce) = &self.announce else { return };
        match found {
            Ok(backend) => {
                let name =
                    backend.properties(0).map_or_else(|_| "CUDA device 0".to_owned(), |device| device.name);
                announce(&format!("device: {name}"));
            }
            Err(why) => announce(&format!("device: the CPU, because no CUDA device was found ({why})")),
        }
    }

    fn cpu(&self) -> Result<Arc<dyn DynBackend>, DeviceError> {
        tfrt_cpu::open(&CpuOptions {
            devices: self.devices,
            threads: self.threads,
            memory_bytes: self.memory_bytes,
            observer: self.observer.clone(),
            printer: self.printer.clone(),
            compiler: Some(Arc::new(tfrt_gpu::compile_ptx)),
        })
    }
}

impl Default for DeviceOptions {
    fn default() -> Self {
        Self {
            choice: Choice::Auto,
            devices: 1,
            memory_bytes: 0,
            threads: 0,
            fault: NoopFault::None,
            observer: None,
            printer: None,
            timeline: None,
            uses_segments: false,
            gpu: tfrt_gpu::GpuOptions::default(),
            announce: None,
        }
    }
}

impl fmt::Debug for DeviceOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceOptions")
            .field("choice", &self.choice)
            .field("devices", &self.devices)
            .finish_non_exhaustive()
    }
}
