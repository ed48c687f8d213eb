//! Sizes and positions in three dimensions.

use std::fmt;

/// The size of a grid or a block, or a position in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dim3 {
    /// The first dimension, which varies fastest.
    pub x: u32,
    /// The second dimension.
    pub y: u32,
    /// The third dimension.
    pub z: u32,
}

impl Dim3 {
    /// Creates a size or a position.
    #[must_use]
    pub const fn new(x: u32, y: u32, z: u32) -> Dim3 {
        Dim3 { x, y, z }
    }

    /// Returns the number of positions.
    #[must_use]
    pub fn volume(self) -> u64 {
        // Saturates instead of wrapping, because a launch of that size is rejected anyway.
        u64::from(self.x).saturating_mul(self.y.into()).saturating_mul(self.z.into())
    }

    /// Returns the position with this index, where `x` varies fastest. No dimension may be 0.
    pub(crate) fn position(self, index: u64) -> Dim3 {
        let (x, y) = (u64::from(self.x), u64::from(self.y));
        Dim3::new((index % x) as u32, (index / x % y) as u32, (index / x / y) as u32)
    }

    /// Returns the three components.
    pub(crate) fn axes(self) -> [u32; 3] {
        [self.x, self.y, self.z]
    }
}

impl From<u32> for Dim3 {
    fn from(x: u32) -> Dim3 {
        Dim3::new(x, 1, 1)
    }
}

impl From<(u32, u32)> for Dim3 {
    fn from((x, y): (u32, u32)) -> Dim3 {
        Dim3::new(x, y, 1)
    }
}

impl From<(u32, u32, u32)> for Dim3 {
    fn from((x, y, z): (u32, u32, u32)) -> Dim3 {
        Dim3::new(x, y, z)
    }
}

impl From<[u32; 3]> for Dim3 {
    fn from([x, y, z]: [u32; 3]) -> Dim3 {
        Dim3::new(x, y, z)
    }
}

impl fmt::Display for Dim3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}, {})", self.x, self.y, self.z)
    }
}
