//! Lowering to ops through the core runtime: every operation becomes a `corert.executeop`. Those that
//! read or change resources follow each other by chains.
//!
//! The program has three functions of its own: [`SIGNATURE`](super::SIGNATURE), [`SETUP`] and
//! [`MAIN`]. Setup runs once: it makes the op handler, the constants, and what depends on constants
//! alone. Main takes these before the model's inputs. Functions that control flow calls take a
//! chain, the constants they use and the values of the op graph.

use std::collections::{BTreeSet, HashMap, HashSet};

use tfrt_host::DType;
use tfrt_ir::{
    AttrDict, Attribute, BlockId, Diagnostic, Diagnostics, FunctionType, Location, Module, OpId, OpState,
    Operation, Type, ValueId,
};
use tfrt_tensor::{Accessor, HostTensor, SharedAllocator};

use super::{SETUP, WEIGHT, cuda::DevicePlan, hoist::Hoisted, write_signature};
use crate::{
    ConstantId, Evaluator, Graph, MAIN,
    attributes::dense_attribute,
    dialect::{tf, tf_executor::GRAPH},
    import::onnx::RETURN,
    pass::{
        effects::Effects,
        outline_islands::{EXECUTE, misplaced},
    },
};

static READ: Accessor = Accessor::new("constants of a program");

/// Constants of at most this many bytes are written into the program itself.
const MAX_INLINE_BYTES: usize = 256;
/// The name under which functions find the op handler that [`SETUP`] made.
const HANDLER: &str = "model";
/// The kernel that calls an op by name.
const EXECUTE_OP: &str = "corert.executeop";
/// The kernel that calls an op by name behind others.
const EXECUTE_ORDERED_OP: &str = "corert.executeop.seq";

/// A kernel graph and the tensors that it takes from its weights.
#[derive(Debug)]
pub struct Lowered {
    /// The kernel graph.
    pub module: Module,
    /// The weights, by the names that the program asks for.
    pub weights: Vec<(String, HostTensor)>,
    /// The plan of a device program.
    pub plan: Option<DevicePlan>,
}

/// Lowers a graph. The program of [`Place::Host`] runs in host memory alone. Weights that are one
/// value everywhere are expanded in memory of the evaluator, so that no call has to.
///
/// # Errors
/// Everything that has no counterpart in a kernel graph, each where it stands.
pub fn lower(graph: &Graph, evaluator: &Evaluator, place: Place) -> Result<Lowered, Diagnostics> {
    let mut lowering = Lowering::new(graph, evaluator);
    lowering.place = place;
    lowering.hoisted = Hoisted::find(graph, evaluator);
    if place == Place::Default {
        lowering.uploaded = uploaded(graph, evaluator);
    }
    lowering.lower_all();
    if lowering.errors.has_errors() {
        return Err(lowering.errors);
    }
    Ok(Lowered { module: lowering.module, weights: lowering.weights, plan: None })
}

pub(super) fn handle() -> Type {
    Type::dialect("corert", "tensorhandle")
}

pub(super) fn handler() -> Type {
    Type::dialect("corert", "ophandler")
}

fn tensor() -> Type {
    Type::dialect("t", "tensor")
}

/// Where a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On the device that its caller chooses, or on a CUDA device if there is one, else in host
    /// memory.
    Default,
    /// In host memory.
    Host,
}

pub(super) struct Lowering<'g> {
    graph: &'g Graph,
    place: Place,
    allocator: &'g SharedAllocator,
    /// The constants that go to the device once, if the model runs on one.
    uploaded: HashSet<ConstantId>,
    /// What the setup function computes for `main`.
    hoisted: Hoisted,
    pub(super) module: Module,
    pub(super) weights: Vec<(String, HostTensor)>,
    /// The constants that each function uses, those of functions it calls too.
    pub(super) used: HashMap<String, BTreeSet<ConstantId>>,
    /// The ops and functions that read or change resources.
    resources: Effects,
    pub(super) errors: Diagnostics,
}

