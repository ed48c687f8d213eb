//! Selects `cp.async`, `mbarrier`.

use super::super::emit::{Checked, Emitter};
use super::super::operand::AddressOperand;
use super::memory::{cache_hints, scope, space};
use super::{Words, check_constant, operands};
use crate::exec::access;
use crate::exec::address::AccessSpace;
use crate::exec::bulk;
use crate::exec::level::Handlers;
use crate::exec::ops::{selection, unary};
use crate::exec::slots::{Fields, RegisterSlot};
use crate::exec::transfer::{self, Step};
use crate::syntax::ast::{Immediate, Instruction, Operand};
use crate::syntax::types::Type;

/// Selects `cp`.
pub(super) fn copy(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    if !w.flag("async") || i.has("tensor") || i.has("reduce") || i.has("multicast::cluster") {
        return Err("the instruction is not supported".into());
    }
    if w.flag("bulk") {
        return copy_bulk(e, i, w);
    }
    if w.flag("commit_group") || w.flag("wait_all") {
        w.finish()?;
        let [] = operands(i)?;
        return Ok(());
    }
    if w.flag("wait_group") {
        w.finish()?;
        let [Operand::Immediate(Immediate::Integer { .. })] = operands(i)? else {
            return Err("a number of groups is needed".into());
        };
        return Ok(());
    }
    if w.flag("mbarrier") {
        return copy_arrive(e, i, w);
    }
    let cached = w.one_of(&["ca", "cg"]).ok_or("one of .ca and .cg is needed")?;
    let policy = cache_hints(w);
    if !(w.flag("shared") || w.flag("shared::cta")) || !w.flag("global") {
        return Err("copies go from .global to .shared".into());
    }
    w.finish()?;
    let given = i.operands.len() - usize::from(policy && i.operands.len() > 3);
    let Some(Operand::Immediate(Immediate::Integer { bits: bytes @ (4 | 8 | 16), .. })) = i.operands.get(2)
    else {
        return Err("4, 8 or 16 bytes can be copied".into());
    };
    if cached == "cg" && *bytes != 16 || !(3..=4).contains(&given) {
        return Err("operands do not fit the instruction".into());
    }
    if let Some(source) = i.operands.get(3).filter(|_| given == 4) {
        check_constant(source, |count| u64::from(count) <= *bytes, "at most as many bytes as are copied")?;
    }
    let to = e.wide_address(&i.operands[0], AccessSpace::Shared)?;
    let from = e.wide_address(&i.operands[1], AccessSpace::Global)?;
    let c = copied_bytes(e, i.operands.get(3).filter(|_| given == 4), *bytes as u32)?;
    let (to_offset, from_offset) = (i32::try_from(to.offset), i32::try_from(from.offset));
    let (Ok(to_offset), Ok(from_offset)) = (to_offset, from_offset) else {
        return Err("the offset of an address is too large".into());
    };
    let imm = u64::from(to_offset as u32) | u64::from(from_offset as u32) << 32;
    let (d, site) = (*bytes as u32, e.site());
    let handlers = Handlers::uniform(transfer::copy_async);
    e.emit(handlers, Fields::new().a(to.slot).b(from.slot).c(c).d(d).site(site).imm(imm));
    Ok(())
}

