//! Fuses elementwise ops of f32, f16 or bf16 into one op that computes all of them in one pass, and
//! such an op into the convolution before it.

use tfrt_host::DType;
use tfrt_ir::{AttrDict, Attribute, OpId, ValueId};
use tfrt_tensor::{Accessor, bf16, f16};

use super::fuse_convolution::{ACTIVATION, FUSED as CONVOLUTION};
use super::rewrite::{Rewriter, apply, visit_backwards};
use crate::{Evaluator, Graph};

static READ: Accessor = Accessor::new("fusion of elementwise ops");

/// The fused op.
const FUSED: &str = "tfrt.FusedElementwise";
/// Its attribute, which says what each step computes from what; see `tfrt.FusedElementwise`.
const STEPS: &str = "steps";
/// What a fused op may take.
const MAX_ARGUMENTS: usize = 8;
/// How many ops are fused at most.
const MAX_OPS: usize = 32;

/// Ops that become steps of their own name.
pub(crate) const STEP_OPS: &[&str] = &[
    "AddV2",
    "Sub",
    "Mul",
    "RealDiv",
    "Maximum",
    "Minimum",
    "SquaredDifference",
    "Abs",
    "Ceil",
    "Elu",
    "Erf",
    "Exp",
    "Expm1",
    "Floor",
    "Log",
    "Neg",
    "Reciprocal",
    "Relu",
    "Relu6",
    "Round",
    "Rsqrt",
    "Selu",
    "Sigmoid",
    "Softplus",
    "Softsign",
    "Sqrt",
    "Square",
    "Tanh",
];

/// Fuses chains, trees and what else has one result.
pub(super) fn run(graph: &mut Graph, evaluator: &Evaluator) {
    visit_backwards(graph, evaluator, fuse);
}

/// Fuses what has one argument with the convolution before it.
pub(super) fn end_convolutions(graph: &mut Graph, evaluator: &Evaluator) {
    apply(graph, evaluator, &[end_convolution]);
}

/// The function that an op is a step of, and a number that it takes besides its operands.
fn function(rewriter: &Rewriter<'_>, op: OpId) -> Option<(String, Option<f32>)> {
    let operation = rewriter.op(op);
    let dtype = rewriter.ty(*operation.results.first()?)?.dtype;
    let is_same = |&value: &ValueId| rewriter.ty(value).is_some_and(|ty| ty.dtype == dtype);
    let is_known = matches!(dtype, DType::F32 | DType::F16 | DType::BF16);
    if !is_known || !operation.operands.iter().all(is_same) {
        return None;
    }
    let name = operation.name.as_str().strip_prefix("tf.")?;
    match name {
        "BiasAdd" => {
            let format = operation.attr("data_format").and_then(Attribute::as_str);
            format.is_none_or(|format| format == "NHWC").then(|| ("AddV2".to_owned(), None))
        }
        "LeakyRelu" => {
            let slope = operation.attr("alpha").map_or(Some(0.2), Attribute::as_f64)?;
            Some((name.to_owned(), Some(slope as f32)))
        }
        "Gelu" => {
            let name = if rewriter.flag(op, "approximate") { "GeluTanh" } else { "Gelu" };
            Some((name.to_owned(), None))
        }
        "Pow" => {
            let exponent = number(rewriter, operation.operands[1], usize::MAX)?;
            (exponent == 2.0).then(|| ("Square".to_owned(), None))
        }
        _ => STEP_OPS.contains(&name).then(|| (name.to_owned(), None)),
    }
}

/// The number that a constant of no more dimensions than `rank` is.
fn number(rewriter: &Rewriter<'_>, value: ValueId, rank: usize) -> Option<f32> {
    let constant = rewriter.constant(value)?;
    if constant.shape().rank() > rank || constant.shape().num_elements().ok()? != 1 {
        return None;
    }
    let dense = constant.dense().ok()?;
    match constant.metadata().dtype {
        DType::F16 => dense.read::<f16>(&READ).ok()?.first().map(|number| number.to_f32()),
        DType::BF16 => dense.read::<bf16>(&READ).ok()?.first().map(|number| number.to_f32()),
        _ => dense.read::<f32>(&READ).ok()?.first().copied(),
    }
}

/// The operations that can be computed together with this one because nothing else uses their
/// results, which are as large. They come in an order in which each follows what it uses.
fn cluster(rewriter: &Rewriter<'_>, root: OpId) -> Option<Vec<OpId>> {
    let module = &rewriter.graph.module;
    let ty = rewriter.ty(rewriter.result(root)?)?;
    let mut members = vec![root];
    let mut candidates: Vec<ValueId> = rewriter.op(root).operands.clone();
    let mut has_grown = true;
    while has_grown {
        has_grown = false;
        for value in std::mem::take(&mut candidates) {
            let Some(op) = module.defining_op(value).filter(|op| !members.contains(op)) else { continue };
            if function(rewriter, op).is_none() || rewriter.ty(value).as_ref() != Some(&ty) {
                continue;
            }
            if members.len() < MAX_OPS && module.uses_of(value).all(|used| members.contains(&used.op)) {
                members.push(op);
                candidates.extend(rewriter.op(op).operands.iter().copied());
                has_grown = true;
            } else {
                candidates.push(value);
            }
        }
    }
    members.sort_by(|&a, &b| {
        if module.is_before(a, b) { std::cmp::Ordering::Less } else { std::cmp::Ordering::Greater }
    });
    members.dedup();
    Some(members)
}

