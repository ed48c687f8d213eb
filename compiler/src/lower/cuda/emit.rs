//! The text of a device program: its functions, kernel by kernel.

use std::collections::HashMap;

use tfrt_eager::Place;
use tfrt_ir::{
    Attribute, BlockId, Diagnostic, Diagnostics, FunctionType, Location, Module, OpState, Type, ValueId,
};
use tfrt_tensor::{Accessor, HostTensor, TensorMetadata};

use super::{
    CudaOptions,
    nodes::{BufferId, Content, DeviceGraph, Node, Operand},
};
use crate::{
    ConstantId, Evaluator, Graph, MAIN, TensorType,
    import::onnx::RETURN,
    lower::{
        SETUP,
        corert::{self, Lowered, inline},
        write_signature,
    },
};

static READ: Accessor = Accessor::new("constants of a device program");

/// The function that queues all ops.
const RUN: &str = "run";
/// The alignment of buffers within a block.
const ALIGNMENT: u64 = 256;

fn ty(name: &'static str) -> Type {
    Type::dialect("tfrt_cuda", name)
}

fn tensor() -> Type {
    Type::dialect("t", "tensor")
}

/// A part of one of the two blocks.
#[derive(Clone, Copy, Debug)]
struct Slice {
    is_constant: bool,
    offset: u64,
    bytes: u64,
}

/// Where everything lies.
#[derive(Debug, Default)]
struct Layout {
    buffers: Vec<Slice>,
    /// The scratch memory of each node.
    scratch: Vec<Option<Slice>>,
    /// The memory that each node keeps.
    kept: Vec<Option<Slice>>,
    arena_bytes: u64,
    constant_bytes: u64,
}

impl Layout {
    fn new(graph: &DeviceGraph) -> Self {
        let mut layout = Self::default();
        for buffer in &graph.buffers {
            let slice = layout.add(matches!(buffer.content, Content::Constant(_)), buffer.bytes);
            layout.buffers.push(slice);
        }
        for node in &graph.nodes {
            let Node { footprint, .. } = node;
            let scratch = (footprint.scratch_bytes > 0).then(|| layout.add(false, footprint.scratch_bytes));
            layout.scratch.push(scratch);
            let kept = (footprint.kept_bytes > 0).then(|| layout.add(true, footprint.kept_bytes));
            layout.kept.push(kept);
        }
        layout
    }

    fn add(&mut self, is_constant: bool, bytes: u64) -> Slice {
        let total = if is_constant { &mut self.constant_bytes } else { &mut self.arena_bytes };
        let slice = Slice { is_constant, offset: *total, bytes };
        *total += bytes.next_multiple_of(ALIGNMENT);
        slice
    }
}

/// Writes the program.
pub(super) fn emit(
    graph: &Graph,
    device_graph: &DeviceGraph,
    evaluator: &Evaluator,
    options: CudaOptions,
) -> Result<Lowered, Diagnostics> {
    let mut emitter = Emitter {
        graph,
        device_graph,
        evaluator,
        options,
        layout: Layout::new(device_graph),
        module: Module::new(),
        weights: Vec::new(),
        named: HashMap::new(),
        errors: Diagnostics::new(),
    };
    write_signature(graph, &mut emitter.module);
    emitter.emit_setup();
    emitter.emit_run();
    emitter.emit_main();
    if emitter.errors.has_errors() {
        return Err(emitter.errors);
    }
    Ok(Lowered { module: emitter.module, weights: emitter.weights })
}

struct Emitter<'g> {
    graph: &'g Graph,
    device_graph: &'g DeviceGraph,
    evaluator: &'g Evaluator,
    options: CudaOptions,
    layout: Layout,
    module: Module,
    weights: Vec<(String, HostTensor)>,
    /// The weights that the program asks for so far.
    named: HashMap<ConstantId, String>,
    errors: Diagnostics,
}

/// A function that is being written, and the chain that orders its kernels.
struct Body {
    block: BlockId,
    chain: ValueId,
    arena: ValueId,
    constants: ValueId,
}

