//! The domain `ai.onnx.preview.training`: steps of optimizers.

use tfrt_host::DType;
use tfrt_ir::ValueId;

use super::Family;
use crate::import::onnx::node::{ImportError, Imported, Node};

pub(super) const FAMILIES: &[Family] = &[OPS];

const OPS: Family = &[("Adagrad", adagrad), ("Adam", adam), ("Momentum", momentum)];

/// The inputs behind the rate and the number of the step: for each tensor one of each of `N` kinds,
/// kind by kind.
fn tensors<const N: usize>(node: &Node<'_, '_>) -> Imported<Vec<[ValueId; N]>> {
    let inputs = node.all_inputs()?;
    let count = inputs.len().saturating_sub(2);
    if count == 0 || count % N != 0 {
        return Err(ImportError(format!("{count} tensors are given for {N} kinds of them")));
    }
    let count = count / N;
    Ok((0..count).map(|index| std::array::from_fn(|kind| inputs[2 + kind * count + index])).collect())
}

/// The results kind by kind.
fn by_kind<const N: usize>(results: &[[ValueId; N]]) -> Vec<ValueId> {
    (0..N).flat_map(|kind| results.iter().map(move |result| result[kind])).collect()
}

/// `x * factor`.
fn scaled(node: &mut Node<'_, '_>, x: ValueId, factor: f32) -> Imported<ValueId> {
    let factor = node.add_number_like(x, factor.into())?;
    node.op("tf.Mul", &[x, factor], &[])
}

/// `a * factor + b`.
fn sum(node: &mut Node<'_, '_>, a: ValueId, factor: f32, b: ValueId) -> Imported<ValueId> {
    let a = scaled(node, a, factor)?;
    node.op("tf.AddV2", &[a, b], &[])
}

/// The gradient of a tensor with that of its squared norm.
fn regularized(node: &mut Node<'_, '_>, x: ValueId, gradient: ValueId) -> Imported<ValueId> {
    let factor = node.float_or("norm_coefficient", 0.0)?;
    if factor == 0.0 { Ok(gradient) } else { sum(node, x, factor, gradient) }
}

/// `x - rate * step`, where the rate may be of a narrower type.
fn moved(node: &mut Node<'_, '_>, x: ValueId, rate: ValueId, step: ValueId) -> Imported<ValueId> {
    let rate = node.cast(rate, node.dtype(x)?)?;
    let change = node.op("tf.Mul", &[rate, step], &[])?;
    node.op("tf.Sub", &[x, change], &[])
}

/// `root(square) + epsilon`.
fn divisor(node: &mut Node<'_, '_>, square: ValueId, default: f32) -> Imported<ValueId> {
    let root = node.op("tf.Sqrt", &[square], &[])?;
    let epsilon = node.add_number_like(root, node.float_or("epsilon", default)?.into())?;
    node.op("tf.AddV2", &[root, epsilon], &[])
}

fn adagrad(node: &mut Node<'_, '_>) -> Imported {
    let (rate, step) = (node.input(0)?, node.input(1)?);
    let step = node.cast(step, node.dtype(rate)?)?;
    let decay = scaled(node, step, node.float_or("decay_factor", 0.0)?)?;
    let one = node.add_number_like(rate, 1.0)?;
    let divided = node.op("tf.AddV2", &[decay, one], &[])?;
    let rate = node.op("tf.RealDiv", &[rate, divided], &[])?;
    let mut results = Vec::new();
    for [x, gradient, squares] in tensors(node)? {
        let gradient = regularized(node, x, gradient)?;
        let square = node.op("tf.Square", &[gradient], &[])?;
        let squares = node.op("tf.AddV2", &[squares, square], &[])?;
        let size = divisor(node, squares, 0.0)?;
        let step = node.op("tf.RealDiv", &[gradient, size], &[])?;
        results.push([moved(node, x, rate, step)?, squares]);
    }
    Ok(by_kind(&results))
}

/// The rate for a step: means that begin with zeros are too small at first.
fn adam_rate(node: &mut Node<'_, '_>, alpha: f32, beta: f32) -> Imported<ValueId> {
    let (rate, step) = (node.input(0)?, node.input(1)?);
    let dtype = node.dtype(rate)?;
    let steps = node.cast(step, dtype)?;
    let one = node.add_number_like(rate, 1.0)?;
    let mut rest = |base: f32| {
        let base = node.add_number_like(rate, base.into())?;
        let power = node.op("tf.Pow", &[base, steps], &[])?;
        node.op("tf.Sub", &[one, power], &[])
    };
    let (first, second) = (rest(alpha)?, rest(beta)?);
    let root = node.op("tf.Sqrt", &[second], &[])?;
    let factor = node.op("tf.RealDiv", &[root, first], &[])?;
    let adjusted = node.op("tf.Mul", &[rate, factor], &[])?;
    let has_begun = has_begun(node, step)?;
    node.op("tf.SelectV2", &[has_begun, adjusted, rate], &[])
}

fn has_begun(node: &mut Node<'_, '_>, step: ValueId) -> Imported<ValueId> {
    let step = node.cast(step, DType::I64)?;
    let zero = node.add_integer(0)?;
    node.op("tf.Greater", &[step, zero], &[])
}

fn adam(node: &mut Node<'_, '_>) -> Imported {
    let (alpha, beta) = (node.float_or("alpha", 0.9)?, node.float_or("beta", 0.999)?);
    let rate = adam_rate(node, alpha, beta)?;
    let after = node.float_or("norm_coefficient_post", 0.0)?;
    let mut results = Vec::new();
    for [x, gradient, mean, squares] in tensors(node)? {
        let gradient = regularized(node, x, gradient)?;
        let part = scaled(node, gradient, 1.0 - alpha)?;
        let mean = sum(node, mean, alpha, part)?;
        let square = node.op("tf.Square", &[gradient], &[])?;
        let part = scaled(node, square, 1.0 - beta)?;
        let squares = sum(node, squares, beta, part)?;
        let size = divisor(node, squares, 0.0)?;
        let step = node.op("tf.RealDiv", &[mean, size], &[])?;
        let x = moved(node, x, rate, step)?;
        results.push([scaled(node, x, 1.0 - after)?, mean, squares]);
    }
    Ok(by_kind(&results))
}

fn momentum(node: &mut Node<'_, '_>) -> Imported {
    let required = |node: &Node<'_, '_>, name: &str| {
        node.float(name)?.ok_or_else(|| ImportError(format!("attribute '{name}' is missing")))
    };
    let (rate, step) = (node.input(0)?, node.input(1)?);
    let (alpha, beta) = (required(node, "alpha")?, required(node, "beta")?);
    let is_nesterov = match node.string_or("mode", "standard")?.as_str() {
        "standard" => false,
        "nesterov" => true,
        other => return Err(format!("attribute 'mode' must not be '{other}'").into()),
    };
    let has_begun = has_begun(node, step)?;
    let mut results = Vec::new();
    for [x, gradient, velocity] in tensors(node)? {
        let gradient = regularized(node, x, gradient)?;
        let part = scaled(node, gradient, beta)?;
        let part = node.op("tf.SelectV2", &[has_begun, part, gradient], &[])?;
        let velocity = sum(node, velocity, alpha, part)?;
        let step = if is_nesterov { sum(node, velocity, alpha, gradient)? } else { velocity };
        results.push([moved(node, x, rate, step)?, velocity]);
    }
    Ok(by_kind(&results))
}
