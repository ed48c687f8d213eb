//! Selects `mma`, `wmma`, `ldmatrix`, `stmatrix`, `movmatrix`.

use super::super::emit::{Checked, Emitter};
use super::memory::space;
use super::{Words, operands};
use crate::arith::matrix::{
    Accumulator, BitOperation, Element, Family, Fragment, Multiply, Operand as Side, Shape,
};
use crate::exec::address::AccessSpace;
use crate::exec::level::Handlers;
use crate::exec::matrix::{self, Product, Registers, TRANSPOSED, Transfer};
use crate::exec::slots::{Fields, RegisterSlot};
use crate::syntax::ast::{Instruction, Operand};
use crate::syntax::types::Type;

pub(super) fn select(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    match i.opcode {
        "mma" => {
            by_all(w)?;
            multiply(e, i, w, Family::Mma)
        }
        "wmma" => {
            let what =
                w.one_of(&["load", "store", "mma"]).ok_or("one of .load, .store and .mma is needed")?;
            w.flag("sync");
            w.flag("aligned");
            if what == "mma" { multiply(e, i, w, Family::Wmma) } else { transfer(e, i, w, what == "store") }
        }
        "ldmatrix" | "stmatrix" => tiles(e, i, w),
        _ => {
            by_all(w)?;
            if !["m8n8", "trans", "b16"].into_iter().all(|word| w.flag(word)) {
                return Err(".m8n8.trans.b16 is the only form".into());
            }
            w.finish()?;
            let [dst, a] = operands(i)?;
            let (a, dst) = (e.source(a, Type::B32)?, e.target(dst, Type::B32)?);
            e.emit_waiting(Handlers::uniform(matrix::transpose), Fields::new().dst(dst).a(a));
            Ok(())
        }
    }
}

/// Takes the modifiers that say that a whole warp executes the instruction.
fn by_all(w: &mut Words<'_>) -> Checked<()> {
    if w.flag("sync") & w.flag("aligned") { Ok(()) } else { Err(".sync and .aligned are needed".into()) }
}

pub(super) fn shape_of(word: &str) -> Option<Shape> {
    let (m, rest) = word.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some(Shape { m: m.parse().ok()?, n: n.parse().ok()?, k: k.parse().ok()? })
}

pub(super) fn element_of(word: &str) -> Option<Element> {
    Some(match word {
        "f16" => Element::F16,
        "bf16" => Element::Bf16,
        "tf32" => Element::Tf32,
        "e4m3" => Element::E4m3,
        "e5m2" => Element::E5m2,
        "f64" => Element::F64,
        "u8" => Element::U8,
        "s8" => Element::S8,
        "u4" => Element::U4,
        "s4" => Element::S4,
        "b1" => Element::B1,
        _ => return None,
    })
}

pub(super) fn accumulator_of(word: &str) -> Option<Accumulator> {
    Some(match word {
        "f16" => Accumulator::F16,
        "f32" => Accumulator::F32,
        "f64" => Accumulator::F64,
        "s32" => Accumulator::S32,
        _ => return None,
    })
}

/// Takes `.row` or `.col` twice: for A and for B.
fn layouts(w: &mut Words<'_>) -> Checked<(bool, bool)> {
    let mut one = || match w.one_of(&["row", "col"]) {
        Some(word) => Ok(word == "row"),
        None => Err("the layouts of A and B are needed"),
    };
    Ok((one()?, one()?))
}

