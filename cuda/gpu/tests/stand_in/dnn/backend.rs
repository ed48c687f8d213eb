//! cuDNN's backend interface: operation graphs, engines, plans and their runs.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::time::Duration;

use cudarc::cudnn::sys::{
    cudnnBackendAttributeName_t as Name, cudnnBackendAttributeType_t as Type,
    cudnnBackendDescriptorType_t as Object, cudnnBackendHeurMode_t as Mode,
    cudnnBackendNumericalNote_t as Note,
};

use super::descriptor::{Descriptor, to_fill};
use super::program::Program;
use super::{BAD_PARAM, Handle, NOT_SUPPORTED};
use crate::driver::{entry_points, put};
use crate::state::{Answer, Context, check_range, find, forget, keep, violation, write};

/// An engine: what it states about its numerics, the workspace that it needs, and whether it takes
/// long where `TFRT_STAND_IN_SLOW_ENGINE` is set.
struct Engine {
    notes: &'static [Note],
    workspace_bytes: u64,
    is_slow: bool,
}

/// The engines in the order in which the heuristic proposes them.
const ENGINES: [Engine; 4] = [
    // Rounds f32 operands to TF32.
    Engine {
        notes: &[Note::CUDNN_NUMERICAL_NOTE_TENSOR_CORE, Note::CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS],
        workspace_bytes: 1 << 20,
        is_slow: false,
    },
    Engine { notes: &[Note::CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC], workspace_bytes: 0, is_slow: false },
    Engine { notes: &[], workspace_bytes: 0, is_slow: true },
    Engine { notes: &[], workspace_bytes: 64 << 10, is_slow: false },
];
/// What a slow engine takes longer.
const SLOW: Duration = Duration::from_millis(5);

fn engine(graph: &Arc<Descriptor>, index: usize) -> Arc<Descriptor> {
    let notes: Vec<_> = ENGINES[index].notes.iter().map(|&note| note as i64).collect();
    let engine = Descriptor::new(Object::CUDNN_BACKEND_ENGINE_DESCRIPTOR as c_int)
        .with_other(Name::CUDNN_ATTR_ENGINE_OPERATION_GRAPH, Arc::clone(graph))
        .with(Name::CUDNN_ATTR_ENGINE_GLOBAL_INDEX, Type::CUDNN_TYPE_INT64, &[index as i64])
        .with(Name::CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, Type::CUDNN_TYPE_NUMERICAL_NOTE, &notes);
    Descriptor::new(Object::CUDNN_BACKEND_ENGINECFG_DESCRIPTOR as c_int)
        .with_other(Name::CUDNN_ATTR_ENGINECFG_ENGINE, engine.finalized())
        .finalized()
}

/// Returns the engines that a heuristic proposes.
fn proposals(heuristic: &Descriptor) -> Answer<Vec<Arc<Descriptor>>> {
    let graph = heuristic.other(Name::CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH)?;
    let mode = heuristic.number(Name::CUDNN_ATTR_ENGINEHEUR_MODE)? as c_int;
    let last = ENGINES.len() - 1;
    let found = if mode == Mode::CUDNN_HEUR_MODE_A as c_int { 0..last + 1 } else { last..last + 1 };
    Ok(found.map(|index| engine(&graph, index)).collect())
}

/// What a plan runs.
struct Plan {
    program: Program,
    engine: &'static Engine,
    rounds_to_tf32: bool,
}

/// Returns the engine's configuration of a finalized plan.
fn configuration(plan: &Descriptor) -> Answer<Arc<Descriptor>> {
    let json = Name::CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION;
    if plan.has(json) {
        return Descriptor::read(&mut plan.text(json)?.split_whitespace());
    }
    plan.other(Name::CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)
}

impl Plan {
    fn new(plan: &Descriptor) -> Answer<Self> {
        let engine = configuration(plan)?.other(Name::CUDNN_ATTR_ENGINECFG_ENGINE)?;
        let index = engine.number(Name::CUDNN_ATTR_ENGINE_GLOBAL_INDEX)? as usize;
        Ok(Self {
            program: Program::new(&*engine.other(Name::CUDNN_ATTR_ENGINE_OPERATION_GRAPH)?)?,
            engine: ENGINES.get(index).ok_or(BAD_PARAM)?,
            rounds_to_tf32: index == 0,
        })
    }
}

