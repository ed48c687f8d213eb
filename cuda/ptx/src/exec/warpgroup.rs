//! `wgmma`: matrix products of the four warps of a group, with factors in shared memory.
//!
//! Each warp owns 16 of the 64 rows of A and of the result and needs no registers of the others, so
//! it computes its rows by products of 16 × 8, as `mma` does. It computes them immediately, which
//! is one of the orders that PTX allows, so fences and groups of products are always complete.

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

/// The number of warps of a group.
const WARPS: usize = 4;
/// The number of rows of A and of the result that each warp owns.
const ROWS: usize = 16;
/// The number of columns that are computed at a time.
pub(crate) const COLUMNS: usize = 8;

/// A factor in shared memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stored {
    /// The register with the descriptor.
    pub(crate) descriptor: Reg<u64>,
    /// Whether neighbouring elements are along M or N instead of K.
    pub(crate) mn_major: bool,
}

/// The location of the first factor.
#[derive(Clone, Debug)]
pub(crate) enum First {
    Registers(Vec<Reg<u32>>),
    Stored(Stored),
}

/// The operands of a `wgmma.mma_async`.
#[derive(Clone, Debug)]
pub(crate) struct GroupProduct {
    /// The product of a tile of 16 rows and 8 columns.
    pub(crate) form: Multiply,
    pub(crate) a: First,
    pub(crate) b: Stored,
    /// The registers of the result, tile by tile.
    pub(crate) d: Vec<Reg<u32>>,
    /// The bits of A's registers to flip, for a product that is negated.
    pub(crate) flipped: u32,
    /// The predicate that says whether the product is added to the old result, and a mask that is
    /// all ones if the predicate is negated.
    pub(crate) accumulate: (Pred, u32),
}

/// The layout of a factor in shared memory, decoded from its descriptor. Neighbouring elements form
/// pieces of 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    start: u64,
    /// The distances between pieces in bytes: the "leading" and the "stride" offset in the PTX
    /// manual.
    leading: u64,
    stride: u64,
    /// The number of pieces in a row of the swizzled pattern; 1 if there is none.
    pieces: u64,
}

/// The size of a piece, in bytes.
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

    /// Returns the address of `byte` of row `row`, where neighbours are along K.
    fn k_major_address(&self, row: u64, byte: u64) -> u64 {
        let line = row % 8 * PIECE * self.pieces + row / 8 * self.stride;
        let piece = if self.pieces == 1 { byte / PIECE * self.leading } else { byte / PIECE * PIECE };
        self.swizzle(self.start + line + piece + byte % PIECE)
    }

    /// Returns the address of `byte` of column `k`, where neighbours are along M or N.
    fn mn_major_address(&self, byte: u64, k: u64) -> u64 {
        let piece = byte / PIECE;
        let place = if self.pieces == 1 {
            piece * self.stride + k % 8 * PIECE + k / 8 * self.leading
        } else {
            let (inside, pattern) = (piece % self.pieces, piece / self.pieces);
            inside * PIECE + pattern * self.leading + k % 8 * PIECE * self.pieces + k / 8 * self.stride
        };
        self.swizzle(self.start + place + byte % PIECE)
    }

    /// Permutes the pieces of a row, differently in each of eight rows.
    fn swizzle(&self, address: u64) -> u64 {
        address ^ ((address >> 3) & ((self.pieces - 1) * PIECE))
    }
}

/// `wgmma.mma_async`: `imm` is the [`GroupProduct`].
pub(crate) unsafe fn multiply(m: &mut Machine<'_>, i: &Inst) -> Flow {
    if !collective::try_gather_warp(m) {
        return Flow::Switch;
    }
    let product = &m.launch.program.matrices.groups[i.imm as usize];
    // SAFETY: the product belongs to the running program, in the function whose window is the
    // current one, see `Handler`.
    match unsafe { run(m, product) } {
        Ok(()) => Flow::Next,
        Err(trap) => m.fail(trap),
    }
}

