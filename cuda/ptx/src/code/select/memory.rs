//! Selects `ld`, `ldu`, `st`, `prefetch`, fences, and hints that have no effect here.

use super::super::emit::{Checked, Emitter};
use super::super::operand::AddressOperand;
use super::super::repeat::{First, Source};
use super::{Words, check_constant, no_type, operands};
use crate::exec::access::{
    self, Anywhere, Cell32, Cell64, CellS8, CellS16, CellU8, CellU16, Local, Shared32, Shared64, load,
    load_and_record, load_recorded, load_vector, store, store_vector,
};
use crate::exec::address::AccessSpace;
use crate::exec::level::Handlers;
use crate::exec::slots::{Fields, RegisterSlot};
use crate::exec::wide::{WideKind, run_wide};
use crate::syntax::ast::{Immediate, Instruction, Operand};
use crate::syntax::types::Type;

pub(super) fn select(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    match i.opcode {
        "ld" | "ldu" => access(e, i, w, true),
        "st" => access(e, i, w, false),
        _ => hint(e, i, w),
    }
}

/// Takes a state space. Without one, addresses are generic.
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

/// Takes cache operators, eviction priorities, prefetch sizes and cache policies, which have no
/// effect here. Returns whether there is an operand for a policy.
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

/// The order of an access relative to others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Not ordered.
    Weak,
    /// Not ordered, but programs may use it in a wait loop.
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
    if bits > 128 && !alone && !matches!(space, AccessSpace::Generic | AccessSpace::Global) {
        return Err("256 bits at once are of global memory".into());
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
        e.emit(Handlers::uniform(access::fence), Fields::new());
    }
    if load {
        load_from(e, ty, address, parts)?
    } else {
        store_to(e, ty, address, parts)?
    }
    if matches!(order, Order::Acquire) {
        e.emit(Handlers::uniform(access::fence), Fields::new());
    }
    if load && matches!(order, Order::Acquire | Order::Watched) {
        e.emit(Handlers::uniform(access::watch), Fields::new());
    }
    Ok(())
}

/// Returns the fields of an access.
fn fields(e: &mut Emitter<'_, '_>, address: AddressOperand) -> Fields {
    Fields::new().a(address.slot).imm(address.offset as u64).d(address.space as u32).site(e.site())
}

/// Selects a handler for each type of cell and each region.
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

/// Like `by_region!`, for 32-bit and 64-bit words outside local memory.
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

/// Extends a 32-bit address, unless it is in shared memory.
fn fit(e: &mut Emitter<'_, '_>, mut address: AddressOperand) -> AddressOperand {
    if !address.wide && address.space != AccessSpace::Shared {
        address.slot = e.widen(address.slot, false);
        address.wide = true;
    }
    address
}

/// Selects `ld.b128`, `st.b128`. Ordered ones are indivisible, as for other atomic accesses of 128
/// bits.
fn access_wide(
    e: &mut Emitter<'_, '_>,
    address: AddressOperand,
    value: &Operand,
    load: bool,
    order: Order,
) -> Checked<()> {
    let value = if load { e.target(value, Type::B128)? } else { e.source(value, Type::B128)? };
    if let Some(place) = address.parameter {
        return load_parameter_slots(e, place, &value.halves()?);
    }
    let address = fit_wide(e, address);
    if order != Order::Weak {
        let kind = if load { WideKind::Load } else { WideKind::Store };
        let (d, site) = (address.space as u32 | (kind as u32) << 16, e.site());
        let imm = address.offset as u64;
        let fields = Fields::new().dst(value).a(address.slot).b(value).c(value).d(d).site(site).imm(imm);
        e.emit(Handlers::uniform(run_wide), fields);
        return Ok(());
    }
    let fields = fields(e, address).c(e.shared.lists.add(&value.halves()?)?);
    if load {
        e.emit(by_region!(load_vector, Type::B64, address), fields);
    } else {
        e.emit(by_region!(store_vector, Type::B64, address), fields);
    }
    Ok(())
}

/// Extends a 32-bit address.
fn fit_wide(e: &mut Emitter<'_, '_>, mut address: AddressOperand) -> AddressOperand {
    if !address.wide {
        address.slot = e.widen(address.slot, false);
        address.wide = true;
    }
    address
}

