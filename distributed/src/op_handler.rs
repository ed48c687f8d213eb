//! The remote op handler: runs ops of the core runtime on another task.
//!
//! Ops of one handler are called in order: each takes the latest chain of its task and leaves
//! another. An argument that is not on the task yet is sent there first.

use std::{borrow::Cow, fmt, sync::Arc};

use tfrt_collectives::{DistributedContext, TaskHandle};
use tfrt_eager::{CoreRuntimeOp, Device, ForeignTensor, OpHandler, OpInvocation, Results, TensorHandle};
use tfrt_host::{AsyncValue, AsyncValueRef, Chain, Diagnostic, ErrorCode, ExecutionContext, Promise};
use tfrt_tensor::HostTensor;

use crate::{
    Destination, Payload, RemoteChainManager, RemoteClient, RemoteContext, RemoteObjectId, attributes,
    kernels, payload, proto,
    tensors::{self, PromisedTensor, RemoteTensor},
};

/// Runs ops on a device of another task.
pub(crate) struct RemoteOpHandler(Arc<Shared>);

struct Shared {
    context: DistributedContext,
    chains: RemoteChainManager,
    client: RemoteClient,
    task: TaskHandle,
    device_name: Arc<str>,
    device: Device,
}

impl RemoteOpHandler {
    /// Creates a handler for the device of this name.
    ///
    /// # Errors
    /// NotFound if the cluster has no such device, and the errors of connecting to its task.
    pub(crate) fn new(
        context: &DistributedContext,
        chains: RemoteChainManager,
        device: &str,
    ) -> Result<Self, Diagnostic> {
        let remote = RemoteContext::of(context)?;
        let device_name = remote.device(device)?.name;
        let task = context.cluster().find(device)?.handle;
        let client = remote.client(context, task)?;
        let device = remote.eager_device(&device_name);
        Ok(Self(Arc::new(Shared { context: context.clone(), chains, client, task, device_name, device })))
    }
}

impl OpHandler for RemoteOpHandler {
    fn make_op(&self, name: &str) -> Result<CoreRuntimeOp, Diagnostic> {
        let (shared, name): (_, Arc<str>) = (self.0.clone(), name.into());
        Ok(CoreRuntimeOp::new(self.0.device.clone(), move |invocation| shared.call(&name, invocation)))
    }
}

/// An argument of an op: on the task already, or to be sent there as this object.
enum Argument {
    There(RemoteObjectId),
    Sent(RemoteObjectId, Payload),
}

impl Shared {
    fn call(self: &Arc<Self>, op: &Arc<str>, invocation: OpInvocation<'_>) -> Results {
        let OpInvocation { cx, arguments, attrs, result_count, chain } = invocation;
        match self.start(op, cx, arguments, attrs, result_count) {
            Ok((results, done)) => {
                if let Some(chain) = chain {
                    *chain = done;
                }
                results
            }
            Err(error) => {
                let error = cx.emit(error);
                if let Some(chain) = chain {
                    *chain = AsyncValueRef::from_error(error.clone());
                }
                (0..result_count)
                    .map(|_| TensorHandle::from_error(self.device.clone(), error.clone()))
                    .collect()
            }
        }
    }

