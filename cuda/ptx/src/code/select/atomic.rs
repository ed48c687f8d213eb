//! Selects `atom`, `red`.

use super::super::emit::{Checked, Emitter};
use super::super::operand::AddressOperand;
use super::memory::{cache_hints, scope, space};
use super::{Words, no_type};
use crate::arith::half::{self, Bf16, F16};
use crate::arith::int::{decrement, increment, pairwise};
use crate::arith::single::{self, Extremum};
use crate::arith::{Modes, Rounding, double};
use crate::exec::access::{self, Anywhere, Shared64};
use crate::exec::address::AccessSpace;
use crate::exec::atomic::{IN_SHARED, Update, atomic};
use crate::exec::level::Handlers;
use crate::exec::slots::{Fields, RegisterSlot};
use crate::exec::wide::{WideKind, run_wide};
use crate::syntax::ast::{Instruction, Operand};
use crate::syntax::types::Type;

/// Makes an [`Update`] from a closure, for the region of an address.
macro_rules! update {
    ($space:expr, $word:ty as $value:ty, |$old:ident, $b:ident, $c:ident; $aux:ident| $e:expr) => {{
        struct U;
        impl Update for U {
            type Word = $word;
            type Value = $value;
            #[inline(always)]
            fn read(word: $word) -> $value {
                <$value>::from_bits_of(word)
            }
            #[inline(always)]
            fn write(value: $value) -> $word {
                value.bits_of()
            }
            #[inline(always)]
            fn apply($aux: u64, $old: $value, $b: $value, $c: $value) -> $value {
                let _ = ($b, $c);
                $e
            }
        }
        if $space == AccessSpace::Shared {
            const { atomic::<U, Shared64>() }
        } else {
            const { atomic::<U, Anywhere>() }
        }
    }};
}

/// Converts values to the words they are stored as in memory.
trait AsWord<W> {
    fn from_bits_of(word: W) -> Self;
    fn bits_of(self) -> W;
}
macro_rules! as_word {
    ($($value:ty, $word:ty, |$w:ident| $from:expr, |$v:ident| $to:expr;)*) => {$(
        impl AsWord<$word> for $value {
            #[inline(always)]
            fn from_bits_of($w: $word) -> $value {
                $from
            }
            #[inline(always)]
            fn bits_of(self) -> $word {
                let $v = self;
                $to
            }
        }
    )*};
}
as_word! {
    u16, u16, |w| w, |v| v;
    u32, u32, |w| w, |v| v;
    i32, u32, |w| w as i32, |v| v as u32;
    u64, u64, |w| w, |v| v;
    i64, u64, |w| w as i64, |v| v as u64;
    f32, u32, |w| f32::from_bits(w), |v| v.to_bits();
    f64, u64, |w| f64::from_bits(w), |v| v.to_bits();
}

const OPERATIONS: [&str; 10] = ["and", "or", "xor", "cas", "exch", "add", "inc", "dec", "min", "max"];

