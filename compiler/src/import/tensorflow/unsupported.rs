//! Everything in a file or folder that cannot be imported.

use std::{collections::HashMap, path::Path};

use tfrt_ir::{Diagnostics, Location, Severity};

use super::{
    file_name, location_of,
    model::{decode, failure, read},
    proto::{GraphDef, NodeDef},
    saved_model, schema,
};
use crate::{
    Evaluator,
    import::{ImportOptions, onnx::Unsupported},
};

/// The domain under which TensorFlow's ops are listed.
const DOMAIN: &str = "tensorflow";

/// Returns everything in a GraphDef or SavedModel that cannot be imported. What depends on such a
/// node is left out.
///
/// # Errors
/// A file that cannot be read or is no model of TensorFlow.
pub fn find_unsupported(
    path: &Path,
    options: &ImportOptions,
    evaluator: &Evaluator,
) -> Result<Vec<Unsupported>, Diagnostics> {
    let file = file_name(path);
    let graph: Result<GraphDef, String> = if path.is_dir() {
        saved_model::open(path, &options.tags).map(|meta| meta.graph_def.unwrap_or_default())
    } else {
        decode(path, schema::graph())
    };
    let nodes = nodes(&graph.map_err(|message| failure(&file, message))?, &file);
    let Err(errors) = read(path, options, evaluator) else { return Ok(Vec::new()) };
    let errors = errors.iter().filter(|error| error.severity == Severity::Error);
    let unsupported = errors.map(|error| {
        let (node, op) = nodes.get(&error.location).cloned().unwrap_or_default();
        Unsupported {
            node,
            op,
            domain: DOMAIN.to_owned(),
            opset: None,
            reason: error.message.clone(),
            location: error.location.clone(),
        }
    });
    Ok(unsupported.collect())
}

/// The names and ops of all nodes, those of functions too, by where errors say that they are.
fn nodes(graph: &GraphDef, file: &str) -> HashMap<Location, (String, String)> {
    let mut nodes = HashMap::new();
    let mut add = |list: &[NodeDef], place: &str| {
        for node in list {
            nodes.insert(location_of(node, place), (node.name.clone(), node.op.clone()));
        }
    };
    add(&graph.node, file);
    for function in graph.library.iter().flat_map(|library| &library.function) {
        let name = function.signature.as_ref().map_or("", |signature| signature.name.as_str());
        add(&function.node_def, &format!("function '{name}' of {file}"));
    }
    nodes
}
