//! Sets in the rows of sparse tensors, and crosses of features.
//!
//! The elements of sets come as numbers in the order of all elements.

use std::collections::{BTreeMap, BTreeSet};

use bstr::BString;
use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::{HostTensor, StringHostTensor, TensorShape};

use super::hashes::fingerprint;
use super::plain::{results, tensor};
use super::sparse::Coordinates;
use super::strings::strings;
use super::support::{Computed, int_attr, integers, invalid, product, room_for, take, vector};
use super::types;
use crate::{CpuCall, Forms, OpRegistry, ResultType, attr};

/// The set of each row: all dimensions but the last one name the row.
type Rows = BTreeMap<Vec<i64>, BTreeSet<i64>>;

/// The rows of a sparse tensor, whose elements are `numbers`, and the shape of the rows.
fn rows(indices: &HostTensor, shape: &HostTensor, numbers: &[i64]) -> Result<(Rows, Vec<i64>), Diagnostic> {
    let shape = vector(shape, "set_shape")?;
    let all = Coordinates::within(indices, &shape)?;
    let Some((_, outer)) = shape.split_last() else {
        return Err(invalid("a set must have at least one dimension"));
    };
    let mut rows = Rows::new();
    for (row, &number) in all.rows().zip(numbers) {
        rows.entry(row[..row.len() - 1].to_vec()).or_default().insert(number);
    }
    Ok((rows, outer.to_vec()))
}

/// Sets of elements that are in one or in both inputs: coordinates, the number of each element, and
/// the shape.
fn operation(call: &CpuCall<'_>) -> Computed {
    let [left, left_shape, right, right_shape, numbers] = take(call)?;
    let numbers = integers(numbers, "the numbers of the elements")?;
    let count = left.shape().dims().first().copied().unwrap_or(0).min(numbers.len());
    let (left, shape) = rows(left, left_shape, &numbers[..count])?;
    let (right, other) = rows(right, right_shape, &numbers[count..])?;
    if shape != other {
        return Err(invalid(format!("sets have rows of shapes {shape:?} and {other:?}")));
    }
    let kind: &str = call.attrs.required("set_operation")?;
    let combine = |a: &BTreeSet<i64>, b: &BTreeSet<i64>| -> Result<Vec<i64>, Diagnostic> {
        Ok(match kind {
            "a-b" => a.difference(b).copied().collect(),
            "b-a" => b.difference(a).copied().collect(),
            "intersection" => a.intersection(b).copied().collect(),
            "union" => a.union(b).copied().collect(),
            other => return Err(invalid(format!("'{other}' is no operation on sets"))),
        })
    };
    let (none, mut longest) = (BTreeSet::new(), 0);
    let (mut indices, mut elements) = (Vec::new(), Vec::new());
    let names: BTreeSet<&Vec<i64>> = left.keys().chain(right.keys()).collect();
    for name in names {
        let set = combine(left.get(name).unwrap_or(&none), right.get(name).unwrap_or(&none))?;
        longest = longest.max(set.len());
        for (place, element) in set.into_iter().enumerate() {
            indices.extend_from_slice(name);
            indices.push(place as i64);
            elements.push(element);
        }
    }
    let rank = shape.len() + 1;
    let extents = [&shape[..], &[longest as i64]].concat();
    Ok(results([
        tensor(call, &[elements.len(), rank], &indices)?,
        tensor(call, &[elements.len()], &elements)?,
        tensor(call, &[rank], &extents)?,
    ]))
}

/// How many different elements each row has.
fn sizes(call: &CpuCall<'_>) -> Computed {
    let [indices, shape, numbers] = take(call)?;
    let (rows, shape) = rows(indices, shape, &integers(numbers, "the numbers of the elements")?)?;
    let dims: Vec<usize> = shape.iter().map(|&extent| extent as usize).collect();
    let count = product(&dims);
    let mut sizes: Vec<i32> = room_for(count)?;
    sizes.resize(count, 0);
    for (row, set) in rows {
        let place = row.iter().zip(&shape).fold(0, |place, (&at, &extent)| place * extent + at);
        sizes[place as usize] = set.len() as i32;
    }
    Ok(results([tensor(call, &dims, &sizes)?]))
}

