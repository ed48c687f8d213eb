//! Ops that choose: suppression of boxes, buckets of numbers.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::Family;
use crate::import::tensorflow::{
    node::{Imported, Node, type_attribute},
    proto::Attr,
};

pub(super) const OPS: Family = &[
    ("Bucketize", bucketize),
    ("NonMaxSuppressionV2", |node| Ok(vec![suppressed(node)?.into()])),
    ("NonMaxSuppressionV3", |node| Ok(vec![suppressed(node)?.into()])),
    ("NonMaxSuppressionV4", suppress_and_count),
    ("NonMaxSuppressionV5", suppress_with_scores),
];

/// The places of the boxes that are kept, best first. ONNX's op takes batches and classes, and
/// tells them, too.
fn suppressed(node: &mut Node<'_, '_>) -> Imported<ValueId> {
    let threshold = node.input(3)?;
    suppressed_above(node, threshold)
}

/// The places of the boxes that overlap with no better one by more than a threshold.
pub(super) fn suppressed_above(node: &mut Node<'_, '_>, threshold: ValueId) -> Imported<ValueId> {
    let (mut boxes, mut scores) = (node.input(0)?, node.input(1)?);
    let zero = node.builder().add_integer(0)?;
    boxes = node.op("tf.ExpandDims", &[boxes, zero], &[])?;
    for _ in 0..2 {
        scores = node.op("tf.ExpandDims", &[scores, zero], &[])?;
    }
    let most = node.input(2)?;
    let most = node.builder().cast(most, DType::I64)?;
    let mut operands = vec![boxes, scores, most, threshold];
    if node.inputs.len() > 4 {
        operands.push(node.input(4)?);
    }
    let chosen = node.op("onnx.NonMaxSuppression", &operands, &[("center_point_box", Attribute::i64(0))])?;
    let mut builder = node.builder();
    let (column, axis) = (builder.add_integer(2)?, builder.add_integer(1)?);
    let chosen = node.op("tf.GatherV2", &[chosen, column, axis], &[])?;
    Ok(node.builder().cast(chosen, DType::I32)?)
}

/// A vector filled with zeros up to as many elements as boxes may be kept, if the node says so.
fn padded(node: &mut Node<'_, '_>, values: ValueId) -> Imported<ValueId> {
    if !node.flag("pad_to_max_output_size")? {
        return Ok(values);
    }
    let most = node.input(2)?;
    let most = node.builder().cast(most, DType::I32)?;
    let count = node.op("tf.Size", &[values], &[])?;
    let missing = node.op("tf.Sub", &[most, count], &[])?;
    let zero = node.builder().add_number(DType::I32, 0.0)?;
    let pads = node.op("tf.Pack", &[zero, missing], &[("axis", Attribute::i64(0))])?;
    let row = node.builder().add_elements::<i32>(&[2], &[1, 2])?;
    let pads = node.op("tf.Reshape", &[pads, row], &[])?;
    node.op("tf.Pad", &[values, pads], &[])
}

fn suppress_and_count(node: &mut Node<'_, '_>) -> Imported {
    let chosen = suppressed(node)?;
    let count = node.op("tf.Size", &[chosen], &[])?;
    Ok(vec![padded(node, chosen)?.into(), count.into()])
}

/// Boxes are kept or not, or soften the scores of those that they overlap.
fn suppress_with_scores(node: &mut Node<'_, '_>) -> Imported {
    let (scores, sigma) = (node.input(1)?, node.input(5)?);
    let wide = node.builder().cast(sigma, DType::F64)?;
    let zero = node.builder().add_number(DType::F64, 0.0)?;
    let is_soft = node.op("tf.NotEqual", &[wide, zero], &[])?;
    let is_soft = node.builder().cast(is_soft, DType::I64)?;
    let (chosen, scores) = match node.integers(is_soft).as_deref() {
        Some(&[0]) => {
            let chosen = suppressed(node)?;
            let axis = node.builder().add_integer(0)?;
            (chosen, node.op("tf.GatherV2", &[scores, chosen, axis], &[])?)
        }
        Some(_) => {
            let operands = node.inputs_from(0)?;
            let results = node.ops("tfrt.SoftSuppression", &operands, &[], 2)?;
            (results[0], results[1])
        }
        None => return Err("soft_nms_sigma must be a constant".into()),
    };
    let count = node.op("tf.Size", &[chosen], &[])?;
    Ok(vec![padded(node, chosen)?.into(), padded(node, scores)?.into(), count.into()])
}

/// The number of boundaries that are not above each element.
fn bucketize(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let boundaries = match node.attr("boundaries") {
        Some(Attr::List(list)) => list.f.clone(),
        _ => return Err("attribute 'boundaries' is missing".into()),
    };
    let dtype = node.dtype(x)?;
    let shape = node.op("tf.Shape", &[x], &[])?;
    let row = node.builder().add_integers(&[1, -1])?;
    let flat = node.op("tf.Reshape", &[x, row], &[])?;
    let mut builder = node.builder();
    // Integers are compared with fractions.
    let wide = if matches!(dtype, DType::I32 | DType::I64 | DType::F64) { DType::F64 } else { DType::F32 };
    let flat = builder.cast(flat, wide)?;
    let sorted = builder.add_elements(&[1, boundaries.len()], &boundaries)?;
    let sorted = builder.cast(sorted, wide)?;
    let places = node.op("tf.UpperBound", &[sorted, flat], &[("out_type", type_attribute(DType::I32))])?;
    Ok(vec![node.op("tf.Reshape", &[places, shape], &[])?.into()])
}
