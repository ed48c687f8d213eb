//! Text as numbers of characters: `tf.UnicodeDecode`, `tf.UnicodeEncode` and `tf.UnicodeTranscode`.

use bstr::{BString, ByteSlice};
use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::{StringHostTensor, TensorMetadata};

use super::plain::{results, tensor};
use super::strings::strings;
use super::support::{Computed, Described, int_attr, integers, invalid, one, room_for, take};
use super::types;
use crate::{AttrSpec, CpuCall, Forms, MetadataCall, OpAttrs, OpRegistry, ResultType, attr};

/// How text is written as bytes.
#[derive(Clone, Copy, PartialEq)]
enum Encoding {
    Utf8,
    Utf16,
    Utf32,
    Latin1,
    Ascii,
}

impl Encoding {
    fn of(name: &str) -> Result<Self, Diagnostic> {
        Ok(match name.to_ascii_uppercase().as_str() {
            "UTF-8" | "UTF8" => Self::Utf8,
            "UTF-16-BE" | "UTF-16BE" => Self::Utf16,
            "UTF-32-BE" | "UTF-32BE" => Self::Utf32,
            "ISO-8859-1" | "ISO8859-1" | "LATIN1" => Self::Latin1,
            "US-ASCII" | "ASCII" => Self::Ascii,
            _ => return Err(invalid(format!("the encoding '{name}' is not supported"))),
        })
    }

    fn write(self, c: char, bytes: &mut Vec<u8>) {
        match self {
            Self::Utf16 => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    bytes.extend(unit.to_be_bytes());
                }
            }
            Self::Utf32 => bytes.extend(u32::from(c).to_be_bytes()),
            _ => bytes.extend(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }

    /// The characters of a string with their places; `None` for bytes that are none.
    fn read(self, bytes: &[u8]) -> Vec<(usize, Option<char>)> {
        let is_marker = |text: &[u8]| text == "\u{fffd}".as_bytes();
        match self {
            Self::Utf8 => bytes
                .char_indices()
                .map(|(start, end, c)| {
                    (start, Some(c).filter(|&c| c != '\u{fffd}' || is_marker(&bytes[start..end])))
                })
                .collect(),
            Self::Latin1 => {
                bytes.iter().enumerate().map(|(at, &byte)| (at, Some(char::from(byte)))).collect()
            }
            Self::Ascii => {
                let c = |byte: u8| Some(char::from(byte)).filter(char::is_ascii);
                bytes.iter().enumerate().map(|(at, &byte)| (at, c(byte))).collect()
            }
            Self::Utf32 => {
                let c = |four: &[u8]| {
                    let four = <[u8; 4]>::try_from(four).ok()?;
                    char::from_u32(u32::from_be_bytes(four))
                };
                bytes.chunks(4).enumerate().map(|(number, four)| (number * 4, c(four))).collect()
            }
            Self::Utf16 => {
                let units = bytes.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
                let mut at = 0;
                let mut all: Vec<_> = char::decode_utf16(units)
                    .map(|c| {
                        let c = c.ok();
                        let place = at;
                        at += 2 * c.map_or(1, char::len_utf16);
                        (place, c)
                    })
                    .collect();
                if bytes.len() % 2 == 1 {
                    all.push((at, None));
                }
                all
            }
        }
    }
}

/// What is done about characters that cannot be.
struct Errors<'a> {
    kind: &'a str,
    replacement: i32,
    replaces_controls: bool,
}

impl<'a> Errors<'a> {
    fn of(attrs: &'a OpAttrs) -> Result<Self, Diagnostic> {
        let kind = attrs.optional::<&str>("errors")?.unwrap_or("replace");
        if !matches!(kind, "strict" | "replace" | "ignore") {
            return Err(invalid(format!("errors must be strict, replace or ignore, got '{kind}'")));
        }
        let replacement = int_attr(attrs, "replacement_char")?.unwrap_or(0xfffd) as i32;
        let replaces_controls = attrs.optional("replace_control_characters")?.unwrap_or(false);
        Ok(Self { kind, replacement, replaces_controls })
    }

