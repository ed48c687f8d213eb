//! Matrices from diagonals, diagonals of matrices, and matrices with other diagonals:
//! `tf.MatrixDiag`, `tf.MatrixDiagPart` and `tf.MatrixSetDiag`, in all their versions.
//!
//! Neighbouring diagonals are the rows of one tensor, the uppermost first. They are as long as the
//! longest of them, so that shorter ones have padding, on the side that an attribute says.

use tfrt_host::Diagnostic;
use tfrt_tensor::{Accessor, DenseHostTensor, Element, HostTensor, TensorMetadata, with_bits};

use super::moves::no_memory_form;
use super::support::{
    Computed, Described, Output, allocate, compute, integer, integers, invalid, one, take, value,
};
use super::types;
use crate::{CpuCall, MetadataCall, OpAttrs, OpRegistry, attr};

static ME: Accessor = Accessor::new("tf op of diagonals");

/// On which sides diagonals of less than the full length begin: whether those above the main one,
/// and those below it, do so at the left.
#[derive(Clone, Copy)]
pub(super) struct Alignment {
    pub(super) above: bool,
    pub(super) below: bool,
}

impl Alignment {
    /// That of ops which have no attribute for it.
    pub(super) const LEFT: Self = Self { above: true, below: true };

    pub(super) fn of(attrs: &OpAttrs) -> Result<Self, Diagnostic> {
        let (above, below) = match attrs.optional("align")? {
            None | Some("RIGHT_LEFT") => (false, true),
            Some("LEFT_RIGHT") => (true, false),
            Some("LEFT_LEFT") => (true, true),
            Some("RIGHT_RIGHT") => (false, false),
            Some(other) => return Err(invalid(format!("Unknown align: {other}"))),
        };
        Ok(Self { above, below })
    }
}

/// The lowest and the highest of some neighbouring diagonals: how far right of the main one they
/// are.
pub(super) fn bounds(k: &HostTensor) -> Result<[i64; 2], Diagnostic> {
    let [lower, upper] = match (k.shape().rank(), &integers(k, "k")?[..]) {
        (0 | 1, &[only]) => [only; 2],
        (1, &[lower, upper]) => [lower, upper],
        _ => return Err(invalid(format!("k must be a scalar or a vector of two, got shape {}", k.shape()))),
    };
    if lower > upper {
        return Err(invalid(format!("lower diagonal {lower} is above upper diagonal {upper}")));
    }
    let fits = |bound: i64| i32::try_from(bound).is_ok();
    if fits(lower) && fits(upper) { Ok([lower, upper]) } else { Err(invalid("k is out of bounds")) }
}

/// Neighbouring diagonals of matrices of one size.
#[derive(Clone, Copy)]
pub(super) struct Diagonals {
    lower: i64,
    pub(super) upper: i64,
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// How long the longest is.
    pub(super) longest: usize,
    pub(super) alignment: Alignment,
}

impl Diagonals {
    /// Those of new matrices that are as large as is wanted, from the extents of their tensor; and
    /// the extents of the matrices.
    pub(super) fn of_new(
        dims: &[usize],
        (k, wanted, alignment): ([i64; 2], [i64; 2], Alignment),
    ) -> Result<(Self, Vec<usize>), Diagnostic> {
        let count = k[1] - k[0] + 1;
        let (batch, longest) = match *dims {
            [ref batch @ .., longest] if count == 1 => (batch, longest),
            [ref batch @ .., rows, longest] if rows as i64 == count => (batch, longest),
            _ => return Err(invalid(format!("a tensor of {dims:?} has no {count} diagonals"))),
        };
        let [rows, columns] = size(k, longest, wanted)?;
        let diagonals = Self { lower: k[0], upper: k[1], rows, columns, longest, alignment };
        Ok((diagonals, [batch, &[rows, columns]].concat()))
    }

