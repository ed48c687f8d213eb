//! BLAS.

use tfrt_host::DType;
use tfrt_math::matrices_overlap;

use super::buffer::DeviceBuffer;
use super::context::Context;
use super::library::{Library, LibraryHandle};
use super::managed::Queueing;
use super::stream::check_stream;
use crate::error::{DeviceError, Result, Status};
use crate::hal::{self, F32Math, Gemm, GemmOperand, Transpose};

/// The BLAS library of a context.
pub struct Blas(());

impl Library for Blas {
    const KIND: &'static str = "BLAS handle";
}

/// A handle of the BLAS library, with the stream on which its calls are queued. Cloning shares it.
pub type BlasHandle = LibraryHandle<Blas>;

impl Context {
    /// Starts the BLAS library for products of this kind.
    ///
    /// # Errors
    /// `BlasNotInitialized` with what was looked for.
    pub fn create_blas_with(&self, math: F32Math) -> Result<BlasHandle> {
        Ok(LibraryHandle::new(self, self.hal().create_blas(math)?, Blas(())))
    }
}

/// One operand of a matrix product: a buffer, its element type, and the layout of the matrices in
/// it.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a> {
    /// The buffer.
    pub buffer: &'a DeviceBuffer,
    /// The element type.
    pub dtype: DType,
    /// The distance between columns, in elements.
    pub leading_dimension: i64,
    /// The distance between matrices of a batch, in elements.
    pub batch_stride: i64,
}

/// What is applied to the elements of a product before they are stored.
#[derive(Clone, Copy, Debug, Default)]
pub struct GemmEpilogue<'a> {
    /// Elements of C's type, as many as C has rows, which are added to each column of C.
    pub bias: Option<&'a DeviceBuffer>,
    /// Whether negative sums become zero.
    pub relu: bool,
}

impl GemmEpilogue<'_> {
    /// Returns whether nothing is applied.
    pub fn is_empty(&self) -> bool {
        self.bias.is_none() && !self.relu
    }
}

/// The arguments of `C = epilogue(alpha · op(A) · op(B) + beta · C)`, column-major, for each matrix
/// of a batch.
#[derive(Clone, Copy, Debug)]
pub struct GemmArguments<'a> {
    /// The operations `op` on A and on B.
    pub transpose: [Transpose; 2],
    /// The number of rows of C.
    pub m: i64,
    /// The number of columns of C.
    pub n: i64,
    /// The extent that is summed over.
    pub k: i64,
    /// The factor of the product.
    pub alpha: f64,
    /// The left operand.
    pub a: Matrix<'a>,
    /// The right operand.
    pub b: Matrix<'a>,
    /// The factor of the old C.
    pub beta: f64,
    /// The result.
    pub c: Matrix<'a>,
    /// The type in which products are accumulated.
    pub compute: DType,
    /// The number of products.
    pub batch: i64,
    /// The number of the library's algorithm, or −1 for its choice.
    pub algorithm: i32,
    /// What is applied to the result.
    pub epilogue: GemmEpilogue<'a>,
}

fn invalid(detail: String) -> DeviceError {
    DeviceError::new(Status::BlasInvalidValue, detail)
}

fn extent(name: &str, value: i64) -> Result<u64> {
    u64::try_from(value).map_err(|_| invalid(format!("{name} is {value}")))
}

/// Checks that `elements` elements of the buffer exist and are aligned. Returns the size of one.
fn check_elements(name: &str, buffer: &DeviceBuffer, dtype: DType, elements: u64) -> Result<()> {
    let size = dtype.size().unwrap_or(0) as u64;
    if elements.checked_mul(size).is_none_or(|bytes| bytes > buffer.len()) {
        return Err(invalid(format!(
            "{name} takes {elements} elements of type {dtype}, but its buffer has {} bytes",
            buffer.len()
        )));
    }
    if !buffer.address().is_multiple_of(size.max(1)) {
        return Err(DeviceError::new(
            Status::MisalignedAddress,
            format!("{name} is not aligned to its elements"),
        ));
    }
    Ok(())
}

/// Returns the layout of a matrix with this many rows and columns, after checking it.
fn operand(name: &str, matrix: &Matrix<'_>, rows: u64, cols: u64, batch: u64) -> Result<GemmOperand> {
    let extent_of = |what: &str, value: i64| {
        u64::try_from(value).map_err(|_| invalid(format!("the {what} of {name} is {value}")))
    };
    let leading_dimension = extent_of("leading dimension", matrix.leading_dimension)?;
    let batch_stride = extent_of("batch stride", matrix.batch_stride)?;
    if leading_dimension < rows.max(1) {
        return Err(invalid(format!(
            "the leading dimension of {name}, {leading_dimension}, is below its {rows} rows"
        )));
    }
    let elements = if rows == 0 || cols == 0 || batch == 0 {
        Some(0)
    } else {
        let last = (cols - 1).checked_mul(leading_dimension).and_then(|start| start.checked_add(rows));
        let batches = (batch - 1).checked_mul(batch_stride);
        last.zip(batches).and_then(|(last, batches)| last.checked_add(batches))
    };
    let elements = elements.ok_or_else(|| invalid(format!("{name} is too large")))?;
    check_elements(name, matrix.buffer, matrix.dtype, elements)?;
    Ok(GemmOperand { address: matrix.buffer.address(), dtype: matrix.dtype, leading_dimension, batch_stride })
}

