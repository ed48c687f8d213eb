//! Products of matrices of integers and complex numbers. The BLAS library multiplies floating-point
//! matrices.

use tfrt_device::error::Result;
use tfrt_device::front::{Argument, DeviceBuffer, Stream};
use tfrt_host::DType;

use crate::{DeviceKernels, input, output, product, typed};

/// The extents of a batch of products, `rows` × `inner` by `inner` × `columns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Products {
    /// The number of products.
    pub batch: u64,
    /// The number of rows of the results.
    pub rows: u64,
    /// The number of terms of each sum.
    pub inner: u64,
    /// The number of columns of the results.
    pub columns: u64,
    /// Which factors are stored transposed.
    pub transposed: [bool; 2],
    /// Which factors are a single matrix for the whole batch.
    pub single: [bool; 2],
}

impl DeviceKernels {
    /// Computes `y = a · b` for each product of a batch. The type is `i8`, `u8`, `i16`, `i32` or
    /// `i64`, with sums that wrap, or complex numbers of two `f64`.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn products(
        &self,
        stream: &Stream,
        dtype: DType,
        y: &DeviceBuffer,
        [a, b]: [&DeviceBuffer; 2],
        products: Products,
    ) -> Result<()> {
        const TYPES: &[DType] =
            &[DType::I8, DType::UI8, DType::I16, DType::I32, DType::I64, DType::Complex128];
        let Products { batch, rows, inner, columns, transposed, single } = products;
        let n = product(&[batch, rows, columns])?;
        let matrices = |index: usize| if single[index] { 1 } else { batch };
        // The distances between matrices, rows and columns, in the order of the kernel's
        // parameters.
        let steps = |index: usize, rows: u64, columns: u64| {
            let batch_step = if single[index] { 0 } else { rows.saturating_mul(columns) };
            let (row, column) = if transposed[index] { (1, rows) } else { (columns, 1) };
            [batch_step, row, column]
        };
        let mut arguments = vec![
            output(y, n, dtype, "the product")?,
            input(a, product(&[matrices(0), rows, inner])?, dtype, "the first factor")?,
            input(b, product(&[matrices(1), inner, columns])?, dtype, "the second factor")?,
        ];
        arguments.extend([batch, rows, inner, columns].map(Argument::from));
        arguments.extend(steps(0, rows, inner).map(Argument::from));
        arguments.extend(steps(1, inner, columns).map(Argument::from));
        self.launch(stream, typed("product", dtype, TYPES)?, n, &arguments)
    }
}
