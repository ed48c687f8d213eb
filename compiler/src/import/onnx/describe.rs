//! What an ONNX file says of itself, whether it can be imported or not, and which ops can be.

use std::{collections::BTreeMap, path::Path};

use tfrt_ir::Diagnostics;

use super::{
    MAX_OPSET, MIN_OPSET, domain_of, open, ops, opsets,
    proto::{DimensionProto, DimensionValue, ModelProto, NodeProto, TypeValue, ValueInfoProto},
    schemas::SCHEMAS,
    tensor::dtype,
};
use crate::Evaluator;

/// What an ONNX file says of itself.
#[derive(Clone, Debug, Default)]
pub struct ModelFile {
    /// The program that wrote it, with its version.
    pub producer: String,
    /// The operator sets by domain; the default domain is `ai.onnx`.
    pub opsets: BTreeMap<String, i64>,
    /// The names and types of the inputs, such as `batch x 3 x f32`, in order.
    pub inputs: Vec<(String, String)>,
    /// The names and types of the outputs, in order.
    pub outputs: Vec<(String, String)>,
    /// The nodes by op, those of subgraphs and functions too.
    pub nodes: BTreeMap<String, usize>,
}

/// Describes a file without importing it.
///
/// # Errors
/// A file that cannot be read or is no ONNX model.
pub fn describe_file(path: &Path, evaluator: &Evaluator) -> Result<ModelFile, Diagnostics> {
    let (_, model, _) = open(path, evaluator)?;
    let mut described = ModelFile {
        producer: format!("{} {}", model.producer_name, model.producer_version).trim().to_owned(),
        opsets: opsets(&model.opset_import).into_iter().map(|(domain, set)| (shown(&domain), set)).collect(),
        ..ModelFile::default()
    };
    each_node(&model, &mut |node| *described.nodes.entry(name_of(node)).or_default() += 1);
    if let Some(graph) = &model.graph {
        let is_constant = |name: &str| graph.initializer.iter().any(|tensor| tensor.name == name);
        let inputs = graph.input.iter().filter(|input| !is_constant(&input.name));
        described.inputs = inputs.map(port).collect();
        described.outputs = graph.output.iter().map(port).collect();
    }
    Ok(described)
}

/// Calls `visit` with each node of a model, those of subgraphs and functions too.
pub(super) fn each_node(model: &ModelProto, visit: &mut dyn FnMut(&NodeProto)) {
    let functions = model.functions.iter().flat_map(|function| &function.node);
    let mut left: Vec<&NodeProto> =
        model.graph.iter().flat_map(|graph| &graph.node).chain(functions).collect();
    while let Some(node) = left.pop() {
        visit(node);
        let graphs = node.attribute.iter().filter_map(|attribute| attribute.g.as_deref());
        left.extend(graphs.flat_map(|graph| &graph.node));
    }
}

/// A domain as messages call it.
pub(super) fn shown(domain: &str) -> String {
    if domain.is_empty() { "ai.onnx".to_owned() } else { domain.to_owned() }
}

/// The op of a node, with its domain if that is not the default one.
fn name_of(node: &NodeProto) -> String {
    match domain_of(&node.domain) {
        "" => node.op_type.clone(),
        domain => format!("{domain}.{}", node.op_type),
    }
}

fn port(info: &ValueInfoProto) -> (String, String) {
    let ty = match info.r#type.as_ref().and_then(|ty| ty.value.as_ref()) {
        Some(TypeValue::Tensor(ty)) => {
            let element = dtype(ty.elem_type).map_or_else(|why| why, |dtype| dtype.mlir_name().to_owned());
            match &ty.shape {
                None => format!("* x {element}"),
                Some(shape) => shape.dim.iter().map(|dim| extent(dim) + " x ").collect::<String>() + &element,
            }
        }
        Some(_) => "not a tensor".to_owned(),
        None => "not declared".to_owned(),
    };
    (info.name.clone(), ty)
}

fn extent(dim: &DimensionProto) -> String {
    match &dim.value {
        Some(DimensionValue::Value(extent)) => extent.to_string(),
        Some(DimensionValue::Parameter(name)) if !name.is_empty() => name.clone(),
        _ => "?".to_owned(),
    }
}

/// Whether an op of the default domain can be imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpSupport {
    /// The op.
    pub name: &'static str,
    /// The oldest and the newest operator set for which it can be imported; `None` if it cannot.
    pub opsets: Option<(i64, i64)>,
    /// The operator sets that introduced or changed it.
    pub versions: &'static [i64],
}

/// The ops of the default domain, by name.
pub fn op_support() -> Vec<OpSupport> {
    let support = |&(name, versions): &(&'static str, &'static [i64])| {
        let first = versions.first().copied().unwrap_or(1).max(MIN_OPSET).max(ops::min_opset(name));
        let opsets = ops::find("", name).map(|_| (first, MAX_OPSET));
        OpSupport { name, opsets, versions }
    };
    SCHEMAS.iter().map(support).collect()
}

/// The ops of other domains that can be imported, in alphabetical order, by domain.
pub fn other_domains() -> Vec<(&'static str, Vec<&'static str>)> {
    let others = ops::DOMAINS.iter().filter(|(domain, _)| !domain.is_empty());
    let named = others.map(|&(domain, families)| {
        let mut names: Vec<_> =
            families.iter().flat_map(|family| family.iter().map(|(name, _)| *name)).collect();
        names.sort_unstable();
        (domain, names)
    });
    named.collect()
}
