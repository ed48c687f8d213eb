//! The text of a device program: its functions, kernel by kernel.

use std::{collections::HashMap, mem::take};

use tfrt_ir::{
    Attribute, BlockId, Diagnostic, Diagnostics, FunctionType, Location, Module, OpState, Type, ValueId,
};
use tfrt_launch::Generated;
use tfrt_tensor::{Accessor, HostTensor, TensorMetadata};

use super::{
    CudaOptions,
    emit_host::HostParts,
    nodes::{Content, DeviceGraph},
    planned::{ALIGNMENT, Planned, Sharing, Slice},
};
use crate::{
    ConstantId, Evaluator, Graph, MAIN, TensorType,
    import::onnx::RETURN,
    lower::{
        SETUP, WEIGHT,
        corert::{self, Lowering, inline},
    },
    plan::Schedule,
};

pub(super) static READ: Accessor = Accessor::new("constants of a device program");

/// How many handles of memory and streams `main` takes first.
pub(super) const BLOCKS: usize = 4;
/// The place of the block of constants among them.
pub(super) const CONSTANTS: usize = 3;

/// The function that queues all ops, if the host takes no part in the program.
const RUN: &str = "run";

pub(super) fn ty(name: &'static str) -> Type {
    Type::dialect("tfrt_cuda", name)
}

pub(super) fn tensor() -> Type {
    Type::dialect("t", "tensor")
}

/// What was written so far.
#[derive(Default)]
pub(super) struct Made {
    pub(super) module: Module,
    pub(super) weights: Vec<(String, HostTensor)>,
}

/// Writes a program: its functions, whose names end in `suffix`. Returns the types of what its
/// function for setup gives.
pub(super) fn emit(
    made: &mut Made,
    graph: &Graph,
    (device_graph, planned): (&DeviceGraph, &Planned),
    evaluator: &Evaluator,
    (options, suffix): (&CudaOptions, &str),
) -> Result<Vec<Type>, Diagnostics> {
    let mut lowering = Lowering::new(graph, evaluator);
    lowering.find_constants();
    lowering.module = take(&mut made.module);
    lowering.weights = take(&mut made.weights);
    let mut emitter = Emitter {
        graph,
        device_graph,
        evaluator,
        options,
        suffix,
        region_count: device_graph.region_count(),
        planned,
        lowering,
        named: HashMap::new(),
        host: HostParts::default(),
    };
    emitter.host = emitter.find_host_parts();
    emitter.emit_setup();
    for region in 0..emitter.region_count {
        emitter.emit_run(region);
    }
    emitter.emit_main();
    if options.separates_copies {
        emitter.emit_parts();
    }
    if emitter.host.calls_functions {
        emitter.lowering.lower_functions();
    }
    let prepared = emitter.prepared();
    let Lowering { module, weights, errors, .. } = emitter.lowering;
    *made = Made { module, weights };
    if errors.has_errors() { Err(errors) } else { Ok(prepared) }
}

pub(super) struct Emitter<'g> {
    pub(super) graph: &'g Graph,
    pub(super) device_graph: &'g DeviceGraph,
    evaluator: &'g Evaluator,
    options: &'g CudaOptions,
    /// What the names of functions end in.
    pub(super) suffix: &'g str,
    pub(super) region_count: usize,
    pub(super) planned: &'g Planned,
    /// What lowers the ops of the host, and owns the module.
    pub(super) lowering: Lowering<'g>,
    /// The weights that the program asks for so far.
    named: HashMap<ConstantId, String>,
    /// What the ops of the host take.
    pub(super) host: HostParts,
}

/// A function that is being written, and the chain that orders its kernels.
pub(super) struct Body {
    pub(super) block: BlockId,
    pub(super) chain: ValueId,
    pub(super) arena: ValueId,
    pub(super) constants: ValueId,
}

/// The streams of a program, the queues of ops on them, the events between them, and the generated
/// kernels.
#[derive(Default)]
pub(super) struct Handles {
    pub(super) queues: Vec<ValueId>,
    pub(super) streams: Vec<ValueId>,
    pub(super) events: Vec<ValueId>,
    pub(super) kernels: Vec<ValueId>,
}

impl Handles {
    /// What `run` takes: streams only if there are events or kernels.
    fn values(&self) -> Vec<ValueId> {
        if self.events.is_empty() && self.kernels.is_empty() {
            return self.queues.clone();
        }
        [&*self.queues, &*self.streams, &*self.events, &*self.kernels].concat()
    }

