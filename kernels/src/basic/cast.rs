//! Casts between all scalar types: `tfrt.cast.<from>_to_<to>`.
//!
//! Integers are truncated to the width of the result. Floats are rounded to nearest when they
//! become narrower. When they become integers, they are rounded toward zero and saturate, and NaN
//! becomes zero. A number becomes a boolean by comparing it with zero.

use half::{bf16, f16};
use tfrt_host::{KernelRegistry, Value};
use tfrt_math::Float;

/// A scalar in a type that holds every scalar of its kind.
enum Wide {
    Integer(i128),
    Float(f64),
}

trait Cast: Value + Copy {
    fn widen(self) -> Wide;
    fn narrow(wide: Wide) -> Self;
}

#[expect(
    clippy::cast_lossless,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "casting is what these kernels are for"
)]
mod casts {
    use super::*;

    macro_rules! casts {
        ($($type:ty: $kind:ident, |$value:ident| $widen:expr, |$integer:ident| $from_integer:expr, |$float:ident| $from_float:expr;)*) => {
            $(impl Cast for $type {
                #[inline]
                fn widen(self) -> Wide {
                    let $value = self;
                    Wide::$kind($widen)
                }
                #[inline]
                fn narrow(wide: Wide) -> Self {
                    match wide {
                        Wide::Integer($integer) => $from_integer,
                        Wide::Float($float) => $from_float,
                    }
                }
            })*
        };
    }

    casts! {
        bool: Integer, |v| v as i128, |i| i != 0, |f| f != 0.0;
        i8: Integer, |v| v as i128, |i| i as i8, |f| f as i8;
        i16: Integer, |v| v as i128, |i| i as i16, |f| f as i16;
        i32: Integer, |v| v as i128, |i| i as i32, |f| f as i32;
        i64: Integer, |v| v as i128, |i| i as i64, |f| f as i64;
        u8: Integer, |v| v as i128, |i| i as u8, |f| f as u8;
        u16: Integer, |v| v as i128, |i| i as u16, |f| f as u16;
        u32: Integer, |v| v as i128, |i| i as u32, |f| f as u32;
        u64: Integer, |v| v as i128, |i| i as u64, |f| f as u64;
        f16: Float, |v| v.to_f64(), |i| Float::from_integer(i), |f| Float::from_f64(f);
        bf16: Float, |v| v.to_f64(), |i| Float::from_integer(i), |f| Float::from_f64(f);
        f32: Float, |v| v as f64, |i| i as f32, |f| f as f32;
        f64: Float, |v| v, |i| i as f64, |f| f;
    }
}

fn register_pair<From: Cast, To: Cast>(registry: &mut KernelRegistry) {
    registry
        .add(format!("tfrt.cast.{}_to_{}", From::TYPE_NAME, To::TYPE_NAME), |value: From| {
            To::narrow(value.widen())
        })
        .doc("The value in another type; see the library's page for rounding and overflow.");
}

macro_rules! register_from {
    ($registry:ident, $from:ty: $($to:ty)*) => {
        $(if <$from>::TYPE_NAME != <$to>::TYPE_NAME {
            register_pair::<$from, $to>($registry);
        })*
    };
}

macro_rules! register_each {
    ($registry:ident: $($from:ty)*) => {
        $(register_from!($registry, $from: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);)*
    };
}

pub(super) fn register(registry: &mut KernelRegistry) {
    register_each!(registry: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
}
