//! What each kernel does to the devices and to memory.

mod collectives;
mod memory;
mod modules;
mod ordering;

pub(super) use collectives::{Exchanges, Rank};

use tfrt_ir::{OpId, Operation};

use super::{
    memory::{Access, Kind as Manner},
    order::{NodeId, Past},
    values::{Kind, Part, Value},
    walk::{Frame, Walk},
    world::{Caller, Memory},
};

/// A device kernel that is called.
pub(super) struct Call<'c> {
    pub(super) data: &'c Operation,
    pub(super) operands: &'c [Value],
    pub(super) caller: Caller,
}

impl Call<'_> {
    pub(super) fn kind(&self, index: usize) -> Option<&Kind> {
        self.operands.get(index).map(|value| &value.kind)
    }

    pub(super) fn device(&self, index: usize) -> Option<Part> {
        match self.kind(index)? {
            Kind::Device(part) => Some(part.clone()),
            _ => None,
        }
    }

    fn host(&self, index: usize) -> Option<Part> {
        match self.kind(index)? {
            Kind::Host(part) => Some(part.clone()),
            _ => None,
        }
    }

    pub(super) fn int(&self, index: usize) -> Option<u64> {
        match self.kind(index)? {
            Kind::Int(number) => u64::try_from(*number).ok(),
            _ => None,
        }
    }

    /// A result that is available when the call returns.
    pub(super) fn result(&self, kind: Kind) -> Value {
        self.result_at(kind, self.caller.node)
    }

    /// A result that is available when a node is done.
    fn result_at(&self, kind: Kind, node: NodeId) -> Value {
        Value { kind, node, past: self.caller.past.clone() }
    }

    fn chain(&self) -> Value {
        self.result(Kind::Opaque)
    }

    fn chain_at(&self, node: NodeId) -> Value {
        self.result_at(Kind::Opaque, node)
    }
}

/// An access of a whole part, all of which is certain if its size is known.
fn whole(part: &Part, manner: Manner) -> Access {
    match part.bytes.end {
        u64::MAX => Access::from_start(part.root, manner, part.bytes.clone()),
        _ => Access::exact(part.root, manner, part.bytes.clone()),
    }
}

