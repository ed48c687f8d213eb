//! Kernels of tensors on a device, and copies of whole tensors to and from a program's buffers.

use tfrt_device::DenseGpuTensor;
use tfrt_device::front::{DeviceBuffer, Stream};
use tfrt_host::{
    Arg, AsyncValueRef, Attr, Chain, DType, Diagnostic, ExecutionContext, KernelRegistry, Promise,
};
use tfrt_tensor::{Accessor, DenseHostTensor, HostTensor, TensorMetadata, TensorShape};

use crate::{from, transferred};

static UPLOAD: Accessor = Accessor::new("tfrt_cuda.tensor.upload");

fn print_metadata(tensor: Arg<DenseGpuTensor>, _chain: Chain, cx: &ExecutionContext) -> Chain {
    cx.host().print(format_args!("{}\n", *tensor));
    Chain
}

fn buffer(tensor: Arg<DenseGpuTensor>, _chain: Chain) -> (DeviceBuffer, Chain) {
    (tensor.buffer().clone(), Chain)
}

/// Parses an attribute with the type of a tensor.
fn tensor_type(text: &str) -> Result<TensorMetadata, Diagnostic> {
    TensorMetadata::from_mlir_name(text)
        .ok_or_else(|| Diagnostic::invalid_argument(format!("'{text}' is not a type such as 1x3xf32")))
}

/// The chain says that the copy is queued. The copy keeps its source for as long as it needs it.
fn upload(
    buffer: Arg<DeviceBuffer>,
    tensor: Arg<HostTensor>,
    stream: Arg<Stream>,
    _chain: Chain,
    name: Attr<str>,
    ty: Attr<str>,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    let expected = tensor_type(ty.0)?;
    if *tensor.metadata() != expected {
        let found = tensor.metadata();
        let message = format!("'{}' must be {expected}, but it is {found}", name.0);
        return Err(Diagnostic::invalid_argument(message));
    }
    let dense = tensor.to_dense(&UPLOAD, cx.host().allocator())?;
    let bytes = dense.size_bytes() as u64;
    from(cx, stream.context(), || stream.copy_from_host(&buffer, 0, dense.buffer(), 0, bytes))?;
    Ok(Chain)
}

/// The chain says that the copy is queued; the tensor comes when it is done.
fn download(
    buffer: Arg<DeviceBuffer>,
    stream: Arg<Stream>,
    _chain: Chain,
    ty: Attr<str>,
    cx: &ExecutionContext,
) -> Result<(AsyncValueRef<HostTensor>, Chain), Diagnostic> {
    let copy = DenseHostTensor::allocate(tensor_type(ty.0)?, cx.host().allocator())?;
    let bytes = copy.size_bytes() as u64;
    let transfer = || stream.copy_to_host(copy.buffer(), 0, &buffer, 0, bytes);
    let done = transferred(cx, from(cx, stream.context(), transfer)?)?;
    let (promise, tensor) = Promise::new();
    done.then(move |done| match done {
        Ok(_) => promise.emplace(HostTensor::from(copy)),
        Err(error) => promise.set_error(error),
    });
    Ok((tensor, Chain))
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
        .reads(&[])
        .doc("Prints a tensor's element type, shape and address.");
    registry
        .add("tfrt_cuda.tensor.buffer", buffer)
        .side_effecting()
        .aliases(0, 0)
        .doc("A tensor's buffer, shared with it.");
    registry
        .add("tfrt_cuda.tensor.upload", upload)
        .attributes(&["name", "type"])
        .side_effecting()
        .mutates(&[0])
        .doc("Queues a copy of a host tensor of this type to a buffer. Errors call the tensor by its name.");
    registry
        .add("tfrt_cuda.tensor.download", download)
        .attributes(&["type"])
        .side_effecting()
        .doc("Queues a copy of a buffer to a new host tensor of this type. The tensor comes when the copy is done.");
}
