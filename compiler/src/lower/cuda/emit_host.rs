//! The host's part of a device program: ops of the core runtime between the regions, with the
//! copies that they need.

use std::collections::{BTreeSet, HashMap};

use tfrt_ir::{Attribute, Location, OpState, Type, ValueId};
use tfrt_tensor::HostTensor;

use super::{
    emit::{Body, Emitter, tensor},
    host::{Download, Upload},
    nodes::{Output, label},
};
use crate::{
    ConstantId, MAIN, TensorType,
    lower::corert::{self, handle, handler, inline},
    pass::effects::callees,
};

/// What ops of the host take from `setup`.
#[derive(Default)]
pub(super) struct HostParts {
    /// Whether there are ops at all.
    has_ops: bool,
    /// Whether one of them calls functions.
    pub(super) calls_functions: bool,
    constants: Vec<ConstantId>,
}

impl HostParts {
    /// The handler of ops in host memory, and the constants.
    pub(super) fn types(&self) -> Vec<Type> {
        if !self.has_ops {
            return Vec::new();
        }
        let mut types = vec![handler()];
        types.resize(1 + self.constants.len(), handle());
        types
    }
}

/// The host's part of `main`.
pub(super) struct HostBody<'g> {
    ops: corert::Body<'g>,
    stream: ValueId,
    /// The model's inputs.
    inputs: HashMap<ValueId, ValueId>,
}

impl<'g> Emitter<'g> {
    /// Finds what the ops of the host take from `setup`.
    pub(super) fn find_host_parts(&self) -> HostParts {
        let module = &self.graph.module;
        let mut parts = HostParts { has_ops: !self.device_graph.host.ops.is_empty(), ..HostParts::default() };
        let mut constants = BTreeSet::new();
        for op in &self.device_graph.host.ops {
            let operands = module.op(op.op).operands.iter();
            let makers = operands.filter_map(|&operand| module.defining_op(operand));
            constants.extend(makers.filter_map(|maker| self.graph.constant_id(maker)));
            for callee in callees(module, op.op) {
                parts.calls_functions = true;
                constants.extend(self.lowering.used.get(callee).into_iter().flatten().copied());
            }
        }
        parts.constants = constants.into_iter().collect();
        parts
    }

    /// Makes what [`HostParts::types`] lists.
    pub(super) fn emit_host_setup(&mut self, body: &Body) -> Vec<ValueId> {
        if !self.host.has_ops {
            return Vec::new();
        }
        let block = body.block;
        let null = OpState::new("corert.create_null_op_handler").results([handler()]);
        let null = self.append_one(block, null);
        let cpu = OpState::new("corert.create_cpu_op_handler").operands([null]).results([handler()]);
        let cpu = self.append_one(block, cpu);
        if self.host.calls_functions {
            self.lowering.register_handler(block, cpu);
        }
        let mut made = vec![cpu];
        for id in self.host.constants.clone() {
            made.push(self.emit_host_handle(body, cpu, id));
        }
        made
    }

    /// A constant as a handle.
    fn emit_host_handle(&mut self, body: &Body, cpu: ValueId, id: ConstantId) -> ValueId {
        let constant = self.graph.constants.tensor(id);
        let is_text = matches!(constant, Some(HostTensor::String(_)));
        if is_text || constant.is_some_and(|constant| inline(constant).is_some()) {
            return self.lowering.lower_constant(body.block, (cpu, body.chain), id);
        }
        let weight = self.host_constant(body.block, id);
        self.emit_handle(body, weight)
    }

    fn emit_handle(&mut self, body: &Body, tensor: ValueId) -> ValueId {
        let state =
            OpState::new("corert.ht_to_tensorhandle").operands([tensor, body.chain]).results([handle()]);
        self.append_one(body.block, state)
    }

