//! NumPy's broadcasting rule, turned once into strides with adjacent axes merged.

use crate::ShapeError;
use crate::shape::{element_count, row_major_strides};

/// Returns the shape that two shapes broadcast to: aligned at the last axis, an extent of 1
/// stretches to the other's.
pub fn broadcast_shapes(left: &[usize], right: &[usize]) -> Result<Vec<usize>, ShapeError> {
    let rank = left.len().max(right.len());
    let extent =
        |shape: &[usize], axis: usize| (axis + shape.len()).checked_sub(rank).map_or(1, |i| shape[i]);
    (0..rank)
        .map(|axis| match (extent(left, axis), extent(right, axis)) {
            (a, b) if a == b => Ok(a),
            (1, b) => Ok(b),
            (a, 1) => Ok(a),
            _ => Err(ShapeError::Broadcast { left: left.to_vec(), right: right.to_vec() }),
        })
        .collect()
}

/// How two dense operands are read while the output is written in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broadcast {
    /// Extent and each operand's stride per merged axis, without the innermost.
    pub(crate) outer: Vec<(usize, [usize; 2])>,
    /// Extent of the innermost merged axis.
    pub(crate) inner: usize,
    /// Whether each operand moves along the innermost axis (with stride 1) or stays.
    pub(crate) moves: [bool; 2],
    lens: [usize; 2],
    shape: Vec<usize>,
}

impl Broadcast {
    /// Plans the broadcast of dense row-major operands of these shapes.
    pub fn new(left: &[usize], right: &[usize]) -> Result<Self, ShapeError> {
        let shape = broadcast_shapes(left, right)?;
        element_count(&shape)?;
        let lens = [element_count(left)?, element_count(right)?];
        let strides = [left, right].map(|operand| {
            let missing = shape.len() - operand.len();
            let mut strides = vec![0; missing];
            // An axis of extent 1 is never moved along, so that it merges with its neighbours.
            let dense = row_major_strides(operand);
            strides.extend(
                operand.iter().zip(dense).map(|(&extent, stride)| if extent == 1 { 0 } else { stride }),
            );
            strides
        });
        let mut merged: Vec<(usize, [usize; 2])> = Vec::new();
        for (axis, &extent) in shape.iter().enumerate() {
            if extent == 1 {
                continue;
            }
            let here = [strides[0][axis], strides[1][axis]];
            match merged.last_mut() {
                // The axis before is this one continued, for both operands. (Products only saturate
                // without elements.)
                Some((size, before)) if (0..2).all(|i| before[i] == here[i].saturating_mul(extent)) => {
                    *size = size.saturating_mul(extent);
                    *before = here;
                }
                _ => merged.push((extent, here)),
            }
        }
        let (inner, moves) = merged.pop().map_or((1, [0, 0]), |last| last);
        Ok(Self { outer: merged, inner, moves: moves.map(|stride| stride != 0), lens, shape })
    }

    /// Returns the shape of the output.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Elements of the left and of the right operand.
    pub fn operand_lens(&self) -> [usize; 2] {
        self.lens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_follow_numpy() {
        for (a, b, expected) in [
            (&[2, 3][..], &[3][..], Some(vec![2, 3])),
            (&[], &[4], Some(vec![4])),
            (&[1, 5], &[4, 1], Some(vec![4, 5])),
            (&[0], &[1], Some(vec![0])),
            (&[0], &[2], None),
            (&[2, 3], &[2], None),
        ] {
            assert_eq!(broadcast_shapes(a, b).ok(), expected, "{a:?} {b:?}");
        }
    }

    #[test]
    fn equal_shapes_merge_into_one_run() {
        let plan = Broadcast::new(&[4, 1, 5, 6], &[4, 1, 5, 6]).unwrap();
        assert_eq!((plan.outer.len(), plan.inner, plan.moves), (0, 120, [true, true]));
        let bias = Broadcast::new(&[4, 5, 6], &[6]).unwrap();
        assert_eq!((bias.outer, bias.inner), (vec![(20, [6, 0])], 6));
        let scalar = Broadcast::new(&[4, 5], &[]).unwrap();
        assert_eq!((scalar.outer.len(), scalar.inner, scalar.moves), (0, 20, [true, false]));
    }

    #[test]
    fn too_many_elements_are_an_error() {
        assert_eq!(Broadcast::new(&[usize::MAX, 1], &[3]), Err(ShapeError::TooLarge));
    }
}