/// A function that is being lowered.
pub(super) struct Body<'g> {
    pub(super) source: &'g Module,
    pub(super) block: BlockId,
    pub(super) handler: ValueId,
    pub(super) chain: ValueId,
    pub(super) constants: HashMap<ConstantId, ValueId>,
    pub(super) values: HashMap<ValueId, ValueId>,
}

impl<'g> Lowering<'g> {
    pub(super) fn new(graph: &'g Graph, evaluator: &'g Evaluator) -> Self {
        Lowering {
            graph,
            place: Place::Default,
            allocator: evaluator.allocator(),
            uploaded: HashSet::new(),
            hoisted: Hoisted::default(),
            module: Module::new(),
            weights: Vec::new(),
            used: HashMap::new(),
            resources: Effects::of_resources(&graph.module, evaluator),
            errors: Diagnostics::new(),
        }
    }

    fn lower_all(&mut self) {
        self.find_constants();
        write_signature(self.graph, &mut self.module);
        self.lower_setup();
        for function in self.graph.module.functions() {
            if function.name() == MAIN {
                self.lower_main(function.op());
            } else {
                self.lower_function(function.op(), function.name());
            }
        }
    }

    /// Lowers all functions that others call.
    pub(super) fn lower_functions(&mut self) {
        for function in self.graph.module.functions().filter(|function| function.name() != MAIN) {
            self.lower_function(function.op(), function.name());
        }
    }

    pub(super) fn append(&mut self, block: BlockId, state: OpState) -> Vec<ValueId> {
        let op = self.module.create_op(state);
        self.module.append_op(block, op);
        self.module.op(op).results.clone()
    }

    pub(super) fn append_one(&mut self, block: BlockId, state: OpState) -> ValueId {
        self.append(block, state)[0]
    }

    /// The operations of a function of the op graph.
    fn body_of(&self, function: OpId) -> (BlockId, Vec<OpId>) {
        let source = &self.graph.module;
        let block =
            source.as_function(function).and_then(|function| function.body()).unwrap_or(source.body());
        (block, source.ops_in(block).map(|(op, _)| op).collect())
    }

