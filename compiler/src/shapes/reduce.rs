//! Ops that reduce dimensions named by an argument.

use tfrt_host::DType;

use super::{Call, Function, Inferred};
use crate::TensorType;

/// The function of an op of this family.
pub(super) fn function(name: &str) -> Option<Function> {
    match name {
        "tf.Sum" | "tf.Mean" | "tf.Max" | "tf.Min" | "tf.Prod" | "tf.All" | "tf.Any" => Some(reduction),
        "tf.ArgMax" | "tf.ArgMin" => Some(extreme),
        _ => None,
    }
}

fn reduction(call: &Call<'_>) -> Inferred {
    let Some(x) = call.ty(0) else { return Ok(None) };
    let keeps = call.bool_attr("keep_dims");
    let (Some(dims), Some(axes)) = (&x.dims, call.integers(1)) else {
        // With its dimensions kept the rank is known whatever the axes are.
        let dims = x.rank().filter(|_| keeps).map(|rank| vec![None; rank]);
        return Ok(Some(vec![TensorType { dtype: x.dtype, dims }]));
    };
    let mut reduced = vec![false; dims.len()];
    for axis in axes {
        reduced[call.axis(axis, dims.len())?] = true;
    }
    let dims = dims.iter().zip(reduced).filter_map(|(&dim, reduced)| match reduced {
        true => keeps.then_some(Some(1)),
        false => Some(dim),
    });
    Ok(Some(vec![TensorType::ranked(x.dtype, dims.collect::<Vec<_>>())]))
}

fn extreme(call: &Call<'_>) -> Inferred {
    let (Some(dims), Some(axis)) = (call.dims(0), call.integer(1)) else { return Ok(None) };
    let axis = call.axis(axis, dims.len())?;
    let mut dims = dims.to_vec();
    dims.remove(axis);
    Ok(Some(vec![TensorType::ranked(call.type_attr("output_type").unwrap_or(DType::I64), dims)]))
}
