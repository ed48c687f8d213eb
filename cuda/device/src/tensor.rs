//! Tensors on a device: a buffer with an element type and a shape.

use std::fmt;

use tfrt_host::{DType, Diagnostic, value_type};
use tfrt_tensor::{TensorMetadata, TensorShape};

use crate::front::DeviceBuffer;

/// A dense, row-major tensor in device memory.
#[derive(Clone, Debug)]
pub struct DenseGpuTensor {
    metadata: TensorMetadata,
    elements: usize,
    buffer: DeviceBuffer,
}

value_type!(DenseGpuTensor, "!t.tensor");

impl DenseGpuTensor {
    /// Makes a tensor that takes over a buffer. The buffer's handle becomes invalid.
    ///
    /// # Errors
    /// If the buffer's size is not the tensor's, or another tensor has it.
    pub fn new(dtype: DType, shape: &TensorShape, buffer: &DeviceBuffer) -> Result<Self, Diagnostic> {
        if !buffer.is_valid() {
            return Err(Diagnostic::invalid_argument("Cannot make tensor from invalid (moved from?) buffer"));
        }
        let metadata = TensorMetadata::new(dtype, shape.clone());
        let elements = elements_in(&metadata, buffer)?.ok_or_else(|| {
            Diagnostic::invalid_argument(format!(
                "tfrt_cuda.tensor.make failed: buffer_size ({}) is not equal to the number of elements in shape \
                 ({shape}) times element size ({})",
                buffer.len(),
                dtype.size().unwrap_or(0)
            ))
        })?;
        Ok(Self { metadata, elements, buffer: buffer.take_over()? })
    }

    /// Makes a tensor over a shared buffer.
    ///
    /// # Errors
    /// If the buffer's size is not the tensor's.
    pub fn on_buffer(metadata: &TensorMetadata, buffer: DeviceBuffer) -> Result<Self, Diagnostic> {
        let elements = elements_in(metadata, &buffer)?.ok_or_else(|| unfit(metadata, &buffer))?;
        Ok(Self { metadata: metadata.clone(), elements, buffer })
    }

    /// Makes a tensor on a buffer from `allocate`, which gets the number of bytes.
    ///
    /// # Errors
    /// InvalidArgument for a data type without a plain memory form or a buffer of another size,
    /// OutOfRange for a size that overflows, and the errors of `allocate`.
    #[inline]
    pub fn allocate<E: From<Diagnostic>>(
        metadata: &TensorMetadata,
        allocate: impl FnOnce(u64) -> Result<DeviceBuffer, E>,
    ) -> Result<Self, E> {
        let (elements, bytes) = (metadata.shape.num_elements()?, metadata.size_bytes()?);
        let buffer = allocate(bytes as u64)?;
        if buffer.len() != bytes as u64 {
            return Err(unfit(metadata, &buffer).into());
        }
        Ok(Self { metadata: metadata.clone(), elements, buffer })
    }

    /// Returns a tensor of another shape over the same memory.
    ///
    /// # Errors
    /// InvalidArgument if the numbers of elements differ.
    pub fn reshape(&self, shape: &TensorShape) -> Result<Self, Diagnostic> {
        if shape.num_elements()? != self.elements {
            let message = format!("cannot reshape a tensor of shape {} to {shape}", self.shape());
            return Err(Diagnostic::invalid_argument(message));
        }
        let metadata = TensorMetadata::new(self.dtype(), shape.clone());
        Ok(Self { metadata, elements: self.elements, buffer: self.buffer.clone() })
    }

    /// Returns its shape and element type.
    pub fn metadata(&self) -> &TensorMetadata {
        &self.metadata
    }

    /// Returns a tensor of another type and shape, with the same number of bytes, over the same
    /// memory.
    ///
    /// # Errors
    /// InvalidArgument if the numbers of bytes differ.
    pub fn reinterpret(&self, dtype: DType, shape: &TensorShape) -> Result<Self, Diagnostic> {
        Self::on_buffer(&TensorMetadata::new(dtype, shape.clone()), self.buffer.clone())
    }

    /// Returns its shape.
    pub fn shape(&self) -> &TensorShape {
        &self.metadata.shape
    }

    /// Returns its element type.
    pub fn dtype(&self) -> DType {
        self.metadata.dtype
    }

    /// Returns the number of elements.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// Returns its buffer.
    pub fn buffer(&self) -> &DeviceBuffer {
        &self.buffer
    }
}

#[cold]
fn unfit(metadata: &TensorMetadata, buffer: &DeviceBuffer) -> Diagnostic {
    let message = format!("a tensor {metadata} does not fit a buffer of {} bytes", buffer.len());
    Diagnostic::invalid_argument(message)
}

/// Returns the number of elements of a tensor, if the buffer has exactly that size.
fn elements_in(metadata: &TensorMetadata, buffer: &DeviceBuffer) -> Result<Option<usize>, Diagnostic> {
    let elements = metadata.shape.num_elements()?;
    let bytes = elements.checked_mul(metadata.dtype.size().unwrap_or(0));
    Ok(bytes.filter(|&bytes| bytes as u64 == buffer.len()).map(|_| elements))
}

impl fmt::Display for DenseGpuTensor {
    /// Writes the form that existing programs expect.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (dtype, shape, address) = (self.dtype(), self.shape(), self.buffer.address());
        write!(f, "DenseGpuTensor<dtype={dtype:?}, shape={shape}, pointer={address:#x} (CUDA)>")
    }
}
