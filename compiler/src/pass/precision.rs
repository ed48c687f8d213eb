//! Narrows a model of f32 to numbers of 16 bits where that pays and is safe, or widens one of such
//! numbers to f32, for which the host has the faster kernels.
//!
//! What is narrowed:
//! - Products, convolutions and attention compute in the narrow type. Devices sum their products in
//!   f32, and so they do scores and weights of attention, whose mask stays wide.
//! - Ops that only move elements, and elementwise ops that neither grow nor cancel them, keep the
//!   type of their operands.
//! - All other ops stay wide: reductions, normalizations, softmax, exponentials, powers, quotients.
//! - A logarithm makes relative errors of small numbers absolute ones, as of a spectrum beside its
//!   peak. So what it takes is wide back to the last activation or normalization.
//!
//! All of these are widened. Their results are then rounded only where the model says so or gives
//! them to other ops, and are nearer to the exact ones than those of a model that rounds each.
//!
//! The model's inputs and outputs keep their types, and so do functions that control flow calls and
//! nodes of [`Graph::wide_nodes`].

use std::collections::{HashMap, HashSet};

use tfrt_host::DType;
use tfrt_ir::{InsertionPoint, OpId, Operation, ValueId};
use tfrt_tensor::{Accessor, HostTensor, f16};

use super::dead_code;
use crate::{Evaluator, Graph, GraphBuilder, MAIN, TensorType, analysis::place, import::onnx::RETURN};

static READ: Accessor = Accessor::new("constants that are narrowed");

/// Ops that compute in the narrow type, by their names without the dialect.
const COMPUTED: &[&str] = &[
    "BatchMatMul",
    "BatchMatMulV2",
    "BatchMatMulV3",
    "Conv2D",
    "Conv2DBackpropInput",
    "DepthwiseConv2dNative",
    "Einsum",
    "FusedAttention",
    "MatMul",
    "_FusedConv2D",
    "_FusedMatMul",
];

/// Ops with an operand that stays wide, and the operand's place: a mask has numbers that hide, which
/// a narrow type may not have.
const WIDE_OPERANDS: &[(&str, usize)] = &[("tfrt.FusedAttention", 3)];

/// Ops that keep the type of their operands.
const KEPT: &[&str] = &[
    "Abs",
    "AddV2",
    "AvgPool",
    "BiasAdd",
    "BroadcastTo",
    "Concat",
    "ConcatV2",
    "DepthToSpace",
    "Elu",
    "Expand",
    "ExpandDims",
    "Gather",
    "GatherV2",
    "Gelu",
    "Identity",
    "LeakyRelu",
    "MaxPool",
    "Maximum",
    "Minimum",
    "MirrorPad",
    "Mul",
    "Neg",
    "Pack",
    "Pad",
    "PadV2",
    "Relu",
    "Relu6",
    "Reshape",
    "ReverseV2",
    "Select",
    "SelectV2",
    "Selu",
    "Sigmoid",
    "Slice",
    "SpaceToDepth",
    "Split",
    "SplitV",
    "Squeeze",
    "StridedSlice",
    "Sub",
    "Tanh",
    "Tile",
    "Transpose",
    "Unpack",
    "Unsqueeze",
];

/// Those of [`KEPT`] whose results do not tell how large their operands were.
const ACTIVATIONS: &[&str] = &["Elu", "Gelu", "LeakyRelu", "Relu", "Relu6", "Selu", "Sigmoid", "Tanh"];

/// Wide ops that make spectra of sums.
const SPECTRAL: &[&str] = &["Mean", "Pow", "Sqrt", "Square", "Sum"];

/// Ops that are only widened.
const WIDENED: &[&str] = &[
    "Attention",
    "AveragePool",
    "BatchNormalization",
    "Conv",
    "ConvTranspose",
    "Erf",
    "Exp",
    "FusedBatchNormV3",
    "GRU",
    "GlobalAveragePool",
    "GroupNormalization",
    "InstanceNormalization",
    "LSTM",
    "LayerNormalization",
    "Log",
    "LogSoftmax",
    "Max",
    "Mean",
    "Min",
    "Pow",
    "Prod",
    "RMSNormalization",
    "RNN",
    "RealDiv",
    "Reciprocal",
    "Resize",
    "RotaryEmbedding",
    "Rsqrt",
    "Softmax",
    "Softplus",
    "Sqrt",
    "Square",
    "SquaredDifference",
    "Sum",
];

