//! Ops between matrices and the diagonals of a band.

use super::{Call, Function, Inferred};
use crate::TensorType;

/// The function of an op of this family.
pub(super) fn function(name: &str) -> Option<Function> {
    Some(match name {
        "tf.MatrixDiag" => matrix_of_diagonal,
        "tf.MatrixDiagV2" | "tf.MatrixDiagV3" => matrix_of_band,
        "tf.MatrixDiagPart" => diagonal,
        "tf.MatrixDiagPartV2" | "tf.MatrixDiagPartV3" => band,
        _ => return None,
    })
}

fn one(call: &Call<'_>, dims: Vec<Extent>) -> Inferred {
    Ok(call.dtype(0).map(|dtype| vec![TensorType::ranked(dtype, dims)]))
}

type Extent = Option<u64>;

/// Both extents of the last dimensions, and those before.
fn split_matrix(dims: &[Extent]) -> Option<(&[Extent], [Extent; 2])> {
    let (&[rows, columns], outer) = dims.split_last_chunk::<2>().map(|(outer, last)| (last, outer))?;
    Some((outer, [rows, columns]))
}

fn matrix_of_diagonal(call: &Call<'_>) -> Inferred {
    let Some(dims) = call.dims(0) else { return Ok(None) };
    one(call, dims.iter().chain(dims.last()).copied().collect())
}

fn diagonal(call: &Call<'_>) -> Inferred {
    let Some((outer, [rows, columns])) = call.dims(0).and_then(split_matrix) else { return Ok(None) };
    let length = rows.zip(columns).map(|(rows, columns)| rows.min(columns));
    one(call, [outer, &[length]].concat())
}

/// The lowest and the highest diagonal of a band, which is given as one number or as two.
fn bounds(call: &Call<'_>) -> Option<[i64; 2]> {
    match call.integers(1)?[..] {
        [only] => Some([only, only]),
        [low, high] if low <= high => Some([low, high]),
        _ => None,
    }
}

/// The diagonals of a band, one below the other unless there is only one.
fn band(call: &Call<'_>) -> Inferred {
    let Some((outer, [rows, columns])) = call.dims(0).and_then(split_matrix) else { return Ok(None) };
    let Some([low, high]) = bounds(call) else { return Ok(None) };
    // The longest diagonal is the one that is nearest to the main one.
    let length = rows.zip(columns).and_then(|(rows, columns)| {
        let below = rows.checked_sub(high.min(0).unsigned_abs())?;
        Some(below.min(columns.checked_sub(low.max(0).unsigned_abs())?))
    });
    let mut dims = outer.to_vec();
    if low < high {
        dims.push(Some(high.abs_diff(low) + 1));
    }
    dims.push(length);
    one(call, dims)
}

/// Matrices with the diagonals of a band; as small as these allow where extents are not asked for.
fn matrix_of_band(call: &Call<'_>) -> Inferred {
    let (Some(dims), Some([low, high])) = (call.dims(0), bounds(call)) else { return Ok(None) };
    let outer = dims.len().checked_sub(if low < high { 2 } else { 1 });
    let (Some(outer), Some(&length)) = (outer.and_then(|outer| dims.get(..outer)), dims.last()) else {
        return Ok(None);
    };
    let least = length.and_then(|length| {
        let rows = length.checked_add(high.min(0).unsigned_abs())?;
        Some([rows, length.checked_add(low.max(0).unsigned_abs())?])
    });
    let extents = match (call.integer(2), call.integer(3)) {
        (Some(-1), Some(-1)) => [least.map(|[rows, columns]| rows.max(columns)); 2],
        (Some(rows), Some(columns)) => {
            let given = |extent| u64::try_from(extent).ok();
            [given(rows).or(least.map(|least| least[0])), given(columns).or(least.map(|least| least[1]))]
        }
        _ => [None; 2],
    };
    one(call, [outer, &extents].concat())
}
