//! Importers: models of other frameworks as an op graph.

#[cfg(test)]
mod hostile;
pub mod onnx;
pub mod tensorflow;

use std::collections::HashMap;

/// What the caller says of a model's inputs.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// Shapes of inputs by name, in the place of those that the model declares. An extent of `None`
    /// stays unknown.
    pub input_shapes: HashMap<String, Vec<Option<u64>>>,
    /// Extents of the model's named dimensions.
    pub dimensions: HashMap<String, u64>,
    /// The outputs that are wanted, in the place of all: tensors of a GraphDef, or outputs of a
    /// SavedModel's signature.
    pub outputs: Vec<String>,
    /// The signature of a SavedModel; `serving_default` if there is none here.
    pub signature: Option<String>,
    /// The tags of the graph of a SavedModel; `serve` if there are none here.
    pub tags: Vec<String>,
}
