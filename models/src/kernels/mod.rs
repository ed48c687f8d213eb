//! Kernels `tfrt_mnist.*` of the MNIST programs (the data set, batches of it, initial parameters,
//! trained parameters, progress and reports), `tfrt_image.*` for images, and `tfrt_resnet50.*` of
//! the ResNet-50 programs.
//!
//! They compute no part of a network: the kernels of tensor mathematics do that.

mod batch;
mod data;
mod images;
mod model;
mod parameters;
mod report;
mod resnet50;

use std::fmt;

pub use self::model::{MODEL_WEIGHTS, ModelSignature, ModelWeights};

use tfrt_host::{Diagnostic, ExecutionContext, KernelRegistry};
use tfrt_tensor::{DenseHostTensor, Element, TensorMetadata, TensorShape};

/// The name of the resource with the folder of data files: a [`PathBuf`](std::path::PathBuf).
pub const DATA_DIR: &str = "data_dir";
/// The name of the resource with the weights of a network: a
/// [`SafeTensorsFile`](tfrt_tensor::files::safetensors::SafeTensorsFile).
pub const WEIGHTS: &str = "weights";
/// The name of the resource with the names of classes: a `Vec<String>`.
pub const LABELS: &str = "labels";
/// The name of the resource that shows progress: a [`Progress`]. Without it no progress is shown.
pub const PROGRESS: &str = "progress";

type Show = dyn Fn(u64, u64, &str) + Send + Sync;

/// Shows the progress of a program.
pub struct Progress(Box<Show>);

impl Progress {
    /// Creates a progress display. `show` gets the amount done, the total and what is counted. It
    /// is called often, from compute threads.
    pub fn new(show: impl Fn(u64, u64, &str) + Send + Sync + 'static) -> Self {
        Self(Box::new(show))
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Progress")
    }
}

/// Creates a tensor in host memory whose elements `fill` sets.
fn filled<T: Element>(
    shape: impl Into<TensorShape>,
    cx: &ExecutionContext,
    fill: impl FnOnce(&mut [T]) -> Result<(), Diagnostic>,
) -> Result<DenseHostTensor, Diagnostic> {
    let metadata = TensorMetadata::new(T::DTYPE, shape);
    let mut tensor = DenseHostTensor::allocate_unset(metadata, cx.host().allocator())?;
    fill(tensor.elements_mut()?)?;
    Ok(tensor)
}

/// Adds every kernel of the model programs.
pub fn register(registry: &mut KernelRegistry) {
    data::register(registry);
    images::register(registry);
    model::register(registry);
    resnet50::register(registry);
    batch::register(registry);
    parameters::register(registry);
    report::register(registry);
}
