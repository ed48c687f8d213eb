//! What watches a launch when asked to: checks and statistics.
//!
//! A launch without them runs other code, which never looks here. With them, every instruction and every lane's access
//! to memory is reported to [`Instruments`].

use super::address::AccessSpace;
use super::fault::Trap;

/// How memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessKind {
    Read,
    Write,
    Atomic,
}

/// One lane's access, which is in bounds.
#[derive(Clone, Copy, Debug)]
#[expect(dead_code, reason = "for the checks")]
pub(crate) struct Access {
    pub(crate) kind: AccessKind,
    /// Where the address lies: global (constants too), shared, local or param.
    pub(crate) space: AccessSpace,
    /// Of global memory the device address, otherwise the offset in the space.
    pub(crate) address: u64,
    pub(crate) bytes: u32,
    /// The thread within the block.
    pub(crate) thread: u32,
    pub(crate) lane: usize,
    pub(crate) pc: u32,
}

/// The switches of a launch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Switches {
    pub(crate) uninitialized: bool,
    pub(crate) races: bool,
    pub(crate) statistics: bool,
}

impl Switches {
    pub(crate) fn any(self) -> bool {
        self.uninitialized || self.races || self.statistics
    }
}

/// A worker's watchers.
#[derive(Debug)]
#[expect(dead_code, reason = "for the checks")]
pub(crate) struct Instruments {
    pub(crate) switches: Switches,
}

impl Instruments {
    pub(crate) fn new(switches: Switches) -> Instruments {
        Instruments { switches }
    }

    /// A block begins, with fresh shared memory.
    pub(crate) fn block_started(&mut self, _block: u64, _threads: u32, _shared_bytes: u64) {}

    /// All threads of a barrier have met.
    pub(crate) fn barrier_completed(&mut self, _block: u64, _barrier: usize) {}

    /// An instruction took place for the lanes of `mask`; `diverged` if fewer went on.
    pub(crate) fn instruction(&mut self, _pc: u32, _mask: u32, _diverged: bool) {}

    /// A lane accesses memory.
    pub(crate) fn access(&mut self, _access: &Access) -> Result<(), Trap> {
        Ok(())
    }
}
