//! Errors of devices and their libraries, under the names of the CUDA headers.

use std::fmt;

use tfrt_host::{Diagnostic, ErrorCode};

use crate::origin::Origin;

/// The result of a device call.
pub type Result<T, E = DeviceError> = std::result::Result<T, E>;

macro_rules! statuses {
    ($($(#[$doc:meta])* $variant:ident = $name:literal => $code:ident, $message:literal;)*) => {
        /// The status of a failed call, named as in the CUDA driver, cuBLAS, cuDNN, NVRTC or NCCL.
        /// Every backend returns the same status for the same mistake.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Status {
            $($(#[$doc])* $variant,)*
        }

        impl Status {
            /// Every status.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the name in the library's header.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns a short description.
            pub fn message(self) -> &'static str {
                match self { $(Self::$variant => $message,)* }
            }

            /// Returns the runtime's error code for the status.
            pub fn code(self) -> ErrorCode {
                match self { $(Self::$variant => ErrorCode::$code,)* }
            }
        }
    };
}

statuses! {
    /// An argument is out of its range.
    InvalidValue = "CUDA_ERROR_INVALID_VALUE" => InvalidArgument, "invalid argument";
    /// Device or host memory ran out.
    OutOfMemory = "CUDA_ERROR_OUT_OF_MEMORY" => OutOfMemory, "out of memory";
    /// The driver is not initialized.
    NotInitialized = "CUDA_ERROR_NOT_INITIALIZED" => FailedPrecondition, "initialization error";
    /// The driver library is missing.
    StubLibrary = "CUDA_ERROR_STUB_LIBRARY" => NotFound, "CUDA driver is a stub library";
    /// The driver is older than what the call needs.
    SystemDriverMismatch = "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH" => FailedPrecondition, "driver and library versions do not match";
    /// There is a driver but no device.
    NoDevice = "CUDA_ERROR_NO_DEVICE" => NotFound, "no CUDA-capable device is detected";
    /// There is no device with this number.
    InvalidDevice = "CUDA_ERROR_INVALID_DEVICE" => InvalidArgument, "invalid device ordinal";
    /// The module is neither PTX nor a binary.
    InvalidImage = "CUDA_ERROR_INVALID_IMAGE" => InvalidArgument, "device kernel image is invalid";
    /// The context is gone, or the resource belongs to another one.
    InvalidContext = "CUDA_ERROR_INVALID_CONTEXT" => FailedPrecondition, "invalid device context";
    /// The binary is for other devices.
    NoBinaryForGpu = "CUDA_ERROR_NO_BINARY_FOR_GPU" => InvalidArgument, "no kernel image is available for execution on the device";
    /// The PTX does not compile.
    InvalidPtx = "CUDA_ERROR_INVALID_PTX" => InvalidArgument, "a PTX JIT compilation failed";
    /// The PTX has a later version than the driver supports.
    UnsupportedPtxVersion = "CUDA_ERROR_UNSUPPORTED_PTX_VERSION" => InvalidArgument, "the provided PTX was compiled with an unsupported toolchain";
    /// The handle is invalid or belongs to another context.
    InvalidHandle = "CUDA_ERROR_INVALID_HANDLE" => InvalidArgument, "invalid resource handle";
    /// There is no function or variable with this name.
    NotFound = "CUDA_ERROR_NOT_FOUND" => NotFound, "named symbol not found";
    /// The event is not complete yet; this is not a failure.
    NotReady = "CUDA_ERROR_NOT_READY" => FailedPrecondition, "device not ready";
    /// A kernel accessed memory that does not exist.
    IllegalAddress = "CUDA_ERROR_ILLEGAL_ADDRESS" => OutOfRange, "an illegal memory access was encountered";
    /// A kernel accessed an address that is not a multiple of the access's size.
    MisalignedAddress = "CUDA_ERROR_MISALIGNED_ADDRESS" => InvalidArgument, "misaligned address";
    /// A kernel's assertion failed.
    Assert = "CUDA_ERROR_ASSERT" => FailedPrecondition, "device-side assert triggered";
    /// A kernel ended by `trap`, a deadlock or an invalid instruction.
    LaunchFailed = "CUDA_ERROR_LAUNCH_FAILED" => Unknown, "unspecified launch failure";
    /// A kernel exceeded its time limit.
    LaunchTimeout = "CUDA_ERROR_LAUNCH_TIMEOUT" => DeadlineExceeded, "the launch timed out and was terminated";
    /// A launch asks for more than the device has.
    LaunchOutOfResources = "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES" => ResourceExhausted, "too many resources requested for launch";
    /// The blocks of a cooperative launch do not fit on the device at once.
    CooperativeLaunchTooLarge = "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE" => ResourceExhausted, "too many blocks in cooperative launch";
    /// The memory is registered already.
    HostMemoryAlreadyRegistered = "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED" => InvalidArgument, "part or all of the requested memory range is already mapped";
    /// The memory is not registered.
    HostMemoryNotRegistered = "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED" => InvalidArgument, "pointer does not correspond to a registered memory region";
    /// One device cannot reach the other's memory.
    PeerAccessUnsupported = "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED" => FailedPrecondition, "peer access is not supported between these two devices";
    /// The device does not support the operation.
    NotSupported = "CUDA_ERROR_NOT_SUPPORTED" => FailedPrecondition, "operation not supported";
    /// Not allowed while a stream is captured.
    StreamCaptureUnsupported = "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED" => FailedPrecondition, "operation not permitted when stream is capturing";
    /// Such a call invalidated the capture.
    StreamCaptureInvalidated = "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED" => FailedPrecondition, "operation failed due to a previous error during capture";
    /// A stream that joined the capture was not joined back.
    StreamCaptureUnjoined = "CUDA_ERROR_STREAM_CAPTURE_UNJOINED" => FailedPrecondition, "capturing stream has unjoined work";
    /// The captured work differs from the graph by more than parameters.
    GraphExecUpdateFailure = "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE" => FailedPrecondition, "the graph cannot be updated to what was captured";
    /// The stream is not captured.
    IllegalState = "CUDA_ERROR_ILLEGAL_STATE" => FailedPrecondition, "the operation cannot be performed in the present state";
    /// The device stopped answering.
    DeviceLost = "CUDA_ERROR_DEVICE_UNAVAILABLE" => DeviceLost, "the device is lost";
    /// Two accesses are not ordered.
    Race = "TFRT_ERROR_DATA_RACE" => DataRace, "accesses without an order between them";
    /// A kernel reads memory that was never written.
    Uninitialized = "TFRT_ERROR_UNINITIALIZED" => InvalidArgument, "uninitialized device memory is read";
    /// The driver failed without a reason.
    Unknown = "CUDA_ERROR_UNKNOWN" => Unknown, "unknown error";
    /// A library's argument is out of its range.
    BlasInvalidValue = "CUBLAS_STATUS_INVALID_VALUE" => InvalidArgument, "invalid argument";
    /// The BLAS library was not found or does not start.
    BlasNotInitialized = "CUBLAS_STATUS_NOT_INITIALIZED" => NotFound, "the library is not there";
    /// The BLAS library does not support the operation.
    BlasNotSupported = "CUBLAS_STATUS_NOT_SUPPORTED" => FailedPrecondition, "operation not supported";
    /// The BLAS library's kernel failed.
    BlasExecutionFailed = "CUBLAS_STATUS_EXECUTION_FAILED" => Unknown, "execution failed";
    /// A library's argument is out of its range.
    DnnBadParam = "CUDNN_STATUS_BAD_PARAM" => InvalidArgument, "bad parameter";
    /// The DNN library was not found or does not start.
    DnnNotInitialized = "CUDNN_STATUS_NOT_INITIALIZED" => NotFound, "the library is not there";
    /// The DNN library does not support the operation.
    DnnNotSupported = "CUDNN_STATUS_NOT_SUPPORTED" => FailedPrecondition, "operation not supported";
    /// The DNN library's kernel failed.
    DnnExecutionFailed = "CUDNN_STATUS_EXECUTION_FAILED" => Unknown, "execution failed";
    /// The run-time compiler was not found.
    NvrtcNotFound = "NVRTC_ERROR_NOT_FOUND" => NotFound, "the library is not there";
    /// CUDA C++ does not compile.
    NvrtcCompilation = "NVRTC_ERROR_COMPILATION" => InvalidArgument, "compilation failed";
    /// The collectives' library was not found.
    NcclNotFound = "NCCL_ERROR_NOT_FOUND" => NotFound, "the library is not there";
    /// A collective failed.
    NcclFailed = "NCCL_ERROR_FAILED" => Unknown, "a collective failed";
}

/// A failed device call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceError {
    /// The status that the device or its library returned.
    pub status: Status,
    /// The call, the argument and what was expected; empty if the status says it all.
    pub detail: String,
    /// The origin of the failed work, if it is known. The call that returns the error is often a
    /// later one.
    pub queued: Option<Box<Origin>>,
}

impl DeviceError {
    /// Makes an error.
    pub fn new(status: Status, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into(), queued: None }
    }

    /// Makes an error with [`Status::InvalidValue`].
    pub fn invalid_value(detail: impl Into<String>) -> Self {
        Self::new(Status::InvalidValue, detail)
    }

    /// Adds the origin of the failed work, unless the error has one already.
    #[must_use]
    pub fn of_work(mut self, queued: impl FnOnce() -> Origin) -> Self {
        if self.queued.is_none() {
            self.queued = Some(queued()).filter(|queued| *queued != Origin::default()).map(Box::new);
        }
        self
    }

    /// Returns whether the error makes the context unusable: a kernel failed, or the device is
    /// lost.
    pub fn is_sticky(&self) -> bool {
        matches!(
            self.status,
            Status::IllegalAddress
                | Status::MisalignedAddress
                | Status::Assert
                | Status::LaunchFailed
                | Status::LaunchTimeout
                | Status::DeviceLost
                | Status::Race
                | Status::Uninitialized
        )
    }
}

impl From<Status> for DeviceError {
    fn from(status: Status) -> Self {
        Self::new(status, "")
    }
}

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = if self.detail.is_empty() { self.status.message() } else { &self.detail };
        write!(f, "{}: {text}", self.status.name())
    }
}

impl std::error::Error for DeviceError {}

impl From<DeviceError> for Diagnostic {
    fn from(error: DeviceError) -> Self {
        let diagnostic = Self::new(error.status.code(), error.to_string());
        match &error.queued {
            Some(origin) => diagnostic.note(format!("of work queued by {origin}")),
            None => diagnostic,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_codes_follow() {
        let names: std::collections::HashSet<_> = Status::ALL.iter().map(|s| s.name()).collect();
        assert_eq!(names.len(), Status::ALL.len());
        let diagnostic = Diagnostic::from(DeviceError::from(Status::OutOfMemory));
        assert_eq!(diagnostic.code, ErrorCode::OutOfMemory);
        assert_eq!(diagnostic.message, "CUDA_ERROR_OUT_OF_MEMORY: out of memory");
    }
}
