//! Convolutions and poolings of volumes, whose channels are last, by ONNX's, whose channels are
//! first.

use tfrt_ir::{Attribute, ValueId};

use super::Family;
use crate::import::tensorflow::{
    node::{Imported, Node, ints},
    proto::Attr,
};

pub(super) const OPS: Family = &[
    ("AvgPool3D", |node| pool(node, "onnx.AveragePool")),
    ("Conv3D", convolution),
    ("MaxPool3D", |node| pool(node, "onnx.MaxPool")),
];

pub(super) const TO_FIRST: [i64; 5] = [0, 4, 1, 2, 3];
pub(super) const TO_LAST: [i64; 5] = [0, 2, 3, 4, 1];

pub(super) fn transposed(node: &mut Node<'_, '_>, value: ValueId, order: &[i64]) -> Imported<ValueId> {
    let order = node.builder().add_integers(order)?;
    node.op("tf.Transpose", &[value, order], &[])
}

/// Whether the channels are the last dimension.
pub(super) fn is_channels_last(node: &Node<'_, '_>) -> Imported<bool> {
    match node.string("data_format")?.as_deref() {
        None | Some("NDHWC") => Ok(true),
        Some("NCDHW") => Ok(false),
        Some(other) => Err(format!("data_format must be NDHWC or NCDHW, got {other}").into()),
    }
}

/// What an attribute says of the three dimensions of space.
pub(super) fn spatial(node: &Node<'_, '_>, name: &str) -> Imported<Vec<i64>> {
    let first = if is_channels_last(node)? { 1 } else { 2 };
    match node.attr(name) {
        None => Ok(vec![1; 3]),
        Some(Attr::List(list)) if list.i.len() == 5 => Ok(list.i[first..first + 3].to_vec()),
        Some(_) => Err(format!("attribute '{name}' does not have five integers").into()),
    }
}

pub(super) fn padding(node: &Node<'_, '_>) -> Imported<Attribute> {
    match node.string("padding")?.as_deref() {
        Some("SAME") => Ok(Attribute::string("SAME_UPPER")),
        Some("VALID") => Ok(Attribute::string("VALID")),
        _ => Err("attribute 'padding' is neither SAME nor VALID".into()),
    }
}

fn convolution(node: &mut Node<'_, '_>) -> Imported {
    let (mut x, filter, is_last) = (node.input(0)?, node.input(1)?, is_channels_last(node)?);
    let attributes = [
        ("auto_pad", padding(node)?),
        ("strides", ints(&spatial(node, "strides")?)),
        ("dilations", ints(&spatial(node, "dilations")?)),
    ];
    if is_last {
        x = transposed(node, x, &TO_FIRST)?;
    }
    let filter = transposed(node, filter, &[4, 3, 0, 1, 2])?;
    let y = node.op("onnx.Conv", &[x, filter], &attributes)?;
    Ok(vec![if is_last { transposed(node, y, &TO_LAST)? } else { y }.into()])
}

fn pool(node: &mut Node<'_, '_>, op: &str) -> Imported {
    let (mut x, is_last) = (node.input(0)?, is_channels_last(node)?);
    let attributes = [
        ("auto_pad", padding(node)?),
        ("kernel_shape", ints(&spatial(node, "ksize")?)),
        ("strides", ints(&spatial(node, "strides")?)),
    ];
    if is_last {
        x = transposed(node, x, &TO_FIRST)?;
    }
    let y = node.op(op, &[x], &attributes)?;
    Ok(vec![if is_last { transposed(node, y, &TO_LAST)? } else { y }.into()])
}
