//! Where buffers lie, by what happens before what.
//!
//! Buffers that share memory by definition, parts with their wholes and results with operands, form
//! a *group*, which is packed as one. Two groups may share memory if every access of one happens
//! before every access of the other.

use std::cmp::Reverse;

use super::{
    Block, InPlace, Instance, Layout, Memory, Options, Place, Problem, Schedule, happens::Happens,
    happens::join,
};

/// Lays out the buffers of a schedule.
pub(super) fn lay_out(problem: &Problem, schedule: &Schedule, options: &Options) -> Layout {
    let happens = Happens::new(schedule);
    let mut groups = Groups::new(problem);
    let in_place = groups.merge(problem, schedule, &happens);
    let roots: Vec<usize> =
        (0..problem.buffers.len()).filter(|&buffer| groups.is_packed(problem, buffer)).collect();
    let alignment = options.alignment_bytes.max(1);
    let sizes: Vec<u64> = roots.iter().map(|&root| groups.sizes[root].next_multiple_of(alignment)).collect();
    let lifetimes: Vec<Lifetime> =
        roots.iter().map(|&root| Lifetime::new(&groups.accesses[root], &happens, schedule)).collect();
    let live = live_sets(schedule, &happens, &lifetimes);
    let weight = |op: &usize| live[*op].iter().map(|&index| sizes[index]).sum::<u64>();
    let peak_op = schedule.order.iter().copied().rev().max_by_key(weight).filter(|op| weight(op) > 0);
    let mut peak_buffers = peak_op.map_or(Vec::new(), |op| live[op].clone());
    peak_buffers.sort_by_key(|&index| (Reverse(sizes[index]), index));
    let packing = Instance::new(sizes, conflicts(&lifetimes), live).pack(options.max_search_steps);
    let mut offsets = vec![0; problem.buffers.len()];
    for (&root, &offset) in roots.iter().zip(&packing.offsets) {
        offsets[root] = offset;
    }
    let constant_bytes = place_constants(problem, alignment, &mut offsets);
    Layout {
        places: (0..problem.buffers.len()).map(|buffer| groups.place(problem, buffer, &offsets)).collect(),
        arena_bytes: packing.size,
        constant_bytes,
        lower_bound_bytes: packing.lower_bound,
        peak_op,
        peak_buffers: peak_buffers.into_iter().map(|index| roots[index]).collect(),
        in_place,
    }
}

/// Buffers that lie within each other.
struct Groups {
    /// For each buffer, the one that it lies in, and where. Roots lie in themselves.
    parents: Vec<(usize, u64)>,
    /// For each root, the ops that access its group.
    accesses: Vec<Vec<usize>>,
    /// For each root, the size of its group.
    sizes: Vec<u64>,
}

impl Groups {
    fn new(problem: &Problem) -> Groups {
        let parent = |(index, buffer): (usize, &super::Buffer)| match buffer.memory {
            Memory::Part { whole, rows } => (whole, rows.offset_bytes),
            _ => (index, 0),
        };
        let parents: Vec<_> = problem.buffers.iter().enumerate().map(parent).collect();
        let mut accesses = vec![Vec::new(); parents.len()];
        for (index, op) in problem.ops.iter().enumerate() {
            for &buffer in op.reads.iter().chain(&op.writes) {
                accesses[parents[buffer].0].push(index);
            }
        }
        accesses.iter_mut().for_each(Vec::dedup);
        Groups { parents, accesses, sizes: problem.buffers.iter().map(|buffer| buffer.size_bytes).collect() }
    }

    /// Returns the root of a buffer, and where in it the buffer lies.
    fn find(&self, buffer: usize) -> (usize, u64) {
        let (mut at, mut offset) = (buffer, 0);
        while self.parents[at].0 != at {
            offset += self.parents[at].1;
            at = self.parents[at].0;
        }
        (at, offset)
    }

    /// Puts results into the memory of operands that nothing needs later, and returns these.
    fn merge(&mut self, problem: &Problem, schedule: &Schedule, happens: &Happens) -> Vec<InPlace> {
        let mut merged = Vec::new();
        for &op in &schedule.order {
            for &candidate in &problem.ops[op].in_place {
                if self.merge_one(problem, happens, op, candidate) {
                    merged.push(candidate);
                }
            }
        }
        merged
    }

