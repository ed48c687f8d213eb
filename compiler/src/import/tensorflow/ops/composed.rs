//! Ops that become several others.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::Family;
use crate::import::tensorflow::node::{Imported, Node};

pub(super) const OPS: Family = &[
    ("CheckNumerics", |node| Ok(vec![node.value(0)?.clone()])),
    ("ClipByValue", clip),
    ("Relu6Grad", super::generic),
    ("ResourceGatherNd", |node| indexed_read(node, "tf.GatherNd")),
    ("Xdivy", |node| without_zeros(node, "tf.RealDiv", None)),
    ("Xlog1py", |node| without_zeros(node, "tf.Mul", Some("tf.Log1p"))),
    ("Xlogy", |node| without_zeros(node, "tf.Mul", Some("tf.Log"))),
    ("ZerosLike", zeros_like),
    ("BatchMatMulV3", batch_mat_mul),
    ("Cross", cross),
    ("BiasAdd", bias_add),
    ("BiasAddV1", |node| {
        let operands = node.inputs_from(0)?;
        Ok(vec![node.op("tf.BiasAdd", &operands, &[])?.into()])
    }),
];

fn clip(node: &mut Node<'_, '_>) -> Imported {
    let (x, low, high) = (node.input(0)?, node.input(1)?, node.input(2)?);
    let x = node.op("tf.Minimum", &[x, high], &[])?;
    Ok(vec![node.op("tf.Maximum", &[x, low], &[])?.into()])
}

/// `x op f(y)`, and zero where x is zero.
fn without_zeros(node: &mut Node<'_, '_>, op: &str, function: Option<&str>) -> Imported {
    let (x, mut y) = (node.input(0)?, node.input(1)?);
    if let Some(function) = function {
        y = node.op(function, &[y], &[])?;
    }
    let value = node.op(op, &[x, y], &[])?;
    let zero = node.add_number_like(x, 0.0)?;
    let is_zero = node.op("tf.Equal", &[x, zero], &[])?;
    Ok(vec![node.op("tf.SelectV2", &[is_zero, zero, value], &[])?.into()])
}

/// A bias for each channel, which `NCHW` has in the second dimension.
fn bias_add(node: &mut Node<'_, '_>) -> Imported {
    if node.string("data_format")?.as_deref() != Some("NCHW") {
        return super::generic(node);
    }
    let (x, bias) = (node.input(0)?, node.input(1)?);
    let rank = node.ty(x)?.rank().filter(|&rank| rank >= 2).ok_or("the rank of the input is not known")?;
    let form = [vec![-1], vec![1; rank - 2]].concat();
    let form = node.builder().add_integers(&form)?;
    let bias = node.op("tf.Reshape", &[bias, form], &[])?;
    Ok(vec![node.op("tf.AddV2", &[x, bias], &[])?.into()])
}

/// What a variable holds at some indices.
pub(super) fn indexed_read(node: &mut Node<'_, '_>, op: &str) -> Imported {
    let (held, indices) = (node.input(0)?, node.input(1)?);
    Ok(vec![node.op(op, &[held, indices], &[])?.into()])
}

/// A list of tensors is zeroed like a tensor.
fn zeros_like(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    Ok(vec![node.op("tf.ZerosLike", &[x], &[])?.into()])
}

/// The factors may be of another type than the product.
fn batch_mat_mul(node: &mut Node<'_, '_>) -> Imported {
    let (mut x, mut y) = (node.input(0)?, node.input(1)?);
    if let Some(dtype) = node.type_attr("Tout")? {
        (x, y) = (node.builder().cast(x, dtype)?, node.builder().cast(y, dtype)?);
    }
    let mut flags = Vec::new();
    for name in ["adj_x", "adj_y"] {
        flags.push((name, Attribute::Bool(node.flag(name)?)));
    }
    Ok(vec![node.op("tf.BatchMatMulV2", &[x, y], &flags)?.into()])
}

/// The cross product of vectors of three elements.
fn cross(node: &mut Node<'_, '_>) -> Imported {
    let (a, b) = (node.input(0)?, node.input(1)?);
    let mut rolled = |value: ValueId, by: f64| -> Imported<ValueId> {
        let by = node.builder().add_number(DType::I32, by)?;
        let axis = node.builder().add_number(DType::I32, -1.0)?;
        node.op("tf.Roll", &[value, by, axis], &[])
    };
    let (a1, b2) = (rolled(a, -1.0)?, rolled(b, -2.0)?);
    let (a2, b1) = (rolled(a, -2.0)?, rolled(b, -1.0)?);
    let left = node.op("tf.Mul", &[a1, b2], &[])?;
    let right = node.op("tf.Mul", &[a2, b1], &[])?;
    Ok(vec![node.op("tf.Sub", &[left, right], &[])?.into()])
}
