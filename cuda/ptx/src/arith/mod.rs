//! The results of instructions, as functions on scalars, without memory, registers or threads.
//!
//! Every function returns the one result that the PTX manual allows. Where the manual leaves a
//! result open, the function documents the choice. The same bits come out on every host:
//!
//! - An `f32` operation that makes a NaN makes the canonical one, `0x7fffffff`; `f16` and `bf16`
//!   operations make `0x7fff`. `f64` operations keep the payload of their first NaN operand, and
//!   make `0xfff8000000000000` if there is none. `abs`, `neg`, `copysign` and `min`/`max` of one
//!   NaN move bits and keep payloads.
//! - `.ftz` flushes subnormal operands before, and subnormal results after rounding. Signs are
//!   kept.
//! - `.sat` and `.relu` return `+0.0` for a negative zero.
//! - Integer division by zero returns a quotient and a remainder of all ones, as NVIDIA's compiled
//!   sequences do.
//! - Approximate functions stay within the documented error. They never use a fused multiply-add,
//!   so that they agree between hosts.
//!
//! The functions that an interpreter calls for each lane are `#[inline(always)]` and take their
//! modifiers as arguments. With constant modifiers, a loop over lanes becomes straight-line vector
//! code. Nothing here fails or panics.

pub(crate) mod approx;
pub(crate) mod bits;
pub(crate) mod compare;
pub(crate) mod convert;
pub(crate) mod double;
mod exact;
pub(crate) mod half;
pub(crate) mod int;
pub(crate) mod matrix;
pub(crate) mod single;
pub(crate) mod small;
pub(crate) mod video;

#[cfg(test)]
mod tests;

/// The rounding of a result that the destination cannot represent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub(crate) enum Rounding {
    /// `.rn`, `.rni`: to the nearest value, ties to the even one.
    #[default]
    NearestEven,
    /// `.rz`, `.rzi`: toward zero.
    Zero,
    /// `.rm`, `.rmi`: toward negative infinity.
    Down,
    /// `.rp`, `.rpi`: toward positive infinity.
    Up,
}

/// The modifiers that `add`, `sub`, `mul` and `fma` share.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub(crate) struct Modes {
    /// The rounding of the result.
    pub(crate) rounding: Rounding,
    /// `.ftz`: subnormal operands and results become zeros of the same sign.
    pub(crate) ftz: bool,
    /// `.sat`: the result is clamped to `[0.0, 1.0]`, and a NaN becomes `+0.0`.
    pub(crate) saturate: bool,
}

impl Modes {
    /// `.rn` alone.
    pub(crate) const RN: Self = Self { rounding: Rounding::NearestEven, ftz: false, saturate: false };
    /// `.rn.ftz`.
    pub(crate) const RN_FTZ: Self = Self { rounding: Rounding::NearestEven, ftz: true, saturate: false };
    /// `.rm` alone.
    pub(crate) const RM: Self = Self { rounding: Rounding::Down, ftz: false, saturate: false };
    /// `.rm.ftz`.
    pub(crate) const RM_FTZ: Self = Self { rounding: Rounding::Down, ftz: true, saturate: false };
}
