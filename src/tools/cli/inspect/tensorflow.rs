//! What TensorFlow's files say of a model beyond its nodes: signatures, variables, functions.

use serde_json::{Value, json};
use tfrt_compiler::import::tensorflow::{ModelSummary, TensorSummary};

use crate::tools::cli::report::visible;

fn tensor_type(tensor: &TensorSummary) -> String {
    tensor.ty.as_ref().map_or("not a tensor".to_owned(), ToString::to_string)
}

/// The description as text.
pub(super) fn to_text(model: &ModelSummary) -> String {
    let mut text = model.format.to_owned();
    if !model.tensorflow_version.is_empty() {
        text += &format!(", written by TensorFlow {}", model.tensorflow_version);
    }
    if !model.tags.is_empty() {
        text += &format!(", tags {}", model.tags.join(", "));
    }
    let mut list = |title: String, tensors: &[TensorSummary]| {
        if !tensors.is_empty() {
            text += &format!("\n\n{title}");
            for tensor in tensors {
                text += &format!("\n  {}: {}", tensor.name, tensor_type(tensor));
            }
        }
    };
    for signature in &model.signatures {
        list(format!("inputs of signature {}", signature.name), &signature.inputs);
        list(format!("outputs of signature {}", signature.name), &signature.outputs);
    }
    list("variables".to_owned(), &model.variables);
    if !model.functions.is_empty() {
        text += "\n\nfunctions, with their nodes";
        for (name, count) in &model.functions {
            text += &format!("\n  {name:<64}{count:>6}");
        }
    }
    visible(&text).into_owned() + "\n\n"
}

/// The description as JSON.
pub(super) fn to_json(model: &ModelSummary) -> Value {
    let tensors = |tensors: &[TensorSummary]| {
        let tensor = |tensor: &TensorSummary| json!({ "name": tensor.name, "type": tensor_type(tensor) });
        tensors.iter().map(tensor).collect::<Vec<_>>()
    };
    let signatures: Vec<_> = model
        .signatures
        .iter()
        .map(|signature| {
            let (inputs, outputs) = (tensors(&signature.inputs), tensors(&signature.outputs));
            json!({ "name": signature.name, "inputs": inputs, "outputs": outputs })
        })
        .collect();
    let functions: Vec<_> =
        model.functions.iter().map(|(name, count)| json!({ "name": name, "nodes": count })).collect();
    json!({
        "tensorflow_version": model.tensorflow_version, "tags": model.tags, "signatures": signatures,
        "variables": tensors(&model.variables), "functions": functions,
    })
}
