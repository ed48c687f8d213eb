//! `wgmma`: products that the four warps of a group make together, with factors in shared memory.
//!
//! Each warp has 16 rows of the 64 of A and of the result, and needs nothing of the others'
//! registers: it makes its rows by products of 16 × 8 as `mma` does. It makes them at once, which
//! is one of the orders the program has to reckon with; so fences and groups of products are always
//! complete.

#![expect(unsafe_code, reason = "reads and writes registers and checked addresses")]

use super::address::AccessSpace;
use super::collective;
use super::fault::{FaultKind, Trap};
use super::instrument::AccessKind;
use super::lanes::{LANES, Line};
use super::locate::Request;
use super::machine::{Flow, Machine};
use super::program::Inst;
use super::raw::Word;
use super::slots::{Pred, Reg};
use crate::arith::matrix::{Fragment, Multiply, Register};

/// Warps of a group.
const WARPS: usize = 4;
/// Rows of A and of the result that a warp has.
const ROWS: usize = 16;
/// Columns that are made at a time.
pub(crate) const COLUMNS: usize = 8;

/// A factor in shared memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stored {
    /// The register with the descriptor.
    pub(crate) descriptor: Reg<u64>,
    /// Whether neighbours are along M or N, not along K.
    pub(crate) across: bool,
}

/// Where the first factor is.
#[derive(Clone, Debug)]
pub(crate) enum First {
    Registers(Vec<Reg<u32>>),
    Stored(Stored),
}

/// A `wgmma.mma_async`.
#[derive(Clone, Debug)]
pub(crate) struct GroupProduct {
    /// The product of 16 rows and 8 columns.
    pub(crate) form: Multiply,
    pub(crate) a: First,
    pub(crate) b: Stored,
    /// The registers of the result: those of 8 columns one behind the other.
    pub(crate) d: Vec<Reg<u32>>,
    /// The bits of A's registers that are flipped, for a product whose sign changes.
    pub(crate) flipped: u32,
    /// The predicate that says whether the result is added to what is there, and all ones if it is
    /// negated.
    pub(crate) accumulate: (Pred, u32),
}

/// How a factor lies in shared memory, as its descriptor says. Neighbours come in pieces of 16
/// bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    start: u64,
    /// Bytes from piece to piece: "leading" and "stride" in the manual.
    leading: u64,
    stride: u64,
    /// Pieces of a row of the swizzled pattern; 1 if there is none.
    pieces: u64,
}

/// Bytes of a piece.
const PIECE: u64 = 16;

impl Layout {
    fn decode(descriptor: u64) -> Result<Layout, &'static str> {
        let field = |shift: u32| (descriptor >> shift & 0x3fff) * PIECE;
        if descriptor >> 49 & 7 != 0 {
            return Err("a matrix descriptor with a base offset is not supported");
        }
        let pieces = [1, 8, 4, 2][(descriptor >> 62) as usize];
        Ok(Layout { start: field(0), leading: field(16), stride: field(32), pieces })
    }

    /// Returns the address of byte `along` of row `row`, where neighbours are along K.
    fn along(&self, row: u64, along: u64) -> u64 {
        let line = row % 8 * PIECE * self.pieces + row / 8 * self.stride;
        let piece = if self.pieces == 1 { along / PIECE * self.leading } else { along / PIECE * PIECE };
        self.swizzle(self.start + line + piece + along % PIECE)
    }

    /// Returns the address of byte `across` of column `k`, where neighbours are along M or N.
    fn across(&self, across: u64, k: u64) -> u64 {
        let piece = across / PIECE;
        let place = if self.pieces == 1 {
            piece * self.stride + k % 8 * PIECE + k / 8 * self.leading
        } else {
            let (inside, pattern) = (piece % self.pieces, piece / self.pieces);
            inside * PIECE + pattern * self.leading + k % 8 * PIECE * self.pieces + k / 8 * self.stride
        };
        self.swizzle(self.start + place + across % PIECE)
    }

    /// Exchanges the pieces of a row, differently in each of eight rows.
    fn swizzle(&self, address: u64) -> u64 {
        address ^ ((address >> 3) & ((self.pieces - 1) * PIECE))
    }
}

/// `wgmma.mma_async`: `imm` is the [`GroupProduct`].
pub(crate) unsafe fn multiply(m: &mut Machine<'_>, i: &Inst) -> Flow {
    if !collective::whole_warp(m) {
        return Flow::Switch;
    }
    let product = &m.launch.program.matrices.groups[i.imm as usize];
    // SAFETY: the product is one of the running program's, of the function whose window is the
    // current one.
    match unsafe { run(m, product) } {
        Ok(()) => Flow::Next,
        Err(trap) => m.fail(trap),
    }
}

