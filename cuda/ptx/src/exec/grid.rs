//! Launches: a kernel, the size of its grid, its parameters, and what the caller asks for.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::block::Progress;
use super::dim::Dim3;
use super::fault::{Fault, FaultKind};
use super::instrument::footprint::{self, Footprint, Touched};
use super::instrument::{GlobalRaces, Instruments, Statistics, Switches, global_races};
use super::lanes::LANES;
use super::level::Level;
use super::machine::Machine;
use super::memory::{Memory, Table};
use super::parallel::{OwnThreads, ParallelFor};
use super::printf::Sink;
use crate::code::{Inst, Program};
use crate::module::Function;

/// Threads of a block at most.
const BLOCK_THREADS_MAX: u64 = 1024;
/// Bytes of shared memory of a block at most: 227 KiB on sm_90.
const SHARED_BYTES_MAX: u64 = 227 << 10;

/// Blocks that a worker has begun and not ended, at most. If a launch has no more, its blocks may wait for each other,
/// on however few threads it runs.
pub const BLOCKS_BEGUN_MAX: usize = 4096;

/// The values a kernel is launched with, in the order of its parameters.
#[derive(Clone, Debug, Default)]
pub struct Params {
    values: Vec<Vec<u8>>,
}

/// A scalar that can be passed to a kernel.
pub trait Param: Copy {
    /// The bytes, little-endian.
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
    /// No values.
    #[must_use]
    pub fn new() -> Params {
        Params::default()
    }

    /// Adds a scalar; of a pointer, the device address as `u64`.
    #[must_use]
    pub fn push(mut self, value: impl Param) -> Params {
        self.values.push(value.to_bytes());
        self
    }

    /// Adds a value of any type by its bytes, as a struct.
    #[must_use]
    pub fn bytes(mut self, value: &[u8]) -> Params {
        self.values.push(value.to_vec());
        self
    }

    /// The values.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.values.iter().map(Vec::as_slice)
    }
}

/// What a launch did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Instructions that warps executed.
    pub warp_instructions: u64,
    /// What was counted, if that was asked for.
    pub statistics: Option<Statistics>,
    /// What the launch touched of global memory, if asked for: what it read, by address, then what it wrote.
    pub touched: Vec<Touched>,
}

/// A launch in preparation.
#[must_use = "a launch does nothing until it is run"]
pub struct Launch<'l> {
    function: &'l Function,
    grid: Dim3,
    block: Dim3,
    shared: u64,
    switches: Switches,
    sink: Option<&'l Sink<'l>>,
    threads: usize,
    parallel: &'l dyn ParallelFor,
    cancel: Option<&'l AtomicBool>,
    instruction_limit: Option<u64>,
}

