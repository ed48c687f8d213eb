//! Ops that sort elements out and put them together, and others that become a few ops on whole
//! tensors.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::{Family, signal::conjugated, sparse::places_of};
use crate::import::tensorflow::{
    node::{Imported, Node, type_attribute},
    proto::Attr,
};

pub(super) const OPS: Family = &[
    ("ApproxTopK", approximate_top),
    ("Diag", diagonal),
    ("DiagPart", diagonal_part),
    ("DisableCopyOnRead", |_| Ok(Vec::new())),
    ("DynamicPartition", partition),
    ("DynamicStitch", stitch),
    ("Empty", empty),
    ("EuclideanNorm", euclidean_norm),
    ("GuaranteeConst", |node| Ok(vec![node.value(0)?.clone()])),
    ("HistogramFixedWidth", histogram),
    ("InTopK", in_top),
    ("InTopKV2", in_top),
    ("ParallelConcat", |node| {
        let axis = node.builder().add_integer(0)?;
        let operands = [node.inputs_from(0)?, vec![axis]].concat();
        Ok(vec![node.op("tf.ConcatV2", &operands, &[])?.into()])
    }),
    ("ParallelDynamicStitch", stitch),
    ("SegmentMean", segment_mean),
    ("UnravelIndex", unravel),
];

const NO: Attribute = Attribute::Bool(false);

/// The rows of a tensor at some places.
fn rows(node: &mut Node<'_, '_>, data: ValueId, places: ValueId) -> Imported<ValueId> {
    let axis = node.builder().add_integer(0)?;
    node.op("tf.GatherV2", &[data, places, axis], &[])
}

/// A tensor as a list of rows, without the first dimensions that `outer` has.
fn flattened(node: &mut Node<'_, '_>, data: ValueId, outer: ValueId) -> Imported<ValueId> {
    let wide = [("out_type", type_attribute(DType::I64))];
    let of = node.ty(outer)?.rank();
    if of == Some(1) {
        return Ok(data);
    }
    let first = node.builder().add_integers(&[-1])?;
    let rest = node.builder().add_integers(&[-1])?;
    let start = match of {
        Some(of) => node.builder().add_integers(&[of as i64])?,
        None => {
            let outer = node.op("tf.Shape", &[outer], &wide)?;
            node.op("tf.Shape", &[outer], &wide)?
        }
    };
    let shape = node.op("tf.Shape", &[data], &wide)?;
    let inner = node.op("tf.Slice", &[shape, start, rest], &[])?;
    let axis = node.builder().add_integer(0)?;
    let form = node.op("tf.ConcatV2", &[first, inner, axis], &[])?;
    node.op("tf.Reshape", &[data, form], &[])
}

fn partition(node: &mut Node<'_, '_>) -> Imported {
    let (data, numbers) = (node.input(0)?, node.input(1)?);
    let count = node.output_count();
    let data = flattened(node, data, numbers)?;
    let numbers = flattened(node, numbers, numbers)?;
    let mut parts = Vec::new();
    for number in 0..count {
        let number = node.builder().add_number(DType::I32, number as f64)?;
        let is_here = node.op("tf.Equal", &[numbers, number], &[])?;
        let places = places_of(node, is_here)?;
        parts.push(rows(node, data, places)?.into());
    }
    Ok(parts)
}

/// Rows at places, of which later ones replace earlier ones.
fn stitch(node: &mut Node<'_, '_>) -> Imported {
    let inputs = node.inputs_from(0)?;
    let (places, data) = inputs.split_at(inputs.len() / 2);
    let (mut all_places, mut all_data) = (Vec::new(), Vec::new());
    for (&places, &data) in places.iter().zip(data) {
        all_data.push(flattened(node, data, places)?);
        let places = flattened(node, places, places)?;
        all_places.push(node.builder().cast(places, DType::I64)?);
    }
    let axis = node.builder().add_integer(0)?;
    let none = node.builder().add_integers(&[-1])?;
    let data = node.op("tf.ConcatV2", &[&all_data[..], &[axis]].concat(), &[])?;
    let places = node.op("tf.ConcatV2", &[&all_places[..], &[axis]].concat(), &[])?;
    let with_none = node.op("tf.ConcatV2", &[places, none, axis], &[])?;
    let axes = node.builder().add_integers(&[0])?;
    let one = node.builder().add_integer(1)?;
    let last = node.op("tf.Max", &[with_none, axes], &[("keep_dims", NO)])?;
    let count = node.op("tf.AddV2", &[last, one], &[])?;
    // The row that each place ends up with: the last one that names it.
    let size = node.op("tf.Size", &[places], &[("out_type", type_attribute(DType::I64))])?;
    let zero = node.builder().add_integer(0)?;
    let numbers = node.op("tf.Range", &[zero, size, one], &[])?;
    let from = node.op("tf.UnsortedSegmentMax", &[numbers, places, count], &[])?;
    let from = node.op("tf.Maximum", &[from, zero], &[])?;
    Ok(vec![rows(node, data, from)?.into()])
}

