//! Selects `setp`, `set`, `selp`, `slct`.

use super::super::emit::{Checked, Emitter};
use super::float::FTZ;
use super::{Words, no_type, operands};
use crate::arith::compare::{Comparison, compare as test, selects_first};
use crate::arith::half::{self, Bf16, F16, Half};
use crate::arith::single;
use crate::exec::level::Handlers;
use crate::exec::ops::{compare, predicate_logic, selection, ternary};
use crate::exec::slots::{Fields, RegisterSlot};
use crate::syntax::ast::{Instruction, Operand};
use crate::syntax::types::Type;

const COMPARISONS: [(&str, Comparison); 18] = [
    ("eq", Comparison::Equal),
    ("ne", Comparison::NotEqual),
    ("lt", Comparison::Less),
    ("le", Comparison::LessOrEqual),
    ("gt", Comparison::Greater),
    ("ge", Comparison::GreaterOrEqual),
    ("lo", Comparison::Less),
    ("ls", Comparison::LessOrEqual),
    ("hi", Comparison::Greater),
    ("hs", Comparison::GreaterOrEqual),
    ("equ", Comparison::EqualUnordered),
    ("neu", Comparison::NotEqualUnordered),
    ("ltu", Comparison::LessUnordered),
    ("leu", Comparison::LessOrEqualUnordered),
    ("gtu", Comparison::GreaterUnordered),
    ("geu", Comparison::GreaterOrEqualUnordered),
    ("num", Comparison::Number),
    ("nan", Comparison::Nan),
];

/// Returns the comparison that a modifier names.
pub(super) fn comparison_named(word: &str) -> Option<Comparison> {
    COMPARISONS.iter().find(|(known, _)| *known == word).map(|(_, comparison)| *comparison)
}

#[inline(always)]
fn comparison_of(aux: u64) -> Comparison {
    COMPARISONS[(aux >> 8) as usize % COMPARISONS.len()].1
}

pub(super) fn select(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    match i.opcode {
        "setp" => set_predicate(e, i, w),
        "set" => set(e, i, w),
        "selp" => selp(e, i, w),
        _ => slct(e, i, w),
    }
}

/// The modifiers of `set` and `setp`.
struct Test {
    index: usize,
    combination: Option<&'static str>,
    ftz: bool,
    ty: Type,
}

impl Test {
    fn new(w: &mut Words<'_>) -> Checked<Test> {
        let ty = w.ty()?;
        let Some(index) = w.find(|word| COMPARISONS.iter().position(|(known, _)| *known == word)) else {
            return Err("the comparison is missing".into());
        };
        let combination = w.one_of(&["and", "or", "xor"]);
        let test = Test { index, combination, ftz: w.flag("ftz"), ty };
        let float = ty.is_float();
        let allowed = match COMPARISONS[index].0 {
            "eq" | "ne" => true,
            "lt" | "le" | "gt" | "ge" => !ty.is_untyped(),
            "lo" | "ls" | "hi" | "hs" => ty.is_unsigned(),
            _ => float,
        };
        if allowed && (!test.ftz || float && ty != Type::F64) {
            return Ok(test);
        }
        Err(format!("comparison .{} is not supported for type {ty}", COMPARISONS[index].0))
    }

    /// Compares two slots of the type.
    fn emit(
        &self,
        e: &mut Emitter<'_, '_>,
        dst: RegisterSlot,
        a: RegisterSlot,
        b: RegisterSlot,
    ) -> Checked<()> {
        let imm = (self.index as u64) << 8 | if self.ftz { FTZ } else { 0 };
        let Some(handlers) = self.handlers() else { return no_type(self.ty) };
        e.emit(handlers, Fields::new().dst(dst).a(a).b(b).imm(imm));
        Ok(())
    }

    fn handlers(&self) -> Option<Handlers> {
        use Comparison as C;
        macro_rules! each {
            ($T:ty, $comparison:expr, [$($variant:ident)*]) => {
                match $comparison {
                    $(C::$variant => compare!($T, |a, b| test(a, b, C::$variant)),)*
                    _ => compare!($T, |a, b; aux| test(a, b, comparison_of(aux))),
                }
            };
        }
        macro_rules! half {
            ($H:ty) => {
                compare!(u16, |a, b; aux| {
                    let (a, b) = (half::flush::<$H>(a, aux & FTZ != 0), half::flush::<$H>(b, aux & FTZ != 0));
                    test(<$H>::to_f32(a), <$H>::to_f32(b), comparison_of(aux))
                })
            };
        }
        let comparison = COMPARISONS[self.index].1;
        Some(match self.ty {
            Type::U16 | Type::B16 => compare!(u16, |a, b; aux| test(a, b, comparison_of(aux))),
            Type::S16 => compare!(i16, |a, b; aux| test(a, b, comparison_of(aux))),
            Type::U32 | Type::B32 => {
                each!(u32, comparison, [Equal NotEqual Less LessOrEqual Greater GreaterOrEqual])
            }
            Type::S32 => each!(i32, comparison, [Equal NotEqual Less LessOrEqual Greater GreaterOrEqual]),
            Type::U64 | Type::B64 => {
                each!(u64, comparison, [Equal NotEqual Less LessOrEqual Greater GreaterOrEqual])
            }
            Type::S64 => each!(i64, comparison, [Equal NotEqual Less LessOrEqual Greater GreaterOrEqual]),
            Type::F32 if self.ftz => compare!(f32, |a, b; aux| {
                test(single::flush(a, true), single::flush(b, true), comparison_of(aux))
            }),
            Type::F32 => {
                each!(f32, comparison, [Equal Less LessOrEqual Greater GreaterOrEqual NotEqualUnordered
                LessUnordered LessOrEqualUnordered GreaterUnordered GreaterOrEqualUnordered Nan])
            }
            Type::F64 => {
                each!(f64, comparison, [Equal Less LessOrEqual Greater GreaterOrEqual NotEqualUnordered])
            }
            Type::F16 => half!(F16),
            Type::Bf16 => half!(Bf16),
            _ => return None,
        })
    }

