//! What kernels ask of their operands' shapes.

use tfrt_host::{Diagnostic, ExecutionContext, bef::RawAttribute};
use tfrt_math::{Extent2, Padding};
use tfrt_tensor::{DenseHostTensor, Element, TensorMetadata, TensorShape};

/// Whether two tensors have one shape.
///
/// # Errors
/// InvalidArgument that names both operands and their shapes.
pub(super) fn same_shape(
    (name, tensor): (&str, &DenseHostTensor),
    (other_name, other): (&str, &DenseHostTensor),
) -> Result<(), Diagnostic> {
    shape_is((name, tensor), other_name, other.shape().dims())
}

/// Whether a tensor has the shape that `origin` calls for.
///
/// # Errors
/// InvalidArgument that names both and their shapes.
pub(super) fn shape_is(
    (name, tensor): (&str, &DenseHostTensor),
    origin: &str,
    dims: &[usize],
) -> Result<(), Diagnostic> {
    if tensor.shape().dims() == dims {
        return Ok(());
    }
    Err(Diagnostic::invalid_argument(format!(
        "Tensor shapes do not match: {name} is {} and {origin} is {}",
        tensor.shape(),
        TensorShape::new(dims)?
    )))
}

/// Whether two extents are equal.
///
/// # Errors
/// InvalidArgument that names both.
pub(super) fn same_extent(
    (name, extent): (&str, usize),
    (other_name, other): (&str, usize),
) -> Result<(), Diagnostic> {
    if extent == other {
        return Ok(());
    }
    Err(Diagnostic::invalid_argument(format!(
        "Dimensions do not match: {name} is {extent} and {other_name} is {other}"
    )))
}

/// A dense tensor for a result, all of whose elements a plan writes.
pub(super) fn allocate<T: Element>(
    dims: &[usize],
    cx: &ExecutionContext,
) -> Result<DenseHostTensor, Diagnostic> {
    let metadata = TensorMetadata::new(T::DTYPE, TensorShape::new(dims)?);
    DenseHostTensor::allocate_unset(metadata, cx.host().allocator())
}

/// `same` or `valid`, in any case of letters.
pub(super) fn padding(name: &str) -> Option<Padding> {
    if name.eq_ignore_ascii_case("same") {
        Some(Padding::Same)
    } else if name.eq_ignore_ascii_case("valid") {
        Some(Padding::Valid)
    } else {
        None
    }
}

/// Rows above and below, columns to the left and right.
///
/// # Errors
/// InvalidArgument unless there are four numbers, none of them negative.
pub(super) fn explicit_padding(kernel: &str, values: &[i64]) -> Result<Padding, Diagnostic> {
    let side = |at: usize| values.get(at).and_then(|&value| usize::try_from(value).ok());
    match (values.len(), side(0), side(1), side(2), side(3)) {
        (4, Some(top), Some(bottom), Some(left), Some(right)) => {
            Ok(Padding::Explicit { top, bottom, left, right })
        }
        _ => Err(Diagnostic::invalid_argument(format!(
            "{kernel} expects padding to have 4 elements of at least 0, got {values:?}"
        ))),
    }
}

/// A height and a width from an attribute called `name`.
///
/// # Errors
/// InvalidArgument unless there are two numbers, both at least one.
pub(super) fn extent2<I: Copy + TryInto<usize>>(
    kernel: &str,
    name: &str,
    values: &[I],
) -> Result<Extent2, Diagnostic> {
    let &[height, width] = values else {
        return Err(Diagnostic::invalid_argument(format!(
            "{kernel} expects {name} to have 2 elements, got {}",
            values.len()
        )));
    };
    let positive = |value: I| value.try_into().ok().filter(|&value| value > 0);
    match (positive(height), positive(width)) {
        (Some(height), Some(width)) => Ok(Extent2::new(height, width)),
        _ => Err(Diagnostic::invalid_argument(format!("{kernel} expects {name} to be at least 1"))),
    }
}

/// An f32 attribute that some programs write as an array of one: the memory form is the same.
///
/// # Errors
/// InvalidArgument unless it is a number of at least zero.
pub(super) fn epsilon(attribute: RawAttribute<'_>) -> Result<f32, Diagnostic> {
    match attribute.scalar::<f32>() {
        Ok(epsilon) if epsilon.is_finite() && epsilon >= 0.0 => Ok(epsilon),
        _ => Err(Diagnostic::invalid_argument("epsilon must be an f32 of at least 0")),
    }
}
