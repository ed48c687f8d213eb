//! Tracks which bytes are in use.
//!
//! Operations of different streams run at the same time, and the program must order those that
//! access the same bytes. If it does not, results are wrong, as on a GPU, but there must never be
//! undefined behaviour. So operations access memory in one of three manners ([`Manner`]):
//! - Copies and fills access the bytes they declare by raw accesses (`tfrt_ptx::Memory`), which may
//!   race.
//! - Launches may access any byte, because an address may be loaded from memory or computed,
//!   whatever is declared. They use only atomic and volatile accesses, so they may overlap each
//!   other and copies.
//! - BLAS and DNN calls compute on slices of what they declare. While one runs, no launch runs, and
//!   no operation that accesses its bytes unless both only read. The later operation is postponed
//!   until the first one has finished.
//!
//! (Finding the missing event is the task of the checker.)

use std::sync::Arc;

use parking_lot::Mutex;
use tfrt_device::observer::Access;

use crate::stream::StreamCore;

/// The manner in which an operation accesses memory; see the module documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// Raw accesses to what it declares.
    Raw,
    /// Raw accesses to any byte.
    Anywhere,
    /// Slices of what it declares.
    Slices,
}

/// A running operation.
struct Active {
    id: u64,
    manner: Manner,
    accesses: Vec<Access>,
}

impl Active {
    /// Returns whether this operation and another must not overlap.
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
    /// Streams whose next operation was postponed.
    waiting: Vec<Arc<StreamCore>>,
}

impl State {
    fn excludes(&self, manner: Manner, accesses: &[Access]) -> bool {
        self.active.iter().any(|active| active.excludes(manner, accesses))
    }
}

/// The running operations, and the streams that wait for them.
#[derive(Default)]
pub(super) struct Borrows(Mutex<State>);

/// The right of an operation to run, until this is dropped.
pub(super) struct Borrowed<'a> {
    borrows: &'a Borrows,
    id: u64,
}

impl Borrows {
    /// Allows an operation to run, unless it must wait for another.
    pub(super) fn try_take(&self, manner: Manner, accesses: &[Access]) -> Option<Borrowed<'_>> {
        let mut state = self.0.lock();
        if state.excludes(manner, accesses) {
            return None;
        }
        state.next += 1;
        let id = state.next;
        // For a launch, only its manner matters.
        let accesses = if manner == Manner::Anywhere { Vec::new() } else { accesses.to_vec() };
        state.active.push(Active { id, manner, accesses });
        Some(Borrowed { borrows: self, id })
    }

    /// Registers `stream` to be resumed when an operation has finished, unless its next operation
    /// may run now.
    pub(super) fn wait(&self, manner: Manner, accesses: &[Access], stream: &Arc<StreamCore>) -> Waiting {
        let mut state = self.0.lock();
        if !state.excludes(manner, accesses) {
            return Waiting::Over;
        }
        state.waiting.push(stream.clone());
        Waiting::Registered
    }
}

/// The result of a request to wait.
#[must_use]
#[derive(PartialEq, Eq)]
pub(super) enum Waiting {
    /// There is nothing to wait for any more.
    Over,
    /// The stream will be resumed.
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
