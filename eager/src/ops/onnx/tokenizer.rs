//! `onnx.Tokenizer`, as ONNX Runtime has it in the domain `com.microsoft`: the tokens of texts.

use regex::Regex;
use tfrt_host::Diagnostic;
use tfrt_tensor::{StringHostTensor, TensorShape};

use super::arguments::{flag, text_or};
use super::strings::{as_text, texts_attr};
use crate::ops::strings::{copied, strings};
use crate::ops::support::{Computed, int_attr, invalid, room_for, take};
use crate::ops::types;
use crate::{CpuCall, Forms, OpAttrs, OpRegistry, attr};

/// What marks the start and the end of a text.
const MARKS: [&str; 2] = ["\u{2}", "\u{3}"];

/// How texts are divided.
enum Division {
    /// Into characters.
    Characters,
    /// At what the expressions match, one after the other.
    Separators(Vec<Regex>),
    /// Into what the expression matches.
    Tokens(Regex),
}

fn expression(pattern: &str) -> Result<Regex, Diagnostic> {
    Regex::new(pattern).map_err(|error| invalid(format!("'{pattern}' is not a regular expression: {error}")))
}

impl Division {
    fn of(attrs: &OpAttrs) -> Result<Self, Diagnostic> {
        let (separators, token) = (texts_attr(attrs, "separators")?, text_or(attrs, "tokenexp", "")?);
        match (&separators[..], token) {
            ([], "") => Err(invalid("either 'separators' or 'tokenexp' must be given")),
            ([], token) => Ok(Self::Tokens(expression(token)?)),
            (_, token) if !token.is_empty() => {
                Err(invalid("'separators' and 'tokenexp' cannot be given at once"))
            }
            ([""], _) => Ok(Self::Characters),
            _ => separators.into_iter().map(expression).collect::<Result<_, _>>().map(Self::Separators),
        }
    }

    /// The tokens of a text, some of which may be empty.
    fn tokens<'t>(&self, text: &'t str) -> Vec<&'t str> {
        match self {
            Self::Characters => text.split_inclusive(|_: char| true).collect(),
            Self::Separators(separators) => separators.iter().fold(vec![text], |parts, separator| {
                parts.into_iter().flat_map(|part| separator.split(part)).collect()
            }),
            Self::Tokens(token) => token.find_iter(text).map(|found| found.as_str()).collect(),
        }
    }
}

fn tokenize(call: &CpuCall<'_>) -> Computed {
    let [x] = take(call)?;
    let x = strings(x)?;
    if !(1..=2).contains(&x.shape().rank()) {
        return Err(invalid(format!("the op takes shapes [C] and [N, C], got {}", x.shape())));
    }
    let division = Division::of(call.attrs)?;
    let has_marks = flag(call.attrs, "mark", false)?;
    let shortest = int_attr(call.attrs, "mincharnum")?.unwrap_or(1);
    let shortest = usize::try_from(shortest).ok().filter(|&shortest| shortest > 0);
    let shortest = shortest.ok_or_else(|| invalid("attribute 'mincharnum' must be positive"))?;
    let pad = text_or(call.attrs, "pad_value", "")?;
    let mut rows = room_for(x.strings().len())?;
    for text in x.strings() {
        let mut tokens = division.tokens(as_text(text)?);
        tokens.retain(|token| token.chars().nth(shortest - 1).is_some());
        if has_marks {
            tokens.insert(0, MARKS[0]);
            tokens.push(MARKS[1]);
        }
        rows.push(tokens);
    }
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    let shape = TensorShape::new(&[x.shape().dims(), &[width]].concat())?;
    let mut texts = room_for(shape.num_elements()?)?;
    for row in &rows {
        for place in 0..width {
            texts.push(copied(row.get(place).copied().unwrap_or(pad).as_bytes())?);
        }
    }
    Ok(StringHostTensor::new(shape, texts)?.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("onnx.Tokenizer")
        .types(types::STRINGS)
        .attrs([
            attr::int_or("mark", 0),
            attr::int_or("mincharnum", 1),
            attr::string_or("pad_value", ""),
            attr::strings_or("separators", &[]),
            attr::string_or("tokenexp", ""),
        ])
        .cpu(|call| tokenize(&call))
        .forms(Forms::STRING);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_divided_in_three_ways() {
        assert_eq!(Division::Characters.tokens("aß"), ["a", "ß"]);
        let separators = ["b+", " "].map(|pattern| expression(pattern).unwrap()).to_vec();
        assert_eq!(Division::Separators(separators).tokens("a bbc d"), ["a", "", "c", "d"]);
        assert_eq!(Division::Tokens(expression("[a-z]+").unwrap()).tokens("ab, c"), ["ab", "c"]);
    }
}
