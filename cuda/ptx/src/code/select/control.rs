//! Selects branches, calls, barriers, and instructions that end a thread.

use super::super::emit::{Checked, Emitter};
use super::super::flow::Control;
use super::super::layout::parameter_size;
use super::super::operand::{AddressOperand, Predicate};
use super::memory::{load_from, store_to};
use super::{Words, check_constant, operands};
use crate::exec::address::AccessSpace;
use crate::exec::barrier::{self, Action};
use crate::exec::lanes::LANES;
use crate::exec::level::Handlers;
use crate::exec::program::CallSite;
use crate::exec::slots::{Fields, RegisterSlot};
use crate::exec::{control_flow, system};
use crate::syntax::ast::{
    AddressBase, Call, CallTarget, Immediate, Instruction, Operand, Parameter, ParameterStorage, Signature,
    Symbol,
};
use crate::syntax::types::{Space, Type};

pub(super) fn select(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    match i.opcode {
        "brx" => branch_indexed(e, i, w),
        "call" => call(e, i, w),
        "ret" | "exit" => {
            if i.opcode == "ret" {
                w.flag("uni");
            }
            w.finish()?;
            let [] = operands(i)?;
            if i.opcode == "exit" {
                e.emit_control(Handlers::uniform(control_flow::exit), Fields::new(), Control::End);
            } else {
                emit_return(e)?;
            }
            Ok(())
        }
        "trap" | "brkpt" => {
            w.finish()?;
            let [] = operands(i)?;
            let imm = u64::from(i.opcode == "brkpt");
            e.emit_control(Handlers::uniform(system::trap), Fields::new().imm(imm), Control::End);
            Ok(())
        }
        "bar" | "barrier" => barrier(e, i, w),
        "nanosleep" => {
            if !w.flag("u32") {
                return Err("type .u32 is needed".into());
            }
            w.finish()?;
            let [time] = operands(i)?;
            e.source(time, Type::U32)?;
            e.emit(Handlers::uniform(system::nanosleep), Fields::new());
            Ok(())
        }
        // None of the others has an effect that a program can observe.
        "griddepcontrol" => {
            w.one_of(&["launch_dependents", "wait"])
                .ok_or("one of .launch_dependents and .wait is needed")?;
            w.finish()?;
            let [] = operands(i)?;
            Ok(())
        }
        "setmaxnreg" => {
            w.one_of(&["inc", "dec"]).ok_or("one of .inc and .dec is needed")?;
            for word in ["sync", "aligned", "u32"] {
                if !w.flag(word) {
                    return Err(format!(".{word} is needed"));
                }
            }
            w.finish()?;
            let allowed = |count: u32| (24..=256).contains(&count) && count.is_multiple_of(8);
            constant_operand(i, allowed, "a multiple of 8 from 24 to 256")
        }
        "pmevent" => {
            let (last, wanted) = if w.flag("mask") {
                (0xffff, "a constant of 16 bits")
            } else {
                (15, "a constant from 0 to 15")
            };
            w.finish()?;
            constant_operand(i, |event| event <= last, wanted)
        }
        _ => {
            w.finish()?;
            let [] = operands(i)?;
            Ok(())
        }
    }
}

/// Checks that the only operand is a constant that is allowed.
fn constant_operand(i: &Instruction<'_>, allowed: impl Fn(u32) -> bool, wanted: &str) -> Checked<()> {
    let [operand @ Operand::Immediate(Immediate::Integer { .. })] = operands(i)? else {
        return Err(format!("{wanted} is needed"));
    };
    check_constant(operand, allowed, wanted)
}

/// Selects `bra`, with its guard.
pub(super) fn branch(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, guard: Option<Predicate>) -> Checked<()> {
    let w = &mut Words::new(i);
    w.flag("uni");
    w.finish()?;
    let [Operand::Label(label)] = operands(i)? else { return Err("a label is needed".into()) };
    match guard {
        Some(predicate) => e.jump_if(predicate, label.0),
        None => {
            e.emit_control(Handlers::uniform(control_flow::branch), Fields::new(), Control::Jump(label.0))
        }
    }
    Ok(())
}

