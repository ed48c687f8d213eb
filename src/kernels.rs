//! The kernel libraries that come with the runtime.

use tfrt_host::KernelRegistry;

/// Adds all kernels of this build.
pub fn register_kernels(registry: &mut KernelRegistry) {
    tfrt_kernels::register(registry);
    #[cfg(feature = "full")]
    {
        tfrt_cuda::kernels::register(registry);
        tfrt_eager::kernels::register(registry);
        tfrt_models::kernels::register(registry);
    }
}
