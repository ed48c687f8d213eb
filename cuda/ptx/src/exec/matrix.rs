//! Matrix instructions: `mma`, `wmma`, `ldmatrix`, `stmatrix`, `movmatrix`. All lanes of the warp
//! take part.

#![expect(unsafe_code, reason = "reads and writes registers and checked addresses")]

use super::address::AccessSpace;
use super::collective;
use super::instrument::AccessKind;
use super::lanes::{FULL, LANES, Line, Slot};
use super::locate::Request;
use super::machine::{Flow, Machine};
use super::program::Inst;
use super::raw::Word;
use super::slots::{List, Mismatch, Reg, RegisterSlot, all_typed};
use super::warpgroup::GroupProduct;
use crate::arith::matrix::{Fragment, Multiply, Register, load_tile, store_tile, transpose_tile};

/// A sequence of registers of 32 or of 64 bits.
#[derive(Clone, Debug)]
pub(crate) enum Registers {
    Narrow(Vec<Reg<u32>>),
    Double(Vec<Reg<u64>>),
}

impl Registers {
    /// Creates the sequence for elements of a given width in bits.
    pub(crate) fn for_elements(bits: usize, slots: &[RegisterSlot]) -> Result<Registers, Mismatch> {
        if bits == 64 {
            all_typed(slots).map(Registers::Double)
        } else {
            all_typed(slots).map(Registers::Narrow)
        }
    }
}

/// The registers of the matrices of a multiplication.
#[derive(Clone, Debug)]
pub(crate) struct Operands<S> {
    a: Vec<Reg<S>>,
    b: Vec<Reg<S>>,
    c: Vec<Reg<S>>,
    d: Vec<Reg<S>>,
}

impl<S: Slot> Operands<S> {
    fn new([a, b, c, d]: [&[RegisterSlot]; 4]) -> Result<Operands<S>, Mismatch> {
        Ok(Operands { a: all_typed(a)?, b: all_typed(b)?, c: all_typed(c)?, d: all_typed(d)? })
    }
}

/// A matrix multiplication.
#[derive(Clone, Debug)]
pub(crate) enum Product {
    /// A product of elements in registers of 32 bits.
    Narrow(Multiply, Operands<u32>),
    /// A product of `f64`.
    Double(Multiply, Operands<u64>),
}

impl Product {
    /// Creates a multiplication with the registers of A, B, C and D.
    pub(crate) fn new(form: Multiply, registers: [&[RegisterSlot]; 4]) -> Result<Product, Mismatch> {
        Ok(if form.a.bits() == 64 {
            Product::Double(form, Operands::new(registers)?)
        } else {
            Product::Narrow(form, Operands::new(registers)?)
        })
    }
}

/// The matrix in memory and the registers of a `wmma.load` or `wmma.store`.
#[derive(Clone, Debug)]
pub(crate) struct Transfer {
    pub(crate) fragment: Fragment,
    pub(crate) registers: Registers,
    pub(crate) row_major: bool,
    pub(crate) space: AccessSpace,
    /// The register with the distance between rows or columns, in elements.
    pub(crate) stride: Option<Reg<u32>>,
}

/// The operands of the matrix instructions of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Matrices {
    pub(crate) products: Vec<Product>,
    pub(crate) transfers: Vec<Transfer>,
    pub(crate) groups: Vec<GroupProduct>,
}

/// `mma`, `wmma.mma`: `imm` is the [`Product`].
pub(crate) unsafe fn multiply(m: &mut Machine<'_>, i: &Inst) -> Flow {
    if m.mask != FULL && !collective::try_gather_warp(m) {
        return Flow::Switch;
    }
    match &m.launch.program.matrices.products[i.imm as usize] {
        // SAFETY: the product belongs to the instruction, so its registers are of the current
        // window, see `Handler`.
        Product::Narrow(form, operands) => unsafe { multiply_narrow(m, form, operands) },
        // SAFETY: the product belongs to the instruction, so its registers are of the current
        // window, see `Handler`.
        Product::Double(form, operands) => unsafe { multiply_double(m, form, operands) },
    }
    Flow::Next
}

/// # Safety
/// The registers are of the current window.
unsafe fn multiply_double(m: &mut Machine<'_>, form: &Multiply, operands: &Operands<u64>) {
    // SAFETY: the caller promises that the registers are of the current window.
    unsafe {
        let read = |registers: &[Reg<u64>]| -> Vec<[f64; LANES]> {
            registers.iter().map(|&register| m.read(register).0.map(f64::from_bits)).collect()
        };
        let (a, b, c) = (read(&operands.a), read(&operands.b), read(&operands.c));
        let mut d = vec![[0.0; LANES]; operands.d.len()];
        form.execute_f64(&a, &b, &c, &mut d);
        for (&register, value) in operands.d.iter().zip(d) {
            m.write(register, &Line(value.map(f64::to_bits)));
        }
    }
}