fn branch_indexed(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let idx = w.flag("idx");
    w.flag("uni");
    w.finish()?;
    let [index, Operand::BranchTable(table)] = operands(i)? else {
        return Err("an index and a table of labels are needed".into());
    };
    if !idx {
        return Err(".idx is needed".into());
    }
    let a = e.source(index, Type::U32)?;
    let targets = e.function.branch_tables[table.index()].targets.iter().map(|label| label.0).collect();
    let handlers = Handlers::uniform(control_flow::branch_indexed);
    e.emit_control(handlers, Fields::new().a(a), Control::JumpTable(targets));
    Ok(())
}

/// Begins a called function by loading its register parameters from the frame's memory.
pub(crate) fn enter(e: &mut Emitter<'_, '_>) -> Checked<()> {
    let function = e.function;
    for (index, parameter) in (0..).zip(&function.signature.parameters) {
        if let ParameterStorage::Register(ty, register) = parameter.storage {
            let address = frame_address(Symbol::Parameter(index));
            move_register(e, ty, address, &Operand::Register(register), true)?;
        }
    }
    Ok(())
}

/// Selects `ret`, which stores register results to the frame's memory.
fn emit_return(e: &mut Emitter<'_, '_>) -> Checked<()> {
    let function = e.function;
    for (index, parameter) in (0..).zip(&function.signature.returns) {
        if let ParameterStorage::Register(ty, register) = parameter.storage {
            let address = frame_address(Symbol::Return(index));
            move_register(e, ty, address, &Operand::Register(register), false)?;
        }
    }
    e.emit_control(Handlers::uniform(control_flow::ret), Fields::new(), Control::End);
    Ok(())
}

/// Ends a function's code with a `ret`.
pub(crate) fn leave(e: &mut Emitter<'_, '_>) {
    if emit_return(e).is_err() {
        e.emit_control(Handlers::uniform(control_flow::ret), Fields::new(), Control::End);
    }
}

fn frame_address(symbol: Symbol) -> Operand {
    Operand::Address { base: AddressBase::Symbol(symbol), offset: 0 }
}

/// Loads a register from the frame's memory or stores it there. A predicate is stored as a byte.
fn move_register(
    e: &mut Emitter<'_, '_>,
    ty: Type,
    address: Operand,
    register: &Operand,
    load: bool,
) -> Checked<()> {
    let address = e.address(&address, AccessSpace::Param)?;
    if ty == Type::Pred {
        return Err("a predicate cannot be passed".into());
    }
    let parts = std::slice::from_ref(register);
    if load { load_from(e, ty, address, parts) } else { store_to(e, ty, address, parts) }
}

fn call(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    w.flag("uni");
    w.finish()?;
    let [Operand::Call(call)] = operands(i)? else { return Err("the operands of a call are needed".into()) };
    match call.target {
        CallTarget::Direct(id) => {
            let callee = &e.module.functions[id.index()];
            let signature = &callee.signature;
            check_counts(call, signature)?;
            let Some(target) = e.shared.position(e.module, id).filter(|_| !callee.is_entry) else {
                return system_call(e, callee.name, call, signature);
            };
            let (site, results) = call_site(e, call, signature)?;
            let b = e.shared.call_sites.len() as u32;
            e.shared.call_sites.push(site);
            e.emit_waiting(Handlers::uniform(control_flow::call), Fields::new().a(target).b(b));
            take_results(e, results)
        }
        CallTarget::Prototype(register, prototype) => {
            let signature = &e.function.prototypes[prototype.index()].signature;
            call_address(e, call, &Operand::Register(register), signature, None)
        }
        CallTarget::Table(register, table) => {
            let targets = &e.function.call_tables[table.index()].targets;
            let Some(first) = targets.first() else { return Err("the table is empty".into()) };
            let signature = &e.module.functions[first.index()].signature;
            let ids = targets.iter().map(|id| e.module.definition(*id).0).collect();
            call_address(e, call, &Operand::Register(register), signature, Some(ids))
        }
    }
}

