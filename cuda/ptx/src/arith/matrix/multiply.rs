//! `mma` and `wmma.mma`: `D = A · B + C`.

use super::fragment::{Fragment, Operand};
use super::{Accumulator, Element, Family, LANES, Register, Shape};
use crate::arith::half::{Bf16, F16, Half};
use crate::arith::small::{SmallFloat, tf32_operand};
use crate::arith::{Rounding, double, single};

/// The operation that replaces multiplication on single bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub(crate) enum BitOperation {
    /// `.xor.popc`.
    #[default]
    Xor,
    /// `.and.popc`.
    And,
}

/// One form of the instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) struct Multiply {
    /// `mma` or `wmma`.
    pub(crate) family: Family,
    /// The sizes of the matrices.
    pub(crate) shape: Shape,
    /// The type of A's elements.
    pub(crate) a: Element,
    /// The type of B's elements.
    pub(crate) b: Element,
    /// The type of C's elements.
    pub(crate) c: Accumulator,
    /// The type of D's elements.
    pub(crate) d: Accumulator,
    /// `.satfinite`, on integers: the result is clamped instead of wrapped.
    pub(crate) saturate: bool,
    /// The operation on single bits.
    pub(crate) bit_operation: BitOperation,
    /// The rounding of each multiply-add of `f64`.
    pub(crate) rounding: Rounding,
}

/// The number of elements of the largest factor: 16×64 of four bits.
const MAX_FACTOR: usize = 1024;
/// The number of elements of the largest result: 16×16, 8×32 or 32×8.
const MAX_RESULT: usize = 256;

impl Multiply {
    /// Returns whether the manual has this form and this module supports it. Only such a form may
    /// be executed.
    pub(crate) fn is_known(&self) -> bool {
        use Element::*;
        let shape = (self.shape.m, self.shape.n, self.shape.k);
        let same = self.a == self.b;
        let half_or_single = |x| matches!(x, Accumulator::F16 | Accumulator::F32);
        let halves = half_or_single(self.c) && half_or_single(self.d);
        let singles = self.c == Accumulator::F32 && self.d == Accumulator::F32;
        let integers = self.c == Accumulator::S32 && self.d == Accumulator::S32;
        let doubles = self.c == Accumulator::F64 && self.d == Accumulator::F64;
        let signs = |one, two| [one, two].contains(&self.a) && [one, two].contains(&self.b);
        match self.family {
            Family::Mma => match self.a {
                F16 => same && halves && self.c == self.d && matches!(shape, (16, 8, 8 | 16)),
                Bf16 => same && singles && matches!(shape, (16, 8, 8 | 16)),
                Tf32 => same && singles && matches!(shape, (16, 8, 4 | 8)),
                E4m3 | E5m2 => {
                    signs(E4m3, E5m2) && halves && self.c == self.d && matches!(shape, (16, 8, 16 | 32))
                }
                F64 => same && doubles && matches!(shape, (8, 8, 4) | (16, 8, 4 | 8 | 16)),
                U8 | S8 => signs(U8, S8) && integers && matches!(shape, (8, 8, 16) | (16, 8, 16 | 32)),
                U4 | S4 => signs(U4, S4) && integers && matches!(shape, (8, 8, 32) | (16, 8, 32 | 64)),
                B1 => same && integers && matches!(shape, (8, 8, 128) | (16, 8, 128 | 256)),
            },
            Family::Quads { .. } => self.a == F16 && same && halves && shape == (8, 8, 4),
            Family::Wmma => {
                let common = matches!(shape, (16, 16, 16) | (8, 32, 16) | (32, 8, 16));
                same && match self.a {
                    F16 => halves && common,
                    Bf16 => singles && common,
                    Tf32 => singles && shape == (16, 16, 8),
                    F64 => doubles && shape == (8, 8, 4),
                    U8 | S8 => integers && common,
                    U4 | S4 => integers && shape == (8, 8, 32),
                    B1 => integers && shape == (8, 8, 128),
                    E4m3 | E5m2 => false,
                }
            }
        }
    }

    /// Returns the fragment of A.
    pub(crate) fn fragment_a(&self) -> Fragment {
        Fragment::factor(self.family, Operand::A, self.shape, self.a)
    }

    /// Returns the fragment of B.
    pub(crate) fn fragment_b(&self) -> Fragment {
        Fragment::factor(self.family, Operand::B, self.shape, self.b)
    }

    /// Returns the fragment of C.
    pub(crate) fn fragment_c(&self) -> Fragment {
        Fragment::accumulator(self.family, self.shape, self.c)
    }

    /// Returns the fragment of D.
    pub(crate) fn fragment_d(&self) -> Fragment {
        Fragment::accumulator(self.family, self.shape, self.d)
    }

