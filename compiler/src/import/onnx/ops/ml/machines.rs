//! Support vector machines.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::{
    Family,
    scores::{Labels, beside, features, numbers, transform_of, transformed},
};
use crate::import::onnx::node::{Imported, Node, type_attribute};

pub(super) const OPS: Family = &[("SVMClassifier", classify), ("SVMRegressor", regress)];

fn list(node: &Node<'_, '_>, name: &str) -> Imported<Vec<f32>> {
    Ok(node.floats(name)?.unwrap_or_default())
}

/// The kernel of each row with each of `count` vectors.
fn kernel(node: &mut Node<'_, '_>, x: ValueId, vectors: &[f32], count: usize) -> Imported<ValueId> {
    if count == 0 || !vectors.len().is_multiple_of(count) {
        return Err(format!("{} numbers are given for {count} vectors", vectors.len()).into());
    }
    let width = vectors.len() / count;
    let parameters = list(node, "kernel_params")?;
    let parameter = |place: usize| f64::from(parameters.get(place).copied().unwrap_or(0.0));
    let (gamma, offset, degree) = (parameter(0), parameter(1), parameter(2));
    let kind = node.string_or("kernel_type", "LINEAR")?;
    if kind == "RBF" {
        let vectors = numbers(node, &[1, count, width], vectors)?;
        let axis = node.add_integer(1)?;
        let rows = node.op("tf.ExpandDims", &[x, axis], &[])?;
        let distances = node.op("tf.SquaredDifference", &[rows, vectors], &[])?;
        let last = node.add_integers(&[-1])?;
        let sum = node.op("tf.Sum", &[distances, last], &[])?;
        let factor = node.add_number_like(x, -gamma)?;
        let scaled = node.op("tf.Mul", &[sum, factor], &[])?;
        return node.op("tf.Exp", &[scaled], &[]);
    }
    let vectors = numbers(node, &[count, width], vectors)?;
    let product = node.op("tf.MatMul", &[x, vectors], &[("transpose_b", Attribute::Bool(true))])?;
    if kind == "LINEAR" {
        return Ok(product);
    }
    let (gamma, offset) = (node.add_number_like(x, gamma)?, node.add_number_like(x, offset)?);
    let scaled = node.op("tf.Mul", &[product, gamma], &[])?;
    let shifted = node.op("tf.AddV2", &[scaled, offset], &[])?;
    match kind.as_str() {
        "POLY" => {
            let degree = node.add_number_like(x, degree)?;
            node.op("tf.Pow", &[shifted, degree], &[])
        }
        "SIGMOID" => node.op("tf.Tanh", &[shifted], &[]),
        other => Err(format!("attribute 'kernel_type' must not be '{other}'").into()),
    }
}

/// `x * matrix + summand`.
fn combined(
    node: &mut Node<'_, '_>,
    x: ValueId,
    (rows, columns): (usize, usize),
    matrix: &[f32],
    summand: &[f32],
) -> Imported<ValueId> {
    let matrix = numbers(node, &[rows, columns], matrix)?;
    let product = node.op("tf.MatMul", &[x, matrix], &[])?;
    if summand.is_empty() {
        return Ok(product);
    }
    let summand = numbers(node, &[if summand.len() == 1 { 1 } else { columns }], summand)?;
    node.op("tf.AddV2", &[product, summand], &[])
}

fn regress(node: &mut Node<'_, '_>) -> Imported {
    let x = features(node)?;
    let x = node.cast(x, DType::F32)?;
    let (coefficients, rho) = (list(node, "coefficients")?, list(node, "rho")?);
    let vectors = list(node, "support_vectors")?;
    let count = usize::try_from(node.int_or("n_supports", 0)?).unwrap_or(0);
    let rho = &rho[..rho.len().min(1)];
    let mut scores = if count > 0 {
        let kernels = kernel(node, x, &vectors, count)?;
        combined(node, kernels, (count, 1), &coefficients, rho)?
    } else {
        combined(node, x, (coefficients.len(), 1), &coefficients, rho)?
    };
    if node.flag("one_class")? {
        let zero = node.add_number_like(scores, 0.0)?;
        let is_inside = node.op("tf.Greater", &[scores, zero], &[])?;
        let (inside, outside) = (node.add_number_like(scores, 1.0)?, node.add_number_like(scores, -1.0)?);
        scores = node.op("tf.SelectV2", &[is_inside, inside, outside], &[])?;
    }
    let transform = transform_of(node)?;
    Ok(vec![transformed(node, scores, &transform)?])
}

/// The pairs of classes, each with the smaller one first.
fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |first| (first + 1..count).map(move |second| (first, second)))
}

/// The most classes that are taken: there is a column for each pair of them.
const MAX_CLASSES: usize = 1 << 10;

/// The labels, and probabilities of the classes or scores of each pair of them.
fn classify(node: &mut Node<'_, '_>) -> Imported {
    let x = features(node)?;
    let x = node.cast(x, DType::F32)?;
    let labels = Labels::of(node, "classlabels_ints")?;
    let support = node.ints("vectors_per_class")?.unwrap_or_default();
    let transform = transform_of(node)?;
    if support.is_empty() {
        return classify_linearly(node, x, &labels, &transform);
    }
    let classes = support.len();
    if !(2..=MAX_CLASSES).contains(&classes) || labels.count() != classes {
        return Err(format!("{} labels are given for {classes} classes", labels.count()).into());
    }
    let decisions = decisions(node, x, &support)?;
    let (slopes, offsets) = (list(node, "prob_a")?, list(node, "prob_b")?);
    if !slopes.is_empty() {
        let probabilities = probabilities(node, decisions, classes, (&slopes, &offsets))?;
        // As in LIBSVM, the label is the one with the most votes, and not always the likeliest.
        let label = labels_by_vote(node, decisions, &labels)?;
        return Ok(vec![label, transformed(node, probabilities, &transform)?]);
    }
    if classes == 2 {
        let zero = node.add_number_like(decisions, 0.0)?;
        let is_first = node.op("tf.Greater", &[decisions, zero], &[])?;
        let is_second = node.op("tf.LogicalNot", &[is_first], &[])?;
        let label = labels.of_two(node, is_second)?;
        let negated = node.op("tf.Neg", &[decisions], &[])?;
        // ONNX Runtime and the reference give the first class the negated decision, although it is
        // chosen where the decision is positive.
        let both = beside(node, &[negated, decisions])?;
        return Ok(vec![label, transformed(node, both, &transform)?]);
    }
    let label = labels_by_vote(node, decisions, &labels)?;
    Ok(vec![label, transformed(node, decisions, &transform)?])
}

