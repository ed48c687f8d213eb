//! Ops that choose elements: `onnx.GatherElements`, `onnx.GatherND`, `onnx.Compress`, `onnx.Trilu`,
//! `onnx.OneHot`, `onnx.CumSum` and `onnx.CenterCropPad`.

use tfrt_host::{DType, Diagnostic, host_buffer::HostBuffer};
use tfrt_math::Number;
use tfrt_tensor::{
    Accessor, DenseHostTensor, Element, Elements, HostTensor, TensorMetadata, TensorShape, with_bits,
};

use super::arguments::{OPERANDS, count_or, dense, flag, formal, int_or, ints_attr};
use super::pad::{Mode, padded_tensor};
use crate::ops::moves::{Axis, Moves};
use crate::ops::support::{
    Computed, Described, Output, allocate, axis_of, compute, int_attr, integer_within, integers, invalid,
    one, product, room_for, shape_of, unsupported, values, with_number,
};
use crate::ops::types;
use crate::{CpuCall, MetadataCall, OpAttrs, OpRegistry, attr};

static ME: Accessor = Accessor::new("onnx op on elements");

/// An index counted from the front; a negative one counts from the back.
pub(super) fn index_of(index: i64, extent: usize) -> Result<usize, Diagnostic> {
    let place = if index < 0 { index.checked_add(extent as i64) } else { Some(index) };
    let place = place.and_then(|place| usize::try_from(place).ok()).filter(|&place| place < extent);
    place.ok_or_else(|| invalid(format!("index {index} is not in the range [-{extent}, {extent})")))
}

/// Distances between neighbours along each dimension.
pub(super) fn strides(dims: &[usize]) -> Vec<usize> {
    let mut strides = vec![1usize; dims.len()];
    for axis in (1..dims.len()).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(dims[axis]);
    }
    strides
}

/// That indices choose along one dimension, with no more of the others than the data has.
pub(in crate::ops) fn check_chosen(
    data: &TensorShape,
    indices: &TensorShape,
    axis: usize,
) -> Result<(), Diagnostic> {
    let fits = |other: usize| other == axis || indices.dims()[other] <= data.dims()[other];
    if data.rank() == indices.rank() && (0..data.rank()).all(fits) {
        return Ok(());
    }
    Err(invalid(format!("indices of shape {indices} do not fit data of shape {data}")))
}

/// For each index its place in the data: the index along `axis`, and its own place along the other
/// dimensions.
pub(in crate::ops) fn places(
    data: &[usize],
    indices: &HostTensor,
    axis: usize,
) -> Result<Vec<usize>, Diagnostic> {
    let list = integers(indices, "indices")?;
    let (dims, strides) = (indices.shape().dims(), strides(data));
    let mut places = room_for(list.len())?;
    let mut at = vec![0usize; dims.len()];
    for &index in &list {
        let own: usize =
            (0..dims.len()).filter(|&other| other != axis).map(|other| at[other] * strides[other]).sum();
        places.push(own + index_of(index, data[axis])? * strides[axis]);
        for (at, &dim) in at.iter_mut().zip(dims).rev() {
            *at += 1;
            if *at < dim {
                break;
            }
            *at = 0;
        }
    }
    Ok(places)
}

fn gather_elements_metadata(call: MetadataCall<'_>) -> Described {
    let [data, indices] = call.take()?;
    let axis = axis_of(int_or(call.attrs, "axis", 0)?, data.shape.rank(), "axis")?;
    check_chosen(&data.shape, &indices.shape, axis)?;
    one(TensorMetadata::new(data.dtype, indices.shape.clone()))
}

fn gather_elements(call: &CpuCall<'_>) -> Computed {
    let ([data, indices], out) = (call.dense()?, call.allocate_unset(0)?);
    let axis = axis_of(int_or(call.attrs, "axis", 0)?, data.shape().rank(), "axis")?;
    match indices.dtype() {
        DType::I32 => gather_elements_at::<i32>(call, data, (indices, axis), out),
        DType::I64 => gather_elements_at::<i64>(call, data, (indices, axis), out),
        // Other types are an error.
        _ => integers(&HostTensor::from(indices.clone()), "indices").map(|_| out.into()),
    }
}

