//! Optional checks and statistics of a launch.
//!
//! A launch without them runs different code, which never calls this module. In a launch with them,
//! every instruction and every lane's memory access is reported to [`Instruments`]. Each worker of
//! the launch has its own.
//!
//! | file | contents |
//! |---|---|
//! | `footprint` | the bytes of global memory that are accessed |
//! | `handover` | the bytes that a launch hands over to others while it runs |
//! | `class` | the effect of instructions on order: barriers of warps, fences, accesses that synchronize |
//! | `race` | pairs of unordered accesses: the parts that both trackers share |
//! | `shared_races` | races between threads of a block, in shared memory |
//! | `global_races` | races between blocks, in global memory |
//! | `initialized` | the bytes that have been written |
//! | `statistics` | counts |

#![expect(unsafe_code, reason = "looks at the bytes that a store changes")]

mod class;
pub(crate) mod footprint;
mod global_races;
pub(crate) mod handover;
mod initialized;
mod race;
mod shared_races;
mod statistics;

use super::address::AccessSpace;
use super::fault::{FaultKind, Trap};
use super::grid::Launched;
use super::memory::Table;
use super::raw;
use class::Class;
use footprint::{Accessor, Footprint};
pub(crate) use global_races::GlobalRaces;
use initialized::WrittenBytes;
pub(crate) use initialized::{Unwatched, Written};
use race::Rival;
use shared_races::SharedRaces;
use statistics::Counts;
pub use statistics::{OpcodeCount, SpaceTraffic, Statistics};

/// The kind of a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessKind {
    Read,
    Write,
    Atomic,
}

impl AccessKind {
    fn word(self) -> &'static str {
        match self {
            AccessKind::Read => "read",
            AccessKind::Write => "write",
            AccessKind::Atomic => "atomic operation",
        }
    }
}

/// An access of one lane, which is in bounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) kind: AccessKind,
    /// The space of the address: global (also for constants), shared, local or param.
    pub(crate) space: AccessSpace,
    /// The device address in global memory, otherwise the offset in the space.
    pub(crate) address: u64,
    pub(crate) bytes: u32,
    /// The index of the thread within the block.
    pub(crate) thread: u32,
    pub(crate) lane: usize,
    pub(crate) pc: u32,
}

/// The instruments that a launch uses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Switches {
    pub(crate) uninitialized: bool,
    pub(crate) races: bool,
    pub(crate) statistics: bool,
    pub(crate) footprint: bool,
}

impl Switches {
    pub(crate) fn any(self) -> bool {
        self.uninitialized || self.races || self.statistics || self.footprint
    }
}

/// A worker's instruments.
pub(crate) struct Instruments<'l> {
    launch: &'l Launched<'l>,
    /// The class of each instruction.
    classes: Vec<Class>,
    block: u64,
    shared_races: Option<SharedRaces>,
    global_races: Option<(&'l GlobalRaces, global_races::Clock)>,
    /// The written bytes of the block's shared memory, and of its threads' local memory.
    written: Option<(WrittenBytes, WrittenBytes)>,
    counts: Option<Counts>,
    /// The bytes of global memory that it has accessed.
    pub(crate) footprint: Option<Footprint>,
    /// Writes of the running instruction that are races if they change any byte.
    suspects: Vec<Suspect>,
}

/// A write that is not ordered after another thread's write to the same bytes. If both write the
/// same value, the result does not depend on the order. Compilers generate such writes where
/// threads have copies of a value.
struct Suspect {
    access: Access,
    rival: Rival,
    pointer: *const u8,
    /// The bytes before the write.
    before: [u8; MAX_ACCESS_BYTES],
}

/// The size of the widest access.
const MAX_ACCESS_BYTES: usize = 16;

