//! The division of a convolution into blocks.

/// The number of products that justifies a separate block: about 5 µs on one core with long
/// vectors.
const BLOCK_PRODUCTS: usize = 1 << 19;
/// The number of blocks for each worker, if there is enough work. With more blocks, a delayed
/// worker costs less.
const BLOCKS_PER_WORKER: usize = 8;
/// The cost of fetching an element of either operand from memory, in products.
const FETCH: usize = 6;
/// A cut may be slower than the best one by one part in this many.
const SLACK: usize = 20;
/// Blocks have multiples of this many columns: whole panels on every processor.
pub(super) const COLS: usize = crate::micro::MOST_COLS;

/// Returns the rows and columns of a block, for `rows` × `depth` by `depth` × `cols` run by
/// `workers` threads. This is the cut with which the last worker finishes first, if a block costs
/// its products and the fetching of its operands.
pub(super) fn cut(rows: usize, depth: usize, cols: usize, workers: usize) -> (usize, usize) {
    best((rows, 1), depth, (cols, cols.div_ceil(COLS)), workers)
}

/// Returns the rows of a block that has all columns, as [`cut`] does.
pub(super) fn cut_rows(rows: usize, depth: usize, cols: usize, workers: usize) -> usize {
    best((rows, 1), depth, (cols, 1), workers).0
}

/// Returns the rows and columns of a block whose rows are a multiple of a unit.
pub(super) fn cut_units(rows: (usize, usize), depth: usize, cols: usize, workers: usize) -> (usize, usize) {
    best(rows, depth, (cols, cols.div_ceil(COLS)), workers)
}

/// Returns the best cut whose rows are a multiple of a unit, and whose columns are in at most `widths`
/// blocks.
fn best(
    (rows, unit): (usize, usize),
    depth: usize,
    (cols, widths): (usize, usize),
    workers: usize,
) -> (usize, usize) {
    let whole = (rows.max(1), cols.max(1));
    let products = rows.saturating_mul(cols).saturating_mul(depth);
    // With few rows, fetching the columns takes longer than the products.
    let fetched = rows.saturating_add(cols).saturating_mul(depth);
    let cost = products.saturating_add(fetched.saturating_mul(FETCH));
    let useful = (cost / BLOCK_PRODUCTS).min(512);
    let wanted = workers.saturating_mul(BLOCKS_PER_WORKER).min(useful);
    if workers <= 1 || wanted <= 1 || products == 0 {
        return whole;
    }
    let widths = widths.min(wanted);
    let candidates = (1..=widths).flat_map(|across| {
        let tile_cols = cols.div_ceil(across).next_multiple_of(COLS).min(cols);
        (1..=wanted.div_ceil(across)).map(move |down| (rows.div_ceil(unit).div_ceil(down) * unit, tile_cols))
    });
    let blocks = |&(tile_rows, tile_cols): &(usize, usize)| {
        rows.div_ceil(tile_rows).saturating_mul(cols.div_ceil(tile_cols))
    };
    let end = |tile: &(usize, usize)| {
        let products = tile.0.saturating_mul(tile.1).saturating_mul(depth);
        let fetched = tile.0.saturating_add(tile.1).saturating_mul(depth);
        let cost = products.saturating_add(fetched.saturating_mul(FETCH)).saturating_add(BLOCK_PRODUCTS / 16);
        blocks(tile).div_ceil(workers).saturating_mul(cost)
    };
    let soonest = candidates.clone().map(|tile| end(&tile)).min().unwrap_or(0);
    // Chooses the finest of the cuts that are nearly as good, because it suffers least from a
    // delayed worker.
    let bound = soonest.saturating_add(soonest / SLACK);
    candidates.filter(|tile| end(tile) <= bound).max_by_key(blocks).unwrap_or(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_or_serial_convolutions_stay_whole() {
        assert_eq!(cut(8, 8, 8, 16), (8, 8));
        assert_eq!(cut(3136, 576, 64, 1), (3136, 64));
        assert_eq!(cut(0, 0, 0, 4), (1, 1));
        assert_eq!(cut(0, 1 << 30, 64, 4), (1, 64));
        assert_eq!(cut(64, 1 << 30, 0, 4), (64, 1));
    }

    #[test]
    fn a_row_is_cut_where_its_columns_are_many_to_fetch() {
        assert_eq!(cut(1, 72, 24, 2), (1, 24));
        assert_eq!(cut(1, 960, 240, 2), (1, 128));
        assert!(cut(1, 960, 1280, 2).1 <= 640);
    }

    #[test]
    fn rows_are_cut_where_columns_must_not_be() {
        for (rows, depth, cols) in [(196, 54, 480), (49, 150, 960), (3136, 54, 72)] {
            let tile_rows = cut_rows(rows, depth, cols, 2);
            assert!(tile_rows * 2 <= rows + 1, "{rows} {depth} {cols}: {tile_rows}");
        }
        assert_eq!(cut_rows(8, 8, 8, 2), 8);
    }

    #[test]
    fn every_worker_has_its_share() {
        for (rows, depth, cols) in [
            (12544, 147, 64),
            (3136, 576, 64),
            (784, 1152, 128),
            (196, 2304, 256),
            (49, 4608, 512),
            (49, 512, 2048),
        ] {
            for workers in [2, 3, 4, 8] {
                let (tile_rows, tile_cols) = cut(rows, depth, cols, workers);
                let blocks = rows.div_ceil(tile_rows) * cols.div_ceil(tile_cols);
                let longest = blocks.div_ceil(workers) * tile_rows * tile_cols * workers;
                assert!(
                    longest * 4 <= rows * cols * 5,
                    "{rows} {cols} by {workers}: {tile_rows} {tile_cols}"
                );
                assert!(tile_cols % COLS == 0 || tile_cols == cols);
            }
        }
    }
}
