//! Regular expressions: matching and replacing.
//!
//! TensorFlow uses RE2, whose syntax the `regex` crate supports, too.

use bstr::BString;
use regex::bytes::Regex;
use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::{HostTensor, StringHostTensor, TensorMetadata};

use super::strings::{strings, text};
use super::support::{Computed, Described, invalid, one, room_for, take};
use super::types;
use crate::{CpuCall, Forms, MetadataCall, OpRegistry, attr};

fn compiled(pattern: &str) -> Result<Regex, Diagnostic> {
    Regex::new(pattern).map_err(|error| invalid(format!("'{pattern}' is not a regular expression: {error}")))
}

/// Converts a rewrite to the crate's notation: `\1` stands for a group, `\0` for the whole match.
fn replacement(rewrite: &str) -> Result<String, Diagnostic> {
    let mut spelled = String::with_capacity(rewrite.len());
    let mut chars = rewrite.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(digit @ '0'..='9') => {
                    spelled.push_str("${");
                    spelled.push(digit);
                    spelled.push('}');
                }
                Some('\\') => spelled.push('\\'),
                _ => return Err(invalid(format!("'{rewrite}' is not a rewrite: a backslash stands alone"))),
            },
            '$' => spelled.push_str("$$"),
            c => spelled.push(c),
        }
    }
    Ok(spelled)
}

fn same_strings(call: MetadataCall<'_>, dtype: DType, count: usize) -> Described {
    match call.arguments {
        [x, ..] if call.arguments.len() == count && x.dtype == DType::String => {
            one(TensorMetadata::new(dtype, x.shape.clone()))
        }
        _ => Err(invalid(format!("the op takes {count} tensors of strings"))),
    }
}

fn replace(call: &CpuCall<'_>, x: &HostTensor, pattern: &str, rewrite: &str) -> Computed {
    let (regex, rewrite) = (compiled(pattern)?, replacement(rewrite)?);
    let is_global = call.attrs.optional("replace_global")?.unwrap_or(true);
    let x = strings(x)?;
    let mut texts = room_for(x.strings().len())?;
    for text in x.strings() {
        let limit = usize::from(!is_global);
        texts.push(BString::from(regex.replacen(text, limit, rewrite.as_bytes()).into_owned()));
    }
    Ok(StringHostTensor::new(x.shape().clone(), texts)?.into())
}

fn full_match(call: &CpuCall<'_>, x: &HostTensor, pattern: &str) -> Computed {
    let regex = compiled(&format!(r"\A(?:{pattern})\z"))?;
    let mut out = call.allocate_unset(0)?;
    let texts = strings(x)?.strings();
    out.elements_mut::<bool>()?.iter_mut().zip(texts).for_each(|(out, text)| *out = regex.is_match(text));
    Ok(out.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.RegexReplace")
        .types(types::STRINGS)
        .attrs([attr::boolean_or("replace_global", true)])
        .metadata(|call| same_strings(call, DType::String, 3))
        .cpu(|call| {
            let [x, pattern, rewrite] = take(&call)?;
            replace(&call, x, text(pattern, "pattern", 0)?, text(rewrite, "rewrite", 0)?)
        })
        .forms(Forms::STRING);
    ops.add("tf.StaticRegexReplace")
        .types(types::STRINGS)
        .attrs([attr::string("pattern"), attr::string("rewrite"), attr::boolean_or("replace_global", true)])
        .metadata(|call| same_strings(call, DType::String, 1))
        .cpu(|call| {
            let [x] = take(&call)?;
            replace(&call, x, call.attrs.required("pattern")?, call.attrs.required("rewrite")?)
        })
        .forms(Forms::STRING);
    ops.add("tf.RegexFullMatch")
        .types(types::STRINGS)
        .metadata(|call| same_strings(call, DType::I1, 2))
        .cpu(|call| {
            let [x, pattern] = take(&call)?;
            full_match(&call, x, text(pattern, "pattern", 0)?)
        })
        .forms(Forms::STRING);
    ops.add("tf.StaticRegexFullMatch")
        .types(types::STRINGS)
        .attrs([attr::string("pattern")])
        .metadata(|call| same_strings(call, DType::I1, 1))
        .cpu(|call| {
            let [x] = take(&call)?;
            full_match(&call, x, call.attrs.required("pattern")?)
        })
        .forms(Forms::STRING);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewrites_name_groups() {
        assert_eq!(replacement(r"<\1$\\>").unwrap(), r"<${1}$$\>");
        assert!(replacement(r"a\").is_err());
        let regex = compiled(r"(\w+) (\w+)").unwrap();
        let swapped = replacement(r"\2 \1").unwrap();
        assert_eq!(*regex.replacen(b"hello world", 0, swapped.as_bytes()), *b"world hello");
    }
}
