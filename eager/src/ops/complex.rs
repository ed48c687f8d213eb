//! Complex numbers: what ops on real and complex numbers have in common.
//!
//! Numbers of 2 × 32 bits are computed in 2 × 64 and rounded once, also by the functions of
//! [`functions`]. Which op is which function is said in the families' files.

mod functions;

use std::ops::{Add, Mul, Neg, Sub};

use tfrt_math::{Float, Reduction};
use tfrt_tensor::{Accessor, Complex, Element, bf16, f16};

use super::elementwise::{binary, map};
use super::support::{Computed, with_complex};
use crate::CpuCall;

pub(super) use functions::*;

/// A complex number in double precision.
pub(super) type C = Complex<f64>;

const ONE: C = C::new(1.0, 0.0);

/// What real or complex numbers are computed in.
pub(super) trait Wide:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self> + From<f64>
{
    /// The number with the imaginary part negated.
    fn conj(self) -> Self;
    /// The quotient.
    fn over(self, divisor: Self) -> Self;
    /// Times a real number.
    fn scaled(self, by: f64) -> Self {
        self * by.into()
    }
    /// `1 - self`.
    fn one_minus(self) -> Self {
        Self::from(1.0) - self
    }
}

impl Wide for f64 {
    fn conj(self) -> Self {
        self
    }
    fn over(self, divisor: Self) -> Self {
        self / divisor
    }
}

impl Wide for C {
    fn conj(self) -> Self {
        C::conj(&self)
    }
    fn over(self, divisor: Self) -> Self {
        quotient(self, divisor)
    }
}

/// A real or complex number of a tensor.
pub(super) trait Field: Element {
    /// What it is computed in.
    type Wide: Wide;
    /// Exactly this number.
    fn wide(self) -> Self::Wide;
    /// The nearest number of this type.
    fn narrow(wide: Self::Wide) -> Self;
}

macro_rules! real {
    ($($T:ty)+) => {$(
        impl Field for $T {
            type Wide = f64;
            fn wide(self) -> f64 {
                Float::to_f64(self)
            }
            fn narrow(wide: f64) -> Self {
                <Self as Float>::from_f64(wide)
            }
        }
    )+};
}

real!(f16 bf16 f32 f64);

impl Field for Complex<f32> {
    type Wide = C;
    fn wide(self) -> C {
        C::new(self.re.into(), self.im.into())
    }
    fn narrow(wide: C) -> Self {
        Self::new(wide.re as f32, wide.im as f32)
    }
}

impl Field for C {
    type Wide = C;
    fn wide(self) -> C {
        self
    }
    fn narrow(wide: C) -> Self {
        wide
    }
}

/// `f` of each complex number of the one argument.
pub(super) fn map_complex(call: &CpuCall<'_>, me: &'static Accessor, name: &str, f: fn(C) -> C) -> Computed {
    with_complex!(call.result(0)?.dtype, name, |T| map::<T>(call, me, move |z| T::narrow(f(z.wide()))))
}

/// `f` of each pair of complex numbers under broadcasting.
pub(super) fn binary_complex(
    call: &CpuCall<'_>,
    me: &'static Accessor,
    name: &str,
    f: impl Fn(C, C) -> C + Send + Sync + 'static,
) -> Computed {
    with_complex!(call.result(0)?.dtype, name, |T| {
        binary::<T>(call, me, move |x, y| T::narrow(f(x.wide(), y.wide())))
    })
}

/// The sum of complex numbers, zero of none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Total;
/// The mean of complex numbers; of none zero, unlike of real ones, as in TensorFlow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Average;
/// The product of complex numbers, one of none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Product;

macro_rules! reduction {
    ($name:ident, $identity:expr, $op:tt, |$acc:ident, $count:ident| $finish:expr) => {
        impl<T: Field<Wide = C>> Reduction<T> for $name {
            type Acc = C;
            const IDENTITY: C = $identity;
            fn fold(acc: C, x: T) -> C {
                acc $op x.wide()
            }
            fn merge(a: C, b: C) -> C {
                a $op b
            }
            fn finish($acc: C, $count: usize) -> T {
                T::narrow($finish)
            }
        }
    };
}

reduction!(Total, C::new(0.0, 0.0), +, |sum, _count| sum);
reduction!(Average, C::new(0.0, 0.0), +, |sum, count| sum / count.max(1) as f64);
reduction!(Product, ONE, *, |product, _count| product);
