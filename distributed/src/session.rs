//! [`Session`]: a process's part in a cluster, from the first connection to the last.

use std::{
    fmt,
    sync::{Arc, Weak},
    time::Duration,
};

use bytes::Bytes;
use futures_util::future::join_all;
use tfrt_collectives::{DistributedContext, Task};
use tfrt_host::{AsyncValue, Chain, Diagnostic, HostContext, ResourceContext, tracing};
use tokio::{task::JoinHandle, time::sleep};

use crate::{
    Backend, CLIENT_TASK, Config, ContextHost, ContextOutput, DeviceInfo, Fabric, Language, LoadedProgram,
    RemoteClient, RemoteContext, Server, ServerOptions, TaskName, client::random_id, proto,
    server::max_message_bytes, wire,
};

/// The context of this process, on all tasks of a cluster. Dropping the session closes the context
/// everywhere.
pub struct Session {
    fabric: Arc<Fabric>,
    context: DistributedContext,
    clients: Vec<RemoteClient>,
    /// This process's clock less that of each task, in nanoseconds.
    clock_offsets_ns: Vec<i64>,
    host: Weak<HostContext>,
    keeping: Option<JoinHandle<()>>,
    server: Option<Server>,
}

/// How a process takes part in a cluster.
#[derive(Clone, Debug, Default)]
pub struct SessionOptions {
    /// The name of the task that this process is. It is [`CLIENT_TASK`] unless others send data to
    /// this process.
    pub task: Option<String>,
    /// Whether other hosts are reached without certificates.
    pub is_insecure: bool,
    /// Whether all tasks record traces.
    pub is_traced: bool,
}

/// The trace of one task.
#[derive(Clone, Debug)]
pub struct TaskTrace {
    /// The task's name.
    pub task: String,
    /// The trace in Chrome's format.
    pub json: Bytes,
    /// This process's clock less the task's.
    pub offset_ns: i64,
}

impl Session {
    /// Connects to all tasks of a cluster and creates a context on each, for programs that run on
    /// `host`.
    ///
    /// # Errors
    /// The first error of any task, which names it.
    pub fn connect(
        host: &Arc<HostContext>,
        config: &Config,
        options: &SessionOptions,
    ) -> Result<Self, Diagnostic> {
        let own = options.task.as_deref().unwrap_or(CLIENT_TASK);
        let own: TaskName = own.parse()?;
        let own = own.to_string();
        let tls = config.tls.as_ref().map(crate::TlsFiles::read).transpose()?;
        let max_bytes = max_message_bytes(&config.server);
        let fabric = Fabric::new(config.calls.clone(), tls.clone(), options.is_insecure, max_bytes)?;
        let cluster = config.cluster_with(&own);
        let builder = DistributedContext::builder(&cluster, &own)?;
        let context = builder.id(random_id()).deadline(config.calls.deadline()).build();
        let remote = RemoteContext::attach(&context, &fabric, &config.server);
        let ready_chain = remote.objects.allocate(format!("{own}/device:CPU:0").into());
        remote.objects.set(&ready_chain, AsyncValue::new(Chain))?;
        remote.set_ready_chain(context.own(), ready_chain);
        let server = serve(&fabric, &context, host, &own, config, tls, options)?;
        let others = context.cluster().tasks().iter().filter(|task| task.handle != context.own());
        let others: Vec<_> = others.filter(|task| !task.address.is_empty()).collect();
        let clients =
            others.iter().map(|task| remote.client(&context, task.handle)).collect::<Result<Vec<_>, _>>()?;
        let creating = create(&context, &remote, &others, &clients, options.is_traced);
        let created = fabric.block_on(creating);
        let mut session = Self {
            fabric,
            context,
            clients,
            clock_offsets_ns: Vec::new(),
            host: Arc::downgrade(host),
            keeping: None,
            server,
        };
        session.clock_offsets_ns = created?;
        session.keeping = Some(session.keep_alive());
        Ok(session)
    }

    /// Returns the context.
    pub fn context(&self) -> &DistributedContext {
        &self.context
    }

    /// Makes the context that of a request.
    pub fn offer(&self, resources: &ResourceContext) {
        resources.insert(tfrt_collectives::context::RESOURCE, self.context.clone());
    }

    /// Returns the devices of all tasks.
    pub fn devices(&self) -> Vec<DeviceInfo> {
        RemoteContext::of(&self.context).map(|remote| remote.devices()).unwrap_or_default()
    }

    /// Tells the tasks now and then that this process is there, and prints what their programs
    /// print meanwhile.
    fn keep_alive(&self) -> JoinHandle<()> {
        let (clients, host) = (self.clients.clone(), self.host.clone());
        let pause = Duration::from_millis(self.fabric.options().keep_alive_ms.max(1));
        self.fabric.handle().spawn(async move {
            loop {
                sleep(pause).await;
                let all = clients.iter().map(|client| client.keep_alive(proto::KeepAliveRequest::default()));
                for reply in join_all(all).await.into_iter().flatten() {
                    print(&host, &reply.printed);
                }
            }
        })
    }

