//! Devices as plug-ins: the StreamExecutor C API, from the side of a core that loads them.
//!
//! [`PluginRegistry`] loads libraries and makes their devices, which then are devices like any other, behind the device
//! front. [`abi`] holds the API's structs, [`status`] what its calls answer. It never knows a GPU, a kernel or a program.
//!
//! What a plug-in can do to the process is not limited by anything: its code runs in it. Whatever it *says* is checked.
//! What it does beyond that, the API gives no means to catch: writing to memory that is not its own, an exception or a
//! signal that leaves a callback (which ends the process), a call that never returns, a struct whose size claims more
//! than is there.

pub mod abi;
mod backend;
mod load;
pub mod status;

pub use load::{Plugin, PluginRegistry};
