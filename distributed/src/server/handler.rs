//! [`Handler`]: what each call does, apart from execution and transport.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use parking_lot::Mutex;
use tfrt_collectives::{ClusterConfig, DistributedContext, TaskName};
use tfrt_host::{AsyncValue, Chain, Diagnostic, ErrorCode};
use tokio::task::spawn_blocking;

use super::{
    Backend, ContextOutput, Gate, Language, incoming::Incoming, replies::Replies, served::ServedContext,
};
use crate::{
    Fabric, Limits, RegisteredFunction, RemoteContext,
    proto::{self, Header},
    wire,
};

/// Longer names of programs and keys are refused.
const MAX_NAME_BYTES: usize = 4096;

/// The state of a server.
pub(super) struct Handler {
    pub(super) fabric: Arc<Fabric>,
    pub(super) task: String,
    pub(super) cluster: ClusterConfig,
    pub(super) limits: Limits,
    pub(super) backend: Arc<dyn Backend>,
    pub(super) replies: Replies,
    pub(super) contexts: Mutex<HashMap<u64, Arc<ServedContext>>>,
    /// What holds calls of functions back, in tests.
    pub(super) gate: Option<Arc<Gate>>,
}

/// Runs work that may take long beside the threads that move messages.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Diagnostic> + Send + 'static,
) -> Result<T, Diagnostic> {
    spawn_blocking(work).await.unwrap_or_else(|_| Err(Diagnostic::internal("the server's task panicked")))
}

fn check_name(what: &str, name: &str) -> Result<(), Diagnostic> {
    if name.len() <= MAX_NAME_BYTES {
        return Ok(());
    }
    let message = format!("the {what} has {} bytes, but at most {MAX_NAME_BYTES} are allowed", name.len());
    Err(Diagnostic::invalid_argument(message))
}

impl Handler {
    /// Returns the context of a request.
    pub(super) fn context(&self, header: &Header) -> Result<Arc<ServedContext>, Diagnostic> {
        let found = self.contexts.lock().get(&header.context_id).cloned();
        let context = found.ok_or_else(|| {
            let message = format!(
                "{} has no context {:016x}: it was closed, collected because its client was gone, or lost in a restart",
                self.task, header.context_id
            );
            Diagnostic::new(ErrorCode::NotFound, message)
        })?;
        context.touch();
        Ok(context)
    }

    /// The devices of this task with their full names.
    pub(super) fn devices(&self) -> Vec<proto::DeviceInfo> {
        let named = |device: crate::DeviceInfo| proto::DeviceInfo {
            name: format!("{}/device:{}", self.task, device.name),
            r#type: device.kind,
        };
        self.backend.devices().into_iter().map(named).collect()
    }

    pub(super) fn get_devices(&self) -> proto::GetDevicesResponse {
        let devices = self.devices();
        proto::GetDevicesResponse { devices, clock_ns: tfrt_host::tracing::now_ns() }
    }

    /// Checks that the client knows the tasks by the addresses that this task knows them by.
    fn check_cluster(&self, request: &proto::CreateContextRequest) -> Result<ClusterConfig, Diagnostic> {
        let differs = |message: String| Diagnostic::new(ErrorCode::FailedPrecondition, message);
        if request.task != self.task {
            let message = format!("the client expects {} here, but this is {}", request.task, self.task);
            return Err(differs(message));
        }
        let mut jobs: BTreeMap<String, BTreeMap<u32, String>> = BTreeMap::new();
        for task in &request.cluster {
            let name: TaskName = task.name.parse()?;
            let addresses = jobs.entry(name.job().to_owned()).or_default();
            addresses.insert(name.number(), task.address.clone());
        }
        for (job, tasks) in &self.cluster.jobs {
            for (number, address) in tasks {
                let theirs = jobs.get(job).and_then(|tasks| tasks.get(number));
                if theirs != Some(address) {
                    return Err(differs(format!(
                        "the client's cluster differs from that of {}: /job:{job}/task:{number} is at '{address}' here, \
                         and at {theirs:?} there",
                        self.task
                    )));
                }
            }
        }
        Ok(ClusterConfig { jobs, groups: self.cluster.groups.clone(), lead: self.cluster.lead.clone() })
    }