/// The features of a column, those of each row together.
struct Column {
    rows: Vec<Vec<Feature>>,
}

/// A feature of a row.
enum Feature {
    Number(i64),
    Text(BString),
}

impl Feature {
    fn hash(&self) -> u64 {
        match self {
            Self::Number(number) => *number as u64,
            Self::Text(text) => fingerprint(text),
        }
    }

    fn text(&self) -> BString {
        match self {
            Self::Number(number) => number.to_string().into(),
            Self::Text(text) => text.clone(),
        }
    }
}

impl Column {
    fn new(indices: &HostTensor, shape: &HostTensor, values: &HostTensor) -> Result<Self, Diagnostic> {
        let shape = vector(shape, "the shape of a column")?;
        let &[height, _] = &shape[..] else {
            return Err(invalid(format!("features must be a matrix, got shape {shape:?}")));
        };
        let all = Coordinates::within(indices, &shape)?;
        let features: Vec<Feature> = match values.dtype() {
            DType::String => strings(values)?.strings().iter().cloned().map(Feature::Text).collect(),
            _ => integers(values, "features")?.into_iter().map(Feature::Number).collect(),
        };
        let mut rows: Vec<Vec<Feature>> = room_for(height as usize)?;
        rows.resize_with(height as usize, Vec::new);
        for (row, feature) in all.rows().zip(features) {
            rows[row[0] as usize].push(feature);
        }
        Ok(Self { rows })
    }
}

/// The columns among the arguments, and those behind them.
fn columns<'c>(call: &CpuCall<'c>, more: usize) -> Result<(Vec<Column>, &'c [&'c HostTensor]), Diagnostic> {
    let count = call.arguments.len().saturating_sub(more);
    let (columns, rest) = call.arguments.split_at(count);
    if !count.is_multiple_of(3) || rest.len() != more {
        return Err(invalid("each column of a cross is coordinates, a shape and values"));
    }
    let column = |column: &[&HostTensor]| Column::new(column[0], column[1], column[2]);
    let columns = columns.chunks_exact(3).map(column).collect::<Result<Vec<_>, _>>()?;
    let height = columns.first().map_or(0, |column| column.rows.len());
    if columns.iter().any(|column| column.rows.len() != height) {
        return Err(invalid("the columns of a cross must have the same number of rows"));
    }
    Ok((columns, rest))
}

/// Coordinates, values and the shape of crosses.
type Crossed<T> = Result<(Vec<i64>, Vec<T>, [i64; 2]), Diagnostic>;

/// All combinations of one feature of each column, of which the last one changes first.
fn crossed<T>(columns: &[Column], combine: impl Fn(&[&Feature]) -> T) -> Crossed<T> {
    let height = columns.first().map_or(0, |column| column.rows.len());
    let counts = |row: usize| columns.iter().map(move |column| column.rows[row].len());
    let combinations = |row| counts(row).fold(1usize, usize::saturating_mul);
    let total = (0..height).map(combinations).fold(0, usize::saturating_add);
    let (mut indices, mut values) = (room_for(total.saturating_mul(2))?, room_for(total)?);
    let mut longest = 0;
    for row in 0..height {
        let (counts, count): (Vec<usize>, usize) = (counts(row).collect(), combinations(row));
        longest = longest.max(count);
        for number in 0..count {
            let mut left = number;
            let mut chosen: Vec<&Feature> = Vec::with_capacity(columns.len());
            for (column, &count) in columns.iter().zip(&counts).rev() {
                chosen.push(&column.rows[row][left % count]);
                left /= count;
            }
            chosen.reverse();
            indices.extend([row as i64, number as i64]);
            values.push(combine(&chosen));
        }
    }
    Ok((indices, values, [height as i64, longest as i64]))
}

