//! Which devices there are: found at run time, and if there is no CUDA device, why.

use std::fmt;
use std::sync::{Arc, OnceLock, Weak};

use parking_lot::Mutex;

use super::completion::Completions;
use super::context::Context;
use super::managed::AllManaged;
use super::memory_timeline::MemoryTimeline;
use crate::checker::Checker;
use crate::cpu::{CpuBackend, CpuOptions, Printer};
use crate::error::{DeviceError, Result, Status};
use crate::hal::{self, DeviceProperties, DynBackend, Teardown};
use crate::noop::{NoopBackend, NoopFault};
use crate::observer::Observer;

/// Which devices programs run on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// CUDA devices if there are any, else CPU devices.
    #[default]
    Auto,
    /// CPU devices.
    Cpu,
    /// CUDA devices, or an error that says why there are none. With a number, that one alone.
    Cuda(Option<u32>),
    /// Devices that do nothing.
    Noop,
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

/// How devices are looked for and made.
#[derive(Clone)]
pub struct DeviceOptions {
    /// Which.
    pub choice: Choice,
    /// How many CPU (or noop) devices there are.
    pub devices: u32,
    /// Memory of each CPU device in bytes; zero for a share of the machine's.
    pub memory_bytes: u64,
    /// Threads that compute for the CPU devices; zero for one a core.
    pub threads: usize,
    /// What goes wrong on noop devices.
    pub fault: NoopFault,
    /// Devices from elsewhere, in place of those of `choice`, and which of them if not all.
    backend: Option<(Arc<dyn DynBackend>, Option<u32>)>,
    /// Who watches what is done on CPU devices.
    pub(crate) observer: Option<Arc<dyn Observer>>,
    /// Who is given what kernels of CPU devices print.
    printer: Option<Printer>,
    /// Who keeps what allocators do.
    pub(super) timeline: Option<Arc<MemoryTimeline>>,
    /// Whether allocators take memory in segments even where a device has it by the page.
    pub(super) in_segments: bool,
}

impl DeviceOptions {
    /// So many devices of this choice.
    pub fn new(choice: Choice, devices: u32) -> Self {
        Self { choice, devices, ..Self::default() }
    }

    /// The devices of a backend from elsewhere; with a number, that one alone.
    pub fn of(backend: Arc<dyn DynBackend>, only: Option<u32>) -> Self {
        Self { backend: Some((backend, only)), ..Self::default() }
    }

    /// Has a checker watch what is done on CPU devices; on others it sees nothing.
    #[must_use]
    pub fn checked_by(mut self, checker: Arc<Checker>) -> Self {
        self.observer = Some(checker);
        self
    }

    /// Gives somebody what kernels print on CPU devices (`printf`): the text of one call, from whichever thread runs it. A
    /// GPU's driver prints to standard output itself.
    #[must_use]
    pub fn printing_to(mut self, printer: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.printer = Some(Arc::new(printer));
        self
    }

    /// As [`DeviceOptions::printing_to`], if nobody was named there.
    #[must_use]
    pub fn or_printing_to(mut self, printer: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.printer.get_or_insert_with(|| Arc::new(printer));
        self
    }

    /// Has a timeline keep what the devices' allocators do.
    #[must_use]
    pub fn recorded_by(mut self, timeline: Arc<MemoryTimeline>) -> Self {
        self.timeline = Some(timeline);
        self
    }

    /// Has all allocators take memory in segments, even where a device has it by the page: see
    /// [`Options::in_segments`](crate::allocator::Options::in_segments).
    #[must_use]
    pub fn with_memory_in_segments(mut self) -> Self {
        self.in_segments = true;
        self
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
            backend: None,
            observer: None,
            printer: None,
            timeline: None,
            in_segments: false,
        }
    }
}

impl fmt::Debug for DeviceOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceOptions")
            .field("choice", &self.choice)
            .field("devices", &self.devices)
            .field("backend", &self.backend.as_ref().map(|(backend, _)| backend.name()))
            .finish_non_exhaustive()
    }
}

/// Why there are no CUDA devices.
pub type Absence = DeviceError;

/// The devices of a process, or of a test. Dropping them waits until everything that was dropped before has been given back
/// ([`Device::finish_teardown`]), so that a process may end then; contexts that somebody still has go on.
pub struct Platform {
    shared: Arc<Shared>,
    absence: Option<Absence>,
}

pub(super) struct Shared {
    pub(super) backend: Arc<dyn DynBackend>,
    /// The backend's number of our first device.
    first: u32,
    count: u32,
    pub(super) observer: Option<Arc<dyn Observer>>,
    timeline: Option<Arc<MemoryTimeline>>,
    in_segments: bool,
    /// What the devices are, once somebody has asked.
    properties: Vec<OnceLock<DeviceProperties>>,
    primary: Mutex<Vec<Option<Context>>>,
    completions: Arc<Mutex<Vec<Weak<Completions>>>>,
    managed: AllManaged,
}

