//! A warp: how its lanes diverge at branches and reconverge.
//!
//! Lanes at the same program counter with the same call stack are a *split* and run together. A
//! divergent branch makes two splits and a [`Join`] at the branch's immediate post-dominator. Each
//! split waits at the join until the other arrives, and then they run as one split again. A call
//! creates a join too, so that its lanes continue together after the call.
//!
//! PTX guarantees progress for each thread, so lanes never wait at a join forever. When nothing
//! else can run, or when one split has run for many turns, [`Machine::release_joins`] lets the
//! waiting lanes continue without the others. They still reconverge at the enclosing joins.

#![expect(unsafe_code, reason = "the register window moves with calls")]

use std::collections::VecDeque;

use super::fault::{FaultKind, Trap};
use super::lanes::{Line, lanes};
use super::machine::{Flow, Machine};
use super::program::{CallSite, FunctionCode};

/// Stands for "no join" and "no frame".
pub(crate) const NONE: u32 = u32::MAX;
/// The program counter of the join at the end of a call.
const RETURN: u32 = u32::MAX;
/// The greatest depth of calls.
const MAX_DEPTH: u32 = 8192;
/// The greatest size of a warp's registers, over all frames.
const MAX_REGISTER_BYTES: usize = 1 << 28;

/// Lanes that run together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Split {
    pub(crate) pc: u32,
    pub(crate) mask: u32,
    pub(crate) join: u32,
    pub(crate) frame: u32,
}

/// A point where splits wait for each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Join {
    pc: u32,
    frame: u32,
    /// The lanes that must arrive.
    expected: u32,
    arrived: u32,
    /// The enclosing join.
    parent: u32,
}

/// A call in progress, or the kernel itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// The offset of the register window in the warp's registers, in bytes.
    pub(crate) window: usize,
    /// The end of the window, in bytes.
    end: usize,
    /// Where the frame's local memory begins, and where that of a callee may begin.
    pub(crate) local_base: u32,
    pub(crate) local_top: u32,
    pub(crate) caller: u32,
    depth: u32,
    return_pc: u32,
    /// The call that created the frame: an index into the program's call sites.
    site: u32,
    pub(crate) function: u32,
    live: bool,
}

/// Lanes that wait in a `.sync` instruction for other lanes of their warp.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SyncWait {
    /// The split, with its program counter at the instruction itself.
    pub(crate) split: Split,
    /// The lanes that the instruction waits for.
    pub(crate) members: u32,
}

/// One warp of a block.
pub(crate) struct Warp {
    /// The lanes that exist: fewer than 32 in the last warp of some blocks.
    pub(crate) lanes: u32,
    pub(crate) exited: u32,
    /// Splits that can run.
    pub(crate) ready: VecDeque<Split>,
    pub(crate) sync_waits: Vec<SyncWait>,
    joins: Vec<Join>,
    free_joins: Vec<u32>,
    pub(crate) frames: Vec<Frame>,
    storage: Vec<Line<u32>>,
    pub(crate) local: Vec<Line<u32>>,
    /// Turns that ended for lack of fuel since joins were last released.
    turns: u32,
}

impl Warp {
    pub(crate) fn new() -> Warp {
        Warp {
            lanes: 0,
            exited: 0,
            ready: VecDeque::new(),
            sync_waits: Vec::new(),
            joins: Vec::new(),
            free_joins: Vec::new(),
            frames: Vec::new(),
            storage: Vec::new(),
            local: Vec::new(),
            turns: 0,
        }
    }

    /// Resets the warp to the start of the kernel.
    pub(crate) fn reset(&mut self, mask: u32, kernel: &FunctionCode) {
        self.lanes = mask;
        self.exited = 0;
        self.turns = 0;
        self.ready.clear();
        self.sync_waits.clear();
        self.joins.clear();
        self.free_joins.clear();
        self.frames.clear();
        let end = kernel.window_bytes as usize;
        self.reserve_registers(end);
        self.frames.push(Frame {
            window: 0,
            end,
            local_base: 0,
            local_top: kernel.local_bytes,
            caller: NONE,
            depth: 0,
            return_pc: 0,
            site: 0,
            function: kernel.index,
            live: true,
        });
        self.ready.push_back(Split { pc: kernel.start, mask, join: NONE, frame: 0 });
    }

