//! `mma`, `wmma`, `ldmatrix`, `stmatrix`, `movmatrix`.

use super::super::Form;
use super::super::emit::{AddressOperand, Checked, Emitter, Fields, SlotOffset};
use super::{Words, memory, no_type, operands};
use crate::arith::Rounding;
use crate::arith::matrix::{
    Accumulator, BitOperation, Element, Family, Fragment, Multiply, Operand as Matrix, Shape,
};
use crate::exec::access::Direction;
use crate::exec::address::AccessSpace;
use crate::exec::matrix;
use crate::syntax::ast::{Instruction, Operand};
use crate::syntax::types::Type;

pub(super) fn select(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    if !w.flag("sync") {
        return Err(".sync is needed".into());
    }
    // Implied in old versions of PTX.
    w.flag("aligned");
    match i.opcode {
        "mma" => multiply(e, i, w, Family::Mma),
        "wmma" if w.flag("mma") => multiply(e, i, w, Family::Wmma),
        "wmma" if w.flag("load") => wmma_access(e, i, w, Direction::Load),
        "wmma" if w.flag("store") => wmma_access(e, i, w, Direction::Store),
        "ldmatrix" => tiles(e, i, w, Direction::Load),
        "stmatrix" => tiles(e, i, w, Direction::Store),
        "movmatrix" => transpose(e, i, w),
        _ => Err("one of .load, .mma and .store is needed".into()),
    }
}

/// `m16n8k16`.
fn shape(word: &str) -> Option<Shape> {
    let (m, rest) = word.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some(Shape { m: m.parse().ok()?, n: n.parse().ok()?, k: k.parse().ok()? })
}

fn element(word: &str) -> Option<Element> {
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

fn accumulator(word: &str) -> Option<Accumulator> {
    Some(match word {
        "f16" => Accumulator::F16,
        "f32" => Accumulator::F32,
        "f64" => Accumulator::F64,
        "s32" => Accumulator::S32,
        _ => return None,
    })
}

/// `.row` gives true.
fn layout(w: &mut Words<'_>) -> Checked<bool> {
    w.one_of(&["row", "col"]).map(|word| word == "row").ok_or_else(|| "the layout is missing".into())
}

/// The registers of a vector, of one element or more.
fn registers(operand: &Operand) -> &[Operand] {
    match operand {
        Operand::Vector(parts) => parts,
        single => std::slice::from_ref(single),
    }
}

/// A fragment's registers: as many as it needs.
fn fragment<'o>(operand: &'o Operand, fragment: &Fragment) -> Checked<&'o [Operand]> {
    let found = registers(operand);
    if found.len() != fragment.registers() {
        return Err(format!("{} registers where {} are needed", found.len(), fragment.registers()));
    }
    Ok(found)
}

/// Untyped bits of the registers that hold a fragment.
fn register_type(fragment: &Fragment) -> Type {
    if fragment.bits() == 64 { Type::B64 } else { Type::B32 }
}

fn sources(e: &mut Emitter<'_, '_>, parts: &[Operand], ty: Type) -> Checked<Vec<SlotOffset>> {
    parts.iter().map(|part| e.source(part, ty)).collect()
}

fn targets(e: &mut Emitter<'_, '_>, parts: &[Operand], ty: Type) -> Checked<Vec<SlotOffset>> {
    parts.iter().map(|part| e.target(part, ty)).collect()
}

