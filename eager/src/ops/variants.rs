//! Tensors that are held as strings: elements of lists whose shapes differ, rows of ragged tensors,
//! the components of optional values. A *variant* is a string of messages `TensorProto`, each a field
//! of bytes. An empty one is an element that was never set.

use bstr::BString;
use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::{
    Accessor, DenseHostTensor, HostTensor, PartialTensorShape, StringHostTensor, TensorMetadata, TensorShape,
};

use super::plain::{results, tensor};
use super::serialized::{message_of, tensor_of};
use super::strings::{string, strings};
use super::support::{Computed, allocate, integers, invalid, product, room_for, take, vector};
use super::types;
use super::wire::{Field, Fields, push_bytes};
use crate::{CpuCall, Forms, OpRegistry, ResultType, attr};

static ME: Accessor = Accessor::new("tf op on variants");

/// How many dimensions of a ragged tensor may vary.
const MAX_RANK: i64 = 254;
/// How many rows without elements a list may have.
const MAX_EMPTY_ROWS: usize = 1 << 20;

/// The number of the field that holds a tensor.
const TENSOR: u64 = 1;

fn variant_of(tensors: &[HostTensor]) -> Result<BString, Diagnostic> {
    let mut variant = Vec::new();
    for tensor in tensors {
        push_bytes(&mut variant, TENSOR, &message_of(tensor)?);
    }
    Ok(variant.into())
}

/// The messages in a variant.
fn messages(variant: &[u8]) -> Result<Vec<&[u8]>, Diagnostic> {
    let (mut fields, mut messages) = (Fields::new(variant), Vec::new());
    while let Some(field) = fields.next()? {
        match field {
            (TENSOR, Field::Bytes(message)) => messages.push(message),
            _ => return Err(invalid("a string holds no tensors")),
        }
    }
    Ok(messages)
}

/// The tensor that a variant holds at a place. One that was never set is zero, if its shape is
/// known.
fn component(
    call: &CpuCall<'_>,
    variant: &[u8],
    place: usize,
    dtype: DType,
) -> Result<HostTensor, Diagnostic> {
    if !variant.is_empty() {
        let messages = messages(variant)?;
        let message = messages.get(place);
        let message = message.ok_or_else(|| invalid(format!("there is no tensor {place} in the value")))?;
        return tensor_of(call, message, dtype);
    }
    let shape = match call.attrs.optional::<&PartialTensorShape>("shape")? {
        Some(shape) if shape.is_known() => shape.to_shape()?,
        _ => return Err(invalid("an element that was never set has no known shape")),
    };
    if dtype == DType::String {
        return Ok(StringHostTensor::empty_strings(shape)?.into());
    }
    let zeros = DenseHostTensor::allocate(TensorMetadata::new(dtype, shape), call.cx.host().allocator())?;
    Ok(zeros.into())
}

fn to_variant(call: &CpuCall<'_>) -> Computed {
    let tensors: Vec<HostTensor> = call.arguments.iter().map(|&tensor| tensor.clone()).collect();
    Ok(StringHostTensor::new(TensorShape::scalar(), vec![variant_of(&tensors)?])?.into())
}

fn from_variant(call: &CpuCall<'_>) -> Computed {
    let [variant] = take(call)?;
    let place = call.attrs.optional::<i64>("index")?.unwrap_or(0);
    let place = usize::try_from(place).map_err(|_| invalid("index must not be negative"))?;
    Ok(component(call, string(variant, "the value", 0)?, place, call.attrs.required("dtype")?)?.into())
}

/// The first tensors of all variants of a list.
fn elements(call: &CpuCall<'_>) -> Result<(DType, Vec<HostTensor>), Diagnostic> {
    let [list] = take(call)?;
    let dtype = call.attrs.required("dtype")?;
    let variants = strings(list)?.strings();
    let mut elements = room_for(variants.len())?;
    for variant in variants {
        elements.push(component(call, variant, 0, dtype)?);
    }
    Ok((dtype, elements))
}

