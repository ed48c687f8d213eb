//! The command-line tools as functions, which take arguments and a [`Console`](crate::Console) and
//! return an exit code.
//!
//! Each binary calls one of them with the process's streams; tests call them with buffers. No tool
//! exits the process or touches its standard streams.

mod args;
pub mod bef_executor;
#[cfg(feature = "full")]
pub mod cli;
#[cfg_attr(not(feature = "full"), path = "expected_lite.rs")]
mod expected;
#[cfg(feature = "full")]
mod interrupt;
#[cfg(feature = "full")]
pub mod opt;
#[cfg(feature = "full")]
mod opt_chains;
#[cfg(feature = "full")]
mod parts;
#[cfg(feature = "full")]
mod text_tool;
#[cfg(feature = "full")]
pub mod translate;

#[cfg(feature = "full")]
use std::path::PathBuf;
use std::thread;

use parking_lot::Mutex;
#[cfg(feature = "full")]
use tfrt_host::{KernelRegistry, library::load_kernel_library};

#[cfg(feature = "full")]
use crate::Errors;

/// How a tool ended; the discriminant is the process's exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Outcome {
    /// The tool succeeded.
    Fine,
    /// The program failed, or a file is wrong.
    Failed,
    /// The command line is wrong.
    Usage,
    /// The program was interrupted by SIGINT. Shells use this code too.
    Interrupted,
    /// A process that the tool has started failed with this exit code.
    Child(u8),
}

impl From<Outcome> for std::process::ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(match outcome {
            Outcome::Fine => 0,
            Outcome::Failed => 1,
            Outcome::Usage => 2,
            Outcome::Interrupted => 130,
            Outcome::Child(code) => code,
        })
    }
}

/// Calls a tool on a thread with a large stack. The main thread's stack depends on the system's
/// limits, and deeply nested programs need more than some of them allow.
pub fn on_large_stack(tool: impl FnOnce() -> Outcome + Send) -> Outcome {
    const STACK_BYTES: usize = 16 << 20;
    let tool = Mutex::new(Some(tool));
    let call = || tool.lock().take().map_or(Outcome::Failed, |tool| tool());
    thread::scope(|scope| {
        match thread::Builder::new().name("main".to_owned()).stack_size(STACK_BYTES).spawn_scoped(scope, call)
        {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            // A system that starts no thread may still run a small program.
            Err(_) => call(),
        }
    })
}

/// Registers the kernels of this build and those of shared libraries.
#[cfg(feature = "full")]
fn kernels(libraries: &[PathBuf]) -> Result<KernelRegistry, Errors> {
    let mut kernels = KernelRegistry::new();
    crate::register_kernels(&mut kernels);
    for library in libraries {
        load_kernel_library(&mut kernels, library)?;
    }
    Ok(kernels)
}

/// Returns the operations of all kernels of this build and of shared libraries.
#[cfg(feature = "full")]
fn operations(libraries: &[PathBuf]) -> Result<tfrt_ir::OpRegistry, String> {
    let operations = kernels(libraries).and_then(|kernels| crate::operations(&kernels));
    operations.map_err(|errors| errors.messages())
}
