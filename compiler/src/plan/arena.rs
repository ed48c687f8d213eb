//! Packing: offsets for buffers in one block of memory, of which some must not overlap.
//!
//! Several greedy orders come first: each buffer goes to a gap between those that it conflicts
//! with, the lowest or the tightest one. If the best of them is above the lower bound, a branch and
//! bound ([`super::search`]) looks for smaller packings. It is bounded in steps, not in time, so
//! that equal instances have equal packings.

use std::cmp::Reverse;

use super::search;

/// Buffers to be packed.
#[derive(Clone, Debug, Default)]
pub struct Instance {
    /// The size of each buffer.
    pub(super) sizes: Vec<u64>,
    /// For each buffer, those that must not overlap it, in ascending order.
    pub(super) conflicts: Vec<Vec<usize>>,
    /// Sets of buffers of which each two conflict.
    pub(super) cliques: Vec<Vec<usize>>,
    /// For each buffer, how long it is in use.
    lengths: Vec<u64>,
}

/// Offsets of buffers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packing {
    /// The offset of each buffer.
    pub offsets: Vec<u64>,
    /// The end of the last one.
    pub size: u64,
    /// No packing is smaller.
    pub lower_bound: u64,
}

impl Instance {
    /// Makes an instance of sizes and conflicting pairs, with some sets of buffers of which each
    /// two conflict.
    pub(super) fn new(sizes: Vec<u64>, conflicts: Vec<Vec<usize>>, cliques: Vec<Vec<usize>>) -> Instance {
        let lengths = conflicts.iter().map(|others| others.len() as u64).collect();
        let mut instance = Instance { sizes, conflicts, cliques, lengths };
        instance.extend_cliques();
        instance
    }

    /// Makes an instance of buffers that are in use from a time up to, and without, another one.
    /// Buffers of no size or no time conflict with none.
    pub fn of_intervals(buffers: &[(u64, u64, u64)]) -> Instance {
        let is_real = |&(start, end, size): &(u64, u64, u64)| start < end && size > 0;
        let mut by_start: Vec<usize> = (0..buffers.len()).filter(|&index| is_real(&buffers[index])).collect();
        by_start.sort_by_key(|&index| (buffers[index].0, index));
        let mut conflicts = vec![Vec::new(); buffers.len()];
        let (mut cliques, mut live): (Vec<Vec<usize>>, Vec<usize>) = (Vec::new(), Vec::new());
        // What is in use when a buffer ends is a clique. After each end a buffer begins, so none is
        // part of the next one.
        for &index in &by_start {
            let start = buffers[index].0;
            if live.iter().any(|&other| buffers[other].1 <= start) {
                cliques.push(live.clone());
                live.retain(|&other| buffers[other].1 > start);
            }
            for &other in &live {
                conflicts[index].push(other);
                conflicts[other].push(index);
            }
            live.push(index);
        }
        cliques.push(live);
        conflicts.iter_mut().for_each(|others| others.sort_unstable());
        let sizes = buffers.iter().map(|&(_, _, size)| size).collect();
        let lengths = buffers.iter().map(|&(start, end, _)| end.saturating_sub(start)).collect();
        Instance { sizes, conflicts, cliques, lengths }
    }

    /// Adds to each clique what conflicts with all of it, the largest buffers first.
    fn extend_cliques(&mut self) {
        for clique in &mut self.cliques {
            let Some(&first) = clique.iter().min_by_key(|&&buffer| self.conflicts[buffer].len()) else {
                continue;
            };
            let mut candidates: Vec<usize> = self.conflicts[first].clone();
            candidates.retain(|buffer| !clique.contains(buffer));
            candidates.sort_by_key(|&buffer| (Reverse(self.sizes[buffer]), buffer));
            for buffer in candidates {
                if clique.iter().all(|other| self.conflicts[buffer].binary_search(other).is_ok()) {
                    clique.push(buffer);
                }
            }
            clique.sort_unstable();
        }
        self.cliques.sort_unstable();
        self.cliques.dedup();
    }

    /// Returns a size that no packing is below.
    pub fn lower_bound(&self) -> u64 {
        let weight = |clique: &Vec<usize>| clique.iter().map(|&buffer| self.sizes[buffer]).sum();
        self.cliques.iter().map(weight).chain(self.sizes.iter().copied()).max().unwrap_or(0)
    }