/// The coordinates of places in a shape, a row for each dimension.
fn unravel(node: &mut Node<'_, '_>) -> Imported {
    let (places, dims) = (node.input(0)?, node.input(1)?);
    let axis = node.builder().add_number(DType::I32, 0.0)?;
    let attributes = [("exclusive", Attribute::Bool(true)), ("reverse", Attribute::Bool(true))];
    let mut strides = node.op("tf.Cumprod", &[dims, axis], &attributes)?;
    let mut extents = dims;
    if node.ty(places)?.rank() != Some(0) {
        let one = node.builder().add_integer(1)?;
        strides = node.op("tf.ExpandDims", &[strides, one], &[])?;
        extents = node.op("tf.ExpandDims", &[extents, one], &[])?;
    }
    let quotients = node.op("tf.FloorDiv", &[places, strides], &[])?;
    Ok(vec![node.op("tf.FloorMod", &[quotients, extents], &[])?.into()])
}

fn histogram(node: &mut Node<'_, '_>) -> Imported {
    let [values, range, bins] = [node.input(0)?, node.input(1)?, node.input(2)?];
    let dtype = node.type_attr("dtype")?.unwrap_or(DType::I32);
    let form = node.builder().add_integers(&[-1])?;
    let values = node.op("tf.Reshape", &[values, form], &[])?;
    let (zero, one) = (node.builder().add_integer(0)?, node.builder().add_integer(1)?);
    let (low, high) = (rows(node, range, zero)?, rows(node, range, one)?);
    let (width, offset) = (node.op("tf.Sub", &[high, low], &[])?, node.op("tf.Sub", &[values, low], &[])?);
    let mut builder = node.builder();
    let (wide, offset) = (builder.cast(width, DType::F64)?, builder.cast(offset, DType::F64)?);
    let (count, bins) = (builder.cast(bins, DType::F64)?, builder.cast(bins, DType::I64)?);
    let step = node.op("tf.RealDiv", &[wide, count], &[])?;
    let places = node.op("tf.RealDiv", &[offset, step], &[])?;
    let places = node.op("tf.Floor", &[places], &[])?;
    let least = node.add_number_like(places, 0.0)?;
    let most = node.add_number_like(places, 1.0)?;
    let most = node.op("tf.Sub", &[count, most], &[])?;
    let places = node.op("tf.Maximum", &[places, least], &[])?;
    let places = node.op("tf.Minimum", &[places, most], &[])?;
    let places = node.builder().cast(places, DType::I64)?;
    let ones = node.op("tf.OnesLike", &[places], &[])?;
    let ones = node.builder().cast(ones, dtype)?;
    Ok(vec![node.op("tf.UnsortedSegmentSum", &[ones, places, bins], &[])?.into()])
}

/// Whether each target is among the k greatest predictions. Those equal to it do not count against
/// it.
fn in_top(node: &mut Node<'_, '_>) -> Imported {
    let (predictions, targets) = (node.input(0)?, node.input(1)?);
    let k = match node.inputs.get(2) {
        Some(_) => node.input(2)?,
        None => {
            let k = node.int("k")?.unwrap_or(1);
            node.builder().add_integer(k)?
        }
    };
    let one = node.builder().add_integer(1)?;
    let column = node.op("tf.ExpandDims", &[targets, one], &[])?;
    let axis = node.builder().add_integer(1)?;
    let own = node.op("tf.GatherV2", &[predictions, column, axis], &[("batch_dims", Attribute::i64(1))])?;
    let above = node.op("tf.Greater", &[predictions, own], &[])?;
    let above = node.builder().cast(above, DType::I64)?;
    let axes = node.builder().add_integers(&[1])?;
    let count = node.op("tf.Sum", &[above, axes], &[("keep_dims", NO)])?;
    let k = node.builder().cast(k, DType::I64)?;
    let is_in = node.op("tf.Less", &[count, k], &[])?;
    let finite = node.op("tf.IsFinite", &[own], &[])?;
    let finite = node.op("tf.All", &[finite, axes], &[("keep_dims", NO)])?;
    Ok(vec![node.op("tf.LogicalAnd", &[is_in, finite], &[])?.into()])
}

