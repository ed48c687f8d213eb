//! Changes of shape, slices and paddings, controlled by arguments on the host.

use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::{HostTensor, TensorShape};

use super::{super::Queued, device, host_if_given, inputs};
use crate::{
    DeviceCall, DeviceOpResult, DeviceTensor, HostArguments, OpRegistry,
    ops::{
        device::{
            arrays::{padded, padded_widely, padding_value},
            expression::{broadcast, moved},
            image::chosen,
        },
        moves::{Axis, Moves},
        onnx::{
            pad::{Mode, Padding, sources},
            shape::{expanded_to, reshaped_to, sliced, squeezed_to, unsqueezed_to},
        },
        support::invalid,
    },
};

fn reshape(call: &DeviceCall<'_>) -> Queued {
    let x = call.tensor(0)?;
    Ok(x.reshape(&reshaped_to(x.shape(), call.host(1)?, call.attrs)?)?.into())
}

fn expand(call: &DeviceCall<'_>) -> Queued {
    let x = call.tensor(0)?;
    Ok(broadcast(call, x, &expanded_to(x.shape(), call.host(1)?)?)?.into())
}

fn slice(call: &DeviceCall<'_>) -> Queued {
    let [x, how @ ..] = inputs::<5>(call)?;
    let x = device(call, x, "data")?;
    let mut given = [None; 4];
    for (given, input) in given.iter_mut().zip(how) {
        *given = host_if_given(call, input)?;
    }
    let moves = sliced(x.shape().dims(), given)?;
    Ok(moved(call, x, &moves, moves.dims())?.into())
}

fn squeeze(call: &DeviceCall<'_>) -> Queued {
    let [x, axes] = inputs::<2>(call)?;
    let x = device(call, x, "data")?;
    Ok(x.reshape(&squeezed_to(x.shape(), host_if_given(call, axes)?)?)?.into())
}

fn unsqueeze(call: &DeviceCall<'_>) -> Queued {
    let x = call.tensor(0)?;
    Ok(x.reshape(&unsqueezed_to(x.shape(), call.host(1)?)?)?.into())
}

/// Returns a tensor without the elements that negative padding crops.
fn cropped(call: &DeviceCall<'_>, x: &DeviceTensor, pads: &[[i64; 2]]) -> DeviceOpResult<DeviceTensor> {
    let axes = x.shape().dims().iter().zip(pads).map(|(&dim, &[before, after])| {
        let start = usize::try_from(before.min(0).unsigned_abs()).unwrap_or(dim).min(dim);
        let end = usize::try_from(after.min(0).unsigned_abs()).unwrap_or(dim).min(dim - start);
        Axis::Steps { start: if start == dim { 0 } else { start }, step: 1, count: dim - start - end }
    });
    let moves = Moves::new(x.shape().dims(), axes.collect());
    moved(call, x, &moves, moves.dims())
}

/// Surrounds a tensor with a number, or with zeros.
fn with_constant(
    call: &DeviceCall<'_>,
    x: &DeviceTensor,
    pads: &[[i64; 2]],
    constant: Option<&HostTensor>,
) -> DeviceOpResult<DeviceTensor> {
    let x = cropped(call, x, pads)?;
    let pads: Vec<(usize, usize)> =
        pads.iter().map(|&[before, after]| (before.max(0) as usize, after.max(0) as usize)).collect();
    let Some(constant) = constant else { return padded(call, &x, &pads, None) };
    let number = constant.dense()?.reshape(TensorShape::scalar())?.into();
    match x.dtype() {
        DType::Complex128 => padded_widely(call, &x, &pads, &number),
        dtype => padded(call, &x, &pads, Some(padding_value(&number, dtype)?)),
    }
}

/// Surrounds a tensor with elements of its own, one dimension after the other.
fn with_own(call: &DeviceCall<'_>, x: &DeviceTensor, padding: &Padding) -> DeviceOpResult<DeviceTensor> {
    let mut y = x.clone();
    for (axis, &pads) in padding.pads.iter().enumerate() {
        let extents = (y.shape().dims()[axis], padding.shape.dims()[axis]);
        let places: Option<Vec<usize>> = sources(padding.mode, pads, extents)?.into_iter().collect();
        let places = places.ok_or_else(|| Diagnostic::internal("a padding has no source"))?;
        y = chosen(call, &y, axis, &places)?;
    }
    Ok(y)
}

fn pad(call: &DeviceCall<'_>) -> Queued {
    let [x, pads, constant, axes] = inputs::<4>(call)?;
    let x = device(call, x, "data")?;
    let padding = Padding::of(call.attrs, x.shape(), host_if_given(call, pads)?, host_if_given(call, axes)?)?;
    let constant = host_if_given(call, constant)?;
    if let Some(constant) = constant
        && constant.dtype() != x.dtype()
    {
        let message = format!("constant_value must be of type {}, got {}", x.dtype(), constant.dtype());
        return Err(invalid(message).into());
    }
    let constant = match constant {
        Some(constant) if constant.shape().num_elements()? == 0 => None,
        other => other,
    };
    if padding.mode == Mode::Constant {
        return Ok(with_constant(call, x, &padding.pads, constant)?.into());
    }
    if padding.shape.num_elements()? == 0 {
        let metadata = tfrt_tensor::TensorMetadata::new(x.dtype(), padding.shape);
        return Ok(call.allocate_as(&metadata)?.into());
    }
    Ok(with_own(call, x, &padding)?.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    let second = HostArguments::at(&[1]);
    ops.extend("onnx.Reshape").device_with(reshape, second);
    ops.extend("onnx.Expand").device_with(expand, second);
    ops.extend("onnx.Slice").device_with(slice, HostArguments::at(&[1, 2, 3, 4]));
    ops.extend("onnx.Squeeze").device_with(squeeze, second);
    ops.extend("onnx.Unsqueeze").device_with(unsqueeze, second);
    ops.extend("onnx.Pad").device_with(pad, HostArguments::at(&[1, 2, 3]));
}
