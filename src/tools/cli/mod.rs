//! `tfrt`: the friendly tool. Runs, measures and looks at programs.
//!
//! Results go to the output; errors, tables of progress and everything else to the error stream, in colour only on a
//! terminal. The exit code is 0 if all went well, 1 if the program or the input is wrong, 2 if the command line is.

mod bench;
mod devices;
mod graph;
mod inspect;
mod kernels;
mod ops;
mod program;
mod reference;
mod report;
mod resnet50;
mod run;
mod values;

use std::{ffi::OsString, io, path::Path};

use clap::{CommandFactory, Parser, Subcommand, error::ErrorKind};
use tfrt_host::{Diagnostic, ErrorCode};

use super::{Outcome, opt, translate};
use crate::{Console, Errors, console::failed};

/// A runtime for kernel graphs: runs programs written as MLIR text or encoded as BEF files.
#[derive(Parser)]
#[command(name = "tfrt", version, after_help = "Exit codes: 0 fine, 1 the program failed, 2 wrong usage.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a function of a program and print its results
    Run(run::Args),
    /// Measure a function's latency and throughput
    Bench(bench::Args),
    /// List the devices, and say why there are no CUDA devices if there are none
    Devices(devices::Args),
    /// Show what a program consists of
    Inspect(inspect::Args),
    /// Parse, verify and print MLIR text (tfrt_opt)
    #[command(disable_help_flag = true)]
    Opt(Rest),
    /// Translate MLIR text to BEF or back (tfrt_translate)
    #[command(disable_help_flag = true)]
    Translate(Rest),
    /// Write ResNet-50 programs, and convert weights for them
    Resnet50(resnet50::Args),
    /// Print the reference of all kernels
    Kernels(reference::Args),
    /// Print the reference of all ops
    Ops(reference::Args),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// Arguments of another tool.
#[derive(clap::Args)]
struct Rest {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

impl Rest {
    fn with_name(self, name: &str) -> impl Iterator<Item = OsString> {
        std::iter::once(OsString::from(name)).chain(self.arguments)
    }
}

/// The error of a file that cannot be read or written.
fn file_error(what: &str, file: impl AsRef<Path>, error: io::Error) -> Diagnostic {
    Diagnostic::new(ErrorCode::Io, failed(what, file.as_ref(), &error))
}

/// Why a command ended early.
enum Failure {
    /// The command line asks for something that does not exist.
    Usage(String),
    /// Something went wrong that has been told already.
    Told,
    /// The program or the input is wrong.
    Errors(Errors),
}

impl<E: Into<Errors>> From<E> for Failure {
    fn from(errors: E) -> Self {
        Self::Errors(errors.into())
    }
}

/// Runs the tool; `args` begins with the program's name.
pub fn run(args: impl IntoIterator<Item = OsString>, mut console: Console) -> Outcome {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => return explain(&error, &mut console),
    };
    let done = match cli.command {
        Command::Run(args) => run::run(&args, &mut console),
        Command::Bench(args) => bench::run(&args, &mut console),
        Command::Devices(args) => devices::run(&args, &mut console),
        Command::Inspect(args) => inspect::run(&args, &mut console),
        Command::Opt(rest) => return opt::run(rest.with_name("tfrt opt"), console),
        Command::Translate(rest) => return translate::run(rest.with_name("tfrt translate"), console),
        Command::Resnet50(args) => resnet50::run(&args, &mut console),
        Command::Kernels(args) => kernels::run(&args, &mut console),
        Command::Ops(args) => ops::run(&args, &mut console),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "tfrt", &mut script);
            console.print(String::from_utf8_lossy(&script));
            Ok(())
        }
    };
    let outcome = match done {
        Ok(()) => Outcome::Fine,
        Err(Failure::Told) => Outcome::Failed,
        Err(Failure::Usage(message)) => {
            console.complain(format_args!("error: {message}\n\nFor more information, try '--help'."));
            Outcome::Usage
        }
        Err(Failure::Errors(errors)) => {
            report::report(&errors.0, &mut console);
            Outcome::Failed
        }
    };
    console.end(outcome)
}

/// Help and versions are results, all else is wrong usage.
fn explain(error: &clap::Error, console: &mut Console) -> Outcome {
    let text = if console.terminal { error.render().ansi().to_string() } else { error.render().to_string() };
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        console.print(text);
        return console.end(Outcome::Fine);
    }
    console.complain(text.trim_end());
    Outcome::Usage
}

/// `--json` output: one value, readable, with a line end.
fn print_json(console: &mut Console, value: &serde_json::Value) {
    console.print(format_args!("{value:#}\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
