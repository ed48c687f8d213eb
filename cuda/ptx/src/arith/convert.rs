//! `cvt` between integers, `f32`, `f64` and the half formats.

use super::exact::{DOUBLE, Exact};
use super::half::{self, Half};
use super::{Rounding, single};

/// `cvt.rni.f32.f32` and similar forms: rounds to an integral value. The sign is kept, also that of
/// zero.
#[inline(always)]
pub(crate) fn integral_f32(x: f32, rounding: Rounding) -> f32 {
    /// From this number on all numbers are integral. Adding it to a smaller one leaves no bits for
    /// a fraction.
    const LIMIT: f32 = 8_388_608.0;
    let magnitude = x.abs();
    let nearest = (magnitude + LIMIT) - LIMIT;
    let grow = if nearest < magnitude { nearest + 1.0 } else { nearest };
    let shrink = if nearest > magnitude { nearest - 1.0 } else { nearest };
    let rounded = match rounding {
        Rounding::NearestEven => nearest,
        Rounding::Zero => shrink,
        Rounding::Down if x < 0.0 => grow,
        Rounding::Down => shrink,
        Rounding::Up if x < 0.0 => shrink,
        Rounding::Up => grow,
    };
    single::canonical(if magnitude < LIMIT { rounded } else { magnitude }.copysign(x))
}

/// `cvt.rni.f64.f64` and similar forms.
#[inline(always)]
pub(crate) fn integral_f64(x: f64, rounding: Rounding) -> f64 {
    const LIMIT: f64 = 4_503_599_627_370_496.0;
    let magnitude = x.abs();
    let nearest = (magnitude + LIMIT) - LIMIT;
    let grow = if nearest < magnitude { nearest + 1.0 } else { nearest };
    let shrink = if nearest > magnitude { nearest - 1.0 } else { nearest };
    let rounded = match rounding {
        Rounding::NearestEven => nearest,
        Rounding::Zero => shrink,
        Rounding::Down if x < 0.0 => grow,
        Rounding::Down => shrink,
        Rounding::Up if x < 0.0 => shrink,
        Rounding::Up => grow,
    };
    if magnitude < LIMIT { rounded.copysign(x) } else { x }
}

/// An integer type that `cvt` converts to and from floating point.
pub(crate) trait Convert: Copy {
    /// Converts from `f16`, `bf16` or `f32`, clamped to the type's range. A NaN becomes zero, or
    /// the highest bit alone for 64-bit types.
    fn from_f32(x: f32, rounding: Rounding) -> Self;
    /// Converts from `f64`, clamped to the type's range. A NaN becomes the highest bit alone.
    fn from_f64(x: f64, rounding: Rounding) -> Self;
    /// Converts to `f32`, rounded once.
    fn to_f32(self, rounding: Rounding) -> f32;
    /// Converts to `f64`, rounded once.
    fn to_f64(self, rounding: Rounding) -> f64;
    /// Converts to a half format, rounded once.
    fn to_half<H: Half>(self, rounding: Rounding) -> u16;
    /// Clamps a signed integer to the type's range, for `cvt.sat`.
    fn clamp_i64(x: i64) -> Self;
    /// Clamps an unsigned integer to the type's range, for `cvt.sat`.
    fn clamp_u64(x: u64) -> Self;
}

/// Rounds `x` to integral unless the following truncation does it, which rounds toward zero.
#[inline(always)]
fn before_truncation_f32(x: f32, rounding: Rounding) -> f32 {
    if rounding == Rounding::Zero { x } else { integral_f32(x, rounding) }
}

#[inline(always)]
fn before_truncation_f64(x: f64, rounding: Rounding) -> f64 {
    if rounding == Rounding::Zero { x } else { integral_f64(x, rounding) }
}

/// Converts like `as i32`, but as vector code: the compiler takes the saturating cast apart lane by
/// lane.
#[inline(always)]
#[expect(unsafe_code, reason = "an unchecked cast is one vector instruction")]
fn truncate_to_i32(x: f32) -> i32 {
    const LIMIT: f32 = 2_147_483_648.0;
    let inside = (-LIMIT..LIMIT).contains(&x);
    // SAFETY: the value that is converted is `x` if that is in the range of i32, and therefore not
    // NaN, or else 0.
    let number = unsafe { if inside { x } else { 0.0 }.to_int_unchecked::<i32>() };
    let high = if x >= LIMIT { i32::MAX } else { number };
    if x < -LIMIT { i32::MIN } else { high }
}

/// Converts like `as u32`, as vector code.
#[inline(always)]
fn truncate_to_u32(x: f32) -> u32 {
    const LIMIT: f32 = 2_147_483_648.0;
    // The upper half of the range is moved to the lower half. The difference is exact.
    let upper = x >= LIMIT;
    let moved = truncate_to_i32(if upper { x - LIMIT } else { x }) as u32;
    let number = if upper { moved | 1 << 31 } else { moved };
    let high = if x >= 2.0 * LIMIT { u32::MAX } else { number };
    if x < 0.0 { 0 } else { high }
}

macro_rules! convert_clamps {
    ($type:ident) => {
        #[inline(always)]
        fn clamp_i64(x: i64) -> Self {
            let least = $type::MIN as i64;
            let most = if $type::MAX as u64 > i64::MAX as u64 { i64::MAX } else { $type::MAX as i64 };
            x.clamp(least, most) as $type
        }
        #[inline(always)]
        fn clamp_u64(x: u64) -> Self {
            x.min($type::MAX as u64) as $type
        }
    };
}

