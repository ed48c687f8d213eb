//! Normalization of rows and of groups of channels, computed in f32, or in f64 for elements of that
//! type, and rounded once.

use tfrt_host::DType;
use tfrt_launch::{Normalization, NormalizationBuffers, Rows};
use tfrt_tensor::{TensorMetadata, TensorShape};

use super::{
    super::{Queued, expression::broadcast},
    inputs, results,
};
use crate::{
    DeviceCall, DeviceTensor, OpRegistry,
    ops::{
        onnx::{
            arguments::{count_or, wanted},
            normalize::{epsilon, group_size, planes, row_axis},
        },
        support::product,
    },
};

/// A matrix with as many rows and columns.
fn matrix(rows: usize, columns: usize) -> Rows {
    Rows { rows: rows as u64, columns: columns as u64 }
}

/// Normalizes rows, each by its mean if `centered`. Argument 1 is the scale, and `bias` the number
/// of the bias.
fn normalized(call: &DeviceCall<'_>, bias: Option<usize>, centered: bool, wanted: [bool; 3]) -> Queued {
    let (x, scale) = (call.tensor(0)?, call.tensor(1)?);
    let bias = bias.map(|index| call.tensor(index)).transpose()?;
    let (dims, axis) = (x.shape().dims(), row_axis(call.attrs, x.shape())?);
    // Mostly, scale and bias have an element for each column, else one for each element of `x`.
    let leading = |tensor: &DeviceTensor| tensor.shape().rank().saturating_sub(dims.len() - axis);
    let repeats =
        |tensor: &DeviceTensor| tensor.shape().dims()[..leading(tensor)].iter().all(|&dim| dim == 1);
    let repeats = repeats(scale) && bias.is_none_or(repeats);
    let spread = |tensor: &DeviceTensor| match repeats {
        true => {
            let trailing = TensorShape::new(&tensor.shape().dims()[leading(tensor)..])?;
            broadcast(call, &tensor.reshape(&trailing)?, &TensorShape::new(&dims[axis..])?)
        }
        false => broadcast(call, tensor, x.shape()),
    };
    let (scale, bias) = (spread(scale)?, bias.map(spread).transpose()?);
    let mut reduced = dims.to_vec();
    reduced[axis..].fill(1);
    let reduced = TensorMetadata::new(DType::F32, TensorShape::new(&reduced)?);
    let statistic = |index: usize| wanted[index].then(|| call.allocate_as(&reduced)).transpose();
    let (y, means, factors) = (call.reuse(&[0], 0)?, statistic(1)?, statistic(2)?);
    let buffers = NormalizationBuffers {
        y: y.buffer(),
        means: means.as_ref().map(DeviceTensor::buffer),
        factors: factors.as_ref().map(DeviceTensor::buffer),
        x: x.buffer(),
        scale: scale.buffer(),
        shift: bias.as_ref().map(DeviceTensor::buffer),
    };
    let (rows, columns) = (product(&dims[..axis]), product(&dims[axis..]));
    let how = Normalization {
        rows: matrix(rows, columns),
        period: if repeats { 1 } else { rows as u64 },
        plane: 1,
        epsilon: epsilon(call.attrs)? as f32,
        centered,
    };
    call.queue.kernels().normalize(call.queue.stream(), x.dtype(), buffers, how)?;
    results([wanted[0].then_some(y), means, factors].into_iter().flatten())
}

fn layer(call: &DeviceCall<'_>) -> Queued {
    let [_, _, bias] = inputs(call)?;
    normalized(call, bias, true, wanted(call.attrs, [true, false, false])?)
}

/// Normalizes groups of `group` channels.
fn grouped(call: &DeviceCall<'_>, group: usize) -> Queued {
    let [x, scale, bias] = call.tensors()?;
    let [batch, channels, plane] = planes(x.shape())?;
    let groups = channels / group.max(1);
    let y = call.reuse(&[0], 0)?;
    let buffers = NormalizationBuffers {
        y: y.buffer(),
        means: None,
        factors: None,
        x: x.buffer(),
        scale: scale.buffer(),
        shift: Some(bias.buffer()),
    };
    let how = Normalization {
        rows: matrix(batch.saturating_mul(groups), group.saturating_mul(plane)),
        period: groups as u64,
        plane: plane as u64,
        epsilon: epsilon(call.attrs)? as f32,
        centered: true,
    };
    call.queue.kernels().normalize(call.queue.stream(), x.dtype(), buffers, how)?;
    Ok(y.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.extend("onnx.LayerNormalization").device(layer);
    ops.extend("onnx.RMSNormalization").device(|call| normalized(call, None, false, [true, false, false]));
    ops.extend("onnx.InstanceNormalization").device(|call| grouped(call, 1));
    ops.extend("onnx.GroupNormalization").device(|call| {
        let groups = count_or(call.attrs, "num_groups", 0)?;
        grouped(call, group_size(call.tensor(0)?.shape(), groups)?)
    });
}