pub(super) fn to_f16(graph: &mut Graph, evaluator: &Evaluator) {
    run(graph, evaluator, DType::F16);
}

pub(super) fn to_bf16(graph: &mut Graph, evaluator: &Evaluator) {
    run(graph, evaluator, DType::BF16);
}

pub(super) fn to_f32(graph: &mut Graph, evaluator: &Evaluator) {
    run(graph, evaluator, DType::F32);
}

/// Returns the nodes whose products, convolutions and attention a model computes in a narrow type,
/// in order.
pub fn narrowed_nodes(graph: &Graph) -> Vec<String> {
    let is_narrow = |ty: TensorType| matches!(ty.dtype, DType::F16 | DType::BF16);
    let mut nodes = Vec::new();
    for op in ops_of_main(graph) {
        let operation = graph.module.op(op);
        let mut types = operation.results.iter().filter_map(|&result| graph.tensor_type(result));
        if (COMPUTED.contains(&short_name(operation)) || operation.name == "onnx.Attention")
            && types.any(is_narrow)
            && let Some(node) = place(&operation.location)
            && !nodes.contains(&node)
        {
            nodes.push(node);
        }
    }
    nodes
}

fn ops_of_main(graph: &Graph) -> Vec<OpId> {
    let body = graph.module.function(MAIN).and_then(|main| main.body());
    body.map_or_else(Vec::new, |body| graph.module.ops_in(body).map(|(op, _)| op).collect())
}

fn run(graph: &mut Graph, evaluator: &Evaluator, to: DType) {
    let ops = ops_of_main(graph);
    let wide = if to == DType::F32 { HashSet::new() } else { wide_ops(graph, &ops) };
    // The form in the new type of each value that has one.
    let mut converted: HashMap<ValueId, ValueId> = HashMap::new();
    for op in ops {
        if !wide.contains(&op) && wants(graph, op, to, &converted) && fits(graph, op, to) {
            // An op that does not accept the type keeps its own.
            let _ = convert(graph, evaluator, (op, to), &mut converted);
        }
    }
    // Forms that nothing uses would keep the others from being fused.
    dead_code::run(graph, evaluator);
}

/// An op's name without its dialect.
fn short_name(operation: &Operation) -> &str {
    let name = operation.name.as_str();
    name.split_once('.').map_or(name, |(_, name)| name)
}

/// Returns the ops that are not narrowed.
fn wide_ops(graph: &Graph, ops: &[OpId]) -> HashSet<OpId> {
    let mut found = before_logarithms(graph, ops);
    if !graph.wide_nodes.is_empty() {
        let is_wide = |op: &OpId| {
            place(&graph.module.op(*op).location).is_some_and(|node| graph.wide_nodes.contains(&node))
        };
        found.extend(ops.iter().copied().filter(is_wide));
    }
    found
}

/// Returns the ops whose results logarithms take, by way of products, movements and sums.
fn before_logarithms(graph: &Graph, ops: &[OpId]) -> HashSet<OpId> {
    let is_passed = |name: &str| {
        let is_movement = KEPT.contains(&name) && !ACTIVATIONS.contains(&name);
        is_movement || SPECTRAL.contains(&name) || COMPUTED.contains(&name) && name != "FusedAttention"
    };
    let is_logarithm = |&op: &OpId| matches!(short_name(graph.module.op(op)), "Log" | "Log1p");
    let mut left: Vec<OpId> = ops.iter().copied().filter(is_logarithm).collect();
    let mut found = HashSet::new();
    while let Some(op) = left.pop() {
        let operands = graph.module.op(op).operands.iter();
        for before in operands.filter_map(|&operand| graph.module.defining_op(operand)) {
            if is_passed(short_name(graph.module.op(before))) && found.insert(before) {
                left.push(before);
            }
        }
    }
    found
}

/// Returns whether numbers of a type are converted.
fn is_converted(from: DType, to: DType) -> bool {
    match to {
        DType::F32 => matches!(from, DType::F16 | DType::BF16),
        _ => from == DType::F32,
    }
}

