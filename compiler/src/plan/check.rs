//! Proofs about problems and plans. They build the order of all ops from scratch and compare all
//! pairs of accesses, so they share nothing with the planner.

use std::fmt;

use super::{Block, Event, Memory, Plan, PlanError, Problem, Queue, Rows, dag::Bits};

/// Finds what is wrong with a problem: numbers that name nothing, and accesses that nothing orders.
pub(super) fn check_problem(problem: &Problem) -> Result<(), PlanError> {
    check_numbers(problem)?;
    let edges = problem.ops.iter().map(|op| op.after.clone()).collect::<Vec<_>>();
    let order: Vec<usize> = (0..problem.ops.len()).collect();
    let before = closure(&order, &edges);
    let accesses = accesses(problem);
    let mut by_root: Vec<Vec<&Access>> = vec![Vec::new(); problem.buffers.len()];
    for access in &accesses {
        by_root[access.root].push(access);
    }
    for accesses in by_root {
        // Constants and inputs have many readers, which no pair of conflicts with each other.
        if !accesses.iter().any(|access| access.is_write) {
            continue;
        }
        for (index, second) in accesses.iter().enumerate() {
            let conflicting = accesses[..index].iter().find(|first| {
                first.conflicts_with(second) && !before[second.op].contains(first.op) && first.op != second.op
            });
            if let Some(first) = conflicting {
                let (first, second, buffer) = (first.op, second.op, second.buffer);
                return Err(PlanError::Unordered { first, second, buffer });
            }
        }
    }
    Ok(())
}

fn check_numbers(problem: &Problem) -> Result<(), PlanError> {
    let count = problem.buffers.len();
    for (buffer, description) in problem.buffers.iter().enumerate() {
        let Memory::Part { whole, rows } = description.memory else { continue };
        let is_within = problem.buffers.get(whole).is_some_and(|whole| {
            !matches!(whole.memory, Memory::Part { .. }) && rows.end_bytes() <= whole.size_bytes
        });
        if !is_within {
            return Err(PlanError::Buffer { buffer });
        }
    }
    for (index, op) in problem.ops.iter().enumerate() {
        if let Some(&after) = op.after.iter().find(|&&after| after >= index) {
            return Err(PlanError::Order { op: index, after });
        }
        if let Some(&buffer) = op.reads.iter().chain(&op.writes).find(|&&buffer| buffer >= count) {
            return Err(PlanError::Buffer { buffer });
        }
        let written_constant = |&&buffer: &&usize| problem.buffers[buffer].memory == Memory::Constant;
        if let Some(&buffer) = op.writes.iter().find(written_constant) {
            return Err(PlanError::Buffer { buffer });
        }
        let is_possible = op.in_place.iter().all(|pair| {
            op.writes.contains(&pair.result)
                && op.reads.contains(&pair.operand)
                && problem.buffers[pair.result].memory == Memory::Arena
        });
        if !is_possible {
            return Err(PlanError::InPlace { op: index });
        }
    }
    Ok(())
}

/// An access of an op.
struct Access {
    op: usize,
    buffer: usize,
    /// The buffer that is no part.
    root: usize,
    rows: Rows,
    is_write: bool,
}

impl Access {
    fn conflicts_with(&self, other: &Access) -> bool {
        (self.is_write || other.is_write) && self.rows.may_overlap(&other.rows)
    }
}

/// The accesses of all ops, in program order.
fn accesses(problem: &Problem) -> Vec<Access> {
    let access = |op: usize, buffer: usize, is_write: bool| {
        let description = &problem.buffers[buffer];
        let (root, rows) = match description.memory {
            Memory::Part { whole, rows } => (whole, rows),
            _ => (buffer, Rows::contiguous(0, description.size_bytes)),
        };
        Access { op, buffer, root, rows, is_write }
    };
    let ops = problem.ops.iter().enumerate();
    ops.flat_map(|(index, op)| {
        let reads = op.reads.iter().map(move |&buffer| (buffer, false));
        let all = reads.chain(op.writes.iter().map(|&buffer| (buffer, true)));
        all.map(move |(buffer, is_write)| access(index, buffer, is_write)).collect::<Vec<_>>()
    })
    .collect()
}