/// Loads values of a type into operands, which may be wider than the type.
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
        // Loads into the destination itself, or into a temporary that is extended after the load.
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
    let fields = fields(e, address).c(e.shared.lists.add(&targets)?);
    e.emit(by_region!(load_vector, ty, address), fields);
    for (from, found, to) in extensions {
        if found.bits() == 64 && ty.bits() < 64 {
            e.extend(ty, from, found, to);
        }
    }
    Ok(())
}

fn load_scalar(e: &mut Emitter<'_, '_>, ty: Type, address: AddressOperand, target: &Operand) -> Checked<()> {
    let fields = fields(e, address);
    let source = Source { address: address.slot, bytes: ty.bytes(), space: address.space };
    if ty.bits() <= 16 || address.space == AccessSpace::Local {
        return e.target_or_wider(target, ty, |e, dst| {
            e.emit(by_region!(load, ty, address), fields.dst(dst));
        });
    }
    if let Some(First { draft, place, .. }) = e.repeats.find(source) {
        let first = &mut e.drafts[draft];
        first.handlers = of_words!(load_and_record, ty, address);
        first.fields = first.fields.c(place);
        return e.target_or_wider(target, ty, |e, dst| {
            e.emit(of_words!(load_recorded, ty, address), fields.dst(dst).c(place));
        });
    }
    let mut kept = true;
    let draft = e.drafts.len();
    e.target_or_wider(target, ty, |e, dst| {
        kept = dst != address.slot && e.drafts.len() == draft;
        e.emit(of_words!(load, ty, address), fields.dst(dst));
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
    let slots =
        parts.iter().map(|part| e.source_or_wider(part, ty)).collect::<Checked<Vec<RegisterSlot>>>()?;
    let address = fit(e, address);
    let fields = fields(e, address);
    if let [b] = slots[..] {
        e.emit(by_region!(store, ty, address), fields.b(b));
        return Ok(());
    }
    let c = e.shared.lists.add(&slots)?;
    e.emit(by_region!(store_vector, ty, address), fields.c(c));
    Ok(())
}

/// Loads a kernel's parameter from a known offset.
fn load_parameter(e: &mut Emitter<'_, '_>, ty: Type, place: u64, parts: &[Operand]) -> Checked<()> {
    check_parameter(e, place, u64::from(ty.bytes()) * parts.len() as u64)?;
    let bytes = u64::from(ty.bytes());
    for (index, part) in parts.iter().enumerate() {
        let handlers = match (ty.bits(), ty.is_signed()) {
            (8, false) => Handlers::uniform(access::load_param::<CellU8>),
            (8, true) => Handlers::uniform(access::load_param::<CellS8>),
            (16, false) => Handlers::uniform(access::load_param::<CellU16>),
            (16, true) => Handlers::uniform(access::load_param::<CellS16>),
            (32, _) => Handlers::uniform(access::load_param::<Cell32>),
            _ => Handlers::uniform(access::load_param::<Cell64>),
        };
        let imm = place + bytes * index as u64;
        e.target_or_wider(part, ty, |e, dst| {
            e.emit(handlers, Fields::new().dst(dst).imm(imm));
        })?;
    }
    Ok(())
}

/// Loads 64-bit words of a kernel's parameters into slots.
fn load_parameter_slots(e: &mut Emitter<'_, '_>, place: u64, slots: &[RegisterSlot]) -> Checked<()> {
    check_parameter(e, place, 8 * slots.len() as u64)?;
    for (&dst, imm) in slots.iter().zip((place..).step_by(8)) {
        e.emit(Handlers::uniform(access::load_param::<Cell64>), Fields::new().dst(dst).imm(imm));
    }
    Ok(())
}

/// Checks that an access of `total` bytes to a kernel's parameters is in bounds and aligned.
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
pub(super) fn fence(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let proxy = w.flag("proxy");
    let kind =
        if proxy { w.one_of(&["alias", "async", "async::generic", "tensormap::generic"]) } else { None };
    if kind == Some("async") {
        w.one_of(&["global", "shared::cta", "shared::cluster"]);
    }
    let barriers = w.flag("mbarrier_init");
    let restriction = w.one_of(&["sync_restrict::shared::cta", "sync_restrict::shared::cluster"]);
    let order = w.one_of(&["sc", "acq_rel", "acquire", "release"]);
    let scope = w.one_of(&["cta", "gl", "cluster", "gpu", "sys"]);
    w.finish()?;
    let form = (order, restriction, scope);
    let restricted = matches!(
        form,
        (Some("acquire"), Some("sync_restrict::shared::cluster"), Some("cluster"))
            | (Some("release"), Some("sync_restrict::shared::cta"), Some("cluster"))
    );
    let scoped = matches!(form, (_, None, Some("cta" | "cluster" | "gpu" | "sys")));
    let known = match (i.opcode, proxy, kind) {
        ("fence", false, _) if barriers => form == (Some("release"), None, Some("cluster")),
        ("fence", false, _) => scoped || restricted,
        ("fence", true, Some("async::generic")) => restricted,
        ("fence", true, Some("tensormap::generic")) => scoped && matches!(order, Some("acquire" | "release")),
        ("membar", true, Some("alias")) | ("fence", true, Some("alias" | "async")) => {
            form == (None, None, None)
        }
        ("membar", false, _) => matches!(form, (None, None, Some("cta" | "gl" | "sys"))),
        _ => false,
    };
    if !known || barriers && (proxy || i.opcode == "membar") {
        return Err("this form is not supported".into());
    }
    if kind == Some("tensormap::generic") && order == Some("acquire") {
        let [address, Operand::Immediate(Immediate::Integer { bits: 128, .. })] = operands(i)? else {
            return Err("an address and its 128 bytes are needed".into());
        };
        e.address(address, AccessSpace::Generic)?;
    } else {
        let [] = operands(i)?;
    }
    e.emit(Handlers::uniform(access::fence), Fields::new());
    Ok(())
}

/// Selects instructions that only advise the cache.
fn hint(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    if i.opcode == "createpolicy" {
        return policy(e, i, w);
    }
    let space = space(w);
    let level = w.one_of(&["L1", "L2", "L2::evict_last", "L2::evict_normal", "tensormap"]);
    w.finish()?;
    let generic = space == AccessSpace::Generic;
    let global = generic || space == AccessSpace::Global;
    let known = match (i.opcode, level) {
        ("prefetch", Some("L1" | "L2")) => global || space == AccessSpace::Local,
        ("prefetch", Some("tensormap")) => {
            generic || matches!(space, AccessSpace::Const | AccessSpace::Param)
        }
        ("prefetch", Some(_)) => global,
        ("prefetchu", Some("L1")) => generic,
        // Discarded bytes may have any value afterwards, so they may also keep their old one.
        ("applypriority", Some("L2::evict_normal")) | ("discard", Some("L2")) => global,
        _ => false,
    };
    if !known {
        return Err("this form is not supported".into());
    }
    let address = match (i.opcode, &i.operands[..]) {
        ("prefetch" | "prefetchu", [address]) => address,
        ("applypriority" | "discard", [address, bytes]) => {
            check_constant(bytes, |bytes| bytes == 128, "128")?;
            e.source(bytes, Type::U32)?;
            address
        }
        _ => return Err("an address is needed, and 128 bytes with .discard and .applypriority".into()),
    };
    e.address(address, space).map(|_| ())
}

/// Selects `createpolicy`: a policy is a number that has no effect here.
fn policy(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let kind =
        w.one_of(&["fractional", "range", "cvt"]).ok_or("one of .fractional, .range and .cvt is needed")?;
    let global = kind == "range" && w.flag("global");
    let first =
        w.one_of(&["L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged", "L2"]);
    let second = w.one_of(&["L2::evict_first", "L2::evict_unchanged"]);
    let typed = w.flag("b64");
    w.finish()?;
    if !typed
        || (kind == "cvt") != (first == Some("L2"))
        || first.is_none()
        || (kind == "cvt" && second.is_some())
    {
        return Err("this form is not supported".into());
    }
    let dst = match (kind, &i.operands[..]) {
        ("fractional", [dst]) => dst,
        ("fractional", [dst, fraction]) => {
            e.source(fraction, Type::F32)?;
            dst
        }
        ("range", [dst, address, primary, total]) => {
            let space = if global { AccessSpace::Global } else { AccessSpace::Generic };
            e.address(address, space)?;
            e.source(primary, Type::U32)?;
            e.source(total, Type::U32)?;
            dst
        }
        ("cvt", [dst, access]) => {
            e.source(access, Type::B64)?;
            dst
        }
        _ => return Err("a wrong number of operands".into()),
    };
    let (dst, zero) = (e.target(dst, Type::B64)?, e.constant64(0));
    e.copy(Type::B64, dst, zero);
    Ok(())
}