fn gather_elements_at<I: Element + Into<i64>>(
    call: &CpuCall<'_>,
    data: &DenseHostTensor,
    (indices, axis): (&DenseHostTensor, usize),
    out: DenseHostTensor,
) -> Computed {
    let (indices, extent) = (indices.read_owned::<I>(&ME)?, data.shape().dims()[axis]);
    let range = -(extent as i64)..extent as i64;
    let are_within = indices.iter().fold(true, |all, &index| {
        let index: i64 = index.into();
        all & (index >= range.start) & (index < range.end)
    });
    if !are_within {
        indices.iter().try_for_each(|&index| index_of(index.into(), extent).map(drop))?;
    }
    with_bits!(data.dtype(), |T| gathered::<T, I>(call, data, (indices, axis), out),
        else Err(unsupported("onnx.GatherElements", data.dtype())))
}

/// The elements at indices along an axis, row by row of the last dimension.
fn gathered<T: Element, I: Element + Into<i64>>(
    call: &CpuCall<'_>,
    data: &DenseHostTensor,
    (indices, axis): (Elements<I, HostBuffer>, usize),
    out: DenseHostTensor,
) -> Computed {
    let dims = out.shape().dims().to_vec();
    let Some((&columns, outer)) = dims.split_last().filter(|_| !indices.is_empty()) else {
        return Ok(out.into());
    };
    let (x, strides) = (data.as_bits().read_owned::<T>(&ME)?, strides(data.shape().dims()));
    let (extent, outer) = (data.shape().dims()[axis], outer.to_vec());
    let (stride, step) = (strides[axis], usize::from(axis != outer.len()));
    let sizes = (indices.len() / columns, columns, columns.saturating_mul(2));
    compute(call, &ME, Output::Bits(out), sizes, move |rows, out: &mut [T]| {
        for (row, out) in rows.zip(out.chunks_exact_mut(columns)) {
            let (mut start, mut rest) = (0, row);
            for (place, &dim) in outer.iter().enumerate().rev() {
                start += if place == axis { 0 } else { rest % dim * strides[place] };
                rest /= dim;
            }
            let indices = &indices[row * columns..][..columns];
            for (column, (out, &index)) in out.iter_mut().zip(indices).enumerate() {
                let index: i64 = index.into();
                let place = if index < 0 { index + extent as i64 } else { index } as usize;
                *out = x[start + place * stride + column * step];
            }
        }
        Ok(())
    })
}

/// Runs of elements at these places, which are counted in runs.
fn taken<T: Element>(
    call: &CpuCall<'_>,
    data: &DenseHostTensor,
    (places, unit): (Vec<usize>, usize),
    out: DenseHostTensor,
) -> Computed {
    let x = data.as_bits().read_owned::<T>(&ME)?;
    if out.num_elements() == 0 {
        return Ok(out.into());
    }
    compute(call, &ME, Output::Bits(out), (places.len(), unit, unit + 1), move |range, out: &mut [T]| {
        for (place, out) in places[range].iter().zip(out.chunks_exact_mut(unit)) {
            out.copy_from_slice(&x[place * unit..][..unit]);
        }
        Ok(())
    })
}

/// Returns the number of batch dimensions and the number of coordinates of a gather.
pub(in crate::ops) fn gather_nd_depths(
    attrs: &OpAttrs,
    data: &TensorShape,
    indices: &TensorShape,
) -> Result<[usize; 2], Diagnostic> {
    let (from, at, batch) = (data.dims(), indices.dims(), count_or(attrs, "batch_dims", 0)?);
    let fits = |depth: usize, outer: &[usize]| {
        batch.checked_add(depth).is_some_and(|inner| inner <= from.len())
            && batch <= outer.len()
            && from[..batch] == at[..batch]
    };
    match at.split_last() {
        Some((&depth, outer)) if fits(depth, outer) => Ok([batch, depth]),
        _ => Err(invalid(format!(
            "indices of shape {indices} do not fit data of shape {data} with {batch} batch dimensions"
        ))),
    }
}

