//! Element types and the types that sums of their products are computed in.

use std::borrow::Cow;

use tfrt_host::Diagnostic;
use tfrt_math::{ConvElement, Float, MatMulElement};
use tfrt_tensor::{Accessor, DenseHostTensor, Element};

use crate::ops::support::room_for;

static ME: Accessor = Accessor::new("onnx op");

/// An element type and the one it is computed in.
pub(super) trait Computable: Element + Float {
    type Work: Element + Float + MatMulElement + ConvElement<Work = Self::Work>;

    /// The same elements, if they are computed in their own type.
    fn as_work(_: &[Self]) -> Option<&[Self::Work]> {
        None
    }
}

impl Computable for f32 {
    type Work = f32;

    fn as_work(elements: &[f32]) -> Option<&[f32]> {
        Some(elements)
    }
}

impl Computable for f64 {
    type Work = f64;

    fn as_work(elements: &[f64]) -> Option<&[f64]> {
        Some(elements)
    }
}

impl Computable for tfrt_tensor::f16 {
    type Work = f32;
}

impl Computable for tfrt_tensor::bf16 {
    type Work = f32;
}

/// A tensor's elements in the type that is computed in.
pub(super) fn widened<T: Computable>(tensor: &DenseHostTensor) -> Result<Vec<T::Work>, Diagnostic> {
    Ok(in_work::<T>(&tensor.read::<T>(&ME)?)?.into_owned())
}

/// Elements in the type that is computed in: these, or a copy.
pub(super) fn in_work<T: Computable>(elements: &[T]) -> Result<Cow<'_, [T::Work]>, Diagnostic> {
    if let Some(elements) = T::as_work(elements) {
        return Ok(Cow::Borrowed(elements));
    }
    let mut values = room_for(elements.len())?;
    values.extend(elements.iter().map(|&x| T::Work::from_f64(x.to_f64())));
    Ok(Cow::Owned(values))
}
