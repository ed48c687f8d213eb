//! Bit fields, counts, permutations, funnel shifts, small dot products.

/// A register of bits that the bit-field instructions work on.
pub(crate) trait Bits: Copy {
    /// `bfe.u`: `length` bits from `position` on, zero-extended. Both are taken modulo 256.
    fn extract(self, position: u32, length: u32) -> Self;
    /// `bfe.s`: like `bfe.u`, but extended with the field's sign, or with the register's sign for
    /// bits past the top.
    fn extract_signed(self, position: u32, length: u32) -> Self;
    /// `bfi`: `field`'s low `length` bits at `position`, the others from `self`. Both numbers are
    /// taken modulo 256.
    fn insert(self, field: Self, position: u32, length: u32) -> Self;
    /// `bfind.u`: the position of the highest set bit, or all ones.
    fn find(self) -> u32;
    /// `bfind.s`: the position of the highest bit that differs from the sign, or all ones.
    fn find_signed(self) -> u32;
    /// `bfind.shiftamt.u`: the shift that brings the highest set bit to the top, or all ones.
    fn find_shift(self) -> u32;
    /// `bfind.shiftamt.s`.
    fn find_shift_signed(self) -> u32;
}

macro_rules! bits {
    ($type:ident, $signed:ident) => {
        impl Bits for $type {
            #[inline(always)]
            fn extract(self, position: u32, length: u32) -> Self {
                let (position, length) = (position & 0xff, length & 0xff);
                let shifted = if position < $type::BITS { self.wrapping_shr(position) } else { 0 };
                shifted & <$type>::low_mask(length)
            }
            #[inline(always)]
            fn extract_signed(self, position: u32, length: u32) -> Self {
                let (position, length) = (position & 0xff, length & 0xff);
                let shifted = (self as $signed).wrapping_shr(position.min($type::BITS - 1));
                let spare = $type::BITS.saturating_sub(length);
                let extended = shifted.wrapping_shl(spare).wrapping_shr(spare);
                if length == 0 { 0 } else { extended as $type }
            }
            #[inline(always)]
            fn insert(self, field: Self, position: u32, length: u32) -> Self {
                let (position, length) = (position & 0xff, length & 0xff);
                let mask = <$type>::low_mask(length);
                let inside = position < $type::BITS;
                let mask = if inside { mask.wrapping_shl(position) } else { 0 };
                (self & !mask) | (field.wrapping_shl(position) & mask)
            }
            #[inline(always)]
            fn find(self) -> u32 {
                // If no bit is set, the width minus one minus the width is all ones.
                ($type::BITS - 1).wrapping_sub(self.leading_zeros())
            }
            #[inline(always)]
            fn find_signed(self) -> u32 {
                (self ^ ((self as $signed) >> ($type::BITS - 1)) as $type).find()
            }
            #[inline(always)]
            fn find_shift(self) -> u32 {
                if self == 0 { u32::MAX } else { self.leading_zeros() }
            }
            #[inline(always)]
            fn find_shift_signed(self) -> u32 {
                (self ^ ((self as $signed) >> ($type::BITS - 1)) as $type).find_shift()
            }
        }

        impl LowMask for $type {
            #[inline(always)]
            fn low_mask(length: u32) -> Self {
                let mask = (1 as $type).wrapping_shl(length).wrapping_sub(1);
                if length < $type::BITS { mask } else { $type::MAX }
            }
        }
    };
}

/// A mask of a number of low bits.
trait LowMask {
    fn low_mask(length: u32) -> Self;
}

bits!(u16, i16);
bits!(u32, i32);
bits!(u64, i64);

/// `fns`: the position of the `offset`-th set bit of `mask`, counted upward from bit `base`
/// (downward if `offset` is negative), or all ones. A `base` above 31 is undefined in PTX; here it
/// returns all ones.
#[inline]
pub(crate) fn find_nth_set(mask: u32, base: u32, offset: i32) -> u32 {
    if base > 31 {
        return u32::MAX;
    }
    if offset == 0 {
        return if mask >> base & 1 == 1 { base } else { u32::MAX };
    }
    let (mut rest, skip) = if offset > 0 {
        (mask >> base, offset as u32 - 1)
    } else {
        (mask << (31 - base), offset.unsigned_abs() - 1)
    };
    if skip >= rest.count_ones() {
        return u32::MAX;
    }
    for _ in 0..skip {
        rest &= if offset > 0 { rest.wrapping_sub(1) } else { !(1 << (31 - rest.leading_zeros())) };
    }
    if offset > 0 { base + rest.trailing_zeros() } else { base - rest.leading_zeros() }
}

/// The way `prmt` reads its selector.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) enum Permutation {
    /// Four nibbles, each a byte's number; bit 3 replicates the byte's sign instead.
    Index,
    /// `.f4e`: four bytes forward from the selected one.
    Forward4,
    /// `.b4e`: four bytes backward from the selected one.
    Backward4,
    /// `.rc8`: the selected byte, four times.
    Replicate8,
    /// `.ecl`: byte `i`, but no lower than the selected one.
    EdgeLeft,
    /// `.ecr`: byte `i`, but no higher than the selected one.
    EdgeRight,
    /// `.rc16`: the selected half, twice.
    Replicate16,
}

