//! Kernels of tensor mathematics, over the plans of `tfrt-math`.
//!
//! Names under `tfrt_test.*` and `eigen.*` are those that existing programs use; `tfrt_math.*`
//! completes them. A kernel checks shapes, takes its tensors and returns; large ones are computed
//! on the work queue in blocks, and no thread waits for them. It knows nothing of devices.

mod check;
mod conv;
mod elementwise;
mod layout;
mod matmul;
mod normalize;
mod normalize_gradient;
mod packed_conv;
mod pool;
mod reduce;
mod softmax;

use tfrt_host::KernelRegistry;

/// Adds every kernel of this family.
pub(super) fn register(registry: &mut KernelRegistry) {
    matmul::register(registry);
    elementwise::register(registry);
    reduce::register(registry);
    layout::register(registry);
    pool::register(registry);
    conv::register(registry);
    packed_conv::register(registry);
    normalize::register(registry);
    normalize_gradient::register(registry);
    softmax::register(registry);
}
