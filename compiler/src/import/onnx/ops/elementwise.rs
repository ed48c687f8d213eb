//! Arithmetic, comparisons and logic, element by element.

use tfrt_host::DType;
use tfrt_ir::ValueId;

use super::Family;
use crate::import::onnx::node::{ImportError, Imported, Node};

pub(super) const OPS: Family = &[
    ("Abs", |node| unary(node, "tf.Abs")),
    ("Acos", |node| unary(node, "tf.Acos")),
    ("Acosh", |node| unary(node, "tf.Acosh")),
    ("Add", |node| binary(node, "tf.AddV2")),
    ("And", |node| binary(node, "tf.LogicalAnd")),
    ("Asin", |node| unary(node, "tf.Asin")),
    ("Asinh", |node| unary(node, "tf.Asinh")),
    ("Atan", |node| unary(node, "tf.Atan")),
    ("Atanh", |node| unary(node, "tf.Atanh")),
    ("BitwiseAnd", |node| binary(node, "tf.BitwiseAnd")),
    ("BitwiseNot", |node| unary(node, "tf.Invert")),
    ("BitwiseOr", |node| binary(node, "tf.BitwiseOr")),
    ("BitwiseXor", |node| binary(node, "tf.BitwiseXor")),
    ("Ceil", |node| unary(node, "tf.Ceil")),
    ("Cos", |node| unary(node, "tf.Cos")),
    ("Cosh", |node| unary(node, "tf.Cosh")),
    ("Div", divide),
    ("Equal", |node| binary(node, "tf.Equal")),
    ("Erf", |node| unary(node, "tf.Erf")),
    ("Exp", |node| unary(node, "tf.Exp")),
    ("Floor", |node| unary(node, "tf.Floor")),
    ("Greater", |node| binary(node, "tf.Greater")),
    ("GreaterOrEqual", |node| binary(node, "tf.GreaterEqual")),
    ("IsNaN", |node| unary(node, "tf.IsNan")),
    ("Less", |node| binary(node, "tf.Less")),
    ("LessOrEqual", |node| binary(node, "tf.LessEqual")),
    ("Log", |node| unary(node, "tf.Log")),
    ("Max", |node| variadic(node, "tf.Maximum")),
    ("Mean", mean),
    ("Min", |node| variadic(node, "tf.Minimum")),
    ("Mul", |node| binary(node, "tf.Mul")),
    ("Neg", |node| unary(node, "tf.Neg")),
    ("Not", |node| unary(node, "tf.LogicalNot")),
    ("Or", |node| binary(node, "tf.LogicalOr")),
    ("Pow", power),
    ("Reciprocal", |node| unary(node, "tf.Reciprocal")),
    ("Round", |node| unary(node, "tf.Round")),
    ("Sign", |node| unary(node, "tf.Sign")),
    ("Sin", |node| unary(node, "tf.Sin")),
    ("Sinh", |node| unary(node, "tf.Sinh")),
    ("Sqrt", |node| unary(node, "tf.Sqrt")),
    ("Sub", |node| binary(node, "tf.Sub")),
    ("Sum", |node| variadic(node, "tf.AddV2")),
    ("Tan", |node| unary(node, "tf.Tan")),
    ("Tanh", |node| unary(node, "tf.Tanh")),
    ("Where", select),
    ("Xor", |node| binary(node, "tf.NotEqual")),
];

/// An op of one input under its name here.
pub(super) fn unary(node: &mut Node<'_, '_>, op: &str) -> Imported {
    let x = node.input(0)?;
    Ok(vec![node.op(op, &[x], &[])?])
}

/// The two inputs, aligned as `axis` says in the first operator sets: there the second one is not
/// aligned at the end.
fn operands(node: &mut Node<'_, '_>) -> Imported<[ValueId; 2]> {
    let (x, y) = (node.input(0)?, node.input(1)?);
    if node.opset >= 7 || !node.has_attribute("axis") {
        return Ok([x, y]);
    }
    let (rank, own) = (node.rank(x)?, node.dims(y)?);
    let axis = node.axis(node.int_or("axis", 0)?, rank)?;
    let mut dims = Vec::new();
    for dim in own {
        dims.push(dim.and_then(|dim| i64::try_from(dim).ok()).unwrap_or(-1));
    }
    dims.resize(rank.saturating_sub(axis).max(dims.len()), 1);
    Ok([x, node.reshape(y, &dims)?])
}

fn binary(node: &mut Node<'_, '_>, op: &str) -> Imported {
    let operands = operands(node)?;
    Ok(vec![node.op(op, &operands, &[])?])
}

/// Integers are divided towards zero.
fn divide(node: &mut Node<'_, '_>) -> Imported {
    let [x, y] = operands(node)?;
    let is_float = matches!(node.dtype(x)?, DType::F16 | DType::BF16 | DType::F32 | DType::F64);
    let op = if is_float { "tf.RealDiv" } else { "tf.TruncateDiv" };
    Ok(vec![node.op(op, &[x, y], &[])?])
}

/// The exponents may be of another type than the bases, whose type the result has.
fn power(node: &mut Node<'_, '_>) -> Imported {
    let [x, y] = operands(node)?;
    let (base, exponent) = (node.dtype(x)?, node.dtype(y)?);
    if base == exponent {
        return Ok(vec![node.op("tf.Pow", &[x, y], &[])?]);
    }
    let is_float = |dtype| matches!(dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64);
    let common = match (is_float(base), is_float(exponent)) {
        (true, _) => base,
        (false, true) => DType::F64,
        (false, false) => DType::I64,
    };
    let (x, y) = (node.cast(x, common)?, node.cast(y, common)?);
    let power = node.op("tf.Pow", &[x, y], &[])?;
    Ok(vec![node.cast(power, base)?])
}

/// An op that takes any number of inputs, as one that takes two.
fn variadic(node: &mut Node<'_, '_>, op: &str) -> Imported {
    Ok(vec![combine(node, op)?])
}

fn combine(node: &mut Node<'_, '_>, op: &str) -> Imported<ValueId> {
    let inputs = node.all_inputs()?;
    let Some((&first, others)) = inputs.split_first() else {
        return Err(ImportError("the op has no inputs".to_owned()));
    };
    others.iter().try_fold(first, |combined, &input| node.op(op, &[combined, input], &[]))
}

fn mean(node: &mut Node<'_, '_>) -> Imported {
    let sum = combine(node, "tf.AddV2")?;
    let count = node.inputs.len() as f64;
    let count = node.add_number_like(sum, count)?;
    Ok(vec![node.op("tf.RealDiv", &[sum, count], &[])?])
}

fn select(node: &mut Node<'_, '_>) -> Imported {
    let operands = [node.input(0)?, node.input(1)?, node.input(2)?];
    Ok(vec![node.op("tf.SelectV2", &operands, &[])?])
}
