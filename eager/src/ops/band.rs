//! `tf.MatrixBandPart`: matrices of which a band around the diagonal is kept.

use std::ops::Range;

use tfrt_host::Diagnostic;
use tfrt_tensor::{Accessor, DenseHostTensor, Element, HostTensor, TensorShape, with_bits};

use super::moves::no_memory_form;
use super::support::{Computed, Described, Output, allocate, compute, integer, invalid, one, take};
use super::types;
use crate::{CpuCall, MetadataCall, OpRegistry};

static ME: Accessor = Accessor::new("tf.MatrixBandPart");

fn metadata(call: MetadataCall<'_>) -> Described {
    let [matrices, _, _] = call.take()?;
    one(matrices.clone())
}

/// How many diagonals are kept on one side of the main one, of `extent` that there may be; a
/// negative number keeps all.
fn diagonals(tensor: &HostTensor, what: &str, extent: usize) -> Result<usize, Diagnostic> {
    let given = integer(tensor, what)?;
    let Ok(kept) = usize::try_from(given) else { return Ok(usize::MAX) };
    if kept > extent {
        return Err(invalid(format!("{what} must be negative or less or equal to {extent}, got: {kept}")));
    }
    Ok(kept)
}

/// The band of matrices that is kept.
pub(super) struct Band {
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Diagonals below the main one that are kept.
    pub(super) lower: usize,
    /// Those above it.
    pub(super) upper: usize,
}

impl Band {
    pub(super) fn new(
        shape: &TensorShape,
        lower: &HostTensor,
        upper: &HostTensor,
    ) -> Result<Self, Diagnostic> {
        let [.., rows, columns] = *shape.dims() else {
            return Err(invalid(format!("input must be at least 2-dim, received shape: {shape}")));
        };
        let lower = diagonals(lower, "num_lower", rows)?;
        Ok(Self { rows, columns, lower, upper: diagonals(upper, "num_upper", columns)? })
    }

    /// Which columns of a row are in it.
    fn of_row(&self, row: usize) -> Range<usize> {
        let first = row.saturating_sub(self.lower).min(self.columns);
        first..row.saturating_add(self.upper).saturating_add(1).clamp(first, self.columns)
    }
}

fn band_part(call: CpuCall<'_>) -> Computed {
    let [matrices, lower, upper] = take(&call)?;
    let matrices = matrices.dense()?;
    let band = Band::new(matrices.shape(), lower, upper)?;
    with_bits!(
        matrices.dtype(),
        |T| banded::<T>(&call, matrices, band),
        else Err(no_memory_form(matrices.dtype()))
    )
}

fn banded<T: Element>(call: &CpuCall<'_>, matrices: &DenseHostTensor, band: Band) -> Computed {
    let columns = band.columns;
    let (x, out) = (
        matrices.as_bits().read_owned::<T>(&ME)?,
        allocate(call, matrices.dtype(), matrices.shape().dims())?,
    );
    let count = x.len().checked_div(columns).unwrap_or(0);
    compute(call, &ME, Output::Bits(out), (count, columns, columns), move |range, out: &mut [T]| {
        let x = x[range.start * columns..].chunks_exact(columns);
        for ((row, x), out) in range.zip(x).zip(out.chunks_exact_mut(columns)) {
            let kept = band.of_row(row % band.rows);
            out.fill(T::default());
            out[kept.clone()].copy_from_slice(&x[kept]);
        }
        Ok(())
    })
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.MatrixBandPart").types(types::ELEMENTS).metadata(metadata).cpu(band_part);
}