fn check_counts(call: &Call, signature: &Signature<'_>) -> Checked<()> {
    let (arguments, parameters) = (call.arguments.len(), signature.parameters.len());
    if arguments != parameters {
        return Err(format!("{arguments} arguments where {parameters} are needed"));
    }
    let (results, returns) = (call.results.len(), signature.returns.len());
    if results != returns {
        return Err(format!("{results} results where there are {returns}"));
    }
    Ok(())
}

fn call_address(
    e: &mut Emitter<'_, '_>,
    call: &Call,
    address: &Operand,
    signature: &Signature<'_>,
    targets: Option<Vec<u32>>,
) -> Checked<()> {
    check_counts(call, signature)?;
    let a = e.source(address, Type::B64)?;
    let (mut site, results) = call_site(e, call, signature)?;
    site.targets = targets;
    let b = e.shared.call_sites.len() as u32;
    e.shared.call_sites.push(site);
    let meet = e.new_label();
    let handlers = Handlers::uniform(control_flow::call_indirect);
    e.emit_control(handlers, Fields::new().a(a).b(b), Control::CallIndirect(meet));
    e.place_label(meet);
    take_results(e, results)
}

/// A register that receives a result from local memory after a call: its offset, its type, the
/// destination.
type ResultRegister = (u32, Type, Operand);

/// Returns where the arguments and results of a call are in local memory. Those in registers get a
/// separate place.
fn call_site(
    e: &mut Emitter<'_, '_>,
    call: &Call,
    signature: &Signature<'_>,
) -> Checked<(CallSite, Vec<ResultRegister>)> {
    let mut site = CallSite::default();
    for (argument, parameter) in call.arguments.iter().zip(&signature.parameters) {
        let place = match variable_place(e, argument)? {
            Some(place) => place,
            None => {
                let (place, ty) = register_place(e, parameter)?;
                let address = local_address(e, place.0);
                store_to(e, ty, address, std::slice::from_ref(argument))?;
                place
            }
        };
        check_size(place, parameter)?;
        site.arguments.push(place);
    }
    let mut results = Vec::new();
    for (result, parameter) in call.results.iter().zip(&signature.returns) {
        let place = match variable_place(e, result)? {
            Some(place) => place,
            None => {
                let (place, ty) = register_place(e, parameter)?;
                results.push((place.0, ty, result.clone()));
                place
            }
        };
        check_size(place, parameter)?;
        site.results.push(place);
    }
    Ok((site, results))
}

fn check_size((_, bytes): (u32, u32), parameter: &Parameter<'_>) -> Checked<()> {
    let (needed, _) = parameter_size(parameter);
    if u64::from(bytes) == needed {
        return Ok(());
    }
    Err(format!("{bytes} bytes are passed where {needed} are needed"))
}

/// Returns the place of a `.param` variable in the frame, or `None` for any other operand.
fn variable_place(e: &Emitter<'_, '_>, operand: &Operand) -> Checked<Option<(u32, u32)>> {
    let Operand::Symbol { symbol, offset: 0 } = operand else { return Ok(None) };
    match *symbol {
        Symbol::Variable(id) if e.module.variables[id.index()].space == Space::Param => {
            let place = e.frame.variables.get(&id).copied().ok_or("a variable of another function")?;
            Ok(Some((place, e.module.variables[id.index()].layout.bytes() as u32)))
        }
        Symbol::Parameter(index) if !e.function.is_entry => {
            Ok(e.frame.parameters.get(index as usize).copied())
        }
        Symbol::Return(index) => Ok(e.frame.returns.get(index as usize).copied()),
        _ => Ok(None),
    }
}

fn register_place(e: &mut Emitter<'_, '_>, parameter: &Parameter<'_>) -> Checked<((u32, u32), Type)> {
    let ty = match parameter.storage {
        ParameterStorage::Register(ty, _) => ty,
        ParameterStorage::Memory(layout) => layout.element,
    };
    let (bytes, align) = parameter_size(parameter);
    if bytes != u64::from(ty.bytes()) || ty == Type::Pred {
        return Err("a register or a constant where memory is passed".into());
    }
    let place = e.frame.packer.place(bytes, align);
    Ok(((place as u32, bytes as u32), ty))
}

