//! A warp: how its lanes part at branches and meet again.
//!
//! Lanes at one program counter with one call stack are a *split* and run together. A branch that
//! not all lanes take makes two splits and a [`Join`] at the branch's immediate post-dominator,
//! where they wait for each other and become one again. A call makes a join too: its lanes go on
//! behind the call together.
//!
//! No lane waits at a join for ever, as programs may rely on each thread making progress: when
//! nothing else can run, or one split has been running for long, waiting lanes are let go on their
//! own ([`Machine::release_joins`]). They still meet the others at the joins further out.

#![expect(unsafe_code, reason = "the register window moves with calls")]

use std::collections::VecDeque;

use super::fault::{FaultKind, Trap};
use super::lanes::{Line, lanes};
use super::machine::{Flow, Machine};
use super::program::{CallSite, FunctionCode};

/// No join, no frame.
pub(crate) const NONE: u32 = u32::MAX;
/// The program counter of a join at the end of a call.
const RETURN: u32 = u32::MAX;
/// Calls a split may be deep in.
const MAX_DEPTH: u32 = 8192;
/// Bytes of registers of a warp at most, over all frames.
const MAX_REGISTER_BYTES: usize = 1 << 28;

/// Lanes that run together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Split {
    pub(crate) pc: u32,
    pub(crate) mask: u32,
    pub(crate) join: u32,
    pub(crate) frame: u32,
}

/// A place where splits wait for each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Join {
    pc: u32,
    frame: u32,
    /// The lanes that have to arrive.
    expected: u32,
    arrived: u32,
    /// The join around this one.
    parent: u32,
}

/// A call in progress, or the kernel itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// The register window: bytes into the warp's registers.
    pub(crate) window: usize,
    /// The end of the window.
    end: usize,
    /// Where the frame's local memory begins, and where that of a callee may.
    pub(crate) local_base: u32,
    pub(crate) local_top: u32,
    pub(crate) caller: u32,
    depth: u32,
    return_pc: u32,
    /// The call that made it: index into the program's call sites.
    site: u32,
    pub(crate) function: u32,
    live: bool,
}

/// Lanes that wait for others of their warp in a `.sync` instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Syncing {
    /// At the instruction itself.
    pub(crate) split: Split,
    /// The lanes it waits for.
    pub(crate) members: u32,
}

/// One warp of a block.
pub(crate) struct Warp {
    /// The lanes there are: fewer than all in a block's last warp.
    pub(crate) lanes: u32,
    pub(crate) exited: u32,
    /// Splits that can run.
    pub(crate) ready: VecDeque<Split>,
    pub(crate) syncing: Vec<Syncing>,
    joins: Vec<Join>,
    free_joins: Vec<u32>,
    pub(crate) frames: Vec<Frame>,
    storage: Vec<Line<u32>>,
    pub(crate) local: Vec<Line<u32>>,
    /// Turns that ended for lack of fuel since lanes were last let go from joins.
    turns: u32,
}

impl Warp {
    pub(crate) fn new() -> Warp {
        Warp {
            lanes: 0,
            exited: 0,
            ready: VecDeque::new(),
            syncing: Vec::new(),
            joins: Vec::new(),
            free_joins: Vec::new(),
            frames: Vec::new(),
            storage: Vec::new(),
            local: Vec::new(),
            turns: 0,
        }
    }

