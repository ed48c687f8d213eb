//! `tfrt_translate`: MLIR text to BEF and back. It runs nothing.

use std::{ffi::OsString, io::Write};

use tfrt_convert::{ConvertOptions, bef_to_mlir, mlir_to_bef};
use tfrt_ir::{
    Diagnostics, Location, OpRegistry, ParseOptions, PrintOptions, Source, parse_module, print_module,
};

use super::{
    Outcome, args,
    parts::{Part, PartOptions, over_parts},
};
use crate::Console;

const USAGE: &str = "\
Translates MLIR text to BEF and back.

Usage: tfrt_translate --mlir-to-bef|--bef-to-mlir [OPTIONS] [FILE]

FILE is the input; '-' or nothing reads it from standard input.

  --mlir-to-bef                 encode MLIR text as a BEF file
  --bef-to-mlir                 decode a BEF file to MLIR text
  -o FILE                       write the result here instead of to standard output
  --disable-optional-sections   leave out what only --bef-to-mlir and other tools read
  --split-input-file            the input is several texts with lines '// -----' between them
  --verify-diagnostics          compare errors with 'expected-error' comments instead of printing them
  --mlir-print-op-generic       print all operations in generic form
  --mlir-print-debuginfo        print locations
  --help                        print this
";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    ToBef,
    ToMlir,
}

struct Options {
    file: String,
    output: String,
    direction: Option<Direction>,
    convert: ConvertOptions,
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
            direction: None,
            convert: ConvertOptions::default(),
            parts: PartOptions::default(),
            print: PrintOptions::default(),
            help: false,
        };
        let mut parser = lexopt::Parser::from_iter(args::normalize(args));
        while let Some(arg) = parser.next()? {
            match arg {
                Value(file) => options.file = file.string()?,
                Short('o') => options.output = args::text(&mut parser)?,
                Long("mlir-to-bef") => options.direction = Some(Direction::ToBef),
                Long("bef-to-mlir") => options.direction = Some(Direction::ToMlir),
                Long("disable-optional-sections") => {
                    options.convert.disable_optional_sections = args::switch(&mut parser)?;
                }
                Long("split-input-file") => options.parts.split = args::switch(&mut parser)?,
                Long("verify-diagnostics") => options.parts.verify_diagnostics = args::switch(&mut parser)?,
                Long("mlir-print-op-generic") => options.print.generic = args::switch(&mut parser)?,
                Long("mlir-print-debuginfo") => options.print.debug_info = args::switch(&mut parser)?,
                // Unknown operations always translate.
                Long("allow-unregistered-dialect") => _ = args::switch(&mut parser)?,
                Long("help") | Short('h') => options.help = true,
                other => return Err(other.unexpected()),
            }
        }
        if options.direction.is_none() && !options.help {
            return Err("one of --mlir-to-bef and --bef-to-mlir is needed".into());
        }
        Ok(options)
    }
}

/// Runs the tool; `args` begins with the program's name.
pub fn run(args: impl IntoIterator<Item = OsString>, mut console: Console) -> Outcome {
    let options = match Options::parse(args) {
        Ok(options) => options,
        Err(error) => {
            console.complain(format_args!("tfrt_translate: {error}\nTry 'tfrt_translate --help'."));
            return Outcome::Usage;
        }
    };
    if options.help {
        // A reader that went away has read enough.
        let _ = console.output.write_all(USAGE.as_bytes());
        return Outcome::Fine;
    }
    translate(&options, &mut console).unwrap_or_else(|message| {
        console.complain(format_args!("tfrt_translate: {message}"));
        Outcome::Failed
    })
}

fn translate(options: &Options, console: &mut Console) -> Result<Outcome, String> {
    let bytes = console.read(&options.file)?;
    let name = if options.file == "-" { "<stdin>" } else { &options.file };
    let ops = super::operations()?;
    let source = Source::new(name, bytes);
    let run = |part: &Source| match options.direction {
        Some(Direction::ToMlir) => to_mlir(options, part, &ops),
        _ => to_bef(options, part, &ops),
    };
    let (outcome, results) = over_parts(&source, options.parts, console, run);
    if outcome == Outcome::Fine {
        console.write(&options.output, &results.concat())?;
    }
    Ok(outcome)
}

fn to_bef(options: &Options, part: &Source, ops: &OpRegistry) -> Part {
    let parse =
        ParseOptions { first_error_only: options.parts.verify_diagnostics, ..ParseOptions::default() };
    let encoded = parse_module(part, ops, &parse).and_then(|module| mlir_to_bef(&module, options.convert));
    Part::new(encoded, Diagnostics::new())
}

fn to_mlir(options: &Options, part: &Source, ops: &OpRegistry) -> Part {
    let location = Location::file(part.name(), 0, 0);
    match bef_to_mlir(part.text().to_vec(), &location) {
        Ok(converted) => {
            let text = print_module(&converted.module, ops, options.print);
            Part::new(Ok(text.into_bytes()), converted.warnings)
        }
        Err(errors) => Part::new(Err(errors), Diagnostics::new()),
    }
}