/// Selects `cp.async.bulk`, in one dimension.
fn copy_bulk(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    if w.flag("commit_group") {
        w.finish()?;
        let [] = operands(i)?;
        return Ok(());
    }
    if w.flag("wait_group") {
        w.flag("read");
        w.finish()?;
        let [Operand::Immediate(Immediate::Integer { .. })] = operands(i)? else {
            return Err("a number of groups is needed".into());
        };
        return Ok(());
    }
    if w.flag("prefetch") {
        return prefetch_bulk(e, i, w);
    }
    let policy = cache_hints(w);
    // The spaces are in the order of the operands.
    let (counted, grouped) = (w.flag("mbarrier::complete_tx::bytes"), w.flag("bulk_group"));
    let (target, source) = (space(w), space(w));
    w.finish()?;
    let (to_shared, from_shared) = (target == AccessSpace::Shared, source == AccessSpace::Shared);
    let known = to_shared && counted && !grouped && (from_shared || source == AccessSpace::Global)
        || target == AccessSpace::Global && from_shared && grouped && !counted;
    let expected = 3 + usize::from(counted) + usize::from(policy);
    if !known || i.operands.len() != expected {
        return Err("this form is not supported".into());
    }
    if policy {
        e.source(&i.operands[expected - 1], Type::B64)?;
    }
    let to = e.wide_address(&i.operands[0], target)?;
    let from = e.wide_address(&i.operands[1], source)?;
    let bytes = bulk_bytes(e, &i.operands[2])?;
    let (Ok(to_offset), Ok(from_offset)) = (i32::try_from(to.offset), i32::try_from(from.offset)) else {
        return Err("the offset of an address is too large".into());
    };
    let imm = u64::from(to_offset as u32) | u64::from(from_offset as u32) << 32;
    let (d, site) = (target as u32 | (source as u32) << 8, e.site());
    e.emit(
        Handlers::uniform(bulk::copy),
        Fields::new().a(to.slot).b(from.slot).c(bytes).d(d).site(site).imm(imm),
    );
    if counted { complete_bytes(e, &i.operands[3], bytes) } else { Ok(()) }
}

/// Selects `st.bulk`, which stores zeros to shared memory.
pub(super) fn fill(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    w.flag("bulk");
    w.flag("weak");
    let space = space(w);
    w.finish()?;
    if !matches!(space, AccessSpace::Generic | AccessSpace::Shared) {
        return Err("it stores to shared memory".into());
    }
    let [to, bytes, value] = operands(i)?;
    if !matches!(value, Operand::Immediate(Immediate::Integer { bits: 0, .. })) {
        return Err("0 is the only value it stores".into());
    }
    check_constant(bytes, |bytes| bytes.is_multiple_of(8), "a multiple of 8")?;
    let to = e.wide_address(to, space)?;
    let (c, d, site) = (e.source(bytes, Type::B64)?, space as u32, e.site());
    let fields = Fields::new().a(to.slot).c(c).d(d).site(site).imm(to.offset as u64);
    e.emit(Handlers::uniform(bulk::fill), fields);
    Ok(())
}

/// Selects `cp.async.bulk.prefetch`, which only advises the cache.
fn prefetch_bulk(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let (level, policy) = (w.flag("L2"), cache_hints(w));
    let source = space(w);
    w.finish()?;
    let [address, bytes, rest @ ..] = &i.operands[..] else {
        return Err("an address and a number of bytes are needed".into());
    };
    if !level || source != AccessSpace::Global || rest.len() != usize::from(policy) {
        return Err("this form is not supported".into());
    }
    for operand in rest {
        e.source(operand, Type::B64)?;
    }
    bulk_bytes(e, bytes)?;
    e.wide_address(address, source).map(|_| ())
}

/// Returns the size of a bulk copy, as a 32-bit slot.
fn bulk_bytes(e: &mut Emitter<'_, '_>, operand: &Operand) -> Checked<RegisterSlot> {
    check_constant(operand, |bytes| u64::from(bytes).is_multiple_of(bulk::PIECE), "a multiple of 16")?;
    e.source(operand, Type::U32)
}

/// Reports bytes that have arrived to a barrier. Their number is in a register.
fn complete_bytes(e: &mut Emitter<'_, '_>, barrier: &Operand, bytes: RegisterSlot) -> Checked<()> {
    let address = barrier_address(e, barrier, AccessSpace::Shared)?;
    emit_step(e, address, Step::CompleteTx, StepOperands { number: Some(bytes), ..StepOperands::default() });
    Ok(())
}

