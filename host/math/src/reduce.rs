//! Reductions over any set of axes: sum, mean, product, maximum, minimum.

use std::marker::PhantomData;
use std::ops::Range;

use crate::error::check_len;
use crate::parallel::Chunks;
use crate::shape::{StridedWalk, element_count, row_major_strides};
use crate::simd::vectorize;
use crate::{BlockOp, Element, Number, ParallelFor, ShapeError, ops};

/// A way of combining many elements into one.
pub trait Reduction<T>: Copy + Send + Sync + 'static {
    /// The accumulator.
    type Acc: Element;
    /// The accumulator of no elements.
    const IDENTITY: Self::Acc;
    /// Adds one element to an accumulator.
    fn fold(acc: Self::Acc, x: T) -> Self::Acc;
    /// Combines two accumulators.
    fn merge(a: Self::Acc, b: Self::Acc) -> Self::Acc;
    /// Returns the result over `count` elements.
    fn finish(acc: Self::Acc, count: usize) -> T;
}

/// The sum, accumulated in [`Number::Acc`]; zero for no elements.
#[derive(Debug, Clone, Copy)]
pub struct Sum;
/// The arithmetic mean, accumulated in [`Number::Acc`]; NaN (integers: zero) for no elements.
/// Integers round toward zero.
#[derive(Debug, Clone, Copy)]
pub struct Mean;
/// The product, accumulated in [`Number::Acc`]; one for no elements.
#[derive(Debug, Clone, Copy)]
pub struct Prod;
/// The greatest element, or NaN if there is one; [`Number::LOWEST`] for no elements.
#[derive(Debug, Clone, Copy)]
pub struct Max;
/// The least element, or NaN if there is one; [`Number::HIGHEST`] for no elements.
#[derive(Debug, Clone, Copy)]
pub struct Min;

impl<T: Number> Reduction<T> for Sum {
    type Acc = T::Acc;
    const IDENTITY: T::Acc = T::Acc::ZERO;
    #[inline]
    fn fold(acc: T::Acc, x: T) -> T::Acc {
        acc.plus(x.to_acc())
    }
    #[inline]
    fn merge(a: T::Acc, b: T::Acc) -> T::Acc {
        a.plus(b)
    }
    #[inline]
    fn finish(acc: T::Acc, _count: usize) -> T {
        T::from_acc(acc)
    }
}

impl<T: Number> Reduction<T> for Mean {
    type Acc = T::Acc;
    const IDENTITY: T::Acc = T::Acc::ZERO;
    #[inline]
    fn fold(acc: T::Acc, x: T) -> T::Acc {
        acc.plus(x.to_acc())
    }
    #[inline]
    fn merge(a: T::Acc, b: T::Acc) -> T::Acc {
        a.plus(b)
    }
    #[inline]
    fn finish(acc: T::Acc, count: usize) -> T {
        T::from_acc(acc.over(T::Acc::from_count(count)))
    }
}

impl<T: Number> Reduction<T> for Prod {
    type Acc = T::Acc;
    const IDENTITY: T::Acc = T::Acc::ONE;
    #[inline]
    fn fold(acc: T::Acc, x: T) -> T::Acc {
        acc.times(x.to_acc())
    }
    #[inline]
    fn merge(a: T::Acc, b: T::Acc) -> T::Acc {
        a.times(b)
    }
    #[inline]
    fn finish(acc: T::Acc, _count: usize) -> T {
        T::from_acc(acc)
    }
}

macro_rules! extreme {
    ($name:ident, $identity:ident, $f:path) => {
        impl<T: Number> Reduction<T> for $name {
            type Acc = T;
            const IDENTITY: T = T::$identity;
            #[inline]
            fn fold(acc: T, x: T) -> T {
                $f(x, acc)
            }
            #[inline]
            fn merge(a: T, b: T) -> T {
                $f(a, b)
            }
            #[inline]
            fn finish(acc: T, _count: usize) -> T {
                acc
            }
        }
    };
}

extreme!(Max, LOWEST, ops::maximum);
extreme!(Min, HIGHEST, ops::minimum);

/// The number of elements of the operand in one part of a reduction to few outputs.
const PART_ELEMENTS: usize = 64 * 1024;
/// The greatest number of parts, and of outputs for which parts pay off.
const MAX_PARTS: usize = 64;
const MAX_PART_OUTPUTS: usize = 8192;
/// The number of accumulators of a run of adjacent elements.
const LANES: usize = 16;
/// The number of adjacent outputs that blocks keep together, so that each reads whole cache lines.
const LANES_TOGETHER: usize = 16;

