//! The outputs of TensorFlow's ops: how many a node has, and what functions call them.
//!
//! A graph refers to outputs by number, a function by the name that the op gives them.
//! `outputs.txt` lists the ops of TensorFlow that do not have just one: the names of their outputs,
//! and the attribute that says how many values stand behind a name.

use std::{collections::HashMap, sync::OnceLock};

use super::proto::{Attr, ListValue, NodeDef};

/// The most values that stand behind a name.
pub(super) const MAX_OUTPUTS: usize = 1 << 16;

/// An output's name, and the attribute that counts its values or lists their types.
type Output = (&'static str, Option<&'static str>);

/// Whether an op does something and gives nothing.
pub(super) fn has_none(op: &str) -> bool {
    outputs(op).is_some_and(<[Output]>::is_empty)
}

/// The outputs of an op; `None` for one of a single value.
fn outputs(op: &str) -> Option<&'static [Output]> {
    static OPS: OnceLock<HashMap<&str, Vec<Output>>> = OnceLock::new();
    let line = |line: &'static str| {
        let mut words = line.split(' ');
        let output = |word: &'static str| match word.split_once('*') {
            Some((name, by)) => (name, Some(by)),
            None => (word, None),
        };
        (words.next().unwrap_or_default(), words.map(output).collect())
    };
    OPS.get_or_init(|| include_str!("outputs.txt").lines().map(line).collect()).get(op).map(Vec::as_slice)
}

fn size(node: &NodeDef, count: Option<&str>) -> usize {
    let Some(name) = count else { return 1 };
    match node.attr.get(name).and_then(|attr| attr.value.as_ref()) {
        Some(Attr::I(count)) => usize::try_from(*count).unwrap_or(0).min(MAX_OUTPUTS),
        Some(Attr::List(list)) => list.r#type.len(),
        _ => 0,
    }
}

/// The attribute that counts outputs of a node and can do so neither as a number nor as a list of types.
pub(super) fn wrong_count(node: &NodeDef) -> Option<&'static str> {
    let mut counts = outputs(&node.op)?.iter().filter_map(|&(_, count)| count);
    let is_wrong = |name: &&str| match node.attr.get(*name).and_then(|attr| attr.value.as_ref()) {
        None | Some(Attr::I(_) | Attr::Placeholder(_)) => false,
        Some(Attr::List(list)) => *list != ListValue { r#type: list.r#type.clone(), ..ListValue::default() },
        Some(_) => true,
    };
    counts.find(is_wrong)
}

/// How many outputs a node has.
pub(super) fn count(node: &NodeDef) -> usize {
    match outputs(&node.op) {
        Some(outputs) => outputs
            .iter()
            .map(|&(_, count)| size(node, count))
            .fold(0, |sum: usize, count| sum.saturating_add(count)),
        None => 1,
    }
}

/// The number of the output that a function calls `name` and `index`.
pub(super) fn number(node: &NodeDef, name: &str, index: usize) -> Option<usize> {
    let Some(outputs) = outputs(&node.op) else { return Some(index) };
    let mut start: usize = 0;
    for &(known, count) in outputs {
        if known == name {
            return start.checked_add(index);
        }
        start = start.checked_add(size(node, count))?;
    }
    None
}
