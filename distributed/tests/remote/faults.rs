//! Each call, while requests or replies are lost, connections are cut, or the server is slow: an error that names the call and the
//! task within the deadline, nothing executed twice, and a server that answers afterwards.

use std::{
    future::Future,
    pin::Pin,
    time::{Duration, Instant},
};

use bytes::Bytes;
use tfrt_distributed::{Config, Destination, Payload, RemoteClient, proto};
use tfrt_host::{Diagnostic, ErrorCode};

use crate::{
    proxy::{Fault, Proxy},
    support::{
        BLOCK, COUNT, TASK, TENSOR, TestClient, TestServer, create_context, eventually, execute, id, register,
    },
};

const DEADLINE: Duration = Duration::from_millis(400);

/// The outcome of each call, by its name.
type Outcomes = Vec<(&'static str, Result<(), Diagnostic>)>;

type Reply = Pin<Box<dyn Future<Output = Result<(), Diagnostic>> + Send>>;

/// Makes one call. The number is different each time.
type Call = (&'static str, fn(RemoteClient, u64) -> Reply);

fn reply<T>(call: impl Future<Output = Result<T, Diagnostic>> + Send + 'static) -> Reply {
    Box::pin(async move { call.await.map(drop) })
}

/// All calls.
const CALLS: &[Call] = &[
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
        reply(async move { client.register_function(register("count", COUNT)).await })
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
    ("FetchObject", |client, _| reply(async move { client.fetch_object(&id(1)).await })),
];

/// Calls that are repeated after the connection was cut.
const REPEATED: &[&str] = &[
    "GetDevices",
    "CreateContext",
    "CloseContext",
    "SendReadyChains",
    "RegisterFunction",
    "DeleteRemoteObjects",
    "KeepAlive",
    "FetchObject",
];

fn quick(config: &Config) -> Config {
    let mut config = config.clone();
    config.calls.deadline_ms = DEADLINE.as_millis() as u64;
    config.calls.max_retries = 2;
    config
}

/// Makes each call once under a fault, at the same time.
fn under(fault: Fault) -> (TestServer, Outcomes) {
    let server = TestServer::start(|_| {}, None);
    let direct = TestClient::connect(&server.address(), &server.config, 7);
    direct.register("count", COUNT).unwrap();
    direct.register("tensor", TENSOR).unwrap();
    direct.execute("tensor", &[1]).unwrap();
    let config = quick(&server.config);
    let mut outcomes = Vec::new();
    let mut running = Vec::new();
    for (number, (name, call)) in (100..).zip(CALLS) {
        let proxy = Proxy::start(server.fabric.handle(), server.address());
        let client = TestClient::new(&proxy.address, &config, None, 7);
        // The connection exists before the fault.
        client.wait(client.client.get_devices(proto::GetDevicesRequest::default())).unwrap();
        proxy.set(fault);
        let (calling, call) = (client.client.clone(), *call);
        running.push((
            *name,
            client.fabric.handle().spawn(async move {
                let start = Instant::now();
                let outcome = call(calling, number).await;
                (outcome, start.elapsed())
            }),
            client,
            proxy,
        ));
    }
    for (name, handle, client, proxy) in running {
        let (outcome, elapsed) = client.wait(handle).unwrap();
        assert!(elapsed < DEADLINE * 3, "{name} under {fault:?} took {elapsed:?}");
        if let Err(error) = &outcome {
            let told = error.to_string();
            assert!(told.contains(name) && told.contains(TASK), "{name} under {fault:?}: {told}");
        }
        // The connection, or a new one, works again.
        proxy.set(Fault::None);
        let again = TestClient::new(&proxy.address, &server.config, None, 7);
        again.wait(again.client.get_devices(proto::GetDevicesRequest::default())).unwrap();
        outcomes.push((name, outcome));
    }
    (server, outcomes)
}

#[test]
fn lost_requests_end_at_the_deadline() {
    let (server, outcomes) = under(Fault::RequestLost);
    for (name, outcome) in outcomes {
        assert_eq!(outcome.unwrap_err().code, ErrorCode::DeadlineExceeded, "{name}");
    }
    assert_eq!(server.executed(), 0);
}

#[test]
fn lost_replies_end_at_the_deadline_and_execute_once() {
    let (server, outcomes) = under(Fault::ReplyLost);
    for (name, outcome) in outcomes {
        assert_eq!(outcome.unwrap_err().code, ErrorCode::DeadlineExceeded, "{name}");
    }
    assert_eq!(server.executed(), 1);
}

#[test]
fn cut_connections_are_errors_and_execute_at_most_once() {
    for fault in [Fault::CutBefore, Fault::CutAfter] {
        let (server, outcomes) = under(fault);
        for (name, outcome) in outcomes {
            let error = outcome.unwrap_err();
            assert!(matches!(error.code, ErrorCode::Io | ErrorCode::DeadlineExceeded), "{name}: {error}");
        }
        assert!(server.executed() <= 1, "{fault:?}: {}", server.executed());
    }
}

#[test]
fn slow_connections_are_slow_and_nothing_else() {
    let (server, outcomes) = under(Fault::Slow);
    for (name, outcome) in outcomes {
        assert_eq!(outcome, Ok(()), "{name}");
    }
    assert_eq!(server.executed(), 1);
}

#[test]
fn calls_without_effects_are_repeated() {
    let server = TestServer::start(|_| {}, None);
    TestClient::connect(&server.address(), &server.config, 7).register("tensor", TENSOR).unwrap();
    let direct = TestClient::new(&server.address(), &server.config, None, 7);
    direct.execute("tensor", &[1]).unwrap();
    for (name, call) in CALLS.iter().filter(|(name, _)| REPEATED.contains(name)) {
        let proxy = Proxy::start(server.fabric.handle(), server.address());
        let client = TestClient::new(&proxy.address, &server.config, None, 7);
        client.wait(client.client.get_devices(proto::GetDevicesRequest::default())).unwrap();
        proxy.set(Fault::CutBefore);
        let (calling, call) = (client.client.clone(), *call);
        let running = client.fabric.handle().spawn(async move { call(calling, 500).await });
        std::thread::sleep(Duration::from_millis(30));
        proxy.set(Fault::None);
        assert_eq!(client.wait(running).unwrap(), Ok(()), "{name}");
    }
}

#[test]
fn cutting_the_connection_cancels_remote_kernels() {
    let server = TestServer::start(|_| {}, None);
    let proxy = Proxy::start(server.fabric.handle(), server.address());
    let client = TestClient::connect(&proxy.address, &server.config, 7);
    client.register("block", BLOCK).unwrap();
    let calling = client.client.clone();
    let running =
        client.fabric.handle().spawn(async move { calling.remote_execute(execute("block", &[1])).await });
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(server.cancelled(), 0);
    proxy.set(Fault::CutBefore);
    // Any byte cuts the connection.
    drop(client.wait(client.client.keep_alive(proto::KeepAliveRequest::default())));
    assert!(client.wait(running).unwrap().is_err());
    eventually("the kernel is cancelled", || server.cancelled() == 1);
}

#[test]
fn a_server_that_does_not_listen_is_an_error() {
    let config = quick(&Config::default());
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let client = TestClient::new(&address, &config, None, 7);
    for (number, (name, call)) in (0..).zip(CALLS) {
        let error = client.wait(call(client.client.clone(), number)).unwrap_err();
        assert!(error.message.contains(name) && error.message.contains(&address), "{error}");
    }
}
