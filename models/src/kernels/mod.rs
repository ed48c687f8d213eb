//! Kernels `tfrt_mnist.*` of the MNIST programs: the data set, batches of it, first parameters, trained parameters,
//! progress and reports.
//!
//! They compute nothing that a network computes: that is for the kernels of tensor mathematics.

mod batch;
mod data;
mod parameters;
mod report;

use std::fmt;

use tfrt_host::KernelRegistry;

/// Name of the resource that tells kernels where data files are: a [`PathBuf`](std::path::PathBuf).
pub const DATA_DIR: &str = "data_dir";
/// Name of the resource that shows progress: a [`Progress`]. Without it nothing is shown.
pub const PROGRESS: &str = "progress";

type Show = dyn Fn(u64, u64, &str) + Send + Sync;

/// Shows how far a program has come.
pub struct Progress(Box<Show>);

impl Progress {
    /// `show` is told how much is done, of how much, and what it is. It is called from compute threads, and often.
    pub fn new(show: impl Fn(u64, u64, &str) + Send + Sync + 'static) -> Self {
        Self(Box::new(show))
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Progress")
    }
}

/// Adds every kernel of the model programs.
pub fn register(registry: &mut KernelRegistry) {
    data::register(registry);
    batch::register(registry);
    parameters::register(registry);
    report::register(registry);
}
