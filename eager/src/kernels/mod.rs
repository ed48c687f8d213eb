//! The kernels that let programs use the core runtime: `corert.*` and `corert_sync.*`, and ops as
//! kernels: `tf_sync.*`.

mod attrs;
pub(crate) mod condition;
mod control_flow;
mod execute;
mod graph;
mod handlers;
mod planned;
mod synchronous;
mod tensors;
mod test;

use tfrt_host::KernelRegistry;

pub(crate) use tensors::fill;

/// Adds the kernels of the core runtime.
pub fn register(registry: &mut KernelRegistry) {
    attrs::register(registry);
    control_flow::register(registry);
    execute::register(registry);
    graph::register(registry);
    handlers::register(registry);
    planned::register(registry);
    synchronous::register(registry);
    tensors::register(registry);
    test::register(registry);
}
