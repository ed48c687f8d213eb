//! What the checker found, and how it says so.

use std::fmt;

use tfrt_host::{Diagnostic, ErrorCode};

use crate::origin::Origin;

/// The kinds of mistakes that are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mistake {
    /// Two operations touch the same bytes, one of them writes, and nothing orders them.
    Race,
    /// A buffer is used on a stream that is not ordered behind its allocation.
    UseBeforeAllocation,
    /// An operation was queued on memory that was given back before.
    UseAfterFree,
    /// An operation touches bytes that are in no buffer it could know.
    OutOfBounds,
    /// Bytes are read that nobody wrote.
    Uninitialized,
    /// A stream or the host waits for an event that was never recorded, which waits for nothing.
    NeverRecorded,
    /// A capture was never ended: what was captured never ran.
    OpenCapture,
    /// A stream was not destroyed.
    LeakedStream,
    /// An event was not destroyed.
    LeakedEvent,
    /// A buffer was not given back.
    LeakedBuffer,
}

impl Mistake {
    /// The runtime's error code for it.
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

/// A mistake in a program, with the places that make it one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// What kind.
    pub mistake: Mistake,
    /// What happened, in one line.
    pub message: String,
    /// Where: the later of the two operations, or the only one.
    pub at: Origin,
    /// The other place, and what it is to the first: `written`, `given back`, `allocated`.
    pub other: Option<(&'static str, Origin)>,
    /// What would have made it right.
    pub advice: Option<String>,
    /// How often it happened between these two places.
    pub times: u64,
}

impl Report {
    /// As an error with the later operation's place, the other place and the advice in its notes.
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

    /// Whether it tells of the same mistake at the same places.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.mistake == other.mistake && self.at == other.at && self.other == other.other
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_diagnostic().fmt(f)
    }
}
