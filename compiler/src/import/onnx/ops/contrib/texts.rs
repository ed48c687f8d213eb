//! Texts.

use tfrt_ir::Attribute;

use super::Family;
use crate::import::onnx::{
    node::{Imported, Node},
    ops::strings::texts,
};

pub(super) const OPS: Family = &[("Tokenizer", tokenize)];

fn tokenize(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let mut attributes = vec![
        ("mark", Attribute::i64(node.int_or("mark", 0)?)),
        ("mincharnum", Attribute::i64(node.int_or("mincharnum", 1)?)),
        ("pad_value", Attribute::string(node.string_or("pad_value", "")?)),
        ("tokenexp", Attribute::string(node.string_or("tokenexp", "")?)),
    ];
    if let Some(separators) = node.strings("separators")?.filter(|separators| !separators.is_empty()) {
        attributes.push(("separators", texts(separators)));
    }
    Ok(vec![node.op("onnx.Tokenizer", &[x], &attributes)?])
}
