//! Tensors from the constants of a program.

use tfrt_host::bef::DenseAttribute;
use tfrt_host::host_buffer::HostBuffer;
use tfrt_host::{Diagnostic, ErrorCode};

use crate::{DenseHostTensor, SharedAllocator, TensorMetadata, TensorShape, with_element};

/// Returns a tensor with the elements of a `dense<…>` attribute, copied into a new buffer.
///
/// # Errors
/// `InvalidArgument` if the shape is invalid; `OutOfMemory` if the buffer cannot be allocated.
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
