//! TFRT: a runtime for kernel graphs, written as MLIR text or encoded as BEF files.
//!
//! A [`Runtime`] loads [`Program`]s and calls their functions. This crate assembles it from the
//! other crates and is the only one that knows all of them. Values, kernels and execution come from
//! [`tfrt_host`].
#![cfg_attr(
    feature = "full",
    doc = r#"
```
use tfrt::{Runtime, host::AsyncValue};

let runtime = Runtime::builder()
    .kernels(|registry| {
        registry.add("demo.twice.i32", |x: i32| x.wrapping_mul(2)).doc("Twice an i32.");
    })
    .build()?;
let program = runtime.load(
    "twice.mlir",
    b"func @twice(%x: i32) -> i32 {
        %y = demo.twice.i32 %x
        tfrt.return %y : i32
      }"
    .to_vec(),
)?;
let results = program.call("twice", [AsyncValue::new(21)])?;
assert_eq!(results[0].get(), Some(&42));
# Ok::<(), Box<dyn std::error::Error>>(())
```
"#
)]

mod call;
#[cfg(feature = "full")]
mod chains;
mod console;
#[cfg(feature = "full")]
mod devices;
mod errors;
mod files;
mod kernels;
#[cfg(feature = "full")]
mod model;
#[cfg(feature = "full")]
pub mod programs;
#[cfg(feature = "distributed")]
mod remote;
mod runtime;
#[cfg(feature = "full")]
mod text;
pub mod tools;

pub use call::{Call, CallFuture};
#[cfg(feature = "full")]
pub use chains::MissingChain;
pub use console::{Console, SharedWriter};
#[cfg(feature = "full")]
pub use devices::{Choice, DeviceOptions};
pub use errors::Errors;
pub use kernels::register_kernels;
#[cfg(feature = "full")]
pub use model::Model;
#[cfg(feature = "distributed")]
pub use remote::RuntimeBackend;
pub use runtime::{Program, Runtime, RuntimeBuilder};
#[cfg(feature = "full")]
pub use text::operations;
#[cfg(feature = "full")]
pub use tfrt_compiler as compiler;
#[cfg(feature = "full")]
pub use tfrt_device as device;
#[cfg(feature = "full")]
pub use tfrt_eager as eager;
pub use tfrt_host as host;
#[cfg(feature = "full")]
pub use tfrt_models as models;
#[cfg(feature = "full")]
pub use tfrt_tensor as tensor;

/// Compiles and runs the example in README.md.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