    /// Combines `result` with predicate `c` into `dst`. `flip` says whether `result` is negated
    /// first.
    fn combine(
        &self,
        e: &mut Emitter<'_, '_>,
        dst: RegisterSlot,
        (result, flip): (RegisterSlot, bool),
        c: Option<&Operand>,
    ) -> Checked<()> {
        let (c, negated) = match c {
            Some(c) => {
                let c = e.predicate(c)?;
                (c.slot, c.flip != 0)
            }
            None => (result, false),
        };
        // The truth table over (result, c, c), see `predicate_logic`.
        let mut imm = 0;
        for row in 0..8u64 {
            let (r, c) = ((row >> 2 & 1 != 0) != flip, (row & 1 != 0) != negated);
            let value = match self.combination {
                Some("and") => r & c,
                Some("or") => r | c,
                Some(_) => r ^ c,
                None => r,
            };
            imm |= u64::from(value) << row;
        }
        e.emit(Handlers::uniform(predicate_logic), Fields::new().dst(dst).a(result).b(c).c(c).imm(imm));
        Ok(())
    }
}

fn set_predicate(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    if matches!(i.modifiers.last(), Some(&"f16x2" | &"bf16x2")) {
        return set_predicates_of_pair(e, i, w);
    }
    let test = Test::new(w)?;
    w.finish()?;
    let c = if test.combination.is_some() {
        let [_, _, _, c] = operands(i)?;
        Some(c)
    } else {
        let [_, _, _] = operands(i)?;
        None
    };
    let (a, b) = (e.source(&i.operands[1], test.ty)?, e.source(&i.operands[2], test.ty)?);
    let (p, q) = match &i.operands[0] {
        Operand::Pair(pair) => (&pair.0, Some(&pair.1)),
        single => (single, None),
    };
    let p = e.target(p, Type::Pred)?;
    if q.is_none() && c.is_none() {
        return test.emit(e, p, a, b);
    }
    let q = q.map(|q| e.target(q, Type::Pred)).transpose()?;
    let result = e.temp_predicate();
    test.emit(e, result, a, b)?;
    // `p` may also be the predicate that both results are combined with.
    let first = if q.is_some() { e.temp_predicate() } else { p };
    test.combine(e, first, (result, false), c)?;
    if let Some(q) = q {
        test.combine(e, q, (result, true), c)?;
        e.copy(Type::Pred, p, first);
    }
    Ok(())
}

/// Selects `setp.f16x2`, with one predicate for each half.
fn set_predicates_of_pair(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let pair_type = w.ty()?;
    let ty = if pair_type == Type::F16x2 { Type::F16 } else { Type::Bf16 };
    w.left.push(if ty == Type::F16 { "f16" } else { "bf16" });
    let test = Test::new(w)?;
    w.finish()?;
    let Some(Operand::Pair(pair)) = i.operands.first() else {
        return Err("two destinations are needed".into());
    };
    let c = i.operands.get(3).filter(|_| test.combination.is_some());
    if i.operands.len() != 3 + usize::from(test.combination.is_some()) {
        return Err("a wrong number of operands".into());
    }
    let (a, b) = (e.source(&i.operands[1], pair_type)?, e.source(&i.operands[2], pair_type)?);
    let (low, high) = (e.temp_predicate(), e.temp_predicate());
    test.emit(e, low, a, b)?;
    let halves = [a, b].map(|slot| {
        let dst = e.temp32();
        let handlers = crate::exec::ops::unary!(u32 => u32, |a| a >> 16);
        e.emit(handlers, Fields::new().dst(dst).a(slot));
        dst
    });
    test.emit(e, high, halves[0], halves[1])?;
    let (p, q) = (e.target(&pair.0, Type::Pred)?, e.target(&pair.1, Type::Pred)?);
    let first = e.temp_predicate();
    test.combine(e, first, (low, false), c)?;
    test.combine(e, q, (high, false), c)?;
    e.copy(Type::Pred, p, first);
    Ok(())
}

