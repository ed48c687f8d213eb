//! Detects the driver, and converts its results to errors.

#![expect(unsafe_code, reason = "calls of the driver's C interface")]

use cudarc::driver::sys::{self, CUresult};
use tfrt_device::error::{DeviceError, Result, Status};

/// The oldest driver that accepts the PTX in this program (PTX ISA 9.0).
pub(super) const MIN_VERSION: i32 = 13_000;

/// Starts the driver and returns its version.
///
/// # Errors
/// [`Status::StubLibrary`] without a driver library, [`Status::NoDevice`] if it finds no device,
/// [`Status::SystemDriverMismatch`] if it is too old.
pub(super) fn start() -> Result<i32> {
    // SAFETY: the call only asks the dynamic loader for the library.
    if !unsafe { sys::is_culib_present() } {
        return Err(DeviceError::new(
            Status::StubLibrary,
            "there is no CUDA driver: libcuda.so.1 is not where the system looks for libraries",
        ));
    }
    // Called first: without a device, the version of the driver does not matter. SAFETY: the
    // library is loaded, and 0 is the only valid flag.
    check(unsafe { sys::cuInit(0) }, "cuInit").map_err(|error| match error.status {
        Status::NoDevice => {
            DeviceError::new(Status::NoDevice, "there is a CUDA driver, but it finds no device")
        }
        _ => error,
    })?;
    let mut version = 0;
    // SAFETY: the library is loaded, and the pointer is valid for the call.
    check(unsafe { sys::cuDriverGetVersion(&raw mut version) }, "cuDriverGetVersion")?;
    supported(version)
}

/// Returns the version, or an error if it is too old.
fn supported(version: i32) -> Result<i32> {
    if version >= MIN_VERSION {
        return Ok(version);
    }
    let (found, wanted) = (version_text(version), version_text(MIN_VERSION));
    let text = format!("the CUDA driver is too old: it is for CUDA {found}, and {wanted} or later is needed");
    Err(DeviceError::new(Status::SystemDriverMismatch, text))
}

/// Formats a version, such as `13.0`.
pub(super) fn version_text(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

/// Converts the result that the driver returned from `call`.
pub(super) fn check(result: CUresult, call: &'static str) -> Result<()> {
    if result == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(error(result, call)) }
}

/// Converts the result of a query like [`check`]. Returns `false` while the device is not ready.
pub(super) fn check_ready(result: CUresult, call: &'static str) -> Result<bool> {
    if result == CUresult::CUDA_ERROR_NOT_READY { Ok(false) } else { check(result, call).map(|()| true) }
}

#[cold]
fn error(result: CUresult, call: &'static str) -> DeviceError {
    match status(result) {
        Status::Unknown => {
            DeviceError::new(Status::Unknown, format!("{call} answers {result:?} ({})", result as u32))
        }
        status => DeviceError::new(status, format!("{} ({call})", status.message())),
    }
}

