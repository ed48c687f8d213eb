//! The parts of a call as functions, for callers that keep tensors on the device.
//!
//! Each function takes what `setup` gave, and a chain behind everything else, and gives a chain.
//! It holds a turn while it queues its part. The caller lets nothing else use the program's memory
//! between an upload and the download of what it led to.

use tfrt_ir::{Diagnostic, FunctionType, Location, OpState, Type, ValueId};

use super::{
    DOWNLOAD, LAUNCH, UPLOAD,
    emit::{BLOCKS, Body, Emitter, tensor},
};
use crate::import::onnx::RETURN;

/// A function that is a part of a call.
struct Part {
    body: Body,
    stream: ValueId,
    turn: ValueId,
    /// What launches or queues the ops.
    run: Vec<ValueId>,
    /// What it takes between what `setup` gave and the chain.
    tensors: Vec<ValueId>,
}

impl Emitter<'_> {
    /// Adds `upload`, `launch` and `download`.
    pub(super) fn emit_parts(&mut self) {
        if self.region_count != 1 || !self.device_graph.host.ops.is_empty() {
            let message = "the copies of a program cannot be functions if some of its ops run on the host";
            self.lowering.errors.push(Diagnostic::error(Location::Unknown, message));
            return;
        }
        let mut part = self.begin_part(UPLOAD, self.graph.inputs.len(), 0);
        self.emit_inputs(&mut part.body, part.stream, &part.tensors);
        self.end_part(part, Vec::new());

        let mut part = self.begin_part(LAUNCH, 0, 0);
        self.emit_region(&mut part.body, 0, &part.run, part.stream);
        self.end_part(part, Vec::new());

        let mut part = self.begin_part(DOWNLOAD, 0, self.device_graph.outputs.len());
        let mut side = self.host_body(&part.body, (part.body.chain, part.stream), &[], &[]);
        let returned = self.emit_outputs(&mut part.body, &mut side);
        self.end_part(part, returned);
    }

    /// Begins a function that takes and gives this many tensors.
    fn begin_part(&mut self, name: &str, taken: usize, given: usize) -> Part {
        let mut inputs = self.prepared();
        let prepared = inputs.len();
        inputs.resize(prepared + taken, tensor());
        inputs.push(Type::chain());
        let mut results = vec![tensor(); given];
        results.push(Type::chain());
        let function = FunctionType { inputs, results };
        let name = format!("{name}{}", self.suffix);
        let (_, block) = self.lowering.module.add_function(name, function, Location::Unknown);
        let arguments = self.lowering.module.block(block).arguments.clone();
        let chain = arguments[prepared + taken];
        let mut body = Body { block, chain, arena: arguments[2], constants: arguments[3] };
        Part {
            turn: self.take_turn(&mut body, arguments[0]),
            body,
            stream: arguments[1],
            run: arguments[BLOCKS..prepared].to_vec(),
            tensors: arguments[prepared..prepared + taken].to_vec(),
        }
    }

    fn end_part(&mut self, Part { mut body, turn, .. }: Part, mut returned: Vec<ValueId>) {
        self.give_turn_back(&mut body, turn);
        returned.push(body.chain);
        self.append(body.block, OpState::new(RETURN).operands(returned));
    }
}
