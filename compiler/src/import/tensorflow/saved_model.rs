//! SavedModels: a graph with signatures, a checkpoint, and files beside it.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use prost::Message as _;
use tfrt_ir::Diagnostics;

use super::{
    Frame, Importer,
    body::Body,
    bundle::Bundle,
    file_name,
    model::{End, Preparation, decode, failure, node_of},
    node::Imported,
    ops,
    proto::{AssetFileDef, MetaGraphDef, SavedModel, SignatureDef, TensorInfo},
    schema,
};
use crate::{Evaluator, Graph, import::ImportOptions};

/// The signature that is meant if none is named.
const DEFAULT_SIGNATURE: &str = "serving_default";
/// The tag of graphs that are for inference.
const SERVE: &str = "serve";
/// The signature, and the collections of the first version, that name what is to be run before the
/// first call.
pub(super) const INIT_OP: &str = "__saved_model_init_op";
const INIT_COLLECTIONS: [&str; 3] = ["saved_model_main_op", "legacy_init_op", "main_op"];

pub(super) fn has_checkpoint(path: &Path) -> bool {
    path.join("variables/variables.index").exists()
}

/// The graph of a SavedModel that has these tags, or that for inference.
pub(super) fn open(path: &Path, tags: &[String]) -> Result<MetaGraphDef, String> {
    let binary = path.join("saved_model.pb");
    let file = if binary.exists() { binary } else { path.join("saved_model.pbtxt") };
    let model: SavedModel = decode(&file, schema::saved_model())?;
    let wanted = if tags.is_empty() { vec![SERVE.to_owned()] } else { tags.to_vec() };
    let tags_of = |meta: &MetaGraphDef| meta.meta_info_def.clone().unwrap_or_default().tags;
    let found: Vec<String> = model.meta_graphs.iter().map(|meta| tags_of(meta).join(",")).collect();
    let only = tags.is_empty() && model.meta_graphs.len() == 1;
    let has_all = |meta: &MetaGraphDef| wanted.iter().all(|tag| tags_of(meta).contains(tag));
    model.meta_graphs.into_iter().find(|meta| only || has_all(meta)).ok_or_else(|| {
        format!(
            "the SavedModel has no graph with the tags {}; it has {}",
            wanted.join(","),
            found.join(" and ")
        )
    })
}

/// Reads the signature of a SavedModel that the options name.
pub(super) fn read(
    path: &Path,
    options: &ImportOptions,
    evaluator: &Evaluator,
) -> Result<(Graph, Diagnostics), Diagnostics> {
    let file = file_name(path);
    let fail = |message| failure(&file, message);
    let mut meta = open(path, &options.tags).map_err(fail)?;
    let mut graph = meta.graph_def.take().unwrap_or_default();
    let signature = signature(&meta, options.signature.as_deref()).map_err(fail)?;
    let mut importer = Importer::new(file.clone(), options, evaluator, &mut graph)?;
    importer.folder = path.to_owned();
    if has_checkpoint(path) {
        let prefix = path.join("variables/variables");
        importer.checkpoint = Some(Bundle::open(&prefix, evaluator.allocator()).map_err(fail)?);
    }
    for asset in meta.asset_file_def.iter().cloned().chain(collected_assets(&meta)) {
        let tensor = asset.tensor_info.as_ref().map_or("", |info| info.name.as_str());
        let node = tensor.split(':').next().unwrap_or_default();
        importer.assets.insert(node.to_owned(), path.join("assets").join(&asset.filename));
    }
    let body = match Body::of_graph(&graph.node, &importer.functions) {
        Ok(body) => body,
        Err(error) => {
            importer.structure_error(&graph.node, &file, error);
            return Err(importer.diagnostics);
        }
    };
    let inputs = ends(&body, &signature.inputs).map_err(fail)?;
    let mut wanted = ends(&body, &signature.outputs).map_err(fail)?;
    if !options.outputs.is_empty() {
        wanted = chosen(wanted, &options.outputs).map_err(fail)?;
    }
    let before = preparation(&body, &meta, path, importer.checkpoint.is_some()).map_err(fail)?;
    if wanted.iter().filter_map(node_of).any(|node| body.outputs(node) == 0) {
        return Err(fail("the signature's outputs are not tensors".to_owned()));
    }
    let frame = Frame::new(body, file.clone());
    importer.import_main(frame, &inputs, &wanted, &before)
}

impl Importer<'_> {
    /// Gives variables without a value what the checkpoint holds under their names: where a module has
    /// layers of Keras 3, its graph restores copies of their variables only.
    pub(super) fn restore_by_name(&mut self) -> Imported<()> {
        let Some(mut checkpoint) = self.checkpoint.take() else { return Ok(()) };
        for (name, key) in checkpoint.keys_by_name()? {
            if self.state.variables.contains_key(name.as_str()) {
                continue;
            }
            // A variable without a value is an error if it is read.
            if let Ok(tensor) = checkpoint.tensor(&key) {
                let value = self.builder().add_constant(&name, tensor);
                self.state.variables.insert(name.into(), value);
            }
        }
        self.checkpoint = Some(checkpoint);
        Ok(())
    }
}

