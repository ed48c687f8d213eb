//! Integer arithmetic: products, saturation, carries, division, shifts.

/// An integer type that PTX computes in. All arithmetic wraps unless a method says otherwise.
pub(crate) trait Integer: Copy {
    /// `add.sat`: clamped to the type's range.
    fn add_sat(self, b: Self) -> Self;
    /// `sub.sat`: clamped to the type's range.
    fn sub_sat(self, b: Self) -> Self;
    /// `mul.hi`: the upper half of the product of twice the width.
    fn mul_hi(self, b: Self) -> Self;
    /// `mad.lo`.
    fn mad_lo(self, b: Self, c: Self) -> Self;
    /// `mad.hi`: the sum wraps.
    fn mad_hi(self, b: Self, c: Self) -> Self;
    /// `mad.hi.sat`: the sum is clamped.
    fn mad_hi_sat(self, b: Self, c: Self) -> Self;
    /// `sad`: `c + |self - b|`, the difference taken without overflow.
    fn sad(self, b: Self, c: Self) -> Self;
    /// `div`: toward zero. Division by zero gives all ones; the least value divided by −1 wraps to
    /// itself.
    fn quotient(self, b: Self) -> Self;
    /// `rem`: has the sign of `self`. Division by zero gives all ones.
    fn remainder(self, b: Self) -> Self;
    /// `shl`: an amount of the width or more gives zero.
    fn shift_left(self, amount: u32) -> Self;
    /// `shr`: an amount of the width or more gives copies of the sign bit, or zero for unsigned
    /// types.
    fn shift_right(self, amount: u32) -> Self;
    /// `add.cc`, `addc`: the sum and the carry out.
    fn add_carry(self, b: Self, carry: bool) -> (Self, bool);
    /// `sub.cc`, `subc`: the sum of `self`, `!b` and the carry, and the carry out.
    ///
    /// The manual describes a borrow in the same flag as the carry of an addition. Processors keep
    /// the adder's carry there, which is set if nothing is borrowed. Compilers rely on this where
    /// an addition follows a subtraction or vice versa.
    fn sub_carry(self, b: Self, carry: bool) -> (Self, bool);
}

macro_rules! integer {
    ($type:ident, $unsigned:ident, $wide:ident) => {
        impl Integer for $type {
            #[inline(always)]
            fn add_sat(self, b: Self) -> Self {
                self.saturating_add(b)
            }
            #[inline(always)]
            fn sub_sat(self, b: Self) -> Self {
                self.saturating_sub(b)
            }
            #[inline(always)]
            fn mul_hi(self, b: Self) -> Self {
                ($wide::from(self).wrapping_mul($wide::from(b)) >> $type::BITS) as $type
            }
            #[inline(always)]
            fn mad_lo(self, b: Self, c: Self) -> Self {
                self.wrapping_mul(b).wrapping_add(c)
            }
            #[inline(always)]
            fn mad_hi(self, b: Self, c: Self) -> Self {
                Integer::mul_hi(self, b).wrapping_add(c)
            }
            #[inline(always)]
            fn mad_hi_sat(self, b: Self, c: Self) -> Self {
                Integer::mul_hi(self, b).saturating_add(c)
            }
            #[inline(always)]
            fn sad(self, b: Self, c: Self) -> Self {
                let difference = if self < b { b.wrapping_sub(self) } else { self.wrapping_sub(b) };
                c.wrapping_add(difference)
            }
            #[inline(always)]
            fn quotient(self, b: Self) -> Self {
                if b == 0 { !0 } else { self.wrapping_div(b) }
            }
            #[inline(always)]
            fn remainder(self, b: Self) -> Self {
                if b == 0 { !0 } else { self.wrapping_rem(b) }
            }
            #[inline(always)]
            fn shift_left(self, amount: u32) -> Self {
                let shifted = self.wrapping_shl(amount);
                if amount < $type::BITS { shifted } else { 0 }
            }
            #[inline(always)]
            fn shift_right(self, amount: u32) -> Self {
                let shifted = self.wrapping_shr(amount);
                // Shifts once more than the width allows: the rest is the sign, which is zero for
                // unsigned types.
                let rest = (self >> ($type::BITS - 1)) >> 1;
                if amount < $type::BITS { shifted } else { rest }
            }
            #[inline(always)]
            fn add_carry(self, b: Self, carry: bool) -> (Self, bool) {
                let (first, one) = (self as $unsigned).overflowing_add(b as $unsigned);
                let (sum, two) = first.overflowing_add($unsigned::from(carry));
                (sum as $type, one | two)
            }
            #[inline(always)]
            fn sub_carry(self, b: Self, carry: bool) -> (Self, bool) {
                self.add_carry(!b, carry)
            }
        }
    };
}

integer!(u8, u8, u16);
integer!(i8, u8, i16);
integer!(u16, u16, u32);
integer!(i16, u16, i32);
integer!(u32, u32, u64);
integer!(i32, u32, i64);
integer!(u64, u64, u128);
integer!(i64, u64, i128);

/// Returns the 48-bit product of the low 24 bits of two registers, as unsigned numbers.
#[inline(always)]
fn product_u24(a: u32, b: u32) -> u64 {
    u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff)
}

/// Returns the 48-bit product of the low 24 bits of two registers, as signed numbers.
#[inline(always)]
fn product_s24(a: i32, b: i32) -> i64 {
    i64::from(a.wrapping_shl(8) >> 8) * i64::from(b.wrapping_shl(8) >> 8)
}

/// `mul24.lo.u32`.
#[inline(always)]
pub(crate) fn mul24_lo_u32(a: u32, b: u32) -> u32 {
    product_u24(a, b) as u32
}

/// `mul24.hi.u32`: bits 47 to 16 of the product.
#[inline(always)]
pub(crate) fn mul24_hi_u32(a: u32, b: u32) -> u32 {
    (product_u24(a, b) >> 16) as u32
}

/// `mul24.lo.s32`.
#[inline(always)]
pub(crate) fn mul24_lo_s32(a: i32, b: i32) -> i32 {
    product_s24(a, b) as i32
}

/// `mul24.hi.s32`: bits 47 to 16 of the product.
#[inline(always)]
pub(crate) fn mul24_hi_s32(a: i32, b: i32) -> i32 {
    (product_s24(a, b) >> 16) as i32
}

/// `atom.inc`: one more, and zero after `limit`.
#[inline(always)]
pub(crate) fn increment(a: u32, limit: u32) -> u32 {
    if a >= limit { 0 } else { a + 1 }
}

/// `atom.dec`: one less, and `limit` after zero or from above `limit`.
#[inline(always)]
pub(crate) fn decrement(a: u32, limit: u32) -> u32 {
    if (a == 0) | (a > limit) { limit } else { a - 1 }
}

/// Applies an operation to each half of some registers: `.u16x2`, `.f16x2` and similar types.
#[inline(always)]
pub(crate) fn pairwise<const N: usize>(registers: [u32; N], operation: impl Fn([u16; N]) -> u16) -> u32 {
    let mut result = 0;
    // A single call of the operation, so that it is inlined.
    for shift in [0, 16] {
        result |= u32::from(operation(registers.map(|register| (register >> shift) as u16))) << shift;
    }
    result
}
