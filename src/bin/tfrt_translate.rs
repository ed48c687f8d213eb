//! Translates MLIR text to BEF and back; see [`tfrt::tools::translate`].

use std::process::ExitCode;

use tfrt::{Console, tools};

fn main() -> ExitCode {
    tools::on_large_stack(|| tools::translate::run(std::env::args_os(), Console::process())).into()
}
