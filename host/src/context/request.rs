//! One request: what its kernels share, and whether it goes on.

use std::{
    fmt,
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use parking_lot::Mutex;

use super::{HostContext, ResourceContext};
use crate::diagnostic::{Diagnostic, ErrorCode};

/// The common context of all kernels that answer one request.
///
/// Once it is cancelled, by hand or by its deadline, kernels not yet started give the cancellation as their
/// error; long kernels ask [`RequestContext::is_cancelled`] now and then.
pub struct RequestContext {
    host: Arc<HostContext>,
    resources: Arc<ResourceContext>,
    cancelled: AtomicBool,
    reason: OnceLock<Arc<Diagnostic>>,
    waiting: Mutex<Waiting>,
}

type OnCancel = Box<dyn FnOnce(&Arc<Diagnostic>) + Send>;

/// Who wants to be told of a cancellation.
#[derive(Default)]
struct Waiting {
    next: u64,
    calls: Vec<(u64, OnCancel)>,
}

/// Forgets a call of [`RequestContext::when_cancelled`] when dropped.
#[must_use]
pub struct CancellationHook {
    request: Weak<RequestContext>,
    id: u64,
}

impl Drop for CancellationHook {
    fn drop(&mut self) {
        let Some(request) = self.request.upgrade() else { return };
        let mut waiting = request.waiting.lock();
        let found = waiting.calls.iter().position(|(id, _)| *id == self.id);
        let forgotten = found.map(|index| waiting.calls.swap_remove(index));
        // What the call holds is let go of without the lock.
        drop(waiting);
        drop(forgotten);
    }
}

impl fmt::Debug for CancellationHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancellationHook").field("id", &self.id).finish_non_exhaustive()
    }
}

impl RequestContext {
    /// A request without deadline.
    pub fn new(host: Arc<HostContext>, resources: Arc<ResourceContext>) -> Arc<Self> {
        Arc::new(Self {
            host,
            resources,
            cancelled: AtomicBool::new(false),
            reason: OnceLock::new(),
            waiting: Mutex::default(),
        })
    }

    /// Cancels the request after `limit` with [`ErrorCode::DeadlineExceeded`].
    ///
    /// # Errors
    /// [`ErrorCode::ResourceExhausted`] if the host's timer cannot be started.
    pub fn set_deadline(self: &Arc<Self>, limit: Duration) -> Result<(), Diagnostic> {
        let at = Instant::now().checked_add(limit);
        let at = at.ok_or_else(|| Diagnostic::invalid_argument("the deadline is too far away"))?;
        let request = Arc::downgrade(self);
        self.host.run_at(at, move || {
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

    /// Cancels the request for a reason; the first one stays.
    pub fn cancel_with(&self, reason: Diagnostic) {
        let reason = self.reason.get_or_init(|| Arc::new(reason));
        let calls = {
            let mut waiting = self.waiting.lock();
            self.cancelled.store(true, Ordering::Release);
            std::mem::take(&mut waiting.calls)
        };
        for (_, call) in calls {
            call(reason);
        }
    }

    /// Calls `call` with the reason when the request is cancelled, on the thread that cancels it; at once if it was
    /// already. Dropping the result forgets the call, unless it has begun. For kernels whose results wait for something
    /// outside of the host; `call` must be short.
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
            None => waiting.calls.push((id, Box::new(call))),
        }
        CancellationHook { request: Arc::downgrade(self), id }
    }

    /// Whether the request was cancelled.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Why the request was cancelled, if it was.
    pub fn cancellation(&self) -> Option<&Arc<Diagnostic>> {
        if self.cancelled.load(Ordering::Acquire) { self.reason.get() } else { None }
    }

    /// The host.
    pub fn host(&self) -> &Arc<HostContext> {
        &self.host
    }

    /// What the request's kernels share by name.
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
