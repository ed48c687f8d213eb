//! Ops that reduce dimensions named by an argument, or rows that an argument puts together.

use tfrt_host::DType;

use super::{Call, Function, Inferred, extent};
use crate::TensorType;

/// The function of an op of this family.
pub(super) fn function(name: &str) -> Option<Function> {
    match name {
        "tf.Sum" | "tf.Mean" | "tf.Max" | "tf.Min" | "tf.Prod" | "tf.All" | "tf.Any" | "tf.ReduceJoin" => {
            Some(reduction)
        }
        "tf.SegmentMax" | "tf.SegmentMin" | "tf.SegmentProd" | "tf.SegmentSum" => Some(segments),
        "tf.UnsortedSegmentMax"
        | "tf.UnsortedSegmentMin"
        | "tf.UnsortedSegmentProd"
        | "tf.UnsortedSegmentSum"
        | "tf.UnsortedSegmentJoin" => Some(unsorted_segments),
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

/// As many rows as the segments' numbers say, which are not tracked.
fn segments(call: &Call<'_>) -> Inferred {
    let (Some([_, row @ ..]), Some(dtype)) = (call.dims(0), call.dtype(0)) else { return Ok(None) };
    Ok(Some(vec![TensorType::ranked(dtype, [&[None], row].concat())]))
}

/// As many segments as the third argument says, in the place of the dimensions that have a number
/// each.
fn unsorted_segments(call: &Call<'_>) -> Inferred {
    let (Some(dims), Some(numbers), Some(dtype)) = (call.dims(0), call.dims(1), call.dtype(0)) else {
        return Ok(None);
    };
    let Some(row) = dims.get(numbers.len()..) else { return Ok(None) };
    let count = call.integer(2).and_then(|count| extent(Some(count)));
    Ok(Some(vec![TensorType::ranked(dtype, [&[count], row].concat())]))
}
