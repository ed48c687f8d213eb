//! Modules for tests.

use tfrt_ir::{Module, OpRegistry, PrintOptions, print_module};

/// The text of a module.
pub(crate) fn print(module: &Module) -> String {
    print_module(module, &OpRegistry::new(), PrintOptions::default())
}