/// Computes the rows of the product that the current warp owns.
///
/// # Safety
/// The product belongs to the running program, in the function whose window is the current one.
unsafe fn run(m: &mut Machine<'_>, product: &GroupProduct) -> Result<(), Trap> {
    let lane = m.first_lane();
    if m.warp / WARPS * WARPS + WARPS > m.warps.len() {
        let detail = "wgmma in a group of fewer than four warps";
        return Err(Trap::new(FaultKind::InvalidOperand, lane, detail));
    }
    let form = &product.form;
    let registers = form.fragment_d().registers();
    // SAFETY: the caller promises that the product belongs to the function whose window is the
    // current one, and so do its registers.
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

/// Loads a fragment of a factor. `turned` maps a row and a column of the fragment to the position
/// along M or N, and that along K, both in elements.
///
/// # Safety
/// The descriptor's register is one of the current window.
unsafe fn load(
    m: &mut Machine<'_>,
    stored: Stored,
    fragment: &Fragment,
    registers: &mut [Register],
    turned: impl Fn((usize, usize)) -> (usize, usize),
) -> Result<(), Trap> {
    // SAFETY: the caller promises that the descriptor's register is one of the current window.
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
            *word = if stored.mn_major {
                let mut halves = [0; 2];
                for (half, k) in halves.iter_mut().zip(k..) {
                    // SAFETY: `find` checks that the bytes are in shared memory and aligned.
                    *half = unsafe { u16::load(find(m, layout.mn_major_address(2 * outer, k), 2, lane)?) };
                }
                u32::from(halves[0]) | u32::from(halves[1]) << 16
            } else {
                // SAFETY: `find` checks that the bytes are in shared memory and aligned.
                unsafe { u32::load(find(m, layout.k_major_address(outer, k * bits / 8), 4, lane)?) }
            };
        }
    }
    Ok(())
}

/// Checks an access to shared memory and returns the pointer to it.
fn find(m: &mut Machine<'_>, address: u64, bytes: u64, lane: usize) -> Result<*mut u8, Trap> {
    let (space, kind) = (AccessSpace::Shared, AccessKind::Read);
    m.reach(m.shared, &Request { address, bytes, space, kind, lane, site: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the first bytes of some rows against the figures in the PTX manual.
    #[test]
    fn patterns() {
        let descriptor = |mode: u64| mode << 62 | 64 << 32 | 16 << 16 | 256;
        let plain = Layout::decode(descriptor(0)).unwrap();
        assert_eq!(
            (plain.k_major_address(1, 0), plain.k_major_address(9, 20)),
            (4096 + 16, 4096 + 1024 + 16 + 256 + 4)
        );
        assert_eq!(plain.mn_major_address(18, 9), 4096 + 1024 + 2 + 16 + 256);
        let widest = Layout::decode(descriptor(1)).unwrap();
        assert_eq!(widest.pieces, 8);
        // Row 3 begins in the fourth piece.
        assert_eq!(
            (widest.k_major_address(0, 18), widest.k_major_address(3, 2)),
            (4096 + 18, 4096 + 3 * 128 + 3 * 16 + 2)
        );
        assert_eq!(widest.k_major_address(11, 16), 4096 + 1024 + 3 * 128 + 2 * 16);
        assert_eq!(widest.mn_major_address(128, 1), 4096 + 256 + 128 + 16 * 3);
        let narrowest = Layout::decode(descriptor(3)).unwrap();
        // Rows have 32 bytes: the pieces are permuted every four rows.
        assert_eq!(
            (narrowest.k_major_address(3, 0), narrowest.k_major_address(4, 0)),
            (4096 + 96, 4096 + 128 + 16)
        );
        assert!(Layout::decode(1 << 49).is_err());
    }

    #[test]
    fn every_byte_of_a_pattern_is_taken_once() {
        for mode in 0..4u64 {
            let (leading, stride) =
                if mode == 0 { (128, 256) } else { (4096, [0, 1024, 512, 256][mode as usize]) };
            let layout = Layout::decode(mode << 62 | (stride / 16) << 32 | (leading / 16) << 16).unwrap();
            let bytes = if mode == 0 { 32 } else { PIECE * layout.pieces };
            let mut taken: Vec<u64> = (0..64)
                .flat_map(|row| (0..bytes).map(move |byte| layout.k_major_address(row, byte)))
                .collect();
            taken.sort_unstable();
            assert!(taken.iter().copied().eq(0..64 * bytes), "mode {mode}");
        }
    }
}
