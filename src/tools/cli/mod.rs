//! `tfrt`: runs, measures and inspects programs.
//!
//! Results go to the output; errors, progress and everything else go to the error stream. The exit
//! code is 0 for success, 1 if the program failed or a file is wrong, 2 if the command line is
//! wrong, and 130 if SIGINT ended the run.

mod bench;
mod calibrate;
mod check;
mod classes;
mod compile;
mod devices;
mod explain;
mod flame;
mod graph;
mod host_ops;
mod inspect;
mod join;
mod kernels;
mod launch;
mod merge_traces;
mod model;
mod model_inputs;
mod onnx_ops;
mod ops;
mod precision;
mod profile;
mod program;
mod progress;
mod reference;
mod report;
mod resnet50;
mod run;
mod tie;
mod values;
mod weights;

use std::{
    ffi::OsString,
    fmt,
    io::{self, BufWriter, Write},
    path::Path,
};

use clap::{CommandFactory, Parser, Subcommand, ValueEnum, error::ErrorKind};
use serde::Serialize;
use serde_json::json;
use tfrt_host::{Diagnostic, ErrorCode};

use super::{Outcome, opt, translate};
use crate::{Console, Errors, console::failed};

/// Run kernel graphs, written as MLIR text or as BEF files, on CPUs and GPUs.
#[derive(Parser)]
#[command(
    name = "tfrt",
    version,
    max_term_width = 100,
    after_help = "Exit codes: 0 success, 1 the program failed, 2 wrong usage, 130 interrupted."
)]
struct Cli {
    /// Use colors in messages
    ///
    /// auto uses colors on a terminal. NO_COLOR, CLICOLOR_FORCE and TERM=dumb are observed.
    #[arg(long, global = true, display_order = 1000, value_name = "WHEN", default_value = "auto")]
    color: Color,
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

impl Color {
    fn apply(self, console: &mut Console) {
        match self {
            Self::Auto => {}
            Self::Always => console.use_color = true,
            Self::Never => console.use_color = false,
        }
    }

    /// Finds the choice in a command line that does not parse.
    fn of_arguments(arguments: &[OsString]) -> Self {
        let is_option =
            |argument: &OsString| argument.to_str().is_some_and(|text| text.starts_with("--color"));
        let Some(at) = arguments.iter().position(is_option) else { return Self::Auto };
        let value = match arguments[at].to_str().and_then(|text| text.split_once('=')) {
            Some((_, value)) => Some(value),
            None => arguments.get(at + 1).and_then(|value| value.to_str()),
        };
        value.and_then(|value| Self::from_str(value, false).ok()).unwrap_or(Self::Auto)
    }
}

#[derive(Subcommand)]
enum Command {
    /// Run a function of a program and print its results
    Run(run::Args),
    /// Measure a function's latency and throughput
    Bench(bench::Args),
    /// Start a command as several ranks on this host, and end all of them if one fails
    Launch(launch::Args),
    /// Compile a model into a program and its weights
    Compile(compile::Args),
    /// Prove that a program orders what its devices do, without running it
    Check(check::Args),
    /// List the devices, and the reason if there are no CUDA devices
    Devices(devices::Args),
    /// Show a program's sections, functions and kernels, or a function's graph
    Inspect(inspect::Args),
    /// Parse, verify and print MLIR text (tfrt_opt)
    #[command(disable_help_flag = true)]
    Opt(Rest),
    /// Translate MLIR text to BEF or back (tfrt_translate)
    #[command(disable_help_flag = true)]
    Translate(Rest),
    /// Write ResNet-50 programs and convert weights for them
    Resnet50(resnet50::Args),
    /// Print the reference of all kernels, or of some
    Kernels(kernels::Args),
    /// Print the reference of all ops, or of some
    Ops(ops::Args),
    /// Print completions for a shell
    Completions {
        /// Shell to complete in
        shell: clap_complete::Shell,
    },
}

impl Command {
    fn prints_json(&self) -> bool {
        match self {
            Self::Run(args) => args.json,
            Self::Bench(args) => args.json,
            Self::Check(args) => args.json,
            Self::Devices(args) => args.json,
            Self::Inspect(args) => args.json,
            Self::Kernels(args) => args.reference.json,
            Self::Ops(args) => args.reference.json,
            Self::Compile(_)
            | Self::Launch(_)
            | Self::Opt(_)
            | Self::Translate(_)
            | Self::Resnet50(_)
            | Self::Completions { .. } => false,
        }
    }
}

/// Arguments that are passed on to another tool.
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

/// Returns the error of a file that cannot be read or written.
fn file_error(what: &str, file: impl AsRef<Path>, error: io::Error) -> Diagnostic {
    Diagnostic::new(ErrorCode::Io, failed(what, file.as_ref(), &error))
}

/// Why a command ended early.
enum Failure {
    /// The command line is wrong.
    Usage(String),
    /// The errors have been reported already.
    Reported,
    /// The program or a file is wrong.
    Errors(Errors),
    /// The program was interrupted. What it has produced so far has been shown.
    Interrupted,
}

impl Failure {
    /// Puts `context` before the messages.
    fn in_context(self, context: impl fmt::Display) -> Self {
        match self {
            Self::Usage(message) => Self::Usage(format!("{context}: {message}")),
            Self::Reported => Self::Reported,
            Self::Interrupted => Self::Interrupted,
            Self::Errors(Errors(mut errors)) => {
                for error in &mut errors {
                    error.message = format!("{context}: {}", error.message);
                }
                Self::Errors(Errors(errors))
            }
        }
    }