    /// Those of matrices that are there, which others replace.
    pub(super) fn replaced(
        matrices: &TensorMetadata,
        by: &TensorMetadata,
        (k, alignment): ([i64; 2], Alignment),
    ) -> Result<Self, Diagnostic> {
        let dims = matrices.shape.dims();
        let diagonals = Self::within(dims, k, alignment)?;
        let expected = diagonals.dims(&dims[..dims.len() - 2]);
        if by.shape.dims() != expected || by.dtype != matrices.dtype {
            let dtype = matrices.dtype;
            return Err(invalid(format!("the diagonals must be {expected:?} of {dtype}, got {by}")));
        }
        Ok(diagonals)
    }

    /// Those of matrices that are there.
    pub(super) fn within(
        dims: &[usize],
        [lower, upper]: [i64; 2],
        alignment: Alignment,
    ) -> Result<Self, Diagnostic> {
        let &[.., rows, columns] = dims else {
            return Err(invalid(format!("input must be at least 2-dim, received shape: {dims:?}")));
        };
        for bound in [lower, upper] {
            if bound != 0 && (bound <= -(rows as i64) || bound >= columns as i64) {
                return Err(invalid(format!("no diagonal {bound} in matrices of {rows} x {columns}")));
            }
        }
        let mut this = Self { lower, upper, rows, columns, longest: 0, alignment };
        this.longest = this.length(upper.min(0).max(lower)).max(this.length(lower.max(0).min(upper)));
        Ok(this)
    }

    /// How many they are.
    pub(super) fn count(&self) -> usize {
        (self.upper - self.lower + 1) as usize
    }

    /// The extents of a tensor of them, for each matrix of a batch.
    pub(super) fn dims(&self, batch: &[usize]) -> Vec<usize> {
        let own = [self.count(), self.longest];
        [batch, if self.count() == 1 { &own[1..] } else { &own }].concat()
    }

    /// How many elements diagonal `k` has.
    fn length(&self, k: i64) -> usize {
        let [above, below] = [k.max(0), -k.min(0)].map(|beside| beside as usize);
        self.rows.saturating_sub(below).min(self.columns.saturating_sub(above))
    }

    /// How much padding precedes diagonal `k`.
    fn padding(&self, k: i64) -> usize {
        let is_left = (k >= 0 && self.alignment.above) || (k <= 0 && self.alignment.below);
        if is_left { 0 } else { self.longest - self.length(k) }
    }

    /// The columns of a row in which there is an element of theirs.
    fn columns_of(&self, row: usize) -> std::ops::Range<usize> {
        let column = |k: i64| usize::try_from(row as i64 + k).unwrap_or(0).min(self.columns);
        column(self.lower)..column(self.upper + 1)
    }

    /// Where the element of a row and column is among those of one matrix.
    fn place(&self, row: usize, column: usize) -> usize {
        let k = column as i64 - row as i64;
        (self.upper - k) as usize * self.longest + self.padding(k) + row.min(column)
    }
}

/// Matrices whose diagonals are those of `diagonal`; what else they hold is a value's, or another
/// tensor's.
fn filled<T: Element>(
    call: &CpuCall<'_>,
    diagonals: Diagonals,
    diagonal: &DenseHostTensor,
    dims: &[usize],
    around: Around<'_, T>,
) -> Computed {
    let out = allocate(call, diagonal.dtype(), dims)?;
    let Diagonals { rows, columns, longest, .. } = diagonals;
    let count = out.num_elements().checked_div(columns).unwrap_or(0);
    let (x, each) = (diagonal.as_bits().read_owned::<T>(&ME)?, diagonals.count().saturating_mul(longest));
    let (value, matrices) = match around {
        Around::Value(value) => (value, None),
        Around::Matrices(matrices) => {
            (T::default(), Some(matrices.as_bits_of(diagonal.dtype())?.read_owned::<T>(&ME)?))
        }
    };
    compute(call, &ME, Output::Bits(out), (count, columns, columns), move |range, out: &mut [T]| {
        for (at, out) in range.zip(out.chunks_exact_mut(columns)) {
            match &matrices {
                Some(matrices) => out.copy_from_slice(&matrices[at * columns..][..columns]),
                None => out.fill(value),
            }
            let (matrix, row) = (at / rows * each, at % rows);
            for column in diagonals.columns_of(row) {
                out[column] = x[matrix + diagonals.place(row, column)];
            }
        }
        Ok(())
    })
}

