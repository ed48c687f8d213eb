//! The search for smaller packings, where greedy orders miss the lower bound.
//!
//! The branch and bound places buffers from low to high offsets. Each lies at 0 or on top of one
//! that it conflicts with, so only these offsets are tried, and a packing of the least size is
//! among them. A branch ends where
//!
//! - the buffers of a clique that are left do not fit above the lowest offset that any of them can
//!   take, or
//! - a buffer that is left would fit below the next offset: then the same packing with that buffer
//!   moved down was tried.
//!
//! A search from one order of the candidates either finds a packing early or hardly ever. So there
//! are many short searches from orders with noise, and a few longer ones, each for a smaller size
//! than the best one known. The noise is the same in each run.

use std::cmp::Reverse;

use super::arena::{Instance, Packing};

/// Steps of a short search and of a long one for each buffer.
const SHORT_STEPS: u64 = 2;
const LONG_STEPS: u64 = 40;
/// Every so many searches one is long.
const LONG_PERIOD: u64 = 16;
/// The noise of the orders, in percent.
const NOISE_PERCENT: u64 = 50;
/// A step whose bound looks at so many buffers of cliques counts once more.
const MEMBERS_PER_STEP: u64 = 8192;

/// Improves a packing for a number of steps, each of which places one buffer.
pub(super) fn improve(instance: &Instance, best: &mut Packing, max_steps: u64) {
    let count = instance.sizes.len() as u64;
    let members: u64 = instance.cliques.iter().map(|clique| clique.len() as u64).sum();
    let step_cost = 1 + members / MEMBERS_PER_STEP;
    let mut budget = max_steps / step_cost;
    let mut orders = Orders::new(instance);
    let mut turn = 0;
    while budget > 0 && best.size > best.lower_bound {
        let steps = if turn % LONG_PERIOD == LONG_PERIOD - 1 { LONG_STEPS } else { SHORT_STEPS };
        let capacity = best.size - 1 - (best.size - 1 - best.lower_bound) / 8;
        let order = orders.next(turn);
        let mut search = Search::new(instance, &order, capacity, (steps * count).min(budget));
        let is_found = search.run();
        budget -= search.steps.min(budget);
        if is_found {
            best.size = search.size();
            best.offsets = search.offsets;
        }
        turn += 1;
    }
}

/// Orders of the candidates with noise.
struct Orders {
    pressures: Vec<u64>,
    areas: Vec<u64>,
    lengths: Vec<u64>,
    random: u64,
}

impl Orders {
    fn new(instance: &Instance) -> Self {
        let (pressures, areas, lengths) =
            (instance.pressures(), instance.areas(), instance.lengths().to_vec());
        Self { pressures, areas, lengths, random: 0x9e37_79b9_7f4a_7c15 }
    }

    /// Returns an order by length, by area, or by pressure and then by area.
    fn next(&mut self, turn: u64) -> Vec<usize> {
        let count = self.areas.len();
        let noisy: Vec<u64> = (0..count)
            .map(|buffer| {
                let key = if turn.is_multiple_of(3) { self.lengths[buffer] } else { self.areas[buffer] };
                key.saturating_mul(100 + self.next_random(NOISE_PERCENT + 1))
            })
            .collect();
        let pressure = |buffer: usize| if turn % 3 == 2 { self.pressures[buffer] } else { 0 };
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&buffer| (Reverse((pressure(buffer), noisy[buffer])), buffer));
        order
    }

    /// Returns a number below `bound` by a shift register.
    fn next_random(&mut self, bound: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % bound
    }
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

    /// Returns whether what is left of each clique fits above the lowest offset that any of it can
    /// take.
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
