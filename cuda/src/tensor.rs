//! Kernels of tensors on a device.

use tfrt_device::DenseGpuTensor;
use tfrt_device::front::DeviceBuffer;
use tfrt_host::{Arg, Chain, DType, ExecutionContext, KernelRegistry};
use tfrt_tensor::TensorShape;

fn print_metadata(tensor: Arg<DenseGpuTensor>, _chain: Chain, cx: &ExecutionContext) -> Chain {
    cx.host().print(format_args!("{}\n", *tensor));
    Chain
}

fn buffer(tensor: Arg<DenseGpuTensor>, _chain: Chain) -> (DeviceBuffer, Chain) {
    (tensor.buffer().clone(), Chain)
}

pub(crate) fn register(registry: &mut KernelRegistry) {
    for dtype in [
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::UI8,
        DType::F16,
        DType::BF16,
        DType::F32,
        DType::F64,
    ] {
        registry
            .add(
                format!("tfrt_cuda.tensor.make.{dtype}"),
                move |buffer: Arg<DeviceBuffer>, shape: Arg<TensorShape>, _chain: Chain| {
                    DenseGpuTensor::new(dtype, &shape, &buffer).map(|tensor| (tensor, Chain))
                },
            )
            .side_effecting()
            .aliases(0, 0)
            .doc("A tensor of this shape over a buffer, whose memory it takes over.");
    }
    registry
        .add("tfrt_cuda.tensor.print_metadata", print_metadata)
        .side_effecting()
        .doc("Prints a tensor's element type, shape and address.");
    registry
        .add("tfrt_cuda.tensor.buffer", buffer)
        .side_effecting()
        .aliases(0, 0)
        .doc("A tensor's buffer, shared with it.");
}
