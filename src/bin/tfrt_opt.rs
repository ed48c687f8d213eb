//! Parses, verifies and prints MLIR text; see [`tfrt::tools::opt`].

use std::process::ExitCode;

use tfrt::{Console, tools};

fn main() -> ExitCode {
    tools::on_large_stack(|| tools::opt::run(std::env::args_os(), Console::process())).into()
}
