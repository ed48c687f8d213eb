//! Which element types have matrix products, and by what code.

use half::{bf16, f16};

use super::kernel::{self, Gemm};
use crate::{Number, ShapeError, TileMut};

mod sealed {
    pub trait Sealed {}
}

/// An element type with matrix products: all of [`Number`]'s.
pub trait MatMulElement: Number + sealed::Sealed {
    /// Whether products are summed in this type, not in a wider one.
    #[doc(hidden)]
    const SUMS_AS_ITSELF: bool;

    /// Computes one tile.
    #[doc(hidden)]
    #[expect(private_interfaces, reason = "the trait is sealed, and only this crate calls it")]
    fn gemm(gemm: &Gemm<'_, Self>, tile: &mut TileMut<'_, Self>) -> Result<(), ShapeError>;
}

macro_rules! element {
    (sums as itself: $itself:expr; $($t:ty => $f:expr),* $(,)?) => {$(
        impl sealed::Sealed for $t {}

        impl MatMulElement for $t {
            const SUMS_AS_ITSELF: bool = $itself;

            #[expect(private_interfaces, reason = "the trait is sealed, and only this crate calls it")]
            fn gemm(gemm: &Gemm<'_, Self>, tile: &mut TileMut<'_, Self>) -> Result<(), ShapeError> {
                $f(gemm, tile)
            }
        }
    )*};
}

fn portable<T: Number>(gemm: &Gemm<'_, T>, tile: &mut TileMut<'_, T>) -> Result<(), ShapeError> {
    kernel::portable(gemm, tile);
    Ok(())
}

element! {
    sums as itself: false;
    f16 => kernel::through_f32,
    bf16 => kernel::through_f32,
}

element! {
    sums as itself: true;
    f32 => kernel::gemm_f32,
    f64 => kernel::gemm_f64,
    i8 => portable,
    i16 => portable,
    i32 => portable,
    i64 => portable,
    u8 => portable,
    u16 => portable,
    u32 => portable,
    u64 => portable,
}
