//! Strings.

use tfrt_host::DType;
use tfrt_ir::Attribute;

use super::Family;
use crate::import::onnx::node::{Imported, Node, ints};

pub(super) const OPS: Family = &[
    ("RegexFullMatch", full_match),
    ("StringConcat", concat),
    ("StringNormalizer", normalize),
    ("StringSplit", split),
    ("TfIdfVectorizer", vectorize),
];

/// A list of texts.
pub(super) fn texts(values: Vec<String>) -> Attribute {
    Attribute::array(values.into_iter().map(Attribute::string).collect::<Vec<_>>())
}

fn concat(node: &mut Node<'_, '_>) -> Imported {
    let inputs = [node.input(0)?, node.input(1)?];
    Ok(vec![node.op("tf.Add", &inputs, &[])?])
}

fn full_match(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let pattern = Attribute::string(node.string_or("pattern", "")?);
    Ok(vec![node.op("onnx.RegexFullMatch", &[x], &[("pattern", pattern)])?])
}

/// The locale is not looked at: case is that of Unicode.
fn normalize(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let mut attributes = vec![
        ("case_change_action", Attribute::string(node.string_or("case_change_action", "NONE")?)),
        ("is_case_sensitive", Attribute::i64(node.int_or("is_case_sensitive", 0)?)),
    ];
    if let Some(words) = node.strings("stopwords")?.filter(|words| !words.is_empty()) {
        attributes.push(("stopwords", texts(words)));
    }
    Ok(vec![node.op("onnx.StringNormalizer", &[x], &attributes)?])
}

fn split(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let mut attributes = vec![("delimiter", Attribute::string(node.string_or("delimiter", "")?))];
    if let Some(most) = node.int("maxsplit")? {
        attributes.push(("maxsplit", Attribute::i64(most)));
    }
    node.ops("onnx.StringSplit", &[x], &attributes, 2)
}

fn vectorize(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let mut attributes = Vec::new();
    for name in ["max_gram_length", "max_skip_count", "min_gram_length"] {
        let count = node.int(name)?.ok_or_else(|| format!("attribute '{name}' is missing"))?;
        attributes.push((name, Attribute::i64(count)));
    }
    attributes.push(("mode", Attribute::string(node.string("mode")?.ok_or("attribute 'mode' is missing")?)));
    for name in ["ngram_counts", "ngram_indexes", "pool_int64s"] {
        attributes.extend(node.ints(name)?.map(|values| (name, ints(&values))));
    }
    if let Some(words) = node.strings("pool_strings")?.filter(|words| !words.is_empty()) {
        if node.dtype(x)? != DType::String {
            return Err("the pool holds strings, and the input does not".into());
        }
        attributes.push(("pool_strings", texts(words)));
    }
    if let Some(weights) = node.floats("weights")? {
        let weights = weights.into_iter().map(Attribute::f32).collect::<Vec<_>>();
        attributes.push(("weights", Attribute::array(weights)));
    }
    Ok(vec![node.op("onnx.TfIdfVectorizer", &[x], &attributes)?])
}