/// # Safety
/// The registers are of the current window.
unsafe fn multiply_narrow(m: &mut Machine<'_>, form: &Multiply, operands: &Operands<u32>) {
    const MAX_REGISTERS: usize = 16;
    let (mut a, mut b) = ([[0; LANES]; MAX_REGISTERS], [[0; LANES]; MAX_REGISTERS]);
    let (mut c, mut d) = ([[0; LANES]; MAX_REGISTERS], [[0; LANES]; MAX_REGISTERS]);
    // SAFETY: the caller promises that the registers are of the current window.
    unsafe {
        let read = |registers: &[Reg<u32>], to: &mut [Register]| {
            for (&register, to) in registers.iter().zip(to) {
                *to = m.read(register).0;
            }
        };
        read(&operands.a, &mut a);
        read(&operands.b, &mut b);
        read(&operands.c, &mut c);
        let [na, nb, nc, nd] = [&operands.a, &operands.b, &operands.c, &operands.d].map(Vec::len);
        form.execute(&a[..na], &b[..nb], &c[..nc], &mut d[..nd]);
        for (&register, value) in operands.d.iter().zip(d) {
            m.write(register, &Line(value));
        }
    }
}

/// `wmma.load`, `wmma.store` (if `d` is 1): `imm` is the [`Transfer`], `a` the address, `c` its
/// offset.
pub(crate) unsafe fn transfer(m: &mut Machine<'_>, i: &Inst<u32, Reg<u64>>) -> Flow {
    if m.mask != FULL && !collective::try_gather_warp(m) {
        return Flow::Switch;
    }
    let transfer = &m.launch.program.matrices.transfers[i.imm as usize];
    let fragment = &transfer.fragment;
    let (stores, bits) = (i.d == 1, fragment.bits());
    let per_register = (32 / bits).max(1);
    let kind = if stores { AccessKind::Write } else { AccessKind::Read };
    // SAFETY: `reach` checks addresses; registers are those of the current window, see `Handler`.
    unsafe {
        let addresses = m.read(i.a);
        let strides = transfer.stride.map(|register| m.read(register));
        for lane in 0..LANES {
            let base = addresses.0[lane].wrapping_add_signed(i64::from(i.c as i32));
            let stride = match &strides {
                Some(strides) => strides.0[lane] as usize,
                None => fragment.default_stride(transfer.row_major),
            };
            let mut words = [0u64; 16];
            for (index, at) in (0..fragment.elements()).map(|index| (index, index / per_register)) {
                let (row, column) = fragment.position(lane, index);
                let (major, minor) = if transfer.row_major { (row, column) } else { (column, row) };
                let bit = (major as u64)
                    .wrapping_mul(stride as u64)
                    .wrapping_add(minor as u64)
                    .wrapping_mul(bits as u64);
                let address = base.wrapping_add(bit / 8);
                let bytes = (bits as u64).div_ceil(8);
                let request = Request { address, bytes, space: transfer.space, kind, lane, site: i.site };
                let view =
                    if transfer.space == AccessSpace::Shared { m.shared } else { m.sites[i.site as usize] };
                let pointer = match m.reach(view, &request) {
                    Ok(pointer) => pointer,
                    Err(trap) => return m.fail(trap),
                };
                let shift = (index % per_register * bits) as u32;
                if stores {
                    store_element(pointer, bits, element(m, &transfer.registers, at, lane) >> shift);
                } else {
                    let inside = (bit % 8) as u32;
                    let value = load_element(pointer, bits) >> inside & (u64::MAX >> (64 - bits));
                    words[at] |= value << shift;
                }
            }
            if !stores {
                match &transfer.registers {
                    Registers::Narrow(registers) => {
                        for (&register, &word) in registers.iter().zip(&words) {
                            (*m.line(register)).0[lane] = word as u32;
                        }
                    }
                    Registers::Double(registers) => {
                        for (&register, &word) in registers.iter().zip(&words) {
                            (*m.line(register)).0[lane] = word;
                        }
                    }
                }
            }
        }
    }
    Flow::Next
}

/// Returns the value of a lane in register `at` of a sequence.
///
/// # Safety
/// The registers are of the current window.
unsafe fn element(m: &Machine<'_>, registers: &Registers, at: usize, lane: usize) -> u64 {
    // SAFETY: the caller promises that the registers are of the current window.
    unsafe {
        match registers {
            Registers::Narrow(registers) => (*m.line(registers[at])).0[lane].into(),
            Registers::Double(registers) => (*m.line(registers[at])).0[lane],
        }
    }
}

