//! The arithmetic of an op. A product and a sum count as two operations; what moves elements counts
//! as none.

use tfrt_ir::{Attribute, OpId, Operation, ValueId};

use crate::{Graph, import::onnx::RETURN};

/// The arithmetic operations of one call; `None` if they depend on shapes that are not known.
pub(crate) fn flops(graph: &Graph, id: OpId) -> Option<u64> {
    let op = graph.module.op(id);
    let name = op.name.as_str();
    if is_movement(name) {
        return Some(0);
    }
    match name {
        "tf.Conv2D" | "tf._FusedConv2D" | "tfrt.FusedConv2D" => {
            let filter = dims(graph, op.operands.get(1))?;
            per_result(graph, op, product(&filter[..filter.len().checked_sub(1)?]))
        }
        "tfrt.QuantizedConv2D" => {
            let filter = dims(graph, op.operands.get(3))?;
            per_result(graph, op, product(&filter[..filter.len().checked_sub(1)?]))
        }
        "tf.DepthwiseConv2dNative" => {
            let filter = dims(graph, op.operands.get(1))?;
            per_result(graph, op, product(filter.get(..2)?))
        }
        "onnx.Conv" | "onnx.ConvInteger" => onnx_convolution(graph, op, 1),
        "onnx.QLinearConv" => onnx_convolution(graph, op, 3),
        // Each element of the input is multiplied by the part of the filter that belongs to its
        // channel.
        "onnx.ConvTranspose" => {
            let filter = dims(graph, op.operands.get(1))?;
            Some(2 * elements(graph, op.operands.first())? * product(filter.get(1..)?))
        }
        "tf.Conv2DBackpropInput" => {
            let filter = dims(graph, op.operands.get(1))?;
            Some(2 * elements(graph, op.operands.get(2))? * product(&filter[..2]) * *filter.get(2)?)
        }
        "tf.MatMul" | "tf._FusedMatMul" => matrix_product(graph, op, "transpose_a"),
        "tf.BatchMatMulV2" | "tf.BatchMatMul" => matrix_product(graph, op, "adj_x"),
        "onnx.MatMulInteger"
        | "onnx.QLinearMatMul"
        | "tfrt.ExpertMatMul"
        | "tfrt.NarrowExpertMatMul"
        | "tfrt.NarrowMatMul"
        | "tfrt.QuantizedMatMul" => matrix_product(graph, op, ""),
        "tf.Einsum" => einsum(graph, op),
        "tfrt.FusedAttention" => fused_attention(graph, op),
        "onnx.Attention" => onnx_attention(graph, op),
        "onnx.LSTM" => recurrent(graph, op, 4),
        "onnx.GRU" => recurrent(graph, op, 3),
        "onnx.RNN" => recurrent(graph, op, 1),
        "tf.MaxPool" | "tf.AvgPool" => windows(graph, op, "ksize"),
        "onnx.MaxPool" | "onnx.AveragePool" | "onnx.LpPool" => windows(graph, op, "kernel_shape"),
        _ if is_reduction(name) => elements(graph, op.operands.first()),
        _ => Some(results(graph, op)?.max(1)),
    }
}

/// Ops that move, choose or describe elements.
fn is_movement(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "Reshape",
        "Transpose",
        "Identity",
        "ExpandDims",
        "Squeeze",
        "Shape",
        "Rank",
        "Size",
        "ConcatV2",
        "Pack",
        "Unpack",
        "Split",
        "SplitV",
        "Slice",
        "StridedSlice",
        "GatherV2",
        "GatherNd",
        "Gather",
        "GatherElements",
        "ScatterNd",
        "ScatterElements",
        "ScatterND",
        "Pad",
        "PadV2",
        "MirrorPad",
        "Tile",
        "BroadcastTo",
        "Fill",
        "Range",
        "Cast",
        "If",
        "While",
        "OneHot",
        "ReverseV2",
        "ReverseSequence",
        "SpaceToDepth",
        "DepthToSpace",
        "EmptyTensorList",
        "TensorListPushBack",
        "TensorListStack",
        "TensorListGetItem",
        "Fail",
        "ConstantOfShape",
        "Expand",
        "Where",
        "Select",
        "SelectV2",
        "Compress",
        "NonZero",
    ];
    name == RETURN || name.split_once('.').is_some_and(|(_, name)| NAMES.contains(&name))
}

/// Ops whose work is that of their input, not of their result.
fn is_reduction(name: &str) -> bool {
    const NAMES: &[&str] = &["Sum", "Mean", "Max", "Min", "Prod", "All", "Any", "ArgMax", "ArgMin"];
    let Some((_, name)) = name.split_once('.') else { return false };
    NAMES.contains(&name) || name.starts_with("Reduce") || name.starts_with("Global")
}

