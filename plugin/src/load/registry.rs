//! Plug-ins and their devices, by the names that programs and users know.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tfrt_device::hal::{DynBackend, erase};
use tfrt_host::{Diagnostic, ErrorCode};

use super::Devices;
use crate::abi::Layout;
use crate::backend::PluginBackend;

/// Device types that are no plug-in's.
const RESERVED: [&str; 4] = ["auto", "cpu", "cuda", "noop"];

/// A loaded plug-in. Its devices are destroyed when the last of their users is gone; its code stays.
#[derive(Clone)]
pub struct Plugin {
    devices: Arc<Devices>,
    backend: Arc<dyn DynBackend>,
}

impl Plugin {
    /// Loads the library at `path`, has it register its platform, and makes its devices. The library's code runs in this
    /// process: load what you trust.
    ///
    /// # Errors
    /// Why it is no plug-in, which rule it broke, or which call of it failed and how. What was made by then is destroyed.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Diagnostic> {
        let devices = Arc::new(Devices::load(path.as_ref())?);
        let backend = erase(PluginBackend::new(devices.clone()));
        Ok(Self { devices, backend })
    }

    /// The platform's name.
    pub fn name(&self) -> &str {
        &self.devices.platform.name
    }

    /// What its devices are called.
    pub fn device_type(&self) -> &str {
        &self.devices.platform.device_type
    }

    /// Which layout of the API it was built with.
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

/// Loaded plug-ins, each with device types of its own.
#[derive(Debug, Default)]
pub struct PluginRegistry {
    plugins: Vec<(PathBuf, Plugin)>,
}

impl PluginRegistry {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// Loads a plug-in; one that was loaded before is not loaded again.
    ///
    /// # Errors
    /// As [`Plugin::load`], and if its device type is taken.
    pub fn load(&mut self, path: impl AsRef<Path>) -> Result<&Plugin, Diagnostic> {
        let path = path.as_ref();
        // A name without a folder is looked for where the system looks for libraries.
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

    /// All, as they were loaded.
    pub fn plugins(&self) -> impl Iterator<Item = &Plugin> {
        self.plugins.iter().map(|(_, plugin)| plugin)
    }

    /// Finds the devices of a type (`TYPE`), or one of them (`TYPE:0`): the backend, and the number of the device.
    ///
    /// # Errors
    /// [`ErrorCode::NotFound`] with the types there are.
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
                    true => format!("there is no device '{name}', and no plug-in is loaded"),
                    false => format!("there is no device '{name}'; plug-ins have {}", types.join(", ")),
                };
                Err(Diagnostic::new(ErrorCode::NotFound, message))
            }
        }
    }
}
