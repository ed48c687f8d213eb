//! Attention: the products of queries and keys, their softmax, and its products with values, a few
//! queries at a time, so that scores never leave the cache.
#![expect(unsafe_code, reason = "tiles take pointers")]

use crate::error::check_len;
use crate::exp::exp_f32;
use crate::micro::{Epilogue, Packed, PackedSource, RowProduct};
use crate::shape::{StridedWalk, element_count, row_major_strides};
use crate::simd::{Loop, run_wide};
use crate::softmax::row_max;
use crate::{BlockOp, ShapeError, TileMut, broadcast_shapes, map_in_place, zip_in_place};

/// The number of scores that are computed at a time. They stay in the second-level cache.
const SCORES: usize = 32 * 1024;
/// The least number of rows that are worth laying out keys and values once more.
const LEAST_ROWS: usize = 32;
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
    /// The axis of the matrices of results (batch, queries, columns of values) that each axis of
    /// the output is. The last one stays last.
    pub output: Vec<usize>,
}

/// `softmax(scale · Q · Kᵀ + mask) · V` for each matrix of a batch.
#[derive(Debug, Clone)]
pub struct Attention {
    scale: f32,
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
        let AttentionShape { queries, keys, values, mask, output } = shape;
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
            output: output.clone(),
            output_shape,
            block_rows: block_rows.clamp(1, rows.max(1)),
        })
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

    /// Turns a row of scores into exponentials and returns their sum. `mask` is the mask's part
    /// from this row on.
    fn exponentials(&self, scores: &mut [f32], mask: Option<&[f32]>) -> f32 {
        let scale = self.scale;
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
                    factors.push(1.0 / self.exponentials(scores, mask));
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
mod tests {
    use super::*;
    use crate::Serial;

    /// Numbers between -1 and 1.
    fn numbers(count: usize, seed: usize) -> Vec<f32> {
        (0..count).map(|i| ((i * 7919 + seed * 104_729) % 1009) as f32 / 504.5 - 1.0).collect()
    }

    fn len(shape: &[usize]) -> usize {
        shape.iter().product()
    }

    /// The element of a reordered tensor at a place of what it is broadcast to.
    fn at(view: &Reordered, data: &[f32], place: &[usize]) -> f64 {
        let missing = place.len() - view.dims.len();
        let axes = view.dims.iter().zip(&view.strides).zip(&place[missing..]);
        f64::from(data[axes.map(|((&dim, stride), &i)| if dim == 1 { 0 } else { i * stride }).sum::<usize>()])
    }

    /// Attention by its definition, in double precision, in the order of the output.
    fn reference(plan: &Attention, shape: &AttentionShape, input: AttentionInput<'_>) -> Vec<f64> {
        let rank = plan.dims.len();
        let place = |mut index: usize| {
            let mut place = vec![0; rank];
            for (axis, &own) in plan.output.iter().enumerate().rev() {
                place[own] = index % plan.output_shape[axis];
                index /= plan.output_shape[axis];
            }
            place
        };
        let result = |index: usize| {
            let place = place(index);
            let with = |a: usize, b: usize| [&place[..rank - 2], &[a, b]].concat();
            let score = |key: usize| {
                let products = (0..plan.depth).map(|d| {
                    at(&shape.queries, input.queries, &with(place[rank - 2], d))
                        * at(&shape.keys, input.keys, &with(key, d))
                });
                let mask = shape.mask.as_ref().zip(input.mask);
                let summand = mask.map_or(0.0, |(view, mask)| at(view, mask, &with(place[rank - 2], key)));
                products.sum::<f64>() * f64::from(plan.scale) + summand
            };
            let scores: Vec<f64> = (0..plan.key_count).map(score).collect();
            let greatest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let weights: Vec<f64> = scores.iter().map(|score| (score - greatest).exp()).collect();
            let sum: f64 = weights.iter().sum();
            let values = weights.iter().enumerate().map(|(key, weight)| {
                weight / sum * at(&shape.values, input.values, &with(key, place[rank - 1]))
            });
            values.sum()
        };
        (0..len(&plan.output_shape)).map(result).collect()
    }

    struct Case<'a> {
        queries: (&'a [usize], &'a [usize]),
        keys: (&'a [usize], &'a [usize]),
        values: (&'a [usize], &'a [usize]),
        mask: Option<&'a [usize]>,
        output: &'a [usize],
    }

    fn check(case: &Case<'_>) {
        let view = |(shape, order): (&[usize], &[usize])| Reordered::new(shape, order).unwrap();
        let mask = case.mask.map(|mask| view((mask, &(0..mask.len()).collect::<Vec<_>>())));
        let shape = AttentionShape {
            queries: view(case.queries),
            keys: view(case.keys),
            values: view(case.values),
            mask,
            output: case.output.to_vec(),
        };
        let [queries, keys, values] = [case.queries.0, case.keys.0, case.values.0];
        let (queries, keys) = (numbers(len(queries), 1), numbers(len(keys), 2));
        let (values, mask) = (numbers(len(values), 3), case.mask.map(|mask| numbers(len(mask), 4)));
        let input = AttentionInput { queries: &queries, keys: &keys, values: &values, mask: mask.as_deref() };
        let plan = Attention::new(&shape, 0.7, 1).unwrap();
        let expected = reference(&plan, &shape, input);
        let mut out = vec![f32::NAN; expected.len()];
        plan.run(&Serial, input, &mut out).unwrap();
        for (out, expected) in out.iter().zip(&expected) {
            assert!((f64::from(*out) - expected).abs() < 1e-5, "{out}, not {expected}");
        }
        // The results are the same for any cut into blocks.
        let cut = Attention::new(&shape, 0.7, 5).unwrap();
        let mut again = vec![f32::NAN; expected.len()];
        cut.run(&Serial, input, &mut again).unwrap();
        assert_eq!(out, again);
    }

    #[test]
    fn results_are_those_of_the_definition() {
        let plain = &[0, 1, 2, 3][..];
        for (rows, keys, depth, columns) in
            [(1, 1, 1, 1), (5, 7, 3, 17), (70, 33, 4, 5), (3, 130, 6, 8), (2, 3, 200, 66)]
        {
            for mask in
                [None, Some(&[1, 1, rows, keys][..]), Some(&[2, 1, 1, keys]), Some(&[rows, 1]), Some(&[])]
            {
                // With heads before rows, and with heads beside their columns.
                check(&Case {
                    queries: (&[2, 3, rows, depth], plain),
                    keys: (&[2, 3, keys, depth], plain),
                    values: (&[2, 3, keys, columns], plain),
                    mask,
                    output: plain,
                });
                check(&Case {
                    queries: (&[rows, 2, 3, depth], &[1, 2, 0, 3]),
                    keys: (&[2, keys, 3, depth], &[0, 2, 1, 3]),
                    values: (&[2, 3, columns, keys], &[0, 1, 3, 2]),
                    mask,
                    output: &[2, 0, 1, 3],
                });
            }
        }
    }

    #[test]
    fn batches_and_rows_are_broadcast() {
        check(&Case {
            queries: (&[2, 1, 3, 4], &[0, 1, 2, 3]),
            keys: (&[1, 5, 6, 4], &[0, 1, 2, 3]),
            values: (&[2, 5, 6, 7], &[0, 1, 2, 3]),
            mask: None,
            output: &[0, 2, 1, 3],
        });
        // A mask of more rows than there are queries repeats them.
        check(&Case {
            queries: (&[1, 4], &[0, 1]),
            keys: (&[6, 4], &[0, 1]),
            values: (&[6, 3], &[0, 1]),
            mask: Some(&[5, 6]),
            output: &[0, 1],
        });
    }

    #[test]
    fn extents_may_be_zero() {
        let view = |shape: &[usize]| Reordered::new(shape, &[0, 1]).unwrap();
        for ([rows, keys, depth, columns], expected) in
            [([2, 0, 3, 4], 0.0), ([2, 3, 0, 4], 0.5), ([0, 3, 2, 4], 0.0), ([2, 3, 2, 0], 0.0)]
        {
            let shape = AttentionShape {
                queries: view(&[rows, depth]),
                keys: view(&[keys, depth]),
                values: view(&[keys, columns]),
                mask: None,
                output: vec![0, 1],
            };
            let plan = Attention::new(&shape, 1.0, 2).unwrap();
            let [queries, all_keys, values] =
                [rows * depth, keys * depth, keys * columns].map(|count| vec![0.5; count]);
            let input = AttentionInput { queries: &queries, keys: &all_keys, values: &values, mask: None };
            let mut out = vec![f32::NAN; rows * columns];
            plan.run(&Serial, input, &mut out).unwrap();
            assert!(out.iter().all(|x| (x - expected).abs() < 1e-6), "{out:?}");
        }
    }

    #[test]
    fn operands_that_do_not_fit_are_errors() {
        let view = |shape: &[usize], order: &[usize]| Reordered::new(shape, order).unwrap();
        let good = AttentionShape {
            queries: view(&[2, 3], &[0, 1]),
            keys: view(&[4, 3], &[0, 1]),
            values: view(&[4, 5], &[0, 1]),
            mask: None,
            output: vec![0, 1],
        };
        let plan = Attention::new(&good, 1.0, 1).unwrap();
        let [queries, keys, values] = [vec![0.0; 6], vec![0.0; 12], vec![0.0; 20]];
        let input = AttentionInput { queries: &queries, keys: &keys, values: &values, mask: None };
        assert!(plan.run(&Serial, input, &mut [0.0; 9]).is_err());
        assert!(plan.run(&Serial, AttentionInput { keys: &queries, ..input }, &mut [0.0; 10]).is_err());
        for bad in [
            AttentionShape { queries: view(&[3, 2], &[1, 0]), ..good.clone() },
            AttentionShape { keys: view(&[4, 2], &[0, 1]), ..good.clone() },
            AttentionShape { values: view(&[3, 5], &[0, 1]), ..good.clone() },
            AttentionShape { values: view(&[1, 4, 5], &[0, 1, 2]), ..good.clone() },
            AttentionShape { mask: Some(view(&[3, 4], &[0, 1])), ..good.clone() },
            AttentionShape { mask: Some(view(&[1, 1, 4], &[0, 1, 2])), ..good.clone() },
            AttentionShape { output: vec![1, 0], ..good.clone() },
            AttentionShape { output: vec![0], ..good.clone() },
        ] {
            assert!(Attention::new(&bad, 1.0, 1).is_err(), "{bad:?}");
        }
        assert!(Reordered::new(&[2, 3], &[0, 0]).is_err() && Reordered::new(&[2, 3], &[0]).is_err());
    }
}
