//! Runs a block: its warps take turns on one thread.
//!
//! A warp runs until its lanes wait or its turn ends. When no warp can run, lanes that wait at a
//! join for others are released. If there are none, the remaining threads wait for each other, and
//! the launch ends with a report of which threads wait where. `stuck.rs` detects threads that wait
//! in a loop.

#![expect(unsafe_code, reason = "runs instructions")]

use std::sync::Arc;

use super::access::LAYOUTS;
use super::barrier::describe_lanes;
use super::fault::{Fault, FaultKind, Trap};
use super::grid::Launched;
use super::lanes::{FULL, LANES, Line};
use super::machine::{Exchange, Flow, Machine, Phase, Site};
use super::special;
use super::survey::Layout;
use super::warp::{NONE, Warp};

/// Backward branches in a turn.
pub(super) const TURN: i32 = 4096;
/// Turns of each warp of a block before other blocks may run, if the program seems to wait for
/// them.
const ROUNDS: u64 = 64;

/// The state of a block after [`Machine::run_block`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    Ended,
    /// It seems to wait for something, perhaps for another block.
    Waits,
}

impl<'l> Machine<'l> {
    /// Creates a machine that runs blocks of a launch.
    pub(crate) fn new(launch: &'l Launched<'l>) -> Machine<'l> {
        let warps = launch.block.volume().div_ceil(LANES as u64) as usize;
        let shared_bytes = launch.shared_bytes;
        let mut shared_storage =
            vec![Line::splat(0u32); (shared_bytes as usize).div_ceil(size_of::<Line<u32>>())];
        let shared = Site { base: 0, bytes: shared_bytes, pointer: shared_storage.as_mut_ptr().cast() };
        let params =
            Site { base: 0, bytes: launch.param_bytes, pointer: launch.params.as_ptr().cast_mut().cast() };
        let mut machine = Machine {
            registers: std::ptr::null_mut(),
            pc: 0,
            mask: 0,
            join: NONE,
            frame: 0,
            fuel: TURN,
            warp: 0,
            local: std::ptr::null_mut(),
            local_stride: u64::from(launch.program.local_stride),
            shared,
            params,
            sites: vec![Site::EMPTY; launch.program.sites as usize],
            layouts: [Layout::UNKNOWN; LAYOUTS],
            launch,
            warps: (0..warps).map(|_| Warp::new()).collect(),
            barriers: Default::default(),
            exchange: Box::new(Exchange { values: Line::splat(0), predicates: 0, lanes: 0 }),
            phase: Phase::Whole,
            table: Arc::clone(&launch.table),
            instruments: launch.instruments(),
            trap: None,
            block: 0,
            live_threads: 0,
            instructions: 0,
            polls: 0,
            started: launch.started,
            _shared_storage: shared_storage,
        };
        machine.prepare_warps();
        machine
    }

    /// Sets up what is the same in all blocks: lane masks, constants, thread positions.
    fn prepare_warps(&mut self) {
        let program = self.launch.program;
        let kernel = &program.functions[0];
        let local = LANES * program.local_stride as usize;
        for index in 0..self.warps.len() {
            let warp = &mut self.warps[index];
            warp.reset(FULL, kernel);
            if local > 0 {
                warp.local = vec![Line::splat(0); local.div_ceil(size_of::<Line<u32>>())];
            }
            self.select(index);
            self.mask = FULL;
            self.enter_window(0);
            // SAFETY: `reset` made the window of the first frame for the kernel.
            unsafe { special::fill_constants(self, kernel) };
        }
    }

    /// Makes a warp the current one.
    pub(crate) fn select(&mut self, warp: usize) {
        self.warp = warp;
        self.local = self.warps[warp].local.as_mut_ptr().cast();
        self.frame = NONE;
    }

    /// Prepares to run the block numbered `block`.
    pub(crate) fn start_block(&mut self, block: u64) {
        let threads = self.launch.block.volume() as u32;
        self.block = block;
        self.live_threads = threads;
        self.barriers.reset(self.warps.len());
        let kernel = &self.launch.program.functions[0];
        for index in 0..self.warps.len() {
            let lanes = (threads - (index * LANES) as u32).min(LANES as u32);
            self.warps[index].reset(FULL >> (LANES as u32 - lanes), kernel);
            self.select(index);
            self.mask = FULL;
            self.enter_window(0);
            // SAFETY: `reset` made the window of the first frame for the kernel.
            unsafe { special::fill_block(self, kernel) };
        }
        if let Some(instruments) = &mut self.instruments {
            instruments.block_started(block, threads, self.shared.bytes);
        }
    }

    /// Runs the block to its end, or until it seems to wait for other blocks.
    pub(crate) fn run_block(&mut self) -> Result<Progress, Fault> {
        self.run_warps().map_err(|trap| self.fault(&trap))
    }

    fn run_warps(&mut self) -> Result<Progress, Trap> {
        let polls = self.polls;
        for round in 1u64.. {
            let mut ran = false;
            for index in 0..self.warps.len() {
                if !self.warps[index].ready.is_empty() {
                    ran = true;
                    self.run_warp(index)?;
                }
            }
            if self.live_threads == 0 {
                return Ok(Progress::Ended);
            }
            if round > ROUNDS && self.polls > polls {
                self.check_spinning()?;
                return Ok(Progress::Waits);
            }
            self.check_limits()?;
            if !ran && !self.release_all_joins() {
                return Err(self.deadlock(Vec::new()));
            }
        }
        Ok(Progress::Waits)
    }

    /// Lets lanes that wait at a join continue without the missing ones, in all warps. Returns
    /// whether any lanes were waiting.
    pub(super) fn release_all_joins(&mut self) -> bool {
        let mut released = false;
        for index in 0..self.warps.len() {
            self.select(index);
            released |= self.release_joins();
        }
        released
    }

    /// Runs a warp's splits until none is ready or the warp's turn is over.
    fn run_warp(&mut self, index: usize) -> Result<(), Trap> {
        self.select(index);
        self.fuel = TURN;
        while let Some(split) = self.warps[index].ready.pop_front() {
            self.resume(split);
            // SAFETY: `resume` made the split the current one. It belongs to the program that this
            // machine runs, whose code `Launch` linked for this processor.
            match unsafe { self.run_split() } {
                Flow::Next | Flow::Switch => {}
                Flow::Yield => break,
                Flow::Fault => return Err(self.take_trap()),
            }
        }
        Ok(())
    }

    pub(crate) fn take_trap(&mut self) -> Trap {
        self.trap.take().unwrap_or_else(|| Trap::whole(FaultKind::Trap, "for no known reason"))
    }

    /// Runs the current split until the flow is something other than [`Flow::Next`].
    ///
    /// # Safety
    /// The program counter and the window are those of a split of the launch's program.
    unsafe fn run_split(&mut self) -> Flow {
        if self.instruments.is_some() {
            // SAFETY: the caller upholds the contract, which is the same.
            return unsafe { self.run_split_instrumented() };
        }
        let code = self.launch.code;
        let mut executed = 0u64;
        loop {
            // SAFETY: each function's code ends in `ret`, which `code::select::leave` puts there,
            // and jumps and calls lead to instructions of the program, so the counter stays in
            // bounds.
            let instruction = unsafe { code.get_unchecked(self.pc as usize) };
            self.pc += 1;
            executed += 1;
            // SAFETY: `Program::linked` made the instruction for this processor, and the window is
            // that of its function.
            let flow = unsafe { (instruction.run)(self, instruction) };
            if flow != Flow::Next {
                self.instructions += executed;
                return flow;
            }
        }
    }

    /// Runs the current split like [`Machine::run_split`], and reports each instruction to the
    /// instruments.
    ///
    /// # Safety
    /// As for [`Machine::run_split`].
    #[cold]
    unsafe fn run_split_instrumented(&mut self) -> Flow {
        loop {
            // SAFETY: the current split is the caller's, or the one that its last instruction
            // continued with.
            let flow = unsafe { self.step() };
            if flow != Flow::Next {
                return flow;
            }
        }
    }

    /// Runs one instruction of the current split, and reports it.
    ///
    /// # Safety
    /// As for [`Machine::run_split`].
    pub(super) unsafe fn step(&mut self) -> Flow {
        let (pc, warp, mask) = (self.pc, self.warp, self.mask);
        // SAFETY: each function's code ends in `ret`, which `code::select::leave` puts there, and
        // jumps and calls lead to instructions of the program, so the counter stays in bounds.
        let instruction = unsafe { self.launch.code.get_unchecked(pc as usize) };
        self.pc += 1;
        self.instructions += 1;
        // SAFETY: `Program::linked` made the instruction for this processor, and the window is that
        // of its function.
        let flow = unsafe { (instruction.run)(self, instruction) };
        let diverged = flow == Flow::Next && self.mask != mask && self.mask & !mask == 0;
        if let Some(instruments) = &mut self.instruments
            && let Err(trap) = instruments.instruction(pc, warp, mask, diverged, &self.table)
        {
            return self.fail(trap);
        }
        flow
    }

    fn check_limits(&mut self) -> Result<(), Trap> {
        self.launch.check_time()?;
        if let Some(limit) = self.launch.instruction_limit
            && self.launch.count_instructions(std::mem::take(&mut self.instructions)) > limit
        {
            return Err(Trap::whole(FaultKind::InstructionLimit, format!("{limit} warp instructions")));
        }
        Ok(())
    }

    /// Returns the report of a block whose remaining threads all wait. `lines` describe the threads
    /// that poll memory barriers.
    pub(super) fn deadlock(&self, mut lines: Vec<String>) -> Trap {
        let program = self.launch.program;
        for (name, warp, split) in self.barriers.parked_splits() {
            let place = program.place(split.pc.saturating_sub(1));
            lines.push(format!("{} at {name}, {place}", describe_lanes(warp, split.mask)));
        }
        for (index, warp) in self.warps.iter().enumerate() {
            for waiting in &warp.sync_waits {
                let missing = waiting.members & warp.live() & !waiting.split.mask;
                let place = program.place(waiting.split.pc);
                let (lanes, missing) =
                    (describe_lanes(index, waiting.split.mask), describe_lanes(index, missing));
                lines.push(format!("{lanes} for {missing}, {place}"));
            }
        }
        const SHOWN: usize = 8;
        let more = lines.len().saturating_sub(SHOWN);
        lines.truncate(SHOWN);
        if more > 0 {
            lines.push(format!("and {more} more"));
        }
        let detail = format!("{} threads are left, all waiting: {}", self.live_threads, lines.join("; "));
        Trap::whole(FaultKind::BarrierDeadlock, detail)
    }

    /// Returns the fault with everything known about where it happened.
    pub(super) fn fault(&self, trap: &Trap) -> Fault {
        let mut fault = Fault::new(trap.kind.clone(), &self.launch.program.name, trap.detail.clone());
        fault.address = trap.address;
        fault.nearest.clone_from(&trap.nearest);
        fault.block = Some(self.launch.grid.position(self.block));
        if let Some(lane) = trap.lane {
            fault.thread = Some(self.launch.block.position(self.thread(lane)));
            fault.place = Some(self.launch.program.place(self.pc.saturating_sub(1)));
        }
        fault
    }
}
