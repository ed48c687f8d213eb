//! Decoding of sequences of labels, and generators whose state is a variable.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::{
    Family,
    sparse::gather,
    variables::{held, set},
};
use crate::import::tensorflow::node::{Imported, Node, type_attribute};

pub(super) const OPS: Family = &[
    ("CTCBeamSearchDecoder", likeliest_labels),
    ("CTCGreedyDecoder", greedy_labels),
    ("RandomShuffle", shuffle),
    ("RngReadAndSkip", |node| {
        let state = skip(node)?;
        Ok(vec![state.into()])
    }),
    ("RngSkip", |node| {
        skip(node)?;
        Ok(Vec::new())
    }),
    ("StatelessShuffle", stateless_shuffle),
];

const NO: Attribute = Attribute::Bool(false);

/// The likeliest label of each step, without repetitions and without the label that stands for
/// none.
fn greedy_labels(node: &mut Node<'_, '_>) -> Imported {
    let (scores, lengths) = (node.input(0)?, node.input(1)?);
    let wide = [("out_type", type_attribute(DType::I64))];
    let blank = node.int("blank_index")?.unwrap_or(-1);
    let mut blank_label = node.builder().add_integer(blank)?;
    if blank < 0 {
        // It is counted from the last class.
        let shape = node.op("tf.Shape", &[scores], &wide)?;
        let last = node.builder().add_integer(2)?;
        let classes = gather(node, shape, last)?;
        blank_label = node.op("tf.AddV2", &[classes, blank_label], &[])?;
    }
    let mut builder = node.builder();
    let (axis, by_row) = (builder.add_integer(2)?, builder.add_integers(&[1, 0])?);
    let (zero, one) = (builder.add_integer(0)?, builder.add_integer(1)?);
    let last = builder.add_integers(&[2])?;
    let lengths = builder.cast(lengths, DType::I64)?;
    let best = node.op("tf.ArgMax", &[scores, axis], &[("output_type", type_attribute(DType::I64))])?;
    let labels = node.op("tf.Transpose", &[best, by_row], &[])?;
    let shape = node.op("tf.Shape", &[labels], &wide)?;
    let steps = gather(node, shape, one)?;
    let steps = node.op("tf.Range", &[zero, steps, one], &[])?;
    let ends = node.op("tf.ExpandDims", &[lengths, one], &[])?;
    let is_inside = node.op("tf.Less", &[steps, ends], &[])?;
    let is_label = node.op("tf.NotEqual", &[labels, blank_label], &[])?;
    let mut is_kept = node.op("tf.LogicalAnd", &[is_inside, is_label], &[])?;
    if node.flag("merge_repeated")? {
        let before = node.op("tf.Roll", &[labels, one, one], &[])?;
        let is_new = node.op("tf.NotEqual", &[labels, before], &[])?;
        let is_first = node.op("tf.Equal", &[steps, zero], &[])?;
        let is_new = node.op("tf.LogicalOr", &[is_new, is_first], &[])?;
        is_kept = node.op("tf.LogicalAnd", &[is_kept, is_new], &[])?;
    }
    let (indices, values, shape) = compacted(node, labels, is_kept)?;
    // The probability of a path is the sum of the greatest scores.
    let greatest = node.op("tf.Max", &[scores, last], &[("keep_dims", NO)])?;
    let greatest = node.op("tf.Transpose", &[greatest, by_row], &[])?;
    let none = node.op("tf.ZerosLike", &[greatest], &[])?;
    let greatest = node.op("tf.SelectV2", &[is_inside, greatest, none], &[])?;
    let axes = node.builder().add_integers(&[1])?;
    let sum = node.op("tf.Sum", &[greatest, axes], &[("keep_dims", Attribute::Bool(true))])?;
    let probability = node.op("tf.Neg", &[sum], &[])?;
    Ok(vec![indices.into(), values.into(), shape.into(), probability.into()])
}

/// The likeliest sequences of labels, each as a sparse tensor.
fn likeliest_labels(node: &mut Node<'_, '_>) -> Imported {
    let (scores, lengths) = (node.input(0)?, node.input(1)?);
    let paths =
        node.int("top_paths")?.filter(|&paths| paths > 0).ok_or("attribute 'top_paths' is missing")?;
    let attributes = node.forwarded("tfrt.BeamSearch")?;
    let found = node.ops("tfrt.BeamSearch", &[scores, lengths], &attributes, 2)?;
    let mut results = [Vec::new(), Vec::new(), Vec::new()];
    for path in 0..paths {
        let (path, zero) = (node.builder().add_integer(path)?, node.builder().add_integer(0)?);
        let labels = node.op("tf.GatherV2", &[found[0], path, zero], &[])?;
        let is_label = node.op("tf.GreaterEqual", &[labels, zero], &[])?;
        let (indices, values, shape) = compacted(node, labels, is_label)?;
        results[0].push(indices.into());
        results[1].push(values.into());
        results[2].push(shape.into());
    }
    let mut results = results.concat();
    results.push(found[1].into());
    Ok(results)
}

