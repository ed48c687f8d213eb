//! Payloads, sending and receiving, remote objects and chains.

use tfrt_collectives::{DistributedContext, TaskHandle};
use tfrt_host::{
    Arg, AsyncValueRef, Attr, Chain, Diagnostic, ExecutionContext, KernelRegistry, Promise, work_queue::Task,
};
use tfrt_tensor::{DenseHostTensor, HostTensor};

use super::spawn;
use crate::{
    Destination, Payload, RemoteChainManager, RemoteContext, RemoteObjectId, deserialize, serialize, tensors,
};

fn send_bytes(
    context: Arg<DistributedContext>,
    task: TaskHandle,
    key: Arg<String>,
    payload: Arg<Payload>,
    cx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>, Diagnostic> {
    let remote = RemoteContext::of(&context)?;
    if task == context.own() {
        return remote.callbacks.set_value(&key, payload.clone()).map(|()| AsyncValueRef::available(Chain));
    }
    let client = remote.client(&context, task)?;
    let (key, payload) = (key.clone(), payload.clone());
    let (promise, chain) = Promise::new();
    let call = async move { client.send_data(Destination::Key(key), &payload).await };
    spawn(&context, cx, call, move |cx, sent| match sent {
        Ok(()) => promise.emplace(Chain),
        Err(error) => promise.set_error(cx.emit_remote(error)),
    })?;
    Ok(chain)
}

fn recv_bytes(
    context: Arg<DistributedContext>,
    task: TaskHandle,
    key: Arg<String>,
    cx: &ExecutionContext,
) -> Result<AsyncValueRef<Payload>, Diagnostic> {
    let remote = RemoteContext::of(&context)?.clone();
    let sender = context.cluster().task(task)?.name.to_string();
    let key = key.clone();
    let (promise, value) = Promise::new();
    let (receiving, work) = (cx.clone(), cx.host().external_work());
    let name = key.clone();
    let number = remote.callbacks.set_callback(&key, move |received| {
        let host = receiving.host().clone();
        host.add_task(Task::new(move || match received {
            Ok(payload) => promise.emplace(payload),
            Err(error) => {
                let error = Diagnostic::clone(&error).note(format!("waiting for '{name}' from {sender}"));
                promise.set_error(receiving.emit_remote(error));
            }
        }));
        drop((host, work));
    })?;
    if let Some(number) = number {
        let fabric = remote.fabric().clone();
        let limit = context.deadline();
        let request = cx.request().clone();
        let waiting = value.clone();
        // The receiver gives up when its request is cancelled, and after the deadline of calls.
        fabric.handle().spawn(async move {
            let (sender, cancelled) = tokio::sync::oneshot::channel();
            let hook = request.when_cancelled(move |reason| drop(sender.send(reason.clone())));
            let reason = tokio::select! {
                _ = waiting => return,
                Ok(reason) = cancelled => reason,
                () = tokio::time::sleep(limit) => std::sync::Arc::new(Diagnostic::new(
                    tfrt_host::ErrorCode::DeadlineExceeded,
                    format!("nothing arrived within {} ms", limit.as_millis()),
                )),
            };
            drop(hook);
            remote.callbacks.cancel(&key, number, &reason);
        });
    }
    Ok(value)
}

fn fetch(
    _chain: Chain,
    context: Arg<DistributedContext>,
    task: TaskHandle,
    id: Arg<RemoteObjectId>,
    cx: &ExecutionContext,
) -> Result<AsyncValueRef<HostTensor>, Diagnostic> {
    let client = RemoteContext::of(&context)?.client(&context, task)?;
    tensors::fetch(&context, client, id.clone(), cx)
}

fn delete(
    _chain: Chain,
    context: Arg<DistributedContext>,
    task: TaskHandle,
    id: Arg<RemoteObjectId>,
    cx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>, Diagnostic> {
    let client = RemoteContext::of(&context)?.client(&context, task)?;
    let request = crate::proto::DeleteRemoteObjectsRequest { header: None, objects: vec![(&*id).into()] };
    let (promise, chain) = Promise::new();
    let call = async move { client.delete_remote_objects(request).await };
    spawn(&context, cx, call, move |cx, deleted| match deleted {
        Ok(_) => promise.emplace(Chain),
        Err(error) => promise.set_error(cx.emit_remote(error)),
    })?;
    Ok(chain)
}

fn allocate(context: Arg<DistributedContext>, device: Attr<str>) -> Result<RemoteObjectId, Diagnostic> {
    let remote = RemoteContext::of(&context)?;
    Ok(remote.objects.allocate(remote.device(device.0)?.name))
}

fn print_id(id: Arg<RemoteObjectId>, _chain: Chain, cx: &ExecutionContext) -> Chain {
    // The numbers differ from run to run.
    cx.host().print(format_args!("remote object on {}\n", id.device));
    Chain
}

pub(super) fn register(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_dist.serialize", |tensor: Arg<DenseHostTensor>, _: Chain| serialize(&tensor))
        .doc("Returns a tensor as a payload. The elements are shared until the payload is gone.");
    registry
        .add("tfrt_dist.deserialize", |payload: Arg<Payload>, cx: &ExecutionContext| {
            deserialize(&payload, cx.host().allocator())
        })
        .doc("Returns the tensor that a payload is.");
    registry
        .add("tfrt_dist.send_bytes", send_bytes)
        .side_effecting()
        .doc("Sends a payload to the receiver of a key on a task.");
    registry
        .add("tfrt_dist.recv_bytes", recv_bytes)
        .side_effecting()
        .doc("Returns the payload that a task sends to a key, which is used once.");
    registry
        .add("tfrt_dist.fetch_remote_object", fetch)
        .side_effecting()
        .doc("Returns a copy of a remote tensor in host memory, when the remote tensor is available.");
    registry
        .add("tfrt_dist.allocate_remote_object_id", allocate)
        .attributes(&["device_name"])
        .side_effecting()
        .doc("Returns the id of an object to come, on the device of this name.");
    registry
        .add("tfrt_dist.delete_remote_object", delete)
        .side_effecting()
        .doc("Deletes a remote object. Reading it afterwards is an error.");
    registry
        .add(
            "tfrt_dist.get_chain_for_task_handle",
            |_: Chain, manager: Arg<RemoteChainManager>, task: TaskHandle| manager.chain(task),
        )
        .doc("Returns the id of the latest chain of a task.");
    registry
        .add(
            "tfrt_dist.set_chain_for_task_handle",
            |_: Chain, manager: Arg<RemoteChainManager>, task: TaskHandle, chain: Arg<RemoteObjectId>| {
                manager.set_chain(task, chain.clone());
                Chain
            },
        )
        .side_effecting()
        .doc("Sets the id of the latest chain of a task.");
    registry
        .add("tfrt_dist.test_create_remote_chain_manager", |context: Arg<DistributedContext>| {
            RemoteChainManager::new(&context)
        })
        .doc("Returns a manager of the chains of all tasks, which begin with those of the context.");
    registry
        .add("tfrt_dist.test_print_remote_object_id", print_id)
        .side_effecting()
        .doc("Prints the device of a remote object.");
}
