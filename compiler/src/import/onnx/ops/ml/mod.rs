//! The domain `ai.onnx.ml`: classical models and what prepares their features, as converters of
//! scikit-learn write them.

mod features;
mod linear;
mod machines;
mod scores;
mod tables;
mod trees;

use super::Family;

pub(super) const FAMILIES: &[Family] =
    &[features::OPS, linear::OPS, machines::OPS, scores::OPS, tables::OPS, trees::OPS];