fn gather_nd(call: &CpuCall<'_>) -> Computed {
    let [data, indices] = call.dense()?;
    let [batch, depth] = gather_nd_depths(call.attrs, data.shape(), indices.shape())?;
    let (from, inner) = (data.shape().dims(), batch + depth);
    let outer = &indices.shape().dims()[..indices.shape().rank() - 1];
    let dims = [outer, &from[inner..]].concat();
    let out = allocate(call, data.dtype(), &dims)?;
    let list = integers(&HostTensor::from(indices.clone()), "indices")?;
    let (count, each) = (product(outer), product(&outer[batch..]));
    let mut places = room_for(if out.num_elements() == 0 { 0 } else { count })?;
    for row in 0..places.capacity().min(count) {
        let coordinates = list[row * depth..][..depth].iter().zip(&from[batch..]);
        let place = coordinates.clone().try_fold(row / each.max(1), |place, (&index, &dim)| {
            Ok::<_, Diagnostic>(place * dim + index_of(index, dim)?)
        })?;
        places.push(place);
    }
    with_bits!(data.dtype(), |T| taken::<T>(call, data, (places, product(&from[inner..])), out),
        else Err(unsupported("onnx.GatherND", data.dtype())))
}

fn compress(call: &CpuCall<'_>) -> Computed {
    let [data, condition] = call.dense()?;
    let condition = condition.read::<bool>(&ME)?;
    let (dims, axis) = match int_attr(call.attrs, "axis")? {
        Some(axis) => (data.shape().dims().to_vec(), axis_of(axis, data.shape().rank(), "axis")?),
        None => (vec![data.num_elements()], 0),
    };
    let chosen: Vec<usize> = condition
        .iter()
        .take(dims[axis])
        .enumerate()
        .filter(|(_, is_chosen)| **is_chosen)
        .map(|(i, _)| i)
        .collect();
    let axes = dims.iter().enumerate().map(|(other, &dim)| match other == axis {
        true => Axis::Table(chosen.clone()),
        false => Axis::whole(dim),
    });
    let moves = Moves::new(&dims, axes.collect());
    let dims = moves.dims().to_vec();
    moves.apply(call, &HostTensor::from(data.clone()), &dims)
}

fn trilu_metadata(call: MetadataCall<'_>) -> Described {
    let [x, _] = formal(call.arguments, call.attrs)?;
    let x: &TensorMetadata = super::arguments::required(x, "input")?;
    if x.shape.rank() < 2 {
        return Err(invalid(format!("the input must have at least 2 dimensions, got shape {}", x.shape)));
    }
    one(x.clone())
}

fn trilu(call: &CpuCall<'_>) -> Computed {
    let [x, k] = formal(call.arguments, call.attrs)?;
    let (x, out) = (dense(x, "input")?, call.allocate_unset(0)?);
    let k = k.map(|k| integer_within(k, "k", 1)).transpose()?.unwrap_or(0);
    let (is_upper, dims) = (flag(call.attrs, "upper", true)?, x.shape().dims());
    let (rows, columns) = (dims[dims.len() - 2], dims[dims.len() - 1]);
    let count = product(&dims[..dims.len() - 1]);
    with_bits!(
        x.dtype(),
        |T| {
            let x = x.as_bits().read_owned::<T>(&ME)?;
            compute(call, &ME, Output::Bits(out), (count, columns, columns), move |range, out: &mut [T]| {
                for (row, out) in range.zip(out.chunks_exact_mut(columns)) {
                    let diagonal = ((row % rows) as i64).saturating_add(k);
                    // The upper part begins at the diagonal, and the lower one ends with it.
                    let end = if is_upper { diagonal } else { diagonal.saturating_add(1) };
                    let middle = (end.max(0) as usize).min(columns);
                    let x = &x[row * columns..][..columns];
                    let kept = if is_upper { middle..columns } else { 0..middle };
                    out.fill(T::default());
                    out[kept.clone()].copy_from_slice(&x[kept]);
                }
                Ok(())
            })
        },
        else Err(unsupported("onnx.Trilu", x.dtype()))
    )
}

