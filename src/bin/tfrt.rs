//! The friendly tool; see [`tfrt::tools::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    tfrt::tools::cli::run(std::env::args_os(), tfrt::Console::process()).into()
}
