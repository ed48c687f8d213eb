//! Normalization of rows and of groups of channels, as expressions of matrices with a row for each
//! mean. They are computed in f32, or in f64 for elements of that type, and rounded once.

use smallvec::SmallVec;
use tfrt_host::{AsyncValue, DType};
use tfrt_launch::{Binary, Reduction, Unary};
use tfrt_tensor::TensorShape;

use super::{
    Queued,
    arrays::reduced,
    expression::{cast, map, scalar, zip},
};
use crate::{
    DeviceCall, DeviceOpResult, DeviceTensor, OpRegistry, OpResult,
    ops::{
        onnx::{
            arguments::{count_or, formal, pick, wanted},
            normalize::{epsilon, group_size, planes, row_axis},
        },
        support::product,
    },
};

/// A matrix whose rows have a variance of 1, and what they were shifted and multiplied by.
struct Normalized {
    y: DeviceTensor,
    mean: DeviceTensor,
    factor: DeviceTensor,
}

/// Returns the type that elements of a type are computed in.
fn wide(dtype: DType) -> DType {
    if dtype == DType::F64 { DType::F64 } else { DType::F32 }
}

/// Returns a tensor as a matrix of a type that is computed in.
fn matrix(call: &DeviceCall<'_>, x: &DeviceTensor, dims: [usize; 2]) -> DeviceOpResult<DeviceTensor> {
    cast(call, &x.reshape(&TensorShape::new(&dims)?)?, wide(x.dtype()), false)
}

/// Returns `1 / sqrt(mean(x²) + epsilon)` for each row.
fn inverse_size(call: &DeviceCall<'_>, x: &DeviceTensor) -> DeviceOpResult<DeviceTensor> {
    let mean = reduced(call, Reduction::Mean, &map(call, Unary::Square, x)?, &[1], true)?;
    let epsilon = scalar(call, x.dtype(), epsilon(call.attrs)?)?;
    map(call, Unary::Rsqrt, &zip(call, Binary::Add, &mean, &epsilon)?)
}

/// Normalizes the rows of a matrix.
fn normalized(call: &DeviceCall<'_>, x: &DeviceTensor) -> DeviceOpResult<Normalized> {
    let mean = reduced(call, Reduction::Mean, x, &[1], true)?;
    let centred = zip(call, Binary::Sub, x, &mean)?;
    let factor = inverse_size(call, &centred)?;
    Ok(Normalized { y: zip(call, Binary::Mul, &centred, &factor)?, mean, factor })
}

/// Returns `y · scale + bias`, broadcast.
fn adjusted(
    call: &DeviceCall<'_>,
    y: &DeviceTensor,
    scale: &DeviceTensor,
    bias: Option<&DeviceTensor>,
) -> DeviceOpResult<DeviceTensor> {
    let y = zip(call, Binary::Mul, y, &cast(call, scale, y.dtype(), false)?)?;
    match bias {
        Some(bias) => zip(call, Binary::Add, &y, &cast(call, bias, y.dtype(), false)?),
        None => Ok(y),
    }
}

fn layer(call: &DeviceCall<'_>) -> Queued {
    let given: SmallVec<[usize; 3]> = (0..call.arguments.len()).collect();
    let [_, _, bias] = formal::<_, 3>(&given, call.attrs)?;
    let (x, scale) = (call.tensor(0)?, call.tensor(1)?);
    let bias = bias.map(|index| call.tensor(index)).transpose()?;
    let (dims, axis) = (x.shape().dims(), row_axis(call.attrs, x.shape())?);
    let rows = [product(&dims[..axis]), product(&dims[axis..])];
    let Normalized { y, mean, factor } = normalized(call, &matrix(call, x, rows)?)?;
    let y = adjusted(call, &y.reshape(x.shape())?, scale, bias)?;
    let mut reduced = dims.to_vec();
    reduced[axis..].fill(1);
    let reduced = TensorShape::new(&reduced)?;
    let statistic = |tensor: DeviceTensor| -> DeviceOpResult<DeviceTensor> {
        Ok(cast(call, &tensor, DType::F32, false)?.reshape(&reduced)?)
    };
    let outputs = [cast(call, &y, x.dtype(), false)?, statistic(mean)?, statistic(factor)?];
    let outputs = pick(outputs, wanted(call.attrs, [true, false, false])?);
    Ok(OpResult { tensors: outputs.into_iter().map(AsyncValue::new).collect(), done: None })
}

fn rms(call: &DeviceCall<'_>) -> Queued {
    let [x, scale] = call.tensors()?;
    let (dims, axis) = (x.shape().dims(), row_axis(call.attrs, x.shape())?);
    let rows = matrix(call, x, [product(&dims[..axis]), product(&dims[axis..])])?;
    let y = zip(call, Binary::Mul, &rows, &inverse_size(call, &rows)?)?;
    let y = adjusted(call, &y.reshape(x.shape())?, scale, None)?;
    Ok(cast(call, &y, x.dtype(), false)?.into())
}

/// Normalizes groups of `group` channels.
fn grouped(call: &DeviceCall<'_>, group: usize) -> Queued {
    let [x, scale, bias] = call.tensors()?;
    let [batch, channels, plane] = planes(x.shape())?;
    let rows = [batch.saturating_mul(channels / group.max(1)), group.saturating_mul(plane)];
    let y = normalized(call, &matrix(call, x, rows)?)?.y;
    let each = TensorShape::new(&[channels, 1])?;
    let (scale, bias) = (scale.reshape(&each)?, bias.reshape(&each)?);
    let y = y.reshape(&TensorShape::new(&[batch, channels, plane])?)?;
    let y = adjusted(call, &y, &scale, Some(&bias))?;
    Ok(cast(call, &y, x.dtype(), false)?.reshape(x.shape())?.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.extend("onnx.LayerNormalization").device(layer);
    ops.extend("onnx.RMSNormalization").device(rms);
    ops.extend("onnx.InstanceNormalization").device(|call| grouped(call, 1));
    ops.extend("onnx.GroupNormalization").device(|call| {
        let groups = count_or(call.attrs, "num_groups", 0)?;
        grouped(call, group_size(call.tensor(0)?.shape(), groups)?)
    });
}