    fn reserve_registers(&mut self, bytes: usize) {
        let lines = bytes.div_ceil(size_of::<Line<u32>>());
        if self.storage.len() < lines {
            self.storage.resize(lines, Line::splat(0));
        }
    }

    /// Returns the lanes that have not exited.
    pub(crate) fn live(&self) -> u32 {
        self.lanes & !self.exited
    }

    pub(crate) fn registers(&mut self) -> *mut u8 {
        self.storage.as_mut_ptr().cast()
    }

    /// Makes a split ready to run. Merges it with a ready split at the same place.
    pub(crate) fn wake(&mut self, split: Split) {
        let same = |s: &&mut Split| (s.pc, s.join, s.frame) == (split.pc, split.join, split.frame);
        match self.ready.iter_mut().find(same) {
            Some(other) => other.mask |= split.mask,
            None => self.ready.push_back(split),
        }
    }

    fn add_join(&mut self, join: Join) -> u32 {
        if let Some(free) = self.free_joins.pop() {
            self.joins[free as usize] = join;
            return free;
        }
        self.joins.push(join);
        self.joins.len() as u32 - 1
    }

    /// Returns the split that continues after join `index`. A join at the end of a call leads back
    /// to the caller.
    fn leave(&mut self, index: u32, mask: u32) -> Split {
        let join = self.joins[index as usize];
        if join.pc != RETURN {
            return Split { pc: join.pc + 1, mask, join: join.parent, frame: join.frame };
        }
        let frame = self.frames[join.frame as usize];
        Split { pc: frame.return_pc, mask, join: join.parent, frame: frame.caller }
    }

    fn drop_join(&mut self, index: u32) {
        let join = self.joins[index as usize];
        self.joins[index as usize].expected = 0;
        self.joins[index as usize].arrived = 0;
        self.free_joins.push(index);
        if join.pc == RETURN {
            self.frames[join.frame as usize].live = false;
            while self.frames.last().is_some_and(|frame| !frame.live) {
                self.frames.pop();
            }
        }
    }
}

