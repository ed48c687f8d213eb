//! An op graph as a device program that can be planned: what each op would do if each were one
//! launch.

use std::collections::{HashMap, HashSet};

use tfrt_host::DType;
use tfrt_ir::{Attribute, Diagnostic, Diagnostics, Location, OpId, Operation, ValueId};

use super::{cost, liveness::VIEWS};
use crate::{
    Graph, MAIN, TensorType,
    import::onnx::RETURN,
    pass::STEP_OPS,
    plan::{
        Buffer, InPlace, Memory, Op, Problem, Queue, Rows,
        cost::{Costs, Estimate, Machine, Work},
    },
};

/// Describes the function [`MAIN`] as a device program: a copy of each input, an op for each
/// operation, a copy of each output. Operations on constants alone run before the program does, and
/// views take no op.
///
/// # Errors
/// Values whose shapes are not known, and operations that call functions.
pub fn device_problem(
    graph: &Graph,
    machine: &Machine,
    costs: Option<&Costs>,
) -> Result<Problem, Diagnostics> {
    let mut builder = Builder {
        graph,
        machine,
        costs,
        problem: Problem::default(),
        values: HashMap::new(),
        errors: Diagnostics::new(),
    };
    builder.add_main();
    if builder.errors.has_errors() { Err(builder.errors) } else { Ok(builder.problem) }
}

/// What holds a value.
#[derive(Clone, Debug)]
struct Held {
    buffer: usize,
    /// The ops that write it.
    makers: Vec<usize>,
    is_constant: bool,
}

struct Builder<'g> {
    graph: &'g Graph,
    machine: &'g Machine,
    costs: Option<&'g Costs>,
    problem: Problem,
    values: HashMap<ValueId, Held>,
    errors: Diagnostics,
}

