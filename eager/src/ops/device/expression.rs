//! Expressions of device tensors: each function queues one step and returns a tensor for the next
//! one.

use tfrt_host::{DType, Diagnostic};
use tfrt_launch::{Binary, Move, Reduction, Unary, no_kernel};
use tfrt_tensor::{TensorMetadata, TensorShape};

use super::{arrays::reduced, count, elementwise::combine, unsupported};
use crate::{
    DeviceCall, DeviceOpResult, DeviceTensor,
    ops::{
        elementwise::broadcast_shape,
        layout::broadcast_moves,
        moves::{Axis, ElementBox, Moves},
        support::{invalid, is_complex},
    },
};

/// `function(a, b)`, broadcast.
pub(super) fn zip(
    call: &DeviceCall<'_>,
    function: Binary,
    a: &DeviceTensor,
    b: &DeviceTensor,
) -> DeviceOpResult<DeviceTensor> {
    let shape = broadcast_shape(a.shape(), b.shape())?;
    let y = call.allocate_as(&TensorMetadata::new(a.dtype(), shape))?;
    combine(call, function, &y, a, b)?;
    Ok(y)
}

/// `function(x)`.
pub(super) fn map(call: &DeviceCall<'_>, function: Unary, x: &DeviceTensor) -> DeviceOpResult<DeviceTensor> {
    if x.dtype() == DType::Complex64 {
        if !function.is_of_complex() {
            return Err(no_kernel(function.name(), x.dtype()).into());
        }
        let y = map(call, function, &cast(call, x, DType::Complex128, false)?)?;
        return cast(call, &y, DType::Complex64, false);
    }
    let y = call.allocate_as(x.metadata())?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.unary(stream, function, x.dtype(), y.buffer(), x.buffer(), count(x))?;
    Ok(y)
}

/// Returns the conjugate of complex numbers, in double precision; other tensors are returned
/// unchanged.
pub(super) fn conjugate(call: &DeviceCall<'_>, x: &DeviceTensor) -> DeviceOpResult<DeviceTensor> {
    if !is_complex(x.dtype()) {
        return Ok(x.clone());
    }
    let x = cast(call, x, DType::Complex128, false)?;
    let y = call.allocate_as(x.metadata())?;
    call.queue.kernels().conjugate(call.queue.stream(), y.buffer(), x.buffer(), count(&x))?;
    Ok(y)
}

/// Returns a tensor that is filled with `value`.
pub(super) fn constant(
    call: &DeviceCall<'_>,
    metadata: &TensorMetadata,
    value: f64,
) -> DeviceOpResult<DeviceTensor> {
    if let Some(real) = part_type(metadata.dtype) {
        let real = constant(call, &TensorMetadata::new(real, metadata.shape.clone()), value)?;
        return complex(call, &real, metadata.dtype);
    }
    let y = call.allocate_as(metadata)?;
    call.queue.kernels().fill(call.queue.stream(), y.dtype(), y.buffer(), count(&y), value)?;
    Ok(y)
}

/// Returns a scalar tensor.
pub(super) fn scalar(call: &DeviceCall<'_>, dtype: DType, value: f64) -> DeviceOpResult<DeviceTensor> {
    constant(call, &TensorMetadata::new(dtype, TensorShape::scalar()), value)
}

/// `x · factor`.
pub(super) fn scaled(call: &DeviceCall<'_>, x: &DeviceTensor, factor: f64) -> DeviceOpResult<DeviceTensor> {
    zip(call, Binary::Mul, x, &scalar(call, x.dtype(), factor)?)
}

/// `1 - x`.
pub(super) fn one_minus(call: &DeviceCall<'_>, x: &DeviceTensor) -> DeviceOpResult<DeviceTensor> {
    zip(call, Binary::Sub, &scalar(call, x.dtype(), 1.0)?, x)
}

/// Reduces a matrix to one row.
pub(super) fn over_rows(
    call: &DeviceCall<'_>,
    reduction: Reduction,
    x: &DeviceTensor,
) -> DeviceOpResult<DeviceTensor> {
    reduced(call, reduction, x, &[0], false)
}

/// Returns the intermediate type for a conversion that no kernel makes in one step, or `None` if a
/// kernel exists.
fn cast_route(from: DType, to: DType) -> Option<DType> {
    use DType::{BF16, F16, F32, F64, I1, I8, I16, I32, I64, UI8, UI16, UI32, UI64};
    match (from, to) {
        (F32, F16 | BF16 | F64 | I32 | I64 | UI64 | I8 | UI8 | I1)
        | (F16 | BF16 | F64 | I32 | I64 | UI64 | I8 | UI8 | I1, F32) => None,
        (F64, I32 | I64 | UI64 | I8 | UI8 | I1) | (I32 | I64 | UI64 | I8 | UI8 | I1, F64) => None,
        (I32, I64 | I8 | UI8 | I16 | I1) | (I64 | I8 | UI8 | I16 | UI16 | I1, I32) => None,
        (F16, BF16) | (BF16, F16) | (I64, I1) | (I1, I64) | (UI32, I64) => None,
        (F16 | BF16, _) | (_, F16 | BF16) => Some(F32),
        // A value that is not narrowed is preserved in a wider type. Otherwise the signed type with
        // the same bits is as good.
        (UI32, F32 | F64 | UI64) | (F32 | F64, UI32) | (_, UI64) => Some(I64),
        (UI64, _) => Some(I64),
        (I32, UI16) => Some(I16),
        _ => Some(I32),
    }
}

