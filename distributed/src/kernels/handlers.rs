//! Op handlers of other tasks' devices.

use std::sync::Arc;

use tfrt_collectives::DistributedContext;
use tfrt_eager::{Device, ForeignTensor, HandlerRef, TensorHandle};
use tfrt_host::{Arg, AsyncValueRef, Attr, Diagnostic, KernelRegistry, Promise};

use crate::{
    RemoteChainManager, RemoteContext, RemoteObjectId, op_handler::RemoteOpHandler, tensors::RemoteTensor,
};

fn create(
    context: Arg<DistributedContext>,
    chains: Arg<RemoteChainManager>,
    device: Arg<Device>,
) -> Result<HandlerRef, Diagnostic> {
    Ok(HandlerRef::new(Arc::new(RemoteOpHandler::new(&context, chains.clone(), device.name())?)))
}

fn remote_device(context: Arg<DistributedContext>, name: Attr<str>) -> Result<Device, Diagnostic> {
    let remote = RemoteContext::of(&context)?;
    Ok(remote.eager_device(&remote.device(name.0)?.name))
}

fn id_of(handle: Arg<TensorHandle>) -> AsyncValueRef<RemoteObjectId> {
    let (promise, id) = Promise::new();
    let tensor = handle.tensor().clone();
    handle.tensor().and_then(move || {
        let foreign = tensor.get::<ForeignTensor>().and_then(ForeignTensor::downcast::<RemoteTensor>);
        match (foreign, tensor.error()) {
            (Some(remote), _) => promise.emplace(remote.id.clone()),
            (None, Some(error)) => promise.set_error(error),
            (None, None) => {
                promise.set_error(Diagnostic::invalid_argument("the tensor is not on another task"))
            }
        }
    });
    id
}

pub(super) fn register(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_dist.create_remote_op_handler", create)
        .doc("Returns a handler that runs ops on a device of another task.");
    registry
        .add("tfrt_dist.get_remote_object_id_from_th", id_of)
        .doc("Returns the id of a tensor that another task has.");
    registry
        .add("tfrt_dist.test_get_remote_device", remote_device)
        .attributes(&["device_name"])
        .doc("Returns the device of this name of some task of the cluster.");
}