/// The numbers of a tensor as integers.
pub(in crate::ops) fn whole(tensor: &HostTensor) -> Result<Vec<i64>, Diagnostic> {
    macro_rules! all {
        ($($dtype:ident $t:ty, |$x:ident| $f:expr;)*) => {
            match tensor.dtype() {
                $(DType::$dtype => values::<$t>(tensor)?.iter().map(|&$x| $f).collect(),)*
                other => return Err(unsupported("onnx.OneHot", other)),
            }
        };
    }
    Ok(all! {
        I8 i8, |x| x.into(); I16 i16, |x| x.into(); I32 i32, |x| x.into(); I64 i64, |x| x;
        UI8 u8, |x| x.into(); UI16 u16, |x| x.into(); UI32 u32, |x| x.into();
        UI64 u64, |x| i64::try_from(x).unwrap_or(i64::MAX);
        F16 tfrt_tensor::f16, |x| x.to_f64() as i64; BF16 tfrt_tensor::bf16, |x| x.to_f64() as i64;
        F32 f32, |x| x as i64; F64 f64, |x| x as i64;
    })
}

fn one_hot(call: &CpuCall<'_>) -> Computed {
    let [indices, depth, choice]: [_; 3] =
        call.arguments.try_into().map_err(|_| invalid("the op takes 3 arguments"))?;
    let rank = indices.shape().rank();
    let axis = axis_of(int_or(call.attrs, "axis", -1)?, rank + 1, "axis")?;
    let &[depth] = &whole(depth)?[..] else { return Err(invalid("depth must have one element")) };
    let depth =
        usize::try_from(depth).map_err(|_| invalid(format!("depth must not be negative, got {depth}")))?;
    let list = whole(indices)?;
    let mut dims = indices.shape().dims().to_vec();
    dims.insert(axis, depth);
    let inner = product(&dims[axis + 1..]);
    let out = allocate(call, choice.dtype(), &dims)?;
    with_bits!(
        choice.dtype(),
        |T| {
            let &[off, on] = &values::<T>(&choice.as_bits_of(choice.dtype())?)?[..] else {
                return Err(invalid(format!("values must have 2 elements, got shape {}", choice.shape())));
            };
            let bits = out.as_bits();
            let mut elements = bits.write::<T>(&ME)?;
            elements.fill(off);
            for (place, &index) in list.iter().enumerate() {
                if let Ok(index) = index_of(index, depth) {
                    elements[(place / inner * depth + index) * inner + place % inner] = on;
                }
            }
            drop(elements);
            Ok(out.into())
        },
        else Err(unsupported("onnx.OneHot", choice.dtype()))
    )
}

fn cum_sum_metadata(call: MetadataCall<'_>) -> Described {
    let [x, _] = call.take()?;
    one(x.clone())
}

