//! `tf.MatrixBandPart`: matrices of which a band around the diagonal is kept.

use tfrt_host::Diagnostic;
use tfrt_tensor::{Accessor, DenseHostTensor, Element, HostTensor, with_element};

use super::moves::no_memory_form;
use super::support::{Computed, Described, allocate, compute, integer, invalid, one, take};
use crate::{CpuCall, MetadataCall, OpRegistry};

static ME: Accessor = Accessor::new("tf.MatrixBandPart");

fn metadata(call: MetadataCall<'_>) -> Described {
    let [matrices, _, _] = call.take()?;
    one(matrices.clone())
}

/// How many diagonals are kept on one side of the main one, of `extent` that there may be; a negative number keeps all.
fn diagonals(tensor: &HostTensor, what: &str, extent: usize) -> Result<usize, Diagnostic> {
    let given = integer(tensor, what)?;
    let Ok(kept) = usize::try_from(given) else { return Ok(usize::MAX) };
    if kept > extent {
        return Err(invalid(format!("{what} must be negative or less or equal to {extent}, got: {kept}")));
    }
    Ok(kept)
}

fn band_part(call: CpuCall<'_>) -> Computed {
    let [matrices, lower, upper] = take(&call)?;
    let matrices = matrices.dense()?;
    let [.., rows, columns] = *matrices.shape().dims() else {
        return Err(invalid(format!("input must be at least 2-dim, received shape: {}", matrices.shape())));
    };
    let lower = diagonals(lower, "num_lower", rows)?;
    let upper = diagonals(upper, "num_upper", columns)?;
    with_element!(
        matrices.dtype(),
        |T| banded::<T>(&call, matrices, (rows, columns), (lower, upper)),
        else Err(no_memory_form(matrices.dtype()))
    )
}

fn banded<T: Element>(
    call: &CpuCall<'_>,
    matrices: &DenseHostTensor,
    (rows, columns): (usize, usize),
    (lower, upper): (usize, usize),
) -> Computed {
    let (x, out) = (matrices.read_owned::<T>(&ME)?, allocate(call, T::DTYPE, matrices.shape().dims())?);
    let count = x.len().checked_div(columns).unwrap_or(0);
    compute(call, &ME, out, (count, columns, columns), move |range, out: &mut [T]| {
        let x = x[range.start * columns..].chunks_exact(columns);
        for ((row, x), out) in range.zip(x).zip(out.chunks_exact_mut(columns)) {
            let row = row % rows;
            let first = row.saturating_sub(lower).min(columns);
            let end = row.saturating_add(upper).saturating_add(1).clamp(first, columns);
            out.fill(T::default());
            out[first..end].copy_from_slice(&x[first..end]);
        }
        Ok(())
    })
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.MatrixBandPart").metadata(metadata).cpu(band_part);
}