/// A reduction over some axes, which the output does not have.
///
/// Reductions of many elements to few (all elements, or the columns of a tall matrix) have too few
/// outputs to be cut by output. [`Reduce::partials`] cuts those by input instead, and
/// [`Reduce::finish`] combines the parts. [`Reduce::run`] chooses the best way; all ways return the
/// same bits.
#[derive(Debug, Clone)]
pub struct Reduce<T, R> {
    plan: Plan,
    types: PhantomData<fn(T) -> R>,
}

/// The part of a reduction that depends on shapes only.
#[derive(Debug, Clone)]
struct Plan {
    /// Kept axes, without the innermost run of `lanes`.
    kept: Vec<(usize, [usize; 1])>,
    /// Reduced axes, without the innermost run of `run`.
    reduced: Vec<(usize, [usize; 1])>,
    /// The number of adjacent elements reduced together; 1 if the last axis is kept.
    run: usize,
    /// The number of adjacent elements kept separate; 1 if the last axis is reduced.
    lanes: usize,
    /// The number of elements that are reduced to one output.
    count: usize,
    input_len: usize,
    parts: usize,
    chunks: Chunks,
}

impl Plan {
    fn new(shape: &[usize], axes: &[usize]) -> Result<Self, ShapeError> {
        let mut is_reduced = vec![false; shape.len()];
        for &axis in axes {
            match is_reduced.get_mut(axis) {
                Some(flag) if !*flag => *flag = true,
                _ => return Err(ShapeError::Axis { axis, rank: shape.len() }),
            }
        }
        let input_len = element_count(shape)?;
        let select = |wanted: bool| -> Vec<usize> {
            shape.iter().zip(&is_reduced).filter(|&(_, &r)| r == wanted).map(|(&extent, _)| extent).collect()
        };
        let (count, outputs) = (element_count(&select(true))?, element_count(&select(false))?);
        // Without elements nothing is read, and the products of the other extents may overflow.
        let strides = if input_len == 0 { vec![0; shape.len()] } else { row_major_strides(shape) };
        let mut merged: Vec<(usize, usize, bool)> = Vec::new();
        for ((&extent, stride), &reduce) in shape.iter().zip(strides).zip(&is_reduced) {
            match merged.last_mut() {
                _ if extent == 1 => {}
                Some((size, before, kind)) if *kind == reduce => {
                    (*size, *before) = (size.saturating_mul(extent), stride)
                }
                _ => merged.push((extent, stride, reduce)),
            }
        }
        let one_axis = merged.iter().filter(|axis| !axis.2).count()
            == usize::from(merged.last().is_some_and(|l| !l.2))
            && merged.iter().filter(|axis| axis.2).count() == 1;
        let (run, lanes) = match merged.pop() {
            Some((extent, _, true)) => (extent, 1),
            Some((extent, _, false)) => (1, extent),
            None => (1, 1),
        };
        let axes_of = |kind: bool| -> Vec<(usize, [usize; 1])> {
            merged
                .iter()
                .filter(|axis| axis.2 == kind)
                .map(|&(extent, stride, _)| (extent, [stride]))
                .collect()
        };
        let parts = if one_axis && outputs > 0 && outputs <= MAX_PART_OUTPUTS {
            (input_len / PART_ELEMENTS).clamp(1, MAX_PARTS).min(count.max(1))
        } else {
            1
        };
        let chunks = Chunks::new(outputs, 1, count)?.at_least(lanes.min(LANES_TOGETHER));
        let (kept, reduced) = (axes_of(false), axes_of(true));
        Ok(Self { kept, reduced, run, lanes, count, input_len, parts, chunks })
    }

    /// Returns the rows of the reduced axis in a part.
    fn part_rows(&self, part: usize) -> Range<usize> {
        let each = self.count.div_ceil(self.parts);
        (part * each).min(self.count)..((part + 1) * each).min(self.count)
    }
}

impl<T: Element, R: Reduction<T>> Reduce<T, R> {
    /// Plans the reduction of a dense tensor over `axes`, each named once, in any order.
    pub fn new(shape: &[usize], axes: &[usize]) -> Result<Self, ShapeError> {
        Ok(Self { plan: Plan::new(shape, axes)?, types: PhantomData })
    }

