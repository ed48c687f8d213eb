//! [`HostTensor`]: any tensor in host memory, the runtime value of type `!t.tensor`.

use tfrt_host::{
    ArgumentType, AsyncValue, DType, Diagnostic, KernelFrame, ResultValue, TypeSpec, Value, value_type,
};

use crate::accessor::Accessor;
use crate::coo::CooHostTensor;
use crate::dense::{DenseHostTensor, SharedAllocator};
use crate::metadata::TensorMetadata;
use crate::scalar::ScalarHostTensor;
use crate::shape::TensorShape;
use crate::string::StringHostTensor;

/// A tensor in one of the forms the host knows. Cheap to clone; clones share the elements.
#[derive(Clone, Debug)]
pub enum HostTensor {
    /// Every element in memory.
    Dense(DenseHostTensor),
    /// One value in every place.
    Scalar(ScalarHostTensor),
    /// Coordinates and values of what is not zero.
    Coo(CooHostTensor),
    /// Strings.
    String(StringHostTensor),
}

value_type!(HostTensor, "!t.tensor");

// Every op moves its arguments some times before it computes.
const _: () = assert!(size_of::<HostTensor>() <= 72);

impl HostTensor {
    /// Data type and shape.
    pub fn metadata(&self) -> &TensorMetadata {
        match self {
            Self::Dense(tensor) => tensor.metadata(),
            Self::Scalar(tensor) => tensor.metadata(),
            Self::Coo(tensor) => tensor.metadata(),
            Self::String(tensor) => tensor.metadata(),
        }
    }

    /// Data type of each element.
    pub fn dtype(&self) -> DType {
        self.metadata().dtype
    }

    /// The extents.
    pub fn shape(&self) -> &TensorShape {
        &self.metadata().shape
    }

    /// The name of the form, as tensors print it.
    pub fn form(&self) -> &'static str {
        match self {
            Self::Dense(_) => "DenseHostTensor",
            Self::Scalar(_) => "ScalarHostTensor",
            Self::Coo(_) => "CooHostTensor",
            Self::String(_) => "StringHostTensor",
        }
    }

    /// The tensor as a dense one.
    ///
    /// # Errors
    /// InvalidArgument if it has another form.
    #[inline]
    pub fn dense(&self) -> Result<&DenseHostTensor, Diagnostic> {
        match self {
            Self::Dense(tensor) => Ok(tensor),
            _ => Err(self.wrong_form("DenseHostTensor")),
        }
    }

    /// The tensor as a sparse one.
    ///
    /// # Errors
    /// InvalidArgument if it has another form.
    pub fn coo(&self) -> Result<&CooHostTensor, Diagnostic> {
        match self {
            Self::Coo(tensor) => Ok(tensor),
            _ => Err(self.wrong_form("CooHostTensor")),
        }
    }

    /// The tensor as a scalar one.
    ///
    /// # Errors
    /// InvalidArgument if it has another form.
    pub fn scalar(&self) -> Result<&ScalarHostTensor, Diagnostic> {
        match self {
            Self::Scalar(tensor) => Ok(tensor),
            _ => Err(self.wrong_form("ScalarHostTensor")),
        }
    }

    /// The tensor as one of strings.
    ///
    /// # Errors
    /// InvalidArgument if it has another form.
    pub fn string(&self) -> Result<&StringHostTensor, Diagnostic> {
        match self {
            Self::String(tensor) => Ok(tensor),
            _ => Err(self.wrong_form("StringHostTensor")),
        }
    }

    /// The tensor with every element in memory: itself, shared, if it is dense, else a conversion.
    ///
    /// # Errors
    /// InvalidArgument for strings; what the conversion says.
    pub fn to_dense(
        &self,
        accessor: &Accessor,
        allocator: &SharedAllocator,
    ) -> Result<DenseHostTensor, Diagnostic> {
        match self {
            Self::Dense(tensor) => Ok(tensor.clone()),
            Self::Scalar(tensor) => tensor.to_dense(allocator),
            Self::Coo(tensor) => tensor.to_dense(accessor, allocator),
            Self::String(_) => Err(self.wrong_form("DenseHostTensor")),
        }
    }

    /// As [`DenseHostTensor::as_bits_of`].
    ///
    /// # Errors
    /// InvalidArgument if `dtype` is not the tensor's data type, or it is sparse or of strings.
    pub fn as_bits_of(&self, dtype: DType) -> Result<Self, Diagnostic> {
        match self {
            Self::Dense(tensor) => tensor.as_bits_of(dtype).map(Self::from),
            Self::Scalar(tensor) => tensor.as_bits_of(dtype).map(Self::from),
            Self::Coo(_) | Self::String(_) => Err(self.wrong_form("DenseHostTensor")),
        }
    }

    #[cold]
    fn wrong_form(&self, expected: &str) -> Diagnostic {
        Diagnostic::invalid_argument(format!("expected a {expected}, got a {}", self.form()))
    }
}

