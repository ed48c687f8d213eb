//! Instructions in which lanes of a warp see each other's values: shuffles, votes, matches,
//! reductions.
//!
//! A `.sync` instruction names the lanes that take part. When all are here, it takes place at once:
//! each lane *publishes* its value, then each takes its result. Otherwise the split waits until the
//! missing lanes have come to a `.sync` instruction of their own, be it this one or another on a
//! different path; then all publish, and all take their results.

#![expect(unsafe_code, reason = "instructions read and write registers")]

use super::lanes::{LANES, Line, Slot, lanes};
use super::machine::{Flow, Machine, Phase};
use super::program::Inst;
use super::slots::{List, Pred, Reg};
use super::warp::{Split, Syncing};
use crate::arith::single::{self, Extremum};

/// In `d`: the instruction is a `.sync` one, with the lanes that take part in register `c`.
pub(crate) const SYNC: u32 = 1;
/// In `d`: the predicate operand is negated.
pub(crate) const NEGATED: u32 = 2;

impl Machine<'_> {
    /// Returns the lanes that take part, by lane: those in the register, if `flags` has [`SYNC`],
    /// else the active ones.
    ///
    /// # Safety
    /// The register is one of the current window.
    unsafe fn members(&self, flags: u32, register: Reg<u32>) -> Line<u32> {
        if flags & SYNC == 0 {
            return Line::splat(self.mask);
        }
        // SAFETY: the caller's promise is what `read` asks for.
        unsafe { self.read(register) }
    }

    /// Returns whether the instruction can take place now; if not, the split waits.
    fn all_here(&mut self, members: &Line<u32>) -> bool {
        if self.phase != Phase::Whole {
            return true;
        }
        let mask = self.mask;
        if mask == u32::MAX {
            return true;
        }
        let needed = lanes(mask).fold(0, |all, lane| all | members.0[lane]);
        let needed = needed & self.warps[self.warp].live();
        if needed & !mask == 0 {
            return true;
        }
        let split = self.split(1);
        self.current().syncing.push(Syncing { split, members: needed });
        self.retry_syncing();
        false
    }

    /// Lets waiting lanes go on whose partners are all waiting too.
    pub(crate) fn retry_syncing(&mut self) {
        let mut start = 0;
        while start < self.current().syncing.len() {
            let group = self.group_of(start);
            match group {
                Some(group) => {
                    self.complete_group(&group);
                    start = 0;
                }
                None => start += 1,
            }
        }
    }

    /// Returns the splits that wait together with the one at `start`, if none is missing; removed
    /// from those that wait.
    fn group_of(&mut self, start: usize) -> Option<Vec<Split>> {
        let warp = self.current();
        let live = warp.live();
        let first = warp.syncing[start];
        let (mut here, mut needed) = (first.split.mask, first.members & live);
        loop {
            let before = here;
            for other in &warp.syncing {
                if other.split.mask & needed != 0 {
                    here |= other.split.mask;
                    needed |= other.members & live;
                }
            }
            if here == before {
                break;
            }
        }
        if needed & !here != 0 {
            return None;
        }
        let mut group = Vec::new();
        warp.syncing.retain(|other| {
            let inside = other.split.mask & here != 0;
            if inside {
                group.push(other.split);
            }
            !inside
        });
        Some(group)
    }

    fn complete_group(&mut self, group: &[Split]) {
        let place = |split: &Split| (split.pc, split.join, split.frame);
        if group.iter().all(|split| place(split) == place(&group[0])) {
            // One instruction: its lanes are together again, and it takes place as soon as they
            // run.
            for &split in group {
                self.current().wake(split);
            }
            return;
        }
        let saved = (self.split(0), self.phase);
        self.exchange.lanes = 0;
        for phase in [Phase::Publish, Phase::Finish] {
            self.phase = phase;
            for &split in group {
                self.resume(Split { pc: split.pc + 1, ..split });
                let instruction = self.launch.code[split.pc as usize];
                // SAFETY: the instruction is one of the program that runs, and `resume` made the
                // split's window the current one.
                unsafe { (instruction.run)(self, &instruction) };
            }
        }
        for &split in group {
            self.current().wake(Split { pc: split.pc + 1, ..split });
        }
        self.phase = saved.1;
        self.resume(saved.0);
    }

    /// Shows values of the active lanes.
    fn publish(&mut self, values: impl Fn(usize) -> u64, predicates: u32) {
        let mask = self.mask;
        let exchange = &mut self.exchange;
        if self.phase == Phase::Whole {
            exchange.lanes = 0;
        }
        for lane in lanes(mask) {
            exchange.values.0[lane] = values(lane);
        }
        exchange.lanes |= mask;
        exchange.predicates = exchange.predicates & !mask | predicates & mask;
    }
}

