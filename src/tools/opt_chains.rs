//! The options of `tfrt_opt` for the chains of kernel graphs.

use tfrt_compiler::chains;
use tfrt_ir::{Diagnostic, Diagnostics, Module, OpRegistry, ParseOptions, Source, parse_module};

use super::args;

/// The lines of the help text.
pub(super) const USAGE: &str = "
Passes over a kernel graph, which run in this order:

  --strip-chains                take the chains out of all functions, branches and loops
  --insert-chains               insert the fewest chains that order all effects and all accesses of the
                                same contents; the text may have no chains at all
  --check-chains                report accesses of the same contents that no chain orders
";

/// Which passes run.
#[derive(Clone, Copy, Default)]
pub(super) struct ChainOptions {
    strips: bool,
    inserts: bool,
    checks: bool,
}

impl ChainOptions {
    /// Parses an option; returns false for an unknown one.
    pub(super) fn parse(&mut self, option: &str, parser: &mut lexopt::Parser) -> Result<bool, lexopt::Error> {
        match option {
            "strip-chains" => self.strips = args::switch(parser)?,
            "insert-chains" => self.inserts = args::switch(parser)?,
            "check-chains" => self.checks = args::switch(parser)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Parses text that is no program with chains as one without, if chains are inserted.
    pub(super) fn parse_without_chains(
        self,
        parsed: Result<Module, Diagnostics>,
        source: &Source,
        ops: &OpRegistry,
        options: &ParseOptions,
    ) -> Result<Module, Diagnostics> {
        parsed.or_else(|errors| match self.inserts {
            true => parse_module(source, &chains::without_chains(ops), options).map_err(|_| errors),
            false => Err(errors),
        })
    }

    /// Runs the passes.
    pub(super) fn process(self, mut module: Module, ops: &OpRegistry) -> Result<Module, Diagnostics> {
        if self.strips {
            chains::strip(&mut module, ops);
        }
        if self.inserts {
            chains::insert(&mut module, ops)?;
        }
        let missing = if self.checks { missing_chains(&module, ops) } else { Diagnostics::new() };
        if missing.is_empty() { Ok(module) } else { Err(missing) }
    }
}

/// Returns an error for each missing chain.
fn missing_chains(module: &Module, ops: &OpRegistry) -> Diagnostics {
    let mut found = Diagnostics::new();
    for missing in chains::check(module, ops) {
        let error = Diagnostic::error(missing.location, missing.message);
        let noted =
            missing.notes.into_iter().fold(error, |error, note| error.note(note.location, note.message));
        found.push(noted);
    }
    found
}
