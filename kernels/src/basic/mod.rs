//! Scalar kernels: constants, arithmetic, comparisons, casts, printing; and chains.
//!
//! They know scalars and chains, no tensor. Every operation exists for every type it makes sense
//! for, under `tfrt.<operation>.<type>`; kernels whose name ends in `_s` are the same ones under
//! the name that synchronous functions use.

mod boolean;
mod cast;
mod chain;
mod float;
mod integer;
mod scalar;

use tfrt_host::KernelRegistry;

/// Adds the basic kernels.
pub(super) fn register(registry: &mut KernelRegistry) {
    chain::register(registry);
    boolean::register(registry);
    integer::register(registry);
    float::register(registry);
    cast::register(registry);
}
