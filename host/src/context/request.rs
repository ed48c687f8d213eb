//! One request: what its kernels share, when it is cancelled, and how many calls it may have
//! pending.

use std::{
    cell::Cell,
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use parking_lot::Mutex;

use super::{HostContext, ResourceContext};
use crate::{
    async_value::AsyncValue,
    diagnostic::{Diagnostic, ErrorCode},
};

/// The common context of all kernels that answer one request.
///
/// Once the request is cancelled, by hand, by its deadline or by a bound that it exceeds, kernels
/// that have not started return the cancellation as their error. The results of blocking kernels
/// that still run become that error at once. Kernels that compute for long ask
/// [`RequestContext::is_cancelled`] now and then.
pub struct RequestContext {
    host: Arc<HostContext>,
    resources: Arc<ResourceContext>,
    cancelled: AtomicBool,
    reason: OnceLock<Arc<Diagnostic>>,
    waiting: Mutex<Waiting>,
    /// Calls that have been accepted and have not ended.
    pending_calls: AtomicUsize,
}

type OnCancel = Box<dyn FnOnce(&Arc<Diagnostic>) + Send>;

/// The calls to make when the request is cancelled, by number.
#[derive(Default)]
struct Waiting {
    next: u64,
    calls: BTreeMap<u64, OnCancel>,
}

/// A call registered with [`RequestContext::when_cancelled`]. Dropping this cancels the
/// registration.
#[must_use]
pub struct CancellationHook {
    request: Weak<RequestContext>,
    id: u64,
}

impl Drop for CancellationHook {
    fn drop(&mut self) {
        let Some(request) = self.request.upgrade() else { return };
        let mut waiting = request.waiting.lock();
        let forgotten = waiting.calls.remove(&self.id);
        // Whatever the call holds is dropped without the lock.
        drop(waiting);
        drop(forgotten);
    }
}

impl fmt::Debug for CancellationHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancellationHook").field("id", &self.id).finish_non_exhaustive()
    }
}

/// A promise that fails when its request is cancelled, see [`RequestContext::until_cancelled`].
pub(crate) struct UntilCancelled<P> {
    promise: Arc<Mutex<Option<P>>>,
    _hook: CancellationHook,
}

impl<P> UntilCancelled<P> {
    /// Returns the promise, unless the request has been cancelled.
    pub(crate) fn take(self) -> Option<P> {
        self.promise.lock().take()
    }
}

impl RequestContext {
    /// Makes a request without a deadline.
    pub fn new(host: Arc<HostContext>, resources: Arc<ResourceContext>) -> Arc<Self> {
        Arc::new(Self {
            host,
            resources,
            cancelled: AtomicBool::new(false),
            reason: OnceLock::new(),
            waiting: Mutex::default(),
            pending_calls: AtomicUsize::new(0),
        })
    }

    /// Cancels the request after `limit` with [`ErrorCode::DeadlineExceeded`].
    ///
    /// Values that [`RequestContext::await_values`] waits for are errors then, even if a kernel
    /// still runs.
    ///
    /// # Errors
    /// [`ErrorCode::ResourceExhausted`] if the host's timer cannot be started.
    pub fn set_deadline(self: &Arc<Self>, limit: Duration) -> Result<(), Diagnostic> {
        let at = Instant::now().checked_add(limit);
        let at = at.ok_or_else(|| Diagnostic::invalid_argument("the deadline is too far away"))?;
        let request = Arc::downgrade(self);
        self.host.run_unawaited_at(at, move || {
            if let Some(request) = request.upgrade() {
                let message = format!("the deadline of {} ms has passed", limit.as_millis());
                request.cancel_with(Diagnostic::new(ErrorCode::DeadlineExceeded, message));
            }
        })
    }

    /// Cancels the request by hand.
    pub fn cancel(&self) {
        self.cancel_with(Diagnostic::new(ErrorCode::Cancelled, "Cancelled"));
    }

    /// Cancels the request with `reason`. Later cancellations have no effect.
    pub fn cancel_with(&self, reason: Diagnostic) {
        self.cancel_first_with(reason);
    }

    /// Does the same, and returns whether it was the first cancellation.
    pub(crate) fn cancel_first_with(&self, reason: Diagnostic) -> bool {
        let is_first = Cell::new(false);
        let reason = self.reason.get_or_init(|| {
            is_first.set(true);
            Arc::new(reason)
        });
        let calls = {
            let mut waiting = self.waiting.lock();
            self.cancelled.store(true, Ordering::Release);
            std::mem::take(&mut waiting.calls)
        };
        for call in calls.into_values() {
            call(reason);
        }
        is_first.get()
    }

