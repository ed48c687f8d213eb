//! Mixtures of experts: each row is computed by a few of many networks of two layers, which a
//! router's scores choose.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::{Family, gates::gated, int};
use crate::import::onnx::{
    node::{Imported, Node},
    ops::dims::{Extent, known_extent, reshape},
};

pub(super) const OPS: Family =
    &[("MoE", |node| mixture(node, dense)), ("QMoE", |node| mixture(node, narrow))];

/// A layer's products: of rows, by the experts with these numbers; the layer is 1, 2 or 3.
type Layer = fn(&mut Node<'_, '_>, ValueId, ValueId, usize) -> Imported<Option<ValueId>>;

fn mixture(node: &mut Node<'_, '_>, layer: Layer) -> Imported {
    if node.flag("use_sparse_mixer")? || node.flag("swiglu_limit_after_activation")? {
        return Err("a sparse mixer and a limit behind the activation are not supported".into());
    }
    let (x, k) = (node.input(0)?, node.int_or("k", 1)?);
    if k < 1 {
        return Err(format!("attribute 'k' must be positive, and is {k}").into());
    }
    let hidden = known_extent(node, x, node.rank(x)?.saturating_sub(1), "the extent of rows")?;
    let flat = node.reshape(x, &[-1, hidden])?;
    let [weights, chosen] = routed(node, k)?;
    // As many copies of each row as experts are chosen for it, one behind the other.
    let (rows, chosen) = (repeated(node, flat, k)?, node.reshape(chosen, &[-1])?);
    let missing = "the weights of an expert are missing";
    let first = layer(node, rows, chosen, 1)?.ok_or(missing)?;
    let third = layer(node, rows, chosen, 3)?;
    let inner = activated(node, first, third)?;
    let y = layer(node, inner, chosen, 2)?.ok_or(missing)?;
    let y = node.reshape(y, &[-1, k, hidden])?;
    let weights = node.cast(weights, node.dtype(y)?)?;
    let weights = node.reshape(weights, &[-1, k, 1])?;
    let weighted = node.op("tf.Mul", &[y, weights], &[])?;
    let axes = node.add_integers(&[1])?;
    let sum = node.op("tf.Sum", &[weighted, axes], &[("keep_dims", Attribute::Bool(false))])?;
    let dims: Vec<_> = (0..node.rank(x)?).map(|axis| Extent::Of(x, axis)).collect();
    let sum = reshape(node, sum, &dims)?;
    Ok(vec![node.cast(sum, node.dtype(x)?)?])
}

/// The weights and the numbers of the experts of each row, `[rows, k]`.
fn routed(node: &mut Node<'_, '_>, k: i64) -> Imported<[ValueId; 2]> {
    let scores = node.cast(node.input(1)?, DType::F32)?;
    let count = node.add_integers(&[k])?;
    let best = node.standard("TopK", &[Some(scores), Some(count)], vec![int("axis", -1)], 2)?;
    // The last input of `QMoE` has other weights than those that experts are chosen by.
    let given = (node.proto.op_type == "QMoE").then(|| node.optional(14)).flatten();
    let normalizes = node.flag("normalize_routing_weights")?;
    let mut weights = match given {
        Some(weights) => {
            let weights = node.cast(weights, DType::F32)?;
            node.standard("GatherElements", &[Some(weights), Some(best[1])], vec![int("axis", -1)], 1)?[0]
        }
        None if normalizes => node.op("tf.Softmax", &[best[0]], &[])?,
        None => {
            let parts = node.op("tf.Softmax", &[scores], &[])?;
            node.standard("GatherElements", &[Some(parts), Some(best[1])], vec![int("axis", -1)], 1)?[0]
        }
    };
    if given.is_some() && normalizes {
        let axes = node.add_integers(&[-1])?;
        let sum = node.op("tf.Sum", &[weights, axes], &[("keep_dims", Attribute::Bool(true))])?;
        weights = node.op("tf.RealDiv", &[weights, sum], &[])?;
    }
    Ok([weights, best[1]])
}

/// Each row `count` times.
fn repeated(node: &mut Node<'_, '_>, rows: ValueId, count: i64) -> Imported<ValueId> {
    if count == 1 {
        return Ok(rows);
    }
    let row = known_extent(node, rows, 1, "the extent of rows")?;
    let (axis, counts) = (node.add_integer(1)?, node.add_integers(&[1, count, 1])?);
    let rows = node.op("tf.ExpandDims", &[rows, axis], &[])?;
    let rows = node.op("tf.Tile", &[rows, counts], &[])?;
    node.reshape(rows, &[-1, row])
}

