//! Running launches: parameters, and blocks spread over threads.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::block::Progress;
use super::dim::Dim3;
use super::fault::{Fault, FaultKind, Trap};
use super::instrument::footprint::Footprint;
use super::instrument::{GlobalRaces, Instruments, Statistics, Switches};
use super::lanes::LANES;
use super::machine::Machine;
use super::memory::{Memory, Table};
use super::parallel::ParallelFor;
use super::printf::Sink;
use super::program::{Inst, Program};

/// The number of blocks that a worker interleaves. The blocks of a launch with at most this many
/// may wait for each other, even on one thread.
pub const MAX_BLOCKS_BEGUN: usize = 4096;

/// The arguments of a launch, in the order of the kernel's parameters.
#[derive(Clone, Debug, Default)]
pub struct Params {
    values: Vec<Vec<u8>>,
}

/// A scalar that can be passed to a kernel.
pub trait Param: Copy {
    /// Returns the bytes, little-endian.
    fn to_bytes(self) -> Vec<u8>;
}

macro_rules! params {
    ($($ty:ty)*) => {$(
        impl Param for $ty {
            fn to_bytes(self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
        }
    )*};
}
params! { u8 i8 u16 i16 u32 i32 u64 i64 f32 f64 half::f16 half::bf16 }

impl Params {
    /// Creates an empty list.
    #[must_use]
    pub fn new() -> Params {
        Params::default()
    }

    /// Adds a scalar. A pointer is passed as its device address, a `u64`.
    #[must_use]
    pub fn push(mut self, value: impl Param) -> Params {
        self.values.push(value.to_bytes());
        self
    }

    /// Adds a value of any type, such as a struct, by its bytes.
    #[must_use]
    pub fn bytes(mut self, value: &[u8]) -> Params {
        self.values.push(value.to_vec());
        self
    }

    /// Iterates over the bytes of each argument.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.values.iter().map(Vec::as_slice)
    }
}

/// A running launch: the state that its workers share.
pub(crate) struct Launched<'l> {
    pub(crate) program: &'l Program,
    pub(crate) code: &'l [Inst],
    pub(crate) grid: Dim3,
    pub(crate) block: Dim3,
    /// Bytes of shared memory of a block, including those that the system reserves if the program
    /// uses them.
    pub(crate) shared_bytes: u64,
    pub(crate) dynamic_shared_bytes: u64,
    /// The address of the memory through which the blocks of a cooperative launch synchronize; 0 in
    /// other launches.
    pub(crate) workspace: u64,
    pub(crate) param_bytes: u64,
    /// The parameters, in 16-byte words for their alignment.
    pub(crate) params: Vec<u128>,
    pub(crate) memory: &'l Memory,
    pub(crate) table: Arc<Table>,
    pub(crate) switches: Switches,
    pub(crate) races: Option<GlobalRaces>,
    /// The counts of finished workers.
    pub(crate) statistics: Mutex<Statistics>,
    pub(crate) sink: Option<&'l Sink<'l>>,
    pub(crate) cancel: Option<&'l AtomicBool>,
    pub(crate) deadline: Option<Instant>,
    pub(crate) instruction_limit: Option<u64>,
    pub(crate) instructions: AtomicU64,
    pub(crate) started: Instant,
    /// The footprints of finished workers.
    pub(crate) footprints: Mutex<Vec<Footprint>>,
}

