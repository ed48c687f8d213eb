//! Messages `tf.train.SequenceExample`: the steps of one feature list in each of them, dense, sparse
//! or ragged. Features of a message's context are those of a `tf.train.Example` with the same bytes.

use bstr::BString;
use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::HostTensor;

use super::examples::{List, list};
use super::plain::{results, tensor};
use super::strings::strings;
use super::support::{Computed, invalid, product};
use super::types;
use super::wire::{Field, Fields};
use crate::{CpuCall, Forms, OpRegistry, ResultType, attr};

/// The steps of a message's feature list of some name.
type Steps = Vec<List>;

/// The feature lists of one name in all messages of the first argument.
struct Query {
    is_batch: bool,
    key: String,
    dtype: DType,
    /// The steps of each message, `None` where it lacks the feature list.
    messages: Vec<Option<Steps>>,
}

impl Query {
    fn new(call: &CpuCall<'_>) -> Result<Self, Diagnostic> {
        let [messages] = call.arguments else {
            return Err(crate::registry::wrong_count(1, call.arguments.len()));
        };
        if messages.shape().rank() > 1 {
            let message = format!("messages must be a vector or scalar, got shape {}", messages.shape());
            return Err(invalid(message));
        }
        let key = call.attrs.required::<&str>("key")?;
        let dtype = call.attrs.required("dtype")?;
        let read = |(number, message): (usize, &BString)| {
            steps(message, key.as_bytes(), dtype).map_err(|error| {
                invalid(format!("feature list '{key}' of message {number}: {}", error.message))
            })
        };
        let lists = strings(messages)?.strings().iter().enumerate().map(read);
        let is_batch = messages.shape().rank() == 1;
        Ok(Self { is_batch, key: key.to_owned(), dtype, messages: lists.collect::<Result<_, _>>()? })
    }

    fn longest(&self) -> usize {
        self.messages.iter().flatten().map(Vec::len).max().unwrap_or(0)
    }
}

/// The steps of the last feature list of this name in a message.
fn steps(message: &[u8], key: &[u8], dtype: DType) -> Result<Option<Steps>, Diagnostic> {
    let Some(lists) = Fields::last_bytes(message, 2)? else { return Ok(None) };
    let (mut entries, mut found) = (Fields::new(lists), None);
    while let Some(entry) = entries.next()? {
        if let (1, Field::Bytes(entry)) = entry
            && Fields::last_bytes(entry, 1)?.unwrap_or_default() == key
        {
            found = Some(Fields::last_bytes(entry, 2)?.unwrap_or_default());
        }
    }
    let Some(found) = found else { return Ok(None) };
    let wanted = List::empty(dtype)?;
    let (mut features, mut steps) = (Fields::new(found), Vec::new());
    while let Some(feature) = features.next()? {
        let (1, Field::Bytes(feature)) = feature else { continue };
        let step = list(feature)?.unwrap_or_else(|| wanted.clone());
        if std::mem::discriminant(&step) != std::mem::discriminant(&wanted) {
            return Err(invalid(format!("step {} is not of type {dtype}", steps.len())));
        }
        steps.push(step);
    }
    Ok(Some(steps))
}

/// As many values in each step as a shape has. Messages with fewer steps than the longest are filled
/// up with zeros or empty strings.
fn dense(call: &CpuCall<'_>) -> Computed {
    let query = Query::new(call)?;
    let shape: &[i64] = call.attrs.required("dense_shape")?;
    let dims: Option<Vec<usize>> = shape.iter().map(|&dim| usize::try_from(dim).ok()).collect();
    let dims = dims.ok_or_else(|| invalid(format!("'{shape:?}' is no shape of a step")))?;
    let (unit, longest) = (product(&dims), query.longest());
    let may_lack: bool = call.attrs.optional("may_be_missing")?.unwrap_or(false);
    let mut all = List::empty(query.dtype)?;
    let mut lengths = Vec::new();
    for (number, steps) in query.messages.iter().enumerate() {
        let steps = match steps {
            Some(steps) => steps.as_slice(),
            None if may_lack => &[],
            None => {
                let message = format!("message {number} lacks the required feature list '{}'", query.key);
                return Err(invalid(message));
            }
        };
        for (step, values) in steps.iter().enumerate() {
            if values.len() != unit {
                return Err(invalid(format!(
                    "feature list '{}' of message {number}: step {step} has {} values, but its shape is \
                     {shape:?}",
                    query.key,
                    values.len()
                )));
            }
            all.extend(values)?;
        }
        all.fill_up((longest - steps.len()).saturating_mul(unit))?;
        lengths.push(steps.len() as i64);
    }
    let batch = query.is_batch.then_some(query.messages.len());
    let dims: Vec<usize> = batch.into_iter().chain([longest]).chain(dims).collect();
    let lengths_dims: Vec<usize> = batch.into_iter().collect();
    Ok(results([all.into_tensor(call, &dims)?, tensor(call, &lengths_dims, &lengths)?]))
}

