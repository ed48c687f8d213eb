//! One request: what its kernels share, and whether it goes on.

use std::{
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

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
}

impl RequestContext {
    /// A request without deadline.
    pub fn new(host: Arc<HostContext>, resources: Arc<ResourceContext>) -> Arc<Self> {
        Arc::new(Self { host, resources, cancelled: AtomicBool::new(false), reason: OnceLock::new() })
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
        self.reason.get_or_init(|| Arc::new(reason));
        self.cancelled.store(true, Ordering::Release);
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
