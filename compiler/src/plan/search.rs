//! The search for smaller packings, where greedy orders miss the lower bound.
//!
//! The branch and bound places buffers from low to high offsets. Each lies at 0 or on top of one that it conflicts with,
//! so only these offsets are tried, and a packing of the least size is among them. A branch ends where
//!
//! - the buffers of a clique that are left do not fit above the lowest offset that any of them can take, or
//! - a buffer that is left would fit below the next offset: then the same packing with that buffer moved down was tried.
//!
//! Different orders of the candidates find different packings first. They take turns, each with twice the steps of the
//! turn before, for smaller and smaller sizes.

use std::cmp::Reverse;

use super::arena::{Fit, Instance, Packing};

/// Improves a packing for a number of steps, each of which places one buffer.
pub(super) fn improve(instance: &Instance, best: &mut Packing, order: Vec<usize>, max_steps: u64) {
    let mut budget = max_steps;
    shake(instance, best, order, max_steps / 4, &mut budget);
    let orders = preferences(instance);
    let mut turn_steps = 20 * instance.sizes.len() as u64;
    while budget > 0 && best.size > best.lower_bound {
        for order in &orders {
            // The lower bound itself, then sizes between it and what is known.
            let spread = best.size - best.lower_bound;
            for capacity in [
                best.lower_bound,
                best.lower_bound + spread / 4,
                best.lower_bound + spread / 2,
                best.size - 1,
            ] {
                let mut search = Search::new(instance, order, capacity, turn_steps.min(budget));
                let is_found = search.run();
                budget -= search.steps.min(budget);
                if is_found {
                    best.size = search.size();
                    best.offsets = search.offsets;
                    break;
                }
                if budget == 0 || best.size == best.lower_bound {
                    return;
                }
            }
        }
        turn_steps = turn_steps.saturating_mul(2);
    }
}

/// Moves buffers that reach the end to earlier places of a greedy order, as long as that makes no packing larger.
fn shake(instance: &Instance, best: &mut Packing, order: Vec<usize>, max_steps: u64, budget: &mut u64) {
    let count = order.len() as u64;
    if count == 0 {
        return;
    }
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move |bound: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % bound
    };
    let mut order = order;
    let (mut offsets, mut size) = instance.place(&order, Fit::Lowest);
    for _ in 0..max_steps / count {
        *budget = budget.saturating_sub(count);
        let tops =
            (0..order.len()).filter(|&place| offsets[order[place]] + instance.sizes[order[place]] == size);
        let tops: Vec<usize> = tops.collect();
        let from = tops[next(tops.len() as u64) as usize];
        let to = next(from as u64 + 1) as usize;
        order[to..=from].rotate_right(1);
        let (tried, tried_size) = instance.place(&order, Fit::Lowest);
        if tried_size > size {
            order[to..=from].rotate_left(1);
            continue;
        }
        (offsets, size) = (tried, tried_size);
        if size < best.size {
            (best.offsets, best.size) = (offsets.clone(), size);
            if size == best.lower_bound {
                return;
            }
        }
    }
}

/// Orders of the candidates: by pressure, area and length, in different sequences.
fn preferences(instance: &Instance) -> Vec<Vec<usize>> {
    let (pressures, areas, lengths) = (instance.pressures(), instance.areas(), instance.lengths());
    let sorted = |key: &dyn Fn(usize) -> (u64, u64, u64)| {
        let mut order: Vec<usize> = (0..instance.sizes.len()).collect();
        order.sort_by_key(|&buffer| (Reverse(key(buffer)), buffer));
        order
    };
    vec![
        sorted(&|buffer| (lengths[buffer], areas[buffer], pressures[buffer])),
        sorted(&|buffer| (pressures[buffer], areas[buffer], lengths[buffer])),
        sorted(&|buffer| (pressures[buffer], lengths[buffer], areas[buffer])),
        sorted(&|buffer| (areas[buffer], lengths[buffer], pressures[buffer])),
    ]
}

const UNPLACED: u64 = u64::MAX;

struct Search<'i> {
    instance: &'i Instance,
    capacity: u64,
    max_steps: u64,
    steps: u64,
    /// The place of each buffer in the order of preference.
    ranks: Vec<usize>,
    offsets: Vec<u64>,
    /// The lowest offset that each buffer can take.
    lowest: Vec<u64>,
    /// The buffers that are left.
    left: Vec<usize>,
    /// The cliques of each buffer.
    cliques_of: Vec<Vec<usize>>,
    /// The sizes of the buffers of each clique that are left.
    left_bytes: Vec<u64>,
}

/// A buffer that was placed, with what that changed.
struct Placed {
    buffer: usize,
    /// What else may be tried in its place, the best one last.
    others: Vec<usize>,
    /// The buffers whose lowest offset rose, and from what.
    raised: Vec<(usize, u64)>,
}

