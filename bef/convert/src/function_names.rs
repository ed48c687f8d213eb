//! Under which names kernels refer to functions.
//!
//! The format keeps attribute names for converting back, but none for attributes that are
//! references to functions or lists of them. Converting back assumes the names of the op's
//! definition, or `callee` if it names none. [`section`] holds all other names; those of lists are
//! followed by `[]` and appear once for each function. The format does not define this section, so
//! other readers skip it, and it is written only where there are such names: for each kernel in
//! question its function's index, its own index and the number of names, as variable-length
//! integers, then the NUL-terminated names.

use std::borrow::Cow;
use std::collections::HashMap;

use tfrt_ir::{OpDefinition, OpRegistry};

/// The section's number.
pub(crate) const SECTION: u8 = 0x80;
/// What the reference of an op to its function number `index` is called if the file does not say.
fn usual_name(ops: &OpRegistry, op: &str, index: usize) -> Cow<'static, str> {
    let attributes = ops.get(op).map(OpDefinition::function_attributes).unwrap_or_default();
    match (&attributes[..], attributes.get(index)) {
        ([list], _) if list.is_list => reference_name(list.name, true).into_owned().into(),
        (_, Some(attribute)) => attribute.name.as_str().to_owned().into(),
        (_, None) => "callee".into(),
    }
}

/// A kernel that refers to functions.
pub(crate) struct Referrer<'a> {
    /// Function index and kernel index.
    pub(crate) position: (u32, u32),
    /// Its op.
    pub(crate) op: &'a str,
    /// What it calls its references.
    pub(crate) names: Vec<Cow<'a, str>>,
}

const LIST: &str = "[]";

/// What a reference is called whose attribute has this name.
pub(crate) fn reference_name(attribute: &str, in_list: bool) -> Cow<'_, str> {
    if in_list { format!("{attribute}{LIST}").into() } else { attribute.into() }
}

/// The attribute of a reference of this name, and whether it is a list of references.
pub(crate) fn attribute_of(reference: &str) -> (&str, bool) {
    reference.strip_suffix(LIST).map_or((reference, false), |attribute| (attribute, true))
}

/// The section's bytes, or `None` where there is nothing to say.
pub(crate) fn section(ops: &OpRegistry, referrers: &[Referrer<'_>]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    for Referrer { position: (function, kernel), op, names } in referrers {
        if names.iter().enumerate().all(|(index, name)| *name == usual_name(ops, op, index)) {
            continue;
        }
        for number in [*function, *kernel, names.len() as u32] {
            put_integer(&mut out, number);
        }
        for name in names {
            out.extend_from_slice(name.as_bytes());
            out.push(0);
        }
    }
    (!out.is_empty()).then_some(out)
}

/// The names of references to functions, by function index and kernel index.
#[derive(Debug, Default)]
pub(crate) struct Names {
    names: HashMap<(u32, u32), Vec<String>>,
}

impl Names {
    /// Reads the section. What is malformed counts as not said: the names are for people to read.
    pub(crate) fn read(section: &[u8]) -> Self {
        let mut rest = section;
        let mut names = HashMap::new();
        while let Some((key, list)) = read_entry(&mut rest) {
            names.insert(key, list);
        }
        Self { names }
    }

    /// The name of reference number `index` of a kernel.
    pub(crate) fn get(&self, ops: &OpRegistry, position: (u32, u32), op: &str, index: usize) -> Cow<'_, str> {
        match self.names.get(&position).and_then(|names| names.get(index)) {
            Some(name) => name.into(),
            None => usual_name(ops, op, index),
        }
    }
}

fn read_entry(rest: &mut &[u8]) -> Option<((u32, u32), Vec<String>)> {
    let function = read_integer(rest)?;
    let kernel = read_integer(rest)?;
    let count = read_integer(rest)? as usize;
    let mut names = Vec::new();
    for _ in 0..count {
        let end = rest.iter().position(|&byte| byte == 0)?;
        names.push(std::str::from_utf8(&rest[..end]).ok()?.to_owned());
        *rest = &rest[end + 1..];
    }
    Some(((function, kernel), names))
}

fn put_integer(out: &mut Vec<u8>, value: u32) {
    let groups = (u32::BITS - value.leading_zeros()).div_ceil(7).max(1);
    for group in (0..groups).rev() {
        out.push((value >> (7 * group) & 0x7F) as u8 | if group == 0 { 0 } else { 0x80 });
    }
}

fn read_integer(rest: &mut &[u8]) -> Option<u32> {
    let mut value = 0_u32;
    loop {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        value = value.checked_mul(0x80)? | u32::from(byte & 0x7F);
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unusual_names_are_written_and_read_back() {
        let referrer = |position, op, names: &[&'static str]| Referrer {
            position,
            op,
            names: names.iter().map(|&name| name.into()).collect(),
        };
        let usual = [
            referrer((0, 1), "k", &["callee"]),
            referrer((0, 2), "k", &[]),
            referrer((0, 3), "tfrt.cond", &["a_true_fn", "b_false_fn"]),
            referrer((0, 4), "tfrt.case", &["branches[]", "branches[]"]),
        ];
        let mut ops = OpRegistry::new();
        ops.add_core_ops().unwrap();
        assert_eq!(section(&ops, &usual), None);
        let unusual = [
            referrer((3, 200), "k", &["then", "else"]),
            referrer((3, 1), "k", &["callee"]),
            referrer((7, 2), "tfrt.cond", &["body"]),
        ];
        let section = section(&ops, &unusual).unwrap();
        let names = Names::read(&section);
        let three = [0, 1, 2].map(|index| names.get(&ops, (3, 200), "k", index));
        assert_eq!(three, ["then", "else", "callee"]);
        assert_eq!(names.get(&ops, (3, 1), "k", 0), "callee");
        assert_eq!(names.get(&ops, (7, 2), "tfrt.cond", 0), "body");
        assert_eq!(names.get(&ops, (7, 3), "tfrt.cond", 1), "b_false_fn");
        assert_eq!(names.get(&ops, (7, 3), "tfrt.case", 5), "branches[]");
        for len in 0..section.len() {
            assert!(Names::read(&section[..len]).names.len() < 2);
        }
        assert!(Names::read(&[0xFF; 20]).names.is_empty());
    }
}
