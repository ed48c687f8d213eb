//! Kernels for testing the runtime: values that are late, wrong, counted, cancelled or timed.
//!
//! Programs in production need none of them, so a lite runtime leaves them out.

mod asynchronous;
mod benchmark;
mod failures;
mod miscellaneous;
mod natives;
mod strings;
mod values;

use tfrt_host::KernelRegistry;

/// Adds the test kernels and the native functions of tests.
pub(super) fn register(registry: &mut KernelRegistry) {
    asynchronous::register(registry);
    benchmark::register(registry);
    failures::register(registry);
    miscellaneous::register(registry);
    natives::register(registry);
    strings::register(registry);
    values::register(registry);
}
