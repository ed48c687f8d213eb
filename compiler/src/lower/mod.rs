//! Lowering: an op graph as a kernel graph.

mod calls;
pub mod corert;

/// The function of a compiled program that prepares: it takes nothing and gives what [`MAIN`](crate::MAIN) takes first.
pub const SETUP: &str = "setup";
/// The function of a compiled program that describes it: it takes nothing and gives a `!tfrt_model.signature`.
pub const SIGNATURE: &str = "signature";

/// Kernels of programs that other libraries than the core runtime register.
pub(crate) const OTHER_KERNELS: &[&str] =
    &["tfrt.call", "tfrt.new.chain", "tfrt_model.signature", "tfrt_model.weight"];
