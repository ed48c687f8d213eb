//! Assembles a program: the functions that can be called, their frames, their instructions.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::emit::{Emitter, Finished};
use super::flow::lay_out;
use super::layout::{FrameLayout, Outline, Packer, place_parameters};
use super::needs;
use super::select::select;
use crate::error::ErrorSink;
use crate::exec::level::Handlers;
use crate::exec::matrix::Matrices;
use crate::exec::program::{CallSite, FunctionCode, Origin, Program};
use crate::exec::slots::{Fields, Lists};
use crate::exec::special;
use crate::exec::video::Form;
use crate::syntax::ast::{
    CallTarget, Function, FunctionId, Instruction, LocationId, Module, Operand, Symbol, VariableId,
};
use crate::syntax::types::{Linkage, Space, SpecialRegister};

/// The size of a thread's local memory in programs that recurse, whose need is unknown.
const RECURSIVE_STACK_BYTES: u64 = 128 << 10;
/// The greatest size of a thread's local memory.
const MAX_LOCAL_BYTES: u64 = 512 << 10;
/// The greatest size of the shared variables of fixed size. A launch requests anything beyond as
/// dynamic shared memory.
const MAX_STATIC_SHARED_BYTES: u64 = 48 << 10;
/// The greatest size of a register window, in bytes: a function's registers, constants and
/// temporaries.
const MAX_WINDOW_BYTES: u32 = 1 << 27;

/// The state that the functions of a program share during translation.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) outline: Arc<Outline>,
    pub(super) shared_offsets: HashMap<VariableId, u32>,
    /// The offset and size of each of the kernel's parameters.
    pub(super) kernel_parameters: Vec<(u32, u32)>,
    /// The index in the program of each function that is part of it.
    functions: HashMap<FunctionId, u32>,
    /// Whether a function is checked on its own, without those that it calls.
    alone: bool,
    pub(super) call_sites: Vec<CallSite>,
    pub(super) lists: Lists,
    pub(super) targets: Vec<u32>,
    pub(super) sites: u32,
    pub(super) matrices: Matrices,
    pub(super) videos: Vec<Form>,
    pub(super) dynamic_stack: bool,
}

impl Shared {
    /// Returns the index in the program of a function of the module, or `None` if it has no body
    /// there.
    pub(super) fn position(&self, module: &Module<'_>, id: FunctionId) -> Option<u32> {
        let id = module.definition(id);
        if self.alone {
            return module.functions[id.index()].body.as_ref().map(|_| 0);
        }
        self.functions.get(&id).copied()
    }
}

/// Translates a kernel and everything it may call. `budget` is the number of instructions of called
/// functions that the programs of a module may still contain. A kernel that finds none left is an
/// error.
pub(crate) fn translate(
    module: &Module<'_>,
    kernel: FunctionId,
    outline: &Arc<Outline>,
    budget: &mut usize,
    errors: &mut ErrorSink,
) -> Program {
    let function = &module.functions[kernel.index()];
    if *budget == 0 {
        errors.add(function.span, too_much(function));
        return Program::default();
    }
    if function.limits.required_cluster.is_some_and(|size| size != [1; 3]) {
        let message = format!("{}: clusters of several blocks are not supported", function.name);
        errors.add(function.span, message);
    }
    let reached = reachable(module, kernel);
    let mut parameter_bytes = 0;
    let kernel_parameters = place_parameters(&function.signature.parameters, &mut parameter_bytes);
    let shared_layout = place_shared(module, &reached, function, errors);
    let mut shared = Shared {
        outline: Arc::clone(outline),
        shared_offsets: shared_layout.offsets,
        kernel_parameters,
        functions: reached.iter().zip(0..).map(|(&id, index)| (id, index)).collect(),
        ..Shared::default()
    };
    let mut program = Program::new(function.name, parameter_bytes as u32);
    program.shared_bytes = shared_layout.bytes;
    program.reserved_shared_bytes = shared_layout.reserved;
    let mut origins = Origins { module, outline, list: Vec::new() };
    let mut own = 0;
    for (&id, index) in reached.iter().zip(0..) {
        if program.code.len() - own > *budget {
            errors.add(function.span, too_much(function));
            break;
        }
        let code = translate_function(module, id, index, &mut shared, &mut program, &mut origins, errors);
        if index == 0 {
            own = program.code.len();
        }
        program.by_address.insert(id.0, index);
        program.functions.push(code);
    }
    program.by_address.remove(&kernel.0);
    *budget = budget.saturating_sub(program.code.len() - own);
    program.local_stride = local_bytes(module, &reached, &program, shared.dynamic_stack, errors);
    program.call_sites = shared.call_sites;
    program.lists = shared.lists;
    program.targets = shared.targets;
    program.sites = shared.sites;
    program.matrices = shared.matrices;
    program.videos = shared.videos;
    program.origins = origins.list;
    program
}

