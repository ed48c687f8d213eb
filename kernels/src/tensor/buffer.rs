//! Host buffers, and tensors over them.

use tfrt_host::host_buffer::HostBuffer;
use tfrt_host::{Arg, Chain, DType, Diagnostic, ErrorCode, ExecutionContext, KernelRegistry};
use tfrt_tensor::{DenseHostTensor, TensorMetadata, TensorShape};

use super::DENSE_DTYPES;

fn unsigned(number: i64, what: &str) -> Result<usize, Diagnostic> {
    usize::try_from(number).map_err(|_| Diagnostic::invalid_argument(format!("negative {what} {number}")))
}

fn allocate_buffer(size: i64, alignment: i64, cx: &ExecutionContext) -> Result<HostBuffer, Diagnostic> {
    let (size, alignment) = (unsigned(size, "size")?, unsigned(alignment, "alignment")?);
    if !alignment.is_power_of_two() {
        return Err(Diagnostic::invalid_argument(format!("alignment {alignment} is not a power of two")));
    }
    HostBuffer::allocate(size, alignment, cx.host().allocator()).ok_or_else(|| {
        Diagnostic::new(ErrorCode::OutOfMemory, format!("Cannot allocate host buffer of {size} bytes"))
    })
}

fn buffer_slice(buffer: Arg<HostBuffer>, offset: i64, size: i64) -> Result<HostBuffer, Diagnostic> {
    let (offset, size) = (unsigned(offset, "offset")?, unsigned(size, "size")?);
    buffer.slice(offset, size).ok_or_else(|| {
        let message =
            format!("{size} bytes from byte {offset} do not lie within a buffer of {} bytes", buffer.len());
        Diagnostic::new(ErrorCode::OutOfRange, message)
    })
}

fn get_buffer(tensor: Arg<DenseHostTensor>, _chain: Chain) -> (HostBuffer, Chain) {
    (tensor.buffer().clone(), Chain)
}

/// Prints the address without looking at the bytes, so that it needs no guard.
fn print_buffer(buffer: Arg<HostBuffer>, _chain: Chain, cx: &ExecutionContext) -> Chain {
    cx.host().print(format_args!("HostBuffer<pointer={:p}, size={}>\n", buffer.as_ptr(), buffer.len()));
    Chain
}

fn make_tensor(
    kernel: &str,
    dtype: DType,
    buffer: &HostBuffer,
    shape: &TensorShape,
) -> Result<DenseHostTensor, Diagnostic> {
    DenseHostTensor::from_buffer(TensorMetadata::new(dtype, shape.clone()), buffer.clone()).map_err(
        |mut error| {
            error.message = format!("{kernel} failed: {}", error.message);
            error
        },
    )
}

pub(super) fn register(registry: &mut KernelRegistry) {
    for dialect in ["tfrt_dht", "tfrt_dht_sync"] {
        registry
            .add(format!("{dialect}.allocate_buffer"), allocate_buffer)
            .doc("A buffer of so many bytes, aligned to so many.");
        registry
            .add(format!("{dialect}.get_buffer_slice"), buffer_slice)
            .reads(&[])
            .aliases(0, 0)
            .doc("The bytes from an offset on, shared with the buffer they are a part of.");
    }
    registry
        .add("tfrt_dht.get_buffer", get_buffer)
        .reads(&[])
        .aliases(0, 0)
        .doc("The buffer a tensor's elements lie in, shared.");
    registry
        .add("tfrt_dht.print_buffer", print_buffer)
        .reads(&[])
        .side_effecting()
        .doc("Prints a buffer's address and size: `HostBuffer<pointer=0x…, size=…>`.");
    for (dtype, suffix) in DENSE_DTYPES {
        registry
            .add(
                format!("tfrt_dht.make_tensor.{suffix}"),
                move |buffer: Arg<HostBuffer>, shape: Arg<TensorShape>, _chain: Chain| {
                    make_tensor("dht.make_tensor", dtype, &buffer, &shape).map(|tensor| (tensor, Chain))
                },
            )
            .reads(&[])
            .aliases(0, 0)
            .doc("A tensor over the bytes of a buffer, shared; size and alignment must fit.");
        registry
            .add(
                format!("tfrt_dht_sync.make_tensor.{suffix}"),
                move |buffer: Arg<HostBuffer>, shape: Arg<TensorShape>| {
                    make_tensor("tfrt_dht_sync.make_tensor", dtype, &buffer, &shape)
                },
            )
            .reads(&[])
            .aliases(0, 0)
            .doc("A tensor over the bytes of a buffer, shared; size and alignment must fit.");
    }
}
