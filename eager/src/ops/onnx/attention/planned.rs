//! Attention of `f32` by the plan of `tfrt-math`, which never has all scores at a time and reads
//! keys and values where they are.

use tfrt_compute::{OnQueue, shape_error, workers};
use tfrt_host::{DType, Diagnostic};
use tfrt_math::{Attention, AttentionInput, AttentionShape, BlockOp, Reordered, ShapeError};
use tfrt_tensor::DenseHostTensor;

use super::{Extents, Heads, ME, Mask};
use crate::CpuCall;
use crate::ops::onnx::arguments::pick;
use crate::ops::onnx::two::results;
use crate::ops::support::{Computed, allocate, invalid, room_for};

/// The number of products of queries and keys from which on several threads compute them.
const LEAST_PRODUCTS: usize = 1 << 19;

/// What changes the scores.
pub(super) struct Changes<'a> {
    pub(super) scale: f64,
    /// What keeps scores within itself, if it is positive.
    pub(super) softcap: f64,
    pub(super) mask: Option<&'a Mask<f32>>,
    pub(super) lengths: Option<&'a [i64]>,
    pub(super) is_causal: bool,
}

/// Keys or values of all steps, `[batch, heads, steps, size]`.
fn joined(
    call: &CpuCall<'_>,
    past: Option<&DenseHostTensor>,
    now: &DenseHostTensor,
    heads: &Heads,
    before: usize,
) -> Result<DenseHostTensor, Diagnostic> {
    if past.is_none() && !heads.is_packed {
        return Ok(now.clone());
    }
    let total = before + heads.length;
    let mut all = allocate(call, DType::F32, &[heads.batch, heads.heads, total, heads.size])?;
    if all.num_elements() == 0 {
        return Ok(all);
    }
    let (past, now) = (past.map(|past| past.read::<f32>(&ME)).transpose()?, now.read::<f32>(&ME)?);
    let (of_head, old) = (total * heads.size, before * heads.size);
    for (index, to) in all.elements_mut::<f32>()?.chunks_exact_mut(of_head).enumerate() {
        let (batch, head) = (index / heads.heads, index % heads.heads);
        let (first, rest) = to.split_at_mut(old);
        if let Some(past) = &past {
            first.copy_from_slice(&past[index * old..][..old]);
        }
        for (row, to) in rest.chunks_exact_mut(heads.size).enumerate() {
            to.copy_from_slice(&now[heads.at(batch, head, row)..][..heads.size]);
        }
    }
    Ok(all)
}

/// What is added to the scores.
struct Summands {
    values: Vec<f32>,
    /// Batch, heads, rows and keys, each of the first three perhaps one.
    dims: [usize; 4],
}

/// Returns what is added to the scores, if there is anything. Later steps than a query's are hidden
/// by the plan.
fn summands(changes: &Changes<'_>, extents: &Extents) -> Result<Option<Summands>, Diagnostic> {
    let keys = extents.keys();
    let lengths = changes.lengths.filter(|lengths| lengths.iter().any(|&length| length < keys as i64));
    if changes.mask.is_none() && lengths.is_none() {
        return Ok(None);
    }
    let strides = changes.mask.map_or([0; 4], |mask| mask.layout.strides);
    let extent = |is_varied: bool, extent: usize| if is_varied { extent } else { 1 };
    let [batch, heads, rows] = [
        extent(strides[0] != 0 || lengths.is_some(), extents.q.batch),
        extent(strides[1] != 0, extents.q.heads),
        extent(strides[2] != 0, extents.q.length),
    ];
    let dims = [batch, heads, rows, keys];
    let count = dims.iter().try_fold(1usize, |count, &dim| count.checked_mul(dim));
    let count = count.ok_or_else(|| shape_error(ShapeError::TooLarge))?;
    let mut values = room_for(count)?;
    values.resize(count, 0.0);
    for (index, row) in values.chunks_exact_mut(keys.max(1)).enumerate() {
        let [batch, head, row_index] = [index / (heads * rows), index / rows % heads, index % rows];
        if let Some(mask) = changes.mask {
            let at = batch * strides[0] + head * strides[1] + row_index * strides[2];
            let (seen, hidden) = row.split_at_mut(mask.layout.columns);
            seen.copy_from_slice(&mask.values[at..][..seen.len()]);
            hidden.fill(f32::MIN);
        }
        if let Some(lengths) = lengths {
            let length = usize::try_from(lengths[batch]).unwrap_or(0).min(keys);
            row[length..].fill(f32::MIN);
        }
    }
    Ok(Some(Summands { values, dims }))
}

