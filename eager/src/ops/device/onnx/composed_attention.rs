//! `onnx.Attention` by products with a softmax between them: of `f64`, and where scores are wanted.

use tfrt_host::DType;
use tfrt_launch::{Rows, ScoreMask, Scores};
use tfrt_tensor::{TensorMetadata, TensorShape};

use super::{
    super::Queued,
    attention::{joined, unpacked},
    device, device_if_given, inputs, results, wide,
};
use crate::{
    DeviceCall, DeviceOpResult, DeviceTensor,
    ops::{
        device::{
            arrays::permuted,
            check_floats, count,
            expression::{broadcast, cast, constant, scalar, scaled},
            linear::product as multiply,
        },
        onnx::{
            arguments::{flag, int_or, pick, wanted},
            attention::{Extents, Heads, MaskLayout, REQUIRED},
        },
        support::{float_attr, invalid},
    },
};

/// Returns a mask in the type of scores: of truth values, what is false is minus infinity.
fn mask_of(call: &DeviceCall<'_>, mask: &DeviceTensor, dtype: DType) -> DeviceOpResult<DeviceTensor> {
    if mask.dtype() != DType::I1 {
        return cast(call, mask, dtype, false);
    }
    let y = call.allocate_as(&TensorMetadata::new(dtype, mask.shape().clone()))?;
    let seen = constant(call, y.metadata(), 0.0)?;
    let hidden = broadcast(call, &scalar(call, dtype, f64::NEG_INFINITY)?, mask.shape())?;
    let (kernels, stream, n) = (call.queue.kernels(), call.queue.stream(), count(&y));
    kernels.select(stream, dtype, y.buffer(), mask.buffer(), seen.buffer(), hidden.buffer(), n)?;
    Ok(y)
}

/// The operands of an attention in the type that is computed in, as [batch, heads, length, size].
struct Operands {
    queries: DeviceTensor,
    keys: DeviceTensor,
    values: DeviceTensor,
    mask: Option<(DeviceTensor, MaskLayout)>,
    lengths: Option<DeviceTensor>,
    extents: Extents,
}

impl Operands {
    fn of(call: &DeviceCall<'_>) -> DeviceOpResult<Self> {
        let [q, k, v, mask, past_key, past_value, lengths] = inputs(call)?;
        let (q, k, v) = (device(call, q, "Q")?, device(call, k, "K")?, device(call, v, "V")?);
        check_floats(q.dtype(), "onnx.Attention")?;
        let past = [device_if_given(call, past_key)?, device_if_given(call, past_value)?];
        let shapes = past.map(|past| past.map(DeviceTensor::shape));
        let extents = Extents::of(call.attrs, [q.shape(), k.shape(), v.shape()], shapes)?;
        let dtype = wide(q.dtype());
        let heads = |x: &DeviceTensor, heads: &Heads| unpacked(call, &cast(call, x, dtype, false)?, heads);
        let [past_key, past_value] = past;
        let widened =
            |past: Option<&DeviceTensor>| past.map(|past| cast(call, past, dtype, false)).transpose();
        let mask = device_if_given(call, mask)?;
        let mask = mask.map(|mask| {
            let layout = MaskLayout::new(mask.shape(), &extents)?;
            Ok::<_, crate::DeviceOpError>((mask_of(call, mask, dtype)?, layout))
        });
        let lengths = device_if_given(call, lengths)?;
        if lengths.is_some_and(|lengths| count(lengths) != extents.q.batch as u64) {
            return Err(invalid("nonpad_kv_seqlen must have a number for each of the batch").into());
        }
        let scale = float_attr(call.attrs, "scale")?.unwrap_or(1.0 / (extents.q.size as f64).sqrt());
        Ok(Self {
            queries: scaled(call, &heads(q, &extents.q)?, scale)?,
            keys: joined(call, widened(past_key)?.as_ref(), &heads(k, &extents.k)?)?,
            values: joined(call, widened(past_value)?.as_ref(), &heads(v, &extents.v)?)?,
            mask: mask.transpose()?,
            lengths: lengths.map(|lengths| cast(call, lengths, DType::I64, false)).transpose()?,
            extents,
        })
    }

