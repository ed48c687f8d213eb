//! Matrix products.

use tfrt_ir::{Attribute, ValueId};

use super::Family;
use crate::import::onnx::node::{Imported, Node};

pub(super) const OPS: Family = &[("Det", det), ("Einsum", einsum), ("Gemm", gemm), ("MatMul", mat_mul)];

fn det(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    Ok(vec![node.op("onnx.Det", &[x], &[])?])
}

/// `alpha * a * b + beta * c`, with either matrix transposed if asked for.
fn gemm(node: &mut Node<'_, '_>) -> Imported {
    let (a, b) = (node.input(0)?, node.input(1)?);
    let flags = [
        ("transpose_a", Attribute::Bool(node.flag("transA")?)),
        ("transpose_b", Attribute::Bool(node.flag("transB")?)),
    ];
    let (alpha, beta) = (node.float_or("alpha", 1.0)?, node.float_or("beta", 1.0)?);
    let product = node.op("tf.MatMul", &[a, b], &flags)?;
    let product = scaled(node, product, alpha)?;
    let Some(c) = node.optional(2) else { return Ok(vec![product]) };
    let c = scaled(node, c, beta)?;
    Ok(vec![node.op("tf.AddV2", &[product, c], &[])?])
}

fn scaled(node: &mut Node<'_, '_>, value: ValueId, by: f32) -> Imported<ValueId> {
    if by == 1.0 {
        return Ok(value);
    }
    let by = node.add_number_like(value, by.into())?;
    node.op("tf.Mul", &[value, by], &[])
}

/// NumPy's `matmul`: a vector is a row on the left and a column on the right, and matrices are broadcast.
fn mat_mul(node: &mut Node<'_, '_>) -> Imported {
    let (mut a, mut b) = (node.input(0)?, node.input(1)?);
    let (rank_a, rank_b) = (node.rank(a)?, node.rank(b)?);
    let (is_row, is_column) = (rank_a == 1, rank_b == 1);
    if is_row {
        a = expand(node, a, 0)?;
    }
    if is_column {
        b = expand(node, b, 1)?;
    }
    let is_plain = rank_a.max(2) == 2 && rank_b.max(2) == 2;
    let op = if is_plain { "tf.MatMul" } else { "tf.BatchMatMulV2" };
    let mut product = node.op(op, &[a, b], &[])?;
    if is_column {
        product = node.op("tf.Squeeze", &[product], &[("squeeze_dims", super::super::node::ints(&[-1]))])?;
    }
    if is_row {
        let axis = if is_column { -1 } else { -2 };
        product =
            node.op("tf.Squeeze", &[product], &[("squeeze_dims", super::super::node::ints(&[axis]))])?;
    }
    Ok(vec![product])
}

fn expand(node: &mut Node<'_, '_>, value: ValueId, axis: i64) -> Imported<ValueId> {
    let axis = node.add_integer(axis)?;
    node.op("tf.ExpandDims", &[value, axis], &[])
}

fn einsum(node: &mut Node<'_, '_>) -> Imported {
    let inputs = node.all_inputs()?;
    let equation = node.string("equation")?.ok_or("attribute 'equation' is missing")?;
    let equation: String = equation.chars().filter(|c| !c.is_whitespace()).collect();
    let equation = if equation.contains("->") { equation } else { with_result(&equation) };
    Ok(vec![node.op("tf.Einsum", &inputs, &[("equation", Attribute::string(equation))])?])
}

/// The equation with the result that it implies: the broadcast dimensions, then the labels that stand once, in alphabetical
/// order.
fn with_result(equation: &str) -> String {
    let labels = |c: &char| c.is_alphabetic();
    let mut once: Vec<char> = equation.chars().filter(labels).collect();
    once.sort_unstable();
    let counted = once.clone();
    once.retain(|label| counted.iter().filter(|other| *other == label).count() == 1);
    let broadcast = if equation.contains("...") { "..." } else { "" };
    format!("{equation}->{broadcast}{}", once.into_iter().collect::<String>())
}