/// Selects `st.async`, `red.async`: the plain instruction, followed by a report of its bytes to the
/// barrier.
pub(super) fn counted_store(e: &mut Emitter<'_, '_>, i: &Instruction<'_>) -> Checked<()> {
    let [address, value, barrier] = operands(i)?;
    let (counted, place) = (i.has("mbarrier::complete_tx::bytes"), i.has("shared::cluster"));
    if !counted || !place {
        return Err(".shared::cluster and .mbarrier::complete_tx::bytes are needed".into());
    }
    let left = |word: &&str| !matches!(*word, "async" | "mbarrier::complete_tx::bytes" | "weak");
    let mut plain = i.clone();
    plain.modifiers = i.modifiers.iter().copied().filter(left).collect();
    plain.operands = [address.clone(), value.clone()].into();
    let ty = Words::new(&plain).ty()?;
    super::unguarded(e, &plain)?;
    let count = if let Operand::Vector(parts) = value { parts.len() as u32 } else { 1 };
    let bytes = e.constant32(ty.bytes() * count);
    complete_bytes(e, barrier, bytes)
}

/// Returns the number of bytes that are copied: all of them, as many as a register says, or none if
/// a predicate is true.
fn copied_bytes(e: &mut Emitter<'_, '_>, operand: Option<&Operand>, bytes: u32) -> Checked<RegisterSlot> {
    let Some(operand) = operand else { return Ok(e.constant32(bytes)) };
    let is_predicate = match operand {
        Operand::Register(register) | Operand::Not(register) => e.register_type(*register) == Type::Pred,
        _ => false,
    };
    if !is_predicate {
        return e.source(operand, Type::U32);
    }
    let ignore = e.predicate(operand)?;
    let (dst, a, b) = (e.temp32(), e.constant32(0), e.constant32(bytes));
    let fields = Fields::new().dst(dst).a(a).b(b).c(ignore.slot).d(ignore.flip);
    e.emit(const { selection::<u32>() }, fields);
    Ok(dst)
}

fn copy_arrive(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    w.flag("arrive");
    let step = if w.flag("noinc") { Step::CopyArriveNoIncrease } else { Step::CopyArrive };
    let space = space(w);
    w.flag("b64");
    w.finish()?;
    let [address] = operands(i)?;
    let address = barrier_address(e, address, space)?;
    emit_step(e, address, step, StepOperands::default());
    Ok(())
}

fn barrier_address(
    e: &mut Emitter<'_, '_>,
    operand: &Operand,
    space: AccessSpace,
) -> Checked<AddressOperand> {
    let address = e.wide_address(operand, space)?;
    if !matches!(address.space, AccessSpace::Shared | AccessSpace::Generic) {
        return Err("memory barriers are in shared memory".into());
    }
    Ok(address)
}

/// The operands of a barrier operation, besides the address.
#[derive(Clone, Copy, Default)]
struct StepOperands {
    /// A count, a number of bytes or a parity, of 32 bits.
    number: Option<RegisterSlot>,
    /// The state of an earlier arrival.
    state: Option<RegisterSlot>,
    /// The destination: a predicate for a test, otherwise the state before the operation.
    result: Option<RegisterSlot>,
}

fn emit_step(e: &mut Emitter<'_, '_>, address: AddressOperand, step: Step, operands: StepOperands) {
    let tests = matches!(step, Step::Test | Step::TestParity | Step::Try | Step::TryParity);
    if !tests {
        // Earlier accesses must be visible to threads that wait.
        e.emit(Handlers::uniform(access::fence), Fields::new());
    }
    let dst = operands.result.unwrap_or_else(|| e.scratch(if tests { Type::Pred } else { Type::B64 }));
    let number = operands.number.unwrap_or_else(|| e.constant32(0));
    let state = operands.state.unwrap_or_else(|| e.constant64(0));
    let (d, site) = (step as u32 | (address.space as u32) << 16, e.site());
    let fields =
        Fields::new().dst(dst).a(address.slot).b(number).c(state).d(d).site(site).imm(address.offset as u64);
    let handlers = if tests {
        Handlers::uniform(transfer::barrier_test)
    } else {
        Handlers::uniform(transfer::barrier_step)
    };
    e.emit(handlers, fields);
}

