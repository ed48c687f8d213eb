//! Ragged tensors, which are values and the places where rows begin.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::Family;
use crate::import::tensorflow::{
    node::{Imported, Node},
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

/// Where each row begins, and the end of the last one.
fn splits(node: &mut Node<'_, '_>) -> Imported<ValueId> {
    let kinds = partitions(node)?;
    let kinds: Vec<&str> = kinds.iter().map(String::as_str).collect();
    match kinds[..] {
        ["ROW_SPLITS"] => {
            let splits = node.input(3)?;
            Ok(node.builder().cast(splits, DType::I64)?)
        }
        ["FIRST_DIM_SIZE", "VALUE_ROWIDS"] => {
            let (count, rows) = (node.input(3)?, node.input(4)?);
            let mut builder = node.builder();
            let (count, rows) = (builder.cast(count, DType::I32)?, builder.cast(rows, DType::I64)?);
            let ones = node.op("tf.OnesLike", &[rows], &[])?;
            let lengths = node.op("tf.UnsortedSegmentSum", &[ones, rows, count], &[])?;
            let mut builder = node.builder();
            let (axis, zero) = (builder.add_integer(0)?, builder.add_integers(&[0])?);
            let ends = node.op("tf.Cumsum", &[lengths, axis], &[])?;
            node.op("tf.ConcatV2", &[zero, ends, axis], &[])
        }
        _ => Err(format!("row partitions {} are not supported", kinds.join(", ")).into()),
    }
}

/// Part of a vector, from `start` on and without `left_out` elements at the end.
fn part(node: &mut Node<'_, '_>, vector: ValueId, start: i64, left_out: i64) -> Imported<ValueId> {
    let mut builder = node.builder();
    let (start, step) = (builder.add_integers(&[start])?, builder.add_integers(&[1])?);
    let end = builder.add_integers(&[-left_out])?;
    let mask = Attribute::i64(i64::from(left_out == 0));
    node.op("tf.StridedSlice", &[vector, start, end, step], &[("end_mask", mask)])
}

/// How many columns the result has: as the first input says, or as the longest row.
fn columns(node: &mut Node<'_, '_>, lengths: ValueId) -> Imported<ValueId> {
    let shape = node.input(0)?;
    if let Some(shape) = node.integers(shape)
        && let Some(&columns) = shape.get(1)
        && columns >= 0
    {
        return Ok(node.builder().add_integer(columns)?);
    }
    let mut builder = node.builder();
    let (zero, axis) = (builder.add_integers(&[0])?, builder.add_integer(0)?);
    // Without rows there are no columns.
    let lengths = node.op("tf.ConcatV2", &[lengths, zero, axis], &[])?;
    let axes = node.builder().add_integers(&[0])?;
    node.op("tf.Max", &[lengths, axes], &[("keep_dims", Attribute::Bool(false))])
}

/// A tensor, which must have this rank; where that is not known, it is checked when the program runs.
fn of_rank(node: &mut Node<'_, '_>, value: ValueId, rank: usize) -> Imported<ValueId> {
    let message = "only values that are a vector and a default value that is a scalar are supported";
    match node.ty(value)?.rank() {
        Some(known) if known == rank => return Ok(value),
        Some(_) => return Err(message.into()),
        None => {}
    }
    let found = node.op("tf.Rank", &[value], &[])?;
    let expected = node.builder().add_number(DType::I32, rank as f64)?;
    let fits = node.op("tf.Equal", &[found, expected], &[])?;
    let value = node.op("tfrt.Require", &[value, fits], &[("message", Attribute::string(message))])?;
    let shape = node.builder().add_integers(&vec![-1; rank])?;
    node.op("tf.Reshape", &[value, shape], &[])
}

/// Rows of one length, filled with a default value. Each element is that at its row's beginning and its column.
fn to_tensor(node: &mut Node<'_, '_>) -> Imported {
    let (values, default) = (node.input(1)?, node.input(2)?);
    let (values, default) = (of_rank(node, values, 1)?, of_rank(node, default, 0)?);
    let splits = splits(node)?;
    let (starts, ends) = (part(node, splits, 0, 1)?, part(node, splits, 1, 0)?);
    let lengths = node.op("tf.Sub", &[ends, starts], &[])?;
    let columns = columns(node, lengths)?;
    let mut builder = node.builder();
    let (zero, one) = (builder.add_integer(0)?, builder.add_integer(1)?);
    let columns = node.op("tf.Range", &[zero, columns, one], &[])?;
    let (starts, lengths) =
        (node.op("tf.ExpandDims", &[starts, one], &[])?, node.op("tf.ExpandDims", &[lengths, one], &[])?);
    let places = node.op("tf.AddV2", &[starts, columns], &[])?;
    let is_there = node.op("tf.Less", &[columns, lengths], &[])?;
    // The default value stands behind the values, where places without a value lead.
    let default = node.op("tf.ExpandDims", &[default, zero], &[])?;
    let values = node.op("tf.ConcatV2", &[values, default, zero], &[])?;
    let size = node.op("tf.Size", &[values], &[])?;
    let size = node.builder().cast(size, DType::I64)?;
    let last = node.op("tf.Sub", &[size, one], &[])?;
    let places = node.op("tf.SelectV2", &[is_there, places, last], &[])?;
    Ok(vec![node.op("tf.GatherV2", &[values, places, zero], &[])?.into()])
}
