//! Execution of registered functions and of single ops, and the reading of their results.

use std::sync::{Arc, OnceLock};

use tfrt_eager::{CoreRuntime, DeviceTensor, OpHandler, TensorHandle};
use tfrt_host::{
    AsyncValue, AsyncValueRef, BefFile, Chain, Diagnostic, ErrorCode, ExecutionContext, KernelRegistry,
    bef::{BefBuilder, OptionalSections, VerifiedBef},
    work_queue::Task,
};
use tfrt_tensor::{Accessor, DenseHostTensor, HostTensor};
use tokio::sync::oneshot;

use super::{
    handler::Handler,
    served::{RunningRequest, ServedContext},
};
use crate::{
    DistributedContext, RegisteredFunction, RemoteObjectId, attributes,
    proto::{self, Header},
    wire,
};

static FETCH: Accessor = Accessor::new("a fetch of a remote tensor");

/// An output of a call: its id, and whether the caller wants its metadata.
struct Output {
    id: RemoteObjectId,
    needs_metadata: bool,
}

fn outputs(messages: Vec<proto::Output>) -> Result<Vec<Output>, Diagnostic> {
    let output = |output: proto::Output| {
        Ok(Output { id: wire::object_id(output.id)?, needs_metadata: output.need_metadata })
    };
    messages.into_iter().map(output).collect()
}

fn inputs(context: &ServedContext, ids: Vec<proto::ObjectId>) -> Result<Vec<AsyncValue>, Diagnostic> {
    let input = |id| Ok(context.remote.objects.get(&wire::object_id(Some(id))?));
    ids.into_iter().map(input).collect()
}

/// Makes outputs that were not set yet this error, so that nobody waits for them.
fn fail_outputs(context: &ServedContext, ids: &[RemoteObjectId], error: &Diagnostic) {
    let error = Arc::new(error.clone());
    for id in ids {
        // An output that is set or deleted already is not waited for.
        drop(context.remote.objects.set(id, AsyncValue::from_error(error.clone())));
    }
}

/// A program without functions, for calls that come from none.
fn no_program() -> Result<Arc<BefFile>, Diagnostic> {
    static PROGRAM: OnceLock<Arc<BefFile>> = OnceLock::new();
    if let Some(program) = PROGRAM.get() {
        return Ok(program.clone());
    }
    let internal = || Diagnostic::internal("a program without functions does not load");
    let bytes = BefBuilder::new(OptionalSections::Drop).finish().map_err(|_| internal())?;
    let bef = VerifiedBef::new(bytes).map_err(|_| internal())?;
    let program = BefFile::load(bef, &KernelRegistry::new()).map_err(|_| internal())?;
    Ok(PROGRAM.get_or_init(|| program).clone())
}

/// Calls `work` on the work queue of the context and waits for what it returns.
async fn on_queue<T: Send + 'static>(
    context: &ServedContext,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Diagnostic> {
    let (sender, receiver) = oneshot::channel();
    context.host.host().add_task(Task::new(move || drop(sender.send(work()))));
    receiver.await.map_err(|_| Diagnostic::internal("the call's task panicked"))
}

/// Waits for the results of a call and for the tensors that they are handles of.
///
/// # Errors
/// The first error among them.
async fn settle(running: &RunningRequest, results: &[AsyncValue]) -> Result<(), Diagnostic> {
    let error_of = |values: Vec<AsyncValue>| {
        let error = values.iter().find_map(AsyncValue::error);
        error.map_or(Ok(()), |error| Err(Diagnostic::clone(&error)))
    };
    error_of(running.wait(results.to_vec()).await?)?;
    let handles = results.iter().filter_map(AsyncValue::get::<TensorHandle>);
    let tensors: Vec<_> = handles.map(|handle| handle.tensor().clone()).collect();
    if tensors.is_empty() {
        return Ok(());
    }
    error_of(running.wait(tensors).await?)
}

/// Returns the metadata of an available tensor or handle.
fn metadata_of(value: &AsyncValue) -> Result<proto::TensorMetadata, Diagnostic> {
    if let Some(tensor) = value.get::<HostTensor>() {
        return Ok(wire::from_metadata(tensor.metadata()));
    }
    let metadata = value.get::<TensorHandle>().and_then(TensorHandle::metadata).transpose()?;
    let metadata = metadata.ok_or_else(|| {
        Diagnostic::invalid_argument(format!("an output is a {}, which has no metadata", value.type_name()))
    })?;
    Ok(wire::from_metadata(&metadata))
}

