//! Messages `tf.train.Example`: the values of one feature in each of them, dense, sparse or ragged.

use std::borrow::Cow;

use bstr::BString;
use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::{HostTensor, StringHostTensor, TensorShape};

use super::plain::{results, tensor};
use super::strings::strings;
use super::support::{Computed, invalid, product, take, values};
use super::types;
use super::wire::{Field, Fields, varint};
use crate::{CpuCall, Forms, OpRegistry, ResultType, attr};

/// The values of a feature.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum List {
    Strings(Vec<BString>),
    Floats(Vec<f32>),
    Integers(Vec<i64>),
}

impl List {
    pub(super) fn empty(dtype: DType) -> Result<Self, Diagnostic> {
        match dtype {
            DType::String => Ok(Self::Strings(Vec::new())),
            DType::F32 => Ok(Self::Floats(Vec::new())),
            DType::I64 => Ok(Self::Integers(Vec::new())),
            other => Err(invalid(format!("a feature is of string, f32 or i64, not of {other}"))),
        }
    }

    /// The elements of a tensor.
    fn of(tensor: &HostTensor) -> Result<Self, Diagnostic> {
        match tensor.dtype() {
            DType::String => Ok(Self::Strings(strings(tensor)?.strings().to_vec())),
            DType::F32 => Ok(Self::Floats(values::<f32>(tensor)?.to_vec())),
            DType::I64 => Ok(Self::Integers(values::<i64>(tensor)?.to_vec())),
            other => Self::empty(other),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Strings(list) => list.len(),
            Self::Floats(list) => list.len(),
            Self::Integers(list) => list.len(),
        }
    }

    /// Appends values of the same type.
    pub(super) fn extend(&mut self, other: &Self) -> Result<(), Diagnostic> {
        match (self, other) {
            (Self::Strings(list), Self::Strings(more)) => list.extend_from_slice(more),
            (Self::Floats(list), Self::Floats(more)) => list.extend_from_slice(more),
            (Self::Integers(list), Self::Integers(more)) => list.extend_from_slice(more),
            _ => return Err(invalid("Data types don't match")),
        }
        Ok(())
    }

    /// Appends zeros or empty strings.
    pub(super) fn fill_up(&mut self, count: usize) -> Result<(), Diagnostic> {
        fn extend<T: Clone + Default>(list: &mut Vec<T>, count: usize) -> Result<(), Diagnostic> {
            let has_room = list.try_reserve(count).is_ok();
            let length = list.len().checked_add(count).filter(|_| has_room);
            list.resize(length.ok_or_else(|| invalid(format!("{count} values are too many")))?, T::default());
            Ok(())
        }
        match self {
            Self::Strings(list) => extend(list, count),
            Self::Floats(list) => extend(list, count),
            Self::Integers(list) => extend(list, count),
        }
    }

    pub(super) fn into_tensor(self, call: &CpuCall<'_>, dims: &[usize]) -> Result<HostTensor, Diagnostic> {
        match self {
            Self::Strings(list) => Ok(StringHostTensor::new(TensorShape::new(dims)?, list)?.into()),
            Self::Floats(list) => tensor(call, dims, &list),
            Self::Integers(list) => tensor(call, dims, &list),
        }
    }
}

/// The last feature of this name in a message, if it has one with values.
fn feature(example: &[u8], key: &[u8]) -> Result<Option<List>, Diagnostic> {
    let Some(features) = Fields::last_bytes(example, 1)? else { return Ok(None) };
    let (mut entries, mut found) = (Fields::new(features), None);
    while let Some(entry) = entries.next()? {
        if let (1, Field::Bytes(entry)) = entry
            && Fields::last_bytes(entry, 1)?.unwrap_or_default() == key
        {
            found = Fields::last_bytes(entry, 2)?;
        }
    }
    found.map_or(Ok(None), list)
}

