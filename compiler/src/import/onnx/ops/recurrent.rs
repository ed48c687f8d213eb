//! Recurrent networks.

use super::Family;
use crate::import::onnx::node::{Imported, Node};

pub(super) const OPS: Family = &[
    ("GRU", |node| recurrent(node, "onnx.GRU", 2)),
    ("LSTM", |node| recurrent(node, "onnx.LSTM", 3)),
    ("RNN", |node| recurrent(node, "onnx.RNN", 2)),
];

/// The attributes of all versions that the ops take. `output_sequence` of the first version said
/// whether an output is used.
const ATTRIBUTES: &[&str] =
    &["activation_alpha", "activation_beta", "activations", "clip", "direction", "hidden_size"];

fn recurrent(node: &mut Node<'_, '_>, op: &str, outputs: usize) -> Imported {
    let mut attributes = node.forwarded(ATTRIBUTES)?;
    attributes.extend(node.forwarded(&["layout"])?);
    attributes.extend(match op {
        "onnx.GRU" => node.forwarded(&["linear_before_reset"])?,
        "onnx.LSTM" => node.forwarded(&["input_forget"])?,
        _ => Vec::new(),
    });
    let operands: Vec<_> = (0..node.inputs.len()).map(|index| node.optional(index)).collect();
    node.onnx_outputs(op, &operands, &attributes, outputs)
}