pub(super) fn select(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let returns = i.opcode == "atom";
    // The type may stand before or after the operation: `atom.global.v4.f32.add`,
    // `red.global.add.v4.f32`.
    let operation = w.one_of(&OPERATIONS).ok_or("the operation is missing")?;
    let ty = w.find(Type::from_word).ok_or("the type is missing")?;
    let count = match w.one_of(&["v2", "v4", "v8"]) {
        None => 1,
        Some(word) => word[1..].parse().unwrap_or(1),
    };
    let order = w.one_of(&["relaxed", "acquire", "release", "acq_rel"]);
    scope(w);
    let space = space(w);
    let halves = matches!(ty, Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2);
    if !w.flag("noftz") && halves && operation == "add" {
        return Err(".noftz is needed".into());
    }
    let policy = cache_hints(w);
    w.finish()?;
    let sources = if operation == "cas" { 2 } else { 1 };
    let expected = usize::from(returns) + 1 + sources + usize::from(policy);
    if i.operands.len() != expected {
        return Err(format!("{} operands where {expected} are needed", i.operands.len()));
    }
    let at = usize::from(returns);
    let mut address = e.wide_address(&i.operands[at], space)?;
    if matches!(address.space, AccessSpace::Const | AccessSpace::Param | AccessSpace::Local) {
        return Err("atomic operations are on global and shared memory".into());
    }
    if matches!(order, Some("release" | "acq_rel")) {
        // Earlier accesses must be visible to threads that see this operation.
        e.emit(Handlers::uniform(access::fence), Fields::new());
    }
    if ty == Type::B128 {
        return wide(e, i, operation, address, count);
    }
    let Some((handlers, register)) = handlers(operation, ty, address.space) else { return no_type(ty) };
    let mut components = Vec::with_capacity(count);
    for component in 0..count {
        let part = |operand: &'_ Operand| match operand {
            Operand::Vector(parts) if parts.len() == count && count > 1 => Ok(parts[component].clone()),
            Operand::Vector(_) => Err(format!("a vector where {count} values are needed")),
            single if count == 1 => Ok(single.clone()),
            _ => Err("a vector is needed".to_owned()),
        };
        let value = part(&i.operands[at + 1])?;
        if halves && matches!(value, Operand::Immediate(_)) {
            return Err(format!("a constant where a register of type {ty} is needed"));
        }
        let b = e.source(&value, register)?;
        let c: RegisterSlot = if sources == 2 { e.source(&part(&i.operands[at + 2])?, register)? } else { b };
        let dst = if returns { e.target(&part(&i.operands[0])?, register)? } else { e.scratch(register) };
        components.push((dst, address.slot, [b, c]));
    }
    keep_sources(e, register, &mut components);
    for (dst, a, [b, c]) in components {
        let (d, site) = (address.space as u32, e.site());
        e.emit(handlers, Fields::new().dst(dst).a(a).b(b).c(c).d(d).site(site).imm(address.offset as u64));
        address.offset += i64::from(ty.bytes());
    }
    Ok(())
}

/// Copies the sources that an earlier component overwrites, because the components of a vector are
/// updated one after another. A component is its destination, its address, and its operands of type
/// `ty`.
fn keep_sources(
    e: &mut Emitter<'_, '_>,
    ty: Type,
    components: &mut [(RegisterSlot, RegisterSlot, [RegisterSlot; 2])],
) {
    let mut written = Vec::with_capacity(components.len());
    for (dst, address, operands) in components {
        for (slot, ty) in [(address, Type::B64)].into_iter().chain(operands.iter_mut().map(|slot| (slot, ty)))
        {
            if written.contains(slot) {
                let copy = e.temp(ty);
                e.copy(ty, copy, *slot);
                *slot = copy;
            }
        }
        written.push(*dst);
    }
}

/// `atom.cas.b128`, `atom.exch.b128`.
fn wide(
    e: &mut Emitter<'_, '_>,
    i: &Instruction<'_>,
    operation: &str,
    address: AddressOperand,
    count: usize,
) -> Checked<()> {
    if !matches!(operation, "cas" | "exch") || i.opcode != "atom" || count > 1 {
        return no_type(Type::B128);
    }
    let b = e.source(&i.operands[2], Type::B128)?;
    let c = if operation == "cas" { e.source(&i.operands[3], Type::B128)? } else { b };
    let dst = e.target(&i.operands[0], Type::B128)?;
    let kind = if operation == "cas" { WideKind::CompareExchange } else { WideKind::Exchange };
    let (d, site) = (address.space as u32 | (kind as u32) << 16, e.site());
    let fields = Fields::new().dst(dst).a(address.slot).b(b).c(c).d(d).site(site).imm(address.offset as u64);
    e.emit(Handlers::uniform(run_wide), fields);
    Ok(())
}