/// For each op, all ops before it, by edges that agree with an order.
fn closure(order: &[usize], edges: &[Vec<usize>]) -> Vec<Bits> {
    let mut before = vec![Bits::new(edges.len()); edges.len()];
    for &op in order {
        let mut all = Bits::new(edges.len());
        for &earlier in &edges[op] {
            all.insert(earlier);
            all.add_all(&before[earlier]);
        }
        before[op] = all;
    }
    before
}

/// What is wrong with a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// The schedule does not issue each op once, behind what it waits for, on a stream that there
    /// is.
    Schedule,
    /// The schedule does not keep an op behind one that it follows.
    Unordered {
        /// The op that must be first.
        first: usize,
        /// The op that follows it.
        second: usize,
    },
    /// Nothing orders an op and the beginning or the end of the run.
    Unjoined {
        /// The op.
        op: usize,
    },
    /// Two buffers lie in the same bytes while both may be in use.
    Overlap {
        /// A buffer.
        first: usize,
        /// Another buffer.
        second: usize,
    },
    /// A buffer lies outside of its block.
    Outside {
        /// The buffer.
        buffer: usize,
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Schedule => f.write_str("the schedule does not issue each op once, in order, on a stream"),
            Self::Unordered { first, second } => write!(f, "op {second} may begin before op {first} ends"),
            Self::Unjoined { op } => {
                write!(f, "op {op} is not ordered with the beginning or the end of the run")
            }
            Self::Overlap { first, second } => {
                write!(f, "buffers {first} and {second} overlap, and both may be in use at once")
            }
            Self::Outside { buffer } => write!(f, "buffer {buffer} lies outside of its block"),
        }
    }
}

/// Proves that a plan runs each op behind those that it follows, begins and ends on stream 0, and
/// lets buffers share memory only if all accesses of one happen before all of the other.
///
/// # Errors
/// What it cannot prove.
pub fn check(problem: &Problem, plan: &Plan) -> Result<(), Violation> {
    let schedule = &plan.schedule;
    let before = check_schedule(problem, plan)?;
    for (second, op) in problem.ops.iter().enumerate() {
        if let Some(&first) = op.after.iter().find(|&&first| !before[second].contains(first)) {
            return Err(Violation::Unordered { first, second });
        }
    }
    check_ends(schedule.streams.as_slice(), &schedule.events, &before)?;
    check_places(problem, plan, &before)
}

/// Checks the form of a schedule, and returns for each op all that happen before it.
fn check_schedule(problem: &Problem, plan: &Plan) -> Result<Vec<Bits>, Violation> {
    let schedule = &plan.schedule;
    let count = problem.ops.len();
    let mut places = vec![None; count];
    for (place, &op) in schedule.order.iter().enumerate() {
        match places.get_mut(op) {
            Some(free @ None) => *free = Some(place),
            _ => return Err(Violation::Schedule),
        }
    }
    let is_on_stream = |(op, &stream): (&super::Op, &usize)| {
        let is_copy_stream = schedule.copy_stream == Some(stream);
        stream < schedule.stream_count && is_copy_stream == (op.queue == Queue::Copy)
    };
    let is_complete = schedule.order.len() == count && schedule.streams.len() == count;
    if !is_complete || !problem.ops.iter().zip(&schedule.streams).all(is_on_stream) {
        return Err(Violation::Schedule);
    }
    let mut edges = vec![Vec::new(); count];
    let mut last = vec![None; schedule.stream_count];
    for &op in &schedule.order {
        edges[op].extend(last[schedule.streams[op]].replace(op));
    }
    for event in &schedule.events {
        if let Event { after: Some(after), before: Some(before) } = *event {
            let is_in_order = after < count && before < count && places[after] < places[before];
            if !is_in_order {
                return Err(Violation::Schedule);
            }
            edges[before].push(after);
        }
    }
    Ok(closure(&schedule.order, &edges))
}

