//! The ops as a graph: its transitive reduction, its width, and its longest path.

use super::{Problem, Queue};

/// A set of numbers below a bound.
#[derive(Clone, Debug)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    pub(super) fn new(bound: usize) -> Bits {
        Bits(vec![0; bound.div_ceil(64)])
    }

    pub(super) fn insert(&mut self, number: usize) {
        self.0[number / 64] |= 1 << (number % 64);
    }

    pub(super) fn contains(&self, number: usize) -> bool {
        self.0[number / 64] >> (number % 64) & 1 == 1
    }

    pub(super) fn add_all(&mut self, other: &Bits) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word |= other;
        }
    }
}

/// The ops as a graph.
#[derive(Debug)]
pub(super) struct Dag {
    /// For each op, all ops before it.
    before: Vec<Bits>,
    /// For each op, the ops that it follows and no other edges imply.
    pub(super) after: Vec<Vec<usize>>,
    /// The same edges, from their beginnings.
    pub(super) next: Vec<Vec<usize>>,
    /// For each op, the time from its beginning to the end of the longest path that begins there.
    pub(super) remaining_ns: Vec<u64>,
}

impl Dag {
    /// Looks at a problem whose ops are in order.
    pub(super) fn new(problem: &Problem) -> Dag {
        let count = problem.ops.len();
        let mut before: Vec<Bits> = Vec::with_capacity(count);
        let mut after = Vec::with_capacity(count);
        let mut next = vec![Vec::new(); count];
        for (index, op) in problem.ops.iter().enumerate() {
            let mut all = Bits::new(count);
            let mut kept = Vec::new();
            let mut direct = op.after.clone();
            direct.sort_unstable();
            direct.dedup();
            // An earlier op never follows a later one, so the latest edges are the ones that imply
            // others.
            for &earlier in direct.iter().rev() {
                if !all.contains(earlier) {
                    kept.push(earlier);
                    all.insert(earlier);
                    all.add_all(&before[earlier]);
                }
            }
            kept.reverse();
            for &earlier in &kept {
                next[earlier].push(index);
            }
            before.push(all);
            after.push(kept);
        }
        let mut remaining_ns = vec![0; count];
        for index in (0..count).rev() {
            let longest = next[index].iter().map(|&later| remaining_ns[later]).max().unwrap_or(0);
            remaining_ns[index] = longest + problem.ops[index].time_ns;
        }
        Dag { before, after, next, remaining_ns }
    }

    /// Returns whether `first` ends before `second` begins, whatever the schedule is.
    pub(super) fn is_before(&self, first: usize, second: usize) -> bool {
        self.before[second].contains(first)
    }

    /// Returns the most computations that can run at once: the fewest paths that cover all of them.
    /// Ops of no time compute nothing.
    pub(super) fn width(&self, problem: &Problem) -> usize {
        let counts = |op: usize| problem.ops[op].queue == Queue::Compute && problem.ops[op].time_ns > 0;
        let ops: Vec<usize> = (0..self.before.len()).filter(|&op| counts(op)).collect();
        let mut later: Vec<Vec<usize>> = vec![Vec::new(); self.before.len()];
        for &op in &ops {
            for &first in ops.iter().take_while(|&&first| first < op) {
                if self.is_before(first, op) {
                    later[first].push(op);
                }
            }
        }
        let matched = matching(&later).iter().flatten().count();
        (ops.len() - matched).max(1)
    }

    /// Returns the chains of the fewest chains that the edges of the reduction give, each op in one
    /// of them. `is_eligible` says which ops may follow others in a chain.
    pub(super) fn chains(&self, is_eligible: impl Fn(usize) -> bool) -> Vec<Vec<usize>> {
        let count = self.before.len();
        let successors: Vec<Vec<usize>> = (0..count)
            .map(|op| {
                if !is_eligible(op) {
                    return Vec::new();
                }
                let mut next: Vec<usize> =
                    self.next[op].iter().copied().filter(|&op| is_eligible(op)).collect();
                // What takes the longest continues the chain.
                next.sort_by_key(|&op| (std::cmp::Reverse(self.remaining_ns[op]), op));
                next
            })
            .collect();
        let followers = matching(&successors);
        let mut is_follower = vec![false; count];
        followers.iter().flatten().for_each(|&op| is_follower[op] = true);
        let heads = (0..count).filter(|&op| is_eligible(op) && !is_follower[op]);
        heads.map(|head| std::iter::successors(Some(head), |&op| followers[op]).collect()).collect()
    }

    /// Returns the ops of the longest path.
    pub(super) fn critical_path(&self) -> Vec<usize> {
        let longest = |ops: &mut dyn Iterator<Item = usize>| {
            ops.max_by_key(|&op| (self.remaining_ns[op], std::cmp::Reverse(op)))
        };
        let first = longest(&mut (0..self.before.len()));
        std::iter::successors(first, |&op| longest(&mut self.next[op].iter().copied())).collect()
    }
}

/// Returns a largest matching of a bipartite graph: the partner of each left node. Earlier partners
/// are tried first.
fn matching(edges: &[Vec<usize>]) -> Vec<Option<usize>> {
    let mut right: Vec<Option<usize>> = vec![None; edges.len()];
    let mut left = vec![None; edges.len()];
    let mut seen = vec![usize::MAX; edges.len()];
    for start in 0..edges.len() {
        augment(edges, start, &mut left, &mut right, &mut seen);
    }
    left
}

/// Looks for a path from a free left node to a free right node along edges that are and are not in
/// the matching, and swaps them.
fn augment(
    edges: &[Vec<usize>],
    start: usize,
    left: &mut [Option<usize>],
    right: &mut [Option<usize>],
    seen: &mut [usize],
) {
    // Each entry is a left node and the number of its edges that were tried; the right node between
    // an entry and the next is the last one tried.
    let mut path = vec![(start, 0)];
    while let Some((node, tried)) = path.last_mut() {
        let Some(&partner) = edges[*node].get(*tried) else {
            path.pop();
            continue;
        };
        *tried += 1;
        if seen[partner] == start {
            continue;
        }
        seen[partner] = start;
        match right[partner] {
            Some(other) => path.push((other, 0)),
            None => {
                for &(node, tried) in &path {
                    let partner = edges[node][tried - 1];
                    (left[node], right[partner]) = (Some(partner), Some(node));
                }
                return;
            }
        }
    }
}
