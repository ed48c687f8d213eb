//! [`Server`]: listens, until it is shut down.

use std::{
    fmt,
    net::SocketAddr,
    sync::{Arc, Weak},
    time::Duration,
};

use bytes::Bytes;
use parking_lot::Mutex;
use tfrt_collectives::DistributedContext;
use tfrt_host::{Diagnostic, ErrorCode, tracing};
use tokio::{net::TcpListener, sync::watch, task::JoinHandle, time::timeout};
use tonic::transport::{
    Certificate, Identity, ServerTlsConfig,
    server::{Router, TcpIncoming},
};

use super::{
    Backend, ContextHost, ContextOutput, Gate, handler::Handler, replies::Replies, served::ServedContext,
    service::Service,
};
use crate::{
    Config, Fabric, Limits, RemoteContext, TlsMaterial,
    client::{CONNECTION_WINDOW_BYTES, PING_INTERVAL, PING_TIMEOUT, STREAM_WINDOW_BYTES},
    config::is_loopback,
    proto::remote_server::RemoteServer,
};

/// Room in a message beside the bytes of a program.
const MESSAGE_OVERHEAD_BYTES: usize = 1 << 20;
/// Requests in progress on one connection.
const MAX_STREAMS: u32 = 4096;

/// What a server is.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The name of this task.
    pub task: String,
    /// The cluster and the limits.
    pub config: Config,
    /// The certificates, without which only loopback addresses are served.
    pub tls: Option<TlsMaterial>,
    /// Whether other addresses are served without certificates.
    pub is_insecure: bool,
}

/// A server that listens. Dropping it ends its connections at once.
pub struct Server {
    handler: Arc<Handler>,
    address: SocketAddr,
    stop: watch::Sender<bool>,
    tasks: Mutex<Option<JoinHandle<Result<(), tonic::transport::Error>>>>,
}

/// Returns the largest message of a task with these limits.
pub(crate) fn max_message_bytes(limits: &Limits) -> usize {
    limits.max_program_bytes.saturating_add(MESSAGE_OVERHEAD_BYTES)
}

impl Server {
    /// Listens at `address`, such as `127.0.0.1:5000`; port 0 stands for any free port.
    ///
    /// # Errors
    /// FailedPrecondition if the address can be reached from other hosts and there are no
    /// certificates, Io if the address cannot be used, InvalidArgument for certificates that cannot
    /// be used.
    pub fn start(
        fabric: &Arc<Fabric>,
        address: &str,
        options: ServerOptions,
        backend: Arc<dyn Backend>,
    ) -> Result<Self, Diagnostic> {
        Self::start_gated(fabric, address, options, backend, None)
    }

    /// As [`Server::start`], with a gate before the execution of functions.
    pub(crate) fn start_gated(
        fabric: &Arc<Fabric>,
        address: &str,
        options: ServerOptions,
        backend: Arc<dyn Backend>,
        gate: Option<Arc<Gate>>,
    ) -> Result<Self, Diagnostic> {
        if options.tls.is_none() && !options.is_insecure && !is_loopback(address) {
            let message = format!(
                "'{address}' can be reached from other hosts, and the configuration names no certificates; add a \
                 section [tls], or say --insecure"
            );
            return Err(Diagnostic::new(ErrorCode::FailedPrecondition, message));
        }
        let limits = options.config.server.clone();
        let handler = Arc::new(Handler {
            fabric: fabric.clone(),
            task: options.task,
            cluster: options.config.cluster(),
            replies: Replies::new(limits.max_clients, limits.max_replies),
            limits,
            backend,
            contexts: Mutex::default(),
            gate,
        });
        let listener = fabric.block_on(TcpListener::bind(address));
        let listener = listener.and_then(|listener| Ok((listener.local_addr()?, listener)));
        let (address, listener) = listener.map_err(|error| {
            Diagnostic::new(ErrorCode::Io, format!("cannot listen at '{address}': {error}"))
        })?;
        let _guard = fabric.handle().enter();
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        let router = fabric.block_on(router(&handler, options.tls.as_ref()))?;
        let (stop, stopped) = watch::channel(false);
        let mut stopping = stopped.clone();
        let ended = async move { drop(stopping.wait_for(|stop| *stop).await) };
        let serving = fabric.handle().spawn(router.serve_with_incoming_shutdown(incoming, ended));
        fabric.handle().spawn(collect(Arc::downgrade(&handler), stopped));
        Ok(Self { handler, address, stop, tasks: Mutex::new(Some(serving)) })
    }

