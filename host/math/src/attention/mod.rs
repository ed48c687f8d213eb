//! Attention: the products of queries and keys, their softmax, and its products with values, a few
//! queries at a time, so that scores never leave the cache.
#![expect(unsafe_code, reason = "tiles take pointers")]

mod few;

use self::few::{FewScores, FewValues, InPlace};
use crate::error::check_len;
use crate::exp::exp_f32;
use crate::micro::{Epilogue, Packed, PackedSource, RowProduct};
use crate::shape::{StridedWalk, element_count, row_major_strides};
use crate::simd::{Loop, run_wide, vectorize_products};
use crate::softmax::row_max;
use crate::special::tanh_f32;
use crate::{BlockOp, ShapeError, TileMut, broadcast_shapes, map_in_place, zip_in_place};

/// The number of scores that are computed at a time. They stay in the second-level cache.
const SCORES: usize = 32 * 1024;
/// The least number of rows that are worth laying out keys and values once more.
const LEAST_ROWS: usize = 32;
/// The greatest number of rows for which keys and values are read where they are. To lay them out
/// would take longer than to multiply them.
const FEW_ROWS: usize = 8;
/// The number of blocks for each worker, so that a worker that starts late causes little delay.
const BLOCKS_PER_WORKER: usize = 3;

/// A dense tensor, seen with its axes in another order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reordered {
    dims: Vec<usize>,
    strides: Vec<usize>,
    len: usize,
}

impl Reordered {
    /// Sees a dense tensor of this shape as if its axis `order[i]` were axis `i`.
    ///
    /// # Errors
    /// Shape errors if `order` is no permutation of the axes.
    pub fn new(shape: &[usize], order: &[usize]) -> Result<Self, ShapeError> {
        check_permutation(shape.len(), order)?;
        let strides = row_major_strides(shape);
        Ok(Self {
            dims: order.iter().map(|&axis| shape[axis]).collect(),
            strides: order.iter().map(|&axis| strides[axis]).collect(),
            len: element_count(shape)?,
        })
    }

    /// Returns the extents in the order in which they are seen.
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// Returns the stride of each axis of a tensor of shape `dims` that this one is broadcast to.
    /// It may have fewer axes.
    fn strides_in(&self, dims: &[usize]) -> Vec<usize> {
        let missing = dims.len().saturating_sub(self.dims.len());
        let own =
            self.dims.iter().zip(&self.strides).map(|(&dim, &stride)| if dim == 1 { 0 } else { stride });
        std::iter::repeat_n(0, missing).chain(own).collect()
    }
}

fn check_permutation(rank: usize, order: &[usize]) -> Result<(), ShapeError> {
    if order.len() != rank {
        return Err(ShapeError::Rank { operand: "order of axes", expected: rank, actual: order.len() });
    }
    let mut seen = vec![false; rank];
    for &axis in order {
        match seen.get_mut(axis) {
            Some(flag) if !*flag => *flag = true,
            _ => return Err(ShapeError::Axis { axis, rank }),
        }
    }
    Ok(())
}

/// The operands of [`Attention`] in memory.
#[derive(Debug, Clone, Copy)]
pub struct AttentionInput<'a> {
    /// The queries.
    pub queries: &'a [f32],
    /// The keys.
    pub keys: &'a [f32],
    /// The values.
    pub values: &'a [f32],
    /// What is added to the scores, if the plan has it.
    pub mask: Option<&'a [f32]>,
}

/// The shapes of the operands of [`Attention`].
#[derive(Debug, Clone)]
pub struct AttentionShape {
    /// The queries: a batch of matrices with a row for each query. All axes before the last two
    /// are the batch, which is broadcast.
    pub queries: Reordered,
    /// The keys: a row for each.
    pub keys: Reordered,
    /// The values: a row for each key.
    pub values: Reordered,
    /// What is added to the scores, broadcast to a row for each query and a column for each key.
    pub mask: Option<Reordered>,
    /// The number of keys that the first query of each matrix sees, at least one, if it does not
    /// see all. Each query sees one more than the one before it.
    pub seen_by_first: Option<usize>,
    /// The axis of the matrices of results (batch, queries, columns of values) that each axis of
    /// the output is. The last one stays last.
    pub output: Vec<usize>,
}

