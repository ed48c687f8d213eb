//! The `tfrt_dist.*` kernels.

mod context;

use tfrt_host::KernelRegistry;

/// Adds the kernels.
pub fn register(registry: &mut KernelRegistry) {
    context::register(registry);
}
