//! Element types and the types that sums of their products are computed in.

use tfrt_host::Diagnostic;
use tfrt_math::{Float, MatMulElement};
use tfrt_tensor::{Accessor, DenseHostTensor, Element};

use crate::ops::support::room_for;

static ME: Accessor = Accessor::new("onnx op");

/// An element type and the one it is computed in.
pub(super) trait Computable: Element + Float {
    type Work: Element + Float + MatMulElement;
}

impl Computable for f32 {
    type Work = f32;
}

impl Computable for f64 {
    type Work = f64;
}

impl Computable for tfrt_tensor::f16 {
    type Work = f32;
}

impl Computable for tfrt_tensor::bf16 {
    type Work = f32;
}

/// A tensor's elements in the type that is computed in.
pub(super) fn widened<T: Computable>(tensor: &DenseHostTensor) -> Result<Vec<T::Work>, Diagnostic> {
    let mut values = room_for(tensor.num_elements())?;
    values.extend(tensor.read::<T>(&ME)?.iter().map(|&x| T::Work::from_f64(x.to_f64())));
    Ok(values)
}
