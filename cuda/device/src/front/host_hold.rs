//! Host memory that copies in flight use.
//!
//! While a copy may access a host buffer, the buffer's guard is held. A host kernel that does not
//! wait then receives an error instead of incomplete data. Several copies may use a buffer at a
//! time, ordered by their streams. They share one guard, the strongest that any of them needs. If a
//! checker watches, the error also names the origin of the copy.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tfrt_host::Diagnostic;
use tfrt_host::host_buffer::{HostBuffer, ReadGuard, WriteGuard};
use tfrt_tensor::Accessor;

use super::context::Context;
use crate::origin::Origin;

enum Guard {
    Read(ReadGuard<HostBuffer>),
    Write {
        _guard: WriteGuard<HostBuffer>,
    },
    /// While it changes from one kind to the other.
    None,
}

/// A buffer held for copies, released when the last copy is done.
pub(super) struct Hold {
    key: usize,
    guard: Mutex<Guard>,
}

static HELD: Mutex<Option<HashMap<usize, Weak<Hold>>>> = Mutex::new(None);

static COPY: Accessor = Accessor::new("a device copy in flight");
static WORK: Accessor = Accessor::new("device work in flight on unified memory");

/// Returns an accessor that names the origin of the calling work, if callers should record origins.
fn placed(what: &Accessor, context: &Context) -> Option<Accessor> {
    context.is_observed().then(|| {
        Accessor::interned(&format!(
            "{}, queued by {} and ordered by its chain, or by an event recorded behind it",
            what.name(),
            Origin::here()
        ))
    })
}

impl Hold {
    /// Holds a buffer that a copy reads.
    pub(super) fn read(buffer: &HostBuffer, context: &Context) -> Result<Arc<Self>, Diagnostic> {
        let placed = placed(&COPY, context);
        let copy = placed.as_ref().unwrap_or(&COPY);
        Ok(Self::share(buffer, || Ok(Guard::Read(copy.read_owned(buffer)?)))?.0)
    }

    /// Returns a guard of a buffer that is read before this function's caller returns.
    pub(super) fn read_now(
        buffer: &HostBuffer,
        context: &Context,
    ) -> Result<ReadGuard<HostBuffer>, Diagnostic> {
        placed(&COPY, context).as_ref().unwrap_or(&COPY).read_owned(buffer)
    }

    /// Holds a buffer that a copy writes.
    pub(super) fn write(buffer: &HostBuffer, context: &Context) -> Result<Arc<Self>, Diagnostic> {
        Self::alone(buffer, context, &COPY)
    }

    /// Holds the host's side of unified memory that queued work may use.
    pub(super) fn work(buffer: &HostBuffer, context: &Context) -> Result<Arc<Self>, Diagnostic> {
        Self::alone(buffer, context, &WORK)
    }

    fn alone(buffer: &HostBuffer, context: &Context, what: &Accessor) -> Result<Arc<Self>, Diagnostic> {
        let placed = placed(what, context);
        let who = placed.as_ref().unwrap_or(what);
        let take = || Ok(Guard::Write { _guard: who.write_owned(buffer)? });
        let (hold, is_new) = Self::share(buffer, take)?;
        if !is_new {
            hold.strengthen(who)?;
        }
        Ok(hold)
    }

    /// Returns the hold of a buffer, which all its slices share, or creates one with its guard. The
    /// flag says whether it is new.
    fn share(
        buffer: &HostBuffer,
        take: impl Fn() -> Result<Guard, Diagnostic>,
    ) -> Result<(Arc<Self>, bool), Diagnostic> {
        let key = buffer.guard_id();
        loop {
            let mut table = HELD.lock();
            let held = table.get_or_insert_default();
            let Some(known) = held.get(&key) else {
                let hold = Arc::new(Self { key, guard: Mutex::new(take()?) });
                held.insert(key, Arc::downgrade(&hold));
                return Ok((hold, true));
            };
            let known = known.upgrade();
            // Dropping a hold takes the lock, so none may be dropped while this holds it.
            drop(table);
            match known {
                Some(hold) => return Ok((hold, false)),
                // Another thread is releasing it, which takes only a few instructions.
                None => std::thread::yield_now(),
            }
        }
    }

    /// Changes from reading to writing if necessary. Copies that read continue under the new guard.
    fn strengthen(&self, who: &Accessor) -> Result<(), Diagnostic> {
        let mut guard = self.guard.lock();
        let read = match std::mem::replace(&mut *guard, Guard::None) {
            Guard::Read(read) => read,
            other => {
                *guard = other;
                return Ok(());
            }
        };
        let (kept, result) = match who.upgrade(read) {
            Ok(write) => (Guard::Write { _guard: write }, Ok(())),
            Err((read, error)) => (Guard::Read(read), Err(error)),
        };
        *guard = kept;
        result
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        // Under the lock, so that a thread that finds no entry finds the buffer free.
        let mut table = HELD.lock();
        *self.guard.get_mut() = Guard::None;
        if let Some(held) = table.as_mut() {
            held.remove(&self.key);
        }
    }
}