/// Returns whether both are integer types with the same number of bits, so that a conversion
/// preserves all of them.
fn are_same_bits(from: DType, to: DType) -> bool {
    is_integer(from) && is_integer(to) && from.size() == to.size()
}

/// Returns whether the type is an integer type.
pub(super) fn is_integer(dtype: DType) -> bool {
    use DType::{I8, I16, I32, I64, UI8, UI16, UI32, UI64};
    matches!(dtype, I8 | I16 | I32 | I64 | UI8 | UI16 | UI32 | UI64)
}

/// Converts `x` to another type. `truncate` truncates instead of rounding where that makes a
/// difference.
pub(super) fn cast(
    call: &DeviceCall<'_>,
    x: &DeviceTensor,
    to: DType,
    truncate: bool,
) -> DeviceOpResult<DeviceTensor> {
    let from = x.dtype();
    if from == to {
        return Ok(x.clone());
    }
    let metadata = TensorMetadata::new(to, x.shape().clone());
    match (part_type(from), part_type(to)) {
        (Some(_), Some(real)) => return Ok(cast(call, &parts(x)?, real, truncate)?.reinterpret(&metadata)?),
        (Some(_), None) => return cast(call, &real_part(call, x)?, to, truncate),
        (None, Some(real)) => return complex(call, &cast(call, x, real, truncate)?, to),
        (None, None) => {}
    }
    if are_same_bits(from, to) {
        return Ok(x.reinterpret(&metadata)?);
    }
    let known = |dtype| {
        is_integer(dtype) || matches!(dtype, DType::BF16 | DType::F16 | DType::F32 | DType::F64 | DType::I1)
    };
    if !known(from) || !known(to) {
        return Err(unsupported(&format!("tf.Cast to {to}"), from).into());
    }
    if let Some(between) = cast_route(from, to) {
        return cast(call, &cast(call, x, between, truncate)?, to, truncate);
    }
    let y = call.allocate_as(&metadata)?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.cast(stream, (to, y.buffer()), (from, x.buffer()), count(x), truncate)?;
    Ok(y)
}

/// Returns the type in which kernels compute with a type's integers, if they do not support the
/// type itself. It has at least as many bits, so that the bits of sums and products agree. Complex
/// numbers are computed in double precision. Other types are returned unchanged.
pub(super) fn computed_as(dtype: DType) -> DType {
    use DType::{I8, I16, I32, I64, UI8, UI16, UI32, UI64};
    match dtype {
        I8 | I16 | UI8 | UI16 => I32,
        UI32 | UI64 => I64,
        DType::Complex64 => DType::Complex128,
        other => other,
    }
}

/// Converts `x` to the type of [`computed_as`], with elements in the same order as those of `x`;
/// see [`from_ordered`].
pub(super) fn ordered(call: &DeviceCall<'_>, x: &DeviceTensor) -> DeviceOpResult<DeviceTensor> {
    cast(call, &exchanged_halves(call, x)?, computed_as(x.dtype()), false)
}

/// Converts elements that [`ordered`] returned for a tensor of type `dtype` back to that type.
pub(super) fn from_ordered(
    call: &DeviceCall<'_>,
    x: &DeviceTensor,
    dtype: DType,
) -> DeviceOpResult<DeviceTensor> {
    exchanged_halves(call, &cast(call, x, dtype, false)?)
}

/// Returns the least number of a type for which [`ordered`] returns a wider one, whose own least
/// number does not fit it.
pub(super) fn least_of_narrow(dtype: DType) -> Option<f64> {
    match dtype {
        DType::I8 => Some(i8::MIN.into()),
        DType::I16 => Some(i16::MIN.into()),
        _ => None,
    }
}

/// Exchanges the lower and the upper half of `u64`, whose bits are then ordered as those of `i64`.
/// Other types are returned unchanged.
fn exchanged_halves(call: &DeviceCall<'_>, x: &DeviceTensor) -> DeviceOpResult<DeviceTensor> {
    match x.dtype() {
        DType::UI64 => zip(call, Binary::Add, x, &scalar(call, DType::UI64, 2f64.powi(63))?),
        _ => Ok(x.clone()),
    }
}

/// Returns the type of a complex number's parts.
fn part_type(dtype: DType) -> Option<DType> {
    match dtype {
        DType::Complex64 => Some(DType::F32),
        DType::Complex128 => Some(DType::F64),
        _ => None,
    }
}

