//! Strings: join, cut, split, measure, strip and change case.
//!
//! Strings are bytes. Ops that count characters take every byte that does not continue a character
//! in UTF-8 as one.

use bstr::{BString, ByteSlice};
use smallvec::SmallVec;
use tfrt_compute::shape_error;
use tfrt_host::{AsyncValue, DType, Diagnostic, ErrorCode};
use tfrt_math::Broadcast;
use tfrt_tensor::{DenseHostTensor, Element, HostTensor, StringHostTensor, TensorMetadata, TensorShape};

use super::elementwise::broadcast_shape;
use super::reduce::{axes_of, reduced_shape};
use super::support::{
    Computed, Described, check_one, int_attr, integers, invalid, one, product, room_for, take,
};
use super::types;
use crate::{CpuCall, Forms, MetadataCall, OpRegistry, OpResult, attr};

const FORMS: Forms = Forms::SCALAR_OR_STRING;

/// The results of an op on strings.
type Texts = Result<Vec<BString>, Diagnostic>;

/// Returns this many copies of a string.
pub(crate) fn copies(text: &[u8], count: usize) -> Texts {
    let mut copies = room_for(count)?;
    for _ in 0..count {
        copies.push(copied(text)?);
    }
    Ok(copies)
}

/// Reserves room for this many more bytes.
pub(super) fn reserve(text: &mut String, more: usize) -> Result<(), Diagnostic> {
    text.try_reserve_exact(more).map_err(|_| {
        Diagnostic::new(ErrorCode::OutOfMemory, format!("Cannot allocate a string of {more} characters"))
    })
}

/// A string with room for this many bytes.
pub(super) fn with_room(bytes: usize) -> Result<BString, Diagnostic> {
    let mut text = Vec::new();
    text.try_reserve_exact(bytes).map_err(|_| {
        Diagnostic::new(ErrorCode::OutOfMemory, format!("Cannot allocate a string of {bytes} bytes"))
    })?;
    Ok(text.into())
}

/// Copies a string, which may fail for lack of memory.
pub(super) fn copied(text: &[u8]) -> Result<BString, Diagnostic> {
    let mut copy = with_room(text.len())?;
    copy.extend_from_slice(text);
    Ok(copy)
}

/// Returns the positions of the elements of a tensor of shape `from` in one of shape `to`, to which
/// it is broadcast.
pub(super) fn broadcast_places(from: &[usize], to: &TensorShape) -> Result<Vec<usize>, Diagnostic> {
    let count = to.num_elements()?;
    let mut places = room_for(count)?;
    places.resize(count, 0);
    let numbers: Vec<usize> = (0..product(from)).collect();
    Broadcast::new(from, to.dims())
        .map_err(shape_error)?
        .combine(&|place: usize, (): ()| place, 0..count, (&numbers, &vec![(); count]), &mut places)
        .map_err(shape_error)?;
    Ok(places)
}

/// A tensor of strings.
pub(super) fn strings(tensor: &HostTensor) -> Result<&StringHostTensor, Diagnostic> {
    match tensor {
        HostTensor::String(strings) => Ok(strings),
        other => Err(no_string(other.dtype())),
    }
}

/// Returns the string of a scalar, or of another tensor with one element and up to `rank`
/// dimensions. `what` is its name in errors.
pub(super) fn string<'t>(tensor: &'t HostTensor, what: &str, rank: usize) -> Result<&'t [u8], Diagnostic> {
    check_one(tensor.shape(), what, rank)?;
    let first = strings(tensor)?.strings().first();
    first.map(|text| text.as_slice()).ok_or_else(|| invalid(format!("{what} is empty")))
}

/// Returns such a string, which must be UTF-8.
pub(super) fn text<'t>(tensor: &'t HostTensor, what: &str, rank: usize) -> Result<&'t str, Diagnostic> {
    let bytes = string(tensor, what, rank)?;
    bytes.to_str().map_err(|_| invalid(format!("{what} '{}' is not UTF-8", bytes.as_bstr())))
}

fn no_string(dtype: DType) -> Diagnostic {
    invalid(format!("the op takes tensors of strings, got {dtype}"))
}

/// Checks the only argument, and returns a result of its shape.
fn of_string(call: &MetadataCall<'_>, dtype: DType) -> Described {
    let [argument] = call.take()?;
    match argument.dtype {
        DType::String => one(TensorMetadata::new(dtype, argument.shape.clone())),
        other => Err(no_string(other)),
    }
}

/// Returns a tensor with a function of each string.
pub(super) fn each(call: &CpuCall<'_>, f: impl Fn(&[u8]) -> Result<BString, Diagnostic>) -> Computed {
    let [x] = take(call)?;
    let x = strings(x)?;
    let mut texts = room_for(x.strings().len())?;
    for text in x.strings() {
        texts.push(f(text)?);
    }
    Ok(StringHostTensor::new(x.shape().clone(), texts)?.into())
}