/// The elements of a matrix that are kept, moved to the beginning of their row, as a sparse tensor.
fn compacted(
    node: &mut Node<'_, '_>,
    matrix: ValueId,
    is_kept: ValueId,
) -> Imported<(ValueId, ValueId, ValueId)> {
    let number = node.builder().cast(is_kept, DType::I64)?;
    let (one, zero) = (node.builder().add_integer(1)?, node.builder().add_integer(0)?);
    let count = node.op("tf.Cumsum", &[number, one], &[])?;
    let place = node.op("tf.Sub", &[count, one], &[])?;
    let found = node.op("tf.Where", &[is_kept], &[])?;
    let values = node.op("tf.GatherNd", &[matrix, found], &[])?;
    let columns = node.op("tf.GatherNd", &[place, found], &[])?;
    let rows = node.op("tf.GatherV2", &[found, zero, one], &[])?;
    let indices = node.op("tf.Pack", &[rows, columns], &[("axis", Attribute::i64(1))])?;
    let shape = node.op("tf.Shape", &[matrix], &[("out_type", type_attribute(DType::I64))])?;
    let height = gather(node, shape, zero)?;
    let (none, axes) = (node.builder().add_integers(&[0])?, node.builder().add_integers(&[0])?);
    let form = node.builder().add_integers(&[-1])?;
    let counts = node.op("tf.Reshape", &[count, form], &[])?;
    let counts = node.op("tf.ConcatV2", &[counts, none, zero], &[])?;
    let width = node.op("tf.Max", &[counts, axes], &[("keep_dims", NO)])?;
    let shape = node.op("tf.Pack", &[height, width], &[("axis", Attribute::i64(0))])?;
    Ok((indices, values, shape))
}

/// Moves the counter of a generator's state behind `delta` results, for each of which 256 numbers
/// are kept. Gives the state before.
fn skip(node: &mut Node<'_, '_>) -> Imported<ValueId> {
    let (name, state) = held(node, 0)?;
    let delta = node.input(2)?;
    let mut builder = node.builder();
    let delta = builder.cast(delta, DType::I64)?;
    let (each, form) = (builder.add_integer(256)?, builder.add_integers(&[1])?);
    let (zero, one) = (builder.add_integers(&[0])?, builder.add_integers(&[1])?);
    let (sign, first, end) =
        (builder.add_integers(&[i64::MIN])?, builder.add_integer(0)?, builder.add_integers(&[-1])?);
    let two = builder.add_integers(&[2])?;
    let steps = node.op("tf.Mul", &[delta, each], &[])?;
    let steps = node.op("tf.Reshape", &[steps, form], &[])?;
    let low = node.op("tf.Slice", &[state, zero, one], &[])?;
    let high = node.op("tf.Slice", &[state, one, one], &[])?;
    let key = node.op("tf.Slice", &[state, two, end], &[])?;
    let new_low = node.op("tf.AddV2", &[low, steps], &[])?;
    // Numbers without a sign are in the order of those with the other sign bit.
    let (a, b) =
        (node.op("tf.BitwiseXor", &[new_low, sign], &[])?, node.op("tf.BitwiseXor", &[low, sign], &[])?);
    let carries = node.op("tf.Less", &[a, b], &[])?;
    let carry = node.builder().cast(carries, DType::I64)?;
    let new_high = node.op("tf.AddV2", &[high, carry], &[])?;
    let new = node.op("tf.ConcatV2", &[new_low, new_high, key, first], &[])?;
    set(node, name, new);
    Ok(state)
}

/// The rows in a random order.
fn shuffle(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let mut seeds = Vec::new();
    for name in ["seed", "seed2"] {
        seeds.push((name, Attribute::i64(node.int(name)?.unwrap_or(0))));
    }
    let count = row_count(node, x)?;
    let order = node.op("tfrt.RandomPermutation", &[count], &seeds)?;
    Ok(vec![gather(node, x, order)?.into()])
}

/// The rows in an order that a key and a counter give.
fn stateless_shuffle(node: &mut Node<'_, '_>) -> Imported {
    let [x, key, counter, algorithm] = [node.input(0)?, node.input(1)?, node.input(2)?, node.input(3)?];
    let count = row_count(node, x)?;
    let order = node.op("tfrt.StatelessPermutation", &[count, key, counter, algorithm], &[])?;
    Ok(vec![gather(node, x, order)?.into()])
}

/// The first extent of a tensor, as a vector.
fn row_count(node: &mut Node<'_, '_>, x: ValueId) -> Imported<ValueId> {
    let shape = node.op("tf.Shape", &[x], &[("out_type", type_attribute(DType::I64))])?;
    let (zero, one) = (node.builder().add_integers(&[0])?, node.builder().add_integers(&[1])?);
    node.op("tf.Slice", &[shape, zero, one], &[])
}
