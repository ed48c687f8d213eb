//! Activation functions that change at a threshold, and smooth forms of them.

use tfrt_ir::ValueId;

use super::Family;
use crate::import::onnx::node::{Imported, Node};

pub(super) const OPS: Family = &[
    ("Celu", celu),
    ("Mish", mish),
    ("Selu", selu),
    ("Shrink", shrink),
    ("Swish", swish),
    ("ThresholdedRelu", thresholded_relu),
];

/// An op of a value and a number of its data type.
fn with_number(node: &mut Node<'_, '_>, op: &str, x: ValueId, number: f64) -> Imported<ValueId> {
    let number = node.add_number_like(x, number)?;
    node.op(op, &[x, number], &[])
}

/// `factor * (e^(x / divisor) - 1)` of what is negative of `x`, and zero elsewhere.
fn exponential_tail(node: &mut Node<'_, '_>, x: ValueId, factor: f32, divisor: f32) -> Imported<ValueId> {
    let negative = with_number(node, "tf.Minimum", x, 0.0)?;
    let scaled = match divisor {
        1.0 => negative,
        divisor => with_number(node, "tf.RealDiv", negative, divisor.into())?,
    };
    let grown = node.op("tf.Expm1", &[scaled], &[])?;
    with_number(node, "tf.Mul", grown, factor.into())
}

/// `max(0, x) + min(0, alpha * (e^(x / alpha) - 1))`.
fn celu(node: &mut Node<'_, '_>) -> Imported {
    let (x, alpha) = (node.input(0)?, node.float_or("alpha", 1.0)?);
    let tail = exponential_tail(node, x, alpha, alpha)?;
    let positive = with_number(node, "tf.Maximum", x, 0.0)?;
    Ok(vec![node.op("tf.AddV2", &[positive, tail], &[])?])
}

/// `gamma * x` where it is positive, else `gamma * alpha * (e^x - 1)`.
fn selu(node: &mut Node<'_, '_>) -> Imported {
    const ALPHA: f32 = 1.673_263_2;
    const GAMMA: f32 = 1.050_701;
    let x = node.input(0)?;
    let (alpha, gamma) = (node.float_or("alpha", ALPHA)?, node.float_or("gamma", GAMMA)?);
    if (alpha, gamma) == (ALPHA, GAMMA) {
        return Ok(vec![node.op("tf.Selu", &[x], &[])?]);
    }
    let tail = exponential_tail(node, x, alpha, 1.0)?;
    let positive = with_number(node, "tf.Maximum", x, 0.0)?;
    let sum = node.op("tf.AddV2", &[positive, tail], &[])?;
    Ok(vec![with_number(node, "tf.Mul", sum, gamma.into())?])
}

/// `x * tanh(log(1 + e^x))`.
fn mish(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let smooth = node.op("tf.Softplus", &[x], &[])?;
    let gate = node.op("tf.Tanh", &[smooth], &[])?;
    Ok(vec![node.op("tf.Mul", &[x, gate], &[])?])
}

/// `x * sigmoid(alpha * x)`.
fn swish(node: &mut Node<'_, '_>) -> Imported {
    let (x, alpha) = (node.input(0)?, node.float_or("alpha", 1.0)?);
    let scaled = match alpha {
        1.0 => x,
        alpha => with_number(node, "tf.Mul", x, alpha.into())?,
    };
    let gate = node.op("tf.Sigmoid", &[scaled], &[])?;
    Ok(vec![node.op("tf.Mul", &[x, gate], &[])?])
}

/// `x` where it is greater than alpha, else zero.
fn thresholded_relu(node: &mut Node<'_, '_>) -> Imported {
    let (x, alpha) = (node.input(0)?, node.float_or("alpha", 1.0)?);
    let is_greater = with_number(node, "tf.Greater", x, alpha.into())?;
    let zero = node.add_number_like(x, 0.0)?;
    Ok(vec![node.op("tf.SelectV2", &[is_greater, x, zero], &[])?])
}

/// `x + bias` below `-lambd`, `x - bias` above `lambd`, and zero between.
fn shrink(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let (bias, bound) = (f64::from(node.float_or("bias", 0.0)?), f64::from(node.float_or("lambd", 0.5)?));
    let zero = node.add_number_like(x, 0.0)?;
    let (lower, upper) = (with_number(node, "tf.AddV2", x, bias)?, with_number(node, "tf.Sub", x, bias)?);
    let is_above = with_number(node, "tf.Greater", x, bound)?;
    let rest = node.op("tf.SelectV2", &[is_above, upper, zero], &[])?;
    let is_below = with_number(node, "tf.Less", x, -bound)?;
    Ok(vec![node.op("tf.SelectV2", &[is_below, lower, rest], &[])?])
}
