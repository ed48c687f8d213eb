//! Sparse tensors: ops on coordinates say where values come from or go to, and ops on dense tensors
//! move them there.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::Family;
use crate::import::tensorflow::node::{Imported, Node};

pub(super) const OPS: Family = &[
    ("EditDistance", edit_distance),
    ("RaggedFillEmptyRows", fill_empty_ragged_rows),
    ("RaggedGather", ragged_gather),
    ("RaggedTensorToSparse", ragged_to_sparse),
    ("SparseAdd", add),
    ("SparseConcat", concat),
    ("SparseDenseCwiseAdd", |node| with_dense(node, "tf.AddV2")),
    ("SparseDenseCwiseDiv", |node| with_dense(node, "tf.RealDiv")),
    ("SparseDenseCwiseMul", |node| with_dense(node, "tf.Mul")),
    ("SparseFillEmptyRows", fill_empty_rows),
    ("SparseReduceMax", |node| reduce(node, "tf.UnsortedSegmentMax")),
    ("SparseReduceSum", |node| reduce(node, "tf.UnsortedSegmentSum")),
    ("SparseReorder", reorder),
    ("SparseSegmentMean", |node| segments(node, Mean::Count)),
    ("SparseSegmentMeanWithNumSegments", |node| segments(node, Mean::Count)),
    ("SparseSegmentSqrtN", |node| segments(node, Mean::Root)),
    ("SparseSegmentSqrtNWithNumSegments", |node| segments(node, Mean::Root)),
    ("SparseSegmentSum", |node| segments(node, Mean::None)),
    ("SparseSegmentSumWithNumSegments", |node| segments(node, Mean::None)),
    ("SparseSlice", slice),
    ("SparseSoftmax", softmax),
    ("SparseTensorDenseAdd", add_to_dense),
    ("SparseTensorDenseMatMul", product),
    ("SparseToDense", to_dense),
];

/// The elements at some places of a vector or the rows of a matrix.
pub(super) fn gather(node: &mut Node<'_, '_>, values: ValueId, places: ValueId) -> Imported<ValueId> {
    let axis = node.builder().add_integer(0)?;
    node.op("tf.GatherV2", &[values, places, axis], &[])
}

fn concatenated(node: &mut Node<'_, '_>, values: &[ValueId]) -> Imported<ValueId> {
    let axis = node.builder().add_integer(0)?;
    node.op("tf.ConcatV2", &[values, &[axis]].concat(), &[])
}

/// A column of a matrix.
pub(super) fn column(node: &mut Node<'_, '_>, matrix: ValueId, number: i64) -> Imported<ValueId> {
    let mut builder = node.builder();
    let (number, axis) = (builder.add_integer(number)?, builder.add_integer(1)?);
    node.op("tf.GatherV2", &[matrix, number, axis], &[])
}

fn reorder(node: &mut Node<'_, '_>) -> Imported {
    let (indices, values) = (node.input(0)?, node.input(1)?);
    let order = node.op("tfrt.SparseOrder", &[indices], &[])?;
    Ok(vec![gather(node, indices, order)?.into(), gather(node, values, order)?.into()])
}

/// A dense tensor with the values at their places and the default elsewhere.
fn to_dense(node: &mut Node<'_, '_>) -> Imported {
    let (mut indices, shape) = (node.input(0)?, node.input(1)?);
    let (mut values, default) = (node.input(2)?, node.input(3)?);
    let one = node.builder().add_integer(1)?;
    // Places may be a number or, in a vector, a list of numbers.
    match node.ty(indices)?.rank() {
        Some(2) => {}
        Some(1) => indices = node.op("tf.ExpandDims", &[indices, one], &[])?,
        Some(0) => {
            let form = node.builder().add_integers(&[1, 1])?;
            indices = node.op("tf.Reshape", &[indices, form], &[])?;
        }
        _ => {}
    }
    if node.ty(values)?.rank() == Some(0) {
        let all = node.op("tf.Shape", &[indices], &[])?;
        let (zero, count) = (node.builder().add_integers(&[0])?, node.builder().add_integers(&[1])?);
        let all = node.builder().cast(all, DType::I64)?;
        let count = node.op("tf.Slice", &[all, zero, count], &[])?;
        values = node.op("tf.Fill", &[count, values], &[])?;
    }
    if node.dtype(values)? == DType::String {
        return strings_to_dense(node, indices, shape, (values, default));
    }
    let dense = node.op("tf.Fill", &[shape, default], &[])?;
    Ok(vec![node.op("tf.TensorScatterUpdate", &[dense, indices, values], &[])?.into()])
}