/// `prmt`: four bytes out of the eight in `b` (high) and `a` (low).
#[inline(always)]
pub(crate) fn permute(a: u32, b: u32, selector: u32, permutation: Permutation) -> u32 {
    let source = u64::from(b) << 32 | u64::from(a);
    let mut result = 0;
    for i in 0..4u32 {
        let s = selector & 3;
        let (index, replicate) = match permutation {
            Permutation::Index => (selector >> (4 * i) & 7, selector >> (4 * i) & 8 != 0),
            Permutation::Forward4 => (s + i, false),
            Permutation::Backward4 => (s.wrapping_sub(i) & 7, false),
            Permutation::Replicate8 => (s, false),
            Permutation::EdgeLeft => (s.max(i), false),
            Permutation::EdgeRight => (s.min(i), false),
            Permutation::Replicate16 => ((selector & 1) * 2 + (i & 1), false),
        };
        let byte = (source >> (8 * index)) as u8;
        let sign = ((byte as i8) >> 7) as u8;
        result |= u32::from(if replicate { sign } else { byte }) << (8 * i);
    }
    result
}

/// `lop3`: the function of three bits that `table` defines, applied to every bit. `0xF0`, `0xCC`
/// and `0xAA` stand for the operands.
#[inline(always)]
pub(crate) fn logic3(a: u32, b: u32, c: u32, table: u8) -> u32 {
    // Two selections by `c` for each of the four cases of `a` and `b`. A constant table folds to
    // the logic it stands for.
    let row = |low: u32| {
        let when_clear = 0u32.wrapping_sub(u32::from(table) >> (2 * low) & 1);
        let when_set = 0u32.wrapping_sub(u32::from(table) >> (2 * low + 1) & 1);
        (when_set & c) | (when_clear & !c)
    };
    let (both_clear, only_b, only_a, both) = (row(0), row(1), row(2), row(3));
    (!a & ((b & only_b) | (!b & both_clear))) | (a & ((b & both) | (!b & only_a)))
}

/// `shf.l`: the upper half of `b:a` shifted left. The amount is taken modulo 32, or clamped to 32.
#[inline(always)]
pub(crate) fn funnel_left(a: u32, b: u32, amount: u32, clamp: bool) -> u32 {
    let amount = if clamp { amount.min(32) } else { amount & 31 };
    (((u64::from(b) << 32 | u64::from(a)) << amount) >> 32) as u32
}

/// `shf.r`: the lower half of `b:a` shifted right. The amount is taken modulo 32, or clamped to 32.
#[inline(always)]
pub(crate) fn funnel_right(a: u32, b: u32, amount: u32, clamp: bool) -> u32 {
    let amount = if clamp { amount.min(32) } else { amount & 31 };
    ((u64::from(b) << 32 | u64::from(a)) >> amount) as u32
}

/// `szext.u32`: the low `width` bits. A width of 32 or more is clamped, or taken modulo 32.
#[inline(always)]
pub(crate) fn zero_extend(a: u32, width: u32, clamp: bool) -> u32 {
    let width = if clamp { width.min(32) } else { width & 31 };
    a & u32::low_mask(width)
}

/// `szext.s32`: the low `width` bits as a signed number; a width of zero gives zero.
#[inline(always)]
pub(crate) fn sign_extend(a: u32, width: u32, clamp: bool) -> u32 {
    let width = if clamp { width.min(32) } else { width & 31 };
    a.extract_signed(0, width)
}

/// `bmsk`: `width` ones from bit `start` on, up to the end of the register.
#[inline(always)]
pub(crate) fn bit_mask(start: u32, width: u32, clamp: bool) -> u32 {
    let (start, width) = if clamp { (start.min(32), width.min(32)) } else { (start & 31, width & 31) };
    (u64::from(u32::low_mask(width)) << start) as u32
}

/// Byte `index` of a register, extended to 32 bits.
#[inline(always)]
fn byte(register: u32, index: u32, signed: bool) -> i32 {
    let byte = (register >> (8 * index)) as u8;
    if signed { i32::from(byte as i8) } else { i32::from(byte) }
}

/// `dp4a`: the dot product of four bytes with four bytes, added to `c`; wraps.
#[inline(always)]
pub(crate) fn dot4(a: u32, b: u32, c: u32, a_signed: bool, b_signed: bool) -> u32 {
    let mut sum = c as i32;
    for i in 0..4 {
        sum = sum.wrapping_add(byte(a, i, a_signed) * byte(b, i, b_signed));
    }
    sum as u32
}

/// `dp2a`: the dot product of two halves with the two lower (or, `high`, upper) bytes of `b`, added
/// to `c`; wraps.
#[inline(always)]
pub(crate) fn dot2(a: u32, b: u32, c: u32, high: bool, a_signed: bool, b_signed: bool) -> u32 {
    let mut sum = c as i32;
    for i in 0..2 {
        let half = (a >> (16 * i)) as u16;
        let half = if a_signed { i32::from(half as i16) } else { i32::from(half) };
        sum = sum.wrapping_add(half * byte(b, i + 2 * u32::from(high), b_signed));
    }
    sum as u32
}