/// The list that a feature holds.
pub(super) fn list(feature: &[u8]) -> Result<Option<List>, Diagnostic> {
    let (mut fields, mut held) = (Fields::new(feature), None);
    while let Some(field) = fields.next()? {
        if let (kind @ 1..=3, Field::Bytes(bytes)) = field {
            held = Some((kind, bytes));
        }
    }
    let Some((kind, bytes)) = held else { return Ok(None) };
    let mut values = Fields::new(bytes);
    let (mut strings, mut floats, mut integers) = (Vec::new(), Vec::new(), Vec::new());
    while let Some((number, value)) = values.next()? {
        match (number, kind, value) {
            (1, 1, Field::Bytes(bytes)) => strings.push(BString::from(bytes)),
            (1, 2, Field::Four(bytes)) => floats.push(f32::from_le_bytes(bytes)),
            (1, 2, Field::Bytes(bytes)) => {
                floats.extend(
                    bytes
                        .chunks_exact(4)
                        .map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])),
                );
            }
            (1, 3, Field::Number(value)) => integers.push(value as i64),
            (1, 3, Field::Bytes(mut packed)) => {
                while !packed.is_empty() {
                    integers.push(varint(&mut packed)? as i64);
                }
            }
            _ => {}
        }
    }
    Ok(Some(match kind {
        1 => List::Strings(strings),
        2 => List::Floats(floats),
        _ => List::Integers(integers),
    }))
}

/// What an op asks of the messages of its first argument.
struct Query<'c> {
    examples: &'c [BString],
    is_batch: bool,
    key: Cow<'c, str>,
    dtype: DType,
}

impl<'c> Query<'c> {
    fn new(call: &CpuCall<'c>) -> Result<Self, Diagnostic> {
        let examples = call.arguments.first().ok_or_else(|| invalid("the messages are missing"))?;
        if examples.shape().rank() > 1 {
            return Err(invalid(format!(
                "messages must be a vector or scalar, got shape {}",
                examples.shape()
            )));
        }
        let (is_batch, examples) = (examples.shape().rank() == 1, strings(examples)?.strings());
        let key = Cow::Borrowed(call.attrs.required::<&str>("key")?);
        Ok(Self { examples, is_batch, key, dtype: call.attrs.required("dtype")? })
    }

    /// The values of each message, which must be of the type that is asked for.
    fn lists(&self) -> Result<Vec<Option<List>>, Diagnostic> {
        let wanted = std::mem::discriminant(&List::empty(self.dtype)?);
        let of = |(number, example): (usize, &BString)| {
            let found = feature(example, self.key.as_bytes());
            let found = found
                .map_err(|error| invalid(format!("could not parse example {number}: {}", error.message)))?;
            match found {
                Some(list) if std::mem::discriminant(&list) != wanted => Err(invalid(format!(
                    "Key: {}. Data types don't match. Expected type: {}",
                    self.key, self.dtype
                ))),
                found => Ok(found),
            }
        };
        self.examples.iter().enumerate().map(of).collect()
    }
}

/// As many values for each message as a shape has; -1 as its first extent stands for that of the
/// longest.
fn dense(call: &CpuCall<'_>) -> Computed {
    let [_, default] = take(call)?;
    let query = Query::new(call)?;
    let shape: &[i64] = call.attrs.required("dense_shape")?;
    let (lists, default) = (query.lists()?, List::of(default)?);
    let is_variable = shape.first() == Some(&-1);
    let inner = &shape[usize::from(is_variable)..];
    let dims: Vec<usize> = inner
        .iter()
        .map(|&dim| {
            usize::try_from(dim).map_err(|_| invalid(format!("'{shape:?}' is no shape of a feature")))
        })
        .collect::<Result<_, _>>()?;
    let unit = product(&dims);
    let longest = lists.iter().flatten().map(List::len).max().unwrap_or(0);
    let steps = if is_variable { longest.checked_div(unit).unwrap_or(0) } else { 1 };
    let length = steps.saturating_mul(unit);
    let mut all = List::empty(query.dtype)?;
    for (number, list) in lists.iter().enumerate() {
        let list = match list {
            Some(list) if list.len() > 0 || is_variable => list,
            _ if is_variable => &List::empty(query.dtype)?,
            _ if default.len() == length && length > 0 => &default,
            _ => return Err(missing(&query, number)),
        };
        let fits = if is_variable { list.len() % unit.max(1) == 0 } else { list.len() == length };
        if !fits {
            return Err(invalid(format!(
                "Key: {}, Index: {number}. Number of values != expected. values size: {} but output shape: {shape:?}",
                query.key,
                list.len()
            )));
        }
        all.extend(list)?;
        for _ in list.len()..length {
            all.extend(&filling(&default, query.dtype)?)?;
        }
    }
    let batch = query.is_batch.then_some(query.examples.len());
    let steps = is_variable.then_some(steps);
    let dims: Vec<usize> = batch.into_iter().chain(steps).chain(dims).collect();
    Ok(results([all.into_tensor(call, &dims)?]))
}