/// `softmax(scale · Q · Kᵀ + mask) · V` for each matrix of a batch. The scores may be
/// [capped](Self::capped) before the mask is added.
#[derive(Debug, Clone)]
pub struct Attention {
    scale: f32,
    cap: Option<f32>,
    /// The extents of the results before they are reordered: batch, rows, columns.
    dims: Vec<usize>,
    depth: usize,
    key_count: usize,
    /// The extent of each axis of the batch, with the strides of queries, keys, values and mask.
    batch: Vec<(usize, [usize; 4])>,
    batch_count: usize,
    row_stride: usize,
    key_strides: [usize; 2],
    value_strides: [usize; 2],
    /// The strides of the mask's rows and columns, if there is a mask.
    mask_strides: Option<[usize; 2]>,
    /// The least lengths of queries, keys, values and mask.
    lens: [usize; 4],
    seen_by_first: usize,
    output: Vec<usize>,
    output_shape: Vec<usize>,
    /// The rows of a block.
    block_rows: usize,
}

impl Attention {
    /// Plans attention for operands of these shapes and about `workers` threads at a time.
    ///
    /// # Errors
    /// Shape errors if the operands do not fit together, or the elements of a query or of a row of
    /// the output are not adjacent.
    pub fn new(shape: &AttentionShape, scale: f32, workers: usize) -> Result<Self, ShapeError> {
        let AttentionShape { queries, keys, values, mask, seen_by_first, output } = shape;
        let rank = queries.dims.len();
        for operand in [Some(queries), Some(keys), Some(values), mask.as_ref()].into_iter().flatten() {
            let fits = operand.dims.len() == rank || mask.as_ref() == Some(operand);
            if !fits || operand.dims.len() > rank || rank < 2 {
                let actual = operand.dims.len();
                return Err(ShapeError::Rank {
                    operand: "operand of attention",
                    expected: rank.max(2),
                    actual,
                });
            }
        }
        if *seen_by_first == Some(0) {
            return Err(ShapeError::Parameter("the first query must see a key"));
        }
        let (depth, columns) = (queries.dims[rank - 1], values.dims[rank - 1]);
        let fits = keys.dims[rank - 1] == depth && (queries.strides[rank - 1] == 1 || depth <= 1);
        if !fits {
            return Err(ShapeError::Parameter(
                "queries and keys must have rows of the same length, and queries adjacent elements",
            ));
        }
        // The scores' shape, and the batch of the results.
        let scored = |queries: &Reordered, keys: &Reordered| {
            [&queries.dims[..rank - 1], &[1], &keys.dims[..rank - 2], &[1, keys.dims[rank - 2]]].concat()
        };
        let both = scored(queries, keys);
        let mut scores = broadcast_shapes(&both[..rank], &both[rank..])?;
        if let Some(mask) = mask {
            scores = broadcast_shapes(&scores, &mask.dims)?;
        }
        let (rows, key_count) = (scores[rank - 2], scores[rank - 1]);
        if values.dims[rank - 2] != key_count {
            return Err(ShapeError::Parameter("there must be a row of values for each key"));
        }
        let batch_dims = broadcast_shapes(&scores[..rank - 2], &values.dims[..rank - 2])?;
        let dims = [&batch_dims[..], &[rows, columns]].concat();
        check_permutation(rank, output)?;
        if output[rank - 1] != rank - 1 {
            return Err(ShapeError::Parameter("the output's last axis must be that of the values' columns"));
        }
        let with = |last: [usize; 2]| [&batch_dims[..], &last].concat();
        let strides = [
            queries.strides_in(&with([rows, depth])),
            keys.strides_in(&with([key_count, depth])),
            values.strides_in(&with([key_count, columns])),
            mask.as_ref().map_or(vec![0; rank], |mask| mask.strides_in(&with([rows, key_count]))),
        ];
        let last_two = |strides: &Vec<usize>| [strides[rank - 2], strides[rank - 1]];
        let batch = batch_dims.iter().enumerate();
        let batch = batch.map(|(axis, &dim)| (dim, [0, 1, 2, 3].map(|operand| strides[operand][axis])));
        let batch_count = element_count(&batch_dims)?;
        let output_shape: Vec<usize> = output.iter().map(|&axis| dims[axis]).collect();
        element_count(&output_shape)?;
        key_count.checked_mul(SCORES.max(rows)).ok_or(ShapeError::TooLarge)?;
        let wanted = (workers * BLOCKS_PER_WORKER).div_ceil(batch_count.max(1));
        let block_rows = if workers > 1 { rows.div_ceil(wanted).max(LEAST_ROWS) } else { rows };
        Ok(Self {
            scale,
            cap: None,
            depth,
            key_count,
            batch: batch.collect(),
            batch_count,
            row_stride: strides[0][rank - 2],
            key_strides: last_two(&strides[1]),
            value_strides: last_two(&strides[2]),
            mask_strides: mask.as_ref().map(|_| last_two(&strides[3])),
            lens: [queries.len, keys.len, values.len, mask.as_ref().map_or(0, |mask| mask.len)],
            dims,
            seen_by_first: seen_by_first.unwrap_or(key_count),
            output: output.clone(),
            output_shape,
            block_rows: block_rows.clamp(1, rows.max(1)),
        })
    }

