//! Each call, while requests or replies are lost, connections are cut, or the server is slow: an
//! error that names the call and the task within the deadline, nothing executed twice, and a server
//! that answers afterwards.

use std::time::Duration;

use tfrt_distributed::{Config, proto};
use tfrt_host::ErrorCode;

use crate::{
    calls::{CALLS, REPEATED},
    proxy::{Fault, Proxy},
    requests::{BLOCK, TENSOR, execute},
    support::{TestClient, TestServer, eventually},
    under::{quick, under},
};

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