/// Returns whether case conversion covers all of Unicode, or only ASCII.
fn is_unicode(call: &CpuCall<'_>) -> Result<bool, Diagnostic> {
    match call.attrs.optional::<&str>("encoding")?.unwrap_or("") {
        "" => Ok(false),
        "utf-8" => Ok(true),
        other => Err(invalid(format!("only utf-8 or '' (no encoding) is supported, received {other}"))),
    }
}

/// Returns whether lengths and positions count characters instead of bytes.
fn counts_characters(call: &CpuCall<'_>) -> Result<bool, Diagnostic> {
    match call.attrs.optional::<&str>("unit")?.unwrap_or("BYTE") {
        "BYTE" => Ok(false),
        "UTF8_CHAR" => Ok(true),
        other => Err(invalid(format!("unit must be BYTE or UTF8_CHAR, got {other}"))),
    }
}

/// Returns whether C considers a byte a space.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ')
}

/// Returns a string without spaces at its ends.
pub(super) fn stripped(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|&byte| !is_space(byte)).unwrap_or(text.len());
    let end = text.iter().rposition(|&byte| !is_space(byte)).map_or(start, |last| last + 1);
    &text[start..end]
}

/// Returns whether a byte is the first of a character in UTF-8.
fn begins_character(byte: u8) -> bool {
    byte & 0b1100_0000 != 0b1000_0000
}

/// Returns the number of characters of a string in UTF-8.
fn character_count(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| begins_character(byte)).count()
}

fn length(call: CpuCall<'_>) -> Computed {
    let [x] = take(&call)?;
    let (x, counts_characters) = (strings(x)?, counts_characters(&call)?);
    let mut out = call.allocate_unset(0)?;
    for (out, text) in out.elements_mut::<i32>()?.iter_mut().zip(x.strings()) {
        let length = if counts_characters { character_count(text) } else { text.len() };
        *out = i32::try_from(length).map_err(|_| invalid("a string too long for its length to be an i32"))?;
    }
    Ok(out.into())
}

/// Returns the metadata of tensors of one shape. Scalars stand for all elements.
fn join_metadata(call: MetadataCall<'_>) -> Described {
    let mut shape: Option<&TensorShape> = None;
    for argument in call.arguments {
        if argument.dtype != DType::String {
            return Err(no_string(argument.dtype));
        }
        match shape {
            _ if argument.shape.rank() == 0 => {}
            Some(shape) if *shape != argument.shape => {
                return Err(invalid(format!("Input shapes do not match: {shape} vs. {}", argument.shape)));
            }
            _ => shape = Some(&argument.shape),
        }
    }
    one(TensorMetadata::new(DType::String, shape.cloned().unwrap_or_else(TensorShape::scalar)))
}

fn join(call: CpuCall<'_>) -> Computed {
    let separator = call.attrs.optional::<&str>("separator")?.unwrap_or("");
    let shape = call.result(0)?.shape.clone();
    let inputs: SmallVec<[&[BString]; 4]> =
        call.arguments.iter().map(|x| Ok(strings(x)?.strings())).collect::<Result<_, Diagnostic>>()?;
    let count = shape.num_elements()?;
    let mut texts = room_for(count)?;
    for i in 0..count {
        texts.push(joined(inputs.iter().map(|x| x[if x.len() == 1 { 0 } else { i }].as_slice()), separator)?);
    }
    Ok(StringHostTensor::new(shape, texts)?.into())
}

pub(super) fn joined<'s>(
    parts: impl Iterator<Item = &'s [u8]> + Clone,
    separator: &str,
) -> Result<BString, Diagnostic> {
    let length = |part: &[u8]| part.len().saturating_add(separator.len());
    let mut text = with_room(parts.clone().map(length).fold(0, usize::saturating_add))?;
    for (number, part) in parts.enumerate() {
        if number > 0 {
            text.extend_from_slice(separator.as_bytes());
        }
        text.extend_from_slice(part);
    }
    Ok(text)
}

/// Concatenates strings with broadcasting.
pub(super) fn concatenate(call: &CpuCall<'_>) -> Computed {
    let [x, y] = take(call)?;
    let (x, y, shape) = (strings(x)?, strings(y)?, &call.result(0)?.shape);
    let (left, right) =
        (broadcast_places(x.shape().dims(), shape)?, broadcast_places(y.shape().dims(), shape)?);
    let mut texts = room_for(left.len())?;
    for (i, j) in left.into_iter().zip(right) {
        texts.push(joined([x.strings()[i].as_slice(), &y.strings()[j]].into_iter(), "")?);
    }
    Ok(StringHostTensor::new(shape.clone(), texts)?.into())
}

