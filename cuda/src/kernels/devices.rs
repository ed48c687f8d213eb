//! The devices of a host.

use std::sync::Arc;

use parking_lot::Mutex;
use tfrt_host::{Diagnostic, ExecutionContext, HostContext};

use crate::error::Result;
use crate::front::{DeviceOptions, Platform};

/// The devices that a host's programs run on: looked for when the first program asks, as the options say.
#[derive(Debug, Default)]
pub struct Devices {
    options: DeviceOptions,
    platform: Mutex<Option<Arc<Platform>>>,
}

impl Devices {
    /// Makes the host's devices those that the options say, if none were asked for yet. Whoever assembles the host calls it.
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

    /// Waits until what programs dropped has been given back to the devices: before somebody looks for leaks. Blocks the
    /// calling thread, so never call it on one that computes.
    pub fn finish_teardown(&self) {
        let platform = self.platform.lock().clone();
        if let Some(platform) = platform {
            platform.finish_teardown();
        }
    }
}

/// The devices a kernel sees.
pub(super) fn platform(cx: &ExecutionContext) -> Result<Arc<Platform>, Diagnostic> {
    Ok(Devices::of(cx.host()).platform()?)
}
