//! Activation functions.

use tfrt_ir::{Attribute, ValueId};

use super::{Family, elementwise::unary};
use crate::import::onnx::node::{Imported, Node};

pub(super) const OPS: Family = &[
    ("Clip", clip),
    ("Elu", elu),
    ("Gelu", gelu),
    ("HardSigmoid", hard_sigmoid),
    ("HardSwish", hard_swish),
    ("Hardmax", hardmax),
    ("LeakyRelu", leaky_relu),
    ("LogSoftmax", |node| softmax(node, "tf.LogSoftmax")),
    ("PRelu", p_relu),
    ("Relu", |node| unary(node, "tf.Relu")),
    ("Sigmoid", |node| unary(node, "tf.Sigmoid")),
    ("Softmax", |node| softmax(node, "tf.Softmax")),
    ("Softplus", |node| unary(node, "tf.Softplus")),
    ("Softsign", |node| unary(node, "tf.Softsign")),
];

/// Bounds are attributes before operator set 11, and inputs since.
fn clip(node: &mut Node<'_, '_>) -> Imported {
    let mut x = node.input(0)?;
    let (low, high) = if node.opset < 11 {
        let (low, high) = (node.float("min")?, node.float("max")?);
        let mut number = |value: Option<f32>| match value {
            Some(value) => node.add_number_like(x, value.into()).map(Some),
            None => Ok(None),
        };
        (number(low)?, number(high)?)
    } else {
        (node.optional(1), node.optional(2))
    };
    if let Some(low) = low {
        x = node.op("tf.Maximum", &[x, low], &[])?;
    }
    if let Some(high) = high {
        x = node.op("tf.Minimum", &[x, high], &[])?;
    }
    Ok(vec![x])
}

/// `x` where it is positive, else `alpha * (e^x - 1)`: the sum of both parts, one of which is zero.
fn elu(node: &mut Node<'_, '_>) -> Imported {
    let (x, alpha) = (node.input(0)?, node.float_or("alpha", 1.0)?);
    if alpha == 1.0 {
        return Ok(vec![node.op("tf.Elu", &[x], &[])?]);
    }
    let zero = node.add_number_like(x, 0.0)?;
    let alpha = node.add_number_like(x, alpha.into())?;
    let negative = node.op("tf.Minimum", &[x, zero], &[])?;
    let grown = node.op("tf.Expm1", &[negative], &[])?;
    let scaled = node.op("tf.Mul", &[grown, alpha], &[])?;
    let positive = node.op("tf.Relu", &[x], &[])?;
    Ok(vec![node.op("tf.AddV2", &[positive, scaled], &[])?])
}

fn gelu(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let approximate = node.string_or("approximate", "none")? == "tanh";
    Ok(vec![node.op("tf.Gelu", &[x], &[("approximate", Attribute::Bool(approximate))])?])
}

/// `max(0, min(1, alpha * x + beta))`.
fn hard_sigmoid(node: &mut Node<'_, '_>) -> Imported {
    let (x, alpha, beta) = (node.input(0)?, node.float_or("alpha", 0.2)?, node.float_or("beta", 0.5)?);
    Ok(vec![hard(node, x, alpha.into(), beta.into())?])
}

fn hard(node: &mut Node<'_, '_>, x: ValueId, alpha: f64, beta: f64) -> Imported<ValueId> {
    let (alpha, beta) = (node.add_number_like(x, alpha)?, node.add_number_like(x, beta)?);
    let (zero, one) = (node.add_number_like(x, 0.0)?, node.add_number_like(x, 1.0)?);
    let scaled = node.op("tf.Mul", &[x, alpha], &[])?;
    let line = node.op("tf.AddV2", &[scaled, beta], &[])?;
    let below = node.op("tf.Minimum", &[line, one], &[])?;
    node.op("tf.Maximum", &[below, zero], &[])
}

