//! Loads plug-ins. Each step from a file to devices is validated, and undone in reverse order after
//! any failure.

#![expect(unsafe_code, reason = "a plug-in's functions and structs are its own word")]

mod calls;
mod devices;
mod platform;
mod registry;
mod slot;
mod source;

pub(crate) use calls::Calls;
pub(crate) use devices::{Devices, Handle};
pub(crate) use platform::Platform;
pub(crate) use source::{Replacement, Source};

pub use registry::{Plugin, PluginRegistry};