impl Emitter<'_> {
    fn append(&mut self, block: BlockId, state: OpState) -> Vec<ValueId> {
        let op = self.module.create_op(state);
        self.module.append_op(block, op);
        self.module.op(op).results.clone()
    }

    fn append_one(&mut self, block: BlockId, state: OpState) -> ValueId {
        self.append(block, state)[0]
    }

    /// Appends a kernel that takes and gives a chain as its last operand and result.
    fn chained(
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

    fn constant(&mut self, block: BlockId, name: &'static str, value: Attribute, ty: Type) -> ValueId {
        self.append_one(block, OpState::new(name).attr("value", value).results([ty]))
    }

    fn slice(&mut self, body: &Body, slice: Slice) -> ValueId {
        let block = if slice.is_constant { body.constants } else { body.arena };
        let state = OpState::new("tfrt_cuda.mem.slice")
            .operands([block])
            .attr("offset", Attribute::i64(slice.offset.cast_signed()))
            .attr("size", Attribute::i64(slice.bytes.cast_signed()))
            .results([ty("buffer")]);
        self.append_one(body.block, state)
    }

    /// `func @setup() -> (!tfrt_cuda.stream, …)`: devices, memory, constants, and the graph.
    fn emit_setup(&mut self) {
        let results = self.prepared();
        let function = FunctionType { inputs: vec![], results };
        let (_, block) = self.module.add_function(SETUP, function, Location::Unknown);
        let mut chain = self.append_one(block, OpState::new("tfrt.new.chain").results([Type::chain()]));
        let state = (OpState::new("tfrt_cuda.init"), &[][..]);
        self.chained(block, &mut chain, state, None);
        let zero = self.constant(block, "tfrt.constant.i32", Attribute::i32(0), Type::int(32));
        let state = (OpState::new("tfrt_cuda.device.get"), &[zero][..]);
        let device = self.chained(block, &mut chain, state, Some(ty("device")));
        let state = (OpState::new("tfrt_cuda.context.primary"), &[device][..]);
        let context = self.chained(block, &mut chain, state, Some(ty("context")));
        let state = (OpState::new("tfrt_cuda.allocator.create"), &[context][..]);
        let allocator = self.chained(block, &mut chain, state, Some(ty("allocator")));
        let state = (OpState::new("tfrt_cuda.stream.create"), &[context][..]);
        let stream = self.chained(block, &mut chain, state, Some(ty("stream")));
        let allocate = |emitter: &mut Self, bytes: u64, chain: &mut ValueId| {
            let bytes = Attribute::i64(bytes.max(ALIGNMENT).cast_signed());
            let bytes = emitter.constant(block, "tfrt.constant.i64", bytes, Type::int(64));
            let state = (OpState::new("tfrt_cuda.mem.allocate"), &[allocator, stream, bytes][..]);
            emitter.chained(block, chain, state, Some(ty("buffer")))
        };
        let (arena_bytes, constant_bytes) = (self.layout.arena_bytes, self.layout.constant_bytes);
        let constants = allocate(self, constant_bytes, &mut chain);
        let arena = allocate(self, arena_bytes, &mut chain);
        let mut body = Body { block, chain, arena, constants };
        self.emit_uploads(&mut body, stream);
        self.emit_first_run(&mut body, context, stream);
    }

    /// What `setup` gives and `main` takes before the model's inputs.
    fn prepared(&self) -> Vec<Type> {
        let run = if self.options.records_graph { "graph" } else { "op_queue" };
        vec![ty("stream"), ty(run), ty("buffer"), ty("buffer")]
    }

    fn emit_uploads(&mut self, body: &mut Body, stream: ValueId) {
        for (number, buffer) in self.device_graph.buffers.iter().enumerate() {
            let Content::Constant(id) = buffer.content else { continue };
            let slice = self.slice(body, self.layout.buffers[number]);
            let tensor = self.host_constant(body.block, id);
            let name = self.graph.constants.name(id);
            self.emit_upload(body, (slice, tensor, stream), name, &buffer.ty);
        }
    }

    fn emit_upload(
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
    fn host_constant(&mut self, block: BlockId, id: ConstantId) -> ValueId {
        let Some(constant) = self.graph.constants.tensor(id) else {
            self.errors.push(Diagnostic::error(Location::Unknown, "the graph lacks a constant"));
            return self.append_one(block, OpState::new("tfrt.new.chain").results([Type::chain()]));
        };
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
        let state =
            OpState::new("tfrt_model.weight").attr("name", Attribute::string(&name)).results([tensor()]);
        self.append_one(block, state)
    }

    fn add_weight(&mut self, id: ConstantId, constant: &HostTensor) -> String {
        let name = corert::weight_name(self.graph, id);
        match constant.to_dense(&READ, self.evaluator.allocator()) {
            Ok(dense) => self.weights.push((name.clone(), dense.into())),
            Err(error) => self.errors.push(Diagnostic::error(Location::Unknown, error.message)),
        }
        self.named.insert(id, name.clone());
        name
    }

    /// Runs the program once, and again to record it.
    fn emit_first_run(&mut self, body: &mut Body, context: ValueId, stream: ValueId) {
        let block = body.block;
        // Tensors that nobody has set are zeros, which are safe as indices.
        let zero = self.constant(block, "tfrt.constant.f32", Attribute::f32(0.0), Type::F32);
        let count = self.layout.arena_bytes.max(ALIGNMENT) / 4;
        let count = Attribute::i64(count.cast_signed());
        let count = self.constant(block, "tfrt.constant.i64", count, Type::int(64));
        let operands = [context, body.arena, zero, count, stream];
        let state = (OpState::new("tfrt_cuda.mem.set.f32"), &operands[..]);
        self.chained(block, &mut body.chain, state, None);
        let state = OpState::new("tfrt_cuda.op.queue").operands([stream]).results([ty("op_queue")]);
        let queue = self.append_one(block, state);
        self.emit_call(body, queue);
        let state = (OpState::new("tfrt_cuda.stream.synchronize"), &[stream][..]);
        self.chained(block, &mut body.chain, state, None);
        let mut prepared = queue;
        if self.options.records_graph {
            let state = (OpState::new("tfrt_cuda.graph.begin_capture"), &[stream][..]);
            self.chained(block, &mut body.chain, state, None);
            self.emit_call(body, queue);
            let state = (OpState::new("tfrt_cuda.graph.end_capture"), &[stream][..]);
            prepared = self.chained(block, &mut body.chain, state, Some(ty("graph")));
        }
        let returned = [stream, prepared, body.arena, body.constants];
        self.append(block, OpState::new(RETURN).operands(returned));
    }

    fn emit_call(&mut self, body: &mut Body, queue: ValueId) {
        let state = OpState::new("tfrt.call").attr("callee", Attribute::symbol(RUN));
        let operands = [queue, body.arena, body.constants];
        self.chained(body.block, &mut body.chain, (state, &operands), None);
    }

    /// `func @run(queue, arena, constants, chain) -> chain`: the ops.
    fn emit_run(&mut self) {
        let inputs = vec![ty("op_queue"), ty("buffer"), ty("buffer"), Type::chain()];
        let function = FunctionType { inputs, results: vec![Type::chain()] };
        let (_, block) = self.module.add_function(RUN, function, Location::Unknown);
        let arguments = self.module.block(block).arguments.clone();
        let mut body = Body { block, chain: arguments[3], arena: arguments[1], constants: arguments[2] };
        let mut slices = HashMap::new();
        for (number, node) in self.device_graph.nodes.iter().enumerate() {
            self.emit_node(&mut body, arguments[0], &mut slices, (number, node));
        }
        self.append(block, OpState::new(RETURN).operands([body.chain]));
    }

    fn emit_node(
        &mut self,
        body: &mut Body,
        queue: ValueId,
        slices: &mut HashMap<BufferId, ValueId>,
        (number, node): (usize, &Node),
    ) {
        let mut values = Vec::new();
        for operand in &node.operands {
            values.push(match *operand {
                Operand::Buffer(id) => self.buffer_slice(body, slices, id),
                Operand::Host(id) => self.host_constant(body.block, id),
            });
        }
        for &id in &node.results {
            values.push(self.buffer_slice(body, slices, id));
        }
        for part in [self.layout.scratch[number], self.layout.kept[number]].into_iter().flatten() {
            values.push(self.slice(body, part));
        }
        let places = node.footprint.places.iter().map(Place::to_string).collect::<Vec<_>>().join(", ");
        let state = OpState::new("tfrt_cuda.op.run")
            .operands([vec![queue, body.chain], values].concat())
            .attr("memory", Attribute::string(places))
            .attr("op_attrs", node.attrs.clone())
            .attr("op_name", Attribute::string(&node.name))
            .attr("types", Attribute::string(&node.types))
            .results([Type::chain()])
            .at(node.location.clone());
        body.chain = self.append_one(body.block, state);
    }

    fn buffer_slice(
        &mut self,
        body: &Body,
        slices: &mut HashMap<BufferId, ValueId>,
        id: BufferId,
    ) -> ValueId {
        if let Some(&value) = slices.get(&id) {
            return value;
        }
        let value = self.slice(body, self.layout.buffers[id.0]);
        slices.insert(id, value);
        value
    }

    /// `func @main(stream, graph, arena, constants, inputs…: !t.tensor) -> (!t.tensor, …)`.
    fn emit_main(&mut self) {
        let mut inputs = self.prepared();
        let prepared = inputs.len();
        inputs.resize(prepared + self.graph.inputs.len(), tensor());
        let results = vec![tensor(); self.device_graph.outputs.len()];
        let (_, block) = self.module.add_function(MAIN, FunctionType { inputs, results }, Location::Unknown);
        let arguments = self.module.block(block).arguments.clone();
        let chain = self.append_one(block, OpState::new("tfrt.new.chain").results([Type::chain()]));
        let (stream, run) = (arguments[0], arguments[1]);
        let mut body = Body { block, chain, arena: arguments[2], constants: arguments[3] };
        for (number, buffer) in self.device_graph.buffers.iter().enumerate() {
            let Content::Input(input) = buffer.content else { continue };
            let slice = self.slice(&body, self.layout.buffers[number]);
            let name = self.graph.inputs.get(input).map_or("", |input| &input.name);
            self.emit_upload(&mut body, (slice, arguments[prepared + input], stream), name, &buffer.ty);
        }
        if self.options.records_graph {
            let state = (OpState::new("tfrt_cuda.graph.launch"), &[run, stream][..]);
            self.chained(block, &mut body.chain, state, None);
        } else {
            self.emit_call(&mut body, run);
        }
        let mut returned = Vec::new();
        for (id, metadata) in &self.device_graph.outputs {
            let slice = self.slice(&body, self.layout.buffers[id.0]);
            let state = OpState::new("tfrt_cuda.tensor.download")
                .attr("type", Attribute::string(TensorType::of(metadata).to_string()));
            returned.push(self.chained(block, &mut body.chain, (state, &[slice, stream]), Some(tensor())));
        }
        self.append(block, OpState::new(RETURN).operands(returned));
    }
}