impl Handler {
    pub(super) async fn remote_execute(
        &self,
        header: &Header,
        request: proto::RemoteExecuteRequest,
    ) -> Result<proto::RemoteExecuteResponse, Diagnostic> {
        let context = self.context(header)?;
        let passed = match &self.gate {
            Some(gate) => gate.pass().await,
            None => None,
        };
        let result = self.execute_function(&context, request).await;
        if let Some(passed) = passed {
            passed();
        }
        result
    }

    async fn execute_function(
        &self,
        context: &Arc<ServedContext>,
        request: proto::RemoteExecuteRequest,
    ) -> Result<proto::RemoteExecuteResponse, Diagnostic> {
        let name = request.function.clone();
        let outputs = outputs(request.outputs)?;
        let ids: Vec<_> = outputs.iter().map(|output| output.id.clone()).collect();
        let called = async {
            let function = context.remote.functions.get(&name)?;
            let arguments = arguments(context, &function, request.inputs, &ids)?;
            check_counts(&function, arguments.len(), ids.len())?;
            let running = context.begin()?;
            let results = start(context, &running, function, arguments, &ids).await??;
            settle(&running, &results).await?;
            running.end();
            let wanted = outputs.iter().zip(&results).filter(|(output, _)| output.needs_metadata);
            wanted.map(|(_, result)| metadata_of(result)).collect::<Result<Vec<_>, _>>()
        };
        let metadata = called.await.map_err(|error| {
            fail_outputs(context, &ids, &error);
            error.note(format!("in function '{name}'"))
        })?;
        Ok(proto::RemoteExecuteResponse { metadata, printed: context.output.take() })
    }

    pub(super) async fn remote_execute_op(
        &self,
        header: &Header,
        request: proto::RemoteExecuteOpRequest,
    ) -> Result<proto::RemoteExecuteOpResponse, Diagnostic> {
        let context = self.context(header)?;
        let outputs = outputs(request.outputs)?;
        let mut ids: Vec<_> = outputs.iter().map(|output| output.id.clone()).collect();
        let op = request.op.clone();
        let out_chain = request.out_chain.map(|id| wire::object_id(Some(id))).transpose()?;
        let result_count = ids.len();
        ids.extend(out_chain);
        let called = async {
            let attrs = attributes::from_messages(request.attributes, context.host.host().allocator())?;
            let chain = request.in_chain.map(|id| inputs(&context, vec![id])).transpose()?;
            let arguments = inputs(&context, request.inputs)?;
            let running = context.begin()?;
            let needed = arguments.iter().chain(chain.iter().flatten());
            settle(&running, &needed.cloned().collect::<Vec<_>>()).await?;
            let (calling, cx) =
                (context.clone(), ExecutionContext::new(running.request.clone(), no_program()?));
            let (handler, set) = (request.handler, ids.clone());
            let call = move || {
                let core = CoreRuntime::of(calling.host.host());
                let handles: Result<Vec<_>, _> =
                    arguments.iter().map(|argument| handle_of(argument, &core)).collect();
                let handler = op_handler(&core, &calling, &handler)?;
                let mut chain = AsyncValueRef::available(Chain);
                let results = CoreRuntime::execute(
                    &cx,
                    &*handler,
                    &op,
                    handles?,
                    &attrs,
                    result_count,
                    Some(&mut chain),
                )?;
                let results = results.into_iter().map(AsyncValue::new).chain([chain.into_untyped()]);
                let results: Vec<_> = results.collect();
                set_all(&calling, &set, &results)?;
                Ok::<_, Diagnostic>(results)
            };
            let results = on_queue(&context, call).await??;
            settle(&running, &results).await?;
            running.end();
            let wanted = outputs.iter().zip(&results).filter(|(output, _)| output.needs_metadata);
            wanted.map(|(_, result)| metadata_of(result)).collect::<Result<Vec<_>, _>>()
        };
        let metadata = called.await.map_err(|error| {
            fail_outputs(&context, &ids, &error);
            error.note(format!("in op '{}'", request.op))
        })?;
        Ok(proto::RemoteExecuteOpResponse { metadata, printed: context.output.take() })
    }

