//! Folds factors and summands of channels, which is what batch normalization is, into the constants
//! before them.

use tfrt_ir::{Attribute, OpId, ValueId};

use super::rewrite::{Rewriter, apply};
use crate::{Evaluator, Graph};

/// Folds factors into filters, and summands into biases.
pub(super) fn run(graph: &mut Graph, evaluator: &Evaluator) {
    apply(graph, evaluator, &[fold_factor, exchange_factor, make_bias, merge_biases]);
}

fn none() -> [(&'static str, Attribute); 0] {
    []
}

/// The two operands of an op, the constant one behind the other.
fn with_constant(rewriter: &Rewriter<'_>, op: OpId, name: &str) -> Option<(ValueId, ValueId)> {
    let operation = rewriter.op(op);
    if operation.name != *name {
        return None;
    }
    match operation.operands[..] {
        [x, c] if rewriter.constant(c).is_some() => Some((x, c)),
        [c, x] if rewriter.constant(c).is_some() => Some((x, c)),
        _ => None,
    }
}

/// A constant that is broadcast along the last dimension of `x`, as a vector with an element for
/// each place there.
fn channel_vector(rewriter: &mut Rewriter<'_>, x: ValueId, constant: ValueId) -> Option<ValueId> {
    let (x, constant_type) = (rewriter.ty(x)?, rewriter.ty(constant)?);
    let channels = (*x.dims.as_ref()?.last()?)?;
    let dims = constant_type.static_dims()?;
    let (last, outer) = match dims.split_last() {
        None => (1, &[][..]),
        Some((&last, outer)) => (last, outer),
    };
    if dims.len() > x.rank()? || outer.iter().any(|&dim| dim != 1) || (last != 1 && last != channels) {
        return None;
    }
    let flat = rewriter.create_integers(&[i64::try_from(last).ok()?])?;
    let vector = rewriter.create("tf.Reshape", &[constant, flat], none())?;
    if last == channels {
        return Some(vector);
    }
    let shape = rewriter.create_integers(&[i64::try_from(channels).ok()?])?;
    rewriter.create("tf.BroadcastTo", &[vector, shape], none())
}

/// `conv(x, w) * c` is `conv(x, w * c)`, and so for products of matrices.
fn fold_factor(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let (x, factor) = with_constant(rewriter, op, "tf.Mul")?;
    let inner = rewriter.graph.module.defining_op(x)?;
    let operation = rewriter.op(inner);
    let is_product = operation.name == "tf.MatMul" && !rewriter.flag(inner, "transpose_b");
    if !(operation.name == "tf.Conv2D" || is_product) || !rewriter.has_one_use(x) {
        return None;
    }
    let mut operands = operation.operands.clone();
    rewriter.constant(operands[1])?;
    let factor = channel_vector(rewriter, x, factor)?;
    operands[1] = rewriter.create("tf.Mul", &[operands[1], factor], none())?;
    let result = rewriter.create_like(inner, &operands)?;
    rewriter.set_location_of(inner);
    rewriter.replace(op, &result)
}

/// `(x + b) * c` is `x * c + b * c`.
fn exchange_factor(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let (x, factor) = with_constant(rewriter, op, "tf.Mul")?;
    let bias_add = rewriter.defined_by(x, "tf.BiasAdd")?;
    let operands = rewriter.op(bias_add).operands.clone();
    rewriter.constant(operands[1])?;
    if !rewriter.has_one_use(x) {
        return None;
    }
    let vector = channel_vector(rewriter, x, factor)?;
    let scaled = rewriter.create("tf.Mul", &[operands[0], factor], none())?;
    let bias = rewriter.create("tf.Mul", &[operands[1], vector], none())?;
    let result = rewriter.create_like(bias_add, &[scaled, bias])?;
    rewriter.replace(op, &result)
}

/// What is added to the channels of a convolution or the columns of a product is its bias, unless
/// the result without it is needed, too: then the summand belongs to what follows.
fn make_bias(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let (x, summand) = with_constant(rewriter, op, "tf.AddV2")?;
    let inner = rewriter.graph.module.defining_op(x)?;
    let has_bias = matches!(rewriter.op(inner).name.as_str(), "tf.Conv2D" | "tf.MatMul" | "tf.BiasAdd");
    if !has_bias || !rewriter.has_one_use(x) {
        return None;
    }
    let bias = channel_vector(rewriter, x, summand)?;
    let result = rewriter.create("tf.BiasAdd", &[x, bias], none())?;
    rewriter.replace(op, &[result])
}

/// `(x + b) + c` is `x + (b + c)`.
fn merge_biases(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    if rewriter.op(op).name != "tf.BiasAdd" {
        return None;
    }
    let outer = rewriter.op(op).operands.clone();
    let inner = rewriter.defined_by(outer[0], "tf.BiasAdd").filter(|_| rewriter.has_one_use(outer[0]))?;
    let operands = rewriter.op(inner).operands.clone();
    rewriter.constant(outer[1])?;
    rewriter.constant(operands[1])?;
    let is_last = |op: OpId| {
        let format = rewriter.op(op).attr("data_format").and_then(Attribute::as_str);
        format.is_none_or(|format| format == "NHWC")
    };
    if !is_last(op) || !is_last(inner) {
        return None;
    }
    let bias = rewriter.create("tf.AddV2", &[operands[1], outer[1]], none())?;
    let result = rewriter.create("tf.BiasAdd", &[operands[0], bias], none())?;
    rewriter.replace(op, &[result])
}
