//! Ops that another version of TensorFlow expresses by another op, with other inputs or attributes.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::{Family, array_states, selection::suppressed_above, tensor_arrays, tensor_lists};
use crate::import::tensorflow::{
    node::{Imported, Node, ints},
    proto::Attr,
};

pub(super) const OPS: Family = &[
    ("MaxPoolV2", max_pool),
    ("NonMaxSuppression", suppress),
    ("ScatterNdNonAliasingAdd", |node| {
        let operands = node.inputs_from(0)?;
        Ok(vec![node.op("tf.TensorScatterAdd", &operands, &[])?.into()])
    }),
    ("SparseMatMul", sparse_product),
    ("TensorArrayConcatV3", |node| {
        if node.importer.has_array_states {
            return array_states::read(node, "tfrt.ArrayConcat", 2);
        }
        let flow = node.input(1)?;
        let list = tensor_arrays::filled(node, flow)?;
        tensor_lists::joined_elements(node, list)
    }),
    ("TensorArraySplitV3", |node| array_states::apply(node, "tfrt.ArraySplit")),
    ("TensorListScatter", |node| {
        let [value, indices] = [node.input(0)?, node.input(1)?];
        let least = node.builder().add_integer(-1)?;
        tensor_lists::scattered(node, value, indices, least)
    }),
];

/// The windows and strides are inputs.
fn max_pool(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let mut attributes = node.forwarded("tf.MaxPool")?;
    for (input, name) in [(1, "ksize"), (2, "strides")] {
        let extents = node.input(input)?;
        let extents = node.integers(extents).ok_or_else(|| format!("the input '{name}' is not known"))?;
        attributes.push((name, ints(&extents)));
    }
    Ok(vec![node.op("tf.MaxPool", &[x], &attributes)?.into()])
}

/// The threshold is an attribute.
fn suppress(node: &mut Node<'_, '_>) -> Imported {
    let threshold = match node.attr("iou_threshold") {
        Some(Attr::F(threshold)) => *threshold,
        _ => 0.5,
    };
    let threshold = node.builder().add_elements::<f32>(&[], &[threshold])?;
    Ok(vec![suppressed_above(node, threshold)?.into()])
}

/// The product of matrices of which many elements are zero, in `f32`.
fn sparse_product(node: &mut Node<'_, '_>) -> Imported {
    let mut operands: Vec<ValueId> = Vec::new();
    for input in [0, 1] {
        let matrix = node.input(input)?;
        operands.push(node.builder().cast(matrix, DType::F32)?);
    }
    let attributes = [
        ("transpose_a", Attribute::Bool(node.flag("transpose_a")?)),
        ("transpose_b", Attribute::Bool(node.flag("transpose_b")?)),
    ];
    Ok(vec![node.op("tf.MatMul", &operands, &attributes)?.into()])
}
