//! The host runtime: asynchronous values, kernels, work queues, allocators and the executor of BEF programs.
//!
//! It knows tensors, devices and MLIR text only as what kernels and tools make of them.

pub mod allocator;
mod async_value;
mod diagnostic;
pub mod host_buffer;
pub mod sync;
mod value;
pub mod work_queue;

pub use async_value::{AsyncValue, AsyncValueRef, Constructed, IndirectPromise, Promise, Status};
pub use diagnostic::{Diagnostic, ErrorCode, SourceLocation};
pub use tfrt_bef::DType;
#[doc(hidden)]
pub use value::cached_type_index;
pub use value::{
    Chain, TYPES_MAX, TypeIndex, TypeInfo, TypeTable, Value, adopt_type_table, register_type, type_name,
    type_table,
};
