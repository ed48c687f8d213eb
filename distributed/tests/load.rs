//! Many requests from many clients: none lost, none executed twice, and nothing leaks. It is alone
//! in its process, whose memory it measures. `TFRT_TEST_CLIENTS=1000 TFRT_TEST_REQUESTS=100000`
//! asks for more.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

#[allow(dead_code, clippy::allow_attributes, reason = "other tests use the rest")]
#[path = "remote/requests.rs"]
mod requests;
#[allow(dead_code, clippy::allow_attributes, reason = "other tests use the rest")]
#[path = "remote/support.rs"]
mod support;

use std::{fs, time::Duration};

use futures_util::future::join_all;
use tfrt_distributed::proto;
use tfrt_host::{AsyncValue, host_buffer::HostBuffer};

use requests::{COUNT, execute, id};
use support::{TestClient, TestServer, eventually};

/// Memory of this process in KiB.
fn resident_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// The open files of this process.
fn open_files() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Executes so many requests of each client, one after the other, and deletes their results.
async fn execute_all(clients: &[TestClient], first: u64, count: u64) {
    let all = clients.iter().map(|client| async move {
        for number in first..first + count {
            client.client.remote_execute(execute("count", &[number])).await.unwrap();
            let objects = vec![(&id(number)).into()];
            let delete = proto::DeleteRemoteObjectsRequest { header: None, objects };
            client.client.delete_remote_objects(delete).await.unwrap();
        }
    });
    join_all(all).await;
}

/// The number of clients and of requests of each, from the environment.
fn amount(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

#[test]
fn requests_of_many_clients_are_executed_once_each() {
    let client_count = amount("TFRT_TEST_CLIENTS", 100);
    let requests = amount("TFRT_TEST_REQUESTS", 10_000) as u64;
    let server = TestServer::start(|_| {}, None);
    let (files, values) = (open_files(), AsyncValue::live_count());
    let connect = |number| TestClient::connect(&server.address(), &server.config, 1_000 + number);
    let clients: Vec<_> = (0..client_count as u64).map(connect).collect();
    for client in &clients {
        client.register("count", COUNT).unwrap();
    }
    let half = requests / client_count as u64 / 2;
    server.fabric.block_on(execute_all(&clients, 1, half));
    std::thread::sleep(Duration::from_millis(50));
    let middle = resident_kib();
    server.fabric.block_on(execute_all(&clients, 1 + half, half));
    let end = resident_kib();
    assert_eq!(server.executed() as u64, 2 * half * client_count as u64);
    assert!(end < middle + middle / 20, "{middle} KiB after half of the requests, {end} KiB after all");
    for client in &clients {
        client.wait(client.client.close_context(proto::CloseContextRequest::default())).unwrap();
    }
    drop(clients);
    let is_clean =
        || (open_files(), AsyncValue::live_count(), HostBuffer::live_count()) == (files, values, 0);
    eventually("connections, values and buffers are gone", is_clean);
}
