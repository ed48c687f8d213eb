//! Ops on quantized tensors: each dequantizes its inputs, computes in f32, and quantizes the
//! result.

use tfrt_host::DType;
use tfrt_ir::ValueId;

use super::{
    Family, fused,
    images::{channels_first, channels_last},
    int,
};
use crate::import::onnx::node::{Imported, Node};

pub(super) const OPS: Family = &[
    ("DequantizeLinear", |node| alike(node, "DequantizeLinear")),
    ("DynamicQuantizeLSTM", recurrent),
    ("DynamicQuantizeMatMul", dynamic_product),
    ("MatMulIntegerToFloat", product),
    ("QEmbedLayerNormalization", embed),
    ("QGemm", gemm),
    ("QLinearAdd", |node| binary(node, "tf.AddV2")),
    ("QLinearAveragePool", |node| pool(node, "AveragePool")),
    ("QLinearConcat", concat),
    ("QLinearConv", convolution),
    ("QLinearGlobalAveragePool", |node| pool(node, "GlobalAveragePool")),
    ("QLinearLeakyRelu", |node| unary(node, "LeakyRelu")),
    ("QLinearMul", |node| binary(node, "tf.Mul")),
    ("QLinearReduceMean", mean),
    ("QLinearSigmoid", |node| unary(node, "Sigmoid")),
    ("QLinearSoftmax", softmax),
    ("QLinearWhere", choice),
    ("QuantizeLinear", |node| alike(node, "QuantizeLinear")),
];

fn alike(node: &mut Node<'_, '_>, op: &str) -> Imported {
    let inputs = node.inputs.clone();
    Ok(vec![node.standard_alike(op, &inputs)?])
}

/// The numbers that the inputs at three places stand for: integers, scale and zero point.
fn dequantized(node: &mut Node<'_, '_>, [x, scale, zero]: [usize; 3]) -> Imported<ValueId> {
    let inputs = [Some(node.input(x)?), Some(node.input(scale)?), node.optional(zero)];
    Ok(node.standard("DequantizeLinear", &inputs, Vec::new(), 1)?[0])
}

/// Integers that stand for numbers. Without a zero point they are of type `ui8`.
fn quantized(node: &mut Node<'_, '_>, x: ValueId, [scale, zero]: [usize; 2]) -> Imported {
    let inputs = [Some(x), Some(node.input(scale)?), node.optional(zero)];
    node.standard("QuantizeLinear", &inputs, Vec::new(), 1)
}

fn binary(node: &mut Node<'_, '_>, op: &str) -> Imported {
    let (a, b) = (dequantized(node, [0, 1, 2])?, dequantized(node, [3, 4, 5])?);
    let y = node.op(op, &[a, b], &[])?;
    quantized(node, y, [6, 7])
}

fn choice(node: &mut Node<'_, '_>) -> Imported {
    let (a, b) = (dequantized(node, [1, 2, 3])?, dequantized(node, [4, 5, 6])?);
    let condition = node.input(0)?;
    let y = node.op("tf.SelectV2", &[condition, a, b], &[])?;
    quantized(node, y, [7, 8])
}

fn unary(node: &mut Node<'_, '_>, op: &str) -> Imported {
    let x = dequantized(node, [0, 1, 2])?;
    let y = node.standard_alike(op, &[Some(x)])?;
    quantized(node, y, [3, 4])
}

fn mean(node: &mut Node<'_, '_>) -> Imported {
    let x = dequantized(node, [0, 1, 2])?;
    let axes = node.ints("axes")?.map(|axes| node.add_integers(&axes)).transpose()?;
    let attributes = vec![int("keepdims", node.int_or("keepdims", 1)?)];
    let y = node.standard("ReduceMean", &[Some(x), axes], attributes, 1)?[0];
    quantized(node, y, [3, 4])
}

