//! What lost processes leave behind at the others: no values, no buffers and no open files. It is
//! alone in its process, whose files it counts.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

macro_rules! shared {
    ($($name:ident $path:literal)*) => {$(
        #[allow(dead_code, clippy::allow_attributes, reason = "other tests use the rest")]
        #[path = $path]
        mod $name;
    )*};
}
shared! {
    calls "../../tests/remote/calls.rs"
    requests "../../tests/remote/requests.rs"
    support "outages/support.rs"
}

use std::{fs, thread, time::Duration};

use support::{Client, DEADLINE, Worker};
use tfrt_host::{AsyncValue, host_buffer::HostBuffer};

fn open_files(process: &str) -> usize {
    fs::read_dir(format!("/proc/{process}/fd")).unwrap().count()
}

fn counts() -> (usize, usize, usize) {
    (open_files("self"), AsyncValue::live_count(), HostBuffer::live_count())
}

fn eventually(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..500 {
        if is_so() {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
    assert!(is_so(), "{what}");
}

/// Makes every call of a worker that gets a signal first.
fn call_after(signal: &str) {
    let worker = Worker::start(&[], "127.0.0.1:0", &[]);
    let direct = Client::prepare(&worker);
    let hasty = Client::new(&worker, DEADLINE);
    hasty.ask();
    worker.signal(signal);
    drop(hasty.call_all(100, DEADLINE, || {}));
    drop((direct, hasty, worker));
}

#[test]
fn lost_processes_leave_nothing_with_the_others() {
    // What a process makes once.
    call_after("CONT");
    thread::sleep(Duration::from_millis(100));
    let before = counts();
    for signal in ["KILL", "STOP"] {
        call_after(signal);
        eventually(&format!("{signal} leaves nothing: {before:?}, {:?}", counts()), || counts() == before);
    }

    let worker = Worker::start(&[], "127.0.0.1:0", &[]);
    let process = worker.child.id().to_string();
    drop(Client::prepare(&worker));
    thread::sleep(Duration::from_millis(500));
    let before = open_files(&process);
    let clients: Vec<_> = (0..20).map(|_| Client::new(&worker, DEADLINE)).collect();
    clients.iter().for_each(Client::ask);
    assert!(open_files(&process) >= before + clients.len());
    drop(clients);
    eventually("connections of clients that are gone are closed", || open_files(&process) <= before);
}