impl Shared {
    /// A device's properties, which take some dozens of calls of a driver to find out.
    fn properties(&self, ordinal: u32) -> Result<DeviceProperties> {
        let known = &self.properties[ordinal as usize];
        match known.get() {
            Some(properties) => Ok(properties.clone()),
            None => {
                let properties = self.backend.properties(self.first + ordinal)?;
                Ok(known.get_or_init(|| properties).clone())
            }
        }
    }
}

impl Platform {
    /// Looks for devices.
    ///
    /// # Errors
    /// If the devices asked for are not there, and why.
    pub fn new(options: &DeviceOptions) -> Result<Self> {
        let mut absence = None;
        let all = |backend: Arc<dyn DynBackend>| {
            let count = backend.device_count();
            (backend, 0, count)
        };
        let (backend, first, count) = match options.choice {
            _ if let Some((backend, only)) = &options.backend => {
                let (first, count) = chosen(backend.name(), backend.device_count(), *only)?;
                (backend.clone(), first, count)
            }
            Choice::Noop => {
                check_emulated(options)?;
                all(hal::erase(NoopBackend::new(options.devices, options.memory_bytes, options.fault)))
            }
            Choice::Cpu => all(cpu(options)?),
            Choice::Auto => match crate::gpu::find() {
                Ok(backend) => all(backend),
                Err(why) => {
                    absence = Some(why);
                    all(cpu(options)?)
                }
            },
            Choice::Cuda(which) => {
                let backend = crate::gpu::find()?;
                let (first, count) = chosen("CUDA", backend.device_count(), which)?;
                (backend, first, count)
            }
        };
        let shared = Shared {
            backend,
            first,
            count,
            observer: options.observer.clone(),
            timeline: options.timeline.clone(),
            in_segments: options.in_segments,
            properties: vec![OnceLock::new(); count as usize],
            primary: Mutex::new(vec![None; count as usize]),
            completions: Arc::default(),
            managed: AllManaged::default(),
        };
        Ok(Self { shared: Arc::new(shared), absence })
    }

    /// `cuda`, `cpu` or `noop`, or what a backend from elsewhere calls its kind of device.
    pub fn backend(&self) -> &str {
        self.shared.backend.name()
    }

    /// Why CPU devices stand in, if nobody asked for them.
    pub fn absence(&self) -> Option<&Absence> {
        self.absence.as_ref()
    }

    /// How many devices there are.
    pub fn device_count(&self) -> u32 {
        self.shared.count
    }

    /// As [`Device::finish_teardown`].
    pub fn finish_teardown(&self) {
        self.shared.backend.teardown().finish();
    }

    /// What contexts of this backend failed with, gone or not, each told once. Waits for queued work, so never call it on a
    /// thread that computes.
    pub fn take_failures(&self) -> Vec<DeviceError> {
        self.shared.backend.take_failures()
    }

    /// Ends the lives of all contexts of CPU devices for this reason, and the kernels that run there. Elsewhere it does
    /// nothing: a GPU cannot be stopped.
    pub fn abandon(&self, why: &DeviceError) {
        self.shared.backend.abandon(why);
    }

    /// A device.
    ///
    /// # Errors
    /// [`Status::InvalidDevice`] if there is none of this number.
    pub fn device(&self, ordinal: i64) -> Result<Device> {
        match u32::try_from(ordinal) {
            Ok(ordinal) if ordinal < self.shared.count => {
                let properties = self.shared.properties(ordinal)?;
                let inner = DeviceInner { platform: self.shared.clone(), ordinal, properties };
                Ok(Device(Arc::new(inner)))
            }
            _ => {
                let detail = format!("there is no device {ordinal}, but {} in all", self.shared.count);
                Err(DeviceError::new(Status::InvalidDevice, detail))
            }
        }
    }
}

impl fmt::Debug for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Platform")
            .field("backend", &self.backend())
            .field("devices", &self.device_count())
            .finish_non_exhaustive()
    }
}

impl Drop for Platform {
    fn drop(&mut self) {
        // Contexts know the platform; this ends the circle.
        let contexts = std::mem::take(&mut *self.shared.primary.lock());
        drop(contexts);
        self.finish_teardown();
    }
}

/// CPU or noop devices at most.
const DEVICES_MAX: u32 = 1024;