/// Over the axis alone, or over all dimensions from it on in operator sets before 13.
fn softmax(node: &mut Node<'_, '_>) -> Imported {
    let mut x = dequantized(node, [0, 1, 2])?;
    let axis = node.int_or("axis", -1)?;
    if node.int_or("opset", 13)? >= 13 {
        x = node.standard("Softmax", &[Some(x)], vec![int("axis", axis)], 1)?[0];
        return quantized(node, x, [3, 4]);
    }
    let rank = node.rank(x)?;
    let axis = node.axis(axis, rank)?;
    let shape = super::super::shape::shape_of(node, x)?;
    let flat = super::super::shape::flattened(node, x, axis)?;
    let y = node.op("tf.Softmax", &[flat], &[])?;
    let y = node.op("tf.Reshape", &[y, shape], &[])?;
    quantized(node, y, [3, 4])
}

fn pool(node: &mut Node<'_, '_>, op: &str) -> Imported {
    let mut x = dequantized(node, [0, 1, 2])?;
    let is_last = node.flag("channels_last")?;
    if is_last {
        x = channels_first(node, x)?;
    }
    let mut y = node.standard_alike(op, &[Some(x)])?;
    if is_last {
        y = channels_last(node, y)?;
    }
    quantized(node, y, [3, 4])
}

fn convolution(node: &mut Node<'_, '_>) -> Imported {
    let mut inputs = node.inputs.clone();
    if !node.flag("channels_last")? {
        return Ok(vec![node.standard_alike("QLinearConv", &inputs)?]);
    }
    inputs[0] = Some(channels_first(node, node.input(0)?)?);
    let y = node.standard_alike("QLinearConv", &inputs)?;
    Ok(vec![channels_last(node, y)?])
}

/// As `EmbedLayerNormalization`, whose tables and factors are integers with a scale and a zero
/// point.
fn embed(node: &mut Node<'_, '_>) -> Imported {
    let mut inputs: Vec<_> = (0..8).map(|index| node.optional(index)).collect();
    for index in 0..5 {
        let place = 2 + index;
        if inputs[place].is_some() {
            inputs[place] = Some(dequantized(node, [place, 8 + index, 13 + index])?);
        }
    }
    let (proto, opset) = (node.proto, node.opset);
    fused::embed(&mut Node { importer: &mut *node.importer, proto, opset, inputs })
}

/// The scale and zero point of the result come first, then those of each input behind it.
fn concat(node: &mut Node<'_, '_>) -> Imported {
    let mut parts = Vec::new();
    for first in (2..node.inputs.len()).step_by(3) {
        parts.push(Some(dequantized(node, [first, first + 1, first + 2])?));
    }
    let y = node.standard_alike("Concat", &parts)?;
    quantized(node, y, [0, 1])
}

/// The result stays in f32 where no scale is given for it.
fn gemm(node: &mut Node<'_, '_>) -> Imported {
    let a = dequantized(node, [0, 1, 2])?;
    let b = by_column(node, 3, 4, 5)?;
    let mut c = None;
    if let Some(bias) = node.optional(6) {
        // The bias is in units of the product of the scales.
        let (a_scale, b_scale) = (node.input(1)?, node.input(4)?);
        let scale = node.op("tf.Mul", &[a_scale, b_scale], &[])?;
        let bias = node.cast(bias, DType::F32)?;
        let bias = node.op("tf.Mul", &[bias, scale], &[])?;
        let alpha = node.add_number_like(bias, node.float_or("alpha", 1.0)?.into())?;
        c = Some(node.op("tf.Mul", &[bias, alpha], &[])?);
    }
    let y = node.standard_alike("Gemm", &[Some(a), Some(b), c])?;
    if node.optional(7).is_some() { quantized(node, y, [7, 8]) } else { Ok(vec![y]) }
}

