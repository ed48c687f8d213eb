//! The division of a product into tiles.

/// The number of floating-point operations that justifies a separate task: about 20 µs on one core.
const BLOCK_FLOPS: usize = 2 << 20;
/// The cost of fetching an element of an operand from memory, in floating-point operations.
const FETCH_FLOPS: usize = 12;
/// The number of tiles for each worker, so that a worker that starts late causes little delay.
const TILES_PER_WORKER: usize = 3;

/// Returns the rows and columns of a tile for `batch` products of `rows` × `k` by `k` × `cols` and
/// `workers` threads.
///
/// Besides its arithmetic, a tile costs the packing of its rows of A and its columns of B. Among
/// the cuts into enough tiles, this is the one that packs least.
pub(crate) fn choose_tiles(
    batch: usize,
    rows: usize,
    k: usize,
    cols: usize,
    workers: usize,
) -> (usize, usize) {
    choose(batch, [rows, k, cols], (workers, TILES_PER_WORKER))
}

/// As [`choose_tiles`], with one tile for each worker. Where rows of B are read as they are, long
/// parts of them come from memory faster than short ones.
pub(crate) fn choose_long_tiles(batch: usize, extents: [usize; 3], workers: usize) -> (usize, usize) {
    choose(batch, extents, (workers, 1))
}

fn choose(
    batch: usize,
    [rows, k, cols]: [usize; 3],
    (workers, tiles_per_worker): (usize, usize),
) -> (usize, usize) {
    let whole = (rows.max(1), cols.max(1));
    let flops = rows.saturating_mul(cols).saturating_mul(k).saturating_mul(2);
    // With few rows, fetching B takes longer than the arithmetic.
    let fetched = rows.saturating_add(cols).saturating_mul(k);
    let cost = flops.saturating_add(fetched.saturating_mul(FETCH_FLOPS));
    let useful = cost.saturating_mul(batch) / BLOCK_FLOPS;
    let wanted = if workers > 1 { workers.saturating_mul(tiles_per_worker).min(useful).min(4096) } else { 1 };
    let wanted = wanted.div_ceil(batch.max(1));
    if wanted <= 1 || flops == 0 {
        return whole;
    }
    // Multiples of the micro-kernels' tiles, so that only the last tiles are partly empty.
    let rows_of = |parts: usize| round_up(rows.div_ceil(parts), 16).min(whole.0);
    let cols_of = |parts: usize| round_up(cols.div_ceil(parts), 64).min(whole.1);
    (1..=wanted)
        .map(|down| (rows_of(down), cols_of(wanted.div_ceil(down))))
        .min_by_key(|&(tile_rows, tile_cols)| {
            let (down, across) = (rows.div_ceil(tile_rows), cols.div_ceil(tile_cols));
            let missing = wanted.saturating_sub(down.saturating_mul(across));
            // First come cuts with enough tiles, within a quarter; among these, the one with the
            // least packing.
            (missing * 4 / wanted, across.saturating_mul(rows).saturating_add(down.saturating_mul(cols)))
        })
        .unwrap_or(whole)
}

fn round_up(n: usize, unit: usize) -> usize {
    n.checked_next_multiple_of(unit).unwrap_or(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_or_serial_products_stay_whole() {
        assert_eq!(choose_tiles(1, 8, 8, 8, 16), (8, 8));
        assert_eq!(choose_tiles(1, 4096, 4096, 4096, 1), (4096, 4096));
        assert_eq!(choose_tiles(0, 0, 0, 0, 4), (1, 1));
        assert_eq!(choose_tiles(1, 0, 1 << 30, 64, 4), (1, 64));
        assert_eq!(choose_tiles(1, 64, 1 << 30, 0, 4), (64, 1));
    }

    #[test]
    fn skinny_products_are_cut_along_the_long_side() {
        let (rows, cols) = choose_tiles(1, 1, 4096, 4096, 8);
        assert!(rows == 1 && cols <= 1024, "{rows} {cols}");
        let (rows, cols) = choose_tiles(1, 1, 960, 1280, 2);
        assert!(rows == 1 && cols <= 640, "{rows} {cols}");
        assert_eq!(choose_tiles(1, 1, 128, 512, 2), (1, 512));
        assert_eq!(choose_long_tiles(1, [1, 1536, 4096], 2), (1, 2048));
        let (rows, cols) = choose_tiles(1, 100_000, 147, 64, 8);
        assert!(cols == 64 && rows <= 100_000 / 18, "{rows} {cols}");
    }

    #[test]
    fn there_is_work_for_every_worker() {
        let (rows, cols) = choose_tiles(1, 2048, 2048, 2048, 16);
        assert!(2048usize.div_ceil(rows) * 2048usize.div_ceil(cols) >= 36);
        assert_eq!(choose_tiles(64, 512, 512, 512, 8), (512, 512));
    }
}