/// Views complex numbers as their real and imaginary parts, along an additional dimension. Other
/// tensors are returned unchanged.
pub(super) fn parts(x: &DeviceTensor) -> Result<DeviceTensor, Diagnostic> {
    let Some(real) = part_type(x.dtype()) else { return Ok(x.clone()) };
    x.reinterpret(&TensorMetadata::new(real, TensorShape::new(&[x.shape().dims(), &[2]].concat())?))
}

/// Returns the positions of the real parts among all parts, for complex numbers of a shape.
fn real_parts(shape: &TensorShape) -> Moves {
    let mut axes: Vec<_> = shape.dims().iter().map(|&dim| Axis::whole(dim)).collect();
    axes.push(Axis::whole(1));
    Moves::new(&[shape.dims(), &[2]].concat(), axes)
}

/// Returns the real part of each complex number.
fn real_part(call: &DeviceCall<'_>, x: &DeviceTensor) -> DeviceOpResult<DeviceTensor> {
    moved(call, &parts(x)?, &real_parts(x.shape()), x.shape().dims())
}

/// Returns complex numbers of type `dtype` from their real parts, which have the type of its parts.
fn complex(call: &DeviceCall<'_>, real: &DeviceTensor, dtype: DType) -> DeviceOpResult<DeviceTensor> {
    let metadata = TensorMetadata::new(dtype, real.shape().clone());
    let all = TensorShape::new(&[real.shape().dims(), &[2]].concat())?;
    Ok(given_back(call, real, &real_parts(real.shape()), &all)?.reinterpret(&metadata)?)
}

/// Returns the elements of `x` that `moves` selects, in shape `dims`.
pub(super) fn moved(
    call: &DeviceCall<'_>,
    x: &DeviceTensor,
    moves: &Moves,
    dims: &[usize],
) -> DeviceOpResult<DeviceTensor> {
    let shape = TensorShape::new(dims)?;
    if moves.is_identity(x.shape().num_elements()?) {
        return Ok(x.reshape(&shape)?);
    }
    let y = call.allocate_as(&TensorMetadata::new(x.dtype(), shape))?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    for part in moves.boxes() {
        let part = Move::new(part.starts, &part.axes)?;
        kernels.move_elements(stream, x.dtype(), y.buffer(), x.buffer(), &part)?;
    }
    Ok(y)
}

/// Returns a tensor of this shape, with the elements of `x` at the places where `moves` would
/// select them, and zeros elsewhere.
pub(super) fn given_back(
    call: &DeviceCall<'_>,
    x: &DeviceTensor,
    moves: &Moves,
    shape: &TensorShape,
) -> DeviceOpResult<DeviceTensor> {
    let y = constant(call, &TensorMetadata::new(x.dtype(), shape.clone()), 0.0)?;
    put(call, &y, x, moves)?;
    Ok(y)
}

/// Queues a scatter of the elements of `x` into `y`, at the places where `moves` would select them.
/// Other elements of `y` are unchanged.
pub(super) fn put(
    call: &DeviceCall<'_>,
    y: &DeviceTensor,
    x: &DeviceTensor,
    moves: &Moves,
) -> DeviceOpResult<()> {
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    for ElementBox { starts: [result, argument], axes } in moves.boxes() {
        let axes: Vec<_> = axes.into_iter().map(|(extent, to, from)| (extent, from, to)).collect();
        let part = Move::new([argument, result], &axes)?;
        kernels.move_elements(stream, x.dtype(), y.buffer(), x.buffer(), &part)?;
    }
    Ok(())
}

/// Broadcasts `x` to a shape.
pub(super) fn broadcast(
    call: &DeviceCall<'_>,
    x: &DeviceTensor,
    shape: &TensorShape,
) -> DeviceOpResult<DeviceTensor> {
    if x.shape() == shape {
        return Ok(x.clone());
    }
    let moves = broadcast_moves(x.shape().dims(), shape.dims());
    let moves = moves.ok_or_else(|| invalid(format!("Incompatible shapes: {} vs. {shape}", x.shape())))?;
    moved(call, x, &moves, shape.dims())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_conversion_ends() {
        use DType::{BF16, F16, F32, F64, I1, I8, I16, I32, I64, UI8, UI16, UI32, UI64};
        let all = [BF16, F16, F32, F64, I1, I8, I16, I32, I64, UI8, UI16, UI32, UI64];
        for from in all {
            for to in all {
                let (mut at, mut steps) = (from, 0);
                // In steps like `cast`: each step's source has a kernel, or the same bits as the
                // step's result.
                while at != to {
                    let mut next = to;
                    while !are_same_bits(at, next)
                        && let Some(between) = cast_route(at, next)
                    {
                        assert!(next != between && at != between, "{from} {to}");
                        next = between;
                    }
                    (at, steps) = (next, steps + 1);
                    assert!(steps <= 4, "{from} {to}");
                }
            }
        }
    }
}