fn multiply(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>, family: Family) -> Checked<()> {
    let shape = w.find(shape_of).ok_or("the shape is missing")?;
    let (a_rows, b_rows) = layouts(w)?;
    let bit_operation = match w.one_of(&["xor", "and"]) {
        Some("and") => BitOperation::And,
        _ => BitOperation::Xor,
    };
    w.flag("popc");
    let saturate = w.flag("satfinite");
    let rounding = w.rounding();
    let types = std::mem::take(&mut w.left);
    let unknown = || format!("types .{} are not supported here", types.join("."));
    // `wmma.mma` on f16 names only the types of D and C.
    let (d, a, b, c) = match types[..] {
        [d, a, b, c] => (d, a, b, c),
        [d, c] if family == Family::Wmma => (d, "f16", "f16", c),
        _ => return Err(unknown()),
    };
    let (Some(a), Some(b)) = (element_of(a), element_of(b)) else { return Err(unknown()) };
    let (Some(c), Some(d)) = (accumulator_of(c), accumulator_of(d)) else { return Err(unknown()) };
    let family = match family {
        Family::Mma if a == Element::F16 && (shape.m, shape.n, shape.k) == (8, 8, 4) => {
            Family::Quads { a_rows, b_rows }
        }
        family => family,
    };
    let form = Multiply {
        family,
        shape,
        a,
        b,
        c,
        d,
        saturate,
        bit_operation,
        rounding: rounding.unwrap_or_default(),
    };
    // The fragments of `wmma` do not depend on the layout in memory. Those of `mma` exist in one
    // layout only, except for the smallest shape.
    let laid_out = family != Family::Mma || a_rows && !b_rows;
    if !form.is_known() || !laid_out || (rounding.is_some() && a != Element::F64) {
        return Err("this form is not supported".into());
    }
    let [d_operand, a_operand, b_operand, c_operand] = operands(i)?;
    let factor = if a == Element::F64 { Type::F64 } else { Type::B32 };
    let a = registers(e, a_operand, factor, form.fragment_a().registers())?;
    let b = registers(e, b_operand, factor, form.fragment_b().registers())?;
    let c = registers(e, c_operand, register_type(c), form.fragment_c().registers())?;
    let d = targets(e, d_operand, register_type(d), form.fragment_d().registers())?;
    let product = Product::new(form, [&a, &b, &c, &d])?;
    let imm = e.shared.matrices.products.len() as u64;
    e.shared.matrices.products.push(product);
    e.emit_waiting(Handlers::uniform(matrix::multiply), Fields::new().imm(imm));
    Ok(())
}

/// Returns the type of the registers of an accumulator.
pub(super) fn register_type(accumulator: Accumulator) -> Type {
    match accumulator {
        Accumulator::F16 => Type::B32,
        Accumulator::F32 => Type::F32,
        Accumulator::F64 => Type::F64,
        Accumulator::S32 => Type::S32,
    }
}

fn parts(operand: &Operand, count: usize) -> Checked<&[Operand]> {
    let parts = match operand {
        Operand::Vector(parts) => parts,
        single => std::slice::from_ref(single),
    };
    if parts.len() == count {
        Ok(parts)
    } else {
        Err(format!("{} registers where {count} are needed", parts.len()))
    }
}

pub(super) fn registers(
    e: &mut Emitter<'_, '_>,
    operand: &Operand,
    ty: Type,
    count: usize,
) -> Checked<Vec<RegisterSlot>> {
    parts(operand, count)?.iter().map(|part| e.source(part, ty)).collect()
}

pub(super) fn targets(
    e: &mut Emitter<'_, '_>,
    operand: &Operand,
    ty: Type,
    count: usize,
) -> Checked<Vec<RegisterSlot>> {
    parts(operand, count)?.iter().map(|part| e.target(part, ty)).collect()
}

