//! Systems of equations and factorizations of matrices, for each matrix of a batch. They are
//! computed in double precision and rounded once.

mod factors;

use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::{HostTensor, TensorMetadata, TensorShape};

use self::factors::{Matrix, cholesky, complete, eigen, lu, qr, solve, square_root, substitute, svd};
use super::elementwise::broadcast_shape;
use super::plain::{of_reals, reals, results, tensor};
use super::strings::broadcast_places;
use super::support::{Computed, Described, invalid, one, product, same, take};
use super::types;
use crate::{CpuCall, MetadataCall, OpRegistry, ResultType, attr};

const FLOATS: &[DType] = types::FLOATS;

/// The matrices of a tensor, and its dimensions before the last two.
/// How many matrices without elements a batch may have.
const MAX_EMPTY_MATRICES: usize = 1 << 20;

struct Batch {
    dims: Vec<usize>,
    matrices: Vec<Matrix>,
}

impl Batch {
    fn new(tensor: &HostTensor) -> Result<Self, Diagnostic> {
        let [dims @ .., rows, columns] = tensor.shape().dims() else {
            return Err(invalid(format!(
                "Input must have rank >= 2, got a tensor of shape {}",
                tensor.shape()
            )));
        };
        let values = reals(tensor)?;
        // The product of extents overflows for tensors without elements alone.
        let count = match rows.saturating_mul(*columns) {
            0 => product(dims),
            size => values.len() / size,
        };
        if count > values.len().max(MAX_EMPTY_MATRICES) {
            return Err(invalid(format!("{count} matrices without elements are too many")));
        }
        let matrix = |number: usize| values[number * rows * columns..][..rows * columns].to_vec();
        let matrices = (0..count).map(|number| Matrix::new(*rows, *columns, matrix(number))).collect();
        Ok(Self { dims: dims.to_vec(), matrices })
    }

    fn square(tensor: &HostTensor) -> Result<Self, Diagnostic> {
        let batch = Self::new(tensor)?;
        match tensor.shape().dims() {
            [.., rows, columns] if rows == columns => Ok(batch),
            _ => {
                Err(invalid(format!("Input matrix must be square, got a tensor of shape {}", tensor.shape())))
            }
        }
    }

    /// A tensor of a matrix for each of the batch.
    fn tensor(
        &self,
        call: &CpuCall<'_>,
        rows: usize,
        columns: usize,
        of: &[Matrix],
    ) -> Result<HostTensor, Diagnostic> {
        let dims: Vec<usize> = self.dims.iter().copied().chain([rows, columns]).collect();
        let values: Vec<f64> = of.iter().flat_map(|matrix| matrix.values.iter().copied()).collect();
        of_reals(call, self.dtype(call)?, &dims, &values)
    }

    /// A tensor of a list of numbers for each of the batch, or of a number without `length`.
    fn lists(
        &self,
        call: &CpuCall<'_>,
        length: Option<usize>,
        values: &[f64],
    ) -> Result<HostTensor, Diagnostic> {
        let dims: Vec<usize> = self.dims.iter().copied().chain(length).collect();
        of_reals(call, self.dtype(call)?, &dims, values)
    }

    fn dtype(&self, call: &CpuCall<'_>) -> Result<DType, Diagnostic> {
        super::support::operand_type(call)
    }
}

fn flag(call: &CpuCall<'_>, name: &str, default: bool) -> Result<bool, Diagnostic> {
    Ok(call.attrs.optional(name)?.unwrap_or(default))
}

fn singular() -> Diagnostic {
    invalid("Input matrix is not invertible.")
}

/// A matrix of the same shape for each matrix.
fn each(call: &CpuCall<'_>, f: impl Fn(&Matrix) -> Result<Matrix, Diagnostic>) -> Computed {
    let [x] = take(call)?;
    let batch = Batch::square(x)?;
    let made = batch.matrices.iter().map(f).collect::<Result<Vec<_>, _>>()?;
    let size = x.shape().dims().last().copied().unwrap_or(0);
    Ok(results([batch.tensor(call, size, size, &made)?]))
}

