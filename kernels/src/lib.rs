//! Kernel libraries: basic scalar kernels, control flow, tensors, test kernels.
//!
//! Each library is a module whose `register` adds its kernels to a registry; nothing registers itself. A lite
//! runtime takes [`basic`] and [`control_flow`] and leaves the rest out.

pub mod basic;
pub mod control_flow;
#[cfg(feature = "full")]
pub mod device;
#[cfg(feature = "full")]
pub mod math;
#[cfg(feature = "full")]
pub mod tensor;
#[cfg(feature = "full")]
pub mod test_kernels;
pub mod text;

use tfrt_host::KernelRegistry;

/// Adds every kernel of this build.
pub fn register(registry: &mut KernelRegistry) {
    basic::register(registry);
    control_flow::register(registry);
    #[cfg(feature = "full")]
    {
        device::register(registry);
        math::register(registry);
        tensor::register(registry);
        test_kernels::register(registry);
    }
}
