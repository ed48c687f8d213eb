//! Asynchronous copies, and the barriers that wait for them: `cp.async`, `mbarrier`.
//!
//! A copy takes place immediately, which is one of the orders that PTX allows, so groups of copies
//! are always complete. A memory barrier is a word of shared memory that holds the counts and the
//! phase.

#![expect(unsafe_code, reason = "reads and writes checked addresses")]

use super::address::AccessSpace;
use super::fault::{FaultKind, Trap};
use super::instrument::AccessKind;
use super::lanes::lanes;
use super::locate::Request;
use super::machine::{Flow, Machine};
use super::program::Inst;
use super::raw::{self, Word};
use super::slots::{Pred, Reg};

/// `cp.async`: `a` is the address in shared memory, `b` that in global memory. The low 16 bits of
/// `d` are the size, of which `c` bytes are copied and the rest are zeros. `imm` holds the two
/// offsets, 32 bits each.
pub(crate) unsafe fn copy_async(m: &mut Machine<'_>, i: &Inst<u32, Reg<u64>, Reg<u64>, Reg<u32>>) -> Flow {
    let bytes = u64::from(i.d & 0xffff);
    let offset = |bits: u64| i64::from(bits as u32 as i32);
    // SAFETY: `reach` checks addresses; registers are those of the current window, see `Handler`.
    unsafe {
        let (to, from, counts) = (m.read(i.a), m.read(i.b), m.read(i.c));
        for lane in lanes(m.mask) {
            let count = u64::from(counts.0[lane]).min(bytes);
            let mut buffer = [0u8; 16];
            if count > 0 {
                let address = from.0[lane].wrapping_add_signed(offset(i.imm >> 32));
                let (space, kind) = (AccessSpace::Global, AccessKind::Read);
                // The address must be aligned for all bytes, but only those that are copied need to
                // be in bounds.
                if address & (bytes - 1) != 0 {
                    let detail = format!("cp.async of {bytes} bytes");
                    return m.fail(Trap::new(FaultKind::Misaligned, lane, detail).at(address));
                }
                let mut request = Request { address, bytes: count, space, kind, lane, site: i.site };
                let pieces = if count.is_power_of_two() { 1 } else { count };
                request.bytes = count / pieces;
                for piece in 0..pieces {
                    request.address = address + piece * request.bytes;
                    match m.reach(m.sites[i.site as usize], &request) {
                        Ok(pointer) => {
                            let at = (piece * request.bytes) as usize;
                            raw::copy_out(pointer, &mut buffer[at..at + request.bytes as usize]);
                        }
                        Err(trap) => return m.fail(trap),
                    }
                }
            }
            let address = to.0[lane].wrapping_add_signed(offset(i.imm));
            let (space, kind) = (AccessSpace::Shared, AccessKind::Write);
            let request = Request { address, bytes, space, kind, lane, site: i.site };
            match m.reach(m.shared, &request) {
                Ok(pointer) => raw::copy_in(pointer, &buffer[..bytes as usize]),
                Err(trap) => return m.fail(trap),
            }
        }
    }
    Flow::Next
}

/// A thread's operation on a memory barrier. Instructions encode it as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Step {
    Init,
    Invalidate,
    Arrive,
    ArriveDrop,
    ExpectTx,
    CompleteTx,
    ArriveExpectTx,
    ArriveDropExpectTx,
    Test,
    TestParity,
    Try,
    TryParity,
    /// `cp.async.mbarrier.arrive`: the copies are already complete, so the arrival that it adds
    /// takes place immediately.
    CopyArrive,
    CopyArriveNoIncrease,
}

impl Step {
    fn from_number(number: u32) -> Step {
        use Step::*;
        let all = [
            Init,
            Invalidate,
            Arrive,
            ArriveDrop,
            ExpectTx,
            CompleteTx,
            ArriveExpectTx,
            ArriveDropExpectTx,
            Test,
            TestParity,
            Try,
            TryParity,
            CopyArrive,
            CopyArriveNoIncrease,
        ];
        all.into_iter().find(|step| *step as u32 == number).unwrap_or(Init)
    }
}

/// The fields of a barrier's word: pending and expected arrivals, pending bytes, phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word64 {
    pending: i64,
    expected: i64,
    bytes: i64,
    phase: u64,
}

impl Word64 {
    const MAX_COUNT: i64 = (1 << 20) - 1;

    fn unpack(word: u64) -> Word64 {
        let count = |shift: u32| (word >> shift) as i64 & Self::MAX_COUNT;
        // The byte count is signed, as bytes may arrive before they are expected.
        let bytes = (word << 1) as i64 >> 41;
        Word64 { pending: count(0), expected: count(20), bytes, phase: word >> 63 }
    }

