//! Ops that solve systems of equations, and inverses.

use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::{HostTensor, TensorMetadata, TensorShape};

use super::factors::{least_squares, regularized, solve, substitute};
use super::matrix::{Matrix, Scalar};
use super::{Batch, TYPES, each, flag, in_field, singular};
use crate::ops::elementwise::broadcast_shape;
use crate::ops::plain::reals;
use crate::ops::strings::broadcast_places;
use crate::ops::support::{Computed, Described, invalid, one, same, take};
use crate::{CpuCall, MetadataCall, OpRegistry, attr};

/// Two batches, broadcast together.
fn paired<S: Scalar>(a: &HostTensor, b: &HostTensor) -> Result<(Batch<S>, Batch<S>), Diagnostic> {
    let (mut a, mut b) = (Batch::square(a)?, Batch::new(b)?);
    let dims = broadcast_shape(&TensorShape::new(&a.dims)?, &TensorShape::new(&b.dims)?)?;
    for batch in [&mut a, &mut b] {
        if batch.dims != dims.dims() {
            let places = broadcast_places(&batch.dims, &dims)?;
            batch.matrices = places.into_iter().map(|place| batch.matrices[place].clone()).collect();
            batch.dims = dims.dims().to_vec();
        }
    }
    Ok((a, b))
}

/// The batch of the two first arguments together, and their extents; they must be of one type and
/// have as many rows.
fn two_matrices(
    a: &TensorMetadata,
    b: &TensorMetadata,
) -> Result<(TensorShape, [usize; 2], usize), Diagnostic> {
    let (&[ref left @ .., rows, columns], &[ref right @ .., height, width]) =
        (a.shape.dims(), b.shape.dims())
    else {
        return Err(invalid(format!("the op takes matrices, got {a} and {b}")));
    };
    if a.dtype != b.dtype || rows != height {
        return Err(invalid(format!(
            "Input matrix and right-hand side must have the same number of rows, got {a} and {b}"
        )));
    }
    let batch = broadcast_shape(&TensorShape::new(left)?, &TensorShape::new(right)?)?;
    Ok((batch, [rows, columns], width))
}

fn solve_metadata(call: MetadataCall<'_>) -> Described {
    let [a, b] = call.take()?;
    let (batch, [rows, columns], width) = two_matrices(a, b)?;
    if rows != columns {
        return Err(invalid(format!("Input matrix must be square, got {a}")));
    }
    let dims: Vec<usize> = batch.dims().iter().copied().chain([rows, width]).collect();
    one(TensorMetadata::new(a.dtype, TensorShape::new(&dims)?))
}

fn solve_each<S: Scalar>(
    call: &CpuCall<'_>,
    f: impl Fn(&Matrix<S>, &Matrix<S>) -> Option<Matrix<S>>,
) -> Computed {
    let [a, b] = take(call)?;
    let (left, right) = paired(a, b)?;
    let pairs = left.matrices.iter().zip(&right.matrices);
    let made = pairs.map(|(a, b)| f(a, b).ok_or_else(singular)).collect::<Result<Vec<_>, _>>()?;
    Ok(left.tensor(call, (left.rows, right.columns), &made)?.into())
}

fn inverse<S: Scalar>(call: &CpuCall<'_>) -> Computed {
    let is_adjoint = flag(call, "adjoint", false)?;
    each::<S>(call, |x| {
        let x = if is_adjoint { x.adjoint() } else { x.clone() };
        let identity = Matrix::identity(x.rows);
        solve(x, &identity).ok_or_else(singular)
    })
}

fn solutions<S: Scalar>(call: &CpuCall<'_>) -> Computed {
    let is_adjoint = flag(call, "adjoint", false)?;
    solve_each::<S>(call, |a, b| solve(if is_adjoint { a.adjoint() } else { a.clone() }, b))
}

fn triangular<S: Scalar>(call: &CpuCall<'_>) -> Computed {
    let (is_lower, is_adjoint) = (flag(call, "lower", true)?, flag(call, "adjoint", false)?);
    solve_each::<S>(call, |a, b| {
        if a.diagonal().any(|value| value == S::default()) {
            return None;
        }
        let mut x = b.clone();
        match is_adjoint {
            true => substitute(&a.adjoint(), &mut x, !is_lower, false),
            false => substitute(a, &mut x, is_lower, false),
        }
        Some(x)
    })
}

fn least_squares_metadata(call: MetadataCall<'_>) -> Described {
    let [a, b, l2] = call.take()?;
    let (_, [_, columns], width) = two_matrices(a, b)?;
    let batch = &a.shape.dims()[..a.shape.rank() - 2];
    if batch != &b.shape.dims()[..b.shape.rank() - 2] {
        return Err(invalid(format!("the dimensions before the matrices must be the same, got {a} and {b}")));
    }
    if l2.dtype != DType::F64 || l2.shape.rank() != 0 {
        return Err(invalid(format!("l2_regularizer must be a scalar of type f64, got {l2}")));
    }
    let dims: Vec<usize> = batch.iter().copied().chain([columns, width]).collect();
    one(TensorMetadata::new(a.dtype, TensorShape::new(&dims)?))
}

