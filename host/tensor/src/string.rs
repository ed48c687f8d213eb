//! [`StringHostTensor`]: a tensor of strings.

use std::sync::Arc;

use tfrt_host::{DType, Diagnostic};

use crate::metadata::TensorMetadata;
use crate::shape::TensorShape;

/// A tensor of strings. It never changes; cloning shares the strings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StringHostTensor {
    metadata: TensorMetadata,
    strings: Arc<[String]>,
}

impl StringHostTensor {
    /// A tensor of these strings, row-major.
    ///
    /// # Errors
    /// InvalidArgument if the shape has another number of elements.
    pub fn new(shape: impl Into<TensorShape>, strings: Vec<String>) -> Result<Self, Diagnostic> {
        let metadata = TensorMetadata::new(DType::String, shape);
        let count = metadata.shape.num_elements()?;
        if strings.len() != count {
            return Err(Diagnostic::invalid_argument(format!(
                "{} strings do not fill a tensor of shape {}",
                strings.len(),
                metadata.shape
            )));
        }
        Ok(Self { metadata, strings: strings.into() })
    }

    /// A tensor of empty strings.
    ///
    /// # Errors
    /// OutOfRange for more of them than can be counted, OutOfMemory for more than fit memory.
    pub fn empty_strings(shape: impl Into<TensorShape>) -> Result<Self, Diagnostic> {
        let metadata = TensorMetadata::new(DType::String, shape);
        let count = metadata.shape.num_elements()?;
        let mut strings = Vec::new();
        strings.try_reserve_exact(count).map_err(|_| {
            Diagnostic::new(tfrt_host::ErrorCode::OutOfMemory, format!("Cannot allocate tensor {metadata}"))
        })?;
        strings.resize(count, String::new());
        Ok(Self { metadata, strings: strings.into() })
    }

    /// Data type and shape.
    pub fn metadata(&self) -> &TensorMetadata {
        &self.metadata
    }

    /// The extents.
    pub fn shape(&self) -> &TensorShape {
        &self.metadata.shape
    }

    /// The strings, row-major.
    pub fn strings(&self) -> &[String] {
        &self.strings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_fill_the_shape() {
        let tensor = StringHostTensor::new([2], vec!["a".into(), "b".into()]).unwrap();
        assert_eq!(tensor.strings(), ["a", "b"]);
        assert!(StringHostTensor::new([3], vec![]).is_err());
        assert_eq!(StringHostTensor::empty_strings([2, 2]).unwrap().strings(), [""; 4]);
        assert!(StringHostTensor::empty_strings([1 << 60]).is_err());
    }
}
