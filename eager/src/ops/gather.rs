//! Elements chosen by indices: `tf.Gather`, `tf.GatherV2`, `tf.GatherNd`.

use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::{HostTensor, TensorShape};

use super::pick::{NOWHERE, pick};
use super::scatter::ignores_bad_indices;
use super::support::{
    Computed, axis_of, check_integers, int_attr, integer, integers_or, invalid, product, room_for, take,
};
use super::types;
use crate::{AttrSpec, CpuCall, Forms, OpAttrs, OpRegistry, attr};

fn gather(call: CpuCall<'_>) -> Computed {
    let [params, indices] = take(&call)?;
    gather_along(&call, params, indices, 0, 0)
}

fn gather_v2(call: CpuCall<'_>) -> Computed {
    let [params, indices, axis] = take(&call)?;
    let axis = axis_of(integer(axis, "axis")?, params.shape().rank(), "axis")?;
    let batch = batch_dims(call.attrs, indices.shape().rank())?;
    gather_along(&call, params, indices, axis, batch)
}

/// Returns the number of batch dimensions, from attribute `batch_dims`, for indices of this rank.
pub(super) fn batch_dims(attrs: &OpAttrs, rank: usize) -> Result<usize, Diagnostic> {
    let given = int_attr(attrs, "batch_dims")?.unwrap_or(0);
    let batch = if given < 0 { given.checked_add(rank as i64) } else { Some(given) };
    let batch = batch.and_then(|batch| usize::try_from(batch).ok()).filter(|&batch| batch <= rank);
    batch.ok_or_else(|| {
        invalid(format!("batch_dims: expected one in the range [-{rank}, {rank}], but got {given}"))
    })
}

/// The shape of a gather along an axis: for each of `outer` rows of each of `batches`, `each`
/// slices of `unit` elements are selected from `extent` slices.
pub(super) struct GatherShape {
    pub(super) batches: usize,
    pub(super) outer: usize,
    pub(super) extent: usize,
    pub(super) each: usize,
    pub(super) unit: usize,
    /// The extents of the result.
    pub(super) dims: Vec<usize>,
}

impl GatherShape {
    /// Plans a gather of slices along `axis`. The first `batch` dimensions of both tensors are
    /// batch dimensions.
    pub(super) fn new(
        params: &TensorShape,
        indices: &TensorShape,
        axis: usize,
        batch: usize,
    ) -> Result<Self, Diagnostic> {
        let (from, at) = (params.dims(), indices.dims());
        let Some(&extent) = from.get(axis) else {
            return Err(invalid("params must be at least 1 dimensional"));
        };
        if batch > axis || batch > at.len() || from[..batch] != at[..batch] {
            return Err(invalid(format!(
                "batch_dims ({batch}) must be at most axis ({axis}), and both tensors must agree in so many \
                 dimensions: {params} and {indices}"
            )));
        }
        Ok(Self {
            batches: product(&from[..batch]),
            outer: product(&from[batch..axis]),
            extent,
            each: product(&at[batch..]),
            unit: product(&from[axis + 1..]),
            dims: [&from[..axis], &at[batch..], &from[axis + 1..]].concat(),
        })
    }
}

/// Gathers slices of `params` along `axis`. The first `batch` dimensions of both are batch
/// dimensions.
fn gather_along(
    call: &CpuCall<'_>,
    params: &HostTensor,
    indices: &HostTensor,
    axis: usize,
    batch: usize,
) -> Computed {
    let GatherShape { batches, outer, extent, each, unit, dims } =
        GatherShape::new(params.shape(), indices.shape(), axis, batch)?;
    check_integers(indices.dtype(), "indices", DType::I16)?;
    if dims.contains(&0) {
        // If nothing is selected, any index is valid.
        return pick(call, params, Vec::new(), 0, &dims);
    }
    let chosen = index_list(indices, extent)?;
    if batches.saturating_mul(outer) == 1 {
        return pick(call, params, chosen, unit, &dims);
    }
    let mut places = room_for(batches.saturating_mul(outer).saturating_mul(each))?;
    for b in 0..batches {
        for o in 0..outer {
            places.extend(chosen[b * each..][..each].iter().map(|index| (b * outer + o) * extent + index));
        }
    }
    pick(call, params, places, unit, &dims)
}

/// Returns the indices, after checking that each is below `bound`.
fn index_list(indices: &HostTensor, bound: usize) -> Result<Vec<usize>, Diagnostic> {
    let list = integers_or(indices, "indices", DType::I16)?;
    let mut checked = room_for(list.len())?;
    for (place, &index) in list.iter().enumerate() {
        match usize::try_from(index).ok().filter(|&index| index < bound) {
            Some(index) => checked.push(index),
            None => return Err(invalid(format!("indices[{place}] = {index} is not in [0, {bound})"))),
        }
    }
    Ok(checked)
}

/// The shape of a gather at coordinates: `count` slices of `unit` elements, each at `depth`
/// coordinates.
pub(super) struct GatherNdShape {
    pub(super) depth: usize,
    pub(super) count: usize,
    pub(super) unit: usize,
    /// The extents of the result.
    pub(super) dims: Vec<usize>,
}

impl GatherNdShape {
    pub(super) fn new(params: &TensorShape, indices: &TensorShape) -> Result<Self, Diagnostic> {
        let from = params.dims();
        let Some((&depth, outer)) = indices.dims().split_last() else {
            return Err(invalid("indices must be at least a vector"));
        };
        if depth > from.len() {
            return Err(invalid(format!(
                "index innermost dimension length must be <= params rank; saw: {depth} vs. {}",
                from.len()
            )));
        }
        let count = product(outer);
        if count > 0 && from.contains(&0) {
            return Err(invalid(format!(
                "Requested more than 0 entries, but params is empty. Params shape: {params}"
            )));
        }
        Ok(Self { depth, count, unit: product(&from[depth..]), dims: [outer, &from[depth..]].concat() })
    }
}

fn gather_nd(call: CpuCall<'_>) -> Computed {
    let [params, indices] = take(&call)?;
    let GatherNdShape { depth, count, unit, dims } = GatherNdShape::new(params.shape(), indices.shape())?;
    let (from, list) = (params.shape().dims(), integers_or(indices, "indices", DType::I16)?);
    let is_lenient = ignores_bad_indices(call.attrs)?;
    let place = |row: usize| {
        let coordinates = &list[row * depth..][..depth];
        coordinates
            .iter()
            .zip(from)
            .try_fold(0, |place, (&index, &dim)| {
                let index = usize::try_from(index).ok().filter(|&index| index < dim)?;
                Some(place * dim + index)
            })
            .or(is_lenient.then_some(NOWHERE))
            .ok_or_else(|| {
                invalid(format!(
                    "indices[{row}] = {coordinates:?} does not index into param shape {}",
                    params.shape()
                ))
            })
    };
    let mut places = room_for(count)?;
    for row in 0..count {
        places.push(place(row)?);
    }
    pick(&call, params, places, unit, &dims)
}

const POLICY: [AttrSpec; 1] = [attr::string_or("bad_indices_policy", "")];

pub(super) fn register(ops: &mut OpRegistry) {
    let forms = Forms::STRING;
    ops.add("tf.Gather").types(types::ANY).cpu(gather).forms(forms);
    ops.add("tf.GatherV2")
        .types(types::ANY)
        .attrs([attr::int_or("batch_dims", 0)])
        .cpu(gather_v2)
        .forms(forms);
    ops.add("tf.GatherNd").types(types::ANY).attrs(POLICY).cpu(gather_nd).forms(forms);
}
