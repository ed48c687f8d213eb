//! At most once, cancellation, contexts whose client is gone, shutdown.

use std::{
    net::TcpStream,
    time::{Duration, Instant},
};

use prost::Message as _;
use tfrt_distributed::{
    PROTOCOL_VERSION,
    proto::{self, Header},
};
use tfrt_host::ErrorCode;
use tfrt_tensor::Accessor;
use tonic::{Code, Status, transport::Channel};

use crate::{
    requests::{BLOCK, COUNT, TENSOR, allocator, create_context, execute, id, register},
    support::{TestClient, TestServer, eventually, stub},
};

static READER: Accessor = Accessor::new("test.semantics.reader");

fn header(request_id: u64) -> Option<Header> {
    Some(Header { version: PROTOCOL_VERSION, client_id: 99, request_id, settled: 0, context_id: 7 })
}

#[test]
fn a_request_that_arrives_twice_is_executed_once() {
    let server = TestServer::start(|_| {}, None);
    let client = TestClient::connect(&server.address(), &server.config, 7);
    client.register("count", COUNT).unwrap();
    let stub = stub(&server);
    let send = |output: u64, request_id: u64| {
        let mut stub = stub.clone();
        async move {
            stub.remote_execute(proto::RemoteExecuteRequest {
                header: header(request_id),
                ..execute("count", &[output])
            })
            .await
        }
    };
    server.fabric.block_on(async {
        send(1, 5).await.unwrap();
        send(1, 5).await.unwrap();
        // At the same time.
        let (first, second) = futures_util::future::join(send(2, 6), send(2, 6)).await;
        assert!(first.is_ok() && second.is_ok());
    });
    assert_eq!(server.executed(), 2);
}

#[test]
fn the_health_service_answers() {
    use tonic_health::pb::{
        HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
    };
    let server = TestServer::start(|_| {}, None);
    let address = format!("http://{}", server.address());
    let channel = server.fabric.block_on(Channel::from_shared(address).unwrap().connect()).unwrap();
    let request = HealthCheckRequest { service: "tfrt.distributed.v1.Remote".to_owned() };
    let reply = server.fabric.block_on(HealthClient::new(channel).check(request)).unwrap();
    assert_eq!(reply.into_inner().status(), ServingStatus::Serving);
}

#[test]
fn clients_of_another_version_are_refused() {
    let server = TestServer::start(|_| {}, None);
    let stub = stub(&server);
    let other = || Some(Header { version: PROTOCOL_VERSION + 1, ..header(1).unwrap() });
    let check = |call: &str, status: Status| {
        assert_eq!(status.code(), Code::FailedPrecondition, "{call}");
        let text = status.message();
        assert!(text.contains("speaks version 2") && text.contains("speaks version 1"), "{call}: {text}");
    };
    // Every request begins with the header.
    let headed = proto::KeepAliveRequest { header: other() }.encode_to_vec();
    macro_rules! refused {
        ($($method:ident($request:ident))*) => {$(
            let request = proto::$request::decode(&*headed).unwrap();
            let reply = server.fabric.block_on(stub.clone().$method(request));
            check(stringify!($method), reply.map(drop).unwrap_err());
        )*};
    }
    refused! {
        get_devices(GetDevicesRequest) create_context(CreateContextRequest) close_context(CloseContextRequest)
        send_ready_chains(SendReadyChainsRequest) register_function(RegisterFunctionRequest)
        remote_execute(RemoteExecuteRequest) remote_execute_op(RemoteExecuteOpRequest)
        delete_remote_objects(DeleteRemoteObjectsRequest) keep_alive(KeepAliveRequest)
        fetch_object(FetchObjectRequest)
    }
    let data = proto::SendDataRequest { header: other(), ..Default::default() };
    let reply = server.fabric.block_on(stub.clone().send_data(tokio_stream::iter([data])));
    check("send_data", reply.unwrap_err());
}

#[test]
fn a_deadline_cancels_remote_kernels_and_fails_their_outputs() {
    let server = TestServer::start(|_| {}, None);
    let mut config = server.config.clone();
    let client = TestClient::connect(&server.address(), &config, 7);
    client.register("block", BLOCK).unwrap();
    config.calls.deadline_ms = 200;
    let hasty = TestClient::new(&server.address(), &config, None, 7);
    let start = Instant::now();
    assert_eq!(hasty.execute("block", &[1]).unwrap_err().code, ErrorCode::DeadlineExceeded);
    assert!(start.elapsed() < Duration::from_secs(2));
    eventually("the kernel is cancelled", || server.cancelled() == 1);
    // Who reads the output gets the error, and does not wait.
    let fetched = client.fetch(1);
    assert_eq!(fetched.unwrap_err().code, ErrorCode::Cancelled);
}

#[test]
fn dropping_a_call_cancels_it() {
    let server = TestServer::start(|_| {}, None);
    let client = TestClient::connect(&server.address(), &server.config, 7);
    client.register("block", BLOCK).unwrap();
    let calling = client.client.clone();
    let running =
        client.fabric.handle().spawn(async move { calling.remote_execute(execute("block", &[1])).await });
    std::thread::sleep(Duration::from_millis(100));
    running.abort();
    eventually("the kernel is cancelled", || server.cancelled() == 1);
}

