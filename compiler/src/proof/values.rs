//! What is known of a program's values before it runs.

use std::ops::Range;
use std::rc::Rc;

use super::kernels::Rank;
use super::memory::RootId;
use super::order::{NodeId, Past, START};

/// A value, and what has happened when it is available.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) kind: Kind,
    /// What is done when the value is available.
    pub(super) node: NodeId,
    /// The device calls that have returned by then.
    pub(super) past: Past,
}

impl Value {
    /// Makes a value that is available at the beginning.
    pub(super) fn at_start(kind: Kind) -> Value {
        Value { kind, node: START, past: Past::default() }
    }
}

/// Bytes of one memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) root: RootId,
    /// The end is `u64::MAX` if the size is unknown.
    pub(super) bytes: Range<u64>,
}

impl Part {
    /// Returns the first `bytes` of it, of which there may be fewer.
    pub(super) fn first(&self, bytes: u64) -> Range<u64> {
        self.bytes.start..self.bytes.start.saturating_add(bytes).min(self.bytes.end)
    }

    /// Returns `bytes` from an offset on, without what lies beyond its end.
    pub(super) fn slice(&self, offset: u64, bytes: u64) -> Part {
        let start = self.bytes.start.saturating_add(offset).min(self.bytes.end);
        Part { root: self.root, bytes: start..start.saturating_add(bytes).min(self.bytes.end) }
    }
}

/// What a value is. Streams, events and everything else that kernels make are numbered.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// Something that orders and accesses nothing, or of which nothing is known.
    Opaque,
    Int(i128),
    Stream(usize),
    Event(usize),
    /// Memory of a device.
    Device(Part),
    /// Memory of the host.
    Host(Part),
    /// A library's handle, whose calls go to the stream that was set last.
    Handle(usize),
    Module(Image),
    Function(Function),
    Graph(usize),
    /// What communicators are made with.
    CommunicatorId(usize),
    Communicator(Rank),
    /// A group of collectives.
    Group(usize),
    Turns(usize),
    Turn(usize),
}

/// The text of a module, as far as it is known.
#[derive(Clone, Debug)]
pub(super) enum Image {
    /// PTX in the program, with a number that distinguishes modules.
    Text(usize, Rc<str>),
    Unknown,
}

/// A CUDA kernel.
#[derive(Clone, Debug)]
pub(super) enum Function {
    Of(Image, Rc<str>),
    /// One of the runtime's own.
    BuiltIn(Rc<str>),
    Unknown,
}
