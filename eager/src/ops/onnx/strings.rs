//! `onnx.StringSplit`, `onnx.StringNormalizer` and `onnx.RegexFullMatch`.

use std::collections::HashSet;

use bstr::{BString, ByteSlice};
use regex::bytes::Regex;
use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::{HostTensor, StringHostTensor, TensorMetadata, TensorShape};

use super::arguments::{flag, text_or, unknown};
use crate::ops::strings::{copied, strings};
use crate::ops::support::{Computed, Described, allocate, int_attr, invalid, one, room_for, take};
use crate::ops::types;
use crate::{AttrValue, CpuCall, Forms, MetadataCall, OpAttrs, OpRegistry, OpResult, attr};
use tfrt_host::AsyncValue;

/// A list of texts; empty if the attribute is absent.
pub(super) fn texts_attr<'a>(attrs: &'a OpAttrs, name: &str) -> Result<Vec<&'a str>, Diagnostic> {
    let unfit = || invalid(format!("attribute '{name}' must be a list of texts"));
    match attrs.get(name) {
        None => Ok(Vec::new()),
        Some(AttrValue::Aggregate(elements)) => (elements.iter())
            .map(|element| match element {
                AttrValue::String(text) => Ok(text),
                _ => Err(unfit()),
            })
            .collect(),
        // A list without elements has no type.
        Some(AttrValue::Array(_, [])) => Ok(Vec::new()),
        Some(_) => Err(unfit()),
    }
}

/// A string of ONNX, which is UTF-8.
pub(super) fn as_text(string: &BString) -> Result<&str, Diagnostic> {
    string.to_str().map_err(|_| invalid(format!("'{string}' is not UTF-8")))
}

/// The parts of a text between delimiters, of which at most `most` divide it.
fn parts<'t>(text: &'t str, delimiter: &str, most: usize) -> Vec<&'t str> {
    if !delimiter.is_empty() {
        return text.splitn(most.saturating_add(1), delimiter).collect();
    }
    // Runs of whitespace divide, and none is left at the ends.
    let (mut parts, mut rest) = (Vec::new(), text.trim_start());
    while parts.len() < most
        && let Some(end) = rest.find(char::is_whitespace)
    {
        parts.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    if !rest.is_empty() {
        parts.push(rest);
    }
    parts
}

fn split(call: &CpuCall<'_>) -> Computed {
    let [x] = take(call)?;
    let x = strings(x)?;
    let delimiter = text_or(call.attrs, "delimiter", "")?;
    let most = match int_attr(call.attrs, "maxsplit")? {
        Some(most) => usize::try_from(most).unwrap_or(usize::MAX),
        None => usize::MAX,
    };
    let mut rows = room_for(x.strings().len())?;
    for text in x.strings() {
        rows.push(parts(as_text(text)?, delimiter, most));
    }
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut dims = x.shape().dims().to_vec();
    let mut counts = allocate(call, DType::I64, &dims)?;
    counts.elements_mut::<i64>()?.iter_mut().zip(&rows).for_each(|(count, row)| *count = row.len() as i64);
    dims.push(width);
    let shape = TensorShape::new(&dims)?;
    let mut texts = room_for(shape.num_elements()?)?;
    for row in &rows {
        for place in 0..width {
            texts.push(copied(row.get(place).copied().unwrap_or("").as_bytes())?);
        }
    }
    let tensors = [HostTensor::from(StringHostTensor::new(shape, texts)?), counts.into()];
    Ok(OpResult { tensors: tensors.into_iter().map(AsyncValue::new).collect(), done: None })
}

fn normalize(call: &CpuCall<'_>) -> Computed {
    let [x] = take(call)?;
    let x = strings(x)?;
    let is_matrix = match *x.shape().dims() {
        [_] => false,
        [1, _] => true,
        _ => return Err(invalid(format!("the op takes shapes [C] and [1, C], got {}", x.shape()))),
    };
    let is_case_sensitive = flag(call.attrs, "is_case_sensitive", false)?;
    let folded = |text: &str| if is_case_sensitive { text.to_owned() } else { text.to_lowercase() };
    let stopwords: HashSet<String> = texts_attr(call.attrs, "stopwords")?.into_iter().map(folded).collect();
    let change: fn(&str) -> String = match text_or(call.attrs, "case_change_action", "NONE")? {
        "NONE" => str::to_owned,
        "LOWER" => str::to_lowercase,
        "UPPER" => str::to_uppercase,
        other => return Err(unknown("case_change_action", other)),
    };
    let mut texts = Vec::new();
    for text in x.strings() {
        let text = as_text(text)?;
        if !stopwords.contains(&folded(text)) {
            texts.push(change(text));
        }
    }
    if texts.is_empty() {
        texts.push(String::new());
    }
    let dims = [1, texts.len()];
    let shape = TensorShape::new(if is_matrix { &dims } else { &dims[1..] })?;
    Ok(StringHostTensor::new(shape, texts)?.into())
}

fn match_metadata(call: MetadataCall<'_>) -> Described {
    let [x] = call.take()?;
    one(TensorMetadata::new(DType::I1, x.shape.clone()))
}

fn full_match(call: &CpuCall<'_>) -> Computed {
    let [x] = take(call)?;
    let pattern = text_or(call.attrs, "pattern", "")?;
    let regex = Regex::new(&format!(r"\A(?:{pattern})\z"))
        .map_err(|error| invalid(format!("'{pattern}' is not a regular expression: {error}")))?;
    let mut out = call.allocate_unset(0)?;
    let texts = strings(x)?.strings();
    out.elements_mut::<bool>()?.iter_mut().zip(texts).for_each(|(out, text)| *out = regex.is_match(text));
    Ok(out.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("onnx.StringSplit")
        .types(types::STRINGS)
        .attrs([attr::string_or("delimiter", ""), attr::int("maxsplit").optional()])
        .cpu(|call| split(&call))
        .forms(Forms::STRING);
    ops.add("onnx.StringNormalizer")
        .types(types::STRINGS)
        .attrs([
            attr::string_or("case_change_action", "NONE"),
            attr::int_or("is_case_sensitive", 0),
            attr::strings_or("stopwords", &[]),
        ])
        .cpu(|call| normalize(&call))
        .forms(Forms::STRING);
    ops.add("onnx.RegexFullMatch")
        .types(types::STRINGS)
        .attrs([attr::string_or("pattern", "")])
        .metadata(match_metadata)
        .cpu(|call| full_match(&call))
        .forms(Forms::STRING);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_divided_at_most_so_often() {
        assert_eq!(parts("a,b,,c", ",", usize::MAX), ["a", "b", "", "c"]);
        assert_eq!(parts("a,b,c", ",", 1), ["a", "b,c"]);
        assert_eq!(parts("", ",", 1), [""]);
        assert_eq!(parts("  a  b c ", "", usize::MAX), ["a", "b", "c"]);
        assert_eq!(parts("  a  b c", "", 1), ["a", "b c"]);
        assert_eq!(parts("   ", "", 1), [""; 0]);
    }
}