/// The elements of all parts behind each other, as a tensor of this shape.
fn joined(
    call: &CpuCall<'_>,
    dtype: DType,
    dims: &[usize],
    parts: &[HostTensor],
) -> Result<HostTensor, Diagnostic> {
    if dtype == DType::String {
        let mut all = Vec::new();
        for part in parts {
            all.extend_from_slice(strings(part)?.strings());
        }
        return Ok(StringHostTensor::new(TensorShape::new(dims)?, all)?.into());
    }
    if parts.iter().any(|part| part.dtype() != dtype) {
        return Err(different());
    }
    let out = allocate(call, dtype, dims)?;
    let (mut to, mut start) = (out.write_bytes(&ME)?, 0);
    for part in parts {
        let from = part.dense()?.read_bytes(&ME)?;
        let to = to.get_mut(start..).and_then(|rest| rest.get_mut(..from.len())).ok_or_else(different)?;
        to.copy_from_slice(&from);
        start += from.len();
    }
    drop(to);
    Ok(out.into())
}

fn different() -> Diagnostic {
    invalid("the elements of a list have different shapes or types")
}

fn stack(call: &CpuCall<'_>) -> Computed {
    let (dtype, elements) = elements(call)?;
    let dims = match (elements.first(), call.attrs.optional::<&PartialTensorShape>("shape")?) {
        (Some(first), _) => first.shape().dims().to_vec(),
        (None, Some(shape)) if shape.is_known() => shape.to_shape()?.dims().to_vec(),
        (None, _) => return Err(invalid("the shape of the elements of an empty list is not known")),
    };
    if elements.iter().any(|element| element.shape().dims() != dims) {
        return Err(different());
    }
    Ok(joined(call, dtype, &[&[elements.len()], &dims[..]].concat(), &elements)?.into())
}

/// The rows of all elements and how many each has, and their common extents.
fn rows_of<'e>(
    elements: impl IntoIterator<Item = &'e HostTensor>,
) -> Result<(Vec<usize>, Option<&'e [usize]>), Diagnostic> {
    let (mut lengths, mut inner) = (Vec::new(), None);
    for element in elements {
        let (&length, rest) =
            element.shape().dims().split_first().ok_or_else(|| invalid("scalars cannot be joined"))?;
        if *inner.get_or_insert(rest) != rest {
            return Err(different());
        }
        lengths.push(length);
    }
    Ok((lengths, inner))
}

fn join(call: &CpuCall<'_>) -> Computed {
    let (dtype, elements) = elements(call)?;
    let (lengths, inner) = rows_of(&elements)?;
    let dims = [&[lengths.iter().sum()], inner.unwrap_or_default()].concat();
    let lengths: Vec<i64> = lengths.into_iter().map(|length| length as i64).collect();
    Ok(results([joined(call, dtype, &dims, &elements)?, tensor(call, &[lengths.len()], &lengths)?]))
}

/// Some rows of a tensor.
fn rows(call: &CpuCall<'_>, value: &HostTensor, from: usize, count: usize) -> Result<HostTensor, Diagnostic> {
    let too_few = || invalid(format!("{count} rows from {from} on are not in shape {}", value.shape()));
    let (&all, inner) = value.shape().dims().split_first().ok_or_else(too_few)?;
    if from.checked_add(count).is_none_or(|end| end > all) {
        return Err(too_few());
    }
    let (unit, dims) = (product(inner), [&[count], inner].concat());
    let (start, end) = if count == 0 { (0, 0) } else { (from * unit, (from + count) * unit) };
    if let HostTensor::String(texts) = value {
        let texts = texts.strings()[start..end].to_vec();
        return Ok(StringHostTensor::new(TensorShape::new(&dims)?, texts)?.into());
    }
    let (out, each) = (allocate(call, value.dtype(), &dims)?, value.dtype().size().unwrap_or(0));
    out.write_bytes(&ME)?.copy_from_slice(&value.dense()?.read_bytes(&ME)?[start * each..end * each]);
    Ok(out.into())
}

fn list_of(variants: Vec<BString>) -> Computed {
    Ok(StringHostTensor::new(TensorShape::new(&[variants.len()])?, variants)?.into())
}

fn split(call: &CpuCall<'_>) -> Computed {
    let [value, lengths] = take(call)?;
    let lengths = vector(lengths, "lengths")?;
    let total = value.shape().dims().first().copied();
    let sum = lengths.iter().try_fold(0i64, |sum, &length| sum.checked_add(length));
    if lengths.iter().any(|&length| length < 0) || sum.and_then(|sum| usize::try_from(sum).ok()) != total {
        let lengths = &lengths[..];
        return Err(invalid(format!("the lengths {lengths:?} do not divide shape {}", value.shape())));
    }
    let (mut start, mut variants) = (0, room_for(lengths.len())?);
    for length in lengths {
        let length = usize::try_from(length).unwrap_or(0);
        variants.push(variant_of(&[rows(call, value, start, length)?])?);
        start += length;
    }
    list_of(variants)
}

