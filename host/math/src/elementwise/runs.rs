//! Outputs given as a function of a run of units, for operations that need no separate plan, and
//! the loops that such functions consist of.

use std::{fmt, ops::Range};

use crate::parallel::Chunks;
use crate::simd::{Loop, run_wide};
use crate::{BlockOp, Element, ShapeError};

/// A function that computes the units of a range into their elements. Every matching closure
/// implements it.
///
/// It is a separate trait because the table of a `dyn Fn` has three copies of the function, and
/// there are thousands of these.
pub trait RunFn<O>: Send + Sync {
    /// Computes `units` into `out`.
    fn compute(&self, units: Range<usize>, out: &mut [O]) -> Result<(), ShapeError>;
}

impl<O, F: Fn(Range<usize>, &mut [O]) -> Result<(), ShapeError> + Send + Sync> RunFn<O> for F {
    fn compute(&self, units: Range<usize>, out: &mut [O]) -> Result<(), ShapeError> {
        self(units, out)
    }
}

/// An output cut into runs of whole units (elements, rows, matrices), each computed by a function
/// that owns its operands.
pub struct Runs<O> {
    chunks: Chunks,
    f: Box<dyn RunFn<O>>,
}

impl<O: Element> Runs<O> {
    /// Plans `count` units of `unit` elements, each of which costs as much as `cost` elements of
    /// streaming. Elements that the function does not set keep their previous values.
    pub fn new(count: usize, unit: usize, cost: usize, f: Box<dyn RunFn<O>>) -> Result<Self, ShapeError> {
        Ok(Self { chunks: Chunks::new(count, unit, cost)?, f })
    }

    /// Returns whether such a plan would have at most one run, so that calling the function
    /// directly is enough.
    #[inline]
    pub fn is_one(count: usize, cost: usize) -> bool {
        count <= Chunks::units_worth_a_block(cost)
    }
}

impl<O: Element> BlockOp for Runs<O> {
    type Input<'a> = ();
    type Output<'a> = &'a mut [O];
    type Piece<'a> = &'a mut [O];

    fn block_count(&self) -> usize {
        self.chunks.block_count()
    }

    fn split<'a>(&self, output: Self::Output<'a>) -> Result<Vec<Self::Piece<'a>>, ShapeError> {
        self.chunks.split(output)
    }

    fn run_block(&self, block: usize, (): (), piece: &mut [O]) -> Result<(), ShapeError> {
        self.f.compute(self.chunks.units_of(block, piece.len())?, piece)
    }
}

impl<O> fmt::Debug for Runs<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runs").field("chunks", &self.chunks).finish_non_exhaustive()
    }
}

/// The loop of a function of one element. Every such function implements it. As an object, it lets
/// all functions of the same types share the code around the loop.
pub trait UnaryLoop<A, O> {
    /// Computes `out[i] = f(x[i])`, up to the end of the shorter slice.
    fn map(&self, out: &mut [O], x: &[A]);
}

impl<A: Copy, O, F: Fn(A) -> O> UnaryLoop<A, O> for F {
    fn map(&self, out: &mut [O], x: &[A]) {
        run_wide(Map { f: self, out, x });
    }
}

/// The loop of a function of two elements. Every such function implements it.
///
/// It has only one loop, because there are hundreds of functions, and their loops take most of the
/// time to compile. [`with_left`] and [`with_right`] repeat an operand that is the same for all.
pub trait BinaryLoop<A, B, O> {
    /// Computes `out[i] = f(a[i], b[i])`, up to the end of the shortest slice.
    fn zip(&self, out: &mut [O], a: &[A], b: &[B]);
}

impl<A: Copy, B: Copy, O, F: Fn(A, B) -> O> BinaryLoop<A, B, O> for F {
    fn zip(&self, out: &mut [O], a: &[A], b: &[B]) {
        run_wide(Zip { f: self, out, a, b });
    }
}

struct Map<'a, A, O, F> {
    f: &'a F,
    out: &'a mut [O],
    x: &'a [A],
}

impl<A: Copy, O, F: Fn(A) -> O> Loop for Map<'_, A, O, F> {
    #[inline(always)]
    fn run(self) {
        self.out.iter_mut().zip(self.x).for_each(|(o, &x)| *o = (self.f)(x));
    }
}

struct Zip<'a, A, B, O, F> {
    f: &'a F,
    out: &'a mut [O],
    a: &'a [A],
    b: &'a [B],
}

