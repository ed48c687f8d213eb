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

    /// Reads a type as MLIR writes it between the angle brackets of a tensor type: `1x3xf32`, or
    /// `f32` for a scalar. Returns nothing for text that is no such type.
    pub fn from_mlir_name(text: &str) -> Option<Self> {
        // A name such as `complex<f32>` contains an x that separates nothing.
        let names = |at: &usize| DType::from_mlir_name(&text[*at..]).is_some();
        let starts = std::iter::once(0).chain(text.match_indices('x').map(|(at, _)| at + 1));
        let at = starts.into_iter().find(names)?;
        let dims = text[..at].split_terminator('x').map(|dim| dim.parse().ok());
        let dims = dims.collect::<Option<Vec<usize>>>()?;
        Some(Self::new(DType::from_mlir_name(&text[at..])?, TensorShape::new(&dims).ok()?))
    }

    /// Bytes that the elements take, packed.
    ///
    /// # Errors
    /// InvalidArgument for a data type without a plain memory form, OutOfRange if the number does
    /// not fit 64 bits.
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
    fn reads_mlir_names() {
        let read = |text| TensorMetadata::from_mlir_name(text).map(|metadata| metadata.to_string());
        assert_eq!(read("1x3xf32").unwrap(), "F32 [1, 3]");
        assert_eq!(read("i1").unwrap(), TensorMetadata::new(DType::I1, []).to_string());
        assert_eq!(read("2xcomplex<f32>").unwrap(), "Complex64 [2]");
        for text in ["", "1x", "1xx3xf32", "?xf32", "xf32", "1x3xf33", "-1xf32"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

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
