//! Floats: IEEE 754 arithmetic, except that division by zero is an error as it is for integers.

use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

use half::{bf16, f16};
use tfrt_host::KernelRegistry;

use super::{
    integer::divide_by_zero,
    scalar::{self, Scalar, name},
};

trait Float:
    Scalar
    + Default
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Rem<Output = Self>
    + Neg<Output = Self>
{
}
impl Float for f16 {}
impl Float for bf16 {}
impl Float for f32 {}
impl Float for f64 {}

pub(super) fn register(registry: &mut KernelRegistry) {
    register_type::<f16>(registry);
    register_type::<bf16>(registry);
    register_type::<f32>(registry);
    register_type::<f64>(registry);
}

fn register_type<T: Float>(registry: &mut KernelRegistry) {
    scalar::register::<T>(registry);
    scalar::register_order::<T>(registry);
    for operation in ["add", "add_s"] {
        registry.add(name::<T>(operation), |a: T, b: T| a + b).doc("Sum.");
    }
    for operation in ["minus", "minus_s"] {
        registry.add(name::<T>(operation), |a: T, b: T| a - b).doc("Difference.");
    }
    for operation in ["multiply", "mul", "mul_s"] {
        registry.add(name::<T>(operation), |a: T, b: T| a * b).doc("Product.");
    }
    let zero = T::default();
    for operation in ["div", "div_s"] {
        registry
            .add(
                name::<T>(operation),
                move |a: T, b: T| if b == zero { Err(divide_by_zero()) } else { Ok(a / b) },
            )
            .doc("Quotient; an error if the divisor is zero.");
    }
    registry
        .add(name::<T>("rem"), move |a: T, b: T| if b == zero { Err(divide_by_zero()) } else { Ok(a % b) })
        .doc("Remainder of the division rounded towards zero; an error if the divisor is zero.");
    registry.add(name::<T>("neg"), |a: T| -a).doc("The value with its sign changed.");
}