    /// Reads a tensor. Waits until it is available.
    pub(super) async fn fetch_object(
        &self,
        header: &Header,
        request: proto::FetchObjectRequest,
    ) -> Result<DenseHostTensor, Diagnostic> {
        let context = self.context(header)?;
        let id = wire::object_id(request.object)?;
        let running = context.begin()?;
        let object = [context.remote.objects.get(&id)];
        settle(&running, &object).await?;
        let [object] = object;
        let tensor =
            object.get::<TensorHandle>().map_or_else(|| object.clone(), |handle| handle.tensor().clone());
        let tensor = match tensor.get::<DeviceTensor>() {
            Some(tensor) => {
                let cx = ExecutionContext::new(running.request.clone(), no_program()?);
                let copied = running.wait(vec![tensor.to_host(&cx)?.into_untyped()]).await?;
                copied.into_iter().next().unwrap_or(object)
            }
            None => tensor,
        };
        if let Some(error) = tensor.error() {
            return Err(Diagnostic::clone(&error));
        }
        let host_tensor = tensor.get::<HostTensor>().ok_or_else(|| {
            let message = format!("the remote object {id} is a {}, not a tensor", tensor.type_name());
            Diagnostic::invalid_argument(message)
        })?;
        host_tensor.to_dense(&FETCH, context.host.host().allocator())
    }
}

/// Returns what the function takes before its inputs, and the inputs.
fn arguments(
    context: &ServedContext,
    function: &RegisteredFunction,
    ids: Vec<proto::ObjectId>,
    outputs: &[RemoteObjectId],
) -> Result<Vec<AsyncValue>, Diagnostic> {
    let mut arguments = function.prepared.clone();
    if function.takes_context {
        arguments.push(AsyncValue::new::<DistributedContext>(context.distributed.clone()));
    }
    if function.takes_output_ids {
        arguments.extend(outputs.iter().cloned().map(AsyncValue::new));
    }
    arguments.extend(inputs(context, ids)?);
    Ok(arguments)
}

fn check_counts(function: &RegisteredFunction, arguments: usize, outputs: usize) -> Result<(), Diagnostic> {
    let found = function.program.function(&function.function).ok_or_else(gone)?;
    let (parameters, results) = (found.argument_types().len(), found.result_types().len());
    if parameters != arguments {
        let message = format!("the function takes {parameters} arguments, but the call has {arguments}");
        return Err(Diagnostic::invalid_argument(message));
    }
    if results != outputs {
        let message = format!("the function has {results} results, but the call has {outputs} outputs");
        return Err(Diagnostic::invalid_argument(message));
    }
    Ok(())
}

fn gone() -> Diagnostic {
    Diagnostic::internal("a registered function is gone")
}

/// Calls a function on the work queue, and sets the objects that are its results.
async fn start(
    context: &Arc<ServedContext>,
    running: &RunningRequest,
    function: RegisteredFunction,
    arguments: Vec<AsyncValue>,
    ids: &[RemoteObjectId],
) -> Result<Result<Vec<AsyncValue>, Diagnostic>, Diagnostic> {
    let (calling, ids, request) = (context.clone(), ids.to_vec(), running.request.clone());
    let call = move || {
        let cx = ExecutionContext::new(request, function.program.clone());
        let found = function.program.function(&function.function).ok_or_else(gone)?;
        let results = found.execute(&cx, arguments);
        set_all(&calling, &ids, &results)?;
        Ok(results)
    };
    on_queue(context, call).await
}

fn set_all(context: &ServedContext, ids: &[RemoteObjectId], values: &[AsyncValue]) -> Result<(), Diagnostic> {
    ids.iter().zip(values).try_for_each(|(id, value)| context.remote.objects.set(id, value.clone()))
}

/// Returns an available argument of an op as a handle.
fn handle_of(value: &AsyncValue, core: &CoreRuntime) -> Result<TensorHandle, Diagnostic> {
    if let Some(handle) = value.get::<TensorHandle>() {
        return Ok(handle.clone());
    }
    let tensor = value.get::<HostTensor>().ok_or_else(|| {
        Diagnostic::invalid_argument(format!("an argument of an op is a {}, not a tensor", value.type_name()))
    })?;
    Ok(TensorHandle::from_host(core.host_device().clone(), tensor.clone()))
}

/// Returns the op handler that a program registered under this name, or that of the device with
/// this name.
fn op_handler(
    core: &CoreRuntime,
    context: &ServedContext,
    name: &str,
) -> Result<Arc<dyn OpHandler>, Diagnostic> {
    if let Ok(handler) = core.handler(name) {
        return Ok(handler);
    }
    if name == core.host_device().name() {
        return Ok(core.cpu());
    }
    let ordinal = name.strip_prefix("GPU:").and_then(|ordinal| ordinal.parse().ok()).ok_or_else(|| {
        let message = format!("there is no op handler and no device named '{name}'");
        Diagnostic::new(ErrorCode::NotFound, message)
    })?;
    let device = tfrt_device::Devices::of(context.host.host()).platform()?.device(ordinal)?;
    core.on_device(&device, core.cpu())
}