    /// Keeps scores within `±cap`, which is positive: each becomes `cap · tanh(score / cap)`.
    pub fn capped(mut self, cap: f32) -> Self {
        self.cap = Some(cap);
        self
    }

    /// Returns the shape of the output.
    pub fn shape(&self) -> &[usize] {
        &self.output_shape
    }

    fn rows(&self) -> usize {
        self.dims[self.dims.len() - 2]
    }

    /// Computes the scores of some rows of queries from `first` on, of which each element of
    /// `queries` has a pointer, into `scores`.
    fn score(&self, keys: &Packed<f32>, queries: &[*const f32], offsets: &[usize], scores: &mut [f32]) {
        if self.depth == 0 || scores.is_empty() {
            return scores.fill(0.0);
        }
        let product = RowProduct {
            pointers: queries,
            run_len: self.depth,
            nothing: std::ptr::null(),
            packed: keys,
            panels: 0..keys.panels(),
            out: scores.as_mut_ptr(),
            offsets,
            residual: std::ptr::null(),
            next: None,
            epilogue: Epilogue { bias: None, relu: false },
        };
        // SAFETY: each pointer refers to a row of `depth` elements, and `scores` has a row of a
        // column for each key at each offset.
        unsafe { product.run() };
    }

    /// Computes all rows of a matrix, of which there are few. Its operands begin at these places.
    fn few_rows(
        &self,
        [query_at, key_at, value_at, mask_at]: [usize; 4],
        input: AttentionInput<'_>,
        mask: &[f32],
        out: &mut TileMut<'_, f32>,
    ) {
        let from = |data, at| <[f32]>::get(data, at..).unwrap_or_default();
        let (key_count, cols) = (self.key_count, out.cols());
        let queries =
            InPlace { data: from(input.queries, query_at), stride: self.row_stride, cols: self.depth };
        let keys = InPlace { data: from(input.keys, key_at), stride: self.key_strides[0], cols: self.depth };
        let values = InPlace { data: from(input.values, value_at), stride: self.value_strides[0], cols };
        let mut scores = vec![0.0; out.rows() * key_count];
        if key_count > 0 && self.depth > 0 {
            vectorize_products(FewScores { queries, keys, key_count, scores: &mut scores });
        }
        for row in 0..out.rows() {
            let (scores, out) = (&mut scores[row * key_count..][..key_count], out.row_mut(row));
            out.fill(0.0);
            if key_count > 0 {
                let mask = self.mask_strides.map(|[along_rows, _]| from(mask, mask_at + row * along_rows));
                let factor = 1.0 / self.exponentials(row, scores, mask);
                vectorize_products(FewValues { values, weights: scores, out });
                map_in_place(out, |x| x * factor);
            }
        }
    }