/// Strings cannot be scattered, so their numbers are. The default value has the number zero.
fn strings_to_dense(
    node: &mut Node<'_, '_>,
    indices: ValueId,
    shape: ValueId,
    (values, default): (ValueId, ValueId),
) -> Imported {
    let mut builder = node.builder();
    let (zero, one) = (builder.add_integer(0)?, builder.add_integer(1)?);
    let default = node.op("tf.ExpandDims", &[default, zero], &[])?;
    let all = concatenated(node, &[default, values])?;
    let count = row_count(node, all)?;
    let numbers = node.op("tf.Range", &[one, count, one], &[])?;
    let places = node.op("tf.Fill", &[shape, zero], &[])?;
    let places = node.op("tf.TensorScatterUpdate", &[places, indices, numbers], &[])?;
    Ok(vec![gather(node, all, places)?.into()])
}

fn add(node: &mut Node<'_, '_>) -> Imported {
    let [a_indices, a_values, shape, b_indices, b_values] =
        [node.input(0)?, node.input(1)?, node.input(2)?, node.input(3)?, node.input(4)?];
    let threshold = node.input(6)?;
    let union = node.ops("tfrt.SparseUnion", &[a_indices, b_indices], &[], 2)?;
    let values = concatenated(node, &[a_values, b_values])?;
    let count = row_count(node, union[0])?;
    let sums = node.op("tf.UnsortedSegmentSum", &[values, union[1], count], &[])?;
    let size = node.op("tf.Abs", &[sums], &[])?;
    let dtype = node.dtype(size)?;
    let threshold = node.builder().cast(threshold, dtype)?;
    let kept = node.op("tf.GreaterEqual", &[size, threshold], &[])?;
    let places = places_of(node, kept)?;
    Ok(vec![gather(node, union[0], places)?.into(), gather(node, sums, places)?.into(), shape.into()])
}

/// How many rows a matrix or vector has.
pub(super) fn row_count(node: &mut Node<'_, '_>, matrix: ValueId) -> Imported<ValueId> {
    let shape = node.op("tf.Shape", &[matrix], &[])?;
    let zero = node.builder().add_integer(0)?;
    let count = gather(node, shape, zero)?;
    Ok(node.builder().cast(count, DType::I64)?)
}

/// Where a vector of truth values is true.
pub(super) fn places_of(node: &mut Node<'_, '_>, truth: ValueId) -> Imported<ValueId> {
    let places = node.op("tf.Where", &[truth], &[])?;
    let form = node.builder().add_integers(&[-1])?;
    node.op("tf.Reshape", &[places, form], &[])
}

fn concat(node: &mut Node<'_, '_>) -> Imported {
    let inputs = node.inputs_from(0)?;
    let count = inputs.len() / 3;
    let axis = [("concat_dim", Attribute::i64(node.int("concat_dim")?.unwrap_or(0)))];
    let operands = [&inputs[..count], &inputs[2 * count..]].concat();
    let joined = node.ops("tfrt.SparseConcat", &operands, &axis, 3)?;
    let values = concatenated(node, &inputs[count..2 * count])?;
    Ok(vec![joined[0].into(), gather(node, values, joined[1])?.into(), joined[2].into()])
}

/// The values with those of a dense tensor at the same places.
fn with_dense(node: &mut Node<'_, '_>, op: &str) -> Imported {
    let [indices, values, shape, dense] = [node.input(0)?, node.input(1)?, node.input(2)?, node.input(3)?];
    let dense = node.op("tf.BroadcastTo", &[dense, shape], &[])?;
    let other = node.op("tf.GatherNd", &[dense, indices], &[])?;
    Ok(vec![node.op(op, &[values, other], &[])?.into()])
}

fn add_to_dense(node: &mut Node<'_, '_>) -> Imported {
    let [indices, values, dense] = [node.input(0)?, node.input(1)?, node.input(3)?];
    Ok(vec![node.op("tf.TensorScatterAdd", &[dense, indices, values], &[])?.into()])
}

fn fill_empty_rows(node: &mut Node<'_, '_>) -> Imported {
    let [indices, values, shape, default] = [node.input(0)?, node.input(1)?, node.input(2)?, node.input(3)?];
    let filled = node.ops("tfrt.SparseFillEmptyRows", &[indices, shape], &[], 4)?;
    let axis = node.builder().add_integer(0)?;
    let default = node.op("tf.ExpandDims", &[default, axis], &[])?;
    let values = concatenated(node, &[values, default])?;
    let values = gather(node, values, filled[1])?;
    Ok(vec![filled[0].into(), values.into(), filled[2].into(), filled[3].into()])
}

