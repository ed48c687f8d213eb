//! Steps of training: what optimizers make of variables, gradients and their own variables.
//!
//! `ResourceApplyAdam` takes handles, and `ApplyAdam` the variables themselves, of which it gives
//! the first one.

use std::sync::Arc;

use tfrt_ir::ValueId;

use super::{
    Family,
    variables::{held, set},
};
use crate::import::tensorflow::{
    node::{ImportError, Imported, Node},
    proto::Attr,
};

pub(super) const OPS: Family = &[
    ("ApplyAdadelta", |node| reference(node, apply_adadelta)),
    ("ApplyAdagrad", |node| reference(node, |node| apply_adagrad(node, false))),
    ("ApplyAdagradV2", |node| reference(node, |node| apply_adagrad(node, true))),
    ("ApplyAdam", |node| reference(node, apply_adam)),
    ("ApplyFtrl", |node| reference(node, |node| apply_ftrl(node, false))),
    ("ApplyFtrlV2", |node| reference(node, |node| apply_ftrl(node, true))),
    ("ApplyGradientDescent", |node| reference(node, apply_gradient)),
    ("ApplyMomentum", |node| reference(node, apply_momentum)),
    ("ApplyRMSProp", |node| reference(node, apply_rms_prop)),
    ("ResourceApplyAdadelta", apply_adadelta),
    ("ResourceApplyAdagrad", |node| apply_adagrad(node, false)),
    ("ResourceApplyAdagradV2", |node| apply_adagrad(node, true)),
    ("ResourceApplyAdam", apply_adam),
    ("ResourceApplyFtrl", |node| apply_ftrl(node, false)),
    ("ResourceApplyFtrlV2", |node| apply_ftrl(node, true)),
    ("ResourceApplyGradientDescent", apply_gradient),
    ("ResourceApplyKerasMomentum", apply_keras_momentum),
    ("ResourceApplyMomentum", apply_momentum),
    ("ResourceApplyRMSProp", apply_rms_prop),
];

/// A step on the variables of the first version of TensorFlow, which gives the variable.
pub(super) fn reference(node: &mut Node<'_, '_>, apply: fn(&mut Node<'_, '_>) -> Imported) -> Imported {
    apply(node)?;
    Ok(vec![node.value(0)?.clone()])
}

/// Arithmetic on the tensors of a training step.
pub(super) struct Step<'n, 'i, 'g>(pub(super) &'n mut Node<'i, 'g>);

impl Step<'_, '_, '_> {
    pub(super) fn op(&mut self, op: &str, a: ValueId, b: ValueId) -> Imported<ValueId> {
        self.0.op(op, &[a, b], &[])
    }

    pub(super) fn add(&mut self, a: ValueId, b: ValueId) -> Imported<ValueId> {
        self.op("tf.AddV2", a, b)
    }

    pub(super) fn sub(&mut self, a: ValueId, b: ValueId) -> Imported<ValueId> {
        self.op("tf.Sub", a, b)
    }

    pub(super) fn mul(&mut self, a: ValueId, b: ValueId) -> Imported<ValueId> {
        self.op("tf.Mul", a, b)
    }

    pub(super) fn div(&mut self, a: ValueId, b: ValueId) -> Imported<ValueId> {
        self.op("tf.RealDiv", a, b)
    }

    pub(super) fn sqrt(&mut self, x: ValueId) -> Imported<ValueId> {
        self.0.op("tf.Sqrt", &[x], &[])
    }

    /// `1 - x`.
    pub(super) fn complement(&mut self, x: ValueId) -> Imported<ValueId> {
        let one = self.0.add_number_like(x, 1.0)?;
        self.sub(one, x)
    }

    /// `a + (b - a) * (1 - rate)`.
    pub(super) fn decayed(&mut self, a: ValueId, b: ValueId, rate: ValueId) -> Imported<ValueId> {
        let (difference, rest) = (self.sub(b, a)?, self.complement(rate)?);
        let change = self.mul(difference, rest)?;
        self.add(a, change)
    }
}

fn apply_gradient(node: &mut Node<'_, '_>) -> Imported {
    let ((name, held), rate, gradient) = (held(node, 0)?, node.input(1)?, node.input(2)?);
    let mut step = Step(node);
    let change = step.mul(rate, gradient)?;
    let value = step.sub(held, change)?;
    set(node, name, value);
    Ok(Vec::new())
}

