//! Sets, which are the rows of dense or sparse tensors, crosses of features, and sparse tensors
//! that are compared or split.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::{
    Family,
    ragged::splits_of_rows,
    sparse::{column, gather},
};
use crate::import::tensorflow::{
    node::{Imported, Node, Value, ints, type_attribute},
    proto::Attr,
};

pub(super) const OPS: Family = &[
    ("DenseToDenseSetOperation", |node| operation(node, [false, false])),
    ("DenseToSparseSetOperation", |node| operation(node, [false, true])),
    ("RaggedCross", ragged_cross),
    ("SetSize", set_size),
    ("SparseCross", |node| cross(node, 0)),
    ("SparseCrossHashed", |node| cross(node, 3)),
    ("SparseCrossV2", |node| cross(node, 1)),
    ("SparseSparseMaximum", |node| either(node, "tf.Maximum")),
    ("SparseSparseMinimum", |node| either(node, "tf.Minimum")),
    ("SparseSplit", split),
    ("SparseToSparseSetOperation", |node| operation(node, [true, true])),
];

fn wide() -> [(&'static str, Attribute); 1] {
    [("out_type", type_attribute(DType::I64))]
}

fn joined(node: &mut Node<'_, '_>, values: &[ValueId]) -> Imported<ValueId> {
    let axis = node.builder().add_integer(0)?;
    node.op("tf.ConcatV2", &[values, &[axis]].concat(), &[])
}

/// A sparse tensor: coordinates, values and shape.
#[derive(Clone, Copy)]
struct Sparse {
    indices: ValueId,
    values: ValueId,
    shape: ValueId,
}

impl Sparse {
    fn of_inputs(node: &Node<'_, '_>, first: usize) -> Imported<Self> {
        let [indices, values, shape] = [node.input(first)?, node.input(first + 1)?, node.input(first + 2)?];
        Ok(Self { indices, values, shape })
    }

    /// The values of a ragged tensor with one dimension of varying length.
    fn of_ragged(node: &mut Node<'_, '_>, values: ValueId, splits: ValueId) -> Imported<Self> {
        let extents = node.op("tf.Shape", &[values], &wide())?;
        let splits = node.builder().cast(splits, DType::I64)?;
        let made = node.ops("tfrt.RaggedCoordinates", &[extents, splits], &[], 2)?;
        Ok(Self { indices: made[0], values, shape: made[1] })
    }

    /// All elements of a dense tensor.
    fn of_dense(node: &mut Node<'_, '_>, value: ValueId) -> Imported<Self> {
        let shape = node.op("tf.Shape", &[value], &wide())?;
        let one = node.builder().add_integer(1)?;
        let there = node.builder().cast(one, DType::I1)?;
        let all = node.op("tf.Fill", &[shape, there], &[])?;
        let indices = node.op("tf.Where", &[all], &[])?;
        let form = node.builder().add_integers(&[-1])?;
        let values = node.op("tf.Reshape", &[value, form], &[])?;
        Ok(Self { indices, values, shape })
    }
}

/// A set for each row of both inputs. The kernel compares the elements by their numbers in the
/// order of all elements.
fn operation(node: &mut Node<'_, '_>, is_sparse: [bool; 2]) -> Imported {
    let (mut next, mut sides) = (0, Vec::new());
    for is_sparse in is_sparse {
        if is_sparse {
            sides.push(Sparse::of_inputs(node, next)?);
            next += 3;
        } else {
            let value = node.input(next)?;
            sides.push(Sparse::of_dense(node, value)?);
            next += 1;
        }
    }
    let all = joined(node, &[sides[0].values, sides[1].values])?;
    let attributes = [("sorted", Attribute::i64(1)), ("result_segment_sizes", ints(&[1, 0, 1, 0]))];
    let unique = node.ops("onnx.Unique", &[all], &attributes, 2)?;
    let (different, numbers) = (unique[0], unique[1]);
    let kind = node.string("set_operation")?.ok_or("attribute 'set_operation' is missing")?;
    let operands = [sides[0].indices, sides[0].shape, sides[1].indices, sides[1].shape, numbers];
    let attributes = [("set_operation", Attribute::string(kind))];
    let made = node.ops("tfrt.SetOperation", &operands, &attributes, 3)?;
    Ok(vec![made[0].into(), gather(node, different, made[1])?.into(), made[2].into()])
}

/// How many different elements each row has.
fn set_size(node: &mut Node<'_, '_>) -> Imported {
    let set = Sparse::of_inputs(node, 0)?;
    let attributes = [("sorted", Attribute::i64(1)), ("result_segment_sizes", ints(&[1, 0, 1, 0]))];
    let numbers = node.ops("onnx.Unique", &[set.values], &attributes, 2)?[1];
    Ok(vec![node.op("tfrt.SetSize", &[set.indices, set.shape, numbers], &[])?.into()])
}

/// The number of values of an input that is a list.
fn count(node: &Node<'_, '_>, name: &str) -> usize {
    match node.attr(name) {
        Some(Attr::I(count)) => usize::try_from(*count).unwrap_or(0),
        Some(Attr::List(list)) => list.r#type.len(),
        _ => 0,
    }
}

/// All combinations of the features of each row. `more` is the number of inputs behind the
/// features: a separator, or the number of buckets, whether the hash is strong, and its salt.
fn cross(node: &mut Node<'_, '_>, more: usize) -> Imported {
    let (sparse, dense) = (count(node, "N"), count(node, "dense_types"));
    let inputs = node.inputs_from(0)?;
    if inputs.len() != 3 * sparse + dense + more {
        return Err("the op does not have the inputs that its attributes say".into());
    }
    let mut columns = Vec::new();
    for number in 0..sparse {
        let [indices, values, shape] = [0, 1, 2].map(|part| inputs[part * sparse + number]);
        columns.push(Sparse { indices, values, shape });
    }
    for &value in &inputs[3 * sparse..3 * sparse + dense] {
        columns.push(Sparse::of_dense(node, value)?);
    }
    let mut operands: Vec<ValueId> =
        columns.iter().flat_map(|column| [column.indices, column.shape, column.values]).collect();
    let mut attributes = Vec::new();
    if node.flag("hashed_output")? {
        attributes.push(("num_buckets", Attribute::i64(node.int("num_buckets")?.unwrap_or(0))));
        attributes.push(("hash_key", Attribute::i64(node.int("hash_key")?.unwrap_or(0))));
    } else if more == 3 {
        let is_strong = inputs[3 * sparse + dense + 1];
        let is_strong = node.builder().cast(is_strong, DType::I64)?;
        if node.integers(is_strong).as_deref() != Some(&[0]) {
            return Err("strong hashes of crosses are not supported".into());
        }
        operands.push(inputs[3 * sparse + dense]);
    } else if more == 1 {
        operands.push(inputs[3 * sparse + dense]);
    }
    let op = match (node.flag("hashed_output")?, more) {
        (true, _) => "tfrt.HashedCross",
        (false, 3) => "tfrt.BucketedCross",
        _ => "tfrt.JoinedCross",
    };
    Ok(node.ops(op, &operands, &attributes, 3)?.into_iter().map(Into::into).collect())
}

/// All combinations of the features of each row of ragged, sparse and dense inputs, as a ragged
/// tensor.
fn ragged_cross(node: &mut Node<'_, '_>) -> Imported {
    let [ragged, sparse, dense] =
        ["ragged_values_types", "sparse_values_types", "dense_types"].map(|name| count(node, name));
    let inputs = node.inputs_from(0)?;
    if inputs.len() != 2 * ragged + 3 * sparse + dense {
        return Err("the op does not have the inputs that its attributes say".into());
    }
    let (of_ragged, others) = inputs.split_at(2 * ragged);
    let order = node.string("input_order")?.unwrap_or_default();
    let (mut next, mut columns) = ([0; 3], Vec::new());
    for kind in order.chars() {
        let place = ['R', 'S', 'D'].iter().position(|&known| known == kind);
        let place = place.filter(|&place| next[place] < [ragged, sparse, dense][place]);
        let place = place.ok_or("attribute 'input_order' does not fit the inputs")?;
        let number = next[place];
        next[place] += 1;
        columns.push(match place {
            0 => Sparse::of_ragged(node, of_ragged[number], of_ragged[ragged + number])?,
            1 => {
                let [indices, values, shape] = [0, 1, 2].map(|part| others[part * sparse + number]);
                Sparse { indices, values, shape }
            }
            _ => Sparse::of_dense(node, others[3 * sparse + number])?,
        });
    }
    let first = columns.first().ok_or("there are no features to cross")?.shape;
    let mut operands: Vec<ValueId> =
        columns.iter().flat_map(|column| [column.indices, column.shape, column.values]).collect();
    let mut attributes = Vec::new();
    let op = if node.flag("hashed_output")? {
        attributes.push(("num_buckets", Attribute::i64(node.int("num_buckets")?.unwrap_or(0))));
        attributes.push(("hash_key", Attribute::i64(node.int("hash_key")?.unwrap_or(0))));
        "tfrt.HashedCross"
    } else {
        let Value::Tensor(separator) = node.importer.string_constant("_X_")?.remove(0) else {
            return Err("a constant is no tensor".into());
        };
        operands.push(separator);
        "tfrt.JoinedCross"
    };
    let crossed = node.ops(op, &operands, &attributes, 3)?;
    let zero = node.builder().add_integer(0)?;
    let (rows, numbers) = (gather(node, first, zero)?, column(node, crossed[0], 0)?);
    let splits = splits_of_rows(node, rows, numbers)?;
    let dtype = node.type_attr("out_row_splits_type")?.unwrap_or(DType::I64);
    Ok(vec![crossed[1].into(), node.builder().cast(splits, dtype)?.into()])
}

/// The greater or lesser of two values at each place; a value that is not there is zero.
fn either(node: &mut Node<'_, '_>, op: &str) -> Imported {
    let (a, b) = (Sparse::of_inputs(node, 0)?, Sparse::of_inputs(node, 3)?);
    let union = node.ops("tfrt.SparseUnion", &[a.indices, b.indices], &[], 2)?;
    let zero = node.builder().add_integer(0)?;
    let count = |node: &mut Node<'_, '_>, matrix: ValueId| {
        let shape = node.op("tf.Shape", &[matrix], &wide())?;
        gather(node, shape, zero)
    };
    let (all, first) = (count(node, union[0])?, count(node, a.indices)?);
    let mut builder = node.builder();
    let (start, form, rest) =
        (builder.add_integers(&[0])?, builder.add_integers(&[1])?, builder.add_integers(&[-1])?);
    let first = node.op("tf.Reshape", &[first, form], &[])?;
    let mut sides = Vec::new();
    for (values, from, size) in [(a.values, start, first), (b.values, first, rest)] {
        let places = node.op("tf.Slice", &[union[1], from, size], &[])?;
        sides.push(node.op("tf.UnsortedSegmentSum", &[values, places, all], &[])?);
    }
    Ok(vec![union[0].into(), node.op(op, &sides, &[])?.into()])
}

/// Parts along an axis, of which the first ones are longer by one if the extent is no multiple of
/// their number.
fn split(node: &mut Node<'_, '_>) -> Imported {
    let axis = node.input(0)?;
    let [indices, values, shape] = [node.input(1)?, node.input(2)?, node.input(3)?];
    let parts =
        node.int("num_split")?.filter(|&parts| parts > 0).ok_or("attribute 'num_split' is missing")?;
    let (Some(axis), Some(extents)) = (node.integers(axis), node.integers(shape)) else {
        return split_at_run_time(node, axis, [indices, values, shape], parts);
    };
    let axis = axis.first().and_then(|&axis| usize::try_from(axis).ok()).filter(|&axis| axis < extents.len());
    let axis = axis.ok_or("the axis is not one of the shape")?;
    let mut results = [Vec::new(), Vec::new(), Vec::new()];
    let mut start = 0;
    for part in 0..parts {
        let length = extents[axis] / parts + i64::from(part < extents[axis] % parts);
        let (mut from, mut size) = (vec![0; extents.len()], extents.clone());
        (from[axis], size[axis]) = (start, length);
        start += length;
        let (from, size) = (node.builder().add_integers(&from)?, node.builder().add_integers(&size)?);
        let cut = node.ops("tfrt.SparseSlice", &[indices, shape, from, size], &[], 3)?;
        results[0].push(cut[0].into());
        results[1].push(gather(node, values, cut[1])?.into());
        results[2].push(cut[2].into());
    }
    Ok(results.concat())
}

/// The same where the extents are not known. A vector of the axis chooses between what is cut from
/// that dimension and what is kept of the others.
fn split_at_run_time(
    node: &mut Node<'_, '_>,
    axis: ValueId,
    [indices, values, shape]: [ValueId; 3],
    parts: i64,
) -> Imported {
    let rank = node.ty(shape)?.dims.and_then(|dims| dims.first().copied().flatten());
    let rank = rank.ok_or("the rank of what is split is not known")?;
    let mut builder = node.builder();
    let (zero, one, end) =
        (builder.add_integer(0)?, builder.add_integer(1)?, builder.add_integer(rank as i64)?);
    let axis = builder.cast(axis, DType::I64)?;
    let (count, last) = (builder.add_integer(parts)?, builder.add_integer(parts - 1)?);
    let numbers = node.op("tf.Range", &[zero, end, one], &[])?;
    let is_axis = node.op("tf.Equal", &[numbers, axis], &[])?;
    // The first parts are longer by one if the extent is no multiple of their number.
    let padded = node.op("tf.AddV2", &[shape, last], &[])?;
    let (most, least) =
        (node.op("tf.FloorDiv", &[padded, count], &[])?, node.op("tf.FloorDiv", &[shape, count], &[])?);
    let longer = node.op("tf.FloorMod", &[shape, count], &[])?;
    let mut results = [Vec::new(), Vec::new(), Vec::new()];
    for part in 0..parts {
        let number = node.builder().add_integer(part)?;
        let before = node.op("tf.Minimum", &[longer, number], &[])?;
        let start = node.op("tf.Mul", &[least, number], &[])?;
        let start = node.op("tf.AddV2", &[start, before], &[])?;
        let is_longer = node.op("tf.Less", &[number, longer], &[])?;
        let length = node.op("tf.SelectV2", &[is_longer, most, least], &[])?;
        let from = node.op("tf.SelectV2", &[is_axis, start, zero], &[])?;
        let size = node.op("tf.SelectV2", &[is_axis, length, shape], &[])?;
        let cut = node.ops("tfrt.SparseSlice", &[indices, shape, from, size], &[], 3)?;
        results[0].push(cut[0].into());
        results[1].push(gather(node, values, cut[1])?.into());
        results[2].push(cut[2].into());
    }
    Ok(results.concat())
}
