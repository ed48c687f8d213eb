//! The server: answers the calls of other tasks.
//!
//! Each context has a host with its own output and its own share of memory. Programs run on the
//! work queue, never on the threads that move messages.

mod execute;
mod gate;
mod handler;
mod incoming;
mod output;
mod replies;
mod served;
mod service;
mod start;

use std::sync::Arc;

use bytes::Bytes;
use tfrt_host::{AsyncValue, BefFile, Diagnostic, HostContext, ResourceContext};

pub(crate) use gate::Gate;
pub use output::ContextOutput;
pub(crate) use start::max_message_bytes;
pub use start::{Server, ServerOptions};

use crate::DeviceInfo;

/// The language of a program that a client sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// A BEF file, or a kernel graph as MLIR text.
    Kernels,
    /// An op graph as MLIR text, which is compiled.
    Ops,
}

/// A program that was verified and loaded.
#[derive(Debug)]
pub struct LoadedProgram {
    /// The program.
    pub file: Arc<BefFile>,
    /// The function that is executed.
    pub function: String,
    /// What the function takes before the inputs of a call, made once.
    pub prepared: Vec<AsyncValue>,
    /// The devices of the results of the registered function, if the program was compiled.
    pub output_devices: Vec<String>,
}

impl LoadedProgram {
    /// A program whose function of this name is executed as it is.
    pub fn new(function: &str, file: Arc<BefFile>) -> Self {
        Self { file, function: function.to_owned(), prepared: Vec::new(), output_devices: Vec::new() }
    }
}

/// Makes the hosts of contexts. A server has one.
pub trait Backend: Send + Sync {
    /// Makes the host of a new context, which prints to `output` and takes at most
    /// `max_memory_bytes` for tensors.
    ///
    /// # Errors
    /// If the host cannot be made.
    fn open(
        &self,
        output: ContextOutput,
        max_memory_bytes: usize,
    ) -> Result<Arc<dyn ContextHost>, Diagnostic>;

    /// Lists the devices of this task, as `CPU:0` or `GPU:0`.
    fn devices(&self) -> Vec<DeviceInfo>;
}

/// The host of one context.
pub trait ContextHost: Send + Sync {
    /// Returns the host.
    fn host(&self) -> &Arc<HostContext>;

    /// Verifies and loads a program. `name` is that of the function that is registered.
    ///
    /// # Errors
    /// All errors of the program.
    fn load(&self, name: &str, program: &Bytes, language: Language)
    -> Result<LoadedProgram, Vec<Diagnostic>>;

    /// Adds the resources that requests of this host find.
    fn offer(&self, resources: &ResourceContext);
}
