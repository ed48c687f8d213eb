//! Calls, branches and loops: kernels that run functions of the program.
//!
//! None of them waits, and none lets the stack or the number of things under way grow with the
//! length of a loop. All of them can run before their arguments are there (as a program asks for
//! with `bef.nonstrict`): a condition or a count that is still pending suspends the kernel, other
//! arguments are handed on as they are. What a function does with an error is its own affair; an
//! error in a condition or a count becomes the result. Once the request is cancelled, loops stop.

mod branch;
mod call;
mod loops;
mod parallel;

use tfrt_host::{AttributeSpec, KernelRegistry, KernelSignature, TypeSpec};

/// Adds the control flow kernels.
pub(super) fn register(registry: &mut KernelRegistry) {
    call::register(registry);
    branch::register(registry);
    loops::register(registry);
    parallel::register(registry);
}

/// The signature of a kernel that takes `arguments`, then any others, and `functions`.
fn signature(arguments: &[&'static str], functions: usize) -> KernelSignature {
    KernelSignature {
        arguments: arguments.iter().map(|&name| TypeSpec::Named(name)).collect(),
        rest_arguments: Some(TypeSpec::Any),
        rest_attributes: Some(AttributeSpec::Any),
        functions,
        rest_results: Some(TypeSpec::Any),
        ..KernelSignature::default()
    }
}
