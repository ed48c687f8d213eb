//! Inverse matrices, and distances between rows.

use tfrt_host::DType;
use tfrt_ir::Attribute;

use super::Family;
use crate::import::onnx::node::{Imported, Node};

pub(super) const OPS: Family = &[("CDist", distances), ("Inverse", inverse)];

fn inverse(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let dtype = node.dtype(x)?;
    let wide = node.cast(x, if dtype == DType::F16 { DType::F32 } else { dtype })?;
    let y = node.op("tf.MatrixInverse", &[wide], &[])?;
    Ok(vec![node.cast(y, dtype)?])
}

/// The distances between all rows of two matrices, by the products of rows.
fn distances(node: &mut Node<'_, '_>) -> Imported {
    let has_root = match node.string_or("metric", "sqeuclidean")?.as_str() {
        "euclidean" => true,
        "sqeuclidean" => false,
        other => return Err(format!("the metric '{other}' is not supported").into()),
    };
    let (a, b) = (node.input(0)?, node.input(1)?);
    let norms = [a, b].map(|x| {
        let (squares, axes) = (node.op("tf.Square", &[x], &[])?, node.add_integers(&[1])?);
        node.op("tf.Sum", &[squares, axes], &[("keep_dims", Attribute::Bool(true))])
    });
    let [a_norms, b_norms] = norms;
    let b_norms = node.transpose(b_norms?, &[1, 0])?;
    let product = node.op("tf.MatMul", &[a, b], &[("transpose_b", Attribute::Bool(true))])?;
    let (factor, zero) = (node.add_number_like(a, -2.0)?, node.add_number_like(a, 0.0)?);
    let product = node.op("tf.Mul", &[product, factor], &[])?;
    let sum = node.op("tf.AddV2", &[product, a_norms?], &[])?;
    let sum = node.op("tf.AddV2", &[sum, b_norms], &[])?;
    let squares = node.op("tf.Maximum", &[sum, zero], &[])?;
    Ok(vec![if has_root { node.op("tf.Sqrt", &[squares], &[])? } else { squares }])
}
