//! [`PartialTensorShape`]: a shape some of whose extents, or whose very rank, are not known yet.

use std::fmt;

use tfrt_host::{Diagnostic, value_type};

use crate::shape::{List, MAX_RANK, TensorShape};

/// How programs write an extent that is not known.
pub const UNKNOWN_DIM: i64 = -1;

/// A shape with holes: `None` for unknown rank, [`UNKNOWN_DIM`] for an unknown extent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PartialTensorShape(Option<Box<[i64]>>);

value_type!(PartialTensorShape, "!ts.partial_shape");

impl PartialTensorShape {
    /// The shape nothing is known of.
    pub const fn unranked() -> Self {
        Self(None)
    }

    /// A shape of known rank, with [`UNKNOWN_DIM`] for extents that are not known.
    ///
    /// # Errors
    /// InvalidArgument for other negative extents or more than [`MAX_RANK`] of them.
    pub fn ranked(dims: &[i64]) -> Result<Self, Diagnostic> {
        if let Some(dim) = dims.iter().find(|&&dim| dim < UNKNOWN_DIM) {
            return Err(Diagnostic::invalid_argument(format!(
                "negative dimension {dim} in shape {}",
                List(dims)
            )));
        }
        if dims.len() > MAX_RANK {
            return Err(Diagnostic::invalid_argument(format!(
                "rank {} is higher than {MAX_RANK}",
                dims.len()
            )));
        }
        Ok(Self(Some(dims.into())))
    }

    /// The extents, if the rank is known.
    pub fn dims(&self) -> Option<&[i64]> {
        self.0.as_deref()
    }

    /// Number of dimensions, if known.
    pub fn rank(&self) -> Option<usize> {
        self.dims().map(<[_]>::len)
    }

    /// Whether no extent is missing.
    pub fn is_known(&self) -> bool {
        self.dims().is_some_and(|dims| !dims.contains(&UNKNOWN_DIM))
    }

    /// Whether a tensor of `shape` fits this description.
    pub fn admits(&self, shape: &TensorShape) -> bool {
        let Some(dims) = self.dims() else { return true };
        dims.len() == shape.rank()
            && dims
                .iter()
                .zip(shape.dims())
                .all(|(&want, &got)| want == UNKNOWN_DIM || want as u64 == got as u64)
    }

    /// The shape, when nothing is missing.
    ///
    /// # Errors
    /// InvalidArgument saying what is missing.
    pub fn to_shape(&self) -> Result<TensorShape, Diagnostic> {
        let Some(dims) = self.dims() else { return Err(Diagnostic::invalid_argument("Unknown rank")) };
        if self.is_known() {
            return TensorShape::from_signed(dims);
        }
        let unknown: Vec<usize> = (0..dims.len()).filter(|&i| dims[i] == UNKNOWN_DIM).collect();
        Err(Diagnostic::invalid_argument(format!(
            "Unknown dimensions at following indices = {}",
            List(&unknown)
        )))
    }
}

/// A known extent beyond `i64::MAX`, which no memory holds, becomes an unknown one.
impl From<&TensorShape> for PartialTensorShape {
    fn from(shape: &TensorShape) -> Self {
        Self(Some(shape.dims().iter().map(|&dim| i64::try_from(dim).unwrap_or(UNKNOWN_DIM)).collect()))
    }
}

impl fmt::Display for PartialTensorShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dims() {
            Some(dims) => List(dims).fmt(f),
            None => f.write_str("Unknown rank"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converts_when_nothing_is_missing() {
        let known = PartialTensorShape::ranked(&[1, 57, 92]).unwrap();
        assert_eq!(known.to_string(), "[1, 57, 92]");
        let shape = known.to_shape().unwrap();
        assert_eq!(shape, [1, 57, 92]);
        assert_eq!(PartialTensorShape::from(&shape), known);
        assert!(known.is_known() && known.admits(&shape));
    }

    #[test]
    fn says_what_is_missing() {
        let partial = PartialTensorShape::ranked(&[-1, 57, -1]).unwrap();
        assert_eq!(partial.to_string(), "[-1, 57, -1]");
        assert_eq!(
            partial.to_shape().unwrap_err().message,
            "Unknown dimensions at following indices = [0, 2]"
        );
        assert!(partial.admits(&TensorShape::from([9, 57, 0])));
        assert!(!partial.admits(&TensorShape::from([9, 58, 0])) && !partial.admits(&TensorShape::from([9])));
        let unranked = PartialTensorShape::unranked();
        assert_eq!(unranked.to_string(), "Unknown rank");
        assert_eq!(unranked.to_shape().unwrap_err().message, "Unknown rank");
        assert!(unranked.admits(&TensorShape::scalar()) && unranked.rank().is_none());
    }

    #[test]
    fn refuses_nonsense() {
        assert!(PartialTensorShape::ranked(&[-2]).is_err());
        assert!(PartialTensorShape::ranked(&[-1; 256]).is_err());
    }
}
