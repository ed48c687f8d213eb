//! Arguments and results of ops that compute at once, as plain lists of elements.

use tfrt_host::{AsyncValue, DType, Diagnostic};
use tfrt_math::CastTo;
use tfrt_tensor::{Accessor, DenseHostTensor, Element, HostTensor, TensorShape};

use super::support::{invalid, room_for, with_number};
use crate::{CpuCall, OpResult};

static ME: Accessor = Accessor::new("tf op that computes at once");

/// A tensor of these elements.
pub(super) fn tensor<T: Element>(
    call: &CpuCall<'_>,
    dims: &[usize],
    values: &[T],
) -> Result<HostTensor, Diagnostic> {
    let allocator = call.cx.host().allocator();
    Ok(DenseHostTensor::from_slice(TensorShape::new(dims)?, values, allocator)?.into())
}

/// The results of an op that gives these tensors.
pub(super) fn results(tensors: impl IntoIterator<Item = HostTensor>) -> OpResult {
    OpResult { tensors: tensors.into_iter().map(AsyncValue::new).collect(), done: None }
}

/// The elements of a tensor of real numbers in double precision.
pub(super) fn reals(tensor: &HostTensor) -> Result<Vec<f64>, Diagnostic> {
    fn read<T: Element + CastTo<f64>>(tensor: &HostTensor) -> Result<Vec<f64>, Diagnostic> {
        let elements = tensor.dense()?.read::<T>(&ME)?;
        let mut reals = room_for(elements.len())?;
        reals.extend(elements.iter().map(|&element| element.cast_to()));
        Ok(reals)
    }
    with_number!(tensor.dtype(), "the op", |T| read::<T>(tensor))
}

/// A tensor of a type of real numbers, each rounded once.
pub(super) fn of_reals(
    call: &CpuCall<'_>,
    dtype: DType,
    dims: &[usize],
    values: &[f64],
) -> Result<HostTensor, Diagnostic> {
    fn write<T: Element>(call: &CpuCall<'_>, dims: &[usize], values: &[f64]) -> Result<HostTensor, Diagnostic>
    where
        f64: CastTo<T>,
    {
        let mut elements: Vec<T> = room_for(values.len())?;
        elements.extend(values.iter().map(|&value| CastTo::<T>::cast_to(value)));
        tensor(call, dims, &elements)
    }
    with_number!(dtype, "the op", |T| write::<T>(call, dims, values))
}

/// A count in a tensor or attribute, which must not be negative.
pub(super) fn count(value: i64, what: &str) -> Result<usize, Diagnostic> {
    usize::try_from(value).map_err(|_| invalid(format!("{what} must not be negative, got {value}")))
}
