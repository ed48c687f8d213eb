//! Launches in preparation: a kernel, the size of its grid, and the caller's switches.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::exec::grid::Launched;
use crate::exec::instrument::{Switches, footprint, global_races};
use crate::exec::level::Level;
use crate::exec::{Dim3, Fault, FaultKind, Memory, OwnThreads, ParallelFor, Params, Report, Sink};
use crate::module::Function;

/// Threads of a block at most.
const BLOCK_THREADS_MAX: u64 = 1024;
/// Bytes of shared memory of a block at most: 227 KiB on sm_90.
const SHARED_BYTES_MAX: u64 = 227 << 10;

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