/// The same for rows that are given by the number of each value's row.
fn fill_empty_ragged_rows(node: &mut Node<'_, '_>) -> Imported {
    let [rows, values, count, default] = [node.input(0)?, node.input(1)?, node.input(2)?, node.input(3)?];
    let mut builder = node.builder();
    let (axis, last, form) = (builder.add_integer(0)?, builder.add_integer(1)?, builder.add_integers(&[1])?);
    let indices = node.op("tf.ExpandDims", &[rows, last], &[])?;
    let shape = node.op("tf.Reshape", &[count, form], &[])?;
    let filled = node.ops("tfrt.SparseFillEmptyRows", &[indices, shape], &[], 4)?;
    let default = node.op("tf.ExpandDims", &[default, axis], &[])?;
    let values = concatenated(node, &[values, default])?;
    let values = gather(node, values, filled[1])?;
    let rows = column(node, filled[0], 0)?;
    Ok(vec![rows.into(), values.into(), filled[2].into(), filled[3].into()])
}

fn slice(node: &mut Node<'_, '_>) -> Imported {
    let [indices, values, shape, start, size] =
        [node.input(0)?, node.input(1)?, node.input(2)?, node.input(3)?, node.input(4)?];
    let part = node.ops("tfrt.SparseSlice", &[indices, shape, start, size], &[], 3)?;
    Ok(vec![part[0].into(), gather(node, values, part[1])?.into(), part[2].into()])
}

/// The sums or greatest values along some axes; zero where there is no value.
fn reduce(node: &mut Node<'_, '_>, op: &str) -> Imported {
    let [indices, values, shape, axes] = [node.input(0)?, node.input(1)?, node.input(2)?, node.input(3)?];
    let keep = [("keep_dims", Attribute::Bool(node.flag("keep_dims")?))];
    let groups = node.ops("tfrt.SparseGroups", &[indices, shape, axes], &keep, 3)?;
    let mut reduced = node.op(op, &[values, groups[0], groups[1]], &[])?;
    if op == "tf.UnsortedSegmentMax" {
        let ones = node.op("tf.OnesLike", &[groups[0]], &[])?;
        let counts = node.op("tf.UnsortedSegmentSum", &[ones, groups[0], groups[1]], &[])?;
        let zero = node.builder().add_integer(0)?;
        let is_there = node.op("tf.Greater", &[counts, zero], &[])?;
        let none = node.op("tf.ZerosLike", &[reduced], &[])?;
        reduced = node.op("tf.SelectV2", &[is_there, reduced, none], &[])?;
    }
    Ok(vec![node.op("tf.Reshape", &[reduced, groups[2]], &[])?.into()])
}

/// The softmax of the values of each row.
fn softmax(node: &mut Node<'_, '_>) -> Imported {
    let [indices, values, shape] = [node.input(0)?, node.input(1)?, node.input(2)?];
    let last = node.builder().add_integers(&[-1])?;
    let groups = node.ops("tfrt.SparseGroups", &[indices, shape, last], &[], 3)?;
    let greatest = node.op("tf.UnsortedSegmentMax", &[values, groups[0], groups[1]], &[])?;
    let greatest = gather(node, greatest, groups[0])?;
    let shifted = node.op("tf.Sub", &[values, greatest], &[])?;
    let powers = node.op("tf.Exp", &[shifted], &[])?;
    let sums = node.op("tf.UnsortedSegmentSum", &[powers, groups[0], groups[1]], &[])?;
    let sums = gather(node, sums, groups[0])?;
    Ok(vec![node.op("tf.RealDiv", &[powers, sums], &[])?.into()])
}

/// The product with a dense matrix: its rows times the values, summed where the values stand.
fn product(node: &mut Node<'_, '_>) -> Imported {
    let [indices, values, shape] = [node.input(0)?, node.input(1)?, node.input(2)?];
    let mut dense = node.input(3)?;
    let is_adjoint = node.flag("adjoint_a")?;
    if node.flag("adjoint_b")? {
        let order = node.builder().add_integers(&[1, 0])?;
        dense = node.op("tf.Transpose", &[dense, order], &[])?;
    }
    let (rows, columns) = (i64::from(is_adjoint), i64::from(!is_adjoint));
    let (to, from) = (column(node, indices, rows)?, column(node, indices, columns)?);
    let axis = node.builder().add_integer(rows)?;
    let count = gather(node, shape, axis)?;
    let taken = gather(node, dense, from)?;
    let one = node.builder().add_integer(1)?;
    let values = node.op("tf.ExpandDims", &[values, one], &[])?;
    let scaled = node.op("tf.Mul", &[taken, values], &[])?;
    Ok(vec![node.op("tf.UnsortedSegmentSum", &[scaled, to, count], &[])?.into()])
}

/// What sums are divided by.
enum Mean {
    None,
    Count,
    Root,
}

