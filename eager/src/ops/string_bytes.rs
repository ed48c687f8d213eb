//! Strings as bytes: numbers in them, Base64, columns of comma-separated values, n-grams.

use bstr::{BString, ByteSlice};
use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::{
    DenseHostTensor, Element, HostTensor, StringHostTensor, TensorMetadata, TensorShape, with_element,
};

use super::plain::{count, results, tensor};
use super::strings::{each, joined, strings, stripped};
use super::support::{
    Computed, Described, allocate, int_attr, integer, integers, invalid, one, product, room_for, take,
    unsupported, values,
};
use super::types;
use crate::{CpuCall, Forms, MetadataCall, OpRegistry, OpResult, ResultType, attr};

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn encoded(text: &[u8], pads: bool) -> BString {
    let mut digits = Vec::new();
    for group in text.chunks(3) {
        let bits =
            group.iter().fold(0u32, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - group.len()));
        let written = group.len() + 1;
        digits.extend((0..written).map(|digit| DIGITS[(bits >> (18 - 6 * digit)) as usize & 63]));
        if pads {
            digits.extend(std::iter::repeat_n(b'=', 4 - written));
        }
    }
    digits.into()
}

fn decoded(text: &[u8]) -> Result<BString, Diagnostic> {
    let failed = || invalid("Invalid character found in base64.");
    let text = text.trim_end_with(|c| c == '=');
    let mut bytes = Vec::new();
    for group in text.chunks(4) {
        let mut bits = 0u32;
        for digit in group {
            let value = DIGITS.iter().position(|known| known == digit).ok_or_else(failed)?;
            bits = bits << 6 | value as u32;
        }
        if group.len() == 1 {
            return Err(failed());
        }
        bits <<= 6 * (4 - group.len());
        bytes.extend(bits.to_be_bytes()[1..group.len()].iter());
    }
    Ok(bytes.into())
}

fn same_strings(call: MetadataCall<'_>) -> Described {
    let [x] = call.take()?;
    one(TensorMetadata::new(DType::String, x.shape.clone()))
}

/// The bytes of each string as numbers, all strings as long as the first or as `length`.
fn raw(call: &CpuCall<'_>, length: Option<usize>) -> Computed {
    let x = strings(call.arguments.first().ok_or_else(|| invalid("the op takes strings, got nothing"))?)?;
    let dtype: DType = call.attrs.required("out_type")?;
    let is_little = call.attrs.optional("little_endian")?.unwrap_or(true);
    let size = dtype.size().ok_or_else(|| unsupported("tf.DecodeRaw", dtype))?;
    // The parts of complex numbers are turned around one by one.
    let word = if matches!(dtype, DType::Complex64 | DType::Complex128) { size / 2 } else { size };
    let each = length.unwrap_or_else(|| x.strings().first().map_or(0, |text| text.len()));
    if !each.is_multiple_of(size) {
        return Err(invalid(format!(
            "Input to DecodeRaw has length {each} that is not a multiple of {size}, the size of {dtype}"
        )));
    }
    let mut bytes = room_for(each.saturating_mul(x.strings().len()))?;
    for text in x.strings() {
        if length.is_none() && text.len() != each {
            return Err(invalid(format!(
                "DecodeRaw requires input strings to all be the same size, but got sizes {each} and {}",
                text.len()
            )));
        }
        let start = bytes.len();
        bytes.extend_from_slice(&text[..text.len().min(each)]);
        bytes.resize(start + each, 0);
    }
    if !is_little {
        bytes.chunks_exact_mut(word).for_each(<[u8]>::reverse);
    }
    let dims: Vec<usize> = x.shape().dims().iter().copied().chain([each / size]).collect();
    Ok(OpResult::from(of_bytes(call, dtype, &dims, &bytes)?))
}

