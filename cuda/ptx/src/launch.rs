//! Launches in preparation: a kernel, the size of its grid, and the caller's switches.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::exec::grid::Launched;
use crate::exec::instrument::footprint::{self, Accessor, Footprint};
use crate::exec::instrument::{Switches, global_races};
use crate::exec::level::Level;
use crate::exec::{
    BLOCKS_BEGUN_MAX, Dim3, Fault, FaultKind, Memory, MemoryError, OwnThreads, ParallelFor, Params, Place,
    Sink, Statistics, Touched,
};
use crate::module::Function;

/// Threads of a block at most.
const BLOCK_THREADS_MAX: u64 = 1024;
/// Bytes of shared memory of a block at most: 227 KiB on sm_90.
const SHARED_BYTES_MAX: u64 = 227 << 10;

/// What a launch did.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Instructions that warps executed.
    pub warp_instructions: u64,
    /// What was counted, if [`Launch::statistics`] asked for it.
    pub statistics: Option<Statistics>,
    /// What the launch touched of global memory, if [`Launch::footprint`] asked for it: what it read, by address, then what
    /// it wrote.
    pub touched: Vec<Touched>,
    touchers: Option<Arc<Touchers>>,
}

impl Report {
    /// Returns who was the first to write a byte of [`Report::touched`], or to read what was there before the launch.
    /// Bytes are told apart by fours.
    #[must_use]
    pub fn toucher(&self, address: u64, written: bool) -> Option<Toucher> {
        let touchers = self.touchers.as_ref()?;
        let first = touchers.footprints.iter().filter_map(|footprint| footprint.first(address, written));
        let Accessor { pc, block, thread } =
            first.min_by_key(|accessor| (accessor.block, accessor.thread))?;
        Some(Toucher {
            place: touchers.function.program().place(pc),
            block: touchers.grid.position(block),
            thread: touchers.block.position(thread.into()),
        })
    }
}

/// What the workers of a launch know of who touched memory.
#[derive(Debug)]
struct Touchers {
    function: Function,
    grid: Dim3,
    block: Dim3,
    footprints: Vec<Footprint>,
}

/// A thread that accessed memory, and the instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toucher {
    /// The instruction.
    pub place: Place,
    /// The block within the grid.
    pub block: Dim3,
    /// The thread within the block.
    pub thread: Dim3,
}

impl fmt::Display for Toucher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; block {}, thread {}", self.place, self.block, self.thread)
    }
}

/// Bytes of the memory by which the blocks of a cooperative launch meet.
const WORKSPACE_BYTES: u64 = 64;

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
    deadline: Option<Instant>,
    cooperative: bool,
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
            deadline: None,
            cooperative: false,
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

    /// Ends the launch soon after `deadline`. It is looked at before each block, and while a block runs.
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Makes the launch cooperative: `grid.sync()` of cooperative groups works in it. The grid may have
    /// [`BLOCKS_BEGUN_MAX`] blocks.
    pub fn cooperative(mut self, cooperative: bool) -> Self {
        self.cooperative = cooperative;
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
        if !self.cooperative {
            return self.run_with(bank, memory, 0);
        }
        let name = &self.function.program().name;
        let out_of_memory = |error: MemoryError| Fault::new(FaultKind::OutOfMemory, name, error.to_string());
        let workspace = memory.allocate_labelled(WORKSPACE_BYTES, "the workspace of a cooperative launch");
        let workspace = workspace.map_err(out_of_memory)?;
        let filled = memory.fill(workspace, &[0; 8], WORKSPACE_BYTES / 8).map_err(out_of_memory);
        let result = filled.and_then(|()| self.run_with(bank, memory, workspace));
        let freed = memory.free(workspace).map_err(out_of_memory);
        let mut report = result?;
        freed?;
        // What a launch does there is nobody's business.
        let inside = |touched: &Touched| (workspace..workspace + WORKSPACE_BYTES).contains(&touched.address);
        report.touched.retain(|touched| !inside(touched));
        Ok(report)
    }

    fn run_with(
        self,
        bank: Result<Vec<u128>, String>,
        memory: &Memory,
        workspace: u64,
    ) -> Result<Report, Fault> {
        let program = self.function.program();
        let bank = bank.map_err(|detail| Fault::new(FaultKind::InvalidLaunch, &program.name, detail))?;
        self.function.attach(memory);
        let code = program.linked(Level::current(), self.switches.any());
        let launched = Launched {
            program,
            code,
            grid: self.grid,
            block: self.block,
            shared_bytes: u64::from(program.reserved_shared_bytes + program.shared_bytes) + self.shared,
            dynamic_shared_bytes: self.shared,
            workspace,
            param_bytes: u64::from(program.param_bytes),
            params: bank,
            memory,
            table: memory.snapshot(),
            switches: self.switches,
            races: global_races(self.switches),
            statistics: Mutex::default(),
            sink: self.sink,
            cancel: self.cancel,
            deadline: self.deadline,
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
            touchers: self.switches.footprint.then(|| {
                let (function, grid, block) = (self.function.clone(), self.grid, self.block);
                Arc::new(Touchers { function, grid, block, footprints })
            }),
        })
    }

    fn check(&self) -> Result<(), String> {
        let (grid, block, limits) = (self.grid, self.block, self.function.limits());
        if grid.volume() == 0 || block.volume() == 0 {
            return Err(format!("grid {grid} of blocks {block} is empty"));
        }
        if self.cooperative && grid.volume() > BLOCKS_BEGUN_MAX as u64 {
            let blocks = grid.volume();
            return Err(format!(
                "a cooperative launch of {blocks} blocks; {BLOCKS_BEGUN_MAX} at most run at once"
            ));
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

impl Function {
    /// Runs the kernel and waits for its end; see [`Launch`] for all that can be asked for.
    pub fn launch(
        &self,
        grid: impl Into<Dim3>,
        block: impl Into<Dim3>,
        dynamic_shared_bytes: u64,
        params: &Params,
        memory: &Memory,
    ) -> Result<Report, Fault> {
        Launch::new(self).grid(grid).block(block).shared(dynamic_shared_bytes).run(params, memory)
    }
}
