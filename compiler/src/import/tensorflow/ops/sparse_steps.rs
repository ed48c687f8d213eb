//! Steps of training that change the rows of variables for which there are gradients, and rarer
//! optimizers.
//!
//! A step on rows is the step on whole variables, with the rows in their place.

use tfrt_ir::ValueId;

use super::{
    Family,
    optimizers::{self, Step, reference},
    sparse::gather,
    variables::{held, set},
};
use crate::import::tensorflow::node::{ImportError, Imported, Node, Value};

pub(super) const OPS: Family = &[
    ("ApplyAdaMax", |node| reference(node, apply_ada_max)),
    ("ApplyAddSign", |node| reference(node, apply_add_sign)),
    ("ApplyCenteredRMSProp", |node| reference(node, apply_centered_rms_prop)),
    ("ApplyPowerSign", |node| reference(node, apply_power_sign)),
    ("ApplyProximalAdagrad", |node| reference(node, apply_proximal_adagrad)),
    ("ApplyProximalGradientDescent", |node| reference(node, apply_proximal_gradient)),
    ("ResourceApplyAdaMax", apply_ada_max),
    ("ResourceApplyAdamWithAmsgrad", apply_amsgrad),
    ("ResourceApplyAddSign", apply_add_sign),
    ("ResourceApplyCenteredRMSProp", apply_centered_rms_prop),
    ("ResourceApplyPowerSign", apply_power_sign),
    ("ResourceApplyProximalAdagrad", apply_proximal_adagrad),
    ("ResourceApplyProximalGradientDescent", apply_proximal_gradient),
    ("ResourceSparseApplyAdadelta", |node| on_rows(node, 7, optimizers::apply_adadelta)),
    ("ResourceSparseApplyAdagrad", |node| on_rows(node, 4, |node| optimizers::apply_adagrad(node, false))),
    ("ResourceSparseApplyAdagradV2", |node| on_rows(node, 5, |node| optimizers::apply_adagrad(node, true))),
    ("ResourceSparseApplyCenteredRMSProp", |node| on_rows(node, 9, apply_centered_rms_prop)),
    ("ResourceSparseApplyFtrl", |node| on_rows(node, 4, |node| optimizers::apply_ftrl(node, false))),
    ("ResourceSparseApplyFtrlV2", |node| on_rows(node, 4, |node| optimizers::apply_ftrl(node, true))),
    ("ResourceSparseApplyKerasMomentum", |node| on_rows(node, 4, optimizers::apply_keras_momentum)),
    ("ResourceSparseApplyMomentum", |node| on_rows(node, 4, optimizers::apply_momentum)),
    ("ResourceSparseApplyProximalAdagrad", |node| on_rows(node, 6, apply_proximal_adagrad)),
    ("ResourceSparseApplyProximalGradientDescent", |node| on_rows(node, 5, apply_proximal_gradient)),
    ("ResourceSparseApplyRMSProp", |node| on_rows(node, 8, optimizers::apply_rms_prop)),
    ("SparseApplyAdadelta", |node| reference(node, |node| on_rows(node, 7, optimizers::apply_adadelta))),
    ("SparseApplyAdagrad", |node| {
        reference(node, |node| on_rows(node, 4, |node| optimizers::apply_adagrad(node, false)))
    }),
    ("SparseApplyAdagradV2", |node| {
        reference(node, |node| on_rows(node, 5, |node| optimizers::apply_adagrad(node, true)))
    }),
    ("SparseApplyCenteredRMSProp", |node| reference(node, |node| on_rows(node, 9, apply_centered_rms_prop))),
    ("SparseApplyFtrl", |node| {
        reference(node, |node| on_rows(node, 4, |node| optimizers::apply_ftrl(node, false)))
    }),
    ("SparseApplyFtrlV2", |node| {
        reference(node, |node| on_rows(node, 4, |node| optimizers::apply_ftrl(node, true)))
    }),
    ("SparseApplyMomentum", |node| reference(node, |node| on_rows(node, 4, optimizers::apply_momentum))),
    ("SparseApplyProximalAdagrad", |node| reference(node, |node| on_rows(node, 6, apply_proximal_adagrad))),
    ("SparseApplyProximalGradientDescent", |node| {
        reference(node, |node| on_rows(node, 5, apply_proximal_gradient))
    }),
    ("SparseApplyRMSProp", |node| reference(node, |node| on_rows(node, 8, optimizers::apply_rms_prop))),
];

