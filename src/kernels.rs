//! Registers the kernel libraries that come with the runtime.

use tfrt_host::KernelRegistry;

/// Adds all kernels of this build.
pub fn register_kernels(registry: &mut KernelRegistry) {
    tfrt_kernels::register(registry);
    #[cfg(feature = "full")]
    {
        tfrt_cuda::register(registry);
        tfrt_eager::kernels::register(registry);
        tfrt_models::kernels::register(registry);
        tfrt_collectives::register(registry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_documented() {
        let mut registry = KernelRegistry::new();
        register_kernels(&mut registry);
        registry.check().unwrap();
        let bare: Vec<_> =
            registry.kernels().filter(|k| k.doc().is_empty()).map(tfrt_host::Kernel::name).collect();
        assert!(bare.is_empty(), "without a doc: {bare:?}");
    }
}
