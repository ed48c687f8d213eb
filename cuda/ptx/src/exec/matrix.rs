//! Matrix instructions: all lanes of a warp do one thing together.
//!
//! They wait for each other as at a `.sync` instruction. A warp that has not all its lanes can execute none of them: what the
//! missing lanes hold would be part of the result.

#![expect(unsafe_code, reason = "instructions read and write registers and checked addresses")]

use super::access::Direction;
use super::address::AccessSpace;
use super::fault::{FaultKind, Trap};
use super::instrument::AccessKind;
use super::lanes::{FULL, LANES, Line};
use super::level::Handlers;
use super::locate::Request;
use super::machine::{Flow, Machine, Phase};
use super::raw::{self, Word};
use crate::arith::matrix::{Fragment, Multiply, Register, load_tile, store_tile, transpose_tile};
use crate::code::{Form, Inst};

/// Registers of a fragment at most.
const FRAGMENT_MAX: usize = 8;

/// Whether the instruction can take place now. If not, says what happens instead.
fn together(m: &mut Machine<'_>) -> Result<(), Flow> {
    if m.mask == FULL {
        return Ok(());
    }
    if m.phase == Phase::Whole {
        let live = m.current().live();
        if live == FULL {
            // The others come later, or the launch ends in a deadlock, which names this instruction.
            return if m.all_here(&Line::splat(FULL)) { Ok(()) } else { Err(Flow::Switch) };
        }
        let missing = (!live).trailing_zeros();
        let detail =
            format!("all 32 lanes of the warp must take part, lane {missing} does not exist or has exited");
        return Err(m.fail(Trap::new(FaultKind::InvalidOperand, m.first_lane(), detail)));
    }
    let detail = "the lanes of the warp are at different instructions";
    Err(m.fail(Trap::new(FaultKind::InvalidOperand, m.first_lane(), detail)))
}

