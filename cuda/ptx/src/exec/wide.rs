//! Atomic accesses of 128 bits.
//!
//! Most processors cannot perform all of these in one instruction, so a lock serializes them within
//! the process. PTX orders atomic accesses only with others of the same size. A program that
//! accesses the same place with another size at the same time has a race anyway.

#![expect(unsafe_code, reason = "reads and writes checked addresses")]

use std::sync::{Mutex, PoisonError};

use super::address::AccessSpace;
use super::instrument::AccessKind;
use super::lanes::lanes;
use super::locate::Request;
use super::machine::{Flow, Machine};
use super::program::Inst;
use super::raw::Word;
use super::slots::{Reg, WideReg};

/// The kind of a 128-bit access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum WideKind {
    Load,
    Store,
    Exchange,
    CompareExchange,
}

impl WideKind {
    fn from_number(number: u32) -> WideKind {
        [Self::Load, Self::Store, Self::Exchange]
            .into_iter()
            .find(|kind| *kind as u32 == number)
            .unwrap_or(Self::CompareExchange)
    }

    fn access(self) -> AccessKind {
        match self {
            Self::Load => AccessKind::Read,
            Self::Store => AccessKind::Write,
            Self::Exchange | Self::CompareExchange => AccessKind::Atomic,
        }
    }
}

/// Performs a 128-bit access: `a` is the address, to which `imm` is added. `b` and `c` are the
/// operands and `dst` is the old value, as the [`WideKind`] in the high half of `d` needs them. The
/// low half of `d` is the space.
pub(crate) unsafe fn run_wide(m: &mut Machine<'_>, i: &Inst<WideReg, Reg<u64>, WideReg, WideReg>) -> Flow {
    static TURN: Mutex<()> = Mutex::new(());
    let kind = WideKind::from_number(i.d >> 16);
    let space = AccessSpace::from_number(i.d as u8);
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    for lane in lanes(m.mask) {
        // SAFETY: the registers are fields of the instruction, so they are of the current window,
        // see `Handler`.
        let register = |m: &Machine<'_>, register: WideReg| unsafe {
            [register.low(), register.high()].map(|half| (*m.line(half)).0[lane])
        };
        // SAFETY: `a` is a register of the current window, see `Handler`.
        let address = unsafe { (*m.line(i.a)).0[lane] }.wrapping_add(i.imm);
        let request = Request { address, bytes: 16, space, kind: kind.access(), lane, site: i.site };
        let pointer = match m.locate(&request) {
            Ok(pointer) => pointer,
            Err(trap) => return m.fail(trap),
        };
        // SAFETY: `locate` checked that the 16 bytes are in bounds and aligned.
        let old = unsafe { [u64::load(pointer), u64::load(pointer.add(8))] };
        let new = match kind {
            WideKind::Load => None,
            WideKind::Store | WideKind::Exchange => Some(register(m, i.b)),
            WideKind::CompareExchange => (old == register(m, i.b)).then(|| register(m, i.c)),
        };
        // SAFETY: `locate` checked that the 16 bytes are in bounds and aligned. `dst` is a register
        // of the current window, see `Handler`.
        unsafe {
            if let Some([low, high]) = new {
                u64::store(pointer, low);
                u64::store(pointer.add(8), high);
            }
            if kind != WideKind::Store {
                (*m.line(i.dst.low())).0[lane] = old[0];
                (*m.line(i.dst.high())).0[lane] = old[1];
            }
        }
    }
    drop(turn);
    m.poll();
    Flow::Next
}
