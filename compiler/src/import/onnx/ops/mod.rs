//! The importers of ONNX's ops, one file a family. Each family lists its ops in a constant `OPS`; a
//! new op is a function and a line there.
//!
//! An importer reads a node's inputs and attributes as the operator set of the model defines them,
//! and appends `tf.*` operations where TensorFlow has the op, and an `onnx.*` operation of the
//! newest version where it has not.

mod activation;
mod attention;
mod bits;
pub(super) mod constant;
mod contrib;
mod control_flow;
mod convolution;
mod dims;
mod elementwise;
mod flex_attention;
mod images;
mod linear;
mod linear_attention;
mod loss;
mod ml;
mod normalization;
mod order;
mod pooling;
mod quantization;
mod random;
mod recurrent;
mod reduction;
mod sampling;
mod selection;
mod sequence;
mod shape;
mod signal;
mod strings;
mod thresholds;
mod training;
mod window;

use std::{collections::HashMap, sync::OnceLock};

use super::node::{Imported, Node};

/// Imports a node: appends its operations and gives its outputs, in order.
pub(super) type ImportFn = fn(&mut Node<'_, '_>) -> Imported;

/// Ops of one family and their importers.
pub(super) type Family = &'static [(&'static str, ImportFn)];

/// All families of the default operator set.
const FAMILIES: &[Family] = &[
    activation::OPS,
    attention::OPS,
    bits::OPS,
    constant::OPS,
    contrib::STANDARD,
    control_flow::OPS,
    convolution::OPS,
    elementwise::OPS,
    images::OPS,
    linear::OPS,
    linear_attention::OPS,
    loss::OPS,
    normalization::OPS,
    order::OPS,
    pooling::OPS,
    quantization::OPS,
    random::OPS,
    recurrent::OPS,
    reduction::OPS,
    sampling::OPS,
    selection::OPS,
    sequence::OPS,
    shape::OPS,
    signal::OPS,
    strings::OPS,
    thresholds::OPS,
];

/// The domains whose ops are known, with their families.
pub(super) const DOMAINS: &[(&str, &[Family])] = &[
    ("", FAMILIES),
    ("ai.onnx.ml", ml::FAMILIES),
    ("ai.onnx.preview", flex_attention::FAMILIES),
    ("ai.onnx.preview.training", training::FAMILIES),
    ("com.microsoft", contrib::FAMILIES),
];

/// The importer of an op of a domain.
pub(super) fn find(domain: &str, name: &str) -> Option<ImportFn> {
    static OPS: OnceLock<HashMap<(&str, &str), ImportFn>> = OnceLock::new();
    let ops = OPS.get_or_init(|| {
        let named = |&(domain, families): &(&'static str, &[Family])| {
            let ops = families.iter().flat_map(|family| family.iter());
            ops.map(move |&(name, import)| ((domain, name), import)).collect::<Vec<_>>()
        };
        DOMAINS.iter().flat_map(named).collect()
    });
    ops.get(&(domain, name)).copied()
}

/// The oldest operator set for which an op can be imported.
pub(super) fn min_opset(name: &str) -> i64 {
    match name {
        "Scan" => control_flow::MIN_SCAN_OPSET,
        _ => 0,
    }
}
