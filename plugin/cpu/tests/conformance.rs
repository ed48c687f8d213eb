//! The device layer's conformance suite, on our CPU device served as a plug-in and loaded back.
//!
//! What the API cannot do is skipped, with the reason.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "cases end that way, and the suite tells what it did"
)]

#[path = "../../tests/support/skips.rs"]
mod skips;
#[path = "../../../cuda/tests/conformance/suite.rs"]
mod suite;

use std::process::ExitCode;

use tfrt_device::front::Platform;
use tfrt_plugin::Plugin;

fn main() -> ExitCode {
    // Built before this test, and lies beside it.
    let library = std::env::current_exe().unwrap().with_file_name("libtfrt_cpu_plugin.so");
    let plugin = Plugin::load(&library).unwrap();
    println!("{plugin:?}");
    let platform = Platform::new(plugin.backend());
    let counts = suite::run(&platform, skips::SKIPS, suite::filter().as_deref());
    if suite::conclude(counts) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