impl<'l> Instruments<'l> {
    pub(crate) fn new(launch: &'l Launched<'l>) -> Instruments<'l> {
        let program = launch.program;
        let classes: Vec<Class> =
            (0..program.code.len() as u32).map(|pc| Class::of(&program.place(pc).instruction)).collect();
        let Switches { uninitialized, races, statistics, footprint } = launch.switches;
        let synchronizes = classes.iter().any(|class| class.fence);
        Instruments {
            launch,
            classes,
            block: 0,
            shared_races: races.then(|| SharedRaces::new(launch.shared_bytes, launch.padded_threads())),
            global_races: launch.races.as_ref().map(|races| (races, global_races::Clock::default())),
            written: uninitialized.then(Default::default),
            counts: statistics.then(|| Counts::new(program.code.len())),
            footprint: footprint.then(|| Footprint::new(synchronizes)),
            suspects: Vec::new(),
        }
    }

    /// Starts a block, with fresh shared memory.
    pub(crate) fn block_started(&mut self, block: u64, threads: u32, shared_bytes: u64) {
        self.block = block;
        if let Some(races) = &mut self.shared_races {
            races.block_started();
        }
        if let Some((_, clock)) = &mut self.global_races {
            *clock = global_races::Clock::default();
        }
        if let Some((shared, local)) = &mut self.written {
            shared.reset(shared_bytes);
            // The reserved part counts as written: programs clear the parts of it that they use.
            shared.set(0, self.launch.program.reserved_shared_bytes);
            local.reset(u64::from(threads) * u64::from(self.launch.program.local_stride));
        }
    }

    /// Records that a barrier has completed.
    pub(crate) fn barrier_completed(&mut self, _block: u64, _barrier: usize) {
        if let Some(races) = &mut self.shared_races {
            races.barrier_completed();
        }
    }

    /// Records that an instruction was executed for the lanes of `mask`, after the accesses of its
    /// warp were reported. `diverged` tells whether fewer lanes continue.
    pub(crate) fn instruction(
        &mut self,
        pc: u32,
        warp: usize,
        mask: u32,
        diverged: bool,
        table: &Table,
    ) -> Result<(), Trap> {
        let class = self.classes[pc as usize];
        if let Some(races) = &mut self.shared_races {
            races.instruction(class, warp);
        }
        if let Some((_, clock)) = &mut self.global_races
            && class.fence
        {
            clock.fence(self.block);
        }
        if let Some(footprint) = &mut self.footprint
            && class.fence
        {
            footprint.fence();
        }
        if let Some(counts) = &mut self.counts {
            counts.instruction(pc, mask, diverged);
        }
        if self.suspects.is_empty() {
            return Ok(());
        }
        let suspects = std::mem::take(&mut self.suspects);
        let changed = |suspect: &&Suspect| {
            let bytes = (suspect.access.bytes as usize).min(MAX_ACCESS_BYTES);
            // SAFETY: `locate` returned the pointer for this access in the instruction that has
            // just ended, and the machine keeps the table of allocations that it was found in.
            let after = unsafe { bytes_at(suspect.pointer, bytes) };
            after != suspect.before
        };
        match suspects.iter().find(changed) {
            Some(suspect) => Err(self.race(&suspect.access, &suspect.rival, table)),
            None => Ok(()),
        }
    }

    /// Records that a lane accesses memory at `pointer`.
    pub(crate) fn access(&mut self, access: &Access, table: &Table, pointer: *const u8) -> Result<(), Trap> {
        let class = self.classes[access.pc as usize];
        if let Some(counts) = &mut self.counts {
            counts.access(access);
        }
        if let Some(footprint) = &mut self.footprint
            && access.space == AccessSpace::Global
        {
            let accessor = Accessor { pc: access.pc, block: self.block, thread: access.thread };
            // A store that releases comes behind a fence; a load that acquires comes before one, in
            // `instruction`.
            if class.fence && access.kind != AccessKind::Read {
                footprint.fence();
            }
            let kind = (access.kind, class.strong || access.kind == AccessKind::Atomic);
            footprint.access(kind, access.address, access.bytes, accessor);
        }
        self.check_written(access, class, table)?;
        let rival = match access.space {
            AccessSpace::Shared => self.shared_races.as_mut().and_then(|races| races.access(access, class)),
            AccessSpace::Global => {
                let block = self.block;
                self.global_races
                    .as_mut()
                    .and_then(|(races, clock)| races.access(access, class, block, clock))
            }
            _ => None,
        };
        match rival {
            Some(rival) if rival.writes && access.kind == AccessKind::Write => {
                // SAFETY: `locate`, the caller, checked the pointer for the bytes of this access.
                let before = unsafe { bytes_at(pointer, (access.bytes as usize).min(MAX_ACCESS_BYTES)) };
                self.suspects.push(Suspect { access: *access, rival, pointer, before });
                Ok(())
            }
            Some(rival) => Err(self.race(access, &rival, table)),
            None => Ok(()),
        }
    }

    fn check_written(&mut self, access: &Access, class: Class, table: &Table) -> Result<(), Trap> {
        let Some((shared, local)) = &mut self.written else { return Ok(()) };
        let Access { kind, space, address, bytes, thread, .. } = *access;
        let reads = kind != AccessKind::Write;
        let all_written = match space {
            AccessSpace::Shared if reads => shared.all(address, bytes),
            AccessSpace::Shared => shared.set(address, bytes),
            AccessSpace::Local => {
                let address = address + u64::from(thread) * u64::from(self.launch.program.local_stride);
                // Calls also pass their arguments in local memory, in ways that are not reported
                // here.
                if reads {
                    !class.names_local || local.all(address, bytes)
                } else {
                    local.set(address, bytes)
                }
            }
            AccessSpace::Global => match table.find(address) {
                Some(allocation) => self.launch.memory.kernel_accesses(allocation, address, bytes, reads),
                None => true,
            },
            _ => true,
        };
        if all_written {
            return Ok(());
        }
        let detail =
            format!("{} {} of {bytes} bytes, of which some were never written", space.word(), kind.word());
        let trap = Trap::new(FaultKind::Uninitialized, access.lane, detail);
        Err(self.with_place(trap, access, table))
    }

    fn with_place(&self, trap: Trap, access: &Access, table: &Table) -> Trap {
        let near = match access.space {
            AccessSpace::Global => {
                table.find(access.address).map(|allocation| allocation.describe(access.address))
            }
            _ => None,
        };
        trap.at(access.address).near(near)
    }

    fn race(&self, access: &Access, rival: &Rival, table: &Table) -> Trap {
        let verb = if rival.writes { "written" } else { "read" };
        let thread = self.launch.block.position(rival.thread.into());
        let who = match rival.block {
            Some(block) => format!("block {}, thread {thread}", self.launch.grid.position(block)),
            None => format!("thread {thread}"),
        };
        let place = self.launch.program.place(rival.pc);
        let detail = format!(
            "{} {} of {} bytes that {who} has {verb} by {place}, and nothing orders the two",
            access.space.word(),
            access.kind.word(),
            access.bytes,
        );
        self.with_place(Trap::new(FaultKind::Race, access.lane, detail), access, table)
    }

    /// Adds the counts to those of other workers.
    pub(crate) fn add_statistics(&self, statistics: &mut Statistics) {
        if let Some(counts) = &self.counts {
            counts.add_to(self.launch.program, statistics);
        }
    }
}

/// Copies up to 16 bytes of device memory.
///
/// # Safety
/// The pointer is valid for reads of `bytes` bytes of device memory.
unsafe fn bytes_at(pointer: *const u8, bytes: usize) -> [u8; MAX_ACCESS_BYTES] {
    let mut copy = [0; MAX_ACCESS_BYTES];
    // SAFETY: the caller promises that the pointer is valid for reads of `bytes` bytes.
    unsafe { raw::copy_out(pointer, &mut copy[..bytes]) };
    copy
}

/// Creates the tracker of races between the blocks of a launch, if it is switched on.
pub(crate) fn global_races(switches: Switches) -> Option<GlobalRaces> {
    switches.races.then(GlobalRaces::default)
}