/// Checks that a vector may be used and lies in its buffer.
fn check_vector(
    queueing: &mut Queueing<'_>,
    name: &str,
    buffer: &DeviceBuffer,
    dtype: DType,
    n: u64,
    increment: i64,
) -> Result<()> {
    buffer.used_by(queueing)?;
    if increment == 0 {
        return Err(invalid(format!("the increment of {name} is 0")));
    }
    let last = n.saturating_sub(1).checked_mul(increment.unsigned_abs());
    let elements = last.and_then(|last| last.checked_add(u64::from(n > 0)));
    let elements = elements.ok_or_else(|| invalid(format!("{name} is too large")))?;
    check_elements(name, buffer, dtype, elements)
}

impl BlasHandle {
    /// Queues `y = alpha · x + y` for `n` elements.
    ///
    /// # Errors
    /// `BlasInvalidValue` if they do not lie in their buffers.
    pub fn axpy(
        &self,
        dtype: DType,
        n: i64,
        alpha: f64,
        (x, incx): (&DeviceBuffer, i64),
        (y, incy): (&DeviceBuffer, i64),
    ) -> Result<()> {
        let stream = self.stream()?;
        let n = extent("n", n)?;
        let mut queueing = Queueing::on(&stream);
        for (name, buffer, increment) in [("x", x, incx), ("y", y, incy)] {
            check_vector(&mut queueing, name, buffer, dtype, n, increment)?;
        }
        if n == 0 {
            return Ok(());
        }
        let vectors = ((x.address(), incx), (y.address(), incy));
        let hal = self.context().hal();
        let axpy = || hal.axpy(self.hal(), stream.hal(), dtype, n, alpha, vectors.0, vectors.1);
        stream.traced(|| format!("blas axpy, {n} elements"), axpy)
    }

    /// Queues `x = alpha · x` for `n` elements.
    ///
    /// # Errors
    /// `BlasInvalidValue` if they do not lie in their buffer.
    pub fn scal(&self, dtype: DType, n: i64, alpha: f64, (x, incx): (&DeviceBuffer, i64)) -> Result<()> {
        let stream = self.stream()?;
        let n = extent("n", n)?;
        if incx <= 0 {
            return Err(invalid(format!("the increment of x is {incx}")));
        }
        let mut queueing = Queueing::on(&stream);
        check_vector(&mut queueing, "x", x, dtype, n, incx)?;
        if n == 0 {
            return Ok(());
        }
        let scal =
            || self.context().hal().scal(self.hal(), stream.hal(), dtype, n, alpha, (x.address(), incx));
        stream.traced(|| format!("blas scal, {n} elements"), scal)
    }

    /// Queues a matrix product, or a batch of them.
    ///
    /// # Errors
    /// `BlasInvalidValue` if matrices or the bias do not lie in their buffers, `BlasNotSupported`
    /// for combinations of types, or an epilogue, that the library lacks.
    pub fn gemm(&self, arguments: &GemmArguments<'_>) -> Result<()> {
        let stream = self.stream()?;
        check_stream(&stream, self.context())?;
        let (m, n, k) = (extent("m", arguments.m)?, extent("n", arguments.n)?, extent("k", arguments.k)?);
        let batch = extent("the batch count", arguments.batch)?;
        let mut queueing = Queueing::on(&stream);
        for matrix in [&arguments.a, &arguments.b, &arguments.c] {
            matrix.buffer.used_by(&mut queueing)?;
        }
        let GemmEpilogue { bias, relu } = arguments.epilogue;
        if let Some(bias) = bias {
            bias.used_by(&mut queueing)?;
            check_elements("the bias", bias, arguments.c.dtype, m)?;
        }
        let stored = |transpose, rows, cols| match transpose {
            Transpose::None => (rows, cols),
            Transpose::Transposed => (cols, rows),
        };
        let [transpose_a, transpose_b] = arguments.transpose;
        let (a, b) = (stored(transpose_a, m, k), stored(transpose_b, k, n));
        let gemm = Gemm {
            transpose_a,
            transpose_b,
            m,
            n,
            k,
            alpha: arguments.alpha,
            a: operand("A", &arguments.a, a.0, a.1, batch)?,
            b: operand("B", &arguments.b, b.0, b.1, batch)?,
            beta: arguments.beta,
            c: operand("C", &arguments.c, m, n, batch)?,
            compute: arguments.compute,
            batch,
            algorithm: arguments.algorithm,
            epilogue: hal::GemmEpilogue { bias: bias.map(DeviceBuffer::address), relu },
        };
        // A column of the column-major C is a row in row-major order.
        let sizes = [batch, gemm.c.batch_stride, n, m, gemm.c.leading_dimension].map(usize::try_from);
        if let [Ok(batch), Ok(stride), Ok(n), Ok(m), Ok(leading)] = sizes
            && matrices_overlap(batch, stride, (n, m, leading))
        {
            let detail = format!("the matrices of C, {} apart, overlap", gemm.c.batch_stride);
            return Err(invalid(detail));
        }
        if m == 0 || n == 0 || batch == 0 {
            return Ok(());
        }
        stream.traced(
            || format!("blas gemm, {m} x {n} x {}, batch of {batch}", gemm.k),
            || self.context().hal().gemm(self.hal(), stream.hal(), &gemm),
        )
    }
}
