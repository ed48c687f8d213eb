//! Random PTX programs, and what they compute according to an evaluator that shares nothing with
//! the engine: it walks the generated tree, one thread after the other.
//!
//! A program is straight-line instructions, branches, bounded loops with breaks, jump tables,
//! calls, accesses to memory of the thread's own in three spaces, and, where all threads meet,
//! exchanges through shared memory, shuffles, votes and reductions. Every thread stores all its
//! registers at the end.

pub(crate) mod evaluate;
pub(crate) mod generate;
pub(crate) mod operations;
pub(crate) mod print;
pub(crate) mod run;

/// Threads of a block: two warps, or one under Miri.
pub(crate) const THREADS: usize = if cfg!(miri) { 32 } else { 64 };
/// Blocks of a launch.
pub(crate) const BLOCKS: usize = if cfg!(miri) { 1 } else { 2 };
/// Bytes of its own that a thread has in each space.
pub(crate) const OWN_BYTES: usize = 64;
/// Registers of each kind.
pub(crate) const REGISTERS: usize = 6;
/// Loops within loops at most.
pub(crate) const MAX_LOOPS: usize = 3;

/// What a register holds. All values are kept as bits in a `u64`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A predicate.
    Pred,
    /// `.b16`.
    B16,
    /// `.b32`.
    B32,
    /// `.b64`.
    B64,
    /// `.f32`.
    F32,
    /// `.f64`.
    F64,
}

impl Kind {
    /// All kinds, in the order of their numbers.
    pub(crate) const ALL: [Self; 6] = [Self::Pred, Self::B16, Self::B32, Self::B64, Self::F32, Self::F64];

    /// The bits that count.
    pub(crate) fn mask(self) -> u64 {
        match self {
            Self::Pred => 1,
            Self::B16 => 0xffff,
            Self::B32 | Self::F32 => 0xffff_ffff,
            Self::B64 | Self::F64 => u64::MAX,
        }
    }

    /// The type that declares its registers, and their prefix.
    pub(crate) fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Pred => ("pred", "%p"),
            Self::B16 => ("b16", "%h"),
            Self::B32 => ("b32", "%r"),
            Self::B64 => ("b64", "%rd"),
            Self::F32 => ("f32", "%f"),
            Self::F64 => ("f64", "%fd"),
        }
    }
}

/// A register of a kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Register(pub(crate) Kind, pub(crate) usize);

/// What an operation reads.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operand {
    /// A register.
    Register(Register),
    /// A constant of a kind.
    Constant(Kind, u64),
}

/// `@p` or `@!p`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guard {
    /// The predicate's number.
    pub(crate) predicate: usize,
    /// `!`.
    pub(crate) negated: bool,
}

/// Memory that a thread has to itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Space {
    /// `.global`.
    Global,
    /// `.shared`.
    Shared,
    /// `.local`.
    Local,
}

impl Space {
    /// All spaces.
    pub(crate) const ALL: [Self; 3] = [Self::Global, Self::Shared, Self::Local];

    /// Its name in PTX.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Shared => "shared",
            Self::Local => "local",
        }
    }
}

/// The type of an access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Width {
    /// Its name in PTX, with a vector prefix.
    pub(crate) name: &'static str,
    /// The registers' kind.
    pub(crate) kind: Kind,
    /// Bytes of an element.
    pub(crate) bytes: usize,
    /// Elements.
    pub(crate) count: usize,
    /// Loads extend the sign.
    pub(crate) signed: bool,
}

/// A load or a store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    /// Which lanes take part.
    pub(crate) guard: Option<Guard>,
    /// Where.
    pub(crate) space: Space,
    /// By a generic address.
    pub(crate) generic: bool,
    /// What.
    pub(crate) width: Width,
    /// The first register.
    pub(crate) first: usize,
    /// The register with the index.
    pub(crate) index: usize,
}

/// How lanes exchange a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exchange {
    /// Through shared memory, from the thread a number of places on.
    Shared(u32),
    /// `shfl.sync.idx`, from the lane that the second operand names, within segments of 8 or 32.
    Index(u32),
    /// `shfl.sync.up`.
    Up(u32),
    /// `shfl.sync.down`.
    Down(u32),
    /// `shfl.sync.bfly`.
    Butterfly(u32),
    /// `vote.sync.ballot`.
    Ballot,
    /// `vote.sync.any` and `.all`, to a predicate.
    Vote {
        /// `.all`.
        all: bool,
    },
    /// `redux.sync` of a name.
    Reduce(&'static str),
    /// `match.any.sync`.
    MatchAny,
}

/// A statement of a program.
#[derive(Clone, Debug)]
pub(crate) enum Statement {
    /// An instruction of the table.
    Operation { guard: Option<Guard>, operation: usize, result: Register, operands: Vec<Operand> },
    /// A load to registers from one on, at an index taken modulo what fits.
    Load(Access),
    /// A store, likewise.
    Store(Access),
    /// A branch over one of two lists.
    If { guard: Guard, then: Vec<Statement>, otherwise: Vec<Statement> },
    /// As many rounds as the low bits of a register say.
    Loop { depth: usize, limit: usize, body: Vec<Statement> },
    /// Leaves a loop, after so many inner ones.
    Break { guard: Guard, inner: usize },
    /// Goes to the next round of the innermost loop.
    Continue { guard: Guard },
    /// A jump through a table by the low bits of a register.
    Switch { selector: usize, cases: [Vec<Statement>; 4] },
    /// A call of a function with a loop and branches of its own.
    Call { result: usize, operands: [usize; 2] },
    /// Where all threads meet.
    Exchange { exchange: Exchange, result: usize, source: usize, lane: usize },
    /// An addition to a counter that all threads share.
    Count { source: usize },
    /// Ends the thread. Only behind the last meeting.
    Exit { guard: Guard },
}

/// A program, and what its threads begin with.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// Its statements.
    pub(crate) statements: Vec<Statement>,
    /// The values that thread 0 begins with; others add their number times a constant.
    pub(crate) seed: u64,
}

/// What register `number` of a kind holds at the start.
pub(crate) fn initial(seed: u64, thread: usize, kind: Kind, number: usize) -> u64 {
    // Computed on the device by the same steps, so that registers differ between threads.
    let mixed = (seed ^ (number as u64 * 0x9e37_79b9 + 1)).wrapping_mul(0x2545_f491_4f6c_dd1d);
    let value = mixed.wrapping_add((thread as u64).wrapping_mul(0x0123_4567_89ab_cdef));
    match kind {
        Kind::F32 => u64::from(((value >> 40) as f32 / 1024.0 - 4096.0).to_bits()),
        Kind::F64 => ((value >> 20) as f64 / 1024.0 - 1.0e10).to_bits(),
        kind => (value >> 13) & kind.mask(),
    }
}

/// All registers that a thread begins with, as the 8-byte words that the program loads.
pub(crate) fn initial_words(seed: u64, thread: usize) -> Vec<u64> {
    let registers = Kind::ALL.into_iter().flat_map(|kind| (0..REGISTERS).map(move |number| (kind, number)));
    registers.map(|(kind, number)| initial(seed, thread, kind, number)).collect()
}
