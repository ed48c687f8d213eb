//! The `tfrt_dist.*` kernels.

mod allgather;
mod collective;
mod collectives;
mod context;
mod devices;
mod training;

use tfrt_host::KernelRegistry;

/// Adds the kernels.
pub fn register(registry: &mut KernelRegistry) {
    context::register(registry);
    collectives::register(registry);
    allgather::register(registry);
    training::register(registry);
    devices::register(registry);
}
