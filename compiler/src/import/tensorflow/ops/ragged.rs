//! Ragged tensors, which are values and the places where rows begin.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::{Family, sparse::gather};
use crate::import::tensorflow::{
    node::{Imported, Node, type_attribute},
    proto::Attr,
    tensor,
};

pub(super) const OPS: Family = &[("RaggedTensorToTensor", to_tensor)];

/// What the partition tensors of a node say.
fn partitions(node: &Node<'_, '_>) -> Imported<Vec<String>> {
    match node.attr("row_partition_types") {
        Some(Attr::List(list)) => {
            Ok(list.s.iter().map(|text| tensor::text(text)).collect::<Result<_, _>>()?)
        }
        _ => Err("attribute 'row_partition_types' is missing".into()),
    }
}

/// Where the rows of each dimension of varying length begin, and the end of the last one, from the
/// outermost one on.
fn splits(node: &mut Node<'_, '_>) -> Imported<Vec<ValueId>> {
    let kinds = partitions(node)?;
    let kinds: Vec<&str> = kinds.iter().map(String::as_str).collect();
    let mut splits = Vec::new();
    match &kinds[..] {
        ["FIRST_DIM_SIZE", rest @ ..] if rest.iter().all(|&kind| kind == "VALUE_ROWIDS") => {
            let mut count = node.input(3)?;
            for number in 0..rest.len() {
                let rows = node.input(4 + number)?;
                splits.push(splits_of_rows(node, count, rows)?);
                count = node.op("tf.Size", &[rows], &[])?;
            }
        }
        kinds if kinds.iter().all(|&kind| kind == "ROW_SPLITS") => {
            for number in 0..kinds.len() {
                let row = node.input(3 + number)?;
                splits.push(node.builder().cast(row, DType::I64)?);
            }
        }
        _ => return Err(format!("row partitions {} are not supported", kinds.join(", ")).into()),
    }
    Ok(splits)
}

/// The splits of `count` rows, for values of which each has the number of its row.
pub(super) fn splits_of_rows(node: &mut Node<'_, '_>, count: ValueId, rows: ValueId) -> Imported<ValueId> {
    let mut builder = node.builder();
    let (count, rows) = (builder.cast(count, DType::I32)?, builder.cast(rows, DType::I64)?);
    let ones = node.op("tf.OnesLike", &[rows], &[])?;
    let lengths = node.op("tf.UnsortedSegmentSum", &[ones, rows, count], &[])?;
    let mut builder = node.builder();
    let (axis, zero) = (builder.add_integer(0)?, builder.add_integers(&[0])?);
    let ends = node.op("tf.Cumsum", &[lengths, axis], &[])?;
    node.op("tf.ConcatV2", &[zero, ends, axis], &[])
}

/// Part of a vector, from `start` on and without `left_out` elements at the end.
fn part(node: &mut Node<'_, '_>, vector: ValueId, start: i64, left_out: i64) -> Imported<ValueId> {
    let mut builder = node.builder();
    let (start, step) = (builder.add_integers(&[start])?, builder.add_integers(&[1])?);
    let end = builder.add_integers(&[-left_out])?;
    let mask = Attribute::i64(i64::from(left_out == 0));
    node.op("tf.StridedSlice", &[vector, start, end, step], &[("end_mask", mask)])
}

/// An extent that the first input asks for; `None` if it leaves it open.
fn wanted(node: &mut Node<'_, '_>, dimension: usize) -> Imported<Option<i64>> {
    let shape = node.input(0)?;
    let elements = node.builder().known_elements(shape).unwrap_or_default();
    Ok(elements.get(dimension).copied().flatten().filter(|&extent| extent >= 0))
}

/// How many columns a dimension has: as the first input says, or as the longest row.
fn columns(node: &mut Node<'_, '_>, dimension: usize, lengths: ValueId) -> Imported<ValueId> {
    if let Some(columns) = wanted(node, dimension)? {
        return Ok(node.builder().add_integer(columns)?);
    }
    let mut builder = node.builder();
    let (zero, axis) = (builder.add_integers(&[0])?, builder.add_integer(0)?);
    // Without rows there are no columns.
    let lengths = node.op("tf.ConcatV2", &[lengths, zero, axis], &[])?;
    let axes = node.builder().add_integers(&[0])?;
    node.op("tf.Max", &[lengths, axes], &[("keep_dims", Attribute::Bool(false))])
}

