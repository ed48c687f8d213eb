//! Importers: models of other frameworks as an op graph.

mod formats;
#[cfg(test)]
mod hostile;
pub mod onnx;
pub mod tensorflow;

use std::collections::{BTreeSet, HashMap};

use crate::Port;

pub use formats::{binary_format, foreign_format};

/// What the caller says of a model's inputs.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// Shapes of inputs by name, in the place of those that the model declares. An extent of `None`
    /// stays unknown.
    pub input_shapes: HashMap<String, Vec<Option<u64>>>,
    /// Inputs that the caller gives although the model holds a value for them. Those with a shape in
    /// `input_shapes` are among them.
    pub given: BTreeSet<String>,
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

impl ImportOptions {
    /// Checks that every shape is one of an input, and every extent one of a named dimension.
    ///
    /// # Errors
    /// A name that the model does not have, with those that it has.
    fn check_names(&self, inputs: &[Port], dimensions: &BTreeSet<String>) -> Result<(), String> {
        let is_known = |name: &String| {
            let is_dimension = self.dimensions.contains_key(name) && dimensions.contains(name);
            is_dimension || inputs.iter().any(|port| port.name == *name)
        };
        let names: BTreeSet<&String> = self.input_shapes.keys().chain(self.dimensions.keys()).collect();
        let Some(unknown) = names.into_iter().find(|name| !is_known(name)) else { return Ok(()) };
        let inputs = inputs.iter().map(|port| format!("'{}' ({})", port.name, port.ty));
        let dimensions = dimensions.iter().map(|name| format!("'{name}'"));
        let listed = |names: Vec<String>| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        Err(format!(
            "the model has no input and no named dimension '{unknown}'; inputs: {}; named dimensions: {}",
            listed(inputs.collect()),
            listed(dimensions.collect())
        ))
    }
}
