//! [`TensorMetadata`]: what is known of a tensor before its elements are.

use std::fmt;

use tfrt_host::{DType, Diagnostic, ErrorCode};

use crate::shape::TensorShape;

/// Data type and shape.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorMetadata {
    /// What each element is.
    pub dtype: DType,
    /// How many there are, and in what order.
    pub shape: TensorShape,
}

impl TensorMetadata {
    /// Metadata of these parts.
    pub fn new(dtype: DType, shape: impl Into<TensorShape>) -> Self {
        Self { dtype, shape: shape.into() }
    }

    /// Bytes that the elements take, packed.
    ///
    /// # Errors
    /// InvalidArgument for a data type without a plain memory form, OutOfRange if the number does not fit 64 bits.
    pub fn size_bytes(&self) -> Result<usize, Diagnostic> {
        let element = element_size(self.dtype)?;
        self.shape.num_elements()?.checked_mul(element).ok_or_else(|| {
            Diagnostic::new(ErrorCode::OutOfRange, format!("a tensor {self} has too many bytes to count"))
        })
    }
}

/// Bytes of one element in memory.
pub(crate) fn element_size(dtype: DType) -> Result<usize, Diagnostic> {
    dtype.size().ok_or_else(|| {
        Diagnostic::invalid_argument(format!("elements of dtype {dtype:?} have no plain memory form"))
    })
}

/// Alignment in bytes of an element in memory; 1 for those without a plain memory form.
pub(crate) fn element_align(dtype: DType) -> usize {
    crate::with_element!(dtype, |T| align_of::<T>(), else 1)
}

impl fmt::Display for TensorMetadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}", self.dtype, self.shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_and_counts_bytes() {
        let metadata = TensorMetadata::new(DType::Complex64, [2, 3]);
        assert_eq!(metadata.to_string(), "Complex64 [2, 3]");
        assert_eq!(metadata.size_bytes(), Ok(48));
        assert_eq!(TensorMetadata::new(DType::I1, TensorShape::scalar()).size_bytes(), Ok(1));
    }

    #[test]
    fn sizes_that_cannot_be_are_errors() {
        let strings = TensorMetadata::new(DType::String, [2]).size_bytes().unwrap_err();
        assert_eq!(strings.message, "elements of dtype String have no plain memory form");
        let huge = TensorMetadata::new(DType::F64, [usize::MAX / 4]).size_bytes().unwrap_err();
        assert_eq!(huge.code, ErrorCode::OutOfRange);
    }
}
