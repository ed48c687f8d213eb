//! Batch normalization with the batch's own statistics, and the gradients of it, as expressions of
//! matrices: a row for each pixel, a column for each channel. They are computed in f32, whatever
//! the images' type.

use smallvec::smallvec;
use tfrt_host::{AsyncValue, DType};
use tfrt_launch::{Activation, Binary, Reduction, Unary};
use tfrt_tensor::TensorShape;

use super::{
    Queued,
    expression::{cast, map, over_rows, scalar, scaled, zip},
    network::{batch_norm, from_nhwc, normalization_results, normalized, to_nhwc},
};
use crate::{
    DeviceCall, DeviceOpResult, DeviceTensor, OpRegistry, OpResult,
    ops::batch_norm::{average_factor, epsilon, is_training},
};

/// NHWC images as a matrix of f32.
fn matrix(call: &DeviceCall<'_>, x: &DeviceTensor) -> DeviceOpResult<DeviceTensor> {
    let channels = x.shape().dims().last().copied().unwrap_or(1);
    let rows = x.shape().num_elements()?.checked_div(channels).unwrap_or(0);
    let x = x.reshape(&TensorShape::new(&[rows, channels])?)?;
    cast(call, &x, DType::F32, false)
}

/// What running averages become: `old · (1 - weight) + new · weight`.
fn averaged(
    call: &DeviceCall<'_>,
    old: &DeviceTensor,
    new: DeviceTensor,
    weight: f64,
) -> DeviceOpResult<DeviceTensor> {
    if weight == 1.0 {
        return Ok(new);
    }
    let old = old.reshape(new.shape())?;
    zip(call, Binary::Add, &scaled(call, &old, 1.0 - weight)?, &scaled(call, &new, weight)?)
}

fn fused_batch_norm(call: &DeviceCall<'_>) -> Queued {
    if !is_training(call.attrs)? {
        return batch_norm(call, None, Activation::Identity);
    }
    let (scale, offset) = (call.tensor(1)?, call.tensor(2)?);
    let x = to_nhwc(call, call.tensor(0)?)?;
    let pixels = matrix(call, &x)?;
    let rows = pixels.shape().dims()[0];
    let mean = over_rows(call, Reduction::Mean, &pixels)?;
    let centred = zip(call, Binary::Sub, &pixels, &mean)?;
    let variance = over_rows(call, Reduction::Mean, &map(call, Unary::Square, &centred)?)?;
    let y = normalized(call, &x, [&mean, &variance, scale, offset], None, Activation::Identity)?;
    let unbiased = if rows > 1 { rows as f64 / (rows - 1) as f64 } else { 1.0 };
    let weight = average_factor(call.attrs)?;
    let given_mean = averaged(call, call.tensor(3)?, mean.clone(), weight)?;
    let given_variance = averaged(call, call.tensor(4)?, scaled(call, &variance, unbiased)?, weight)?;
    normalization_results(call, y, [&given_mean, &given_variance, &mean, &variance])
}

/// The gradients with respect to operand, scale and offset.
fn gradient(call: &DeviceCall<'_>) -> Queued {
    let x = to_nhwc(call, call.tensor(1)?)?;
    let dy = matrix(call, &to_nhwc(call, call.tensor(0)?)?)?;
    let pixels = matrix(call, &x)?;
    let channels = &call.result(1)?.shape;
    let vector = |at| call.tensor(at)?.reshape(channels);
    let (scale, mean, variance) = (vector(2)?, vector(3)?, vector(4)?);
    let shifted = zip(call, Binary::Add, &variance, &scalar(call, DType::F32, epsilon(call.attrs)?)?)?;
    let inverse = map(call, Unary::Rsqrt, &shifted)?;
    let centred = zip(call, Binary::Sub, &pixels, &mean)?;
    let doffset = over_rows(call, Reduction::Sum, &dy)?;
    let dots = over_rows(call, Reduction::Sum, &zip(call, Binary::Mul, &dy, &centred)?)?;
    let dscale = zip(call, Binary::Mul, &dots, &inverse)?;
    let mut rest = dy;
    let rows = pixels.shape().dims()[0];
    if is_training(call.attrs)? && rows > 0 {
        // Mean and variance depend on the operand too.
        let share = 1.0 / rows as f64;
        let square = map(call, Unary::Square, &inverse)?;
        let slope = scaled(call, &zip(call, Binary::Mul, &dots, &square)?, share)?;
        rest = zip(call, Binary::Sub, &rest, &scaled(call, &doffset, share)?)?;
        rest = zip(call, Binary::Sub, &rest, &zip(call, Binary::Mul, &centred, &slope)?)?;
    }
    let dx = zip(call, Binary::Mul, &rest, &zip(call, Binary::Mul, &scale, &inverse)?)?;
    let dx = cast(call, &dx, x.dtype(), false)?.reshape(x.shape())?;
    let empty = |at| Ok::<_, crate::DeviceOpError>(AsyncValue::new(call.allocate(at)?));
    let tensors = smallvec![
        AsyncValue::new(from_nhwc(call, dx)?),
        AsyncValue::new(dscale),
        AsyncValue::new(doffset),
        empty(3)?,
        empty(4)?
    ];
    Ok(OpResult { tensors, done: None })
}

pub(super) fn register(ops: &mut OpRegistry) {
    for name in ["tf.FusedBatchNorm", "tf.FusedBatchNormV2", "tf.FusedBatchNormV3"] {
        ops.extend(name).device(fused_batch_norm);
    }
    for name in ["tf.FusedBatchNormGrad", "tf.FusedBatchNormGradV2", "tf.FusedBatchNormGradV3"] {
        ops.extend(name).device(gradient);
    }
}