/// Returns the handlers of an operation, and the type of its registers.
fn handlers(operation: &str, ty: Type, space: AccessSpace) -> Option<(Handlers, Type)> {
    const PLAIN: Extremum = Extremum { ftz: false, nan: false, xorsign_abs: false };
    macro_rules! bits {
        ($T:ty) => {
            match operation {
                "and" => update!(space, $T as $T, |a, b, _c; _aux| a & b),
                "or" => update!(space, $T as $T, |a, b, _c; _aux| a | b),
                "xor" => update!(space, $T as $T, |a, b, _c; _aux| a ^ b),
                "exch" => update!(space, $T as $T, |_a, b, _c; _aux| b),
                "cas" => update!(space, $T as $T, |a, b, c; _aux| if a == b { c } else { a }),
                _ => return None,
            }
        };
    }
    macro_rules! integer {
        ($W:ty, $T:ty) => {
            match operation {
                "add" => update!(space, $W as $T, |a, b, _c; _aux| a.wrapping_add(b)),
                "min" => update!(space, $W as $T, |a, b, _c; _aux| a.min(b)),
                "max" => update!(space, $W as $T, |a, b, _c; _aux| a.max(b)),
                _ => return None,
            }
        };
    }
    macro_rules! half {
        ($H:ty) => {
            match operation {
                "add" => update!(space, u16 as u16, |a, b, _c; _aux| half::add::<$H>(a, b, Modes::RN)),
                "min" => update!(space, u16 as u16, |a, b, _c; _aux| half::min::<$H>(a, b, PLAIN)),
                "max" => update!(space, u16 as u16, |a, b, _c; _aux| half::max::<$H>(a, b, PLAIN)),
                _ => return None,
            }
        };
    }
    macro_rules! halves {
        ($H:ty) => {
            match operation {
                "add" => update!(space, u32 as u32, |x, y, _c; _aux| {
                    pairwise([x, y], |[a, b]| half::add::<$H>(a, b, Modes::RN))
                }),
                "min" => update!(space, u32 as u32, |x, y, _c; _aux| {
                    pairwise([x, y], |[a, b]| half::min::<$H>(a, b, PLAIN))
                }),
                "max" => update!(space, u32 as u32, |x, y, _c; _aux| {
                    pairwise([x, y], |[a, b]| half::max::<$H>(a, b, PLAIN))
                }),
                _ => return None,
            }
        };
    }
    let handlers = match (ty, operation) {
        (Type::B16, "cas" | "exch") => bits!(u16),
        (Type::B32, _) => bits!(u32),
        (Type::B64, _) => bits!(u64),
        (Type::U32, "inc") => update!(space, u32 as u32, |a, b, _c; _aux| increment(a, b)),
        (Type::U32, "dec") => update!(space, u32 as u32, |a, b, _c; _aux| decrement(a, b)),
        (Type::U32, _) => integer!(u32, u32),
        (Type::S32, _) => integer!(u32, i32),
        (Type::U64, _) => integer!(u64, u64),
        (Type::S64, _) => integer!(u64, i64),
        // The hardware flushes subnormals on global memory, but not on shared memory.
        (Type::F32, "add") if space == AccessSpace::Global => {
            update!(space, u32 as f32, |a, b, _c; _aux| single::add(a, b, Modes::RN_FTZ))
        }
        (Type::F32, "add") if space == AccessSpace::Generic => {
            update!(space, u32 as f32, |a, b, _c; aux| {
                single::add(a, b, if aux & IN_SHARED == 0 { Modes::RN_FTZ } else { Modes::RN })
            })
        }
        (Type::F32, "add") => update!(space, u32 as f32, |a, b, _c; _aux| single::add(a, b, Modes::RN)),
        (Type::F64, "add") => {
            update!(space, u64 as f64, |a, b, _c; _aux| double::add(a, b, Rounding::NearestEven))
        }
        (Type::F16, _) => half!(F16),
        (Type::Bf16, _) => half!(Bf16),
        (Type::F16x2, _) => halves!(F16),
        (Type::Bf16x2, _) => halves!(Bf16),
        _ => return None,
    };
    // Halves are in untyped registers.
    let register = match ty {
        Type::F16 | Type::Bf16 => Type::B16,
        Type::F16x2 | Type::Bf16x2 => Type::B32,
        other => other,
    };
    Some((handlers, register))
}
