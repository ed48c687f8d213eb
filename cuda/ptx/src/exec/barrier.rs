//! Barriers of a block: `bar`, `barrier`, and `barrier.cluster` for clusters of one block.
//!
//! A barrier counts threads. Splits that wait are parked here until the count is reached. A barrier
//! without a count waits for every thread of the block that has not exited. With a count, a whole
//! warp counts as 32 threads even if the block's last warp has fewer, as on the hardware.

#![expect(unsafe_code, reason = "instructions read registers")]

use super::fault::{FaultKind, Trap};
use super::lanes::{LANES, Line, lanes};
use super::machine::{Flow, Machine};
use super::program::Inst;
use super::slots::{Pred, Reg};
use super::warp::Split;

/// The number of barriers of a block.
pub(crate) const COUNT: usize = 16;
/// The index of the cluster's barrier, after those of the block.
const CLUSTER: usize = COUNT;

/// What threads do at a barrier. Instructions encode it as a number.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Action {
    Sync,
    Arrive,
    Popc,
    And,
    Or,
}

#[derive(Default)]
struct Barrier {
    arrived: u32,
    /// The number of threads that complete the barrier; 0 stands for all.
    expected: u32,
    parked: Vec<(usize, Split)>,
    votes: Votes,
}

/// The numbers of threads whose predicate was true and was false.
#[derive(Clone, Copy, Default)]
struct Votes {
    yes: u32,
    no: u32,
}

/// The barriers of a block.
#[derive(Default)]
pub(crate) struct Barriers {
    all: [Barrier; COUNT + 1],
    /// The votes at the last reduction that each lane passed, by warp and lane; empty before the
    /// first reduction. They are kept here because the barrier may already be in its next phase
    /// when a thread that passed it runs again.
    passed: Vec<[Votes; LANES]>,
    /// The lanes of each warp that have arrived at the cluster's incomplete barrier.
    cluster: Vec<u32>,
}

impl Barriers {
    /// Resets all barriers for a new block.
    pub(crate) fn reset(&mut self, warps: usize) {
        for barrier in &mut self.all {
            barrier.arrived = 0;
            barrier.expected = 0;
            barrier.parked.clear();
            barrier.votes = Votes::default();
        }
        self.cluster.clear();
        self.cluster.resize(warps, 0);
    }

    /// Stores the votes of a completed barrier for the lanes that passed it.
    fn record_votes(&mut self, warp: usize, mask: u32, votes: Votes) {
        if let Some(passed) = self.passed.get_mut(warp) {
            lanes(mask).for_each(|lane| passed[lane] = votes);
        }
    }

    /// Returns the parked splits, each with the barrier's name and its warp.
    pub(crate) fn parked_splits(&self) -> impl Iterator<Item = (String, usize, Split)> {
        self.all.iter().enumerate().flat_map(|(id, barrier)| {
            let name = if id == CLUSTER { "the cluster's barrier".into() } else { format!("barrier {id}") };
            let missing = if barrier.expected == 0 {
                format!("{name} ({} arrived)", barrier.arrived)
            } else {
                format!("{name} ({} of {} arrived)", barrier.arrived, barrier.expected)
            };
            barrier.parked.iter().map(move |&(warp, split)| (missing.clone(), warp, split))
        })
    }
}

impl Machine<'_> {
    fn arrive_at_barrier(
        &mut self,
        id: u32,
        count: Option<u32>,
        action: Action,
        vote: u32,
    ) -> Result<Flow, Trap> {
        let lane = self.first_lane();
        let invalid = |detail: String| Err(Trap::new(FaultKind::InvalidOperand, lane, detail));
        if id as usize >= COUNT {
            return invalid(format!("there is no barrier {id}"));
        }
        let expected = count.unwrap_or(0);
        if !expected.is_multiple_of(LANES as u32)
            || (count == Some(0))
            || expected > self.launch.padded_threads()
        {
            return invalid(format!("{expected} threads can never meet at barrier {id}"));
        }
        let whole = self.mask == self.warps[self.warp].live();
        let threads = if expected > 0 && whole { LANES as u32 } else { self.mask.count_ones() };
        let (mask, split) = (self.mask, self.split(0));
        if matches!(action, Action::Popc | Action::And | Action::Or) && self.barriers.passed.is_empty() {
            self.barriers.passed = vec![[Votes::default(); LANES]; self.warps.len()];
        }
        let barrier = &mut self.barriers.all[id as usize];
        if barrier.arrived > 0 && barrier.expected != expected {
            let detail =
                format!("barrier {id} waits for {} threads, and now for {expected}", barrier.expected);
            return invalid(detail);
        }
        barrier.expected = expected;
        barrier.arrived += threads;
        barrier.votes.yes += (vote & mask).count_ones();
        barrier.votes.no += (!vote & mask).count_ones();
        let waits = action != Action::Arrive;
        if !self.barrier_is_complete(id as usize) {
            if waits {
                self.barriers.all[id as usize].parked.push((self.warp, split));
            }
            return Ok(if waits { Flow::Switch } else { Flow::Next });
        }
        // Lanes of this warp that arrived on other paths continue together with these.
        let together =
            waits && self.barriers.all[id as usize].parked.iter().any(|(warp, _)| *warp == self.warp);
        if together {
            self.barriers.all[id as usize].parked.push((self.warp, split));
        }
        let votes = self.complete_barrier(id as usize);
        self.barriers.record_votes(self.warp, mask, votes);
        Ok(if together { Flow::Switch } else { Flow::Next })
    }

    fn barrier_is_complete(&self, id: usize) -> bool {
        let barrier = &self.barriers.all[id];
        let expected = if barrier.expected == 0 { self.live_threads } else { barrier.expected };
        barrier.arrived > 0 && barrier.arrived >= expected
    }

    /// Wakes the splits that wait at a barrier, resets it, and returns its votes.
    fn complete_barrier(&mut self, id: usize) -> Votes {
        let barrier = &mut self.barriers.all[id];
        barrier.arrived = 0;
        barrier.expected = 0;
        let votes = std::mem::take(&mut barrier.votes);
        let mut parked = std::mem::take(&mut barrier.parked);
        for &(warp, split) in &parked {
            self.barriers.record_votes(warp, split.mask, votes);
            self.warps[warp].wake(split);
        }
        parked.clear();
        self.barriers.all[id].parked = parked;
        if id == CLUSTER {
            self.barriers.cluster.fill(0);
        }
        if let Some(instruments) = &mut self.instruments {
            instruments.barrier_completed(self.block, id);
        }
        votes
    }

    /// Completes barriers that waited only for threads that have just exited.
    pub(crate) fn barriers_after_exit(&mut self) {
        for id in 0..self.barriers.all.len() {
            if self.barrier_is_complete(id) {
                self.complete_barrier(id);
            }
        }
    }

    fn arrive_at_cluster(&mut self) {
        let (warp, mask) = (self.warp, self.mask);
        self.barriers.cluster[warp] |= mask;
        self.barriers.all[CLUSTER].arrived += mask.count_ones();
        if self.barrier_is_complete(CLUSTER) {
            self.complete_barrier(CLUSTER);
        }
    }

    fn wait_for_cluster(&mut self) -> Flow {
        if self.barriers.cluster[self.warp] & self.mask == 0 {
            return Flow::Next;
        }
        let parked = (self.warp, self.split(0));
        self.barriers.all[CLUSTER].parked.push(parked);
        Flow::Switch
    }
}