fn substring_metadata(call: MetadataCall<'_>) -> Described {
    let [input, position, length] = call.take()?;
    if input.dtype != DType::String {
        return Err(no_string(input.dtype));
    }
    if position.shape != length.shape {
        let (position, length) = (&position.shape, &length.shape);
        return Err(invalid(format!("pos and len should have the same shape, got: {position} vs. {length}")));
    }
    one(TensorMetadata::new(DType::String, broadcast_shape(&input.shape, &position.shape)?))
}

/// Returns the part of `text` from `position` on, of at most `length` units. A negative position
/// counts from the end. For characters, TensorFlow does not allow both to be negative.
fn part(text: &[u8], position: i64, length: i64, counts_characters: bool) -> Result<&[u8], Diagnostic> {
    let total = if counts_characters { character_count(text) } else { text.len() } as i64;
    if position < -total || position > total || (counts_characters && position < 0 && length < 0) {
        return Err(invalid(format!("pos {position} out of range for string '{}'", text.as_bstr())));
    }
    let start = if position < 0 { position + total } else { position };
    let end = match length {
        // The meaning of a negative length differs, as in TensorFlow.
        ..0 if counts_characters => start,
        ..0 => total,
        length => start.saturating_add(length).min(total),
    };
    let byte = |unit: i64| match counts_characters {
        true => {
            let mut starts = (0..text.len()).filter(|&byte| begins_character(text[byte]));
            starts.nth(unit as usize).unwrap_or(text.len())
        }
        false => unit as usize,
    };
    Ok(if start < end { &text[byte(start)..byte(end)] } else { b"" })
}

fn substring(call: CpuCall<'_>) -> Computed {
    let [input, position, length] = take(&call)?;
    let counts_characters = counts_characters(&call)?;
    let (input, shape) = (strings(input)?, &call.result(0)?.shape);
    let (positions, lengths) = (integers(position, "pos")?, integers(length, "len")?);
    let texts = broadcast_places(input.shape().dims(), shape)?;
    let bounds = broadcast_places(position.shape().dims(), shape)?;
    let mut parts = room_for(texts.len())?;
    for (text, bound) in texts.into_iter().zip(bounds) {
        let text = &input.strings()[text];
        parts.push(copied(part(text, positions[bound], lengths[bound], counts_characters)?)?);
    }
    Ok(StringHostTensor::new(shape.clone(), parts)?.into())
}

/// Joins strings along some dimensions, in the order in which they are named.
fn reduce_join(call: CpuCall<'_>) -> Computed {
    let [input, axes] = take(&call)?;
    let input = strings(input)?;
    let axes = axes_of(axes, input.shape().rank(), "tf.ReduceJoin")?;
    let separator = call.attrs.optional::<&str>("separator")?.unwrap_or("");
    let keeps = call.attrs.optional("keep_dims")?.unwrap_or(false);
    let (dims, shape) = (input.shape().dims(), reduced_shape(input.shape(), &axes, keeps));
    let strides: SmallVec<[usize; 8]> = (0..dims.len()).map(|axis| product(&dims[axis + 1..])).collect();
    let shape = TensorShape::new(&shape)?;
    let reduced: SmallVec<[usize; 8]> = axes.iter().map(|&axis| dims[axis]).collect();
    let (count, each) = (shape.num_elements()?, product(&reduced));
    let kept: SmallVec<[usize; 8]> = (0..dims.len()).filter(|axis| !axes.contains(axis)).collect();
    // Returns the offset of the element at a position along these dimensions, the first of which
    // varies fastest.
    let place = |mut position: usize, axes: &mut dyn Iterator<Item = usize>| {
        axes.fold(0, |place, axis| {
            let index = position % dims[axis];
            position /= dims[axis];
            place + index * strides[axis]
        })
    };
    let mut texts = room_for(count)?;
    for i in 0..count {
        let first = place(i, &mut kept.iter().rev().copied());
        let parts =
            (0..each).map(|part| input.strings()[first + place(part, &mut axes.iter().copied())].as_slice());
        texts.push(joined(parts, separator)?);
    }
    Ok(StringHostTensor::new(shape, texts)?.into())
}

/// Splits a string at spaces or separators. After `splits_max` parts the rest is one part.
fn split<'s>(text: &'s [u8], separator: &[u8], splits_max: Option<usize>) -> Vec<&'s [u8]> {
    if splits_max == Some(0) {
        return vec![text];
    }
    if !separator.is_empty() {
        return match splits_max {
            Some(splits) => text.splitn_str(splits.saturating_add(1), separator).collect(),
            None => text.split_str(separator).collect(),
        };
    }
    let without_spaces =
        |text: &'s [u8]| &text[text.iter().position(|&byte| !is_space(byte)).unwrap_or(text.len())..];
    let (mut parts, mut rest) = (Vec::new(), without_spaces(text));
    while !rest.is_empty() {
        let end = rest.iter().position(|&byte| is_space(byte)).unwrap_or(rest.len());
        let (part, more) = rest.split_at(end);
        parts.push(part);
        rest = without_spaces(more);
        if Some(parts.len()) == splits_max {
            // Added even if nothing is left, as in TensorFlow.
            parts.push(rest);
            break;
        }
    }
    parts
}

