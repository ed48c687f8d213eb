//! Ops that factorize matrices or compute functions of them.

use smallvec::{SmallVec, smallvec};
use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::{HostTensor, TensorMetadata, TensorShape};

use super::factors::{cholesky, complete, eigen, lu, qr, svd};
use super::matrix::{Matrix, Scalar};
use super::{Batch, TYPES, by_field, complex_type, each, each_complex, flag, in_field, schur, singular};
use crate::ops::complex::C;
use crate::ops::plain::{results, tensor};
use crate::ops::support::{Computed, Described, invalid, one, same, take};
use crate::ops::types;
use crate::{CpuCall, MetadataCall, OpRegistry, ResultType, attr};

/// The only argument of an op on matrices, and its extents.
fn matrices<'a>(
    call: &MetadataCall<'a>,
) -> Result<(&'a TensorMetadata, &'a [usize], [usize; 2]), Diagnostic> {
    let [x] = call.take()?;
    let &[ref batch @ .., rows, columns] = x.shape.dims() else {
        return Err(invalid(format!("Input must have rank >= 2, got {x}")));
    };
    Ok((x, batch, [rows, columns]))
}

/// The same for an op on square matrices.
fn squares<'a>(call: &MetadataCall<'a>) -> Result<(&'a TensorMetadata, &'a [usize], usize), Diagnostic> {
    let (x, batch, [rows, columns]) = matrices(call)?;
    match rows == columns {
        true => Ok((x, batch, rows)),
        false => Err(invalid(format!("Input matrix must be square, got {x}"))),
    }
}

fn described(dtype: DType, batch: &[usize], inner: &[usize]) -> Result<TensorMetadata, Diagnostic> {
    Ok(TensorMetadata::new(dtype, TensorShape::new(&[batch, inner].concat())?))
}

/// A result that is not computed.
fn nothing(dtype: DType) -> TensorMetadata {
    TensorMetadata::new(dtype, TensorShape::scalar())
}

fn optional_flag(call: &MetadataCall<'_>, name: &str, default: bool) -> Result<bool, Diagnostic> {
    Ok(call.attrs.optional(name)?.unwrap_or(default))
}

fn factor<S: Scalar>(call: &CpuCall<'_>) -> Computed {
    // As in TensorFlow, a matrix without the factor gives NaN.
    each::<S>(call, |x| Ok(cholesky(x).unwrap_or_else(|| Matrix::not_a_number(x.rows))))
}

fn determinant_metadata(call: MetadataCall<'_>) -> Described {
    let (x, batch, _) = squares(&call)?;
    one(described(x.dtype, batch, &[])?)
}

fn determinant<S: Scalar>(call: &CpuCall<'_>) -> Computed {
    let [x] = take(call)?;
    let batch = Batch::<S>::square(x)?;
    let of = |matrix: &Matrix<S>| {
        let (factors, _, sign) = lu(matrix.clone());
        factors.diagonal().fold(S::from(sign), |product, value| product * value)
    };
    let values: Vec<S> = batch.matrices.iter().map(of).collect();
    Ok(batch.lists(call, None, &values)?.into())
}

fn log_determinant_metadata(call: MetadataCall<'_>) -> Described {
    let (x, batch, _) = squares(&call)?;
    let of = described(x.dtype, batch, &[])?;
    Ok(smallvec![of.clone(), of])
}

fn log_determinant<S: Scalar>(call: &CpuCall<'_>) -> Computed {
    let [x] = take(call)?;
    let batch = Batch::<S>::square(x)?;
    let (mut signs, mut logs) = (Vec::new(), Vec::new());
    for matrix in &batch.matrices {
        let (factors, _, sign) = lu(matrix.clone());
        let direction = |value: S| match value == S::default() {
            true => value,
            false => value.scaled(1.0 / value.size()),
        };
        signs.push(factors.diagonal().fold(S::from(sign), |sign, value| sign * direction(value)));
        logs.push(S::from(factors.diagonal().map(|value| value.size().ln()).sum::<f64>()));
    }
    Ok(results([batch.lists(call, None, &signs)?, batch.lists(call, None, &logs)?]))
}

fn lu_metadata(call: MetadataCall<'_>) -> Described {
    let (x, batch, size) = squares(&call)?;
    let dtype = call.attrs.optional("output_idx_type")?.unwrap_or(DType::I32);
    Ok(smallvec![x.clone(), described(dtype, batch, &[size])?])
}