    /// The number of a character, or of what stands for it; `None` if it is left out.
    fn number(&self, c: Option<char>) -> Result<Option<i32>, Diagnostic> {
        match c {
            Some(c) if self.replaces_controls && u32::from(c) <= 0x1f => Ok(Some(self.replacement)),
            Some(c) => Ok(Some(u32::from(c) as i32)),
            None => match self.kind {
                "strict" => Err(invalid("Invalid formatting on input string")),
                "ignore" => Ok(None),
                _ => Ok(Some(self.replacement)),
            },
        }
    }

    /// The character of a number, or what stands for it.
    fn character(&self, number: i64) -> Result<Option<char>, Diagnostic> {
        let c = u32::try_from(number).ok().and_then(char::from_u32);
        match (c, self.kind) {
            (Some(c), _) => Ok(Some(c)),
            (None, "strict") => Err(invalid("Code point is out of range for Unicode, or a noncharacter.")),
            (None, "ignore") => Ok(None),
            (None, _) => Ok(u32::try_from(self.replacement).ok().and_then(char::from_u32)),
        }
    }
}

/// The numbers of the characters of all strings, with where each string begins; `has_offsets` adds
/// the place of each character in its string.
fn decode(call: &CpuCall<'_>, has_offsets: bool) -> Computed {
    let [x] = take(call)?;
    let encoding = Encoding::of(call.attrs.required("input_encoding")?)?;
    let errors = Errors::of(call.attrs)?;
    let (mut splits, mut numbers, mut offsets) = (vec![0i64], Vec::new(), Vec::new());
    for text in strings(x)?.strings() {
        for (at, c) in encoding.read(text) {
            if let Some(number) = errors.number(c)? {
                numbers.push(number);
                offsets.push(at as i64);
            }
        }
        splits.push(numbers.len() as i64);
    }
    let splits = match call.attrs.optional::<DType>("Tsplits")?.unwrap_or(DType::I64) {
        DType::I32 => tensor(call, &[splits.len()], &splits.iter().map(|&at| at as i32).collect::<Vec<_>>())?,
        _ => tensor(call, &[splits.len()], &splits)?,
    };
    let count = [numbers.len()];
    let mut tensors = vec![splits, tensor(call, &count, &numbers)?];
    if has_offsets {
        tensors.push(tensor(call, &count, &offsets)?);
    }
    Ok(results(tensors))
}

/// A string of the characters of each row.
fn encode(call: &CpuCall<'_>) -> Computed {
    let [numbers, splits] = take(call)?;
    let encoding = Encoding::of(call.attrs.required("output_encoding")?)?;
    let errors = Errors::of(call.attrs)?;
    let (numbers, splits) = (integers(numbers, "input_values")?, integers(splits, "input_splits")?);
    let mut texts = room_for(splits.len().saturating_sub(1))?;
    for row in splits.windows(2) {
        let part = usize::try_from(row[0]).ok().zip(usize::try_from(row[1]).ok());
        let part = part.and_then(|(start, end)| numbers.get(start..end));
        let part =
            part.ok_or_else(|| invalid("Values in input_splits must be in order and within input_values"))?;
        let mut bytes = Vec::new();
        for &number in part {
            if let Some(c) = errors.character(number)? {
                encoding.write(c, &mut bytes);
            }
        }
        texts.push(BString::from(bytes));
    }
    Ok(StringHostTensor::new([texts.len()], texts)?.into())
}

fn transcode(call: &CpuCall<'_>) -> Computed {
    let [x] = take(call)?;
    let (from, to): (&str, &str) =
        (call.attrs.required("input_encoding")?, call.attrs.required("output_encoding")?);
    let (from, to) = (Encoding::of(from)?, Encoding::of(to)?);
    let errors = Errors::of(call.attrs)?;
    let x = strings(x)?;
    let mut texts = room_for(x.strings().len())?;
    for text in x.strings() {
        let mut bytes = Vec::new();
        for (_, c) in from.read(text) {
            if let Some(number) = errors.number(c)?
                && let Some(c) = errors.character(number.into())?
            {
                to.write(c, &mut bytes);
            }
        }
        texts.push(BString::from(bytes));
    }
    Ok(StringHostTensor::new(x.shape().clone(), texts)?.into())
}