fn dims(graph: &Graph, value: Option<&ValueId>) -> Option<Vec<u64>> {
    graph.tensor_type(*value?)?.static_dims()
}

fn product(dims: &[u64]) -> u64 {
    dims.iter().fold(1, |product, &dim| product.saturating_mul(dim))
}

fn elements(graph: &Graph, value: Option<&ValueId>) -> Option<u64> {
    Some(product(&dims(graph, value)?))
}

/// The elements of the first result.
fn results(graph: &Graph, op: &Operation) -> Option<u64> {
    if op.results.is_empty() { Some(0) } else { elements(graph, op.results.first()) }
}

/// A product and a sum for each of `terms` terms of each element of the result.
fn per_result(graph: &Graph, op: &Operation, terms: u64) -> Option<u64> {
    Some(results(graph, op)?.saturating_mul(terms).saturating_mul(2))
}

/// A filter is output channels, input channels of a group, and the window.
fn onnx_convolution(graph: &Graph, op: &Operation, filter: usize) -> Option<u64> {
    let filter = dims(graph, op.operands.get(filter))?;
    per_result(graph, op, product(filter.get(1..)?))
}

fn matrix_product(graph: &Graph, op: &Operation, transposed: &str) -> Option<u64> {
    let rows = dims(graph, op.operands.first())?;
    let is_transposed = op.attr(transposed).and_then(Attribute::as_bool).unwrap_or(false);
    let depth = rows.len().checked_sub(if is_transposed { 2 } else { 1 })?;
    per_result(graph, op, *rows.get(depth)?)
}

/// A product and a sum for each element of queries and keys, and for each of weights and values.
fn fused_attention(graph: &Graph, op: &Operation) -> Option<u64> {
    let last = |operand: usize, order: &str, from_end: usize| {
        let dims = dims(graph, op.operands.get(operand))?;
        let order = op.attr(order)?.as_array()?;
        let axis = order.get(order.len().checked_sub(from_end)?)?.as_int()?;
        dims.get(usize::try_from(axis).ok()?).copied()
    };
    let (depth, size) = (last(0, "query_order", 1)?, last(2, "value_order", 1)?);
    let rows = results(graph, op)?.checked_div(size)?;
    Some(product(&[2, rows, last(2, "value_order", 2)?, depth.saturating_add(size)]))
}

/// The same. Queries and the output have their rows' elements for each head.
fn onnx_attention(graph: &Graph, op: &Operation) -> Option<u64> {
    // The second result has all keys, if it is there.
    let keys = dims(graph, op.results.get(1).or(op.operands.get(1)))?;
    let key_count = *keys.get(keys.len().checked_sub(2)?)?;
    let elements = elements(graph, op.operands.first())?.saturating_add(results(graph, op)?);
    Some(product(&[2, key_count, elements]))
}

/// The product of all extents that the equation names, twice.
fn einsum(graph: &Graph, op: &Operation) -> Option<u64> {
    let equation = op.attr("equation")?.as_str()?;
    let inputs = equation.split("->").next()?;
    let mut extents = std::collections::BTreeMap::new();
    for (labels, operand) in inputs.split(',').zip(&op.operands) {
        let dims = dims(graph, Some(operand))?;
        // What an ellipsis stands for comes before the labels that follow it.
        let labels: Vec<char> = labels.chars().filter(|label| label.is_alphabetic()).collect();
        let (unnamed, named) = dims.split_at(dims.len().checked_sub(labels.len())?);
        for (place, &extent) in unnamed.iter().rev().enumerate() {
            let largest = extents.entry((None, place)).or_insert(1);
            *largest = extent.max(*largest);
        }
        for (label, &extent) in labels.into_iter().zip(named) {
            extents.insert((Some(label), 0), extent);
        }
    }
    Some(product(&extents.into_values().collect::<Vec<_>>()).saturating_mul(2))
}

/// Operands are the sequence, the weights of inputs `[directions, gates * hidden, input]`, and
/// those of the state.
fn recurrent(graph: &Graph, op: &Operation, gates: u64) -> Option<u64> {
    let sequence = dims(graph, op.operands.first())?;
    let weights = dims(graph, op.operands.get(1))?;
    let (&[first, second, input], &[directions, rows, _]) = (&sequence[..], &weights[..]) else {
        return None;
    };
    let steps = first.saturating_mul(second).saturating_mul(directions);
    Some(steps.saturating_mul(2 * rows).saturating_mul(input + rows / gates))
}

/// One operation for each element of the window of each element of the result.
fn windows(graph: &Graph, op: &Operation, attribute: &str) -> Option<u64> {
    let window = op.attr(attribute)?.as_array()?;
    let extents = window.iter().map(|extent| u64::try_from(extent.as_int()?).ok());
    Some(results(graph, op)?.saturating_mul(product(&extents.collect::<Option<Vec<_>>>()?)))
}
