//! Ragged tensors, which are values and for each dimension of varying length the places where rows
//! begin.

use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::HostTensor;

use super::plain::{of_reals, reals, results, tensor};
use super::support::{Computed, integers, invalid, room_for, take, vector};
use super::types;
use crate::{CpuCall, OpRegistry, ResultType};

/// Where rows begin and the last one ends.
fn splits_of(tensor: &HostTensor) -> Result<Vec<usize>, Diagnostic> {
    let splits = vector(tensor, "splits")?;
    let is_sorted = splits.windows(2).all(|pair| pair[0] <= pair[1]);
    if splits.first() != Some(&0) || !is_sorted {
        return Err(invalid("splits must begin with 0 and must not decrease"));
    }
    splits.iter().map(|&at| usize::try_from(at).map_err(|_| invalid("a split is negative"))).collect()
}

/// The ends of rows that follow each other in splits, as the last split must fit what they divide.
fn nested(tensors: &[&HostTensor]) -> Result<Vec<Vec<usize>>, Diagnostic> {
    let splits = tensors.iter().map(|tensor| splits_of(tensor)).collect::<Result<Vec<_>, _>>()?;
    for pair in splits.windows(2) {
        let (outer, inner) = (pair[0].last().copied().unwrap_or(0), pair[1].len() - 1);
        if outer != inner {
            return Err(invalid(format!("splits divide {outer} rows, but there are {inner}")));
        }
    }
    Ok(splits)
}

/// Splits as a tensor of the type of the first argument.
fn splits_tensor(call: &CpuCall<'_>, splits: &[usize]) -> Result<HostTensor, Diagnostic> {
    match call.arguments.last().map(|tensor| tensor.dtype()) {
        Some(DType::I32) => {
            tensor(call, &[splits.len()], &splits.iter().map(|&at| at as i32).collect::<Vec<_>>())
        }
        _ => tensor(call, &[splits.len()], &splits.iter().map(|&at| at as i64).collect::<Vec<_>>()),
    }
}

/// The rows that indices name: their splits, and the place of each value among those of the source.
/// The arguments are the indices and the splits of each dimension.
fn gather(call: &CpuCall<'_>) -> Computed {
    let (indices, splits) = call.arguments.split_first().ok_or_else(|| invalid("indices are missing"))?;
    let splits = nested(splits)?;
    let outer = splits.first().ok_or_else(|| invalid("a ragged tensor has splits"))?;
    let mut rows = Vec::new();
    for index in integers(indices, "indices")? {
        let row = usize::try_from(index).ok().filter(|&row| row + 1 < outer.len());
        rows.push(row.ok_or_else(|| invalid(format!("index {index} is not below {}", outer.len() - 1)))?);
    }
    let mut made = Vec::new();
    for splits in &splits {
        let (mut ends, mut inner) = (vec![0], Vec::new());
        for row in rows {
            inner.extend(splits[row]..splits[row + 1]);
            ends.push(inner.len());
        }
        made.push(splits_tensor(call, &ends)?);
        rows = inner;
    }
    let places: Vec<i64> = rows.into_iter().map(|place| place as i64).collect();
    made.push(tensor(call, &[places.len()], &places)?);
    Ok(results(made))
}