impl<'l> Launch<'l> {
    /// A launch of one block of one thread.
    pub fn new(function: &'l Function) -> Launch<'l> {
        Launch {
            function,
            grid: Dim3::new(1, 1, 1),
            block: Dim3::new(1, 1, 1),
            shared: 0,
            switches: Switches::default(),
            sink: None,
            threads: usize::MAX,
            parallel: &OwnThreads,
            cancel: None,
            instruction_limit: None,
        }
    }

    /// Blocks.
    pub fn grid(mut self, grid: impl Into<Dim3>) -> Self {
        self.grid = grid.into();
        self
    }

    /// Threads of a block.
    pub fn block(mut self, block: impl Into<Dim3>) -> Self {
        self.block = block.into();
        self
    }

    /// Bytes of dynamic shared memory.
    pub fn shared(mut self, bytes: u64) -> Self {
        self.shared = bytes;
        self
    }

    /// Reports reads of memory that nobody wrote.
    pub fn check_uninitialized(mut self, check: bool) -> Self {
        self.switches.uninitialized = check;
        self
    }

    /// Reports accesses in no order.
    pub fn check_races(mut self, check: bool) -> Self {
        self.switches.races = check;
        self
    }

    /// Counts what the launch does.
    pub fn statistics(mut self, count: bool) -> Self {
        self.switches.statistics = count;
        self
    }

    /// Keeps which bytes of global memory the launch reads and writes.
    pub fn footprint(mut self, keep: bool) -> Self {
        self.switches.footprint = keep;
        self
    }

    /// Where the program's `printf` goes; without one, nowhere. It may be called from several threads at once.
    pub fn printf(mut self, sink: &'l Sink<'l>) -> Self {
        self.sink = Some(sink);
        self
    }

    /// Runs on so many threads at most.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Runs on the caller's threads.
    pub fn parallel(mut self, parallel: &'l dyn ParallelFor) -> Self {
        self.parallel = parallel;
        self
    }

    /// Ends the launch soon after `cancel` has become true.
    pub fn cancel(mut self, cancel: &'l AtomicBool) -> Self {
        self.cancel = Some(cancel);
        self
    }

    /// Ends the launch soon after so many instructions of warps.
    pub fn instruction_limit(mut self, limit: u64) -> Self {
        self.instruction_limit = Some(limit);
        self
    }

    /// Runs the kernel and waits for its end.
    pub fn run(self, params: &Params, memory: &Memory) -> Result<Report, Fault> {
        let bank = self.check().and_then(|()| self.function.param_bank(params));
        self.run_bank(bank, memory)
    }

    /// As [`Launch::run`], with parameters that have been laid out: each at its
    /// [`offset`](crate::Parameter::offset), the last one ending the bytes.
    pub fn run_packed(self, params: &[u8], memory: &Memory) -> Result<Report, Fault> {
        let bank = self.check().and_then(|()| self.function.packed_bank(params));
        self.run_bank(bank, memory)
    }

    fn run_bank(self, bank: Result<Vec<u128>, String>, memory: &Memory) -> Result<Report, Fault> {
        let program = self.function.program();
        let bank = bank.map_err(|detail| Fault::new(FaultKind::InvalidLaunch, &program.name, detail))?;
        self.function.attach(memory);
        let code = program.linked(Level::current(), self.switches.any());
        let launched = Launched {
            program,
            code,
            grid: self.grid,
            block: self.block,
            shared_bytes: u64::from(program.shared_bytes) + self.shared,
            dynamic_shared_bytes: self.shared,
            param_bytes: u64::from(program.param_bytes),
            params: bank,
            memory,
            table: memory.snapshot(),
            switches: self.switches,
            races: global_races(self.switches),
            statistics: Mutex::default(),
            sink: self.sink,
            cancel: self.cancel,
            instruction_limit: self.instruction_limit,
            instructions: AtomicU64::new(0),
            started: Instant::now(),
            footprints: Mutex::default(),
        };
        if !self.switches.uninitialized {
            memory.launch_unwatched();
        }
        launched.run(self.parallel, self.threads)?;
        let statistics = launched.statistics.into_inner().unwrap_or_else(PoisonError::into_inner);
        let footprints = launched.footprints.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Report {
            warp_instructions: launched.instructions.load(Ordering::Relaxed),
            statistics: self.switches.statistics.then_some(statistics),
            touched: footprint::merge(&footprints),
        })
    }

    fn check(&self) -> Result<(), String> {
        let (grid, block, limits) = (self.grid, self.block, self.function.limits());
        if grid.volume() == 0 || block.volume() == 0 {
            return Err(format!("grid {grid} of blocks {block} is empty"));
        }
        if grid.x > i32::MAX as u32 || grid.y > 65535 || grid.z > 65535 {
            return Err(format!("grid {grid} is too large; (2147483647, 65535, 65535) is the most"));
        }
        if block.volume() > BLOCK_THREADS_MAX || block.x > 1024 || block.y > 1024 || block.z > 64 {
            return Err(format!(
                "block {block} is too large: {BLOCK_THREADS_MAX} threads, (1024, 1024, 64) are the most"
            ));
        }
        if let Some(required) = limits.required_threads
            && Dim3::from(required) != block
        {
            return Err(format!("the kernel requires blocks of {}, not {block}", Dim3::from(required)));
        }
        if let Some(max) = limits.max_threads
            && Dim3::from(max).volume() < block.volume()
        {
            return Err(format!("block {block} is larger than the kernel's .maxntid {}", Dim3::from(max)));
        }
        let shared = u64::from(self.function.program().shared_bytes).saturating_add(self.shared);
        if shared > SHARED_BYTES_MAX {
            return Err(format!("{shared} bytes of shared memory, more than {SHARED_BYTES_MAX}"));
        }
        Ok(())
    }
}