/// Loads an element of `bits` bits, or the byte that contains it.
///
/// # Safety
/// The pointer is valid for a load of that size from program memory, and aligned to it.
unsafe fn load_element(pointer: *const u8, bits: usize) -> u64 {
    // SAFETY: the caller promises a valid, aligned pointer.
    unsafe {
        match bits {
            64 => u64::load(pointer),
            32 => u32::load(pointer).into(),
            16 => u16::load(pointer).into(),
            _ => u8::load(pointer).into(),
        }
    }
}

/// Stores an element of `bits` bits.
///
/// # Safety
/// The pointer is valid for a store of that size to program memory, and aligned to it.
unsafe fn store_element(pointer: *mut u8, bits: usize, value: u64) {
    // SAFETY: the caller promises a valid, aligned pointer.
    unsafe {
        match bits {
            64 => u64::store(pointer, value),
            32 => u32::store(pointer, value as u32),
            16 => u16::store(pointer, value as u16),
            _ => u8::store(pointer, value as u8),
        }
    }
}

/// A flag in `d` of [`load_tiles`] and [`store_tiles`]: the tiles are transposed.
pub(crate) const TRANSPOSED: u32 = 8;

/// An instruction on tiles: `a` is the address, `c` the list of the tiles' registers.
type Tiles = Inst<u32, Reg<u64>, u32, List<u32>>;

/// Returns the pointer to the row of eight 16-bit elements at a lane's address.
///
/// # Safety
/// The instruction's registers are of the current window.
unsafe fn row(
    m: &mut Machine<'_>,
    i: &Tiles,
    lane: usize,
    kind: AccessKind,
) -> Result<*mut u8, super::fault::Trap> {
    let space = AccessSpace::from_number((i.d >> 8) as u8);
    // SAFETY: the caller promises that the instruction's registers are of the current window.
    let address = unsafe { (*m.line(i.a)).0[lane] }.wrapping_add(i.imm);
    m.reach_shared(&Request { address, bytes: 16, space, kind, lane, site: i.site })
}

/// `ldmatrix`: `a` is the address of a row in each lane, to which `imm` is added. `c` lists the
/// destinations, four at most.
pub(crate) unsafe fn load_tiles(m: &mut Machine<'_>, i: &Tiles) -> Flow {
    if m.mask != FULL && !collective::try_gather_warp(m) {
        return Flow::Switch;
    }
    let registers = m.launch.program.lists.get(i.c);
    let mut tiles = [[0; LANES]; 4];
    // SAFETY: `row` checks addresses; registers are those of the current window, see `Handler`.
    unsafe {
        for (tile, to) in tiles.iter_mut().enumerate().take(registers.len()) {
            let mut rows = [[0u16; 8]; 8];
            for (line, to) in rows.iter_mut().enumerate() {
                let pointer = match row(m, i, tile * 8 + line, AccessKind::Read) {
                    Ok(pointer) => pointer,
                    Err(trap) => return m.fail(trap),
                };
                for (index, half) in to.iter_mut().enumerate() {
                    *half = u16::load(pointer.add(2 * index));
                }
            }
            *to = load_tile(&rows, i.d & TRANSPOSED != 0);
        }
        for (&register, value) in registers.iter().zip(&tiles) {
            m.write(register, &Line(*value));
        }
    }
    Flow::Next
}

/// `stmatrix`: like [`load_tiles`], with the sources in the list.
pub(crate) unsafe fn store_tiles(m: &mut Machine<'_>, i: &Tiles) -> Flow {
    if m.mask != FULL && !collective::try_gather_warp(m) {
        return Flow::Switch;
    }
    let registers = m.launch.program.lists.get(i.c);
    // SAFETY: `row` checks addresses; registers are those of the current window, see `Handler`.
    unsafe {
        for (tile, &register) in registers.iter().enumerate() {
            let value = m.read(register);
            let rows = store_tile(&value.0, i.d & TRANSPOSED != 0);
            for (line, from) in rows.iter().enumerate() {
                let pointer = match row(m, i, tile * 8 + line, AccessKind::Write) {
                    Ok(pointer) => pointer,
                    Err(trap) => return m.fail(trap),
                };
                for (index, half) in from.iter().enumerate() {
                    u16::store(pointer.add(2 * index), *half);
                }
            }
        }
    }
    Flow::Next
}

/// `movmatrix`.
pub(crate) unsafe fn transpose(m: &mut Machine<'_>, i: &Inst<Reg<u32>, Reg<u32>>) -> Flow {
    if m.mask != FULL && !collective::try_gather_warp(m) {
        return Flow::Switch;
    }
    // SAFETY: registers are those of the current window, see `Handler`.
    unsafe {
        let value = m.read(i.a);
        m.write(i.dst, &Line(transpose_tile(&value.0)));
    }
    Flow::Next
}
