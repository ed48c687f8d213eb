//! Ops whose arguments are broadcast together, element by element.

use tfrt_host::{DType, Diagnostic};

use super::{Call, Function, Inferred};
use crate::{Dims, TensorType};

/// Ops of two arguments whose result has the first one's data type.
const ARITHMETIC: &[&str] = &[
    "tf.Add",
    "tf.AddV2",
    "tf.Atan2",
    "tf.BitwiseAnd",
    "tf.BitwiseOr",
    "tf.BitwiseXor",
    "tf.Div",
    "tf.DivNoNan",
    "tf.FloorDiv",
    "tf.FloorMod",
    "tf.Igamma",
    "tf.Igammac",
    "tf.LeftShift",
    "tf.LogicalAnd",
    "tf.LogicalOr",
    "tf.Maximum",
    "tf.Minimum",
    "tf.Mod",
    "tf.Mul",
    "tf.MulNoNan",
    "tf.NextAfter",
    "tf.Polygamma",
    "tf.Pow",
    "tf.RealDiv",
    "tf.RightShift",
    "tf.SquaredDifference",
    "tf.Sub",
    "tf.TruncateDiv",
    "tf.TruncateMod",
    "tf.Xdivy",
    "tf.Xlogy",
    "tf.Zeta",
    "onnx.BitShift",
    "onnx.Mod",
    "onnx.PRelu",
];
/// Ops of two arguments whose result is a truth value.
const COMPARISONS: &[&str] =
    &["tf.Equal", "tf.Greater", "tf.GreaterEqual", "tf.Less", "tf.LessEqual", "tf.NotEqual"];

/// The function of an op of this family.
pub(super) fn function(name: &str) -> Option<Function> {
    match name {
        "tf.SelectV2" => Some(select),
        "tf.MatMul" | "tf.BatchMatMul" | "tf.BatchMatMulV2" | "tf.BatchMatMulV3" => Some(product),
        _ if ARITHMETIC.contains(&name) => Some(arithmetic),
        _ if COMPARISONS.contains(&name) => Some(comparison),
        _ => None,
    }
}

fn arithmetic(call: &Call<'_>) -> Inferred {
    let (Some(x), Some(y)) = (call.ty(0), call.ty(1)) else { return Ok(None) };
    if x.dtype != y.dtype {
        let message = format!("{}: the arguments have types {} and {}", call.name, x, y);
        return Err(Diagnostic::invalid_argument(message));
    }
    Ok(Some(vec![TensorType { dtype: x.dtype, dims: broadcast(call.name, &x.dims, &y.dims)? }]))
}

fn comparison(call: &Call<'_>) -> Inferred {
    let (Some(x), Some(y)) = (call.ty(0), call.ty(1)) else { return Ok(None) };
    if call.attrs.optional::<bool>("incompatible_shape_error").ok().flatten() == Some(false) {
        // Shapes that do not fit are unequal as a whole.
        let is_static = x.static_dims().is_some() && y.static_dims().is_some();
        let dims = broadcast(call.name, &x.dims, &y.dims).unwrap_or(Some(Vec::new()));
        return Ok(Some(vec![TensorType { dtype: DType::I1, dims: dims.filter(|_| is_static) }]));
    }
    Ok(Some(vec![TensorType { dtype: DType::I1, dims: broadcast(call.name, &x.dims, &y.dims)? }]))
}

/// A product of matrices: what stands before the matrices is broadcast.
fn product(call: &Call<'_>) -> Inferred {
    let (Some(a), Some(b), Some(dtype)) = (call.dims(0), call.dims(1), call.dtype(0)) else {
        return Ok(None);
    };
    let is_known = |dims: &[Option<u64>]| dims.iter().all(Option::is_some);
    let (Some(outer_a), Some(outer_b)) = (a.len().checked_sub(2), b.len().checked_sub(2)) else {
        return super::probe::infer(call);
    };
    let has_other_type = call.type_attr("Tout").is_some_and(|wanted| wanted != dtype);
    if has_other_type || (is_known(a) && is_known(b)) {
        return super::probe::infer(call);
    }
    let is_swapped = |names: [&str; 2]| names.iter().any(|name| call.bool_attr(name));
    let rows = if is_swapped(["adj_x", "transpose_a"]) { a[outer_a + 1] } else { a[outer_a] };
    let columns = if is_swapped(["adj_y", "transpose_b"]) { b[outer_b] } else { b[outer_b + 1] };
    let outer = broadcast(call.name, &Some(a[..outer_a].to_vec()), &Some(b[..outer_b].to_vec()))?;
    let dims = outer.map(|outer| [outer, vec![rows, columns]].concat());
    Ok(Some(vec![TensorType { dtype, dims }]))
}

fn select(call: &Call<'_>) -> Inferred {
    let (Some(c), Some(x), Some(y)) = (call.ty(0), call.ty(1), call.ty(2)) else { return Ok(None) };
    let dims = broadcast(call.name, &c.dims, &broadcast(call.name, &x.dims, &y.dims)?)?;
    Ok(Some(vec![TensorType { dtype: x.dtype, dims }]))
}

/// The shape that two shapes are broadcast to.
pub(super) fn broadcast(name: &str, x: &Dims, y: &Dims) -> Result<Dims, Diagnostic> {
    let (Some(x), Some(y)) = (x, y) else { return Ok(None) };
    let rank = x.len().max(y.len());
    let at = |dims: &[Option<u64>], index: usize| match (index + dims.len()).checked_sub(rank) {
        Some(index) => dims[index],
        None => Some(1),
    };
    let both = (0..rank).map(|index| match (at(x, index), at(y, index)) {
        (Some(1), other) | (other, Some(1)) => Ok(other),
        (Some(a), Some(b)) if a != b => Err(Diagnostic::invalid_argument(format!(
            "{name}: shapes {} and {} cannot be broadcast together",
            show(x),
            show(y)
        ))),
        // An extent that is known and not 1 is the result's, since the unknown one must be it or 1.
        (a, b) => Ok(a.or(b)),
    });
    both.collect::<Result<Vec<_>, _>>().map(Some)
}

/// A shape in a message.
pub(super) fn show(dims: &[Option<u64>]) -> String {
    let dims: Vec<_> = dims.iter().map(|dim| dim.map_or("?".to_owned(), |dim| dim.to_string())).collect();
    format!("[{}]", dims.join(", "))
}
