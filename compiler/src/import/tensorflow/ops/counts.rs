//! How often numbers come, in all or in each row, as dense or sparse tensors.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::{
    Family,
    sparse::{column, gather, places_of},
};
use crate::import::tensorflow::node::{Imported, Node, type_attribute};

pub(super) const OPS: Family = &[
    ("Bincount", |node| dense_counts(node, Rows::of_dense)),
    ("DenseBincount", |node| dense_counts(node, Rows::of_dense)),
    ("DenseCountSparseOutput", |node| sparse_counts(node, Rows::of_dense)),
    ("RaggedBincount", |node| dense_counts(node, Rows::of_ragged)),
    ("RaggedCountSparseOutput", |node| sparse_counts(node, Rows::of_ragged)),
    ("SparseBincount", |node| dense_counts(node, Rows::of_sparse)),
    ("SparseCountSparseOutput", |node| sparse_counts(node, Rows::of_sparse)),
];

/// The numbers to count, as a vector of 64-bit integers.
struct Rows {
    values: ValueId,
    /// The row of each number and how many rows there are; `None` if all are counted together.
    rows: Option<(ValueId, ValueId)>,
    /// The first input after those that hold the numbers.
    next: usize,
}

fn flat(node: &mut Node<'_, '_>, value: ValueId) -> Imported<ValueId> {
    let form = node.builder().add_integers(&[-1])?;
    node.op("tf.Reshape", &[value, form], &[])
}

fn wide(node: &mut Node<'_, '_>, value: ValueId) -> Imported<ValueId> {
    Ok(node.builder().cast(value, DType::I64)?)
}

/// The number of elements of a tensor.
fn size(node: &mut Node<'_, '_>, value: ValueId) -> Imported<ValueId> {
    node.op("tf.Size", &[value], &[("out_type", type_attribute(DType::I64))])
}

/// The numbers from zero to a count.
fn range(node: &mut Node<'_, '_>, count: ValueId) -> Imported<ValueId> {
    let (zero, one) = (node.builder().add_integer(0)?, node.builder().add_integer(1)?);
    node.op("tf.Range", &[zero, count, one], &[])
}

impl Rows {
    fn of_dense(node: &mut Node<'_, '_>) -> Imported<Self> {
        let values = node.input(0)?;
        let rank = node.ty(values)?.rank().ok_or("the rank of the input is not known")?;
        let mut rows = None;
        // `Bincount` counts the elements of a matrix together.
        if rank == 2 && node.proto.op != "Bincount" {
            let shape = node.op("tf.Shape", &[values], &[("out_type", type_attribute(DType::I64))])?;
            let zero = node.builder().add_integer(0)?;
            let count = gather(node, shape, zero)?;
            let numbers = range(node, count)?;
            let one = node.builder().add_integer(1)?;
            let numbers = node.op("tf.ExpandDims", &[numbers, one], &[])?;
            let numbers = node.op("tf.BroadcastTo", &[numbers, shape], &[])?;
            rows = Some((flat(node, numbers)?, count));
        }
        let values = flat(node, values)?;
        Ok(Self { values: wide(node, values)?, rows, next: 1 })
    }

    /// The op's first input says where rows begin.
    fn of_ragged(node: &mut Node<'_, '_>) -> Imported<Self> {
        let (splits, values) = (node.input(0)?, node.input(1)?);
        let values = wide(node, values)?;
        let splits = wide(node, splits)?;
        let one = node.builder().add_integer(1)?;
        let count = size(node, values)?;
        let places = range(node, count)?;
        let form = node.builder().add_integers(&[1, -1])?;
        // A number's row is that of the splits that are not behind it.
        let splits_row = node.op("tf.Reshape", &[splits, form], &[])?;
        let queries = node.op("tf.Reshape", &[places, form], &[])?;
        let wide = [("out_type", type_attribute(DType::I64))];
        let found = node.op("tf.UpperBound", &[splits_row, queries], &wide)?;
        let found = flat(node, found)?;
        let row = node.op("tf.Sub", &[found, one], &[])?;
        let count = size(node, splits)?;
        let count = node.op("tf.Sub", &[count, one], &[])?;
        Ok(Self { values, rows: Some((row, count)), next: 2 })
    }

    /// The op's first inputs are coordinates, values and a shape.
    fn of_sparse(node: &mut Node<'_, '_>) -> Imported<Self> {
        let [indices, values, shape] = [node.input(0)?, node.input(1)?, node.input(2)?];
        let rank = node.ty(indices)?.dims.and_then(|dims| dims.get(1).copied().flatten());
        let rows = match rank {
            Some(1) => None,
            Some(2) => {
                let (row, zero) = (column(node, indices, 0)?, node.builder().add_integer(0)?);
                Some((row, gather(node, shape, zero)?))
            }
            _ => return Err("the rank of the sparse tensor must be known to be 1 or 2".into()),
        };
        Ok(Self { values: wide(node, values)?, rows, next: 3 })
    }

    /// The sums of the weights of each number below `size`, for all rows behind each other. Larger
    /// numbers count nowhere.
    fn sums(&self, node: &mut Node<'_, '_>, weights: ValueId, size: ValueId) -> Imported<ValueId> {
        let fits = node.op("tf.Less", &[self.values, size], &[])?;
        let (mut place, mut total) = (self.values, size);
        if let Some((row, rows)) = self.rows {
            let start = node.op("tf.Mul", &[row, size], &[])?;
            place = node.op("tf.AddV2", &[start, place], &[])?;
            total = node.op("tf.Mul", &[rows, size], &[])?;
        }
        // A segment with a negative number is left out.
        let nowhere = node.builder().add_integer(-1)?;
        let place = node.op("tf.SelectV2", &[fits, place, nowhere], &[])?;
        node.op("tf.UnsortedSegmentSum", &[weights, place, total], &[])
    }

