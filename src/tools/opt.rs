//! `tfrt_opt`: parses MLIR text, verifies it, and prints it again.

use std::{ffi::OsString, io::Write};

use tfrt_ir::{Diagnostics, ParseOptions, PrintOptions, Source, parse_module, print_module};

use super::{
    Outcome, args,
    parts::{Part, PartOptions, over_parts},
};
use crate::Console;

const USAGE: &str = "\
Parses MLIR text, verifies it and prints it again.

Usage: tfrt_opt [OPTIONS] [FILE]

FILE is the input; '-' or nothing reads it from standard input.

  -o FILE                       write the result here instead of to standard output
  --allow-unregistered-dialect  accept operations that no kernel and no dialect defines
  --split-input-file            the input is several texts with lines '// -----' between them
  --verify-diagnostics          compare errors with 'expected-error' comments instead of printing them
  --mlir-print-op-generic       print all operations in generic form
  --mlir-print-debuginfo        print locations
  --help                        print this
";

struct Options {
    file: String,
    output: String,
    parse: ParseOptions,
    parts: PartOptions,
    print: PrintOptions,
    help: bool,
}

impl Options {
    fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Self, lexopt::Error> {
        use lexopt::prelude::*;
        let mut options = Self {
            file: "-".to_owned(),
            output: "-".to_owned(),
            parse: ParseOptions { allow_unregistered: false, ..ParseOptions::default() },
            parts: PartOptions::default(),
            print: PrintOptions::default(),
            help: false,
        };
        let mut parser = lexopt::Parser::from_iter(args::normalize(args));
        while let Some(arg) = parser.next()? {
            match arg {
                Value(file) => options.file = file.string()?,
                Short('o') => options.output = args::text(&mut parser)?,
                Long("allow-unregistered-dialect") => {
                    options.parse.allow_unregistered = args::switch(&mut parser)?;
                }
                Long("split-input-file") => options.parts.split = args::switch(&mut parser)?,
                Long("verify-diagnostics") => options.parts.verify_diagnostics = args::switch(&mut parser)?,
                Long("mlir-print-op-generic") => options.print.generic = args::switch(&mut parser)?,
                Long("mlir-print-debuginfo") => options.print.debug_info = args::switch(&mut parser)?,
                Long("help") | Short('h') => options.help = true,
                other => return Err(other.unexpected()),
            }
        }
        options.parse.first_error_only = options.parts.verify_diagnostics;
        Ok(options)
    }
}

/// Runs the tool; `args` begins with the program's name.
pub fn run(args: impl IntoIterator<Item = OsString>, mut console: Console) -> Outcome {
    let options = match Options::parse(args) {
        Ok(options) => options,
        Err(error) => {
            console.complain(format_args!("tfrt_opt: {error}\nTry 'tfrt_opt --help'."));
            return Outcome::Usage;
        }
    };
    if options.help {
        // A reader that went away has read enough.
        let _ = console.output.write_all(USAGE.as_bytes());
        return Outcome::Fine;
    }
    optimize(&options, &mut console).unwrap_or_else(|message| {
        console.complain(format_args!("tfrt_opt: {message}"));
        Outcome::Failed
    })
}

fn optimize(options: &Options, console: &mut Console) -> Result<Outcome, String> {
    let bytes = console.read(&options.file)?;
    let name = if options.file == "-" { "<stdin>" } else { &options.file };
    let ops = super::operations()?;
    let source = Source::new(name, bytes);
    let (outcome, results) = over_parts(&source, options.parts, console, |part| {
        let text = parse_module(part, &ops, &options.parse)
            .map(|module| print_module(&module, &ops, options.print).into_bytes());
        Part::new(text, Diagnostics::new())
    });
    if outcome == Outcome::Fine {
        console.write(&options.output, &results.join(&b"\n// -----\n"[..]))?;
    }
    Ok(outcome)
}
