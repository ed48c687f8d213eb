//! [`Fabric`]: the threads and connections through which a process reaches other tasks.

use std::{
    collections::HashMap,
    fmt,
    hash::{BuildHasher as _, RandomState},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use tfrt_host::{Diagnostic, ErrorCode};
use tokio::runtime::{Builder, Handle, Runtime};
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity};

use super::{Peer, RemoteClient};
use crate::{CallOptions, TlsMaterial, config::is_loopback};

/// The name in every task's certificate, besides those of its host.
pub const CERTIFICATE_NAME: &str = "tfrt-task";

/// Room for a stream of tensors on its way.
pub(crate) const STREAM_WINDOW_BYTES: u32 = 8 << 20;
pub(crate) const CONNECTION_WINDOW_BYTES: u32 = 32 << 20;
/// The time between two pings. A peer that does not answer one in time is gone.
pub(crate) const PING_INTERVAL: Duration = Duration::from_secs(10);
/// On a slow network, a ping waits behind the bytes of tensors.
pub(crate) const PING_TIMEOUT: Duration = Duration::from_secs(30);
/// Threads that move messages; programs run on the work queue.
const THREAD_COUNT: usize = 2;

/// The threads and connections of a process. A process needs one.
pub struct Fabric {
    runtime: Option<Runtime>,
    client_id: u64,
    options: CallOptions,
    tls: Option<TlsMaterial>,
    is_insecure: bool,
    max_message_bytes: usize,
    peers: Mutex<HashMap<String, Arc<Peer>>>,
}

impl Fabric {
    /// Starts the threads. With `tls`, every connection is encrypted, and both ends show
    /// certificates. Without it, only loopback addresses are reached, unless `is_insecure` is set.
    ///
    /// # Errors
    /// ResourceExhausted if the threads cannot be started.
    pub fn new(
        options: CallOptions,
        tls: Option<TlsMaterial>,
        is_insecure: bool,
        max_message_bytes: usize,
    ) -> Result<Arc<Self>, Diagnostic> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREAD_COUNT)
            .thread_name("tfrt-fabric")
            .enable_all()
            .build()
            .map_err(|error| {
                let message = format!("cannot start the threads of the connections: {error}");
                Diagnostic::new(ErrorCode::ResourceExhausted, message)
            })?;
        Ok(Arc::new(Self {
            runtime: Some(runtime),
            client_id: random_id(),
            options,
            tls,
            is_insecure,
            max_message_bytes,
            peers: Mutex::default(),
        }))
    }

    /// Returns the number of this process, which it drew at random.
    pub fn client_id(&self) -> u64 {
        self.client_id
    }

    /// Returns how calls are made.
    pub fn options(&self) -> &CallOptions {
        &self.options
    }

    /// Returns the threads.
    pub fn handle(&self) -> &Handle {
        // The runtime is taken by `drop` alone.
        match &self.runtime {
            Some(runtime) => runtime.handle(),
            None => unreachable!("the fabric was dropped"),
        }
    }

    /// Runs a future on the calling thread, which must not be one of the fabric's.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.handle().block_on(future)
    }

    /// Returns a client of a task, for a context. The connection is made when it is first used.
    ///
    /// # Errors
    /// FailedPrecondition if the task has no address, or one that must not be reached without TLS;
    /// InvalidArgument if the address or the certificates are malformed.
    pub fn client(&self, task: &str, address: &str, context_id: u64) -> Result<RemoteClient, Diagnostic> {
        let mut peers = self.peers.lock();
        if let Some(peer) = peers.get(address) {
            return Ok(RemoteClient { peer: peer.clone(), context_id });
        }
        if address.is_empty() {
            let message = format!("{task} has no address in the cluster, so that nothing can be sent to it");
            return Err(Diagnostic::new(ErrorCode::FailedPrecondition, message));
        }
        let endpoint = self.endpoint(address)?;
        let _guard = self.handle().enter();
        let peer = Arc::new(Peer {
            task: task.to_owned(),
            address: address.to_owned(),
            client_id: self.client_id,
            channel: endpoint.connect_lazy(),
            max_message_bytes: self.max_message_bytes,
            options: self.options.clone(),
            requests: Mutex::default(),
        });
        peers.insert(address.to_owned(), peer.clone());
        Ok(RemoteClient { peer, context_id })
    }

    fn endpoint(&self, address: &str) -> Result<Endpoint, Diagnostic> {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let malformed = |error: tonic::transport::Error| {
            let cause =
                std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
            Diagnostic::invalid_argument(format!("cannot connect to '{address}': {error}{cause}"))
        };
        let mut endpoint = Endpoint::from_shared(format!("{scheme}://{address}"))
            .map_err(malformed)?
            .tcp_nodelay(true)
            .connect_timeout(self.options.deadline())
            .initial_stream_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .http2_keep_alive_interval(PING_INTERVAL)
            .keep_alive_timeout(PING_TIMEOUT)
            .keep_alive_while_idle(true);
        if let Some(tls) = &self.tls {
            let config = ClientTlsConfig::new()
                .domain_name(CERTIFICATE_NAME)
                .ca_certificate(Certificate::from_pem(&tls.ca))
                .identity(Identity::from_pem(&tls.certificate, &tls.key));
            endpoint = endpoint.tls_config(config).map_err(malformed)?;
        } else if !self.is_insecure && !is_loopback(address) {
            let message = format!(
                "'{address}' is on another host, and the configuration names no certificates; add a section [tls], or \
                 say --insecure"
            );
            return Err(Diagnostic::new(ErrorCode::FailedPrecondition, message));
        }
        Ok(endpoint)
    }
}

/// Returns a random number that is not zero.
pub(crate) fn random_id() -> u64 {
    RandomState::new().hash_one(std::process::id()) | 1
}

impl Drop for Fabric {
    fn drop(&mut self) {
        self.peers.get_mut().clear();
        if let Some(runtime) = self.runtime.take() {
            // The last handle may be dropped on one of the runtime's own threads, which must not
            // wait for itself.
            runtime.shutdown_background();
        }
    }
}

impl fmt::Debug for Fabric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fabric").field("client_id", &self.client_id).finish_non_exhaustive()
    }
}
