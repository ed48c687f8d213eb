//! The gRPC service: checks headers, answers each request at most once, and logs.

use std::{any::Any, future::Future, sync::Arc, time::Instant};

use prost::Message;
use tfrt_host::{Diagnostic, ErrorCode};
use tokio_stream::StreamExt as _;
use tonic::{Request, Response, Status, Streaming};

use super::{
    handler::Handler,
    incoming::Incoming,
    replies::{Admission, Reply},
};
use crate::{
    client::chunks,
    payload::element_bytes,
    proto::{self, Header, remote_server::Remote},
    wire::{self, PROTOCOL_VERSION},
};

/// Answers calls.
#[derive(Clone, Debug)]
pub(super) struct Service(pub(super) Arc<Handler>);

fn check(header: Option<Header>) -> Result<Header, Diagnostic> {
    let header = header.ok_or_else(|| Diagnostic::invalid_argument("the request has no header"))?;
    if header.version != PROTOCOL_VERSION {
        let message = format!(
            "the client speaks version {} of the protocol, but the server speaks version {PROTOCOL_VERSION}",
            header.version
        );
        return Err(Diagnostic::new(ErrorCode::FailedPrecondition, message));
    }
    Ok(header)
}

impl Service {
    /// Executes a request unless it came before, in which case its reply is sent again.
    async fn once<R, F>(
        &self,
        call: &'static str,
        header: Option<Header>,
        run: impl FnOnce(Arc<Handler>, Header) -> F,
    ) -> Result<Response<R>, Status>
    where
        R: Message + Clone + 'static,
        F: Future<Output = Result<R, Diagnostic>>,
    {
        let header = check(header).map_err(|error| wire::to_status(&error))?;
        let start = Instant::now();
        let result = match self.0.replies.admit(&header) {
            Err(error) => Err(Arc::new(error)),
            Ok(Admission::Repeat(mut reply)) => {
                let reply = reply.wait_for(Option::is_some).await.ok().and_then(|reply| reply.clone());
                reply.map_or_else(|| Err(Arc::new(gone())), unpack)
            }
            Ok(Admission::Execute(ticket)) => {
                let result = run(self.0.clone(), header).await.map_err(Arc::new);
                let size = result.as_ref().map_or(0, Message::encoded_len);
                ticket
                    .answer(result.clone().map(|reply| Arc::new(reply) as Arc<dyn Any + Send + Sync>), size);
                result
            }
        };
        answer(call, &header, start, result)
    }

    /// Executes a request that has the same effect when it is executed again.
    async fn always<R, F>(
        &self,
        call: &'static str,
        header: Option<Header>,
        run: impl FnOnce(Arc<Handler>, Header) -> F,
    ) -> Result<Response<R>, Status>
    where
        F: Future<Output = Result<R, Diagnostic>>,
    {
        let header = check(header).map_err(|error| wire::to_status(&error))?;
        let start = Instant::now();
        let result = run(self.0.clone(), header).await;
        answer(call, &header, start, result.map_err(Arc::new))
    }
}

fn gone() -> Diagnostic {
    Diagnostic::new(ErrorCode::Cancelled, "the request was cancelled before it was answered")
}

fn unpack<R: Clone + Send + Sync + 'static>(reply: Reply) -> Result<R, Arc<Diagnostic>> {
    let reply = reply?.downcast::<R>();
    let other =
        |_| Arc::new(Diagnostic::invalid_argument("the request's number is that of another kind of request"));
    reply.map(|reply| R::clone(&reply)).map_err(other)
}

fn answer<R>(
    call: &'static str,
    header: &Header,
    start: Instant,
    result: Result<R, Arc<Diagnostic>>,
) -> Result<Response<R>, Status> {
    let (client, request) = (header.client_id, header.request_id);
    let context = format_args!("{:016x}", header.context_id);
    let micros = start.elapsed().as_micros() as u64;
    match result {
        Ok(reply) => {
            tracing::debug!(call, client, request, context, micros, "answered");
            Ok(Response::new(reply))
        }
        Err(error) => {
            tracing::info!(
                call,
                client,
                request,
                context,
                micros,
                code = error.code.name(),
                error = error.message,
                "failed"
            );
            Err(wire::to_status(&error))
        }
    }
}

#[tonic::async_trait]
impl Remote for Service {
    async fn get_devices(
        &self,
        request: Request<proto::GetDevicesRequest>,
    ) -> Result<Response<proto::GetDevicesResponse>, Status> {
        let header = request.into_inner().header;
        self.always("GetDevices", header, async |handler, _| {
            super::handler::blocking(move || Ok(handler.get_devices())).await
        })
        .await
    }

