//! Diagonals of matrices, and matrices with other diagonals.

use tfrt_device::error::Result;
use tfrt_device::front::{Argument, DeviceBuffer, Stream};
use tfrt_host::DType;

use crate::{DeviceKernels, by_width, input, output, product};

/// Neighbouring diagonals of a batch of matrices, the uppermost first, as rows that are as long as the longest of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Diagonals {
    /// How many matrices there are.
    pub matrices: u64,
    /// Rows of a matrix.
    pub rows: u64,
    /// Columns of a matrix.
    pub columns: u64,
    /// How many diagonals of each.
    pub count: u64,
    /// How long the longest is.
    pub longest: u64,
    /// How far right of the main one the first is.
    pub upper: i64,
    /// Whether those above the main one have their padding before them, and whether those below it have.
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
    /// `y` becomes the diagonals of the matrices `x`, with one element as padding.
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

    /// `y` becomes matrices with the diagonals `x`. What else they hold is one element, or with `whole` that of other matrices,
    /// which `y` may be.
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
            input(around, if whole { n } else { 1 }, dtype, "what is beside them")?,
            n.into(),
        ];
        arguments.extend(of.arguments());
        arguments.push(u32::from(whole).into());
        self.launch(stream, by_width("diagonal_set", dtype)?, n, &arguments)
    }
}