/// A step on the rows that input `at` names. The variables hold these rows alone while it is
/// imported.
fn on_rows(node: &mut Node<'_, '_>, at: usize, apply: fn(&mut Node<'_, '_>) -> Imported) -> Imported {
    let indices = node.input(at)?;
    let count = node.inputs.iter().take_while(|input| matches!(input, Value::Resource(_))).count();
    let mut wholes = Vec::new();
    for input in 0..count {
        let (name, whole) = held(node, input)?;
        let rows = gather(node, whole, indices)?;
        set(node, name.clone(), rows);
        wholes.push((name, whole));
    }
    let inputs = node.inputs.clone();
    node.inputs.remove(at);
    let applied = apply(node);
    node.inputs = inputs;
    for (input, (name, whole)) in wholes.into_iter().enumerate() {
        let (_, rows) = held(node, input)?;
        let last = node.builder().add_integer(-1)?;
        let places = node.op("tf.ExpandDims", &[indices, last], &[])?;
        let value = node.op("tf.TensorScatterUpdate", &[whole, places, rows], &[])?;
        set(node, name, value);
    }
    applied
}

/// The inputs from one on, of which there must be `N`.
fn inputs<const N: usize>(node: &Node<'_, '_>, from: usize) -> Imported<[ValueId; N]> {
    let inputs = node.inputs_from(from)?;
    let count = inputs.len();
    let wrong = |_| ImportError(format!("the op has {} inputs instead of {}", from + count, from + N));
    inputs.try_into().map_err(wrong)
}

/// The values nearest to some that the penalties `l1` and `l2` leave, for steps of size `rate`.
fn shrunk(
    step: &mut Step<'_, '_, '_>,
    x: ValueId,
    rate: ValueId,
    l1: ValueId,
    l2: ValueId,
) -> Imported<ValueId> {
    let (size, limit) = (step.0.op("tf.Abs", &[x], &[])?, step.mul(rate, l1)?);
    let zero = step.0.add_number_like(l1, 0.0)?;
    let limit = step.op("tf.Maximum", limit, zero)?;
    let left = step.sub(size, limit)?;
    let left = step.op("tf.Maximum", left, zero)?;
    let sign = step.0.op("tf.Sign", &[x], &[])?;
    let left = step.mul(sign, left)?;
    let (one, weight) = (step.0.add_number_like(l2, 1.0)?, step.mul(rate, l2)?);
    let divisor = step.add(one, weight)?;
    step.div(left, divisor)
}

fn apply_proximal_gradient(node: &mut Node<'_, '_>) -> Imported {
    let (name, value) = held(node, 0)?;
    let [rate, l1, l2, gradient] = inputs(node, 1)?;
    let mut step = Step(node);
    let change = step.mul(gradient, rate)?;
    let value = step.sub(value, change)?;
    let value = shrunk(&mut step, value, rate, l1, l2)?;
    set(node, name, value);
    Ok(Vec::new())
}

fn apply_proximal_adagrad(node: &mut Node<'_, '_>) -> Imported {
    let ((name, value), (slot, sum)) = (held(node, 0)?, held(node, 1)?);
    let [rate, l1, l2, gradient] = inputs(node, 2)?;
    let mut step = Step(node);
    let square = step.mul(gradient, gradient)?;
    let sum = step.add(sum, square)?;
    let root = step.sqrt(sum)?;
    let rate = step.div(rate, root)?;
    let change = step.mul(gradient, rate)?;
    let value = step.sub(value, change)?;
    let value = shrunk(&mut step, value, rate, l1, l2)?;
    set(node, slot, sum);
    set(node, name, value);
    Ok(Vec::new())
}

fn apply_centered_rms_prop(node: &mut Node<'_, '_>) -> Imported {
    let (name, value) = held(node, 0)?;
    let ((first, mean), (second, squares), (third, sum)) = (held(node, 1)?, held(node, 2)?, held(node, 3)?);
    let [rate, rho, momentum, epsilon, gradient] = inputs(node, 4)?;
    let mut step = Step(node);
    let square = step.mul(gradient, gradient)?;
    let squares = step.decayed(squares, square, rho)?;
    let mean = step.decayed(mean, gradient, rho)?;
    let square = step.mul(mean, mean)?;
    let variance = step.sub(squares, square)?;
    let root = step.add(variance, epsilon)?;
    let root = step.sqrt(root)?;
    let scaled = step.mul(rate, gradient)?;
    let scaled = step.div(scaled, root)?;
    let sum = step.mul(sum, momentum)?;
    let sum = step.add(sum, scaled)?;
    let value = step.sub(value, sum)?;
    set(node, first, mean);
    set(node, second, squares);
    set(node, third, sum);
    set(node, name, value);
    Ok(Vec::new())
}

