//! What the tools that read and write text have in common: files, options, help, the answer to wrong options.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use tfrt_ir::{PrintOptions, Source};

use super::{Outcome, args, parts::PartOptions};
use crate::Console;

/// The options that all of them have.
pub(super) struct TextOptions {
    file: Option<PathBuf>,
    output: PathBuf,
    pub(super) parts: PartOptions,
    pub(super) print: PrintOptions,
    help: bool,
}

impl TextOptions {
    /// Reads a command line that begins with the program's name. `own` takes the long options that only this tool has;
    /// false from it means that there is no such option.
    pub(super) fn parse(
        args: impl IntoIterator<Item = OsString>,
        mut own: impl FnMut(&str, &mut lexopt::Parser) -> Result<bool, lexopt::Error>,
    ) -> Result<Self, lexopt::Error> {
        use lexopt::prelude::*;
        let mut options = Self {
            file: None,
            output: PathBuf::from("-"),
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
                "split-input-file" => options.parts.split = args::switch(&mut parser)?,
                "verify-diagnostics" => options.parts.verify_diagnostics = args::switch(&mut parser)?,
                "mlir-print-op-generic" => options.print.generic = args::switch(&mut parser)?,
                "mlir-print-debuginfo" => options.print.debug_info = args::switch(&mut parser)?,
                "help" => options.help = true,
                name if own(name, &mut parser)? => {}
                name => return Err(Long(name).unexpected()),
            }
        }
        Ok(options)
    }

    /// Whether the user only asks for help.
    pub(super) fn is_help(&self) -> bool {
        self.help
    }

    /// The input.
    pub(super) fn read(&self, console: &mut Console) -> Result<Source, String> {
        let file = self.file.as_deref().unwrap_or(Path::new("-"));
        let bytes = console.read(file)?;
        let name = if file == Path::new("-") { "<stdin>".into() } else { file.to_string_lossy() };
        Ok(Source::new(&*name, bytes))
    }

    /// Puts the result where it belongs.
    pub(super) fn write(&self, console: &mut Console, result: &[u8]) -> Result<(), String> {
        console.write(&self.output, result)
    }
}

/// Runs a tool: looks at its options, then works, or helps.
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
