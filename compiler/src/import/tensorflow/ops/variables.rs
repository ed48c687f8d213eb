//! Variables, which are followed while nodes are imported, and the steps of training that change them.

use std::sync::Arc;

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::Family;
use crate::import::tensorflow::node::{ImportError, Imported, Node, Value};

pub(super) const OPS: Family = &[
    ("Assign", assign),
    ("AssignAdd", |node| update_reference(node, "tf.AddV2")),
    ("AssignAddVariableOp", |node| update(node, "tf.AddV2")),
    ("AssignSub", |node| update_reference(node, "tf.Sub")),
    ("AssignSubVariableOp", |node| update(node, "tf.Sub")),
    ("AssignVariableOp", assign_variable),
    ("DestroyResourceOp", |_| Ok(Vec::new())),
    ("ReadVariableOp", read),
    ("ResourceApplyAdagradV2", apply_adagrad),
    ("ResourceApplyAdam", apply_adam),
    ("ResourceApplyGradientDescent", apply_gradient),
    ("ResourceApplyKerasMomentum", apply_keras_momentum),
    ("ResourceApplyMomentum", apply_momentum),
    ("ResourceApplyRMSProp", apply_rms_prop),
    ("ResourceGather", gather),
    ("ResourceScatterAdd", |node| scatter(node, "tf.TensorScatterAdd")),
    ("ResourceScatterSub", |node| scatter(node, "tf.TensorScatterSub")),
    ("ResourceScatterUpdate", |node| scatter(node, "tf.TensorScatterUpdate")),
    ("RestoreV2", restore),
    ("VarHandleOp", handle),
    ("VarIsInitializedOp", is_initialized),
    ("Variable", handle),
    ("VariableShape", shape),
    ("VariableV2", handle),
];

/// The name that all nodes of one resource share.
pub(super) fn resource_name(node: &Node<'_, '_>) -> Imported<Arc<str>> {
    let shared = node.string("shared_name")?.unwrap_or_default();
    // Exporters give resources without a name a number that is no name.
    let name = if shared.is_empty() || shared.len() == 36 && shared.matches('-').count() == 4 {
        node.proto.name.clone()
    } else {
        shared
    };
    let container = node.string("container")?.unwrap_or_default();
    Ok(if container.is_empty() { name.into() } else { format!("{container}/{name}").into() })
}

fn handle(node: &mut Node<'_, '_>) -> Imported {
    Ok(vec![Value::Resource(resource_name(node)?)])
}

fn held(node: &Node<'_, '_>, input: usize) -> Imported<(Arc<str>, ValueId)> {
    let name = node.resource(input)?;
    let held = node.importer.read_variable(&name)?;
    Ok((name, held))
}

fn set(node: &mut Node<'_, '_>, name: Arc<str>, value: ValueId) {
    node.importer.state.variables.insert(name, value);
}

fn read(node: &mut Node<'_, '_>) -> Imported {
    Ok(vec![held(node, 0)?.1.into()])
}

fn is_initialized(node: &mut Node<'_, '_>) -> Imported {
    let name = node.resource(0)?;
    let is_set = node.importer.state.variables.contains_key(&name);
    let mut builder = node.builder();
    let number = builder.add_integer(i64::from(is_set))?;
    Ok(vec![builder.cast(number, DType::I1)?.into()])
}

fn shape(node: &mut Node<'_, '_>) -> Imported {
    let (_, held) = held(node, 0)?;
    let attributes = node.forwarded("tf.Shape")?;
    Ok(vec![node.op("tf.Shape", &[held], &attributes)?.into()])
}

fn assign_variable(node: &mut Node<'_, '_>) -> Imported {
    let name = node.resource(0)?;
    if matches!(node.value(1)?, Value::Missing(_)) {
        // A variable without a value is an error if it is read.
        node.importer.state.variables.remove(&name);
        return Ok(Vec::new());
    }
    let value = node.input(1)?;
    set(node, name, value);
    Ok(Vec::new())
}

/// The assignments of the first version of TensorFlow give the variable.
fn assign(node: &mut Node<'_, '_>) -> Imported {
    assign_variable(node)?;
    Ok(vec![node.value(0)?.clone()])
}

fn update(node: &mut Node<'_, '_>, op: &str) -> Imported {
    let (name, held) = held(node, 0)?;
    let by = node.input(1)?;
    let value = node.op(op, &[held, by], &[])?;
    set(node, name, value);
    Ok(Vec::new())
}

