//! Linear models.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::{
    Family,
    scores::{Labels, beside, features, numbers, transform_of, transformed},
};
use crate::import::onnx::node::{Imported, Node};

pub(super) const OPS: Family = &[("LinearClassifier", classify), ("LinearRegressor", regress)];

/// `x * coefficients^T + intercepts`, with a column for each of `count` rows of coefficients.
fn products(node: &mut Node<'_, '_>, count: usize) -> Imported<ValueId> {
    let x = features(node)?;
    let x = node.cast(x, DType::F32)?;
    let coefficients = node.floats("coefficients")?.ok_or("attribute 'coefficients' is missing")?;
    if count == 0 || coefficients.len() % count != 0 {
        return Err(format!("{} coefficients are given for {count} scores", coefficients.len()).into());
    }
    let matrix = numbers(node, &[count, coefficients.len() / count], &coefficients)?;
    let product = node.op("tf.MatMul", &[x, matrix], &[("transpose_b", Attribute::Bool(true))])?;
    match node.floats("intercepts")?.filter(|intercepts| !intercepts.is_empty()) {
        None => Ok(product),
        Some(intercepts) => {
            let intercepts = numbers(node, &[count], &intercepts)?;
            node.op("tf.AddV2", &[product, intercepts], &[])
        }
    }
}

fn regress(node: &mut Node<'_, '_>) -> Imported {
    let count = usize::try_from(node.int_or("targets", 1)?).unwrap_or(0);
    let scores = products(node, count)?;
    let transform = transform_of(node)?;
    Ok(vec![transformed(node, scores, &transform)?])
}

/// The label of the greatest score, and the scores. One score decides between two classes, and the
/// first one's is made of it.
fn classify(node: &mut Node<'_, '_>) -> Imported {
    let labels = Labels::of(node, "classlabels_ints")?;
    let count = node.floats("intercepts")?.map_or(labels.count(), |intercepts| intercepts.len());
    let scores = products(node, count)?;
    let transform = transform_of(node)?;
    if count != 1 {
        let label = labels.of_greatest(node, scores)?;
        return Ok(vec![label, transformed(node, scores, &transform)?]);
    }
    let zero = node.add_number_like(scores, 0.0)?;
    let is_second = node.op("tf.Greater", &[scores, zero], &[])?;
    let label = labels.of_two(node, is_second)?;
    if labels.count() != 2 {
        return Ok(vec![label, transformed(node, scores, &transform)?]);
    }
    let first = if transform == "LOGISTIC" {
        node.op("tf.Neg", &[scores], &[])?
    } else {
        let one = node.add_number_like(scores, 1.0)?;
        node.op("tf.Sub", &[one, scores], &[])?
    };
    let both = beside(node, &[first, scores])?;
    Ok(vec![label, transformed(node, both, &transform)?])
}
