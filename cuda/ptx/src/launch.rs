//! Builds launches: a kernel, the size of its grid, and options.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::exec::grid::Launched;
use crate::exec::instrument::footprint::{self, Accessor, Footprint};
use crate::exec::instrument::{Switches, global_races};
use crate::exec::level::Level;
use crate::exec::{
    Dim3, Fault, FaultKind, Handover, MAX_BLOCKS_BEGUN, Memory, MemoryError, OwnThreads, ParallelFor, Params,
    Place, Sink, Statistics, Touched,
};
use crate::module::Function;

/// The most threads of a block.
const MAX_BLOCK_THREADS: u64 = 1024;
/// The most shared memory of a block in bytes: 227 KiB on sm_90.
const MAX_SHARED_BYTES: u64 = 227 << 10;

/// The report of a launch that succeeded.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// The number of instructions that warps executed.
    pub warp_instructions: u64,
    /// The counts, if [`Launch::statistics`] asked for them.
    pub statistics: Option<Statistics>,
    /// The global memory that the launch touched, if [`Launch::footprint`] asked for it: ranges
    /// that were read, by address, then ranges that were written, then ranges that only atomic
    /// operations accessed.
    pub touched: Vec<Touched>,
    /// What the launch hands over to others while it runs, if it can synchronize with them.
    pub handover: Option<Handover>,
    touchers: Option<Arc<Touchers>>,
}

impl Report {
    /// Returns who was the first to write a byte of [`Report::touched`], or to read what was there
    /// before the launch. The resolution is four bytes.
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

/// The records of the launch's workers about accesses to memory.
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

/// The size of the memory through which the blocks of a cooperative launch synchronize, in bytes.
const WORKSPACE_BYTES: u64 = 64;

/// A builder of a launch.
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
    /// Prepares a launch of one block of one thread.
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

    /// Sets the size of the grid, in blocks.
    pub fn grid(mut self, grid: impl Into<Dim3>) -> Self {
        self.grid = grid.into();
        self
    }

    /// Sets the size of a block, in threads.
    pub fn block(mut self, block: impl Into<Dim3>) -> Self {
        self.block = block.into();
        self
    }

    /// Sets the bytes of dynamic shared memory of a block.
    pub fn shared(mut self, bytes: u64) -> Self {
        self.shared = bytes;
        self
    }

    /// Makes a read of memory that was never written a fault.
    pub fn check_uninitialized(mut self, check: bool) -> Self {
        self.switches.uninitialized = check;
        self
    }

    /// Makes two accesses that nothing orders, one of them a write, a fault. Blocks then run one
    /// after the other.
    pub fn check_races(mut self, check: bool) -> Self {
        self.switches.races = check;
        self
    }

    /// Counts instructions, divergence and memory traffic, for [`Report::statistics`].
    pub fn statistics(mut self, count: bool) -> Self {
        self.switches.statistics = count;
        self
    }

    /// Records which bytes of global memory the launch reads and writes, for [`Report::touched`].
    pub fn footprint(mut self, keep: bool) -> Self {
        self.switches.footprint = keep;
        self
    }

    /// Sets the sink for the program's `printf`. Without one, the text is dropped. Several threads
    /// may call it at once.
    pub fn printf(mut self, sink: &'l Sink<'l>) -> Self {
        self.sink = Some(sink);
        self
    }

    /// Limits the number of threads that run blocks.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Runs blocks on the caller's threads instead of [`OwnThreads`].
    pub fn parallel(mut self, parallel: &'l dyn ParallelFor) -> Self {
        self.parallel = parallel;
        self
    }

    /// Ends the launch with [`FaultKind::Cancelled`] soon after `cancel` becomes true. The flag is
    /// read before each block and while a block runs.
    pub fn cancel(mut self, cancel: &'l AtomicBool) -> Self {
        self.cancel = Some(cancel);
        self
    }

    /// Ends the launch with [`FaultKind::DeadlineExceeded`] soon after `deadline`. The clock is
    /// read before each block and while a block runs.
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Makes the launch cooperative, so that `grid.sync()` of cooperative groups works. The grid
    /// has at most [`MAX_BLOCKS_BEGUN`] blocks.
    pub fn cooperative(mut self, cooperative: bool) -> Self {
        self.cooperative = cooperative;
        self
    }

    /// Ends the launch with [`FaultKind::InstructionLimit`] soon after its warps have executed
    /// `limit` instructions.
    pub fn instruction_limit(mut self, limit: u64) -> Self {
        self.instruction_limit = Some(limit);
        self
    }

    /// Runs the kernel and waits for its end.
    ///
    /// # Errors
    /// A [`Fault`]: [`FaultKind::InvalidLaunch`] if sizes or parameters do not fit the kernel, else
    /// what the program did wrong.
    pub fn run(self, params: &Params, memory: &Memory) -> Result<Report, Fault> {
        let bank = self.check().and_then(|()| self.function.param_bank(params));
        self.run_bank(bank, memory)
    }

    /// Runs the kernel with parameters that are laid out already: each at its
    /// [`offset`](crate::Parameter::offset), and nothing after the last.
    ///
    /// # Errors
    /// See [`Launch::run`].
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
        // The workspace belongs to the runtime, so accesses to it are not reported.
        let inside = |touched: &Touched| (workspace..workspace + WORKSPACE_BYTES).contains(&touched.address);
        let mut report = result.map_err(|mut fault| {
            fault.touched.retain(|touched| !inside(touched));
            fault
        })?;
        freed?;
        report.touched.retain(|touched| !inside(touched));
        if let Some(handover) = &mut report.handover {
            handover.forget(workspace..workspace + WORKSPACE_BYTES);
        }
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
        let outcome = launched.run(self.parallel, self.threads);
        let statistics = launched.statistics.into_inner().unwrap_or_else(PoisonError::into_inner);
        let footprints = launched.footprints.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Err(mut fault) = outcome {
            fault.touched = footprint::merge(&footprints);
            return Err(fault);
        }
        Ok(Report {
            warp_instructions: launched.instructions.load(Ordering::Relaxed),
            statistics: self.switches.statistics.then_some(statistics),
            touched: footprint::merge(&footprints),
            handover: footprint::handover(&footprints),
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
        if self.cooperative && grid.volume() > MAX_BLOCKS_BEGUN as u64 {
            let blocks = grid.volume();
            return Err(format!(
                "a cooperative launch of {blocks} blocks; {MAX_BLOCKS_BEGUN} at most run at once"
            ));
        }
        if grid.x > i32::MAX as u32 || grid.y > 65535 || grid.z > 65535 {
            return Err(format!("grid {grid} is too large; (2147483647, 65535, 65535) is the most"));
        }
        if block.volume() > MAX_BLOCK_THREADS || block.x > 1024 || block.y > 1024 || block.z > 64 {
            return Err(format!(
                "block {block} is too large: {MAX_BLOCK_THREADS} threads, (1024, 1024, 64) are the most"
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
        if shared > MAX_SHARED_BYTES {
            return Err(format!("{shared} bytes of shared memory, more than {MAX_SHARED_BYTES}"));
        }
        Ok(())
    }
}

impl Function {
    /// Launches the kernel and waits for its end. [`Launch`] has further options.
    ///
    /// # Errors
    /// See [`Launch::run`].
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