fn local_address(e: &mut Emitter<'_, '_>, place: u32) -> AddressOperand {
    let slot = e.local_base();
    let space = AccessSpace::Local;
    AddressOperand { slot, offset: place.into(), wide: true, space, parameter: None }
}

fn take_results(e: &mut Emitter<'_, '_>, results: Vec<ResultRegister>) -> Checked<()> {
    for (place, ty, result) in results {
        let address = local_address(e, place);
        load_from(e, ty, address, std::slice::from_ref(&result))?;
    }
    Ok(())
}

/// Selects a call of a function that the system provides.
fn system_call(e: &mut Emitter<'_, '_>, name: &str, call: &Call, signature: &Signature<'_>) -> Checked<()> {
    let (handler, types, result): (_, &[Type], _) = match name {
        "vprintf" => (Handlers::uniform(system::vprintf), &[Type::B64, Type::B64], Some(Type::B32)),
        "__assertfail" => {
            let types = &[Type::B64, Type::B64, Type::B32, Type::B64, Type::B64];
            (Handlers::uniform(system::assert_fail), types, None)
        }
        "malloc" => (Handlers::uniform(system::malloc), &[Type::B64], Some(Type::B64)),
        "free" => (Handlers::uniform(system::free), &[Type::B64], None),
        _ => return Err(format!("function {name} has no body, and is none that the system provides")),
    };
    if signature.parameters.len() != types.len() || signature.returns.len() != usize::from(result.is_some()) {
        return Err(format!("{name} has another number of parameters"));
    }
    let (site, results) = call_site(e, call, signature)?;
    let mut slots = Vec::with_capacity(types.len());
    for (&(place, bytes), &ty) in site.arguments.iter().zip(types) {
        if bytes != ty.bytes() {
            return Err(format!("a parameter of {name} has {bytes} bytes instead of {}", ty.bytes()));
        }
        slots.push(load_temp(e, place, ty)?);
    }
    let result = result.map(|ty| (ty, e.temp(ty)));
    let mut fields = Fields::new();
    if let Some((_, dst)) = result {
        fields = fields.dst(dst);
    }
    // The last argument of `__assertfail`, the size of a character, is ignored.
    for (&slot, set) in slots.iter().zip([Fields::a::<RegisterSlot>, Fields::b, Fields::c, Fields::d]) {
        fields = set(fields, slot);
    }
    e.emit(handler, fields);
    if let (Some((ty, dst)), Some(&(place, _))) = (result, site.results.first()) {
        let address = local_address(e, place);
        store_slot(e, ty, address, dst);
    }
    take_results(e, results)
}

/// Returns a temporary with a value from the frame's memory.
fn load_temp(e: &mut Emitter<'_, '_>, place: u32, ty: Type) -> Checked<RegisterSlot> {
    use crate::exec::access::{Cell32, Cell64, Local, load};
    let address = local_address(e, place);
    let (dst, site) = (e.temp(ty), e.site());
    let handlers =
        if ty.bits() == 64 { const { load::<Cell64, Local>() } } else { const { load::<Cell32, Local>() } };
    let d = AccessSpace::Local as u32;
    e.emit(handlers, Fields::new().dst(dst).a(address.slot).imm(address.offset as u64).d(d).site(site));
    Ok(dst)
}

fn store_slot(e: &mut Emitter<'_, '_>, ty: Type, address: AddressOperand, b: RegisterSlot) {
    use crate::exec::access::{Cell32, Cell64, Local, store};
    let site = e.site();
    let handlers =
        if ty.bits() == 64 { const { store::<Cell64, Local>() } } else { const { store::<Cell32, Local>() } };
    let d = AccessSpace::Local as u32;
    e.emit(handlers, Fields::new().a(address.slot).b(b).imm(address.offset as u64).d(d).site(site));
}