fn multiply(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>, family: Family) -> Checked<()> {
    let shape = w.find(shape).ok_or("the shape is missing")?;
    let layouts = (layout(w)?, layout(w)?);
    let saturate = w.flag("satfinite");
    let bit_operation = w.find(|word| match word {
        "xor" => Some(BitOperation::Xor),
        "and" => Some(BitOperation::And),
        _ => None,
    });
    let counts = w.flag("popc");
    let rounding = w.rounding();
    let d = w.find(accumulator).ok_or("the type of D is missing")?;
    // `wmma.mma` on f16 names D and C alone.
    let halves = family == Family::Wmma && w.left.len() == 1;
    let mut factor =
        || if halves { Ok(Element::F16) } else { w.find(element).ok_or("the type of a factor is missing") };
    let (a, b) = (factor()?, factor()?);
    let c = w.find(accumulator).ok_or("the type of C is missing")?;
    w.finish()?;
    let integers = !matches!(d, Accumulator::F16 | Accumulator::F32 | Accumulator::F64);
    let form = Multiply {
        family,
        shape,
        a,
        b,
        c,
        d,
        saturate,
        bit_operation: bit_operation.unwrap_or_default(),
        rounding: rounding.unwrap_or(Rounding::NearestEven),
    };
    let bits = a == Element::B1;
    let plain_layout = layouts == (true, false) || (family == Family::Wmma && a.bits() >= 8);
    let modifiers_fit = (bit_operation.is_some() && counts) == bits
        && (!saturate || (integers && !bits))
        && (rounding.is_none() || a == Element::F64);
    if !form.is_known() || !plain_layout || !modifiers_fit {
        return Err("this combination of shape, layout and types is not supported".into());
    }
    let [to_d, from_a, from_b, from_c] = operands(i)?;
    let list = e.shared.operands.len() as u32;
    let (fragments, mut slots) = ([form.fragment_a(), form.fragment_b(), form.fragment_c()], Vec::new());
    for (operand, of) in [from_a, from_b, from_c].into_iter().zip(&fragments) {
        slots.extend(sources(e, fragment(operand, of)?, register_type(of))?);
    }
    let of = form.fragment_d();
    slots.extend(targets(e, fragment(to_d, &of)?, register_type(&of))?);
    e.shared.operands.extend(slots);
    let imm = add_form(e, Form::Multiply(form));
    e.emit_waiting(matrix::multiply(a == Element::F64), Fields { a: list, imm, ..Fields::default() });
    Ok(())
}

fn add_form(e: &mut Emitter<'_, '_>, form: Form) -> u64 {
    e.shared.forms.push(form);
    e.shared.forms.len() as u64 - 1
}

/// The space of a matrix in memory: global, shared, or told by the address.
fn matrix_space(w: &mut Words<'_>) -> Checked<AccessSpace> {
    match memory::space(w) {
        space @ (AccessSpace::Generic | AccessSpace::Global | AccessSpace::Shared) => Ok(space),
        _ => Err("a matrix is in global or shared memory".into()),
    }
}

/// The fields of an access: the address, and the list of registers.
fn access_fields(e: &mut Emitter<'_, '_>, address: AddressOperand, slots: Vec<SlotOffset>) -> Fields {
    let c = e.shared.operands.len() as u32;
    let (count, site) = (slots.len() as u32, e.site());
    e.shared.operands.extend(slots);
    Fields {
        a: address.slot,
        c,
        d: address.space as u32 | count << 8,
        imm: address.offset as u64,
        site,
        ..Fields::default()
    }
}

fn wmma_access(
    e: &mut Emitter<'_, '_>,
    i: &Instruction<'_>,
    w: &mut Words<'_>,
    direction: Direction,
) -> Checked<()> {
    let row_major = layout(w)?;
    let shape = w.find(shape).ok_or("the shape is missing")?;
    let space = matrix_space(w)?;
    let matrix = w.one_of(&["a", "b", "c", "d"]).ok_or("the matrix is missing")?;
    let last = w.last()?;
    w.finish()?;
    let of = match (matrix, direction) {
        ("a", Direction::Load) => {
            element(last).map(|ty| Fragment::factor(Family::Wmma, Matrix::A, shape, ty))
        }
        ("b", Direction::Load) => {
            element(last).map(|ty| Fragment::factor(Family::Wmma, Matrix::B, shape, ty))
        }
        ("c", Direction::Load) | ("d", Direction::Store) => {
            accumulator(last).map(|ty| Fragment::accumulator(Family::Wmma, shape, ty))
        }
        _ => return Err(format!("matrix .{matrix} is not supported here")),
    };
    let of = of.ok_or_else(|| format!("unknown type .{last}"))?;
    let known = match matrix {
        "a" | "b" => element(last).is_some_and(|ty| wmma_factor_is_known(shape, ty)),
        _ => accumulator(last).is_some_and(|ty| wmma_accumulator_is_known(shape, ty)),
    };
    let along_k = row_major == (matrix == "a");
    if !known || (of.bits() < 8 && !along_k) {
        return Err("this combination of shape, layout and type is not supported".into());
    }
    if !matches!(i.operands.len(), 2 | 3) {
        return Err(format!("{} operands where 2 or 3 are needed", i.operands.len()));
    }
    let (at, value) = if direction == Direction::Load { (1, 0) } else { (0, 1) };
    let address = e.wide_address(&i.operands[at], space)?;
    let (parts, ty) = (fragment(&i.operands[value], &of)?, register_type(&of));
    let slots = if direction == Direction::Load { targets(e, parts, ty)? } else { sources(e, parts, ty)? };
    let b = match i.operands.get(2) {
        Some(stride) => e.source(stride, Type::B32)?,
        None => e.constant32(of.default_stride(row_major) as u32),
    };
    let dst = add_form(e, Form::Fragment(of, row_major)) as u32;
    let fields = access_fields(e, address, slots);
    e.emit_waiting(matrix::wmma_access(direction), Fields { dst, b, ..fields });
    Ok(())
}