    /// Packs the buffers, and looks for smaller packings for a number of steps.
    pub fn pack(&self, max_steps: u64) -> Packing {
        let lower_bound = self.lower_bound();
        let mut best = Packing { size: u64::MAX, ..Packing::default() };
        for order in self.orders() {
            for fit in [Fit::Lowest, Fit::Tightest] {
                let (offsets, size) = self.place(&order, fit);
                if size < best.size {
                    best = Packing { offsets, size, lower_bound };
                }
            }
        }
        best.lower_bound = lower_bound;
        if best.size > lower_bound {
            search::improve(self, &mut best, max_steps);
        }
        best
    }

    /// The orders in which buffers are placed one after the other.
    fn orders(&self) -> Vec<Vec<usize>> {
        let sorted = |key: &dyn Fn(usize) -> (u64, u64)| {
            let mut order: Vec<usize> = (0..self.sizes.len()).collect();
            order.sort_by_key(|&buffer| (Reverse(key(buffer)), buffer));
            order
        };
        let size = |buffer: usize| self.sizes[buffer];
        let length = |buffer: usize| self.lengths[buffer];
        let pressure = self.pressures();
        vec![
            sorted(&|buffer| (size(buffer), length(buffer))),
            sorted(&|buffer| (size(buffer).saturating_mul(length(buffer)), size(buffer))),
            sorted(&|buffer| (length(buffer), size(buffer))),
            sorted(&|buffer| (pressure[buffer], size(buffer))),
            sorted(&|buffer| (pressure[buffer], size(buffer).saturating_mul(length(buffer)))),
            sorted(&|buffer| (self.conflicts[buffer].len() as u64, size(buffer))),
            (0..self.sizes.len()).collect(),
        ]
    }

    /// For each buffer, the weight of the heaviest clique that it is in.
    pub(super) fn pressures(&self) -> Vec<u64> {
        let mut pressures = self.sizes.clone();
        for clique in &self.cliques {
            let weight = clique.iter().map(|&buffer| self.sizes[buffer]).sum();
            for &buffer in clique {
                pressures[buffer] = pressures[buffer].max(weight);
            }
        }
        pressures
    }

    /// For each buffer, its size times the time that it is in use.
    pub(super) fn areas(&self) -> Vec<u64> {
        self.sizes.iter().zip(&self.lengths).map(|(size, length)| size.saturating_mul(*length)).collect()
    }

    /// How long each buffer is in use.
    pub(super) fn lengths(&self) -> &[u64] {
        &self.lengths
    }

    /// Places buffers one after the other; returns their offsets and the end of the last one.
    pub(super) fn place(&self, order: &[usize], fit: Fit) -> (Vec<u64>, u64) {
        const UNPLACED: u64 = u64::MAX;
        let mut offsets = vec![UNPLACED; self.sizes.len()];
        let (mut end, mut taken) = (0, Vec::new());
        for &buffer in order {
            taken.clear();
            let placed = self.conflicts[buffer].iter().filter(|&&other| offsets[other] != UNPLACED);
            taken.extend(placed.map(|&other| (offsets[other], offsets[other] + self.sizes[other])));
            taken.sort_unstable();
            offsets[buffer] = gap(&taken, self.sizes[buffer], fit);
            end = end.max(offsets[buffer] + self.sizes[buffer]);
        }
        (offsets, end)
    }

    /// Returns two buffers that conflict and overlap, if there are any.
    pub fn overlap(&self, offsets: &[u64]) -> Option<(usize, usize)> {
        let end = |buffer: usize| offsets[buffer] + self.sizes[buffer];
        let pairs = self.conflicts.iter().enumerate();
        let mut pairs = pairs.flat_map(|(buffer, others)| others.iter().map(move |&other| (buffer, other)));
        pairs.find(|&(a, b)| offsets[a] < end(b) && offsets[b] < end(a))
    }
}

/// Which gap a buffer takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// The lowest one that is large enough.
    Lowest,
    /// The smallest one that is large enough.
    Tightest,
}

/// Returns the beginning of a gap of at least `size` between intervals in order; the last gap has
/// no end.
fn gap(taken: &[(u64, u64)], size: u64, fit: Fit) -> u64 {
    let (mut low, mut best): (u64, Option<(u64, u64)>) = (0, None);
    for &(start, end) in taken {
        if start >= low + size {
            let width = start - low;
            if fit == Fit::Lowest {
                return low;
            }
            if best.is_none_or(|(least, _)| width < least) {
                best = Some((width, low));
            }
        }
        low = low.max(end);
    }
    best.map_or(low, |(_, offset)| offset)
}
