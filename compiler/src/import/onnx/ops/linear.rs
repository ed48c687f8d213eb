//! Matrix products.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::Family;
use crate::import::onnx::node::{Imported, Node, type_attribute};

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
    let product = product(node, "tf.MatMul", [a, b], &flags)?;
    let product = scaled(node, product, alpha)?;
    let Some(c) = node.optional(2) else { return Ok(vec![product]) };
    let c = scaled(node, c, beta)?;
    Ok(vec![node.op("tf.AddV2", &[product, c], &[])?])
}

/// A product of matrices. The low bits of integers are the same with and without a sign, and only
/// signed ones have products of 32 and 64 bits.
fn product(
    node: &mut Node<'_, '_>,
    op: &str,
    factors: [ValueId; 2],
    flags: &[(&str, Attribute)],
) -> Imported<ValueId> {
    let dtype = node.dtype(factors[0])?;
    let signed = match dtype {
        DType::UI32 => DType::I32,
        DType::UI64 => DType::I64,
        _ => return node.op(op, &factors, flags),
    };
    let mut as_bits = |value: ValueId, dtype: DType| -> Imported<ValueId> {
        node.op("tf.Bitcast", &[value], &[("type", type_attribute(dtype))])
    };
    let [a, b] = factors;
    let (a, b) = (as_bits(a, signed)?, as_bits(b, signed)?);
    let result = node.op(op, &[a, b], flags)?;
    node.op("tf.Bitcast", &[result], &[("type", type_attribute(dtype))])
}

fn scaled(node: &mut Node<'_, '_>, value: ValueId, by: f32) -> Imported<ValueId> {
    if by == 1.0 {
        return Ok(value);
    }
    let by = node.add_number_like(value, by.into())?;
    node.op("tf.Mul", &[value, by], &[])
}

/// NumPy's `matmul`: a vector is a row on the left and a column on the right, and matrices are
/// broadcast.
fn mat_mul(node: &mut Node<'_, '_>) -> Imported {
    let (mut a, mut b) = (node.input(0)?, node.input(1)?);
    // Operands of unknown rank are taken for matrices: vectors are rare, and an error when the
    // program runs.
    let (rank_a, rank_b) = (node.ty(a)?.rank(), node.ty(b)?.rank());
    let (is_row, is_column) = (rank_a == Some(1), rank_b == Some(1));
    if is_row {
        a = expand(node, a, 0)?;
    }
    if is_column {
        b = expand(node, b, 1)?;
    }
    let is_plain = [rank_a, rank_b].iter().all(|rank| rank.is_some_and(|rank| rank.max(2) == 2));
    let op = if is_plain { "tf.MatMul" } else { "tf.BatchMatMulV2" };
    let mut product = product(node, op, [a, b], &[])?;
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
    let mut inputs = node.all_inputs()?;
    let equation = node.string("equation")?.ok_or("attribute 'equation' is missing")?;
    let equation: String = equation.chars().filter(|c| !c.is_whitespace()).collect();
    let mut equation = if equation.contains("->") { equation } else { with_result(&equation) };
    // TensorFlow's op takes two operands: more are combined from the left.
    while inputs.len() > 2 {
        let (first, rest) = without_first_two(&equation).ok_or("the equation has too few operands")?;
        let combined = node.op("tf.Einsum", &inputs[..2], &[("equation", Attribute::string(first))])?;
        inputs.splice(..2, [combined]);
        equation = rest;
    }
    Ok(vec![node.op("tf.Einsum", &inputs, &[("equation", Attribute::string(equation))])?])
}

/// The equation that combines the first two operands, and the one that combines their result with
/// the others.
fn without_first_two(equation: &str) -> Option<(String, String)> {
    let (operands, output) = equation.split_once("->")?;
    let mut operands = operands.splitn(3, ',');
    let (a, b, rest) = (operands.next()?, operands.next()?, operands.next()?);
    let mut kept: String =
        if a.contains("...") || b.contains("...") { "...".to_owned() } else { String::new() };
    for label in a.chars().chain(b.chars()).filter(|label| label.is_alphabetic()) {
        if !kept.contains(label) && (rest.contains(label) || output.contains(label)) {
            kept.push(label);
        }
    }
    Some((format!("{a},{b}->{kept}"), format!("{kept},{rest}->{output}")))
}

/// The equation with the result that it implies: the broadcast dimensions, then the labels that
/// stand once, in alphabetical order.
fn with_result(equation: &str) -> String {
    let labels = |c: &char| c.is_alphabetic();
    let mut once: Vec<char> = equation.chars().filter(labels).collect();
    once.sort_unstable();
    let counted = once.clone();
    once.retain(|label| counted.iter().filter(|other| *other == label).count() == 1);
    let broadcast = if equation.contains("...") { "..." } else { "" };
    format!("{equation}->{broadcast}{}", once.into_iter().collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_are_divided() {
        let divided = without_first_two("ab,bc,cd->ad").unwrap();
        assert_eq!(divided, ("ab,bc->ac".to_owned(), "ac,cd->ad".to_owned()));
        let divided = without_first_two("...ij,jk,kl,lm->...im").unwrap();
        assert_eq!(divided, ("...ij,jk->...ik".to_owned(), "...ik,kl,lm->...im".to_owned()));
        assert_eq!(without_first_two("ab,bc->ac"), None);
    }
}
