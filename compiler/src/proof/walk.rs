//! Follows a program from its text, kernel by kernel, as the host runs it.
//!
//! Calls are followed into functions, branches on constants into the branch, and loops of a
//! constant count as often as they run. Where a branch that uses devices depends on data, all its
//! alternatives are followed, one after the other ([`Choices`]).

use std::{collections::HashMap, rc::Rc};

use tfrt_ir::{Attribute, BlockId, Module, OpId, OpRegistry, Operation, Type, ValueId};

use super::{
    kernels::Exchanges,
    launch::Sources,
    memory::{Access, Kind as Manner},
    order::{NodeId, Past, START},
    values::{Function, Image, Kind, Part, Value},
    world::{Memory, Step, World},
};
use crate::chains::{Analysis, Control};

/// The most kernels that are followed.
const MAX_STEPS: usize = 200_000;
/// The most calls within each other.
const MAX_DEPTH: usize = 100;
/// The iterations that are followed of a loop whose count depends on data.
const FOLLOWED_ITERATIONS: i128 = 3;
/// The most combinations of branches that are followed.
const MAX_PATHS: usize = 64;

/// Which alternative each branch takes that depends on data, in the order in which they are met.
#[derive(Debug, Default)]
pub(super) struct Choices {
    /// The alternative, and how many there are.
    taken: Vec<(usize, usize)>,
    next: usize,
    paths: usize,
}

impl Choices {
    fn choose(&mut self, count: usize) -> usize {
        if self.next == self.taken.len() {
            self.taken.push((0, count));
        }
        self.next += 1;
        self.taken[self.next - 1].0
    }

    /// Goes on to the next combination; `None` if all were followed, and false if there are too
    /// many.
    pub(super) fn advance(&mut self) -> Option<bool> {
        self.next = 0;
        self.paths += 1;
        while let Some((choice, count)) = self.taken.pop() {
            if choice + 1 < count {
                self.taken.push((choice + 1, count));
                return Some(self.paths < MAX_PATHS);
            }
        }
        None
    }
}

/// What is true of all kernels of a call.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    calls: Rc<[OpId]>,
    /// What happens before any of its kernels.
    node: NodeId,
    past: Past,
    /// Whether each kernel waits for the one before.
    is_sync: bool,
}

impl Frame {
    /// Makes the frame of a function that is called when something is done.
    pub(super) fn new(node: NodeId, past: Past) -> Frame {
        Frame { calls: Rc::new([]), node, past, is_sync: false }
    }

    /// Makes the kernels wait for each other, or not.
    pub(super) fn with_sync(mut self, is_sync: bool) -> Frame {
        self.is_sync = is_sync;
        self
    }
}

pub(super) struct Walk<'m> {
    pub(super) module: &'m Module,
    pub(super) ops: &'m OpRegistry,
    pub(super) analysis: &'m Analysis<'m>,
    pub(super) sources: &'m Sources,
    pub(super) world: World,
    pub(super) choices: Choices,
    steps: usize,
    modules: usize,
    /// The functions of `tfrt_cuda.launch`, by number: those of each device.
    pub(super) tables: Vec<Vec<Function>>,
    /// The memory of variables of modules, by module and name.
    pub(super) variables: HashMap<(usize, String), Part>,
    pub(super) exchanges: Exchanges,
}

type Values = HashMap<ValueId, Value>;

