//! Everything in a file that cannot be imported.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use tfrt_ir::{Diagnostics, Location, Severity};

use super::{
    INCOMPLETE, Importer,
    describe::{each_node, shown},
    domain_of,
    node::ImportError,
    open,
    proto::{ModelProto, NodeProto},
    schemas::SCHEMAS,
};
use crate::{Evaluator, import::ImportOptions};

/// A node that cannot be imported, or a reason why its file cannot be.
#[derive(Clone, Debug, PartialEq)]
pub struct Unsupported {
    /// The node's name, or else that of its first output; empty if the reason is not a node.
    pub node: String,
    /// The node's op; empty if the reason is not a node.
    pub op: String,
    /// The domain of the op; the default one is `ai.onnx`.
    pub domain: String,
    /// The operator set of that domain, if the model names one.
    pub opset: Option<i64>,
    /// Why it cannot be imported.
    pub reason: String,
    pub(in crate::import) location: Location,
}

/// Returns everything in a file that cannot be imported. What depends on such a node is left out.
///
/// # Errors
/// A file that cannot be read or is no ONNX model.
pub fn find_unsupported(
    path: &Path,
    options: &ImportOptions,
    evaluator: &Evaluator,
) -> Result<Vec<Unsupported>, Diagnostics> {
    let (file, model, tensors) = open(path, evaluator)?;
    let importer = Importer::new(file.clone(), &model, options, evaluator, tensors);
    importer.map_err(|message| super::file_error(&file, message))?.find_unsupported(&model)
}

/// Why a node of an unknown op cannot be imported.
pub(super) fn unknown_op(domain: &str, op: &str, opset: Option<i64>) -> String {
    let version = opset.map_or("unknown".to_owned(), |opset| opset.to_string());
    let is_new = domain.is_empty() && SCHEMAS.iter().all(|(name, _)| *name != op);
    let hint = match domain {
        _ if is_new => ", which is not an op of ONNX 1.22",
        "com.microsoft.nchwc" => {
            "; ONNX Runtime optimized this model for one kind of processor: save it with \
             ORT_ENABLE_EXTENDED instead of ORT_ENABLE_ALL"
        }
        _ => "",
    };
    format!("unsupported op '{op}' (operator set {} {version}){hint}", shown(domain))
}

impl Importer<'_> {
    /// What cannot be imported of a node, with the reason.
    pub(super) fn unsupported(&self, node: &NodeProto, reason: String) -> Unsupported {
        let output = node.output.iter().find(|name| !name.is_empty());
        Unsupported {
            node: if node.name.is_empty() { output.cloned().unwrap_or_default() } else { node.name.clone() },
            op: node.op_type.clone(),
            domain: shown(domain_of(&node.domain)),
            opset: self.opset(&node.domain),
            reason,
            location: self.location_of(node),
        }
    }

    fn find_unsupported(mut self, model: &ModelProto) -> Result<Vec<Unsupported>, Diagnostics> {
        let graph = model.graph.clone().unwrap_or_default();
        self.check_opset();
        self.check_ops(&graph.node, &mut HashSet::new(), 0);
        let mut found = std::mem::take(&mut self.unknown);
        let imported = self.import_main(&graph).and_then(|()| self.remove_sequences());
        if let Err(ImportError(message)) = imported {
            self.error(message);
        }
        let mut nodes = HashMap::new();
        each_node(model, &mut |node| {
            let location = self.location_of(node);
            nodes.entry(location).or_insert_with(|| self.unsupported(node, String::new()));
        });
        let known: HashSet<_> = found.iter().map(|unknown| unknown.location.clone()).collect();
        for error in self.diagnostics.iter().filter(|error| error.severity == Severity::Error) {
            if known.contains(&error.location) || error.message == INCOMPLETE {
                continue;
            }
            found.push(match nodes.get(&error.location) {
                Some(node) => Unsupported { reason: error.message.clone(), ..node.clone() },
                None => Unsupported {
                    node: String::new(),
                    op: String::new(),
                    domain: String::new(),
                    opset: None,
                    reason: error.message.clone(),
                    location: error.location.clone(),
                },
            });
        }
        Ok(found)
    }
}
