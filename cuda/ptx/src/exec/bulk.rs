//! Bulk copies, `cp.async.bulk`, and bulk stores of zeros, `st.bulk`.
//!
//! A copy takes place immediately, which is one of the orders that PTX allows, so groups of copies
//! are always complete. A separate instruction counts the copied bytes at a barrier.

#![expect(unsafe_code, reason = "reads and writes checked addresses")]

use super::address::{AccessSpace, space_of};
use super::fault::{FaultKind, Trap};
use super::instrument::AccessKind;
use super::lanes::lanes;
use super::locate::Request;
use super::machine::{Flow, Machine};
use super::program::Inst;
use super::raw;
use super::slots::Reg;

/// Bytes that are copied at a time. Sizes and addresses must be multiples of it.
pub(crate) const PIECE: u64 = 16;

/// `cp.async.bulk`: `a` is the address of the target, `b` that of the source, `c` the number of
/// bytes. `d` holds the target's space in its first byte and the source's in its second. `imm`
/// holds the two offsets, 32 bits each.
pub(crate) unsafe fn copy(m: &mut Machine<'_>, i: &Inst<u32, Reg<u64>, Reg<u64>, Reg<u32>>) -> Flow {
    // SAFETY: registers are those of the current window, see `Handler`.
    let (to, from, counts) = unsafe { (m.read(i.a), m.read(i.b), m.read(i.c)) };
    let offset = |bits: u64| i64::from(bits as u32 as i32);
    for lane in lanes(m.mask) {
        let bytes = u64::from(counts.0[lane]);
        let to = to.0[lane].wrapping_add_signed(offset(i.imm));
        let from = from.0[lane].wrapping_add_signed(offset(i.imm >> 32));
        if !bytes.is_multiple_of(PIECE) {
            let detail = format!("cp.async.bulk of {bytes} bytes, which are no multiple of {PIECE}");
            return m.fail(Trap::new(FaultKind::InvalidOperand, lane, detail).at(from));
        }
        for at in (0..bytes).step_by(PIECE as usize) {
            let mut buffer = [0; PIECE as usize];
            let source =
                piece(m, i.site, lane, (i.d >> 8) as u8, (from.wrapping_add(at), PIECE), AccessKind::Read);
            let target = source.and_then(|source| {
                // SAFETY: `piece` checked that all bytes of the piece are in bounds.
                unsafe { raw::copy_out(source, &mut buffer) };
                piece(m, i.site, lane, i.d as u8, (to.wrapping_add(at), PIECE), AccessKind::Write)
            });
            match target {
                // SAFETY: `piece` checked that all bytes of the piece are in bounds.
                Ok(target) => unsafe { raw::copy_in(target, &buffer) },
                Err(trap) => return m.fail(trap),
            }
        }
    }
    Flow::Next
}

/// Bytes that are cleared at a time. Sizes and addresses must be multiples of it.
const ZEROS: u64 = 8;
/// The greatest number of bytes that one instruction may clear, according to the PTX manual.
const MAX_ZEROS: u64 = 1 << 24;

/// `st.bulk`: `a` is the address, `c` the number of bytes as a 64-bit register, `d` the space,
/// `imm` the offset.
pub(crate) unsafe fn fill(m: &mut Machine<'_>, i: &Inst<u32, Reg<u64>, u32, Reg<u64>>) -> Flow {
    // SAFETY: registers are those of the current window, see `Handler`.
    let (to, counts) = unsafe { (m.read(i.a), m.read(i.c)) };
    for lane in lanes(m.mask) {
        let (bytes, to) = (counts.0[lane], to.0[lane].wrapping_add(i.imm));
        if !bytes.is_multiple_of(ZEROS) || bytes > MAX_ZEROS {
            let detail =
                format!("st.bulk of {bytes} bytes: multiples of {ZEROS} up to {MAX_ZEROS} can be stored");
            return m.fail(Trap::new(FaultKind::InvalidOperand, lane, detail).at(to));
        }
        let is_elsewhere = i.d as u8 == AccessSpace::Generic as u8 && space_of(to) != AccessSpace::Shared;
        if is_elsewhere && bytes > 0 {
            let detail = "st.bulk to an address that is not in shared memory".to_owned();
            return m.fail(Trap::new(FaultKind::WrongSpace, lane, detail).at(to));
        }
        for at in (0..bytes).step_by(ZEROS as usize) {
            match piece(m, i.site, lane, i.d as u8, (to.wrapping_add(at), ZEROS), AccessKind::Write) {
                // SAFETY: `piece` checked that all bytes of the piece are in bounds.
                Ok(target) => unsafe { raw::copy_in(target, &[0; ZEROS as usize]) },
                Err(trap) => return m.fail(trap),
            }
        }
    }
    Flow::Next
}

/// Checks an access to a piece and returns the pointer to it.
fn piece(
    m: &mut Machine<'_>,
    site: u32,
    lane: usize,
    space: u8,
    (address, bytes): (u64, u64),
    kind: AccessKind,
) -> Result<*mut u8, Trap> {
    let space = AccessSpace::from_number(space);
    let view = if space == AccessSpace::Shared { m.shared } else { m.sites[site as usize] };
    m.reach(view, &Request { address, bytes, space, kind, lane, site })
}
