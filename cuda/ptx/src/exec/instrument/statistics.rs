//! Counts of what a launch does, for tuning kernels.

use std::collections::BTreeMap;

use super::{Access, AccessKind};
use crate::exec::address::AccessSpace;
use crate::exec::lanes::LANES;
use crate::exec::program::Program;

/// The number of banks of shared memory, each four bytes wide.
const BANKS: usize = 32;

/// The size of a sector, the unit of transfers from and to global memory, in bytes.
const SECTOR_BYTES: u64 = 32;

/// The number of times that an instruction was executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpcodeCount {
    /// Executions by a warp.
    pub warps: u64,
    /// Executions by a thread.
    pub threads: u64,
}

/// The traffic of a state space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpaceTraffic {
    /// Instructions of warps that accessed the space.
    pub requests: u64,
    /// Bytes that threads read.
    pub read_bytes: u64,
    /// Bytes that threads wrote.
    pub written_bytes: u64,
    /// Bytes of atomic operations.
    pub atomic_bytes: u64,
}

/// The counts of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Instructions by their full name, such as `fma.rn.f32`.
    pub opcodes: BTreeMap<String, OpcodeCount>,
    /// Branches that some threads of a warp took and others did not.
    pub divergent_branches: u64,
    /// The traffic of global and constant memory.
    pub global: SpaceTraffic,
    /// The traffic of shared memory.
    pub shared: SpaceTraffic,
    /// The traffic of local memory.
    pub local: SpaceTraffic,
    /// Sectors of 32 bytes that requests to global memory touched. For four bytes a thread, the
    /// best ratio to the requests is 4 and the worst is 32.
    pub global_sectors: u64,
    /// Extra passes of requests to shared memory, due to several words in one bank.
    pub bank_conflicts: u64,
}

/// The counts of a worker.
pub(super) struct Counts {
    /// The counts of each instruction of the compact form.
    instructions: Vec<OpcodeCount>,
    totals: Statistics,
    /// The accesses of the running instruction: address and size.
    pending: Vec<(u64, u32)>,
    pending_space: AccessSpace,
}

impl Counts {
    pub(super) fn new(instructions: usize) -> Counts {
        Counts {
            instructions: vec![OpcodeCount::default(); instructions],
            totals: Statistics::default(),
            pending: Vec::with_capacity(LANES),
            pending_space: AccessSpace::Global,
        }
    }

    pub(super) fn access(&mut self, access: &Access) {
        if access.space == AccessSpace::Param {
            // Most parameters are read without an access, because their addresses are known.
            return;
        }
        if self.pending_space != access.space {
            self.settle();
            self.pending_space = access.space;
        }
        let bytes = u64::from(access.bytes);
        let traffic = self.traffic();
        match access.kind {
            AccessKind::Read => traffic.read_bytes += bytes,
            AccessKind::Write => traffic.written_bytes += bytes,
            AccessKind::Atomic => traffic.atomic_bytes += bytes,
        }
        self.pending.push((access.address, access.bytes));
    }

    fn traffic(&mut self) -> &mut SpaceTraffic {
        match self.pending_space {
            AccessSpace::Shared => &mut self.totals.shared,
            AccessSpace::Local => &mut self.totals.local,
            _ => &mut self.totals.global,
        }
    }

    /// Counts the accesses of the instruction that has just ended.
    fn settle(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        self.traffic().requests += 1;
        match self.pending_space {
            AccessSpace::Shared => self.totals.bank_conflicts += bank_conflicts(&self.pending),
            AccessSpace::Global => self.totals.global_sectors += sectors(&self.pending),
            _ => {}
        }
        self.pending.clear();
    }

    pub(super) fn instruction(&mut self, pc: u32, mask: u32, diverged: bool) {
        self.settle();
        let count = &mut self.instructions[pc as usize];
        count.warps += 1;
        count.threads += u64::from(mask.count_ones());
        self.totals.divergent_branches += u64::from(diverged);
    }

