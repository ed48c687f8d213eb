//! The host kernel libraries: basic scalar kernels, control flow, tensors, mathematics, test
//! kernels.
//!
//! Each library is a module whose `register` adds its kernels to a registry. Nothing registers
//! itself. The `lite` build has `basic` and `control_flow` only.

mod basic;
mod control_flow;
#[cfg(feature = "full")]
mod math;
#[cfg(feature = "full")]
mod tensor;
#[cfg(feature = "full")]
mod test_kernels;

use tfrt_host::KernelRegistry;

/// Adds every kernel of this build.
pub fn register(registry: &mut KernelRegistry) {
    basic::register(registry);
    control_flow::register(registry);
    #[cfg(feature = "full")]
    {
        math::register(registry);
        tensor::register(registry);
        test_kernels::register(registry);
    }
}