    /// Finds what constants each function needs: its own, and those of the functions it calls.
    pub(super) fn find_constants(&mut self) {
        let source = &self.graph.module;
        let mut calls: HashMap<String, HashSet<String>> = HashMap::new();
        for function in source.functions() {
            let (_, ops) = self.body_of(function.op());
            let mut constants: BTreeSet<_> =
                ops.iter().filter_map(|&op| self.graph.constant_id(op)).collect();
            if function.name() == MAIN {
                constants.retain(|&constant| !self.hoisted.owns(constant));
            }
            self.used.insert(function.name().to_owned(), constants);
            let called = ops.iter().flat_map(|&op| callees(source, op)).collect();
            calls.insert(function.name().to_owned(), called);
        }
        // The branches of a conditional take the same arguments, and so do the functions of a loop.
        let is_choice = |op: &OpId| source.op(*op).name != EXECUTE;
        let ops = source.walk(source.root()).filter(is_choice).map(|op| callees(source, op));
        let alike: Vec<_> = ops.filter(|callees| callees.len() > 1).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for (caller, callees) in &calls {
                let added: BTreeSet<_> =
                    callees.iter().filter_map(|callee| self.used.get(callee)).flatten().copied().collect();
                changed |= self.add_constants(caller, &added);
            }
            for alike in &alike {
                let all: BTreeSet<_> =
                    alike.iter().filter_map(|name| self.used.get(name)).flatten().copied().collect();
                changed |= alike.iter().fold(false, |changed, name| self.add_constants(name, &all) | changed);
            }
        }
    }

    /// Adds constants to those that a function uses; whether there is a new one.
    fn add_constants(&mut self, function: &str, added: &BTreeSet<ConstantId>) -> bool {
        let Some(used) = self.used.get_mut(function) else { return false };
        let before = used.len();
        used.extend(added);
        used.len() > before
    }

    /// `func @setup() -> (!corert.ophandler, !corert.tensorhandle, …)`: the constants, then what is
    /// computed from constants.
    fn lower_setup(&mut self) {
        let constants = self.used.get(MAIN).cloned().unwrap_or_default();
        let mut results = vec![handler()];
        results.resize(1 + constants.len() + self.hoisted.values.len(), handle());
        let (_, block) =
            self.module.add_function(SETUP, FunctionType { inputs: vec![], results }, Location::Unknown);
        let chain = self.append_one(block, OpState::new("tfrt.new.chain").results([Type::chain()]));
        let op_handler = self.create_handler(block);
        self.register_handler(block, op_handler);
        let mut body = Body {
            source: &self.graph.module,
            block,
            handler: op_handler,
            chain,
            constants: HashMap::new(),
            values: HashMap::new(),
        };
        for &id in constants.union(&self.hoisted.constants.clone()) {
            let value = self.lower_constant(block, (op_handler, chain), id);
            body.constants.insert(id, value);
        }
        let ops = self.hoisted.ops.clone();
        self.lower_ops(&mut body, &ops);
        let mut returned = vec![op_handler];
        returned.extend(constants.iter().map(|id| body.constants[id]));
        let computed: Vec<_> =
            self.hoisted.values.iter().filter_map(|value| body.values.get(value).copied()).collect();
        for value in computed {
            let state = OpState::new("corert.freeze").operands([value]).results([handle()]);
            returned.push(self.append_one(block, state));
        }
        self.append(block, OpState::new(RETURN).operands(returned));
    }

    fn create_handler(&mut self, block: BlockId) -> ValueId {
        if self.place == Place::Default {
            let made = OpState::new("corert.create_default_op_handler").results([handler()]);
            return self.append_one(block, made);
        }
        let last = OpState::new("corert.create_null_op_handler").results([handler()]);
        let last = self.append_one(block, last);
        let made = OpState::new("corert.create_cpu_op_handler").operands([last]).results([handler()]);
        self.append_one(block, made)
    }

    /// Makes an op handler known to functions.
    pub(super) fn register_handler(&mut self, block: BlockId, op_handler: ValueId) {
        let register = OpState::new("corert.register_op_handler")
            .operands([op_handler])
            .attr("chain_name", Attribute::string(HANDLER))
            .results([Type::chain()]);
        self.append(block, register);
    }

    pub(super) fn lower_constant(
        &mut self,
        block: BlockId,
        (op_handler, chain): (ValueId, ValueId),
        id: ConstantId,
    ) -> ValueId {
        let Some(constant) = self.graph.constants.tensor(id) else { return chain };
        if let Some(value) = inline(constant) {
            let state = OpState::new("corert.const_dense_tensor").attr("value", value).results([handle()]);
            return self.append_one(block, state);
        }
        if let HostTensor::String(strings) = constant {
            let dims = constant.shape().dims().iter().map(|&dim| Attribute::i64(dim as i64));
            let texts = strings.strings().iter().map(Attribute::string);
            let state = OpState::new("corert.const_string_tensor")
                .attr("shape", Attribute::array(dims.collect::<Vec<_>>()))
                .attr("value", Attribute::array(texts.collect::<Vec<_>>()))
                .results([handle()]);
            return self.append_one(block, state);
        }
        let name = weight_name(self.graph, id);
        let state = OpState::new(WEIGHT).attr("name", Attribute::string(&name)).results([tensor()]);
        let weight = self.append_one(block, state);
        match constant.to_dense(&READ, self.allocator) {
            Ok(dense) => self.weights.push((name, dense.into())),
            Err(error) => self.errors.push(Diagnostic::error(Location::Unknown, error.message)),
        }
        let state = OpState::new("corert.ht_to_tensorhandle").operands([weight, chain]).results([handle()]);
        let tensor = self.append_one(block, state);
        if !self.uploaded.contains(&id) {
            return tensor;
        }
        // On a device the identity copies the weight there, once and not at each call.
        let state = OpState::new(EXECUTE_OP)
            .operands([op_handler, tensor])
            .attr("op_attrs", Attribute::array([]))
            .attr("op_func_attrs", Attribute::array([]))
            .attr("op_name", Attribute::string("tf.Identity"))
            .results([handle()]);
        self.append_one(block, state)
    }

    /// `func @main(handler, constants…, hoisted…, inputs…: !t.tensor) -> (!t.tensor, …)`.
    fn lower_main(&mut self, function: OpId) {
        let source = &self.graph.module;
        let (from, mut ops) = self.body_of(function);
        ops.retain(|&op| !self.hoisted.contains(op));
        let constants: Vec<_> = self.used.get(MAIN).into_iter().flatten().copied().collect();
        let hoisted = self.hoisted.values.clone();
        let parameters = &source.block(from).arguments;
        let prepared_count = 1 + constants.len() + hoisted.len();
        let mut inputs = vec![handler()];
        inputs.resize(prepared_count, handle());
        inputs.resize(prepared_count + parameters.len(), tensor());
        let results = vec![tensor(); self.graph.outputs.len()];
        let location = source.op(function).location.clone();
        let (_, block) = self.module.add_function(MAIN, FunctionType { inputs, results }, location);
        let arguments = self.module.block(block).arguments.clone();
        let chain = self.append_one(block, OpState::new("tfrt.new.chain").results([Type::chain()]));
        let mut body = Body {
            source,
            block,
            handler: arguments[0],
            chain,
            constants: constants.iter().copied().zip(arguments[1..].iter().copied()).collect(),
            values: hoisted.into_iter().zip(arguments[1 + constants.len()..].iter().copied()).collect(),
        };
        for (&parameter, &argument) in parameters.iter().zip(&arguments[prepared_count..]) {
            let state =
                OpState::new("corert.ht_to_tensorhandle").operands([argument, chain]).results([handle()]);
            let value = self.append_one(block, state);
            body.values.insert(parameter, value);
        }
        let returned = self.lower_ops(&mut body, &ops);
        let mut tensors = Vec::new();
        for value in returned {
            let state = OpState::new("corert.tensorhandle_to_ht").operands([value]).results([tensor()]);
            tensors.push(self.append_one(block, state));
        }
        self.append(block, OpState::new(RETURN).operands(tensors));
    }

    /// `func @name(chain, constants…, values…) -> (chain, values…)`, all of them handles.
    fn lower_function(&mut self, function: OpId, name: &str) {
        let source = &self.graph.module;
        let (from, ops) = self.body_of(function);
        let constants: Vec<_> = self.used.get(name).into_iter().flatten().copied().collect();
        let parameters = &source.block(from).arguments;
        let result_count = ops.last().map_or(0, |&last| source.op(last).operands.len());
        let mut inputs = vec![Type::chain()];
        inputs.resize(1 + constants.len() + parameters.len(), handle());
        let mut results = vec![Type::chain()];
        // The body of a loop gives all it takes.
        let carried = if is_loop_body(source, function) { constants.len() } else { 0 };
        results.resize(1 + carried + result_count, handle());
        let location = source.op(function).location.clone();
        let (_, block) = self.module.add_function(name, FunctionType { inputs, results }, location);
        let arguments = self.module.block(block).arguments.clone();
        let find = OpState::new("corert.get_op_handler")
            .operands([arguments[0]])
            .attr("op_handler_name", Attribute::string(HANDLER))
            .results([handler()]);
        let op_handler = self.append_one(block, find);
        let mut body = Body {
            source,
            block,
            handler: op_handler,
            chain: arguments[0],
            constants: constants.iter().copied().zip(arguments[1..].iter().copied()).collect(),
            values: HashMap::new(),
        };
        for (&parameter, &argument) in parameters.iter().zip(&arguments[1 + constants.len()..]) {
            body.values.insert(parameter, argument);
        }
        let values = self.lower_ops(&mut body, &ops);
        let mut returned = vec![body.chain];
        if carried > 0 {
            returned.extend(&arguments[1..=carried]);
        }
        returned.extend(values);
        self.append(block, OpState::new(RETURN).operands(returned));
    }

    /// Lowers the operations of a function; gives what it returns.
    pub(super) fn lower_ops(&mut self, body: &mut Body<'g>, ops: &[OpId]) -> Vec<ValueId> {
        for &id in ops {
            let op = body.source.op(id);
            if let Some(constant) = self.graph.constant_id(id) {
                if let Some(&value) = body.constants.get(&constant) {
                    body.values.insert(op.results[0], value);
                }
                continue;
            }
            let operands: Vec<_> =
                op.operands.iter().filter_map(|operand| body.values.get(operand).copied()).collect();
            if operands.len() != op.operands.len() {
                let message = format!("'{}' uses a value of another function", op.name);
                self.errors.push(Diagnostic::error(op.location.clone(), message));
                return Vec::new();
            }
            if op.name == RETURN {
                return operands;
            }
            let results = match op.name.as_str() {
                "tf.If" => self.lower_if(body, id, operands),
                "tf.While" => self.lower_while(body, id, operands),
                EXECUTE => self.lower_graph(body, id, operands),
                tf::PARTITIONED_CALL | tf::STATEFUL_PARTITIONED_CALL => self.lower_call(body, id, operands),
                _ if self.resources.uses(body.source, id) => self.lower_ordered_op(body, id, operands),
                GRAPH => {
                    let place = misplaced(body.source, id);
                    let (at, why) =
                        place.unwrap_or_else(|| (op.location.clone(), "cannot be lowered".to_owned()));
                    self.errors.push(Diagnostic::error(at, why));
                    return Vec::new();
                }
                _ => self.lower_op(body, id, operands),
            };
            body.values.extend(op.results.iter().copied().zip(results));
        }
        Vec::new()
    }

    fn lower_op(&mut self, body: &Body<'_>, id: OpId, operands: Vec<ValueId>) -> Vec<ValueId> {
        let op = body.source.op(id);
        let state = execute(op, EXECUTE_OP, [vec![body.handler], operands].concat());
        self.append(body.block, state.results(vec![handle(); op.results.len()]))
    }

    /// Lowers an op that reads or changes a resource, behind all such ops before it.
    fn lower_ordered_op(&mut self, body: &mut Body<'_>, id: OpId, operands: Vec<ValueId>) -> Vec<ValueId> {
        let op = body.source.op(id);
        let state = execute(op, EXECUTE_ORDERED_OP, [vec![body.handler, body.chain], operands].concat());
        let mut types = vec![Type::chain()];
        types.resize(1 + op.results.len(), handle());
        let results = self.append(body.block, state.results(types));
        self.after_call(body, id, results, 0)
    }

    /// The results of an op or call of a function, of which the first is a chain, without that and
    /// as many more. What follows is ordered behind it if it uses resources.
    pub(super) fn after_call(
        &self,
        body: &mut Body<'_>,
        id: OpId,
        mut results: Vec<ValueId>,
        dropped: usize,
    ) -> Vec<ValueId> {
        if self.resources.uses(body.source, id) {
            body.chain = results[0];
        }
        results.split_off(1 + dropped)
    }

    /// The constants that a called function takes.
    pub(super) fn constants_for(&self, body: &Body<'_>, callee: &str) -> Vec<ValueId> {
        let used = self.used.get(callee).into_iter().flatten();
        used.filter_map(|constant| body.constants.get(constant).copied()).collect()
    }

    /// Both branches must take the same arguments: the constants of either become values of the
    /// other, too.
    fn lower_if(&mut self, body: &mut Body<'_>, id: OpId, operands: Vec<ValueId>) -> Vec<ValueId> {
        let op = body.source.op(id);
        let branches = ["then_branch", "else_branch"].map(|name| symbol(&op.attributes, name));
        let [Some(on_true), Some(on_false)] = branches else {
            self.errors.push(Diagnostic::error(op.location.clone(), "tf.If lacks a branch"));
            return Vec::new();
        };
        let (condition, rest) =
            operands.split_first().map_or((body.chain, &[][..]), |(first, rest)| (*first, rest));
        let mut arguments = vec![condition, body.chain];
        arguments.extend(self.constants_for(body, &on_true));
        arguments.extend(rest);
        let mut results = vec![Type::chain()];
        results.resize(1 + op.results.len(), handle());
        let state = OpState::new("corert.cond")
            .operands(arguments)
            .attr("a_true_fn", Attribute::symbol(on_true.as_str()))
            .attr("b_false_fn", Attribute::symbol(on_false.as_str()))
            .results(results)
            .at(op.location.clone());
        let results = self.append(body.block, state);
        self.after_call(body, id, results, 0)
    }

    fn lower_while(&mut self, body: &mut Body<'_>, id: OpId, operands: Vec<ValueId>) -> Vec<ValueId> {
        let op = body.source.op(id);
        let functions = ["cond", "body"].map(|name| symbol(&op.attributes, name));
        let [Some(condition), Some(step)] = functions else {
            self.errors.push(Diagnostic::error(op.location.clone(), "tf.While lacks a function"));
            return Vec::new();
        };
        let mut arguments = vec![body.chain];
        let constants = self.constants_for(body, &step);
        let constant_count = constants.len();
        arguments.extend(constants);
        arguments.extend(operands);
        let mut results = vec![Type::chain()];
        results.resize(arguments.len(), handle());
        let state = OpState::new("corert.while")
            .operands(arguments)
            .attr("a_cond_fn", Attribute::symbol(condition.as_str()))
            .attr("b_body_fn", Attribute::symbol(step.as_str()))
            .results(results)
            .at(op.location.clone());
        let results = self.append(body.block, state);
        self.after_call(body, id, results, constant_count)
    }
}

