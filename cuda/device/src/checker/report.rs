//! The reports of the checker, and their text.

use std::fmt;

use tfrt_host::{Diagnostic, ErrorCode};

use crate::origin::Origin;

/// A kind of mistake in a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mistake {
    /// Two operations access the same bytes, one of them writes, and nothing orders them.
    Race,
    /// A buffer is used on a stream that is not ordered after its allocation.
    UseBeforeAllocation,
    /// An operation was queued on memory that had been released.
    UseAfterFree,
    /// An operation accesses bytes outside of its buffers.
    OutOfBounds,
    /// An operation reads bytes that were never written.
    Uninitialized,
    /// A stream or the host waits for an event that was never recorded, which has no effect.
    NeverRecorded,
    /// A capture was never ended, so its work never ran.
    OpenCapture,
    /// A stream was not destroyed.
    LeakedStream,
    /// An event was not destroyed.
    LeakedEvent,
    /// A buffer was not released.
    LeakedBuffer,
}

impl Mistake {
    /// Returns the runtime's error code for the mistake.
    pub fn code(self) -> ErrorCode {
        match self {
            Self::Race | Self::UseBeforeAllocation => ErrorCode::DataRace,
            Self::OutOfBounds => ErrorCode::OutOfRange,
            Self::Uninitialized => ErrorCode::InvalidArgument,
            Self::UseAfterFree | Self::NeverRecorded | Self::OpenCapture => ErrorCode::FailedPrecondition,
            Self::LeakedStream | Self::LeakedEvent | Self::LeakedBuffer => ErrorCode::ResourceExhausted,
        }
    }
}

/// A report of a mistake, with the origins of the operations involved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The kind of mistake.
    pub mistake: Mistake,
    /// What happened, in one line.
    pub message: String,
    /// The origin of the later of the two operations, or of the only one.
    pub at: Origin,
    /// The other origin, and what happened there: `written`, `released`, `allocated`.
    pub other: Option<(&'static str, Origin)>,
    /// How to fix the program.
    pub advice: Option<String>,
    /// How often it happened between these two origins.
    pub times: u64,
}

impl Report {
    /// Returns the report as a diagnostic, with the other origin and the advice as notes.
    pub fn to_diagnostic(&self) -> Diagnostic {
        let mut error = Diagnostic::new(self.mistake.code(), self.message.clone());
        error.location = self.at.location.clone();
        if let Some((what, origin)) = &self.other {
            error = error.note(format!("{what} by {origin}"));
        }
        if let Some(advice) = &self.advice {
            error = error.note(advice.clone());
        }
        if self.times > 1 {
            error = error.note(format!("it happened {} times", self.times));
        }
        error
    }

    /// Returns whether it reports the same mistake at the same places.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.mistake == other.mistake && self.at == other.at && self.other == other.other
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_diagnostic().fmt(f)
    }
}