/// Returns the status with the same name, or with the same meaning if only the part of the hardware
/// differs.
fn status(result: CUresult) -> Status {
    use CUresult as R;
    match result {
        R::CUDA_ERROR_INVALID_VALUE => Status::InvalidValue,
        R::CUDA_ERROR_OUT_OF_MEMORY => Status::OutOfMemory,
        R::CUDA_ERROR_NOT_INITIALIZED | R::CUDA_ERROR_DEINITIALIZED => Status::NotInitialized,
        R::CUDA_ERROR_STUB_LIBRARY => Status::StubLibrary,
        R::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
        | R::CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER
        | R::CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE => Status::SystemDriverMismatch,
        R::CUDA_ERROR_NO_DEVICE => Status::NoDevice,
        R::CUDA_ERROR_INVALID_DEVICE => Status::InvalidDevice,
        R::CUDA_ERROR_INVALID_IMAGE | R::CUDA_ERROR_INVALID_SOURCE => Status::InvalidImage,
        R::CUDA_ERROR_INVALID_CONTEXT | R::CUDA_ERROR_CONTEXT_IS_DESTROYED => Status::InvalidContext,
        R::CUDA_ERROR_NO_BINARY_FOR_GPU => Status::NoBinaryForGpu,
        R::CUDA_ERROR_INVALID_PTX => Status::InvalidPtx,
        R::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => Status::UnsupportedPtxVersion,
        R::CUDA_ERROR_INVALID_HANDLE => Status::InvalidHandle,
        R::CUDA_ERROR_NOT_FOUND => Status::NotFound,
        R::CUDA_ERROR_NOT_READY => Status::NotReady,
        R::CUDA_ERROR_ILLEGAL_ADDRESS => Status::IllegalAddress,
        R::CUDA_ERROR_MISALIGNED_ADDRESS => Status::MisalignedAddress,
        R::CUDA_ERROR_ASSERT => Status::Assert,
        R::CUDA_ERROR_LAUNCH_FAILED
        | R::CUDA_ERROR_HARDWARE_STACK_ERROR
        | R::CUDA_ERROR_ILLEGAL_INSTRUCTION
        | R::CUDA_ERROR_INVALID_ADDRESS_SPACE
        | R::CUDA_ERROR_INVALID_PC => Status::LaunchFailed,
        R::CUDA_ERROR_LAUNCH_TIMEOUT | R::CUDA_ERROR_TIMEOUT => Status::LaunchTimeout,
        R::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES => Status::LaunchOutOfResources,
        R::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE => Status::CooperativeLaunchTooLarge,
        R::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED => Status::HostMemoryAlreadyRegistered,
        R::CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED => Status::HostMemoryNotRegistered,
        R::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED => Status::PeerAccessUnsupported,
        R::CUDA_ERROR_NOT_SUPPORTED | R::CUDA_ERROR_NOT_PERMITTED => Status::NotSupported,
        R::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED | R::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT => {
            Status::StreamCaptureUnsupported
        }
        R::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED => Status::StreamCaptureInvalidated,
        R::CUDA_ERROR_STREAM_CAPTURE_UNJOINED => Status::StreamCaptureUnjoined,
        R::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE => Status::GraphExecUpdateFailure,
        R::CUDA_ERROR_ILLEGAL_STATE | R::CUDA_ERROR_STREAM_CAPTURE_UNMATCHED => Status::IllegalState,
        R::CUDA_ERROR_DEVICE_UNAVAILABLE
        | R::CUDA_ERROR_ECC_UNCORRECTABLE
        | R::CUDA_ERROR_NVLINK_UNCORRECTABLE
        | R::CUDA_ERROR_CONTAINED
        | R::CUDA_ERROR_EXTERNAL_DEVICE => Status::DeviceLost,
        _ => Status::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_keep_their_names() {
        let out_of_memory = check(CUresult::CUDA_ERROR_OUT_OF_MEMORY, "cuMemAlloc").unwrap_err();
        assert_eq!(out_of_memory.to_string(), "CUDA_ERROR_OUT_OF_MEMORY: out of memory (cuMemAlloc)");
        let lost = check(CUresult::CUDA_ERROR_ECC_UNCORRECTABLE, "cuStreamQuery").unwrap_err();
        assert!(lost.is_sticky());
        // A result without a corresponding status is still named in the error.
        let other = check(CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE, "cuLaunchKernelEx").unwrap_err();
        assert!(other.to_string().contains("CUDA_ERROR_INVALID_CLUSTER_SIZE (912)"), "{other}");
        assert_eq!(check_ready(CUresult::CUDA_ERROR_NOT_READY, "cuEventQuery"), Ok(false));
        assert_eq!(check_ready(CUresult::CUDA_SUCCESS, "cuEventQuery"), Ok(true));
    }

    #[test]
    fn versions_read_as_people_write_them() {
        assert_eq!(version_text(13_000), "13.0");
        assert_eq!(version_text(12_080), "12.8");
    }

    #[test]
    fn old_drivers_are_refused() {
        assert_eq!(supported(13_000), Ok(13_000));
        let error = supported(12_020).unwrap_err();
        assert_eq!(error.status, Status::SystemDriverMismatch);
        assert!(error.detail.contains("12.2") && error.detail.contains("13.0"), "{error}");
    }
}
