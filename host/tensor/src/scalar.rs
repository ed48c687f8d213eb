//! [`ScalarHostTensor`]: a tensor all of whose elements are one value, which is all it stores.

use tfrt_host::{DType, Diagnostic};

use crate::dense::{DenseHostTensor, SharedAllocator};
use crate::element::{Element, bits_of};
use crate::metadata::{TensorMetadata, element_size};
use crate::shape::TensorShape;

/// Bytes of the largest element.
const MAX_ELEMENT_SIZE: usize = 16;

/// One value in every place of a shape. It never changes.
#[derive(Clone, Debug)]
pub struct ScalarHostTensor {
    metadata: TensorMetadata,
    /// The value's bytes, a valid element of the data type, then zeros.
    bytes: [u8; MAX_ELEMENT_SIZE],
}

impl ScalarHostTensor {
    /// `value` in every place of `shape`.
    pub fn new<T: Element>(shape: impl Into<TensorShape>, value: T) -> Self {
        const { assert!(size_of::<T>() <= MAX_ELEMENT_SIZE) };
        let mut bytes = [0; MAX_ELEMENT_SIZE];
        bytes[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
        Self { metadata: TensorMetadata::new(T::DTYPE, shape), bytes }
    }

    /// Data type and shape.
    pub fn metadata(&self) -> &TensorMetadata {
        &self.metadata
    }

    /// Data type of the value.
    pub fn dtype(&self) -> DType {
        self.metadata.dtype
    }

    /// The extents.
    pub fn shape(&self) -> &TensorShape {
        &self.metadata.shape
    }

    /// The value.
    ///
    /// # Errors
    /// InvalidArgument if `T` is not the tensor's data type.
    pub fn value<T: Element>(&self) -> Result<T, Diagnostic> {
        self.check_dtype(T::DTYPE)?;
        bytemuck::checked::try_pod_read_unaligned(&self.bytes[..size_of::<T>()]).map_err(|_| {
            Diagnostic::internal(format!("a scalar of dtype {:?} holds no such value", self.dtype()))
        })
    }

    /// As [`DenseHostTensor::as_bits_of`].
    ///
    /// # Errors
    /// InvalidArgument if `dtype` is not the tensor's data type.
    pub fn as_bits_of(&self, dtype: DType) -> Result<Self, Diagnostic> {
        self.check_dtype(dtype)?;
        let metadata = TensorMetadata::new(bits_of(dtype), self.shape().clone());
        Ok(Self { metadata, bytes: self.bytes })
    }

    /// The value's bytes.
    ///
    /// # Errors
    /// InvalidArgument for a data type without a plain memory form, which a scalar never has.
    pub fn value_bytes(&self) -> Result<&[u8], Diagnostic> {
        Ok(&self.bytes[..element_size(self.dtype())?])
    }

    fn check_dtype(&self, expected: DType) -> Result<(), Diagnostic> {
        if self.dtype() == expected {
            return Ok(());
        }
        let dtype = self.dtype();
        Err(Diagnostic::invalid_argument(format!("expected a tensor of dtype {expected:?}, got {dtype:?}")))
    }

    /// The value written out in every place.
    ///
    /// # Errors
    /// As [`DenseHostTensor::allocate`].
    pub fn to_dense(&self, allocator: &SharedAllocator) -> Result<DenseHostTensor, Diagnostic> {
        let shape = self.shape().clone();
        crate::with_element!(
            self.dtype(),
            |T| DenseHostTensor::full::<T>(shape, self.value()?, allocator),
            else Err(Diagnostic::internal("a scalar tensor of a data type without a memory form"))
        )
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tfrt_host::allocator::SystemAllocator;

    use super::*;
    use crate::accessor::Accessor;
    use crate::element::Complex;

    #[test]
    fn values_round_trip_and_fill() {
        static ME: Accessor = Accessor::new("test.scalar");
        let allocator: SharedAllocator = Arc::new(SystemAllocator);
        let scalar = ScalarHostTensor::new([2, 2], Complex::new(1.0f64, -2.0));
        assert_eq!(scalar.value::<Complex<f64>>(), Ok(Complex::new(1.0, -2.0)));
        assert_eq!(scalar.value_bytes().unwrap().len(), 16);
        let dense = scalar.to_dense(&allocator).unwrap();
        assert_eq!(*dense.read::<Complex<f64>>(&ME).unwrap(), [Complex::new(1.0, -2.0); 4]);
        assert!(scalar.value::<f64>().is_err());
        let dense = ScalarHostTensor::new(TensorShape::scalar(), true).to_dense(&allocator).unwrap();
        assert_eq!(*dense.read::<bool>(&ME).unwrap(), [true]);
    }
}