/// The coordinates of values whose inner dimensions are dense, and the shape that holds all rows.
/// The arguments are the shape of the values and the splits of each dimension.
fn coordinates(call: &CpuCall<'_>) -> Computed {
    let (shape, splits) = call.arguments.split_first().ok_or_else(|| invalid("values are missing"))?;
    let (dims, splits) = (vector(shape, "the shape of the values")?, nested(splits)?);
    let (&len, inner) = dims.split_first().ok_or_else(|| invalid("values must not be a scalar"))?;
    let outer = splits.first().ok_or_else(|| invalid("a ragged tensor has splits"))?;
    if splits.last().and_then(|splits| splits.last()).map(|&last| last as i64) != Some(len) {
        return Err(invalid(format!("splits do not divide {len} values")));
    }
    let mut rows: Vec<Vec<i64>> = (0..outer.len() as i64 - 1).map(|row| vec![row]).collect();
    let mut extents = vec![rows.len() as i64];
    for splits in &splits {
        let mut deeper = room_for(splits.last().copied().unwrap_or(0))?;
        let mut longest = 0;
        for (row, ends) in rows.iter().zip(splits.windows(2)) {
            longest = longest.max(ends[1] - ends[0]);
            for column in 0..ends[1] - ends[0] {
                deeper.push([&row[..], &[column as i64]].concat());
            }
        }
        extents.push(longest as i64);
        rows = deeper;
    }
    for &extent in inner {
        let columns = |row: Vec<i64>| (0..extent).map(move |column| [&row[..], &[column]].concat());
        rows = rows.into_iter().flat_map(columns).collect();
        extents.push(extent);
    }
    let indices = rows.concat();
    let indices = tensor(call, &[rows.len(), extents.len()], &indices)?;
    Ok(results([indices, tensor(call, &[extents.len()], &extents)?]))
}

/// Numbers from starts up to limits in steps, a row for each.
fn range(call: &CpuCall<'_>) -> Computed {
    let arguments: [&HostTensor; 3] = take(call)?;
    let parts = [reals(arguments[0])?, reals(arguments[1])?, reals(arguments[2])?];
    if arguments.iter().any(|tensor| tensor.shape().rank() > 1) {
        return Err(invalid("starts, limits and deltas must be vectors or scalars"));
    }
    let rows: Vec<usize> = arguments
        .iter()
        .filter(|tensor| tensor.shape().rank() == 1)
        .map(|tensor| tensor.shape().dims()[0])
        .collect();
    let count = rows.first().copied().unwrap_or(1);
    if rows.iter().any(|&row| row != count) {
        return Err(invalid("starts, limits and deltas must have the same length"));
    }
    let (mut splits, mut values) = (vec![0usize], Vec::new());
    for row in 0..count {
        let part = |part: usize| parts[part][if arguments[part].shape().rank() == 0 { 0 } else { row }];
        let (start, limit, delta) = (part(0), part(1), part(2));
        if delta == 0.0 {
            return Err(invalid("Requires delta != 0"));
        }
        let steps = ((limit - start) / delta).ceil().max(0.0);
        if !steps.is_finite() || steps + values.len() as f64 > f64::from(i32::MAX) {
            return Err(invalid("too many numbers in a ragged range"));
        }
        values.extend((0..steps as usize).map(|step| start + step as f64 * delta));
        splits.push(values.len());
    }
    let splits = match call.attrs.optional::<DType>("Tsplits")?.unwrap_or(DType::I64) {
        DType::I32 => tensor(call, &[splits.len()], &splits.iter().map(|&at| at as i32).collect::<Vec<_>>())?,
        _ => tensor(call, &[splits.len()], &splits.iter().map(|&at| at as i64).collect::<Vec<_>>())?,
    };
    let values = of_reals(call, arguments[0].dtype(), &[values.len()], &values)?;
    Ok(results([splits, values]))
}

pub(super) fn register(ops: &mut OpRegistry) {
    const LIST: ResultType = ResultType::is(DType::I64).rank(1);
    ops.add("tfrt.RaggedGather")
        .types(types::INDICES)
        .results([ResultType::like(1).rank(1), LIST])
        .cpu(|call| gather(&call));
    ops.add("tfrt.RaggedCoordinates")
        .types(types::INDICES)
        .results([ResultType::is(DType::I64).rank(2), LIST])
        .cpu(|call| coordinates(&call));
    ops.add("tf.RaggedRange")
        .types(types::NUMBERS)
        .attrs([crate::attr::dtype_or("Tsplits", DType::I64)])
        .results([ResultType::named("Tsplits").rank(1), ResultType::like(0).rank(1)])
        .cpu(|call| range(&call));
}
