//! The position of the greatest or least element along an axis.

use std::marker::PhantomData;

use crate::error::check_len;
use crate::parallel::Chunks;
use crate::shape::element_count;
use crate::{BlockOp, Element, Number, ShapeError};

/// A type that positions along an axis are given in.
pub trait IndexElement: Element {
    /// From a position, if it fits.
    fn from_position(position: usize) -> Option<Self>;
}

impl IndexElement for i32 {
    fn from_position(position: usize) -> Option<Self> {
        Self::try_from(position).ok()
    }
}

impl IndexElement for i64 {
    fn from_position(position: usize) -> Option<Self> {
        Self::try_from(position).ok()
    }
}

/// Argmax or argmin over one axis, which the output lacks. Ties go to the first position; the first
/// NaN wins, as in NumPy. The axis must not be empty unless the output is.
#[derive(Debug, Clone)]
pub struct ArgExtreme<T, I> {
    least: bool,
    extent: usize,
    inner: usize,
    input_len: usize,
    chunks: Chunks,
    types: PhantomData<fn(T) -> I>,
}

impl<T: Number, I: IndexElement> ArgExtreme<T, I> {
    /// Plans the position of the greatest element.
    pub fn argmax(shape: &[usize], axis: usize) -> Result<Self, ShapeError> {
        Self::new(shape, axis, false)
    }

    /// Plans the position of the least element.
    pub fn argmin(shape: &[usize], axis: usize) -> Result<Self, ShapeError> {
        Self::new(shape, axis, true)
    }

    fn new(shape: &[usize], axis: usize, least: bool) -> Result<Self, ShapeError> {
        let &extent = shape.get(axis).ok_or(ShapeError::Axis { axis, rank: shape.len() })?;
        let input_len = element_count(shape)?;
        let (outer, inner) = (element_count(&shape[..axis])?, element_count(&shape[axis + 1..])?);
        let outputs = outer.checked_mul(inner).ok_or(ShapeError::TooLarge)?;
        if extent == 0 && outputs > 0 {
            return Err(ShapeError::Parameter("argmax and argmin need at least one element along the axis"));
        }
        if extent > 0 && I::from_position(extent - 1).is_none() {
            return Err(ShapeError::TooLarge);
        }
        let chunks = Chunks::new(outputs, 1, extent)?;
        Ok(Self { least, extent, inner, input_len, chunks, types: PhantomData })
    }

    fn position(&self, line: impl Iterator<Item = T>) -> usize {
        let mut best: Option<(usize, T)> = None;
        for (position, x) in line.enumerate() {
            let wins = best.is_none_or(|(_, b)| x.is_nan() || if self.least { x < b } else { x > b });
            if wins {
                best = Some((position, x));
                if x.is_nan() {
                    break;
                }
            }
        }
        best.map_or(0, |(position, _)| position)
    }
}

impl<T: Number, I: IndexElement> BlockOp for ArgExtreme<T, I> {
    type Input<'a> = &'a [T];
    type Output<'a> = &'a mut [I];
    type Piece<'a> = &'a mut [I];

    fn block_count(&self) -> usize {
        self.chunks.block_count()
    }

    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        self.chunks.split(output)
    }

    fn run_block(&self, block: usize, x: &[T], piece: &mut [I]) -> Result<(), ShapeError> {
        let range = self.chunks.elements_of(block, piece.len())?;
        check_len("operand", self.input_len, x.len())?;
        for (output, o) in range.zip(piece) {
            let start = output / self.inner * self.extent * self.inner + output % self.inner;
            let position = self.position(x[start..].iter().step_by(self.inner).take(self.extent).copied());
            *o = I::from_position(position).ok_or(ShapeError::TooLarge)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Serial;

    fn argmax(shape: &[usize], axis: usize, x: &[f32]) -> Result<Vec<i64>, ShapeError> {
        let plan = ArgExtreme::<f32, i64>::argmax(shape, axis)?;
        let mut out = vec![-1; plan.chunks.len()];
        plan.run(&Serial, x, &mut out)?;
        Ok(out)
    }

    #[test]
    fn ties_and_nan_go_to_the_first() {
        assert_eq!(argmax(&[2, 3], 1, &[1.0, 3.0, 3.0, 5.0, f32::NAN, f32::NAN]), Ok(vec![1, 1]));
        assert_eq!(argmax(&[2, 3], 0, &[1.0, 3.0, 3.0, 5.0, f32::NAN, 2.0]), Ok(vec![1, 1, 0]));
        assert_eq!(argmax(&[2], 0, &[f32::NEG_INFINITY; 2]), Ok(vec![0]));
        let least = ArgExtreme::<i32, i32>::argmin(&[3], 0).unwrap();
        let mut out = [9];
        least.run(&Serial, &[2, -1, -1], &mut out).unwrap();
        assert_eq!(out, [1]);
    }

    #[test]
    fn empty_axes() {
        assert_eq!(argmax(&[0, 3], 1, &[]), Ok(vec![]));
        assert!(matches!(argmax(&[2, 0], 1, &[]), Err(ShapeError::Parameter(_))));
        assert_eq!(argmax(&[2], 1, &[1.0, 2.0]), Err(ShapeError::Axis { axis: 1, rank: 1 }));
    }
}
