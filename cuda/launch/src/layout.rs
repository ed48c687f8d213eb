//! Transposition, permutation, padding, concatenation, gathering.

use tfrt_device::error::{DeviceError, Result};
use tfrt_device::front::{Argument, DeviceBuffer, Stream};
use tfrt_host::DType;

use crate::broadcast::MAX_RANK;
use crate::{DeviceKernels, THREADS, by_width, by_width_up_to, in_out, input, output, product};

/// The number of rows or columns up to which a transposition has a thread for each place along the
/// other side, and no tiles.
const NARROW: u64 = 8;

/// A permutation of a tensor's axes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permutation {
    /// The extents of the result.
    extents: [u64; MAX_RANK],
    /// The strides of the operand along the result's axes.
    strides: [u64; MAX_RANK],
    elements: u64,
    /// Batch, rows and columns, if it exchanges two neighbouring groups of axes.
    transposition: Option<[u64; 3]>,
}

impl Permutation {
    /// Creates the permutation whose result's axis `i` is axis `order[i]` of an operand with these
    /// extents.
    ///
    /// # Errors
    /// `InvalidValue` unless `order` names each axis once, or if more than six groups of axes
    /// remain after merging those that stay neighbours.
    pub fn new(extents: &[u64], order: &[usize]) -> Result<Self> {
        let mut seen = vec![false; extents.len()];
        let all = order.len() == extents.len()
            && order.iter().all(|&axis| axis < seen.len() && !std::mem::replace(&mut seen[axis], true));
        if !all {
            let detail = format!("{order:?} does not name each of {} axes once", extents.len());
            return Err(DeviceError::invalid_value(detail));
        }
        let elements = product(extents)?;
        let stride = |axis: usize| extents[axis + 1..].iter().product::<u64>();
        // The result's axes from the last to the first, as extent and stride. Axes that continue
        // each other are merged.
        let mut merged: Vec<(u64, u64)> = Vec::new();
        if elements > 0 {
            for &axis in order.iter().rev().filter(|&&axis| extents[axis] != 1) {
                match merged.last_mut() {
                    Some((extent, inner)) if *extent * *inner == stride(axis) => *extent *= extents[axis],
                    _ => merged.push((extents[axis], stride(axis))),
                }
            }
        }
        if merged.len() > MAX_RANK {
            return Err(DeviceError::invalid_value("a permutation moves more than six groups of axes"));
        }
        let (mut all_extents, mut strides) = ([1; MAX_RANK], [0; MAX_RANK]);
        for (position, &(extent, stride)) in merged.iter().enumerate() {
            (all_extents[MAX_RANK - 1 - position], strides[MAX_RANK - 1 - position]) = (extent, stride);
        }
        // An exchange of rows and columns: the operand's row is the result's last axis.
        let transposition = match merged[..] {
            [(rows, row), (columns, 1)] if row == columns => Some([1, rows, columns]),
            [(rows, row), (columns, 1), (batch, image)] if row == columns && image == rows * columns => {
                Some([batch, rows, columns])
            }
            _ => None,
        };
        Ok(Self { extents: all_extents, strides, elements, transposition })
    }

    /// Returns the number of elements of either tensor.
    pub fn elements(&self) -> u64 {
        self.elements
    }
}

/// A tensor with a border.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Padded {
    extents: [u64; MAX_RANK],
    inner: [u64; MAX_RANK],
    before: [u64; MAX_RANK],
}

impl Padded {
    /// Creates a tensor with these extents. `padding` is the number of elements before and after
    /// along each axis.
    ///
    /// # Errors
    /// `InvalidValue` for more than six axes, or if lists differ in length.
    pub fn new(extents: &[u64], padding: &[(u64, u64)]) -> Result<Self> {
        if extents.len() != padding.len() || extents.len() > MAX_RANK {
            let detail = format!("cannot pad {} axes by a list of {}", extents.len(), padding.len());
            return Err(DeviceError::invalid_value(detail));
        }
        let first = MAX_RANK - extents.len();
        let mut padded = Self { extents: [1; MAX_RANK], inner: [1; MAX_RANK], before: [0; MAX_RANK] };
        for (axis, (&extent, &(before, after))) in extents.iter().zip(padding).enumerate() {
            let sum = extent.checked_add(before).and_then(|sum| sum.checked_add(after));
            let sum = sum.ok_or_else(|| DeviceError::invalid_value("a padded extent does not fit"))?;
            padded.extents[first + axis] = sum;
            padded.inner[first + axis] = extent;
            padded.before[first + axis] = before;
        }
        product(&padded.extents)?;
        Ok(padded)
    }
}

fn numbers<'a>(lists: &[&[u64; MAX_RANK]]) -> Vec<Argument<'a>> {
    lists.iter().flat_map(|list| list.iter().map(|&number| number.into())).collect()
}

/// Returns the number of bytes from a buffer's start to the end of the last row.
fn span(offset: u64, pitch: u64, width: u64, rows: u64) -> Result<u64> {
    if rows == 0 || width == 0 {
        return Ok(0);
    }
    if rows > 1 && width > pitch {
        return Err(DeviceError::invalid_value(format!(
            "rows of {width} bytes overlap at a pitch of {pitch}"
        )));
    }
    let last = product(&[rows - 1, pitch])?.checked_add(offset).and_then(|start| start.checked_add(width));
    last.ok_or_else(|| DeviceError::invalid_value("the rows end beyond any buffer"))
}