/// What matrices hold beside their diagonals.
enum Around<'t, T> {
    Value(T),
    Matrices(&'t DenseHostTensor),
}

/// The size of matrices of diagonals between two bounds, the longest of which is so long. What
/// `wanted` leaves open is as small as may be, and both are the same if it says nothing.
fn size([lower, upper]: [i64; 2], longest: usize, wanted: [i64; 2]) -> Result<[usize; 2], Diagnostic> {
    let below = |bound: i64| i64::try_from(longest).ok()?.checked_add(bound);
    let (Some(rows), Some(columns)) = (below(-upper.min(0)), below(lower.max(0))) else {
        return Err(invalid(format!("diagonals of {longest} elements are too long")));
    };
    let least = [rows, columns];
    let [rows, columns] = match wanted {
        [-1, -1] => [least[0].max(least[1]); 2],
        [-1, columns] => [least[0], columns],
        [rows, -1] => [rows, least[1]],
        both => both,
    };
    if rows < least[0] || columns < least[1] {
        return Err(invalid(format!("matrices of {rows} x {columns} are too small for their diagonals")));
    }
    if rows != least[0] && columns != least[1] {
        return Err(invalid(format!("matrices of {rows} x {columns} have longer diagonals")));
    }
    Ok([rows as usize, columns as usize])
}

/// Matrices of the diagonals in the first argument.
fn diag(
    call: &CpuCall<'_>,
    diagonal: &HostTensor,
    how: ([i64; 2], [i64; 2], Alignment),
    padding: Option<&HostTensor>,
) -> Computed {
    let diagonal = diagonal.dense()?;
    let (diagonals, dims) = Diagonals::of_new(diagonal.shape().dims(), how)?;
    let padding = padding.map(|padding| padding.as_bits_of(diagonal.dtype())).transpose()?;
    with_bits!(
        diagonal.dtype(),
        |T| {
            let padding = padding.as_ref().map_or(Ok(T::default()), |padding| value::<T>(padding, "padding_value"))?;
            filled::<T>(call, diagonals, diagonal, &dims, Around::Value(padding))
        },
        else Err(no_memory_form(diagonal.dtype()))
    )
}

fn diag_of_band(call: &CpuCall<'_>, alignment: Alignment) -> Computed {
    let [diagonal, k, rows, columns, padding] = take(call)?;
    let wanted = [integer(rows, "num_rows")?, integer(columns, "num_cols")?];
    diag(call, diagonal, (bounds(k)?, wanted, alignment), Some(padding))
}

/// Diagonals of matrices.
fn diag_part(
    call: &CpuCall<'_>,
    matrices: &HostTensor,
    (k, alignment): ([i64; 2], Alignment),
    padding: Option<&HostTensor>,
) -> Computed {
    let matrices = matrices.dense()?;
    let diagonals = Diagonals::within(matrices.shape().dims(), k, alignment)?;
    let padding = padding.map(|padding| padding.as_bits_of(matrices.dtype())).transpose()?;
    with_bits!(
        matrices.dtype(),
        |T| {
            let padding = padding.as_ref().map_or(Ok(T::default()), |padding| value::<T>(padding, "padding_value"))?;
            parts::<T>(call, diagonals, matrices, padding)
        },
        else Err(no_memory_form(matrices.dtype()))
    )
}

fn parts<T: Element>(
    call: &CpuCall<'_>,
    diagonals: Diagonals,
    matrices: &DenseHostTensor,
    padding: T,
) -> Computed {
    let dims = matrices.shape().dims();
    let out = allocate(call, matrices.dtype(), &diagonals.dims(&dims[..dims.len() - 2]))?;
    let Diagonals { rows, columns, longest, .. } = diagonals;
    let (x, each) = (matrices.as_bits().read_owned::<T>(&ME)?, diagonals.count());
    let count = out.num_elements().checked_div(longest).unwrap_or(0);
    compute(call, &ME, Output::Bits(out), (count, longest, longest), move |range, out: &mut [T]| {
        for (at, out) in range.zip(out.chunks_exact_mut(longest)) {
            let k = diagonals.upper - (at % each) as i64;
            let [row, column] = [-k.min(0), k.max(0)].map(|beside| beside as usize);
            let first = at / each * rows * columns + row * columns + column;
            let (before, length) = (diagonals.padding(k), diagonals.length(k));
            out.fill(padding);
            for (i, out) in out[before..before + length].iter_mut().enumerate() {
                *out = x[first + i * (columns + 1)];
            }
        }
        Ok(())
    })
}

