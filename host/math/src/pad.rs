//! Padding with a constant.

use std::marker::PhantomData;

use crate::error::check_len;
use crate::parallel::Chunks;
use crate::shape::element_count;
use crate::{BlockOp, Element, ShapeError};

/// Extends each axis before and after with a constant.
#[derive(Debug, Clone)]
pub struct Pad<T> {
    /// Extent, padding before and extent of the output for each merged axis but the last.
    outer: Vec<(usize, usize, usize)>,
    /// The same for the last, along which rows are copied.
    inner: (usize, usize, usize),
    shape: Vec<usize>,
    input_len: usize,
    value: T,
    chunks: Chunks,
    element: PhantomData<fn(T) -> T>,
}

impl<T: Element> Pad<T> {
    /// Plans the padding of a dense tensor: `padding[axis]` is how many elements of `value` come
    /// before and after.
    pub fn new(shape: &[usize], padding: &[(usize, usize)], value: T) -> Result<Self, ShapeError> {
        if padding.len() != shape.len() {
            return Err(ShapeError::Rank {
                operand: "padding",
                expected: shape.len(),
                actual: padding.len(),
            });
        }
        let input_len = element_count(shape)?;
        let padded = |(&extent, &(before, after)): (&usize, &(usize, usize))| {
            extent.checked_add(before).and_then(|n| n.checked_add(after)).ok_or(ShapeError::TooLarge)
        };
        let output = shape.iter().zip(padding).map(padded).collect::<Result<Vec<_>, _>>()?;
        let output_len = element_count(&output)?;
        let mut merged: Vec<(usize, usize, usize)> = Vec::new();
        for ((&extent, &(before, _)), &out) in shape.iter().zip(padding).zip(&output) {
            match merged.last_mut() {
                // An axis that is not padded continues the one before it in larger units.
                Some((size, b, o)) if extent == out && output_len > 0 => {
                    (*size, *b, *o) = (*size * extent, *b * extent, *o * extent);
                }
                _ => merged.push((extent, before, out)),
            }
        }
        let inner = merged.pop().unwrap_or((1, 0, 1));
        let rows = if output_len == 0 { 0 } else { output_len / inner.2 };
        let chunks = Chunks::new(rows, inner.2, inner.2)?;
        Ok(Self { outer: merged, inner, shape: output, input_len, value, chunks, element: PhantomData })
    }

    /// Returns the shape of the output.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the row of the operand that a row of the output copies, if it is not all padding.
    fn source(&self, mut row: usize) -> Option<usize> {
        let (mut source, mut unit) = (0, 1);
        for &(extent, before, out) in self.outer.iter().rev() {
            let index = (row % out).checked_sub(before).filter(|&index| index < extent)?;
            source += index * unit;
            unit *= extent;
            row /= out;
        }
        Some(source)
    }
}

impl<T: Element> BlockOp for Pad<T> {
    type Input<'a> = &'a [T];
    type Output<'a> = &'a mut [T];
    type Piece<'a> = &'a mut [T];

    fn block_count(&self) -> usize {
        self.chunks.block_count()
    }

    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        self.chunks.split(output)
    }

    fn run_block(&self, block: usize, x: &[T], piece: &mut [T]) -> Result<(), ShapeError> {
        let rows = self.chunks.units_of(block, piece.len())?;
        check_len("operand", self.input_len, x.len())?;
        let (extent, before, out_extent) = self.inner;
        for (row, out) in rows.zip(piece.chunks_exact_mut(out_extent)) {
            match self.source(row) {
                Some(source) => {
                    let (head, rest) = out.split_at_mut(before);
                    let (middle, tail) = rest.split_at_mut(extent);
                    head.fill(self.value);
                    middle.copy_from_slice(&x[source * extent..][..extent]);
                    tail.fill(self.value);
                }
                None => out.fill(self.value),
            }
        }
        Ok(())
    }
}