/// A tensor whose elements are bytes in memory form.
pub(super) fn of_bytes(
    call: &CpuCall<'_>,
    dtype: DType,
    dims: &[usize],
    bytes: &[u8],
) -> Result<HostTensor, Diagnostic> {
    fn fill<T: Element>(mut out: DenseHostTensor, bytes: &[u8]) -> Result<HostTensor, Diagnostic> {
        let elements = out.elements_mut::<T>()?;
        if size_of_val(elements) != bytes.len() {
            return Err(invalid(format!(
                "{} bytes do not fill a tensor of {} elements",
                bytes.len(),
                elements.len()
            )));
        }
        for (element, bytes) in elements.iter_mut().zip(bytes.chunks_exact(size_of::<T>())) {
            *element = bytemuck::checked::try_pod_read_unaligned(bytes)
                .map_err(|_| invalid("a byte is no truth value"))?;
        }
        Ok(out.into())
    }
    let out = allocate(call, dtype, dims)?;
    with_element!(dtype, |T| fill::<T>(out, bytes), else Err(unsupported("the op", dtype)))
}

/// Joins the strings of each segment.
fn join_segments(call: &CpuCall<'_>) -> Computed {
    let [x, ids, number] = take(call)?;
    let separator = call.attrs.optional::<&str>("separator")?.unwrap_or("");
    let number = count(integer(number, "num_segments")?, "num_segments")?;
    let (texts, ids_of) = (strings(x)?, integers(ids, "segment_ids")?);
    if !x.shape().dims().starts_with(ids.shape().dims()) {
        return Err(invalid(format!(
            "segment_ids of shape {} do not fit inputs of shape {}",
            ids.shape(),
            x.shape()
        )));
    }
    let inner = &x.shape().dims()[ids.shape().rank()..];
    let unit = product(inner);
    let mut segments: Vec<Vec<usize>> = room_for(number)?;
    segments.resize(number, Vec::new());
    for (place, &id) in ids_of.iter().enumerate() {
        let segment = usize::try_from(id).ok().and_then(|id| segments.get_mut(id));
        segment.ok_or_else(|| invalid(format!("segment id {id} is not below {number}")))?.push(place);
    }
    let mut out = room_for(number.saturating_mul(unit))?;
    for segment in &segments {
        for column in 0..unit {
            out.push(joined(
                segment.iter().map(|place| texts.strings()[place * unit + column].as_slice()),
                separator,
            )?);
        }
    }
    let dims: Vec<usize> = [number].into_iter().chain(inner.iter().copied()).collect();
    Ok(StringHostTensor::new(TensorShape::new(&dims)?, out)?.into())
}

/// What n-grams are made of: widths, padding, and what lies between words.
struct Grams<'a> {
    separator: &'a str,
    left: &'a str,
    right: &'a str,
    pad: i64,
}

impl Grams<'_> {
    fn padding(&self, width: i64) -> i64 {
        if self.pad < 0 { width - 1 } else { self.pad.min(width - 1) }
    }

    /// Appends the n-grams of some words, `number` of them.
    fn push(
        &self,
        words: &[BString],
        width: i64,
        pad: i64,
        number: i64,
        out: &mut Vec<BString>,
    ) -> Result<(), Diagnostic> {
        for at in 0..number {
            let left = (pad - at).max(0);
            let right = (pad - (number - (at + 1))).max(0);
            let first = if left > 0 { 0 } else { at - pad };
            let taken = &words[first as usize..(first + width - left - right) as usize];
            let parts = std::iter::repeat_n(self.left.as_bytes(), left as usize)
                .chain(taken.iter().map(|word| word.as_slice()))
                .chain(std::iter::repeat_n(self.right.as_bytes(), right as usize));
            out.push(joined(parts, self.separator)?);
        }
        Ok(())
    }
}