/// # Safety
/// The product is one of the running program's, of the function whose window is the current one.
unsafe fn run(m: &mut Machine<'_>, product: &GroupProduct) -> Result<(), Trap> {
    let lane = m.first_lane();
    if m.warp / WARPS * WARPS + WARPS > m.warps.len() {
        let detail = "wgmma in a group of fewer than four warps";
        return Err(Trap::new(FaultKind::InvalidOperand, lane, detail));
    }
    let form = &product.form;
    let registers = form.fragment_d().registers();
    // SAFETY: the product's registers are of the current window, by the caller's promise.
    unsafe {
        let accumulates = m.predicate(product.accumulate.0) ^ product.accumulate.1;
        if accumulates & m.mask != 0 && accumulates & m.mask != m.mask {
            let detail = "lanes of a warp do not agree on the scale of the result of wgmma";
            return Err(Trap::new(FaultKind::InvalidOperand, lane, detail));
        }
        let mut a = [[0; LANES]; 4];
        match &product.a {
            First::Registers(slots) => {
                for (&slot, to) in slots.iter().zip(&mut a) {
                    *to = m.read(slot).0;
                }
            }
            First::Stored(stored) => {
                let first = m.warp % WARPS * ROWS;
                load(m, *stored, &form.fragment_a(), &mut a, |(row, column)| (first + row, column))?;
            }
        }
        for word in a.iter_mut().flatten() {
            *word ^= product.flipped;
        }
        for (block, slots) in product.d.chunks_exact(registers).enumerate() {
            let (mut b, mut c, mut d) = ([[0; LANES]; 2], [[0; LANES]; 4], [[0; LANES]; 4]);
            load(m, product.b, &form.fragment_b(), &mut b, |(row, column)| (block * COLUMNS + column, row))?;
            if accumulates & m.mask != 0 {
                for (&slot, to) in slots.iter().zip(&mut c) {
                    *to = m.read(slot).0;
                }
            }
            form.execute(&a, &b, &c[..registers], &mut d[..registers]);
            for (&slot, value) in slots.iter().zip(d) {
                m.write(slot, &Line(value));
            }
        }
    }
    Ok(())
}

/// Loads a fragment of a factor. `turned` makes of a row and a column of the fragment the place
/// along M or N, and that along K, both in elements.
///
/// # Safety
/// The register of the descriptor is one of the current window.
unsafe fn load(
    m: &mut Machine<'_>,
    stored: Stored,
    fragment: &Fragment,
    registers: &mut [Register],
    turned: impl Fn((usize, usize)) -> (usize, usize),
) -> Result<(), Trap> {
    // SAFETY: the register is one of the current window, by the caller's promise.
    let descriptors = unsafe { m.read(stored.descriptor) };
    let first = m.first_lane();
    let descriptor = descriptors.0[first];
    let layout = Layout::decode(descriptor).map_err(|reason| {
        Trap::new(FaultKind::InvalidOperand, first, format!("{reason}: {descriptor:#x}"))
    })?;
    let (bits, per_register) = (fragment.bits() as u64, 32 / fragment.bits());
    for (index, register) in registers.iter_mut().enumerate() {
        for (lane, word) in register.iter_mut().enumerate() {
            let (outer, k) = turned(fragment.position(lane, index * per_register));
            let (outer, k) = (outer as u64, k as u64);
            // The elements of a register are neighbours along K.
            *word = if stored.across {
                let mut halves = [0; 2];
                for (half, k) in halves.iter_mut().zip(k..) {
                    // SAFETY: `find` checks that the bytes are in shared memory, and their
                    // alignment.
                    *half = unsafe { u16::load(find(m, layout.across(2 * outer, k), 2, lane)?) };
                }
                u32::from(halves[0]) | u32::from(halves[1]) << 16
            } else {
                // SAFETY: `find` checks that the bytes are in shared memory, and their alignment.
                unsafe { u32::load(find(m, layout.along(outer, k * bits / 8), 4, lane)?) }
            };
        }
    }
    Ok(())
}

/// Returns the bytes of an address in shared memory.
fn find(m: &mut Machine<'_>, address: u64, bytes: u64, lane: usize) -> Result<*mut u8, Trap> {
    let (space, kind) = (AccessSpace::Shared, AccessKind::Read);
    m.reach(m.shared, &Request { address, bytes, space, kind, lane, site: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the manual's pictures have the first bytes of some rows.
    #[test]
    fn patterns() {
        let descriptor = |mode: u64| mode << 62 | 64 << 32 | 16 << 16 | 256;
        let plain = Layout::decode(descriptor(0)).unwrap();
        assert_eq!((plain.along(1, 0), plain.along(9, 20)), (4096 + 16, 4096 + 1024 + 16 + 256 + 4));
        assert_eq!(plain.across(18, 9), 4096 + 1024 + 2 + 16 + 256);
        let widest = Layout::decode(descriptor(1)).unwrap();
        assert_eq!(widest.pieces, 8);
        // Row 3 begins in the fourth piece.
        assert_eq!((widest.along(0, 18), widest.along(3, 2)), (4096 + 18, 4096 + 3 * 128 + 3 * 16 + 2));
        assert_eq!(widest.along(11, 16), 4096 + 1024 + 3 * 128 + 2 * 16);
        assert_eq!(widest.across(128, 1), 4096 + 256 + 128 + 16 * 3);
        let narrowest = Layout::decode(descriptor(3)).unwrap();
        // Rows of 32 bytes: the pieces change places every four rows.
        assert_eq!((narrowest.along(3, 0), narrowest.along(4, 0)), (4096 + 96, 4096 + 128 + 16));
        assert!(Layout::decode(1 << 49).is_err());
    }

    #[test]
    fn every_byte_of_a_pattern_is_taken_once() {
        for mode in 0..4u64 {
            let (leading, stride) =
                if mode == 0 { (128, 256) } else { (4096, [0, 1024, 512, 256][mode as usize]) };
            let layout = Layout::decode(mode << 62 | (stride / 16) << 32 | (leading / 16) << 16).unwrap();
            let bytes = if mode == 0 { 32 } else { PIECE * layout.pieces };
            let mut taken: Vec<u64> =
                (0..64).flat_map(|row| (0..bytes).map(move |along| layout.along(row, along))).collect();
            taken.sort_unstable();
            assert!(taken.iter().copied().eq(0..64 * bytes), "mode {mode}");
        }
    }
}