/// What the second layer takes: the activation of the first, multiplied by the third if there is
/// one.
fn activated(node: &mut Node<'_, '_>, first: ValueId, third: Option<ValueId>) -> Imported<ValueId> {
    let name = node.string_or("activation_type", "relu")?;
    if name == "swiglu" {
        let parts = match (node.int_or("swiglu_fusion", 0)?, third) {
            (0, Some(third)) => [first, third],
            (1, None) => interleaved(node, first)?,
            (2, None) => super::gates::halves(node, first)?,
            (fusion, _) => return Err(format!("attribute 'swiglu_fusion' does not suit: {fusion}").into()),
        };
        let limit = node.float("swiglu_limit")?.filter(|limit| limit.is_finite());
        return gated(node, parts, limit);
    }
    let y = match name.as_str() {
        "identity" => first,
        "relu" => node.op("tf.Relu", &[first], &[])?,
        "gelu" => node.op("tf.Gelu", &[first], &[("approximate", Attribute::Bool(true))])?,
        "silu" => node.standard("Swish", &[Some(first)], Vec::new(), 1)?[0],
        other => return Err(format!("the activation '{other}' is not supported").into()),
    };
    match third {
        Some(third) => node.op("tf.Mul", &[y, third], &[]),
        None => Ok(y),
    }
}

/// The elements at even and at odd places of rows.
fn interleaved(node: &mut Node<'_, '_>, x: ValueId) -> Imported<[ValueId; 2]> {
    let row = known_extent(node, x, 1, "the extent of rows")?;
    let pairs = node.reshape(x, &[-1, row / 2, 2])?;
    let attributes = [("axis", Attribute::i64(2)), ("num", Attribute::i64(2))];
    let split = node.ops("tf.Unpack", &[pairs], &attributes, 2)?;
    Ok([split[0], split[1]])
}

/// Products by the matrices of `MoE`, whose inputs are weights and bias for each layer.
fn dense(node: &mut Node<'_, '_>, rows: ValueId, chosen: ValueId, layer: usize) -> Imported<Option<ValueId>> {
    let Some(weights) = node.optional(2 * layer) else { return Ok(None) };
    let operands = [Some(rows), Some(chosen), Some(weights), node.optional(2 * layer + 1)];
    Ok(Some(node.onnx_ops("tfrt.ExpertMatMul", &operands, &[], 1)?[0]))
}

/// Products by the matrices of `QMoE`, whose inputs are integers, scales and bias for each layer,
/// and zero points behind those.
fn narrow(
    node: &mut Node<'_, '_>,
    rows: ValueId,
    chosen: ValueId,
    layer: usize,
) -> Imported<Option<ValueId>> {
    let at = 3 * layer - 1;
    let Some(matrix) = node.optional(at) else { return Ok(None) };
    if node.string_or("quant_type", "int")? != "int" || node.int_or("weights_prepacked", 0)? > 0 {
        return Err("only integers that lie as they are counted are supported".into());
    }
    let bits = match node.int(&format!("fc{layer}_expert_weight_bits"))? {
        Some(bits) => bits,
        None => node.int_or("expert_weight_bits", 4)?,
    };
    if !matches!(bits, 2 | 4 | 8) {
        return Err(format!("elements of {bits} bits are not supported").into());
    }
    let depth = known_extent(node, rows, 1, "the extent of rows")?;
    let mut scales = node.cast(node.input(at + 1)?, DType::F32)?;
    let zeros = node.optional(10 + layer);
    let mut block = node.int_or("block_size", 0)?;
    if block < 1 {
        // A scale for each column: for each of its blocks of any size.
        block = [128, 64, 32, 16].into_iter().find(|block| depth % block == 0).unwrap_or(0);
        if block == 0 || zeros.is_some() {
            return Err(format!("columns of {depth} elements without blocks are not supported").into());
        }
        let (axis, counts) = (node.add_integer(2)?, node.add_integers(&[1, 1, depth / block])?);
        scales = node.op("tf.ExpandDims", &[scales, axis], &[])?;
        scales = node.op("tf.Tile", &[scales, counts], &[])?;
    }
    let wide = node.cast(rows, DType::F32)?;
    let bias = node.optional(at + 2).map(|bias| node.cast(bias, DType::F32)).transpose()?;
    let operands = [Some(wide), Some(chosen), Some(matrix), Some(scales), zeros, bias];
    let attributes = [
        ("bits", Attribute::i64(bits)),
        ("block_size", Attribute::i64(block)),
        ("rounded", Attribute::Bool(node.int_or("accuracy_level", 0)? == 4)),
    ];
    Ok(Some(node.onnx_ops("tfrt.NarrowExpertMatMul", &operands, &attributes, 1)?[0]))
}