/// The assets that TensorFlow's first version keeps in a collection. Messages that are none are
/// passed over.
fn collected_assets(meta: &MetaGraphDef) -> Vec<AssetFileDef> {
    let collection = meta.collection_def.get("saved_model_assets").and_then(|it| it.any_list.as_ref());
    let messages = collection.into_iter().flat_map(|list| &list.value);
    let assets = messages.filter(|message| message.type_url.ends_with("/tensorflow.AssetFileDef"));
    assets.filter_map(|message| AssetFileDef::decode(message.value.clone()).ok()).collect()
}

/// The outputs of these names, in their order.
fn chosen(ends: Vec<End>, names: &[String]) -> Result<Vec<End>, String> {
    let known = ends.iter().map(|end| end.name.clone()).collect::<Vec<_>>().join(", ");
    let mut by_name: HashMap<String, End> = ends.into_iter().map(|end| (end.name.clone(), end)).collect();
    let missing = |name: &String| format!("the signature has no output '{name}'; it has {known}");
    names.iter().map(|name| by_name.remove(name).ok_or_else(|| missing(name))).collect()
}

/// The signature of this name, or the default one.
fn signature(meta: &MetaGraphDef, name: Option<&str>) -> Result<SignatureDef, String> {
    let callable: Vec<_> = meta.signature_def.iter().filter(|(name, _)| *name != INIT_OP).collect();
    let wanted = name.unwrap_or(DEFAULT_SIGNATURE);
    if let Some((_, signature)) = callable.iter().find(|(name, _)| *name == wanted) {
        return Ok((*signature).clone());
    }
    match (name, &callable[..]) {
        (None, [(_, only)]) => Ok((*only).clone()),
        (_, []) => Err("the SavedModel has no signatures".to_owned()),
        _ => {
            let names: Vec<&str> = callable.iter().map(|(name, _)| name.as_str()).collect();
            Err(format!(
                "the SavedModel has no signature '{wanted}'; it has {} (--signature)",
                names.join(", ")
            ))
        }
    }
}

/// The places of a signature's tensors, sorted by name.
fn ends(body: &Body<'_>, infos: &BTreeMap<String, TensorInfo>) -> Result<Vec<End>, String> {
    let end = |(name, info): (&String, &TensorInfo)| {
        if info.name.is_empty() {
            return Err(format!(
                "'{name}' of the signature is a sparse or composite tensor, which is not supported"
            ));
        }
        let source = body.source(&info.name);
        let source = source
            .map_err(|_| format!("'{name}' of the signature is '{}', which does not exist", info.name))?;
        Ok(End { name: name.clone(), source })
    };
    infos.iter().map(end).collect()
}

/// The nodes to run before the signature, with texts that tensors stand for: what restores
/// variables, and what fills tables.
fn preparation(
    body: &Body<'_>,
    meta: &MetaGraphDef,
    path: &Path,
    has_checkpoint: bool,
) -> Result<Vec<Preparation>, String> {
    let mut before = Vec::new();
    if let Some(saver) =
        meta.saver_def.as_ref().filter(|saver| has_checkpoint && !saver.restore_op_name.is_empty())
    {
        let missing = |name: &str| format!("'{name}', which restores variables, does not exist");
        let node = saver.restore_op_name.split(':').next().unwrap_or_default();
        let node = body.find(node).ok_or_else(|| missing(node))?;
        let file =
            body.source(&saver.filename_tensor_name).map_err(|_| missing(&saver.filename_tensor_name))?;
        let prefix = path.join("variables/variables").to_string_lossy().into_owned();
        before.push(Preparation { node, texts: HashMap::from([(file, prefix)]) });
    }
    let by_signature = meta.signature_def.get(INIT_OP).and_then(|signature| signature.outputs.get(INIT_OP));
    let by_collection = INIT_COLLECTIONS
        .iter()
        .find_map(|name| meta.collection_def.get(*name)?.node_list.as_ref()?.value.first());
    if let Some(name) = by_signature.map(|info| &info.name).or(by_collection) {
        let node = name.split(':').next().unwrap_or_default();
        let missing = || format!("'{name}', which the model is initialized by, does not exist");
        before.push(Preparation { node: body.find(node).ok_or_else(missing)?, texts: HashMap::new() });
    }
    // A node that is only a name for inputs is nothing to run.
    before.retain(|step| !ops::is_graph_input(&body.nodes[step.node].op));
    Ok(before)
}