fn too_much(kernel: &Function<'_>) -> String {
    format!("{}: the kernels of this module together call too much code", kernel.name)
}

/// Checks a function on its own. The functions that it calls are checked separately.
pub(crate) fn check_function(
    module: &Module<'_>,
    id: FunctionId,
    outline: &Arc<Outline>,
    errors: &mut ErrorSink,
) {
    let function = &module.functions[id.index()];
    let shared_offsets = place_shared(module, &[id], function, errors).offsets;
    let mut shared =
        Shared { outline: Arc::clone(outline), shared_offsets, alone: true, ..Shared::default() };
    let (mut program, mut origins) = (Program::default(), Origins { module, outline, list: Vec::new() });
    translate_function(module, id, 1, &mut shared, &mut program, &mut origins, errors);
}

/// Returns the kernel and the functions that it may call: by name, or any whose address can be
/// taken if a call is indirect.
fn reachable(module: &Module<'_>, kernel: FunctionId) -> Vec<FunctionId> {
    let mut reached = vec![kernel];
    let mut known = HashSet::from([kernel]);
    let mut add = |reached: &mut Vec<FunctionId>, id: FunctionId| {
        let id = module.definition(id);
        if module.functions[id.index()].body.is_some() && known.insert(id) {
            reached.push(id);
        }
    };
    let mut next = 0;
    let mut indirect = false;
    while let Some(&id) = reached.get(next) {
        next += 1;
        for instruction in module.functions[id.index()].body.iter().flatten() {
            for operand in &instruction.operands {
                let Operand::Call(call) = operand else { continue };
                match call.target {
                    CallTarget::Direct(callee) => add(&mut reached, callee),
                    _ => indirect = true,
                }
            }
        }
        if indirect && next == reached.len() {
            indirect = false;
            for index in 0..module.functions.len() {
                if !module.functions[index].is_entry {
                    add(&mut reached, FunctionId(index as u32));
                }
            }
        }
    }
    reached
}

/// The layout of a kernel's shared memory.
struct SharedLayout {
    offsets: HashMap<VariableId, u32>,
    /// The size of the variables of fixed size.
    bytes: u32,
    /// The number of bytes before them that the system reserves.
    reserved: u32,
}

/// Returns whether the functions read where the reserved part of shared memory is.
fn reads_reserved(module: &Module<'_>, reached: &[FunctionId]) -> bool {
    let is_reserved =
        |operand: &Operand| matches!(operand, Operand::Special(SpecialRegister::ReservedSmemOffset(_)));
    let mut body = reached.iter().flat_map(|id| module.functions[id.index()].body.iter().flatten());
    body.any(|instruction| instruction.operands.iter().any(is_reserved))
}