fn lu_factors<S: Scalar>(call: &CpuCall<'_>) -> Computed {
    let [x] = take(call)?;
    let batch = Batch::<S>::square(x)?;
    let size = batch.rows;
    let (mut made, mut orders) = (Vec::new(), Vec::new());
    for matrix in &batch.matrices {
        let (factors, order, _) = lu(matrix.clone());
        if factors.diagonal().any(|value| value == S::default()) {
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
    Ok(results([batch.tensor(call, (size, size), &made)?, orders]))
}

fn qr_metadata(call: MetadataCall<'_>) -> Described {
    let (x, batch, [rows, columns]) = matrices(&call)?;
    let kept = if optional_flag(&call, "full_matrices", false)? { rows } else { rows.min(columns) };
    Ok(smallvec![described(x.dtype, batch, &[rows, kept])?, described(x.dtype, batch, &[kept, columns])?])
}

fn qr_factors<S: Scalar>(call: &CpuCall<'_>) -> Computed {
    let [x] = take(call)?;
    let batch = Batch::<S>::new(x)?;
    let (rows, columns) = (batch.rows, batch.columns);
    let kept = if flag(call, "full_matrices", false)? { rows } else { rows.min(columns) };
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for matrix in &batch.matrices {
        let (q, mut r) = qr(matrix.clone());
        left.push(q.first_columns(kept));
        r.values.truncate(kept * columns);
        r.rows = kept;
        right.push(r);
    }
    Ok(results([batch.tensor(call, (rows, kept), &left)?, batch.tensor(call, (kept, columns), &right)?]))
}

fn svd_metadata(call: MetadataCall<'_>) -> Described {
    let (x, batch, [rows, columns]) = matrices(&call)?;
    let count = rows.min(columns);
    let values = described(x.dtype, batch, &[count])?;
    if !optional_flag(&call, "compute_uv", true)? {
        return Ok(smallvec![values, nothing(x.dtype), nothing(x.dtype)]);
    }
    let is_full = optional_flag(&call, "full_matrices", false)?;
    let vectors = |length| described(x.dtype, batch, &[length, if is_full { length } else { count }]);
    Ok(smallvec![values, vectors(rows)?, vectors(columns)?])
}

fn singular_values<S: Scalar>(call: &CpuCall<'_>) -> Computed {
    let [x] = take(call)?;
    let batch = Batch::<S>::new(x)?;
    let (rows, columns) = (batch.rows, batch.columns);
    let (has_vectors, is_full) = (flag(call, "compute_uv", true)?, flag(call, "full_matrices", false)?);
    let count = rows.min(columns);
    let (left_count, right_count) = if is_full { (rows, columns) } else { (count, count) };
    let (mut values, mut left, mut right) = (Vec::new(), Vec::new(), Vec::new());
    for matrix in &batch.matrices {
        let (s, u, v) = svd(matrix);
        values.extend(s.into_iter().map(S::from));
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
        return Ok(results([values, none::<S>(call, x)?, none::<S>(call, x)?]));
    }
    let vectors = batch.tensor(call, (rows, left_count), &left)?;
    Ok(results([values, vectors, batch.tensor(call, (columns, right_count), &right)?]))
}

/// What stands for vectors that are not computed.
fn none<S: Scalar>(call: &CpuCall<'_>, x: &HostTensor) -> Result<HostTensor, Diagnostic> {
    S::write(call, x.dtype(), &[], &[S::default()])
}

/// The types of eigenvalues and eigenvectors of square matrices, which are complex or of the
/// matrices' type.
fn eigen_types(
    call: &MetadataCall<'_>,
    dtype: impl Fn(DType) -> DType,
) -> Result<SmallVec<[TensorMetadata; 2]>, Diagnostic> {
    let (x, batch, size) = squares(call)?;
    let dtype = dtype(x.dtype);
    let values = described(dtype, batch, &[size])?;
    Ok(match optional_flag(call, "compute_v", true)? {
        true => smallvec![values, described(dtype, batch, &[size, size])?],
        false => smallvec![values, nothing(dtype)],
    })
}

fn eigen_values<S: Scalar>(call: &CpuCall<'_>) -> Computed {
    let [x] = take(call)?;
    let batch = Batch::<S>::square(x)?;
    let size = batch.rows;
    let (mut values, mut vectors) = (Vec::new(), Vec::new());
    for matrix in &batch.matrices {
        let (own, of) = eigen(matrix);
        values.extend(own.into_iter().map(S::from));
        vectors.push(of);
    }
    let values = batch.lists(call, Some(size), &values)?;
    match flag(call, "compute_v", true)? {
        true => Ok(results([values, batch.tensor(call, (size, size), &vectors)?])),
        false => Ok(results([values, none::<S>(call, x)?])),
    }
}

fn general_eigen_values<S: Scalar>(call: &CpuCall<'_>) -> Computed {
    let [x] = take(call)?;
    let batch = Batch::<S>::square(x)?;
    let size = batch.rows;
    let (mut values, mut vectors) = (Vec::new(), Vec::new());
    for matrix in &batch.matrices {
        let (own, of) = schur::eigen(&matrix.to_complex())
            .ok_or_else(|| invalid("the eigenvalues of the matrix cannot be computed"))?;
        values.extend(own);
        vectors.push(of);
    }
    let values = batch.lists(call, Some(size), &values)?;
    match flag(call, "compute_v", true)? {
        true => Ok(results([values, batch.tensor(call, (size, size), &vectors)?])),
        false => Ok(results([values, C::write(call, complex_type(x.dtype()), &[], &[C::default()])?])),
    }
}

/// The principal root of a real matrix is real if no eigenvalue is a negative real number.
fn real_root(x: &Matrix<f64>) -> Option<Matrix<f64>> {
    let root = schur::square_root(&x.to_complex())?;
    let largest = root.values.iter().map(|value| value.size()).fold(0.0, f64::max);
    if root.values.iter().any(|value| value.im.abs() > 1e-6 * largest) {
        return None;
    }
    Some(Matrix::new(x.rows, x.rows, root.values.iter().map(|value| value.re).collect()))
}

pub(super) fn register(ops: &mut OpRegistry) {
    const LIKE: ResultType = ResultType::like(0);
    ops.add("tf.Cholesky").types(TYPES).metadata(same).cpu(in_field!(factor));
    ops.add("tf.MatrixDeterminant").types(TYPES).metadata(determinant_metadata).cpu(in_field!(determinant));
    ops.add("tf.LogMatrixDeterminant")
        .types(TYPES)
        .results([LIKE, LIKE])
        .metadata(log_determinant_metadata)
        .cpu(in_field!(log_determinant));
    ops.add("tf.Lu")
        .types(TYPES)
        .attrs([attr::dtype_or("output_idx_type", DType::I32)])
        .results([LIKE, ResultType::named("output_idx_type")])
        .metadata(lu_metadata)
        .cpu(in_field!(lu_factors));
    ops.add("tf.Qr")
        .types(TYPES)
        .attrs([attr::boolean_or("full_matrices", false)])
        .results([LIKE, LIKE])
        .metadata(qr_metadata)
        .cpu(in_field!(qr_factors));
    ops.add("tf.Svd")
        .types(TYPES)
        .attrs([attr::boolean_or("compute_uv", true), attr::boolean_or("full_matrices", false)])
        .results([LIKE, LIKE, LIKE])
        .metadata(svd_metadata)
        .cpu(in_field!(singular_values));
    ops.add("tf.SelfAdjointEigV2")
        .types(TYPES)
        .attrs([attr::boolean_or("compute_v", true)])
        .results([LIKE, LIKE])
        .metadata(|call| eigen_types(&call, |dtype| dtype))
        .cpu(in_field!(eigen_values));
    ops.add("tf.Eig")
        .types(TYPES)
        .attrs([attr::boolean_or("compute_v", true)])
        .metadata(|call| eigen_types(&call, complex_type))
        .cpu(in_field!(general_eigen_values));
    ops.add("tf.MatrixSquareRoot").types(TYPES).metadata(same).cpu(|call| {
        by_field(
            &call,
            |call| {
                let none = || invalid("the matrix has no real square root");
                each::<f64>(call, |x| real_root(x).ok_or_else(none))
            },
            |call| each_complex(call, schur::square_root, "square root"),
        )
    });
    ops.add("tf.MatrixLogarithm")
        .types(types::COMPLEX)
        .metadata(same)
        .cpu(|call| each_complex(&call, schur::logarithm, "logarithm"));
}
