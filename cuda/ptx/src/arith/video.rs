//! Video instructions: arithmetic on selected bytes and halves, with a second operation on a third
//! operand.

use super::compare::{Comparison, compare};

/// The part of a register that a scalar video instruction reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub(crate) enum Part {
    /// All of it.
    #[default]
    Word,
    /// `.b0` to `.b3`.
    Byte(u8),
    /// `.h0`, `.h1`.
    Half(u8),
}

impl Part {
    /// Returns the offset and the width of the part, in bits.
    #[inline(always)]
    fn place(self) -> (u32, u32) {
        match self {
            Self::Word => (0, 32),
            Self::Byte(index) => (u32::from(index & 3) * 8, 8),
            Self::Half(index) => (u32::from(index & 1) * 16, 16),
        }
    }

    /// Returns the selected part, sign- or zero-extended.
    #[inline(always)]
    fn read(self, register: u32, signed: bool) -> i64 {
        let (shift, width) = self.place();
        extend(register >> shift, width, signed)
    }
}

/// Returns the low bits of a word as a number.
#[inline(always)]
fn extend(bits: u32, width: u32, signed: bool) -> i64 {
    let up = 32 - width;
    if signed { i64::from((bits << up) as i32 >> up) } else { i64::from(bits << up >> up) }
}

/// The operation of a video instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) enum Video {
    /// `vadd`.
    Add,
    /// `vsub`.
    Subtract,
    /// `vabsdiff`.
    AbsoluteDifference,
    /// `vmin`.
    Min,
    /// `vmax`.
    Max,
    /// `vavrg2`, `vavrg4`: half the sum, a tie away from zero.
    Average,
    /// `vshl`, the amount clamped to 32 or taken modulo 32.
    ShiftLeft {
        /// `.clamp`, not `.wrap`.
        clamp: bool,
    },
    /// `vshr`.
    ShiftRight {
        /// `.clamp`, not `.wrap`.
        clamp: bool,
    },
    /// `vset`: one or zero.
    Compare(Comparison),
}

#[inline(always)]
fn compute(operation: Video, a: i64, b: i64) -> i64 {
    let amount = |clamp| if clamp { b.min(32) } else { b & 31 };
    match operation {
        Video::Add => a + b,
        Video::Subtract => a - b,
        Video::AbsoluteDifference => (a - b).abs(),
        Video::Min => a.min(b),
        Video::Max => a.max(b),
        Video::Average => (a + b + i64::from(a + b >= 0)) >> 1,
        Video::ShiftLeft { clamp } => a << amount(clamp),
        Video::ShiftRight { clamp } => a >> amount(clamp),
        Video::Compare(comparison) => i64::from(compare(a, b, comparison)),
    }
}

/// Clamps to the range of a number of `width` bits.
#[inline(always)]
fn clamp(x: i64, width: u32, signed: bool) -> i64 {
    if signed { x.clamp(-1 << (width - 1), (1 << (width - 1)) - 1) } else { x.clamp(0, (1 << width) - 1) }
}

/// The second operation of a scalar video instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub(crate) enum Second {
    /// None: the result is the first operation's.
    #[default]
    None,
    /// `.add`: added to `c`.
    Add,
    /// `.min`: the lower of the two, in the destination's signedness.
    Min,
    /// `.max`.
    Max,
    /// The destination's part becomes the result, the rest is `c`.
    Merge(Part),
}

/// The form of a scalar video instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) struct Scalar {
    /// The first operation.
    pub(crate) operation: Video,
    /// Whether the destination is `.s32`.
    pub(crate) signed: bool,
    /// Part and signedness of the first operand.
    pub(crate) a: (Part, bool),
    /// Part and signedness of the second operand.
    pub(crate) b: (Part, bool),
    /// `.sat`: the first result is clamped to the destination's part.
    pub(crate) saturate: bool,
    /// The operation with `c`.
    pub(crate) second: Second,
}