/// The value that fills up lists: the default, or zero.
fn filling(default: &List, dtype: DType) -> Result<List, Diagnostic> {
    if default.len() == 1 {
        return Ok(default.clone());
    }
    Ok(match List::empty(dtype)? {
        List::Strings(_) => List::Strings(vec![BString::default()]),
        List::Floats(_) => List::Floats(vec![0.0]),
        List::Integers(_) => List::Integers(vec![0]),
    })
}

fn missing(query: &Query<'_>, number: usize) -> Diagnostic {
    let Query { key, dtype, .. } = query;
    invalid(format!(
        "Feature: {key} (data type: {dtype}) is required but could not be found in example {number}"
    ))
}

/// The values behind each other, with their coordinates.
fn sparse(call: &CpuCall<'_>) -> Computed {
    let query = Query::new(call)?;
    let (lists, mut all) = (query.lists()?, List::empty(query.dtype)?);
    let (mut indices, mut longest) = (Vec::new(), 0);
    for (row, list) in lists.iter().enumerate() {
        let Some(list) = list else { continue };
        all.extend(list)?;
        longest = longest.max(list.len());
        for column in 0..list.len() as i64 {
            if query.is_batch {
                indices.push(row as i64);
            }
            indices.push(column);
        }
    }
    let count = all.len();
    let shape: Vec<i64> =
        query.is_batch.then_some(lists.len() as i64).into_iter().chain([longest as i64]).collect();
    let indices = tensor(call, &[count, shape.len()], &indices)?;
    Ok(results([indices, all.into_tensor(call, &[count])?, tensor(call, &[shape.len()], &shape)?]))
}

/// The values behind each other, with the places where those of each message begin.
fn ragged(call: &CpuCall<'_>) -> Computed {
    let query = Query::new(call)?;
    let (lists, mut all, mut splits) = (query.lists()?, List::empty(query.dtype)?, vec![0i64]);
    for list in &lists {
        if let Some(list) = list {
            all.extend(list)?;
        }
        splits.push(all.len() as i64);
    }
    let count = all.len();
    let values = all.into_tensor(call, &[count])?;
    let splits = match call.attrs.optional::<DType>("Tsplits")?.unwrap_or(DType::I64) {
        DType::I32 => tensor(call, &[splits.len()], &splits.iter().map(|&at| at as i32).collect::<Vec<_>>())?,
        _ => tensor(call, &[splits.len()], &splits)?,
    };
    Ok(results([values, splits]))
}

pub(super) fn register(ops: &mut OpRegistry) {
    const LIST: ResultType = ResultType::is(DType::I64).rank(1);
    ops.add("tfrt.ParseExampleDense")
        .types(types::ANY)
        .attrs([attr::dtype("dtype"), attr::ints("dense_shape"), attr::string("key")])
        .results([ResultType::named("dtype")])
        .cpu(|call| dense(&call))
        .forms(Forms::STRING);
    ops.add("tfrt.ParseExampleSparse")
        .types(types::STRINGS)
        .attrs([attr::dtype("dtype"), attr::string("key")])
        .results([ResultType::is(DType::I64).rank(2), ResultType::named("dtype").rank(1), LIST])
        .cpu(|call| sparse(&call))
        .forms(Forms::STRING);
    ops.add("tfrt.ParseExampleRagged")
        .types(types::STRINGS)
        .attrs([attr::dtype_or("Tsplits", DType::I64), attr::dtype("dtype"), attr::string("key")])
        .results([ResultType::named("dtype").rank(1), ResultType::named("Tsplits").rank(1)])
        .cpu(|call| ragged(&call))
        .forms(Forms::STRING);
}