/// Handlers that are the same on all processors, with a copy that has every access looked up.
const fn checked(
    plain: unsafe fn(&mut Machine<'_>, &Inst) -> Flow,
    instrumented: unsafe fn(&mut Machine<'_>, &Inst) -> Flow,
) -> Handlers {
    Handlers { plain: [plain; 3], instrumented: [instrumented; 3] }
}

/// `mma`, `wmma.mma`: `imm` is the form, `a` the list of the registers of A, B, C and D.
pub(crate) const fn multiply(doubles: bool) -> Handlers {
    Handlers::same(if doubles { run_multiply_f64 } else { run_multiply })
}

fn form(m: &Machine<'_>, i: &Inst) -> Option<Multiply> {
    match m.launch.program.forms.get(i.imm as usize) {
        Some(Form::Multiply(form)) => Some(*form),
        _ => None,
    }
}

unsafe fn run_multiply(m: &mut Machine<'_>, i: &Inst) -> Flow {
    if let Err(flow) = together(m) {
        return flow;
    }
    let Some(form) = form(m, i) else { return Flow::Next };
    let counts =
        [form.fragment_a(), form.fragment_b(), form.fragment_c(), form.fragment_d()].map(|of| of.registers());
    let [a, b, c, d] = counts;
    let mut values: [[Register; FRAGMENT_MAX]; 4] = [[[0; LANES]; FRAGMENT_MAX]; 4];
    let mut at = i.a;
    for (values, count) in values.iter_mut().zip(counts).take(3) {
        for value in &mut values[..count] {
            // SAFETY: the list has 32-bit registers, as the translation checked.
            *value = unsafe { m.read::<u32>(m.operands(at, 1)[0]) }.0;
            at += 1;
        }
    }
    let [from_a, from_b, from_c, to_d] = &mut values;
    form.execute(&from_a[..a], &from_b[..b], &from_c[..c], &mut to_d[..d]);
    for value in &to_d[..d] {
        // SAFETY: as above.
        unsafe { m.write(m.operands(at, 1)[0], &Line(*value)) };
        at += 1;
    }
    Flow::Next
}

unsafe fn run_multiply_f64(m: &mut Machine<'_>, i: &Inst) -> Flow {
    if let Err(flow) = together(m) {
        return flow;
    }
    let Some(form) = form(m, i) else { return Flow::Next };
    let counts =
        [form.fragment_a(), form.fragment_b(), form.fragment_c(), form.fragment_d()].map(|of| of.registers());
    let [a, b, c, d] = counts;
    let mut values = [[[0.0; LANES]; FRAGMENT_MAX]; 4];
    let mut at = i.a;
    for (values, count) in values.iter_mut().zip(counts).take(3) {
        for value in &mut values[..count] {
            // SAFETY: the list has 64-bit registers, as the translation checked.
            *value = unsafe { m.read::<u64>(m.operands(at, 1)[0]) }.0.map(f64::from_bits);
            at += 1;
        }
    }
    let [from_a, from_b, from_c, to_d] = &mut values;
    form.execute_f64(&from_a[..a], &from_b[..b], &from_c[..c], &mut to_d[..d]);
    for value in &to_d[..d] {
        // SAFETY: as above.
        unsafe { m.write(m.operands(at, 1)[0], &Line(value.map(f64::to_bits))) };
        at += 1;
    }
    Flow::Next
}

/// The bytes of an access by one lane, a power of two of them.
///
/// # Safety
/// As for a [`Handler`](super::machine::Handler).
#[inline]
unsafe fn pointer<const CHECKED: bool>(
    m: &mut Machine<'_>,
    i: &Inst,
    lane: usize,
    address: u64,
    bytes: u64,
    kind: AccessKind,
) -> Result<*mut u8, Trap> {
    let space = AccessSpace::from_number(i.d as u8);
    let view = m.fixed_view(space).unwrap_or(m.sites[i.site as usize]);
    let offset = address.wrapping_sub(view.base);
    if !CHECKED && offset < view.limit(bytes) && address.is_multiple_of(bytes) {
        return Ok(view.pointer.wrapping_add(offset as usize));
    }
    m.locate(&Request { address, bytes, space, kind, lane, site: i.site })
}

/// The address in register `a` of a lane.
///
/// # Safety
/// `a` is a 64-bit register.
unsafe fn base(m: &Machine<'_>, i: &Inst, lane: usize) -> u64 {
    // SAFETY: as promised by the caller.
    unsafe { (*m.line::<u64>(i.a)).0[lane] }.wrapping_add(i.imm)
}

/// The registers of an access, as listed at `c`.
fn listed(i: &Inst) -> usize {
    (i.d >> 8 & 0xff) as usize
}

/// `ldmatrix`, `stmatrix`: `a` has a row's address in each lane, eight rows to a matrix; `c` lists the registers.
pub(crate) const fn tiles(direction: Direction) -> Handlers {
    match direction {
        Direction::Load => checked(load_tiles::<false>, load_tiles::<true>),
        Direction::Store => checked(store_tiles::<false>, store_tiles::<true>),
    }
}

/// Bytes of a row of a tile.
const ROW_BYTES: usize = 16;

unsafe fn load_tiles<const CHECKED: bool>(m: &mut Machine<'_>, i: &Inst) -> Flow {
    if let Err(flow) = together(m) {
        return flow;
    }
    let transposed = i.d >> 16 & 1 != 0;
    let mut loaded = [[0; LANES]; 4];
    for (tile, register) in loaded[..listed(i)].iter_mut().enumerate() {
        let mut rows = [[0u16; 8]; 8];
        for (row, halves) in rows.iter_mut().enumerate() {
            let lane = 8 * tile + row;
            // SAFETY: `pointer` checked the address of all bytes; the address is in a 64-bit register.
            unsafe {
                let address = base(m, i, lane);
                match pointer::<CHECKED>(m, i, lane, address, ROW_BYTES as u64, AccessKind::Read) {
                    Ok(from) => raw::load_row(from, halves.as_mut_ptr().cast(), ROW_BYTES),
                    Err(trap) => return m.fail(trap),
                }
            }
        }
        *register = load_tile(&rows, transposed);
    }
    for (tile, register) in loaded[..listed(i)].iter().enumerate() {
        // SAFETY: the list has 32-bit registers, as the translation checked.
        unsafe { m.write(m.operands(i.c, listed(i))[tile], &Line(*register)) };
    }
    Flow::Next
}

unsafe fn store_tiles<const CHECKED: bool>(m: &mut Machine<'_>, i: &Inst) -> Flow {
    if let Err(flow) = together(m) {
        return flow;
    }
    let transposed = i.d >> 16 & 1 != 0;
    for tile in 0..listed(i) {
        // SAFETY: the list has 32-bit registers, as the translation checked.
        let register = unsafe { m.read::<u32>(m.operands(i.c, listed(i))[tile]) };
        for (row, halves) in store_tile(&register.0, transposed).iter().enumerate() {
            let lane = 8 * tile + row;
            // SAFETY: `pointer` checked the address of all bytes; the address is in a 64-bit register.
            unsafe {
                let address = base(m, i, lane);
                match pointer::<CHECKED>(m, i, lane, address, ROW_BYTES as u64, AccessKind::Write) {
                    Ok(to) => raw::store_row(halves.as_ptr().cast(), to, ROW_BYTES),
                    Err(trap) => return m.fail(trap),
                }
            }
        }
    }
    Flow::Next
}

/// `movmatrix`: transposes `a` into `dst`.
pub(crate) const fn transpose() -> Handlers {
    Handlers::same(run_transpose)
}

unsafe fn run_transpose(m: &mut Machine<'_>, i: &Inst) -> Flow {
    if let Err(flow) = together(m) {
        return flow;
    }
    // SAFETY: 32-bit registers, as the translation checked.
    unsafe {
        let from = m.read::<u32>(i.a);
        m.write(i.dst, &Line(transpose_tile(&from.0)));
    }
    Flow::Next
}

/// `wmma.load`, `wmma.store`: `dst` is the form, `a` the address, `b` the stride in elements, `c` lists the registers.
pub(crate) const fn wmma_access(direction: Direction) -> Handlers {
    match direction {
        Direction::Load => checked(run_wmma::<true, false>, run_wmma::<true, true>),
        Direction::Store => checked(run_wmma::<false, false>, run_wmma::<false, true>),
    }
}

unsafe fn run_wmma<const LOAD: bool, const CHECKED: bool>(m: &mut Machine<'_>, i: &Inst) -> Flow {
    if let Err(flow) = together(m) {
        return flow;
    }
    let Some(&Form::Fragment(fragment, row_major)) = m.launch.program.forms.get(i.dst as usize) else {
        return Flow::Next;
    };
    let wide = fragment.bits() == 64;
    for index in 0..listed(i) {
        let register = m.operands(i.c, listed(i))[index];
        // SAFETY: the list has registers of the fragment's width, as the translation checked.
        let mut line = unsafe {
            match (LOAD, wide) {
                (true, _) => Line::splat(0),
                (false, true) => m.read::<u64>(register),
                (false, false) => Line(m.read::<u32>(register).0.map(u64::from)),
            }
        };
        for lane in 0..LANES {
            // SAFETY: `a` and `b` are registers of 64 and 32 bits.
            let (start, stride) = unsafe { (base(m, i, lane), (*m.line::<u32>(i.b)).0[lane]) };
            let place = |element| offset_bits(&fragment, row_major, stride, lane, element);
            // SAFETY: as for a handler.
            let moved = unsafe {
                move_register::<LOAD, CHECKED>(m, i, lane, start, &fragment, index, place, &mut line.0[lane])
            };
            if let Err(trap) = moved {
                return m.fail(trap);
            }
        }
        // SAFETY: as above.
        unsafe {
            match (LOAD, wide) {
                (true, true) => m.write(register, &line),
                (true, false) => m.write(register, &Line(line.0.map(|bits| bits as u32))),
                (false, _) => {}
            }
        }
    }
    Flow::Next
}

/// Where in memory an element is, in bits from the matrix's start.
fn offset_bits(fragment: &Fragment, row_major: bool, stride: u32, lane: usize, element: usize) -> u64 {
    let (row, column) = fragment.position(lane, element);
    let (major, minor) = if row_major { (row, column) } else { (column, row) };
    (major as u64).wrapping_mul(stride.into()).wrapping_add(minor as u64).wrapping_mul(fragment.bits() as u64)
}

/// Moves one register of a lane: element by element, or, where elements are less than a byte, as one word.
#[expect(clippy::too_many_arguments, reason = "one step of a loop over registers and lanes")]
unsafe fn move_register<const LOAD: bool, const CHECKED: bool>(
    m: &mut Machine<'_>,
    i: &Inst,
    lane: usize,
    start: u64,
    fragment: &Fragment,
    index: usize,
    place: impl Fn(usize) -> u64,
    value: &mut u64,
) -> Result<(), Trap> {
    let kind = if LOAD { AccessKind::Read } else { AccessKind::Write };
    // Elements of less than a byte lie one behind the other, along K.
    let bits = if fragment.bits() < 8 { 32 } else { fragment.bits() };
    let per_register = (32 / bits).max(1);
    for part in 0..per_register {
        let element = index * per_register * (bits / fragment.bits()) + part;
        let address = start.wrapping_add(place(element) / 8);
        let shift = part * bits;
        // SAFETY: `pointer` checked the address of all bytes, and its alignment.
        unsafe {
            let at = pointer::<CHECKED>(m, i, lane, address, bits as u64 / 8, kind)?;
            match (LOAD, bits) {
                (true, 8) => *value |= u64::from(u8::load(at)) << shift,
                (true, 16) => *value |= u64::from(u16::load(at)) << shift,
                (true, 32) => *value |= u64::from(u32::load(at)) << shift,
                (true, _) => *value = u64::load(at),
                (false, 8) => u8::store(at, (*value >> shift) as u8),
                (false, 16) => u16::store(at, (*value >> shift) as u16),
                (false, 32) => u32::store(at, (*value >> shift) as u32),
                (false, _) => u64::store(at, *value),
            }
        }
    }
    Ok(())
}