impl Machine<'_> {
    /// Returns the running split, with its program counter moved back by `rewind` instructions.
    #[inline(always)]
    pub(crate) fn split(&self, rewind: u32) -> Split {
        Split { pc: self.pc - rewind, mask: self.mask, join: self.join, frame: self.frame }
    }

    /// Makes `split` the running one.
    #[inline(always)]
    pub(crate) fn resume(&mut self, split: Split) {
        self.pc = split.pc;
        self.mask = split.mask;
        self.join = split.join;
        if self.frame != split.frame {
            self.enter_window(split.frame);
        }
    }

    /// Makes the register window of a frame of the current warp the current one.
    pub(crate) fn enter_window(&mut self, frame: u32) {
        self.frame = frame;
        let warp = &mut self.warps[self.warp];
        let window = warp.frames[frame as usize].window;
        self.registers = warp.registers().wrapping_add(window);
    }

    /// Takes a branch to `target` with the `taken` lanes. They meet the other active lanes at
    /// `meet`.
    #[inline(never)]
    pub(crate) fn diverge(&mut self, taken: u32, target: u32, meet: u32) -> Flow {
        let (mask, next) = (self.mask, self.pc);
        self.enter_join(meet);
        let paths = [(taken, target), (mask & !taken, next)];
        self.take_paths(&paths, meet)
    }

    /// Makes `meet` the join of the running split, unless it already is or the lanes never meet.
    pub(crate) fn enter_join(&mut self, meet: u32) {
        if meet == NONE {
            return;
        }
        let (frame, expected, parent) = (self.frame, self.mask, self.join);
        let warp = self.current();
        let same = |join: &Join| join.pc == meet && join.frame == frame;
        if parent == NONE || !same(&warp.joins[parent as usize]) {
            self.join = warp.add_join(Join { pc: meet, frame, expected, arrived: 0, parent });
        }
    }

    /// Splits the lanes over `paths` and continues with the first path. Lanes whose path starts at
    /// the join have already arrived.
    pub(crate) fn take_paths(&mut self, paths: &[(u32, u32)], meet: u32) -> Flow {
        let (join, frame) = (self.join, self.frame);
        let mut first = None;
        for &(mask, pc) in paths.iter().filter(|(mask, _)| *mask != 0) {
            if pc == meet {
                self.current().joins[join as usize].arrived |= mask;
            } else if first.is_none() {
                first = Some((mask, pc));
            } else {
                self.current().ready.push_back(Split { pc, mask, join, frame });
            }
        }
        match first {
            Some((mask, pc)) => {
                self.mask = mask;
                self.pc = pc;
                Flow::Next
            }
            None => self.arrive(0),
        }
    }

    /// Adds `lanes` to those that have arrived at the join of the running split. Continues after
    /// the join if they were the last ones, and switches to another split otherwise.
    pub(crate) fn arrive(&mut self, lanes: u32) -> Flow {
        let index = self.join;
        let warp = self.current();
        warp.joins[index as usize].arrived |= lanes;
        let join = warp.joins[index as usize];
        if join.arrived != join.expected {
            return Flow::Switch;
        }
        let split = warp.leave(index, join.arrived);
        let ends_call = join.pc == RETURN;
        if ends_call {
            self.return_values(index);
        }
        self.current().drop_join(index);
        self.resume(split);
        Flow::Next
    }

    /// Arrives at all joins that are at the current instruction, innermost first.
    #[inline(always)]
    pub(crate) fn meet(&mut self) -> Flow {
        while self.join != NONE {
            let here = self.pc - 1;
            let (join, frame) = (self.join as usize, self.frame);
            let at = &self.warps[self.warp].joins[join];
            if at.pc != here || at.frame != frame {
                break;
            }
            let flow = self.arrive(self.mask);
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }

    /// Ends the active lanes. Joins and barriers that waited only for them complete.
    pub(crate) fn exit(&mut self) -> Flow {
        let gone = self.mask;
        self.live_threads -= gone.count_ones();
        let mut index = self.join;
        let warp = &mut self.warps[self.warp];
        warp.exited |= gone;
        while index != NONE {
            let join = &mut warp.joins[index as usize];
            join.expected &= !gone;
            index = join.parent;
        }
        self.complete_joins();
        self.barriers_after_exit();
        self.retry_sync_waits();
        Flow::Switch
    }

    /// Completes the innermost joins that waited only for lanes that have just exited.
    fn complete_joins(&mut self) {
        while self.join != NONE {
            let index = self.join;
            let warp = self.current();
            let join = warp.joins[index as usize];
            if join.arrived != join.expected {
                return;
            }
            let split = warp.leave(index, join.arrived);
            if join.arrived != 0 {
                if join.pc == RETURN {
                    self.return_values(index);
                }
                let warp = self.current();
                warp.drop_join(index);
                warp.wake(split);
                return;
            }
            warp.drop_join(index);
            self.join = join.parent;
        }
    }

    /// Lets the lanes that wait at joins of the current warp continue without the missing ones.
    /// Returns whether any lanes were waiting.
    pub(crate) fn release_joins(&mut self) -> bool {
        self.current().turns = 0;
        let mut released = false;
        for index in 0..self.current().joins.len() as u32 {
            let join = self.current().joins[index as usize];
            if join.arrived == 0 {
                continue;
            }
            released = true;
            if join.pc == RETURN {
                self.return_values(index);
            }
            let warp = self.current();
            let remaining = &mut warp.joins[index as usize];
            remaining.expected &= !join.arrived;
            remaining.arrived = 0;
            let done = remaining.expected == 0;
            let split = warp.leave(index, join.arrived);
            if done {
                warp.drop_join(index);
            }
            warp.wake(split);
        }
        released
    }

    /// Ends the turn of the running split so that other splits and warps run. After many such turns
    /// it also releases the joins: the split may be waiting for lanes that wait at one.
    pub(crate) fn yield_turn(&mut self) -> Flow {
        const MAX_TURNS: u32 = 64;
        let split = self.split(0);
        self.current().turns += 1;
        if self.current().turns >= MAX_TURNS {
            self.release_joins();
        }
        self.current().wake(split);
        Flow::Yield
    }

    /// Charges fuel for an instruction that programs use in wait loops: an atomic, a volatile read,
    /// a test of a barrier. Executing many of them ends the turn.
    #[inline(always)]
    pub(crate) fn poll(&mut self) {
        self.fuel -= 64;
        self.polls += 1;
        if self.join != NONE {
            self.warps[self.warp].turns += 1;
        }
    }

    /// Calls function `callee` for the active lanes.
    pub(crate) fn call(&mut self, callee: u32, site: u32) -> Flow {
        let program = self.launch.program;
        let code = &program.functions[callee as usize];
        let caller = self.current_frame();
        let local_base = caller.local_top.next_multiple_of(16);
        let local_top = u64::from(local_base) + u64::from(code.local_bytes);
        if caller.depth >= MAX_DEPTH || local_top > self.local_stride {
            let lane = self.first_lane();
            let detail = format!("{} calls deep, {local_top} bytes of local memory", caller.depth + 1);
            return self.fail(Trap::new(FaultKind::StackOverflow, lane, detail));
        }
        let (mask, parent, return_pc, caller_frame) = (self.mask, self.join, self.pc, self.frame);
        let warp = &mut self.warps[self.warp];
        let window = warp.frames.iter().map(|frame| frame.end).max().unwrap_or(0);
        let end = window + code.window_bytes as usize;
        if end > MAX_REGISTER_BYTES {
            let lane = self.first_lane();
            return self.fail(Trap::new(FaultKind::StackOverflow, lane, "no registers are left"));
        }
        warp.reserve_registers(end);
        let frame = warp.frames.len() as u32;
        warp.frames.push(Frame {
            window,
            end,
            local_base,
            local_top: local_top as u32,
            caller: caller_frame,
            depth: caller.depth + 1,
            return_pc,
            site,
            function: callee,
            live: true,
        });
        self.join = warp.add_join(Join { pc: RETURN, frame, expected: mask, arrived: 0, parent });
        let site = &program.call_sites[site as usize];
        self.copy_values(caller.local_base, &site.arguments, local_base, &code.parameters);
        self.enter_window(frame);
        self.pc = code.start;
        Flow::Next
    }

    /// Copies arguments or results between the local memory of two frames.
    fn copy_values(&mut self, from: u32, sources: &[(u32, u32)], to: u32, targets: &[(u32, u32)]) {
        for (&(source, source_bytes), &(target, target_bytes)) in sources.iter().zip(targets) {
            let bytes = source_bytes.min(target_bytes) as usize;
            for lane in lanes(self.mask) {
                // SAFETY: the ranges lie inside the two frames, where `FrameLayout` put them, and
                // `call` checked that each frame lies inside the lane's local memory. The frames do
                // not overlap.
                unsafe {
                    let memory = self.local.add(lane * self.local_stride as usize);
                    let source = memory.add((from + source) as usize);
                    source.copy_to(memory.add((to + target) as usize), bytes);
                }
            }
        }
    }

    /// Copies the results of a call to its caller, for the lanes that have arrived at its end.
    fn return_values(&mut self, join: u32) {
        let program = self.launch.program;
        let warp = self.current();
        let join = warp.joins[join as usize];
        let frame = warp.frames[join.frame as usize];
        let caller = warp.frames[frame.caller as usize];
        let site: &CallSite = &program.call_sites[frame.site as usize];
        let code = &program.functions[frame.function as usize];
        let mask = std::mem::replace(&mut self.mask, join.arrived);
        self.copy_values(frame.local_base, &code.returns, caller.local_base, &site.results);
        self.mask = mask;
    }

    pub(crate) fn current_frame(&self) -> Frame {
        self.warps[self.warp].frames[self.frame as usize]
    }

    /// Returns whether the running split has all lanes of its frame that have not exited.
    pub(crate) fn is_whole_frame(&self) -> bool {
        let warp = &self.warps[self.warp];
        let mut index = self.join;
        while index != NONE {
            let join = &warp.joins[index as usize];
            if join.pc == RETURN && join.frame == self.frame {
                return join.expected == self.mask;
            }
            index = join.parent;
        }
        warp.live() == self.mask
    }
}