/// `wmma.load`, `wmma.store`.
fn transfer(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>, stores: bool) -> Checked<()> {
    let side = w.one_of(&["a", "b", "c", "d"]).ok_or("the matrix is missing")?;
    let row_major = w.one_of(&["row", "col"]).ok_or("the layout is missing")? == "row";
    let shape = w.find(shape_of).ok_or("the shape is missing")?;
    let space = space(w);
    let word = w.last()?;
    w.finish()?;
    let unknown = || format!("type .{word} is not supported here");
    let fragment = match side {
        "a" | "b" if !stores => {
            let element = element_of(word).ok_or_else(unknown)?;
            let side = if side == "a" { Side::A } else { Side::B };
            Fragment::factor(Family::Wmma, side, shape, element)
        }
        "c" | "d" if (side == "d") == stores => {
            Fragment::accumulator(Family::Wmma, shape, accumulator_of(word).ok_or_else(unknown)?)
        }
        _ => return Err("loads are of a, b and c, stores of d".into()),
    };
    let known = [(16, 16, 16), (8, 32, 16), (32, 8, 16), (16, 16, 8), (8, 8, 4), (8, 8, 32), (8, 8, 128)];
    if !known.contains(&(shape.m, shape.n, shape.k)) {
        return Err("this form is not supported".into());
    }
    if !(2..=3).contains(&i.operands.len()) {
        return Err(format!("{} operands where 2 or 3 are needed", i.operands.len()));
    }
    let (value, at) = if stores { (1, 0) } else { (0, 1) };
    let ty = match word {
        "f64" => Type::F64,
        "f32" => Type::F32,
        "s32" => Type::S32,
        _ => Type::B32,
    };
    let count = fragment.registers();
    let address = e.wide_address(&i.operands[at], space)?;
    if !matches!(address.space, AccessSpace::Generic | AccessSpace::Global | AccessSpace::Shared) {
        return Err("matrices are in global and shared memory".into());
    }
    let registers = if stores {
        registers(e, &i.operands[value], ty, count)?
    } else {
        targets(e, &i.operands[value], ty, count)?
    };
    let registers = Registers::for_elements(fragment.bits(), &registers)?;
    let stride = match i.operands.get(2) {
        Some(stride) => Some(e.source(stride, Type::B32)?.typed()?),
        None => None,
    };
    let Ok(offset) = i32::try_from(address.offset) else { return Err("the offset is too large".into()) };
    let imm = e.shared.matrices.transfers.len() as u64;
    e.shared.matrices.transfers.push(Transfer {
        fragment,
        registers,
        row_major,
        space: address.space,
        stride,
    });
    let (d, site) = (u32::from(stores), e.site());
    let fields = Fields::new().a(address.slot).c(offset as u32).d(d).site(site).imm(imm);
    e.emit_waiting(Handlers::uniform(matrix::transfer), fields);
    Ok(())
}

/// `ldmatrix`, `stmatrix`.
fn tiles(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let loads = i.opcode == "ldmatrix";
    by_all(w)?;
    if !w.flag("m8n8") {
        return Err("only .m8n8 is supported".into());
    }
    let count = match w.one_of(&["x1", "x2", "x4"]) {
        Some("x1") => 1,
        Some("x2") => 2,
        Some(_) => 4,
        None => return Err("one of .x1, .x2 and .x4 is needed".into()),
    };
    let transposed = w.flag("trans");
    let space = space(w);
    if !w.flag("b16") {
        return Err("only .b16 is supported".into());
    }
    w.finish()?;
    let [first, second] = operands(i)?;
    let (values, address) = if loads { (first, second) } else { (second, first) };
    let address = e.wide_address(address, space)?;
    if !matches!(address.space, AccessSpace::Shared | AccessSpace::Generic) {
        return Err("tiles are in shared memory".into());
    }
    let slots =
        if loads { targets(e, values, Type::B32, count)? } else { registers(e, values, Type::B32, count)? };
    let c = e.shared.lists.add(&slots)?;
    let d = if transposed { TRANSPOSED } else { 0 } | (address.space as u32) << 8;
    let handler = if loads { matrix::load_tiles } else { matrix::store_tiles };
    let site = e.site();
    let fields = Fields::new().a(address.slot).c(c).d(d).site(site).imm(address.offset as u64);
    e.emit_waiting(Handlers::uniform(handler), fields);
    Ok(())
}