/// Where rows begin and the last one ends.
fn splits_of(tensor: &HostTensor) -> Result<Vec<usize>, Diagnostic> {
    let splits = integers(tensor, "splits")?;
    if splits.first() != Some(&0) || splits.windows(2).any(|pair| pair[0] > pair[1]) {
        return Err(invalid("splits must begin with 0 and must not decrease"));
    }
    Ok(splits.into_iter().map(|at| usize::try_from(at).unwrap_or(0)).collect())
}

/// Splits of a type; the least is zero.
fn splits_tensor(call: &CpuCall<'_>, dtype: DType, splits: &[usize]) -> Result<HostTensor, Diagnostic> {
    let first = splits.first().copied().unwrap_or(0);
    let counted = splits.iter().map(|at| at - first);
    match dtype {
        DType::I32 => tensor(call, &[splits.len()], &counted.map(|at| at as i32).collect::<Vec<_>>()),
        _ => tensor(call, &[splits.len()], &counted.map(|at| at as i64).collect::<Vec<_>>()),
    }
}

/// A variant for each row of a ragged tensor: the splits of its inner dimensions, and its values.
fn ragged_rows(call: &CpuCall<'_>) -> Computed {
    let Some((values, [outer, inner @ ..])) = call.arguments.split_last() else {
        return Err(invalid("a ragged tensor has splits and values"));
    };
    let outer_splits = splits_of(outer)?;
    let inner_splits = inner.iter().map(|splits| splits_of(splits)).collect::<Result<Vec<_>, _>>()?;
    let mut variants = room_for(outer_splits.len())?;
    for pair in outer_splits.windows(2) {
        let (mut from, mut to) = (pair[0], pair[1]);
        let mut parts = Vec::new();
        for (splits, of) in inner_splits.iter().zip(inner) {
            let part = splits.get(from..=to);
            let part = part.ok_or_else(|| invalid(format!("there are no {to} inner rows")))?;
            parts.push(splits_tensor(call, of.dtype(), part)?);
            (from, to) = (splits[from], splits[to]);
        }
        parts.push(rows(call, values, from, to - from)?);
        variants.push(variant_of(&parts)?);
    }
    list_of(variants)
}

/// The ragged tensor of which each variant is a row: its values, and its splits from the outermost
/// on. Rows themselves may have splits; the variants' own dimensions after the first are uniform.
fn from_rows(call: &CpuCall<'_>) -> Computed {
    let [list] = take(call)?;
    let dtype: DType = call.attrs.required("dtype")?;
    let splits_dtype = call.attrs.optional::<DType>("splits_dtype")?.unwrap_or(DType::I64);
    let rank = call.attrs.required::<i64>("ragged_rank")?;
    let dims = list.shape().dims();
    // Splits of rows without elements take memory all the same.
    let is_large = product(&dims[..dims.len().saturating_sub(1)]) > MAX_EMPTY_ROWS && product(dims) == 0;
    if rank > MAX_RANK || is_large {
        return Err(invalid(format!("{rank} ragged dimensions of shape {} are too many", list.shape())));
    }
    if dims.is_empty() {
        return whole(call, string(list, "the value", 0)?, rank, (dtype, splits_dtype));
    }
    let inner = usize::try_from(rank).ok().and_then(|rank| rank.checked_sub(dims.len()));
    let inner = inner.ok_or_else(|| {
        invalid(format!("values of shape {} are not the rows of {rank} ragged dimensions", list.shape()))
    })?;
    let mut levels: Vec<Vec<usize>> = Vec::new();
    for at in 1..dims.len() {
        let (count, extent) = (product(&dims[..at]), dims[at]);
        levels.push((0..=count).map(|row| row * extent).collect());
    }
    let outer = levels.len();
    levels.extend((0..=inner).map(|_| vec![0]));
    // The number of rows of an inner dimension so far is the end of the splits around it.
    let end = |levels: &[Vec<usize>], level: usize| levels[level].last().copied().unwrap_or(0);
    let mut values = Vec::new();
    for variant in strings(list)?.strings() {
        let mut parts = Vec::new();
        for place in 0..inner {
            let part = component(call, variant, place, splits_dtype)?;
            parts.push(splits_of(&part)?);
        }
        let value = component(call, variant, inner, dtype)?;
        let value_rows = value.shape().dims().first().copied();
        let value_rows = value_rows.ok_or_else(|| invalid("the values of a row must not be a scalar"))?;
        let counts = parts.iter().skip(1).map(|splits| splits.len() - 1).chain([value_rows]);
        if parts.iter().zip(counts).any(|(splits, count)| splits.last() != Some(&count)) {
            return Err(invalid("the splits of a row do not end where its inner rows do"));
        }
        let row_count = parts.first().map_or(value_rows, |splits| splits.len() - 1);
        let next = end(&levels, outer) + row_count;
        levels[outer].push(next);
        for (place, splits) in parts.iter().enumerate() {
            let start = end(&levels, outer + 1 + place);
            levels[outer + 1 + place].extend(splits[1..].iter().map(|at| start + at));
        }
        values.push(value);
    }
    let value = match &values[..] {
        [] => empty(call, dtype)?,
        values => {
            let (lengths, inner) = rows_of(values)?;
            joined(call, dtype, &[&[lengths.iter().sum()], inner.unwrap_or_default()].concat(), values)?
        }
    };
    let mut made = vec![value];
    for level in &levels {
        made.push(splits_tensor(call, splits_dtype, level)?);
    }
    Ok(results(made))
}

