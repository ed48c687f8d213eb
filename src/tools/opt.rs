//! `tfrt_opt`: parses MLIR text, verifies it, runs passes of the compiler over op graphs, and
//! prints it again.

use std::{ffi::OsString, fmt::Write as _, io::Write as _, ops::ControlFlow, time::Duration};

use tfrt_compiler::{Evaluator, Graph, pass};
use tfrt_ir::{
    Diagnostic, Diagnostics, Location, Module, OpRegistry, ParseOptions, PrintOptions, Source, parse_module,
    print_module,
};

use super::{
    Outcome, args,
    opt_chains::{self, ChainOptions},
    parts::{Part, over_parts},
    text_tool::{self, TextOptions},
};
use crate::{Console, Errors, Runtime, SharedWriter};

const USAGE: &str = "\
Parse MLIR text, verify it, run passes and print it again.

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

Passes of the compiler run over an op graph, in the order in which they are given:

";

const PASS_USAGE: &str = "
  --verify-op-graph             check that the text is an op graph, without running a pass
  --print-ir-after NAME|all     print the op graph after the pass NAME, or after each pass, to standard error
  --stop-after NAME             end after the pass NAME
  --timing                      print how long each pass took to standard error
";

/// The help text, with all passes.
fn usage() -> String {
    let mut usage = USAGE.to_owned();
    for pass in pass::PASSES {
        // Writing to a string cannot fail.
        let _ = writeln!(usage, "  --{:<28}{}", pass.name, pass.summary);
    }
    usage + PASS_USAGE + opt_chains::USAGE
}

struct Options {
    text: TextOptions,
    parse: ParseOptions,
    passes: PassOptions,
    chains: ChainOptions,
}

/// What is done with an op graph.
#[derive(Default)]
struct PassOptions {
    passes: Vec<pass::Pass>,
    /// Whether the text is an op graph even if no pass runs.
    is_op_graph: bool,
    print_after: Vec<String>,
    stop_after: Option<String>,
    timing: bool,
}

impl PassOptions {
    /// Parses an option; returns false for an unknown one.
    fn parse(&mut self, option: &str, parser: &mut lexopt::Parser) -> Result<bool, lexopt::Error> {
        match option {
            "verify-op-graph" => self.is_op_graph = args::switch(parser)?,
            "print-ir-after" => self.print_after.push(args::text(parser)?),
            "stop-after" => self.stop_after = Some(args::text(parser)?),
            "timing" => self.timing = args::switch(parser)?,
            name => match pass::find(name) {
                Some(pass) => {
                    if args::switch(parser)? {
                        self.passes.push(*pass);
                    }
                }
                None => return Ok(false),
            },
        }
        Ok(true)
    }

    /// Whether the text is to be read as an op graph.
    fn applies(&self) -> bool {
        self.is_op_graph || !self.passes.is_empty()
    }

    /// Checks that the named passes run.
    fn check(&self) -> Result<(), lexopt::Error> {
        for name in self.print_after.iter().filter(|name| *name != "all").chain(&self.stop_after) {
            if !self.passes.iter().any(|pass| pass.name == name) {
                return Err(format!("the pass '{name}' does not run; add --{name}").into());
            }
        }
        Ok(())
    }
}

impl Options {
    fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Self, lexopt::Error> {
        let mut parse = ParseOptions { allow_unregistered: false, ..ParseOptions::default() };
        let mut passes = PassOptions::default();
        let mut chains = ChainOptions::default();
        let text = TextOptions::parse(args, |option, parser| {
            match option {
                "allow-unregistered-dialect" => parse.allow_unregistered = args::switch(parser)?,
                option => return Ok(chains.parse(option, parser)? || passes.parse(option, parser)?),
            }
            Ok(true)
        })?;
        passes.check()?;
        parse.first_error_only = text.parts.verify_diagnostics;
        // The ops of op graphs are not kernels, so the text's operations are checked as a graph.
        parse.allow_unregistered |= passes.applies();
        Ok(Self { text, parse, passes, chains })
    }
}

/// Runs the tool; `args` begins with the program's name.
pub fn run(args: impl IntoIterator<Item = OsString>, console: Console) -> Outcome {
    text_tool::run("tfrt_opt", &usage(), Options::parse(args), |options| &options.text, optimize, console)
}

fn optimize(options: &Options, console: &mut Console) -> Result<Outcome, String> {
    let source = options.text.read(console)?;
    let ops = super::operations(&options.text.kernels)?;
    let mut graphs = match options.passes.applies() {
        true => Some(OpGraphs::new(&options.passes, &ops, console).map_err(|errors| errors.messages())?),
        false => None,
    };
    let (outcome, results) = over_parts(&source, options.text.parts, console, |part: &Source| {
        let parsed = parse_module(part, &ops, &options.parse);
        let text = options
            .chains
            .parse_without_chains(parsed, part, &ops, &options.parse)
            .and_then(|module| match &mut graphs {
                Some(graphs) => graphs.process(module),
                None => Ok(module),
            })
            .and_then(|module| options.chains.process(module, &ops))
            .map(|module| print_module(&module, &ops, options.text.print).into_bytes());
        Part::new(text, Diagnostics::new())
    });
    if outcome == Outcome::Fine {
        options.text.write(console, &results.join(&b"\n// -----\n"[..]))?;
    }
    Ok(outcome)
}

/// Runs passes over op graphs.
struct OpGraphs<'a> {
    options: &'a PassOptions,
    ops: &'a OpRegistry,
    evaluator: Evaluator,
    /// Where graphs and times are shown.
    log: SharedWriter,
}

impl<'a> OpGraphs<'a> {
    fn new(options: &'a PassOptions, ops: &'a OpRegistry, console: &Console) -> Result<Self, Errors> {
        let runtime = Runtime::builder().build()?;
        let evaluator = Evaluator::new(runtime.host())?;
        Ok(Self { options, ops, evaluator, log: console.error.clone() })
    }

    fn process(&mut self, module: Module) -> Result<Module, Diagnostics> {
        let mut graph = Graph::from_module(module, &self.evaluator)?;
        pass::verify_op_graph(&graph, &self.evaluator)?;
        let (options, ops, log) = (self.options, self.ops, &mut self.log);
        let mut lost = None;
        let mut after = |pass: &pass::Pass, graph: &Graph, time: Duration| {
            let mut written = Ok(());
            if options.timing {
                written = writeln!(log, "{}: {:.1} ms", pass.name, time.as_secs_f64() * 1e3);
            }
            if options.print_after.iter().any(|name| name == "all" || name == pass.name) {
                let text = print_module(&graph.to_module(usize::MAX), ops, PrintOptions::default());
                written = written.and_then(|()| write!(log, "// After {}\n{text}", pass.name));
            }
            lost = written.err();
            match options.stop_after.as_deref() == Some(pass.name) || lost.is_some() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let run = pass::PassOptions { verify_each: true, ..pass::PassOptions::default() };
        let _ = pass::run(&options.passes, &mut graph, &self.evaluator, run, &mut after)?;
        if let Some(error) = lost {
            let mut errors = Diagnostics::new();
            errors.push(Diagnostic::error(Location::Unknown, error.to_string()));
            return Err(errors);
        }
        Ok(graph.to_module(usize::MAX))
    }
}
