//! Runs, measures and inspects programs; see [`tfrt::tools::cli`].

use std::process::ExitCode;

use tfrt::{Console, tools};

fn main() -> ExitCode {
    tools::on_large_stack(|| tools::cli::run(std::env::args_os(), Console::process())).into()
}