/// A call of an op by name, without results.
fn execute(op: &Operation, kernel: &str, operands: Vec<ValueId>) -> OpState {
    let pairs = op
        .attributes
        .iter()
        .map(|(name, value)| Attribute::array([Attribute::string(name.as_bytes()), value.clone()]));
    let pairs = Attribute::array(pairs.collect::<Vec<_>>());
    OpState::new(kernel)
        .operands(operands)
        .attr("op_attrs", pairs)
        .attr("op_func_attrs", Attribute::array([]))
        .attr("op_name", Attribute::string(op.name.as_bytes()))
        .at(op.location.clone())
}

/// Returns the constants that only ops which take them from device memory use.
fn uploaded(graph: &Graph, evaluator: &Evaluator) -> HashSet<ConstantId> {
    let module = &graph.module;
    let mut places: HashMap<ConstantId, bool> = HashMap::new();
    for op in module.walk(module.root()) {
        let (Some(id), Some(&value)) = (graph.constant_id(op), module.op(op).results.first()) else {
            continue;
        };
        let is_on_device = module.uses_of(value).all(|used| {
            let user = module.op(used.op);
            let known = evaluator.op(user.name.as_str());
            known.is_some_and(|known| known.takes_from_device(used.index, user.operands.len()))
        });
        *places.entry(id).or_insert(true) &= is_on_device;
    }
    places.into_iter().filter(|&(_, is_on_device)| is_on_device).map(|(id, _)| id).collect()
}