fn apply_ada_max(node: &mut Node<'_, '_>) -> Imported {
    let (name, value) = held(node, 0)?;
    let ((first, mean), (second, greatest)) = (held(node, 1)?, held(node, 2)?);
    let [power, rate, beta1, beta2, epsilon, gradient] = inputs(node, 3)?;
    let mut step = Step(node);
    let mean = step.decayed(mean, gradient, beta1)?;
    let (decayed, size) = (step.mul(beta2, greatest)?, step.0.op("tf.Abs", &[gradient], &[])?);
    let greatest = step.op("tf.Maximum", decayed, size)?;
    let left = step.complement(power)?;
    let rate = step.div(rate, left)?;
    let divisor = step.add(greatest, epsilon)?;
    let ratio = step.div(mean, divisor)?;
    let change = step.mul(rate, ratio)?;
    let value = step.sub(value, change)?;
    set(node, first, mean);
    set(node, second, greatest);
    set(node, name, value);
    Ok(Vec::new())
}

fn apply_amsgrad(node: &mut Node<'_, '_>) -> Imported {
    let (name, value) = held(node, 0)?;
    let ((first, mean), (second, squares), (third, greatest)) =
        (held(node, 1)?, held(node, 2)?, held(node, 3)?);
    let [power1, power2, rate, beta1, beta2, epsilon, gradient] = inputs(node, 4)?;
    let mut step = Step(node);
    let (left1, left2) = (step.complement(power1)?, step.complement(power2)?);
    let root = step.sqrt(left2)?;
    let rate = step.mul(rate, root)?;
    let rate = step.div(rate, left1)?;
    let mean = step.decayed(mean, gradient, beta1)?;
    let square = step.mul(gradient, gradient)?;
    let squares = step.decayed(squares, square, beta2)?;
    let greatest = step.op("tf.Maximum", greatest, squares)?;
    let root = step.sqrt(greatest)?;
    let root = step.add(root, epsilon)?;
    let change = step.mul(mean, rate)?;
    let change = step.div(change, root)?;
    let value = step.sub(value, change)?;
    set(node, first, mean);
    set(node, second, squares);
    set(node, third, greatest);
    set(node, name, value);
    Ok(Vec::new())
}

/// How much the signs of the gradient and of its mean agree, times the decay of signs.
fn agreement(node: &mut Node<'_, '_>, decay: ValueId, beta: ValueId, gradient: ValueId) -> Imported<ValueId> {
    let (slot, mean) = held(node, 1)?;
    let mut step = Step(node);
    let mean = step.decayed(mean, gradient, beta)?;
    let signs = (step.0.op("tf.Sign", &[gradient], &[])?, step.0.op("tf.Sign", &[mean], &[])?);
    let both = step.mul(signs.0, signs.1)?;
    let scaled = step.mul(decay, both)?;
    set(node, slot, mean);
    Ok(scaled)
}

fn apply_add_sign(node: &mut Node<'_, '_>) -> Imported {
    let (name, value) = held(node, 0)?;
    let [rate, alpha, decay, beta, gradient] = inputs(node, 2)?;
    let agreement = agreement(node, decay, beta, gradient)?;
    let mut step = Step(node);
    let factor = step.add(alpha, agreement)?;
    let scaled = step.mul(factor, gradient)?;
    let change = step.mul(rate, scaled)?;
    let value = step.sub(value, change)?;
    set(node, name, value);
    Ok(Vec::new())
}

fn apply_power_sign(node: &mut Node<'_, '_>) -> Imported {
    let (name, value) = held(node, 0)?;
    // TensorFlow takes the base's logarithm, which the name `logbase` means.
    let [rate, logarithm, decay, beta, gradient] = inputs(node, 2)?;
    let agreement = agreement(node, decay, beta, gradient)?;
    let mut step = Step(node);
    let exponent = step.mul(logarithm, agreement)?;
    let factor = step.0.op("tf.Exp", &[exponent], &[])?;
    let scaled = step.mul(factor, gradient)?;
    let change = step.mul(rate, scaled)?;
    let value = step.sub(value, change)?;
    set(node, name, value);
    Ok(Vec::new())
}
