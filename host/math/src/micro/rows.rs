//! Cutting rows into tiles.

use std::ops::Range;

/// Cuts `count` rows into tiles of nearly the same number of rows, at most `most`, because a short
/// last tile would cost nearly as much as a full one.
pub(crate) fn even_tiles(count: usize, most: usize) -> impl ExactSizeIterator<Item = Range<usize>> {
    let tiles = count.div_ceil(most);
    (0..tiles).map(move |tile| tile * count / tiles..(tile + 1) * count / tiles)
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
