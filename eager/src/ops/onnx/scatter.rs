//! `onnx.ScatterElements` and `onnx.ScatterND`: tensors of which some elements are replaced or
//! combined with others.

use tfrt_host::Diagnostic;
use tfrt_math::{Number, ops};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, HostTensor, TensorShape, with_bits};

use super::arguments::{check_dims, check_same_type, int_or, text_or, unknown};
use super::elements::{check_chosen, index_of, places};
use crate::ops::support::{
    Computed, Described, axis_of, integers, invalid, one, product, room_for, unsupported, with_number,
};
use crate::ops::types;
use crate::{CpuCall, MetadataCall, OpRegistry, attr};

static ME: Accessor = Accessor::new("onnx op that scatters");

fn metadata(call: MetadataCall<'_>) -> Described {
    let [data, _, updates] = call.take()?;
    check_same_type(("data", data), ("updates", updates))?;
    one(data.clone())
}

/// Combines runs of `unit` elements of a copy of `data` with the updates at these places, one after
/// the other.
fn scattered(
    call: &CpuCall<'_>,
    [data, updates]: [&DenseHostTensor; 2],
    places: &[usize],
    unit: usize,
) -> Computed {
    let out = data.deep_copy(&ME, call.cx.host().allocator())?;
    match text_or(call.attrs, "reduction", "none")? {
        "none" => {
            let (out, updates) = (out.as_bits(), updates.as_bits_of(data.dtype())?);
            with_bits!(data.dtype(), |T| combine::<T>(&out, &updates, (places, unit), |_, new| new),
            else Err(unsupported("onnx op that scatters", data.dtype())))?
        }
        "add" => combine_numbers(&out, updates, (places, unit), Combination::Add)?,
        "mul" => combine_numbers(&out, updates, (places, unit), Combination::Multiply)?,
        "max" => combine_numbers(&out, updates, (places, unit), Combination::Maximum)?,
        "min" => combine_numbers(&out, updates, (places, unit), Combination::Minimum)?,
        other => return Err(unknown("reduction", other)),
    }
    Ok(out.into())
}

#[derive(Clone, Copy)]
enum Combination {
    Add,
    Multiply,
    Maximum,
    Minimum,
}

impl Combination {
    fn of<T: Number>(self) -> fn(T, T) -> T {
        match self {
            Self::Add => ops::add,
            Self::Multiply => ops::mul,
            Self::Maximum => ops::maximum,
            Self::Minimum => ops::minimum,
        }
    }
}

fn combine_numbers(
    out: &DenseHostTensor,
    updates: &DenseHostTensor,
    places: (&[usize], usize),
    combination: Combination,
) -> Result<(), Diagnostic> {
    with_number!(updates.dtype(), "onnx op that scatters", |T| combine::<T>(
        out,
        updates,
        places,
        combination.of::<T>()
    ))
}

fn combine<T: Element>(
    out: &DenseHostTensor,
    updates: &DenseHostTensor,
    (places, unit): (&[usize], usize),
    f: impl Fn(T, T) -> T,
) -> Result<(), Diagnostic> {
    let updates = updates.read::<T>(&ME)?;
    if unit == 0 {
        return Ok(());
    }
    let mut out = out.write::<T>(&ME)?;
    for (&place, updates) in places.iter().zip(updates.chunks_exact(unit)) {
        let out = &mut out[place * unit..][..unit];
        out.iter_mut().zip(updates).for_each(|(out, &new)| *out = f(*out, new));
    }
    Ok(())
}

fn scatter_elements(call: &CpuCall<'_>) -> Computed {
    let [data, indices, updates] = call.dense()?;
    let axis = axis_of(int_or(call.attrs, "axis", 0)?, data.shape().rank(), "axis")?;
    check_chosen(data.shape(), indices.shape(), axis)?;
    check_dims("updates", updates.shape().dims(), indices.shape().dims())?;
    let places = places(data.shape().dims(), &HostTensor::from(indices.clone()), axis)?;
    scattered(call, [data, updates], &places, 1)
}

/// Returns the number of coordinates of a run of updates in a tensor of shape `data`, and the number
/// of elements of a run.
pub(in crate::ops) fn nd_unit(
    data: &TensorShape,
    indices: &TensorShape,
    updates: &TensorShape,
) -> Result<(usize, usize), Diagnostic> {
    let dims = data.dims();
    let Some((&depth, outer)) = indices.dims().split_last() else {
        return Err(invalid("indices must have at least one dimension"));
    };
    if depth > dims.len() {
        return Err(invalid(format!("indices of shape {indices} do not fit data of shape {data}")));
    }
    check_dims("updates", updates.dims(), &[outer, &dims[depth..]].concat())?;
    Ok((depth, product(&dims[depth..])))
}

/// Returns the places of runs of updates in a tensor of shape `data`, counted in runs, and the
/// number of elements of a run.
pub(in crate::ops) fn nd_places(
    data: &TensorShape,
    indices: &HostTensor,
    updates: &TensorShape,
) -> Result<(Vec<usize>, usize), Diagnostic> {
    let (depth, unit) = nd_unit(data, indices.shape(), updates)?;
    let (dims, outer) = (data.dims(), &indices.shape().dims()[..indices.shape().rank() - 1]);
    let list = integers(indices, "indices")?;
    let count = if updates.num_elements()? == 0 { 0 } else { product(outer) };
    let mut places = room_for(count)?;
    for row in 0..count {
        let coordinates = list[row * depth..][..depth].iter().zip(dims);
        let place = coordinates
            .clone()
            .try_fold(0, |place, (&index, &dim)| Ok::<_, Diagnostic>(place * dim + index_of(index, dim)?))?;
        places.push(place);
    }
    Ok((places, unit))
}

fn scatter_nd(call: &CpuCall<'_>) -> Computed {
    let [data, indices, updates] = call.dense()?;
    let indices = HostTensor::from(indices.clone());
    let (places, unit) = nd_places(data.shape(), &indices, updates.shape())?;
    scattered(call, [data, updates], &places, unit)
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("onnx.ScatterElements")
        .types(types::ELEMENTS)
        .attrs([attr::int_or("axis", 0), attr::string_or("reduction", "none")])
        .metadata(metadata)
        .cpu(|call| scatter_elements(&call));
    ops.add("onnx.ScatterND")
        .types(types::ELEMENTS)
        .attrs([attr::string_or("reduction", "none")])
        .metadata(metadata)
        .cpu(|call| scatter_nd(&call));
}