/// Returns whether an op is worth converting.
fn wants(graph: &Graph, op: OpId, to: DType, converted: &HashMap<ValueId, ValueId>) -> bool {
    let operation = graph.module.op(op);
    let name = short_name(operation);
    let is_other = |&value| graph.tensor_type(value).is_some_and(|ty| is_converted(ty.dtype, to));
    if operation.name == RETURN || operation.results.is_empty() || !operation.results.iter().all(is_other) {
        return false;
    }
    let is_computed = COMPUTED.contains(&name)
        || is_plain_attention(graph, operation)
        || to == DType::F32 && WIDENED.contains(&name);
    is_computed
        || KEPT.contains(&name) && operation.operands.iter().any(|operand| converted.contains_key(operand))
}

/// Returns whether an op is attention without a cache, which would be converted at each call, and
/// without a mask of numbers.
fn is_plain_attention(graph: &Graph, operation: &Operation) -> bool {
    let is_number = |&value: &ValueId| graph.tensor_type(value).is_none_or(|ty| ty.dtype == DType::F32);
    operation.name == "onnx.Attention"
        && operation.results.len() == 1
        && !operation.operands.iter().skip(3).any(is_number)
}

/// Returns whether the constants that an op takes are in the range of the narrow type. A mask of
/// huge numbers is not.
fn fits(graph: &Graph, op: OpId, dtype: DType) -> bool {
    let operation = graph.module.op(op);
    operation
        .operands
        .iter()
        .enumerate()
        .filter(|&(place, _)| !stays_wide(operation, place, dtype))
        .filter_map(|(_, &operand)| graph.constant(operand))
        .all(|constant| dtype != DType::F16 || constant.dtype() != DType::F32 || is_in_range(constant))
}

/// Returns whether an operand keeps its type.
fn stays_wide(operation: &Operation, place: usize, to: DType) -> bool {
    to != DType::F32 && WIDE_OPERANDS.contains(&(operation.name.as_str(), place))
}

fn is_in_range(constant: &HostTensor) -> bool {
    let max = f16::MAX.to_f32();
    match constant {
        HostTensor::Scalar(scalar) => scalar.value::<f32>().is_ok_and(|x| x.abs() <= max),
        constant => constant
            .dense()
            .and_then(|dense| Ok(dense.read::<f32>(&READ)?.iter().all(|x| x.abs() <= max)))
            .unwrap_or(false),
    }
}

/// Replaces an op by one of another type, whose results are converted back for everything else.
fn convert(
    graph: &mut Graph,
    evaluator: &Evaluator,
    (op, to): (OpId, DType),
    converted: &mut HashMap<ValueId, ValueId>,
) -> Option<()> {
    let operation = graph.module.op(op).clone();
    let mut builder = GraphBuilder::new(graph, evaluator, InsertionPoint::Before(op));
    builder.set_location(operation.location.clone());
    let mut operands = Vec::new();
    for (place, &operand) in operation.operands.iter().enumerate() {
        let is_wide = stays_wide(&operation, place, to);
        let is_other = !is_wide && builder.ty(operand).is_some_and(|ty| is_converted(ty.dtype, to));
        operands.push(match converted.get(&operand) {
            _ if !is_other => operand,
            Some(&known) => known,
            None => {
                let form = builder.cast(operand, to).ok()?;
                converted.insert(operand, form);
                form
            }
        });
    }
    let (name, attributes) = (operation.name.as_str(), operation.attributes.entries().to_vec());
    let results = builder.ops(name, &operands, attributes, operation.results.len()).ok()?;
    for (&result, &before) in results.iter().zip(&operation.results) {
        builder.keep_extents(before, result);
    }
    if results.iter().any(|&result| builder.ty(result).is_none_or(|ty| ty.dtype != to)) {
        return None;
    }
    let mut back = Vec::new();
    for (&result, &before) in results.iter().zip(&operation.results) {
        let own = builder.ty(before)?.dtype;
        back.push(builder.cast(result, own).ok()?);
    }
    converted.extend(back.iter().copied().zip(results));
    graph.module.replace_op(op, &back);
    Some(())
}
