//! Fourier transforms, and the windows and filters that go with them.

use tfrt_host::DType;
use tfrt_ir::Attribute;

use super::Family;
use crate::import::onnx::node::{Imported, Node, type_attribute};

pub(super) const OPS: Family = &[
    ("BlackmanWindow", |node| window(node, "onnx.BlackmanWindow")),
    ("DFT", dft),
    ("HammingWindow", |node| window(node, "onnx.HammingWindow")),
    ("HannWindow", |node| window(node, "onnx.HannWindow")),
    ("MelWeightMatrix", mel_weights),
    ("STFT", stft),
];

/// The axis is an attribute before operator set 20, and an input since.
fn dft(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let axis = if node.opset < 20 {
        let axis = node.int_or("axis", 1)?;
        Some(node.add_integer(axis)?)
    } else {
        node.optional(2)
    };
    let attributes = [
        ("inverse", Attribute::i64(node.int_or("inverse", 0)?)),
        ("onesided", Attribute::i64(node.int_or("onesided", 0)?)),
    ];
    node.onnx_ops("onnx.DFT", &[Some(x), node.optional(1), axis], &attributes, 1)
}

fn stft(node: &mut Node<'_, '_>) -> Imported {
    let operands = [Some(node.input(0)?), Some(node.input(1)?), node.optional(2), node.optional(3)];
    let onesided = Attribute::i64(node.int_or("onesided", 1)?);
    node.onnx_ops("onnx.STFT", &operands, &[("onesided", onesided)], 1)
}

/// The data type that the node asks for, `f32` by default.
fn output_type(node: &Node<'_, '_>) -> Imported<(&'static str, Attribute)> {
    let dtype = node.dtype_attribute("output_datatype")?.unwrap_or(DType::F32);
    Ok(("output_datatype", type_attribute(dtype)))
}

fn window(node: &mut Node<'_, '_>, op: &str) -> Imported {
    let size = node.input(0)?;
    let attributes = [output_type(node)?, ("periodic", Attribute::i64(node.int_or("periodic", 1)?))];
    Ok(vec![node.op(op, &[size], &attributes)?])
}

fn mel_weights(node: &mut Node<'_, '_>) -> Imported {
    let (inputs, dtype) = (node.all_inputs()?, output_type(node)?);
    Ok(vec![node.op("onnx.MelWeightMatrix", &inputs, &[dtype])?])
}
