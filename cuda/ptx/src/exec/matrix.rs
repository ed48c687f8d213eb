//! Matrix instructions: `mma`, `wmma`, `ldmatrix`, `stmatrix`, `movmatrix`. All lanes of the warp take part.

#![expect(unsafe_code, reason = "reads and writes registers and checked addresses")]

use super::address::AccessSpace;
use super::collective;
use super::instrument::AccessKind;
use super::lanes::{FULL, LANES, Line};
use super::locate::Request;
use super::machine::{Flow, Machine};
use super::program::Inst;
use super::raw::Word;
use super::warpgroup::GroupProduct;
use crate::arith::matrix::{Fragment, Multiply, Register, load_tile, store_tile, transpose_tile};

/// A matrix instruction, but for the form of the multiplication: the slots of its registers, one behind the
/// other.
#[derive(Clone, Debug)]
pub(crate) struct Product {
    pub(crate) form: Multiply,
    pub(crate) a: Vec<u32>,
    pub(crate) b: Vec<u32>,
    pub(crate) c: Vec<u32>,
    pub(crate) d: Vec<u32>,
}

/// `wmma.load`, `wmma.store`: the matrix in memory and the registers.
#[derive(Clone, Debug)]
pub(crate) struct Transfer {
    pub(crate) fragment: Fragment,
    pub(crate) registers: Vec<u32>,
    pub(crate) row_major: bool,
    pub(crate) space: AccessSpace,
    /// The register with the distance of rows or columns, in elements.
    pub(crate) stride: Option<u32>,
}

/// Matrix instructions of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Matrices {
    pub(crate) products: Vec<Product>,
    pub(crate) transfers: Vec<Transfer>,
    pub(crate) groups: Vec<GroupProduct>,
}

/// `mma`, `wmma.mma`: `imm` is the [`Product`].
pub(crate) unsafe fn multiply(m: &mut Machine<'_>, i: &Inst) -> Flow {
    if m.mask != FULL && !collective::whole_warp(m) {
        return Flow::Switch;
    }
    let product = &m.launch.program.matrices.products[i.imm as usize];
    // SAFETY: registers as the translation checked.
    unsafe {
        if product.form.a.bits() == 64 {
            let read = |slots: &[u32]| -> Vec<[f64; LANES]> {
                slots.iter().map(|&slot| m.read::<u64>(slot).0.map(f64::from_bits)).collect()
            };
            let (a, b, c) = (read(&product.a), read(&product.b), read(&product.c));
            let mut d = vec![[0.0; LANES]; product.d.len()];
            product.form.execute_f64(&a, &b, &c, &mut d);
            for (&slot, value) in product.d.iter().zip(d) {
                m.write(slot, &Line(value.map(f64::to_bits)));
            }
            return Flow::Next;
        }
        const REGISTERS_MAX: usize = 16;
        let (mut a, mut b) = ([[0; LANES]; REGISTERS_MAX], [[0; LANES]; REGISTERS_MAX]);
        let (mut c, mut d) = ([[0; LANES]; REGISTERS_MAX], [[0; LANES]; REGISTERS_MAX]);
        let read = |slots: &[u32], to: &mut [Register]| {
            for (&slot, to) in slots.iter().zip(to) {
                *to = m.read::<u32>(slot).0;
            }
        };
        read(&product.a, &mut a);
        read(&product.b, &mut b);
        read(&product.c, &mut c);
        let (na, nb, nc, nd) = (product.a.len(), product.b.len(), product.c.len(), product.d.len());
        product.form.execute(&a[..na], &b[..nb], &c[..nc], &mut d[..nd]);
        for (&slot, value) in product.d.iter().zip(d) {
            m.write(slot, &Line(value));
        }
    }
    Flow::Next
}

