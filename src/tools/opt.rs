//! `tfrt_opt`: parses MLIR text, verifies it, and prints it again.

use std::ffi::OsString;

use tfrt_ir::{Diagnostics, ParseOptions, parse_module, print_module};

use super::{
    Outcome, args,
    parts::{Part, over_parts},
    text_tool::{self, TextOptions},
};
use crate::Console;

const USAGE: &str = "\
Parse MLIR text, verify it and print it again.

Usage: tfrt_opt [OPTIONS] [FILE]

FILE is the input; '-', or no FILE, reads standard input.

  -o FILE                       write the result to FILE instead of standard output
  --kernels LIBRARY             load kernels from a shared library, whose code runs in this process
  --allow-unregistered-dialect  accept operations that no kernel or dialect defines
  --split-input-file            split the input at lines '// -----' and process each part by itself
  --verify-diagnostics          check errors against 'expected-error' comments instead of printing them
  --mlir-print-op-generic       print all operations in generic form
  --mlir-print-debuginfo        print locations
  --mlir-elide-elementsattrs-if-larger N
                                omit dense elements of more than N elements
  --help                        print this help
";

struct Options {
    text: TextOptions,
    parse: ParseOptions,
}

impl Options {
    fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Self, lexopt::Error> {
        let mut parse = ParseOptions { allow_unregistered: false, ..ParseOptions::default() };
        let text = TextOptions::parse(args, |option, parser| {
            match option {
                "allow-unregistered-dialect" => parse.allow_unregistered = args::switch(parser)?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        parse.first_error_only = text.parts.verify_diagnostics;
        Ok(Self { text, parse })
    }
}

/// Runs the tool; `args` begins with the program's name.
pub fn run(args: impl IntoIterator<Item = OsString>, console: Console) -> Outcome {
    text_tool::run("tfrt_opt", USAGE, Options::parse(args), |options| &options.text, optimize, console)
}

fn optimize(options: &Options, console: &mut Console) -> Result<Outcome, String> {
    let source = options.text.read(console)?;
    let ops = super::operations(&options.text.kernels)?;
    let (outcome, results) = over_parts(&source, options.text.parts, console, |part| {
        let text = parse_module(part, &ops, &options.parse)
            .map(|module| print_module(&module, &ops, options.text.print).into_bytes());
        Part::new(text, Diagnostics::new())
    });
    if outcome == Outcome::Fine {
        options.text.write(console, &results.join(&b"\n// -----\n"[..]))?;
    }
    Ok(outcome)
}