    pub(super) async fn create_context(
        self: Arc<Self>,
        header: Header,
        request: proto::CreateContextRequest,
    ) -> Result<proto::CreateContextResponse, Diagnostic> {
        let response = |context: &ServedContext| proto::CreateContextResponse {
            ready_chain: Some((&context.ready_chain).into()),
        };
        let id = header.context_id;
        if id == 0 {
            return Err(Diagnostic::invalid_argument("a context's number must not be 0"));
        }
        let cluster = self.check_cluster(&request)?;
        self.check_new(id, header.client_id)?;
        let handler = self.clone();
        let context = blocking(move || handler.open(&header, request, &cluster)).await?;
        let existing = {
            let mut contexts = self.contexts.lock();
            match contexts.get(&id) {
                Some(existing) => Some(existing.clone()),
                None => {
                    contexts.insert(id, context.clone());
                    None
                }
            }
        };
        tracing::info!(context = format_args!("{id:016x}"), client = context.client_id, "context created");
        // A repeated request finds the context of the first one.
        Ok(response(existing.as_deref().unwrap_or(&context)))
    }

    fn check_new(&self, id: u64, client_id: u64) -> Result<(), Diagnostic> {
        let contexts = self.contexts.lock();
        if let Some(context) = contexts.get(&id) {
            if context.client_id == client_id {
                return Ok(());
            }
            let message = format!("another client has the context {id:016x}");
            return Err(Diagnostic::new(ErrorCode::FailedPrecondition, message));
        }
        if contexts.len() >= self.limits.max_contexts {
            let message = format!("{} has {} contexts, the most that it serves", self.task, contexts.len());
            return Err(Diagnostic::new(ErrorCode::ResourceExhausted, message));
        }
        Ok(())
    }

    fn open(
        &self,
        header: &Header,
        request: proto::CreateContextRequest,
        cluster: &ClusterConfig,
    ) -> Result<Arc<ServedContext>, Diagnostic> {
        if request.trace {
            tfrt_host::tracing::enable();
        }
        let output = ContextOutput::default();
        let host = self.backend.open(output.clone(), self.limits.max_memory_bytes)?;
        let builder = DistributedContext::builder(cluster, &self.task)?;
        let deadline = self.fabric.options().deadline();
        let distributed = builder.id(header.context_id).deadline(deadline).build();
        let remote = RemoteContext::attach(&distributed, &self.fabric, &self.limits);
        remote.set_devices(request.devices);
        let ready_chain = remote.objects.allocate(format!("{}/device:CPU:0", self.task).into());
        remote.objects.set(&ready_chain, AsyncValue::new(Chain))?;
        remote.set_ready_chain(distributed.own(), ready_chain.clone());
        Ok(Arc::new(ServedContext::new(
            distributed,
            remote,
            host,
            output,
            header.client_id,
            ready_chain,
            request.trace,
            self.limits.max_requests,
        )))
    }

    pub(super) async fn close_context(
        &self,
        header: &Header,
    ) -> Result<proto::CloseContextResponse, Diagnostic> {
        let removed = self.contexts.lock().remove(&header.context_id);
        let Some(context) = removed else { return Ok(proto::CloseContextResponse::default()) };
        let output = context.output.clone();
        let id = header.context_id;
        let trace = close(context, Diagnostic::new(ErrorCode::Cancelled, "the context was closed")).await;
        tracing::info!(context = format_args!("{id:016x}"), "context closed");
        Ok(proto::CloseContextResponse { printed: output.take(), trace })
    }

    pub(super) fn send_ready_chains(
        &self,
        header: &Header,
        request: proto::SendReadyChainsRequest,
    ) -> Result<proto::SendReadyChainsResponse, Diagnostic> {
        let context = self.context(header)?;
        for ready in request.chains {
            let task = context.distributed.cluster().find(&ready.task)?.handle;
            if task != context.distributed.own() {
                context.remote.set_ready_chain(task, wire::object_id(ready.chain)?);
            }
        }
        Ok(proto::SendReadyChainsResponse {})
    }

    pub(super) async fn register_function(
        &self,
        header: &Header,
        request: proto::RegisterFunctionRequest,
    ) -> Result<proto::RegisterFunctionResponse, Diagnostic> {
        let context = self.context(header)?;
        let proto::RegisterFunctionRequest { name, program, language, .. } = request;
        check_name("name of the program", &name)?;
        if program.len() > self.limits.max_program_bytes {
            let message = format!(
                "the program has {} bytes, but at most {} are allowed",
                program.len(),
                self.limits.max_program_bytes
            );
            return Err(Diagnostic::new(ErrorCode::ResourceExhausted, message));
        }
        let language = match proto::Language::try_from(language) {
            Ok(proto::Language::Kernels) => Language::Kernels,
            Ok(proto::Language::Ops) => Language::Ops,
            _ => {
                let message = format!("{language} is not the number of a program's language");
                return Err(Diagnostic::invalid_argument(message));
            }
        };
        if let Some(known) = context.remote.functions.check(&name, &program)? {
            return Ok(proto::RegisterFunctionResponse { output_devices: known.output_devices });
        }
        let (loading, task) = (context.clone(), self.task.clone());
        let function = blocking(move || load(&loading, &task, &name, program, language)).await?;
        let output_devices = function.1.output_devices.clone();
        context.remote.functions.register(&function.0, function.1)?;
        Ok(proto::RegisterFunctionResponse { output_devices })
    }

