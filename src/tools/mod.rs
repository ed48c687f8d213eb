//! The command-line tools as functions: arguments and a [`Console`](crate::Console) in, an exit code out.
//!
//! Each binary calls one of them with the process's streams; tests call them with buffers. None of them ends the
//! process or touches its standard streams itself.

mod args;
pub mod bef_executor;
#[cfg(feature = "full")]
pub mod cli;
#[cfg_attr(not(feature = "full"), path = "expected_lite.rs")]
mod expected;
#[cfg(feature = "full")]
pub mod opt;
#[cfg(feature = "full")]
mod parts;
#[cfg(feature = "full")]
mod text_tool;
#[cfg(feature = "full")]
pub mod translate;

/// How a tool ended, as the process's exit code: 0 fine, 1 the program failed, 2 wrong usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Outcome {
    /// Everything went well.
    Fine = 0,
    /// The input is wrong, or the program failed.
    Failed = 1,
    /// The command line is wrong.
    Usage = 2,
}

impl From<Outcome> for std::process::ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(outcome as u8)
    }
}

/// The operations of all kernels of this build.
#[cfg(feature = "full")]
fn operations() -> Result<tfrt_ir::OpRegistry, String> {
    let mut kernels = tfrt_host::KernelRegistry::new();
    crate::register_kernels(&mut kernels);
    crate::operations(&kernels).map_err(|errors| errors.to_string())
}