/// Checks the attributes of a descriptor.
fn finalize(descriptor: &Descriptor) -> Answer {
    if descriptor.is_final() {
        return Err(BAD_PARAM);
    }
    let require = |names: &[Name]| {
        if names.iter().all(|&name| descriptor.has(name)) { Ok(()) } else { Err(BAD_PARAM) }
    };
    if descriptor.is(Object::CUDNN_BACKEND_TENSOR_DESCRIPTOR) {
        require(&[
            Name::CUDNN_ATTR_TENSOR_DATA_TYPE,
            Name::CUDNN_ATTR_TENSOR_DIMENSIONS,
            Name::CUDNN_ATTR_TENSOR_STRIDES,
            Name::CUDNN_ATTR_TENSOR_UNIQUE_ID,
            Name::CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT,
        ])?;
    } else if descriptor.is(Object::CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR) {
        require(&[Name::CUDNN_ATTR_OPERATIONGRAPH_HANDLE])?;
        Program::new(descriptor)?;
    } else if descriptor.is(Object::CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR) {
        let graph = descriptor.other(Name::CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH)?;
        proposals(descriptor)?;
        if !Program::new(&graph)?.has_engine() {
            return Err(NOT_SUPPORTED);
        }
    } else if descriptor.is(Object::CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
        require(&[Name::CUDNN_ATTR_EXECUTION_PLAN_HANDLE])?;
        Plan::new(descriptor)?;
    } else if descriptor.is(Object::CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR) {
        let ids = descriptor.numbers(Name::CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS)?;
        if ids.len() != descriptor.addresses(Name::CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS)?.len() {
            return Err(BAD_PARAM);
        }
    }
    descriptor.set_final();
    Ok(())
}

/// Fills the caller's descriptors with these, as far as there are any.
///
/// # Safety
/// The array has `wanted` elements.
unsafe fn fill(found: &[Arc<Descriptor>], wanted: i64, place: *mut c_void) -> Answer<i64> {
    if wanted > 0 {
        // SAFETY: this function requires the length.
        let empty = unsafe { to_fill(place, wanted) };
        empty.iter().zip(found).try_for_each(|(empty, found)| empty.fill(found))?;
    }
    Ok(found.len() as i64)
}

/// Copies an attribute that is computed.
///
/// # Safety
/// The array has room for `wanted` values.
unsafe fn copy(values: &Descriptor, name: Name, wanted: i64, place: *mut c_void) -> Answer<i64> {
    // SAFETY: this function requires the room.
    unsafe { values.copy_to(name, wanted, place) }
}

/// Reads an attribute, and returns how many values there are.
///
/// # Safety
/// The array has room for `wanted` values of the attribute's type.
unsafe fn get(descriptor: &Descriptor, name: c_int, wanted: i64, place: *mut c_void) -> Answer<i64> {
    let is = |known: Name| name == known as c_int;
    if !descriptor.is_final() {
        return Err(BAD_PARAM);
    }
    if is(Name::CUDNN_ATTR_ENGINEHEUR_RESULTS) {
        // SAFETY: this function requires the room.
        return unsafe { fill(&proposals(descriptor)?, wanted, place) };
    }
    if is(Name::CUDNN_ATTR_ENGINECFG_ENGINE) {
        let engine = descriptor.others(Name::CUDNN_ATTR_ENGINECFG_ENGINE)?;
        // SAFETY: this function requires the room.
        return unsafe { fill(&engine, wanted, place) };
    }
    if is(Name::CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG) {
        // SAFETY: this function requires the room.
        return unsafe { fill(&[configuration(descriptor)?], wanted, place) };
    }
    let answer = Descriptor::new(-1);
    if is(Name::CUDNN_ATTR_ENGINE_NUMERICAL_NOTE) {
        // SAFETY: this function requires the room.
        return unsafe { copy(descriptor, Name::CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, wanted, place) };
    }
    if is(Name::CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE) {
        let name = Name::CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE;
        let bytes = Plan::new(descriptor)?.engine.workspace_bytes as i64;
        // SAFETY: this function requires the room.
        return unsafe { copy(&answer.with(name, Type::CUDNN_TYPE_INT64, &[bytes]), name, wanted, place) };
    }
    if is(Name::CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION) {
        let name = Name::CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION;
        let mut text = String::new();
        configuration(descriptor)?.describe(&mut text);
        text.push('\0');
        // SAFETY: this function requires the room.
        return unsafe { copy(&answer.with_text(name, &text), name, wanted, place) };
    }
    Err(NOT_SUPPORTED)
}

