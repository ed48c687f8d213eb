//! Codes of the C API, and the runtime's words for them.

use tfrt_device::error::Status;

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $number:literal, $name:literal, $status:ident;)*) => {
        /// What a `TF_Status` says.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Code {
            $($(#[$doc])* $variant = $number,)*
        }

        impl Code {
            /// The code of this number; an unknown number is an unknown failure.
            pub fn from_number(number: i32) -> Self {
                match number { $($number => Self::$variant,)* _ => Self::Unknown }
            }

            /// As the C header calls it.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The device status for it.
            pub fn status(self) -> Status {
                match self { $(Self::$variant => Status::$status,)* }
            }
        }
    };
}

codes! {
    /// No failure.
    Ok = 0, "TF_OK", Unknown;
    /// Somebody cancelled it.
    Cancelled = 1, "TF_CANCELLED", Unknown;
    /// It failed.
    Unknown = 2, "TF_UNKNOWN", Unknown;
    /// An argument is out of its range.
    InvalidArgument = 3, "TF_INVALID_ARGUMENT", InvalidValue;
    /// It took too long.
    DeadlineExceeded = 4, "TF_DEADLINE_EXCEEDED", Unknown;
    /// Something is not there.
    NotFound = 5, "TF_NOT_FOUND", NotFound;
    /// Something is there already.
    AlreadyExists = 6, "TF_ALREADY_EXISTS", InvalidValue;
    /// It is not allowed.
    PermissionDenied = 7, "TF_PERMISSION_DENIED", NotSupported;
    /// Memory or something like it ran out.
    ResourceExhausted = 8, "TF_RESOURCE_EXHAUSTED", OutOfMemory;
    /// It does not apply in the present state.
    FailedPrecondition = 9, "TF_FAILED_PRECONDITION", IllegalState;
    /// It was given up.
    Aborted = 10, "TF_ABORTED", Unknown;
    /// An index or address is out of its range.
    OutOfRange = 11, "TF_OUT_OF_RANGE", InvalidValue;
    /// The device lacks it.
    Unimplemented = 12, "TF_UNIMPLEMENTED", NotSupported;
    /// The plug-in broke a rule of its own.
    Internal = 13, "TF_INTERNAL", Unknown;
    /// The device does not answer.
    Unavailable = 14, "TF_UNAVAILABLE", DeviceLost;
    /// Something was lost.
    DataLoss = 15, "TF_DATA_LOSS", Unknown;
    /// Nobody knows who asks.
    Unauthenticated = 16, "TF_UNAUTHENTICATED", NotSupported;
}

impl From<Status> for Code {
    /// What a core is told of one of our failures.
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
