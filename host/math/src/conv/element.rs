//! Which element types have convolutions, and what they are computed in.

use half::{bf16, f16};

use crate::Number;
use crate::micro::{Halves, MicroElement};

mod sealed {
    pub trait Sealed {}
}

/// An element type with convolutions. Those of `f16` and `bf16` are computed in `f32` and rounded
/// once; those of `i32` wrap.
#[expect(
    private_bounds,
    reason = "the trait is sealed, and only this crate looks at what a type is computed in"
)]
pub trait ConvElement: Number + sealed::Sealed {
    /// What sums are kept in.
    #[doc(hidden)]
    type Work: MicroElement + std::fmt::Debug;
    /// Whether numbers have halves.
    #[doc(hidden)]
    const IS_REAL: bool;

    /// To the type that is computed in.
    #[doc(hidden)]
    fn widen(self) -> Self::Work;
    /// Back, rounded.
    #[doc(hidden)]
    fn narrow(work: Self::Work) -> Self;
    /// Returns the elements in 16 bits if they are exact there.
    #[doc(hidden)]
    #[expect(private_interfaces, reason = "the trait is sealed")]
    fn halves(_: &[Self]) -> Option<Halves<'_, Self::Work>> {
        None
    }
    /// Returns the same elements, if that type is this one.
    #[doc(hidden)]
    fn as_work(elements: &[Self]) -> Option<&[Self::Work]>;
    /// Returns the same elements, if that type is this one.
    #[doc(hidden)]
    fn as_work_mut(element: *mut Self) -> Option<*mut Self::Work>;
}

macro_rules! native {
    ($($t:ty: $is_real:literal $(, $halves:path)?);*) => {$(
        impl sealed::Sealed for $t {}

        impl ConvElement for $t {
            type Work = $t;
            const IS_REAL: bool = $is_real;

            #[inline]
            fn widen(self) -> $t {
                self
            }

            #[inline]
            fn narrow(work: $t) -> $t {
                work
            }

            $(
            #[expect(private_interfaces, reason = "the trait is sealed")]
            fn halves(elements: &[$t]) -> Option<Halves<'_, $t>> {
                $halves(elements)
            })?

            fn as_work(elements: &[$t]) -> Option<&[$t]> {
                Some(elements)
            }

            fn as_work_mut(element: *mut $t) -> Option<*mut $t> {
                Some(element)
            }
        }
    )*};
}

macro_rules! half {
    ($($t:ty: $halves:path),*) => {$(
        impl sealed::Sealed for $t {}

        impl ConvElement for $t {
            type Work = f32;
            const IS_REAL: bool = true;

            #[inline]
            fn widen(self) -> f32 {
                self.to_f32()
            }

            #[inline]
            fn narrow(work: f32) -> $t {
                <$t>::from_f32(work)
            }

            #[expect(private_interfaces, reason = "the trait is sealed")]
            fn halves(elements: &[$t]) -> Option<Halves<'_, f32>> {
                Some($halves(elements))
            }

            fn as_work(_: &[$t]) -> Option<&[f32]> {
                None
            }

            fn as_work_mut(_: *mut $t) -> Option<*mut f32> {
                None
            }
        }
    )*};
}

native!(f32: true, Halves::of_exact; f64: true; i32: false);
half!(f16: Halves::of_f16, bf16: Halves::of_bf16);
