//! Selects `wgmma`.

use super::super::emit::{Checked, Emitter};
use super::super::operand::Predicate;
use super::Words;
use super::matrix::{accumulator_of, element_of, register_type, registers, shape_of, targets};
use crate::arith::matrix::{Accumulator, BitOperation, Element, Family, Multiply, Shape};
use crate::exec::level::Handlers;
use crate::exec::slots::{Fields, all_typed};
use crate::exec::warpgroup::{self, COLUMNS, First, GroupProduct, Stored};
use crate::syntax::ast::{Immediate, Instruction, Operand};
use crate::syntax::types::Type;

pub(super) fn select(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let what = w
        .one_of(&["fence", "commit_group", "wait_group", "mma_async"])
        .ok_or("one of .mma_async, .fence, .commit_group and .wait_group is needed")?;
    if !w.flag("sync") || !w.flag("aligned") {
        return Err(".sync and .aligned are needed".into());
    }
    if what == "mma_async" {
        return multiply(e, i, w);
    }
    w.finish()?;
    match (what, &i.operands[..]) {
        ("wait_group", [Operand::Immediate(Immediate::Integer { .. })]) => Ok(()),
        ("wait_group", _) => Err("a number of groups is needed".into()),
        (_, []) => Ok(()),
        _ => Err("there are no operands".into()),
    }
}

/// Returns whether a result may have `n` columns.
fn is_width(n: usize, integers: bool) -> bool {
    let common = n.is_multiple_of(8) && (8..=256).contains(&n);
    common && (!integers || n.is_multiple_of(16) || n == 8 || n == 24)
}

fn multiply(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let shape = w.find(shape_of).ok_or("the shape is missing")?;
    let bits = w.flag("and") && w.flag("popc");
    let saturate = w.flag("satfinite");
    let types = std::mem::take(&mut w.left);
    let unknown = || format!("types .{} are not supported here", types.join("."));
    let [d, a, b] = types[..] else { return Err(unknown()) };
    let (Some(d), Some(a), Some(b)) = (accumulator_of(d), element_of(a), element_of(b)) else {
        return Err(unknown());
    };
    let form = Multiply {
        family: Family::Mma,
        shape: Shape { m: 16, n: COLUMNS, ..shape },
        a,
        b,
        c: d,
        d,
        saturate,
        bit_operation: BitOperation::And,
        rounding: Default::default(),
    };
    let integers = d == Accumulator::S32;
    // K is always 32 bytes, whatever the type.
    let known = form.is_known()
        && shape.m == 64
        && shape.k * a.bits() == 256
        && !matches!(a, Element::U4 | Element::S4);
    if !known || !is_width(shape.n, integers) || (saturate && !integers) || bits != (a == Element::B1) {
        return Err("this form is not supported".into());
    }
    let [d_operand, a_operand, b_operand, scale, rest @ ..] = &i.operands[..] else {
        return Err("a wrong number of operands".into());
    };
    let stored_a = !matches!(a_operand, Operand::Vector(_));
    let halves = matches!(a, Element::F16 | Element::Bf16);
    let (negated, layouts) = match (integers, rest) {
        (true, []) => (false, &[][..]),
        (false, [scale_a, scale_b, layouts @ ..]) => (sign(scale_a)? != sign(scale_b)?, layouts),
        _ => return Err("a wrong number of operands".into()),
    };
    let (mn_major_a, mn_major_b) = match (halves, stored_a, layouts) {
        (false, _, []) => (false, false),
        (true, true, [a, b]) => (flag(a)?, flag(b)?),
        (true, false, [b]) => (false, flag(b)?),
        _ => return Err("a wrong number of operands".into()),
    };
    let first = if stored_a {
        First::Stored(Stored { descriptor: e.source(a_operand, Type::B64)?.typed()?, mn_major: mn_major_a })
    } else {
        First::Registers(all_typed(&registers(e, a_operand, Type::B32, form.fragment_a().registers())?)?)
    };
    let b = Stored { descriptor: e.source(b_operand, Type::B64)?.typed()?, mn_major: mn_major_b };
    let Predicate { slot, flip } = e.predicate(scale)?;
    let count = form.fragment_d().registers() * shape.n / COLUMNS;
    let flipped = if negated { signs_of(a) } else { 0 };
    let d = all_typed(&targets(e, d_operand, register_type(d), count)?)?;
    let imm = e.shared.matrices.groups.len() as u64;
    e.shared.matrices.groups.push(GroupProduct {
        form,
        a: first,
        b,
        d,
        flipped,
        accumulate: (slot.predicate()?, flip),
    });
    e.emit_waiting(Handlers::uniform(warpgroup::multiply), Fields::new().imm(imm));
    Ok(())
}

/// Returns whether a constant is 1 rather than -1.
fn sign(operand: &Operand) -> Checked<bool> {
    match operand {
        Operand::Immediate(Immediate::Integer { bits: 1, .. }) => Ok(true),
        Operand::Immediate(Immediate::Integer { bits: u64::MAX, .. }) => Ok(false),
        _ => Err("a scale is 1 or -1".into()),
    }
}

/// Returns whether a constant is 1 rather than 0.
fn flag(operand: &Operand) -> Checked<bool> {
    match operand {
        Operand::Immediate(Immediate::Integer { bits: bits @ (0 | 1), .. }) => Ok(*bits == 1),
        _ => Err("a layout is 0 or 1".into()),
    }
}

/// Returns a mask of the sign bits of a register's elements.
fn signs_of(element: Element) -> u32 {
    match element.bits() {
        8 => 0x8080_8080,
        16 => 0x8000_8000,
        _ => 0x8000_0000,
    }
}
