//! Losses of classifiers, and dropout.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::{
    Family,
    shape::{flattened, shape_of},
};
use crate::import::onnx::node::{Imported, Node, type_attribute};

pub(super) const OPS: Family = &[
    ("Dropout", dropout),
    ("NegativeLogLikelihoodLoss", negative_log_likelihood),
    ("SoftmaxCrossEntropyLoss", softmax_cross_entropy),
];

/// The classes of `[batch, classes, ...]` as the last dimension, if `to_last`, or back where they
/// were.
fn move_classes(node: &mut Node<'_, '_>, x: ValueId, to_last: bool) -> Imported<ValueId> {
    let rank = node.rank(x)? as i64;
    if rank < 2 {
        return Err(format!("the scores must have at least 2 dimensions, and have {rank}").into());
    }
    if rank == 2 {
        return Ok(x);
    }
    let order: Vec<i64> = match to_last {
        true => [0].into_iter().chain(2..rank).chain([1]).collect(),
        false => [0, rank - 1].into_iter().chain(1..rank - 1).collect(),
    };
    node.transpose(x, &order)
}

fn negative_log_likelihood(node: &mut Node<'_, '_>) -> Imported {
    let (x, labels, weights) = (node.input(0)?, node.input(1)?, node.optional(2));
    let log_probabilities = move_classes(node, x, true)?;
    Ok(vec![loss(node, log_probabilities, labels, weights)?])
}

fn softmax_cross_entropy(node: &mut Node<'_, '_>) -> Imported {
    let (x, labels, weights) = (node.input(0)?, node.input(1)?, node.optional(2));
    let scores = move_classes(node, x, true)?;
    let log_probabilities = node.op("tf.LogSoftmax", &[scores], &[])?;
    let loss = loss(node, log_probabilities, labels, weights)?;
    if !node.has_output(1) {
        return Ok(vec![loss]);
    }
    Ok(vec![loss, move_classes(node, log_probabilities, false)?])
}

/// The loss for log-probabilities whose last dimension is the classes, reduced as the node's
/// attributes say.
fn loss(
    node: &mut Node<'_, '_>,
    log_probabilities: ValueId,
    labels: ValueId,
    weights: Option<ValueId>,
) -> Imported<ValueId> {
    let last = node.rank(log_probabilities)? - 1;
    let rows = flattened(node, log_probabilities, last)?;
    let dtype = node.dtype(rows)?;
    let shape = shape_of(node, labels)?;
    let mut labels = node.reshape(labels, &[-1])?;
    let zero = node.add_number_like(labels, 0.0)?;
    let mut is_ignored = None;
    if let Some(index) = node.int("ignore_index")? {
        let index = node.add_integer(index)?;
        let index = node.cast(index, node.dtype(labels)?)?;
        let ignored = node.op("tf.Equal", &[labels, index], &[])?;
        // An ignored label need not be the number of a class.
        labels = node.op("tf.SelectV2", &[ignored, zero, labels], &[])?;
        is_ignored = Some(ignored);
    }
    let without_ignored = |node: &mut Node<'_, '_>, values: ValueId| match is_ignored {
        None => Ok(values),
        Some(ignored) => {
            let zero = node.add_number_like(values, 0.0)?;
            node.op("tf.SelectV2", &[ignored, zero, values], &[])
        }
    };
    let axis = node.add_integer(1)?;
    let picked = node.op("tf.GatherV2", &[rows, labels, axis], &[("batch_dims", Attribute::i64(1))])?;
    let mut losses = node.op("tf.Neg", &[picked], &[])?;
    let weights = match weights {
        Some(weights) => {
            let axis = node.add_integer(0)?;
            let weights = node.op("tf.GatherV2", &[weights, labels, axis], &[])?;
            losses = node.op("tf.Mul", &[losses, weights], &[])?;
            weights
        }
        None => {
            let (shape, one) = (shape_of(node, labels)?, node.builder().add_number(dtype, 1.0)?);
            node.op("tf.Fill", &[shape, one], &[])?
        }
    };
    let losses = without_ignored(node, losses)?;
    let all = node.add_integers(&[0])?;
    match node.string_or("reduction", "mean")?.as_str() {
        "none" => node.op("tf.Reshape", &[losses, shape], &[]),
        "sum" => node.op("tf.Sum", &[losses, all], &[]),
        "mean" => {
            let weights = without_ignored(node, weights)?;
            let sum = node.op("tf.Sum", &[losses, all], &[])?;
            let weight = node.op("tf.Sum", &[weights, all], &[])?;
            node.op("tf.RealDiv", &[sum, weight], &[])
        }
        other => Err(format!("'{other}' is not a value of attribute 'reduction'").into()),
    }
}

/// Outside of training the input, unchanged. In training each element is zero with a probability of
/// `ratio`, and the others are scaled so that their expected sum stays the same.
fn dropout(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let training = if node.opset >= 12 { node.optional(2) } else { None };
    let Some(training) = training.filter(|&training| is_true(node, training) != Some(false)) else {
        if !node.has_output(1) {
            return Ok(vec![x]);
        }
        let shape = shape_of(node, x)?;
        let kept = match node.opset < 10 {
            true => node.add_number_like(x, 1.0)?,
            false => node.builder().add_elements(&[], &[true])?,
        };
        return Ok(vec![x, node.op("tf.Fill", &[shape, kept], &[])?]);
    };
    let ratio = match node.optional(1) {
        Some(ratio) => node.cast(ratio, DType::F32)?,
        None => node.builder().add_number(DType::F32, 0.5)?,
    };
    let zero = node.builder().add_number(DType::F32, 0.0)?;
    let ratio = node.op("tf.SelectV2", &[training, ratio, zero], &[])?;
    let shape = shape_of(node, x)?;
    let seed = node.int_or("seed", 0)?;
    let attributes = [("dtype", type_attribute(DType::F32)), ("seed", Attribute::i64(seed))];
    let random = node.op("tf.RandomUniform", &[shape], &attributes)?;
    let is_kept = node.op("tf.GreaterEqual", &[random, ratio], &[])?;
    let one = node.builder().add_number(DType::F32, 1.0)?;
    let kept = node.op("tf.Sub", &[one, ratio], &[])?;
    let factor = node.op("tf.RealDiv", &[one, kept], &[])?;
    let factor = node.cast(factor, node.dtype(x)?)?;
    let scaled = node.op("tf.Mul", &[x, factor], &[])?;
    let zero = node.add_number_like(x, 0.0)?;
    Ok(vec![node.op("tf.SelectV2", &[is_kept, scaled, zero], &[])?, is_kept])
}

/// Whether a scalar is true, if that is known.
fn is_true(node: &mut Node<'_, '_>, value: ValueId) -> Option<bool> {
    node.constant(value)?;
    let number = node.cast(value, DType::I64).ok()?;
    Some(node.integers(number)?.first()? != &0)
}