fn cum_sum<T: Element + Number>(call: &CpuCall<'_>) -> Computed {
    let ([x, axis], out) = (call.dense()?, call.allocate_unset(0)?);
    let (dims, axis) = (x.shape().dims(), integer_within(&HostTensor::from(axis.clone()), "axis", 1)?);
    let axis = axis_of(axis, dims.len(), "axis")?;
    let (is_exclusive, is_reverse) =
        (flag(call.attrs, "exclusive", false)?, flag(call.attrs, "reverse", false)?);
    let (outer, count, inner) = (product(&dims[..axis]), dims[axis], product(&dims[axis + 1..]));
    if out.num_elements() == 0 {
        return Ok(out.into());
    }
    let (x, unit) = (x.read_owned::<T>(&ME)?, count * inner);
    compute(call, &ME, out, (outer, unit, 2 * unit), move |range, out: &mut [T]| {
        for (index, out) in range.zip(out.chunks_exact_mut(unit)) {
            let x = &x[index * unit..][..unit];
            let mut sums = vec![T::ZERO; inner];
            for step in 0..count {
                let first = (if is_reverse { count - 1 - step } else { step }) * inner;
                let (x, out) = (&x[first..][..inner], &mut out[first..][..inner]);
                if is_exclusive {
                    out.copy_from_slice(&sums);
                }
                sums.iter_mut().zip(x).for_each(|(sum, &x)| *sum = sum.plus(x));
                if !is_exclusive {
                    out.copy_from_slice(&sums);
                }
            }
        }
        Ok(())
    })
}

fn center_crop_pad(call: &CpuCall<'_>) -> Computed {
    let [data, shape] = call.dense()?;
    let wanted = integers(&HostTensor::from(shape.clone()), "shape")?;
    let rank = data.shape().rank();
    let axes: Vec<usize> = match ints_attr(call.attrs, "axes")? {
        Some(axes) => axes.iter().map(|&axis| axis_of(axis, rank, "axes")).collect::<Result<_, _>>()?,
        None => (0..rank).collect(),
    };
    if axes.len() != wanted.len() {
        return Err(invalid(format!("shape must have {} numbers, got {}", axes.len(), wanted.len())));
    }
    let mut dims: Vec<i64> = data.shape().dims().iter().map(|&dim| dim as i64).collect();
    let mut pads = vec![[0; 2]; rank];
    for (&axis, &wanted) in axes.iter().zip(&wanted) {
        let difference = wanted.saturating_sub(dims[axis]);
        pads[axis] = [difference / 2, 0];
        dims[axis] = wanted;
    }
    let shape = shape_of(&dims)?;
    let out = allocate(call, data.dtype(), shape.dims())?;
    if out.num_elements() == 0 {
        return Ok(out.into());
    }
    with_bits!(
        data.dtype(),
        |T| padded_tensor::<T>(call, data, out, (Mode::Constant, &pads, T::default())),
        else Err(unsupported("onnx.CenterCropPad", data.dtype()))
    )
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("onnx.GatherElements")
        .types(types::ELEMENTS)
        .attrs([attr::int_or("axis", 0)])
        .metadata(gather_elements_metadata)
        .cpu(|call| gather_elements(&call));
    ops.add("onnx.GatherND")
        .types(types::ELEMENTS)
        .attrs([attr::int_or("batch_dims", 0)])
        .cpu(|call| gather_nd(&call));
    ops.add("onnx.Compress")
        .types(types::ELEMENTS)
        .attrs([attr::int("axis").optional()])
        .cpu(|call| compress(&call));
    ops.add("onnx.Trilu")
        .types(types::ELEMENTS)
        .attrs([attr::int_or("upper", 1), OPERANDS])
        .metadata(trilu_metadata)
        .cpu(|call| trilu(&call));
    ops.add("onnx.OneHot")
        .types(types::ELEMENTS)
        .attrs([attr::int_or("axis", -1)])
        .cpu(|call| one_hot(&call));
    ops.add("onnx.CumSum")
        .types(types::NUMBERS)
        .attrs([attr::int_or("exclusive", 0), attr::int_or("reverse", 0)])
        .metadata(cum_sum_metadata)
        .cpu(|call| with_number!(call.result(0)?.dtype, "onnx.CumSum", |T| cum_sum::<T>(&call)));
    ops.add("onnx.CenterCropPad")
        .types(types::ELEMENTS)
        .attrs([attr::ints("axes").optional()])
        .cpu(|call| center_crop_pad(&call));
}