/// `bar.warp.sync`.
pub(crate) unsafe fn warp_barrier(m: &mut Machine<'_>, i: &Inst<u32, u32, u32, Reg<u32>>) -> Flow {
    // SAFETY: registers are those of the current window, see `Handler`.
    let members = unsafe { m.members(i.d, i.c) };
    if m.all_here(&members) { Flow::Next } else { Flow::Switch }
}

type Shuffle = Inst<Reg<u32>, Reg<u32>, Reg<u32>, List<u32>, u32, Pred>;

/// `shfl`: `a` is the value, `b` the lane or distance, `site` the predicate, `imm` the mode; the
/// list `c` has the clamp and the lanes that take part.
pub(crate) unsafe fn shuffle(m: &mut Machine<'_>, i: &Shuffle) -> Flow {
    let &[clamp, members] = m.launch.program.lists.get(i.c) else { return Flow::Next };
    // SAFETY: registers are those of the current window, see `Handler`.
    unsafe {
        let members = m.members(i.d, members);
        if !m.all_here(&members) {
            return Flow::Switch;
        }
        if m.phase != Phase::Finish {
            let value = m.read(i.a);
            m.publish(|lane| value.0[lane].into(), 0);
        }
        if m.phase == Phase::Publish {
            return Flow::Next;
        }
        let (b, own, clamp) = (m.read(i.b), m.read(i.a), m.read(clamp));
        let mut valid = 0u32;
        let (source, from) = (&m.exchange.values, m.exchange.lanes);
        let result = Line::from_fn(|lane| {
            let (distance, limit) = (b.0[lane] & 31, clamp.0[lane] & 31);
            let segment = clamp.0[lane] >> 8 & 31;
            let here = lane as u32;
            let (low, high) = (here & segment, here & segment | limit & !segment);
            let (target, inside) = match i.imm {
                0 => (here.wrapping_sub(distance), here as i32 - distance as i32 >= high as i32),
                1 => (here + distance, here + distance <= high),
                2 => (here ^ distance, here ^ distance <= high),
                _ => (low | distance & !segment, low | distance & !segment <= high),
            };
            valid |= u32::from(inside) << lane;
            let target = if inside { target as usize % LANES } else { lane };
            // What a lane that takes no part holds is anybody's guess: the lane keeps its own
            // value.
            if from >> target & 1 != 0 { source.0[target] as u32 } else { own.0[lane] }
        });
        m.write(i.dst, &result);
        m.write_predicate(i.site, valid);
    }
    Flow::Next
}

/// Returns the members of a `vote` and their votes, by lane; none if lanes have to wait, or for the
/// other half of the instruction.
///
/// # Safety
/// The instruction's registers are of the current window.
unsafe fn votes<Dst>(
    m: &mut Machine<'_>,
    i: &Inst<Dst, Pred, u32, Reg<u32>>,
) -> Result<(Line<u32>, Line<u32>), Flow> {
    // SAFETY: the caller's promise is what `members` and `predicate` ask for.
    let (members, value) = unsafe { (m.members(i.d, i.c), m.predicate(i.a)) };
    if !m.all_here(&members) {
        return Err(Flow::Switch);
    }
    if m.phase != Phase::Finish {
        m.publish(|_| 0, if i.d & NEGATED != 0 { !value } else { value });
    }
    if m.phase == Phase::Publish {
        return Err(Flow::Next);
    }
    let (here, votes) = (m.exchange.lanes, m.exchange.predicates);
    Ok((members, Line::from_fn(|lane| votes & here & members.0[lane])))
}

