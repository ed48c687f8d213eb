//! The client: calls of other tasks.
//!
//! Every call has a deadline and a request id. A call without effects is repeated if the connection
//! fails; any other call is made once. Dropping the future of a call cancels it on the server.

mod calls;
mod fabric;

use std::{collections::BTreeSet, fmt, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tfrt_host::{Diagnostic, ErrorCode};
use tokio::time::{Instant, sleep, timeout_at};
use tonic::{Code, Status, transport::Channel};

pub use calls::Destination;
pub(crate) use calls::chunks;
pub use fabric::{CERTIFICATE_NAME, Fabric};
pub(crate) use fabric::{
    CONNECTION_WINDOW_BYTES, PING_INTERVAL, PING_TIMEOUT, STREAM_WINDOW_BYTES, random_id,
};

use crate::{
    CallOptions,
    proto::{self, remote_client::RemoteClient as Stub},
    wire::{self, PROTOCOL_VERSION},
};

/// Tensors and payloads travel in messages of at most this size.
pub(crate) const CHUNK_BYTES: usize = 1 << 20;

/// A connection to another task, which is made when it is first used and again after it was lost.
pub(crate) struct Peer {
    task: String,
    address: String,
    client_id: u64,
    channel: Channel,
    max_message_bytes: usize,
    options: CallOptions,
    requests: Mutex<Requests>,
}

/// The numbers of the requests to one peer.
#[derive(Default)]
struct Requests {
    last: u64,
    open: BTreeSet<u64>,
}

/// A request without a reply yet. Dropping it settles the request.
struct OpenRequest<'p> {
    peer: &'p Peer,
    id: u64,
    settled: u64,
}

impl Drop for OpenRequest<'_> {
    fn drop(&mut self) {
        self.peer.requests.lock().open.remove(&self.id);
    }
}

impl Peer {
    fn open(&self) -> OpenRequest<'_> {
        let mut requests = self.requests.lock();
        requests.last += 1;
        let id = requests.last;
        requests.open.insert(id);
        let settled = requests.open.first().map_or(0, |first| first - 1);
        OpenRequest { peer: self, id, settled }
    }

    /// Says which call of which task failed.
    fn explain(&self, call: &str, mut error: Diagnostic) -> Diagnostic {
        let Self { task, address, .. } = self;
        let what = format!("{call} on {task} ({address})");
        if error.location.is_some() {
            error.notes.push(format!("in {what}"));
        } else {
            error.message = format!("{what}: {}", error.message);
        }
        error
    }
}

/// Calls one task in the name of one context. Cloning shares the connection.
#[derive(Clone)]
pub struct RemoteClient {
    peer: Arc<Peer>,
    context_id: u64,
}

/// One kind of call: its name for messages, and whether it may be repeated.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub(crate) name: &'static str,
    pub(crate) can_repeat: bool,
}

impl RemoteClient {
    /// Returns the name of the task.
    pub fn task(&self) -> &str {
        &self.peer.task
    }

    /// Returns a client of the same task for another context.
    #[must_use]
    pub fn in_context(&self, context_id: u64) -> Self {
        Self { peer: self.peer.clone(), context_id }
    }

    /// Returns how long each call may take.
    pub fn deadline(&self) -> Duration {
        self.peer.options.deadline()
    }

    fn stub(&self) -> Stub<Channel> {
        let bytes = self.peer.max_message_bytes;
        Stub::new(self.peer.channel.clone()).max_decoding_message_size(bytes).max_encoding_message_size(bytes)
    }

    fn header(&self, open: &OpenRequest<'_>) -> proto::Header {
        proto::Header {
            version: PROTOCOL_VERSION,
            client_id: self.peer.client_id,
            request_id: open.id,
            settled: open.settled,
            context_id: self.context_id,
        }
    }

    /// Makes a call until it is answered, the deadline has passed, or it may not be repeated.
    async fn attempt<R, F>(
        &self,
        call: Call,
        mut run: impl FnMut(proto::Header, Duration) -> F,
    ) -> Result<R, Diagnostic>
    where
        F: Future<Output = Result<R, Status>>,
    {
        let open = self.peer.open();
        let limit = self.deadline();
        let deadline = Instant::now() + limit;
        let mut retries = 0;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let status = match timeout_at(deadline, run(self.header(&open), left)).await {
                Ok(Ok(response)) => return Ok(response),
                Ok(Err(status)) => status,
                Err(_) => {
                    let message = format!("no answer within {} ms", limit.as_millis());
                    let error = Diagnostic::new(ErrorCode::DeadlineExceeded, message);
                    return Err(self.peer.explain(call.name, error));
                }
            };
            let pause = Duration::from_millis(20 << retries.min(6));
            if !call.can_repeat
                || !is_connection_failure(&status)
                || retries >= self.peer.options.max_retries
                || Instant::now() + pause >= deadline
            {
                return Err(self.peer.explain(call.name, wire::from_status(&status)));
            }
            tracing::debug!(task = self.task(), call = call.name, retries, %status, "repeating a call");
            retries += 1;
            sleep(pause).await;
        }
    }
}

/// Returns whether the connection failed, rather than the server.
fn is_connection_failure(status: &Status) -> bool {
    status.details().is_empty()
        && matches!(status.code(), Code::Unavailable | Code::Unknown | Code::Internal | Code::Cancelled)
}

impl fmt::Debug for RemoteClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RemoteClient({} at {})", self.peer.task, self.peer.address)
    }
}
