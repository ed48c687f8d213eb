//! What a model contains: as its file says, and as the compiler sees it.

use std::{fmt::Write as _, path::Path};

use serde_json::{Value, json};
use tfrt_compiler::{
    Evaluator, Graph, Port,
    analysis::Summary,
    import::{
        onnx::{ModelFile, describe_file},
        tensorflow,
    },
    import_model, pass,
};
use tfrt_host::Diagnostic;

use super::{Args, print_graph, with_prefix};
use crate::{
    Console, Errors, Runtime,
    tools::cli::{Failure, print_json, report::visible},
};

/// Constants of at most this many bytes show their elements in pictures.
const MAX_SHOWN_BYTES: usize = 32;

/// The formats of models.
const ONNX: &str = "ONNX";
const TENSORFLOW: &str = "TensorFlow";

/// Runs the command.
pub(super) fn run(args: &Args, path: &Path, runtime: &Runtime, console: &mut Console) -> Result<(), Failure> {
    let evaluator = Evaluator::new(runtime.host())?;
    let is_onnx = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("onnx"));
    let described = match is_onnx {
        true => Some(describe_file(path, &evaluator).map_err(Errors::from)?),
        false => None,
    };
    let options = args.compile_options()?;
    let is_text = args.graph.is_none() && !args.json;
    let tensorflow_model = match tensorflow::is_tensorflow(path) {
        true => Some(
            tensorflow::describe(path, &options.import, &evaluator).map_err(Diagnostic::invalid_argument)?,
        ),
        false => None,
    };
    // What the file says is shown even if it cannot be imported.
    if let Some(model) = tensorflow_model.as_ref().filter(|_| is_text) {
        console.print(super::tensorflow::to_text(model));
    }
    if let Some(file) = described.as_ref().filter(|_| is_text) {
        console.print(file_text(file, ONNX));
    }
    let (mut graph, warnings) = import_model(path, &options.import, &evaluator).map_err(Errors::from)?;
    for warning in &warnings {
        console.complain(format_args!("{warning}"));
    }
    let imported = Summary::of(&graph);
    if is_text && !is_onnx {
        console.print(file_text(&describe_graph(&graph, &imported), TENSORFLOW));
    }
    let format = if is_onnx { ONNX } else { TENSORFLOW };
    let file = described.unwrap_or_else(|| describe_graph(&graph, &imported));
    let mut proceed = |_: &pass::Pass, _: &Graph, _| std::ops::ControlFlow::Continue(());
    let _ = pass::run(&pass::pipeline(options.passes), &mut graph, &evaluator, options.passes, &mut proceed)
        .map_err(Errors::from)?;
    if let Some(picture) = args.graph {
        let name = args.function.as_deref().unwrap_or(tfrt_compiler::MAIN);
        return print_graph(&graph.to_module(MAX_SHOWN_BYTES), Some(name), picture, console);
    }
    // Parameters are what the model's file holds; passes fold some into others.
    let compiled = Summary::of(&graph);
    if args.json {
        let mut json = to_json(&file, format, &imported, &compiled);
        if let (Some(model), Some(fields)) = (&tensorflow_model, json.as_object_mut())
            && let Value::Object(more) = super::tensorflow::to_json(model)
        {
            fields.extend(more);
        }
        print_json(console, &json);
    } else {
        console.print(summary_text(&imported, &compiled));
    }
    Ok(())
}

/// What the imported graph says in the place of a file that says nothing of itself.
fn describe_graph(graph: &Graph, imported: &Summary) -> ModelFile {
    let ports = |ports: &[Port]| ports.iter().map(|port| (port.name.clone(), port.ty.to_string())).collect();
    ModelFile {
        inputs: ports(&graph.inputs),
        outputs: ports(&graph.outputs),
        nodes: imported.ops.iter().map(|(name, op)| (name.clone(), op.count)).collect(),
        ..ModelFile::default()
    }
}

fn file_text(file: &ModelFile, format: &str) -> String {
    let sets: Vec<_> = file.opsets.iter().map(|(domain, set)| format!("{domain} {set}")).collect();
    let mut text = format!("{format} model");
    if !sets.is_empty() {
        text += &format!(" of operator sets {}", sets.join(", "));
    }
    if !file.producer.is_empty() {
        text += &format!(", written by {}", file.producer);
    }
    for (title, ports) in [("inputs", &file.inputs), ("outputs", &file.outputs)] {
        text += &format!("\n\n{title}");
        for (name, ty) in ports {
            text += &format!("\n  {name}: {ty}");
        }
    }
    text += "\n\nnodes";
    let mut nodes: Vec<_> = file.nodes.iter().collect();
    nodes.sort_by_key(|&(_, count)| std::cmp::Reverse(*count));
    for (op, count) in nodes {
        text += &format!("\n  {op:<32}{count:>6}");
    }
    visible(&text).into_owned() + "\n"
}

fn summary_text(imported: &Summary, compiled: &Summary) -> String {
    let mut text = String::from("\nops after the compiler's passes\n");
    let mut ops: Vec<_> = compiled.ops.iter().collect();
    ops.sort_by_key(|(_, op)| std::cmp::Reverse((op.flops, op.count)));
    for (name, op) in ops {
        let flops = match (op.flops, op.unknown_count) {
            (0, 0) => String::new(),
            (0, _) => "?".to_owned(),
            (flops, _) => with_prefix(flops) + "FLOP",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", format!("  {name:<32}{:>6}  {flops:>14}", op.count).trim_end());
    }
    let bytes = with_prefix(imported.parameter_bytes) + "B";
    let _ = writeln!(text, "\nparameters: {} ({bytes})", imported.parameter_count);
    let _ = write!(text, "arithmetic: {}FLOP", with_prefix(compiled.flops()));
    if compiled.unknown_count() > 0 {
        let _ = write!(
            text,
            " and {} ops of unknown shapes; set them with --input-shape",
            compiled.unknown_count()
        );
    }
    let peak = &compiled.peak;
    let _ = write!(text, "\npeak memory of intermediate tensors: {}B", with_prefix(peak.bytes));
    if peak.unknown_count > 0 {
        let _ = write!(text, " and {} tensors of unknown shapes", peak.unknown_count);
    }
    if let Some((node, ..)) = peak.location.as_ref().and_then(tfrt_ir::Location::file_position) {
        let _ = write!(text, ", at {}", visible(node.as_str()));
    }
    text + "\n"
}

fn to_json(file: &ModelFile, format: &str, imported: &Summary, compiled: &Summary) -> Value {
    let ports = |ports: &[(String, String)]| {
        ports.iter().map(|(name, ty)| json!({ "name": name, "type": ty })).collect::<Vec<_>>()
    };
    let ops: Vec<_> = compiled
        .ops
        .iter()
        .map(|(name, op)| {
            json!({ "op": name, "count": op.count, "flops": op.flops, "unknown_shapes": op.unknown_count })
        })
        .collect();
    let peak = &compiled.peak;
    let node = peak.location.as_ref().and_then(tfrt_ir::Location::file_position);
    json!({
        "format": format, "producer": file.producer, "opsets": file.opsets,
        "inputs": ports(&file.inputs), "outputs": ports(&file.outputs),
        "nodes": file.nodes, "ops": ops,
        "parameters": imported.parameter_count, "parameter_bytes": imported.parameter_bytes,
        "flops": compiled.flops(), "unknown_shapes": compiled.unknown_count(),
        "peak_bytes": peak.bytes, "peak_unknown_tensors": peak.unknown_count,
        "peak_node": node.map(|(node, ..)| node.as_str()),
    })
}