    pub(super) fn from_values(values: &[ValueId], stream_count: usize, kernel_count: usize) -> Self {
        let (values, kernels) = values.split_at(values.len() - kernel_count);
        let (queues, rest) = values.split_at(stream_count);
        let (streams, events) = rest.split_at(stream_count.min(rest.len()));
        let [queues, streams, events, kernels] = [queues, streams, events, kernels].map(<[_]>::to_vec);
        Self { queues, streams, events, kernels }
    }
}

/// Returns whether two constants have the same type and elements.
pub(super) fn are_equal(a: &HostTensor, b: &HostTensor) -> bool {
    if a.metadata() != b.metadata() {
        return false;
    }
    let (Ok(a), Ok(b)) = (a.dense(), b.dense()) else { return false };
    matches!((a.read_bytes(&READ), b.read_bytes(&READ)), (Ok(a), Ok(b)) if *a == *b)
}

/// Returns the ops behind which an event is recorded; `None` is the beginning.
pub(super) fn recorded(schedule: &Schedule) -> Vec<Option<usize>> {
    let mut ops: Vec<_> = schedule.events.iter().map(|event| event.after).collect();
    ops.sort_unstable();
    ops.dedup();
    ops
}

impl Emitter<'_> {
    pub(super) fn append(&mut self, block: BlockId, state: OpState) -> Vec<ValueId> {
        self.lowering.append(block, state)
    }

    pub(super) fn append_one(&mut self, block: BlockId, state: OpState) -> ValueId {
        self.append(block, state)[0]
    }

    /// Appends a kernel that takes and gives a chain as its last operand and result.
    pub(super) fn chained(
        &mut self,
        block: BlockId,
        chain: &mut ValueId,
        (state, operands): (OpState, &[ValueId]),
        result: Option<Type>,
    ) -> ValueId {
        let types: Vec<Type> = result.into_iter().chain([Type::chain()]).collect();
        let results = self.append(block, state.operands([operands, &[*chain]].concat()).results(types));
        *chain = *results.last().unwrap_or(chain);
        results[0]
    }

    pub(super) fn constant(
        &mut self,
        block: BlockId,
        name: &'static str,
        value: Attribute,
        ty: Type,
    ) -> ValueId {
        self.append_one(block, OpState::new(name).attr("value", value).results([ty]))
    }

    pub(super) fn slice(&mut self, body: &Body, slice: Slice) -> ValueId {
        let block = if slice.is_constant { body.constants } else { body.arena };
        let state = OpState::new("tfrt_cuda.mem.slice")
            .operands([block])
            .attr("offset", Attribute::i64(slice.offset.cast_signed()))
            .attr("size", Attribute::i64(slice.bytes.cast_signed()))
            .results([ty("buffer")]);
        self.append_one(body.block, state)
    }

    /// `func @setup() -> (!tfrt_cuda.turns, !tfrt_cuda.stream, …)`: devices, memory, constants, and
    /// the graph. If plans share the block of constants, `setup` gives a chain, too, and all but the
    /// first plan's take the block and the chain of the one before.
    fn emit_setup(&mut self) {
        let mut results = self.prepared();
        results.extend(self.planned.sharing.is_shared().then(Type::chain));
        let takes_block = self.planned.sharing == Sharing::Later;
        let inputs = if takes_block { vec![ty("buffer"), Type::chain()] } else { vec![] };
        let name = format!("{SETUP}{}", self.suffix);
        let function = FunctionType { inputs, results };
        let (_, block) = self.lowering.module.add_function(name, function, Location::Unknown);
        let arguments = self.lowering.module.block(block).arguments.clone();
        let mut chain = match arguments.get(1) {
            Some(&chain) => chain,
            None => self.append_one(block, OpState::new("tfrt.new.chain").results([Type::chain()])),
        };
        let state = (OpState::new("tfrt_cuda.init"), &[][..]);
        self.chained(block, &mut chain, state, None);
        let zero = self.constant(block, "tfrt.constant.i32", Attribute::i32(0), Type::int(32));
        let state = (OpState::new("tfrt_cuda.device.get"), &[zero][..]);
        let device = self.chained(block, &mut chain, state, Some(ty("device")));
        let state = (OpState::new("tfrt_cuda.context.primary"), &[device][..]);
        let context = self.chained(block, &mut chain, state, Some(ty("context")));
        let state = (OpState::new("tfrt_cuda.allocator.create"), &[context][..]);
        let allocator = self.chained(block, &mut chain, state, Some(ty("allocator")));
        let handles = self.emit_handles(block, &mut chain, context);
        let stream = handles.streams[0];
        let allocate = |emitter: &mut Self, bytes: u64, chain: &mut ValueId| {
            let bytes = Attribute::i64(bytes.max(ALIGNMENT).cast_signed());
            let bytes = emitter.constant(block, "tfrt.constant.i64", bytes, Type::int(64));
            let state = (OpState::new("tfrt_cuda.mem.allocate"), &[allocator, stream, bytes][..]);
            emitter.chained(block, chain, state, Some(ty("buffer")))
        };
        let (arena_bytes, constant_bytes) = (self.planned.arena_bytes, self.planned.constant_bytes);
        let constants = match arguments.first() {
            Some(&constants) => constants,
            None => allocate(self, constant_bytes, &mut chain),
        };
        let arena = allocate(self, arena_bytes, &mut chain);
        let mut body = Body { block, chain, arena, constants };
        self.emit_uploads(&mut body, stream);
        self.emit_first_run(&mut body, context, &handles);
    }

    /// Makes the streams, their queues and the events between them, and loads the generated kernels.
    fn emit_handles(&mut self, block: BlockId, chain: &mut ValueId, context: ValueId) -> Handles {
        let mut handles = Handles::default();
        let queue =
            if self.options.allows_tf32 { "tfrt_cuda.op.queue_with_tf32" } else { "tfrt_cuda.op.queue" };
        for _ in 0..self.planned.plan.schedule.stream_count.max(1) {
            let state = (OpState::new("tfrt_cuda.stream.create"), &[context][..]);
            let stream = self.chained(block, chain, state, Some(ty("stream")));
            let state = OpState::new(queue).operands([stream]).results([ty("op_queue")]);
            handles.queues.push(self.append_one(block, state));
            handles.streams.push(stream);
        }
        for _ in recorded(&self.planned.plan.schedule) {
            let state = (OpState::new("tfrt_cuda.event.create"), &[context][..]);
            handles.events.push(self.chained(block, chain, state, Some(ty("event"))));
        }
        if let Some(ptx) = &self.device_graph.ptx {
            let state = OpState::new("tfrt_cuda.module.load").attr("image", Attribute::string(ptx));
            let module = self.chained(block, chain, (state, &[context]), Some(ty("module")));
            for kernel in 0..self.device_graph.generated.len() {
                let name = Attribute::string(Generated::name(kernel));
                let state = OpState::new("tfrt_cuda.function.get").attr("name", name);
                let function = self.chained(block, chain, (state, &[module]), Some(ty("function")));
                handles.kernels.push(function);
            }
        }
        handles
    }

    /// What `setup` gives and `main` takes before the model's inputs: [`BLOCKS`] handles, what
    /// launches or queues the ops, and what the ops of the host take.
    pub(super) fn prepared(&self) -> Vec<Type> {
        let blocks = [ty("turns"), ty("stream"), ty("buffer"), ty("buffer")];
        let run = if self.options.records_graph {
            vec![ty("graph"); self.region_count]
        } else {
            self.handle_types()
        };
        blocks.into_iter().chain(run).chain(self.host.types()).collect()
    }

    /// The name of the function that queues a region.
    pub(super) fn run_name(&self, region: usize) -> String {
        let suffix = self.suffix;
        if self.region_count == 1 { format!("{RUN}{suffix}") } else { format!("{RUN}_{region}{suffix}") }
    }

    /// The types of the handles that `run` takes.
    pub(super) fn handle_types(&self) -> Vec<Type> {
        let schedule = &self.planned.plan.schedule;
        let mut types = vec![ty("op_queue"); schedule.stream_count.max(1)];
        let (events, kernels) = (recorded(schedule).len(), self.device_graph.generated.len());
        if events > 0 || kernels > 0 {
            types.resize(2 * types.len(), ty("stream"));
            types.resize(types.len() + events, ty("event"));
            types.resize(types.len() + kernels, ty("function"));
        }
        types
    }

    fn emit_uploads(&mut self, body: &mut Body, stream: ValueId) {
        for (number, buffer) in self.device_graph.buffers.iter().enumerate() {
            let Content::Constant(id) = buffer.content else { continue };
            if self.planned.uploaded_before.contains(&number) {
                continue;
            }
            let slice = self.slice(body, self.planned.buffers[number]);
            let tensor = self.host_constant(body.block, id);
            let name = self.graph.constants.name(id);
            self.emit_upload(body, (slice, tensor, stream), name, &buffer.ty);
        }
    }

    pub(super) fn emit_upload(
        &mut self,
        body: &mut Body,
        (buffer, tensor, stream): (ValueId, ValueId, ValueId),
        name: &str,
        ty: &TensorMetadata,
    ) {
        let state = OpState::new("tfrt_cuda.tensor.upload")
            .attr("name", Attribute::string(name))
            .attr("type", Attribute::string(TensorType::of(ty).to_string()));
        self.chained(body.block, &mut body.chain, (state, &[buffer, tensor, stream]), None);
    }

    /// A constant as a host tensor.
    pub(super) fn host_constant(&mut self, block: BlockId, id: ConstantId) -> ValueId {
        let Some(constant) = self.graph.constants.tensor(id) else {
            self.lowering.errors.push(Diagnostic::error(Location::Unknown, "the graph lacks a constant"));
            return self.append_one(block, OpState::new("tfrt.new.chain").results([Type::chain()]));
        };
        if let Some((name, _)) = self.options.provided.iter().find(|(_, known)| are_equal(known, constant)) {
            return self.weight(block, name);
        }
        if let Some(value) = inline(constant) {
            let state =
                OpState::new("corert.const_dense_tensor").attr("value", value).results([corert::handle()]);
            let handle = self.append_one(block, state);
            let state = OpState::new("corert.tensorhandle_to_ht").operands([handle]).results([tensor()]);
            return self.append_one(block, state);
        }
        let name = match self.named.get(&id) {
            Some(name) => name.clone(),
            None => self.add_weight(id, constant),
        };
        self.weight(block, &name)
    }

    /// The weight of this name as a host tensor.
    fn weight(&mut self, block: BlockId, name: &str) -> ValueId {
        let state = OpState::new(WEIGHT).attr("name", Attribute::string(name)).results([tensor()]);
        self.append_one(block, state)
    }

    fn add_weight(&mut self, id: ConstantId, constant: &HostTensor) -> String {
        let mut name = format!("{}{}", corert::weight_name(self.graph, id), self.suffix);
        match constant.to_dense(&READ, self.evaluator.allocator()).map(HostTensor::from) {
            Ok(dense) => match self.lowering.weights.iter().find(|(_, known)| are_equal(known, &dense)) {
                Some((known, _)) => name.clone_from(known),
                None => self.lowering.weights.push((name.clone(), dense)),
            },
            Err(error) => self.lowering.errors.push(Diagnostic::error(Location::Unknown, error.message)),
        }
        self.named.insert(id, name.clone());
        name
    }

    /// Runs the program once, and again to record it.
    fn emit_first_run(&mut self, body: &mut Body, context: ValueId, handles: &Handles) {
        let (block, stream) = (body.block, handles.streams[0]);
        let run = handles.values();
        for region in 0..self.region_count {
            self.emit_zeros(body, context, stream);
            self.emit_call(body, region, &run);
        }
        let state = (OpState::new("tfrt_cuda.stream.synchronize"), &[stream][..]);
        self.chained(block, &mut body.chain, state, None);
        let mut launched = Vec::new();
        if self.options.records_graph {
            for region in 0..self.region_count {
                let state = (OpState::new("tfrt_cuda.graph.begin_capture"), &[stream][..]);
                self.chained(block, &mut body.chain, state, None);
                self.emit_call(body, region, &run);
                let state = (OpState::new("tfrt_cuda.graph.end_capture"), &[stream][..]);
                launched.push(self.chained(block, &mut body.chain, state, Some(ty("graph"))));
            }
        } else {
            launched = run;
        }
        // Calls may begin before `setup` is done. They take a turn first, and find the stream free.
        let state = (OpState::new("tfrt_cuda.turn.create"), &[][..]);
        let turns = self.chained(block, &mut body.chain, state, Some(ty("turns")));
        let mut returned = vec![turns, stream, body.arena, body.constants];
        returned.extend(launched);
        returned.extend(self.emit_host_setup(body));
        returned.extend(self.planned.sharing.is_shared().then_some(body.chain));
        self.append(block, OpState::new(RETURN).operands(returned));
    }

    /// Fills the arena with zeros. Tensors that nobody has set are then safe as indices.
    fn emit_zeros(&mut self, body: &mut Body, context: ValueId, stream: ValueId) {
        let block = body.block;
        let zero = self.constant(block, "tfrt.constant.f32", Attribute::f32(0.0), Type::F32);
        let count = self.planned.arena_bytes.max(ALIGNMENT) / 4;
        let count = Attribute::i64(count.cast_signed());
        let count = self.constant(block, "tfrt.constant.i64", count, Type::int(64));
        let operands = [context, body.arena, zero, count, stream];
        let state = (OpState::new("tfrt_cuda.mem.set.f32"), &operands[..]);
        self.chained(block, &mut body.chain, state, None);
    }

    fn emit_call(&mut self, body: &mut Body, region: usize, handles: &[ValueId]) {
        let state = OpState::new("tfrt.call").attr("callee", Attribute::symbol(self.run_name(region)));
        let operands = [&[body.arena, body.constants], handles].concat();
        self.chained(body.block, &mut body.chain, (state, &operands), None);
    }

    /// `func @main(turns, stream, arena, constants, graphs…, inputs…: !t.tensor) -> (!t.tensor,
    /// …)`. What `run` takes is in the place of the graphs if there are none. What ops of the host
    /// take follows.
    fn emit_main(&mut self) {
        let mut inputs = self.prepared();
        let prepared = inputs.len();
        inputs.resize(prepared + self.graph.inputs.len(), tensor());
        let results = vec![tensor(); self.device_graph.outputs.len()];
        let function = FunctionType { inputs, results };
        let name = format!("{MAIN}{}", self.suffix);
        let (_, block) = self.lowering.module.add_function(name, function, Location::Unknown);
        let arguments = self.lowering.module.block(block).arguments.clone();
        let chain = self.append_one(block, OpState::new("tfrt.new.chain").results([Type::chain()]));
        let stream = arguments[1];
        let (run, host) = arguments[BLOCKS..prepared].split_at(prepared - BLOCKS - self.host.types().len());
        let mut body = Body { block, chain, arena: arguments[2], constants: arguments[3] };
        let turn = self.take_turn(&mut body, arguments[0]);
        self.emit_inputs(&mut body, stream, &arguments[prepared..]);
        let mut side = self.host_body(&body, (chain, stream), host, &arguments[prepared..]);
        for part in 0..=self.region_count.max(self.device_graph.host.step_count()) {
            self.emit_step(&mut body, &mut side, part);
            if part < self.region_count {
                self.emit_region(&mut body, part, run, stream);
            }
        }
        let returned = self.emit_outputs(&mut body, &mut side);
        self.give_turn_back(&mut body, turn);
        self.append(block, OpState::new(RETURN).operands(returned));
    }

    /// Takes a turn, for which the kernels behind it wait.
    pub(super) fn take_turn(&mut self, body: &mut Body, turns: ValueId) -> ValueId {
        let state = (OpState::new("tfrt_cuda.turn.take"), &[turns][..]);
        self.chained(body.block, &mut body.chain, state, Some(ty("turn")))
    }

    pub(super) fn give_turn_back(&mut self, body: &mut Body, turn: ValueId) {
        let state = (OpState::new("tfrt_cuda.turn.give_back"), &[turn][..]);
        self.chained(body.block, &mut body.chain, state, None);
    }

    /// Copies the inputs to their places.
    pub(super) fn emit_inputs(&mut self, body: &mut Body, stream: ValueId, tensors: &[ValueId]) {
        for (number, buffer) in self.device_graph.buffers.iter().enumerate() {
            let Content::Input(input) = buffer.content else { continue };
            let slice = self.slice(body, self.planned.buffers[number]);
            let name = self.graph.inputs.get(input).map_or("", |input| &input.name);
            self.emit_upload(body, (slice, tensors[input], stream), name, &buffer.ty);
        }
    }

    /// Launches the graph of a region, or queues its ops.
    pub(super) fn emit_region(&mut self, body: &mut Body, region: usize, run: &[ValueId], stream: ValueId) {
        if self.options.records_graph {
            let state = (OpState::new("tfrt_cuda.graph.launch"), &[run[region], stream][..]);
            self.chained(body.block, &mut body.chain, state, None);
        } else {
            self.emit_call(body, region, run);
        }
    }
}