    /// Executes a form on 32-bit registers. The slices must be as long as the fragments say.
    pub(crate) fn execute(&self, a: &[Register], b: &[Register], c: &[Register], d: &mut [Register]) {
        match self.a {
            Element::B1 => self.execute_bits(a, b, c, d),
            Element::U8 | Element::S8 | Element::U4 | Element::S4 => self.execute_integers(a, b, c, d),
            _ if matches!(self.family, Family::Quads { .. }) => self.execute_quads(a, b, c, d),
            _ => self.execute_floats(a, b, c, d),
        }
    }

    fn execute_floats(&self, a: &[Register], b: &[Register], c: &[Register], d: &mut [Register]) {
        let Shape { n, k, .. } = self.shape;
        let mut left = [0.0; MAX_FACTOR / 2];
        let mut right = [0.0; MAX_FACTOR / 2];
        gather(&self.fragment_a(), a, |row, column, bits| left[row * k + column] = float(self.a, bits));
        gather(&self.fragment_b(), b, |row, column, bits| right[row * n + column] = float(self.b, bits));
        let mut sums = [0.0; MAX_RESULT];
        add_products(self.shape, &left, &right, &mut sums);
        self.finish_floats(&mut sums, c, d);
    }

    /// Executes four products at once: each row of the stacked A is multiplied with the B of its
    /// own product.
    fn execute_quads(&self, a: &[Register], b: &[Register], c: &[Register], d: &mut [Register]) {
        let Shape { n, k, .. } = self.shape;
        let all = self.shape.of_warp(self.family);
        let mut left = [0.0; MAX_FACTOR / 2];
        let mut right = [0.0; MAX_FACTOR / 2];
        gather(&self.fragment_a(), a, |row, column, bits| left[row * k + column] = float(self.a, bits));
        gather(&self.fragment_b(), b, |row, column, bits| right[row * all.n + column] = float(self.b, bits));
        let mut sums = [0.0; MAX_RESULT];
        for (row, sums) in sums.chunks_exact_mut(n).enumerate() {
            let start = row / self.shape.m * n;
            for (along, factor) in left[row * k..][..k].iter().enumerate() {
                for (sum, other) in sums.iter_mut().zip(&right[along * all.n + start..][..n]) {
                    *sum += factor * other;
                }
            }
        }
        self.finish_floats(&mut sums, c, d);
    }

    fn finish_floats(&self, sums: &mut [f64; MAX_RESULT], c: &[Register], d: &mut [Register]) {
        let n = self.shape.n;
        gather(&self.fragment_c(), c, |row, column, bits| {
            sums[row * n + column] += match self.c {
                Accumulator::F16 => f64::from(F16::to_f32(bits as u16)),
                _ => f64::from(f32::from_bits(bits)),
            };
        });
        scatter(&self.fragment_d(), d, |row, column| {
            let sum = sums[row * n + column];
            match self.d {
                Accumulator::F16 => F16::from_f32(single::odd_from_double(sum)).into(),
                _ => single::canonical(sum as f32).to_bits(),
            }
        });
    }

    fn execute_integers(&self, a: &[Register], b: &[Register], c: &[Register], d: &mut [Register]) {
        let Shape { m, n, k } = self.shape;
        let mut left = [0; MAX_FACTOR];
        let mut right = [0; MAX_FACTOR];
        gather(&self.fragment_a(), a, |row, column, bits| left[row * k + column] = integer(self.a, bits));
        gather(&self.fragment_b(), b, |row, column, bits| right[row * n + column] = integer(self.b, bits));
        // The sum of 64 products of 16 bits does not overflow.
        let mut sums = [0i32; MAX_RESULT];
        for row in 0..m {
            let sums = &mut sums[row * n..][..n];
            for (along, &factor) in left[row * k..][..k].iter().enumerate() {
                for (sum, &other) in sums.iter_mut().zip(&right[along * n..][..n]) {
                    *sum += factor * other;
                }
            }
        }
        self.finish_integers(&sums, c, d);
    }

    /// Executes a form on single bits. Each 32-bit register counts as one element of a matrix that
    /// is 32 times narrower.
    fn execute_bits(&self, a: &[Register], b: &[Register], c: &[Register], d: &mut [Register]) {
        let words = Shape { k: self.shape.k / 32, ..self.shape };
        let Shape { m, n, k } = words;
        let mut left = [0u32; MAX_FACTOR];
        let mut right = [0u32; MAX_FACTOR];
        let fragment = |operand| Fragment::factor(Family::Mma, operand, words, Element::Tf32);
        gather(&fragment(Operand::A), a, |row, column, bits| left[row * k + column] = bits);
        gather(&fragment(Operand::B), b, |row, column, bits| right[column * k + row] = bits);
        let mut sums = [0i32; MAX_RESULT];
        for row in 0..m {
            for column in 0..n {
                let pairs = left[row * k..][..k].iter().zip(&right[column * k..][..k]);
                let ones = pairs.map(|(x, y)| match self.bit_operation {
                    BitOperation::Xor => (x ^ y).count_ones(),
                    BitOperation::And => (x & y).count_ones(),
                });
                sums[row * n + column] = ones.sum::<u32>() as i32;
            }
        }
        self.finish_integers(&sums, c, d);
    }

