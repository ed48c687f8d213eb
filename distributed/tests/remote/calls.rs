//! Every call of the service, for tests that make each under a fault.

use std::{future::Future, pin::Pin};

use bytes::Bytes;
use tfrt_distributed::{Destination, Payload, RemoteClient, proto};
use tfrt_host::Diagnostic;

use crate::requests::{TENSOR, allocator, create_context, execute, id, register};

pub(crate) type Reply = Pin<Box<dyn Future<Output = Result<(), Diagnostic>> + Send>>;

/// Makes one call. The number is different each time.
pub(crate) type Call = (&'static str, fn(RemoteClient, u64) -> Reply);

fn reply<T>(call: impl Future<Output = Result<T, Diagnostic>> + Send + 'static) -> Reply {
    Box::pin(async move { call.await.map(drop) })
}

/// All calls.
pub(crate) const CALLS: &[Call] = &[
    ("GetDevices", |client, _| {
        reply(async move { client.get_devices(proto::GetDevicesRequest::default()).await })
    }),
    ("CreateContext", |client, number| {
        reply(async move { client.in_context(1_000 + number).create_context(create_context()).await })
    }),
    ("CloseContext", |client, number| {
        reply(async move {
            client.in_context(5_000 + number).close_context(proto::CloseContextRequest::default()).await
        })
    }),
    ("SendReadyChains", |client, _| {
        reply(async move { client.send_ready_chains(proto::SendReadyChainsRequest::default()).await })
    }),
    ("SendData", |client, number| {
        let payload = Payload::from(vec![Bytes::from(vec![1; 100_000])]);
        reply(async move { client.send_data(Destination::Key(format!("key {number}")), &payload).await })
    }),
    ("RegisterFunction", |client, _| {
        reply(async move { client.register_function(register("tensor", TENSOR)).await })
    }),
    ("RemoteExecute", |client, number| {
        reply(async move { client.remote_execute(execute("count", &[number])).await })
    }),
    ("RemoteExecuteOp", |client, number| {
        let output = proto::Output { id: Some((&id(number)).into()), need_metadata: true };
        let request = proto::RemoteExecuteOpRequest {
            handler: "CPU:0".to_owned(),
            op: "tf.Relu".to_owned(),
            inputs: vec![(&id(1)).into()],
            outputs: vec![output],
            ..Default::default()
        };
        reply(async move { client.remote_execute_op(request).await })
    }),
    ("DeleteRemoteObjects", |client, _| {
        reply(async move { client.delete_remote_objects(proto::DeleteRemoteObjectsRequest::default()).await })
    }),
    ("KeepAlive", |client, _| {
        reply(async move { client.keep_alive(proto::KeepAliveRequest::default()).await })
    }),
    ("FetchObject", |client, _| {
        let allocator = allocator();
        reply(async move { client.fetch_object(&id(1), &allocator).await })
    }),
];

/// Calls that are repeated after the connection was cut.
pub(crate) const REPEATED: &[&str] = &[
    "GetDevices",
    "CreateContext",
    "CloseContext",
    "SendReadyChains",
    "RegisterFunction",
    "DeleteRemoteObjects",
    "KeepAlive",
    "FetchObject",
];
