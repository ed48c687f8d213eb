//! `tfrt_worker`: see `tfrt_worker --help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    tfrt_worker::run(std::env::args_os())
}