fn update_reference(node: &mut Node<'_, '_>, op: &str) -> Imported {
    update(node, op)?;
    Ok(vec![node.value(0)?.clone()])
}

fn gather(node: &mut Node<'_, '_>) -> Imported {
    let ((_, held), indices) = (held(node, 0)?, node.input(1)?);
    let axis = node.int("batch_dims")?.unwrap_or(0);
    let attributes = [("batch_dims", Attribute::i64(axis))];
    let axis = node.builder().add_integer(axis)?;
    Ok(vec![node.op("tf.GatherV2", &[held, indices, axis], &attributes)?.into()])
}

/// Rows are changed at indices of any shape, which the scatter ops take with one more dimension.
fn scatter(node: &mut Node<'_, '_>, op: &str) -> Imported {
    let ((name, held), indices, updates) = (held(node, 0)?, node.input(1)?, node.input(2)?);
    let last = node.builder().add_integer(-1)?;
    let indices = node.op("tf.ExpandDims", &[indices, last], &[])?;
    let value = node.op(op, &[held, indices, updates], &[])?;
    set(node, name, value);
    Ok(Vec::new())
}

/// The tensors of the checkpoint that is being restored.
fn restore(node: &mut Node<'_, '_>) -> Imported {
    let names = node.input(1)?;
    let names = match node.constant(names) {
        Some(tfrt_tensor::HostTensor::String(names)) => names.strings().to_vec(),
        _ => return Err("the names of the tensors to restore are not known".into()),
    };
    let mut values = Vec::new();
    for name in names {
        let checkpoint = node.importer.checkpoint.as_mut();
        let checkpoint = checkpoint.ok_or("only SavedModels can be restored from a checkpoint")?;
        values.push(match checkpoint.tensor(&name) {
            Ok(tensor) => node.builder().add_constant(&name, tensor).into(),
            // Checkpoints hold things that no variable is, such as the tree of objects in binary form.
            Err(why) => Value::Missing(why.into()),
        });
    }
    Ok(values)
}

/// Arithmetic on the tensors of a training step.
struct Step<'n, 'i, 'g>(&'n mut Node<'i, 'g>);

impl Step<'_, '_, '_> {
    fn op(&mut self, op: &str, a: ValueId, b: ValueId) -> Imported<ValueId> {
        self.0.op(op, &[a, b], &[])
    }

    fn add(&mut self, a: ValueId, b: ValueId) -> Imported<ValueId> {
        self.op("tf.AddV2", a, b)
    }

    fn sub(&mut self, a: ValueId, b: ValueId) -> Imported<ValueId> {
        self.op("tf.Sub", a, b)
    }

    fn mul(&mut self, a: ValueId, b: ValueId) -> Imported<ValueId> {
        self.op("tf.Mul", a, b)
    }

    fn div(&mut self, a: ValueId, b: ValueId) -> Imported<ValueId> {
        self.op("tf.RealDiv", a, b)
    }

    fn sqrt(&mut self, x: ValueId) -> Imported<ValueId> {
        self.0.op("tf.Sqrt", &[x], &[])
    }

    /// `1 - x`.
    fn complement(&mut self, x: ValueId) -> Imported<ValueId> {
        let one = self.0.add_number_like(x, 1.0)?;
        self.sub(one, x)
    }

    /// `a + (b - a) * (1 - rate)`.
    fn decayed(&mut self, a: ValueId, b: ValueId, rate: ValueId) -> Imported<ValueId> {
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

fn apply_momentum(node: &mut Node<'_, '_>) -> Imported {
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

fn apply_keras_momentum(node: &mut Node<'_, '_>) -> Imported {
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

fn apply_adagrad(node: &mut Node<'_, '_>) -> Imported {
    let ((name, held), (slot, mut sum)) = (held(node, 0)?, self::held(node, 1)?);
    let (rate, epsilon, gradient) = (node.input(2)?, node.input(3)?, node.input(4)?);
    let updates =
        !matches!(node.attr("update_slots"), Some(crate::import::tensorflow::proto::Attr::B(false)));
    let mut step = Step(node);
    if updates {
        let square = step.mul(gradient, gradient)?;
        sum = step.add(sum, square)?;
    }
    let root = step.sqrt(sum)?;
    let (scaled, root) = (step.mul(rate, gradient)?, step.add(root, epsilon)?);
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

fn apply_rms_prop(node: &mut Node<'_, '_>) -> Imported {
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
