//! Products by matrices of integers of 2, 4 or 8 bits, where each block of a column has a scale.

use tfrt_device::error::{DeviceError, Result};
use tfrt_device::front::{Argument, DeviceBuffer, Stream};
use tfrt_host::DType;

use crate::{DeviceKernels, THREADS, input, optional, output, product};

/// The rows that a warp computes.
const ROWS: u64 = 4;
const WARP: u64 = 32;

/// A matrix of narrow integers: `cols` columns of `depth` integers, whose last block is filled up.
#[derive(Clone, Copy, Debug)]
pub struct Narrow<'a> {
    /// For each column, its packed integers (ui8), the first one in the lowest bits.
    pub matrix: &'a DeviceBuffer,
    /// A scale (f32) for each block of each column.
    pub scales: &'a DeviceBuffer,
    /// For each column, the packed integers (ui8) that stand for zero; the number in the middle if
    /// there are none.
    pub zeros: Option<&'a DeviceBuffer>,
    /// The number of integers of a column.
    pub depth: u64,
    /// The number of columns.
    pub cols: u64,
    /// The number of integers that share a scale, a multiple of 16.
    pub block: u64,
    /// The number of bits of an integer: 2, 4 or 8.
    pub bits: u64,
}

impl Narrow<'_> {
    /// Launches the kernel for the number of bits. Its arguments are `first`, the matrix, `extents`,
    /// and the matrix's own extents. `threads` gives the number of threads for the words of a column.
    fn launch(
        &self,
        kernels: &DeviceKernels,
        stream: &Stream,
        names: [&'static str; 3],
        (first, extents): (Vec<Argument<'_>>, &[u64]),
        threads: impl FnOnce(u64) -> Option<u64>,
    ) -> Result<()> {
        let Self { matrix, scales, zeros, depth, cols, block, bits } = *self;
        let name = match bits {
            2 => names[0],
            4 => names[1],
            8 => names[2],
            _ => return Err(DeviceError::invalid_value(format!("integers cannot have {bits} bits"))),
        };
        if block == 0 || !block.is_multiple_of(16) {
            return Err(DeviceError::invalid_value(format!("a block cannot have {block} integers")));
        }
        let too_large = || DeviceError::invalid_value("the matrix is too large");
        let blocks = depth.div_ceil(block);
        let bytes = blocks.checked_mul(block).and_then(|n| n.checked_mul(bits)).ok_or_else(too_large)? / 8;
        let stride = (blocks * bits).div_ceil(8);
        let zeros = zeros.map(|zeros| input(zeros, cols.saturating_mul(stride), DType::UI8, "the zeros"));
        let mut arguments = first;
        arguments.extend([
            input(matrix, product(&[cols, bytes])?, DType::UI8, "the matrix")?,
            input(scales, product(&[cols, blocks])?, DType::F32, "the scales")?,
            optional(zeros)?,
        ]);
        arguments.extend(extents.iter().map(|&extent| Argument::from(extent)));
        arguments.extend([depth, cols, bytes / 4, stride, block].map(Argument::from));
        let threads = threads(bytes / 4).ok_or_else(too_large)?;
        kernels.launch_blocks(stream, name, threads.div_ceil(THREADS.into()), 1, &arguments)
    }
}

impl DeviceKernels {
    /// Computes the products of the rows of `a`, `[rows, depth]`, and the columns of a matrix into
    /// `y`, `[rows, cols]`, both f32. It reads the matrix once for each four rows.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`]; `InvalidValue` if there is no such matrix.
    pub fn narrow_rows(
        &self,
        stream: &Stream,
        y: &DeviceBuffer,
        (a, rows): (&DeviceBuffer, u64),
        narrow: Narrow<'_>,
    ) -> Result<()> {
        let operands = vec![
            output(y, product(&[rows, narrow.cols])?, DType::F32, "the result")?,
            input(a, product(&[rows, narrow.depth])?, DType::F32, "the rows")?,
        ];
        let names = ["narrow_rows_b2", "narrow_rows_b4", "narrow_rows_b8"];
        let threads = rows.div_ceil(ROWS).checked_mul(narrow.cols).and_then(|warps| warps.checked_mul(WARP));
        narrow.launch(self, stream, names, (operands, &[rows]), |_| threads)
    }

    /// Computes the numbers (f32) that a matrix stands for: `[cols, depth]`.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`]; `InvalidValue` if there is no such matrix.
    pub fn narrow_values(&self, stream: &Stream, y: &DeviceBuffer, narrow: Narrow<'_>) -> Result<()> {
        let operands = vec![output(y, product(&[narrow.cols, narrow.depth])?, DType::F32, "the result")?];
        let names = ["narrow_values_b2", "narrow_values_b4", "narrow_values_b8"];
        narrow.launch(self, stream, names, (operands, &[]), |words| words.checked_mul(narrow.cols))
    }
}
