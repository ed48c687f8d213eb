//! Translates MLIR text to BEF and back; see [`tfrt::tools::translate`].

use std::process::ExitCode;

fn main() -> ExitCode {
    tfrt::tools::translate::run(std::env::args_os(), tfrt::Console::process()).into()
}
