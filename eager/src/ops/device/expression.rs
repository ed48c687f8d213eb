//! Computations on a device as expressions of tensors: each function queues one step, and gives a tensor for the next one.

use tfrt_host::DType;
use tfrt_kernels::device::{Binary, Move, Reduction, Unary};
use tfrt_tensor::{TensorMetadata, TensorShape};

use super::{arrays::reduced, count, elementwise::combine, unsupported};
use crate::{
    DeviceCall, DeviceOpResult, DeviceTensor,
    ops::{
        elementwise::broadcast_shape,
        layout::broadcast_moves,
        moves::{ElementBox, Moves},
        support::invalid,
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
    let y = call.allocate_as(&x.metadata())?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.unary(stream, function, x.dtype(), y.buffer(), x.buffer(), count(x)?)?;
    Ok(y)
}

/// A tensor that is `value` everywhere.
pub(super) fn constant(
    call: &DeviceCall<'_>,
    metadata: &TensorMetadata,
    value: f64,
) -> DeviceOpResult<DeviceTensor> {
    let y = call.allocate_as(metadata)?;
    call.queue.kernels().fill(call.queue.stream(), y.dtype(), y.buffer(), count(&y)?, value)?;
    Ok(y)
}

/// A tensor of no dimensions.
pub(super) fn scalar(call: &DeviceCall<'_>, dtype: DType, value: f64) -> DeviceOpResult<DeviceTensor> {
    constant(call, &TensorMetadata::new(dtype, TensorShape::scalar()), value)
}

/// `x · factor`.
pub(super) fn scaled(call: &DeviceCall<'_>, x: &DeviceTensor, factor: f64) -> DeviceOpResult<DeviceTensor> {
    zip(call, Binary::Mul, x, &scalar(call, x.dtype(), factor)?)
}

/// The reduction of a matrix to one row.
pub(super) fn over_rows(
    call: &DeviceCall<'_>,
    reduction: Reduction,
    x: &DeviceTensor,
) -> DeviceOpResult<DeviceTensor> {
    reduced(call, reduction, x, &[0], false)
}

/// The type by which a conversion goes that no kernel makes in one step; nothing if there is one that does.
fn cast_route(from: DType, to: DType) -> Option<DType> {
    use DType::{BF16, F16, F32, F64, I1, I8, I32, I64, UI8};
    match (from, to) {
        (F32, F16 | BF16 | F64 | I32 | I64 | I8 | UI8 | I1)
        | (F16 | BF16 | F64 | I32 | I64 | I8 | UI8 | I1, F32) => None,
        (F64, I32 | I64 | I8 | UI8 | I1) | (I32 | I64 | I8 | UI8 | I1, F64) => None,
        (I32, I64 | I8 | UI8 | I1) | (I64 | I8 | UI8 | I1, I32) => None,
        (F16, BF16) | (BF16, F16) | (I64, I1) | (I1, I64) => None,
        (F16 | BF16, _) | (_, F16 | BF16) => Some(F32),
        _ => Some(I32),
    }
}

/// `x` as another type. `truncate`: toward zero, where that is another result.
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
    let known = |dtype| {
        use DType::{BF16, F16, F32, F64, I1, I8, I32, I64, UI8};
        matches!(dtype, BF16 | F16 | F32 | F64 | I1 | I8 | I32 | I64 | UI8)
    };
    if !known(from) || !known(to) {
        return Err(unsupported(&format!("tf.Cast to {to}"), from).into());
    }
    if let Some(between) = cast_route(from, to) {
        return cast(call, &cast(call, x, between, truncate)?, to, truncate);
    }
    let y = call.allocate_as(&TensorMetadata::new(to, x.shape().clone()))?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.cast(stream, (to, y.buffer()), (from, x.buffer()), count(x)?, truncate)?;
    Ok(y)
}

/// The elements of `x` that `moves` chooses, in shape `dims`.
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

/// A tensor of this shape: the elements of `x` where `moves` would choose them from, and zeros elsewhere.
pub(super) fn given_back(
    call: &DeviceCall<'_>,
    x: &DeviceTensor,
    moves: &Moves,
    shape: &TensorShape,
) -> DeviceOpResult<DeviceTensor> {
    let y = constant(call, &TensorMetadata::new(x.dtype(), shape.clone()), 0.0)?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    for ElementBox { starts: [result, argument], axes } in moves.boxes() {
        let axes: Vec<_> = axes.into_iter().map(|(extent, to, from)| (extent, from, to)).collect();
        let part = Move::new([argument, result], &axes)?;
        kernels.move_elements(stream, x.dtype(), y.buffer(), x.buffer(), &part)?;
    }
    Ok(y)
}

/// `x`, repeated to a shape that it can be broadcast to.
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
        use DType::{BF16, F16, F32, F64, I1, I8, I32, I64, UI8};
        let all = [BF16, F16, F32, F64, I1, I8, I32, I64, UI8];
        for from in all {
            for to in all.into_iter().filter(|&to| to != from) {
                if let Some(between) = cast_route(from, to) {
                    assert!(cast_route(from, between).is_none() || from == between, "{from} {to}");
                    let rest = cast_route(between, to);
                    assert!(
                        rest.is_none() || rest.is_some_and(|next| next != between && next != from),
                        "{from} {to}"
                    );
                }
            }
        }
    }
}