    fn merge_one(&mut self, problem: &Problem, happens: &Happens, op: usize, candidate: InPlace) -> bool {
        let (result, _) = self.find(candidate.result);
        let (operand, offset) = self.find(candidate.operand);
        let is_strided =
            matches!(problem.buffers[candidate.operand].memory, Memory::Part { rows, .. } if rows.count != 1);
        if result == operand || is_strided || problem.buffers[operand].memory != Memory::Arena {
            return false;
        }
        // The op must touch the operand's memory through the operand alone.
        let others = problem.ops[op].reads.iter().chain(&problem.ops[op].writes);
        let mut others = others.filter(|&&buffer| buffer != candidate.operand && buffer != candidate.result);
        if others.any(|&buffer| self.find(buffer).0 == operand) {
            return false;
        }
        let is_first =
            self.accesses[result].iter().all(|&access| access == op || happens.is_before(op, access));
        let is_last =
            self.accesses[operand].iter().all(|&access| access == op || happens.is_before(access, op));
        // A group that is larger than its result would reach beyond the operand.
        let fits = self.sizes[result] <= problem.buffers[candidate.operand].size_bytes;
        if !(is_first && is_last && fits) {
            return false;
        }
        self.parents[result] = (operand, offset);
        let accesses = std::mem::take(&mut self.accesses[result]);
        self.accesses[operand].extend(accesses);
        true
    }

    /// Returns whether a buffer is the root of a group in the arena.
    fn is_packed(&self, problem: &Problem, buffer: usize) -> bool {
        self.parents[buffer].0 == buffer && problem.buffers[buffer].memory == Memory::Arena
    }

    fn place(&self, problem: &Problem, buffer: usize, offsets: &[u64]) -> Place {
        let (root, offset) = self.find(buffer);
        let block = match problem.buffers[root].memory {
            Memory::Constant => Block::Constants,
            Memory::External => Block::External(root),
            Memory::Arena | Memory::Part { .. } => Block::Arena,
        };
        Place { block, offset_bytes: offsets[root] + offset }
    }
}

/// Places constants one after the other, and returns the size of their block.
fn place_constants(problem: &Problem, alignment: u64, offsets: &mut [u64]) -> u64 {
    let mut end = 0;
    for (buffer, offset) in problem.buffers.iter().zip(offsets) {
        if buffer.memory == Memory::Constant {
            *offset = end;
            end += buffer.size_bytes.next_multiple_of(alignment);
        }
    }
    end
}

/// When a group is in use, in clocks: for each stream, a place on it.
struct Lifetime {
    /// What has ended when any access begins.
    begin: Vec<u32>,
    /// The first access on each stream.
    first: Vec<u32>,
    /// The last access on each stream.
    last: Vec<u32>,
    /// What has ended when all accesses have.
    end: Vec<u32>,
}

impl Lifetime {
    fn new(accesses: &[usize], happens: &Happens, schedule: &Schedule) -> Lifetime {
        let mut lifetime = Lifetime {
            begin: vec![u32::MAX; schedule.stream_count],
            first: vec![u32::MAX; schedule.stream_count],
            last: vec![0; schedule.stream_count],
            end: vec![0; schedule.stream_count],
        };
        for &op in accesses {
            let (stream, place) = happens.place(op);
            for (least, count) in lifetime.begin.iter_mut().zip(happens.begin(op)) {
                *least = (*least).min(*count);
            }
            lifetime.first[stream] = lifetime.first[stream].min(place);
            lifetime.last[stream] = lifetime.last[stream].max(place);
            join(&mut lifetime.end, &happens.end(op));
        }
        lifetime
    }

    /// Returns whether all accesses of this group happen before all of another.
    fn is_before(&self, other: &Lifetime) -> bool {
        self.last.iter().zip(&other.begin).all(|(last, begin)| last <= begin)
    }
}

/// For each op, the groups that are in use when it runs, whatever else runs then: an access
/// happened before or happens in it, and one happens in or after it.
fn live_sets(schedule: &Schedule, happens: &Happens, lifetimes: &[Lifetime]) -> Vec<Vec<usize>> {
    let live_at = |op: usize| {
        let end = happens.end(op);
        let (stream, place) = happens.place(op);
        let is_live = |lifetime: &Lifetime| {
            let has_begun = lifetime.first.iter().zip(&end).any(|(first, end)| first <= end);
            has_begun && lifetime.end[stream] >= place
        };
        (0..lifetimes.len()).filter(|&index| is_live(&lifetimes[index])).collect()
    };
    (0..schedule.streams.len()).map(live_at).collect()
}

/// For each group, those that it must not share memory with. What is never accessed conflicts with
/// nothing.
fn conflicts(lifetimes: &[Lifetime]) -> Vec<Vec<usize>> {
    let mut conflicts = vec![Vec::new(); lifetimes.len()];
    for (a, first) in lifetimes.iter().enumerate() {
        for (b, second) in lifetimes.iter().enumerate().skip(a + 1) {
            if !first.is_before(second) && !second.is_before(first) {
                conflicts[a].push(b);
                conflicts[b].push(a);
            }
        }
    }
    conflicts
}