    /// Adds the counts to those of other workers. An instruction that becomes several in the
    /// compact form counts once.
    pub(super) fn add_to(&self, program: &Program, statistics: &mut Statistics) {
        let mut last = None;
        for (pc, count) in self.instructions.iter().enumerate() {
            let origin = program.origin_of.get(pc).copied();
            let first = origin != std::mem::replace(&mut last, origin);
            if !first || count.warps == 0 {
                continue;
            }
            let total = statistics.opcodes.entry(program.place(pc as u32).instruction).or_default();
            total.warps += count.warps;
            total.threads += count.threads;
        }
        let totals = &self.totals;
        statistics.divergent_branches += totals.divergent_branches;
        statistics.global_sectors += totals.global_sectors;
        statistics.bank_conflicts += totals.bank_conflicts;
        for (to, from) in [
            (&mut statistics.global, totals.global),
            (&mut statistics.shared, totals.shared),
            (&mut statistics.local, totals.local),
        ] {
            to.requests += from.requests;
            to.read_bytes += from.read_bytes;
            to.written_bytes += from.written_bytes;
            to.atomic_bytes += from.atomic_bytes;
        }
    }
}

/// Returns the extra passes that a warp's access to shared memory takes. Each bank serves one word
/// in a pass. Accesses of 8 or 16 bytes are processed in groups of 16 or 8 threads.
fn bank_conflicts(accesses: &[(u64, u32)]) -> u64 {
    let widest = accesses.iter().map(|&(_, bytes)| bytes).max().unwrap_or(4).max(4);
    let group = LANES * 4 / widest.next_power_of_two().min(16) as usize;
    accesses.chunks(group).map(|accesses| passes(accesses).saturating_sub(1)).sum()
}

fn passes(accesses: &[(u64, u32)]) -> u64 {
    let words =
        accesses.iter().flat_map(|&(address, bytes)| address / 4..(address + u64::from(bytes)).div_ceil(4));
    let mut words: Vec<u64> = words.collect();
    words.sort_unstable();
    words.dedup();
    let mut banks = [0_u64; BANKS];
    for word in words {
        banks[word as usize % BANKS] += 1;
    }
    banks.into_iter().max().unwrap_or(0)
}

fn sectors(accesses: &[(u64, u32)]) -> u64 {
    let touched = accesses.iter().flat_map(|&(address, bytes)| {
        address / SECTOR_BYTES..(address + u64::from(bytes)).div_ceil(SECTOR_BYTES)
    });
    let mut touched: Vec<u64> = touched.collect();
    touched.sort_unstable();
    touched.dedup();
    touched.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strided(stride: u64, bytes: u32) -> Vec<(u64, u32)> {
        (0..32).map(|lane| (lane * stride, bytes)).collect()
    }

    #[test]
    fn conflicts_are_words_of_one_bank() {
        assert_eq!(bank_conflicts(&strided(4, 4)), 0);
        assert_eq!(bank_conflicts(&strided(0, 4)), 0, "one word goes to all");
        assert_eq!(bank_conflicts(&strided(8, 4)), 1);
        assert_eq!(bank_conflicts(&strided(128, 4)), 31);
        assert_eq!(bank_conflicts(&strided(132, 4)), 0);
        assert_eq!(bank_conflicts(&strided(1, 1)), 0);
        assert_eq!(bank_conflicts(&strided(8, 8)), 0);
        assert_eq!(bank_conflicts(&strided(16, 16)), 0);
        assert_eq!(bank_conflicts(&strided(256, 8)), 30);
    }

    #[test]
    fn sectors_are_counted_once() {
        assert_eq!(sectors(&strided(4, 4)), 4);
        assert_eq!(sectors(&strided(32, 4)), 32);
        assert_eq!(sectors(&strided(0, 4)), 1);
        assert_eq!(sectors(&strided(16, 16)), 16);
    }
}
