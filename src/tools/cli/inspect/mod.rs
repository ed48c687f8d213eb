//! `tfrt inspect`: shows what a program or a model contains, a picture of its graph, or what of
//! models is not supported.

mod model;
mod program;
mod tensorflow;
mod unsupported;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use tfrt_compiler::CompileOptions;
use tfrt_ir::{Func, Module};

use super::{
    Failure,
    graph::{Graph, to_svg},
    model::{ImportArgs, is_model},
    program::enumerate_names,
};
use crate::{Console, Runtime};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Program or model to inspect: MLIR text, a BEF file, an ONNX file, a GraphDef or a
    /// SavedModel; '-' reads a program from standard input
    #[arg(required_unless_present = "unsupported")]
    program: Option<PathBuf>,
    /// List every node that cannot be imported, of all models in DIR and below it, or of one file
    #[arg(long, value_name = "DIR", conflicts_with_all = ["program", "graph"])]
    unsupported: Option<PathBuf>,
    /// Print a function's graph instead, as text for Graphviz or as a picture
    #[arg(long, value_name = "FORMAT")]
    graph: Option<GraphFormat>,
    /// Print the graph of the function NAME [default: the first function, of a model main]
    #[arg(short, long, value_name = "NAME", requires = "graph")]
    function: Option<String>,
    #[command(flatten)]
    shapes: ImportArgs,
    /// Load kernels from a shared LIBRARY, whose code runs in this process
    #[arg(long = "kernels", value_name = "LIBRARY")]
    shared_libraries: Vec<PathBuf>,
    /// Print as JSON
    #[arg(long, conflicts_with = "graph")]
    pub(super) json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum GraphFormat {
    Dot,
    Svg,
}

impl Args {
    fn compile_options(&self) -> Result<CompileOptions, Failure> {
        let mut options = CompileOptions::default();
        self.shapes.apply(&mut options.import)?;
        Ok(options)
    }
}

/// Runs the command.
pub(super) fn run(args: &Args, console: &mut Console) -> Result<(), Failure> {
    let mut builder = Runtime::builder();
    for library in &args.shared_libraries {
        builder = builder.shared_library(library);
    }
    let runtime = builder.build()?;
    if let Some(folder) = &args.unsupported {
        return unsupported::run(args, folder, &runtime, console);
    }
    let path = args.program.as_deref().unwrap_or(Path::new("-"));
    match is_model(path) {
        true => model::run(args, path, &runtime, console),
        false => program::run(args, path, &runtime, console),
    }
}

/// Prints the graph of the function that the arguments name.
fn print_graph(
    module: &Module,
    name: Option<&str>,
    format: GraphFormat,
    console: &mut Console,
) -> Result<(), Failure> {
    let graph = Graph::of(module, function(module, name)?);
    console.print(match format {
        GraphFormat::Dot => graph.to_dot(),
        GraphFormat::Svg => to_svg(&graph),
    });
    Ok(())
}

/// Returns the function of this name, or the first one, if it has a body.
fn function<'m>(module: &'m Module, name: Option<&str>) -> Result<Func<'m>, Failure> {
    let has_body = |function: &Func<'_>| function.body().is_some();
    let found = match name {
        Some(name) => module.function(name).filter(has_body),
        None => module.functions().find(has_body),
    };
    found.ok_or_else(|| {
        let names = enumerate_names(module.functions().filter(has_body).map(|function| function.name()));
        let missing = name.map_or("no function with a graph".to_owned(), |name| {
            format!("no function '{name}' with a graph, but {names}")
        });
        Failure::Usage(format!("the program has {missing}"))
    })
}

/// Formats a count with a decimal prefix, such as `4.12 G`.
fn with_prefix(count: u64) -> String {
    const PREFIXES: [(f64, &str); 4] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    let number = count as f64;
    match PREFIXES.iter().find(|(size, _)| number >= *size) {
        Some((size, prefix)) => format!("{:.2} {prefix}", number / size),
        None => format!("{count} "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_counts_have_prefixes() {
        let cases = [(0, "0 "), (999, "999 "), (1500, "1.50 k"), (4_120_000_000, "4.12 G")];
        for (count, text) in cases {
            assert_eq!(with_prefix(count), text);
        }
    }
}