/// The relative size below which a singular value of a matrix of a type is rounding.
fn tolerance(dtype: DType, size: usize) -> f64 {
    let epsilon = match dtype {
        DType::F64 | DType::Complex128 => f64::EPSILON,
        _ => f64::from(f32::EPSILON),
    };
    epsilon * size as f64
}

fn squares<S: Scalar>(call: &CpuCall<'_>) -> Computed {
    let [a, b, l2] = take(call)?;
    let (is_fast, l2) = (flag(call, "fast", true)?, reals(l2)?.first().copied().unwrap_or(0.0));
    let (left, right) = (Batch::<S>::new(a)?, Batch::new(b)?);
    let small = tolerance(a.dtype(), left.rows.max(left.columns));
    let mut made = Vec::new();
    for (a, b) in left.matrices.iter().zip(&right.matrices) {
        made.push(match is_fast {
            true => regularized(a, b, l2)
                .ok_or_else(|| invalid("the system has no full rank, and fast is not false"))?,
            false => least_squares(a, b, small),
        });
    }
    Ok(left.tensor(call, (left.columns, right.columns), &made)?.into())
}

fn tridiagonal_metadata(call: MetadataCall<'_>) -> Described {
    let [diagonals, right] = call.take()?;
    let (&[ref outer @ .., bands, length], &[ref batch @ .., size, _]) =
        (diagonals.shape.dims(), right.shape.dims())
    else {
        return Err(invalid(format!("the op takes matrices, got {diagonals} and {right}")));
    };
    if outer != batch || (bands, length) != (3, size) || diagonals.dtype != right.dtype {
        return Err(invalid(format!(
            "diagonals must have shape [..., 3, M] for right-hand sides of shape [..., M, K], got {diagonals} \
             and {right}"
        )));
    }
    one(right.clone())
}

/// The solution of a system whose matrix has three diagonals, given as rows: above, on and below
/// the main one. Rows are exchanged with the next one, which makes one more diagonal.
fn solve_tridiagonal<S: Scalar>(bands: &Matrix<S>, b: &Matrix<S>) -> Option<Matrix<S>> {
    let (size, mut x) = (b.rows, b.clone());
    let at = |band: usize, i: usize| if i < size { bands.get(band, i) } else { S::default() };
    let mut rows: Vec<[S; 3]> = Vec::with_capacity(size);
    // What stands before the first and behind the last row is not read.
    let mut row = [at(1, 0), if size > 1 { at(0, 0) } else { S::default() }, S::default()];
    for i in 0..size {
        if i + 1 == size {
            rows.push(row);
            break;
        }
        let mut next = [at(2, i + 1), at(1, i + 1), if i + 2 < size { at(0, i + 1) } else { S::default() }];
        if next[0].size() > row[0].size() {
            std::mem::swap(&mut row, &mut next);
            x.swap_rows(i, i + 1);
        }
        if row[0] == S::default() {
            return None;
        }
        let factor = next[0].over(row[0]);
        for column in 0..x.columns {
            let rest = x.get(i + 1, column) - factor * x.get(i, column);
            *x.at(i + 1, column) = rest;
        }
        rows.push(row);
        row = [next[1] - factor * row[1], next[2] - factor * row[2], S::default()];
    }
    for (i, [own, first, second]) in rows.into_iter().enumerate().rev() {
        if own == S::default() {
            return None;
        }
        for column in 0..x.columns {
            let after = |by: usize| if i + by < size { x.get(i + by, column) } else { S::default() };
            let rest = x.get(i, column) - first * after(1) - second * after(2);
            *x.at(i, column) = rest.over(own);
        }
    }
    Some(x)
}

fn tridiagonal<S: Scalar>(call: &CpuCall<'_>) -> Computed {
    let [diagonals, right] = take(call)?;
    let (diagonals, right) = (Batch::<S>::new(diagonals)?, Batch::new(right)?);
    let pairs = diagonals.matrices.iter().zip(&right.matrices);
    let made = pairs
        .map(|(bands, b)| solve_tridiagonal(bands, b).ok_or_else(singular))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(right.tensor(call, (right.rows, right.columns), &made)?.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    let adjoint = || attr::boolean_or("adjoint", false);
    ops.add("tf.MatrixInverse").types(TYPES).attrs([adjoint()]).metadata(same).cpu(in_field!(inverse));
    ops.add("tf.MatrixSolve")
        .types(TYPES)
        .attrs([adjoint()])
        .metadata(solve_metadata)
        .cpu(in_field!(solutions));
    ops.add("tf.MatrixSolveLs")
        .types(TYPES)
        .attrs([attr::boolean_or("fast", true)])
        .metadata(least_squares_metadata)
        .cpu(in_field!(squares));
    ops.add("tf.MatrixTriangularSolve")
        .types(TYPES)
        .attrs([adjoint(), attr::boolean_or("lower", true)])
        .metadata(solve_metadata)
        .cpu(in_field!(triangular));
    ops.add("tf.TridiagonalSolve")
        .types(TYPES)
        .attrs([attr::boolean_or("partial_pivoting", true), attr::boolean_or("perturb_singular", false)])
        .metadata(tridiagonal_metadata)
        .cpu(in_field!(tridiagonal));
}