    fn pack(self) -> u64 {
        let bytes = (self.bytes as u64) & ((1 << 23) - 1);
        self.pending as u64 | (self.expected as u64) << 20 | bytes << 40 | self.phase << 63
    }

    fn arrive(&mut self, count: i64) -> Result<(), &'static str> {
        if count < 1 || count > self.pending {
            return Err("more arrivals than the barrier waits for");
        }
        self.pending -= count;
        Ok(())
    }

    /// Adds to the bytes that the barrier waits for. A negative number stands for bytes that have
    /// arrived.
    fn expect(&mut self, bytes: i64) -> Result<(), &'static str> {
        let sum = self.bytes + bytes;
        if bytes.abs() > Self::MAX_COUNT || sum.abs() > Self::MAX_COUNT {
            return Err("the number of bytes is not between -(2^20 - 1) and 2^20 - 1");
        }
        self.bytes = sum;
        Ok(())
    }

    fn complete(&mut self) {
        if self.pending == 0 && self.bytes == 0 && self.expected > 0 {
            self.phase ^= 1;
            self.pending = self.expected;
        }
    }

    /// Performs an operation. For a test, returns whether the phase is complete.
    fn step(&mut self, step: Step, count: i64, bytes: i64, state: u64) -> Result<bool, &'static str> {
        match step {
            Step::Init => {
                if !(1..=Self::MAX_COUNT).contains(&count) {
                    return Err("the count is not between 1 and 2^20 - 1");
                }
                *self = Word64 { pending: count, expected: count, bytes: 0, phase: 0 };
                return Ok(true);
            }
            Step::Invalidate => {
                *self = Word64 { pending: 0, expected: 0, bytes: 0, phase: 0 };
                return Ok(true);
            }
            Step::Test | Step::Try => return Ok(self.phase != state >> 63),
            Step::TestParity | Step::TryParity => return Ok(self.phase != state & 1),
            Step::CopyArrive => {}
            Step::CopyArriveNoIncrease | Step::Arrive => self.arrive(count)?,
            Step::ArriveDrop | Step::ArriveDropExpectTx => {
                self.expect(bytes)?;
                self.arrive(count)?;
                self.expected -= count.min(self.expected);
            }
            Step::ExpectTx => self.expect(bytes)?,
            Step::CompleteTx => self.expect(-bytes)?,
            Step::ArriveExpectTx => {
                self.expect(bytes)?;
                self.arrive(count)?;
            }
        }
        self.complete();
        Ok(true)
    }
}

/// An `mbarrier` instruction: `a` is the address, `b` a count, a number of bytes or a parity, `c` a
/// state. `d` holds the [`Step`], and the space in its third byte.
type Stepping<Dst> = Inst<Dst, Reg<u64>, Reg<u32>, Reg<u64>>;

/// Performs an operation for one lane. Returns the barrier's word before it, and the result of
/// [`Word64::step`].
///
/// # Safety
/// The instruction's registers are of the current window.
unsafe fn step_for_lane<Dst>(
    m: &mut Machine<'_>,
    i: &Stepping<Dst>,
    step: Step,
    lane: usize,
) -> Result<(u64, bool), Trap> {
    let space = AccessSpace::from_number((i.d >> 16) as u8);
    // SAFETY: the caller promises that the instruction's registers are of the current window.
    let (address, number, state) =
        unsafe { ((*m.line(i.a)).0[lane], (*m.line(i.b)).0[lane], (*m.line(i.c)).0[lane]) };
    let address = address.wrapping_add(i.imm);
    // Initializing a barrier is a write: its memory need not have been written before.
    let kind = if step == Step::Init { AccessKind::Write } else { AccessKind::Atomic };
    let pointer = m.reach_shared(&Request { address, bytes: 8, space, kind, lane, site: i.site })?;
    // SAFETY: `reach_shared` checked that the eight bytes are in bounds and aligned.
    let before = unsafe { u64::load(pointer) };
    let mut word = Word64::unpack(before);
    let number = i64::from(number);
    let (count, bytes) = match step {
        Step::ArriveExpectTx | Step::ArriveDropExpectTx => (1, number),
        Step::ExpectTx | Step::CompleteTx => (0, number),
        Step::CopyArriveNoIncrease => (1, 0),
        _ => (number, 0),
    };
    let state = if matches!(step, Step::TestParity | Step::TryParity) { number as u64 } else { state };
    let holds = word.step(step, count, bytes, state).map_err(|reason| {
        Trap::new(FaultKind::InvalidOperand, lane, format!("mbarrier: {reason}")).at(address)
    })?;
    let after = word.pack();
    if after != before {
        // SAFETY: `reach_shared` checked that the eight bytes are in bounds and aligned.
        unsafe { u64::store(pointer, after) };
    }
    Ok((before, holds))
}