pub(super) fn apply_momentum(node: &mut Node<'_, '_>) -> Imported {
    let ((name, held), (slot, sum)) = (held(node, 0)?, self::held(node, 1)?);
    let (rate, gradient, momentum) = (node.input(2)?, node.input(3)?, node.input(4)?);
    let is_nesterov = node.flag("use_nesterov")?;
    let mut step = Step(node);
    let sum = step.mul(sum, momentum)?;
    let sum = step.add(sum, gradient)?;
    let mut change = step.mul(sum, rate)?;
    if is_nesterov {
        let (first, second) = (step.mul(gradient, rate)?, step.mul(change, momentum)?);
        change = step.add(first, second)?;
    }
    let value = step.sub(held, change)?;
    set(node, slot, sum);
    set(node, name, value);
    Ok(Vec::new())
}

pub(super) fn apply_keras_momentum(node: &mut Node<'_, '_>) -> Imported {
    let ((name, held), (slot, sum)) = (held(node, 0)?, self::held(node, 1)?);
    let (rate, gradient, momentum) = (node.input(2)?, node.input(3)?, node.input(4)?);
    let is_nesterov = node.flag("use_nesterov")?;
    let mut step = Step(node);
    let (decayed, change) = (step.mul(sum, momentum)?, step.mul(gradient, rate)?);
    let sum = step.sub(decayed, change)?;
    let mut by = sum;
    if is_nesterov {
        let decayed = step.mul(sum, momentum)?;
        by = step.sub(decayed, change)?;
    }
    let value = step.add(held, by)?;
    set(node, slot, sum);
    set(node, name, value);
    Ok(Vec::new())
}

pub(super) fn apply_adagrad(node: &mut Node<'_, '_>, has_epsilon: bool) -> Imported {
    let ((name, held), (slot, mut sum)) = (held(node, 0)?, self::held(node, 1)?);
    let (rate, gradient) = (node.input(2)?, node.input(if has_epsilon { 4 } else { 3 })?);
    let epsilon = if has_epsilon { Some(node.input(3)?) } else { None };
    let updates = !matches!(node.attr("update_slots"), Some(Attr::B(false)));
    let mut step = Step(node);
    if updates {
        let square = step.mul(gradient, gradient)?;
        sum = step.add(sum, square)?;
    }
    let mut root = step.sqrt(sum)?;
    if let Some(epsilon) = epsilon {
        root = step.add(root, epsilon)?;
    }
    let scaled = step.mul(rate, gradient)?;
    let change = step.div(scaled, root)?;
    let value = step.sub(held, change)?;
    set(node, slot, sum);
    set(node, name, value);
    Ok(Vec::new())
}

fn apply_adam(node: &mut Node<'_, '_>) -> Imported {
    let (name, held_value) = held(node, 0)?;
    let ((first, m), (second, v)) = (held(node, 1)?, held(node, 2)?);
    let inputs = node.inputs_from(3)?;
    let [power1, power2, rate, beta1, beta2, epsilon, gradient] = inputs[..] else {
        return Err(ImportError(format!("the op has {} inputs instead of 10", 3 + inputs.len())));
    };
    let is_nesterov = node.flag("use_nesterov")?;
    let mut step = Step(node);
    let (left1, left2) = (step.complement(power1)?, step.complement(power2)?);
    let root = step.sqrt(left2)?;
    let rate = step.mul(rate, root)?;
    let rate = step.div(rate, left1)?;
    let m = step.decayed(m, gradient, beta1)?;
    let square = step.mul(gradient, gradient)?;
    let v = step.decayed(v, square, beta2)?;
    let mut direction = m;
    if is_nesterov {
        let left = step.complement(beta1)?;
        let (old, new) = (step.mul(m, beta1)?, step.mul(left, gradient)?);
        direction = step.add(old, new)?;
    }
    let root = step.sqrt(v)?;
    let root = step.add(root, epsilon)?;
    let change = step.mul(direction, rate)?;
    let change = step.div(change, root)?;
    let value = step.sub(held_value, change)?;
    set(node, first, m);
    set(node, second, v);
    set(node, name, value);
    Ok(Vec::new())
}