/// Two batches, broadcast together.
fn paired(a: &HostTensor, b: &HostTensor) -> Result<(Batch, Batch), Diagnostic> {
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

fn solve_metadata(call: MetadataCall<'_>) -> Described {
    let [a, b] = call.take()?;
    let ([left @ .., rows, columns], [right @ .., height, width]) = (a.shape.dims(), b.shape.dims()) else {
        return Err(invalid(format!("the op takes matrices, got {a} and {b}")));
    };
    if a.dtype != b.dtype || rows != columns || rows != height {
        return Err(invalid(format!(
            "Input matrix and right-hand side must have the same number of rows, got {a} and {b}"
        )));
    }
    let batch = broadcast_shape(&TensorShape::new(left)?, &TensorShape::new(right)?)?;
    let dims: Vec<usize> = batch.dims().iter().copied().chain([*rows, *width]).collect();
    one(TensorMetadata::new(a.dtype, TensorShape::new(&dims)?))
}

fn solve_each(call: &CpuCall<'_>, f: impl Fn(&Matrix, &Matrix) -> Option<Matrix>) -> Computed {
    let [a, b] = take(call)?;
    let (left, right) = paired(a, b)?;
    let columns = b.shape().dims().last().copied().unwrap_or(0);
    let rows = a.shape().dims().last().copied().unwrap_or(0);
    let pairs = left.matrices.iter().zip(&right.matrices);
    let made = pairs.map(|(a, b)| f(a, b).ok_or_else(singular)).collect::<Result<Vec<_>, _>>()?;
    Ok(results([left.tensor(call, rows, columns, &made)?]))
}

fn triangular(call: &CpuCall<'_>) -> Computed {
    let (is_lower, is_adjoint) = (flag(call, "lower", true)?, flag(call, "adjoint", false)?);
    solve_each(call, |a, b| {
        if (0..a.rows).any(|i| a.get(i, i) == 0.0) {
            return None;
        }
        let mut x = b.clone();
        match is_adjoint {
            true => substitute(&a.transposed(), &mut x, !is_lower, false),
            false => substitute(a, &mut x, is_lower, false),
        }
        Some(x)
    })
}

fn log_determinant(call: &CpuCall<'_>) -> Computed {
    let [x] = take(call)?;
    let batch = Batch::square(x)?;
    let (mut signs, mut logs) = (Vec::new(), Vec::new());
    for matrix in &batch.matrices {
        let (factors, _, sign) = lu(matrix.clone());
        let diagonal = || (0..matrix.rows).map(|i| factors.get(i, i));
        let sign =
            diagonal().fold(sign, |sign, value| if value == 0.0 { 0.0 } else { sign * value.signum() });
        signs.push(sign);
        logs.push(diagonal().map(|value| value.abs().ln()).sum());
    }
    Ok(results([batch.lists(call, None, &signs)?, batch.lists(call, None, &logs)?]))
}

fn lu_factors(call: &CpuCall<'_>) -> Computed {
    let [x] = take(call)?;
    let batch = Batch::square(x)?;
    let size = x.shape().dims().last().copied().unwrap_or(0);
    let (mut made, mut orders) = (Vec::new(), Vec::new());
    for matrix in &batch.matrices {
        let (factors, order, _) = lu(matrix.clone());
        if (0..size).any(|i| factors.get(i, i) == 0.0) {
            return Err(singular());
        }
        made.push(factors);
        orders.extend(order);
    }
    let dims: Vec<usize> = batch.dims.iter().copied().chain([size]).collect();
    let orders = match call.attrs.optional::<DType>("output_idx_type")?.unwrap_or(DType::I32) {
        DType::I64 => tensor(call, &dims, &orders.iter().map(|&row| row as i64).collect::<Vec<_>>())?,
        _ => tensor(call, &dims, &orders.iter().map(|&row| row as i32).collect::<Vec<_>>())?,
    };
    Ok(results([batch.tensor(call, size, size, &made)?, orders]))
}

/// The first columns of a matrix.
fn columns(x: &Matrix, count: usize) -> Matrix {
    let values = (0..x.rows).flat_map(|row| (0..count).map(move |column| x.get(row, column))).collect();
    Matrix::new(x.rows, count, values)
}

fn qr_factors(call: &CpuCall<'_>) -> Computed {
    let [x] = take(call)?;
    let batch = Batch::new(x)?;
    let &[.., rows, width] = x.shape().dims() else { return Err(invalid("tf.Qr takes matrices")) };
    let kept = if flag(call, "full_matrices", false)? { rows } else { rows.min(width) };
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for matrix in &batch.matrices {
        let (q, mut r) = qr(matrix.clone());
        left.push(columns(&q, kept));
        r.values.truncate(kept * width);
        r.rows = kept;
        right.push(r);
    }
    Ok(results([batch.tensor(call, rows, kept, &left)?, batch.tensor(call, kept, width, &right)?]))
}

fn singular_values(call: &CpuCall<'_>) -> Computed {
    let [x] = take(call)?;
    let batch = Batch::new(x)?;
    let &[.., rows, width] = x.shape().dims() else { return Err(invalid("tf.Svd takes matrices")) };
    let (has_vectors, is_full) = (flag(call, "compute_uv", true)?, flag(call, "full_matrices", false)?);
    let count = rows.min(width);
    let (left_count, right_count) = if is_full { (rows, width) } else { (count, count) };
    let (mut values, mut left, mut right) = (Vec::new(), Vec::new(), Vec::new());
    for matrix in &batch.matrices {
        let (s, u, v) = svd(matrix);
        values.extend(s);
        for (vectors, all, kept) in [(u, left_count, &mut left), (v, right_count, &mut right)] {
            let mut whole = Matrix::zeros(vectors.rows, all);
            for row in 0..vectors.rows {
                (0..count).for_each(|column| *whole.at(row, column) = vectors.get(row, column));
            }
            complete(&mut whole, count);
            kept.push(whole);
        }
    }
    let values = batch.lists(call, Some(count), &values)?;
    if !has_vectors {
        let none = || of_reals(call, x.dtype(), &[], &[0.0]);
        return Ok(results([values, none()?, none()?]));
    }
    let vectors = batch.tensor(call, rows, left_count, &left)?;
    Ok(results([values, vectors, batch.tensor(call, width, right_count, &right)?]))
}

fn eigen_values(call: &CpuCall<'_>) -> Computed {
    let [x] = take(call)?;
    let batch = Batch::square(x)?;
    let size = x.shape().dims().last().copied().unwrap_or(0);
    let (mut values, mut vectors) = (Vec::new(), Vec::new());
    for matrix in &batch.matrices {
        let (own, of) = eigen(matrix);
        values.extend(own);
        vectors.push(of);
    }
    let values = batch.lists(call, Some(size), &values)?;
    match flag(call, "compute_v", true)? {
        true => Ok(results([values, batch.tensor(call, size, size, &vectors)?])),
        false => Ok(results([values, of_reals(call, x.dtype(), &[], &[0.0])?])),
    }
}

/// Systems whose matrices have three diagonals, given as rows: above, on and below the main one.
fn tridiagonal(call: &CpuCall<'_>) -> Computed {
    let [diagonals, right] = take(call)?;
    let (diagonals, right_batch) = (Batch::new(diagonals)?, Batch::new(right)?);
    let &[.., size, width] = right.shape().dims() else {
        return Err(invalid("tf.TridiagonalSolve takes matrices"));
    };
    if diagonals.dims != right_batch.dims
        || diagonals.matrices.iter().any(|m| (m.rows, m.columns) != (3, size))
    {
        return Err(invalid(
            "diagonals must have shape [..., 3, M] for right-hand sides of shape [..., M, K]",
        ));
    }
    let mut made = Vec::new();
    for (bands, b) in diagonals.matrices.iter().zip(&right_batch.matrices) {
        let mut whole = Matrix::zeros(size, size);
        for i in 0..size {
            *whole.at(i, i) = bands.get(1, i);
            if i + 1 < size {
                *whole.at(i, i + 1) = bands.get(0, i);
                *whole.at(i + 1, i) = bands.get(2, i + 1);
            }
        }
        made.push(solve(whole, b).ok_or_else(singular)?);
    }
    Ok(results([right_batch.tensor(call, size, width, &made)?]))
}

pub(super) fn register(ops: &mut OpRegistry) {
    const LIKE: ResultType = ResultType::like(0);
    let adjoint = || attr::boolean_or("adjoint", false);
    ops.add("tf.Cholesky").types(FLOATS).metadata(same).cpu(|call| {
        // As in TensorFlow, a matrix without the factor gives NaN.
        each(&call, |x| Ok(cholesky(x).unwrap_or_else(|| Matrix::not_a_number(x.rows))))
    });
    ops.add("tf.MatrixInverse").types(FLOATS).attrs([adjoint()]).metadata(same).cpu(|call| {
        let is_adjoint = flag(&call, "adjoint", false)?;
        each(&call, |x| {
            let x = if is_adjoint { x.transposed() } else { x.clone() };
            let identity = Matrix::identity(x.rows);
            solve(x, &identity).ok_or_else(singular)
        })
    });
    ops.add("tf.MatrixSquareRoot").types(FLOATS).metadata(same).cpu(|call| {
        each(&call, |x| square_root(x).ok_or_else(|| invalid("the matrix has no real square root")))
    });
    ops.add("tf.MatrixSolve").types(FLOATS).attrs([adjoint()]).metadata(solve_metadata).cpu(|call| {
        let is_adjoint = flag(&call, "adjoint", false)?;
        solve_each(&call, |a, b| solve(if is_adjoint { a.transposed() } else { a.clone() }, b))
    });
    ops.add("tf.MatrixTriangularSolve")
        .types(FLOATS)
        .attrs([adjoint(), attr::boolean_or("lower", true)])
        .metadata(solve_metadata)
        .cpu(|call| triangular(&call));
    ops.add("tf.LogMatrixDeterminant").types(FLOATS).results([LIKE, LIKE]).cpu(|call| log_determinant(&call));
    ops.add("tf.Lu")
        .types(FLOATS)
        .attrs([attr::dtype_or("output_idx_type", DType::I32)])
        .results([LIKE, ResultType::named("output_idx_type")])
        .cpu(|call| lu_factors(&call));
    ops.add("tf.Qr")
        .types(FLOATS)
        .attrs([attr::boolean_or("full_matrices", false)])
        .results([LIKE, LIKE])
        .cpu(|call| qr_factors(&call));
    ops.add("tf.Svd")
        .types(FLOATS)
        .attrs([attr::boolean_or("compute_uv", true), attr::boolean_or("full_matrices", false)])
        .results([LIKE, LIKE, LIKE])
        .cpu(|call| singular_values(&call));
    ops.add("tf.SelfAdjointEigV2")
        .types(FLOATS)
        .attrs([attr::boolean_or("compute_v", true)])
        .results([LIKE, LIKE])
        .cpu(|call| eigen_values(&call));
    ops.add("tf.TridiagonalSolve")
        .types(FLOATS)
        .attrs([attr::boolean_or("partial_pivoting", true), attr::boolean_or("perturb_singular", false)])
        .results([ResultType::like(1)])
        .cpu(|call| tridiagonal(&call));
}
