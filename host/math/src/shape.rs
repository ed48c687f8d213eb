//! Arithmetic on shapes shared by the operations: element counts, strides, walks over strided
//! positions.

use crate::ShapeError;

/// Returns the number of elements of a dense tensor of this shape.
pub(crate) fn element_count(shape: &[usize]) -> Result<usize, ShapeError> {
    // A dimension of zero makes the tensor empty however large the others are.
    if shape.contains(&0) {
        return Ok(0);
    }
    shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d)).ok_or(ShapeError::TooLarge)
}

/// Row-major strides, in elements. Only meaningful where [`element_count`] succeeds.
pub(crate) fn row_major_strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1usize; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(shape[axis]);
    }
    strides
}

/// Walks the positions of a multi-dimensional index space in row-major order, keeping one offset
/// per operand.
///
/// `N` is the number of operands; `dims[axis]` pairs the extent with each operand's stride on that
/// axis.
pub(crate) struct StridedWalk<'a, const N: usize> {
    dims: &'a [(usize, [usize; N])],
    index: Vec<usize>,
    offsets: [usize; N],
}

impl<'a, const N: usize> StridedWalk<'a, N> {
    /// Starts at the row-major position `start`.
    pub(crate) fn new(dims: &'a [(usize, [usize; N])], start: usize) -> Self {
        let mut index = vec![0; dims.len()];
        let mut offsets = [0; N];
        let mut rest = start;
        for (axis, &(extent, strides)) in dims.iter().enumerate().rev() {
            let extent = extent.max(1);
            index[axis] = rest % extent;
            rest /= extent;
            for (offset, stride) in offsets.iter_mut().zip(strides) {
                *offset += index[axis] * stride;
            }
        }
        Self { dims, index, offsets }
    }

    /// Offsets of the operands at the current position.
    pub(crate) fn offsets(&self) -> [usize; N] {
        self.offsets
    }

    /// Goes one position on, wrapping round to the start after the last.
    pub(crate) fn advance(&mut self) {
        for (axis, &(extent, strides)) in self.dims.iter().enumerate().rev() {
            self.index[axis] += 1;
            for (offset, stride) in self.offsets.iter_mut().zip(strides) {
                *offset += stride;
            }
            if self.index[axis] < extent {
                return;
            }
            for (offset, stride) in self.offsets.iter_mut().zip(strides) {
                *offset -= self.index[axis] * stride;
            }
            self.index[axis] = 0;
        }
    }
}