impl Builder<'_> {
    fn add_main(&mut self) {
        let module = &self.graph.module;
        let Some(main) = module.function(MAIN) else { return };
        let Some(body) = main.body() else { return };
        for (&value, port) in module.block(body).arguments.iter().zip(&self.graph.inputs) {
            self.add_input(value, &port.name);
        }
        let ops: Vec<OpId> = module.ops_in(body).map(|(id, _)| id).collect();
        for id in ops {
            if module.op(id).name == RETURN {
                for (&value, port) in module.op(id).operands.iter().zip(&self.graph.outputs) {
                    self.add_output(value, &port.name);
                }
            } else {
                self.add_op(id);
            }
        }
    }

    fn add_input(&mut self, value: ValueId, name: &str) {
        let Some(size_bytes) = self.size(value, &Location::Unknown, name) else { return };
        let outside = self.add_buffer(name.to_owned(), size_bytes, Memory::External);
        let inside = self.add_buffer(name.to_owned(), size_bytes, Memory::Arena);
        let estimate = self.machine.estimate_copy(size_bytes);
        let op = self.add(Op {
            label: format!("upload {name}"),
            queue: Queue::Copy,
            reads: vec![outside],
            writes: vec![inside],
            ..timed(estimate)
        });
        self.values.insert(value, Held { buffer: inside, makers: vec![op], is_constant: false });
    }

    fn add_output(&mut self, value: ValueId, name: &str) {
        let Some(Held { buffer, makers, .. }) = self.values.get(&value).cloned() else { return };
        let Some(size_bytes) = self.size(value, &Location::Unknown, name) else { return };
        let outside = self.add_buffer(name.to_owned(), size_bytes, Memory::External);
        let estimate = self.machine.estimate_copy(size_bytes);
        self.add(Op {
            label: format!("download {name}"),
            queue: Queue::Copy,
            after: makers,
            reads: vec![buffer],
            writes: vec![outside],
            ..timed(estimate)
        });
    }

    fn add_op(&mut self, id: OpId) {
        let op = self.graph.module.op(id);
        if op.attributes.iter().any(|(_, value)| calls(self.graph, value)) {
            let message = format!("'{}' calls functions, which cannot be planned", op.name.as_str());
            self.errors.push(Diagnostic::error(op.location.clone(), message));
            return;
        }
        let operands: Vec<Held> =
            op.operands.iter().filter_map(|value| self.values.get(value).cloned()).collect();
        if operands.len() < op.operands.len() {
            // The error of what defines the operand says why.
            return;
        }
        // What computes constants of constants runs once. Random numbers are new in each run.
        let is_constant =
            operands.iter().all(|held| held.is_constant) && !op.name.as_str().contains("Random");
        if VIEWS.contains(&op.name.as_str())
            && let (Some(held), [result]) = (operands.first(), &op.results[..])
        {
            self.values.insert(*result, held.clone());
            return;
        }
        let memory = if is_constant { Memory::Constant } else { Memory::Arena };
        let mut writes = Vec::new();
        for &result in &op.results {
            let name = place(&op.location).unwrap_or_else(|| op.name.as_str().to_owned());
            let Some(size_bytes) = self.size(result, &op.location, op.name.as_str()) else { return };
            writes.push(self.add_buffer(name, size_bytes, memory));
        }
        let index = self.problem.ops.len();
        let makers = if is_constant { Vec::new() } else { vec![index] };
        for (&result, &buffer) in op.results.iter().zip(&writes) {
            self.values.insert(result, Held { buffer, makers: makers.clone(), is_constant });
        }
        if is_constant {
            return;
        }
        let reads: Vec<usize> = operands.iter().map(|held| held.buffer).collect();
        let after: Vec<usize> = operands.iter().flat_map(|held| held.makers.iter().copied()).collect();
        if op.name == "tf.ConcatV2" && self.join(op, &operands, &writes) {
            self.add(Op { label: label(op), after, share: 1.0, ..Op::default() });
            return;
        }
        let estimate = self.estimate(id, op, &reads, &writes);
        let in_place = self.in_place(op, &operands, &writes);
        self.add(Op { label: label(op), after, reads, writes, in_place, ..timed(estimate) });
    }

    /// Lets the operands of a concatenation be parts of its result, if each is one piece of it and
    /// nothing else holds it.
    fn join(&mut self, op: &Operation, operands: &[Held], writes: &[usize]) -> bool {
        let [whole] = *writes else { return false };
        let Some((axis, parts)) = operands.split_last() else { return false };
        let Some(axis) =
            op.operands.last().filter(|_| axis.is_constant).and_then(|&value| axis_of(self.graph, value))
        else {
            return false;
        };
        let dims = op.results.first().and_then(|&result| self.graph.tensor_type(result)?.static_dims());
        let Some(dims) = dims else { return false };
        let axis = if axis < 0 { axis + dims.len() as i64 } else { axis };
        let is_outermost = usize::try_from(axis)
            .ok()
            .and_then(|axis| dims.get(..axis))
            .is_some_and(|outer| outer.iter().all(|&dim| dim == 1));
        let buffers: HashSet<usize> = parts.iter().map(|held| held.buffer).collect();
        let memory = |buffer: usize| self.problem.buffers[buffer].memory;
        // A whole that is part of another one would need parts of parts.
        let has_parts = |buffer: usize| {
            self.problem
                .buffers
                .iter()
                .any(|other| matches!(other.memory, Memory::Part { whole, .. } if whole == buffer))
        };
        let is_free = |held: &Held| memory(held.buffer) == Memory::Arena && !has_parts(held.buffer);
        if !is_outermost || buffers.len() < parts.len() || !parts.iter().all(is_free) {
            return false;
        }
        let mut offset = 0;
        for held in parts {
            let size_bytes = self.problem.buffers[held.buffer].size_bytes;
            self.problem.buffers[held.buffer].memory =
                Memory::Part { whole, rows: Rows::contiguous(offset, size_bytes) };
            offset += size_bytes;
        }
        // A part's own result in place would be no result in the arena.
        for written in &mut self.problem.ops {
            written.in_place.retain(|pair| !buffers.contains(&pair.result));
        }
        if let Some(held) = op.results.first().and_then(|result| self.values.get_mut(result)) {
            let makers: Vec<usize> = parts.iter().flat_map(|part| part.makers.iter().copied()).collect();
            held.makers.extend(makers);
        }
        true
    }

    fn estimate(&self, id: OpId, op: &Operation, reads: &[usize], writes: &[usize]) -> Estimate {
        let bytes = reads.iter().chain(writes).map(|&buffer| self.problem.buffers[buffer].size_bytes).sum();
        let dtype = op.results.first().and_then(|&result| Some(self.graph.tensor_type(result)?.dtype));
        let work = Work {
            flops: cost::flops(self.graph, id).unwrap_or(0),
            bytes,
            is_half: matches!(dtype, Some(DType::F16 | DType::BF16)),
        };
        let estimate = self.machine.estimate(work);
        let place = place(&op.location).unwrap_or_default();
        self.costs.map_or(estimate, |costs| costs.replace(op.name.as_str(), &place, estimate))
    }

    /// The operands that an elementwise op may overwrite.
    fn in_place(&self, op: &Operation, operands: &[Held], writes: &[usize]) -> Vec<InPlace> {
        let (&[result], Some(ty)) =
            (writes, op.results.first().map(|&result| self.graph.tensor_type(result)))
        else {
            return Vec::new();
        };
        if !is_elementwise(op.name.as_str()) {
            return Vec::new();
        }
        let same = op
            .operands
            .iter()
            .zip(operands)
            .filter(|(operand, held)| !held.is_constant && self.graph.tensor_type(**operand) == ty);
        same.map(|(_, held)| InPlace { result, operand: held.buffer }).collect()
    }

    fn add(&mut self, op: Op) -> usize {
        self.problem.ops.push(op);
        self.problem.ops.len() - 1
    }

    fn add_buffer(&mut self, label: String, size_bytes: u64, memory: Memory) -> usize {
        self.problem.buffers.push(Buffer { label, size_bytes, memory });
        self.problem.buffers.len() - 1
    }

    /// The bytes of a value. A value without a known size is an error.
    fn size(&mut self, value: ValueId, location: &Location, what: &str) -> Option<u64> {
        let ty = self.graph.tensor_type(value);
        let size = ty.as_ref().and_then(TensorType::size_bytes);
        if size.is_none() {
            let ty = ty.map_or_else(|| "no tensor".to_owned(), |ty| ty.to_string());
            let message = format!("a plan needs static shapes, but a value of '{what}' is {ty}");
            self.errors.push(Diagnostic::error(location.clone(), message));
        }
        size
    }
}