    /// Returns the number of outputs.
    pub fn output_len(&self) -> usize {
        self.plan.chunks.len()
    }

    /// Returns the first stage of a reduction of many elements to few: blocks that each reduce one
    /// part of the operand. Returns `None` if the plan's own blocks are as good.
    pub fn partials(&self) -> Option<ReducePartials<T, R>> {
        (self.plan.parts > 1).then(|| ReducePartials(self.clone()))
    }

    /// Runs the second stage, which combines the output of [`Reduce::partials`]. This is cheap.
    pub fn finish(&self, partials: &[R::Acc], output: &mut [T]) -> Result<(), ShapeError> {
        let outputs = self.output_len();
        check_len(
            "partial results",
            self.plan.parts.checked_mul(outputs).ok_or(ShapeError::TooLarge)?,
            partials.len(),
        )?;
        check_len("output", outputs, output.len())?;
        for (lane, o) in output.iter_mut().enumerate() {
            let merged =
                partials[lane..].iter().step_by(outputs).fold(R::IDENTITY, |acc, &p| R::merge(acc, p));
            *o = R::finish(merged, self.plan.count);
        }
        Ok(())
    }

    /// Runs the reduction, in one or two stages.
    pub fn run(&self, parallel: &dyn ParallelFor, x: &[T], output: &mut [T]) -> Result<(), ShapeError> {
        let Some(first) = self.partials() else { return BlockOp::run(self, parallel, x, output) };
        let mut partials = vec![R::IDENTITY; first.len()];
        first.run(parallel, x, &mut partials)?;
        self.finish(&partials, output)
    }

    /// Reduces one part into `accs`, one for each of the outputs `from..from + accs.len()`.
    fn reduce_part(&self, part: usize, x: &[T], from: usize, accs: &mut [R::Acc]) {
        let rows = self.plan.part_rows(part);
        if self.plan.lanes == 1 {
            accs.fill(reduce_run::<T, R>(&x[rows]));
            return;
        }
        accs.fill(R::IDENTITY);
        for row in rows {
            fold_lanes::<T, R>(accs, &x[row * self.plan.lanes + from..]);
        }
    }

    /// Reduces whole outputs `from..` of the kept position `base`, which differ only in the
    /// innermost axis.
    fn reduce_outputs(&self, x: &[T], base: usize, from: usize, accs: &mut [R::Acc]) {
        accs.fill(R::IDENTITY);
        if self.plan.count == 0 {
            return;
        }
        let mut walk = StridedWalk::new(&self.plan.reduced, 0);
        let positions: usize = self.plan.reduced.iter().map(|axis| axis.0).product();
        for _ in 0..positions {
            let [offset] = walk.offsets();
            if self.plan.lanes == 1 {
                let run = &x[base + offset..][..self.plan.run];
                accs.iter_mut().for_each(|acc| *acc = R::merge(*acc, reduce_run::<T, R>(run)));
            } else {
                fold_lanes::<T, R>(accs, &x[base + offset + from..]);
            }
            walk.advance();
        }
    }
}

/// Adds the next element of each lane to its accumulator.
#[inline(never)]
fn fold_lanes<T: Copy, R: Reduction<T>>(accs: &mut [R::Acc], x: &[T]) {
    vectorize(|| accs.iter_mut().zip(x).for_each(|(acc, &x)| *acc = R::fold(*acc, x)));
}

/// Reduces runs of `run` adjacent elements, which are fewer than lanes, one run after the other.
#[inline(never)]
fn reduce_short_runs<T: Copy, R: Reduction<T>>(x: &[T], run: usize, out: &mut [T]) {
    for (out, x) in out.iter_mut().zip(x.chunks_exact(run)) {
        *out = R::finish(x.iter().fold(R::IDENTITY, |acc, &x| R::fold(acc, x)), run);
    }
}

