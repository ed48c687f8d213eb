//! Runs the functions of a BEF file; see [`tfrt::tools::bef_executor`].

use std::process::ExitCode;

fn main() -> ExitCode {
    tfrt::tools::bef_executor::run(std::env::args_os(), tfrt::Console::process()).into()
}