fn n_grams(call: &CpuCall<'_>) -> Computed {
    let [data, splits] = take(call)?;
    let words = strings(data)?.strings();
    let text = |name| Ok::<_, Diagnostic>(call.attrs.optional::<&str>(name)?.unwrap_or(""));
    let grams = Grams {
        separator: text("separator")?,
        left: text("left_pad")?,
        right: text("right_pad")?,
        pad: int_attr(call.attrs, "pad_width")?.unwrap_or(0).min(1 << 20),
    };
    let widths: &[i64] = call.attrs.required("ngram_widths")?;
    if widths.iter().any(|width| !(1..=1 << 20).contains(width)) {
        return Err(invalid(format!("ngram_widths must be positive, got {widths:?}")));
    }
    let keeps_short = call.attrs.optional("preserve_short_sequences")?.unwrap_or(false);
    let (mut out, mut ends) = (Vec::new(), vec![0i64]);
    for row in integers(splits, "data_splits")?.windows(2) {
        let part = usize::try_from(row[0]).ok().zip(usize::try_from(row[1]).ok());
        let row = part.and_then(|(start, end)| words.get(start..end));
        let row = row.ok_or_else(|| invalid("data_splits must be in order and within the data"))?;
        let (before, length) = (out.len(), row.len() as i64);
        for &width in widths {
            let pad = grams.padding(width);
            grams.push(row, width, pad, (length + 2 * pad - width + 1).max(0), &mut out)?;
        }
        if keeps_short && out.len() == before && length > 0 {
            let pad = grams.pad.max(0);
            grams.push(row, length + 2 * pad, pad, 1, &mut out)?;
        }
        ends.push(out.len() as i64);
    }
    let ends = match splits.dtype() {
        DType::I32 => tensor(call, &[ends.len()], &ends.iter().map(|&end| end as i32).collect::<Vec<_>>())?,
        _ => tensor(call, &[ends.len()], &ends)?,
    };
    Ok(results([StringHostTensor::new([out.len()], out)?.into(), ends]))
}

/// The fields of a record, in which quotes may enclose the delimiter.
fn fields(record: &[u8], delimiter: u8, has_quotes: bool) -> Result<Vec<BString>, Diagnostic> {
    let failed = || invalid("Unquoted fields cannot have quotes, and quoted ones end with a quote");
    let (mut fields, mut field, mut rest) = (Vec::new(), Vec::new(), record);
    loop {
        if has_quotes && let [b'"', quoted @ ..] = rest {
            rest = quoted;
            loop {
                match rest {
                    [b'"', b'"', more @ ..] => (field.push(b'"'), rest = more).1,
                    [b'"', more @ ..] => break rest = more,
                    [byte, more @ ..] => (field.push(*byte), rest = more).1,
                    [] => return Err(failed()),
                }
            }
        } else {
            let end = rest.iter().position(|&byte| byte == delimiter).unwrap_or(rest.len());
            field.extend_from_slice(&rest[..end]);
            rest = &rest[end..];
            if has_quotes && field.contains(&b'"') {
                return Err(failed());
            }
        }
        fields.push(BString::from(std::mem::take(&mut field)));
        match rest {
            [] => return Ok(fields),
            [byte, more @ ..] if *byte == delimiter => rest = more,
            _ => return Err(failed()),
        }
    }
}

