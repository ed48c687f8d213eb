//! [`Planned`]: the streams and the memory of a device program.

use std::collections::HashSet;

use tfrt_host::DType;

use crate::{
    analysis::place,
    plan::{
        self, Block, Buffer, InPlace, Memory, Op, Options, Plan, PlanError, Problem, Queue, Streams,
        cost::{Estimate, Work},
    },
};

use super::{
    CudaOptions,
    nodes::{BufferId, Content, DeviceGraph, Node, Operand, Output},
};

/// The alignment of buffers within a block.
pub(super) const ALIGNMENT: u64 = 256;

/// A part of one of the two blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slice {
    pub(super) is_constant: bool,
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

/// What an op of the planner's problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// The node of this number.
    Node(usize),
    /// A step of the host. What the device does before it is queued before it, and so is what it
    /// does behind it.
    Step(usize),
}

/// Whether the plans of several batch sizes share one block of constants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sharing {
    /// The plan has its own block.
    #[default]
    Alone,
    /// Its `setup` allocates the block for the plans behind it.
    First,
    /// Its `setup` takes the block.
    Later,
}

impl Sharing {
    /// Returns whether other plans use the same block.
    pub(super) fn is_shared(self) -> bool {
        self != Self::Alone
    }
}

/// Where and when everything happens.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) problem: Problem,
    /// What each op of the problem is.
    pub(super) items: Vec<Item>,
    pub(super) plan: Plan,
    /// The place of each buffer of the graph.
    pub(super) buffers: Vec<Slice>,
    /// The scratch memory of each node.
    pub(super) scratch: Vec<Option<Slice>>,
    /// The memory that each node keeps.
    pub(super) kept: Vec<Option<Slice>>,
    pub(super) arena_bytes: u64,
    pub(super) constant_bytes: u64,
    pub(super) sharing: Sharing,
    /// The buffers of constants that the `setup` of another plan uploads.
    pub(super) uploaded_before: HashSet<usize>,
}

impl Planned {
    /// Plans a program on streams: on one, if the host takes part in it.
    ///
    /// # Errors
    /// A mistake in the problem, which is an error of the compiler.
    pub(super) fn new(graph: &DeviceGraph, options: &CudaOptions) -> Result<Self, PlanError> {
        let (problem, items) =
            Builder { graph, options, problem: Problem::default(), items: Vec::new() }.build();
        let is_divided = items.iter().any(|item| matches!(item, Item::Step(_)));
        let streams = if is_divided { Streams::AtMost(1) } else { options.streams };
        let device = options.machine.queues;
        let options = Options { streams, device, alignment_bytes: ALIGNMENT, ..Options::default() };
        let plan = plan::plan(&problem, &options)?;
        // Inputs and outputs lie behind the arena's other buffers, because callers access them
        // outside of a run.
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
        Ok(Self {
            buffers: slices,
            scratch,
            kept,
            arena_bytes,
            constant_bytes: plan.layout.constant_bytes,
            sharing: Sharing::default(),
            uploaded_before: HashSet::new(),
            problem,
            items,
            plan,
        })
    }
}

fn scratch_bytes(node: &Node) -> u64 {
    node.footprint.scratch_bytes
}

fn kept_bytes(node: &Node) -> u64 {
    node.footprint.kept_bytes
}

/// Describes a graph to the planner: its buffers, then the scratch memory of nodes, then the memory
/// that they keep.
struct Builder<'g> {
    graph: &'g DeviceGraph,
    options: &'g CudaOptions,
    problem: Problem,
    items: Vec<Item>,
}

