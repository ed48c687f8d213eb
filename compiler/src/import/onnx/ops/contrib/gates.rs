//! Activations and normalizations of which a gate takes part.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::{Family, float, int};
use crate::import::onnx::{
    node::{Imported, Node},
    ops::dims::{Extent, known_extent, reshape},
};

pub(super) const OPS: Family = &[
    ("BiasSplitGelu", split_gelu),
    ("BranchwiseRMSNorm", by_branch),
    ("GatedAdd", gated_sum),
    ("GatedRMSNorm", gated_normalization),
    ("LinearAttentionGate", attention_gates),
    ("ScaledSiLU", scaled_silu),
    ("SwiGLU", swiglu),
];

/// The two halves of rows.
pub(super) fn halves(node: &mut Node<'_, '_>, x: ValueId) -> Imported<[ValueId; 2]> {
    let axis = node.add_integer(node.rank(x)? as i64 - 1)?;
    let halves = node.ops("tf.Split", &[axis, x], &[("num_split", Attribute::i64(2))], 2)?;
    Ok([halves[0], halves[1]])
}

/// The first half of rows, multiplied by the GELU of the second one, after a bias.
fn split_gelu(node: &mut Node<'_, '_>) -> Imported {
    let (x, bias) = (node.input(0)?, node.input(1)?);
    let sum = node.op("tf.AddV2", &[x, bias], &[])?;
    let [left, right] = halves(node, sum)?;
    let gate = node.op("tf.Gelu", &[right], &[("approximate", Attribute::Bool(false))])?;
    Ok(vec![node.op("tf.Mul", &[left, gate], &[])?])
}

/// Normalizes each part of `size` elements of a row by the root of its mean square, in f32. Each
/// element of a part has a factor, or none.
fn normalized(
    node: &mut Node<'_, '_>,
    x: ValueId,
    (size, factors): (i64, Option<ValueId>),
    epsilon: f32,
) -> Imported<ValueId> {
    let rank = node.rank(x)?;
    let row = known_extent(node, x, rank.saturating_sub(1), "the extent of rows")?;
    if size < 1 || row % size != 0 {
        return Err(format!("rows of {row} elements cannot be divided into parts of {size}").into());
    }
    let outer = (0..rank - 1).map(|axis| Extent::Of(x, axis));
    let dims: Vec<_> = outer.chain([row / size, size].map(Extent::Number)).collect();
    let wide = node.cast(x, DType::F32)?;
    let parts = reshape(node, wide, &dims)?;
    let factors = match factors {
        Some(factors) => node.cast(factors, DType::F32)?,
        None => {
            let (shape, one) = (node.add_integers(&[size])?, node.add_number_like(parts, 1.0)?);
            node.op("tf.Fill", &[shape, one], &[])?
        }
    };
    let attributes = vec![int("axis", -1), float("epsilon", epsilon)];
    Ok(node.standard("RMSNormalization", &[Some(parts), Some(factors)], attributes, 1)?[0])
}

/// `x` in the shape and the data type of `like`.
fn like(node: &mut Node<'_, '_>, x: ValueId, like: ValueId) -> Imported<ValueId> {
    let dims: Vec<_> = (0..node.rank(like)?).map(|axis| Extent::Of(like, axis)).collect();
    let x = reshape(node, x, &dims)?;
    let dtype = node.dtype(like)?;
    node.cast(x, dtype)
}

fn gated_normalization(node: &mut Node<'_, '_>) -> Imported {
    let (x, scale, gate) = (node.input(0)?, node.input(1)?, node.input(2)?);
    let size = known_extent(node, scale, 0, "the extent of the scale")?;
    let y = normalized(node, x, (size, Some(scale)), node.float_or("epsilon", 1e-5)?)?;
    let gate = node.cast(gate, DType::F32)?;
    let gate = match node.string_or("activation", "silu")?.as_str() {
        "silu" | "swish" => node.standard("Swish", &[Some(gate)], Vec::new(), 1)?[0],
        "sigmoid" => node.op("tf.Sigmoid", &[gate], &[])?,
        other => return Err(format!("the activation '{other}' is not supported").into()),
    };
    let dims: Vec<_> = (0..node.rank(y)?).map(|axis| Extent::Of(y, axis)).collect();
    let gate = reshape(node, gate, &dims)?;
    let y = node.op("tf.Mul", &[y, gate], &[])?;
    Ok(vec![like(node, y, x)?])
}

