//! `onnx.TensorScatter`: writes new places of a sequence into a cache.

use tfrt_host::Diagnostic;
use tfrt_tensor::{Accessor, DenseHostTensor, Element, HostTensor, TensorMetadata, with_bits};

use super::arguments::{OPERANDS, dense, formal, int_or, required, text_or, unknown};
use crate::ops::support::{
    Computed, Described, Output, axis_of, compute, integers, invalid, one, product, unsupported,
};
use crate::ops::types;
use crate::{CpuCall, MetadataCall, OpRegistry, attr};

static ME: Accessor = Accessor::new("onnx.TensorScatter");

fn metadata(call: MetadataCall<'_>) -> Described {
    let [cache, _, _] = formal(call.arguments, call.attrs)?;
    let cache: &TensorMetadata = required(cache, "past_cache")?;
    one(cache.clone())
}

/// For each sample, the place in the cache that its first new place goes to.
fn starts(
    indices: Option<&HostTensor>,
    (samples, extent, count): (usize, usize, usize),
    is_circular: bool,
) -> Result<Vec<usize>, Diagnostic> {
    let Some(indices) = indices else { return Ok(vec![0; samples]) };
    let list = integers(indices, "write_indices")?;
    if list.len() != samples {
        return Err(invalid(format!("write_indices must have {samples} numbers, got {}", list.len())));
    }
    let start = |&index: &i64| match is_circular {
        true => Ok(index.rem_euclid(extent.max(1) as i64) as usize),
        false => usize::try_from(index).ok().filter(|&start| start <= extent - count).ok_or_else(|| {
            invalid(format!("{count} places from {index} on do not fit a cache of {extent} places"))
        }),
    };
    list.iter().map(start).collect()
}

fn scatter<T: Element>(call: &CpuCall<'_>, cache: &DenseHostTensor) -> Computed {
    let [_, update, indices] = formal(call.arguments, call.attrs)?;
    let update = dense(update, "update")?;
    let dims = cache.shape().dims();
    let axis = axis_of(int_or(call.attrs, "axis", -2)?, dims.len(), "axis")?;
    let is_circular = match text_or(call.attrs, "mode", "linear")? {
        "linear" => false,
        "circular" => true,
        other => return Err(unknown("mode", other)),
    };
    let (extent, count) = (dims[axis], update.shape().dims().get(axis).copied().unwrap_or(usize::MAX));
    let mut expected = dims.to_vec();
    expected[axis] = count;
    if axis == 0 || count > extent || update.shape().dims() != expected {
        return Err(invalid(format!(
            "an update of shape {} does not fit a cache of shape {} along axis {axis}",
            update.shape(),
            cache.shape()
        )));
    }
    let starts = starts(indices, (dims[0], extent, count), is_circular)?;
    let (rows, inner) = (product(&dims[..axis]), product(&dims[axis + 1..]));
    let per_sample = product(&dims[1..axis]);
    let out = call.allocate_unset(0)?;
    let unit = extent * inner;
    if out.num_elements() == 0 {
        return Ok(out.into());
    }
    let (x, update) = (cache.as_bits(), update.as_bits_of(cache.dtype())?);
    let (x, update) = (x.read_owned::<T>(&ME)?, update.read_owned::<T>(&ME)?);
    compute(call, &ME, Output::Bits(out), (rows, unit, unit), move |range, out: &mut [T]| {
        for (row, out) in range.zip(out.chunks_exact_mut(unit)) {
            out.copy_from_slice(&x[row * unit..][..unit]);
            for place in 0..count {
                let to = (starts[row / per_sample] + place) % extent;
                out[to * inner..][..inner].copy_from_slice(&update[(row * count + place) * inner..][..inner]);
            }
        }
        Ok(())
    })
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("onnx.TensorScatter")
        .types(types::ELEMENTS)
        .attrs([attr::int_or("axis", -2), attr::string_or("mode", "linear"), OPERANDS])
        .metadata(metadata)
        .cpu(|call| {
            let [cache, _, _] = formal(call.arguments, call.attrs)?;
            let cache = dense(cache, "past_cache")?;
            with_bits!(cache.dtype(), |T| scatter::<T>(&call, cache),
                else Err(unsupported("onnx.TensorScatter", cache.dtype())))
        });
}