impl Walk<'_> {
    /// Runs a kernel. Returns its results.
    pub(super) fn kernel(
        &mut self,
        op: OpId,
        data: &Operation,
        operands: &[Value],
        frame: &Frame,
    ) -> Vec<Value> {
        let (node, past) = self.start_of(data, operands, frame);
        if let Some(number) = constant(data, operands) {
            return vec![Value { kind: Kind::Int(number), node, past }];
        }
        if !data.name.starts_with("tfrt_cuda") {
            return self.host_kernel(op, (data, operands), frame, (node, past));
        }
        if &*data.name == "tfrt_cuda.mem.slice" {
            return vec![Value { kind: memory::slice(data, operands), node, past }];
        }
        if matches!(&*data.name, "tfrt_cuda.op.queue" | "tfrt_cuda.op.queue_with_tf32") {
            let kind = operands.first().map_or(Kind::Opaque, |stream| stream.kind.clone());
            return vec![Value { kind, node, past }];
        }
        let caller = self.world.call(self.step(op, frame), node, &past);
        let call = Call { data, operands, caller };
        let results = self.device_kernel(&call);
        results.unwrap_or_else(|| self.unknown_kernel(&call))
    }

    /// Runs a kernel that uses no devices.
    fn host_kernel(
        &mut self,
        op: OpId,
        (data, operands): (&Operation, &[Value]),
        frame: &Frame,
        (mut node, past): (NodeId, Past),
    ) -> Vec<Value> {
        let mut accesses = Vec::new();
        for (index, manner) in self.touched(data) {
            match operands.get(index).map(|value| &value.kind) {
                Some(Kind::Host(part)) => accesses.push(whole(part, manner)),
                Some(Kind::Device(_)) => {
                    let step = self.step(op, frame);
                    let why = format!("it is not known on which stream '{}' uses its buffer", data.name);
                    self.world.doubt(&step, why);
                }
                _ => {}
            }
        }
        let mut results = self.made(op, data, operands, frame);
        if !accesses.is_empty() {
            node = self.world.graph.add([node]);
            let step = self.step(op, frame);
            self.world.host_access(&step, node, accesses);
        }
        for result in &mut results {
            (result.node, result.past) = (node, past.clone());
        }
        results
    }

    /// The operands whose contents a kernel reads or writes, by its registration.
    pub(super) fn touched(&self, data: &Operation) -> Vec<(usize, Manner)> {
        let definition = self.ops.get(&data.name);
        let Some((definition, effects)) = definition.and_then(|found| Some((found, found.effects.as_ref()?)))
        else {
            return Vec::new();
        };
        let written = effects.mutates.iter().map(|&spec| (spec, Manner::Write));
        let read = effects.reads.iter().filter(|spec| !effects.mutates.contains(spec));
        let mut touched = Vec::new();
        for (spec, manner) in written.chain(read.map(|&spec| (spec, Manner::Read))) {
            let group = definition.operand_group(data, spec).unwrap_or_default();
            for value in group {
                let places = data.operands.iter().enumerate().filter(|(_, operand)| *operand == value);
                touched.extend(places.map(|(index, _)| (index, manner)));
            }
        }
        touched
    }

    /// Runs a kernel of devices; `None` if it has no meaning of its own here.
    fn device_kernel(&mut self, call: &Call<'_>) -> Option<Vec<Value>> {
        let name = call.data.name.strip_prefix("tfrt_cuda.").unwrap_or(&call.data.name);
        if let Some(results) = self.ordering_kernel(name, call) {
            return Some(results);
        }
        if let Some(results) = self.module_kernel(name, call) {
            return Some(results);
        }
        if let Some(results) = self.collective_kernel(name, call) {
            return Some(results);
        }
        self.memory_kernel(name, call)
    }

    /// A device kernel that this does not know: by its registration it reads and writes operands,
    /// on a stream that is an operand or that was set for a library.
    fn unknown_kernel(&mut self, call: &Call<'_>) -> Vec<Value> {
        let touched = self.touched(call.data);
        let is_mutable = |(index, _): &&(usize, Manner)| matches!(call.kind(*index), Some(Kind::Device(_)));
        if touched.iter().any(|touched| is_mutable(&touched)) {
            self.queue_touched(call, &touched);
        }
        let count = call.data.results.len();
        let mut results = vec![call.chain(); count];
        for (index, &result) in call.data.results.iter().enumerate() {
            if self.module.value_type(result).is_dialect("tfrt_cuda", "buffer") {
                let root = self.world.add_root(Some(call.caller.step.clone()), None, Memory::Device);
                results[index].kind = Kind::Device(Part { root, bytes: 0..u64::MAX });
            }
        }
        results
    }

    fn queue_touched(&mut self, call: &Call<'_>, touched: &[(usize, Manner)]) {
        let streams = call.operands.iter().find_map(|value| match value.kind {
            Kind::Stream(stream) => Some(stream),
            Kind::Handle(handle) => self.world.stream_of(&call.caller.past, handle),
            _ => None,
        });
        let Some(stream) = streams else {
            let why = format!("it is not known on which stream '{}' runs", call.data.name);
            return self.world.doubt(&call.caller.step, why);
        };
        let of = |&(index, manner): &(usize, Manner)| {
            let part = call.device(index)?;
            Some(Access::from_start(part.root, manner, part.bytes))
        };
        let accesses = touched.iter().filter_map(of).collect();
        self.world.queue(&call.caller, stream, accesses);
    }
}

/// The number that a constant or an operation on constants gives.
fn constant(data: &Operation, operands: &[Value]) -> Option<i128> {
    let int = |index: usize| match operands.get(index)?.kind {
        Kind::Int(number) => Some(number),
        _ => None,
    };
    let (name, _) = data.name.strip_prefix("tfrt.")?.split_once('.')?;
    match name {
        "constant" => {
            let value = data.attr("value")?;
            value.as_int().or_else(|| value.as_bool().map(i128::from))
        }
        "add" => int(0)?.checked_add(int(1)?),
        "minus" => int(0)?.checked_sub(int(1)?),
        "equal" => Some(i128::from(int(0)? == int(1)?)),
        "lessequal" => Some(i128::from(int(0)? <= int(1)?)),
        _ => None,
    }
}