/// Reduces adjacent elements, in lanes and in blocks, so that rounding errors grow slowly.
#[inline(never)]
pub(crate) fn reduce_run<T: Copy, R: Reduction<T>>(x: &[T]) -> R::Acc {
    const BLOCK: usize = 256 * LANES;
    vectorize(|| {
        x.chunks(BLOCK).fold(R::IDENTITY, |total, block| {
            let mut lanes = [R::IDENTITY; LANES];
            let chunks = block.chunks_exact(LANES);
            let rest = chunks.remainder();
            for chunk in chunks {
                lanes.iter_mut().zip(chunk).for_each(|(acc, &x)| *acc = R::fold(*acc, x));
            }
            let rest = rest.iter().fold(R::IDENTITY, |acc, &x| R::fold(acc, x));
            R::merge(total, lanes.into_iter().fold(rest, R::merge))
        })
    })
}

impl<T: Element, R: Reduction<T>> BlockOp for Reduce<T, R> {
    type Input<'a> = &'a [T];
    type Output<'a> = &'a mut [T];
    type Piece<'a> = &'a mut [T];

    fn block_count(&self) -> usize {
        self.plan.chunks.block_count()
    }

    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        self.plan.chunks.split(output)
    }

    fn run_block(&self, block: usize, x: &[T], mut piece: &mut [T]) -> Result<(), ShapeError> {
        let range = self.plan.chunks.elements_of(block, piece.len())?;
        check_len("operand", self.plan.input_len, x.len())?;
        let run = self.plan.run;
        if (1..LANES).contains(&run) && run == self.plan.count && self.plan.parts == 1 && self.plan.lanes == 1
        {
            // Nothing but the last axis is reduced, so that the runs are one after the other.
            reduce_short_runs::<T, R>(&x[range.start * run..range.end * run], run, piece);
            return Ok(());
        }
        let mut walk = StridedWalk::new(&self.plan.kept, range.start / self.plan.lanes);
        let mut from = range.start % self.plan.lanes;
        let mut accs = vec![R::IDENTITY; piece.len().min(self.plan.lanes)];
        let mut part_accs = if self.plan.parts > 1 { accs.clone() } else { Vec::new() };
        while !piece.is_empty() {
            let (now, rest) = piece.split_at_mut(piece.len().min(self.plan.lanes - from));
            let accs = &mut accs[..now.len()];
            if self.plan.parts > 1 {
                accs.fill(R::IDENTITY);
                for part in 0..self.plan.parts {
                    let part_accs = &mut part_accs[..now.len()];
                    self.reduce_part(part, x, from, part_accs);
                    accs.iter_mut().zip(part_accs).for_each(|(acc, p)| *acc = R::merge(*acc, *p));
                }
            } else {
                self.reduce_outputs(x, walk.offsets()[0], from, accs);
            }
            now.iter_mut().zip(accs).for_each(|(o, acc)| *o = R::finish(*acc, self.plan.count));
            piece = rest;
            from = 0;
            walk.advance();
        }
        Ok(())
    }
}

/// The first stage of a [`Reduce`] of many elements to few. Its output is scratch memory:
/// [`ReducePartials::len`] accumulators.
#[derive(Debug)]
pub struct ReducePartials<T, R>(Reduce<T, R>);

impl<T: Element, R: Reduction<T>> ReducePartials<T, R> {
    /// Returns the number of accumulators that are written.
    #[expect(clippy::len_without_is_empty, reason = "it is never empty: there is more than one part")]
    pub fn len(&self) -> usize {
        self.0.plan.parts * self.0.output_len()
    }
}

impl<T: Element, R: Reduction<T>> BlockOp for ReducePartials<T, R> {
    type Input<'a> = &'a [T];
    type Output<'a> = &'a mut [R::Acc];
    type Piece<'a> = &'a mut [R::Acc];

    fn block_count(&self) -> usize {
        self.0.plan.parts
    }

    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        check_len("partial results", self.len(), output.len())?;
        Ok(output.chunks_mut(self.0.output_len()).collect())
    }

    fn run_block(&self, block: usize, x: &[T], piece: &mut [R::Acc]) -> Result<(), ShapeError> {
        if block >= self.0.plan.parts {
            return Err(ShapeError::Block { block, count: self.0.plan.parts });
        }
        check_len("output block", self.0.output_len(), piece.len())?;
        check_len("operand", self.0.plan.input_len, x.len())?;
        self.0.reduce_part(block, x, 0, piece);
        Ok(())
    }
}

/// Returns the sums of the columns of a `rows` × `cols` matrix: the gradient of a bias.
pub fn column_sums<T: Number>(rows: usize, cols: usize) -> Result<Reduce<T, Sum>, ShapeError> {
    Reduce::new(&[rows, cols], &[0])
}