impl<A: Copy, B: Copy, O, F: Fn(A, B) -> O> Loop for Zip<'_, A, B, O, F> {
    #[inline(always)]
    fn run(self) {
        let elements = self.out.iter_mut().zip(self.a).zip(self.b);
        elements.for_each(|((o, &a), &b)| *o = (self.f)(a, b));
    }
}

struct InPlace<'a, O, F> {
    f: F,
    out: &'a mut [O],
}

impl<O: Copy, F: Fn(O) -> O> Loop for InPlace<'_, O, F> {
    #[inline(always)]
    fn run(self) {
        self.out.iter_mut().for_each(|o| *o = (self.f)(*o));
    }
}

struct ZipInPlace<'a, A, O, F> {
    f: F,
    out: &'a mut [O],
    x: &'a [A],
}

impl<A: Copy, O: Copy, F: Fn(O, A) -> O> Loop for ZipInPlace<'_, A, O, F> {
    #[inline(always)]
    fn run(self) {
        self.out.iter_mut().zip(self.x).for_each(|(o, &x)| *o = (self.f)(*o, x));
    }
}

/// Computes `out[i] = f(a, b[i])`, up to the end of the shorter slice.
pub fn with_left<A: Copy, B, O>(f: &dyn BinaryLoop<A, B, O>, out: &mut [O], a: A, b: &[B]) {
    repeat(a, out, b, |out, a, b| f.zip(out, a, b));
}

/// Computes `out[i] = f(a[i], b)`, up to the end of the shorter slice.
pub fn with_right<A, B: Copy, O>(f: &dyn BinaryLoop<A, B, O>, out: &mut [O], a: &[A], b: B) {
    repeat(b, out, a, |out, b, a| f.zip(out, a, b));
}

/// Calls `f` for pieces of two slices with as many copies of `one`, up to the end of the shorter
/// slice.
fn repeat<T: Copy, X, O>(one: T, out: &mut [O], x: &[X], f: impl Fn(&mut [O], &[T], &[X])) {
    // As few copies as suffice, and no more than stay in the first-level cache.
    match out.len() {
        ..=16 => f(out, &[one; 16], x),
        17..=128 => f(out, &[one; 128], x),
        _ => {
            let copies = [one; 512];
            let pieces = out.chunks_mut(copies.len()).zip(x.chunks(copies.len()));
            pieces.for_each(|(out, x)| f(out, &copies, x));
        }
    }
}

/// Computes `out[i] = f(out[i])`.
pub fn map_in_place<O: Copy>(out: &mut [O], f: impl Fn(O) -> O) {
    run_wide(InPlace { f, out });
}

/// Computes `out[i] = f(out[i], x[i])`, up to the end of the shorter slice.
pub fn zip_in_place<A: Copy, O: Copy>(out: &mut [O], x: &[A], f: impl Fn(O, A) -> O) {
    run_wide(ZipInPlace { f, out, x });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Serial;

    #[test]
    fn an_operand_is_repeated_for_all_elements() {
        for len in [0, 1, 16, 17, 128, 129, 512, 513, 1500] {
            let x: Vec<i32> = (0..len).collect();
            let mut out = vec![-1i64; x.len()];
            let subtract = |a: i32, b: i32| i64::from(a - b);
            with_left(&subtract, &mut out, 7, &x);
            assert!(out.iter().zip(&x).all(|(&out, &x)| out == i64::from(7 - x)), "{len}");
            with_right(&subtract, &mut out, &x, 7);
            assert!(out.iter().zip(&x).all(|(&out, &x)| out == i64::from(x - 7)), "{len}");
        }
    }

    #[test]
    fn runs_cover_the_output() {
        let (count, unit) = (100_000, 3);
        let body = move |units: Range<usize>, out: &mut [usize]| {
            assert_eq!(out.len(), units.len() * unit);
            out.chunks_exact_mut(unit).zip(units).for_each(|(out, row)| out.fill(row));
            Ok(())
        };
        let plan = Runs::new(count, unit, unit, Box::new(body)).unwrap();
        assert!(
            plan.block_count() > 1 && !Runs::<usize>::is_one(count, unit) && Runs::<usize>::is_one(7, unit)
        );
        let mut out = vec![usize::MAX; count * unit];
        plan.run(&Serial, (), &mut out).unwrap();
        assert!(out.iter().enumerate().all(|(i, &row)| row == i / unit));
    }
}
