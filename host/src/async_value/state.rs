//! Every atomic of the asynchronous value, and nothing else.
//!
//! # Protocol
//! A cell has a count of its **handles** and one **state word**. The word holds two tag bits and a
//! pointer to a list of waiters:
//!
//! ```text
//!   tag Pending,  list = waiters, newest first (may be empty)
//!   tag Orphaned, list = waiters, newest first pending, and the last handle is gone
//!   tag Concrete, list = null                 payload is the value
//!   tag Error,    list = null                 payload is the error
//! ```
//!
//! The producer holds no reference: a pending word says that a producer exists. The last handle
//! destroys the cell if the value is available, and otherwise the publication does. Dropping the
//! last handle of a pending value sets the tag `Orphaned` ([`StateWord::orphan`]) and leaves the
//! cell to the producer, who finds the tag when publishing. If the producer publishes first,
//! `orphan` says so, and the thread that dropped the handle destroys the cell.
//!
//! The word becomes available exactly once, by [`StateWord::publish`], which only the cell's one
//! producer calls. It returns the list of waiters, which the producer then owns and must run.
//! Unless the cell was orphaned, it may be gone the moment it is published. A waiter is pushed only
//! while the tag is `Pending`, by the holder of a handle. A push that finds the value available
//! hands the waiter back, and its owner must run it.
//!
//! * `publish` is a release: a thread that reads an available tag with acquire sees what the
//!   producer wrote to the payload before. It is also an acquire, so that the publisher sees the waiters'
//!   contents.
//! * A push is a release, for the same reason, and so is `orphan`, because the producer then
//!   destroys the cell.
//! * The last handle is released with acquire-release, so that the one who destroys the payload has
//!   seen every other use of it.
//!
//! Whether a payload that is not yet published has been constructed is no business of this word: it
//! is part of the producer's type (`Promise` or `Constructed`).

use std::ptr::{self, NonNull};

use crate::sync::atomic::{AtomicPtr, AtomicU32, Ordering, fence};

/// A link of a waiter list; the first field of whatever waits.
#[repr(C, align(8))]
pub(crate) struct Waiter {
    /// The next one in whichever list this is on. Owned by that list.
    pub(crate) next: *mut Waiter,
    /// Consumes the waiter. Called once, when the value is available.
    pub(crate) run: unsafe fn(*mut Waiter),
}

/// What an available cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Pending,
    Concrete,
    Error,
}

const TAG: usize = 0b11;
const PENDING: usize = 0;
const CONCRETE: usize = 1;
const ERROR: usize = 2;
const ORPHANED: usize = 3;

#[inline]
fn state_of(word: *mut Waiter) -> State {
    match word.addr() & TAG {
        PENDING | ORPHANED => State::Pending,
        CONCRETE => State::Concrete,
        _ => State::Error,
    }
}

/// What became of a push.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Enqueue {
    /// The list owns the waiter now.
    Pushed,
    /// The value is available: the caller still owns the waiter and must run it.
    Available,
}

/// The waiters that a publication released, newest first. The holder owns them and must run each of
/// them once.
///
/// Only [`StateWord::publish`] makes one, so that its pointer leads to waiters that were pushed.
#[must_use]
#[derive(Debug)]
pub(crate) struct WaiterList(*mut Waiter);

impl WaiterList {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_null()
    }

    /// Hands the waiters over: the newest, linked to those before it, ending in null.
    #[inline]
    pub(crate) fn into_newest(self) -> *mut Waiter {
        self.0
    }
}

/// What a publication leaves to the producer.
#[must_use]
#[derive(Debug)]
pub(crate) struct Published {
    pub(crate) waiters: WaiterList,
    /// There is no handle: the producer must destroy the cell.
    pub(crate) is_orphan: bool,
}

/// Whose the cell of a value without handles is.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Orphaned {
    /// The producer's, who will destroy it.
    ToProducer,
    /// The caller's: the value is available.
    Available,
}

/// What releasing a handle means for the caller.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Release {
    /// Others hold the cell.
    Shared,
    /// The caller's was the last.
    Last,
}

/// State tag and waiter list in one word.
#[derive(Debug)]
pub(crate) struct StateWord(AtomicPtr<Waiter>);

impl StateWord {
    pub(crate) fn new(state: State) -> Self {
        let tag = match state {
            State::Pending => PENDING,
            State::Concrete => CONCRETE,
            State::Error => ERROR,
        };
        Self(AtomicPtr::new(ptr::without_provenance_mut(tag)))
    }