/// Plans the attention. Heads of queries that share one of keys have an axis of their own; if there
/// is one step, they are the rows of a matrix.
fn plan(
    call: &CpuCall<'_>,
    extents: &Extents,
    changes: &Changes<'_>,
    summand_dims: Option<[usize; 4]>,
) -> Result<Attention, ShapeError> {
    let Extents { q, k, v, .. } = extents;
    let (shared, total, is_one) = (q.heads / k.heads, extents.keys(), q.length == 1);
    let plain = |dims: &[usize]| Reordered::new(dims, &(0..dims.len()).collect::<Vec<_>>());
    let queries = match (is_one, q.is_packed) {
        (true, _) => plain(&[q.batch, k.heads, shared, q.size]),
        (false, false) => plain(&[q.batch, k.heads, shared, q.length, q.size]),
        (false, true) => Reordered::new(&[q.batch, q.length, k.heads, shared, q.size], &[0, 2, 3, 1, 4]),
    };
    let of_keys = |size: usize| match is_one {
        true => plain(&[k.batch, k.heads, total, size]),
        false => plain(&[k.batch, k.heads, 1, total, size]),
    };
    let mask = summand_dims.map(|[batch, heads, rows, keys]| {
        let [groups, shared] = if heads == 1 { [1, 1] } else { [k.heads, shared] };
        match is_one {
            true => plain(&[batch, groups, shared, keys]),
            false => plain(&[batch, groups, shared, rows, keys]),
        }
    });
    let output: &[usize] = match (is_one, q.is_packed) {
        (true, _) => &[0, 1, 2, 3],
        (false, true) => &[0, 3, 1, 2, 4],
        (false, false) => &[0, 1, 2, 3, 4],
    };
    let shape = AttentionShape {
        queries: queries?,
        keys: of_keys(k.size)?,
        values: of_keys(v.size)?,
        mask: mask.transpose()?,
        // The only step sees all keys.
        seen_by_first: (changes.is_causal && !is_one).then_some(extents.past + 1),
        output: output.to_vec(),
    };
    let plan = Attention::new(&shape, changes.scale as f32, workers(call.cx))?;
    Ok(if changes.softcap > 0.0 { plan.capped(changes.softcap as f32) } else { plan })
}

/// Computes all results but the scores.
pub(super) fn attend(
    call: &CpuCall<'_>,
    extents: &Extents,
    [q, k, v]: [&DenseHostTensor; 3],
    past: [Option<&DenseHostTensor>; 2],
    changes: &Changes<'_>,
    wanted: [bool; 4],
) -> Computed {
    let keys = joined(call, past[0], k, &extents.k, extents.past)?;
    let values = joined(call, past[1], v, &extents.v, extents.past)?;
    let [shape, ..] = extents.outputs()?;
    let mut y = allocate(call, DType::F32, shape.dims())?;
    if wanted[0] && y.num_elements() > 0 {
        let summands = summands(changes, extents)?;
        let dims = summands.as_ref().map(|summands| summands.dims);
        let plan = plan(call, extents, changes, dims).map_err(shape_error)?;
        if plan.shape().iter().product::<usize>() != y.num_elements() {
            return Err(invalid("the mask does not fit the scores"));
        }
        let input = AttentionInput {
            queries: &q.read::<f32>(&ME)?,
            keys: &keys.read::<f32>(&ME)?,
            values: &values.read::<f32>(&ME)?,
            mask: summands.as_ref().map(|summands| &summands.values[..]),
        };
        let out = y.elements_mut::<f32>()?;
        if q.num_elements().saturating_mul(extents.keys()) < LEAST_PRODUCTS {
            plan.run_in_turn(input, out)
        } else {
            plan.run(&OnQueue(call.cx), input, out)
        }
        .map_err(shape_error)?;
    }
    let scores = y.clone();
    Ok(results(pick([y, keys, values, scores], wanted)))
}