/// Whether a function is the body of a loop.
fn is_loop_body(module: &Module, function: OpId) -> bool {
    let Some(name) = module.as_function(function).map(|function| function.name().to_owned()) else {
        return false;
    };
    module.walk(module.root()).any(|op| {
        let op = module.op(op);
        op.name == "tf.While" && symbol(&op.attributes, "body").as_deref() == Some(name.as_str())
    })
}

pub(super) fn symbol(attributes: &AttrDict, name: &str) -> Option<String> {
    Some(attributes.get(name)?.as_flat_symbol()?.as_str().to_owned())
}

/// The functions that an operation calls.
fn callees(module: &Module, op: OpId) -> Vec<String> {
    crate::pass::effects::callees(module, op).into_iter().map(str::to_owned).collect()
}

/// The name under which a program asks for a constant.
pub(super) fn weight_name(graph: &Graph, id: ConstantId) -> String {
    let name = graph.constants.name(id);
    if name.is_empty() { format!("constant.{}", id.0) } else { format!("{name}.{}", id.0) }
}

/// A small constant as an attribute.
pub(super) fn inline(tensor: &HostTensor) -> Option<Attribute> {
    let dense = tensor.dense().ok()?;
    let is_complex = matches!(dense.dtype(), DType::Complex64 | DType::Complex128);
    if is_complex || dense.size_bytes() > MAX_INLINE_BYTES { None } else { dense_attribute(tensor) }
}