impl DeviceKernels {
    /// Copies `x` to `y` with its axes permuted.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn permute(
        &self,
        stream: &Stream,
        dtype: DType,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        permutation: &Permutation,
    ) -> Result<()> {
        let n = permutation.elements;
        let (y, x) = (output(y, n, dtype, "the result")?, input(x, n, dtype, "the operand")?);
        if let Some([batch, rows, columns]) = permutation.transposition {
            let blocks = if rows.min(columns) <= NARROW {
                product(&[batch, rows.max(columns)])?.div_ceil(THREADS.into())
            } else {
                product(&[batch, rows.div_ceil(32), columns.div_ceil(32)])?
            };
            let arguments = [y, x, batch.into(), rows.into(), columns.into()];
            return self.launch_blocks(stream, by_width("transpose", dtype)?, blocks, 1, &arguments);
        }
        let mut arguments = vec![y, x, n.into()];
        arguments.extend(numbers(&[&permutation.extents, &permutation.strides]));
        self.launch(stream, by_width("permute", dtype)?, n, &arguments)
    }

    /// Copies `x` to `y` with a border of `value`, which has the type's width, or of zeros.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn pad(
        &self,
        stream: &Stream,
        dtype: DType,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        padded: &Padded,
        value: Option<Argument<'_>>,
    ) -> Result<()> {
        let (n, width) = (product(&padded.extents)?, dtype.size().unwrap_or(0) as u8);
        let mut arguments = vec![
            output(y, n, dtype, "the result")?,
            input(x, product(&padded.inner)?, dtype, "the operand")?,
            n.into(),
            value.unwrap_or(Argument::Scalar([0; 8], width, "zero")),
        ];
        arguments.extend(numbers(&[&padded.extents, &padded.inner, &padded.before]));
        self.launch(stream, by_width_up_to(8, "pad", dtype)?, n, &arguments)
    }

    /// Copies `rows` rows of `width` bytes. Each side is a buffer, the byte offset of its first
    /// row, and the distance between rows in bytes. This serves concatenation, splitting and
    /// slicing along an axis.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn copy_rows(
        &self,
        stream: &Stream,
        (y, y_offset, y_pitch): (&DeviceBuffer, u64, u64),
        (x, x_offset, x_pitch): (&DeviceBuffer, u64, u64),
        width: u64,
        rows: u64,
    ) -> Result<()> {
        let arguments = [
            in_out(y, span(y_offset, y_pitch, width, rows)?, DType::UI8, "the result")?,
            input(x, span(x_offset, x_pitch, width, rows)?, DType::UI8, "the operand")?,
            y_offset.into(),
            y_pitch.into(),
            x_offset.into(),
            x_pitch.into(),
            width.into(),
            rows.into(),
        ];
        self.launch(stream, "copy_rows", product(&[rows, width.div_ceil(4)])?, &arguments)
    }

    /// Copies row `index[i]` of `x` to row `i` of `y`, for `count` rows of `width` bytes. If there
    /// is no such row, writes zeros.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn gather_rows(
        &self,
        stream: &Stream,
        y: &DeviceBuffer,
        (x, rows, width): (&DeviceBuffer, u64, u64),
        (index, dtype): (&DeviceBuffer, DType),
        count: u64,
    ) -> Result<()> {
        let name = super::typed("gather_rows", dtype, &[DType::I32, DType::I64])?;
        let arguments = [
            output(y, product(&[count, width])?, DType::UI8, "the result")?,
            input(x, product(&[rows, width])?, DType::UI8, "the operand")?,
            input(index, count, dtype, "the row numbers")?,
            width.into(),
            rows.into(),
            count.into(),
        ];
        self.launch(stream, name, product(&[count, width.div_ceil(4)])?, &arguments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutations_are_merged() {
        let nhwc_to_nchw = Permutation::new(&[2, 5, 7, 3], &[0, 3, 1, 2]).unwrap();
        assert_eq!(nhwc_to_nchw.transposition, Some([2, 35, 3]));
        let nchw_to_nhwc = Permutation::new(&[2, 3, 5, 7], &[0, 2, 3, 1]).unwrap();
        assert_eq!(nchw_to_nhwc.transposition, Some([2, 3, 35]));
        assert_eq!(Permutation::new(&[4, 6], &[1, 0]).unwrap().transposition, Some([1, 4, 6]));
        let reversed = Permutation::new(&[2, 3, 4], &[2, 1, 0]).unwrap();
        assert_eq!(
            (reversed.extents[3..].to_vec(), reversed.strides[3..].to_vec()),
            (vec![4, 3, 2], vec![1, 4, 12])
        );
        assert_eq!(reversed.transposition, None);
        let same = Permutation::new(&[2, 3, 4], &[0, 1, 2]).unwrap();
        assert_eq!((same.extents[5], same.strides[5], same.transposition), (24, 1, None));
        assert!(Permutation::new(&[2, 3], &[0, 0]).is_err() && Permutation::new(&[2, 3], &[0]).is_err());
        assert_eq!(Permutation::new(&[2, 0], &[1, 0]).unwrap().elements(), 0);
    }
}