    /// How often each number below `size` comes.
    fn counts(&self, node: &mut Node<'_, '_>, dtype: DType, size: ValueId) -> Imported<ValueId> {
        let ones = node.op("tf.OnesLike", &[self.values], &[])?;
        let ones = node.builder().cast(ones, dtype)?;
        self.sums(node, ones, size)
    }

    /// Sums as a matrix with a row for each row of numbers, or as a vector.
    fn shaped(&self, node: &mut Node<'_, '_>, sums: ValueId, size: ValueId) -> Imported<ValueId> {
        let Some((_, rows)) = self.rows else { return Ok(sums) };
        let form = node.op("tf.Pack", &[rows, size], &[("axis", Attribute::i64(0))])?;
        node.op("tf.Reshape", &[sums, form], &[])
    }
}

/// The weights of the numbers, if the op is given any and they count.
fn weights(node: &mut Node<'_, '_>, input: usize, numbers: &Rows) -> Imported<Option<ValueId>> {
    let weights = node.input(input)?;
    match node.ty(weights)?.static_dims() {
        _ if node.flag("binary_output")? => Ok(None),
        Some(dims) if dims.contains(&0) => Ok(None),
        Some(_) => Ok(Some(flat(node, weights)?)),
        None => Ok(Some(weights_or_ones(node, weights, numbers)?)),
    }
}

/// The weights, or ones if it turns out that there are none.
fn weights_or_ones(node: &mut Node<'_, '_>, weights: ValueId, numbers: &Rows) -> Imported<ValueId> {
    let weights = flat(node, weights)?;
    let given = size(node, weights)?;
    let needed = size(node, numbers.values)?;
    let places = range(node, needed)?;
    let places = node.op("tf.Minimum", &[places, given], &[])?;
    let (one, form) = (node.add_number_like(weights, 1.0)?, node.builder().add_integers(&[1])?);
    let one = node.op("tf.Reshape", &[one, form], &[])?;
    let axis = node.builder().add_integer(0)?;
    let all = node.op("tf.ConcatV2", &[weights, one, axis], &[])?;
    gather(node, all, places)
}

/// Ones in the place of all counts.
fn at_most_one(node: &mut Node<'_, '_>, counts: ValueId) -> Imported<ValueId> {
    let one = node.add_number_like(counts, 1.0)?;
    node.op("tf.Minimum", &[counts, one], &[])
}

fn dense_counts(node: &mut Node<'_, '_>, rows: fn(&mut Node<'_, '_>) -> Imported<Rows>) -> Imported {
    let numbers = rows(node)?;
    let size = node.input(numbers.next)?;
    let size = wide(node, size)?;
    let dtype = node.type_attr("T")?.unwrap_or(DType::F32);
    let mut sums = match weights(node, numbers.next + 1, &numbers)? {
        Some(weights) => numbers.sums(node, weights, size)?,
        None => numbers.counts(node, dtype, size)?,
    };
    if node.flag("binary_output")? {
        sums = at_most_one(node, sums)?;
    }
    Ok(vec![numbers.shaped(node, sums, size)?.into()])
}

/// How many numbers there are to count: fewer than `maxlength`, or as many as the numbers and
/// `minlength` need.
fn length(node: &mut Node<'_, '_>, numbers: &Rows) -> Imported<ValueId> {
    let (least, most) = (node.int("minlength")?.unwrap_or(-1), node.int("maxlength")?.unwrap_or(-1));
    if most >= 0 {
        return Ok(node.builder().add_integer(most)?);
    }
    let mut builder = node.builder();
    let (least, axis) = (builder.add_integer(least.max(0))?, builder.add_integer(0)?);
    let (none, one) = (builder.add_integers(&[-1])?, builder.add_integer(1)?);
    let all = node.op("tf.ConcatV2", &[numbers.values, none, axis], &[])?;
    let axes = node.builder().add_integers(&[0])?;
    let greatest = node.op("tf.Max", &[all, axes], &[("keep_dims", Attribute::Bool(false))])?;
    let needed = node.op("tf.AddV2", &[greatest, one], &[])?;
    node.op("tf.Maximum", &[needed, least], &[])
}

/// The counts that are not zero, as a sparse tensor.
fn sparse_counts(node: &mut Node<'_, '_>, rows: fn(&mut Node<'_, '_>) -> Imported<Rows>) -> Imported {
    let numbers = rows(node)?;
    let size = length(node, &numbers)?;
    let dtype = node.type_attr("output_type")?.unwrap_or(DType::I64);
    let counts = numbers.counts(node, dtype, size)?;
    let zero = node.add_number_like(counts, 0.0)?;
    let is_there = node.op("tf.Greater", &[counts, zero], &[])?;
    let places = places_of(node, is_there)?;
    let sums = match weights(node, numbers.next, &numbers)? {
        Some(weights) => numbers.sums(node, weights, size)?,
        None if node.flag("binary_output")? => at_most_one(node, counts)?,
        None => counts,
    };
    let values = gather(node, sums, places)?;
    let there = numbers.shaped(node, is_there, size)?;
    let indices = node.op("tf.Where", &[there], &[])?;
    let shape = node.op("tf.Shape", &[there], &[("out_type", type_attribute(DType::I64))])?;
    Ok(vec![indices.into(), values.into(), shape.into()])
}
