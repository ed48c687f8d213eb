//! Atomic accesses of 128 bits.
//!
//! No processor at hand does all of them in one instruction, so that they take turns, in the whole process. PTX orders
//! atomic accesses of one size only with each other: what a program does with other sizes at the same place, at the same
//! time, is a race of its own.

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

/// What an access does.
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

/// `a` is the address, `imm` added to it; `b` and `c` are the operands and `dst` the value that was there, as far as the
/// [`WideKind`] in the high half of `d` needs them; the low half is the space.
pub(crate) unsafe fn run_wide(m: &mut Machine<'_>, i: &Inst<WideReg, Reg<u64>, WideReg, WideReg>) -> Flow {
    static TURN: Mutex<()> = Mutex::new(());
    let kind = WideKind::from_number(i.d >> 16);
    let space = AccessSpace::from_number(i.d as u8);
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    for lane in lanes(m.mask) {
        // SAFETY: the registers are fields of the instruction, so of the current window, see `Handler`.
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
        // SAFETY: `locate` checked the 16 bytes and their alignment.
        let old = unsafe { [u64::load(pointer), u64::load(pointer.add(8))] };
        let new = match kind {
            WideKind::Load => None,
            WideKind::Store | WideKind::Exchange => Some(register(m, i.b)),
            WideKind::CompareExchange => (old == register(m, i.b)).then(|| register(m, i.c)),
        };
        // SAFETY: `locate` checked the 16 bytes and their alignment; `dst` is a register of the current window, see `Handler`.
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
