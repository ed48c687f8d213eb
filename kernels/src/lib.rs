//! Kernel libraries.
//!
//! Each is a module whose `register` adds its kernels to a registry; nothing registers itself.

pub mod tensor;

use tfrt_host::KernelRegistry;

/// Adds every kernel of this crate.
pub fn register_all(registry: &mut KernelRegistry) {
    tensor::register(registry);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_documented() {
        let mut registry = KernelRegistry::new();
        register_all(&mut registry);
        registry.check().unwrap();
        let bare: Vec<_> = registry.kernels().filter(|k| k.doc().is_empty()).map(tfrt_host::Kernel::name).collect();
        assert!(bare.is_empty(), "without a doc: {bare:?}");
    }
}
