//! The device layer's conformance suite, on plug-ins: the sample in both layouts, and in that of
//! the first releases.
//!
//! What the API cannot do is skipped, with the reason.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "cases end that way, and the suite tells what it did"
)]

#[path = "../support/skips.rs"]
mod skips;
#[path = "../../../cuda/tests/conformance/suite.rs"]
mod suite;
#[path = "../support/mod.rs"]
mod support;

use std::path::Path;
use std::process::ExitCode;

use tfrt_device::front::Platform;
use tfrt_plugin::Plugin;

fn main() -> ExitCode {
    let (filter, mut total) = (suite::filter(), [0; 3]);
    let dir = support::scratch("conformance");
    let released = format!("-I{}", support::sources().join("released").display());
    let builds: [(&str, Vec<&str>); 3] = [
        ("rfc", vec![]),
        ("released", vec!["-DRELEASED", &released]),
        ("first-release", vec!["-DRELEASED", "-DFIRST_RELEASE", &released]),
    ];
    for (name, arguments) in builds {
        let library = dir.join(format!("sample-{name}.so"));
        support::plugin(&support::sources().join("sample.c"), &library, &arguments);
        run(&library, filter.as_deref(), &mut total);
    }
    std::fs::remove_dir_all(dir).unwrap();
    if suite::conclude(total) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run(library: &Path, filter: Option<&str>, total: &mut [usize; 3]) {
    let plugin = Plugin::load(library).unwrap();
    println!("{plugin:?}");
    let platform = Platform::new(plugin.backend());
    let counts = suite::run(&platform, skips::SKIPS, filter);
    println!("{}: {} passed, {} failed, {} skipped", library.display(), counts[0], counts[1], counts[2]);
    total.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
}