/// That there may be so many CPU or noop devices.
fn check_emulated(options: &DeviceOptions) -> Result<()> {
    let count = options.devices;
    if count > DEVICES_MAX {
        let detail = format!("there are at most {DEVICES_MAX} devices that are emulated, not {count}");
        return Err(DeviceError::new(Status::InvalidValue, detail));
    }
    Ok(())
}

/// The first device and how many there are: all, or one.
fn chosen(kind: &str, found: u32, only: Option<u32>) -> Result<(u32, u32)> {
    match only {
        None => Ok((0, found)),
        Some(number) if number < found => Ok((number, 1)),
        Some(number) => {
            let detail = format!("there is no {kind} device {number}, but {found} in all");
            Err(DeviceError::new(Status::InvalidDevice, detail))
        }
    }
}

/// CPU devices as a backend: for those who serve them to others, and check what the front would.
///
/// # Errors
/// If there are to be too many devices, or their threads cannot be started.
pub fn cpu(options: &DeviceOptions) -> Result<Arc<dyn DynBackend>> {
    check_emulated(options)?;
    let options = CpuOptions {
        devices: options.devices,
        threads: options.threads,
        memory_bytes: options.memory_bytes,
        observer: options.observer.clone(),
        printer: options.printer.clone(),
    };
    Ok(hal::erase(CpuBackend::new(&options)?))
}

/// One device.
#[derive(Clone)]
pub struct Device(Arc<DeviceInner>);

struct DeviceInner {
    platform: Arc<Shared>,
    ordinal: u32,
    properties: DeviceProperties,
}

impl Device {
    /// Who keeps what its allocators do.
    pub(super) fn timeline(&self) -> Option<&Arc<MemoryTimeline>> {
        self.0.platform.timeline.as_ref()
    }

    /// Whether its allocators were asked to take memory in segments.
    pub(super) fn has_memory_in_segments(&self) -> bool {
        self.0.platform.in_segments
    }

    /// The unified memory of all devices that reach each other's.
    pub(super) fn managed(&self) -> &AllManaged {
        &self.0.platform.managed
    }

    /// Its number.
    pub fn ordinal(&self) -> u32 {
        self.0.ordinal
    }

    /// What it is.
    pub fn properties(&self) -> &DeviceProperties {
        &self.0.properties
    }

    /// `cuda`, `cpu` or `noop`, or what a backend from elsewhere calls its kind of device.
    pub fn backend(&self) -> &str {
        self.0.platform.backend.name()
    }

    /// The context that all who ask for it share. When the last one has failed, a new one.
    ///
    /// # Errors
    /// The device's, if it gives no context.
    pub fn primary_context(&self) -> Result<Context> {
        let mut primary = self.0.platform.primary.lock();
        let slot = primary.get_mut(self.0.ordinal as usize);
        let slot = slot.ok_or_else(|| DeviceError::from(Status::NotInitialized))?;
        if let Some(context) = slot.as_ref().filter(|context| context.failure().is_none()) {
            return Ok(context.clone());
        }
        let context = self.create_context()?;
        *slot = Some(context.clone());
        Ok(context)
    }

    /// A context of its own.
    ///
    /// # Errors
    /// The device's.
    pub fn create_context(&self) -> Result<Context> {
        let platform = &self.0.platform;
        let hal = platform.backend.create_context(platform.first + self.0.ordinal)?;
        let context =
            Context::new(self.clone(), hal, platform.observer.clone(), platform.completions.clone());
        let mut completions = platform.completions.lock();
        completions.retain(|known| known.strong_count() > 0);
        completions.push(context.completions());
        Ok(context)
    }

    pub(super) fn teardown(&self) -> &Teardown {
        self.0.platform.backend.teardown()
    }

    /// Waits until everything of this backend that was dropped has been given back. What is dropped with work in flight
    /// (memory, modules, contexts) goes when the work is done, and whoever drops it goes on. Blocks the calling thread, so
    /// never call it on one that computes.
    pub fn finish_teardown(&self) {
        self.teardown().finish();
    }

    /// Whether copies from this device to another go without the host.
    ///
    /// # Errors
    /// The device's.
    pub fn can_access_peer(&self, other: &Self) -> Result<bool> {
        let platform = &self.0.platform;
        platform.backend.can_access_peer(platform.first + self.0.ordinal, platform.first + other.0.ordinal)
    }

    /// Whether two devices are of one backend, so that their addresses mean the same.
    pub(super) fn is_kin(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0.platform, &other.0.platform)
    }

    /// The device in a message about one of its contexts.
    pub(super) fn describe_context(&self, context: u64) -> String {
        format!("{} (context {context})", self.0.ordinal)
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} device {}: {}", self.backend(), self.0.ordinal, self.0.properties.name)
    }
}