macro_rules! forms {
    ($($form:ident($tensor:ty), $access:ident;)*) => {$(
        impl From<$tensor> for HostTensor {
            fn from(tensor: $tensor) -> Self {
                Self::$form(tensor)
            }
        }

        impl<'a> TryFrom<&'a HostTensor> for &'a $tensor {
            type Error = Diagnostic;

            fn try_from(tensor: &'a HostTensor) -> Result<Self, Diagnostic> {
                tensor.$access()
            }
        }

        /// A kernel may ask for this form: `Arg<DenseHostTensor>`.
        impl ArgumentType for $tensor {
            const SPEC: TypeSpec = TypeSpec::Named(HostTensor::TYPE_NAME);
            const EXPECTED: &'static str = concat!("!t.tensor (", stringify!($tensor), ")");

            #[inline]
            fn from_handle(handle: &AsyncValue) -> Option<&Self> {
                match handle.get::<HostTensor>()? {
                    HostTensor::$form(tensor) => Some(tensor),
                    _ => None,
                }
            }
        }

        /// A kernel may give this form as a result.
        impl ResultValue for $tensor {
            const SPEC: TypeSpec = TypeSpec::Named(HostTensor::TYPE_NAME);

            fn into_handle(self, _: &KernelFrame<'_>) -> AsyncValue {
                AsyncValue::new(HostTensor::from(self))
            }
        }
    )*};
}

forms! {
    Dense(DenseHostTensor), dense;
    Scalar(ScalarHostTensor), scalar;
    Coo(CooHostTensor), coo;
    String(StringHostTensor), string;
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tfrt_host::allocator::SystemAllocator;

    use super::*;

    #[test]
    fn forms_are_told_apart() {
        static ME: Accessor = Accessor::new("test.host_tensor");
        let allocator: SharedAllocator = Arc::new(SystemAllocator);
        let scalar = HostTensor::from(ScalarHostTensor::new([2], 3i32));
        assert_eq!(scalar.dense().unwrap_err().message, "expected a DenseHostTensor, got a ScalarHostTensor");
        assert_eq!(scalar.scalar().unwrap().value(), Ok(3i32));
        let dense = scalar.to_dense(&ME, &allocator).unwrap();
        assert_eq!(*dense.read::<i32>(&ME).unwrap(), [3, 3]);
        let dense = HostTensor::from(dense);
        assert!(<&DenseHostTensor>::try_from(&dense).is_ok() && dense.coo().is_err());
        let strings = HostTensor::from(StringHostTensor::empty_strings([1]).unwrap());
        assert!(strings.to_dense(&ME, &allocator).is_err() && strings.string().is_ok());
        assert_eq!(
            (HostTensor::TYPE_NAME, dense.dtype(), dense.shape()),
            ("!t.tensor", DType::I32, scalar.shape())
        );
    }
}
