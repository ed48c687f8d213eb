//! Matrices of real or complex numbers in double precision, row-major.

use std::fmt::Debug;
use std::iter::Sum;

use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::{Accessor, HostTensor};

use crate::CpuCall;
use crate::ops::complex::{C, Field, Wide};
use crate::ops::plain::{of_reals, reals, tensor};
use crate::ops::support::with_complex;

static ME: Accessor = Accessor::new("tf op on matrices");

/// An element of a matrix.
pub(super) trait Scalar: Wide + Default + PartialEq + Debug + Sum {
    /// Whether it has an imaginary part.
    const IS_COMPLEX: bool;
    /// The real part.
    fn real(self) -> f64;
    /// The magnitude.
    fn size(self) -> f64;
    /// The square of the magnitude.
    fn square(self) -> f64;
    /// A real number and a number of magnitude one, whose product this number is. It is not zero.
    fn polar(self) -> (f64, Self);
    /// This number among the complex numbers.
    fn to_complex(self) -> C;
    /// The elements of a tensor.
    fn read(tensor: &HostTensor) -> Result<Vec<Self>, Diagnostic>;
    /// A tensor of a type, each element rounded once.
    fn write(
        call: &CpuCall<'_>,
        dtype: DType,
        dims: &[usize],
        values: &[Self],
    ) -> Result<HostTensor, Diagnostic>;
}

impl Scalar for f64 {
    const IS_COMPLEX: bool = false;
    fn real(self) -> f64 {
        self
    }
    fn size(self) -> f64 {
        self.abs()
    }
    fn square(self) -> f64 {
        self * self
    }
    fn polar(self) -> (f64, Self) {
        (self, 1.0)
    }
    fn to_complex(self) -> C {
        C::new(self, 0.0)
    }
    fn read(tensor: &HostTensor) -> Result<Vec<Self>, Diagnostic> {
        reals(tensor)
    }
    fn write(
        call: &CpuCall<'_>,
        dtype: DType,
        dims: &[usize],
        values: &[Self],
    ) -> Result<HostTensor, Diagnostic> {
        of_reals(call, dtype, dims, values)
    }
}

impl Scalar for C {
    const IS_COMPLEX: bool = true;
    fn real(self) -> f64 {
        self.re
    }
    fn size(self) -> f64 {
        self.norm()
    }
    fn square(self) -> f64 {
        self.norm_sqr()
    }
    fn polar(self) -> (f64, Self) {
        let size = self.norm();
        (size, self.unscale(size))
    }
    fn to_complex(self) -> C {
        self
    }
    fn read(tensor: &HostTensor) -> Result<Vec<Self>, Diagnostic> {
        with_complex!(tensor.dtype(), "the op", |T| {
            Ok(tensor.dense()?.read::<T>(&ME)?.iter().map(|&value| value.wide()).collect())
        })
    }
    fn write(
        call: &CpuCall<'_>,
        dtype: DType,
        dims: &[usize],
        values: &[Self],
    ) -> Result<HostTensor, Diagnostic> {
        with_complex!(dtype, "the op", |T| {
            tensor(call, dims, &values.iter().map(|&value| <T as Field>::narrow(value)).collect::<Vec<_>>())
        })
    }
}

/// A matrix of `rows` by `columns`.
#[derive(Clone, Debug)]
pub(super) struct Matrix<S> {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) values: Vec<S>,
}

impl<S: Scalar> Matrix<S> {
    pub(super) fn new(rows: usize, columns: usize, values: Vec<S>) -> Self {
        Self { rows, columns, values }
    }

    pub(super) fn zeros(rows: usize, columns: usize) -> Self {
        Self::new(rows, columns, vec![S::default(); rows * columns])
    }

    /// A lower triangle of NaN.
    pub(super) fn not_a_number(size: usize) -> Self {
        let mut matrix = Self::zeros(size, size);
        (0..size).for_each(|row| matrix.values[row * size..][..=row].fill(S::from(f64::NAN)));
        matrix
    }

    pub(super) fn identity(size: usize) -> Self {
        let mut matrix = Self::zeros(size, size);
        (0..size).for_each(|i| *matrix.at(i, i) = S::from(1.0));
        matrix
    }

    pub(super) fn get(&self, row: usize, column: usize) -> S {
        self.values[row * self.columns + column]
    }

    pub(super) fn at(&mut self, row: usize, column: usize) -> &mut S {
        &mut self.values[row * self.columns + column]
    }

    /// The elements of the diagonal.
    pub(super) fn diagonal(&self) -> impl Iterator<Item = S> {
        (0..self.rows.min(self.columns)).map(|i| self.get(i, i))
    }

    /// The conjugate transpose.
    pub(super) fn adjoint(&self) -> Self {
        let mut matrix = Self::zeros(self.columns, self.rows);
        for row in 0..self.rows {
            for column in 0..self.columns {
                *matrix.at(column, row) = self.get(row, column).conj();
            }
        }
        matrix
    }

    pub(super) fn times(&self, other: &Self) -> Self {
        let mut product = Self::zeros(self.rows, other.columns);
        for row in 0..self.rows {
            for inner in 0..self.columns {
                let factor = self.get(row, inner);
                for column in 0..other.columns {
                    let sum = product.get(row, column) + factor * other.get(inner, column);
                    *product.at(row, column) = sum;
                }
            }
        }
        product
    }

    pub(super) fn swap_rows(&mut self, a: usize, b: usize) {
        for column in 0..self.columns {
            self.values.swap(a * self.columns + column, b * self.columns + column);
        }
    }

    /// The first columns.
    pub(super) fn first_columns(&self, count: usize) -> Self {
        let values =
            (0..self.rows).flat_map(|row| (0..count).map(move |column| self.get(row, column))).collect();
        Self::new(self.rows, count, values)
    }

    pub(super) fn to_complex(&self) -> Matrix<C> {
        Matrix::new(self.rows, self.columns, self.values.iter().map(|value| value.to_complex()).collect())
    }
}
