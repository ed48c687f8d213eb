//! Plug-ins and their devices, by the names that programs and users use.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tfrt_device::hal::{DynBackend, erase};
use tfrt_host::{Diagnostic, ErrorCode};

use super::Devices;
use crate::abi::Layout;
use crate::backend::PluginBackend;

/// Device types that plug-ins cannot have.
const RESERVED: [&str; 4] = ["auto", "cpu", "cuda", "noop"];

/// A loaded plug-in. Its devices are destroyed when their last user is gone; its code stays loaded.
#[derive(Clone)]
pub struct Plugin {
    devices: Arc<Devices>,
    backend: Arc<dyn DynBackend>,
}

impl Plugin {
    /// Loads the library at `path`, calls its registration, and creates its devices. The library's
    /// code runs in this process, so load only trusted libraries.
    ///
    /// # Errors
    /// The reason why it is not a plug-in, the rule that it broke, or its call that failed.
    /// Everything created so far is destroyed.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Diagnostic> {
        let devices = Arc::new(Devices::load(path.as_ref())?);
        let backend = erase(PluginBackend::new(devices.clone()));
        Ok(Self { devices, backend })
    }

    /// Returns the platform's name.
    pub fn name(&self) -> &str {
        &self.devices.platform.name
    }

    /// Returns the type of its devices.
    pub fn device_type(&self) -> &str {
        &self.devices.platform.device_type
    }

    /// Returns the layout of the API that it was built with.
    pub fn layout(&self) -> Layout {
        self.devices.platform.layout
    }

    /// Returns the backend of its devices.
    pub fn backend(&self) -> Arc<dyn DynBackend> {
        self.backend.clone()
    }
}

impl std::fmt::Debug for Plugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "plug-in '{}' ({}), {}", self.name(), self.device_type(), self.layout().name())
    }
}

/// Loaded plug-ins with distinct device types.
#[derive(Debug, Default)]
pub struct PluginRegistry {
    plugins: Vec<(PathBuf, Plugin)>,
}

impl PluginRegistry {
    /// Creates an empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Loads a plug-in, unless it is loaded already.
    ///
    /// # Errors
    /// The errors of [`Plugin::load`]; also if its device type is taken.
    pub fn load(&mut self, path: impl AsRef<Path>) -> Result<&Plugin, Diagnostic> {
        let path = path.as_ref();
        // For a name without a folder, the system's library folders are searched.
        let file = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let known = self.plugins.iter().position(|(known, _)| *known == file);
        let index = match known {
            Some(index) => index,
            None => {
                let plugin = Plugin::load(path)?;
                self.check_type(plugin.device_type(), path)?;
                self.plugins.push((file, plugin));
                self.plugins.len() - 1
            }
        };
        Ok(&self.plugins[index].1)
    }

    fn check_type(&self, device_type: &str, path: &Path) -> Result<(), Diagnostic> {
        let taken = self.plugins().any(|plugin| plugin.device_type() == device_type);
        if taken || RESERVED.contains(&device_type) {
            let message = format!("plug-in '{}': the device type '{device_type}' is taken", path.display());
            return Err(Diagnostic::new(ErrorCode::FailedPrecondition, message));
        }
        Ok(())
    }

    /// Returns all plug-ins in the order in which they were loaded.
    pub fn plugins(&self) -> impl Iterator<Item = &Plugin> {
        self.plugins.iter().map(|(_, plugin)| plugin)
    }

    /// Finds the devices of a type (`TYPE`) or one of them (`TYPE:0`). Returns the backend and the
    /// number of the device.
    ///
    /// # Errors
    /// [`ErrorCode::NotFound`] with the available types.
    pub fn find(&self, name: &str) -> Result<(Arc<dyn DynBackend>, Option<u32>), Diagnostic> {
        let (device_type, only) = match name.rsplit_once(':') {
            Some((device_type, number)) => match number.parse() {
                Ok(number) => (device_type, Some(number)),
                Err(_) => (name, None),
            },
            None => (name, None),
        };
        match self.plugins().find(|plugin| plugin.device_type() == device_type) {
            Some(plugin) => Ok((plugin.backend(), only)),
            None => {
                let types: Vec<_> = self.plugins().map(Plugin::device_type).collect();
                let message = match types.is_empty() {
                    true => format!("there is no device '{name}': no plug-in is loaded"),
                    false => {
                        format!("there is no device '{name}'; the plug-ins provide {}", types.join(", "))
                    }
                };
                Err(Diagnostic::new(ErrorCode::NotFound, message))
            }
        }
    }
}