macro_rules! convert_narrow {
    ($($type:ident $truncate:expr;)*) => {$(
        impl Convert for $type {
            #[inline(always)]
            fn from_f32(x: f32, rounding: Rounding) -> Self {
                $truncate(before_truncation_f32(x, rounding))
            }
            #[inline(always)]
            fn from_f64(x: f64, rounding: Rounding) -> Self {
                let number = before_truncation_f64(x, rounding) as $type;
                if x.is_nan() { 1 << ($type::BITS - 1) } else { number }
            }
            #[inline(always)]
            fn to_f32(self, rounding: Rounding) -> f32 {
                match rounding {
                    Rounding::NearestEven => self as f32,
                    directed => single::from_double(f64::from(self), directed),
                }
            }
            #[inline(always)]
            fn to_f64(self, _: Rounding) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn to_half<H: Half>(self, rounding: Rounding) -> u16 {
                half::round::<H>(single::odd_from_double(f64::from(self)), rounding)
            }
            convert_clamps!($type);
        }
    )*};
}

macro_rules! convert_wide {
    ($($type:ident)*) => {$(
        impl Convert for $type {
            #[inline(always)]
            fn from_f32(x: f32, rounding: Rounding) -> Self {
                let number = before_truncation_f32(x, rounding) as $type;
                if x.is_nan() { 1 << 63 } else { number }
            }
            #[inline(always)]
            fn from_f64(x: f64, rounding: Rounding) -> Self {
                let number = before_truncation_f64(x, rounding) as $type;
                if x.is_nan() { 1 << 63 } else { number }
            }
            #[inline(always)]
            fn to_f32(self, rounding: Rounding) -> f32 {
                match rounding {
                    Rounding::NearestEven => self as f32,
                    directed => single::from_double(sticky_double(is_negative!($type, self), magnitude!($type, self)), directed),
                }
            }
            #[inline(always)]
            fn to_f64(self, rounding: Rounding) -> f64 {
                match rounding {
                    Rounding::NearestEven => self as f64,
                    directed => {
                        let exact = Exact::from_int(is_negative!($type, self), magnitude!($type, self));
                        f64::from_bits(exact.round(DOUBLE, directed))
                    }
                }
            }
            #[inline(always)]
            fn to_half<H: Half>(self, rounding: Rounding) -> u16 {
                let double = sticky_double(is_negative!($type, self), magnitude!($type, self));
                half::round::<H>(single::odd_from_double(double), rounding)
            }
            convert_clamps!($type);
        }
    )*};
}

macro_rules! is_negative {
    (u64, $x:expr) => {
        false
    };
    (i64, $x:expr) => {
        $x < 0
    };
}

macro_rules! magnitude {
    (u64, $x:expr) => {
        $x
    };
    (i64, $x:expr) => {
        $x.unsigned_abs()
    };
}

convert_narrow! {
    u8 |x: f32| truncate_to_i32(x).clamp(0, 0xff) as u8;
    i8 |x: f32| truncate_to_i32(x).clamp(-0x80, 0x7f) as i8;
    u16 |x: f32| truncate_to_i32(x).clamp(0, 0xffff) as u16;
    i16 |x: f32| truncate_to_i32(x).clamp(-0x8000, 0x7fff) as i16;
    u32 truncate_to_u32;
    i32 truncate_to_i32;
}
convert_wide!(u64 i64);

/// Returns a 64-bit integer as an `f64` that rounds correctly to 24 bits or fewer: the bits that do
/// not fit are combined into one sticky bit.
#[inline(always)]
fn sticky_double(negative: bool, magnitude: u64) -> f64 {
    let gathered = (magnitude & !0x7ff) | u64::from(magnitude & 0x7ff != 0) << 11;
    let value = if magnitude >> 53 != 0 { gathered } else { magnitude } as f64;
    if negative { -value } else { value }
}

/// `cvt.f32.f64`. A NaN becomes the canonical one.
#[inline(always)]
pub(crate) fn f64_to_f32(x: f64, rounding: Rounding) -> f32 {
    single::canonical(single::from_double(x, rounding))
}

/// `cvt.f64.f32`: exact. A NaN keeps its sign and payload, and becomes quiet.
#[inline(always)]
pub(crate) fn f32_to_f64(x: f32) -> f64 {
    let bits = x.to_bits();
    let payload = u64::from(bits & 0x007f_ffff) << 29;
    let nan = u64::from(bits >> 31) << 63 | 0x7ff8_0000_0000_0000 | payload;
    if x.is_nan() { f64::from_bits(nan) } else { f64::from(x) }
}

/// `cvt` of an `f64` to a half format, rounded once.
#[inline(always)]
pub(crate) fn f64_to_half<H: Half>(x: f64, rounding: Rounding) -> u16 {
    half::round::<H>(single::odd_from_double(x), rounding)
}

/// `.sat` of a conversion to `f64`: clamps to `[0.0, 1.0]`; a NaN becomes `+0.0`.
#[inline(always)]
pub(crate) fn saturate_f64(x: f64) -> f64 {
    let positive = if x > 0.0 { x } else { 0.0 };
    if positive < 1.0 { positive } else { 1.0 }
}

/// `cvt.pack.sat`: `a` and `b`, clamped to `bits` bits each. `a` is above `b`, and `c`'s low bits
/// are above both.
#[inline(always)]
pub(crate) fn pack_saturated(a: i32, b: i32, c: u32, bits: u32, signed: bool) -> u32 {
    let (least, most) = if signed { (-1 << (bits - 1), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
    let mask = (1u32 << bits) - 1;
    let pair = (a.clamp(least, most) as u32 & mask) << bits | (b.clamp(least, most) as u32 & mask);
    if bits == 16 { pair } else { c << (2 * bits) | pair }
}