/// The ragged tensor that one variant is.
fn whole(call: &CpuCall<'_>, variant: &[u8], rank: i64, (dtype, splits_dtype): (DType, DType)) -> Computed {
    let rank = usize::try_from(rank).map_err(|_| invalid("ragged_rank must not be negative"))?;
    let mut made = vec![component(call, variant, rank, dtype)?];
    for place in 0..rank {
        made.push(component(call, variant, place, splits_dtype)?);
    }
    Ok(results(made))
}

/// No values.
fn empty(call: &CpuCall<'_>, dtype: DType) -> Result<HostTensor, Diagnostic> {
    let inner = match call.attrs.optional::<&PartialTensorShape>("shape")?.and_then(PartialTensorShape::dims)
    {
        Some([_, inner @ ..]) => inner.iter().map(|&dim| usize::try_from(dim).unwrap_or(0)).collect(),
        _ => Vec::new(),
    };
    joined(call, dtype, &[&[0], &inner[..]].concat(), &[])
}

pub(super) fn register(ops: &mut OpRegistry) {
    const LIST: ResultType = ResultType::is(DType::String).rank(1);
    const ELEMENT: ResultType = ResultType::named("dtype");
    let element = || [attr::dtype("dtype"), attr::shape("shape").optional()];
    ops.add("tfrt.ToVariant")
        .types(types::ANY)
        .results([ResultType::is(DType::String).rank(0)])
        .cpu(|call| to_variant(&call))
        .forms(Forms::STRING);
    ops.add("tfrt.FromVariant")
        .types(types::ANY)
        .attrs([attr::dtype("dtype"), attr::int_or("index", 0), attr::shape("shape").optional()])
        .results([ELEMENT])
        .cpu(|call| from_variant(&call))
        .forms(Forms::STRING);
    ops.add("tfrt.StackVariants")
        .types(types::ANY)
        .attrs(element())
        .results([ELEMENT])
        .cpu(|call| stack(&call))
        .forms(Forms::STRING);
    ops.add("tfrt.JoinVariants")
        .types(types::ANY)
        .attrs(element())
        .results([ELEMENT, ResultType::is(DType::I64).rank(1)])
        .cpu(|call| join(&call))
        .forms(Forms::STRING);
    ops.add("tfrt.SplitVariants")
        .types(types::ANY)
        .results([LIST])
        .cpu(|call| split(&call))
        .forms(Forms::STRING);
    ops.add("tfrt.RaggedToVariants")
        .types(types::ANY)
        .results([LIST])
        .cpu(|call| ragged_rows(&call))
        .forms(Forms::STRING);
    ops.add("tfrt.RaggedFromVariants")
        .types(types::ANY)
        .attrs([
            attr::dtype("dtype"),
            attr::int("ragged_rank"),
            attr::shape("shape").optional(),
            attr::dtype_or("splits_dtype", DType::I64),
        ])
        .results([ELEMENT, ResultType::named("splits_dtype").rank(1)])
        .cpu(|call| from_rows(&call))
        .forms(Forms::STRING);
}