#[test]
fn contexts_are_collected_when_the_client_is_gone() {
    let server = TestServer::start(|config| config.server.context_idle_ms = 300, None);
    let client = TestClient::connect(&server.address(), &server.config, 7);
    for _ in 0..6 {
        std::thread::sleep(Duration::from_millis(100));
        client.wait(client.client.keep_alive(proto::KeepAliveRequest::default())).unwrap();
    }
    assert_eq!(server.server.context_count(), 1);
    eventually("the context is collected", || server.server.context_count() == 0);
    let error = client.register("count", COUNT).unwrap_err();
    assert_eq!(error.code, ErrorCode::NotFound);
    assert!(error.message.contains("client was gone"), "{error}");
}

#[test]
fn closing_a_context_cancels_what_runs_in_it() {
    let server = TestServer::start(|_| {}, None);
    let client = TestClient::connect(&server.address(), &server.config, 7);
    client.register("block", BLOCK).unwrap();
    let calling = client.client.clone();
    let running =
        client.fabric.handle().spawn(async move { calling.remote_execute(execute("block", &[1])).await });
    std::thread::sleep(Duration::from_millis(100));
    client.wait(client.client.close_context(proto::CloseContextRequest::default())).unwrap();
    let error = client.wait(running).unwrap().unwrap_err();
    assert_eq!(error.code, ErrorCode::Cancelled);
    assert!(error.to_string().contains("the context was closed"), "{error}");
    assert_eq!((server.cancelled(), server.server.context_count()), (1, 0));
}

#[test]
fn shutting_down_lets_calls_end_and_cancels_the_rest() {
    let server = TestServer::start(|config| config.server.shutdown_ms = 300, None);
    let client = TestClient::connect(&server.address(), &server.config, 7);
    client.register("block", BLOCK).unwrap();
    let calling = client.client.clone();
    let running =
        client.fabric.handle().spawn(async move { calling.remote_execute(execute("block", &[1])).await });
    std::thread::sleep(Duration::from_millis(100));
    let start = Instant::now();
    server.server.shut_down();
    let elapsed = start.elapsed();
    assert!(elapsed >= Duration::from_millis(250) && elapsed < Duration::from_secs(5), "{elapsed:?}");
    assert!(client.wait(running).unwrap().is_err());
    assert_eq!(server.cancelled(), 1);
    assert!(TcpStream::connect(server.server.address()).is_err());
}

#[test]
fn shutting_down_without_calls_closes_contexts() {
    let server = TestServer::start(|_| {}, None);
    let client = TestClient::connect(&server.address(), &server.config, 7);
    drop(client);
    server.server.shut_down();
    assert_eq!(server.server.context_count(), 0);
    server.server.shut_down();
}

#[test]
fn programs_are_checked_and_registered_once() {
    let server = TestServer::start(|_| {}, None);
    let client = TestClient::connect(&server.address(), &server.config, 7);
    client.register("count", COUNT).unwrap();
    client.register("count", COUNT).unwrap();
    assert_eq!(client.register("count", BLOCK).unwrap_err().code, ErrorCode::FailedPrecondition);
    assert!(client.register("other", COUNT).unwrap_err().message.contains("no function 'other'"));
    assert!(client.register("broken", "func @broken() {").is_err());
    let error = client.execute("missing", &[1]).unwrap_err();
    assert_eq!(error.code, ErrorCode::NotFound);
    assert!(
        client
            .execute("count", &[1, 2])
            .unwrap_err()
            .message
            .contains("1 results, but the call has 2 outputs")
    );
    assert_eq!(server.executed(), 0);
}

#[test]
fn results_are_tensors_that_can_be_read_and_deleted() {
    let server = TestServer::start(|_| {}, None);
    let client = TestClient::connect(&server.address(), &server.config, 7);
    client.register("tensor", TENSOR).unwrap();
    let reading = client.client.clone();
    let allocator = allocator();
    let early = client.fabric.handle().spawn(async move { reading.fetch_object(&id(1), &allocator).await });
    std::thread::sleep(Duration::from_millis(50));
    assert!(!early.is_finished());
    client.execute("tensor", &[1]).unwrap();
    let tensor = client.wait(early).unwrap().unwrap();
    assert_eq!(tensor.shape().dims(), [2]);
    assert_eq!(*tensor.read::<i32>(&READER).unwrap(), [1, 2]);
    let objects = vec![(&id(1)).into()];
    client
        .wait(
            client.client.delete_remote_objects(proto::DeleteRemoteObjectsRequest { header: None, objects }),
        )
        .unwrap();
    let error = client.fetch(1).unwrap_err();
    assert!(error.message.contains("was deleted"), "{error}");
}

#[test]
fn clusters_must_agree() {
    let addresses = vec!["127.0.0.1:1".to_owned()];
    let server = TestServer::start(|config| drop(config.jobs.insert("worker".to_owned(), addresses)), None);
    let client = TestClient::new(&server.address(), &server.config, None, 7);
    let error = client.wait(client.client.create_context(create_context())).unwrap_err();
    assert_eq!(error.code, ErrorCode::FailedPrecondition);
    assert!(error.message.contains("/job:worker/task:0 is at '127.0.0.1:1' here"), "{error}");
    let other = proto::CreateContextRequest { task: "/job:worker/task:5".to_owned(), ..create_context() };
    assert!(client.wait(client.client.create_context(other)).unwrap_err().message.contains("but this is"));
    assert!(client.wait(client.client.register_function(register("count", COUNT))).is_err());
}
