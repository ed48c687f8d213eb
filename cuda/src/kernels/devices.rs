//! The devices of a host.

use std::sync::Arc;

use parking_lot::Mutex;
use tfrt_host::{Diagnostic, ExecutionContext, HostContext};

use crate::error::{DeviceError, Result, Status};
use crate::front::{Choice, Device, DeviceOptions, Platform};

/// The devices that a host's programs run on: looked for when the first program asks, as the options say.
#[derive(Debug, Default)]
pub struct Devices {
    options: DeviceOptions,
    platform: Mutex<Option<Arc<Platform>>>,
}

impl Devices {
    /// Makes the host's devices those that the options say. Whoever assembles the host calls it, and first: once somebody asked
    /// for the host's devices, by [`Devices::of`] or by making what holds on to them, like the core runtime of eager ops, these
    /// remain, and the options are not looked at.
    pub fn configure(host: &HostContext, options: DeviceOptions) -> Arc<Self> {
        host.shared_context(|| Self { options, platform: Mutex::default() })
    }

    /// The host's.
    pub fn of(host: &HostContext) -> Arc<Self> {
        host.shared_context(Self::default)
    }

    /// The devices.
    ///
    /// # Errors
    /// If those asked for are not there, and why.
    pub fn platform(&self) -> Result<Arc<Platform>> {
        let mut platform = self.platform.lock();
        if let Some(platform) = &*platform {
            return Ok(platform.clone());
        }
        let found = Arc::new(Platform::new(&self.options)?);
        *platform = Some(found.clone());
        Ok(found)
    }

    /// Returns the device that a compiled model runs on: the first one of the backend that was asked for. `None` stands for
    /// host memory, where the choice was left open and there is no device but the CPU.
    ///
    /// # Errors
    /// As [`Devices::platform`].
    pub fn chosen_device(&self) -> Result<Option<Device>> {
        let platform = self.platform()?;
        if self.options.choice == Choice::Auto && platform.backend() == "cpu" {
            return Ok(None);
        }
        platform.device(0).map(Some)
    }

    /// Waits until what programs dropped has been given back to the devices: before somebody looks for leaks. Blocks the
    /// calling thread, so never call it on one that computes.
    pub fn finish_teardown(&self) {
        if let Some(platform) = self.found() {
            platform.finish_teardown();
        }
    }

    /// As [`Platform::take_failures`]: for those who end a program, to find the faults of work that nobody waited for.
    pub fn take_failures(&self) -> Vec<Diagnostic> {
        let failures = self.found().map(|platform| platform.take_failures()).unwrap_or_default();
        let told = |failure: DeviceError| {
            let location = failure.queued.as_ref().and_then(|origin| origin.location.clone());
            let diagnostic = Diagnostic::from(failure).note("no kernel of the program waited for this work");
            Diagnostic { location, ..diagnostic }
        };
        failures.into_iter().map(told).collect()
    }

    /// As [`Platform::abandon`]: for those who end a program that took too long.
    pub fn abandon(&self) {
        if let Some(platform) = self.found() {
            platform.abandon(&DeviceError::new(Status::LaunchTimeout, "the program's time is up"));
        }
    }

    /// The devices, if somebody has asked for them.
    fn found(&self) -> Option<Arc<Platform>> {
        self.platform.lock().clone()
    }
}

/// The devices a kernel sees.
pub(super) fn platform(cx: &ExecutionContext) -> Result<Arc<Platform>, Diagnostic> {
    Ok(Devices::of(cx.host()).platform()?)
}