/// Queues the work of a plan.
fn execute(stream: &Arc<crate::stream::Stream>, plan: &Descriptor, variant: &Descriptor) -> Answer {
    let plan = Plan::new(plan)?;
    let ids = variant.numbers(Name::CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS)?;
    let pointers = variant.addresses(Name::CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS)?;
    let addresses: BTreeMap<_, _> = ids.iter().map(|&id| id as i64).zip(pointers).collect();
    plan.program.check(&addresses)?;
    let workspace = match plan.engine.workspace_bytes {
        0 => None,
        bytes => {
            let known = variant.addresses(Name::CUDNN_ATTR_VARIANT_PACK_WORKSPACE)?;
            let &address = known.first().ok_or(BAD_PARAM)?;
            check_range(address, bytes).map_err(|_| BAD_PARAM)?;
            Some(address)
        }
    };
    let is_slow = plan.engine.is_slow && std::env::var_os("TFRT_STAND_IN_SLOW_ENGINE").is_some();
    stream.submit("convolution", move || {
        if workspace.is_some_and(|workspace| write(workspace, &[0x5a; 64]).is_err()) {
            violation("a convolution's workspace is freed before the convolution is done");
        }
        if is_slow {
            std::thread::sleep(SLOW);
        }
        plan.program.run(&addresses, plan.rounds_to_tf32)
    })
}

entry_points! {
    fn cudnnBackendCreateDescriptor(kind: c_int, place: *mut *mut c_void) {
        let context = Context::current("cudnnBackendCreateDescriptor");
        put(place, keep(context, "backend descriptor", Arc::new(Descriptor::new(kind))))
    }
    fn cudnnBackendDestroyDescriptor(raw: *mut c_void) {
        drop(forget::<Descriptor>(raw, "cudnnBackendDestroyDescriptor"));
        Ok(())
    }
    fn cudnnBackendFinalize(raw: *mut c_void) { finalize(&find::<Descriptor>(raw, "cudnnBackendFinalize")) }
    fn cudnnBackendSetAttribute(raw: *mut c_void, name: c_int, kind: c_int, count: i64, values: *const c_void) {
        let descriptor = find::<Descriptor>(raw, "cudnnBackendSetAttribute");
        // SAFETY: the caller's array has as many values of the type.
        unsafe { descriptor.set(name, kind, count, values) }
    }
    fn cudnnBackendGetAttribute(
        raw: *mut c_void, name: c_int, _kind: c_int, wanted: i64, count: *mut i64, values: *mut c_void,
    ) {
        let descriptor = find::<Descriptor>(raw, "cudnnBackendGetAttribute");
        // SAFETY: the caller's array has room for as many values of the type.
        put(count, unsafe { get(&descriptor, name, wanted, values)? })
    }
    fn cudnnBackendExecute(handle: *mut c_void, plan: *mut c_void, variant: *mut c_void) {
        let stream = Handle::stream(handle, "cudnnBackendExecute");
        let (plan, variant) =
            (find::<Descriptor>(plan, "cudnnBackendExecute"), find::<Descriptor>(variant, "cudnnBackendExecute"));
        if !(plan.is_final() && variant.is_final()) {
            return Err(BAD_PARAM);
        }
        execute(&stream, &plan, &variant)
    }
}
