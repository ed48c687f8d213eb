//! Bits of integers: shifts and counts of ones.

use std::ops::{Shl, Shr};

use tfrt_host::DType;
use tfrt_math::Number;
use tfrt_tensor::{Accessor, Element};

use super::elementwise::{binary, broadcast_metadata, retyped, unary};
use super::support::{Computed, with_integer};
use super::types;
use crate::{CpuCall, OpRegistry};

static ME: Accessor = Accessor::new("tf op on bits");

/// An integer, its bits, and shifts by a number within its width.
trait Bits: Element + Number + Shl<u32, Output = Self> + Shr<u32, Output = Self> {
    /// The number as a distance to shift by, from none to one less than the width.
    fn distance(self) -> u32;
    /// How many bits are one.
    fn ones(self) -> u8;
}

macro_rules! bits {
    ($($t:ty),*) => {$(
        impl Bits for $t {
            fn distance(self) -> u32 {
                // Other distances are not defined by TensorFlow, which clamps them, too.
                self.clamp(0, <$t>::BITS as $t - 1) as u32
            }

            fn ones(self) -> u8 {
                self.count_ones() as u8
            }
        }
    )*};
}

bits!(i8, i16, i32, i64, u8, u16, u32, u64);

fn left<T: Bits>(call: &CpuCall<'_>) -> Computed {
    binary::<T>(call, &ME, |x, y| x << y.distance())
}

fn right<T: Bits>(call: &CpuCall<'_>) -> Computed {
    binary::<T>(call, &ME, |x, y| x >> y.distance())
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.LeftShift")
        .types(types::INTEGERS)
        .metadata(broadcast_metadata)
        .cpu(|call| with_integer!(call.result(0)?.dtype, "tf.LeftShift", |T| left::<T>(&call)));
    ops.add("tf.RightShift")
        .types(types::INTEGERS)
        .metadata(broadcast_metadata)
        .cpu(|call| with_integer!(call.result(0)?.dtype, "tf.RightShift", |T| right::<T>(&call)));
    ops.add("tf.PopulationCount")
        .types(types::INTEGERS)
        .results([crate::ResultType::is(DType::UI8)])
        .metadata(|call| retyped(&call, DType::UI8))
        .cpu(|call| {
            let [x] = call.dense()?;
            with_integer!(x.dtype(), "tf.PopulationCount", |T| unary::<T, u8>(&call, &ME, Bits::ones))
        });
}
