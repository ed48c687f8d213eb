//! Memory, copies, and ops on planned memory.

use tfrt_ir::Operation;

use super::{
    super::{
        memory::{Access, Kind as Manner},
        values::{Kind, Part, Value},
        walk::{Walk, integer, text},
        world::Memory,
    },
    Call, whole,
};

/// Small sources of copies are read when the copy is queued, and not when the stream reaches it.
const MAX_STAGED_BYTES: u64 = 64 << 10;
/// The most rows of a copy that are told apart.
const MAX_ROWS: u64 = 4096;

/// An access of the first bytes of a part, as many as a count says if it is known.
fn first(part: &Part, manner: Manner, bytes: Option<u64>) -> Access {
    match bytes {
        Some(bytes) => Access::exact(part.root, manner, part.first(bytes)),
        None => Access::possible(part.root, manner, part.bytes.clone()),
    }
}

impl Walk<'_> {
    /// Runs a kernel that makes, fills or copies memory; `None` for another one.
    pub(super) fn memory_kernel(&mut self, name: &str, call: &Call<'_>) -> Option<Vec<Value>> {
        Some(match name {
            "mem.allocate" => {
                let Some(&Kind::Stream(stream)) = call.kind(1) else { return None };
                vec![call.result(self.allocate(call, stream, call.int(2))), call.chain()]
            }
            "mem.allocate_host" => {
                let (part, _) = self.host_memory(call, Memory::Pinned);
                vec![call.result(Kind::Host(part)), call.chain()]
            }
            "mem.allocate_managed" => {
                let (part, again) = self.host_memory(call, Memory::Unified);
                vec![call.result(Kind::Device(part)), call.result(Kind::Host(again)), call.chain()]
            }
            "mem.register" => {
                let part = call.host(1)?;
                let root = &mut self.world.roots[part.root];
                if root.memory == Memory::Pageable {
                    root.memory = Memory::Pinned;
                }
                vec![call.chain()]
            }
            "tensor.buffer" => vec![call.result(call.kind(0)?.clone()), call.chain()],
            _ if name.starts_with("tensor.make.") => vec![call.result(call.kind(0)?.clone()), call.chain()],
            "tensor.upload" => self.upload(call)?,
            "tensor.download" => self.download(call)?,
            "tfrt_cuda_test.copy_tensor_host_to_device" => {
                let Some(&Kind::Stream(stream)) = call.kind(2) else { return None };
                let Kind::Device(part) = self.allocate(call, stream, None) else { return None };
                let write = Access::from_start(part.root, Manner::Write, part.bytes.clone());
                let chain =
                    self.copy_from_host(call, stream, vec![write], vec![whole(&call.host(3)?, Manner::Read)]);
                vec![call.result(Kind::Device(part)), chain]
            }
            "op.run" => self.op_run(call)?,
            _ if name.starts_with("mem.set.") => {
                let Some(&Kind::Stream(stream)) = call.kind(4) else { return None };
                let width = match name.rsplit('.').next() {
                    Some("ui8") => 1,
                    Some("ui16") => 2,
                    _ => 4,
                };
                let bytes = call.int(3).map(|count| count.saturating_mul(width));
                let write = first(&call.device(1)?, Manner::Write, bytes);
                self.world.queue(&call.caller, stream, vec![write]);
                vec![call.chain()]
            }
            _ if name.starts_with("mem.copy_") => vec![self.copy(name, call)?],
            _ => return None,
        })
    }

    fn allocate(&mut self, call: &Call<'_>, stream: usize, bytes: Option<u64>) -> Kind {
        let root = self.world.grant(&call.caller, stream, bytes);
        Kind::Device(Part { root, bytes: 0..bytes.unwrap_or(u64::MAX) })
    }

    fn host_memory(&mut self, call: &Call<'_>, memory: Memory) -> (Part, Part) {
        let bytes = call.int(1);
        let root = self.world.add_root(Some(call.caller.step.clone()), bytes, memory);
        let part = Part { root, bytes: 0..bytes.unwrap_or(u64::MAX) };
        (part.clone(), part)
    }

    fn is_pageable(&self, accesses: &[Access]) -> bool {
        accesses.iter().any(|access| self.world.roots[access.root].memory == Memory::Pageable)
    }

    /// Copies from host memory. The chain says that the host may change its memory, unless that is
    /// pinned.
    fn copy_from_host(
        &mut self,
        call: &Call<'_>,
        stream: usize,
        mut accesses: Vec<Access>,
        source: Vec<Access>,
    ) -> Value {
        if !self.is_pageable(&source) || self.world.is_capturing(stream) {
            accesses.extend(source);
            self.world.queue(&call.caller, stream, accesses);
            return call.chain();
        }
        // When it is read depends on its size. The chain comes after that in any case, and before
        // the copy is done.
        let node = self.world.graph.add([call.caller.node]);
        self.world.host_access(&call.caller.step, node, source);
        self.world.queue(&call.caller, stream, accesses);
        call.chain_at(node)
    }

    /// Copies to host memory. The chain says that the bytes are there, unless the memory is pinned.
    fn copy_to_host(
        &mut self,
        call: &Call<'_>,
        stream: usize,
        mut accesses: Vec<Access>,
        target: Vec<Access>,
    ) -> Value {
        let is_pageable = self.is_pageable(&target);
        accesses.extend(target);
        match self.world.queue(&call.caller, stream, accesses) {
            Some(node) if is_pageable => call.chain_at(node),
            _ => call.chain(),
        }
    }

    fn copy(&mut self, name: &str, call: &Call<'_>) -> Option<Value> {
        let is_2d = name.starts_with("mem.copy_2d");
        let (first_operand, stream) = match name {
            "mem.copy_peer" => (0, 3),
            _ if is_2d => (1, 7),
            _ => (1, 4),
        };
        let Some(&Kind::Stream(stream)) = call.kind(stream) else { return None };
        let (to, from) = match is_2d {
            true => (self.rows(call, 1, Manner::Write)?, self.rows(call, 3, Manner::Read)?),
            false => {
                let bytes = call.int(first_operand + 2);
                let side = |index, manner| {
                    let part = call.device(index).or_else(|| call.host(index))?;
                    Some(vec![first(&part, manner, bytes)])
                };
                (side(first_operand, Manner::Write)?, side(first_operand + 1, Manner::Read)?)
            }
        };
        Some(match name {
            "mem.copy_host_to_device" | "mem.copy_2d_host_to_device" => {
                self.copy_from_host(call, stream, to, from)
            }
            "mem.copy_device_to_host" | "mem.copy_2d_device_to_host" => {
                self.copy_to_host(call, stream, from, to)
            }
            _ => {
                self.world.queue(&call.caller, stream, [to, from].concat());
                call.chain()
            }
        })
    }

    /// The rows of one side of a copy: the buffer at an operand, and its pitch behind it.
    fn rows(&self, call: &Call<'_>, index: usize, manner: Manner) -> Option<Vec<Access>> {
        let part = call.device(index).or_else(|| call.host(index))?;
        let (Some(pitch), Some(width), Some(height)) = (call.int(index + 1), call.int(5), call.int(6)) else {
            return Some(vec![Access::possible(part.root, manner, part.bytes)]);
        };
        if height > MAX_ROWS {
            let bytes = part.first(pitch.saturating_mul(height));
            return Some(vec![Access::from_start(part.root, manner, bytes)]);
        }
        let row =
            |row: u64| Access::exact(part.root, manner, part.slice(row.saturating_mul(pitch), width).bytes);
        Some((0..height).map(row).collect())
    }

    fn upload(&mut self, call: &Call<'_>) -> Option<Vec<Value>> {
        let Some(&Kind::Stream(stream)) = call.kind(2) else { return None };
        let part = call.device(0)?;
        let write = whole(&part, Manner::Write);
        let Some(source) = call.host(1) else {
            self.world.queue(&call.caller, stream, vec![write]);
            return Some(vec![call.chain()]);
        };
        let is_staged = part.bytes.end - part.bytes.start <= MAX_STAGED_BYTES;
        if is_staged {
            return Some(vec![self.copy_from_host(
                call,
                stream,
                vec![write],
                vec![whole(&source, Manner::Read)],
            )]);
        }
        let read = Access::possible(source.root, Manner::Read, source.bytes);
        self.world.queue(&call.caller, stream, vec![write, read]);
        Some(vec![call.chain()])
    }

    /// The tensor comes when the copy is done.
    fn download(&mut self, call: &Call<'_>) -> Option<Vec<Value>> {
        let Some(&Kind::Stream(stream)) = call.kind(1) else { return None };
        let read = whole(&call.device(0)?, Manner::Read);
        let root = self.world.add_root(Some(call.caller.step.clone()), None, Memory::Pageable);
        let node = self.world.queue(&call.caller, stream, vec![read]).unwrap_or(call.caller.node);
        let tensor = Kind::Host(Part { root, bytes: 0..u64::MAX });
        Some(vec![call.result_at(tensor, node), call.chain()])
    }

    /// An op on planned memory: the arguments, the results, scratch memory, and memory that the op
    /// keeps.
    fn op_run(&mut self, call: &Call<'_>) -> Option<Vec<Value>> {
        let Some(&Kind::Stream(stream)) = call.kind(0) else { return None };
        let (arguments, results) = text(call.data, "types").and_then(count_types)?;
        let places = text(call.data, "memory").unwrap_or_default();
        let has_scratch = usize::from(places.contains("scratch"));
        // Memory that an op keeps is written by its first call, and no call that is recorded writes
        // it.
        let kept = if self.world.is_capturing(stream) { Manner::Read } else { Manner::Write };
        let mut accesses = Vec::new();
        for (index, _) in call.operands.iter().enumerate().skip(2) {
            let manner = match index - 2 {
                place if place < arguments => Manner::Read,
                place if place < arguments + results + has_scratch => Manner::Write,
                _ => kept,
            };
            accesses.extend(call.device(index).map(|part| whole(&part, manner)));
        }
        let host = (2..2 + arguments).filter_map(|index| call.host(index));
        let host: Vec<Access> = host.map(|part| whole(&part, Manner::Read)).collect();
        if host.is_empty() {
            self.world.queue(&call.caller, stream, accesses);
            return Some(vec![call.chain()]);
        }
        Some(vec![self.copy_from_host(call, stream, accesses, host)])
    }
}

/// A part of a buffer.
pub(super) fn slice(data: &Operation, operands: &[Value]) -> Kind {
    let part = operands.first().map(|value| &value.kind);
    match (part, integer(data, "offset"), integer(data, "size")) {
        (Some(Kind::Device(part)), Some(offset), Some(size)) => Kind::Device(part.slice(offset, size)),
        _ => Kind::Opaque,
    }
}

/// The numbers of arguments and of results in a text such as `(1x3xf32, 3x4xf32) -> (1x4xf32)`.
fn count_types(text: &str) -> Option<(usize, usize)> {
    let count = |list: &str| {
        let inner = list.trim().strip_prefix('(')?.strip_suffix(')')?.trim();
        Some(if inner.is_empty() { 0 } else { inner.split(',').count() })
    };
    let (arguments, results) = text.split_once("->")?;
    Some((count(arguments)?, count(results)?))
}