/// The default value as a row that can stand behind the values.
fn default_row(node: &mut Node<'_, '_>, values: ValueId, default: ValueId) -> Imported<ValueId> {
    let zero = node.builder().add_integer(0)?;
    if node.ty(values)?.rank() == Some(1) && node.ty(default)?.rank() == Some(0) {
        return node.op("tf.ExpandDims", &[default, zero], &[]);
    }
    let shape = node.op("tf.Shape", &[values], &[("out_type", type_attribute(DType::I64))])?;
    let one = node.builder().add_integers(&[1])?;
    let inner = part(node, shape, 1, 0)?;
    let shape = node.op("tf.ConcatV2", &[one, inner, zero], &[])?;
    node.op("tf.BroadcastTo", &[default, shape], &[])
}

/// Rows of one length, filled with a default value, in the place of values that splits divide. Each
/// element is that at its row's beginning and its column.
fn filled(
    node: &mut Node<'_, '_>,
    (values, default): (ValueId, ValueId),
    splits: ValueId,
    dimension: usize,
) -> Imported<ValueId> {
    let (starts, ends) = (part(node, splits, 0, 1)?, part(node, splits, 1, 0)?);
    let lengths = node.op("tf.Sub", &[ends, starts], &[])?;
    let columns = columns(node, dimension, lengths)?;
    let mut builder = node.builder();
    let (zero, one) = (builder.add_integer(0)?, builder.add_integer(1)?);
    let columns = node.op("tf.Range", &[zero, columns, one], &[])?;
    let (starts, lengths) =
        (node.op("tf.ExpandDims", &[starts, one], &[])?, node.op("tf.ExpandDims", &[lengths, one], &[])?);
    let places = node.op("tf.AddV2", &[starts, columns], &[])?;
    let is_there = node.op("tf.Less", &[columns, lengths], &[])?;
    // The default value stands behind the values, where places without a value lead.
    let row = default_row(node, values, default)?;
    let count = node.op("tf.Shape", &[values], &[("out_type", type_attribute(DType::I64))])?;
    let count = gather(node, count, zero)?;
    let values = node.op("tf.ConcatV2", &[values, row, zero], &[])?;
    let places = node.op("tf.SelectV2", &[is_there, places, count], &[])?;
    gather(node, values, places)
}

/// As many rows as the first input asks for, of which new ones hold the default value.
fn with_rows(node: &mut Node<'_, '_>, value: ValueId, default: ValueId) -> Imported<ValueId> {
    let Some(rows) = wanted(node, 0)? else { return Ok(value) };
    if node.ty(value)?.dims.and_then(|dims| dims.first().copied().flatten()) == Some(rows.unsigned_abs()) {
        return Ok(value);
    }
    let row = default_row(node, value, default)?;
    let shape = node.op("tf.Shape", &[value], &[("out_type", type_attribute(DType::I64))])?;
    let mut builder = node.builder();
    let (zero, rows, one) = (builder.add_integer(0)?, builder.add_integer(rows)?, builder.add_integer(1)?);
    let count = gather(node, shape, zero)?;
    let places = node.op("tf.Range", &[zero, rows, one], &[])?;
    let places = node.op("tf.Minimum", &[places, count], &[])?;
    let values = node.op("tf.ConcatV2", &[value, row, zero], &[])?;
    gather(node, values, places)
}

/// A dense tensor, made from the innermost dimension of varying length outwards.
fn to_tensor(node: &mut Node<'_, '_>) -> Imported {
    let (mut values, default) = (node.input(1)?, node.input(2)?);
    for (number, splits) in splits(node)?.into_iter().enumerate().rev() {
        values = filled(node, (values, default), splits, number + 1)?;
    }
    Ok(vec![with_rows(node, values, default)?.into()])
}
