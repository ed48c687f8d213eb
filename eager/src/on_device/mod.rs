//! Tensors in device memory, the queue that ops put work on, and what an op's device implementation sees.
//!
//! A tensor of a device is there as soon as the work that computes it is queued: whoever uses it on the same stream comes
//! later by itself, whoever uses it on another one waits for an event that is recorded then. Nothing here blocks a compute
//! thread. What must wait for the device (a copy to the host, memory that others have not given back yet) comes later.

mod call;
mod planned;
mod queue;
mod tensor;
mod trial;

pub(crate) use call::{CallMemory, Implementation, run};
pub use call::{DeviceArgument, DeviceCall, DeviceFn, DeviceOpError, DeviceOpResult, HostArguments};
pub use planned::Place;
pub(crate) use planned::PlannedMemory;
pub use queue::DeviceQueue;
pub use tensor::DeviceTensor;
pub use trial::{Footprint, ResultOrigin, Trial, TrialArgument};