/// Selects `mbarrier`.
pub(super) fn barrier(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    const WORDS: [&str; 9] = [
        "init",
        "inval",
        "arrive",
        "arrive_drop",
        "expect_tx",
        "complete_tx",
        "test_wait",
        "try_wait",
        "pending_count",
    ];
    let word = w.one_of(&WORDS).ok_or("the operation is missing")?;
    let with_bytes = matches!(word, "arrive" | "arrive_drop") && w.flag("expect_tx");
    let parity = w.flag("parity");
    w.flag("noComplete");
    w.one_of(&["acquire", "release", "relaxed"]);
    scope(w);
    let space = space(w);
    let typed = w.flag("b64");
    w.finish()?;
    if !typed && !matches!(word, "expect_tx" | "complete_tx") {
        return Err(".b64 is needed".into());
    }
    match word {
        "pending_count" => {
            let [dst, state] = operands(i)?;
            let (dst, a) = (e.target(dst, Type::U32)?, e.source(state, Type::B64)?);
            let handlers = unary!(u64 => u32, |a| transfer::pending_count(a));
            e.emit(handlers, Fields::new().dst(dst).a(a));
            Ok(())
        }
        "test_wait" | "try_wait" => wait(e, i, space, word == "try_wait", parity),
        "arrive" | "arrive_drop" => arrive(e, i, space, word == "arrive_drop", with_bytes),
        _ => {
            let (step, count) = match word {
                "init" => (Step::Init, true),
                "inval" => (Step::Invalidate, false),
                "expect_tx" => (Step::ExpectTx, true),
                _ => (Step::CompleteTx, true),
            };
            if i.operands.len() != 1 + usize::from(count) {
                return Err("a wrong number of operands".into());
            }
            let address = barrier_address(e, &i.operands[0], space)?;
            let number = if count { Some(e.source(&i.operands[1], Type::U32)?) } else { None };
            emit_step(e, address, step, StepOperands { number, ..StepOperands::default() });
            Ok(())
        }
    }
}

fn arrive(
    e: &mut Emitter<'_, '_>,
    i: &Instruction<'_>,
    space: AccessSpace,
    drops: bool,
    with_bytes: bool,
) -> Checked<()> {
    // The state is omitted for `.shared::cluster` barriers.
    let has_state = !matches!(i.operands.first(), Some(Operand::Address { .. }) | None);
    let rest = &i.operands[usize::from(has_state)..];
    let (address, number) = match rest {
        [address] if !with_bytes => (address, None),
        [address, number] => (address, Some(number)),
        _ => return Err("a wrong number of operands".into()),
    };
    let address = barrier_address(e, address, space)?;
    let number = match number {
        Some(number) => {
            check_constant(number, |count| with_bytes || count as i32 > 0, "a number of arrivals")?;
            e.source(number, Type::U32)?
        }
        None => e.constant32(1),
    };
    let step = match (drops, with_bytes) {
        (false, false) => Step::Arrive,
        (false, true) => Step::ArriveExpectTx,
        (true, false) => Step::ArriveDrop,
        (true, true) => Step::ArriveDropExpectTx,
    };
    let result = match i.operands.first() {
        Some(state) if has_state => Some(e.target(state, Type::B64)?),
        _ => None,
    };
    emit_step(e, address, step, StepOperands { number: Some(number), result, ..StepOperands::default() });
    Ok(())
}

fn wait(
    e: &mut Emitter<'_, '_>,
    i: &Instruction<'_>,
    space: AccessSpace,
    tries: bool,
    parity: bool,
) -> Checked<()> {
    // The last operand of `try_wait` is a time limit.
    let most = if tries { 4 } else { 3 };
    if !(3..=most).contains(&i.operands.len()) {
        return Err("a wrong number of operands".into());
    }
    let address = barrier_address(e, &i.operands[1], space)?;
    let (number, state) = if parity {
        check_constant(&i.operands[2], |parity| parity <= 1, "0 or 1")?;
        (Some(e.source(&i.operands[2], Type::U32)?), None)
    } else {
        (None, Some(e.source(&i.operands[2], Type::B64)?))
    };
    let step = match (tries, parity) {
        (false, false) => Step::Test,
        (false, true) => Step::TestParity,
        (true, false) => Step::Try,
        (true, true) => Step::TryParity,
    };
    let result = Some(e.target(&i.operands[0], Type::Pred)?);
    emit_step(e, address, step, StepOperands { number, state, result });
    Ok(())
}
