//! `onnx.Attention`.

use tfrt_device::{
    front::{Attention, AttentionMask, AttentionRows},
    hal::AttentionExtents,
};
use tfrt_host::DType;
use tfrt_tensor::{TensorMetadata, TensorShape};

use super::{super::Queued, composed_attention, device, device_if_given, inputs, results};
use crate::{
    DeviceCall, DeviceOpResult, DeviceTensor, OpRegistry,
    ops::{
        device::{arrays::permuted, attention::queue, check_floats, count, expression::cast},
        onnx::{
            arguments::{flag, pick, wanted},
            attention::{Extents, Heads, MaskLayout, REQUIRED},
        },
        support::{float_attr, invalid},
    },
};

/// Returns heads as [batch, heads, length, size].
pub(super) fn unpacked(
    call: &DeviceCall<'_>,
    x: &DeviceTensor,
    heads: &Heads,
) -> DeviceOpResult<DeviceTensor> {
    if !heads.is_packed {
        return Ok(x.clone());
    }
    let Heads { batch, heads, length, size, .. } = *heads;
    if length == 1 || heads == 1 {
        return Ok(x.reshape(&TensorShape::new(&[batch, heads, length, size])?)?);
    }
    permuted(call, &x.reshape(&TensorShape::new(&[batch, length, heads, size])?)?, &[0, 2, 1, 3])
}

/// Returns keys or values of all steps.
pub(super) fn joined(
    call: &DeviceCall<'_>,
    past: Option<&DeviceTensor>,
    now: &DeviceTensor,
) -> DeviceOpResult<DeviceTensor> {
    let Some(past) = past else { return Ok(now.clone()) };
    let (before, own) = (past.shape().dims(), now.shape().dims());
    let (&[batch, heads, first, size], &[_, _, second, _]) = (before, own) else {
        return Err(invalid("keys and values have 4 dimensions").into());
    };
    let shape = TensorShape::new(&[batch, heads, first + second, size])?;
    let y = call.allocate_as(&TensorMetadata::new(now.dtype(), shape))?;
    if count(&y) == 0 {
        return Ok(y);
    }
    let bytes = now.dtype().size().unwrap_or(0) * size;
    let [first, second] = [first, second].map(|rows| (rows * bytes) as u64);
    let (kernels, stream, pitch) = (call.queue.kernels(), call.queue.stream(), first + second);
    let rows = (batch * heads) as u64;
    kernels.copy_rows(stream, (y.buffer(), 0, pitch), (past.buffer(), 0, first), first, rows)?;
    kernels.copy_rows(stream, (y.buffer(), first, pitch), (now.buffer(), 0, second), second, rows)?;
    Ok(y)
}

/// Returns keys or values of all steps, and how their heads lie: where they are, if nothing comes
/// before them and no result is wanted.
fn all_steps(
    call: &DeviceCall<'_>,
    past: Option<&DeviceTensor>,
    now: &DeviceTensor,
    (heads, length, is_wanted): (&Heads, usize, bool),
) -> DeviceOpResult<(DeviceTensor, Heads)> {
    if past.is_none() && !is_wanted {
        return Ok((now.clone(), *heads));
    }
    let all = joined(call, past, &unpacked(call, now, heads)?)?;
    Ok((all, Heads { length, is_packed: false, ..*heads }))
}

/// Returns the rows of heads in memory.
fn rows<'a>(tensor: &'a DeviceTensor, heads: &Heads) -> AttentionRows<'a> {
    let Heads { heads, length, size, is_packed, .. } = *heads;
    let row = if is_packed { heads.saturating_mul(size) } else { size };
    let head = if is_packed { size } else { length.saturating_mul(size) };
    let batch = heads.saturating_mul(length).saturating_mul(size);
    AttentionRows { buffer: tensor.buffer(), strides: [batch, head, row].map(|stride| stride as u64) }
}

fn fused(call: &DeviceCall<'_>) -> Queued {
    let [q, k, v, mask, past_key, past_value, lengths] = inputs(call)?;
    let (q, k, v) = (device(call, q, "Q")?, device(call, k, "K")?, device(call, v, "V")?);
    let past = [device_if_given(call, past_key)?, device_if_given(call, past_value)?];
    let shapes = past.map(|past| past.map(DeviceTensor::shape));
    let extents = Extents::of(call.attrs, [q.shape(), k.shape(), v.shape()], shapes)?;
    let (wanted, keys) = (wanted(call.attrs, REQUIRED)?, extents.keys());
    let mask = device_if_given(call, mask)?;
    let layout = mask.map(|mask| MaskLayout::new(mask.shape(), &extents)).transpose()?;
    let lengths = device_if_given(call, lengths)?;
    if lengths.is_some_and(|lengths| count(lengths) != extents.q.batch as u64) {
        return Err(invalid("nonpad_kv_seqlen must have a number for each of the batch").into());
    }
    let lengths = lengths.map(|lengths| cast(call, lengths, DType::I64, false)).transpose()?;
    let (all_keys, key_heads) = all_steps(call, past[0], k, (&extents.k, keys, wanted[1]))?;
    let (all_values, value_heads) = all_steps(call, past[1], v, (&extents.v, keys, wanted[2]))?;
    let y = call.allocate(0)?;
    if count(&y) > 0 {
        let q_heads = extents.q;
        let scale = float_attr(call.attrs, "scale")?.unwrap_or(1.0 / (q_heads.size as f64).sqrt());
        let attention = Attention {
            dtype: q.dtype(),
            extents: AttentionExtents {
                batch: q_heads.batch as u64,
                heads: q_heads.heads as u64,
                shared: (q_heads.heads / key_heads.heads) as u64,
                rows: q_heads.length as u64,
                keys: keys as u64,
                depth: q_heads.size as u64,
                size: value_heads.size as u64,
            },
            output: rows(&y, &Heads { size: value_heads.size, ..q_heads }),
            queries: rows(q, &q_heads),
            keys: rows(&all_keys, &key_heads),
            values: rows(&all_values, &value_heads),
            mask: mask.zip(layout).map(|(mask, layout)| AttentionMask {
                buffer: mask.buffer(),
                dtype: mask.dtype(),
                strides: layout.strides.map(|stride| stride as u64),
                keys: layout.columns as u64,
            }),
            lengths: lengths.as_ref().map(DeviceTensor::buffer),
            causal: flag(call.attrs, "is_causal", false)?.then_some(extents.past as u64),
            scale: scale as f32,
            cap: float_attr(call.attrs, "softcap")?.unwrap_or(0.0) as f32,
        };
        queue(call, &attention, &mut None)?;
    }
    let outputs = [y.clone(), all_keys, all_values, y];
    results(pick(outputs, wanted))
}

fn attention(call: &DeviceCall<'_>) -> Queued {
    let [q, k, v, mask, past_key, past_value, _] = inputs(call)?;
    let dtype = device(call, q, "Q")?.dtype();
    check_floats(dtype, "onnx.Attention")?;
    let mut is_of_one_type = true;
    for operand in [k, v, past_key, past_value] {
        is_of_one_type &= device_if_given(call, operand)?.is_none_or(|operand| operand.dtype() == dtype);
    }
    let is_mask_taken = |mask: &DeviceTensor| mask.dtype() == dtype || mask.dtype() == DType::I1;
    let is_taken = device_if_given(call, mask)?.is_none_or(is_mask_taken);
    match dtype != DType::F64 && is_of_one_type && is_taken && !wanted(call.attrs, REQUIRED)?[3] {
        true => fused(call),
        false => composed_attention::attention(call),
    }
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.extend("onnx.Attention").device(attention);
}
