//! Where the tiles of a product go: cutting rows into tiles, and columns that are no whole number of vectors.
#![expect(unsafe_code, reason = "tiles take pointers")]

use std::{ops::Range, ptr};

use super::{MOST_COLS, MicroElement, ROWS, Store};

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
    /// There are at most [`ROWS`] rows and [`MOST_COLS`] columns. `out` may be written, and `residual` read, for `cols`
    /// elements at each offset; the bias has `cols` elements.
    pub(crate) unsafe fn store(&self, compute: impl FnOnce(usize, Store<E>)) {
        let lanes = E::micro().lanes;
        let vectors = self.cols.div_ceil(lanes);
        if self.cols.is_multiple_of(lanes) {
            let store = Store {
                out: self.out,
                offsets: self.offsets.as_ptr(),
                accumulate: self.accumulate,
                bias: self.bias.map_or(ptr::null(), <[E]>::as_ptr),
                residual: self.residual,
                relu: self.relu,
            };
            return compute(vectors, store);
        }
        let offsets: [usize; ROWS] = std::array::from_fn(|row| row * MOST_COLS);
        let mut out = [E::ZERO; ROWS * MOST_COLS];
        let (mut bias, mut residual) = ([E::ZERO; MOST_COLS], [E::ZERO; ROWS * MOST_COLS]);
        if let Some(given) = self.bias {
            bias[..self.cols].copy_from_slice(given);
        }
        for (row, &offset) in self.offsets.iter().enumerate() {
            let at = row * MOST_COLS;
            if self.accumulate {
                // SAFETY: `cols` elements may be read here, and the local tile has `MOST_COLS` of them in each row.
                unsafe { ptr::copy_nonoverlapping(self.out.add(offset), out[at..].as_mut_ptr(), self.cols) };
            }
            if !self.residual.is_null() {
                let to = residual[at..].as_mut_ptr();
                // SAFETY: as above.
                unsafe { ptr::copy_nonoverlapping(self.residual.add(offset), to, self.cols) };
            }
        }
        let local = Store {
            out: out.as_mut_ptr(),
            offsets: offsets.as_ptr(),
            accumulate: self.accumulate,
            bias: if self.bias.is_some() { bias.as_ptr() } else { ptr::null() },
            residual: if self.residual.is_null() { ptr::null() } else { residual.as_ptr() },
            relu: self.relu,
        };
        compute(vectors, local);
        for (row, &offset) in self.offsets.iter().enumerate() {
            let from = out[row * MOST_COLS..].as_ptr();
            // SAFETY: `cols` elements may be written here.
            unsafe { ptr::copy_nonoverlapping(from, self.out.add(offset), self.cols) };
        }
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
