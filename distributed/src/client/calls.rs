//! The calls, one method each.

use std::time::Duration;

use bytes::Bytes;
use tfrt_host::Diagnostic;
use tfrt_tensor::{DenseHostTensor, SharedAllocator};
use tokio_stream::StreamExt as _;
use tonic::{Request, Response, Status};

use super::{CHUNK_BYTES, Call, RemoteClient};
use crate::{Payload, RemoteObjectId, payload::ArrivingTensor, proto, wire};

/// The server gives a call up a little later than the client, which says why.
const GRACE: Duration = Duration::from_millis(100);

fn timed<M>(message: M, left: Duration) -> Request<M> {
    let mut request = Request::new(message);
    request.set_timeout(left + GRACE);
    request
}

macro_rules! unary {
    ($($(#[$doc:meta])* $method:ident($request:ident) -> $response:ident, $name:literal, can_repeat: $can_repeat:literal;)*) => {
        impl RemoteClient {$(
            $(#[$doc])*
            ///
            /// # Errors
            /// The server's error, Io if the connection fails, DeadlineExceeded without an answer
            /// in time.
            pub async fn $method(&self, message: proto::$request) -> Result<proto::$response, Diagnostic> {
                let call = Call { name: $name, can_repeat: $can_repeat };
                self.attempt(call, |header, left| {
                    let mut message = message.clone();
                    message.header = Some(header);
                    let mut stub = self.stub();
                    async move { stub.$method(timed(message, left)).await.map(Response::into_inner) }
                })
                .await
            }
        )*}
    };
}

unary! {
    /// Lists the devices of the task.
    get_devices(GetDevicesRequest) -> GetDevicesResponse, "GetDevices", can_repeat: true;
    /// Creates the context on the task.
    create_context(CreateContextRequest) -> CreateContextResponse, "CreateContext", can_repeat: true;
    /// Closes the context on the task.
    close_context(CloseContextRequest) -> CloseContextResponse, "CloseContext", can_repeat: true;
    /// Tells the task the first chains of the other tasks.
    send_ready_chains(SendReadyChainsRequest) -> SendReadyChainsResponse, "SendReadyChains", can_repeat: true;
    /// Registers a program.
    register_function(RegisterFunctionRequest) -> RegisterFunctionResponse, "RegisterFunction", can_repeat: true;
    /// Executes a registered function.
    remote_execute(RemoteExecuteRequest) -> RemoteExecuteResponse, "RemoteExecute", can_repeat: false;
    /// Executes an op.
    remote_execute_op(RemoteExecuteOpRequest) -> RemoteExecuteOpResponse, "RemoteExecuteOp", can_repeat: false;
    /// Deletes remote objects.
    delete_remote_objects(DeleteRemoteObjectsRequest) -> DeleteRemoteObjectsResponse, "DeleteRemoteObjects", can_repeat: true;
    /// Tells the task that the client is there.
    keep_alive(KeepAliveRequest) -> KeepAliveResponse, "KeepAlive", can_repeat: true;
}

/// What a payload is sent to.
#[derive(Clone, Debug)]
pub enum Destination {
    /// The receiver of a key.
    Key(String),
    /// A remote object, which becomes the tensor that the payload is.
    Object(RemoteObjectId),
}

impl RemoteClient {
    /// Sends a payload.
    ///
    /// # Errors
    /// As for the other calls.
    pub async fn send_data(&self, destination: Destination, payload: &Payload) -> Result<(), Diagnostic> {
        let call = Call { name: "SendData", can_repeat: false };
        self.attempt(call, |header, left| {
            let (key, object) = match &destination {
                Destination::Key(key) => (key.clone(), None),
                Destination::Object(id) => (String::new(), Some(id.into())),
            };
            let sizes = payload.buffers.iter().map(|buffer| buffer.len() as u64).collect();
            let mut chunks = payload.buffers.iter().flat_map(|buffer| chunks(buffer.pieces()));
            let chunk = chunks.next().unwrap_or_default();
            let first = proto::SendDataRequest { header: Some(header), key, sizes, object, chunk };
            let others = chunks.map(|chunk| proto::SendDataRequest { chunk, ..Default::default() });
            let messages: Vec<_> = std::iter::once(first).chain(others).collect();
            let mut stub = self.stub();
            async move {
                stub.send_data(timed(tokio_stream::iter(messages), left)).await.map(Response::into_inner)
            }
        })
        .await
        .map(drop)
    }

    /// Reads a tensor into new memory. Waits until the object is available.
    ///
    /// # Errors
    /// The object's error, OutOfMemory, and as for the other calls.
    pub async fn fetch_object(
        &self,
        id: &RemoteObjectId,
        allocator: &SharedAllocator,
    ) -> Result<DenseHostTensor, Diagnostic> {
        let call = Call { name: "FetchObject", can_repeat: true };
        self.attempt(call, |header, left| {
            let message = proto::FetchObjectRequest { header: Some(header), object: Some(id.into()) };
            let mut stub = self.stub();
            async move {
                let mut stream = stub.fetch_object(timed(message, left)).await?.into_inner();
                let Some(first) = stream.next().await.transpose()? else {
                    return Err(Status::internal("the server sent nothing"));
                };
                let to_status = |error: Diagnostic| wire::to_status(&error);
                let metadata = first.metadata.unwrap_or_default();
                let mut tensor = ArrivingTensor::new(&metadata, None, allocator).map_err(to_status)?;
                tensor.push(&first.chunk).map_err(to_status)?;
                while let Some(next) = stream.next().await.transpose()? {
                    tensor.push(&next.chunk).map_err(to_status)?;
                }
                tensor.finish().map_err(to_status)
            }
        })
        .await
    }
}

/// Cuts buffers into chunks without copying them.
pub(crate) fn chunks(buffers: &[Bytes]) -> impl Iterator<Item = Bytes> + '_ {
    buffers.iter().flat_map(|buffer| {
        let starts = (0..buffer.len()).step_by(CHUNK_BYTES);
        starts.map(move |start| buffer.slice(start..buffer.len().min(start + CHUNK_BYTES)))
    })
}
