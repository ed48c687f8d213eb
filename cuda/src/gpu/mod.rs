//! NVIDIA GPUs through the CUDA driver, which is looked for at run time.

use crate::error::{DeviceError, Result, Status};
use crate::hal::DynBackend;

/// The CUDA devices, or why there are none.
pub(crate) fn find() -> Result<Box<dyn DynBackend>> {
    Err(DeviceError::new(Status::StubLibrary, "no CUDA driver library"))
}
