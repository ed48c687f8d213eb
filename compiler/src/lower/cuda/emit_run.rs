//! The function that queues the ops of a region.

use std::collections::HashMap;

use tfrt_eager::Place;
use tfrt_ir::{Attribute, BlockId, FunctionType, Location, OpState, Type, ValueId};
use tfrt_launch::GeneratedLaunch;

use super::{
    emit::{Body, Emitter, Handles, recorded, ty},
    nodes::{BufferId, Node, Operand},
    planned::Item,
};
use crate::import::onnx::RETURN;

/// What a function has made so far, to be used again.
#[derive(Default)]
struct Known {
    slices: HashMap<BufferId, ValueId>,
    numbers: HashMap<u32, ValueId>,
}

impl Emitter<'_> {
    /// `func @run(arena, constants, queues…, streams…, events…, kernels…, chain) -> chain`: the ops of
    /// a region. Without events and kernels, `run` takes no streams.
    pub(super) fn emit_run(&mut self, region: usize) {
        let mut inputs = vec![ty("buffer"), ty("buffer")];
        inputs.extend(self.handle_types());
        inputs.push(Type::chain());
        let function = FunctionType { inputs, results: vec![Type::chain()] };
        let name = self.run_name(region);
        let (_, block) = self.lowering.module.add_function(name, function, Location::Unknown);
        let arguments = self.lowering.module.block(block).arguments.clone();
        let (chain, handles) = (arguments[arguments.len() - 1], &arguments[2..arguments.len() - 1]);
        let schedule = &self.planned.plan.schedule;
        let handles =
            Handles::from_values(handles, schedule.stream_count.max(1), self.device_graph.generated.len());
        let mut body = Body { block, chain, arena: arguments[0], constants: arguments[1] };
        let mut known = Known::default();
        let events = recorded(schedule);
        self.emit_record(&mut body, &handles, &events, None);
        for &op in &schedule.order {
            let Item::Node(number) = self.planned.items[op] else { continue };
            let node = &self.device_graph.nodes[number];
            if node.region != region {
                continue;
            }
            self.emit_waits(&mut body, &handles, &events, Some(op));
            let stream = schedule.streams[op];
            match node.launch {
                Some(launch) => {
                    let kernel = handles.kernels[launch.kernel];
                    self.emit_launch(
                        &mut body,
                        (kernel, handles.streams[stream]),
                        &mut known,
                        (launch, node),
                    );
                }
                None => self.emit_node(&mut body, handles.queues[stream], &mut known, (number, node)),
            }
            self.emit_record(&mut body, &handles, &events, Some(op));
        }
        self.emit_waits(&mut body, &handles, &events, None);
        self.append(block, OpState::new(RETURN).operands([body.chain]));
    }

    /// The stream of an op; the first one for the beginning and the end.
    fn stream(&self, handles: &Handles, op: Option<usize>) -> ValueId {
        handles.streams[op.map_or(0, |op| self.planned.plan.schedule.streams[op])]
    }

    /// Records the event behind an op, or at the beginning, if something waits for it.
    fn emit_record(
        &mut self,
        body: &mut Body,
        handles: &Handles,
        events: &[Option<usize>],
        op: Option<usize>,
    ) {
        let Some(place) = events.iter().position(|&event| event == op) else { return };
        let operands = [handles.events[place], self.stream(handles, op)];
        let state = (OpState::new("tfrt_cuda.event.record"), &operands[..]);
        self.chained(body.block, &mut body.chain, state, None);
    }

    /// Waits for what an op, or the end, has to wait for.
    fn emit_waits(
        &mut self,
        body: &mut Body,
        handles: &Handles,
        events: &[Option<usize>],
        op: Option<usize>,
    ) {
        let planned = self.planned;
        for event in planned.plan.schedule.events.iter().filter(|event| event.before == op) {
            let Some(place) = events.iter().position(|&after| after == event.after) else { continue };
            let operands = [self.stream(handles, op), handles.events[place]];
            let state = (OpState::new("tfrt_cuda.stream.wait"), &operands[..]);
            self.chained(body.block, &mut body.chain, state, None);
        }
    }

    fn emit_node(
        &mut self,
        body: &mut Body,
        queue: ValueId,
        known: &mut Known,
        (number, node): (usize, &Node),
    ) {
        let mut values = Vec::new();
        for operand in &node.operands {
            values.push(match *operand {
                Operand::Buffer(id) => self.buffer_slice(body, known, id),
                Operand::Host(id) => self.host_constant(body.block, id),
            });
        }
        for &id in &node.results {
            values.push(self.buffer_slice(body, known, id));
        }
        for part in [self.planned.scratch[number], self.planned.kept[number]].into_iter().flatten() {
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

    /// Launches a generated kernel.
    fn emit_launch(
        &mut self,
        body: &mut Body,
        (kernel, stream): (ValueId, ValueId),
        known: &mut Known,
        (launch, node): (GeneratedLaunch, &Node),
    ) {
        let [threads, elements] =
            [launch.threads, launch.elements].map(|number| self.number(body.block, known, number));
        let mut operands = vec![kernel, threads, stream, body.chain];
        let buffers = node.operands.iter().filter_map(|operand| match *operand {
            Operand::Buffer(id) => Some(id),
            Operand::Host(_) => None,
        });
        for (index, id) in node.results.iter().copied().chain(buffers).enumerate() {
            operands.push(self.buffer_slice(body, known, id));
            if index == 0 {
                operands.push(elements);
            }
        }
        let state = OpState::new("tfrt_cuda.function.launch_strided")
            .operands(operands)
            .results([Type::chain()])
            .at(node.location.clone());
        body.chain = self.append_one(body.block, state);
    }

    /// A number of 32 bits without a sign.
    fn number(&mut self, block: BlockId, known: &mut Known, number: u32) -> ValueId {
        if let Some(&value) = known.numbers.get(&number) {
            return value;
        }
        let ty = Type::uint(32);
        let attribute = Attribute::int(number.into(), ty.clone()).unwrap_or(Attribute::Unit);
        let value = self.constant(block, "tfrt.constant.ui32", attribute, ty);
        known.numbers.insert(number, value);
        value
    }

    fn buffer_slice(&mut self, body: &Body, known: &mut Known, id: BufferId) -> ValueId {
        if let Some(&value) = known.slices.get(&id) {
            return value;
        }
        let value = self.slice(body, self.planned.buffers[id.0]);
        known.slices.insert(id, value);
        value
    }
}