    /// Calls `call` with the reason when the request is cancelled, on the thread that cancels it,
    /// or at once if it has been cancelled before.
    ///
    /// Dropping the result cancels the registration, unless the call has begun. This is for kernels
    /// whose results wait for something outside of the host. `call` must be short.
    pub fn when_cancelled(
        self: &Arc<Self>,
        call: impl FnOnce(&Arc<Diagnostic>) + Send + 'static,
    ) -> CancellationHook {
        let mut waiting = self.waiting.lock();
        waiting.next += 1;
        let id = waiting.next;
        match self.cancellation() {
            Some(reason) => {
                drop(waiting);
                call(reason);
            }
            None => drop(waiting.calls.insert(id, Box::new(call))),
        }
        CancellationHook { request: Arc::downgrade(self), id }
    }

    /// Keeps a promise until [`UntilCancelled::take`] asks for it. If the request is cancelled
    /// first, `fail` gets the promise and the reason.
    pub(crate) fn until_cancelled<P: Send + 'static>(
        self: &Arc<Self>,
        promise: P,
        fail: impl FnOnce(P, Arc<Diagnostic>) + Send + 'static,
    ) -> UntilCancelled<P> {
        let promise = Arc::new(Mutex::new(Some(promise)));
        let shared = promise.clone();
        let hook = self.when_cancelled(move |reason| {
            let taken = shared.lock().take();
            if let Some(promise) = taken {
                fail(promise, reason.clone());
            }
        });
        UntilCancelled { promise, _hook: hook }
    }

    /// Waits until all `values` are available, or the request is cancelled. Values that are still
    /// pending then are replaced by the cancellation.
    ///
    /// # Errors
    /// [`ErrorCode::FailedPrecondition`] on a compute thread of the host, which must never wait.
    pub fn await_values(
        self: &Arc<Self>,
        mut values: Vec<AsyncValue>,
    ) -> Result<Vec<AsyncValue>, Diagnostic> {
        let available = self.host.open_when_available(&values)?;
        if let Some(latch) = available {
            let opened = latch.clone();
            let hook = self.when_cancelled(move |_| opened.open());
            self.host.work_queue().await_latch(latch.latch());
            drop(hook);
        }
        for value in values.iter_mut().filter(|value| !value.is_available()) {
            if let Some(reason) = self.cancellation() {
                *value = AsyncValue::from_error(reason.clone());
            }
        }
        Ok(values)
    }

    /// Counts a call that begins and may stay pending. Returns whether the request may have that
    /// many.
    #[inline]
    pub(crate) fn begin_call(&self) -> bool {
        self.pending_calls.fetch_add(1, Ordering::Relaxed) < self.host.max_pending_calls()
    }

    /// Counts a call that has ended.
    #[inline]
    pub(crate) fn end_call(&self) {
        self.pending_calls.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns whether the request has been cancelled.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Returns why the request was cancelled, if it was.
    pub fn cancellation(&self) -> Option<&Arc<Diagnostic>> {
        if self.cancelled.load(Ordering::Acquire) { self.reason.get() } else { None }
    }

    /// Returns the host.
    pub fn host(&self) -> &Arc<HostContext> {
        &self.host
    }

    /// Returns what the request's kernels share by name.
    pub fn resources(&self) -> &Arc<ResourceContext> {
        &self.resources
    }
}

impl fmt::Debug for RequestContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestContext").field("cancelled", &self.cancellation()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::{allocator::SystemAllocator, work_queue::SingleThreadedWorkQueue};

    #[test]
    fn hooks_are_called_once_or_forgotten() {
        let host =
            HostContext::builder(Arc::new(SingleThreadedWorkQueue::new()), Arc::new(SystemAllocator)).build();
        let request = RequestContext::new(host, Arc::default());
        let told = Arc::new(AtomicUsize::new(0));
        let tell = |amount| {
            let told = told.clone();
            move |reason: &Arc<Diagnostic>| {
                assert_eq!(reason.code, ErrorCode::Cancelled);
                told.fetch_add(amount, Ordering::Relaxed);
            }
        };
        let (kept, forgotten) = (request.when_cancelled(tell(1)), request.when_cancelled(tell(10)));
        drop(forgotten);
        request.cancel();
        request.cancel();
        assert_eq!(told.load(Ordering::Relaxed), 1);
        let late = request.when_cancelled(tell(100));
        assert_eq!(told.load(Ordering::Relaxed), 101);
        drop((kept, late));
    }
}