/// Selects `bar`, `barrier`, and `bar.warp.sync`.
fn barrier(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    if i.opcode == "bar" && w.flag("warp") {
        return super::collective::warp_barrier(e, i, w);
    }
    if i.opcode == "barrier" && w.flag("cluster") {
        return cluster_barrier(e, i, w);
    }
    w.flag("cta");
    w.flag("aligned");
    let Some(action) = w.one_of(&["sync", "arrive", "red"]) else {
        return Err("one of .sync, .arrive and .red is needed".into());
    };
    if action == "red" {
        return barrier_reduction(e, i, w);
    }
    w.finish()?;
    let (id, count) = match &i.operands[..] {
        [id] if action == "sync" => (id, None),
        [id, count] => (id, Some(count)),
        [_] => return Err("the number of threads is missing".into()),
        [] => return Err("the barrier is missing".into()),
        _ => return Err("too many operands".into()),
    };
    let (a, b, d) = participants(e, id, count)?;
    if let Some(count) = count
        && action == "arrive"
    {
        check_constant(count, |threads| threads != 0, "a number of threads")?;
    }
    let imm = if action == "sync" { Action::Sync } else { Action::Arrive } as u64;
    let fields = Fields::new().a(a).b(b).c(e.scratch(Type::Pred)).d(d).imm(imm);
    e.emit_waiting(Handlers::uniform(barrier::barrier), fields);
    Ok(())
}

/// Returns the barrier, the number of threads that arrive at it, and whether that number is given.
/// If not, the number is ignored.
fn participants(
    e: &mut Emitter<'_, '_>,
    id: &Operand,
    count: Option<&Operand>,
) -> Checked<(RegisterSlot, RegisterSlot, u32)> {
    check_constant(id, |id| id < barrier::COUNT as u32, "a barrier from 0 to 15")?;
    let id = e.source(id, Type::U32)?;
    let Some(count) = count else { return Ok((id, id, 0)) };
    check_constant(
        count,
        |threads| threads.is_multiple_of(LANES as u32),
        "a number of threads in whole warps",
    )?;
    Ok((id, e.source(count, Type::U32)?, 1))
}

fn barrier_reduction(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let ty = w.ty()?;
    let action = match (w.one_of(&["popc", "and", "or"]), ty) {
        (Some("popc"), Type::U32) => Action::Popc,
        (Some("and"), Type::Pred) => Action::And,
        (Some("or"), Type::Pred) => Action::Or,
        _ => return Err("one of .popc.u32, .and.pred and .or.pred is needed".into()),
    };
    w.finish()?;
    let (dst, id, count, predicate) = match &i.operands[..] {
        [dst, id, predicate] => (dst, id, None, predicate),
        [dst, id, count, predicate] => (dst, id, Some(count), predicate),
        other => return Err(format!("{} operands where 3 or 4 are needed", other.len())),
    };
    let (a, b, counted) = participants(e, id, count)?;
    let predicate = e.predicate(predicate)?;
    let d = counted | 2 | if predicate.flip != 0 { 4 } else { 0 };
    let imm = action as u64;
    let fields = Fields::new().a(a).b(b).c(predicate.slot).d(d).imm(imm);
    e.emit_waiting(Handlers::uniform(barrier::barrier), fields);
    let dst = e.target(dst, ty)?;
    let handlers = if ty == Type::Pred {
        Handlers::uniform(barrier::barrier_vote)
    } else {
        Handlers::uniform(barrier::barrier_count)
    };
    e.emit(handlers, Fields::new().dst(dst).imm(imm));
    Ok(())
}

fn cluster_barrier(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let Some(action) = w.one_of(&["arrive", "wait"]) else {
        return Err("one of .arrive and .wait is needed".into());
    };
    w.one_of(&["release", "acquire", "relaxed"]);
    w.flag("aligned");
    w.finish()?;
    let [] = operands(i)?;
    let handlers = if action == "arrive" {
        Handlers::uniform(barrier::cluster_arrive)
    } else {
        Handlers::uniform(barrier::cluster_wait)
    };
    e.emit_waiting(handlers, Fields::new());
    Ok(())
}
