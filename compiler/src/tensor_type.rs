//! [`TensorType`]: what the compiler knows of a tensor before the program runs.

use std::fmt;

use tfrt_convert::{data_type, type_of};
use tfrt_host::DType;
use tfrt_ir::{ShapedType, Type};
use tfrt_tensor::{TensorMetadata, TensorShape};

/// Extents of a tensor's dimensions; `None` for one that is not known. Without a list the rank is
/// not known either.
pub type Dims = Option<Vec<Option<u64>>>;

/// A data type and what is known of the shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorType {
    /// What each element is.
    pub dtype: DType,
    /// The extents.
    pub dims: Dims,
}

impl TensorType {
    /// A type of known rank.
    pub fn ranked(dtype: DType, dims: impl Into<Vec<Option<u64>>>) -> Self {
        Self { dtype, dims: Some(dims.into()) }
    }

    /// A type of which only the data type is known.
    pub fn unranked(dtype: DType) -> Self {
        Self { dtype, dims: None }
    }

    /// A type whose extents are all known.
    pub fn fixed(dtype: DType, dims: &[u64]) -> Self {
        Self::ranked(dtype, dims.iter().map(|&dim| Some(dim)).collect::<Vec<_>>())
    }

    /// The type of tensors with this metadata.
    pub fn of(metadata: &TensorMetadata) -> Self {
        let dims = metadata.shape.dims().iter().map(|&dim| Some(dim as u64));
        Self::ranked(metadata.dtype, dims.collect::<Vec<_>>())
    }

    /// Reads a type as it is displayed, such as `1x3x?x224xf32`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut dims = Vec::new();
        let mut rest = text;
        while let Some((extent, after)) = rest.split_once('x') {
            match extent {
                "?" => dims.push(None),
                "*" => return Some(Self::unranked(DType::from_mlir_name(after)?)),
                extent => match extent.parse() {
                    Ok(extent) => dims.push(Some(extent)),
                    // `complex` and the like contain an x, too.
                    Err(_) => break,
                },
            }
            rest = after;
        }
        Some(Self::ranked(DType::from_mlir_name(rest)?, dims))
    }

    /// The tensor type that an IR type stands for; `None` for others.
    pub fn from_ir(ty: &Type) -> Option<Self> {
        let Type::Tensor(shaped) = ty else { return None };
        Some(Self { dtype: data_type(&shaped.element)?, dims: shaped.dims.clone() })
    }

    /// The type in the IR.
    pub fn to_ir(&self) -> Type {
        Type::Tensor(ShapedType { dims: self.dims.clone(), element: type_of(self.dtype) }.into())
    }

    /// The number of dimensions, if known.
    pub fn rank(&self) -> Option<usize> {
        self.dims.as_ref().map(Vec::len)
    }

    /// All extents, if all are known.
    pub fn static_dims(&self) -> Option<Vec<u64>> {
        self.dims.as_ref()?.iter().copied().collect()
    }

    /// The metadata of the tensors, if all extents are known.
    pub fn metadata(&self) -> Option<TensorMetadata> {
        let dims = self.static_dims()?.into_iter().map(|dim| usize::try_from(dim).ok());
        let dims = dims.collect::<Option<Vec<_>>>()?;
        Some(TensorMetadata { dtype: self.dtype, shape: TensorShape::new(&dims).ok()? })
    }

    /// The bytes that a tensor of this type takes, if its extents are known.
    pub fn size_bytes(&self) -> Option<u64> {
        let element = self.dtype.size()? as u64;
        self.static_dims()?.into_iter().try_fold(element, u64::checked_mul)
    }

    /// What both types say together: each extent that either knows. `None` if they contradict each
    /// other.
    pub fn merge(&self, other: &Self) -> Option<Self> {
        if self.dtype != other.dtype {
            return None;
        }
        let dims = match (&self.dims, &other.dims) {
            (None, dims) | (dims, None) => dims.clone(),
            (Some(a), Some(b)) if a.len() == b.len() => {
                let merge = |(&a, &b): (&Option<u64>, &Option<u64>)| match (a, b) {
                    (Some(a), Some(b)) if a != b => None,
                    (a, b) => Some(a.or(b)),
                };
                Some(a.iter().zip(b).map(merge).collect::<Option<Vec<_>>>()?)
            }
            _ => return None,
        };
        Some(Self { dtype: self.dtype, dims })
    }

    /// The type of values that are of one type on one way and of another one on another way.
    ///
    /// # Errors
    /// The types, if their data types differ.
    pub(crate) fn join(&self, other: &Self) -> Result<Self, String> {
        if self.dtype != other.dtype {
            return Err(format!("a value is of type {self} on one way and {other} on another"));
        }
        let dims = match (&self.dims, &other.dims) {
            (Some(x), Some(y)) if x.len() == y.len() => {
                Some(x.iter().zip(y).map(|(x, y)| x.filter(|_| x == y)).collect())
            }
            _ => None,
        };
        Ok(Self { dtype: self.dtype, dims })
    }
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.dims {
            None => f.write_str("*x")?,
            Some(dims) => {
                for dim in dims {
                    match dim {
                        Some(dim) => write!(f, "{dim}x")?,
                        None => f.write_str("?x")?,
                    }
                }
            }
        }
        write!(f, "{}", self.dtype.mlir_name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displayed_types_are_read() {
        let ty = TensorType::ranked(DType::F32, [Some(1), None, Some(224)]);
        assert_eq!(TensorType::parse(&ty.to_string()), Some(ty));
        assert_eq!(TensorType::parse("f16"), Some(TensorType::ranked(DType::F16, [])));
        assert_eq!(TensorType::parse("*xi64"), Some(TensorType::unranked(DType::I64)));
        assert_eq!(TensorType::parse("3xnothing"), None);
    }
}