/// `x * max(0, min(1, x / 6 + 0.5))`.
fn hard_swish(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let gate = hard(node, x, 1.0 / 6.0, 0.5)?;
    Ok(vec![node.op("tf.Mul", &[x, gate], &[])?])
}

fn leaky_relu(node: &mut Node<'_, '_>) -> Imported {
    let (x, alpha) = (node.input(0)?, node.float_or("alpha", 0.01)?);
    Ok(vec![node.op("tf.LeakyRelu", &[x], &[("alpha", Attribute::f32(alpha))])?])
}

/// `x` where it is not negative, else `slope * x`. Up to operator set 6 a vector of slopes is one
/// for each channel.
fn p_relu(node: &mut Node<'_, '_>) -> Imported {
    let (x, mut slope) = (node.input(0)?, node.input(1)?);
    let (rank, is_vector) = (node.rank(x)?, node.rank(slope)? == 1);
    if node.opset < 7 && is_vector && rank > 2 && node.dims(slope)?[0] != Some(1) {
        let dims: Vec<i64> = [-1].into_iter().chain(vec![1; rank - 2]).collect();
        slope = node.reshape(slope, &dims)?;
    }
    let zero = node.add_number_like(x, 0.0)?;
    let scaled = node.op("tf.Mul", &[x, slope], &[])?;
    let is_negative = node.op("tf.Less", &[x, zero], &[])?;
    Ok(vec![node.op("tf.SelectV2", &[is_negative, scaled, x], &[])?])
}

/// 1 for the first of the greatest elements along an axis and 0 for the others, over dimensions as
/// in [`softmax`].
fn hardmax(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    if node.opset >= 13 {
        let attributes = node.forwarded(&["axis"])?;
        return node.onnx_ops("onnx.Hardmax", &[Some(x)], &attributes, 1);
    }
    let (rank, shape) = (node.rank(x)?, super::shape::shape_of(node, x)?);
    let axis = node.axis(node.int_or("axis", 1)?, rank.max(1))?;
    let flat = super::shape::flattened(node, x, axis)?;
    let result = node.op("onnx.Hardmax", &[flat], &[])?;
    Ok(vec![node.op("tf.Reshape", &[result, shape], &[])?])
}

/// Over one axis since operator set 13. Before, all dimensions from the axis on are one.
fn softmax(node: &mut Node<'_, '_>, op: &str) -> Imported {
    let x = node.input(0)?;
    if node.opset < 13 {
        let shape = node.op(
            "tf.Shape",
            &[x],
            &[("out_type", super::super::node::type_attribute(tfrt_host::DType::I64))],
        )?;
        let rank = node.rank(x)?;
        let axis = node.axis(node.int_or("axis", 1)?, rank.max(1))?;
        let flat = super::shape::flattened(node, x, axis)?;
        let result = node.op(op, &[flat], &[])?;
        return Ok(vec![node.op("tf.Reshape", &[result, shape], &[])?]);
    }
    let Some(rank) = node.ty(x)?.rank() else {
        let op = if op == "tf.Softmax" { "onnx.Softmax" } else { "onnx.LogSoftmax" };
        return Ok(vec![node.op(op, &[x], &[("axis", Attribute::i64(node.int_or("axis", -1)?))])?]);
    };
    if rank == 0 {
        let column = node.reshape(x, &[1])?;
        let result = node.op(op, &[column], &[])?;
        return Ok(vec![node.reshape(result, &[])?]);
    }
    let axis = node.axis(node.int_or("axis", -1)?, rank)?;
    if axis + 1 == rank {
        return Ok(vec![node.op(op, &[x], &[])?]);
    }
    // The op works along the last dimension: swap that with the axis, and back.
    let mut order: Vec<i64> = (0..rank as i64).collect();
    order.swap(axis, rank - 1);
    let moved = node.transpose(x, &order)?;
    let result = node.op(op, &[moved], &[])?;
    Ok(vec![node.transpose(result, &order)?])
}
