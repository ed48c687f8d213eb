//! Workers that stop and die.

use std::{thread, time::Duration};

use tfrt_host::ErrorCode;

use crate::support::{Client, DEADLINE, Worker};

#[test]
fn calls_of_a_stopped_worker_end_at_the_deadline() {
    let worker = Worker::start(&[], "127.0.0.1:0", &[]);
    let direct = Client::prepare(&worker);
    let hasty = Client::new(&worker, DEADLINE);
    hasty.ask();
    worker.signal("STOP");
    for (name, outcome) in hasty.call_all(100, DEADLINE, || {}) {
        assert_eq!(outcome.unwrap_err().code, ErrorCode::DeadlineExceeded, "{name}");
    }
    worker.signal("CONT");
    assert!(direct.executed() <= 1);
}

#[test]
fn calls_of_a_killed_worker_fail() {
    let worker = Worker::start(&[], "127.0.0.1:0", &[]);
    let direct = Client::prepare(&worker);
    let hasty = Client::new(&worker, DEADLINE);
    hasty.ask();
    // All calls are in flight when the worker dies.
    worker.signal("STOP");
    let kill = || {
        thread::sleep(Duration::from_millis(200));
        worker.signal("KILL");
    };
    for (name, outcome) in hasty.call_all(100, DEADLINE, kill) {
        let error = outcome.unwrap_err();
        assert!(matches!(error.code, ErrorCode::Io | ErrorCode::DeadlineExceeded), "{name}: {error}");
    }
    // And when it is dead already.
    for (name, outcome) in direct.call_all(200, Duration::from_secs(20), || {}) {
        assert_eq!(outcome.unwrap_err().code, ErrorCode::Io, "{name}");
    }
}