fn diag_part_of_band(call: &CpuCall<'_>, alignment: Alignment) -> Computed {
    let [matrices, k, padding] = take(call)?;
    diag_part(call, matrices, (bounds(k)?, alignment), Some(padding))
}

/// Matrices with other diagonals.
fn set_diag(
    call: &CpuCall<'_>,
    [matrices, diagonal]: [&HostTensor; 2],
    how: ([i64; 2], Alignment),
) -> Computed {
    let (matrices, diagonal) = (matrices.dense()?, diagonal.dense()?);
    let diagonals = Diagonals::replaced(matrices.metadata(), diagonal.metadata(), how)?;
    let dims = matrices.shape().dims();
    with_bits!(
        matrices.dtype(),
        |T| filled::<T>(call, diagonals, diagonal, dims, Around::Matrices(matrices)),
        else Err(no_memory_form(matrices.dtype()))
    )
}

fn set_diag_of_band(call: &CpuCall<'_>, alignment: Alignment) -> Computed {
    let [matrices, diagonal, k] = take(call)?;
    set_diag(call, [matrices, diagonal], (bounds(k)?, alignment))
}

/// The metadata of the first argument.
fn first(call: MetadataCall<'_>) -> Described {
    let first = call.arguments.first().ok_or_else(|| invalid("the op takes an argument, got none"))?;
    one((*first).clone())
}

pub(super) fn register(ops: &mut OpRegistry) {
    const MAIN: ([i64; 2], Alignment) = ([0; 2], Alignment::LEFT);
    ops.add("tf.MatrixDiag").types(types::ELEMENTS).cpu(|call| {
        let [diagonal] = take(&call)?;
        diag(&call, diagonal, (MAIN.0, [-1; 2], MAIN.1), None)
    });
    ops.add("tf.MatrixDiagPart").types(types::ELEMENTS).cpu(|call| {
        let [matrices] = take(&call)?;
        diag_part(&call, matrices, MAIN, None)
    });
    ops.add("tf.MatrixSetDiag")
        .types(types::ELEMENTS)
        .metadata(first)
        .cpu(|call| set_diag(&call, take(&call)?, MAIN));
    ops.add("tf.MatrixDiagV2").types(types::ELEMENTS).cpu(|call| diag_of_band(&call, Alignment::LEFT));
    ops.add("tf.MatrixDiagPartV2")
        .types(types::ELEMENTS)
        .cpu(|call| diag_part_of_band(&call, Alignment::LEFT));
    ops.add("tf.MatrixSetDiagV2")
        .types(types::ELEMENTS)
        .metadata(first)
        .cpu(|call| set_diag_of_band(&call, Alignment::LEFT));
    ops.add("tf.MatrixDiagV3")
        .types(types::ELEMENTS)
        .attrs([attr::string_or("align", "RIGHT_LEFT")])
        .cpu(|call| diag_of_band(&call, Alignment::of(call.attrs)?));
    ops.add("tf.MatrixDiagPartV3")
        .types(types::ELEMENTS)
        .attrs([attr::string_or("align", "RIGHT_LEFT")])
        .cpu(|call| diag_part_of_band(&call, Alignment::of(call.attrs)?));
    ops.add("tf.MatrixSetDiagV3")
        .types(types::ELEMENTS)
        .attrs([attr::string_or("align", "RIGHT_LEFT")])
        .metadata(first)
        .cpu(|call| set_diag_of_band(&call, Alignment::of(call.attrs)?));
}
