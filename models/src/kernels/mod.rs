//! Kernels `tfrt_mnist.*` of the MNIST programs (the data set, batches of it, first parameters, trained parameters, progress
//! and reports), `tfrt_image.*` for images, and `tfrt_resnet50.*` of the ResNet-50 programs.
//!
//! They compute nothing that a network computes: that is for the kernels of tensor mathematics.

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

/// Name of the resource that tells kernels where data files are: a [`PathBuf`](std::path::PathBuf).
pub const DATA_DIR: &str = "data_dir";
/// Name of the resource with the weights of a network: a [`SafeTensorsFile`](tfrt_tensor::files::safetensors::SafeTensorsFile).
pub const WEIGHTS: &str = "weights";
/// Name of the resource with what classes are called, one after the other: a `Vec<String>`.
pub const LABELS: &str = "labels";
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

/// A tensor in memory of the host's, all of which `fill` writes.
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
