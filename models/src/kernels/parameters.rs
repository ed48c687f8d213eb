//! Parameters of networks: random ones to begin with, and those of the trained network that comes
//! with the programs.

use tfrt_host::host_buffer::HostBuffer;
use tfrt_host::{Attr, Diagnostic, ErrorCode, ExecutionContext, KernelRegistry};
use tfrt_tensor::files::btf::BtfFile;
use tfrt_tensor::{Accessor, DenseHostTensor, TensorShape};

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

pub(super) fn register(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_mnist.random_uniform", random_uniform)
        .attributes(&["bound", "seed", "shape"])
        .doc("An f32 tensor of random numbers between -bound and bound; the same for the same seed.");
    registry.add("tfrt_mnist.trained", trained).doc(
        "The parameters of a trained network of two dense layers, 784 to 128 to 10: weights and bias of the first, \
         weights and bias of the second.",
    );
}
