//! Tensors in device memory, the queue for ops, and the interface for device implementations of
//! ops.
//!
//! A tensor on a device is available as soon as the work that computes it is queued. Work on the
//! same stream is ordered after it automatically. Work on another stream waits for an event that is
//! recorded then. Nothing here blocks a compute thread: whatever must wait for the device (a copy
//! to the host, memory that has not been released yet) becomes available later.

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
