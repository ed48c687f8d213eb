//! Devices as plug-ins: the StreamExecutor C API, from the side of a core that loads plug-ins.
//!
//! [`PluginRegistry`] loads libraries and creates their devices, which programs use like any other
//! through the device front. [`abi`] contains the API's structs, [`status`] the results of its
//! calls. The crate knows no GPU, no kernel and no program.
//!
//! A plug-in's code runs in this process, and nothing limits what it can do. Everything it
//! *returns* is checked. The API gives no means to catch more: writes to memory that is not its
//! own, an exception or a signal that leaves a callback (which ends the process), a call that never
//! returns, or a struct whose stated size exceeds its memory.

pub mod abi;
mod backend;
mod load;
pub mod status;

pub use load::{Plugin, PluginRegistry};