/// The greatest or least elements along an axis, all of them found.
fn approximate_top(node: &mut Node<'_, '_>) -> Imported {
    let mut x = node.input(0)?;
    let rank = node.ty(x)?.rank().ok_or("the rank of the input is not known")? as i64;
    let k = node.int("k")?.unwrap_or(1);
    let axis = node.int("reduction_dimension")?.unwrap_or(-1);
    let axis = if axis < 0 { axis + rank } else { axis };
    let is_max = !matches!(node.attr("is_max_k"), Some(Attr::B(false)));
    let order: Vec<i64> = (0..rank)
        .map(|dim| {
            if dim == axis {
                rank - 1
            } else if dim == rank - 1 {
                axis
            } else {
                dim
            }
        })
        .collect();
    let order = node.builder().add_integers(&order)?;
    x = node.op("tf.Transpose", &[x, order], &[])?;
    if !is_max {
        x = node.op("tf.Neg", &[x], &[])?;
    }
    let k = node.builder().add_number(DType::I32, k as f64)?;
    let index = [("index_type", type_attribute(DType::I32))];
    let results = node.ops("tf.TopKV2", &[x, k], &index, 2)?;
    let mut values = results[0];
    if !is_max {
        values = node.op("tf.Neg", &[values], &[])?;
    }
    let values = node.op("tf.Transpose", &[values, order], &[])?;
    Ok(vec![values.into(), node.op("tf.Transpose", &[results[1], order], &[])?.into()])
}

fn empty(node: &mut Node<'_, '_>) -> Imported {
    let shape = node.input(0)?;
    let dtype = node.type_attr("dtype")?.ok_or("attribute 'dtype' is missing")?;
    let zero = node.builder().add_number(dtype, 0.0)?;
    Ok(vec![node.op("tf.Fill", &[shape, zero], &[])?.into()])
}

fn euclidean_norm(node: &mut Node<'_, '_>) -> Imported {
    let (x, axes) = (node.input(0)?, node.input(1)?);
    let keep = [("keep_dims", Attribute::Bool(node.flag("keep_dims")?))];
    let conjugates = conjugated(node, x)?;
    let squares = node.op("tf.Mul", &[x, conjugates], &[])?;
    let sum = node.op("tf.Sum", &[squares, axes], &keep)?;
    Ok(vec![node.op("tf.Sqrt", &[sum], &[])?.into()])
}

fn segment_mean(node: &mut Node<'_, '_>) -> Imported {
    let (data, ids) = (node.input(0)?, node.input(1)?);
    let dtype = node.dtype(data)?;
    let ones = node.op("tf.OnesLike", &[ids], &[])?;
    let ones = node.builder().cast(ones, dtype)?;
    let sums = node.op("tf.SegmentSum", &[data, ids], &[])?;
    let counts = node.op("tf.SegmentSum", &[ones, ids], &[])?;
    let one = node.add_number_like(counts, 1.0)?;
    let counts = node.op("tf.Maximum", &[counts, one], &[])?;
    let rank = node.ty(data)?.rank().ok_or("the rank of the data is not known")?;
    let form = [vec![-1], vec![1; rank.saturating_sub(1)]].concat();
    let form = node.builder().add_integers(&form)?;
    let counts = node.op("tf.Reshape", &[counts, form], &[])?;
    Ok(vec![node.op("tf.RealDiv", &[sums, counts], &[])?.into()])
}

/// A tensor of twice as many dimensions with the elements on its diagonal.
fn diagonal(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let form = node.builder().add_integers(&[-1])?;
    let flat = node.op("tf.Reshape", &[x, form], &[])?;
    let matrix = node.op("tf.MatrixDiag", &[flat], &[])?;
    let shape = node.op("tf.Shape", &[x], &[])?;
    let axis = node.builder().add_integer(0)?;
    let shape = node.op("tf.ConcatV2", &[shape, shape, axis], &[])?;
    Ok(vec![node.op("tf.Reshape", &[matrix, shape], &[])?.into()])
}

fn diagonal_part(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let rank = node.ty(x)?.rank().ok_or("the rank of the input is not known")? as i64;
    let mut builder = node.builder();
    let (start, count) = (builder.add_integers(&[0])?, builder.add_integers(&[rank / 2])?);
    let axes = builder.add_integers(&[0])?;
    let shape = node.op("tf.Shape", &[x], &[])?;
    let half = node.op("tf.Slice", &[shape, start, count], &[])?;
    let size = node.op("tf.Prod", &[half, axes], &[("keep_dims", NO)])?;
    let form = node.op("tf.Pack", &[size, size], &[("axis", Attribute::i64(0))])?;
    let matrix = node.op("tf.Reshape", &[x, form], &[])?;
    let flat = node.op("tf.MatrixDiagPart", &[matrix], &[])?;
    Ok(vec![node.op("tf.Reshape", &[flat, half], &[])?.into()])
}