fn fuse(rewriter: &mut Rewriter<'_>, root: OpId) -> Option<()> {
    function(rewriter, root)?;
    let result = rewriter.result(root)?;
    let (ty, rank) = (rewriter.graph.module.value_type(result).clone(), rewriter.ty(result)?.rank()?);
    let members = cluster(rewriter, root)?;
    if members.len() < 2 && !follows_convolution(rewriter, root) {
        return use_square(rewriter, root);
    }
    let (mut arguments, mut steps) = (Vec::<ValueId>::new(), Vec::new());
    for &op in &members {
        let (mut step, extra) = function(rewriter, op)?;
        let operation = rewriter.op(op);
        let count = if step == "Square" { 1 } else { operation.operands.len() };
        for &operand in &operation.operands[..count] {
            let place = members.iter().position(|&op| rewriter.result(op) == Some(operand));
            step += &match (place, number(rewriter, operand, rank)) {
                (Some(place), _) => format!(" s{place}"),
                (None, Some(number)) => format!(" {number:?}"),
                (None, None) => {
                    let known = arguments.iter().position(|&argument| argument == operand);
                    let index = known.unwrap_or(arguments.len());
                    if known.is_none() {
                        arguments.push(operand);
                    }
                    format!(" x{index}")
                }
            };
        }
        if let Some(number) = extra {
            step += &format!(" {number:?}");
        }
        steps.push(step);
    }
    // A number that is left out must not be what gives the result its shape.
    let is_whole = |&value: &ValueId| rewriter.ty(value).and_then(|ty| ty.rank()) == Some(rank);
    if arguments.len() > MAX_ARGUMENTS || !arguments.iter().any(is_whole) {
        return None;
    }
    let mut attributes = AttrDict::default();
    attributes.set(STEPS, Attribute::string(steps.join("; ")));
    let fused = rewriter.create_typed(FUSED, &arguments, attributes, ty);
    rewriter.replace(root, &[fused])
}

/// Whether an op takes the results of a convolution, perhaps reshaped, that can end with steps, and
/// numbers besides.
fn follows_convolution(rewriter: &Rewriter<'_>, op: OpId) -> bool {
    let operands = &rewriter.op(op).operands;
    let mut others = operands.iter().filter(|&&value| number(rewriter, value, usize::MAX).is_none());
    match (others.next(), others.next()) {
        (Some(&value), None) => free_convolution(rewriter, value).is_some(),
        _ => false,
    }
}

/// A power of two is a square.
fn use_square(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    if rewriter.op(op).name != "tf.Pow" {
        return None;
    }
    let base = rewriter.op(op).operands[0];
    let ty = rewriter.graph.module.value_type(rewriter.result(op)?).clone();
    if rewriter.ty(base)? != rewriter.ty(rewriter.result(op)?)? {
        return None;
    }
    let square = rewriter.create_typed("tf.Square", &[base], AttrDict::default(), ty);
    rewriter.replace(op, &[square])
}

/// The convolution that a value is the results of, and the shape that it was given after. Nothing
/// else uses the results, and nothing is done to them yet but a bias and a residual.
fn free_convolution(rewriter: &Rewriter<'_>, mut value: ValueId) -> Option<(OpId, Option<ValueId>)> {
    let mut shape = None;
    if let Some(reshape) = rewriter.defined_by(value, "tf.Reshape").filter(|_| rewriter.has_one_use(value)) {
        shape = Some(rewriter.op(reshape).operands[1]);
        value = rewriter.op(reshape).operands[0];
    }
    let inner = rewriter.defined_by(value, CONVOLUTION).filter(|_| rewriter.has_one_use(value))?;
    if rewriter.ty(value)?.dtype != DType::F32 {
        return None;
    }
    let has =
        |name| rewriter.op(inner).attr(name).and_then(Attribute::as_str).is_some_and(|text| !text.is_empty());
    (!has(ACTIVATION) && !has(STEPS)).then_some((inner, shape))
}

/// A convolution whose results nothing else uses applies the steps as it stores them. Between the
/// two there may be a reshape.
fn end_convolution(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operation = rewriter.op(op);
    if operation.name != *FUSED || operation.operands.len() != 1 {
        return None;
    }
    let steps = operation.attr(STEPS)?.clone();
    let (inner, shape) = free_convolution(rewriter, operation.operands[0])?;
    let own = rewriter.op(inner).operands.clone();
    let mut attributes = rewriter.op(inner).attributes.clone();
    attributes.set(STEPS, steps);
    let mut result = rewriter.create(CONVOLUTION, &own, attributes.entries().to_vec())?;
    rewriter.set_location_of(inner);
    if let Some(shape) = shape {
        let none: [(&str, Attribute); 0] = [];
        result = rewriter.create("tf.Reshape", &[result, shape], none)?;
    }
    rewriter.replace(op, &[result])
}
