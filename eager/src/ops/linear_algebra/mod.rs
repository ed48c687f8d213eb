//! Systems of equations and factorizations of matrices, for each matrix of a batch. They are
//! computed in double precision and rounded once.

mod equations;
mod factors;
mod matrix;
mod results;
mod schur;

use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::HostTensor;

use self::matrix::{Matrix, Scalar};
use super::complex::C;
use super::support::{Computed, invalid, is_complex, operand_type, product, take};
use super::types;
use crate::{CpuCall, OpRegistry};

const TYPES: &[DType] = types::FRACTIONS;

/// How many matrices without elements a batch may have.
const MAX_EMPTY_MATRICES: usize = 1 << 20;

/// The matrices of a tensor, and its dimensions before the last two.
struct Batch<S> {
    dims: Vec<usize>,
    rows: usize,
    columns: usize,
    matrices: Vec<Matrix<S>>,
}

impl<S: Scalar> Batch<S> {
    fn new(tensor: &HostTensor) -> Result<Self, Diagnostic> {
        let &[ref dims @ .., rows, columns] = tensor.shape().dims() else {
            return Err(invalid(format!(
                "Input must have rank >= 2, got a tensor of shape {}",
                tensor.shape()
            )));
        };
        let values = S::read(tensor)?;
        // The product of extents overflows for tensors without elements alone.
        let count = match rows.saturating_mul(columns) {
            0 => product(dims),
            size => values.len() / size,
        };
        if count > values.len().max(MAX_EMPTY_MATRICES) {
            return Err(invalid(format!("{count} matrices without elements are too many")));
        }
        let matrix = |number: usize| values[number * rows * columns..][..rows * columns].to_vec();
        let matrices = (0..count).map(|number| Matrix::new(rows, columns, matrix(number))).collect();
        Ok(Self { dims: dims.to_vec(), rows, columns, matrices })
    }

    fn square(tensor: &HostTensor) -> Result<Self, Diagnostic> {
        let batch = Self::new(tensor)?;
        if batch.rows != batch.columns {
            let shape = tensor.shape();
            return Err(invalid(format!("Input matrix must be square, got a tensor of shape {shape}")));
        }
        Ok(batch)
    }

    /// A tensor of a matrix of the same size for each of the batch.
    fn tensor<R: Scalar>(
        &self,
        call: &CpuCall<'_>,
        (rows, columns): (usize, usize),
        matrices: &[Matrix<R>],
    ) -> Result<HostTensor, Diagnostic> {
        let dims: Vec<usize> = self.dims.iter().copied().chain([rows, columns]).collect();
        let values: Vec<R> = matrices.iter().flat_map(|matrix| matrix.values.iter().copied()).collect();
        R::write(call, result_type::<R>(call)?, &dims, &values)
    }

    /// A tensor of a list of numbers for each of the batch, or of a number without `length`.
    fn lists<R: Scalar>(
        &self,
        call: &CpuCall<'_>,
        length: Option<usize>,
        values: &[R],
    ) -> Result<HostTensor, Diagnostic> {
        let dims: Vec<usize> = self.dims.iter().copied().chain(length).collect();
        R::write(call, result_type::<R>(call)?, &dims, values)
    }
}

/// The type of a result, which is that of the first argument, or the complex numbers among which
/// its numbers are.
fn result_type<R: Scalar>(call: &CpuCall<'_>) -> Result<DType, Diagnostic> {
    let dtype = operand_type(call)?;
    Ok(if R::IS_COMPLEX { complex_type(dtype) } else { dtype })
}

/// The complex numbers among which those of a type are.
fn complex_type(dtype: DType) -> DType {
    match dtype {
        _ if is_complex(dtype) => dtype,
        DType::F64 => DType::Complex128,
        _ => DType::Complex64,
    }
}

/// Computes with real or complex numbers, as the first argument has.
fn by_field(
    call: &CpuCall<'_>,
    real: fn(&CpuCall<'_>) -> Computed,
    complex: fn(&CpuCall<'_>) -> Computed,
) -> Computed {
    match is_complex(operand_type(call)?) {
        true => complex(call),
        false => real(call),
    }
}

/// An implementation for real and complex numbers of a generic function.
macro_rules! in_field {
    ($f:ident) => {
        |call| $crate::ops::linear_algebra::by_field(&call, $f::<f64>, $f::<$crate::ops::complex::C>)
    };
}
use in_field;

fn flag(call: &CpuCall<'_>, name: &str, default: bool) -> Result<bool, Diagnostic> {
    Ok(call.attrs.optional(name)?.unwrap_or(default))
}

fn singular() -> Diagnostic {
    invalid("Input matrix is not invertible.")
}

/// A matrix of the same shape for each matrix.
fn each<S: Scalar>(call: &CpuCall<'_>, f: impl Fn(&Matrix<S>) -> Result<Matrix<S>, Diagnostic>) -> Computed {
    let [x] = take(call)?;
    let batch = Batch::square(x)?;
    let made = batch.matrices.iter().map(f).collect::<Result<Vec<_>, _>>()?;
    let tensor = batch.tensor(call, (batch.rows, batch.columns), &made)?;
    Ok(tensor.into())
}

/// A complex matrix for each matrix of complex numbers.
fn each_complex(call: &CpuCall<'_>, f: fn(&Matrix<C>) -> Option<Matrix<C>>, what: &str) -> Computed {
    each::<C>(call, |x| f(x).ok_or_else(|| invalid(format!("the matrix has no {what}"))))
}

pub(super) fn register(ops: &mut OpRegistry) {
    equations::register(ops);
    results::register(ops);
}
