//! What a model's files say, without importing it.

use std::{collections::BTreeMap, path::Path};

use super::{
    bundle::Bundle,
    model::decode,
    ops,
    proto::{GraphDef, NodeDef, SignatureDef, TensorInfo, TensorShapeProto},
    saved_model::{INIT_OP, has_checkpoint, open},
    schema, tensor,
};
use crate::{Evaluator, TensorType, import::ImportOptions};

/// An input, an output or a variable of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorSummary {
    /// What callers or the model call it.
    pub name: String,
    /// Its type; `None` for types that tensors here cannot have.
    pub ty: Option<TensorType>,
}

/// A signature of a SavedModel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureSummary {
    /// Its name.
    pub name: String,
    /// What it takes, by name.
    pub inputs: Vec<TensorSummary>,
    /// What it gives, by name.
    pub outputs: Vec<TensorSummary>,
}

/// What a GraphDef or a SavedModel holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelSummary {
    /// The format: `GraphDef` or `SavedModel`.
    pub format: &'static str,
    /// What a SavedModel's graph is for.
    pub tags: Vec<String>,
    /// The version of TensorFlow that wrote a SavedModel.
    pub tensorflow_version: String,
    /// The signatures of a SavedModel, sorted by name.
    pub signatures: Vec<SignatureSummary>,
    /// The placeholders of a GraphDef.
    pub placeholders: Vec<TensorSummary>,
    /// The variables of a SavedModel.
    pub variables: Vec<TensorSummary>,
    /// The functions of the graph with the number of their nodes, sorted by name.
    pub functions: Vec<(String, usize)>,
    /// The nodes by op, those of functions too.
    pub nodes: BTreeMap<String, usize>,
}

/// Describes a GraphDef or a SavedModel.
///
/// # Errors
/// What is wrong with its files.
pub fn describe(path: &Path, options: &ImportOptions, evaluator: &Evaluator) -> Result<ModelSummary, String> {
    if path.is_dir() {
        return describe_saved_model(path, options, evaluator);
    }
    let graph: GraphDef = decode(path, schema::graph())?;
    let mut summary = ModelSummary { format: "GraphDef", ..ModelSummary::default() };
    for node in graph.node.iter().filter(|node| ops::is_graph_input(&node.op)) {
        let ty = super::model::declared(node).ok();
        summary.placeholders.push(TensorSummary { name: node.name.clone(), ty });
    }
    add_nodes(&mut summary, &graph);
    Ok(summary)
}

fn describe_saved_model(
    path: &Path,
    options: &ImportOptions,
    evaluator: &Evaluator,
) -> Result<ModelSummary, String> {
    let meta = open(path, &options.tags)?;
    let info = meta.meta_info_def.clone().unwrap_or_default();
    let describe =
        |(name, info): (&String, &TensorInfo)| tensor_of(name, info.dtype, info.tensor_shape.as_ref());
    let signature = |(name, signature): (&String, &SignatureDef)| SignatureSummary {
        name: name.clone(),
        inputs: signature.inputs.iter().map(describe).collect(),
        outputs: signature.outputs.iter().map(describe).collect(),
    };
    let signatures = meta.signature_def.iter().filter(|(name, _)| *name != INIT_OP).map(signature).collect();
    let objects = meta.object_graph_def.iter().flat_map(|graph| &graph.nodes);
    let variables = objects.filter_map(|object| object.variable.as_ref());
    let mut variables: Vec<_> = variables
        .map(|variable| tensor_of(&variable.name, variable.dtype, variable.shape.as_ref()))
        .collect();
    // Models of the first version have no objects.
    if variables.is_empty() && has_checkpoint(path) {
        let bundle = Bundle::open(&path.join("variables/variables"), evaluator.allocator())?;
        let entries = bundle.entries();
        variables = entries.map(|(name, entry)| tensor_of(name, entry.dtype, entry.shape.as_ref())).collect();
    }
    let mut summary = ModelSummary {
        format: "SavedModel",
        tags: info.tags,
        tensorflow_version: info.tensorflow_version,
        signatures,
        variables,
        ..ModelSummary::default()
    };
    add_nodes(&mut summary, &meta.graph_def.unwrap_or_default());
    Ok(summary)
}

fn tensor_of(name: &str, dtype: i32, shape: Option<&TensorShapeProto>) -> TensorSummary {
    let ty = tensor::dtype(dtype).ok().map(|dtype| TensorType { dtype, dims: tensor::dims(shape) });
    TensorSummary { name: name.to_owned(), ty }
}

fn add_nodes(summary: &mut ModelSummary, graph: &GraphDef) {
    let mut count = |nodes: &[NodeDef]| {
        for node in nodes {
            *summary.nodes.entry(node.op.clone()).or_default() += 1;
        }
    };
    count(&graph.node);
    let mut functions = BTreeMap::new();
    for function in graph.library.iter().flat_map(|library| &library.function) {
        count(&function.node_def);
        if let Some(signature) = &function.signature {
            functions.insert(signature.name.clone(), function.node_def.len());
        }
    }
    summary.functions = functions.into_iter().collect();
}
