//! [`StringHostTensor`]: a tensor of strings. A string is a sequence of bytes, as in TensorFlow, and mostly UTF-8 text.

use std::sync::{Arc, OnceLock};

use bstr::BString;
use tfrt_host::{DType, Diagnostic};

use crate::metadata::TensorMetadata;
use crate::shape::TensorShape;

/// A tensor of strings; cloning shares them. One that was made of empty strings is filled at most
/// once; otherwise, it never changes.
#[derive(Clone, Debug)]
pub struct StringHostTensor {
    metadata: TensorMetadata,
    strings: Arc<Strings>,
}

#[derive(Debug)]
struct Strings {
    /// What it was made of.
    first: Box<[BString]>,
    /// What it was filled with.
    filled: OnceLock<Box<[BString]>>,
}

impl StringHostTensor {
    /// A tensor of these strings, row-major.
    ///
    /// # Errors
    /// InvalidArgument if the shape has another number of elements.
    pub fn new<S: Into<BString>>(shape: impl Into<TensorShape>, strings: Vec<S>) -> Result<Self, Diagnostic> {
        let metadata = TensorMetadata::new(DType::String, shape);
        let count = metadata.shape.num_elements()?;
        if strings.len() != count {
            return Err(Diagnostic::invalid_argument(format!(
                "{} strings do not fill a tensor of shape {}",
                strings.len(),
                metadata.shape
            )));
        }
        Ok(Self::of(metadata, strings.into_iter().map(Into::into).collect(), true))
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
        strings.resize(count, BString::default());
        Ok(Self::of(metadata, strings, false))
    }

    fn of(metadata: TensorMetadata, strings: Vec<BString>, is_full: bool) -> Self {
        let strings = strings.into_boxed_slice();
        let strings = if is_full {
            Strings { first: Box::default(), filled: OnceLock::from(strings) }
        } else {
            Strings { first: strings, filled: OnceLock::new() }
        };
        Self { metadata, strings: Arc::new(strings) }
    }

    /// Fills a tensor of empty strings, for all who share it.
    ///
    /// # Errors
    /// InvalidArgument for another number of strings, FailedPrecondition if it has its strings
    /// already.
    pub fn fill<S: Into<BString>>(&self, strings: Vec<S>) -> Result<(), Diagnostic> {
        if strings.len() != self.strings().len() {
            return Err(Diagnostic::invalid_argument(format!(
                "{} strings do not fill a tensor of shape {}",
                strings.len(),
                self.shape()
            )));
        }
        let strings = strings.into_iter().map(Into::into).collect();
        self.strings.filled.set(strings).map_err(|_| {
            let text = "a tensor of strings is filled once, and this one has its strings already";
            Diagnostic::new(tfrt_host::ErrorCode::FailedPrecondition, text)
        })
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
    pub fn strings(&self) -> &[BString] {
        self.strings.filled.get().unwrap_or(&self.strings.first)
    }
}

impl PartialEq for StringHostTensor {
    fn eq(&self, other: &Self) -> bool {
        self.metadata == other.metadata && self.strings() == other.strings()
    }
}

impl Eq for StringHostTensor {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_fill_the_shape() {
        let tensor = StringHostTensor::new([2], vec!["a", "b"]).unwrap();
        assert_eq!(tensor.strings(), ["a", "b"]);
        assert!(StringHostTensor::new([3], Vec::<String>::new()).is_err());
        assert_eq!(StringHostTensor::empty_strings([2, 2]).unwrap().strings(), [""; 4]);
        assert!(StringHostTensor::empty_strings([1 << 60]).is_err());
    }

    #[test]
    fn empty_strings_are_filled_once_for_all_who_share_them() {
        let tensor = StringHostTensor::empty_strings([2]).unwrap();
        let shared = tensor.clone();
        assert!(tensor.fill(vec!["a"]).is_err());
        tensor.fill(vec!["a", "b"]).unwrap();
        assert_eq!(shared.strings(), ["a", "b"]);
        assert!(shared.fill(vec!["c", "d"]).is_err());
        assert!(StringHostTensor::new([1], vec!["a"]).unwrap().fill(vec!["b"]).is_err());
        assert_eq!(shared.strings(), ["a", "b"]);
    }
}