    /// Turns the scores of a row into exponentials and returns their sum. `mask` is the mask's part
    /// from this row on.
    fn exponentials(&self, row: usize, scores: &mut [f32], mask: Option<&[f32]>) -> f32 {
        let seen = self.seen_by_first.saturating_add(row).min(scores.len());
        let (scores, hidden) = scores.split_at_mut(seen);
        hidden.fill(0.0);
        let mut scale = self.scale;
        if let Some(cap) = self.cap {
            let factor = scale / cap;
            map_in_place(scores, |x| tanh_f32(x * factor));
            scale = cap;
        }
        match (mask, self.mask_strides) {
            (Some(mask), Some([_, 0])) => {
                let summand = mask[0];
                map_in_place(scores, |x| x * scale + summand);
            }
            (Some(mask), _) => zip_in_place(scores, mask, |x, summand| x * scale + summand),
            _ => map_in_place(scores, |x| x * scale),
        }
        let (greatest, mut sum) = (row_max(scores), 0.0);
        run_wide(Exponentials { scores, greatest, sum: &mut sum });
        sum
    }
}

/// Replaces scores by exponentials of their differences from the greatest, and sums them.
struct Exponentials<'a> {
    scores: &'a mut [f32],
    greatest: f32,
    sum: &'a mut f32,
}

impl Loop for Exponentials<'_> {
    #[inline(always)]
    fn run(self) {
        // Partial sums, so that the additions do not wait for each other.
        let mut lanes = [0.0f32; 16];
        let mut chunks = self.scores.chunks_exact_mut(lanes.len());
        for scores in &mut chunks {
            for (x, lane) in scores.iter_mut().zip(&mut lanes) {
                *x = exp_f32(*x - self.greatest);
                *lane += *x;
            }
        }
        for (x, lane) in chunks.into_remainder().iter_mut().zip(&mut lanes) {
            *x = exp_f32(*x - self.greatest);
            *lane += *x;
        }
        *self.sum = lanes.iter().sum();
    }
}

impl BlockOp for Attention {
    type Input<'a> = AttentionInput<'a>;
    type Output<'a> = &'a mut [f32];
    type Piece<'a> = TileMut<'a, f32>;

