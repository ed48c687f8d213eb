//! The devices of a host.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use tfrt_host::{Diagnostic, HostContext};

use crate::error::{DeviceError, Result, Status};
use crate::front::{Device, Platform};

/// Opens the devices of a host.
type Open = Box<dyn Fn() -> Result<Platform> + Send + Sync>;

/// The devices that a host's programs run on. They are opened when the first program asks for them.
#[derive(Default)]
pub struct Devices {
    open: Option<Open>,
    platform: Mutex<Option<Arc<Platform>>>,
}

impl Devices {
    /// Sets how the host's devices are opened. The code that assembles the host calls this first.
    /// The call has no effect if the host's devices are already in use, through [`Devices::of`] or
    /// an object that holds them, such as the core runtime of eager ops.
    pub fn configure(
        host: &HostContext,
        open: impl Fn() -> Result<Platform> + Send + Sync + 'static,
    ) -> Arc<Self> {
        host.shared_context(|| Self { open: Some(Box::new(open)), platform: Mutex::default() })
    }

    /// Returns the devices of a host. A host that was never configured has none.
    pub fn of(host: &HostContext) -> Arc<Self> {
        host.shared_context(Self::default)
    }

    /// Returns the platform, opening it if this is the first call that succeeds.
    ///
    /// # Errors
    /// [`Status::NoDevice`] if the host has no devices, and any error of opening them.
    pub fn platform(&self) -> Result<Arc<Platform>> {
        let mut platform = self.platform.lock();
        if let Some(platform) = &*platform {
            return Ok(platform.clone());
        }
        let none = || DeviceError::new(Status::NoDevice, "no devices are configured for this host");
        let open = self.open.as_ref().ok_or_else(none)?;
        let found = Arc::new(open()?);
        *platform = Some(found.clone());
        Ok(found)
    }

    /// Returns the device that a compiled model runs on: the first one of the chosen backend.
    /// Returns `None`, for host memory, if no backend was chosen and the only device is the CPU.
    ///
    /// # Errors
    /// The errors of [`Devices::platform`].
    pub fn chosen_device(&self) -> Result<Option<Device>> {
        let platform = self.platform()?;
        if platform.is_fallback() {
            return Ok(None);
        }
        platform.device(0).map(Some)
    }

    /// Waits until the devices have released all resources that programs dropped, so that leaks can
    /// be counted. Blocks the calling thread, so never call it on a compute thread.
    pub fn finish_teardown(&self) {
        if let Some(platform) = self.found() {
            platform.finish_teardown();
        }
    }

    /// Returns the failures of work that no kernel waited for; see [`Platform::take_failures`].
    /// Tools call this at the end of a program.
    pub fn take_failures(&self) -> Vec<Diagnostic> {
        let failures = self.found().map(|platform| platform.take_failures()).unwrap_or_default();
        let told = |failure: DeviceError| {
            let location = failure.queued.as_ref().and_then(|origin| origin.location.clone());
            let diagnostic = Diagnostic::from(failure).note("no kernel of the program waited for this work");
            Diagnostic { location, ..diagnostic }
        };
        failures.into_iter().map(told).collect()
    }

    /// Stops the devices' work because the program has run out of time; see [`Platform::abandon`].
    pub fn abandon(&self) {
        if let Some(platform) = self.found() {
            platform.abandon(&DeviceError::new(Status::LaunchTimeout, "the program has run out of time"));
        }
    }

    /// Returns the platform, if it was opened.
    fn found(&self) -> Option<Arc<Platform>> {
        self.platform.lock().clone()
    }
}

impl fmt::Debug for Devices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Devices").field("platform", &self.found()).finish_non_exhaustive()
    }
}
