//! Diagonals of matrices, and matrices with other diagonals.

use tfrt_device::error::Result;
use tfrt_device::front::{Argument, DeviceBuffer, Stream};
use tfrt_host::DType;

use crate::{DeviceKernels, by_width, input, output, product};

/// Neighbouring diagonals of a batch of matrices, the uppermost first. They are stored as rows of
/// the length of the longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Diagonals {
    /// The number of matrices.
    pub matrices: u64,
    /// The number of rows of a matrix.
    pub rows: u64,
    /// The number of columns of a matrix.
    pub columns: u64,
    /// The number of diagonals of each matrix.
    pub count: u64,
    /// The length of the longest diagonal.
    pub longest: u64,
    /// The offset of the first diagonal to the right of the main one.
    pub upper: i64,
    /// Whether the padding comes first, for diagonals above the main one and for those below it.
    pub padding_first: [bool; 2],
}

impl Diagonals {
    fn elements(&self) -> Result<u64> {
        product(&[self.matrices, self.count, self.longest])
    }

    fn matrix_elements(&self) -> Result<u64> {
        product(&[self.matrices, self.rows, self.columns])
    }

    fn arguments(&self) -> [Argument<'static>; 6] {
        let alignment = u32::from(self.padding_first[0]) | u32::from(self.padding_first[1]) << 1;
        let Self { rows, columns, count, longest, upper, .. } = *self;
        [rows.into(), columns.into(), count.into(), longest.into(), upper.into(), alignment.into()]
    }
}

impl DeviceKernels {
    /// Extracts the diagonals of the matrices `x` to `y`. One element gives the padding.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn diagonals(
        &self,
        stream: &Stream,
        dtype: DType,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        padding: &DeviceBuffer,
        of: Diagonals,
    ) -> Result<()> {
        let n = of.elements()?;
        let mut arguments = vec![
            output(y, n, dtype, "the diagonals")?,
            input(x, of.matrix_elements()?, dtype, "the matrices")?,
            input(padding, 1, dtype, "the padding")?,
            n.into(),
        ];
        arguments.extend(of.arguments());
        self.launch(stream, by_width("diagonal_part", dtype)?, n, &arguments)
    }

    /// Writes matrices with the diagonals `x` to `y`. Their other elements are a single element, or
    /// with `whole` those of other matrices, which may be `y`.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn with_diagonals(
        &self,
        stream: &Stream,
        dtype: DType,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        (around, whole): (&DeviceBuffer, bool),
        of: Diagonals,
    ) -> Result<()> {
        let n = of.matrix_elements()?;
        let mut arguments = vec![
            output(y, n, dtype, "the matrices")?,
            input(x, of.elements()?, dtype, "the diagonals")?,
            input(around, if whole { n } else { 1 }, dtype, "the other elements")?,
            n.into(),
        ];
        arguments.extend(of.arguments());
        arguments.push(u32::from(whole).into());
        self.launch(stream, by_width("diagonal_set", dtype)?, n, &arguments)
    }
}
