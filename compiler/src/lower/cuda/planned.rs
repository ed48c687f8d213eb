//! [`Planned`]: the streams and the memory of a device program.

use tfrt_host::DType;

use crate::plan::{
    self, Block, Buffer, InPlace, Memory, Op, Options, Plan, PlanError, Problem, Queue, Streams,
    cost::{Estimate, MACHINES, Machine, Work},
};

use super::nodes::{BufferId, Content, DeviceGraph, Node, Operand};

/// The alignment of buffers within a block.
pub(super) const ALIGNMENT: u64 = 256;

/// A part of one of the two blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slice {
    pub(super) is_constant: bool,
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

/// Where and when everything happens.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) problem: Problem,
    pub(super) plan: Plan,
    /// The place of each buffer of the graph.
    pub(super) buffers: Vec<Slice>,
    /// The scratch memory of each node.
    pub(super) scratch: Vec<Option<Slice>>,
    /// The memory that each node keeps.
    pub(super) kept: Vec<Option<Slice>>,
    pub(super) arena_bytes: u64,
    pub(super) constant_bytes: u64,
}

impl Planned {
    /// Plans a program on streams.
    ///
    /// # Errors
    /// A mistake in the problem, which is an error of the compiler.
    pub(super) fn new(graph: &DeviceGraph, streams: Streams) -> Result<Self, PlanError> {
        let machine = &MACHINES[0];
        let problem = problem(graph, machine);
        let device = machine.queues;
        let options = Options { streams, device, alignment_bytes: ALIGNMENT, ..Options::default() };
        let plan = plan::plan(&problem, &options)?;
        // Inputs and outputs lie behind the arena's other buffers, because callers access them outside of a run.
        let mut arena_bytes = plan.layout.arena_bytes.next_multiple_of(ALIGNMENT);
        let mut slices = Vec::new();
        for (buffer, place) in problem.buffers.iter().zip(&plan.layout.places) {
            let bytes = buffer.size_bytes;
            let offset = match place.block {
                Block::Arena | Block::Constants => place.offset_bytes,
                Block::External(_) => {
                    let offset = arena_bytes;
                    arena_bytes += bytes.next_multiple_of(ALIGNMENT);
                    offset
                }
            };
            slices.push(Slice { is_constant: place.block == Block::Constants, offset, bytes });
        }
        let mut extra = slices.split_off(graph.buffers.len()).into_iter();
        let mut parts = |wanted: fn(&Node) -> u64| {
            let part = |node| if wanted(node) > 0 { extra.next() } else { None };
            graph.nodes.iter().map(part).collect::<Vec<_>>()
        };
        let scratch = parts(scratch_bytes);
        let kept = parts(kept_bytes);
        let constant_bytes = plan.layout.constant_bytes;
        Ok(Self { buffers: slices, scratch, kept, arena_bytes, constant_bytes, problem, plan })
    }
}

fn scratch_bytes(node: &Node) -> u64 {
    node.footprint.scratch_bytes
}

fn kept_bytes(node: &Node) -> u64 {
    node.footprint.kept_bytes
}

/// Describes a graph to the planner: its buffers, then the scratch memory of nodes, then the memory that they keep.
fn problem(graph: &DeviceGraph, machine: &Machine) -> Problem {
    let is_output = |id: usize| graph.outputs.iter().any(|(output, _)| output.0 == id);
    let mut problem = Problem::default();
    for (number, buffer) in graph.buffers.iter().enumerate() {
        let memory = match buffer.content {
            Content::Constant(_) => Memory::Constant,
            Content::Computed if !is_output(number) => Memory::Arena,
            Content::Input(_) | Content::Computed => Memory::External,
        };
        problem.buffers.push(Buffer { label: buffer.label.clone(), size_bytes: buffer.bytes, memory });
    }
    let producers = producers(graph);
    for node in &graph.nodes {
        let reads: Vec<usize> = operand_buffers(node).map(|id| id.0).collect();
        let mut after: Vec<usize> = reads.iter().filter_map(|&read| producers[read]).collect();
        after.sort_unstable();
        after.dedup();
        let Estimate { time_ns, share } = estimate(graph, node, machine);
        problem.ops.push(Op {
            label: node.label(),
            after,
            time_ns,
            share,
            queue: Queue::Compute,
            in_place: in_place(node, &problem.buffers),
            reads,
            writes: node.results.iter().map(|id| id.0).collect(),
        });
    }
    for (number, node) in graph.nodes.iter().enumerate() {
        if scratch_bytes(node) > 0 {
            problem.ops[number].writes.push(problem.buffers.len());
            problem.buffers.push(extra(node, "scratch memory", scratch_bytes(node), Memory::Arena));
        }
    }
    for (number, node) in graph.nodes.iter().enumerate() {
        if kept_bytes(node) > 0 {
            problem.ops[number].reads.push(problem.buffers.len());
            problem.buffers.push(extra(node, "tables", kept_bytes(node), Memory::Constant));
        }
    }
    problem
}

fn extra(node: &Node, what: &str, size_bytes: u64, memory: Memory) -> Buffer {
    Buffer { label: format!("{what} of {}", node.label()), size_bytes, memory }
}

fn operand_buffers(node: &Node) -> impl Iterator<Item = BufferId> {
    node.operands.iter().filter_map(|operand| match *operand {
        Operand::Buffer(id) => Some(id),
        Operand::Host(_) => None,
    })
}

/// The node that computes each buffer.
fn producers(graph: &DeviceGraph) -> Vec<Option<usize>> {
    let mut producers = vec![None; graph.buffers.len()];
    for (number, node) in graph.nodes.iter().enumerate() {
        for result in &node.results {
            producers[result.0] = Some(number);
        }
    }
    producers
}

/// The results that may take an operand's memory: both are in the arena, and the node reads the operand once.
fn in_place(node: &Node, buffers: &[Buffer]) -> Vec<InPlace> {
    let pair = |&(result, operand): &(usize, usize)| {
        let (result, operand) = (node.results.get(result)?.0, node.operands.get(operand)?);
        let Operand::Buffer(BufferId(operand)) = *operand else { return None };
        let is_arena = |buffer: usize| buffers[buffer].memory == Memory::Arena;
        let is_read_once = operand_buffers(node).filter(|id| id.0 == operand).count() == 1;
        (is_arena(result) && is_arena(operand) && is_read_once).then_some(InPlace { result, operand })
    };
    node.footprint.in_place.iter().filter_map(pair).collect()
}

/// Estimates how long a node takes, and which part of the device it keeps busy.
fn estimate(graph: &DeviceGraph, node: &Node, machine: &Machine) -> Estimate {
    let buffers = || operand_buffers(node).chain(node.results.iter().copied()).map(|id| &graph.buffers[id.0]);
    let is_half = buffers().any(|buffer| matches!(buffer.ty.dtype, DType::F16 | DType::BF16));
    machine.estimate(Work { flops: node.flops, bytes: buffers().map(|buffer| buffer.bytes).sum(), is_half })
}