/// The fingerprint of two fingerprints.
fn mixed(first: u64, second: u64) -> u64 {
    const FACTOR: u64 = 0xc6a4_a793_5bd1_e995;
    let shifted = |x: u64| x ^ x >> 47;
    let mut mixed = first ^ FACTOR;
    mixed ^= shifted(second.wrapping_mul(FACTOR)).wrapping_mul(FACTOR);
    mixed = mixed.wrapping_mul(FACTOR);
    mixed = shifted(mixed).wrapping_mul(FACTOR);
    shifted(mixed)
}

/// A hash as a bucket, or as a number that is not negative if there is no number of buckets.
fn bucket(hash: u64, count: i64) -> i64 {
    match u64::try_from(count) {
        Ok(count) if count > 0 => (hash % count) as i64,
        _ => (hash % i64::MAX as u64) as i64,
    }
}

fn numbered(call: &CpuCall<'_>, columns: &[Column], combine: impl Fn(&[&Feature]) -> i64) -> Computed {
    let (indices, values, shape) = crossed(columns, combine)?;
    Ok(results([
        tensor(call, &[values.len(), 2], &indices)?,
        tensor(call, &[values.len()], &values)?,
        tensor(call, &[2], &shape)?,
    ]))
}

/// Crosses as hashes that begin with a key.
fn hashed(call: &CpuCall<'_>) -> Computed {
    let (columns, _) = columns(call, 0)?;
    let buckets = int_attr(call.attrs, "num_buckets")?.unwrap_or(0);
    let key = int_attr(call.attrs, "hash_key")?.unwrap_or(0) as u64;
    numbered(call, &columns, |features| {
        bucket(features.iter().fold(key, |hash, feature| mixed(hash, feature.hash())), buckets)
    })
}

/// Crosses as hashes that begin with the first feature. The number of buckets is an argument.
fn bucketed(call: &CpuCall<'_>) -> Computed {
    let (columns, rest) = columns(call, 1)?;
    let buckets = integers(rest[0], "num_buckets")?.first().copied().unwrap_or(0);
    numbered(call, &columns, |features| {
        let hashes = features.iter().map(|feature| feature.hash());
        bucket(hashes.reduce(mixed).unwrap_or(0), buckets)
    })
}

/// Crosses as texts with a separator, which is an argument or `_X_`.
fn joined(call: &CpuCall<'_>) -> Computed {
    let (columns, rest) = columns(call, call.arguments.len() % 3)?;
    let separator: BString = match rest.first() {
        Some(separator) => strings(separator)?.strings().first().cloned().unwrap_or_default(),
        None => "_X_".into(),
    };
    let combine = |features: &[&Feature]| -> BString {
        let texts: Vec<BString> = features.iter().map(|feature| feature.text()).collect();
        bstr::join(&separator, texts).into()
    };
    let (indices, values, shape) = crossed(&columns, combine)?;
    let indices = tensor(call, &[values.len(), 2], &indices)?;
    let texts = StringHostTensor::new(TensorShape::new(&[values.len()])?, values)?;
    Ok(results([indices, texts.into(), tensor(call, &[2], &shape)?]))
}

const LIST: ResultType = ResultType::is(DType::I64).rank(1);
const MATRIX: ResultType = ResultType::is(DType::I64).rank(2);

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tfrt.SetOperation")
        .types(types::INDICES)
        .attrs([attr::string("set_operation")])
        .results([MATRIX, LIST, LIST])
        .cpu(|call| operation(&call));
    ops.add("tfrt.SetSize")
        .types(types::INDICES)
        .results([ResultType::is(DType::I32)])
        .cpu(|call| sizes(&call));
    ops.add("tfrt.HashedCross")
        .types(types::ANY)
        .attrs([attr::int_or("num_buckets", 0), attr::int_or("hash_key", 0)])
        .results([MATRIX, LIST, LIST])
        .cpu(|call| hashed(&call))
        .forms(Forms::STRING);
    ops.add("tfrt.BucketedCross")
        .types(types::ANY)
        .results([MATRIX, LIST, LIST])
        .cpu(|call| bucketed(&call))
        .forms(Forms::STRING);
    ops.add("tfrt.JoinedCross")
        .types(types::ANY)
        .results([MATRIX, ResultType::is(DType::String).rank(1), LIST])
        .cpu(|call| joined(&call))
        .forms(Forms::STRING);
}