    /// Reports the failure, as JSON too if the command's output is JSON.
    fn report(self, as_json: bool, console: &mut Console) -> Outcome {
        let (errors, outcome) = match self {
            Self::Reported => return Outcome::Failed,
            Self::Interrupted => {
                console.complain("interrupted");
                return Outcome::Interrupted;
            }
            Self::Usage(message) => {
                let shown = report::visible(&message);
                console.complain(format_args!("error: {shown}\n\nFor more information, try '--help'."));
                (vec![json!({ "code": "Usage", "message": message })], Outcome::Usage)
            }
            Self::Errors(Errors(errors)) => {
                report::report(&errors, console);
                (report::to_json(&errors), Outcome::Failed)
            }
        };
        if as_json {
            print_json(console, &json!({ "errors": errors }));
        }
        outcome
    }
}

impl<E: Into<Errors>> From<E> for Failure {
    fn from(errors: E) -> Self {
        Self::Errors(errors.into())
    }
}

/// Runs the tool; `args` begins with the program's name.
pub fn run(args: impl IntoIterator<Item = OsString>, mut console: Console) -> Outcome {
    let args: Vec<_> = args.into_iter().collect();
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => {
            Color::of_arguments(&args).apply(&mut console);
            return explain(&error, &mut console);
        }
    };
    cli.color.apply(&mut console);
    let is_json = cli.command.prints_json();
    let done = match cli.command {
        Command::Run(args) => run::run(&args, &mut console),
        Command::Launch(args) => {
            let ended = launch::run(&args, &mut console);
            let outcome = ended.unwrap_or_else(|failure| failure.report(is_json, &mut console));
            return console.end(outcome);
        }
        Command::Bench(args) => bench::run(&args, &mut console),
        Command::Compile(args) => compile::run(&args, &mut console),
        Command::Check(args) => check::run(&args, &mut console),
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
    let outcome = done.map_or_else(|failure| failure.report(is_json, &mut console), |()| Outcome::Fine);
    console.end(outcome)
}

/// Prints help and versions, which are results, and reports wrong usage.
fn explain(error: &clap::Error, console: &mut Console) -> Outcome {
    let text = if console.use_color { error.render().ansi().to_string() } else { error.render().to_string() };
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        console.print(text);
        return console.end(Outcome::Fine);
    }
    console.complain(text.trim_end());
    Outcome::Usage
}

/// Prints the output of `--json`: one value, indented. Values are written while they are
/// serialized, so that a large tensor is never in memory as text.
fn print_json(console: &mut Console, value: &impl Serialize) {
    // The output remembers the error of a write. Nothing that the tools print fails to serialize.
    let mut output = BufWriter::new(console.output.clone());
    let _ = serde_json::to_writer_pretty(&mut output, value);
    let _ = output.write_all(b"\n");
    let _ = output.flush();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
