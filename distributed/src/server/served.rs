//! [`ServedContext`]: what a server keeps for one client, and the requests that execute in it.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tfrt_collectives::DistributedContext;
use tfrt_host::{AsyncValue, Diagnostic, ErrorCode, RequestContext, ResourceContext};

use super::{ContextHost, output::ContextOutput};
use crate::{RemoteContext, RemoteObjectId};

/// One context of a server.
pub(super) struct ServedContext {
    pub(super) distributed: DistributedContext,
    pub(super) remote: Arc<RemoteContext>,
    pub(super) host: Arc<dyn ContextHost>,
    pub(super) output: ContextOutput,
    pub(super) client_id: u64,
    pub(super) ready_chain: RemoteObjectId,
    pub(super) is_traced: bool,
    max_requests: usize,
    active: AtomicUsize,
    used: Mutex<Instant>,
    running: Mutex<Running>,
}

#[derive(Default)]
struct Running {
    next: u64,
    requests: HashMap<u64, Arc<RequestContext>>,
    closed: Option<Arc<Diagnostic>>,
}

/// A request that counts among those of its context. Dropping it cancels the request, unless it has
/// ended.
pub(super) struct RunningRequest {
    context: Arc<ServedContext>,
    number: u64,
    has_ended: bool,
    pub(super) request: Arc<RequestContext>,
}

impl ServedContext {
    #[expect(clippy::too_many_arguments, reason = "one call, which names each part")]
    pub(super) fn new(
        distributed: DistributedContext,
        remote: Arc<RemoteContext>,
        host: Arc<dyn ContextHost>,
        output: ContextOutput,
        client_id: u64,
        ready_chain: RemoteObjectId,
        is_traced: bool,
        max_requests: usize,
    ) -> Self {
        Self {
            distributed,
            remote,
            host,
            output,
            client_id,
            ready_chain,
            is_traced,
            max_requests,
            active: AtomicUsize::new(0),
            used: Mutex::new(Instant::now()),
            running: Mutex::default(),
        }
    }

    /// Notes that the client is there.
    pub(super) fn touch(&self) {
        *self.used.lock() = Instant::now();
    }

    /// Returns whether nothing was heard of the client for so long, and nothing runs for it.
    pub(super) fn is_idle(&self, limit: Duration) -> bool {
        self.active.load(Ordering::Acquire) == 0 && self.used.lock().elapsed() >= limit
    }

    /// Begins a request that may run for long.
    ///
    /// # Errors
    /// ResourceExhausted if too many run, and the error that the context was closed with.
    pub(super) fn begin(self: &Arc<Self>) -> Result<RunningRequest, Diagnostic> {
        let resources = Arc::new(ResourceContext::new());
        resources.insert(tfrt_collectives::context::RESOURCE, self.distributed.clone());
        self.host.offer(&resources);
        let request = RequestContext::new(self.host.host().clone(), resources);
        let mut running = self.running.lock();
        if let Some(reason) = &running.closed {
            return Err(Diagnostic::clone(reason));
        }
        if running.requests.len() >= self.max_requests {
            let message = format!("{} requests of the context are in progress", running.requests.len());
            return Err(Diagnostic::new(ErrorCode::ResourceExhausted, message));
        }
        running.next += 1;
        let number = running.next;
        running.requests.insert(number, request.clone());
        self.active.fetch_add(1, Ordering::AcqRel);
        Ok(RunningRequest { context: self.clone(), number, has_ended: false, request })
    }

    /// Cancels all requests, and fails all that waits.
    pub(super) fn close(&self, reason: Diagnostic) {
        let reason = Arc::new(reason);
        let requests = {
            let mut running = self.running.lock();
            running.closed.get_or_insert_with(|| reason.clone());
            std::mem::take(&mut running.requests)
        };
        for request in requests.into_values() {
            request.cancel_with(Diagnostic::clone(&reason));
        }
        self.remote.close(&reason);
    }
}

impl RunningRequest {
    /// Ends the request. Kernels that no result waits for, such as a send, run on.
    pub(super) fn end(mut self) {
        self.has_ended = true;
    }

    /// Waits for values until the request is cancelled.
    pub(super) async fn wait(&self, values: Vec<AsyncValue>) -> Result<Vec<AsyncValue>, Arc<Diagnostic>> {
        let (sender, cancelled) = tokio::sync::oneshot::channel();
        let hook = self.request.when_cancelled(move |reason| drop(sender.send(reason.clone())));
        let all = async {
            for value in &values {
                value.clone().await;
            }
        };
        tokio::select! {
            biased;
            () = all => {}
            Ok(reason) = cancelled => return Err(reason),
        }
        drop(hook);
        Ok(values)
    }
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        self.context.running.lock().requests.remove(&self.number);
        if !self.has_ended {
            let message = "the caller has gone or no longer waits";
            self.request.cancel_with(Diagnostic::new(ErrorCode::Cancelled, message));
        }
        self.context.touch();
        self.context.active.fetch_sub(1, Ordering::AcqRel);
    }
}

impl fmt::Debug for ServedContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServedContext")
            .field("id", &self.distributed.id())
            .field("client_id", &self.client_id)
            .field("remote", &self.remote)
            .finish_non_exhaustive()
    }
}
