//! Ops that order elements or combine them one after the other.

use tfrt_host::DType;
use tfrt_ir::Attribute;

use super::Family;
use crate::import::onnx::node::{Imported, Node, type_attribute};

pub(super) const OPS: Family = &[
    ("CumProd", |node| cumulate(node, "tf.Cumprod")),
    ("CumSum", |node| cumulate(node, "tf.Cumsum")),
    ("TopK", top_k),
];

fn cumulate(node: &mut Node<'_, '_>, op: &str) -> Imported {
    let (x, axis) = (node.input(0)?, node.input(1)?);
    let axis = node.reshape(axis, &[])?;
    let attributes = [
        ("exclusive", Attribute::Bool(node.flag("exclusive")?)),
        ("reverse", Attribute::Bool(node.flag("reverse")?)),
    ];
    Ok(vec![node.op(op, &[x, axis], &attributes)?])
}

/// The count is an attribute before operator set 10, and an input since.
fn top_k(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let k = if node.opset < 10 {
        let k = node.int("k")?.ok_or("attribute 'k' is missing")?;
        node.add_integer(k)?
    } else {
        let k = node.input(1)?;
        node.reshape(k, &[])?
    };
    let (axis, is_largest) = (node.int_or("axis", -1)?, node.int_or("largest", 1)? != 0);
    let is_sorted = node.int_or("sorted", 1)? != 0;
    let is_last = axis == -1 || node.ty(x)?.rank().is_some_and(|rank| axis + 1 == rank as i64);
    if is_last && is_largest {
        let attributes = [("sorted", Attribute::Bool(is_sorted)), ("index_type", type_attribute(DType::I64))];
        return node.ops("tf.TopKV2", &[x, k], &attributes, 2);
    }
    let attributes = [
        ("axis", Attribute::i64(axis)),
        ("largest", Attribute::i64(is_largest.into())),
        ("sorted", Attribute::i64(is_sorted.into())),
    ];
    node.ops("onnx.TopK", &[x, k], &attributes, 2)
}
