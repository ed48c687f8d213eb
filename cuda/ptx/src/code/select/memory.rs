//! `ld`, `ldu`, `st`, `prefetch`, fences, and hints that mean nothing here.

use super::super::emit::{Checked, Emitter, Fields, SlotOffset};
use super::super::operand::AddressOperand;
use super::super::repeat::{First, Source};
use super::{Words, no_type};
use crate::code::WIDE_HALF;
use crate::exec::access::{
    self, Anywhere, Cell32, Cell64, CellS8, CellS16, CellU8, CellU16, Local, Shared32, Shared64, load,
    load_again, load_keeping, load_vector, store, store_vector,
};
use crate::exec::address::AccessSpace;
use crate::exec::level::Handlers;
use crate::exec::wide::{WideKind, run_wide};
use crate::syntax::ast::{Instruction, Operand};
use crate::syntax::types::Type;

pub(super) fn select(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    match i.opcode {
        "ld" | "ldu" => access(e, i, w, true),
        "st" => access(e, i, w, false),
        _ => hint(e, i, w),
    }
}

/// Takes a state space, or none for generic addresses.
pub(super) fn space(w: &mut Words<'_>) -> AccessSpace {
    let found = w.find(|word| match word {
        "global" => Some(AccessSpace::Global),
        "shared" | "shared::cta" | "shared::cluster" => Some(AccessSpace::Shared),
        "local" => Some(AccessSpace::Local),
        "const" => Some(AccessSpace::Const),
        "param" | "param::entry" | "param::func" => Some(AccessSpace::Param),
        _ => None,
    });
    found.unwrap_or(AccessSpace::Generic)
}