/// `wmma.load`, `wmma.store` (if `d` is 1): `imm` is the [`Transfer`], `a` the address, `c` its offset.
pub(crate) unsafe fn transfer(m: &mut Machine<'_>, i: &Inst) -> Flow {
    if m.mask != FULL && !collective::whole_warp(m) {
        return Flow::Switch;
    }
    let transfer = &m.launch.program.matrices.transfers[i.imm as usize];
    let fragment = &transfer.fragment;
    let (stores, bits) = (i.d == 1, fragment.bits());
    let per_register = (32 / bits).max(1);
    let kind = if stores { AccessKind::Write } else { AccessKind::Read };
    // SAFETY: `reach` checks addresses; registers as the translation checked.
    unsafe {
        let addresses = m.read::<u64>(i.a);
        let strides = transfer.stride.map(|slot| m.read::<u32>(slot));
        for lane in 0..LANES {
            let base = addresses.0[lane].wrapping_add_signed(i64::from(i.c as i32));
            let stride = match &strides {
                Some(strides) => strides.0[lane] as usize,
                None => fragment.default_stride(transfer.row_major),
            };
            let mut words = [0u64; 16];
            for (element, at) in (0..fragment.elements()).map(|e| (e, e / per_register)) {
                let (row, column) = fragment.position(lane, element);
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
                let shift = (element % per_register * bits) as u32;
                if stores {
                    store_element(pointer, bits, register(m, transfer.registers[at], bits, lane) >> shift);
                } else {
                    let inside = (bit % 8) as u32;
                    let value = load_element(pointer, bits) >> inside & (u64::MAX >> (64 - bits));
                    words[at] |= value << shift;
                }
            }
            if !stores {
                for (&slot, &word) in transfer.registers.iter().zip(&words) {
                    if bits == 64 {
                        (*m.line::<u64>(slot)).0[lane] = word;
                    } else {
                        (*m.line::<u32>(slot)).0[lane] = word as u32;
                    }
                }
            }
        }
    }
    Flow::Next
}

unsafe fn register(m: &Machine<'_>, slot: u32, bits: usize, lane: usize) -> u64 {
    // SAFETY: registers as the translation checked.
    unsafe { if bits == 64 { (*m.line::<u64>(slot)).0[lane] } else { (*m.line::<u32>(slot)).0[lane].into() } }
}

unsafe fn load_element(pointer: *const u8, bits: usize) -> u64 {
    // SAFETY: the pointer was checked by the caller.
    unsafe {
        match bits {
            64 => u64::load(pointer),
            32 => u32::load(pointer).into(),
            16 => u16::load(pointer).into(),
            _ => u8::load(pointer).into(),
        }
    }
}

unsafe fn store_element(pointer: *mut u8, bits: usize, value: u64) {
    // SAFETY: the pointer was checked by the caller.
    unsafe {
        match bits {
            64 => u64::store(pointer, value),
            32 => u32::store(pointer, value as u32),
            16 => u16::store(pointer, value as u16),
            _ => u8::store(pointer, value as u8),
        }
    }
}

/// In `d` of [`load_tiles`] and [`store_tiles`]: tiles are transposed. Their number is in the low bits.
pub(crate) const TRANSPOSED: u32 = 8;

/// The row of eight halves that a lane's address names.
unsafe fn row(
    m: &mut Machine<'_>,
    i: &Inst,
    lane: usize,
    kind: AccessKind,
) -> Result<*mut u8, super::fault::Trap> {
    let space = AccessSpace::from_number((i.d >> 8) as u8);
    // SAFETY: a 64-bit register, as the translation checked.
    let address = unsafe { (*m.line::<u64>(i.a)).0[lane] }.wrapping_add(i.imm);
    m.reach_shared(&Request { address, bytes: 16, space, kind, lane, site: i.site })
}

/// `ldmatrix`: `a` is the address of a row in each lane, `imm` added to it, the destinations are in the
/// operand list at `c`.
pub(crate) unsafe fn load_tiles(m: &mut Machine<'_>, i: &Inst) -> Flow {
    if m.mask != FULL && !collective::whole_warp(m) {
        return Flow::Switch;
    }
    let count = (i.d & 7) as usize;
    let mut tiles = [[0; LANES]; 4];
    // SAFETY: `row` checks addresses; registers as the translation checked.
    unsafe {
        for (tile, to) in tiles.iter_mut().enumerate().take(count) {
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
        for (tile, value) in tiles.iter().enumerate().take(count) {
            let slot = m.operands(i.c, count)[tile];
            m.write(slot, &Line(*value));
        }
    }
    Flow::Next
}

/// `stmatrix`: as [`load_tiles`], with the sources in the operand list.
pub(crate) unsafe fn store_tiles(m: &mut Machine<'_>, i: &Inst) -> Flow {
    if m.mask != FULL && !collective::whole_warp(m) {
        return Flow::Switch;
    }
    let count = (i.d & 7) as usize;
    // SAFETY: `row` checks addresses; registers as the translation checked.
    unsafe {
        for tile in 0..count {
            let value = m.read::<u32>(m.operands(i.c, count)[tile]);
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
pub(crate) unsafe fn transpose(m: &mut Machine<'_>, i: &Inst) -> Flow {
    if m.mask != FULL && !collective::whole_warp(m) {
        return Flow::Switch;
    }
    // SAFETY: registers as the translation checked.
    unsafe {
        let value = m.read::<u32>(i.a);
        m.write(i.dst, &Line(transpose_tile(&value.0)));
    }
    Flow::Next
}