    /// The state; if available, the payload may be read.
    #[inline]
    pub(crate) fn load(&self) -> State {
        state_of(self.0.load(Ordering::Acquire))
    }

    /// Whether the value is still pending, asked by the holder of a handle; if not, the payload may
    /// be read.
    #[inline]
    pub(crate) fn is_pending(&self) -> bool {
        // While there is a handle, nobody says `Orphaned`.
        self.0.load(Ordering::Acquire).addr() & TAG == PENDING
    }

    /// Puts `waiter` on the list, unless the value is available.
    ///
    /// # Safety
    /// `waiter` points to a valid waiter that the caller owns, and that nobody else uses. If this
    /// returns [`Enqueue::Pushed`], the list owns it.
    pub(crate) unsafe fn push(&self, waiter: NonNull<Waiter>) -> Enqueue {
        let mut word = self.0.load(Ordering::Acquire);
        loop {
            if state_of(word) != State::Pending {
                return Enqueue::Available;
            }
            // SAFETY: the waiter is valid and the caller's alone, as this function demands, until
            // the exchange below succeeds.
            unsafe { (*waiter.as_ptr()).next = word };
            match self.0.compare_exchange_weak(word, waiter.as_ptr(), Ordering::Release, Ordering::Acquire) {
                Ok(_) => return Enqueue::Pushed,
                Err(now) => word = now,
            }
        }
    }

    /// Makes the value available. Only the one producer may call this, once, after writing the
    /// payload.
    #[inline]
    pub(crate) fn publish(&self, state: State) -> Published {
        debug_assert_ne!(state, State::Pending);
        let tag = if state == State::Concrete { CONCRETE } else { ERROR };
        let available = ptr::without_provenance_mut(tag);
        let mut word = self.0.load(Ordering::Acquire);
        let is_orphan = word.addr() & TAG == ORPHANED;
        if is_orphan {
            // There is nobody left to agree with.
            self.0.store(available, Ordering::Relaxed);
        } else {
            word = self.0.swap(available, Ordering::AcqRel);
        }
        debug_assert_eq!(state_of(word), State::Pending, "published twice");
        // The last handle may have gone between the two looks.
        let is_orphan = is_orphan || word.addr() & TAG == ORPHANED;
        Published { waiters: WaiterList(word.map_addr(|word| word & !TAG)), is_orphan }
    }

    /// Leaves the cell to the producer, unless the value is available. For the one who released the
    /// last handle.
    #[inline]
    pub(crate) fn orphan(&self) -> Orphaned {
        let mut word = self.0.load(Ordering::Acquire);
        loop {
            if state_of(word) != State::Pending {
                return Orphaned::Available;
            }
            let orphaned = word.map_addr(|word| word | ORPHANED);
            match self.0.compare_exchange_weak(word, orphaned, Ordering::Release, Ordering::Acquire) {
                Ok(_) => return Orphaned::ToProducer,
                Err(now) => word = now,
            }
        }
    }
}

/// The number of handles to a cell.
#[derive(Debug)]
pub(crate) struct RefCount(AtomicU32);

/// Beyond this many references the count sticks: the cell is never destroyed rather than too early.
const MAX_REFS: u32 = u32::MAX / 2;

impl RefCount {
    pub(crate) fn new(count: u32) -> Self {
        Self(AtomicU32::new(count))
    }

    /// One more handle, made from an existing one.
    #[inline]
    pub(crate) fn acquire(&self) {
        // Relaxed suffices: the new handle comes from one that keeps the cell alive.
        if self.0.fetch_add(1, Ordering::Relaxed) >= MAX_REFS {
            self.0.store(MAX_REFS, Ordering::Relaxed);
        }
    }

    /// One handle less.
    #[inline]
    pub(crate) fn release(&self) -> Release {
        // The only handle cannot be copied while it is being dropped, so that no read-modify-write
        // is needed.
        if self.0.load(Ordering::Acquire) == 1 {
            return Release::Last;
        }
        match self.0.fetch_sub(1, Ordering::Release) {
            1 => {
                fence(Ordering::Acquire);
                Release::Last
            }
            count if count >= MAX_REFS => {
                self.0.store(MAX_REFS, Ordering::Relaxed);
                Release::Shared
            }
            _ => Release::Shared,
        }
    }

    /// Whether the caller's handle is the only one.
    #[inline]
    pub(crate) fn is_unique(&self) -> bool {
        self.0.load(Ordering::Acquire) == 1
    }
}
