//! Quantized tensors: integers that stand for numbers by a scale and a zero point.

use tfrt_ir::Attribute;

use super::Family;
use crate::import::onnx::node::{Imported, Node, ints, type_attribute};

pub(super) const OPS: Family = &[
    ("ConvInteger", |node| convolution(node, "onnx.ConvInteger", 4)),
    ("DequantizeLinear", dequantize),
    ("DynamicQuantizeLinear", dynamic_quantize),
    ("MatMulInteger", mat_mul_integer),
    ("QLinearConv", |node| convolution(node, "onnx.QLinearConv", 9)),
    ("QLinearMatMul", quantized_mat_mul),
    ("QuantizeLinear", quantize),
];

/// The attributes that say which scale belongs to which element, and the data type of the result.
fn scaling(node: &Node<'_, '_>) -> Imported<Vec<(&'static str, Attribute)>> {
    let mut attributes = vec![
        ("axis", Attribute::i64(node.int_or("axis", 1)?)),
        ("block_size", Attribute::i64(node.int_or("block_size", 0)?)),
    ];
    // Zero stands for no data type.
    if node.int_or("output_dtype", 0)? != 0
        && let Some(dtype) = node.dtype_attribute("output_dtype")?
    {
        attributes.push(("output_dtype", type_attribute(dtype)));
    }
    Ok(attributes)
}

fn quantize(node: &mut Node<'_, '_>) -> Imported {
    let operands = [Some(node.input(0)?), Some(node.input(1)?), node.optional(2)];
    let mut attributes = scaling(node)?;
    if let Some(precision) = node.int("precision")? {
        attributes.push(("precision", Attribute::i64(precision)));
    }
    node.onnx_ops("onnx.QuantizeLinear", &operands, &attributes, 1)
}

fn dequantize(node: &mut Node<'_, '_>) -> Imported {
    let operands = [Some(node.input(0)?), Some(node.input(1)?), node.optional(2)];
    let attributes = scaling(node)?;
    node.onnx_ops("onnx.DequantizeLinear", &operands, &attributes, 1)
}

fn dynamic_quantize(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    node.ops("onnx.DynamicQuantizeLinear", &[x], &[], 3)
}

fn mat_mul_integer(node: &mut Node<'_, '_>) -> Imported {
    let operands = [Some(node.input(0)?), Some(node.input(1)?), node.optional(2), node.optional(3)];
    node.onnx_ops("onnx.MatMulInteger", &operands, &[], 1)
}

fn quantized_mat_mul(node: &mut Node<'_, '_>) -> Imported {
    let inputs = node.all_inputs()?;
    Ok(vec![node.op("onnx.QLinearMatMul", &inputs, &[])?])
}

/// A convolution of up to `count` inputs, the last of which may be absent.
fn convolution(node: &mut Node<'_, '_>, op: &str, count: usize) -> Imported {
    let operands: Vec<_> = (0..count).map(|index| node.optional(index)).collect();
    let mut attributes = Vec::new();
    for name in ["dilations", "kernel_shape", "pads", "strides"] {
        attributes.extend(node.ints(name)?.map(|values| (name, ints(&values))));
    }
    attributes.push(("auto_pad", Attribute::string(node.string_or("auto_pad", "NOTSET")?)));
    attributes.push(("group", Attribute::i64(node.int_or("group", 1)?)));
    node.onnx_ops(op, &operands, &attributes, 1)
}