/// Places the shared variables that the functions name. Variables of open size share one place
/// after all others. The reserved part comes first, as on a GPU, but only if the functions read its
/// location: otherwise they cannot use it, and an access below their variables should be a fault.
fn place_shared(
    module: &Module<'_>,
    reached: &[FunctionId],
    kernel: &Function<'_>,
    errors: &mut ErrorSink,
) -> SharedLayout {
    let mut named = BTreeSet::new();
    for id in reached {
        for instruction in module.functions[id.index()].body.iter().flatten() {
            instruction.operands.iter().for_each(|operand| collect_shared(module, operand, &mut named));
        }
    }
    let reserved = if reads_reserved(module, reached) { special::RESERVED_SHARED_BYTES as u32 } else { 0 };
    let mut packer = Packer { end: reserved.into() };
    let mut offsets = HashMap::new();
    let open = |id: &VariableId| {
        let variable = &module.variables[id.index()];
        variable.layout.is_unsized || variable.linkage == Linkage::Extern && variable.layout.bytes() == 0
    };
    for id in named.iter().filter(|id| !open(id)) {
        let layout = module.variables[id.index()].layout;
        offsets.insert(*id, packer.place(layout.bytes(), layout.align) as u32);
    }
    let dynamic: Vec<&VariableId> = named.iter().filter(|id| open(id)).collect();
    let align = dynamic.iter().map(|id| module.variables[id.index()].layout.align).max().unwrap_or(1);
    let start = packer.place(0, align) as u32;
    offsets.extend(dynamic.into_iter().map(|id| (*id, start)));
    let bytes = packer.end - u64::from(reserved);
    if bytes > MAX_STATIC_SHARED_BYTES {
        let message = format!(
            "{}: {bytes} bytes of variables in shared memory, more than {MAX_STATIC_SHARED_BYTES}",
            kernel.name
        );
        errors.add(kernel.span, message);
    }
    SharedLayout { offsets, bytes: bytes.min(MAX_STATIC_SHARED_BYTES) as u32, reserved }
}

fn collect_shared(module: &Module<'_>, operand: &Operand, named: &mut BTreeSet<VariableId>) {
    use crate::syntax::ast::AddressBase;
    let symbol = match operand {
        Operand::Symbol { symbol, .. } | Operand::Address { base: AddressBase::Symbol(symbol), .. } => {
            *symbol
        }
        Operand::Vector(items) => return items.iter().for_each(|item| collect_shared(module, item, named)),
        Operand::Call(call) => {
            return call.arguments.iter().for_each(|item| collect_shared(module, item, named));
        }
        _ => return,
    };
    if let Symbol::Variable(id) = symbol
        && module.variables[id.index()].space == Space::Shared
    {
        named.insert(id);
    }
}

/// Collects the names and places of instructions.
struct Origins<'t, 's> {
    module: &'t Module<'s>,
    outline: &'t Outline,
    list: Vec<Origin>,
}

impl Origins<'_, '_> {
    fn add(&mut self, instruction: &Instruction<'_>) -> u32 {
        let source = |id: LocationId| {
            let location = self.module.locations.get(id.index())?;
            Some((Arc::clone(self.outline.paths.get(&location.file)?), location.line))
        };
        let source = instruction.source.and_then(source);
        let name = instruction.full_name().into_boxed_str();
        self.list.push(Origin { name, line: instruction.span.line, source });
        self.list.len() as u32 - 1
    }
}

fn translate_function(
    module: &Module<'_>,
    id: FunctionId,
    index: u32,
    shared: &mut Shared,
    program: &mut Program,
    origins: &mut Origins<'_, '_>,
    errors: &mut ErrorSink,
) -> FunctionCode {
    let function = &module.functions[id.index()];
    let own = index == 0 || shared.alone;
    let frame = FrameLayout::new(module, &shared.outline, id, function);
    let mut emitter = Emitter::new(module, function, shared, frame);
    let body = function.body.as_deref().unwrap_or_default();
    let mut labels: Vec<(u32, u32)> =
        function.labels.iter().zip(0..).map(|(label, id)| (label.target, id)).collect();
    labels.sort_unstable();
    let mut labels = labels.into_iter().peekable();
    if let Some(first) = body.first() {
        emitter.origin = origins.add(first);
    }
    if index > 0 {
        let fields = Fields::new().a(index);
        emitter.emit(Handlers::uniform(special::prologue), fields);
        if let Err(reason) = super::select::enter(&mut emitter) {
            errors.add(function.span, format!("function {}: {reason}", function.name));
        }
    }
    for (position, instruction) in body.iter().enumerate() {
        while let Some((_, label)) = labels.next_if(|(target, _)| *target as usize <= position) {
            emitter.place_label(label);
        }
        emitter.origin = origins.add(instruction);
        // Checked once for each function, no matter how many kernels call it.
        let known = if own { needs::check(module, function, instruction) } else { Ok(()) };
        if let Err(reason) = known.and_then(|()| select(&mut emitter, instruction)) {
            errors.add(instruction.span, format!("{}: {reason}", instruction.full_name()));
        }
        if emitter.window_is_full(MAX_WINDOW_BYTES) {
            errors.add(instruction.span, format!("function {} has too many registers", function.name));
            break;
        }
    }
    for (_, label) in labels {
        emitter.place_label(label);
    }
    super::select::leave(&mut emitter);
    let registers = emitter.register_count();
    let frame = std::mem::take(&mut emitter.frame);
    let Finished { window_bytes, filled, per_block, labels, drafts } = emitter.finish();
    let start = program.code.len() as u32;
    match lay_out(&drafts, labels, start, &mut shared.targets) {
        Ok(code) => {
            for (instruction, origin) in code {
                program.code.push(instruction);
                program.origin_of.push(origin);
            }
        }
        Err(mismatch) => errors.add(function.span, format!("function {}: {mismatch}", function.name)),
    }
    FunctionCode {
        index,
        start,
        window_bytes,
        local_bytes: frame.packer.end.min(MAX_LOCAL_BYTES) as u32,
        parameters: frame.parameters,
        returns: frame.returns,
        filled,
        per_block,
        registers,
    }
}