/// `vote.ballot`.
pub(crate) unsafe fn ballot(m: &mut Machine<'_>, i: &Inst<Reg<u32>, Pred, u32, Reg<u32>>) -> Flow {
    // SAFETY: registers are those of the current window, see `Handler`.
    unsafe {
        match votes(m, i) {
            Ok((_, ballot)) => m.write(i.dst, &ballot),
            Err(flow) => return flow,
        }
    }
    Flow::Next
}

/// `vote`: `imm` is 0 for `.all`, 1 for `.any`, 2 for `.uni`.
pub(crate) unsafe fn vote(m: &mut Machine<'_>, i: &Inst<Pred, Pred, u32, Reg<u32>>) -> Flow {
    // SAFETY: registers are those of the current window, see `Handler`.
    let (members, ballot) = match unsafe { votes(m, i) } {
        Ok(votes) => votes,
        Err(flow) => return flow,
    };
    let here = m.exchange.lanes;
    let mut result = 0u32;
    for (lane, &yes) in ballot.0.iter().enumerate() {
        let all = yes == here & members.0[lane];
        let holds = match i.imm {
            0 => all,
            1 => yes != 0,
            _ => all || yes == 0,
        };
        result |= u32::from(holds) << lane;
    }
    // SAFETY: `dst` is a predicate of the current window, see `Handler`.
    unsafe { m.write_predicate(i.dst, result) };
    Flow::Next
}

/// `match`: `imm` is 0 for `.any`, 1 for `.all`; `site` is the predicate.
pub(crate) unsafe fn match_lanes<S: Slot>(
    m: &mut Machine<'_>,
    i: &Inst<Reg<u32>, Reg<S>, u32, Reg<u32>, u32, Pred>,
) -> Flow {
    // SAFETY: registers are those of the current window, see `Handler`.
    unsafe {
        let members = m.members(i.d, i.c);
        if !m.all_here(&members) {
            return Flow::Switch;
        }
        if m.phase != Phase::Finish {
            let value = m.read(i.a);
            m.publish(|lane| value.0[lane].extend(), 0);
        }
        if m.phase == Phase::Publish {
            return Flow::Next;
        }
        let exchange = &m.exchange;
        let equal = Line::from_fn(|lane| {
            let among = members.0[lane] & exchange.lanes;
            let same = |other: &usize| exchange.values.0[*other] == exchange.values.0[lane];
            lanes(among).filter(same).fold(0, |mask, other| mask | 1u32 << other)
        });
        if i.imm == 0 {
            m.write(i.dst, &equal);
            return Flow::Next;
        }
        let mut all = 0u32;
        let result = Line::from_fn(|lane| {
            let holds = equal.0[lane] == members.0[lane] & exchange.lanes;
            all |= u32::from(holds) << lane;
            if holds { equal.0[lane] } else { 0 }
        });
        m.write(i.dst, &result);
        m.write_predicate(i.site, all);
    }
    Flow::Next
}

/// What `redux` computes. Written into instructions as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Reduction {
    Add,
    MinUnsigned,
    MinSigned,
    MaxUnsigned,
    MaxSigned,
    And,
    Or,
    Xor,
    MinFloat,
    MaxFloat,
}

/// Beside a [`Reduction`] of floating-point numbers: of their magnitudes.
pub(crate) const MAGNITUDES: u64 = 1 << 8;
/// Beside a [`Reduction`] of floating-point numbers: a NaN among them is the result.
pub(crate) const PROPAGATE_NAN: u64 = 1 << 9;

/// Returns the lesser or the greater of two `f32`. Of one and the same it is that number as results
/// have it: magnitudes without sign, NaN canonical.
fn extreme_float(imm: u64) -> fn(u32, u32) -> u32 {
    fn of<const MAX: bool, const ABS: bool, const NAN: bool>(a: u32, b: u32) -> u32 {
        let [a, b] = [a, b].map(|x| f32::from_bits(if ABS { x & 0x7fff_ffff } else { x }));
        let modes = Extremum { ftz: false, nan: NAN, xorsign_abs: false };
        if MAX { single::max(a, b, modes) } else { single::min(a, b, modes) }.to_bits()
    }
    let max = imm & 0xff == Reduction::MaxFloat as u64;
    match (max, imm & MAGNITUDES != 0, imm & PROPAGATE_NAN != 0) {
        (false, false, false) => of::<false, false, false>,
        (false, false, true) => of::<false, false, true>,
        (false, true, false) => of::<false, true, false>,
        (false, true, true) => of::<false, true, true>,
        (true, false, false) => of::<true, false, false>,
        (true, false, true) => of::<true, false, true>,
        (true, true, false) => of::<true, true, false>,
        (true, true, true) => of::<true, true, true>,
    }
}

