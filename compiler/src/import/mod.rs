//! Importers: models of other frameworks as an op graph.

pub mod onnx;

use std::collections::HashMap;

/// What the caller says of a model's inputs.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// Shapes of inputs by name, in the place of those that the model declares. An extent of `None` stays unknown.
    pub input_shapes: HashMap<String, Vec<Option<u64>>>,
    /// Extents of the model's named dimensions.
    pub dimensions: HashMap<String, u64>,
}