    /// Returns where the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns how many contexts there are.
    pub fn context_count(&self) -> usize {
        self.handler.contexts.lock().len()
    }

    /// Returns the context with this number as the server sees it.
    pub(crate) fn context(&self, id: u64) -> Option<DistributedContext> {
        self.handler.contexts.lock().get(&id).map(|context| context.distributed.clone())
    }

    /// Lets other tasks send data to a context of this process.
    ///
    /// # Errors
    /// FailedPrecondition if the context has no remote state.
    pub fn serve_context(
        &self,
        context: &DistributedContext,
        host: Arc<dyn ContextHost>,
    ) -> Result<(), Diagnostic> {
        let remote = RemoteContext::of(context)?.clone();
        let ready_chain = remote.ready_chain(context.own())?;
        let served = ServedContext::new(
            context.clone(),
            remote,
            host,
            ContextOutput::default(),
            self.handler.fabric.client_id(),
            ready_chain,
            false,
            self.handler.limits.max_requests,
        );
        self.handler.contexts.lock().insert(context.id(), Arc::new(served));
        Ok(())
    }

    /// Stops listening, lets calls in progress end for a while, and cancels the others. It must not
    /// be called on a thread of the fabric.
    pub fn shut_down(&self) {
        self.stop.send_replace(true);
        let Some(mut serving) = self.tasks.lock().take() else { return };
        let handler = self.handler.clone();
        let limit = Duration::from_millis(handler.limits.shutdown_ms);
        self.handler.fabric.block_on(async move {
            if timeout(limit, &mut serving).await.is_ok() {
                return handler.close_all().await;
            }
            ::tracing::warn!("calls in progress are cancelled");
            handler.close_all().await;
            // Cancelled calls answer at once; connections of peers that do not read are given up.
            if timeout(Duration::from_secs(1), &mut serving).await.is_err() {
                serving.abort();
            }
        });
    }
}

async fn router(handler: &Arc<Handler>, tls: Option<&TlsMaterial>) -> Result<Router, Diagnostic> {
    let limits = &handler.limits;
    let mut builder = tonic::transport::Server::builder()
        .tcp_nodelay(true)
        .timeout(Duration::from_millis(limits.max_deadline_ms))
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .max_concurrent_streams(MAX_STREAMS)
        .http2_keepalive_interval(Some(PING_INTERVAL))
        .http2_keepalive_timeout(Some(PING_TIMEOUT));
    if let Some(tls) = tls {
        let config = ServerTlsConfig::new()
            .identity(Identity::from_pem(&tls.certificate, &tls.key))
            .client_ca_root(Certificate::from_pem(&tls.ca));
        builder = builder.tls_config(config).map_err(|error| {
            let cause =
                std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
            Diagnostic::invalid_argument(format!("the certificates cannot be used: {error}{cause}"))
        })?;
    }
    let (reporter, health) = tonic_health::server::health_reporter();
    reporter.set_serving::<RemoteServer<Service>>().await;
    let max_bytes = max_message_bytes(limits);
    let service = RemoteServer::new(Service(handler.clone()))
        .max_decoding_message_size(max_bytes)
        .max_encoding_message_size(max_bytes);
    Ok(builder.add_service(health).add_service(service))
}

/// Collects abandoned contexts until the server stops.
async fn collect(handler: Weak<Handler>, mut stopped: watch::Receiver<bool>) {
    loop {
        let Some(interval) = handler.upgrade().map(|handler| handler.limits.context_idle_ms / 4) else {
            return;
        };
        let pause = Duration::from_millis(interval.clamp(50, 60_000));
        if timeout(pause, stopped.wait_for(|stop| *stop)).await.is_ok() {
            return;
        }
        if let Some(handler) = handler.upgrade() {
            handler.collect().await;
        }
    }
}

/// Returns the trace of this process since the last call, in Chrome's format.
pub(super) fn take_trace() -> Bytes {
    let mut text = Vec::new();
    // Writing to memory does not fail.
    drop(tracing::take().write_chrome_json(&mut text));
    text.into()
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("address", &self.address)
            .field("handler", &self.handler)
            .finish_non_exhaustive()
    }
}