/// The sums of rows at indices, by segment.
fn segments(node: &mut Node<'_, '_>, mean: Mean) -> Imported {
    let [data, indices, ids] = [node.input(0)?, node.input(1)?, node.input(2)?];
    let ids = node.builder().cast(ids, DType::I64)?;
    let count = match node.inputs.get(3) {
        Some(_) => {
            let count = node.input(3)?;
            node.builder().cast(count, DType::I64)?
        }
        None => {
            // Segments are in order, so the last one has the greatest number.
            let mut builder = node.builder();
            let (none, axis) = (builder.add_integers(&[-1])?, builder.add_integers(&[0])?);
            let one = builder.add_integer(1)?;
            let all = concatenated(node, &[ids, none])?;
            let last = node.op("tf.Max", &[all, axis], &[("keep_dims", Attribute::Bool(false))])?;
            node.op("tf.AddV2", &[last, one], &[])?
        }
    };
    let rows = gather(node, data, indices)?;
    let sums = node.op("tf.UnsortedSegmentSum", &[rows, ids, count], &[])?;
    if matches!(mean, Mean::None) {
        return Ok(vec![sums.into()]);
    }
    let ones = node.op("tf.OnesLike", &[ids], &[])?;
    let counts = node.op("tf.UnsortedSegmentSum", &[ones, ids, count], &[])?;
    let one = node.builder().add_integer(1)?;
    let counts = node.op("tf.Maximum", &[counts, one], &[])?;
    let dtype = node.dtype(data)?;
    let mut divisors = node.builder().cast(counts, dtype)?;
    if matches!(mean, Mean::Root) {
        divisors = node.op("tf.Sqrt", &[divisors], &[])?;
    }
    // Every row is divided by its own count.
    let rank = node.ty(data)?.rank().ok_or("the rank of the data is not known")?;
    let form = [vec![-1], vec![1; rank.saturating_sub(1)]].concat();
    let form = node.builder().add_integers(&form)?;
    let divisors = node.op("tf.Reshape", &[divisors, form], &[])?;
    Ok(vec![node.op("tf.RealDiv", &[sums, divisors], &[])?.into()])
}

fn ragged_gather(node: &mut Node<'_, '_>) -> Imported {
    let inputs = node.inputs_from(0)?;
    let [splits @ .., values, indices] = &inputs[..] else { return Err("the op lacks inputs".into()) };
    let operands = [&[*indices], splits].concat();
    let mut results = node.ops("tfrt.RaggedGather", &operands, &[], splits.len() + 1)?;
    let places = results.pop().ok_or("a ragged tensor has splits")?;
    results.push(gather(node, *values, places)?);
    Ok(results.into_iter().map(Into::into).collect())
}

fn ragged_to_sparse(node: &mut Node<'_, '_>) -> Imported {
    let inputs = node.inputs_from(0)?;
    let [splits @ .., values] = &inputs[..] else { return Err("the op lacks inputs".into()) };
    let shape = node.op("tf.Shape", &[*values], &[])?;
    let operands = [&[shape], splits].concat();
    let results = node.ops("tfrt.RaggedCoordinates", &operands, &[], 2)?;
    let form = node.builder().add_integers(&[-1])?;
    let values = node.op("tf.Reshape", &[*values, form], &[])?;
    Ok(vec![results[0].into(), values.into(), results[1].into()])
}

/// Texts are compared by the numbers of their parts among all parts.
fn edit_distance(node: &mut Node<'_, '_>) -> Imported {
    let [left, left_values, left_shape] = [node.input(0)?, node.input(1)?, node.input(2)?];
    let [right, right_values, right_shape] = [node.input(3)?, node.input(4)?, node.input(5)?];
    let all = concatenated(node, &[left_values, right_values])?;
    let segments = [
        ("sorted", Attribute::i64(0)),
        ("result_segment_sizes", crate::import::tensorflow::node::ints(&[1, 0, 1, 0])),
    ];
    let numbers = node.ops("onnx.Unique", &[all], &segments, 2)?[1];
    let count = row_count(node, left_values)?;
    let zero = node.builder().add_integers(&[0])?;
    let form = node.builder().add_integers(&[1])?;
    let count = node.op("tf.Reshape", &[count, form], &[])?;
    let rest = node.builder().add_integers(&[-1])?;
    let left_keys = node.op("tf.Slice", &[numbers, zero, count], &[])?;
    let right_keys = node.op("tf.Slice", &[numbers, count, rest], &[])?;
    let normalize = !matches!(node.attr("normalize"), Some(crate::import::tensorflow::proto::Attr::B(false)));
    let operands = [left, left_keys, left_shape, right, right_keys, right_shape];
    let attributes = [("normalize", Attribute::Bool(normalize))];
    Ok(vec![node.op("tfrt.EditDistance", &operands, &attributes)?.into()])
}