/// Takes a memory scope.
pub(super) fn scope(w: &mut Words<'_>) -> Option<&'static str> {
    w.one_of(&["cta", "cluster", "gpu", "sys"])
}

/// Takes cache operators, eviction priorities, prefetch sizes and cache policies, which mean nothing here.
/// Gives whether there is an operand for a policy.
pub(super) fn cache_hints(w: &mut Words<'_>) -> bool {
    const HINTS: [&str; 11] =
        ["ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "L2::64B", "L2::128B", "L2::256B"];
    const PRIORITIES: [&str; 5] =
        ["evict_normal", "evict_unchanged", "evict_first", "evict_last", "no_allocate"];
    while w.one_of(&HINTS).is_some() {}
    let priority = |word: &str| {
        let bare = word.strip_prefix("L1::").or_else(|| word.strip_prefix("L2::")).unwrap_or(word);
        PRIORITIES.contains(&bare).then_some(())
    };
    while w.find(priority).is_some() {}
    w.flag("L2::cache_hint")
}

/// How an access is ordered with others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Not at all.
    Weak,
    /// Programs may wait with it.
    Watched,
    Acquire,
    Release,
}

fn order(w: &mut Words<'_>, load: bool) -> Checked<Order> {
    let word = w.one_of(&["weak", "volatile", "relaxed", "acquire", "release", "mmio"]);
    let scoped = scope(w);
    if word == Some("mmio") {
        w.flag("relaxed");
    }
    Ok(match word {
        None | Some("weak") if scoped.is_none() => Order::Weak,
        Some("volatile") if scoped.is_none() => Order::Watched,
        Some("relaxed" | "mmio") if scoped.is_some() => Order::Watched,
        Some("acquire") if load && scoped.is_some() => Order::Acquire,
        Some("release") if !load && scoped.is_some() => Order::Release,
        _ => return Err("ordering and scope do not go together".into()),
    })
}

fn access(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>, load: bool) -> Checked<()> {
    let ty = w.ty()?;
    let order = order(w, load)?;
    let space = space(w);
    let count = match w.one_of(&["v2", "v4", "v8"]) {
        None => 1,
        Some(word) => word[1..].parse().unwrap_or(1),
    };
    let policy = cache_hints(w);
    w.flag("unified");
    w.finish()?;
    if i.operands.len() != 2 + usize::from(policy) {
        return Err(format!("{} operands where {} are needed", i.operands.len(), 2 + usize::from(policy)));
    }
    if policy {
        e.source(&i.operands[2], Type::B64)?;
    }
    let (bits, alone) = (ty.bits() * count, count == 1);
    if ty == Type::Pred || (!alone && (bits > 256 || ty == Type::B128)) || (count == 8 && ty.bits() != 32) {
        return no_type(ty);
    }
    if !load && matches!(space, AccessSpace::Const) {
        return Err("constant memory cannot be written".into());
    }
    let (value, at) = if load { (0, 1) } else { (1, 0) };
    let address = e.address(&i.operands[at], space)?;
    if !load && (address.space == AccessSpace::Param || address.space == AccessSpace::Const) {
        return Err("this memory cannot be written".into());
    }
    let parts: &[Operand] = match &i.operands[value] {
        Operand::Vector(parts) => parts,
        single => std::slice::from_ref(single),
    };
    if parts.len() != count as usize {
        return Err(format!("{} registers where {count} are needed", parts.len()));
    }
    if ty == Type::B128 {
        return access_wide(e, address, &parts[0], load, order);
    }
    if order == Order::Release {
        e.emit(Handlers::same(access::fence), Fields::default());
    }
    if load {
        load_from(e, ty, address, parts)?
    } else {
        store_to(e, ty, address, parts)?
    }
    if matches!(order, Order::Acquire) {
        e.emit(Handlers::same(access::fence), Fields::default());
    }
    if load && matches!(order, Order::Acquire | Order::Watched) {
        e.emit(Handlers::same(access::watch), Fields::default());
    }
    Ok(())
}

/// What of an access stands in the instruction.
fn fields(e: &mut Emitter<'_, '_>, address: AddressOperand, count: usize) -> Fields {
    Fields {
        a: address.slot,
        imm: address.offset as u64,
        d: address.space as u32 | (count as u32) << 8,
        site: e.site(),
        ..Fields::default()
    }
}

/// A handler for each type of cell and each region.
macro_rules! by_region {
    ($make:ident, $ty:expr, $address:expr) => {{
        macro_rules! region {
            ($cell:ty) => {
                match ($address.space, $address.wide) {
                    (AccessSpace::Shared, false) => const { $make::<$cell, Shared32>() },
                    (AccessSpace::Shared, true) => const { $make::<$cell, Shared64>() },
                    (AccessSpace::Local, _) => const { $make::<$cell, Local>() },
                    _ => const { $make::<$cell, Anywhere>() },
                }
            };
        }
        match ($ty.bits(), $ty.is_signed()) {
            (8, false) => region!(CellU8),
            (8, true) => region!(CellS8),
            (16, false) => region!(CellU16),
            (16, true) => region!(CellS16),
            (32, _) => region!(Cell32),
            _ => region!(Cell64),
        }
    }};
}

/// As `by_region!`, of words and double words outside of local memory.
macro_rules! of_words {
    ($make:ident, $ty:expr, $address:expr) => {{
        macro_rules! region {
            ($cell:ty) => {
                match ($address.space, $address.wide) {
                    (AccessSpace::Shared, false) => const { $make::<$cell, Shared32>() },
                    (AccessSpace::Shared, true) => const { $make::<$cell, Shared64>() },
                    _ => const { $make::<$cell, Anywhere>() },
                }
            };
        }
        if $ty.bits() == 32 { region!(Cell32) } else { region!(Cell64) }
    }};
}

/// Addresses of 32 bits are extended, but for shared memory.
fn fit(e: &mut Emitter<'_, '_>, mut address: AddressOperand) -> AddressOperand {
    if !address.wide && address.space != AccessSpace::Shared {
        address.slot = e.widen(address.slot, false);
        address.wide = true;
    }
    address
}

/// `ld.b128`, `st.b128`. Ordered ones are in one piece, as other atomic accesses of 128 bits see them.
fn access_wide(
    e: &mut Emitter<'_, '_>,
    address: AddressOperand,
    value: &Operand,
    load: bool,
    order: Order,
) -> Checked<()> {
    let value = if load { e.target(value, Type::B128)? } else { e.source(value, Type::B128)? };
    if let Some(place) = address.parameter {
        return load_parameter_slots(e, place, &[value, value + WIDE_HALF]);
    }
    let address = fit_wide(e, address);
    if order != Order::Weak {
        let kind = if load { WideKind::Load } else { WideKind::Store };
        let (d, site) = (address.space as u32 | (kind as u32) << 16, e.site());
        let imm = address.offset as u64;
        let fields = Fields { dst: value, a: address.slot, b: value, c: value, d, site, imm };
        e.emit(Handlers::same(run_wide), fields);
        return Ok(());
    }
    let c = e.shared.operands.len() as u32;
    e.shared.operands.extend([value, value + WIDE_HALF]);
    let fields = Fields { c, ..fields(e, address, 2) };
    if load {
        e.emit(by_region!(load_vector, Type::B64, address), fields);
    } else {
        e.emit(by_region!(store_vector, Type::B64, address), fields);
    }
    Ok(())
}

/// An address in 64 bits.
fn fit_wide(e: &mut Emitter<'_, '_>, mut address: AddressOperand) -> AddressOperand {
    if !address.wide {
        address.slot = e.widen(address.slot, false);
        address.wide = true;
    }
    address
}

/// Loads values of a type to operands, which may be wider than the type.
pub(super) fn load_from(
    e: &mut Emitter<'_, '_>,
    ty: Type,
    address: AddressOperand,
    parts: &[Operand],
) -> Checked<()> {
    if let Some(place) = address.parameter {
        return load_parameter(e, ty, place, parts);
    }
    let address = fit(e, address);
    if let [single] = parts {
        return load_scalar(e, ty, address, single);
    }
    let mut targets = Vec::new();
    let mut extensions = Vec::new();
    for part in parts {
        // The destination as it is, or a temporary that is extended to it behind the load.
        let (slot, found) = match part {
            Operand::Register(register) => (e.register(*register), e.register_type(*register)),
            _ => (e.target(part, ty)?, ty),
        };
        e.target_or_wider(part, ty, |_, _| {})?;
        if found.bits() == 64 && ty.bits() < 64 {
            let temp = e.temp32();
            extensions.push((temp, found, slot));
            targets.push(temp);
        } else {
            extensions.push((slot, found, slot));
            targets.push(slot);
        }
    }
    let (mut fields, start) = (fields(e, address, parts.len()), e.shared.operands.len() as u32);
    e.shared.operands.extend(targets);
    fields.c = start;
    e.emit(by_region!(load_vector, ty, address), fields);
    for (from, found, to) in extensions {
        if found.bits() == 64 && ty.bits() < 64 {
            e.extend(ty, from, found, to);
        }
    }
    Ok(())
}

fn load_scalar(e: &mut Emitter<'_, '_>, ty: Type, address: AddressOperand, target: &Operand) -> Checked<()> {
    let fields = fields(e, address, 1);
    let source = Source { address: address.slot, bytes: ty.bytes(), space: address.space };
    if ty.bits() <= 16 || address.space == AccessSpace::Local {
        return e.target_or_wider(target, ty, |e, dst| {
            e.emit(by_region!(load, ty, address), Fields { dst, ..fields });
        });
    }
    if let Some(First { draft, place, .. }) = e.repeats.find(source) {
        e.drafts[draft].code.handlers = of_words!(load_keeping, ty, address);
        e.drafts[draft].code.c = place;
        return e.target_or_wider(target, ty, |e, dst| {
            e.emit(of_words!(load_again, ty, address), Fields { dst, c: place, ..fields });
        });
    }
    let mut kept = true;
    let draft = e.drafts.len();
    e.target_or_wider(target, ty, |e, dst| {
        kept = dst != address.slot && e.drafts.len() == draft;
        e.emit(of_words!(load, ty, address), Fields { dst, ..fields });
    })?;
    if kept {
        e.repeats.add(source, draft);
    }
    Ok(())
}

/// Stores operands, which may be wider than the type.
pub(super) fn store_to(
    e: &mut Emitter<'_, '_>,
    ty: Type,
    address: AddressOperand,
    parts: &[Operand],
) -> Checked<()> {
    let slots = parts.iter().map(|part| e.source_or_wider(part, ty)).collect::<Checked<Vec<SlotOffset>>>()?;
    let address = fit(e, address);
    let fields = fields(e, address, parts.len());
    if let [b] = slots[..] {
        e.emit(by_region!(store, ty, address), Fields { b, ..fields });
        return Ok(());
    }
    let c = e.shared.operands.len() as u32;
    e.shared.operands.extend(slots);
    e.emit(by_region!(store_vector, ty, address), Fields { c, ..fields });
    Ok(())
}

/// A kernel's parameter at a place that is known.
fn load_parameter(e: &mut Emitter<'_, '_>, ty: Type, place: u64, parts: &[Operand]) -> Checked<()> {
    check_parameter(e, place, u64::from(ty.bytes()) * parts.len() as u64)?;
    let bytes = u64::from(ty.bytes());
    for (index, part) in parts.iter().enumerate() {
        let handler = match (ty.bits(), ty.is_signed()) {
            (8, false) => access::load_param::<CellU8>,
            (8, true) => access::load_param::<CellS8>,
            (16, false) => access::load_param::<CellU16>,
            (16, true) => access::load_param::<CellS16>,
            (32, _) => access::load_param::<Cell32>,
            _ => access::load_param::<Cell64>,
        };
        let imm = place + bytes * index as u64;
        e.target_or_wider(part, ty, |e, dst| {
            e.emit(Handlers::same(handler), Fields { dst, imm, ..Fields::default() });
        })?;
    }
    Ok(())
}

/// Double words of a kernel's parameters, to slots.
fn load_parameter_slots(e: &mut Emitter<'_, '_>, place: u64, slots: &[SlotOffset]) -> Checked<()> {
    check_parameter(e, place, 8 * slots.len() as u64)?;
    for (&dst, imm) in slots.iter().zip((place..).step_by(8)) {
        e.emit(Handlers::same(access::load_param::<Cell64>), Fields { dst, imm, ..Fields::default() });
    }
    Ok(())
}

/// Whether an access of `total` bytes at a place of a kernel's parameters is inside of them and aligned.
fn check_parameter(e: &Emitter<'_, '_>, place: u64, total: u64) -> Checked<()> {
    let end = e.shared.kernel_parameters.last().map_or(0, |(start, bytes)| u64::from(start + bytes));
    if place.checked_add(total).is_none_or(|last| last > end) {
        return Err(format!("{total} bytes at {place} are not inside the parameters, which end at {end}"));
    }
    if !place.is_multiple_of(total.next_power_of_two()) {
        return Err(format!("{total} bytes at {place} of the parameters are misaligned"));
    }
    Ok(())
}

/// `membar`, `fence`.
pub(super) fn fence(e: &mut Emitter<'_, '_>, w: &mut Words<'_>) -> Checked<()> {
    w.one_of(&["sc", "acq_rel", "acquire", "release"]);
    w.one_of(&["gl", "sys", "cta", "cluster", "gpu"]);
    let proxy = w.flag("proxy");
    if proxy {
        let kinds = ["alias", "async", "async::generic", "tensormap::generic"];
        w.find(|word| kinds.contains(&word).then_some(()));
        w.find(|word| matches!(word, "global" | "shared::cta" | "shared::cluster").then_some(()));
    }
    w.flag("mbarrier_init");
    w.find(|word| word.starts_with("sync_restrict").then_some(()));
    w.finish()?;
    e.emit(Handlers::same(access::fence), Fields::default());
    Ok(())
}

/// Instructions that only advise the cache.
fn hint(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    if i.opcode == "createpolicy" {
        let Some(dst) = i.operands.first() else { return Err("operands are missing".into()) };
        let (dst, zero) = (e.target(dst, Type::B64)?, e.constant64(0));
        e.copy(Type::B64, dst, zero);
        return Ok(());
    }
    if i.opcode == "discard" {
        // The bytes may be anything afterwards, so they may stay as they are.
        w.flag("L2");
    }
    let space = space(w);
    let levels = ["L1", "L2", "L2::evict_last", "L2::evict_normal", "tensormap"];
    w.find(|word| levels.contains(&word).then_some(()));
    w.finish()?;
    match i.operands.first() {
        Some(address) => e.address(address, space).map(|_| ()),
        None => Err("the address is missing".into()),
    }
}