/// Checks that each op follows the beginning of the run and precedes its end, both on stream 0.
fn check_ends(streams: &[usize], events: &[Event], before: &[Bits]) -> Result<(), Violation> {
    let mut begins: Vec<bool> = streams.iter().map(|&stream| stream == 0).collect();
    let mut ends = begins.clone();
    for event in events {
        match *event {
            Event { after: None, before: Some(op) } => begins[op] = true,
            Event { after: Some(op), before: None } => ends[op] = true,
            _ => {}
        }
    }
    let ops = || 0..streams.len();
    let follows = |op: usize| begins[op] || ops().any(|first| begins[first] && before[op].contains(first));
    let precedes = |op: usize| ends[op] || ops().any(|last| ends[last] && before[last].contains(op));
    match ops().find(|&op| !follows(op) || !precedes(op)) {
        Some(op) => Err(Violation::Unjoined { op }),
        None => Ok(()),
    }
}

/// The bytes of a buffer in its block, and the ops that access it.
struct Placed {
    buffer: usize,
    root: usize,
    block: Block,
    rows: Rows,
    ops: Vec<usize>,
}

fn check_places(problem: &Problem, plan: &Plan, before: &[Bits]) -> Result<(), Violation> {
    let layout = &plan.layout;
    let mut placed: Vec<Placed> = Vec::new();
    for (buffer, description) in problem.buffers.iter().enumerate() {
        let place = layout.places.get(buffer).ok_or(Violation::Outside { buffer })?;
        let (root, rows) = match description.memory {
            Memory::Part { whole, rows } => (whole, Rows { offset_bytes: place.offset_bytes, ..rows }),
            _ => (buffer, Rows::contiguous(place.offset_bytes, description.size_bytes)),
        };
        let block_bytes = match place.block {
            Block::Arena => layout.arena_bytes,
            Block::Constants => layout.constant_bytes,
            Block::External(owner) => problem.buffers.get(owner).map_or(0, |owner| owner.size_bytes),
        };
        let relative = match description.memory {
            Memory::Part { whole, rows } => layout.places[whole].offset_bytes + rows.offset_bytes,
            _ => place.offset_bytes,
        };
        if rows.end_bytes() > block_bytes || relative != place.offset_bytes {
            return Err(Violation::Outside { buffer });
        }
        placed.push(Placed { buffer, root, block: place.block, rows, ops: Vec::new() });
    }
    for (index, op) in problem.ops.iter().enumerate() {
        for &buffer in op.reads.iter().chain(&op.writes) {
            placed[buffer].ops.push(index);
        }
    }
    for (index, first) in placed.iter().enumerate() {
        for second in &placed[..index] {
            let shares = first.block == second.block && first.rows.may_overlap(&second.rows);
            if shares && first.root != second.root && !may_share(problem, first, second, before) {
                return Err(Violation::Overlap { first: second.buffer, second: first.buffer });
            }
        }
    }
    Ok(())
}

/// Whether all accesses of one buffer come before all of the other. One op may be the last of one
/// and the first of the other if it computes in place.
fn may_share(problem: &Problem, first: &Placed, second: &Placed, before: &[Bits]) -> bool {
    let is_in_place = |op: usize, operand: &Placed, result: &Placed| {
        let mut pairs = problem.ops[op].in_place.iter();
        operand.rows.offset_bytes == result.rows.offset_bytes
            && pairs.any(|pair| pair.result == result.buffer && pair.operand == operand.buffer)
    };
    let all_before = |first: &Placed, second: &Placed| {
        first.ops.iter().all(|&a| {
            let mut later = second.ops.iter();
            later.all(|&b| before[b].contains(a) || (a == b && is_in_place(a, first, second)))
        })
    };
    all_before(first, second) || all_before(second, first)
}