/// The values behind each other, with the message, the step and the place of each.
fn sparse(call: &CpuCall<'_>) -> Computed {
    let query = Query::new(call)?;
    let (mut all, mut indices, mut widest) = (List::empty(query.dtype)?, Vec::new(), 0);
    for (number, steps) in query.messages.iter().enumerate() {
        for (step, values) in steps.iter().flatten().enumerate() {
            all.extend(values)?;
            widest = widest.max(values.len());
            for place in 0..values.len() as i64 {
                indices.extend(query.is_batch.then_some(number as i64));
                indices.extend([step as i64, place]);
            }
        }
    }
    let batch = query.is_batch.then_some(query.messages.len() as i64);
    let shape: Vec<i64> = batch.into_iter().chain([query.longest() as i64, widest as i64]).collect();
    let count = all.len();
    let indices = tensor(call, &[count, shape.len()], &indices)?;
    Ok(results([indices, all.into_tensor(call, &[count])?, tensor(call, &[shape.len()], &shape)?]))
}

/// The values behind each other, with the places where those of each message's steps begin, and
/// those of each step.
fn ragged(call: &CpuCall<'_>) -> Computed {
    let query = Query::new(call)?;
    let (mut all, mut outer, mut inner) = (List::empty(query.dtype)?, vec![0i64], vec![0i64]);
    for steps in &query.messages {
        for values in steps.iter().flatten() {
            all.extend(values)?;
            inner.push(all.len() as i64);
        }
        outer.push(inner.len() as i64 - 1);
    }
    let count = all.len();
    let values = all.into_tensor(call, &[count])?;
    Ok(results([values, splits(call, &outer)?, splits(call, &inner)?]))
}

/// Places as a vector of the type that the op is asked for.
fn splits(call: &CpuCall<'_>, places: &[i64]) -> Result<HostTensor, Diagnostic> {
    match call.attrs.optional::<DType>("Tsplits")?.unwrap_or(DType::I64) {
        DType::I32 => tensor(call, &[places.len()], &places.iter().map(|&at| at as i32).collect::<Vec<_>>()),
        _ => tensor(call, &[places.len()], places),
    }
}

pub(super) fn register(ops: &mut OpRegistry) {
    const LIST: ResultType = ResultType::is(DType::I64).rank(1);
    const VALUES: ResultType = ResultType::named("dtype").rank(1);
    const SPLITS: ResultType = ResultType::named("Tsplits").rank(1);
    ops.add("tfrt.ParseSequenceDense")
        .types(types::STRINGS)
        .attrs([
            attr::dtype("dtype"),
            attr::ints("dense_shape"),
            attr::string("key"),
            attr::boolean_or("may_be_missing", false),
        ])
        .results([ResultType::named("dtype"), ResultType::is(DType::I64)])
        .cpu(|call| dense(&call))
        .forms(Forms::STRING);
    ops.add("tfrt.ParseSequenceSparse")
        .types(types::STRINGS)
        .attrs([attr::dtype("dtype"), attr::string("key")])
        .results([ResultType::is(DType::I64).rank(2), VALUES, LIST])
        .cpu(|call| sparse(&call))
        .forms(Forms::STRING);
    ops.add("tfrt.ParseSequenceRagged")
        .types(types::STRINGS)
        .attrs([attr::dtype_or("Tsplits", DType::I64), attr::dtype("dtype"), attr::string("key")])
        .results([VALUES, SPLITS, SPLITS])
        .cpu(|call| ragged(&call))
        .forms(Forms::STRING);
}