pub(super) fn apply_rms_prop(node: &mut Node<'_, '_>) -> Imported {
    let (name, held_value) = held(node, 0)?;
    let ((first, squares), (second, sum)) = (held(node, 1)?, held(node, 2)?);
    let inputs = node.inputs_from(3)?;
    let [rate, rho, momentum, epsilon, gradient] = inputs[..] else {
        return Err(ImportError(format!("the op has {} inputs instead of 8", 3 + inputs.len())));
    };
    let mut step = Step(node);
    let square = step.mul(gradient, gradient)?;
    let squares = step.decayed(squares, square, rho)?;
    let root = step.add(squares, epsilon)?;
    let root = step.sqrt(root)?;
    let scaled = step.mul(rate, gradient)?;
    let scaled = step.div(scaled, root)?;
    let sum = step.mul(sum, momentum)?;
    let sum = step.add(sum, scaled)?;
    let value = step.sub(held_value, sum)?;
    set(node, first, squares);
    set(node, second, sum);
    set(node, name, value);
    Ok(Vec::new())
}

pub(super) fn apply_adadelta(node: &mut Node<'_, '_>) -> Imported {
    let (name, held_value) = held(node, 0)?;
    let ((first, squares), (second, changes)) = (held(node, 1)?, held(node, 2)?);
    let inputs = node.inputs_from(3)?;
    let [rate, rho, epsilon, gradient] = inputs[..] else {
        return Err(ImportError(format!("the op has {} inputs instead of 7", 3 + inputs.len())));
    };
    let mut step = Step(node);
    let square = step.mul(gradient, gradient)?;
    let squares = step.decayed(squares, square, rho)?;
    let (above, below) = (step.add(changes, epsilon)?, step.add(squares, epsilon)?);
    let (above, below) = (step.sqrt(above)?, step.sqrt(below)?);
    let ratio = step.div(above, below)?;
    let change = step.mul(ratio, gradient)?;
    let square = step.mul(change, change)?;
    let changes = step.decayed(changes, square, rho)?;
    let change = step.mul(change, rate)?;
    let value = step.sub(held_value, change)?;
    set(node, first, squares);
    set(node, second, changes);
    set(node, name, value);
    Ok(Vec::new())
}

/// Follows the regularized leader. The second form has a further factor, by which weights shrink.
pub(super) fn apply_ftrl(node: &mut Node<'_, '_>, has_shrinkage: bool) -> Imported {
    let (name, held_value) = held(node, 0)?;
    let ((first, sum), (second, linear)): ((Arc<str>, _), (Arc<str>, _)) = (held(node, 1)?, held(node, 2)?);
    let mut inputs = node.inputs_from(3)?;
    let shrinkage = if has_shrinkage && inputs.len() == 6 { Some(inputs.remove(4)) } else { None };
    let [gradient, rate, l1, l2, power] = inputs[..] else {
        return Err(ImportError(format!("the op has {} inputs instead of 8", 3 + inputs.len())));
    };
    let mut step = Step(node);
    let mut shrunk = gradient;
    if let Some(shrinkage) = shrinkage {
        let two = step.0.add_number_like(held_value, 2.0)?;
        let by = step.mul(two, shrinkage)?;
        let by = step.mul(by, held_value)?;
        shrunk = step.add(gradient, by)?;
    }
    let square = step.mul(gradient, gradient)?;
    let new_sum = step.add(sum, square)?;
    let zero = step.0.add_number_like(power, 0.0)?;
    let exponent = step.sub(zero, power)?;
    let (old, new) = (step.op("tf.Pow", sum, exponent)?, step.op("tf.Pow", new_sum, exponent)?);
    let sigma = step.sub(new, old)?;
    let sigma = step.div(sigma, rate)?;
    let change = step.mul(sigma, held_value)?;
    let change = step.sub(shrunk, change)?;
    let linear = step.add(linear, change)?;
    let two = step.0.add_number_like(l2, 2.0)?;
    let (quadratic, weight) = (step.div(new, rate)?, step.mul(two, l2)?);
    let quadratic = step.add(quadratic, weight)?;
    let sign = step.0.op("tf.Sign", &[linear], &[])?;
    let limit = step.mul(sign, l1)?;
    let rest = step.sub(limit, linear)?;
    let value = step.div(rest, quadratic)?;
    let size = step.0.op("tf.Abs", &[linear], &[])?;
    let is_large = step.op("tf.Greater", size, l1)?;
    let none = step.0.op("tf.ZerosLike", &[value], &[])?;
    let value = step.0.op("tf.SelectV2", &[is_large, value, none], &[])?;
    set(node, first, new_sum);
    set(node, second, linear);
    set(node, name, value);
    Ok(Vec::new())
}
