//! `onnx.RotaryEmbedding`.

use tfrt_host::DType;
use tfrt_launch::Rotation;

use super::{super::Queued, device, device_if_given, inputs};
use crate::{
    DeviceCall, DeviceTensor, OpRegistry,
    ops::{
        device::{check_floats, count, expression::cast},
        onnx::{
            arguments::{count_or, flag},
            attention::{Heads, rotated_pairs},
        },
        support::invalid,
    },
};

fn rotary(call: &DeviceCall<'_>) -> Queued {
    let [x, cos, sin, positions] = inputs(call)?;
    let (x, cos) = (device(call, x, "X")?, device(call, cos, "cos_cache")?);
    let sin = device(call, sin, "sin_cache")?;
    check_floats(x.dtype(), "onnx.RotaryEmbedding")?;
    if [cos, sin].iter().any(|cache| cache.dtype() != x.dtype()) {
        return Err(invalid(format!("the caches must be of type {}", x.dtype())).into());
    }
    let heads = Heads::of(x.shape(), count_or(call.attrs, "num_heads", 0)?, "X")?;
    let y = call.allocate(0)?;
    if count(&y) == 0 {
        return Ok(y.into());
    }
    let half = rotated_pairs(call.attrs, &heads, [cos.shape(), sin.shape()])?;
    let cached = count(cos).checked_div(half as u64).unwrap_or(0);
    let places = heads.batch.saturating_mul(heads.length) as u64;
    let positions = device_if_given(call, positions)?;
    let fits = match positions {
        Some(positions) => count(positions) == places,
        None => half == 0 || places <= cached,
    };
    if !fits {
        return Err(invalid("positions do not lie in the caches").into());
    }
    let positions = positions.map(|positions| cast(call, positions, DType::I64, false)).transpose()?;
    let rotation = Rotation {
        batch: heads.batch as u64,
        heads: heads.heads as u64,
        length: heads.length as u64,
        size: heads.size as u64,
        half: half as u64,
        cached,
        packed: heads.is_packed,
        interleaved: flag(call.attrs, "interleaved", false)?,
    };
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    let operands = [x.buffer(), cos.buffer(), sin.buffer()];
    let at = positions.as_ref().map(DeviceTensor::buffer);
    kernels.rotary(stream, x.dtype(), y.buffer(), operands, at, rotation)?;
    Ok(y.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.extend("onnx.RotaryEmbedding").device(rotary);
}