    /// Closes the context on all tasks. Returns their traces, and the errors.
    pub fn close(&mut self) -> (Vec<TaskTrace>, Vec<Diagnostic>) {
        if let Some(keeping) = self.keeping.take() {
            keeping.abort();
        }
        let clients = std::mem::take(&mut self.clients);
        let closing =
            clients.iter().map(|client| client.close_context(proto::CloseContextRequest::default()));
        let replies = self.fabric.block_on(join_all(closing));
        let (mut traces, mut errors) = (Vec::new(), Vec::new());
        let offsets = self.clock_offsets_ns.iter().copied().chain(std::iter::repeat(0));
        for ((client, reply), offset_ns) in clients.iter().zip(replies).zip(offsets) {
            match reply {
                Ok(reply) => {
                    print(&self.host, &reply.printed);
                    traces.push(TaskTrace { task: client.task().to_owned(), json: reply.trace, offset_ns });
                }
                Err(error) => errors.push(error),
            }
        }
        if let Some(server) = self.server.take() {
            server.shut_down();
        }
        (traces, errors)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if !self.clients.is_empty() {
            drop(self.close());
        }
    }
}

fn print(host: &Weak<HostContext>, text: &Bytes) {
    if let Some(host) = host.upgrade().filter(|_| !text.is_empty()) {
        host.print(format_args!("{}", String::from_utf8_lossy(text)));
    }
}

/// Asks all tasks for their devices, creates the context on each, and tells each the chains of the
/// others.
async fn create(
    context: &DistributedContext,
    remote: &RemoteContext,
    tasks: &[&Task],
    clients: &[RemoteClient],
    is_traced: bool,
) -> Result<Vec<i64>, Diagnostic> {
    let (mut devices, mut offsets) = (Vec::new(), Vec::new());
    for reply in join_all(clients.iter().map(describe)).await {
        let (listed, offset_ns) = reply?;
        devices.extend(listed);
        offsets.push(offset_ns);
    }
    remote.set_devices(devices.clone());
    let named = |task: &Task| proto::TaskInfo { name: task.name.to_string(), address: task.address.clone() };
    let cluster: Vec<_> = context.cluster().tasks().iter().map(named).collect();
    let creating = clients.iter().map(|client| {
        client.create_context(proto::CreateContextRequest {
            header: None,
            task: client.task().to_owned(),
            cluster: cluster.clone(),
            devices: devices.clone(),
            trace: is_traced,
        })
    });
    let mut chains = Vec::new();
    for (task, reply) in tasks.iter().zip(join_all(creating).await) {
        let chain = wire::object_id(reply?.ready_chain)?;
        chains.push(proto::ReadyChain { task: task.name.to_string(), chain: Some((&chain).into()) });
        remote.set_ready_chain(task.handle, chain);
    }
    let own = remote.ready_chain(context.own())?;
    chains.push(proto::ReadyChain { task: context.own_task()?.name.to_string(), chain: Some((&own).into()) });
    let telling = clients.iter().map(|client| {
        client.send_ready_chains(proto::SendReadyChainsRequest { header: None, chains: chains.clone() })
    });
    join_all(telling).await.into_iter().try_for_each(|reply| reply.map(drop))?;
    Ok(offsets)
}

/// Asks a task for its devices and its clock. Returns by how much this process's clock is ahead, in
/// nanoseconds, as if the request had taken as long as the reply.
async fn describe(client: &RemoteClient) -> Result<(Vec<proto::DeviceInfo>, i64), Diagnostic> {
    // The first call connects, and so takes longer than its reply.
    client.get_devices(proto::GetDevicesRequest::default()).await?;
    let sent = tracing::now_ns();
    let reply = client.get_devices(proto::GetDevicesRequest::default()).await?;
    let middle = sent.midpoint(tracing::now_ns());
    Ok((reply.devices, middle.cast_signed().wrapping_sub(reply.clock_ns.cast_signed())))
}

/// Listens at the address of this task, if it has one, so that others can send data to it.
fn serve(
    fabric: &Arc<Fabric>,
    context: &DistributedContext,
    host: &Arc<HostContext>,
    own: &str,
    config: &Config,
    tls: Option<crate::TlsMaterial>,
    options: &SessionOptions,
) -> Result<Option<Server>, Diagnostic> {
    let address = &context.own_task()?.address;
    if address.is_empty() {
        return Ok(None);
    }
    let server_options =
        ServerOptions { task: own.to_owned(), config: config.clone(), tls, is_insecure: options.is_insecure };
    let server = Server::start(fabric, address, server_options, Arc::new(NoPrograms))?;
    server.serve_context(context, Arc::new(Receiver(host.clone())))?;
    Ok(Some(server))
}

/// A client receives data, and executes nothing for others.
struct NoPrograms;

impl Backend for NoPrograms {
    fn open(&self, _: ContextOutput, _: usize) -> Result<Arc<dyn ContextHost>, Diagnostic> {
        Err(refusal())
    }

    fn devices(&self) -> Vec<DeviceInfo> {
        Vec::new()
    }
}

struct Receiver(Arc<HostContext>);

impl ContextHost for Receiver {
    fn host(&self) -> &Arc<HostContext> {
        &self.0
    }

    fn load(&self, _: &str, _: &Bytes, _: Language) -> Result<LoadedProgram, Vec<Diagnostic>> {
        Err(vec![refusal()])
    }

    fn offer(&self, _: &ResourceContext) {}
}

fn refusal() -> Diagnostic {
    let message = "this task is a client, which executes no programs of others";
    Diagnostic::new(tfrt_host::ErrorCode::FailedPrecondition, message)
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("context", &self.context)
            .field("clients", &self.clients)
            .finish_non_exhaustive()
    }
}