/// Returns the size of a thread's local memory: what the deepest chain of calls needs, or a stack
/// of fixed size if calls may recurse.
fn local_bytes(
    module: &Module<'_>,
    reached: &[FunctionId],
    program: &Program,
    dynamic_stack: bool,
    errors: &mut ErrorSink,
) -> u32 {
    let frames: u64 =
        program.functions.iter().map(|code| u64::from(code.local_bytes).next_multiple_of(16)).sum();
    let mut bytes = frames;
    // Without recursion each function is on the stack at most once, so the sum of all frames is
    // enough.
    if dynamic_stack || may_recurse(module, reached) {
        bytes += RECURSIVE_STACK_BYTES;
    }
    if bytes > MAX_LOCAL_BYTES + RECURSIVE_STACK_BYTES {
        let kernel = &module.functions[reached[0].index()];
        errors.add(kernel.span, format!("{}: {bytes} bytes of local memory are too many", kernel.name));
    }
    bytes.min(MAX_LOCAL_BYTES + RECURSIVE_STACK_BYTES).next_multiple_of(16) as u32
}

/// Returns whether a chain of calls may reach a function twice.
fn may_recurse(module: &Module<'_>, reached: &[FunctionId]) -> bool {
    /// Stands for all functions that an indirect call may reach.
    const ANY: FunctionId = FunctionId(u32::MAX);
    let mut callees: HashMap<FunctionId, HashSet<FunctionId>> = HashMap::new();
    let mut callers: HashMap<FunctionId, Vec<FunctionId>> = HashMap::new();
    // An indirect call may reach any of them.
    let callable = reached.iter().copied().filter(|id| !module.functions[id.index()].is_entry);
    callees.insert(ANY, callable.collect());
    for &id in reached {
        let list = callees.entry(id).or_default();
        for operand in module.functions[id.index()].body.iter().flatten().flat_map(|i| i.operands.iter()) {
            let Operand::Call(call) = operand else { continue };
            let callee = match call.target {
                CallTarget::Direct(callee) => module.definition(callee),
                _ => ANY,
            };
            if callee == ANY || module.functions[callee.index()].body.is_some() {
                list.insert(callee);
            }
        }
    }
    for (&id, list) in &callees {
        for &callee in list {
            callers.entry(callee).or_default().push(id);
        }
    }
    // Repeatedly removes functions that call none of the remaining ones. If some cannot be removed,
    // there is a cycle.
    let mut calls: HashMap<FunctionId, usize> = callees.iter().map(|(&id, list)| (id, list.len())).collect();
    let mut leaves: Vec<FunctionId> = callees.keys().copied().filter(|id| calls[id] == 0).collect();
    let mut taken = 0;
    while let Some(leaf) = leaves.pop() {
        taken += 1;
        for caller in callers.get(&leaf).into_iter().flatten() {
            if let Some(left) = calls.get_mut(caller) {
                *left -= 1;
                if *left == 0 {
                    leaves.push(*caller);
                }
            }
        }
    }
    taken < callees.len()
}
