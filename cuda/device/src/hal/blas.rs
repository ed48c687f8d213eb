//! Dense linear algebra, column-major as BLAS has it.

use tfrt_host::DType;

use super::{Resources, Result};

/// What is done to a matrix before it is multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transpose {
    /// Nothing.
    None,
    /// Rows become columns. Of real matrices the conjugate transpose is the same.
    Transposed,
}

/// One matrix of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GemmOperand {
    /// Its first element.
    pub address: u64,
    /// Type of its elements.
    pub dtype: DType,
    /// Elements from one column to the next.
    pub leading_dimension: u64,
    /// Elements from one matrix of the batch to the next.
    pub batch_stride: u64,
}

/// `C = alpha · op(A) · op(B) + beta · C`, for each of a batch. `op(A)` is `m` × `k`, `op(B)` is `k` × `n`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gemm {
    /// What is done to A.
    pub transpose_a: Transpose,
    /// What is done to B.
    pub transpose_b: Transpose,
    /// Rows of C.
    pub m: u64,
    /// Columns of C.
    pub n: u64,
    /// Extent that is summed over.
    pub k: u64,
    /// Factor of the product.
    pub alpha: f64,
    /// The left matrix.
    pub a: GemmOperand,
    /// The right matrix.
    pub b: GemmOperand,
    /// Factor of C as it was, which is not read if this is zero.
    pub beta: f64,
    /// The result.
    pub c: GemmOperand,
    /// Type in which products are summed.
    pub compute: DType,
    /// Matrices of each kind.
    pub batch: u64,
    /// Which of the library's algorithms, or −1 for its choice.
    pub algorithm: i32,
}

/// Dense linear algebra. All work is queued on the stream given.
pub trait Blas: Resources {
    /// The library's state.
    fn create_blas(&self) -> Result<Self::BlasHandle>;

    /// `y = alpha · x + y` for `n` elements, each `incx` and `incy` (not zero; from the end if negative) apart.
    #[expect(clippy::too_many_arguments, reason = "the routine's arguments")]
    fn axpy(
        &self,
        blas: &Self::BlasHandle,
        stream: &Self::Stream,
        dtype: DType,
        n: u64,
        alpha: f64,
        x: (u64, i64),
        y: (u64, i64),
    ) -> Result<()>;

    /// `x = alpha · x` for `n` elements, `incx` (above zero) apart.
    fn scal(
        &self,
        blas: &Self::BlasHandle,
        stream: &Self::Stream,
        dtype: DType,
        n: u64,
        alpha: f64,
        x: (u64, i64),
    ) -> Result<()>;

    /// A product of matrices.
    fn gemm(&self, blas: &Self::BlasHandle, stream: &Self::Stream, gemm: &Gemm) -> Result<()>;
}