fn timed(estimate: Estimate) -> Op {
    Op { time_ns: estimate.time_ns, share: estimate.share, ..Op::default() }
}

/// An op's name and place, as traces name it.
fn label(op: &Operation) -> String {
    match place(&op.location) {
        Some(place) => format!("{} at {place}", op.name.as_str()),
        None => op.name.as_str().to_owned(),
    }
}

/// The place of an op as the runtime shows it: a name of the model, or a position in a file.
pub(crate) fn place(location: &Location) -> Option<String> {
    match location.file_position()? {
        (file, 0, _) => Some(file.as_str().to_owned()),
        (file, line, column) => Some(format!("{}:{line}:{column}", file.as_str())),
    }
}

/// Whether an attribute names a function, or several.
fn calls(graph: &Graph, value: &Attribute) -> bool {
    let is_function = |value: &Attribute| {
        value.as_flat_symbol().is_some_and(|name| graph.module.function(name.as_str()).is_some())
    };
    is_function(value) || value.as_array().is_some_and(|values| values.iter().any(is_function))
}

/// The single integer that a constant is.
fn axis_of(graph: &Graph, value: ValueId) -> Option<i64> {
    match crate::shapes::integers(graph.constant(value)?)?[..] {
        [axis] => Some(axis),
        _ => None,
    }
}

/// Ops whose element of the result depends on the operands' elements at the same place alone.
fn is_elementwise(name: &str) -> bool {
    const BESIDE_STEPS: &[&str] = &["BiasAdd", "LeakyRelu", "Gelu", "Pow", "Select", "SelectV2"];
    name == "tfrt.FusedElementwise"
        || name
            .strip_prefix("tf.")
            .is_some_and(|name| STEP_OPS.contains(&name) || BESIDE_STEPS.contains(&name))
}
