//! The core runtime: TensorFlow-level ops, executed as they are called.
//!
//! [`CoreRuntime`] keeps [`OpHandler`]s by name. A handler runs the ops it knows on one kind of
//! device and leaves the others to the next one. An op takes and gives [`TensorHandle`]s: tensors
//! that may still be computed, whose shapes and data types are mostly known at once, because each
//! op's metadata function runs when the op is called. So an error in shapes, types or attributes is
//! an error of the call, with the caller's place; the elements follow later.
//!
//! An op is defined once, in one file under `ops`: its name, its metadata function and its
//! implementations.

pub mod attr;
mod core_runtime;
mod device;
mod dispatch;
mod eager;
mod foreign;
pub mod graph;
pub mod kernels;
mod on_device;
mod op;
mod op_attrs;
mod op_handler;
pub mod ops;
mod registry;
mod tensor_handle;

pub use attr::{AttrDefault, AttrKind, AttrSpec};
pub use core_runtime::CoreRuntime;
pub use device::Device;
pub use eager::{Eager, Tensor};
pub use foreign::{Foreign, ForeignTensor};
pub use on_device::{
    DeviceArgument, DeviceCall, DeviceFn, DeviceOpError, DeviceOpResult, DeviceQueue, DeviceTensor,
    Footprint, HostArguments, Place, ResultOrigin, Trial, TrialArgument,
};
pub use op::{CoreRuntimeOp, OpInvocation, Results};
pub use op_attrs::{AttrValue, FromAttr, OpAttrs};
pub use op_handler::{
    CompositeOp, CpuOpHandler, DeviceOpHandler, HandlerRef, LoggingOpHandler, NullOpHandler, OpHandler,
};
pub use ops::elementwise_program;
pub use registry::{
    CpuCall, CpuFn, Effects, Forms, MetadataCall, MetadataFn, Op, OpBuilder, OpRegistry, OpResult,
    ResultDType, ResultType,
};
pub use tensor_handle::TensorHandle;
