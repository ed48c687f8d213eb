//! Gradients that become a few ops on whole tensors: of sparse tensors, of segments, and of the
//! greatest pixels of windows.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::{
    Family,
    sparse::{gather, row_count},
};
use crate::import::tensorflow::node::{Imported, Node, ints, type_attribute};

pub(super) const OPS: Family = &[
    ("MaxPoolGradGrad", second_pool_gradient),
    ("MaxPoolGradGradV2", second_pool_gradient),
    ("MaxPoolGradGradWithArgmax", |node| {
        let (gradient, places) = (node.input(1)?, node.input(2)?);
        let places = places_in_batch(node, places)?;
        let gradient = flat(node, gradient)?;
        Ok(vec![gather(node, gradient, places)?.into()])
    }),
    ("MaxPoolGradV2", pool_gradient),
    ("MaxPoolGradWithArgmax", pool_gradient_at),
    ("SparseAddGrad", sum_gradients),
    ("SparseFillEmptyRowsGrad", filled_rows_gradient),
    ("SparseSegmentMeanGrad", |node| segment_gradient(node, Some("tf.Identity"))),
    ("SparseSegmentMeanGradV2", |node| compact_segment_gradient(node, Some("tf.Identity"))),
    ("SparseSegmentSqrtNGrad", |node| segment_gradient(node, Some("tf.Sqrt"))),
    ("SparseSegmentSqrtNGradV2", |node| compact_segment_gradient(node, Some("tf.Sqrt"))),
    ("SparseSegmentSumGrad", |node| segment_gradient(node, None)),
    ("SparseSegmentSumGradV2", |node| compact_segment_gradient(node, None)),
    ("SparseSliceGrad", slice_gradient),
];

fn flat(node: &mut Node<'_, '_>, value: ValueId) -> Imported<ValueId> {
    let form = node.builder().add_integers(&[-1])?;
    node.op("tf.Reshape", &[value, form], &[])
}

fn wide(node: &mut Node<'_, '_>, value: ValueId) -> Imported<ValueId> {
    Ok(node.builder().cast(value, DType::I64)?)
}

/// The gradient of each row that was summed, divided as `divisor` makes of the number of rows in
/// its segment.
fn row_gradients(node: &mut Node<'_, '_>, divisor: Option<&str>) -> Imported<ValueId> {
    let (mut gradient, ids) = (node.input(0)?, node.input(2)?);
    let ids = wide(node, ids)?;
    if let Some(divisor) = divisor {
        let count = row_count(node, gradient)?;
        let ones = node.op("tf.OnesLike", &[ids], &[])?;
        let counts = node.op("tf.UnsortedSegmentSum", &[ones, ids, count], &[])?;
        let one = node.builder().add_integer(1)?;
        let counts = node.op("tf.Maximum", &[counts, one], &[])?;
        let dtype = node.dtype(gradient)?;
        let counts = node.builder().cast(counts, dtype)?;
        let divisors = node.op(divisor, &[counts], &[])?;
        // Every row is divided by its own count.
        let shape = node.op("tf.Shape", &[gradient], &[("out_type", type_attribute(DType::I64))])?;
        let ones = node.op("tf.OnesLike", &[shape], &[])?;
        let mut builder = node.builder();
        let (first, rest, axis) =
            (builder.add_integers(&[1])?, builder.add_integers(&[-1])?, builder.add_integer(0)?);
        let ones = node.op("tf.Slice", &[ones, first, rest], &[])?;
        let form = node.op("tf.ConcatV2", &[rest, ones, axis], &[])?;
        let divisors = node.op("tf.Reshape", &[divisors, form], &[])?;
        gradient = node.op("tf.RealDiv", &[gradient, divisors], &[])?;
    }
    gather(node, gradient, ids)
}

/// The gradient of a tensor whose rows at indices were summed by segment.
fn segment_gradient(node: &mut Node<'_, '_>, divisor: Option<&str>) -> Imported {
    let (indices, count) = (node.input(1)?, node.input(3)?);
    let rows = row_gradients(node, divisor)?;
    let (indices, count) = (wide(node, indices)?, wide(node, count)?);
    Ok(vec![node.op("tf.UnsortedSegmentSum", &[rows, indices, count], &[])?.into()])
}

/// The rows of that gradient which are not zero, and their indices.
fn compact_segment_gradient(node: &mut Node<'_, '_>, divisor: Option<&str>) -> Imported {
    let indices = node.input(1)?;
    let rows = row_gradients(node, divisor)?;
    let attributes = [("sorted", Attribute::i64(1)), ("result_segment_sizes", ints(&[1, 0, 1, 0]))];
    let found = node.ops("onnx.Unique", &[indices], &attributes, 2)?;
    let count = row_count(node, found[0])?;
    let sums = node.op("tf.UnsortedSegmentSum", &[rows, found[1], count], &[])?;
    Ok(vec![sums.into(), found[0].into()])
}

/// The gradients at some coordinates, of those given at others; zero where there is none.
fn at_coordinates(
    node: &mut Node<'_, '_>,
    gradient: ValueId,
    given: ValueId,
    wanted: ValueId,
) -> Imported<ValueId> {
    let union = node.ops("tfrt.SparseUnion", &[given, wanted], &[], 2)?;
    let (all, places) = (row_count(node, union[0])?, union[1]);
    let count = row_count(node, given)?;
    let mut builder = node.builder();
    let (zero, form, rest) =
        (builder.add_integers(&[0])?, builder.add_integers(&[1])?, builder.add_integers(&[-1])?);
    let count = node.op("tf.Reshape", &[count, form], &[])?;
    let places_given = node.op("tf.Slice", &[places, zero, count], &[])?;
    let places_wanted = node.op("tf.Slice", &[places, count, rest], &[])?;
    let sums = node.op("tf.UnsortedSegmentSum", &[gradient, places_given, all], &[])?;
    gather(node, sums, places_wanted)
}