    fn block_count(&self) -> usize {
        if self.dims.contains(&0) { 0 } else { self.batch_count * self.rows().div_ceil(self.block_rows) }
    }

    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        TileMut::views(output, &self.output_shape, &self.output, self.block_rows)
    }

    fn run_block(
        &self,
        block: usize,
        input: AttentionInput<'_>,
        mut piece: TileMut<'_, f32>,
    ) -> Result<(), ShapeError> {
        let count = self.block_count();
        if block >= count {
            return Err(ShapeError::Block { block, count });
        }
        let mask: &[f32] = if self.mask_strides.is_some() { input.mask.unwrap_or_default() } else { &[] };
        let lens = [input.queries.len(), input.keys.len(), input.values.len(), mask.len()];
        for ((operand, expected), actual) in
            ["queries", "keys", "values", "mask"].into_iter().zip(self.lens).zip(lens)
        {
            check_len(operand, expected, actual)?;
        }
        let cuts = self.rows().div_ceil(self.block_rows);
        let (matrix, first) = (block / cuts, block % cuts * self.block_rows);
        check_len("rows of the output block", self.block_rows.min(self.rows() - first), piece.rows())?;
        check_len("columns of the output block", self.dims[self.dims.len() - 1], piece.cols())?;
        let [query_at, key_at, value_at, mask_at] = StridedWalk::new(&self.batch, matrix).offsets();
        let pack =
            |data: &[f32], at: usize, [rows, cols]: [usize; 2], [row_stride, col_stride]: [usize; 2]| {
                let data = if rows == 0 || cols == 0 { &[][..] } else { &data[at..] };
                let source = PackedSource { data, runs: &[0], run_len: rows, row_stride, col_stride };
                Packed::pack(&source, cols, |x| x)
            };
        let [along_keys, along_depth] = self.key_strides;
        if let (true, 1, 1) = (self.rows() <= FEW_ROWS, along_depth, self.value_strides[1]) {
            self.few_rows([query_at, key_at, value_at, mask_at], input, mask, &mut piece);
            return Ok(());
        }
        let keys = pack(input.keys, key_at, [self.depth, self.key_count], [along_depth, along_keys])?;
        let values = pack(input.values, value_at, [self.key_count, piece.cols()], self.value_strides)?;
        let most = (SCORES / self.key_count.max(1)).clamp(1, self.block_rows);
        let mut scores = vec![0.0; most * self.key_count];
        let score_offsets: Vec<usize> = (0..most).map(|row| row * self.key_count).collect();
        for start in (0..piece.rows()).step_by(most) {
            let rows = start..(start + most).min(piece.rows());
            let query = |row: usize| {
                // An empty row may lie anywhere.
                let at = query_at + (first + row) * self.row_stride;
                input.queries.get(at..).unwrap_or_default().as_ptr()
            };
            let queries: Vec<_> = rows.clone().map(query).collect();
            let scores = &mut scores[..rows.len() * self.key_count];
            self.score(&keys, &queries, &score_offsets[..rows.len()], scores);
            let mut factors = Vec::with_capacity(rows.len());
            if self.key_count > 0 {
                for (row, scores) in rows.clone().zip(scores.chunks_exact_mut(self.key_count)) {
                    let at = |[along_rows, _]: [usize; 2]| mask_at + (first + row) * along_rows;
                    let mask = self.mask_strides.map(|strides| mask.get(at(strides)..).unwrap_or_default());
                    factors.push(1.0 / self.exponentials(first + row, scores, mask));
                }
            }
            weigh(&values, scores, &factors, &mut piece.window_mut(rows, 0..values.cols())?);
        }
        Ok(())
    }
}

/// Computes the sums of values, weighted with the exponentials of each row and scaled with its
/// factor.
fn weigh(values: &Packed<f32>, weights: &[f32], factors: &[f32], out: &mut TileMut<'_, f32>) {
    if factors.is_empty() {
        // There are no keys.
        return out.each_run(|run| run.fill(0.0));
    }
    let stride = out.row_stride();
    let offsets: Vec<usize> = (0..factors.len()).map(|row| row * stride).collect();
    let pointers: Vec<_> = weights.chunks_exact(values.depth()).map(<[f32]>::as_ptr).collect();
    let product = RowProduct {
        pointers: &pointers,
        run_len: values.depth(),
        nothing: std::ptr::null(),
        packed: values,
        panels: 0..values.panels(),
        out: out.as_mut_ptr(),
        offsets: &offsets,
        residual: std::ptr::null(),
        next: None,
        epilogue: Epilogue { bias: None, relu: false },
    };
    // SAFETY: each pointer refers to a row with a weight for each key. The window is exclusive and
    // has as many rows, `stride` apart, and the columns of the values.
    unsafe { product.run() };
    for (row, &factor) in factors.iter().enumerate() {
        map_in_place(out.row_mut(row), |x| x * factor);
    }
}

#[cfg(test)]
mod tests;
