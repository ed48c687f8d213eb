//! Ops on windows of sequences.

use tfrt_ir::{Attribute, ValueId};

use super::{Family, int, text};
use crate::import::onnx::{
    node::{Imported, Node, ints},
    ops::dims::Extent,
};

pub(super) const OPS: Family = &[("NGramRepeatBlock", forbid_repetitions), ("UnfoldTensor", unfold)];

/// The places of the elements of all windows: a matrix with a row for each window. `length` is the
/// sequence's.
fn windows(node: &mut Node<'_, '_>, length: Extent, (size, step): (i64, i64)) -> Imported<ValueId> {
    let (length, size_less_one) = (length.to_scalar(node)?, node.add_integer(size - 1)?);
    let [zero, one, size, step] = [0, 1, size, step].map(|number| node.add_integer(number));
    let (zero, one) = (zero?, one?);
    let end = node.op("tf.Sub", &[length, size_less_one], &[])?;
    let end = node.op("tf.Maximum", &[end, zero], &[])?;
    let first = node.op("tf.Range", &[zero, end, step?], &[])?;
    let first = node.reshape(first, &[-1, 1])?;
    let within = node.op("tf.Range", &[zero, size?, one], &[])?;
    node.op("tf.AddV2", &[first, within], &[])
}

/// All windows of a dimension, as a last dimension of the result.
fn unfold(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let rank = node.rank(x)?;
    let axis = node.axis(node.int_or("dim", -1)?, rank)?;
    let size = node.int("size")?.filter(|&size| size > 0).ok_or("attribute 'size' must be positive")?;
    let step = node.int_or("step", 1)?;
    if step < 1 {
        return Err("attribute 'step' must be positive".into());
    }
    let places = windows(node, Extent::Of(x, axis), (size, step))?;
    let along = node.add_integer(axis as i64)?;
    let y = node.op("tf.GatherV2", &[x, places, along], &[])?;
    let (axis, rank) = (axis as i64, rank as i64);
    let order: Vec<i64> = (0..=axis).chain(axis + 2..=rank).chain([axis + 1]).collect();
    Ok(vec![node.transpose(y, &order)?])
}

/// Makes the scores of words minus infinity that would end a second occurrence of a run of
/// `ngram_size` words.
fn forbid_repetitions(node: &mut Node<'_, '_>) -> Imported {
    let (words, scores) = (node.input(0)?, node.input(1)?);
    let size = node.int("ngram_size")?.filter(|&size| size > 0);
    let size = size.ok_or("attribute 'ngram_size' must be positive")?;
    let (places, axis) = (windows(node, Extent::Of(words, 1), (size, 1))?, node.add_integer(1)?);
    let runs = node.op("tf.GatherV2", &[words, places, axis], &[])?;
    let (sizes, last_axis) = (node.add_integers(&[size - 1, 1])?, node.add_integer(2)?);
    let attributes = [("num_split", Attribute::i64(2))];
    let parts = node.ops("tf.SplitV", &[runs, sizes, last_axis], &attributes, 2)?;
    // The words at the end, which a next one would make a run.
    let (length, count) = (Extent::Of(words, 1).to_scalar(node)?, node.add_integer(size - 1)?);
    let first = node.op("tf.Sub", &[length, count], &[])?;
    let (zero, one) = (node.add_integer(0)?, node.add_integer(1)?);
    let own = node.op("tf.Range", &[first, length, one], &[])?;
    let own = node.op("tf.Maximum", &[own, zero], &[])?;
    let own = node.op("tf.GatherV2", &[words, own, axis], &[])?;
    let own = node.op("tf.ExpandDims", &[own, axis], &[])?;
    let is_same = node.op("tf.Equal", &[parts[0], own], &[])?;
    let axes = node.add_integers(&[2])?;
    let is_run = node.op("tf.All", &[is_same, axes], &[("keep_dims", Attribute::Bool(false))])?;
    let [low, high] = [f64::NEG_INFINITY, f64::INFINITY].map(|bound| node.add_number_like(scores, bound));
    let bounds = node.op("tf.SelectV2", &[is_run, low?, high?], &[])?;
    let ends = node.op("tf.Squeeze", &[parts[1]], &[("squeeze_dims", ints(&[2]))])?;
    let inputs = [scores, ends, bounds].map(Some);
    node.standard("ScatterElements", &inputs, vec![int("axis", 1), text("reduction", "min")], 1)
}