/// Without support vectors the coefficients are a vector for each class.
fn classify_linearly(node: &mut Node<'_, '_>, x: ValueId, labels: &Labels, transform: &str) -> Imported {
    let (coefficients, rho) = (list(node, "coefficients")?, list(node, "rho")?);
    let count = labels.count();
    if count == 0 || coefficients.len() % count != 0 {
        return Err(format!("{} coefficients are given for {count} classes", coefficients.len()).into());
    }
    let matrix = numbers(node, &[count, coefficients.len() / count], &coefficients)?;
    let scores = node.op("tf.MatMul", &[x, matrix], &[("transpose_b", Attribute::Bool(true))])?;
    let rho = numbers(node, &[1], &rho[..rho.len().min(1)])?;
    let scores = node.op("tf.AddV2", &[scores, rho], &[])?;
    let label = labels.of_greatest(node, scores)?;
    Ok(vec![label, transformed(node, scores, transform)?])
}

/// A column for each pair of classes: positive where the first one is likelier. Both give their
/// vectors, each with the coefficients against the other class.
fn decisions(node: &mut Node<'_, '_>, x: ValueId, support: &[i64]) -> Imported<ValueId> {
    let sizes = support.iter().map(|&size| usize::try_from(size)).collect::<Result<Vec<_>, _>>();
    let sizes = sizes.map_err(|_| "a class has a negative number of vectors")?;
    let (classes, count) = (sizes.len(), sizes.iter().fold(0usize, |sum, &size| sum.saturating_add(size)));
    let coefficients = list(node, "coefficients")?;
    if Some(coefficients.len()) != count.checked_mul(classes - 1) {
        return Err(format!("{} coefficients are given for {count} vectors", coefficients.len()).into());
    }
    let starts: Vec<usize> =
        sizes.iter().scan(0, |sum, &size| Some(std::mem::replace(sum, *sum + size))).collect();
    let columns = classes * (classes - 1) / 2;
    let mut matrix = vec![0.0f32; count * columns];
    for (column, (first, second)) in pairs(classes).enumerate() {
        for (own, row) in [(first, second - 1), (second, first)] {
            for vector in starts[own]..starts[own] + sizes[own] {
                matrix[vector * columns + column] = coefficients[row * count + vector];
            }
        }
    }
    let (vectors, rho) = (list(node, "support_vectors")?, list(node, "rho")?);
    let kernels = kernel(node, x, &vectors, count)?;
    combined(node, kernels, (count, columns), &matrix, &rho)
}

/// Probabilities of classes from logistic ones of each pair.
fn probabilities(
    node: &mut Node<'_, '_>,
    decisions: ValueId,
    classes: usize,
    (slopes, offsets): (&[f32], &[f32]),
) -> Imported<ValueId> {
    let columns = classes * (classes - 1) / 2;
    let (slopes, offsets) = (numbers(node, &[columns], slopes)?, numbers(node, &[columns], offsets)?);
    let scaled = node.op("tf.Mul", &[decisions, slopes], &[])?;
    let shifted = node.op("tf.AddV2", &[scaled, offsets], &[])?;
    let negated = node.op("tf.Neg", &[shifted], &[])?;
    let probability = node.op("tf.Sigmoid", &[negated], &[])?;
    let (least, most) =
        (node.add_number_like(decisions, 1e-7)?, node.add_number_like(decisions, 1.0 - 1e-7)?);
    let probability = node.op("tf.Maximum", &[probability, least], &[])?;
    let probability = node.op("tf.Minimum", &[probability, most], &[])?;
    let attributes = [("class_count", Attribute::i64(classes as i64))];
    node.op("onnx.CouplePairs", &[probability], &attributes)
}

/// The label of the class that most pairs vote for; the first one of equals.
fn labels_by_vote(node: &mut Node<'_, '_>, decisions: ValueId, labels: &Labels) -> Imported<ValueId> {
    let classes = labels.count();
    // A pair adds to its first class if it is positive, else to its second: the votes for the
    // second are all but those.
    let columns = classes * (classes - 1) / 2;
    let mut votes = vec![0.0f32; columns * classes];
    let mut seconds = vec![0.0f32; classes];
    for (column, (first, second)) in pairs(classes).enumerate() {
        votes[column * classes + first] = 1.0;
        votes[column * classes + second] = -1.0;
        seconds[second] += 1.0;
    }
    let zero = node.add_number_like(decisions, 0.0)?;
    let is_first = node.op("tf.Greater", &[decisions, zero], &[])?;
    let is_first = node.cast(is_first, DType::F32)?;
    let counts = combined(node, is_first, (columns, classes), &votes, &seconds)?;
    let axis = node.add_integer(-1)?;
    let places = node.op("tf.ArgMax", &[counts, axis], &[("output_type", type_attribute(DType::I64))])?;
    labels.at(node, places)
}
