//! Registers of a warp. The values of the lanes lie side by side, so a loop over the lanes compiles
//! to vector code.
//!
//! A register of up to 32 bits is a [`Line`] of `u32`, one of 64 bits a `Line` of `u64`. Narrower
//! values occupy the low bits; the bits above are unspecified, so every reader truncates. A
//! predicate is a `u32` with one bit for each lane.

use std::ops::{BitAnd, BitOr, BitXor};

use super::slots::Width;

/// The number of lanes of a warp.
pub(crate) const LANES: usize = 32;
/// The mask of all lanes.
pub(crate) const FULL: u32 = u32::MAX;

/// One value for each lane.
#[derive(Clone, Copy)]
#[repr(C, align(128))]
pub(crate) struct Line<S>(pub(crate) [S; LANES]);

impl<S: Slot> Line<S> {
    /// Creates a line with `value` in each lane.
    #[inline(always)]
    pub(crate) fn splat(value: S) -> Self {
        Line([value; LANES])
    }

    /// Creates a line with `f(lane)` in each lane.
    #[inline(always)]
    pub(crate) fn from_fn(mut f: impl FnMut(usize) -> S) -> Self {
        let mut line = Line([S::default(); LANES]);
        let mut lane = 0;
        while lane < LANES {
            line.0[lane] = f(lane);
            lane += 1;
        }
        line
    }
}

/// The element type of registers: `u32` or `u64`.
pub(crate) trait Slot:
    Copy + Default + Ord + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + 'static
{
    /// The width of the register.
    const WIDTH: Width;
    /// Returns the wrapping sum.
    fn plus(self, other: Self) -> Self;
    /// Returns the wrapping difference.
    #[cfg(not(target_arch = "x86_64"))]
    fn minus(self, other: Self) -> Self;
    /// Returns whether the highest bit is set.
    fn is_negative(self) -> bool;
    /// Returns the low bits of a 64-bit value.
    fn truncate(value: u64) -> Self;
    /// Returns the value, zero-extended.
    fn extend(self) -> u64;
}

impl Slot for u32 {
    const WIDTH: Width = Width::Narrow;
    #[inline(always)]
    fn plus(self, other: u32) -> u32 {
        self.wrapping_add(other)
    }
    #[cfg(not(target_arch = "x86_64"))]
    #[inline(always)]
    fn minus(self, other: u32) -> u32 {
        self.wrapping_sub(other)
    }
    #[inline(always)]
    fn is_negative(self) -> bool {
        self >> (u32::BITS - 1) != 0
    }
    #[inline(always)]
    fn truncate(value: u64) -> u32 {
        value as u32
    }
    #[inline(always)]
    fn extend(self) -> u64 {
        self.into()
    }
}

impl Slot for u64 {
    const WIDTH: Width = Width::Double;
    #[inline(always)]
    fn plus(self, other: u64) -> u64 {
        self.wrapping_add(other)
    }
    #[cfg(not(target_arch = "x86_64"))]
    #[inline(always)]
    fn minus(self, other: u64) -> u64 {
        self.wrapping_sub(other)
    }
    #[inline(always)]
    fn is_negative(self) -> bool {
        self >> (u64::BITS - 1) != 0
    }
    #[inline(always)]
    fn truncate(value: u64) -> u64 {
        value
    }
    #[inline(always)]
    fn extend(self) -> u64 {
        self
    }
}

/// A type that instructions compute with, and its encoding in a register.
pub(crate) trait Value: Copy {
    /// The element type of the register.
    type Slot: Slot;
    /// Decodes a value from a register.
    fn unpack(slot: Self::Slot) -> Self;
    /// Encodes the value for a register.
    fn pack(self) -> Self::Slot;
}

macro_rules! values {
    ($($ty:ty, $slot:ty, $from:expr, $to:expr;)*) => {$(
        impl Value for $ty {
            type Slot = $slot;
            #[inline(always)]
            fn unpack(slot: $slot) -> $ty {
                let from: fn($slot) -> $ty = $from;
                from(slot)
            }
            #[inline(always)]
            fn pack(self) -> $slot {
                let to: fn($ty) -> $slot = $to;
                to(self)
            }
        }
    )*};
}
values! {
    u8, u32, |s| s as u8, u32::from;
    i8, u32, |s| s as i8, |v| v as u32;
    u16, u32, |s| s as u16, u32::from;
    i16, u32, |s| s as i16, |v| v as u32;
    u32, u32, |s| s, |v| v;
    i32, u32, |s| s as i32, |v| v as u32;
    u64, u64, |s| s, |v| v;
    i64, u64, |s| s as i64, |v| v as u64;
    f32, u32, f32::from_bits, f32::to_bits;
    f64, u64, f64::from_bits, f64::to_bits;
}

/// Returns the lanes of a mask, lowest first.
pub(crate) fn lanes(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (lane < LANES).then_some(lane)
    })
}
