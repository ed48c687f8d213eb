//! Parses, verifies and prints MLIR text; see [`tfrt::tools::opt`].

use std::process::ExitCode;

fn main() -> ExitCode {
    tfrt::tools::opt::run(std::env::args_os(), tfrt::Console::process()).into()
}
