//! Parameters of networks: random ones to begin with, and those of the trained network that comes
//! with the programs.

use tfrt_host::host_buffer::HostBuffer;
use tfrt_host::{Attr, Diagnostic, ErrorCode, ExecutionContext, KernelRegistry};
use tfrt_tensor::files::btf::BtfFile;
use tfrt_tensor::{Accessor, DenseHostTensor, TensorShape};

use super::filled;
use crate::random::Random;

static TRAINED: Accessor = Accessor::new("tfrt_mnist.trained");

/// The files in which the trained network is kept, in the order of the kernel's results.
const FILES: [(&str, &[u8]); 4] = [
    ("w1.btf", include_bytes!("../../mnist/parameters/w1.btf")),
    ("b1.btf", include_bytes!("../../mnist/parameters/b1.btf")),
    ("w2.btf", include_bytes!("../../mnist/parameters/w2.btf")),
    ("b2.btf", include_bytes!("../../mnist/parameters/b2.btf")),
];

fn random_uniform(
    bound: Attr<f32>,
    seed: Attr<i64>,
    shape: Attr<[i64]>,
    cx: &ExecutionContext,
) -> Result<DenseHostTensor, Diagnostic> {
    let shape = TensorShape::from_signed(shape.0)?;
    let mut tensor = DenseHostTensor::full(shape, 0.0f32, cx.host().allocator())?;
    let mut random = Random::new(seed.0.cast_unsigned(), 0);
    for element in tensor.elements_mut::<f32>()? {
        *element = (2.0 * random.unit() - 1.0) * bound.0;
    }
    Ok(tensor)
}

fn read((name, bytes): (&str, &[u8]), cx: &ExecutionContext) -> Result<DenseHostTensor, Diagnostic> {
    let allocator = cx.host().allocator();
    let buffer = HostBuffer::copy_from_slice(bytes, align_of::<u64>(), allocator)
        .ok_or_else(|| Diagnostic::new(ErrorCode::OutOfMemory, format!("cannot allocate {name}")))?;
    BtfFile::from_buffer(name, buffer)?.tensor(0)?.dense()?.deep_copy(&TRAINED, allocator)
}

fn trained(
    cx: &ExecutionContext,
) -> Result<(DenseHostTensor, DenseHostTensor, DenseHostTensor, DenseHostTensor), Diagnostic> {
    let [w1, b1, w2, b2] = FILES.map(|file| read(file, cx));
    Ok((w1?, b1?, w2?, b2?))
}

/// Returns a matrix as a filter of single pixels: outputs, 1, 1, inputs.
fn as_filter(matrix: &DenseHostTensor, cx: &ExecutionContext) -> Result<DenseHostTensor, Diagnostic> {
    let [inputs, outputs] = matrix.shape().fixed::<2>()?.0;
    let numbers = matrix.read::<f32>(&TRAINED)?;
    filled([outputs, 1, 1, inputs], cx, |filter: &mut [f32]| {
        for (output, row) in filter.chunks_exact_mut(inputs.max(1)).enumerate() {
            row.iter_mut().enumerate().for_each(|(input, to)| *to = numbers[input * outputs + output]);
        }
        Ok(())
    })
}

fn trained_filters(
    cx: &ExecutionContext,
) -> Result<(DenseHostTensor, DenseHostTensor, DenseHostTensor, DenseHostTensor), Diagnostic> {
    let (w1, b1, w2, b2) = trained(cx)?;
    Ok((as_filter(&w1, cx)?, b1, as_filter(&w2, cx)?, b2))
}

pub(super) fn register(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_mnist.random_uniform", random_uniform)
        .attributes(&["bound", "seed", "shape"])
        .doc("An f32 tensor of random numbers between -bound and bound; the same for the same seed.");
    registry.add("tfrt_mnist.trained", trained).doc(
        "The parameters of a trained network of two dense layers, 784 to 128 to 10: weights and bias of the first, \
         weights and bias of the second.",
    );
    registry.add("tfrt_mnist.trained_filters", trained_filters).doc(
        "The parameters that `tfrt_mnist.trained` gives, with weights as filters of one pixel: outputs, 1, 1, inputs.",
    );
}
