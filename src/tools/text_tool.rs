//! The parts that the tools for MLIR text share: files, options, help, and the answer to wrong
//! options.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use tfrt_ir::{PrintOptions, Source};

use super::{Outcome, args, parts::PartOptions};
use crate::Console;

/// The options of all tools for text.
pub(super) struct TextOptions {
    file: Option<PathBuf>,
    output: PathBuf,
    pub(super) kernels: Vec<PathBuf>,
    pub(super) parts: PartOptions,
    pub(super) print: PrintOptions,
    help: bool,
}

impl TextOptions {
    /// Parses a command line that begins with the program's name. `own` parses the long options
    /// that only this tool has, and returns false for an unknown option.
    pub(super) fn parse(
        args: impl IntoIterator<Item = OsString>,
        mut own: impl FnMut(&str, &mut lexopt::Parser) -> Result<bool, lexopt::Error>,
    ) -> Result<Self, lexopt::Error> {
        use lexopt::prelude::*;
        let mut options = Self {
            file: None,
            output: PathBuf::from("-"),
            kernels: Vec::new(),
            parts: PartOptions::default(),
            print: PrintOptions::default(),
            help: false,
        };
        let mut parser = lexopt::Parser::from_iter(args::normalize(args));
        while let Some(arg) = parser.next()? {
            let name = match arg {
                Long(name) => name.to_owned(),
                Short('o') => {
                    options.output = parser.value()?.into();
                    continue;
                }
                Short('h') => "help".to_owned(),
                Value(value) => {
                    args::only_file(&mut options.file, value)?;
                    continue;
                }
                other => return Err(other.unexpected()),
            };
            match &*name {
                "kernels" => options.kernels.push(parser.value()?.into()),
                "split-input-file" => options.parts.split = args::switch(&mut parser)?,
                "verify-diagnostics" => options.parts.verify_diagnostics = args::switch(&mut parser)?,
                "mlir-print-op-generic" => options.print.generic = args::switch(&mut parser)?,
                "mlir-print-debuginfo" => options.print.debug_info = args::switch(&mut parser)?,
                "mlir-elide-elementsattrs-if-larger" => {
                    options.print.max_dense_elements = Some(parser.value()?.parse()?);
                }
                "help" => options.help = true,
                name if own(name, &mut parser)? => {}
                name => return Err(Long(name).unexpected()),
            }
        }
        Ok(options)
    }

    /// Whether the user asks for help.
    pub(super) fn is_help(&self) -> bool {
        self.help
    }

    /// Reads the input.
    pub(super) fn read(&self, console: &mut Console) -> Result<Source, String> {
        let file = self.file.as_deref().unwrap_or(Path::new("-"));
        let bytes = console.read(file)?;
        let name = if file == Path::new("-") { "<stdin>".into() } else { file.to_string_lossy() };
        Ok(Source::new(&*name, bytes))
    }

    /// Writes the result to the output file.
    pub(super) fn write(&self, console: &mut Console, result: &[u8]) -> Result<(), String> {
        console.write(&self.output, result)
    }
}

/// Runs a tool: prints its help, or does its work.
pub(super) fn run<O>(
    name: &str,
    usage: &str,
    options: Result<O, lexopt::Error>,
    text_options: impl FnOnce(&O) -> &TextOptions,
    work: impl FnOnce(&O, &mut Console) -> Result<Outcome, String>,
    mut console: Console,
) -> Outcome {
    let options = match options {
        Ok(options) => options,
        Err(error) => {
            console.complain(format_args!("{name}: {error}\nTry '{name} --help'."));
            return Outcome::Usage;
        }
    };
    if text_options(&options).is_help() {
        console.print(usage);
        return console.end(Outcome::Fine);
    }
    let outcome = work(&options, &mut console).unwrap_or_else(|message| {
        console.complain(format_args!("{name}: {message}"));
        Outcome::Failed
    });
    console.end(outcome)
}
