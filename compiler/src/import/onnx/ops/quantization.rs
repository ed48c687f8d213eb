//! Quantized tensors: integers that stand for numbers by a scale and a zero point.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::Family;
use crate::import::onnx::{
    narrow::Narrow,
    node::{Imported, Node, ints, type_attribute},
};

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

/// Numbers of a narrow type are those of the type that holds them, within narrower bounds or
/// rounded.
fn quantize(node: &mut Node<'_, '_>) -> Imported {
    let narrow = match node.optional(2).and_then(|zero| node.narrow(zero)) {
        Some(narrow) => Some(narrow),
        None => node.narrow_attribute("output_dtype")?,
    };
    match narrow {
        None => quantize_whole(node),
        Some(narrow) if narrow.is_float() => {
            let (x, scale) = (node.input(0)?, scale_of_elements(node)?);
            let scale = node.cast(scale, node.dtype(x)?)?;
            let quotient = node.op("tf.RealDiv", &[x, scale], &[])?;
            Ok(vec![node.cast_narrow(quotient, narrow)?])
        }
        Some(narrow) => {
            let mut y = quantize_whole(node)?[0];
            let (least, greatest) = narrow.bounds();
            for (op, bound) in [("tf.Maximum", least), ("tf.Minimum", greatest)] {
                let bound = node.add_number_like(y, bound)?;
                y = node.op(op, &[y, bound], &[])?;
            }
            node.set_narrow(y, narrow);
            Ok(vec![y])
        }
    }
}

/// The scale of each element, in a shape that is broadcast to that of the input: along `axis` there
/// is a scale for each place or for each block of places, or one for all.
fn scale_of_elements(node: &mut Node<'_, '_>) -> Imported<ValueId> {
    let (x, scale) = (node.input(0)?, node.input(1)?);
    let own = node.rank(scale)?;
    if own == 0 || (own == 1 && node.dims(scale)?[0] == Some(1)) {
        return node.reshape(scale, &[]);
    }
    let rank = node.rank(x)?;
    let axis = node.axis(node.int_or("axis", 1)?, rank)?;
    let block = node.int_or("block_size", 0)?;
    if block <= 0 {
        let mut dims = vec![1; rank];
        dims[axis] = -1;
        return node.reshape(scale, &dims);
    }
    let extent = super::dims::known_extent(node, x, axis, "the extent along 'axis'")?;
    let blocks: Vec<i64> = (0..extent).map(|place| place / block).collect();
    let (blocks, axis) = (node.add_integers(&blocks)?, node.add_integer(axis as i64)?);
    node.op("tf.GatherV2", &[scale, blocks, axis], &[])
}

fn quantize_whole(node: &mut Node<'_, '_>) -> Imported {
    let operands = [Some(node.input(0)?), Some(node.input(1)?), node.optional(2)];
    let mut attributes = scaling(node)?;
    if let Some(precision) = node.int("precision")? {
        attributes.push(("precision", Attribute::i64(precision)));
    }
    node.onnx_ops("onnx.QuantizeLinear", &operands, &attributes, 1)
}

fn dequantize(node: &mut Node<'_, '_>) -> Imported {
    if node.narrow(node.input(0)?).is_some_and(Narrow::is_float) {
        // Zero points of floating-point numbers are zero.
        let (x, scale) = (node.input(0)?, scale_of_elements(node)?);
        let dtype = match node.int_or("output_dtype", 0)? {
            0 => node.dtype(scale)?,
            _ => node.dtype_attribute("output_dtype")?.ok_or("attribute 'output_dtype' is missing")?,
        };
        let scale = node.cast(scale, DType::F32)?;
        let product = node.op("tf.Mul", &[x, scale], &[])?;
        return Ok(vec![node.cast(product, dtype)?]);
    }
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
