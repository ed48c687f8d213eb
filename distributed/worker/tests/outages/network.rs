//! A worker behind a network that loses packets: a network namespace, to which a pair of virtual
//! devices leads.

use std::{process::Command, time::Duration};

use tfrt_host::ErrorCode;

use crate::{
    is_root_test,
    support::{Client, DEADLINE, Worker},
};

const NAMESPACE: &str = "tfrt-distributed";
const OWN_DEVICE: &str = "tfrt-distribut";

fn run(command: &str) -> bool {
    let words: Vec<_> = command.split_whitespace().collect();
    Command::new(words[0]).args(&words[1..]).status().unwrap().success()
}

fn must(command: &str) {
    assert!(run(command), "'{command}' failed");
}

/// The namespace and its network. Dropping it removes both.
struct Network;

impl Network {
    fn new() -> Self {
        drop(Self);
        must(&format!("ip netns add {NAMESPACE}"));
        must(&format!("ip link add {OWN_DEVICE} type veth peer name eth0 netns {NAMESPACE}"));
        must(&format!("ip addr add 10.78.0.1/24 dev {OWN_DEVICE}"));
        must(&format!("ip link set {OWN_DEVICE} up"));
        must(&format!("ip -n {NAMESPACE} addr add 10.78.0.2/24 dev eth0"));
        must(&format!("ip -n {NAMESPACE} link set eth0 up"));
        must(&format!("ip -n {NAMESPACE} link set lo up"));
        Self
    }

    fn worker() -> Worker {
        Worker::start(&["ip", "netns", "exec", NAMESPACE], "10.78.0.2:5001", &[])
    }

    /// Drops packets in both directions, those for which `condition` holds.
    fn drop_packets(condition: &str) {
        Self::pass_packets();
        let nft = format!("ip netns exec {NAMESPACE} nft");
        must(&format!("{nft} add table inet faults"));
        for hook in ["input", "output"] {
            must(&format!("{nft} add chain inet faults {hook} {{ type filter hook {hook} priority 0 ; }}"));
            must(&format!("{nft} add rule inet faults {hook} {condition} drop"));
        }
    }

    fn pass_packets() {
        // Nothing is dropped yet at the first call.
        Command::new("ip").args(["netns", "exec", NAMESPACE, "nft", "flush", "ruleset"]).status().unwrap();
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        // What is not there needs no removal.
        for arguments in [["netns", "del", NAMESPACE], ["link", "del", OWN_DEVICE]] {
            drop(Command::new("ip").args(arguments).output());
        }
    }
}

#[test]
fn lost_packets_delay_calls_and_a_cut_network_fails_them() {
    if !is_root_test() {
        return;
    }
    let network = Network::new();
    let worker = Network::worker();
    let direct = Client::prepare(&worker);
    let hasty = Client::new(&worker, DEADLINE);
    hasty.ask();

    Network::drop_packets("");
    for (name, outcome) in hasty.call_all(100, DEADLINE, || {}) {
        assert_eq!(outcome.unwrap_err().code, ErrorCode::DeadlineExceeded, "{name}");
    }
    // Without a connection from before, connecting fails first.
    for (name, outcome) in Client::new(&worker, DEADLINE).call_all(200, DEADLINE, || {}) {
        let error = outcome.unwrap_err();
        assert!(matches!(error.code, ErrorCode::Io | ErrorCode::DeadlineExceeded), "{name}: {error}");
    }
    Network::pass_packets();
    assert!(direct.executed() <= 1);

    // One packet of five.
    let patient = Client::new(&worker, Duration::from_secs(30));
    Network::drop_packets("numgen random mod 100 < 20");
    let mut executed = 0;
    for round in 0..5 {
        for (name, outcome) in patient.call_all(1_000 + 100 * round, Duration::from_secs(30), || {}) {
            assert_eq!(outcome, Ok(()), "{name}");
            executed += usize::from(name == "RemoteExecute");
        }
    }
    Network::pass_packets();
    // Replies have brought some of the text back.
    assert!(direct.executed() <= executed);
    drop((worker, network));
}