impl<'m> Walk<'m> {
    pub(super) fn new(
        (module, ops): (&'m Module, &'m OpRegistry),
        analysis: &'m Analysis<'m>,
        sources: &'m Sources,
        choices: Choices,
    ) -> Walk<'m> {
        Walk {
            module,
            ops,
            analysis,
            sources,
            world: World::new(),
            choices,
            steps: 0,
            modules: 0,
            tables: Vec::new(),
            variables: HashMap::new(),
            exchanges: Exchanges::default(),
        }
    }

    /// Returns all that happened, and the branches that were taken.
    pub(super) fn finish(self) -> (World, Choices) {
        (self.world, self.choices)
    }

    pub(super) fn next_module(&mut self) -> usize {
        self.modules += 1;
        self.modules
    }

    /// Makes an argument of a function that is called from outside of the program. Each is
    /// something else.
    pub(super) fn foreign(&mut self, ty: &Type) -> Value {
        let of = |name: &str| ty.is_dialect("tfrt_cuda", name);
        let whole = |root| Part { root, bytes: 0..u64::MAX };
        Value::at_start(if of("stream") || of("op_queue") {
            Kind::Stream(self.world.add_stream())
        } else if of("event") {
            Kind::Event(self.world.add_event(true))
        } else if of("buffer") || ty.is_dialect("cuda", "tensor") {
            Kind::Device(whole(self.world.add_root(None, None, Memory::Device)))
        } else if of("graph") {
            Kind::Graph(self.world.add_graph(None))
        } else if of("turns") {
            Kind::Turns(self.world.add_turns())
        } else if of("module") {
            Kind::Module(Image::Unknown)
        } else if of("function") {
            Kind::Function(Function::Unknown)
        } else if self.ops.is_mutable_type(ty) {
            Kind::Host(whole(self.world.add_root(None, None, Memory::Pageable)))
        } else {
            Kind::Opaque
        })
    }

    /// Follows a block. Returns what it returns.
    pub(super) fn block(&mut self, block: BlockId, arguments: &[Value], frame: &Frame) -> Vec<Value> {
        let mut values: Values =
            self.module.block(block).arguments.iter().copied().zip(arguments.iter().cloned()).collect();
        let mut frame = frame.clone();
        for (op, data) in self.module.ops_in(block) {
            let mut operands: Vec<Value> =
                data.operands.iter().map(|value| lookup(&values, *value, &frame)).collect();
            if Some(op) == self.module.last_op(block) && is_return(data) {
                if frame.is_sync {
                    operands.iter_mut().for_each(|value| self.wait(value, &frame));
                }
                return operands;
            }
            self.steps += 1;
            if self.steps > MAX_STEPS {
                let step = self.step(op, &frame);
                self.world.doubt(&step, format!("the program runs more than {MAX_STEPS} kernels"));
                return Vec::new();
            }
            let results = self.op(op, data, &operands, &frame);
            if frame.is_sync {
                frame.node =
                    self.world.graph.join(results.iter().map(|value| value.node).chain([frame.node]));
                frame.past = results.iter().fold(frame.past, |past, value| past.join(&value.past));
            }
            values.extend(data.results.iter().copied().zip(results));
        }
        Vec::new()
    }

    fn wait(&mut self, value: &mut Value, frame: &Frame) {
        value.node = self.world.graph.join([value.node, frame.node]);
        value.past = value.past.join(&frame.past);
    }

    pub(super) fn step(&self, op: OpId, frame: &Frame) -> Step {
        Step { op, calls: frame.calls.clone(), launched_by: None }
    }

    fn op(&mut self, op: OpId, data: &Operation, operands: &[Value], frame: &Frame) -> Vec<Value> {
        let mut results = match self.analysis.invocation(op) {
            Some((control, callees)) => match self.control(op, data, operands, frame, (control, &callees)) {
                Some(results) => results,
                None => self.opaque_control(op, data, operands, frame),
            },
            None => self.kernel(op, data, operands, frame),
        };
        results.resize_with(data.results.len(), || Value::at_start(Kind::Opaque));
        results
    }

    /// Follows control flow; `None` if it uses no devices, and is followed as a whole.
    fn control(
        &mut self,
        op: OpId,
        data: &Operation,
        operands: &[Value],
        frame: &Frame,
        (control, callees): (Control, &[usize]),
    ) -> Option<Vec<Value>> {
        let is_host = !callees.iter().any(|&callee| self.analysis.uses_devices(callee));
        if is_host && control != Control::Once {
            return None;
        }
        if frame.calls.len() >= MAX_DEPTH {
            let step = self.step(op, frame);
            self.world.doubt(&step, "calls of functions are nested too deeply, or without end");
            return Some(Vec::new());
        }
        let decision = |skip: usize| (operands.first().cloned(), operands.get(skip..).unwrap_or_default());
        match control {
            Control::Once => Some(self.run(op, callees[0], operands, frame)),
            Control::Branch => {
                let (condition, rest) = decision(1);
                let condition = condition?;
                let chosen = self.branch(&condition, data, callees.len());
                let inner = self.behind(&condition, frame);
                let mut results = self.run(op, callees[chosen], rest, &inner);
                results.iter_mut().for_each(|result| self.wait(result, &inner));
                Some(results)
            }
            Control::Repeat => {
                let (count, rest) = decision(1);
                let count = count?;
                let times = match count.kind {
                    Kind::Int(times) => times,
                    _ => self.unknown_count(op, frame),
                };
                let inner = self.behind(&count, frame);
                let mut values = rest.to_vec();
                for _ in 0..times {
                    if self.steps > MAX_STEPS {
                        break;
                    }
                    values = self.run(op, callees[0], &values, &inner);
                }
                Some(values)
            }
            Control::While => {
                let (condition, rest) = decision(1);
                let mut inner = self.behind(&condition?, frame);
                let mut values = rest.to_vec();
                for _ in 0..self.unknown_count(op, frame) {
                    values = self.run(op, callees[0], &values, &inner);
                    if let Some(condition) = values.pop() {
                        inner = self.behind(&condition, &inner);
                    }
                }
                Some(values)
            }
            Control::Parallel => {
                let step = self.step(op, frame);
                self.world.doubt(&step, "the blocks of a parallel loop use devices");
                Some(Vec::new())
            }
        }
    }

    /// How many iterations are followed of a loop whose count is not known: mistakes show in the
    /// first ones.
    fn unknown_count(&mut self, op: OpId, frame: &Frame) -> i128 {
        let step = self.step(op, frame);
        self.world.doubt(&step, "how often the loop runs depends on data");
        FOLLOWED_ITERATIONS
    }

    fn branch(&mut self, condition: &Value, data: &Operation, count: usize) -> usize {
        match condition.kind {
            // The first of two branches is the one of a true condition.
            Kind::Int(number) if data.name != "tfrt.case" => usize::from(number == 0),
            Kind::Int(number) => usize::try_from(number).map_or(count - 1, |number| number.min(count - 1)),
            _ => self.choices.choose(count),
        }
    }

    fn behind(&mut self, value: &Value, frame: &Frame) -> Frame {
        Frame {
            node: self.world.graph.join([frame.node, value.node]),
            past: frame.past.join(&value.past),
            ..frame.clone()
        }
    }

    /// Follows a body that an operation runs.
    fn run(&mut self, op: OpId, callee: usize, arguments: &[Value], frame: &Frame) -> Vec<Value> {
        let (block, is_sync) = self.analysis.body(callee);
        let calls = frame.calls.iter().copied().chain([op]).collect();
        let mut inner = Frame { calls, is_sync, ..frame.clone() };
        if is_sync {
            inner.node = self.world.graph.join(arguments.iter().map(|value| value.node).chain([frame.node]));
            inner.past = arguments.iter().fold(frame.past.clone(), |past, value| past.join(&value.past));
        }
        self.block(block, arguments, &inner)
    }

    /// Follows control flow that uses no devices: what it reads and writes, and which results wait
    /// for which operands.
    fn opaque_control(
        &mut self,
        op: OpId,
        data: &Operation,
        operands: &[Value],
        frame: &Frame,
    ) -> Vec<Value> {
        let mut nodes: Vec<Vec<NodeId>> = vec![vec![frame.node]; data.results.len()];
        let mut pasts = vec![frame.past.clone(); data.results.len()];
        for index in 0..data.results.len() {
            for operand in self.analysis.awaited_operands(op, index) {
                nodes[index].push(operands[operand].node);
                pasts[index] = pasts[index].join(&operands[operand].past);
            }
        }
        let mut results = self.made(op, data, operands, frame);
        for effect in self.analysis.effects(op) {
            let Some(part) = self.part_of_class(data, operands, &results, effect.class) else { continue };
            let waits = effect.waits_for.iter().map(|&operand| operands[operand].node).chain([frame.node]);
            let node = self.world.graph.add(waits.collect::<Vec<_>>());
            let manner = if effect.is_write { Manner::Write } else { Manner::Read };
            let step = self.step(effect.kernel, frame);
            self.world.host_access(&step, node, vec![Access::possible(part.root, manner, part.bytes)]);
            effect.told_by.iter().for_each(|&result| nodes[result].push(node));
        }
        for ((result, nodes), past) in results.iter_mut().zip(nodes).zip(pasts) {
            result.node = self.world.graph.join(nodes);
            result.past = past;
        }
        results
    }

    /// The memory of the host that values of a class lie in.
    fn part_of_class(
        &self,
        data: &Operation,
        operands: &[Value],
        results: &[Value],
        class: usize,
    ) -> Option<Part> {
        let named = data.operands.iter().zip(operands).chain(data.results.iter().zip(results));
        let mut parts = named.filter(|(value, _)| self.analysis.class_of(**value) == class);
        parts.find_map(|(_, value)| match &value.kind {
            Kind::Host(part) => Some(part.clone()),
            _ => None,
        })
    }

    /// The results of an operation, which share memory with operands where the operation says so.
    pub(super) fn made(
        &mut self,
        op: OpId,
        data: &Operation,
        operands: &[Value],
        frame: &Frame,
    ) -> Vec<Value> {
        let mut made = Vec::new();
        for (index, &result) in data.results.iter().enumerate() {
            let shared = self.analysis.shared_operand(op, index).and_then(|operand| operands.get(operand));
            let kind = match shared {
                Some(shared) => shared.kind.clone(),
                None if self.ops.is_mutable_type(self.module.value_type(result)) => {
                    let root = self.world.add_root(Some(self.step(op, frame)), None, Memory::Pageable);
                    Kind::Host(Part { root, bytes: 0..u64::MAX })
                }
                None => Kind::Opaque,
            };
            made.push(Value::at_start(kind));
        }
        made
    }

    /// What happens before a kernel that waits for its operands.
    pub(super) fn start_of(&mut self, data: &Operation, operands: &[Value], frame: &Frame) -> (NodeId, Past) {
        let awaited: &[Value] = if self.analysis.is_strict(data) { operands } else { &[] };
        let node = self.world.graph.join(awaited.iter().map(|value| value.node).chain([frame.node]));
        let past = awaited.iter().fold(frame.past.clone(), |past, value| past.join(&value.past));
        (node, past)
    }
}

fn lookup(values: &Values, value: ValueId, frame: &Frame) -> Value {
    // Only a block that was left early lacks a value.
    values.get(&value).cloned().unwrap_or(Value { kind: Kind::Opaque, node: START, past: frame.past.clone() })
}

fn is_return(data: &Operation) -> bool {
    data.results.is_empty() && data.name.ends_with(".return")
}

/// The integer of an attribute.
pub(super) fn integer(data: &Operation, name: &str) -> Option<u64> {
    u64::try_from(data.attr(name).and_then(Attribute::as_int)?).ok()
}

/// The text of an attribute.
pub(super) fn text<'d>(data: &'d Operation, name: &str) -> Option<&'d str> {
    data.attr(name).and_then(Attribute::as_str)
}