    /// Returns the product of the queries, or of their scores, with what each group of heads shares.
    fn product(
        &self,
        call: &DeviceCall<'_>,
        [x, shared]: [&DeviceTensor; 2],
        (depth, columns): (usize, usize),
        transposes: bool,
    ) -> DeviceOpResult<DeviceTensor> {
        let Extents { q, k, .. } = &self.extents;
        let rows = (q.heads / k.heads).saturating_mul(q.length);
        let x = x.reshape(&TensorShape::new(&[q.batch, k.heads, rows, depth])?)?;
        let shape = TensorShape::new(&[q.batch, k.heads, rows, columns])?;
        let y = call.allocate_as(&TensorMetadata::new(x.dtype(), shape))?;
        if count(&y) > 0 {
            multiply(call, "onnx.Attention", [false, transposes], [&x, shared], &y)?;
        }
        Ok(y.reshape(&TensorShape::new(&[q.batch, q.heads, q.length, columns])?)?)
    }

    /// Returns scores with the changes of `changes`, in the same memory unless they are kept.
    fn changed(
        &self,
        call: &DeviceCall<'_>,
        x: &DeviceTensor,
        is_kept: bool,
        changes: Scores<'_>,
    ) -> DeviceOpResult<DeviceTensor> {
        let y = if is_kept { call.allocate_as(x.metadata())? } else { x.clone() };
        let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
        kernels.attention_scores(stream, x.dtype(), y.buffer(), x.buffer(), changes)?;
        Ok(y)
    }

    /// Returns the probabilities, and the scores at the stage `mode`.
    fn probabilities(
        &self,
        call: &DeviceCall<'_>,
        scores: DeviceTensor,
        mode: i64,
    ) -> DeviceOpResult<[DeviceTensor; 2]> {
        let Extents { q, past, .. } = &self.extents;
        let columns = self.extents.keys();
        let cap = float_attr(call.attrs, "softcap")?.unwrap_or(0.0);
        let mask = self.mask.as_ref().map(|(mask, layout)| ScoreMask {
            buffer: mask.buffer(),
            strides: layout.strides.map(|stride| stride as u64),
            columns: layout.columns as u64,
        });
        let all = Scores {
            extents: [q.batch, q.heads, q.length, columns].map(|extent| extent as u64),
            mask,
            lengths: self.lengths.as_ref().map(DeviceTensor::buffer),
            cap,
            causal: flag(call.attrs, "is_causal", false)?.then_some(*past as u64),
        };
        let mut kept = scores.clone();
        let mut y = scores;
        if mode == 1 {
            y = self.changed(call, &y, false, Scores { mask: None, lengths: None, causal: None, ..all })?;
            kept = y.clone();
            y = self.changed(call, &y, true, Scores { cap: 0.0, ..all })?;
        } else {
            y = self.changed(call, &y, mode == 0, all)?;
        }
        if mode == 2 {
            kept = y.clone();
            y = call.allocate_as(kept.metadata())?;
        }
        let from = if mode == 2 { &kept } else { &y };
        let rows = count(&y).checked_div(columns as u64).unwrap_or(0);
        let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
        let shape = Rows { rows, columns: columns as u64 };
        kernels.softmax(stream, y.dtype(), false, y.buffer(), from.buffer(), shape)?;
        if mode == 3 {
            kept = y.clone();
        }
        Ok([y, kept])
    }
}

pub(super) fn attention(call: &DeviceCall<'_>) -> Queued {
    let operands = Operands::of(call)?;
    let (dtype, wanted) = (call.tensor(0)?.dtype(), wanted(call.attrs, REQUIRED)?);
    let [y_shape, ..] = operands.extents.outputs()?;
    let Extents { q, v, .. } = operands.extents;
    let (columns, mode) = (operands.extents.keys(), int_or(call.attrs, "qk_matmul_output_mode", 0)?);
    let scores = operands.product(call, [&operands.queries, &operands.keys], (q.size, columns), true)?;
    let [probabilities, kept] = operands.probabilities(call, scores, if wanted[3] { mode } else { -1 })?;
    let y = operands.product(call, [&probabilities, &operands.values], (columns, v.size), false)?;
    let y = if q.is_packed { permuted(call, &y, &[0, 2, 1, 3])? } else { y };
    let narrow = |x: &DeviceTensor| cast(call, x, dtype, false);
    let y = narrow(&y)?.reshape(&y_shape)?;
    let outputs = [y, narrow(&operands.keys)?, narrow(&operands.values)?, narrow(&kept)?];
    results(pick(outputs, wanted))
}
