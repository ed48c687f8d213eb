//! Keeps what lies between products of bytes in bytes: sums, products, means, maxima and
//! concatenations of dequantized tensors that are quantized again.

use tfrt_ir::{AttrDict, Attribute, OpId, ValueId};
use tfrt_tensor::Accessor;

use super::{
    fuse_quantized::{DEQUANTIZE, Quantized, dequantized, quantization, scale_like},
    rewrite::Rewriter,
};

static READ: Accessor = Accessor::new("fusion of quantized elements");

const ADD: &str = "tfrt.QuantizedAdd";
const MULTIPLY: &str = "tfrt.QuantizedMul";
const MEAN: &str = "tfrt.QuantizedMean";

/// The op that alone uses its result and gives a value, if it has one of these names.
fn alone(rewriter: &Rewriter<'_>, value: ValueId, names: &[&str]) -> Option<OpId> {
    let op = rewriter.graph.module.defining_op(value)?;
    (names.contains(&rewriter.op(op).name.as_str()) && rewriter.has_one_use(value)).then_some(op)
}

/// Appends bytes, their scale and what stands for zero to operands.
fn append(rewriter: &mut Rewriter<'_>, operands: &mut Vec<ValueId>, own: &Quantized) -> Option<()> {
    let zero = own.zero(rewriter)?;
    operands.extend([own.bytes, own.scale, zero]);
    Some(())
}

/// Replaces an op that quantizes by one on bytes.
fn replace(
    rewriter: &mut Rewriter<'_>,
    op: OpId,
    (name, from, attributes): (&str, &[Quantized], AttrDict),
    to: &Quantized,
) -> Option<()> {
    let mut operands = Vec::new();
    for own in from {
        append(rewriter, &mut operands, own)?;
    }
    let zero = to.zero(rewriter)?;
    operands.extend([to.scale, zero]);
    let ty = rewriter.graph.module.value_type(rewriter.result(op)?).clone();
    let result = rewriter.create_typed(name, &operands, attributes, ty);
    rewriter.replace(op, &[result])
}

/// Sums and products of two dequantized tensors, the smaller of which repeats in adjacent dimensions.
pub(super) fn fuse_pair(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let to = quantization(rewriter, op)?;
    let inner = alone(rewriter, to.bytes, &["tf.AddV2", "tf.Mul"])?;
    let name = if rewriter.op(inner).name == "tf.Mul" { MULTIPLY } else { ADD };
    let dims = rewriter.ty(to.bytes)?.static_dims()?;
    let mut pair = [0, 1].map(|at| rewriter.op(inner).operands[at]);
    if rewriter.ty(pair[0])?.static_dims()? != dims {
        pair.reverse();
    }
    let [whole, other] = pair;
    let repeats = repeats_in(&rewriter.ty(other)?.static_dims()?, &dims);
    if rewriter.ty(whole)?.static_dims()? != dims || !repeats {
        return None;
    }
    let one_scale = |own: &Quantized| own.axis.is_none();
    let a = dequantized(rewriter, whole).filter(one_scale)?;
    let b = dequantized(rewriter, other).filter(one_scale)?;
    replace(rewriter, op, (name, &[a, b], AttrDict::default()), &to)
}

/// Whether a tensor of these extents repeats in one of others, in adjacent dimensions.
fn repeats_in(own: &[u64], dims: &[u64]) -> bool {
    let Some(missing) = dims.len().checked_sub(own.len()) else { return false };
    let own: Vec<_> = std::iter::repeat_n(1, missing).chain(own.iter().copied()).collect();
    let differs = |at: &usize| own[*at] != dims[*at];
    let first = (0..dims.len()).find(differs).unwrap_or(0);
    let end = (0..dims.len()).rfind(differs).map_or(0, |last| last + 1);
    (first..end).all(|at| own[at] == 1)
}

/// Means of dequantized images over their pixels.
pub(super) fn fuse_mean(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let to = quantization(rewriter, op)?;
    let mean = alone(rewriter, to.bytes, &["tf.Mean"])?;
    let (images, axes) = (rewriter.op(mean).operands[0], rewriter.op(mean).operands[1]);
    let mut axes = rewriter.integers(axes)?;
    axes.iter_mut().filter(|axis| **axis < 0).for_each(|axis| *axis += 4);
    axes.sort_unstable();
    let dims = rewriter.ty(images)?.dims.filter(|dims| dims.len() == 4)?;
    let has_pixels = dims[1..3].iter().all(|dim| dim.is_some_and(|dim| dim > 0));
    if axes != [1, 2] || !has_pixels {
        return None;
    }
    let from = dequantized(rewriter, images).filter(|own| own.axis.is_none())?;
    let mut attributes = AttrDict::default();
    if rewriter.flag(mean, "keep_dims") {
        attributes.set("keep_dims", Attribute::Bool(true));
    }
    replace(rewriter, op, (MEAN, &[from], attributes), &to)
}

/// The greatest bytes stand for the greatest numbers.
pub(super) fn sink_below_pool(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    if rewriter.op(op).name != "tf.MaxPool" {
        return None;
    }
    let numbers = rewriter.op(op).operands[0];
    let inner = alone(rewriter, numbers, &[DEQUANTIZE])?;
    let from = dequantized(rewriter, numbers).filter(|own| own.axis.is_none())?;
    let scale = rewriter.constant(from.scale)?.dense().ok()?;
    if !scale.read::<f32>(&READ).ok()?.first().is_some_and(|&scale| scale > 0.0) {
        return None;
    }
    let pooled = rewriter.create_like(op, &[from.bytes])?[0];
    let result = scale_like(rewriter, inner, pooled, None)?;
    rewriter.replace(op, &[result])
}

/// Dequantized tensors are quantized before they are concatenated, each by a table then.
pub(super) fn hoist_over_concat(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let to = quantization(rewriter, op)?;
    let concat = alone(rewriter, to.bytes, &["tf.ConcatV2"])?;
    let mut operands = rewriter.op(concat).operands.clone();
    let (_, parts) = operands.split_last_mut()?;
    let is_whole = |&part: &ValueId| dequantized(rewriter, part).is_some_and(|own| own.axis.is_none());
    if !parts.iter().all(is_whole) {
        return None;
    }
    for part in parts {
        *part = scale_like(rewriter, op, *part, None)?;
    }
    let joined = rewriter.create_like(concat, &operands)?[0];
    rewriter.replace(op, &[joined])
}