/// An `mbarrier` operation that returns the state before it in `dst`.
pub(crate) unsafe fn barrier_step(m: &mut Machine<'_>, i: &Stepping<Reg<u64>>) -> Flow {
    let step = Step::from_number(i.d & 0xff);
    for lane in lanes(m.mask) {
        // SAFETY: registers are those of the current window, see `Handler`.
        unsafe {
            match step_for_lane(m, i, step, lane) {
                Ok((before, _)) => (*m.line(i.dst)).0[lane] = before,
                Err(trap) => return m.fail(trap),
            }
        }
    }
    Flow::Next
}

/// `mbarrier.test_wait`, `mbarrier.try_wait`: `dst` tells whether the phase is complete.
pub(crate) unsafe fn barrier_test(m: &mut Machine<'_>, i: &Stepping<Pred>) -> Flow {
    let step = Step::from_number(i.d & 0xff);
    let mut holds = 0u32;
    for lane in lanes(m.mask) {
        // SAFETY: registers are those of the current window, see `Handler`.
        match unsafe { step_for_lane(m, i, step, lane) } {
            Ok((_, complete)) => holds |= u32::from(complete) << lane,
            Err(trap) => return m.fail(trap),
        }
    }
    // SAFETY: `dst` is a predicate of the current window, see `Handler`.
    unsafe { m.write_predicate(i.dst, holds) };
    if holds != m.mask {
        m.poll();
    }
    Flow::Next
}

/// Returns the instruction with typed fields if it tests a memory barrier.
pub(crate) fn as_barrier_test(i: &Inst) -> Option<&Stepping<Pred>> {
    let test: unsafe fn(&mut Machine<'_>, &Stepping<Pred>) -> Flow = barrier_test;
    // SAFETY: the handler is `barrier_test`, whose fields have these types.
    std::ptr::fn_addr_eq(i.run, test).then(|| unsafe { i.typed() })
}

/// Describes the barrier that an instruction tests for its first active lane.
///
/// # Safety
/// The instruction's registers are of the current window.
pub(crate) unsafe fn describe(m: &Machine<'_>, i: &Stepping<Pred>) -> String {
    // SAFETY: the caller promises that the instruction's registers are of the current window.
    let address = unsafe { m.read(i.a) }.0[m.first_lane()].wrapping_add(i.imm);
    let shared = AccessSpace::from_number((i.d >> 16) as u8) == AccessSpace::Shared;
    let offset = if shared { address } else { address.wrapping_sub(AccessSpace::Shared.window()) };
    let mut text = format!("the memory barrier at shared address {offset:#x}");
    if offset < m.shared.limit(8) && offset.is_multiple_of(8) {
        // SAFETY: the condition above checks that the eight bytes are inside shared memory and
        // aligned.
        let word = Word64::unpack(unsafe { u64::load(m.shared.pointer.add(offset as usize)) });
        text += &format!(" ({} arrivals and {} bytes missing)", word.pending, word.bytes);
    }
    text
}

/// `mbarrier.pending_count`: returns the pending arrivals of a state.
pub(crate) fn pending_count(state: u64) -> u32 {
    Word64::unpack(state).pending as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_barrier_completes_with_its_last_arrival_and_byte() {
        let mut word = Word64::unpack(0);
        word.step(Step::Init, 2, 0, 0).unwrap();
        let state = word.pack();
        word.step(Step::ArriveExpectTx, 1, 64, 0).unwrap();
        word.step(Step::Arrive, 1, 0, 0).unwrap();
        assert_eq!(word.step(Step::Test, 0, 0, state), Ok(false));
        assert_eq!(Word64::unpack(word.pack()), word);
        word.step(Step::CompleteTx, 0, 64, 0).unwrap();
        assert_eq!(word.step(Step::Test, 0, 0, state), Ok(true));
        assert_eq!(word.step(Step::TestParity, 0, 0, 0), Ok(true));
        assert_eq!(word.step(Step::TestParity, 0, 0, 1), Ok(false));
        assert_eq!(pending_count(word.pack()), 2);
        assert!(word.step(Step::Arrive, 3, 0, 0).is_err());
    }

    #[test]
    fn bytes_may_be_complete_before_they_are_expected() {
        let mut word = Word64::unpack(0);
        word.step(Step::Init, 1, 0, 0).unwrap();
        word.step(Step::CompleteTx, 0, 32, 0).unwrap();
        let mut word = Word64::unpack(word.pack());
        assert_eq!(word.bytes, -32);
        word.step(Step::ArriveExpectTx, 1, 32, 0).unwrap();
        assert_eq!((word.phase, word.pending), (1, 1));
    }
}
