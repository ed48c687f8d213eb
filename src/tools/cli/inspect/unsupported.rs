//! What of a folder of models cannot be imported: every node, and a summary by op.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use serde_json::json;
use tfrt_compiler::{
    Evaluator,
    import::{
        onnx::{self, Unsupported},
        tensorflow,
    },
};

use super::Args;
use crate::{
    Console, Errors, Runtime,
    tools::cli::{Failure, file_error, print_json, report::visible},
};

/// A model and what of it cannot be imported, or why it cannot be read.
struct Found {
    model: PathBuf,
    unsupported: Result<Vec<Unsupported>, Errors>,
}

/// Runs the command. It succeeds whatever it finds, since what it finds is its result.
pub(super) fn run(
    args: &Args,
    folder: &Path,
    runtime: &Runtime,
    console: &mut Console,
) -> Result<(), Failure> {
    let mut models = Vec::new();
    find_models(folder, &mut models).map_err(|error| file_error("read", folder, error))?;
    models.sort();
    if models.is_empty() {
        return Err(Failure::Usage(format!("'{}' holds no models", folder.display())));
    }
    let options = args.compile_options()?;
    let mut found = Vec::new();
    for model in models {
        let evaluator = Evaluator::new(runtime.host())?;
        let find = match tensorflow::is_tensorflow(&model) {
            true => tensorflow::find_unsupported,
            false => onnx::find_unsupported,
        };
        let unsupported = find(&model, &options.import, &evaluator).map_err(Errors::from);
        found.push(Found { model, unsupported });
    }
    if args.json {
        print_json(console, &to_json(&found))
    } else {
        console.print(to_text(&found))
    }
    Ok(())
}

fn find_models(path: &Path, models: &mut Vec<PathBuf>) -> io::Result<()> {
    if !path.is_dir() || tensorflow::is_saved_model(path) {
        fs::metadata(path)?;
        models.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        // A link to a folder above would never end.
        if entry.file_type()?.is_dir() {
            find_models(&entry.path(), models)?;
        } else if is_model(&entry.path()) {
            models.push(entry.path());
        }
    }
    Ok(())
}

fn is_model(file: &Path) -> bool {
    let known = ["onnx", "pb", "pbtxt"];
    file.extension().is_some_and(|extension| known.iter().any(|known| extension.eq_ignore_ascii_case(known)))
}

/// How often an op is unsupported, and in how many models.
fn by_op(found: &[Found]) -> BTreeMap<(String, String), (usize, usize)> {
    let mut ops: BTreeMap<(String, String), (usize, usize)> = BTreeMap::new();
    for found in found {
        let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
        for node in found.unsupported.iter().flatten().filter(|node| !node.op.is_empty()) {
            *counts.entry((node.domain.clone(), node.op.clone())).or_default() += 1;
        }
        for (op, count) in counts {
            let total = ops.entry(op).or_default();
            *total = (total.0 + count, total.1 + 1);
        }
    }
    ops
}

fn to_text(found: &[Found]) -> String {
    let mut text = String::new();
    for Found { model, unsupported } in found {
        let unsupported = match unsupported {
            Ok(nodes) if nodes.is_empty() => continue,
            Ok(nodes) => nodes,
            Err(errors) => {
                text += &format!("{}\n  {}\n", model.display(), visible(&errors.messages()));
                continue;
            }
        };
        text += &format!("{}\n", model.display());
        for node in unsupported {
            let Unsupported { node: name, op, domain, reason, .. } = node;
            let place = match (op.is_empty(), node.opset) {
                (true, _) => String::new(),
                (false, None) => format!("node '{name}' ({op}, {domain}): "),
                (false, Some(opset)) => format!("node '{name}' ({op}, {domain} {opset}): "),
            };
            text += &format!("  {}\n", visible(&format!("{place}{reason}")));
        }
    }
    let ops = by_op(found);
    if !ops.is_empty() {
        text += "\nby op\n";
        let mut ops: Vec<_> = ops.into_iter().collect();
        ops.sort_by_key(|(_, (nodes, _))| std::cmp::Reverse(*nodes));
        for ((domain, op), (nodes, models)) in ops {
            text += &visible(&format!("  {domain} {op}: {nodes} nodes of {models} models\n"));
        }
    }
    let fine =
        found.iter().filter(|found| matches!(&found.unsupported, Ok(nodes) if nodes.is_empty())).count();
    text + &format!("{fine} of {} models can be imported\n", found.len())
}

fn to_json(found: &[Found]) -> serde_json::Value {
    let models: Vec<_> = found
        .iter()
        .map(|Found { model, unsupported }| {
            let nodes = unsupported.iter().flatten().map(|node| {
                json!({
                    "node": node.node, "op": node.op, "domain": node.domain, "opset": node.opset,
                    "reason": node.reason,
                })
            });
            let error = unsupported.as_ref().err().map(Errors::messages);
            json!({ "model": model, "unsupported": nodes.collect::<Vec<_>>(), "error": error })
        })
        .collect();
    let ops: Vec<_> = by_op(found)
        .into_iter()
        .map(|((domain, op), (nodes, models))| {
            json!({ "domain": domain, "op": op, "nodes": nodes, "models": models })
        })
        .collect();
    json!({ "models": models, "ops": ops })
}
