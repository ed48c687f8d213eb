//! Runs the functions of a BEF file; see [`tfrt::tools::bef_executor`].

use std::process::ExitCode;

use tfrt::{Console, tools};

fn main() -> ExitCode {
    tools::on_large_stack(|| tools::bef_executor::run(std::env::args_os(), Console::process())).into()
}