    /// Back to the start of a kernel whose code is `kernel`.
    pub(crate) fn reset(&mut self, mask: u32, kernel: &FunctionCode) {
        self.lanes = mask;
        self.exited = 0;
        self.turns = 0;
        self.ready.clear();
        self.syncing.clear();
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

    /// Makes a split able to run; it becomes one with another at the same place.
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

    /// Returns where a split goes on when all of `index`'s lanes have arrived. Ends the call if the
    /// join was its end.
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
    /// Returns the split that runs, at the instruction `back` before the program counter.
    #[inline(always)]
    pub(crate) fn split(&self, back: u32) -> Split {
        Split { pc: self.pc - back, mask: self.mask, join: self.join, frame: self.frame }
    }

    /// Makes `split` the one that runs.
    #[inline(always)]
    pub(crate) fn resume(&mut self, split: Split) {
        self.pc = split.pc;
        self.mask = split.mask;
        self.join = split.join;
        if self.frame != split.frame {
            self.enter_window(split.frame);
        }
    }

    /// Points at the registers of a frame of the current warp.
    pub(crate) fn enter_window(&mut self, frame: u32) {
        self.frame = frame;
        let warp = &mut self.warps[self.warp];
        let window = warp.frames[frame as usize].window;
        self.registers = warp.registers().wrapping_add(window);
    }

    /// Returns a branch that `taken` of the active lanes take to `target`, meeting the others at
    /// `meet`.
    #[inline(never)]
    pub(crate) fn diverge(&mut self, taken: u32, target: u32, meet: u32) -> Flow {
        let (mask, next) = (self.mask, self.pc);
        self.part(meet);
        let paths = [(taken, target), (mask & !taken, next)];
        self.take_paths(&paths, meet)
    }

    /// Makes `meet` the join of the split that runs, unless it is already, or there is none.
    pub(crate) fn part(&mut self, meet: u32) {
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

    /// Splits the lanes over `paths`; those whose path begins at the join have arrived. Goes on
    /// with the first of the others.
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

    /// Records that active lanes have reached the join of their split: `lanes` more of it are
    /// there.
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

    /// Returns a place where lanes may have to wait for others.
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

    /// Returns the active lanes end. `back` lanes of the split go on, if any.
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
        self.retry_syncing();
        Flow::Switch
    }

    /// The lanes of the split's innermost join may all have arrived, now that the split's are gone.
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

    /// Lets the current warp's waiting lanes go on without those they wait for. Gives whether there
    /// were any.
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
            let at = &mut warp.joins[index as usize];
            at.expected &= !join.arrived;
            at.arrived = 0;
            let done = at.expected == 0;
            let split = warp.leave(index, join.arrived);
            if done {
                warp.drop_join(index);
            }
            warp.wake(split);
        }
        released
    }

    /// Ends the turn of the split: others go on, and lanes that wait for it may have to go on for
    /// it to end.
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

    /// An instruction that programs wait with: an atomic, a volatile read, a look at a barrier.
    /// Many of them are a turn.
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
        self.pass(caller.local_base, &site.arguments, local_base, &code.parameters);
        self.enter_window(frame);
        self.pc = code.start;
        Flow::Next
    }

    /// Copies the values of a call between the local memory of two frames.
    fn pass(&mut self, from: u32, sources: &[(u32, u32)], to: u32, targets: &[(u32, u32)]) {
        for (&(source, source_bytes), &(target, target_bytes)) in sources.iter().zip(targets) {
            let bytes = source_bytes.min(target_bytes) as usize;
            for lane in lanes(self.mask) {
                // SAFETY: the places lie inside the two frames, where `FrameLayout` put them, and
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

    /// Copies what a call returns, for the lanes at its end.
    fn return_values(&mut self, join: u32) {
        let program = self.launch.program;
        let warp = self.current();
        let join = warp.joins[join as usize];
        let frame = warp.frames[join.frame as usize];
        let caller = warp.frames[frame.caller as usize];
        let site: &CallSite = &program.call_sites[frame.site as usize];
        let code = &program.functions[frame.function as usize];
        let mask = std::mem::replace(&mut self.mask, join.arrived);
        self.pass(frame.local_base, &code.returns, caller.local_base, &site.results);
        self.mask = mask;
    }

    pub(crate) fn current_frame(&self) -> Frame {
        self.warps[self.warp].frames[self.frame as usize]
    }

    /// Returns whether all lanes of the current frame that there still are run together.
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
