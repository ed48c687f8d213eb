//! Integers. Arithmetic wraps; division by zero is an error.

use tfrt_host::{Diagnostic, KernelRegistry};

use super::{
    boolean::{self, Bits},
    scalar::{self, name},
};

/// An integer type, with arithmetic in its width.
trait Integer: Bits {
    fn add(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn neg(self) -> Self;
    /// Returns the quotient and the remainder, rounded toward zero, or `None` for a divisor of
    /// zero.
    fn div(self, other: Self) -> Option<(Self, Self)>;
}

macro_rules! integers {
    ($($type:ty)*) => {
        $(impl Integer for $type {
            fn add(self, other: Self) -> Self { self.wrapping_add(other) }
            fn minus(self, other: Self) -> Self { self.wrapping_sub(other) }
            fn mul(self, other: Self) -> Self { self.wrapping_mul(other) }
            fn neg(self) -> Self { self.wrapping_neg() }
            fn div(self, other: Self) -> Option<(Self, Self)> {
                (other != 0).then(|| (self.wrapping_div(other), self.wrapping_rem(other)))
            }
        })*

        pub(super) fn register(registry: &mut KernelRegistry) {
            $(register_type::<$type>(registry);)*
        }
    };
}

integers! { i8 i16 i32 i64 u8 u16 u32 u64 }

/// Returns the error of a division by zero.
#[cold]
pub(super) fn divide_by_zero() -> Diagnostic {
    Diagnostic::invalid_argument("Divide by zero")
}

fn register_type<T: Integer>(registry: &mut KernelRegistry) {
    scalar::register::<T>(registry);
    scalar::register_order::<T>(registry);
    boolean::register_bits::<T>(registry);
    for operation in ["add", "add_s"] {
        registry.add(name::<T>(operation), |a: T, b: T| a.add(b)).doc("Sum, wrapping.");
    }
    for operation in ["minus", "minus_s"] {
        registry.add(name::<T>(operation), |a: T, b: T| a.minus(b)).doc("Difference, wrapping.");
    }
    for operation in ["mul", "mul_s"] {
        registry.add(name::<T>(operation), |a: T, b: T| a.mul(b)).doc("Product, wrapping.");
    }
    for operation in ["div", "div_s"] {
        registry
            .add(name::<T>(operation), |a: T, b: T| a.div(b).ok_or_else(divide_by_zero))
            .doc("Quotient, rounded towards zero, and remainder; an error if the divisor is zero.");
    }
    registry
        .add(name::<T>("rem"), |a: T, b: T| {
            a.div(b).map(|(_, remainder)| remainder).ok_or_else(divide_by_zero)
        })
        .doc("Remainder of the division rounded towards zero; an error if the divisor is zero.");
    registry.add(name::<T>("neg"), |a: T| a.neg()).doc("The value with its sign changed, wrapping.");
}