impl<'i> Search<'i> {
    fn new(instance: &'i Instance, order: &[usize], capacity: u64, max_steps: u64) -> Self {
        let count = instance.sizes.len();
        let mut ranks = vec![0; count];
        order.iter().enumerate().for_each(|(rank, &buffer)| ranks[buffer] = rank);
        let mut cliques_of = vec![Vec::new(); count];
        let mut left_bytes = Vec::new();
        for (index, clique) in instance.cliques.iter().enumerate() {
            left_bytes.push(clique.iter().map(|&buffer| instance.sizes[buffer]).sum());
            clique.iter().for_each(|&buffer| cliques_of[buffer].push(index));
        }
        Self {
            instance,
            capacity,
            max_steps,
            steps: 0,
            ranks,
            offsets: vec![UNPLACED; count],
            lowest: vec![0; count],
            left: order.to_vec(),
            cliques_of,
            left_bytes,
        }
    }

    /// Returns whether a packing was found.
    fn run(&mut self) -> bool {
        let mut path: Vec<Placed> = Vec::new();
        let mut candidates = self.candidates(None);
        loop {
            let Some(buffer) = candidates.pop() else {
                let Some(placed) = path.pop() else { return false };
                self.undo(&placed);
                candidates = placed.others;
                continue;
            };
            self.steps += 1;
            if self.steps > self.max_steps {
                return false;
            }
            let raised = self.put(buffer);
            let placed = Placed { buffer, others: std::mem::take(&mut candidates), raised };
            if self.left.is_empty() {
                return true;
            }
            if self.may_fit(&placed) {
                candidates = self.candidates(Some(buffer));
                path.push(placed);
            } else {
                self.undo(&placed);
                candidates = placed.others;
            }
        }
    }

    fn size(&self) -> u64 {
        let ends = self.offsets.iter().zip(&self.instance.sizes).map(|(offset, size)| offset + size);
        ends.max().unwrap_or(0)
    }

    /// Returns the buffers that may be next, the best one last.
    fn candidates(&self, last: Option<usize>) -> Vec<usize> {
        let from = last.map(|last| (self.offsets[last], self.ranks[last]));
        let end = |buffer: usize| self.lowest[buffer] + self.instance.sizes[buffer];
        let floor = from.map_or(0, |(offset, _)| offset);
        // What lies below the last offset must be lifted by another buffer first.
        let reachable = self.left.iter().copied().filter(|&buffer| self.lowest[buffer] >= floor);
        let least_end = reachable.map(end).min().unwrap_or(u64::MAX);
        let is_next = |buffer: usize| {
            let place = (self.lowest[buffer], self.ranks[buffer]);
            from.is_none_or(|from| place > from) && place.0 < least_end
        };
        let mut next: Vec<usize> = self.left.iter().copied().filter(|&buffer| is_next(buffer)).collect();
        next.sort_by_key(|&buffer| Reverse((self.lowest[buffer], self.ranks[buffer])));
        next
    }

    /// Places a buffer as low as it can lie.
    fn put(&mut self, buffer: usize) -> Vec<(usize, u64)> {
        let offset = self.lowest[buffer];
        let size = self.instance.sizes[buffer];
        self.offsets[buffer] = offset;
        self.left.retain(|&left| left != buffer);
        for &clique in &self.cliques_of[buffer] {
            self.left_bytes[clique] -= size;
        }
        let mut raised = Vec::new();
        for &other in &self.instance.conflicts[buffer] {
            if self.offsets[other] == UNPLACED && self.lowest[other] < offset + size {
                raised.push((other, self.lowest[other]));
                self.lowest[other] = offset + size;
            }
        }
        raised
    }

    fn undo(&mut self, placed: &Placed) {
        for &(other, lowest) in &placed.raised {
            self.lowest[other] = lowest;
        }
        let size = self.instance.sizes[placed.buffer];
        for &clique in &self.cliques_of[placed.buffer] {
            self.left_bytes[clique] += size;
        }
        self.offsets[placed.buffer] = UNPLACED;
        self.left.push(placed.buffer);
    }

    /// Returns whether what is left of each clique fits above the lowest offset that any of it can take.
    fn may_fit(&self, placed: &Placed) -> bool {
        let floor = self.offsets[placed.buffer];
        self.instance.cliques.iter().enumerate().all(|(clique, members)| {
            let left = members.iter().filter(|&&buffer| self.offsets[buffer] == UNPLACED);
            match left.map(|&buffer| self.lowest[buffer]).min() {
                Some(lowest) => lowest.max(floor) + self.left_bytes[clique] <= self.capacity,
                None => true,
            }
        })
    }
}