impl Scalar {
    /// Returns the result.
    #[inline(always)]
    pub(crate) fn execute(&self, a: u32, b: u32, c: u32) -> u32 {
        let first = compute(self.operation, self.a.0.read(a, self.a.1), self.b.0.read(b, self.b.1));
        let (shift, width) = if let Second::Merge(part) = self.second { part.place() } else { (0, 32) };
        let first = if self.saturate { clamp(first, width, self.signed) } else { first };
        let (t, c_number) = (extend(first as u32, 32, self.signed), extend(c, 32, self.signed));
        match self.second {
            Second::None => t as u32,
            Second::Add => c.wrapping_add(t as u32),
            Second::Min => t.min(c_number) as u32,
            Second::Max => t.max(c_number) as u32,
            Second::Merge(_) => {
                let mask = (u32::MAX >> (32 - width)) << shift;
                c & !mask | ((t as u32) << shift) & mask
            }
        }
    }
}

/// The form of a `vadd2`, `vadd4` or similar instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) struct Simd {
    /// The operation on each pair.
    pub(crate) operation: Video,
    /// The number of parts: two halves or four bytes.
    pub(crate) lanes: u32,
    /// Whether the destination is signed.
    pub(crate) signed: bool,
    /// For each lane, the part of `b:a` that is the first operand; and that operand's signedness.
    pub(crate) a: ([u8; 4], bool),
    /// For each lane, the part of `b:a` that is the second operand; and that operand's signedness.
    pub(crate) b: ([u8; 4], bool),
    /// `.sat`.
    pub(crate) saturate: bool,
    /// A bit for each lane of the destination that is written or added.
    pub(crate) mask: u32,
    /// `.add`: the results are added to `c`, instead of merged with it.
    pub(crate) accumulate: bool,
}

impl Simd {
    /// Returns the result.
    #[inline(always)]
    pub(crate) fn execute(&self, a: u32, b: u32, c: u32) -> u32 {
        let width = 32 / self.lanes;
        let source = u64::from(b) << 32 | u64::from(a);
        let read = |selected: u8, signed| {
            extend((source >> (u32::from(selected) * width % 64)) as u32, width, signed)
        };
        let mut result = c;
        for lane in 0..self.lanes {
            if self.mask >> lane & 1 == 0 {
                continue;
            }
            let index = (lane & 3) as usize;
            let t = compute(self.operation, read(self.a.0[index], self.a.1), read(self.b.0[index], self.b.1));
            let t = if self.saturate { clamp(t, width, self.signed) } else { t } as u32;
            if self.accumulate {
                result = result.wrapping_add(t);
            } else {
                let mask = (u32::MAX >> (32 - width)) << (lane * width);
                result = result & !mask | (t << (lane * width)) & mask;
            }
        }
        result
    }
}

/// The form of a `vmad`: `±(a · b) ± c`, or one more, scaled and clamped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) struct MultiplyAdd {
    /// Part and signedness of the first operand.
    pub(crate) a: (Part, bool),
    /// Part and signedness of the second operand.
    pub(crate) b: (Part, bool),
    /// Exactly one of `a` and `b` is negated.
    pub(crate) negate_product: bool,
    /// `c` is negated.
    pub(crate) negate_c: bool,
    /// `.po`: one is added.
    pub(crate) plus_one: bool,
    /// The number of bits of the right shift: 0, 7 or 15.
    pub(crate) shift: u32,
    /// `.sat`.
    pub(crate) saturate: bool,
}

impl MultiplyAdd {
    /// Returns the result.
    #[inline(always)]
    pub(crate) fn execute(&self, a: u32, b: u32, c: u32) -> u32 {
        let product = i128::from(self.a.0.read(a, self.a.1)) * i128::from(self.b.0.read(b, self.b.1));
        let signed_product = self.a.1 || self.b.1 || self.negate_product;
        let signed = signed_product || self.negate_c;
        // Inverting all bits and adding one negates.
        let product = if self.negate_product { -product } else { product };
        let addend = if self.negate_c { !c } else { c };
        let one = i128::from(self.plus_one || (self.negate_c && !self.negate_product));
        let sum = product + i128::from(extend(addend, 32, signed)) + one;
        let scaled = sum >> self.shift;
        let clamped = match (self.saturate, signed) {
            (false, _) => scaled,
            (true, true) => scaled.clamp(i32::MIN.into(), i32::MAX.into()),
            (true, false) => scaled.clamp(0, u32::MAX.into()),
        };
        clamped as u32
    }
}
