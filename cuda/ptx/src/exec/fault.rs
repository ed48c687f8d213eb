//! Faults: why a launch ended early, and where.

use std::fmt;
use std::ops::{Deref, DerefMut};

use super::Touched;
use super::dim::Dim3;

/// The kinds of fault.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// An access outside every allocation.
    OutOfBounds,
    /// An access at an address that is not a multiple of its size.
    Misaligned,
    /// An access to a state space other than the one that the instruction names, or a write to
    /// read-only memory.
    WrongSpace,
    /// An access to memory that was freed.
    UseAfterFree,
    /// A read of memory that was never written.
    Uninitialized,
    /// Two accesses that nothing orders, one of them a write.
    Race,
    /// All remaining threads of a block wait at barriers that cannot be passed.
    BarrierDeadlock,
    /// `trap`, or `brkpt` without a debugger.
    Trap,
    /// An `assert` of the program failed.
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
    /// The sizes or the parameters of the launch do not fit the kernel.
    InvalidLaunch,
    /// An operand has a value that its instruction does not take, such as barrier 16.
    InvalidOperand,
    /// A call through a register that does not hold the address of a function with that signature.
    InvalidCall,
    /// Calls are nested too deeply, or take too much local memory.
    StackOverflow,
    /// Memory ran out.
    OutOfMemory,
    /// The launch executed more instructions than it was allowed.
    InstructionLimit,
    /// The launch was cancelled.
    Cancelled,
    /// The launch did not finish before its deadline.
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

/// An instruction of a program: its PTX line, and the source line if the text has `.loc`
/// directives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The instruction as written: `ld.global.f32`.
    pub instruction: String,
    /// The line in the PTX text.
    pub line: u32,
    /// The source file and line.
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

/// The reason why a launch ended early. It dereferences to [`FaultParts`].
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

/// The parts of a [`Fault`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FaultParts {
    /// The kind.
    pub kind: FaultKind,
    /// Details: sizes, and which threads wait where.
    pub detail: String,
    /// The name of the kernel.
    pub kernel: String,
    /// The instruction, if the fault belongs to one.
    pub place: Option<Place>,
    /// The block within the grid.
    pub block: Option<Dim3>,
    /// The thread within the block.
    pub thread: Option<Dim3>,
    /// The address of the access.
    pub address: Option<u64>,
    /// A description of the nearest allocation.
    pub nearest: Option<String>,
    /// The memory that the launch touched before it failed, as in [`Report`](crate::Report).
    pub touched: Vec<Touched>,
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
            touched: Vec::new(),
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

/// A fault as an instruction reports it. The launch adds the kernel, the place and the thread.
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

    /// Returns a fault that belongs to no single thread.
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
