//! `onnx.BatchNormalization` and `onnx.LRN`, as expressions of [batch, channels, plane].

use tfrt_launch::{Binary, Reduction, Unary, VolumeAxis, VolumeWindow};
use tfrt_tensor::TensorShape;

use super::{super::Queued, results, wide};
use crate::{
    DeviceCall, DeviceOpResult, DeviceTensor, OpRegistry,
    ops::{
        device::{
            arrays::reduced,
            check_floats, count,
            expression::{cast, map, scalar, scaled, zip},
        },
        onnx::{
            arguments::{count_or, flag, pick, wanted},
            normalize::{epsilon, planes},
        },
        support::{float_attr, invalid},
    },
};

fn batch(call: &DeviceCall<'_>) -> Queued {
    let [x, scale, bias, mean, variance] = call.tensors()?;
    check_floats(x.dtype(), "onnx.BatchNormalization")?;
    let [images, channels, plane] = planes(x.shape())?;
    let (work, each) = (wide(x.dtype()), TensorShape::new(&[channels, 1])?);
    let column = |vector: &DeviceTensor| -> DeviceOpResult<DeviceTensor> {
        Ok(cast(call, vector, work, false)?.reshape(&each)?)
    };
    let (given_mean, given_variance) = (column(mean)?, column(variance)?);
    let pixels = cast(call, x, work, false)?.reshape(&TensorShape::new(&[images, channels, plane])?)?;
    let is_training = flag(call.attrs, "training_mode", false)?;
    let average = |x: &DeviceTensor| -> DeviceOpResult<DeviceTensor> {
        Ok(reduced(call, Reduction::Mean, x, &[0, 2], false)?.reshape(&each)?)
    };
    let own_mean = if is_training { average(&pixels)? } else { given_mean.clone() };
    let centred = zip(call, Binary::Sub, &pixels, &own_mean)?;
    let own_variance = match is_training {
        true => average(&map(call, Unary::Square, &centred)?)?,
        false => given_variance.clone(),
    };
    let shifted = zip(call, Binary::Add, &own_variance, &scalar(call, work, epsilon(call.attrs)?)?)?;
    let factor = zip(call, Binary::Div, &column(scale)?, &map(call, Unary::Sqrt, &shifted)?)?;
    let y = zip(call, Binary::Add, &zip(call, Binary::Mul, &centred, &factor)?, &column(bias)?)?;
    let y = cast(call, &y, x.dtype(), false)?.reshape(x.shape())?;
    if !is_training {
        return Ok(y.into());
    }
    let momentum = float_attr(call.attrs, "momentum")?.unwrap_or(f64::from(0.9f32));
    let running = |old: &DeviceTensor, new: &DeviceTensor, like: &DeviceTensor| {
        let (old, new) = (scaled(call, old, momentum)?, scaled(call, new, 1.0 - momentum)?);
        let sum = zip(call, Binary::Add, &old, &new)?;
        Ok::<_, crate::DeviceOpError>(cast(call, &sum, like.dtype(), false)?.reshape(like.shape())?)
    };
    let means = running(&given_mean, &own_mean, mean)?;
    let variances = running(&given_variance, &own_variance, variance)?;
    results(pick([y, means, variances], wanted(call.attrs, [true, true, true])?))
}

/// Returns the mean of `size` neighbouring channels, of which those that do not exist are zeros.
fn mean_of_neighbours(
    call: &DeviceCall<'_>,
    x: &DeviceTensor,
    [images, channels, plane]: [usize; 3],
    size: usize,
) -> DeviceOpResult<DeviceTensor> {
    const UNIT: VolumeAxis =
        VolumeAxis { input: 1, output: 1, kernel: 1, stride: 1, dilation: 1, padding: [0; 2] };
    let [channels, plane] = [channels as u64, plane as u64];
    // A window of more channels than there are sees no others.
    let [before, after] = [(size - 1) / 2, size / 2].map(|beside| (beside as u64).min(channels));
    let kernel = before + after + 1;
    let along = VolumeAxis {
        input: channels,
        output: channels,
        kernel,
        padding: [before as i64, after as i64],
        ..UNIT
    };
    let window = VolumeWindow { axes: [UNIT, along, VolumeAxis { input: plane, output: plane, ..UNIT }] };
    let y = call.allocate_as(x.metadata())?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.volume_average(stream, x.dtype(), y.buffer(), x.buffer(), (images as u64, &window), true)?;
    if kernel == size as u64 { Ok(y) } else { scaled(call, &y, kernel as f64 / size as f64) }
}

fn response(call: &DeviceCall<'_>) -> Queued {
    let [x] = call.tensors()?;
    check_floats(x.dtype(), "onnx.LRN")?;
    let size = count_or(call.attrs, "size", 0)?;
    if size == 0 {
        return Err(invalid("attribute 'size' must be positive").into());
    }
    if count(x) == 0 {
        return Ok(x.clone().into());
    }
    let number =
        |name, default| Ok::<f64, crate::DeviceOpError>(float_attr(call.attrs, name)?.unwrap_or(default));
    let (alpha, beta, bias) =
        (number("alpha", f64::from(1e-4f32))?, number("beta", 0.75)?, number("bias", 1.0)?);
    let pixels = cast(call, x, wide(x.dtype()), false)?;
    let squares = map(call, Unary::Square, &pixels)?;
    let means = mean_of_neighbours(call, &squares, planes(x.shape())?, size)?;
    let value = |value| scalar(call, pixels.dtype(), value);
    let norm = zip(call, Binary::Add, &scaled(call, &means, alpha)?, &value(bias)?)?;
    let factor = zip(call, Binary::Pow, &norm, &value(beta)?)?;
    Ok(cast(call, &zip(call, Binary::Div, &pixels, &factor)?, x.dtype(), false)?.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.extend("onnx.BatchNormalization").device(batch);
    ops.extend("onnx.LRN").device(response);
}