/// One column of records of comma-separated values.
fn csv_column(call: &CpuCall<'_>) -> Computed {
    let [records, default] = take(call)?;
    let column = count(int_attr(call.attrs, "column")?.unwrap_or(0), "column")?;
    let fields_count =
        int_attr(call.attrs, "columns")?.map(|columns| count(columns, "columns")).transpose()?;
    let delimiter = match call.attrs.optional::<&str>("field_delim")?.unwrap_or(",").as_bytes() {
        [delimiter] => *delimiter,
        _ => return Err(invalid("field_delim must be one byte")),
    };
    let has_quotes = call.attrs.optional("use_quote_delim")?.unwrap_or(true);
    let absent = call.attrs.optional::<&str>("na_value")?.unwrap_or("");
    let records = strings(records)?;
    let mut texts = room_for(records.strings().len())?;
    for (number, record) in records.strings().iter().enumerate() {
        let mut fields = fields(record, delimiter, has_quotes)?;
        if fields_count.is_some_and(|count| count != fields.len()) || column >= fields.len() {
            let expected = fields_count.unwrap_or(column + 1);
            return Err(invalid(format!(
                "Expect {expected} fields but have {} in record {number}",
                fields.len()
            )));
        }
        let field = fields.swap_remove(column);
        let is_absent = field.is_empty() || field == absent;
        if is_absent && default.shape().num_elements()? == 0 {
            return Err(invalid(format!("Field {column} is required but missing in record {number}!")));
        }
        texts.push(Some(field).filter(|_| !is_absent));
    }
    let dims = records.shape().dims().to_vec();
    macro_rules! numbers {
        ($type:ty) => {{
            let default = values::<$type>(default)?.first().copied().unwrap_or_default();
            let parse = |text: &Option<BString>| match text {
                None => Ok(default),
                Some(text) => {
                    stripped(text).to_str().ok().and_then(|text| text.parse::<$type>().ok()).ok_or_else(
                        || {
                            invalid(format!(
                                "Field {column} is not a valid {}: {text}",
                                <$type as Element>::DTYPE
                            ))
                        },
                    )
                }
            };
            OpResult::from(tensor(call, &dims, &texts.iter().map(parse).collect::<Result<Vec<_>, _>>()?)?)
        }};
    }
    Ok(match default.dtype() {
        DType::I32 => numbers!(i32),
        DType::I64 => numbers!(i64),
        DType::F32 => numbers!(f32),
        DType::F64 => numbers!(f64),
        DType::String => {
            let default = strings(default)?.strings().first().cloned().unwrap_or_default();
            let texts: Vec<BString> =
                texts.into_iter().map(|text| text.unwrap_or_else(|| default.clone())).collect();
            StringHostTensor::new(records.shape().clone(), texts)?.into()
        }
        other => return Err(unsupported("tf.DecodeCSV", other)),
    })
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.EncodeBase64")
        .types(types::STRINGS)
        .attrs([attr::boolean_or("pad", false)])
        .metadata(same_strings)
        .cpu(|call| {
            let pads = call.attrs.optional("pad")?.unwrap_or(false);
            each(&call, |text| Ok(encoded(text, pads)))
        })
        .forms(Forms::STRING);
    ops.add("tf.DecodeBase64")
        .types(types::STRINGS)
        .metadata(same_strings)
        .cpu(|call| each(&call, decoded))
        .forms(Forms::STRING);
    ops.add("tf.DecodeRaw")
        .types(types::ANY)
        .attrs([attr::boolean_or("little_endian", true), attr::dtype("out_type")])
        .results([ResultType::named("out_type")])
        .cpu(|call| raw(&call, None))
        .forms(Forms::STRING);
    ops.add("tf.DecodePaddedRaw")
        .types(types::ANY)
        .attrs([attr::boolean_or("little_endian", true), attr::dtype("out_type")])
        .results([ResultType::named("out_type")])
        .cpu(|call| {
            let [_, length] = take(&call)?;
            raw(&call, Some(count(integer(length, "fixed_length")?, "fixed_length")?))
        })
        .forms(Forms::STRING);
    ops.add("tf.UnsortedSegmentJoin")
        .types(types::ANY)
        .attrs([attr::string_or("separator", "")])
        .results([ResultType::is(DType::String)])
        .cpu(|call| join_segments(&call))
        .forms(Forms::STRING);
    ops.add("tf.StringNGrams")
        .types(types::ANY)
        .attrs([
            attr::string_or("left_pad", ""),
            attr::ints("ngram_widths"),
            attr::int_or("pad_width", 0),
            attr::boolean_or("preserve_short_sequences", false),
            attr::string_or("right_pad", ""),
            attr::string_or("separator", ""),
        ])
        .results([ResultType::is(DType::String).rank(1), ResultType::like(1).rank(1)])
        .cpu(|call| n_grams(&call))
        .forms(Forms::STRING);
    ops.add("tfrt.DecodeCsvColumn")
        .types(types::ANY)
        .attrs([
            attr::int("column"),
            attr::int("columns").optional(),
            attr::string_or("field_delim", ","),
            attr::string_or("na_value", ""),
            attr::boolean_or("use_quote_delim", true),
        ])
        .results([ResultType::like(1)])
        .cpu(|call| csv_column(&call))
        .forms(Forms::STRING);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_goes_both_ways() {
        for (text, digits) in [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg")] {
            assert_eq!(encoded(text.as_bytes(), false), digits);
            assert_eq!(decoded(digits.as_bytes()).unwrap(), text);
        }
        assert_eq!(encoded(b"f", true), "Zg==");
        assert!(decoded(b"a*bc").is_err());
    }

    #[test]
    fn fields_may_be_in_quotes() {
        let of = |record: &str| fields(record.as_bytes(), b',', true);
        assert_eq!(of(r#"1,"a, ""b""",,"#).unwrap(), ["1", "a, \"b\"", "", ""]);
        assert!(of(r#"1,"a"#).is_err() && of(r#"a"b"#).is_err());
    }
}
