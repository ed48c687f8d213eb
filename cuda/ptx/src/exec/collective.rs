//! Instructions in which lanes of a warp see each other's values: shuffles, votes, matches,
//! reductions.
//!
//! A `.sync` instruction names its member lanes. If all of them are active, it executes at once:
//! each lane *publishes* its value, then each takes its result. Otherwise the split waits until the
//! missing lanes reach a `.sync` instruction, the same one or another on a different path. Then all
//! members publish, and all take their results.

#![expect(unsafe_code, reason = "instructions read and write registers")]

use super::lanes::{LANES, Line, Slot, lanes};
use super::machine::{Flow, Machine, Phase};
use super::program::Inst;
use super::slots::{List, Pred, Reg};
use super::warp::{Split, SyncWait};
use crate::arith::single::{self, Extremum};

/// A flag in `d`: the instruction is a `.sync` one, with its member lanes in register `c`.
pub(crate) const SYNC: u32 = 1;
/// A flag in `d`: the predicate operand is negated.
pub(crate) const NEGATED: u32 = 2;

impl Machine<'_> {
    /// Returns, for each lane, the mask of the member lanes: the value of the register if `flags`
    /// has [`SYNC`], else the active lanes.
    ///
    /// # Safety
    /// The register is one of the current window.
    unsafe fn members(&self, flags: u32, register: Reg<u32>) -> Line<u32> {
        if flags & SYNC == 0 {
            return Line::splat(self.mask);
        }
        // SAFETY: the caller promises that the register is one of the current window.
        unsafe { self.read(register) }
    }

    /// Returns whether the instruction can execute now. If not, parks the split until the missing
    /// lanes arrive.
    fn try_gather(&mut self, members: &Line<u32>) -> bool {
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
        self.current().sync_waits.push(SyncWait { split, members: needed });
        self.retry_sync_waits();
        false
    }

    /// Completes every group of waiting splits whose members are all waiting.
    pub(crate) fn retry_sync_waits(&mut self) {
        let mut start = 0;
        while start < self.current().sync_waits.len() {
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

    /// Removes and returns the splits that wait together with the one at `start`, or returns `None`
    /// if a member is missing.
    fn group_of(&mut self, start: usize) -> Option<Vec<Split>> {
        let warp = self.current();
        let live = warp.live();
        let first = warp.sync_waits[start];
        let (mut here, mut needed) = (first.split.mask, first.members & live);
        loop {
            let before = here;
            for other in &warp.sync_waits {
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
        warp.sync_waits.retain(|other| {
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
            // All wait at one instruction. `wake` merges them into one split, which executes it
            // when it runs.
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
                // SAFETY: the instruction belongs to the running program, and `resume` made the
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

    /// Publishes values of the active lanes to the other members.
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
    if m.try_gather(&members) { Flow::Next } else { Flow::Switch }
}

type Shuffle = Inst<Reg<u32>, Reg<u32>, Reg<u32>, List<u32>, u32, Pred>;

/// `shfl`: `a` is the value, `b` the lane or distance, `site` the predicate, `imm` the mode. The
/// list `c` holds the clamp and the member lanes.
pub(crate) unsafe fn shuffle(m: &mut Machine<'_>, i: &Shuffle) -> Flow {
    let &[clamp, members] = m.launch.program.lists.get(i.c) else { return Flow::Next };
    // SAFETY: registers are those of the current window, see `Handler`.
    unsafe {
        let members = m.members(i.d, members);
        if !m.try_gather(&members) {
            return Flow::Switch;
        }
        if m.phase != Phase::Finish {
            let value = m.read(i.a);
            m.publish(|lane| value.0[lane].into(), 0);
        }
        if m.phase == Phase::Publish {
            return Flow::Next;
        }
        let (b, clamp) = (m.read(i.b), m.read(clamp));
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
            // PTX leaves the value of a lane that does not take part undefined. GPUs give zero, and
            // programs rely on it: they sum over the first lanes of a warp without a bound.
            if from >> target & 1 != 0 { source.0[target] as u32 } else { 0 }
        });
        m.write(i.dst, &result);
        m.write_predicate(i.site, valid);
    }
    Flow::Next
}

/// Returns the members of a `vote` and the ballot, by lane. Returns an error with the flow to take
/// if lanes have to wait or only the publishing half runs.
///
/// # Safety
/// The instruction's registers are of the current window.
unsafe fn votes<Dst>(
    m: &mut Machine<'_>,
    i: &Inst<Dst, Pred, u32, Reg<u32>>,
) -> Result<(Line<u32>, Line<u32>), Flow> {
    // SAFETY: the caller promises that the instruction's registers are of the current window.
    let (members, value) = unsafe { (m.members(i.d, i.c), m.predicate(i.a)) };
    if !m.try_gather(&members) {
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
        if !m.try_gather(&members) {
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

/// The operation of a `redux`. Instructions encode it as a number.
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

/// A flag beside a floating-point [`Reduction`]: it reduces magnitudes.
pub(crate) const MAGNITUDES: u64 = 1 << 8;
/// A flag beside a floating-point [`Reduction`]: the result is NaN if any element is.
pub(crate) const PROPAGATE_NAN: u64 = 1 << 9;

/// Returns the minimum or maximum of two `f32`, according to the flags in `imm`. Called with the
/// same number twice, it brings that number into the form of a result: without sign for magnitudes,
/// NaN as the canonical NaN.
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
        if !m.try_gather(&members) {
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
        // A floating-point element may have to change even if it is the only one. Combining it with
        // itself does that.
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

/// `elect.sync`: `dst` is the lowest member lane; `site` is the predicate that tells whether it is
/// this lane.
pub(crate) unsafe fn elect(m: &mut Machine<'_>, i: &Inst<Reg<u32>, u32, u32, Reg<u32>, u32, Pred>) -> Flow {
    // SAFETY: registers are those of the current window, see `Handler`.
    unsafe {
        let members = m.members(i.d, i.c);
        if !m.try_gather(&members) {
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

/// Returns whether all lanes of the warp that have not exited are active, for instructions that
/// need the whole warp. If not, parks the split until the others arrive.
pub(crate) fn try_gather_warp(m: &mut Machine<'_>) -> bool {
    m.try_gather(&Line::splat(u32::MAX))
}
