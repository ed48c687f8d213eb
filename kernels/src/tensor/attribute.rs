//! Constant tensors of a program as tensors.

use tfrt_host::bef::DenseAttribute;
use tfrt_host::host_buffer::HostBuffer;
use tfrt_host::{Attr, Diagnostic, ErrorCode, ExecutionContext, KernelRegistry};
use tfrt_tensor::{DenseHostTensor, SharedAllocator, TensorMetadata, TensorShape, with_element};

/// A tensor of the elements of a `dense<…>` attribute, in memory of its own.
///
/// # Errors
/// InvalidArgument for an impossible shape; OutOfMemory.
pub fn dense_from_attribute(
    attribute: &DenseAttribute<'_>,
    allocator: &SharedAllocator,
) -> Result<DenseHostTensor, Diagnostic> {
    let metadata = TensorMetadata::new(attribute.dtype, TensorShape::from_signed(attribute.shape)?);
    let align = with_element!(attribute.dtype, |T| align_of::<T>(), else 1);
    let buffer = HostBuffer::copy_from_slice(attribute.elements, align, allocator).ok_or_else(|| {
        Diagnostic::new(ErrorCode::OutOfMemory, format!("Cannot allocate tensor {metadata}"))
    })?;
    DenseHostTensor::from_buffer(metadata, buffer)
}

fn constant(value: Attr<DenseAttribute<'_>>, cx: &ExecutionContext) -> Result<DenseHostTensor, Diagnostic> {
    dense_from_attribute(&value.0, cx.host().allocator())
}

pub(super) fn register(registry: &mut KernelRegistry) {
    for name in ["tfrt_test.const_dense_attr", "tfrt_test.sync.const_dense_attr"] {
        registry.add(name, constant).doc("A dense tensor of the elements of a constant.");
    }
}
