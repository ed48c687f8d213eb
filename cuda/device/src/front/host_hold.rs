//! Host memory that copies in flight use.
//!
//! For as long as a copy may touch a host buffer, the buffer's guard is held, so that a host kernel which does not wait gets
//! an error instead of half a result. Several copies may use one buffer at a time (the streams order them); they share one
//! guard, which is the stronger of what they need. Where a checker watches, the error also says where the copy was queued.

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
    /// While it changes from one to the other.
    None,
}

/// A buffer held for copies; let go when the last copy is done.
pub(super) struct Hold {
    key: usize,
    guard: Mutex<Guard>,
}

static HELD: Mutex<Option<HashMap<usize, Weak<Hold>>>> = Mutex::new(None);

static COPY: Accessor = Accessor::new("a device copy in flight");
static WORK: Accessor = Accessor::new("device work in flight on unified memory");

/// Whom an error names: of what is queued here and now, its place, if somebody wants to know that.
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
    /// Holds a buffer that a copy of a context's reads.
    pub(super) fn read(buffer: &HostBuffer, context: &Context) -> Result<Arc<Self>, Diagnostic> {
        let placed = placed(&COPY, context);
        let copy = placed.as_ref().unwrap_or(&COPY);
        Ok(Self::share(buffer, || Ok(Guard::Read(copy.read_owned(buffer)?)))?.0)
    }

    /// A guard of a buffer that is read before this thread goes on.
    pub(super) fn read_now(
        buffer: &HostBuffer,
        context: &Context,
    ) -> Result<ReadGuard<HostBuffer>, Diagnostic> {
        placed(&COPY, context).as_ref().unwrap_or(&COPY).read_owned(buffer)
    }

    /// Holds a buffer that a copy of a context's writes.
    pub(super) fn write(buffer: &HostBuffer, context: &Context) -> Result<Arc<Self>, Diagnostic> {
        Self::alone(buffer, context, &COPY)
    }

    /// Holds the host's side of unified memory that work of a context's may use.
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

    /// The hold of a buffer, which all its parts share, or a new one with the guard; whether it is new.
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
            // A hold's drop takes the lock, so none may be dropped under it.
            drop(table);
            match known {
                Some(hold) => return Ok((hold, false)),
                // It is being let go of, which is a matter of instructions.
                None => std::thread::yield_now(),
            }
        }
    }

    /// From reading to writing, if need be: the copies that read go on under the new guard.
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
        // Under the lock, so that whoever finds the entry gone finds the buffer free.
        let mut table = HELD.lock();
        *self.guard.get_mut() = Guard::None;
        if let Some(held) = table.as_mut() {
            held.remove(&self.key);
        }
    }
}