    async fn create_context(
        &self,
        request: Request<proto::CreateContextRequest>,
    ) -> Result<Response<proto::CreateContextResponse>, Status> {
        let mut request = request.into_inner();
        let header = request.header.take();
        self.always("CreateContext", header, |handler, header| handler.create_context(header, request)).await
    }

    async fn close_context(
        &self,
        request: Request<proto::CloseContextRequest>,
    ) -> Result<Response<proto::CloseContextResponse>, Status> {
        let header = request.into_inner().header;
        self.once("CloseContext", header, async |handler, header| handler.close_context(&header).await).await
    }

    async fn send_ready_chains(
        &self,
        request: Request<proto::SendReadyChainsRequest>,
    ) -> Result<Response<proto::SendReadyChainsResponse>, Status> {
        let mut request = request.into_inner();
        let header = request.header.take();
        self.always("SendReadyChains", header, async |handler, header| {
            handler.send_ready_chains(&header, request)
        })
        .await
    }

    async fn send_data(
        &self,
        request: Request<Streaming<proto::SendDataRequest>>,
    ) -> Result<Response<proto::SendDataResponse>, Status> {
        let mut stream = request.into_inner();
        let first = stream.next().await.transpose()?;
        let mut first = first.ok_or_else(|| Status::invalid_argument("the request is empty"))?;
        let header = first.header.take();
        self.once("SendData", header, async move |handler, header| {
            let context = handler.context(&header)?;
            let data = Incoming::new(first, stream, handler.limits.max_memory_bytes)?;
            handler.receive_data(&context, data).await?;
            Ok(proto::SendDataResponse {})
        })
        .await
    }

    async fn register_function(
        &self,
        request: Request<proto::RegisterFunctionRequest>,
    ) -> Result<Response<proto::RegisterFunctionResponse>, Status> {
        let mut request = request.into_inner();
        let header = request.header.take();
        self.always("RegisterFunction", header, async |handler, header| {
            handler.register_function(&header, request).await
        })
        .await
    }

    async fn remote_execute(
        &self,
        request: Request<proto::RemoteExecuteRequest>,
    ) -> Result<Response<proto::RemoteExecuteResponse>, Status> {
        let mut request = request.into_inner();
        let header = request.header.take();
        self.once("RemoteExecute", header, async |handler, header| {
            handler.remote_execute(&header, request).await
        })
        .await
    }

    async fn remote_execute_op(
        &self,
        request: Request<proto::RemoteExecuteOpRequest>,
    ) -> Result<Response<proto::RemoteExecuteOpResponse>, Status> {
        let mut request = request.into_inner();
        let header = request.header.take();
        self.once("RemoteExecuteOp", header, async |handler, header| {
            handler.remote_execute_op(&header, request).await
        })
        .await
    }

    async fn delete_remote_objects(
        &self,
        request: Request<proto::DeleteRemoteObjectsRequest>,
    ) -> Result<Response<proto::DeleteRemoteObjectsResponse>, Status> {
        let mut request = request.into_inner();
        let header = request.header.take();
        self.always("DeleteRemoteObjects", header, async |handler, header| {
            handler.delete_remote_objects(&header, request)
        })
        .await
    }

    async fn keep_alive(
        &self,
        request: Request<proto::KeepAliveRequest>,
    ) -> Result<Response<proto::KeepAliveResponse>, Status> {
        let header = request.into_inner().header;
        self.always("KeepAlive", header, async |handler, header| handler.keep_alive(&header)).await
    }

    type FetchObjectStream =
        tokio_stream::Iter<std::vec::IntoIter<Result<proto::FetchObjectResponse, Status>>>;

    async fn fetch_object(
        &self,
        request: Request<proto::FetchObjectRequest>,
    ) -> Result<Response<Self::FetchObjectStream>, Status> {
        let mut request = request.into_inner();
        let header = request.header.take();
        let fetch = async |handler: Arc<Handler>, header: Header| {
            let tensor = handler.fetch_object(&header, request).await?;
            let metadata = wire::from_metadata(tensor.metadata());
            let mut messages: Vec<_> = chunks(&[element_bytes(&tensor)?])
                .map(|chunk| Ok(proto::FetchObjectResponse { metadata: None, chunk }))
                .collect();
            if messages.is_empty() {
                messages.push(Ok(proto::FetchObjectResponse::default()));
            }
            if let Some(Ok(first)) = messages.first_mut() {
                first.metadata = Some(metadata);
            }
            Ok(tokio_stream::iter(messages))
        };
        self.always("FetchObject", header, fetch).await
    }
}
