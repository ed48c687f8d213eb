//! Remote tensors: handles of tensors that another task has.

use std::sync::Arc;

use tfrt_collectives::{DistributedContext, WeakDistributedContext};
use tfrt_eager::{Foreign, ForeignTensor, TensorHandle};
use tfrt_host::{
    AsyncValue, AsyncValueRef, Diagnostic, ErrorCode, ExecutionContext, IndirectPromise, Promise,
};
use tfrt_tensor::{HostTensor, TensorMetadata};

use crate::{RemoteClient, RemoteContext, RemoteObjectId, kernels, proto, wire};

/// A tensor of another task.
pub(crate) struct RemoteTensor {
    pub(crate) metadata: TensorMetadata,
    pub(crate) id: RemoteObjectId,
    pub(crate) client: RemoteClient,
    context: WeakDistributedContext,
    /// Deletes the object when the tensor is dropped, if nobody else knows its id.
    owner: Option<Arc<Owner>>,
}

impl Foreign for RemoteTensor {
    fn metadata(&self) -> &TensorMetadata {
        &self.metadata
    }

    fn to_host(&self, cx: &ExecutionContext) -> Result<AsyncValueRef<HostTensor>, Diagnostic> {
        let context = self.context.upgrade().ok_or_else(|| {
            Diagnostic::new(ErrorCode::FailedPrecondition, "the context of a remote tensor is gone")
        })?;
        // The object must not be deleted before it is read.
        let owner = self.owner.clone();
        fetch_and_then(&context, self.client.clone(), self.id.clone(), cx, move || drop(owner))
    }
}

/// Deletes a remote object when dropped.
struct Owner {
    id: RemoteObjectId,
    client: RemoteClient,
    context: WeakDistributedContext,
}

impl Drop for Owner {
    fn drop(&mut self) {
        let Some(context) = self.context.upgrade() else { return };
        let Ok(remote) = RemoteContext::of(&context) else { return };
        let client = self.client.clone();
        let request = proto::DeleteRemoteObjectsRequest { header: None, objects: vec![(&self.id).into()] };
        // If the call fails, the object goes with its context.
        remote.fabric().handle().spawn(async move { drop(client.delete_remote_objects(request).await) });
    }
}

/// A remote tensor that a call in progress makes.
pub(crate) struct PromisedTensor {
    promise: IndirectPromise,
    id: RemoteObjectId,
    client: RemoteClient,
    context: WeakDistributedContext,
    owner: Option<Arc<Owner>>,
}

impl PromisedTensor {
    /// Returns the promise and the tensor's handle.
    pub(crate) fn new(
        context: &DistributedContext,
        client: &RemoteClient,
        id: RemoteObjectId,
    ) -> Result<(Self, TensorHandle), Diagnostic> {
        let device = RemoteContext::of(context)?.eager_device(&id.device);
        let (promise, tensor) = IndirectPromise::new();
        let (client, context) = (client.clone(), context.downgrade());
        let promised = Self { promise, id, client, context, owner: None };
        Ok((promised, TensorHandle::from_pending(device, tensor)))
    }

    /// Deletes the remote object when the tensor is dropped.
    pub(crate) fn owned(mut self) -> Self {
        let (id, client, context) = (self.id.clone(), self.client.clone(), self.context.clone());
        self.owner = Some(Arc::new(Owner { id, client, context }));
        self
    }

    /// Makes the tensor an error.
    pub(crate) fn fail(self, error: &Arc<Diagnostic>) {
        self.promise.set_error(error.clone());
    }

    fn emplace(self, metadata: TensorMetadata) {
        let Self { promise, id, client, context, owner } = self;
        let tensor = RemoteTensor { metadata, id, client, context, owner };
        promise.forward_to(AsyncValue::new(ForeignTensor::new(tensor)));
    }
}

/// Makes promised tensors available, with the metadata of the reply.
pub(crate) fn settle(
    promised: Vec<PromisedTensor>,
    replies: &[proto::TensorMetadata],
    cx: &ExecutionContext,
) {
    for (index, promised) in promised.into_iter().enumerate() {
        match wire::to_metadata(replies.get(index)) {
            Ok(metadata) => promised.emplace(metadata),
            Err(error) => promised.fail(&cx.emit_remote(error)),
        }
    }
}

/// Copies a remote tensor to host memory, when it is available.
pub(crate) fn fetch(
    context: &DistributedContext,
    client: RemoteClient,
    id: RemoteObjectId,
    cx: &ExecutionContext,
) -> Result<AsyncValueRef<HostTensor>, Diagnostic> {
    fetch_and_then(context, client, id, cx, || ())
}

/// Copies a remote tensor as [`fetch`] does, and then calls `done`.
fn fetch_and_then(
    context: &DistributedContext,
    client: RemoteClient,
    id: RemoteObjectId,
    cx: &ExecutionContext,
    done: impl FnOnce() + Send + 'static,
) -> Result<AsyncValueRef<HostTensor>, Diagnostic> {
    let (promise, value) = Promise::new();
    let allocator = cx.host().allocator().clone();
    let call = async move { client.fetch_object(&id, &allocator).await };
    kernels::spawn(context, cx, call, move |cx, fetched| {
        done();
        match fetched {
            Ok(tensor) => promise.emplace(tensor.into()),
            Err(error) => promise.set_error(cx.emit_remote(error)),
        }
    })?;
    Ok(value)
}
