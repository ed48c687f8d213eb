//! Fuses convolutions with what follows them: a bias, a residual and an activation, applied as the
//! results are stored.

use tfrt_host::DType;
use tfrt_ir::{AttrDict, Attribute, OpId, ValueId};

use super::batch::have_same_shape;
use super::rewrite::{Rewriter, apply};
use crate::{Evaluator, Graph};

/// The fused op: images, a constant filter, a bias and perhaps a residual of the result's shape.
pub(super) const FUSED: &str = "tfrt.FusedConv2D";
/// Its attribute with the name of the activation; empty for none.
pub(super) const ACTIVATION: &str = "activation";
/// Activations that the fused op has.
const ACTIVATIONS: &[(&str, &str)] = &[("tf.Relu", "Relu"), ("tf.Relu6", "Relu6")];

/// The types that the fused op has.
const TYPES: &[DType] = &[DType::F16, DType::BF16, DType::F32];

/// Fuses convolutions.
pub(super) fn run(graph: &mut Graph, evaluator: &Evaluator) {
    apply(graph, evaluator, &[fuse_bias, fuse_plain, fuse_residual, fuse_activation]);
}

/// A convolution with a constant filter that nothing else uses.
fn convolution(rewriter: &Rewriter<'_>, value: ValueId) -> Option<OpId> {
    let op = rewriter.defined_by(value, "tf.Conv2D")?;
    let filter = rewriter.op(op).operands[1];
    let is_known = TYPES.contains(&rewriter.constant(filter)?.dtype());
    (is_known && rewriter.has_one_use(value)).then_some(op)
}

fn attributes(rewriter: &Rewriter<'_>, op: OpId, activation: &str) -> AttrDict {
    let mut attributes = rewriter.op(op).attributes.clone();
    attributes.set(ACTIVATION, Attribute::string(activation));
    attributes
}

fn fuse_bias(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    if rewriter.op(op).name != "tf.BiasAdd" {
        return None;
    }
    let operands = rewriter.op(op).operands.clone();
    let inner = convolution(rewriter, operands[0])?;
    let attributes = attributes(rewriter, inner, "");
    let own = rewriter.op(inner).operands.clone();
    let result = rewriter.create(FUSED, &[own[0], own[1], operands[1]], attributes.entries().to_vec())?;
    rewriter.set_location_of(inner);
    rewriter.replace(op, &[result])
}

/// A convolution without a bias has one of zeros.
fn fuse_plain(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    if rewriter.op(op).name != "tf.Conv2D" {
        return None;
    }
    let (value, operands) = (rewriter.result(op)?, rewriter.op(op).operands.clone());
    let module = &rewriter.graph.module;
    let is_bias = |op: OpId| rewriter.op(op).name == "tf.BiasAdd";
    let dtype = rewriter.constant(operands[1])?.dtype();
    if !TYPES.contains(&dtype)
        || module.has_one_use(value) && module.uses_of(value).any(|used| is_bias(used.op))
    {
        return None;
    }
    let channels = rewriter.ty(operands[1])?.static_dims()?.last().copied()?;
    let shape = rewriter.create_integers(&[i64::try_from(channels).ok()?])?;
    let zero = rewriter.create_number(dtype, 0.0)?;
    let none: [(&str, Attribute); 0] = [];
    let bias = rewriter.create("tf.Fill", &[shape, zero], none)?;
    let attributes = attributes(rewriter, op, "");
    let fused = rewriter.create(FUSED, &[operands[0], operands[1], bias], attributes.entries().to_vec())?;
    rewriter.replace(op, &[fused])
}

/// A fused convolution that nothing else uses and that has no activation yet.
fn fused(rewriter: &Rewriter<'_>, value: ValueId) -> Option<OpId> {
    let op = rewriter.defined_by(value, FUSED)?;
    let activation = rewriter.op(op).attr(ACTIVATION).and_then(Attribute::as_str);
    (activation == Some("") && rewriter.has_one_use(value)).then_some(op)
}

fn fuse_residual(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    if rewriter.op(op).name != "tf.AddV2" {
        return None;
    }
    let operands = rewriter.op(op).operands.clone();
    // Of two convolutions the later one takes the other's result.
    let places = match (fused(rewriter, operands[0]), fused(rewriter, operands[1])) {
        (Some(a), Some(b)) if rewriter.graph.module.is_before(a, b) => [1, 0],
        _ => [0, 1],
    };
    for place in places {
        let (value, residual) = (operands[place], operands[1 - place]);
        let Some(inner) = fused(rewriter, value) else { continue };
        let own = rewriter.op(inner).operands.clone();
        if own.len() != 3 || value == residual || !have_same_shape(rewriter, value, residual) {
            continue;
        }
        let attributes = attributes(rewriter, inner, "");
        let operands = [own[0], own[1], own[2], residual];
        let ty = rewriter.graph.module.value_type(rewriter.result(op)?).clone();
        let result = rewriter.create_typed(FUSED, &operands, attributes, ty);
        rewriter.set_location_of(inner);
        return rewriter.replace(op, &[result]);
    }
    None
}

fn activation_of(name: &str) -> Option<&'static str> {
    ACTIVATIONS.iter().find(|(op, _)| *op == name).map(|(_, activation)| *activation)
}

fn fuse_activation(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let activation = activation_of(rewriter.op(op).name.as_str())?;
    let inner = fused(rewriter, rewriter.op(op).operands[0])?;
    let own = rewriter.op(inner).operands.clone();
    let attributes = attributes(rewriter, inner, activation);
    let ty = rewriter.graph.module.value_type(rewriter.result(op)?).clone();
    let result = rewriter.create_typed(FUSED, &own, attributes, ty);
    rewriter.set_location_of(inner);
    rewriter.replace(op, &[result])
}
