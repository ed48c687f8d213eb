//! `tfrt inspect`: shows a program's sections, functions and kernels, or a picture of a function's graph.

use std::{fmt::Write as _, path::PathBuf};

use clap::ValueEnum;
use serde_json::json;
use tfrt_bef::Inspection;
use tfrt_convert::bef_to_mlir;
use tfrt_ir::{Func, Location, Module};

use super::{
    Failure,
    graph::{Graph, to_svg},
    print_json,
    program::{enumerate_names, read_program},
};
use crate::{Console, Errors, Runtime};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Program to inspect: MLIR text or a BEF file; '-' reads standard input
    program: PathBuf,
    /// Print a function's graph instead, as text for Graphviz or as a picture
    #[arg(long, value_name = "FORMAT")]
    graph: Option<GraphFormat>,
    /// Print the graph of the function NAME [default: the first function]
    #[arg(short, long, value_name = "NAME", requires = "graph")]
    function: Option<String>,
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

/// Runs the command.
pub(super) fn run(args: &Args, console: &mut Console) -> Result<(), Failure> {
    let mut builder = Runtime::builder();
    for library in &args.shared_libraries {
        builder = builder.shared_library(library);
    }
    let runtime = builder.build()?;
    let bef = read_program(&args.program, &runtime, console)?;
    if let Some(format) = args.graph {
        let location = Location::file(args.program.to_string_lossy().as_ref(), 0, 0);
        let ops = crate::operations(runtime.registry())?;
        let module = bef_to_mlir(bef.bytes().to_vec(), &ops, &location).map_err(Errors::from)?.module;
        let function = function(&module, args.function.as_deref())?;
        let graph = Graph::of(&module, function);
        console.print(match format {
            GraphFormat::Dot => graph.to_dot(),
            GraphFormat::Svg => to_svg(&graph),
        });
        return Ok(());
    }
    let inspection = bef.inspect();
    if args.json {
        print_json(console, &to_json(&inspection));
    } else {
        console.print(to_text(&inspection));
    }
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

fn to_text(inspection: &Inspection) -> String {
    let mut text = format!("BEF version {}, {} bytes\n\nsections\n", inspection.version, inspection.bytes);
    for section in &inspection.sections {
        let name = section.name.map_or_else(|| format!("unknown ({})", section.code), str::to_owned);
        let entries = section.entries.map_or_else(String::new, |entries| format!("{entries} entries"));
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "  {name:<20} {:>8} bytes at {:>8}, alignment {:>2}  {entries}",
            section.bytes, section.offset, section.alignment
        );
    }
    text += "\nfunctions\n";
    for function in &inspection.functions {
        let name = if function.name.is_empty() { "(region)" } else { &function.name };
        let _ = writeln!(
            text,
            "  {name}({}) -> ({}): {}, {} kernels, {} registers, {} bytes",
            function.arguments.join(", "),
            function.results.join(", "),
            function.kind,
            function.kernels,
            function.registers,
            function.record_bytes
        );
    }
    text += "\nkernels\n";
    for kernel in &inspection.kernels {
        let _ = writeln!(text, "  {kernel}");
    }
    text
}

fn to_json(inspection: &Inspection) -> serde_json::Value {
    let sections: Vec<_> = inspection
        .sections
        .iter()
        .map(|s| {
            json!({
                "code": s.code, "name": s.name, "offset": s.offset, "bytes": s.bytes,
                "alignment": s.alignment, "entries": s.entries,
            })
        })
        .collect();
    let functions: Vec<_> = inspection
        .functions
        .iter()
        .map(|f| {
            json!({
                "name": f.name, "kind": f.kind, "arguments": f.arguments, "results": f.results,
                "kernels": f.kernels, "registers": f.registers, "bytes": f.record_bytes,
            })
        })
        .collect();
    json!({
        "version": inspection.version, "bytes": inspection.bytes, "sections": sections,
        "functions": functions, "kernels": inspection.kernels, "types": inspection.types,
    })
}
