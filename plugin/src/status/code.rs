//! The codes of the C API, and the corresponding codes of the runtime.

use tfrt_device::error::Status;

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $number:literal, $name:literal, $status:ident;)*) => {
        /// The code of a `TF_Status`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Code {
            $($(#[$doc])* $variant = $number,)*
        }

        impl Code {
            /// Returns the code with this number. An unknown number is an unknown failure.
            pub fn from_number(number: i32) -> Self {
                match number { $($number => Self::$variant,)* _ => Self::Unknown }
            }

            /// Returns the name in the C header.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the corresponding device status.
            pub fn status(self) -> Status {
                match self { $(Self::$variant => Status::$status,)* }
            }
        }
    };
}

codes! {
    /// No failure.
    Ok = 0, "TF_OK", Unknown;
    /// The call was cancelled.
    Cancelled = 1, "TF_CANCELLED", Unknown;
    /// The call failed for an unknown reason.
    Unknown = 2, "TF_UNKNOWN", Unknown;
    /// An argument is out of its range.
    InvalidArgument = 3, "TF_INVALID_ARGUMENT", InvalidValue;
    /// The deadline passed.
    DeadlineExceeded = 4, "TF_DEADLINE_EXCEEDED", Unknown;
    /// Something was not found.
    NotFound = 5, "TF_NOT_FOUND", NotFound;
    /// Something exists already.
    AlreadyExists = 6, "TF_ALREADY_EXISTS", InvalidValue;
    /// The call is not allowed.
    PermissionDenied = 7, "TF_PERMISSION_DENIED", NotSupported;
    /// Memory or another resource ran out.
    ResourceExhausted = 8, "TF_RESOURCE_EXHAUSTED", OutOfMemory;
    /// The call is not possible in the present state.
    FailedPrecondition = 9, "TF_FAILED_PRECONDITION", IllegalState;
    /// The call was aborted.
    Aborted = 10, "TF_ABORTED", Unknown;
    /// An index or address is out of its range.
    OutOfRange = 11, "TF_OUT_OF_RANGE", InvalidValue;
    /// The device does not support the call.
    Unimplemented = 12, "TF_UNIMPLEMENTED", NotSupported;
    /// The plug-in broke one of its own rules.
    Internal = 13, "TF_INTERNAL", Unknown;
    /// The device does not respond.
    Unavailable = 14, "TF_UNAVAILABLE", DeviceLost;
    /// Data was lost.
    DataLoss = 15, "TF_DATA_LOSS", Unknown;
    /// The caller is not authenticated.
    Unauthenticated = 16, "TF_UNAUTHENTICATED", NotSupported;
}

impl From<Status> for Code {
    /// Returns the code that reports one of our failures to a core.
    fn from(status: Status) -> Self {
        match status {
            Status::OutOfMemory => Self::ResourceExhausted,
            Status::InvalidValue | Status::InvalidHandle | Status::InvalidDevice => Self::InvalidArgument,
            Status::NotFound => Self::NotFound,
            Status::NotSupported => Self::Unimplemented,
            Status::IllegalAddress => Self::OutOfRange,
            Status::IllegalState | Status::NotReady | Status::NotInitialized => Self::FailedPrecondition,
            Status::DeviceLost => Self::Unavailable,
            _ => Self::Internal,
        }
    }
}
