//! The devices of a backend.

use std::fmt;
use std::sync::{Arc, OnceLock, Weak};

use parking_lot::Mutex;

use super::completion::Completions;
use super::context::Context;
use super::managed::AllManaged;
use super::memory_timeline::MemoryTimeline;
use crate::error::{DeviceError, Result, Status};
use crate::hal::{DeviceProperties, DynBackend, Teardown};
use crate::observer::Observer;

/// Options of a platform.
#[derive(Clone, Default)]
pub struct PlatformOptions {
    /// Uses only this device of the backend, as device 0.
    pub only: Option<u32>,
    /// Says that these devices stand in for others that were not found.
    pub is_fallback: bool,
    /// Observes what is done on the devices.
    pub observer: Option<Arc<dyn Observer>>,
    /// Records what the devices' allocators do.
    pub timeline: Option<Arc<MemoryTimeline>>,
    /// Makes all allocators take memory in contiguous segments, even on devices with pages; see
    /// [`Options::in_segments`](crate::allocator::Options::in_segments).
    pub uses_segments: bool,
}

/// The devices of a backend. Dropping the platform waits until the resources of everything dropped
/// before are released ([`Device::finish_teardown`]), so that the process may end. Contexts that
/// are still in use stay valid.
pub struct Platform {
    shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub(super) backend: Arc<dyn DynBackend>,
    /// The backend's number of the first device.
    first: u32,
    count: u32,
    is_fallback: bool,
    pub(super) observer: Option<Arc<dyn Observer>>,
    timeline: Option<Arc<MemoryTimeline>>,
    uses_segments: bool,
    /// The properties of the devices, once they were requested.
    properties: Vec<OnceLock<DeviceProperties>>,
    primary: Mutex<Vec<Option<Context>>>,
    completions: Arc<Mutex<Vec<Weak<Completions>>>>,
    managed: AllManaged,
}

impl Shared {
    /// Returns a device's properties. Reading them takes dozens of driver calls, so they are kept.
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
    /// Makes a platform of all devices of a backend, with default options.
    pub fn new(backend: Arc<dyn DynBackend>) -> Self {
        let count = backend.device_count();
        Self::of_devices(backend, 0, count, &PlatformOptions::default())
    }

    /// Makes a platform of a backend's devices.
    ///
    /// # Errors
    /// [`Status::InvalidDevice`] if the backend has no device [`PlatformOptions::only`].
    pub fn with_options(backend: Arc<dyn DynBackend>, options: &PlatformOptions) -> Result<Self> {
        let found = backend.device_count();
        let (first, count) = match options.only {
            None => (0, found),
            Some(number) if number < found => (number, 1),
            Some(number) => {
                let kind = backend.name();
                let detail = format!("there is no {kind} device {number}; the number of devices is {found}");
                return Err(DeviceError::new(Status::InvalidDevice, detail));
            }
        };
        Ok(Self::of_devices(backend, first, count, options))
    }

    fn of_devices(backend: Arc<dyn DynBackend>, first: u32, count: u32, options: &PlatformOptions) -> Self {
        let shared = Shared {
            backend,
            first,
            count,
            is_fallback: options.is_fallback,
            observer: options.observer.clone(),
            timeline: options.timeline.clone(),
            uses_segments: options.uses_segments,
            properties: vec![OnceLock::new(); count as usize],
            primary: Mutex::new(vec![None; count as usize]),
            completions: Arc::default(),
            managed: AllManaged::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Returns the name of the backend: `cuda`, `cpu`, `noop`, or the device type of a plug-in.
    pub fn backend(&self) -> &str {
        self.shared.backend.name()
    }

    /// Returns whether these devices stand in for others that were not found.
    pub fn is_fallback(&self) -> bool {
        self.shared.is_fallback
    }

    /// Returns the number of devices.
    pub fn device_count(&self) -> u32 {
        self.shared.count
    }

    /// Waits for released resources, as [`Device::finish_teardown`] does.
    pub fn finish_teardown(&self) {
        self.shared.backend.teardown().finish();
    }

    /// Returns the failures of this backend's contexts, including dropped ones. Each failure is
    /// returned once. Waits for queued work, so never call it on a compute thread.
    pub fn take_failures(&self) -> Vec<DeviceError> {
        let failures = self.shared.backend.take_failures();
        // What waits for the end of that work, such as its record in a trace, happens now.
        let completions = self.shared.completions.lock().iter().find_map(Weak::upgrade);
        if let Some(completions) = completions {
            completions.settle();
        }
        failures
    }

    /// Fails all contexts of CPU devices with this error, and stops the kernels that run there.
    /// Does nothing on other devices, because a GPU cannot be stopped.
    pub fn abandon(&self, why: &DeviceError) {
        self.shared.backend.abandon(why);
    }

    /// Returns the device of this number.
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
                let detail =
                    format!("there is no device {ordinal}; the number of devices is {}", self.shared.count);
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
        // Contexts refer to the platform, so this breaks the reference cycle.
        let contexts = std::mem::take(&mut *self.shared.primary.lock());
        drop(contexts);
        self.finish_teardown();
    }
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
    /// Returns the timeline that records its allocators, if there is one.
    pub(super) fn timeline(&self) -> Option<&Arc<MemoryTimeline>> {
        self.0.platform.timeline.as_ref()
    }

    /// Returns whether its allocators must take memory in segments.
    pub(super) fn has_memory_in_segments(&self) -> bool {
        self.0.platform.uses_segments
    }

    /// Returns the unified memory of all devices that can access each other's.
    pub(super) fn managed(&self) -> &AllManaged {
        &self.0.platform.managed
    }

    /// Returns its number.
    pub fn ordinal(&self) -> u32 {
        self.0.ordinal
    }

    /// Returns its properties.
    pub fn properties(&self) -> &DeviceProperties {
        &self.0.properties
    }

    /// Returns the name of the backend: `cuda`, `cpu`, `noop`, or the device type of a plug-in.
    pub fn backend(&self) -> &str {
        self.0.platform.backend.name()
    }

    /// Returns the device's shared context. If it has failed, this creates a new one. On a GPU the
    /// new context fails as well after a fault, because CUDA does not recover a device within a
    /// process.
    ///
    /// # Errors
    /// Any error of the device.
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

    /// Creates a context.
    ///
    /// # Errors
    /// Any error of the device.
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

    /// Waits until the resources of everything dropped so far are released. Dropping memory, a
    /// module or a context never blocks; its resources are released when the work in flight is
    /// done. Blocks the calling thread, so never call it on a compute thread.
    pub fn finish_teardown(&self) {
        self.teardown().finish();
    }

    /// Returns whether copies from this device to another bypass the host.
    ///
    /// # Errors
    /// Any error of the device.
    pub fn can_access_peer(&self, other: &Self) -> Result<bool> {
        let platform = &self.0.platform;
        platform.backend.can_access_peer(platform.first + self.0.ordinal, platform.first + other.0.ordinal)
    }

    /// Returns whether two devices belong to one backend, so that addresses mean the same on both.
    pub(super) fn is_kin(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0.platform, &other.0.platform)
    }

    /// Returns the device's name in a message about one of its contexts.
    pub(super) fn describe_context(&self, context: u64) -> String {
        format!("{} (context {context})", self.0.ordinal)
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} device {}: {}", self.backend(), self.0.ordinal, self.0.properties.name)
    }
}
