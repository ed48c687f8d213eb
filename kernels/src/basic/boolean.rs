//! Booleans, and the bitwise operations they share with integers.

use std::ops::{BitAnd, BitOr, BitXor, Not};

use tfrt_host::KernelRegistry;

use super::scalar::{self, Scalar, name};

/// A type of bits.
pub(super) trait Bits:
    Scalar + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
{
}
impl<T> Bits for T where
    T: Scalar + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
{
}

pub(super) fn register(registry: &mut KernelRegistry) {
    scalar::register::<bool>(registry);
    register_bits::<bool>(registry);
}

/// Adds the bitwise operations.
pub(super) fn register_bits<T: Bits>(registry: &mut KernelRegistry) {
    registry.add(name::<T>("and"), |a: T, b: T| a & b).doc("Bitwise conjunction.");
    registry.add(name::<T>("or"), |a: T, b: T| a | b).doc("Bitwise disjunction.");
    registry.add(name::<T>("xor"), |a: T, b: T| a ^ b).doc("Bitwise exclusive disjunction.");
    registry.add(name::<T>("not"), |a: T| !a).doc("Bitwise negation.");
}