/// Whether `wmma` has factors of this type and shape.
fn wmma_factor_is_known(shape: Shape, element: Element) -> bool {
    let accumulator = match element {
        Element::F64 => Accumulator::F64,
        Element::F16 | Element::Bf16 | Element::Tf32 => Accumulator::F32,
        _ => Accumulator::S32,
    };
    wmma(shape, element, accumulator).is_known()
}

/// Whether `wmma` has accumulators of this type and shape.
fn wmma_accumulator_is_known(shape: Shape, accumulator: Accumulator) -> bool {
    let elements = [Element::F16, Element::Tf32, Element::F64, Element::S8, Element::S4, Element::B1];
    elements.into_iter().any(|element| wmma(shape, element, accumulator).is_known())
}

fn wmma(shape: Shape, element: Element, accumulator: Accumulator) -> Multiply {
    Multiply {
        family: Family::Wmma,
        shape,
        a: element,
        b: element,
        c: accumulator,
        d: accumulator,
        saturate: false,
        bit_operation: BitOperation::Xor,
        rounding: Rounding::NearestEven,
    }
}

/// `ldmatrix`, `stmatrix`.
fn tiles(
    e: &mut Emitter<'_, '_>,
    i: &Instruction<'_>,
    w: &mut Words<'_>,
    direction: Direction,
) -> Checked<()> {
    let ty = w.ty()?;
    let shape = w.one_of(&["m8n8"]).is_some();
    let count = w.one_of(&["x1", "x2", "x4"]).ok_or("the number of matrices is missing")?;
    let transposed = w.flag("trans");
    let space = matrix_space(w)?;
    w.finish()?;
    if ty != Type::B16 || !shape {
        return no_type(ty);
    }
    if space == AccessSpace::Global {
        return Err("the matrices are in shared memory".into());
    }
    let [first, second] = operands(i)?;
    let (at, value) = if direction == Direction::Load { (second, first) } else { (first, second) };
    let address = e.wide_address(at, space)?;
    let parts = registers(value);
    if format!("x{}", parts.len()) != count {
        return Err(format!("{} registers for .{count}", parts.len()));
    }
    let slots = if direction == Direction::Load {
        targets(e, parts, Type::B32)?
    } else {
        sources(e, parts, Type::B32)?
    };
    let fields = access_fields(e, address, slots);
    let d = fields.d | u32::from(transposed) << 16;
    e.emit_waiting(matrix::tiles(direction), Fields { d, ..fields });
    Ok(())
}

/// `movmatrix`.
fn transpose(e: &mut Emitter<'_, '_>, i: &Instruction<'_>, w: &mut Words<'_>) -> Checked<()> {
    let ty = w.ty()?;
    let fits = w.flag("m8n8") && w.flag("trans") && ty == Type::B16;
    w.finish()?;
    if !fits {
        return Err("only .m8n8.trans.b16 is supported".into());
    }
    let [to, from] = operands(i)?;
    let (a, dst) = (e.source(from, Type::B32)?, e.target(to, Type::B32)?);
    e.emit_waiting(matrix::transpose(), Fields { dst, a, ..Fields::default() });
    Ok(())
}