/// Selects `set`, whose result is all ones or 1.0 where the relation holds.
fn set(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let source = w.last()?;
    let target = w.ty()?;
    if matches!(source, "f16x2" | "bf16x2") {
        return set_pair(e, i, w, source, target);
    }
    w.left.push(source);
    let test = Test::new(w)?;
    w.finish()?;
    let c = i.operands.get(3).filter(|_| test.combination.is_some());
    if i.operands.len() != 3 + usize::from(test.combination.is_some()) {
        return Err("a wrong number of operands".into());
    }
    let (a, b) = (e.source(&i.operands[1], test.ty)?, e.source(&i.operands[2], test.ty)?);
    let result = e.temp_predicate();
    test.emit(e, result, a, b)?;
    let condition = e.temp_predicate();
    test.combine(e, condition, (result, false), c)?;
    let one = match target {
        Type::F32 => 1f32.to_bits(),
        Type::F16 => 0x3c00,
        Type::Bf16 => 0x3f80,
        Type::U16 | Type::S16 | Type::U32 | Type::S32 => u32::MAX,
        _ => return no_type(target),
    };
    let (dst, a, b) = (e.target(&i.operands[0], target)?, e.constant32(one), e.constant32(0));
    e.emit(const { selection::<u32>() }, Fields::new().dst(dst).a(a).b(b).c(condition));
    Ok(())
}

/// Selects `set.f16x2`, with a result in each half.
fn set_pair(
    e: &mut Emitter<'_, '_>,
    i: &Instruction<'_>,
    w: &mut Words<'_>,
    source: &str,
    target: Type,
) -> Checked<()> {
    let (pair_type, half) = if source == "f16x2" { (Type::F16x2, "f16") } else { (Type::Bf16x2, "bf16") };
    w.left.push(half);
    let test = Test::new(w)?;
    w.finish()?;
    let one = match target {
        Type::F16x2 => 0x3c00,
        Type::Bf16x2 => 0x3f80,
        Type::U32 | Type::S32 => 0xffff,
        _ => return no_type(target),
    };
    let c = i.operands.get(3).filter(|_| test.combination.is_some());
    if i.operands.len() != 3 + usize::from(test.combination.is_some()) {
        return Err("a wrong number of operands".into());
    }
    let (a, b) = (e.source(&i.operands[1], pair_type)?, e.source(&i.operands[2], pair_type)?);
    let (one, zero) = (e.constant32(one), e.constant32(0));
    let halves = [e.temp32(), e.temp32()];
    for (half, result) in halves.into_iter().enumerate() {
        let (mut x, mut y) = (a, b);
        for slot in [&mut x, &mut y].into_iter().filter(|_| half == 1) {
            let dst = e.temp32();
            let handlers = crate::exec::ops::unary!(u32 => u32, |a| a >> 16);
            e.emit(handlers, Fields::new().dst(dst).a(*slot));
            *slot = dst;
        }
        let holds = e.temp_predicate();
        test.emit(e, holds, x, y)?;
        let condition = e.temp_predicate();
        test.combine(e, condition, (holds, false), c)?;
        let fields = Fields::new().dst(result).a(one).b(zero).c(condition);
        e.emit(const { selection::<u32>() }, fields);
    }
    let dst = e.target(&i.operands[0], target)?;
    let handlers = crate::exec::ops::binary!((u32, u32) => u32, |a, b| a & 0xffff | b << 16);
    e.emit(handlers, Fields::new().dst(dst).a(halves[0]).b(halves[1]));
    Ok(())
}

fn selp(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let ty = w.ty()?;
    w.finish()?;
    let [dst, a, b, c] = operands(i)?;
    if ty == Type::Pred || ty.bits() < 16 || ty.bits() > 64 {
        return no_type(ty);
    }
    let (a, b, c) = (e.source(a, ty)?, e.source(b, ty)?, e.predicate(c)?);
    let dst = e.target(dst, ty)?;
    let handlers = if ty.bits() == 64 { const { selection::<u64>() } } else { const { selection::<u32>() } };
    e.emit(handlers, Fields::new().dst(dst).a(a).b(b).c(c.slot).d(c.flip));
    Ok(())
}

fn slct(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let by = w.ty()?;
    let ty = w.ty()?;
    let ftz = by == Type::F32 && w.flag("ftz");
    w.finish()?;
    let [dst, a, b, c] = operands(i)?;
    let (a, b, c) = (e.source(a, ty)?, e.source(b, ty)?, e.source(c, by)?);
    let dst = e.target(dst, ty)?;
    macro_rules! choose {
        ($T:ty) => {
            match by {
                Type::S32 => ternary!(($T, $T, i32) => $T, |a, b, c| if c >= 0 { a } else { b }),
                Type::F32 => ternary!(($T, $T, f32) => $T, |a, b, c; aux| if selects_first(c, aux != 0) { a } else { b }),
                _ => return no_type(by),
            }
        };
    }
    let handlers = match ty.bits() {
        16 | 32 => choose!(u32),
        64 => choose!(u64),
        _ => return no_type(ty),
    };
    e.emit(handlers, Fields::new().dst(dst).a(a).b(b).c(c).imm(ftz.into()));
    Ok(())
}
