//! Calls and tensors beside a bare tonic service with the same messages, by turns in one process.
//!
//! `cargo bench -p tfrt-distributed --bench remote` prints the latencies of an empty function and
//! the times to send a tensor.

#![expect(clippy::unwrap_used, reason = "a benchmark ends at the first failure")]
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

#[allow(dead_code, clippy::allow_attributes, reason = "tests use the rest")]
#[path = "../tests/remote/requests.rs"]
mod requests;
#[allow(dead_code, clippy::allow_attributes, reason = "tests use the rest")]
#[path = "../tests/remote/support.rs"]
mod support;

use std::time::{Duration, Instant};

use bytes::Bytes;
use requests::{execute, id};
use support::{TestClient, TestServer};
use tfrt_distributed::{
    Destination, Payload, Pieces,
    proto::{
        self,
        remote_client::RemoteClient as Stub,
        remote_server::{Remote, RemoteServer},
    },
};
use tfrt_tensor::DenseHostTensor;
use tokio_stream::StreamExt as _;
use tonic::{Request, Response, Status, Streaming, transport::Channel};

const CALLS: usize = 4_000;
const ROUNDS: usize = 12;
const TENSOR_BYTES: usize = 64 << 20;
const CHUNK_BYTES: usize = 1 << 20;

const EMPTY: &str = "func @empty() {
  tfrt.return
}";

/// Answers at once.
struct Bare;

macro_rules! bare {
    ($($method:ident($request:ident) -> $response:ident;)*) => {
        #[tonic::async_trait]
        impl Remote for Bare {
            $(async fn $method(
                &self,
                _: Request<proto::$request>,
            ) -> Result<Response<proto::$response>, Status> {
                Ok(Response::new(proto::$response::default()))
            })*

            async fn send_data(
                &self,
                request: Request<Streaming<proto::SendDataRequest>>,
            ) -> Result<Response<proto::SendDataResponse>, Status> {
                let mut stream = request.into_inner();
                let mut size = 0;
                while let Some(message) = stream.next().await {
                    size += message?.chunk.len();
                }
                assert!(size >= TENSOR_BYTES);
                Ok(Response::new(proto::SendDataResponse {}))
            }

            type FetchObjectStream =
                tokio_stream::Iter<std::vec::IntoIter<Result<proto::FetchObjectResponse, Status>>>;

            async fn fetch_object(
                &self,
                _: Request<proto::FetchObjectRequest>,
            ) -> Result<Response<Self::FetchObjectStream>, Status> {
                Err(Status::unimplemented("not measured"))
            }
        }
    };
}
bare! {
    get_devices(GetDevicesRequest) -> GetDevicesResponse;
    create_context(CreateContextRequest) -> CreateContextResponse;
    close_context(CloseContextRequest) -> CloseContextResponse;
    send_ready_chains(SendReadyChainsRequest) -> SendReadyChainsResponse;
    register_function(RegisterFunctionRequest) -> RegisterFunctionResponse;
    remote_execute(RemoteExecuteRequest) -> RemoteExecuteResponse;
    remote_execute_op(RemoteExecuteOpRequest) -> RemoteExecuteOpResponse;
    delete_remote_objects(DeleteRemoteObjectsRequest) -> DeleteRemoteObjectsResponse;
    keep_alive(KeepAliveRequest) -> KeepAliveResponse;
}

/// Serves [`Bare`] on threads like those of our servers, and connects to it.
fn bare(server: &TestServer, client: &TestClient) -> Stub<Channel> {
    let listener = server.fabric.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let incoming = {
        let _guard = server.fabric.handle().enter();
        tonic::transport::server::TcpIncoming::from(listener).with_nodelay(Some(true))
    };
    let service = RemoteServer::new(Bare).max_decoding_message_size(64 << 20);
    let serving = tonic::transport::Server::builder()
        .initial_stream_window_size(8 << 20)
        .initial_connection_window_size(32 << 20)
        .add_service(service)
        .serve_with_incoming(incoming);
    server.fabric.handle().spawn(serving);
    let endpoint = Channel::from_shared(address).unwrap().tcp_nodelay(true);
    Stub::new(client.fabric.block_on(endpoint.connect()).unwrap())
}

