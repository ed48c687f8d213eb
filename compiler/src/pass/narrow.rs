//! Narrows a model of f32 to numbers of 16 bits where that pays and is safe.
//!
//! - Products and convolutions compute in the narrow type. Devices sum their products in f32.
//! - Ops that only move elements, and elementwise ops that neither grow nor cancel them, keep the
//!   type of their operands.
//! - All other ops stay wide: reductions, normalizations, softmax, exponentials, powers, quotients.
//!
//! The model's inputs and outputs keep their types. Functions that control flow calls stay wide.

use std::collections::HashMap;

use tfrt_host::DType;
use tfrt_ir::{InsertionPoint, OpId, ValueId};
use tfrt_tensor::{Accessor, HostTensor, f16};

use super::dead_code;
use crate::{Evaluator, Graph, GraphBuilder, MAIN, import::onnx::RETURN};

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
    "MatMul",
    "_FusedConv2D",
    "_FusedMatMul",
];

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

pub(super) fn to_f16(graph: &mut Graph, evaluator: &Evaluator) {
    narrow(graph, evaluator, DType::F16);
}

pub(super) fn to_bf16(graph: &mut Graph, evaluator: &Evaluator) {
    narrow(graph, evaluator, DType::BF16);
}

fn narrow(graph: &mut Graph, evaluator: &Evaluator, dtype: DType) {
    let body = graph.module.functions().find(|function| function.name() == MAIN).and_then(|main| main.body());
    let Some(body) = body else { return };
    let ops: Vec<OpId> = graph.module.ops_in(body).map(|(op, _)| op).collect();
    // The narrow form of each wide value that has one.
    let mut narrowed: HashMap<ValueId, ValueId> = HashMap::new();
    for op in ops {
        if wants(graph, op, &narrowed) && fits(graph, op, dtype) {
            // An op that does not accept the type stays wide.
            let _ = narrow_op(graph, evaluator, (op, dtype), &mut narrowed);
        }
    }
    // Wide forms that nothing uses would keep the narrow ones from being fused.
    dead_code::run(graph, evaluator);
}

/// Returns whether an op is worth narrowing.
fn wants(graph: &Graph, op: OpId, narrowed: &HashMap<ValueId, ValueId>) -> bool {
    let operation = graph.module.op(op);
    let name = operation.name.as_str();
    let name = name.split_once('.').map_or(name, |(_, name)| name);
    let are_wide = operation.results.iter().all(|&result| is_wide(graph, result));
    if operation.name == RETURN || operation.results.is_empty() || !are_wide {
        return false;
    }
    COMPUTED.contains(&name)
        || KEPT.contains(&name) && operation.operands.iter().any(|operand| narrowed.contains_key(operand))
}

fn is_wide(graph: &Graph, value: ValueId) -> bool {
    graph.tensor_type(value).is_some_and(|ty| ty.dtype == DType::F32)
}

/// Returns whether the constants that an op takes are in the range of the narrow type. A mask of
/// huge numbers is not.
fn fits(graph: &Graph, op: OpId, dtype: DType) -> bool {
    graph
        .module
        .op(op)
        .operands
        .iter()
        .filter_map(|&operand| graph.constant(operand))
        .all(|constant| dtype != DType::F16 || constant.dtype() != DType::F32 || is_in_range(constant))
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

/// Replaces an op by a narrow one, whose results are widened for everything else.
fn narrow_op(
    graph: &mut Graph,
    evaluator: &Evaluator,
    (op, dtype): (OpId, DType),
    narrowed: &mut HashMap<ValueId, ValueId>,
) -> Option<()> {
    let operation = graph.module.op(op).clone();
    let mut builder = GraphBuilder::new(graph, evaluator, InsertionPoint::Before(op));
    builder.set_location(operation.location.clone());
    let mut operands = Vec::new();
    for &operand in &operation.operands {
        let is_wide = builder.ty(operand).is_some_and(|ty| ty.dtype == DType::F32);
        operands.push(match narrowed.get(&operand) {
            _ if !is_wide => operand,
            Some(&known) => known,
            None => {
                let narrow = builder.cast(operand, dtype).ok()?;
                narrowed.insert(operand, narrow);
                narrow
            }
        });
    }
    let (name, attributes) = (operation.name.as_str(), operation.attributes.entries().to_vec());
    let results = builder.ops(name, &operands, attributes, operation.results.len()).ok()?;
    if results.iter().any(|&result| builder.ty(result).is_none_or(|ty| ty.dtype != dtype)) {
        return None;
    }
    let mut wide = Vec::new();
    for &result in &results {
        wide.push(builder.cast(result, DType::F32).ok()?);
    }
    narrowed.extend(wide.iter().copied().zip(results));
    graph.module.replace_op(op, &wide);
    Some(())
}