fn same_strings(call: MetadataCall<'_>) -> Described {
    let [x] = call.take()?;
    one(TensorMetadata::new(DType::String, x.shape.clone()))
}

/// Splits strings at any byte of a delimiter, or into bytes without one: `tf.StringSplit`.
fn split(call: &CpuCall<'_>) -> Computed {
    let [x, delimiter] = take(call)?;
    let (x, delimiter) = (strings(x)?, super::strings::string(delimiter, "delimiter", 0)?);
    let skips = call.attrs.optional("skip_empty")?.unwrap_or(true);
    let (mut indices, mut parts, mut columns) = (Vec::new(), Vec::new(), 0);
    for (row, text) in x.strings().iter().enumerate() {
        let pieces: Vec<&[u8]> = match delimiter {
            _ if text.is_empty() => Vec::new(),
            [] => text.chunks(1).collect(),
            delimiter => text.split(|byte| delimiter.contains(byte)).collect(),
        };
        let kept = pieces.into_iter().filter(|piece| !(skips && piece.is_empty()));
        let mut column = 0;
        for piece in kept {
            indices.extend([row as i64, column]);
            parts.push(BString::from(piece));
            column += 1;
        }
        columns = columns.max(column);
    }
    let count = parts.len();
    let shape = [x.strings().len() as i64, columns];
    Ok(results([
        tensor(call, &[count, 2], &indices)?,
        StringHostTensor::new([count], parts)?.into(),
        tensor(call, &[2], &shape)?,
    ]))
}

const DECODED: [AttrSpec; 5] = [
    attr::dtype_or("Tsplits", DType::I64),
    attr::string_or("errors", "replace"),
    attr::string("input_encoding"),
    attr::boolean_or("replace_control_characters", false),
    attr::int_or("replacement_char", 0xfffd),
];

pub(super) fn register(ops: &mut OpRegistry) {
    const SPLITS: ResultType = ResultType::named("Tsplits").rank(1);
    const NUMBERS: ResultType = ResultType::is(DType::I32).rank(1);
    const OFFSETS: ResultType = ResultType::is(DType::I64).rank(1);
    ops.add("tf.UnicodeDecode")
        .types(types::STRINGS)
        .attrs(DECODED)
        .results([SPLITS, NUMBERS])
        .cpu(|call| decode(&call, false))
        .forms(Forms::STRING);
    ops.add("tf.UnicodeDecodeWithOffsets")
        .types(types::STRINGS)
        .attrs(DECODED)
        .results([SPLITS, NUMBERS, OFFSETS])
        .cpu(|call| decode(&call, true))
        .forms(Forms::STRING);
    ops.add("tf.UnicodeEncode")
        .types(types::ANY)
        .attrs([
            attr::string_or("errors", "replace"),
            attr::string("output_encoding"),
            attr::int_or("replacement_char", 0xfffd),
        ])
        .results([ResultType::is(DType::String).rank(1)])
        .cpu(|call| encode(&call));
    ops.add("tf.UnicodeTranscode")
        .types(types::STRINGS)
        .attrs([
            attr::string_or("errors", "replace"),
            attr::string("input_encoding"),
            attr::string("output_encoding"),
            attr::boolean_or("replace_control_characters", false),
            attr::int_or("replacement_char", 0xfffd),
        ])
        .metadata(same_strings)
        .cpu(|call| transcode(&call))
        .forms(Forms::STRING);
    ops.add("tf.StringSplit")
        .types(types::STRINGS)
        .attrs([attr::boolean_or("skip_empty", true)])
        .results([
            ResultType::is(DType::I64).rank(2),
            ResultType::is(DType::String).rank(1),
            ResultType::is(DType::I64).rank(1),
        ])
        .cpu(|call| split(&call))
        .forms(Forms::STRING);
}