/// `bar.sync`, `bar.arrive`, `bar.red`: `a` is the barrier, `b` the count if `d & 1`, `c` the
/// predicate if `d & 2`, negated if `d & 4`; `imm` is the [`Action`]. [`barrier_count`] and
/// [`barrier_vote`] read the result.
pub(crate) unsafe fn barrier(m: &mut Machine<'_>, i: &Inst<u32, Reg<u32>, Reg<u32>, Pred>) -> Flow {
    let lane = m.first_lane();
    // SAFETY: registers are those of the current window, see `Handler`.
    let (id, count, vote) = unsafe {
        let count = (i.d & 1 != 0).then(|| m.read(i.b).0[lane]);
        let vote = if i.d & 2 != 0 { m.predicate(i.c) } else { 0 };
        (m.read(i.a).0[lane], count, if i.d & 4 != 0 { !vote } else { vote })
    };
    let actions = [Action::Sync, Action::Arrive, Action::Popc, Action::And, Action::Or];
    let action = actions.into_iter().find(|action| *action as u64 == i.imm).unwrap_or(Action::Sync);
    match m.arrive_at_barrier(id, count, action, vote) {
        Ok(flow) => flow,
        Err(trap) => m.fail(trap),
    }
}

/// Returns the votes at the `bar.red` that the lanes have just passed.
fn passed_votes(m: &Machine<'_>) -> [Votes; LANES] {
    m.barriers.passed.get(m.warp).copied().unwrap_or_default()
}

/// Writes the result of the `bar.red.popc` that the lanes have just passed to register `dst`.
pub(crate) unsafe fn barrier_count(m: &mut Machine<'_>, i: &Inst<Reg<u32>>) -> Flow {
    let votes = passed_votes(m);
    // SAFETY: `dst` is a register of the current window, see `Handler`.
    unsafe { m.write(i.dst, &Line::from_fn(|lane| votes[lane].yes)) };
    Flow::Next
}

/// Writes the result of the `bar.red.and` or `bar.red.or` that the lanes have just passed to
/// predicate `dst`; `imm` is the [`Action`].
pub(crate) unsafe fn barrier_vote(m: &mut Machine<'_>, i: &Inst<Pred>) -> Flow {
    let all = i.imm == Action::And as u64;
    let holds = |votes: &Votes| if all { votes.no == 0 } else { votes.yes != 0 };
    let votes = passed_votes(m);
    let result = (0..LANES).fold(0, |mask, lane| mask | u32::from(holds(&votes[lane])) << lane);
    // SAFETY: `dst` is a predicate of the current window, see `Handler`.
    unsafe { m.write_predicate(i.dst, result) };
    Flow::Next
}

/// `barrier.cluster.arrive`.
pub(crate) unsafe fn cluster_arrive(m: &mut Machine<'_>, _: &Inst) -> Flow {
    m.arrive_at_cluster();
    Flow::Next
}

/// `barrier.cluster.wait`.
pub(crate) unsafe fn cluster_wait(m: &mut Machine<'_>, _: &Inst) -> Flow {
    m.wait_for_cluster()
}

/// Describes the lanes in a mask briefly: `lanes 0-7, 12 of warp 2`.
pub(crate) fn describe_lanes(warp: usize, mask: u32) -> String {
    if mask == u32::MAX {
        return format!("warp {warp}");
    }
    let lanes: Vec<usize> = lanes(mask).collect();
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for lane in lanes {
        match ranges.last_mut() {
            Some(range) if range.1 + 1 == lane => range.1 = lane,
            _ => ranges.push((lane, lane)),
        }
    }
    let range = |(a, b): &(usize, usize)| if a == b { format!("{a}") } else { format!("{a}-{b}") };
    format!("lanes {} of warp {warp}", ranges.iter().map(range).collect::<Vec<_>>().join(", "))
}