    fn start<'a>(
        self: &Arc<Self>,
        op: &Arc<str>,
        cx: &ExecutionContext,
        arguments: impl IntoIterator<Item = Cow<'a, TensorHandle>>,
        attrs: &tfrt_eager::OpAttrs,
        result_count: usize,
    ) -> Result<(Results, AsyncValueRef<Chain>), Diagnostic> {
        let remote = RemoteContext::of(&self.context)?;
        let mut request = proto::RemoteExecuteOpRequest {
            handler: self.handler_name(),
            op: op.to_string(),
            attributes: attributes::to_messages(attrs)?,
            ..Default::default()
        };
        let out_chain = remote.objects.allocate(self.device_name.clone());
        let in_chain = self.chains.exchange(self.task, out_chain.clone())?;
        request.in_chain = Some((&in_chain).into());
        request.out_chain = Some((&out_chain).into());
        let (mut results, mut promises) = (Results::new(), Vec::new());
        for _ in 0..result_count {
            let id = remote.objects.allocate(self.device_name.clone());
            request.outputs.push(proto::Output { id: Some((&id).into()), need_metadata: true });
            let (promise, handle) = PromisedTensor::new(&self.context, &self.client, id)?;
            promises.push(promise.owned());
            results.push(handle);
        }
        let (promise, done) = Promise::<Chain>::new();
        let values: Vec<_> = arguments.into_iter().map(|handle| handle.into_owned().into_tensor()).collect();
        let (shared, cx) = (self.clone(), cx.clone());
        when_available(values, move |values| shared.send(&cx, request, &values, promises, promise));
        Ok((results, done))
    }

    /// The device as its task calls it: `CPU:0`.
    fn handler_name(&self) -> String {
        self.device_name.rsplit_once("device:").map_or("", |(_, name)| name).to_owned()
    }

    /// Returns what an available argument is on the task.
    fn argument(&self, value: &AsyncValue) -> Result<Argument, Diagnostic> {
        if let Some(error) = value.error() {
            return Err(Diagnostic::clone(&error));
        }
        let foreign = value.get::<ForeignTensor>().and_then(ForeignTensor::downcast::<RemoteTensor>);
        if let Some(tensor) = foreign {
            if tensor.client.task() == self.client.task() {
                return Ok(Argument::There(tensor.id.clone()));
            }
            let message = format!(
                "an argument is on {}, and the op runs on {}; copy the argument with 'corert.tensorhandle_to_ht' first",
                tensor.client.task(),
                self.client.task()
            );
            return Err(Diagnostic::new(ErrorCode::FailedPrecondition, message));
        }
        let tensor = value.get::<HostTensor>().ok_or_else(|| {
            Diagnostic::invalid_argument(format!(
                "an argument is a {}, which cannot be sent",
                value.type_name()
            ))
        })?;
        let id = RemoteContext::of(&self.context)?.objects.allocate(self.device_name.clone());
        Ok(Argument::Sent(id, payload::serialize(tensor.dense()?)?))
    }

    /// Sends the arguments and then the call.
    fn send(
        self: &Arc<Self>,
        cx: &ExecutionContext,
        mut request: proto::RemoteExecuteOpRequest,
        values: &[AsyncValue],
        promises: Vec<PromisedTensor>,
        done: Promise<Chain>,
    ) {
        let arguments: Result<Vec<_>, _> = values.iter().map(|value| self.argument(value)).collect();
        let (client, kept) = (self.client.clone(), values.to_vec());
        let call = async move {
            let mut sent = Vec::new();
            let calling = async {
                for argument in arguments? {
                    let id = match argument {
                        Argument::There(id) => id,
                        Argument::Sent(id, payload) => {
                            sent.push((&id).into());
                            client.send_data(Destination::Object(id.clone()), &payload).await?;
                            id
                        }
                    };
                    request.inputs.push((&id).into());
                }
                client.remote_execute_op(request).await
            };
            let reply = calling.await;
            // What was sent for this call alone is of no further use, however the call ended.
            if !sent.is_empty() {
                let delete = proto::DeleteRemoteObjectsRequest { header: None, objects: sent };
                let deleted = client.delete_remote_objects(delete).await;
                if reply.is_ok() {
                    deleted?;
                }
            }
            // Remote arguments stay until the call has ended.
            drop(kept);
            reply
        };
        let pending = Arc::new(parking_lot::Mutex::new(Some((promises, done))));
        let finishing = pending.clone();
        let started = kernels::spawn(&self.context, cx, call, move |cx, reply| {
            if let Some((promises, done)) = finishing.lock().take() {
                finish(cx, reply, promises, done);
            }
        });
        if let Err(error) = started
            && let Some((promises, done)) = pending.lock().take()
        {
            finish(cx, Err(error), promises, done);
        }
    }
}

fn finish(
    cx: &ExecutionContext,
    reply: Result<proto::RemoteExecuteOpResponse, Diagnostic>,
    promises: Vec<PromisedTensor>,
    done: Promise<Chain>,
) {
    match reply {
        Ok(reply) => {
            kernels::print(cx, &reply.printed);
            tensors::settle(promises, &reply.metadata, cx);
            done.emplace(Chain);
        }
        Err(error) => {
            let error = cx.emit_remote(error);
            for promised in promises {
                promised.fail(&error);
            }
            done.set_error(error);
        }
    }
}

/// Passes the values on when all are available.
fn when_available(values: Vec<AsyncValue>, then: impl FnOnce(Vec<AsyncValue>) + Send + 'static) {
    match values.iter().find(|value| !value.is_available()).cloned() {
        Some(value) => value.and_then(move || when_available(values, then)),
        None => then(values),
    }
}

impl fmt::Debug for RemoteOpHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteOpHandler").field("device", &self.0.device_name).finish_non_exhaustive()
    }
}