fn sum_gradients(node: &mut Node<'_, '_>) -> Imported {
    let [gradient, a, b, sum] = [node.input(0)?, node.input(1)?, node.input(2)?, node.input(3)?];
    Ok(vec![at_coordinates(node, gradient, sum, a)?.into(), at_coordinates(node, gradient, sum, b)?.into()])
}

/// The coordinates of the slice are counted from its start.
fn slice_gradient(node: &mut Node<'_, '_>) -> Imported {
    let [gradient, all, start, part] = [node.input(0)?, node.input(1)?, node.input(2)?, node.input(3)?];
    let part = node.op("tf.AddV2", &[part, start], &[])?;
    Ok(vec![at_coordinates(node, gradient, part, all)?.into()])
}

/// What was filled in has the gradients of all rows that come from no value.
fn filled_rows_gradient(node: &mut Node<'_, '_>) -> Imported {
    let (map, gradient) = (node.input(0)?, node.input(1)?);
    let values = gather(node, gradient, map)?;
    let count = row_count(node, gradient)?;
    let ones = node.op("tf.OnesLike", &[map], &[])?;
    let uses = node.op("tf.UnsortedSegmentSum", &[ones, map, count], &[])?;
    let none = node.add_number_like(uses, 0.0)?;
    let is_filled = node.op("tf.Equal", &[uses, none], &[])?;
    let zero = node.add_number_like(gradient, 0.0)?;
    let filled = node.op("tf.SelectV2", &[is_filled, gradient, zero], &[])?;
    let axes = node.builder().add_integers(&[0])?;
    let sum = node.op("tf.Sum", &[filled, axes], &[("keep_dims", Attribute::Bool(false))])?;
    Ok(vec![values.into(), sum.into()])
}

/// The windows and strides of a pooling, which may be inputs.
fn windows(node: &mut Node<'_, '_>, op: &str) -> Imported<Vec<(&'static str, Attribute)>> {
    let mut attributes = node.forwarded(op)?;
    if node.inputs.len() > 3 {
        for (input, name) in [(3, "ksize"), (4, "strides")] {
            let extents = node.input(input)?;
            let extents = node.integers(extents).ok_or_else(|| format!("the input '{name}' is not known"))?;
            attributes.push((name, ints(&extents)));
        }
    }
    Ok(attributes)
}

fn pool_gradient(node: &mut Node<'_, '_>) -> Imported {
    let attributes = windows(node, "tf.MaxPoolGrad")?;
    let operands = [node.input(0)?, node.input(1)?, node.input(2)?];
    Ok(vec![node.op("tf.MaxPoolGrad", &operands, &attributes)?.into()])
}

/// The gradients of the pixels that are the greatest of their windows.
fn second_pool_gradient(node: &mut Node<'_, '_>) -> Imported {
    if node.string("data_format")?.is_some_and(|format| format != "NHWC") {
        return Err("only the data format NHWC is supported".into());
    }
    let (x, gradient) = (node.input(0)?, node.input(2)?);
    let mut attributes = windows(node, "tf.MaxPoolWithArgmax")?;
    attributes.retain(|(name, _)| !matches!(*name, "Targmax" | "include_batch_in_index"));
    attributes.push(("include_batch_in_index", Attribute::Bool(true)));
    let places = node.ops("tf.MaxPoolWithArgmax", &[x], &attributes, 2)?[1];
    let gradient = flat(node, gradient)?;
    Ok(vec![gather(node, gradient, places)?.into()])
}

/// The places of pixels among those of all images.
fn places_in_batch(node: &mut Node<'_, '_>, places: ValueId) -> Imported<ValueId> {
    let x = node.input(0)?;
    let places = wide(node, places)?;
    if node.flag("include_batch_in_index")? {
        return Ok(places);
    }
    let count = row_count(node, x)?;
    let size = node.op("tf.Size", &[x], &[("out_type", type_attribute(DType::I64))])?;
    let mut builder = node.builder();
    let (zero, one) = (builder.add_integer(0)?, builder.add_integer(1)?);
    let form = builder.add_integers(&[-1, 1, 1, 1])?;
    let least = node.op("tf.Maximum", &[count, one], &[])?;
    let each = node.op("tf.FloorDiv", &[size, least], &[])?;
    let numbers = node.op("tf.Range", &[zero, count, one], &[])?;
    let starts = node.op("tf.Mul", &[numbers, each], &[])?;
    let starts = node.op("tf.Reshape", &[starts, form], &[])?;
    node.op("tf.AddV2", &[places, starts], &[])
}

/// Each gradient belongs to the pixel at its place.
fn pool_gradient_at(node: &mut Node<'_, '_>) -> Imported {
    let [x, gradient, places] = [node.input(0)?, node.input(1)?, node.input(2)?];
    let places = places_in_batch(node, places)?;
    let (places, gradient) = (flat(node, places)?, flat(node, gradient)?);
    let wide = [("out_type", type_attribute(DType::I64))];
    let (shape, size) = (node.op("tf.Shape", &[x], &wide)?, node.op("tf.Size", &[x], &wide)?);
    let sums = node.op("tf.UnsortedSegmentSum", &[gradient, places, size], &[])?;
    Ok(vec![node.op("tf.Reshape", &[sums, shape], &[])?.into()])
}