/// `redux`: `imm` is the [`Reduction`].
pub(crate) unsafe fn reduce(m: &mut Machine<'_>, i: &Inst<Reg<u32>, Reg<u32>, u32, Reg<u32>>) -> Flow {
    // SAFETY: registers are those of the current window, see `Handler`.
    unsafe {
        let members = m.members(i.d, i.c);
        if !m.all_here(&members) {
            return Flow::Switch;
        }
        if m.phase != Phase::Finish {
            let value = m.read(i.a);
            m.publish(|lane| value.0[lane].into(), 0);
        }
        if m.phase == Phase::Publish {
            return Flow::Next;
        }
        let combine: fn(u32, u32) -> u32 = match i.imm {
            n if n == Reduction::Add as u64 => |a: u32, b: u32| a.wrapping_add(b),
            n if n == Reduction::MinUnsigned as u64 => |a: u32, b: u32| a.min(b),
            n if n == Reduction::MinSigned as u64 => |a: u32, b: u32| (a as i32).min(b as i32) as u32,
            n if n == Reduction::MaxUnsigned as u64 => |a: u32, b: u32| a.max(b),
            n if n == Reduction::MaxSigned as u64 => |a: u32, b: u32| (a as i32).max(b as i32) as u32,
            n if n == Reduction::And as u64 => |a: u32, b: u32| a & b,
            n if n == Reduction::Or as u64 => |a: u32, b: u32| a | b,
            n if n == Reduction::Xor as u64 => |a: u32, b: u32| a ^ b,
            floats => extreme_float(floats),
        };
        // The first number of floating-point ones may not be a result as it is; with itself it is.
        let first = |a: u32| if i.imm & 0xff >= Reduction::MinFloat as u64 { combine(a, a) } else { a };
        let exchange = &m.exchange;
        let mut known = (0, 0);
        let result = Line::from_fn(|lane| {
            let among = members.0[lane] & exchange.lanes;
            if known.0 != among {
                let mut values = lanes(among).map(|other| exchange.values.0[other] as u32);
                known = (among, values.next().map_or(0, |a| values.fold(first(a), combine)));
            }
            known.1
        });
        m.write(i.dst, &result);
    }
    Flow::Next
}

/// `elect.sync`: the lowest lane that takes part; `site` is the predicate that says whether it is
/// this one.
pub(crate) unsafe fn elect(m: &mut Machine<'_>, i: &Inst<Reg<u32>, u32, u32, Reg<u32>, u32, Pred>) -> Flow {
    // SAFETY: registers are those of the current window, see `Handler`.
    unsafe {
        let members = m.members(i.d, i.c);
        if !m.all_here(&members) {
            return Flow::Switch;
        }
        if m.phase != Phase::Finish {
            m.publish(|_| 0, 0);
        }
        if m.phase == Phase::Publish {
            return Flow::Next;
        }
        let here = m.exchange.lanes;
        let leader = Line::from_fn(|lane| (members.0[lane] & here).trailing_zeros());
        let chosen = (0..LANES).fold(0, |mask, lane| mask | u32::from(leader.0[lane] == lane as u32) << lane);
        m.write(i.dst, &leader);
        m.write_predicate(i.site, chosen);
    }
    Flow::Next
}

/// `activemask`.
pub(crate) unsafe fn active_mask(m: &mut Machine<'_>, i: &Inst<Reg<u32>>) -> Flow {
    let mask = m.mask;
    // SAFETY: `dst` is a register of the current window, see `Handler`.
    unsafe { m.write(i.dst, &Line::splat(mask)) };
    Flow::Next
}

/// Returns whether all lanes of the warp that have not exited are here, for instructions that need
/// the whole warp; if not, the split waits for the others.
pub(crate) fn whole_warp(m: &mut Machine<'_>) -> bool {
    m.all_here(&Line::splat(u32::MAX))
}
