//! The destination of a product's tiles: cutting rows into tiles, and columns that are not a whole
//! number of vectors.
#![expect(unsafe_code, reason = "tiles take pointers")]

use std::{ops::Range, ptr};

use super::{MicroElement, Store};

/// Cuts `count` rows into tiles of nearly the same number of rows, at most `most`, because a short
/// last tile would cost nearly as much as a full one.
pub(crate) fn even_tiles(count: usize, most: usize) -> impl ExactSizeIterator<Item = Range<usize>> {
    let tiles = count.div_ceil(most);
    (0..tiles).map(move |tile| tile * count / tiles..(tile + 1) * count / tiles)
}

/// The destination of one tile: a [`Store`] with any number of columns up to a panel's.
pub(crate) struct Target<'a, E> {
    /// The output at the tile's first column.
    pub(crate) out: *mut E,
    /// The offset from `out` to each row of the tile, in elements.
    pub(crate) offsets: &'a [usize],
    pub(crate) cols: usize,
    /// Whether the results are added to the old contents.
    pub(crate) accumulate: bool,
    /// One element for each column, if present.
    pub(crate) bias: Option<&'a [E]>,
    /// The values to add to each element, in the layout of the output; or null.
    pub(crate) residual: *const E,
    pub(crate) relu: bool,
}

impl<E: MicroElement> Target<'_, E> {
    /// Calls `compute` with the number of vectors and the place to store them.
    ///
    /// # Safety
    /// There are at most `most_rows` rows for `cols`, and at most a panel's columns. `out` is valid
    /// for writes, and `residual` for reads, of `cols` elements at each offset. The bias has `cols`
    /// elements.
    pub(crate) unsafe fn store(&self, compute: impl FnOnce(usize, Store<E>)) {
        let lanes = E::micro().lanes;
        let store = Store {
            out: self.out,
            offsets: self.offsets.as_ptr(),
            accumulate: self.accumulate,
            bias: self.bias.map_or(ptr::null(), <[E]>::as_ptr),
            residual: self.residual,
            relu: self.relu,
            part: self.cols % lanes,
        };
        compute(self.cols.div_ceil(lanes), store);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::micro::ROWS;

    #[test]
    fn tiles_are_even() {
        for count in 0..100 {
            let tiles: Vec<_> = even_tiles(count, ROWS).collect();
            assert_eq!(tiles.len(), count.div_ceil(ROWS));
            assert_eq!(tiles.iter().map(ExactSizeIterator::len).sum::<usize>(), count);
            assert!(tiles.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert!(tiles.iter().all(|tile| (1..=ROWS).contains(&tile.len())));
            assert!(count < 20 || tiles.iter().all(|tile| tile.len() >= 4), "{count}");
        }
    }
}