/// Normalizes branches, which are the last but one dimension or parts of the last one.
fn by_branch(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let last = known_extent(node, x, node.rank(x)?.saturating_sub(1), "the extent of rows")?;
    let size = match node.int_or("num_branches", 0)? {
        branches if branches > 0 => last / branches,
        _ => last,
    };
    let mut y = normalized(node, x, (size, None), node.float_or("epsilon", 1e-5)?)?;
    let Some(scale) = node.optional(1) else { return Ok(vec![like(node, y, x)?]) };
    let mut scale = node.cast(scale, DType::F32)?;
    if node.rank(scale)? == 1 {
        scale = node.reshape(scale, &[-1, size])?;
    }
    if size == last {
        // Branches are a dimension of `x`, so that the last but one of `y` has a single part.
        let dims: Vec<_> = (0..node.rank(x)?).map(|axis| Extent::Of(x, axis)).collect();
        y = reshape(node, y, &dims)?;
    }
    let y = node.op("tf.Mul", &[y, scale], &[])?;
    Ok(vec![like(node, y, x)?])
}

fn gated_sum(node: &mut Node<'_, '_>) -> Imported {
    let (x, y, gate) = (node.input(0)?, node.input(1)?, node.input(2)?);
    if node.optional(3).is_some() {
        return Err("a gate that is projected is not supported".into());
    }
    let product = node.op("tf.Mul", &[y, gate], &[])?;
    Ok(vec![node.op("tf.AddV2", &[x, product], &[])?])
}

/// The decay and the rate of linear attention, from their projections.
fn attention_gates(node: &mut Node<'_, '_>) -> Imported {
    let (a, bias, scale) = (node.input(0)?, node.input(1)?, node.input(2)?);
    let dtype = node.dtype(a)?;
    let wide = node.cast(a, DType::F32)?;
    let sum = node.op("tf.AddV2", &[wide, bias], &[])?;
    let soft = node.op("tf.Softplus", &[sum], &[])?;
    let decay = node.op("tf.Mul", &[soft, scale], &[])?;
    let mut outputs = vec![node.cast(decay, dtype)?];
    if let Some(b) = node.optional(3) {
        outputs.push(node.op("tf.Sigmoid", &[b], &[])?);
    }
    Ok(outputs)
}

fn scaled_silu(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let scale = match node.optional(1) {
        Some(scale) => node.reshape(scale, &[])?,
        None => node.add_number_like(x, node.float_or("alpha", 1.0)?.into())?,
    };
    let scaled = node.op("tf.Mul", &[x, scale], &[])?;
    node.standard("Swish", &[Some(scaled)], Vec::new(), 1)
}

fn swiglu(node: &mut Node<'_, '_>) -> Imported {
    let gate = node.input(0)?;
    let parts = match node.optional(1) {
        Some(up) => [gate, up],
        None => halves(node, gate)?,
    };
    let limit = Some(node.float_or("limit", 0.0)?).filter(|&limit| limit > 0.0);
    Ok(vec![gated(node, parts, limit)?])
}

/// `gate * sigmoid(alpha * gate) * (up + beta)`, where the limit bounds the gate above and `up` on
/// both sides; alpha and beta are attributes.
pub(super) fn gated(
    node: &mut Node<'_, '_>,
    [mut gate, mut up]: [ValueId; 2],
    limit: Option<f32>,
) -> Imported<ValueId> {
    if let Some(limit) = limit {
        let [high, low] = [limit, -limit].map(|bound| node.add_number_like(gate, bound.into()));
        let (high, low) = (high?, low?);
        gate = node.op("tf.Minimum", &[gate, high], &[])?;
        up = node.op("tf.Minimum", &[up, high], &[])?;
        up = node.op("tf.Maximum", &[up, low], &[])?;
    }
    let alpha = node.add_number_like(gate, node.float_or("activation_alpha", 1.0)?.into())?;
    let scaled = node.op("tf.Mul", &[gate, alpha], &[])?;
    let sigmoid = node.op("tf.Sigmoid", &[scaled], &[])?;
    let swish = node.op("tf.Mul", &[gate, sigmoid], &[])?;
    let beta = node.float_or("activation_beta", 0.0)?;
    if beta != 0.0 {
        let beta = node.add_number_like(up, beta.into())?;
        up = node.op("tf.AddV2", &[up, beta], &[])?;
    }
    node.op("tf.Mul", &[swish, up], &[])
}
