//! Who uses which bytes right now.
//!
//! Operations of different streams run at the same time, and it is the program that orders those that touch the same
//! bytes. If it does not, the order is wrong, as on a GPU; but it must never be undefined behaviour of our own code. So
//! operations come in three manners ([`Manner`]):
//! - Copies and fills touch the bytes they declare by raw accesses (`tfrt_ptx::Memory`), which may race.
//! - Launches may touch any byte there is: an address may come from memory or be computed, whatever was declared. They
//!   use atomic and volatile accesses alone, so that they may run beside each other and beside copies.
//! - BLAS and DNN calls compute on slices of what they declare. While one runs, no launch does, and nothing that touches
//!   its bytes unless both only read. Whoever comes later is put off until the other one is done.
//!
//! (The checker is what finds the forgotten event.)

use std::sync::Arc;

use parking_lot::Mutex;
use tfrt_device::observer::Access;

use crate::stream::StreamCore;

/// How an operation reaches memory; see the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// By raw accesses to what it declares.
    Raw,
    /// By raw accesses to any byte.
    Anywhere,
    /// By slices of what it declares.
    Slices,
}

/// An operation that runs now.
struct Active {
    id: u64,
    manner: Manner,
    accesses: Vec<Access>,
}

impl Active {
    /// Whether an operation must not run beside this one.
    fn excludes(&self, manner: Manner, accesses: &[Access]) -> bool {
        match (self.manner, manner) {
            (Manner::Raw | Manner::Anywhere, Manner::Raw | Manner::Anywhere) => false,
            (Manner::Anywhere, Manner::Slices) | (Manner::Slices, Manner::Anywhere) => true,
            _ => self.accesses.iter().any(|held| accesses.iter().any(|wanted| wanted.conflicts(held))),
        }
    }
}

#[derive(Default)]
struct State {
    active: Vec<Active>,
    next: u64,
    /// Streams whose next operation was put off.
    waiting: Vec<Arc<StreamCore>>,
}

impl State {
    fn excludes(&self, manner: Manner, accesses: &[Access]) -> bool {
        self.active.iter().any(|active| active.excludes(manner, accesses))
    }
}

/// The operations that run now, and the streams that wait for them.
#[derive(Default)]
pub(super) struct Borrows(Mutex<State>);

/// An operation's right to run, until dropped.
pub(super) struct Borrowed<'a> {
    borrows: &'a Borrows,
    id: u64,
}

impl Borrows {
    /// Lets an operation run, unless it must wait for another.
    pub(super) fn try_take(&self, manner: Manner, accesses: &[Access]) -> Option<Borrowed<'_>> {
        let mut state = self.0.lock();
        if state.excludes(manner, accesses) {
            return None;
        }
        state.next += 1;
        let id = state.next;
        // Of a launch it is the manner that counts.
        let accesses = if manner == Manner::Anywhere { Vec::new() } else { accesses.to_vec() };
        state.active.push(Active { id, manner, accesses });
        Some(Borrowed { borrows: self, id })
    }

    /// Has `stream` resumed when an operation is done, unless its next one may run now.
    pub(super) fn wait(&self, manner: Manner, accesses: &[Access], stream: &Arc<StreamCore>) -> Waiting {
        let mut state = self.0.lock();
        if !state.excludes(manner, accesses) {
            return Waiting::Over;
        }
        state.waiting.push(stream.clone());
        Waiting::Registered
    }
}

/// Whether a stream may go on.
#[must_use]
#[derive(PartialEq, Eq)]
pub(super) enum Waiting {
    /// What it waited for is there.
    Over,
    /// It will be resumed.
    Registered,
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        let waiting = {
            let mut state = self.borrows.0.lock();
            state.active.retain(|active| active.id != self.id);
            std::mem::take(&mut state.waiting)
        };
        waiting.iter().for_each(StreamCore::resume);
    }
}

#[cfg(test)]
mod tests {
    use tfrt_device::observer::AccessKind;

    use super::*;

    const READ: Access = Access { address: 256, bytes: 64, kind: AccessKind::Read };
    const WRITE: Access = Access { address: 512, bytes: 16, kind: AccessKind::Write };

    fn may_run(borrows: &Borrows, manner: Manner, accesses: &[Access]) -> bool {
        borrows.try_take(manner, accesses).is_some()
    }

    #[test]
    fn slices_that_are_written_are_alone() {
        let borrows = Borrows::default();
        let held = borrows.try_take(Manner::Slices, &[READ, WRITE]).unwrap();
        for manner in [Manner::Slices, Manner::Raw] {
            assert!(may_run(&borrows, manner, &[READ]));
            assert!(!may_run(&borrows, manner, &[Access::write(319, 1)]));
            assert!(may_run(&borrows, manner, &[Access::write(320, 1)]));
            assert!(!may_run(&borrows, manner, &[Access::read(0, 8), Access::read(520, 1)]));
        }
        drop(held);
        assert!(may_run(&borrows, Manner::Slices, &[Access::write(256, 300)]));
    }

    #[test]
    fn raw_accesses_keep_slices_away_and_nobody_else() {
        let borrows = Borrows::default();
        let _held = borrows.try_take(Manner::Raw, &[WRITE]).unwrap();
        assert!(may_run(&borrows, Manner::Raw, &[WRITE]) && may_run(&borrows, Manner::Anywhere, &[]));
        assert!(!may_run(&borrows, Manner::Slices, &[WRITE]) && may_run(&borrows, Manner::Slices, &[READ]));
    }

    #[test]
    fn launches_and_slices_never_meet_whatever_a_launch_declares() {
        let borrows = Borrows::default();
        let launch = borrows.try_take(Manner::Anywhere, &[]).unwrap();
        assert!(may_run(&borrows, Manner::Anywhere, &[WRITE]) && may_run(&borrows, Manner::Raw, &[WRITE]));
        assert!(!may_run(&borrows, Manner::Slices, &[READ]));
        drop(launch);
        let _held = borrows.try_take(Manner::Slices, &[READ]).unwrap();
        assert!(!may_run(&borrows, Manner::Anywhere, &[]));
    }
}