/// A launch that runs: what all its workers share.
pub(crate) struct Launched<'l> {
    pub(crate) program: &'l Program,
    pub(crate) code: &'l [Inst],
    pub(crate) grid: Dim3,
    pub(crate) block: Dim3,
    pub(crate) shared_bytes: u64,
    pub(crate) dynamic_shared_bytes: u64,
    pub(crate) param_bytes: u64,
    /// In words, for their alignment.
    pub(crate) params: Vec<u128>,
    pub(crate) memory: &'l Memory,
    pub(crate) table: Arc<Table>,
    pub(crate) switches: Switches,
    pub(crate) races: Option<GlobalRaces>,
    /// What workers that are done have counted.
    pub(crate) statistics: Mutex<Statistics>,
    pub(crate) sink: Option<&'l Sink<'l>>,
    pub(crate) cancel: Option<&'l AtomicBool>,
    pub(crate) instruction_limit: Option<u64>,
    pub(crate) instructions: AtomicU64,
    pub(crate) started: Instant,
    /// Of the workers that are done.
    pub(crate) footprints: Mutex<Vec<Footprint>>,
}

impl Launched<'_> {
    /// Threads of a block, were its last warp whole.
    pub(crate) fn padded_threads(&self) -> u32 {
        (self.block.volume() as u32).next_multiple_of(LANES as u32)
    }

    /// Adds to the instructions executed, and gives how many there are.
    pub(crate) fn count_instructions(&self, more: u64) -> u64 {
        self.instructions.fetch_add(more, Ordering::Relaxed) + more
    }

    pub(crate) fn instruments(&self) -> Option<Box<Instruments<'_>>> {
        self.switches.any().then(|| Box::new(Instruments::new(self)))
    }

    /// A worker is done.
    fn collect(&self, machine: Machine<'_>) {
        self.count_instructions(machine.instructions);
        if let Some(instruments) = machine.instruments {
            let mut statistics = self.statistics.lock().unwrap_or_else(PoisonError::into_inner);
            instruments.add_statistics(&mut statistics);
            let mut footprints = self.footprints.lock().unwrap_or_else(PoisonError::into_inner);
            footprints.extend(instruments.footprint);
        }
    }

    fn run(&self, parallel: &dyn ParallelFor, threads: usize) -> Result<(), Fault> {
        let blocks = self.grid.volume();
        // Where races are looked for, blocks run one after another: reports are the same each time.
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

    /// Runs blocks until there are none, or one has failed. Of several faults, the one of the lowest block
    /// is kept.
    ///
    /// Blocks run one after the other, unless one seems to wait for another: then a further one is begun,
    /// and those that have begun take turns. So programs that wait for all blocks of a grid come to an end.
    fn work(&self, blocks: u64, next: &AtomicU64, fault: &Mutex<Option<(u64, Fault)>>) {
        let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&block| block < blocks);
        let mut idle: Vec<Box<Machine<'_>>> = Vec::new();
        let mut running: VecDeque<Box<Machine<'_>>> = VecDeque::new();
        loop {
            let may_begin = running.len() < BLOCKS_BEGUN_MAX;
            if let Some(block) = if may_begin { take() } else { None } {
                let mut machine = idle.pop().unwrap_or_else(|| Box::new(Machine::new(self)));
                machine.start_block(block);
                running.push_front(machine);
            }
            let Some(mut machine) = running.pop_front() else { break };
            match machine.run_block() {
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
