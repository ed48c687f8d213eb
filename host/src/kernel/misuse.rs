//! Programs that must not compile, each beside its nearest relative that does.
//!
//! # The signature of a typed kernel is its function's
//! A kernel that reads its frame itself is added with a signature:
//!
//! ```
//! use tfrt_host::{KernelRegistry, KernelSignature};
//!
//! KernelRegistry::new().add_raw("my.raw", KernelSignature::default(), |_| {}).doc("Does nothing.");
//! ```
//!
//! For other kernels there is no way to set one, because the calls of scalar kernels rely on it:
//!
//! ```compile_fail,E0599
//! use tfrt_host::{KernelRegistry, KernelSignature};
//!
//! KernelRegistry::new().add("my.add", |a: i32, b: i32| a + b).signature(KernelSignature::default());
//! ```
//!
//! # Parameters, results and kernels are sealed
//! Value types take part through `Value`:
//!
//! ```
//! # use tfrt_host::{KernelRegistry, value_type};
//! #[derive(Clone)]
//! struct Mine(i32);
//! value_type!(Mine, "!my.type");
//!
//! KernelRegistry::new().add("my.next", |mine: Mine| Mine(mine.0 + 1));
//! ```
//!
//! Other types cannot become parameters:
//!
//! ```compile_fail,E0277
//! # use tfrt_host::{KernelParameter, KernelSignature};
//! struct Mine(i32);
//!
//! impl KernelParameter for Mine {
//!     type Item<'f> = Mine;
//!     fn describe(_: &mut KernelSignature) {}
//! }
//! ```
//!
//! Nor can they become all results of a kernel:
//!
//! ```compile_fail,E0277
//! # use tfrt_host::{KernelFrame, KernelResult, KernelSignature};
//! struct Mine(i32);
//!
//! impl KernelResult for Mine {
//!     fn describe(_: &mut KernelSignature) {}
//!     fn store(self, _: &mut KernelFrame<'_>) {}
//! }
//! ```
//!
//! Nor attributes:
//!
//! ```compile_fail,E0277
//! # use tfrt_host::{AttributeSpec, AttributeType};
//! struct Mine;
//!
//! impl AttributeType for Mine {
//!     type Borrowed<'f> = Mine;
//!     const SPEC: AttributeSpec = AttributeSpec::Any;
//! }
//! ```
//!
//! Only functions become kernels, because the type that `erase` returns has no public name:
//!
//! ```compile_fail,E0603
//! # use tfrt_host::IntoKernel;
//! struct Mine;
//!
//! impl IntoKernel<()> for Mine {
//!     fn erase(self) -> tfrt_host::kernel::ErasedKernel {
//!         std::process::abort()
//!     }
//! }
//! ```
//!
//! A type may become a single result:
//!
//! ```
//! # use tfrt_host::{AsyncValue, KernelFrame, KernelRegistry, ResultValue, TypeSpec};
//! struct Mine(i32);
//!
//! impl ResultValue for Mine {
//!     const SPEC: TypeSpec = TypeSpec::Named("i32");
//!     fn into_handle(self, _: &KernelFrame<'_>) -> AsyncValue {
//!         AsyncValue::new(self.0)
//!     }
//! }
//! KernelRegistry::new().add("my.one", || Mine(1));
//! ```
//!
//! But it cannot claim the way in which scalars are stored, because that has no public name either:
//!
//! ```compile_fail,E0121
//! # use tfrt_host::{AsyncValue, KernelFrame, KernelRegistry, ResultValue, TypeSpec};
//! struct Mine(i32);
//!
//! impl ResultValue for Mine {
//!     const SPEC: TypeSpec = TypeSpec::Named("i32");
//!     const SCALAR: Option<_> = <i32 as ResultValue>::SCALAR;
//!     fn into_handle(self, _: &KernelFrame<'_>) -> AsyncValue {
//!         AsyncValue::new(self.0)
//!     }
//! }
//! KernelRegistry::new().add("my.one", || Mine(1));
//! ```
