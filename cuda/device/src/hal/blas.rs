//! Dense linear algebra. Matrices are column-major, as in BLAS.

use tfrt_host::DType;

use super::{Resources, Result};

/// The operation on a matrix before it is multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transpose {
    /// None.
    None,
    /// Transposition. For real matrices, the conjugate transpose is the same.
    Transposed,
}

/// One operand of a matrix product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GemmOperand {
    /// The address of the first element.
    pub address: u64,
    /// The element type.
    pub dtype: DType,
    /// The distance between columns, in elements.
    pub leading_dimension: u64,
    /// The distance between matrices of the batch, in elements.
    pub batch_stride: u64,
}

/// What is applied to the elements of a product before they are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GemmEpilogue {
    /// The address of `m` elements of C's type, which are added to each column of C.
    pub bias: Option<u64>,
    /// Whether negative sums become zero.
    pub relu: bool,
}

impl GemmEpilogue {
    /// Returns whether nothing is applied.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The matrix product `C = epilogue(alpha · op(A) · op(B) + beta · C)`, for each matrix of a batch.
/// `op(A)` is `m` × `k`, `op(B)` is `k` × `n`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gemm {
    /// The operation on A.
    pub transpose_a: Transpose,
    /// The operation on B.
    pub transpose_b: Transpose,
    /// The number of rows of C.
    pub m: u64,
    /// The number of columns of C.
    pub n: u64,
    /// The extent that is summed over.
    pub k: u64,
    /// The factor of the product.
    pub alpha: f64,
    /// The left operand.
    pub a: GemmOperand,
    /// The right operand.
    pub b: GemmOperand,
    /// The factor of the old C, which is not read if this is zero.
    pub beta: f64,
    /// The result.
    pub c: GemmOperand,
    /// The type in which products are accumulated.
    pub compute: DType,
    /// The number of products in the batch.
    pub batch: u64,
    /// The number of the library's algorithm, or −1 for its choice.
    pub algorithm: i32,
    /// What is applied to the result.
    pub epilogue: GemmEpilogue,
}

/// How a library's handle computes products and convolutions of f32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum F32Math {
    /// In f32, unless the backend was told otherwise.
    #[default]
    F32,
    /// With operands rounded to TF32, of 11 significant bits, where the device has units for that.
    Tf32,
}

/// Queues dense linear algebra on a given stream.
pub trait Blas: Resources {
    /// Creates a handle of the library.
    fn create_blas(&self, math: F32Math) -> Result<Self::BlasHandle>;

    /// Queues `y = alpha · x + y` for `n` elements, `incx` and `incy` apart. The increments are not
    /// zero; negative ones count from the end.
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

    /// Queues `x = alpha · x` for `n` elements, `incx` (above zero) apart.
    fn scal(
        &self,
        blas: &Self::BlasHandle,
        stream: &Self::Stream,
        dtype: DType,
        n: u64,
        alpha: f64,
        x: (u64, i64),
    ) -> Result<()>;

    /// Queues a matrix product.
    fn gemm(&self, blas: &Self::BlasHandle, stream: &Self::Stream, gemm: &Gemm) -> Result<()>;
}
