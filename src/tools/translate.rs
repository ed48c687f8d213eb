//! `tfrt_translate`: MLIR text to BEF and back. It runs nothing.

use std::ffi::OsString;

use tfrt_convert::{ConvertOptions, bef_to_mlir, mlir_to_bef};
use tfrt_ir::{Diagnostics, Location, OpRegistry, ParseOptions, Source, parse_module, print_module};

use super::{
    Outcome, args,
    parts::{Part, over_parts},
    text_tool::{self, TextOptions},
};
use crate::Console;

const USAGE: &str = "\
Translate MLIR text to BEF or back.

Usage: tfrt_translate --mlir-to-bef|--bef-to-mlir [OPTIONS] [FILE]

FILE is the input; '-', or no FILE, reads standard input.

  --mlir-to-bef                 encode MLIR text as a BEF file
  --bef-to-mlir                 decode a BEF file to MLIR text
  -o FILE                       write the result to FILE instead of standard output
  --kernels LIBRARY             load kernels from a shared library, whose code runs in this process
  --disable-optional-sections   omit the sections that only --bef-to-mlir and other tools read
  --split-input-file            split the input at lines '// -----' and process each part by itself
  --verify-diagnostics          check errors against 'expected-error' comments instead of printing them
  --mlir-print-op-generic       print all operations in generic form
  --mlir-print-debuginfo        print locations
  --mlir-elide-elementsattrs-if-larger N
                                omit dense elements of more than N elements
  --help                        print this help
";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    ToBef,
    ToMlir,
}

struct Options {
    text: TextOptions,
    direction: Direction,
    convert: ConvertOptions,
}

impl Options {
    fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Self, lexopt::Error> {
        let (mut to_bef, mut to_mlir) = (false, false);
        let mut convert = ConvertOptions::default();
        let text = TextOptions::parse(args, |option, parser| {
            match option {
                "mlir-to-bef" => to_bef = args::switch(parser)?,
                "bef-to-mlir" => to_mlir = args::switch(parser)?,
                "disable-optional-sections" => convert.disable_optional_sections = args::switch(parser)?,
                // Unknown operations always translate.
                "allow-unregistered-dialect" => _ = args::switch(parser)?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        if to_bef == to_mlir && !text.is_help() {
            return Err("one of --mlir-to-bef and --bef-to-mlir is needed".into());
        }
        let direction = if to_mlir { Direction::ToMlir } else { Direction::ToBef };
        Ok(Self { text, direction, convert })
    }
}

/// Runs the tool; `args` begins with the program's name.
pub fn run(args: impl IntoIterator<Item = OsString>, console: Console) -> Outcome {
    text_tool::run("tfrt_translate", USAGE, Options::parse(args), |options| &options.text, translate, console)
}

fn translate(options: &Options, console: &mut Console) -> Result<Outcome, String> {
    let source = options.text.read(console)?;
    let ops = super::operations(&options.text.kernels)?;
    let run = |part: &Source| match options.direction {
        Direction::ToMlir => to_mlir(options, part, &ops),
        Direction::ToBef => to_bef(options, part, &ops),
    };
    let (outcome, results) = over_parts(&source, options.text.parts, console, run);
    if outcome == Outcome::Fine {
        options.text.write(console, &results.concat())?;
    }
    Ok(outcome)
}

fn to_bef(options: &Options, part: &Source, ops: &OpRegistry) -> Part {
    let parse =
        ParseOptions { first_error_only: options.text.parts.verify_diagnostics, ..ParseOptions::default() };
    let encoded =
        parse_module(part, ops, &parse).and_then(|module| mlir_to_bef(&module, ops, options.convert));
    Part::new(encoded, Diagnostics::new())
}

fn to_mlir(options: &Options, part: &Source, ops: &OpRegistry) -> Part {
    let location = Location::file(part.name(), 0, 0);
    match bef_to_mlir(part.text().to_vec(), ops, &location) {
        Ok(converted) => {
            let text = print_module(&converted.module, ops, options.text.print);
            Part::new(Ok(text.into_bytes()), converted.warnings)
        }
        Err(errors) => Part::new(Err(errors), Diagnostics::new()),
    }
}
