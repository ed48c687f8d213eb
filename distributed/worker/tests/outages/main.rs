//! Every call, while the worker is stopped or killed, while packets are lost, and while its disk is
//! full: an error that names the call, the task and the address within the deadline, and nothing
//! executed twice.
//!
//! Networks and disks need root: `ci/distributed` runs these tests with `TFRT_TEST_ROOT=1`.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]
#![expect(clippy::print_stdout, reason = "tells what is skipped")]

#[allow(dead_code, clippy::allow_attributes, reason = "other tests use the rest")]
#[path = "../../../tests/remote/calls.rs"]
mod calls;
mod disk;
mod network;
mod processes;
#[allow(dead_code, clippy::allow_attributes, reason = "other tests use the rest")]
#[path = "../../../tests/remote/requests.rs"]
mod requests;
mod support;

/// Whether tests may change networks and mount file systems. Tells it if not.
fn is_root_test() -> bool {
    let is_root = std::env::var_os("TFRT_TEST_ROOT").is_some();
    if !is_root {
        // The test's output says why it did nothing.
        println!("skipped: needs root; ci/distributed sets TFRT_TEST_ROOT");
    }
    is_root
}