/// Runs a call on the client's threads, as kernels do, and returns how long it took.
fn timed<T: Send + 'static>(client: &TestClient, call: impl Future<Output = T> + Send + 'static) -> Duration {
    let start = Instant::now();
    client.wait(client.fabric.handle().spawn(call)).unwrap();
    start.elapsed()
}

/// Returns the time that this part of all calls does not exceed, in microseconds.
fn quantile(times: &mut [Duration], part: f64) -> f64 {
    times.sort_unstable();
    times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e6
}

fn calls(client: &TestClient, bare: &Stub<Channel>) {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..CALLS {
        let calling = client.client.clone();
        ours.push(timed(client, async move { calling.remote_execute(execute("empty", &[])).await.unwrap() }));
        let mut stub = bare.clone();
        theirs.push(timed(client, async move { stub.remote_execute(execute("empty", &[])).await.unwrap() }));
    }
    for part in [0.5, 0.99] {
        let (ours, theirs) = (quantile(&mut ours, part), quantile(&mut theirs, part));
        println!(
            "empty function, p{}: {ours:.0} us, bare {theirs:.0} us, ratio {:.2}",
            part * 100.0,
            ours / theirs
        );
    }
}

/// Sends tensors to objects that are numbered from `first` on: an object that was deleted stays so.
fn tensors(client: &TestClient, bare: &Stub<Channel>, first: u64) {
    let elements = vec![1_f32; TENSOR_BYTES / 4];
    let tensor = DenseHostTensor::from_vec([TENSOR_BYTES / 4], elements).unwrap();
    let payload = tfrt_distributed::serialize(&tensor).unwrap();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in first..first + ROUNDS as u64 {
        let (calling, sent) = (client.client.clone(), payload.clone());
        ours.push(timed(client, async move {
            calling.send_data(Destination::Object(id(round)), &sent).await.unwrap();
        }));
        let objects = vec![(&id(round)).into()];
        let delete = proto::DeleteRemoteObjectsRequest { header: None, objects };
        client.wait(client.client.delete_remote_objects(delete)).unwrap();
        let mut stub = bare.clone();
        let chunks = chunks(&payload);
        theirs.push(timed(client, async move { stub.send_data(tokio_stream::iter(chunks)).await.unwrap() }));
    }
    let (ours, theirs) = (quantile(&mut ours, 0.5), quantile(&mut theirs, 0.5));
    println!(
        "tensor of 64 MiB, median: {:.1} ms, bare {:.1} ms, speed {:.2} of bare",
        ours / 1e3,
        theirs / 1e3,
        theirs / ours
    );
}

/// The messages of a payload, without anything else.
fn chunks(payload: &Payload) -> Vec<proto::SendDataRequest> {
    let chunk = |chunk: Bytes| proto::SendDataRequest { chunk, ..Default::default() };
    let cut = |buffer: &Bytes| {
        let starts = (0..buffer.len()).step_by(CHUNK_BYTES);
        starts.map(|start| buffer.slice(start..buffer.len().min(start + CHUNK_BYTES))).collect::<Vec<_>>()
    };
    payload.buffers.iter().map(Pieces::to_bytes).flat_map(|buffer| cut(&buffer)).map(chunk).collect()
}

fn main() {
    // `cargo test --benches` asks for a quick run, which nothing here needs.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let server = TestServer::start(|_| {}, None);
    let client = TestClient::connect(&server.address(), &server.config, 7);
    client.register("empty", EMPTY).unwrap();
    let bare = bare(&server, &client);
    for _ in 0..3 {
        calls(&client, &bare);
    }
    for turn in 0..3 {
        tensors(&client, &bare, 1 + turn * ROUNDS as u64);
    }
}
