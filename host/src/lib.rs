//! The host runtime: asynchronous values, kernels, work queues, allocators and the executor of BEF
//! programs.
//!
//! It knows tensors, devices and MLIR text only as what kernels and tools make of them.

pub mod allocator;
mod async_value;
mod context;
mod diagnostic;
mod executor;
pub mod host_buffer;
mod kernel;
pub mod library;
mod load;
mod mapped_file;
mod once_list;
mod panics;
mod pool;
mod process;
mod program;
pub mod sync;
pub mod text;
pub mod tracing;
mod value;
pub mod work_queue;

pub use async_value::{
    AsyncValue, AsyncValueRef, Constructed, IndirectPromise, PayloadFuture, Promise, Status, ValueFuture,
};
pub use context::{
    CallSite, CancellationHook, DiagnosticHandler, ExecutionContext, ExternalWork, HostContext,
    HostContextBuilder, MAX_PENDING_CALLS, RequestContext, ResourceContext,
};
pub use diagnostic::{Diagnostic, ErrorCode, SourceLocation};
pub use executor::{Invocation, MAX_CALL_DEPTH, MAX_STACK_DEPTH};
pub use kernel::{
    Alias, Arg, ArgumentType, Attr, AttributeParameter, AttributeSpec, AttributeType, FunctionAttribute,
    IntoKernel, Kernel, KernelBuilder, KernelParameter, KernelRegistry, KernelResult, KernelSignature, Out,
    Placement, Rest, RestAttrs, ResultCount, ResultValue, TypeSpec,
};
pub use mapped_file::{MappedFile, check_mapped_files, is_in_mapped_file, release_mapped_pages};
pub use once_list::OnceList;
pub use process::{MAX_TYPES, ProcessTables, TypeIndex, TypeInfo, adopt_process_tables, process_tables};
pub use program::{BefFile, Function, FunctionRef, KernelFn, KernelFrame, NativeFn};
pub use tfrt_bef as bef;
pub use tfrt_bef::DType;
#[doc(hidden)]
pub use value::cached_type_index;
pub use value::{Chain, Value, register_type, type_name};