/// Splits each string of a vector. The results are the coordinates, strings and shape of a sparse
/// tensor.
fn split_v2(call: CpuCall<'_>) -> Computed {
    let [input, separator] = take(&call)?;
    let (input, separator) = (strings(input)?, string(separator, "sep", 0)?);
    if input.shape().rank() != 1 {
        return Err(invalid(format!("input must be a vector, got shape: {}", input.shape())));
    }
    let splits_max = usize::try_from(int_attr(call.attrs, "maxsplit")?.unwrap_or(-1)).ok();
    let (mut coordinates, mut texts, mut columns) = (Vec::new(), Vec::new(), 0);
    for (row, text) in input.strings().iter().enumerate() {
        let parts = split(text, separator, splits_max);
        columns = columns.max(parts.len());
        for (column, part) in parts.into_iter().enumerate() {
            coordinates.extend([row as i64, column as i64]);
            texts.push(part.to_owned());
        }
    }
    let count = texts.len();
    let shape = [input.strings().len() as i64, columns as i64];
    let mut results = OpResult::from(numbers(&call, [count, 2], &coordinates)?);
    results.tensors.push(AsyncValue::new(HostTensor::from(StringHostTensor::new([count], texts)?)));
    results.tensors.push(AsyncValue::new(HostTensor::from(numbers(&call, [2], &shape)?)));
    Ok(results)
}

fn numbers<T: Element>(
    call: &CpuCall<'_>,
    shape: impl Into<TensorShape>,
    values: &[T],
) -> Result<DenseHostTensor, Diagnostic> {
    DenseHostTensor::from_slice(shape, values, call.cx.host().allocator())
}

/// Compares strings with broadcasting.
pub(super) fn compare(call: &CpuCall<'_>, equal: bool) -> Computed {
    let [x, y] = take(call)?;
    let (x, y, mut out) = (strings(x)?, strings(y)?, call.allocate_unset(0)?);
    let (left, right) =
        (broadcast_places(x.shape().dims(), out.shape())?, broadcast_places(y.shape().dims(), out.shape())?);
    for (out, (i, j)) in out.elements_mut::<bool>()?.iter_mut().zip(left.into_iter().zip(right)) {
        *out = (x.strings()[i] == y.strings()[j]) == equal;
    }
    Ok(out.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.StringJoin")
        .types(types::STRINGS)
        .attrs([attr::string_or("separator", "")])
        .metadata(join_metadata)
        .cpu(join)
        .forms(FORMS);
    ops.add("tf.ReduceJoin")
        .types(types::STRINGS)
        .attrs([attr::boolean_or("keep_dims", false), attr::string_or("separator", "")])
        .cpu(reduce_join)
        .forms(FORMS);
    ops.add("tf.Substr")
        .types(types::STRINGS)
        .attrs([attr::string_or("unit", "BYTE")])
        .metadata(substring_metadata)
        .cpu(substring)
        .forms(FORMS);
    ops.add("tf.StringSplitV2")
        .types(types::STRINGS)
        .attrs([attr::int_or("maxsplit", -1)])
        .cpu(split_v2)
        .forms(FORMS);
    ops.add("tf.StringLength")
        .types(types::STRINGS)
        .attrs([attr::string_or("unit", "BYTE")])
        .metadata(|call| of_string(&call, DType::I32))
        .cpu(length)
        .forms(FORMS);
    ops.add("tf.StringStrip")
        .types(types::STRINGS)
        .metadata(|call| of_string(&call, DType::String))
        .cpu(|call| each(&call, |text| copied(stripped(text))))
        .forms(FORMS);
    ops.add("tf.StringLower")
        .types(types::STRINGS)
        .attrs([attr::string_or("encoding", "")])
        .metadata(|call| of_string(&call, DType::String))
        .cpu(|call| match is_unicode(&call)? {
            true => each(&call, |text| Ok(text.to_str_lossy().to_lowercase().into())),
            false => each(&call, |text| Ok(text.to_ascii_lowercase().into())),
        })
        .forms(FORMS);
    ops.add("tf.StringUpper")
        .types(types::STRINGS)
        .attrs([attr::string_or("encoding", "")])
        .metadata(|call| of_string(&call, DType::String))
        .cpu(|call| match is_unicode(&call)? {
            true => each(&call, |text| Ok(text.to_str_lossy().to_uppercase().into())),
            false => each(&call, |text| Ok(text.to_ascii_uppercase().into())),
        })
        .forms(FORMS);
}
