//! Broadcasting: two inputs with one result, where axes of extent 1 are repeated.

use tfrt_device::error::{DeviceError, Result};

use crate::product;

/// The most axes of a broadcast after merging neighbouring ones.
pub(crate) const MAX_RANK: usize = 6;

/// The shape of a result whose two inputs may be broadcast: its extents, and each input's strides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broadcast {
    pub(crate) extents: [u64; MAX_RANK],
    pub(crate) strides: [[u64; MAX_RANK]; 2],
    elements: u64,
    pub(crate) input_elements: [u64; 2],
}

impl Broadcast {
    /// Combines two shapes as NumPy does: aligned at the last axis, extents must be equal or one of
    /// them 1.
    ///
    /// # Errors
    /// `InvalidValue` for shapes that cannot be broadcast.
    pub fn new(a: &[u64], b: &[u64]) -> Result<Self> {
        if a == b {
            return Ok(Self::of_equal(product(a)?));
        }
        let rank = a.len().max(b.len());
        let extent = |shape: &[u64], axis: usize| {
            let missing = rank - shape.len();
            if axis < missing { 1 } else { shape[axis - missing] }
        };
        // From the last axis to the first: the extent, and whether each input advances along it.
        let mut merged: Vec<(u64, [bool; 2])> = Vec::new();
        for axis in (0..rank).rev() {
            let (x, y) = (extent(a, axis), extent(b, axis));
            let both = match (x, y) {
                (x, y) if x == y => x,
                (1, other) | (other, 1) => other,
                _ => {
                    let detail = format!("shapes {a:?} and {b:?} cannot be broadcast together");
                    return Err(DeviceError::invalid_value(detail));
                }
            };
            if both == 1 {
                continue;
            }
            let advances = [x == both, y == both];
            match merged.last_mut() {
                Some((extent, known)) if *known == advances => {
                    *extent = product(&[*extent, both])?;
                }
                _ => merged.push((both, advances)),
            }
        }
        Self::from_merged(&merged, [product(a)?, product(b)?])
    }

    /// Combines two inputs of one shape with this many elements.
    pub fn of_equal(elements: u64) -> Self {
        let (mut extents, mut strides) = ([1; MAX_RANK], [0; MAX_RANK]);
        if elements != 1 {
            (extents[MAX_RANK - 1], strides[MAX_RANK - 1]) = (elements, 1);
        }
        Self { extents, strides: [strides; 2], elements, input_elements: [elements; 2] }
    }

    fn from_merged(merged: &[(u64, [bool; 2])], input_elements: [u64; 2]) -> Result<Self> {
        if merged.len() > MAX_RANK {
            return Err(DeviceError::invalid_value("a broadcast alternates between more than six axes"));
        }
        let (mut extents, mut strides) = ([1; MAX_RANK], [[0; MAX_RANK]; 2]);
        let mut next = [1u64; 2];
        for (position, &(extent, advances)) in merged.iter().enumerate() {
            let axis = MAX_RANK - 1 - position;
            extents[axis] = extent;
            for input in 0..2 {
                if advances[input] {
                    strides[input][axis] = next[input];
                    next[input] *= extent;
                }
            }
        }
        Ok(Self { extents, strides, elements: product(&extents)?, input_elements })
    }

    /// Returns the number of elements of the result.
    pub fn elements(&self) -> u64 {
        self.elements
    }

    /// Returns whether both inputs have the result's shape.
    pub(crate) fn is_plain(&self) -> bool {
        self.input_elements == [self.elements; 2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_axes_are_merged() {
        let same = Broadcast::new(&[2, 3, 4], &[2, 3, 4]).unwrap();
        assert!(same.is_plain());
        assert_eq!(same.extents, [1, 1, 1, 1, 1, 24]);
        let bias = Broadcast::new(&[2, 3, 4], &[4]).unwrap();
        assert_eq!((bias.extents, bias.elements()), ([1, 1, 1, 1, 6, 4], 24));
        assert_eq!(bias.strides, [[0, 0, 0, 0, 4, 1], [0, 0, 0, 0, 0, 1]]);
        let outer = Broadcast::new(&[5, 1], &[1, 7]).unwrap();
        assert_eq!((outer.strides[0][4], outer.strides[1][5], outer.elements()), (1, 1, 35));
        let scalar = Broadcast::new(&[], &[2, 2]).unwrap();
        assert_eq!((scalar.extents[5], scalar.strides[0], scalar.input_elements), (4, [0; 6], [1, 4]));
        assert!(Broadcast::new(&[2], &[3]).is_err());
        assert_eq!(Broadcast::new(&[0, 3], &[1, 3]).unwrap().elements(), 0);
        assert!(Broadcast::new(&[u64::MAX, 2], &[1]).is_err());
        let alternating = [2, 1, 2, 1, 2, 1, 2];
        assert!(Broadcast::new(&alternating, &[1, 2, 1, 2, 1, 2, 1]).is_err());
    }
}