    fn finish_integers(&self, sums: &[i32; MAX_RESULT], c: &[Register], d: &mut [Register]) {
        let n = self.shape.n;
        let mut accumulator = [0i32; MAX_RESULT];
        gather(&self.fragment_c(), c, |row, column, bits| accumulator[row * n + column] = bits as i32);
        scatter(&self.fragment_d(), d, |row, column| {
            let (sum, before) = (sums[row * n + column], accumulator[row * n + column]);
            let result = if self.saturate { before.saturating_add(sum) } else { before.wrapping_add(sum) };
            result as u32
        });
    }

    /// Executes a form on `f64`, with 64-bit registers: a chain of fused multiply-adds along K that
    /// starts with C.
    pub(crate) fn execute_f64(
        &self,
        a: &[[f64; LANES]],
        b: &[[f64; LANES]],
        c: &[[f64; LANES]],
        d: &mut [[f64; LANES]],
    ) {
        let Shape { n, k, .. } = self.shape;
        let mut left = [0.0; MAX_RESULT];
        let mut right = [0.0; MAX_RESULT];
        let (from_a, from_b, from_c) = (self.fragment_a(), self.fragment_b(), self.fragment_c());
        for lane in 0..LANES {
            for (element, register) in a.iter().enumerate() {
                let (row, column) = from_a.position(lane, element);
                left[row * k + column] = register[lane];
            }
            for (element, register) in b.iter().enumerate() {
                let (row, column) = from_b.position(lane, element);
                right[row * n + column] = register[lane];
            }
        }
        // D and C have the same layout.
        for lane in 0..LANES {
            for (element, (from, to)) in c.iter().zip(&mut *d).enumerate() {
                let (row, column) = from_c.position(lane, element);
                to[lane] = (0..k).fold(from[lane], |sum, along| {
                    double::fma(left[row * k + along], right[along * n + column], sum, self.rounding)
                });
            }
        }
    }
}

/// Adds the product of two matrices to `sums`, in `f64`.
fn add_products(shape: Shape, left: &[f64], right: &[f64], sums: &mut [f64]) {
    /// The number of columns that are computed at a time. Every shape has a multiple of it.
    const BLOCK: usize = 8;
    let Shape { m, n, k } = shape;
    for row in 0..m {
        for column in (0..n).step_by(BLOCK) {
            let mut block = [0.0; BLOCK];
            for along in 0..k {
                let factor = left[row * k + along];
                let others = &right[along * n + column..][..BLOCK];
                for (sum, other) in block.iter_mut().zip(others) {
                    *sum += factor * other;
                }
            }
            sums[row * n + column..][..BLOCK].copy_from_slice(&block);
        }
    }
}

/// Calls `visit` for every element of a fragment with its row, its column and its bits.
#[inline(always)]
fn gather(fragment: &Fragment, registers: &[Register], mut visit: impl FnMut(usize, usize, u32)) {
    let bits = fragment.bits();
    let per_register = 32 / bits;
    let mask = u32::MAX >> (32 - bits);
    for (index, register) in registers.iter().enumerate() {
        for (lane, &word) in register.iter().enumerate() {
            for place in 0..per_register {
                let (row, column) = fragment.position(lane, index * per_register + place);
                visit(row, column, word >> (place * bits) & mask);
            }
        }
    }
}

/// Fills a fragment with the elements of a matrix.
#[inline(always)]
fn scatter(fragment: &Fragment, registers: &mut [Register], element: impl Fn(usize, usize) -> u32) {
    let bits = fragment.bits();
    let per_register = 32 / bits;
    for (index, register) in registers.iter_mut().enumerate() {
        for (lane, word) in register.iter_mut().enumerate() {
            *word = (0..per_register).fold(0, |word, place| {
                let (row, column) = fragment.position(lane, index * per_register + place);
                word | element(row, column) << (place * bits)
            });
        }
    }
}

/// Returns the number that an element of a floating-point type represents.
#[inline(always)]
fn float(element: Element, bits: u32) -> f64 {
    f64::from(match element {
        Element::F16 => F16::to_f32(bits as u16),
        Element::Bf16 => Bf16::to_f32(bits as u16),
        Element::E4m3 => SmallFloat::E4m3.to_f32(bits as u8),
        Element::E5m2 => SmallFloat::E5m2.to_f32(bits as u8),
        _ => tf32_operand(bits),
    })
}

/// Returns the number that an element of an integer type represents.
#[inline(always)]
fn integer(element: Element, bits: u32) -> i32 {
    match element {
        Element::S8 => (bits as i8).into(),
        Element::S4 => ((bits << 4) as i8 >> 4).into(),
        _ => bits as i32,
    }
}
