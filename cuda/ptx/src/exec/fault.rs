//! What went wrong in a launch, and where.

use std::fmt;
use std::ops::{Deref, DerefMut};

use super::dim::Dim3;

/// The kinds of fault.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// An access outside every allocation.
    OutOfBounds,
    /// An address that is no multiple of the access's size.
    Misaligned,
    /// An address of another space than the instruction's, or a write to read-only memory.
    WrongSpace,
    /// An access to memory that was freed.
    UseAfterFree,
    /// A read of memory nobody wrote.
    Uninitialized,
    /// Two accesses in no order, one of them a write.
    Race,
    /// Every thread that is left waits for one that never comes.
    BarrierDeadlock,
    /// `trap`, or `brkpt` without a debugger.
    Trap,
    /// `assert` failed in the program.
    Assert {
        /// The condition.
        message: String,
        /// The source file.
        file: String,
        /// The line.
        line: u32,
        /// The function.
        function: String,
    },
    /// The launch itself cannot be: sizes or parameters.
    InvalidLaunch,
    /// An instruction was given an operand it cannot take, as a barrier above 15.
    InvalidOperand,
    /// A call through a value that is no function's address, or of a function with another signature.
    InvalidCall,
    /// Calls nested too deep, or too much local memory.
    StackOverflow,
    /// Memory ran out.
    OutOfMemory,
    /// More instructions ran than the launch allowed.
    InstructionLimit,
    /// The launch was cancelled.
    Cancelled,
    /// The launch was not done at its deadline.
    DeadlineExceeded,
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OutOfBounds => "out of bounds",
            Self::Misaligned => "misaligned address",
            Self::WrongSpace => "wrong address space",
            Self::UseAfterFree => "use after free",
            Self::Uninitialized => "uninitialized read",
            Self::Race => "data race",
            Self::BarrierDeadlock => "barrier deadlock",
            Self::Trap => "trap",
            Self::Assert { message, file, line, function } => {
                return write!(f, "assertion failed: {message} in {function} at {file}:{line}");
            }
            Self::InvalidLaunch => "invalid launch",
            Self::InvalidOperand => "invalid operand",
            Self::InvalidCall => "invalid call",
            Self::StackOverflow => "stack overflow",
            Self::OutOfMemory => "out of memory",
            Self::InstructionLimit => "instruction limit reached",
            Self::Cancelled => "cancelled",
            Self::DeadlineExceeded => "deadline exceeded",
        })
    }
}

/// A place in a program: the PTX line, and the line it was compiled from where `.loc` says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The instruction as written: `ld.global.f32`.
    pub instruction: String,
    /// The line in the PTX text.
    pub line: u32,
    /// File and line of the source.
    pub source: Option<(String, u32)>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at PTX line {}", self.instruction, self.line)?;
        match &self.source {
            Some((file, line)) => write!(f, " ({file}:{line})"),
            None => Ok(()),
        }
    }
}

/// Why a launch ended early. What is known of it are the fields of [`FaultParts`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(Box<FaultParts>);

impl Deref for Fault {
    type Target = FaultParts;

    fn deref(&self) -> &FaultParts {
        &self.0
    }
}

impl DerefMut for Fault {
    fn deref_mut(&mut self) -> &mut FaultParts {
        &mut self.0
    }
}

/// What is known of a [`Fault`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FaultParts {
    /// What went wrong.
    pub kind: FaultKind,
    /// Further words: sizes, who waits where.
    pub detail: String,
    /// The kernel.
    pub kernel: String,
    /// The instruction, if one is to blame.
    pub place: Option<Place>,
    /// The block within the grid.
    pub block: Option<Dim3>,
    /// The thread within the block.
    pub thread: Option<Dim3>,
    /// The address of the access.
    pub address: Option<u64>,
    /// The nearest allocation, in words.
    pub nearest: Option<String>,
}

impl Fault {
    pub(crate) fn new(kind: FaultKind, kernel: &str, detail: impl Into<String>) -> Fault {
        Fault(Box::new(FaultParts {
            kind,
            detail: detail.into(),
            kernel: kernel.to_owned(),
            place: None,
            block: None,
            thread: None,
            address: None,
            nearest: None,
        }))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel {}: {}", self.kernel, self.kind)?;
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        if let Some(address) = self.address {
            write!(f, " at address {address:#x}")?;
        }
        if let Some(nearest) = &self.nearest {
            write!(f, ", {nearest}")?;
        }
        if let Some(place) = &self.place {
            write!(f, "; {place}")?;
        }
        if let Some(block) = self.block {
            write!(f, "; block {block}")?;
        }
        if let Some(thread) = self.thread {
            write!(f, ", thread {thread}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}

/// A fault as the instruction knows it; the launch adds kernel, place and thread.
#[derive(Debug)]
pub(crate) struct Trap(Box<TrapParts>);

#[derive(Debug)]
pub(crate) struct TrapParts {
    pub(crate) kind: FaultKind,
    pub(crate) detail: String,
    pub(crate) lane: Option<usize>,
    pub(crate) address: Option<u64>,
    pub(crate) nearest: Option<String>,
}

impl Deref for Trap {
    type Target = TrapParts;

    fn deref(&self) -> &TrapParts {
        &self.0
    }
}

impl Trap {
    #[cold]
    pub(crate) fn new(kind: FaultKind, lane: usize, detail: impl Into<String>) -> Trap {
        let detail = detail.into();
        Trap(Box::new(TrapParts { kind, detail, lane: Some(lane), address: None, nearest: None }))
    }

    /// A fault that no single thread is to blame for.
    pub(crate) fn whole(kind: FaultKind, detail: impl Into<String>) -> Trap {
        Trap(Box::new(TrapParts { kind, detail: detail.into(), lane: None, address: None, nearest: None }))
    }

    pub(crate) fn at(mut self, address: u64) -> Trap {
        self.0.address = Some(address);
        self
    }

    pub(crate) fn near(mut self, nearest: Option<String>) -> Trap {
        self.0.nearest = nearest;
        self
    }
}