    /// Begins the host's part of `main`, which takes what [`Self::emit_host_setup`] made.
    pub(super) fn host_body(
        &self,
        body: &Body,
        (chain, stream): (ValueId, ValueId),
        prepared: &[ValueId],
        inputs: &[ValueId],
    ) -> HostBody<'g> {
        let source = &self.graph.module;
        let parameters = source.function(MAIN).and_then(|main| main.body());
        let parameters = parameters.map_or(&[][..], |block| &source.block(block).arguments);
        let (handler, constants) =
            prepared.split_first().map_or((chain, &[][..]), |(first, rest)| (*first, rest));
        let constants = self.host.constants.iter().copied().zip(constants.iter().copied());
        HostBody {
            ops: corert::Body {
                source,
                block: body.block,
                handler,
                chain,
                constants: constants.collect(),
                values: HashMap::new(),
            },
            stream,
            inputs: parameters.iter().copied().zip(inputs.iter().copied()).collect(),
        }
    }

    /// Appends a step of the host: copies to it, its ops, and copies of their results.
    pub(super) fn emit_step(&mut self, body: &mut Body, side: &mut HostBody<'g>, step: usize) {
        let device_graph = self.device_graph;
        for download in device_graph.host.downloads_of(step) {
            self.emit_download(body, side, download);
        }
        for op in device_graph.host.ops_of(step) {
            self.emit_operands(body, side, op.op);
            self.lowering.lower_ops(&mut side.ops, &[op.op]);
        }
        for upload in device_graph.host.uploads_of(step) {
            self.emit_upload_of(body, side, upload);
        }
    }

    /// Makes handles of the inputs and constants that an op takes.
    fn emit_operands(&mut self, body: &Body, side: &mut HostBody<'g>, op: tfrt_ir::OpId) {
        let module = &self.graph.module;
        for &operand in &module.op(op).operands {
            if side.ops.values.contains_key(&operand) {
                continue;
            }
            if let Some(&input) = side.inputs.get(&operand) {
                let value = self.emit_handle(body, input);
                side.ops.values.insert(operand, value);
            } else if let Some(id) = module.defining_op(operand).and_then(|op| self.graph.constant_id(op))
                && let Some(&value) = side.ops.constants.get(&id)
            {
                side.ops.values.insert(operand, value);
            }
        }
    }

    fn emit_download(&mut self, body: &mut Body, side: &mut HostBody<'g>, download: &Download) {
        let slice = self.slice(body, self.planned.buffers[download.buffer.0]);
        let state = OpState::new("tfrt_cuda.tensor.download")
            .attr("type", Attribute::string(TensorType::of(&download.ty).to_string()))
            .at(self.location_of(download.value));
        let copied =
            self.chained(body.block, &mut body.chain, (state, &[slice, side.stream]), Some(tensor()));
        let value = self.emit_handle(body, copied);
        side.ops.values.insert(download.value, value);
    }

    fn emit_upload_of(&mut self, body: &mut Body, side: &mut HostBody<'g>, upload: &Upload) {
        let Some(&value) = side.ops.values.get(&upload.value) else { return };
        let state = OpState::new("corert.tensorhandle_to_ht").operands([value]).results([tensor()]);
        let computed = self.append_one(body.block, state);
        let slice = self.slice(body, self.planned.buffers[upload.buffer.0]);
        let name = match self.graph.module.defining_op(upload.value).map(|op| self.graph.module.op(op)) {
            Some(op) => label(&op.location, &op.name),
            None => String::new(),
        };
        let metadata = &self.device_graph.buffers[upload.buffer.0].ty;
        self.emit_upload(body, (slice, computed, side.stream), &name, metadata);
    }

    /// The model's results as host tensors.
    pub(super) fn emit_outputs(&mut self, body: &mut Body, side: &mut HostBody<'g>) -> Vec<ValueId> {
        let device_graph = self.device_graph;
        let mut returned = Vec::new();
        for output in &device_graph.outputs {
            let state = match output {
                Output::Device(id, metadata) => {
                    let slice = self.slice(body, self.planned.buffers[id.0]);
                    let state = OpState::new("tfrt_cuda.tensor.download")
                        .attr("type", Attribute::string(TensorType::of(metadata).to_string()));
                    let operands = [slice, side.stream];
                    returned.push(self.chained(
                        body.block,
                        &mut body.chain,
                        (state, &operands),
                        Some(tensor()),
                    ));
                    continue;
                }
                Output::Host(value) => OpState::new("corert.tensorhandle_to_ht")
                    .operands(side.ops.values.get(value).copied().into_iter().collect::<Vec<_>>())
                    .results([tensor()]),
            };
            returned.push(self.append_one(body.block, state));
        }
        returned
    }

    fn location_of(&self, value: ValueId) -> Location {
        let op = self.graph.module.defining_op(value);
        op.map_or(Location::Unknown, |op| self.graph.module.op(op).location.clone())
    }
}
