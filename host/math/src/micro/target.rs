//! Where the tiles of a product go: cutting rows into tiles, and columns that are no whole number of vectors.
#![expect(unsafe_code, reason = "tiles take pointers")]

use std::{ops::Range, ptr};

use super::{MicroElement, ROWS, Store};

/// Cuts `count` rows into tiles of nearly the same number of rows, at most [`ROWS`]: a short last tile would cost nearly
/// as much as a full one.
pub(crate) fn even_tiles(count: usize) -> impl Iterator<Item = Range<usize>> {
    let tiles = count.div_ceil(ROWS);
    (0..tiles).map(move |tile| tile * count / tiles..(tile + 1) * count / tiles)
}

/// Where one tile's results go: a [`Store`] whose columns may be any number up to a panel's.
pub(crate) struct Target<'a, E> {
    /// The output at the tile's first column.
    pub(crate) out: *mut E,
    /// For each row of the tile, the elements from `out` to the row.
    pub(crate) offsets: &'a [usize],
    pub(crate) cols: usize,
    /// Whether to add to what is there.
    pub(crate) accumulate: bool,
    /// One element for each column, if any.
    pub(crate) bias: Option<&'a [E]>,
    /// What to add to each element, laid out as the output; or null.
    pub(crate) residual: *const E,
    pub(crate) relu: bool,
}

impl<E: MicroElement> Target<'_, E> {
    /// Calls `compute` with the number of vectors and where they may be stored.
    ///
    /// # Safety
    /// There are at most [`ROWS`] rows and a panel's columns. `out` may be written, and `residual` read, for `cols`
    /// elements at each offset; the bias has `cols` elements.
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

    #[test]
    fn tiles_are_even() {
        for count in 0..100 {
            let tiles: Vec<_> = even_tiles(count).collect();
            assert_eq!(tiles.len(), count.div_ceil(ROWS));
            assert_eq!(tiles.iter().map(ExactSizeIterator::len).sum::<usize>(), count);
            assert!(tiles.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert!(tiles.iter().all(|tile| (1..=ROWS).contains(&tile.len())));
            assert!(count < 20 || tiles.iter().all(|tile| tile.len() >= 4), "{count}");
        }
    }
}
