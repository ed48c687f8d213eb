//! The memory that intermediate tensors take, if each is released after its last use.

use std::collections::{HashMap, HashSet};

use tfrt_ir::{Attribute, BlockId, Location, OpId, Operation, ValueId};

use super::is_constant;
use crate::{Graph, MAIN};

/// The most memory that intermediate tensors take at once: all but constants and the model's
/// inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeakMemory {
    /// The bytes of the tensors whose shapes are known.
    pub bytes: u64,
    /// The location of the operation that runs then.
    pub location: Option<Location>,
    /// How many tensors have shapes that are not known.
    pub unknown_count: usize,
}

/// Ops whose result is the memory of their first operand.
pub(super) const VIEWS: &[&str] = &["tf.Reshape", "tf.Identity", "tf.ExpandDims", "tf.Squeeze"];

/// The peak of the function [`MAIN`], with what the functions that it calls take.
pub(super) fn peak(graph: &Graph) -> PeakMemory {
    match graph.module.function(MAIN).and_then(|main| main.body()) {
        Some(body) => peak_of(graph, body, &mut Vec::new()),
        None => PeakMemory::default(),
    }
}

/// The tensors of a block, each by the value that has its memory.
struct Memory<'g> {
    graph: &'g Graph,
    owners: HashMap<ValueId, ValueId>,
    /// By owner: the last operation that uses its memory.
    last_uses: HashMap<ValueId, OpId>,
}

impl<'g> Memory<'g> {
    fn new(graph: &'g Graph, body: BlockId) -> Self {
        let mut memory = Self { graph, owners: HashMap::new(), last_uses: HashMap::new() };
        for (id, op) in graph.module.ops_in(body) {
            if VIEWS.contains(&op.name.as_str())
                && let (Some(&source), Some(&result)) = (op.operands.first(), op.results.first())
            {
                let owner = memory.owner(source);
                memory.owners.insert(result, owner);
            }
            for &operand in &op.operands {
                let owner = memory.owner(operand);
                memory.last_uses.insert(owner, id);
            }
        }
        memory
    }

    fn owner(&self, value: ValueId) -> ValueId {
        self.owners.get(&value).copied().unwrap_or(value)
    }

    /// The bytes of a value, if its shape is known.
    fn size(&self, value: ValueId) -> Option<u64> {
        self.graph.tensor_type(value)?.size_bytes()
    }
}

fn peak_of(graph: &Graph, body: BlockId, callers: &mut Vec<String>) -> PeakMemory {
    let memory = Memory::new(graph, body);
    let (mut live, mut peak) = (0_u64, PeakMemory::default());
    let mut is_live: HashSet<ValueId> = HashSet::new();
    for (id, op) in graph.module.ops_in(body) {
        if is_constant(graph, id) {
            continue;
        }
        for &result in op.results.iter().filter(|result| memory.owner(**result) == **result) {
            match memory.size(result) {
                Some(size) => {
                    live = live.saturating_add(size);
                    is_live.insert(result);
                }
                None => peak.unknown_count += 1,
            }
        }
        let inner = called(graph, op, callers);
        peak.unknown_count += inner.unknown_count;
        let now = live.saturating_add(inner.bytes);
        if now > peak.bytes {
            (peak.bytes, peak.location) = (now, Some(op.location.clone()));
        }
        for &value in op.operands.iter().chain(&op.results) {
            let owner = memory.owner(value);
            let last = memory.last_uses.get(&owner);
            if last.is_none_or(|&last| last == id) && is_live.remove(&owner) {
                live = live.saturating_sub(memory.size(owner).unwrap_or(0));
            }
        }
    }
    peak
}

/// The largest peak of the functions that an operation calls.
fn called(graph: &Graph, op: &Operation, callers: &mut Vec<String>) -> PeakMemory {
    let mut largest = PeakMemory::default();
    for (_, value) in op.attributes.iter() {
        let Some(name) = value_symbol(value).filter(|name| !callers.contains(name)) else { continue };
        let Some(body) = graph.module.function(&name).and_then(|function| function.body()) else { continue };
        callers.push(name);
        let peak = peak_of(graph, body, callers);
        callers.pop();
        largest.unknown_count += peak.unknown_count;
        largest.bytes = largest.bytes.max(peak.bytes);
    }
    largest
}

fn value_symbol(value: &Attribute) -> Option<String> {
    Some(value.as_flat_symbol()?.as_str().to_owned())
}