/// A matrix with one scale, or with one for each of its results: columns, or rows if it is
/// transposed.
fn by_column(node: &mut Node<'_, '_>, x: usize, scale: usize, zero: usize) -> Imported<ValueId> {
    let inputs = [Some(node.input(x)?), Some(node.input(scale)?), node.optional(zero)];
    let axis = if node.flag("transB")? { 0 } else { -1 };
    Ok(node.standard("DequantizeLinear", &inputs, vec![int("axis", axis)], 1)?[0])
}

/// The product of integers as numbers: exact in integers, then scaled.
fn product(node: &mut Node<'_, '_>) -> Imported {
    let (a, b) = (node.input(0)?, node.input(1)?);
    let scales = [node.input(2)?, node.input(3)?];
    let zeros = [node.optional(4), node.optional(5)];
    let y = scaled_product(node, [a, b], scales, zeros)?;
    with_bias(node, y, 6)
}

/// Quantizes the first input by its range first.
fn dynamic_product(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let quantized = node.standard("DynamicQuantizeLinear", &[Some(x)], Vec::new(), 3)?;
    let (b, scale, zero) = (node.input(1)?, node.input(2)?, node.optional(3));
    let y = scaled_product(node, [quantized[0], b], [quantized[1], scale], [Some(quantized[2]), zero])?;
    with_bias(node, y, 4)
}

pub(super) fn scaled_product(
    node: &mut Node<'_, '_>,
    [a, b]: [ValueId; 2],
    scales: [ValueId; 2],
    zeros: [Option<ValueId>; 2],
) -> Imported<ValueId> {
    let product = node.standard("MatMulInteger", &[Some(a), Some(b), zeros[0], zeros[1]], Vec::new(), 1)?[0];
    let product = node.cast(product, DType::F32)?;
    let scale = node.op("tf.Mul", &scales, &[])?;
    node.op("tf.Mul", &[product, scale], &[])
}

fn with_bias(node: &mut Node<'_, '_>, y: ValueId, bias: usize) -> Imported {
    match node.optional(bias) {
        None => Ok(vec![y]),
        Some(bias) => Ok(vec![node.op("tf.AddV2", &[y, bias], &[])?]),
    }
}

/// An LSTM whose weights are integers. It computes in f32 instead of quantizing the inputs of each
/// step.
fn recurrent(node: &mut Node<'_, '_>) -> Imported {
    let weights = [recurrent_weights(node, [1, 8, 9])?, recurrent_weights(node, [2, 10, 11])?];
    let mut inputs = vec![Some(node.input(0)?), Some(weights[0]), Some(weights[1])];
    inputs.extend((3..8).map(|index| node.optional(index)));
    let attributes = node.proto.attribute.clone();
    node.standard("LSTM", &inputs, attributes, 3)
}

/// The weights of an LSTM as numbers: directions, columns and rows of integers, with one scale for
/// each direction, or for each row of each direction.
fn recurrent_weights(node: &mut Node<'_, '_>, [weights, scale, zero]: [usize; 3]) -> Imported<ValueId> {
    let (weights, scale) = (node.input(weights)?, node.input(scale)?);
    let mut numbers = node.cast(weights, DType::F32)?;
    if let Some(zero) = node.optional(zero) {
        let zero = node.cast(zero, DType::F32)?;
        let zero = by_direction(node, zero)?;
        numbers = node.op("tf.Sub", &[numbers, zero], &[])?;
    }
    let scale = by_direction(node, scale)?;
    let numbers = node.op("tf.Mul", &[numbers, scale], &[])?;
    node.transpose(numbers, &[0, 2, 1])
}

/// A scale for each direction, or for each row of each direction, in three dimensions.
fn by_direction(node: &mut Node<'_, '_>, mut scale: ValueId) -> Imported<ValueId> {
    for _ in node.rank(scale)?..3 {
        let axis = node.builder().add_integer(1)?;
        scale = node.op("tf.ExpandDims", &[scale, axis], &[])?;
    }
    Ok(scale)
}
