//! TFRT: a runtime for kernel graphs, written as MLIR text or encoded as BEF files.
//!
//! This crate assembles a [`Runtime`] from the parts below it and is the only place that knows all of them. It adds
//! no mechanism of its own: values, kernels and execution are [`tfrt_host`]'s.
#![cfg_attr(
    feature = "full",
    doc = r#"
```
use tfrt::Runtime;

let mut runtime = Runtime::builder().kernels(|registry| {
    registry.add("demo.twice.i32", |x: i32| x.wrapping_mul(2)).doc("Twice an i32.");
}).build()?;
# let _ = &mut runtime;
# Ok::<(), tfrt::Errors>(())
```
"#
)]

mod console;
mod errors;
mod kernels;
mod runtime;
pub mod tools;

pub use console::{Console, SharedWriter};
pub use errors::Errors;
pub use kernels::register_kernels;
pub use runtime::{Program, Runtime, RuntimeBuilder};
pub use tfrt_host as host;