impl Builder<'_> {
    fn build(mut self) -> (Problem, Vec<Item>) {
        self.add_buffers();
        // The op that writes each buffer.
        let mut producers = vec![None; self.graph.buffers.len()];
        let mut last_step = None;
        let regions = self.graph.region_count();
        for part in 0..=regions.max(self.graph.host.step_count()) {
            last_step = self.add_step(part, &mut producers).or(last_step);
            for (number, node) in self.graph.nodes.iter().enumerate().filter(|(_, node)| node.region == part)
            {
                self.add_node((number, node), last_step, &mut producers);
            }
        }
        self.add_memory_of_nodes();
        (self.problem, self.items)
    }

    fn add_buffers(&mut self) {
        let is_output = |id: usize| {
            let is_it = |output: &Output| matches!(output, Output::Device(output, _) if output.0 == id);
            self.graph.outputs.iter().any(is_it)
        };
        for (number, buffer) in self.graph.buffers.iter().enumerate() {
            let memory = match buffer.content {
                Content::Constant(_) => Memory::Constant,
                Content::Computed | Content::Uploaded if !is_output(number) => Memory::Arena,
                Content::Input(_) | Content::Computed | Content::Uploaded => Memory::External,
            };
            let (label, size_bytes) = (buffer.label.clone(), buffer.bytes);
            self.problem.buffers.push(Buffer { label, size_bytes, memory });
        }
    }

    /// Adds the copies of a step of the host, if it has any. They are queued behind all ops before.
    fn add_step(&mut self, step: usize, producers: &mut [Option<usize>]) -> Option<usize> {
        let host = &self.graph.host;
        let reads: Vec<usize> = host.downloads_of(step).map(|download| download.buffer.0).collect();
        let writes: Vec<usize> = host.uploads_of(step).map(|upload| upload.buffer.0).collect();
        if reads.is_empty() && writes.is_empty() {
            return None;
        }
        let bytes =
            |buffers: &[usize]| buffers.iter().map(|&id| self.graph.buffers[id].bytes).collect::<Vec<_>>();
        let copies = [bytes(&reads), bytes(&writes)].concat();
        let copy_ns = |&bytes: &u64| self.options.machine.estimate_copy(bytes).time_ns;
        let time_ns = copies.iter().map(copy_ns).sum();
        let op = self.problem.ops.len();
        for &write in &writes {
            producers[write] = Some(op);
        }
        self.items.push(Item::Step(step));
        self.problem.ops.push(Op {
            label: format!("step {step} of the host"),
            after: (0..op).collect(),
            time_ns,
            share: 1.0,
            reads,
            writes,
            ..Op::default()
        });
        Some(op)
    }

    fn add_node(
        &mut self,
        (number, node): (usize, &Node),
        last_step: Option<usize>,
        producers: &mut [Option<usize>],
    ) {
        let reads: Vec<usize> = operand_buffers(node).map(|id| id.0).collect();
        let mut after: Vec<usize> = reads.iter().filter_map(|&read| producers[read]).collect();
        after.extend(last_step);
        after.sort_unstable();
        after.dedup();
        let Estimate { time_ns, share } = self.estimate(node);
        for result in &node.results {
            producers[result.0] = Some(self.problem.ops.len());
        }
        self.items.push(Item::Node(number));
        self.problem.ops.push(Op {
            label: node.label(),
            after,
            time_ns,
            share,
            queue: Queue::Compute,
            in_place: in_place(node, &self.problem.buffers),
            reads,
            writes: node.results.iter().map(|id| id.0).collect(),
        });
    }

    /// Adds scratch memory, then memory that nodes keep, both in the order of the nodes.
    fn add_memory_of_nodes(&mut self) {
        let mut ops = vec![0; self.graph.nodes.len()];
        for (op, item) in self.items.iter().enumerate() {
            if let Item::Node(number) = *item {
                ops[number] = op;
            }
        }
        for (number, node) in self.graph.nodes.iter().enumerate().filter(|(_, node)| scratch_bytes(node) > 0)
        {
            self.problem.ops[ops[number]].writes.push(self.problem.buffers.len());
            self.problem.buffers.push(extra(node, "scratch memory", scratch_bytes(node), Memory::Arena));
        }
        for (number, node) in self.graph.nodes.iter().enumerate().filter(|(_, node)| kept_bytes(node) > 0) {
            self.problem.ops[ops[number]].reads.push(self.problem.buffers.len());
            self.problem.buffers.push(extra(node, "tables", kept_bytes(node), Memory::Constant));
        }
    }

    /// Estimates how long a node takes, and which part of the device it keeps busy. A measured time
    /// counts more.
    fn estimate(&self, node: &Node) -> Estimate {
        let buffers =
            || operand_buffers(node).chain(node.results.iter().copied()).map(|id| &self.graph.buffers[id.0]);
        let is_half = buffers().any(|buffer| matches!(buffer.ty.dtype, DType::F16 | DType::BF16));
        let bytes = buffers().map(|buffer| buffer.bytes).sum();
        let estimate = self.options.machine.estimate(Work { flops: node.flops, bytes, is_half });
        let place = place(&node.location).unwrap_or_default();
        self.options.costs.as_ref().map_or(estimate, |costs| costs.replace(&node.name, &place, estimate))
    }
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

/// The results that may take an operand's memory: both are in the arena, and the node reads the
/// operand once.
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