impl Launched<'_> {
    /// Returns the number of threads of a block, with its last warp rounded up to a whole one.
    pub(crate) fn padded_threads(&self) -> u32 {
        (self.block.volume() as u32).next_multiple_of(LANES as u32)
    }

    /// Returns the bytes of shared memory of a block, without those that the system reserves.
    pub(crate) fn user_shared_bytes(&self) -> u64 {
        self.shared_bytes - u64::from(self.program.reserved_shared_bytes)
    }

    /// Fails if the caller has cancelled the launch or its deadline has passed.
    pub(crate) fn check_time(&self) -> Result<(), Trap> {
        if self.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
            return Err(Trap::whole(FaultKind::Cancelled, "by the caller"));
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            let detail = format!("after {:.3} s", self.started.elapsed().as_secs_f64());
            return Err(Trap::whole(FaultKind::DeadlineExceeded, detail));
        }
        Ok(())
    }

    /// Adds to the count of executed instructions and returns the new count.
    pub(crate) fn count_instructions(&self, more: u64) -> u64 {
        self.instructions.fetch_add(more, Ordering::Relaxed) + more
    }

    pub(crate) fn instruments(&self) -> Option<Box<Instruments<'_>>> {
        self.switches.any().then(|| Box::new(Instruments::new(self)))
    }

    /// Adds the counts and the footprint of a finished worker.
    fn collect(&self, machine: Machine<'_>) {
        self.count_instructions(machine.instructions);
        if let Some(instruments) = machine.instruments {
            let mut statistics = self.statistics.lock().unwrap_or_else(PoisonError::into_inner);
            instruments.add_statistics(&mut statistics);
            let mut footprints = self.footprints.lock().unwrap_or_else(PoisonError::into_inner);
            footprints.extend(instruments.footprint);
        }
    }

    pub(crate) fn run(&self, parallel: &dyn ParallelFor, threads: usize) -> Result<(), Fault> {
        let blocks = self.grid.volume();
        // When races are checked, blocks run one after another so that reports are reproducible.
        let workers =
            if blocks == 1 || self.switches.races { 1 } else { parallel.parallelism().min(threads) };
        let workers = workers.min(usize::try_from(blocks).unwrap_or(usize::MAX)).max(1);
        let (next, fault) = (AtomicU64::new(0), Mutex::new(None));
        if workers == 1 {
            self.work(blocks, &next, &fault);
        } else {
            parallel.run(workers, &|_| self.work(blocks, &next, &fault));
        }
        match fault.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some((_, fault)) => Err(fault),
            None => Ok(()),
        }
    }

    /// Runs blocks until all are taken or one has failed. Of several faults, the one of the lowest
    /// block is kept.
    ///
    /// Blocks run one after another unless one seems to wait for another. Then this worker starts a
    /// further one, and the blocks it has started take turns. This lets programs that wait for all
    /// blocks of a grid finish.
    fn work(&self, blocks: u64, next: &AtomicU64, fault: &Mutex<Option<(u64, Fault)>>) {
        let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&block| block < blocks);
        let mut idle: Vec<Box<Machine<'_>>> = Vec::new();
        let mut running: VecDeque<Box<Machine<'_>>> = VecDeque::new();
        loop {
            let may_begin = running.len() < MAX_BLOCKS_BEGUN;
            if let Some(block) = if may_begin { take() } else { None } {
                let mut machine = idle.pop().unwrap_or_else(|| Box::new(Machine::new(self)));
                machine.start_block(block);
                running.push_front(machine);
            }
            let Some(mut machine) = running.pop_front() else { break };
            // Checks the time here because short blocks never do.
            let result = match self.check_time() {
                Ok(()) => machine.run_block(),
                Err(trap) => Err(machine.fault(&trap)),
            };
            match result {
                Ok(Progress::Waits) if fault_is_known(fault) => break,
                Ok(Progress::Waits) => running.push_back(machine),
                Ok(Progress::Ended) => idle.push(machine),
                Err(found) => {
                    next.store(blocks, Ordering::Relaxed);
                    let mut fault = fault.lock().unwrap_or_else(PoisonError::into_inner);
                    if fault.as_ref().is_none_or(|(first, _)| machine.block < *first) {
                        *fault = Some((machine.block, found));
                    }
                    idle.push(machine);
                    break;
                }
            }
        }
        for machine in idle.into_iter().chain(running) {
            self.collect(*machine);
        }
    }
}

fn fault_is_known(fault: &Mutex<Option<(u64, Fault)>>) -> bool {
    fault.lock().unwrap_or_else(PoisonError::into_inner).is_some()
}