    pub(super) fn delete_remote_objects(
        &self,
        header: &Header,
        request: proto::DeleteRemoteObjectsRequest,
    ) -> Result<proto::DeleteRemoteObjectsResponse, Diagnostic> {
        let context = self.context(header)?;
        let ids: Vec<_> =
            request.objects.into_iter().map(|id| wire::object_id(Some(id))).collect::<Result<_, _>>()?;
        context.remote.objects.delete(&ids);
        Ok(proto::DeleteRemoteObjectsResponse {})
    }

    pub(super) fn keep_alive(&self, header: &Header) -> Result<proto::KeepAliveResponse, Diagnostic> {
        Ok(proto::KeepAliveResponse { printed: self.context(header)?.output.take() })
    }

    /// Receives data and gives it to its receiver.
    pub(super) async fn receive_data(
        &self,
        context: &ServedContext,
        mut data: Incoming,
    ) -> Result<(), Diagnostic> {
        match data.take_object() {
            None => {
                let key = data.take_key();
                check_name("key", &key)?;
                context.remote.callbacks.set_value(&key, data.payload().await?)
            }
            Some(id) => {
                let id = wire::object_id(Some(id))?;
                let tensor = data.tensor(context.host.host().allocator()).await?;
                context.remote.objects.set(&id, AsyncValue::new(tfrt_tensor::HostTensor::from(tensor)))
            }
        }
    }

    /// Closes the contexts whose clients have not been heard of for too long, and forgets their
    /// replies.
    pub(super) async fn collect(&self) {
        let idle = Duration::from_millis(self.limits.context_idle_ms);
        let gone: Vec<_> = {
            let mut contexts = self.contexts.lock();
            let ids: Vec<u64> =
                contexts.iter().filter(|(_, context)| context.is_idle(idle)).map(|(&id, _)| id).collect();
            ids.into_iter().filter_map(|id| contexts.remove(&id)).collect()
        };
        for context in gone {
            tracing::warn!(context = format_args!("{:016x}", context.distributed.id()), "context collected");
            close(context, Diagnostic::new(ErrorCode::Cancelled, "the context's client is gone")).await;
        }
        self.replies.collect(idle);
    }

    /// Closes all contexts.
    pub(super) async fn close_all(&self) {
        let contexts = std::mem::take(&mut *self.contexts.lock());
        for context in contexts.into_values() {
            close(context, Diagnostic::new(ErrorCode::Cancelled, "the server shuts down")).await;
        }
    }
}

/// Closes a context. Its host may wait for devices, and so goes away on a thread of its own.
/// Returns the trace.
async fn close(context: Arc<ServedContext>, reason: Diagnostic) -> Bytes {
    context.close(reason);
    let is_traced = context.is_traced;
    let closed = spawn_blocking(move || {
        let trace = if is_traced { super::start::take_trace() } else { Bytes::new() };
        drop(context);
        trace
    });
    closed.await.unwrap_or_default()
}

fn load(
    context: &ServedContext,
    task: &str,
    name: &str,
    program: Bytes,
    language: Language,
) -> Result<(String, RegisteredFunction), Diagnostic> {
    let loaded = context.host.load(name, &program, language);
    let mut loaded = loaded.map_err(|errors| one_error(name, errors))?;
    for device in &mut loaded.output_devices {
        *device = format!("{task}/device:{device}");
    }
    Ok((name.to_owned(), RegisteredFunction::new(loaded, program)?))
}

/// Returns the first error of a program, with the others as notes.
fn one_error(name: &str, errors: Vec<Diagnostic>) -> Diagnostic {
    let mut errors = errors.into_iter();
    let first = errors.next().unwrap_or_else(|| Diagnostic::internal("the program cannot be loaded"));
    let first = first.note(format!("in the program '{name}'"));
    errors.fold(first, |first, other| first.note(other.to_string()))
}

impl fmt::Debug for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handler").field("task", &self.task).finish_non_exhaustive()
    }
}
