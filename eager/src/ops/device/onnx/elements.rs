//! Elements that indices choose, running sums, the greatest elements, and functions of one and two
//! elements.

use tfrt_host::DType;
use tfrt_launch::{
    Band, Binary, Class, Comparison, GatherElements, GatherNd, Line, LineOrder, OneHot, ReductionShape, Scan,
};
use tfrt_tensor::{DenseHostTensor, TensorMetadata, TensorShape};

use super::{super::Queued, device, host_if_given, inputs, results};
use crate::{
    DeviceCall, DeviceOpResult, DeviceTensor, HostArguments, OpRegistry,
    ops::{
        device::{
            check_indices, count,
            elementwise::binary,
            expression::{broadcast, cast, computed_as, constant, from_ordered, moved, ordered, scalar},
            extents,
            moves::widened,
            unsupported,
        },
        moves::{Axis, Moves},
        onnx::{
            arguments::{flag, int_or},
            elements::{check_chosen, gather_nd_depths, whole},
        },
        support::{axis_of, integer_within, invalid, product, room_for},
    },
};

/// Returns indices of 32 or 64 bits.
pub(super) fn indices(call: &DeviceCall<'_>, tensor: &DeviceTensor) -> DeviceOpResult<DeviceTensor> {
    let indices = widened(call, tensor)?;
    check_indices(indices.dtype(), &[DType::I32, DType::I64], "gathering")?;
    Ok(indices)
}

/// Returns the elements at indices along an axis; zeros for indices out of bounds.
fn gather_elements(call: &DeviceCall<'_>) -> Queued {
    let ([data, at], y) = (call.tensors()?, call.allocate(0)?);
    let (at, axis) =
        (indices(call, at)?, axis_of(int_or(call.attrs, "axis", 0)?, data.shape().rank(), "axis")?);
    check_chosen(data.shape(), at.shape(), axis)?;
    if count(&y) == 0 {
        return Ok(y.into());
    }
    if count(data) == 0 {
        return Err(invalid("a tensor without elements has none that indices could choose").into());
    }
    let gather = GatherElements::new(&extents(data), &extents(&at), axis)?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    let index = (at.buffer(), at.dtype());
    kernels.gather_elements(stream, y.dtype(), y.buffer(), data.buffer(), index, &gather)?;
    Ok(y.into())
}

/// Returns indices below zero as those from the front, for rows of one index for each extent.
fn from_front(
    call: &DeviceCall<'_>,
    indices: &DeviceTensor,
    extents: &[usize],
) -> DeviceOpResult<DeviceTensor> {
    let y = call.allocate_as(indices.metadata())?;
    let extents: Vec<u64> = extents.iter().map(|&extent| extent as u64).collect();
    let rows = count(&y).checked_div(extents.len() as u64).unwrap_or(0);
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.from_front(stream, y.dtype(), y.buffer(), indices.buffer(), rows, &extents)?;
    Ok(y)
}

/// Returns coordinates (i64) with those of the batch before them.
fn with_batch(
    call: &DeviceCall<'_>,
    coordinates: &DeviceTensor,
    (batch, depth): (&[usize], usize),
) -> DeviceOpResult<DeviceTensor> {
    let rows = count(coordinates).checked_div(depth as u64).unwrap_or(0) as usize;
    let each = rows.checked_div(product(batch)).unwrap_or(0).max(1);
    let mut own = room_for(rows.saturating_mul(batch.len()))?;
    for row in 0..rows {
        let mut inner = product(batch);
        for &extent in batch {
            inner /= extent.max(1);
            own.push((row / each / inner.max(1) % extent.max(1)) as i64);
        }
    }
    let own = DenseHostTensor::from_slice([own.len()], &own, call.cx.host().allocator())?;
    let own = call.upload(&own.into())?;
    let shape = TensorShape::new(&[rows, batch.len() + depth])?;
    let y = call.allocate_as(&TensorMetadata::new(DType::I64, shape))?;
    let [first, second] = [batch.len(), depth].map(|width| width as u64 * 8);
    let (kernels, stream, pitch) = (call.queue.kernels(), call.queue.stream(), first + second);
    kernels.copy_rows(stream, (y.buffer(), 0, pitch), (own.buffer(), 0, first), first, rows as u64)?;
    let from = (coordinates.buffer(), 0, second);
    kernels.copy_rows(stream, (y.buffer(), first, pitch), from, second, rows as u64)?;
    Ok(y)
}

/// Returns pieces at coordinates; zeros for those out of bounds.
fn gather_nd(call: &DeviceCall<'_>) -> Queued {
    let [data, at] = call.tensors()?;
    let [batch, depth] = gather_nd_depths(call.attrs, data.shape(), at.shape())?;
    let (from, outer) = (data.shape().dims(), &at.shape().dims()[..at.shape().rank() - 1]);
    let shape = TensorShape::new(&[outer, &from[batch + depth..]].concat())?;
    let mut at = indices(call, at)?;
    let y = call.allocate_as(&TensorMetadata::new(data.dtype(), shape))?;
    if count(&y) == 0 {
        return Ok(y.into());
    }
    if count(data) == 0 {
        return Err(invalid("a tensor without elements has none that indices could choose").into());
    }
    at = from_front(call, &at, &from[batch..batch + depth])?;
    // Without coordinates, every place has the whole piece of its batch.
    if batch > 0 && depth > 0 {
        at = with_batch(call, &cast(call, &at, DType::I64, false)?, (&from[..batch], depth))?;
    } else if batch > 0 {
        return Err(unsupported("onnx.GatherND without coordinates", data.dtype()).into());
    }
    let size = data.dtype().size().ok_or_else(|| unsupported("onnx.GatherND", data.dtype()))?;
    let gather = GatherNd {
        extents: &extents(data)[..batch + depth],
        count: product(outer) as u64,
        width: (product(&from[batch + depth..]) * size) as u64,
    };
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.gather_nd(stream, y.buffer(), data.buffer(), (at.buffer(), at.dtype()), gather)?;
    Ok(y.into())
}

fn trilu(call: &DeviceCall<'_>) -> Queued {
    let [x, k] = inputs::<2>(call)?;
    let x = device(call, x, "input")?;
    let k = host_if_given(call, k)?.map(|k| integer_within(k, "k", 1)).transpose()?.unwrap_or(0);
    let [.., rows, columns] = *x.shape().dims() else {
        return Err(invalid("the input must have at least 2 dimensions").into());
    };
    let [rows, columns] = [rows, columns].map(|extent| extent as u64);
    // What is kept is beside diagonal `k`, which may be far outside of the matrix.
    let (lower, upper) = match flag(call.attrs, "upper", true)? {
        true => (k.saturating_neg(), i64::MAX),
        false => (i64::MAX, k),
    };
    let matrices = count(x).checked_div(rows.saturating_mul(columns)).unwrap_or(0);
    let y = call.reuse(&[0], 0)?;
    let band = Band { count: matrices, rows, columns, lower, upper };
    call.queue.kernels().band(call.queue.stream(), y.dtype(), y.buffer(), x.buffer(), band)?;
    Ok(y.into())
}

/// Returns one element of a vector as a scalar.
fn element(call: &DeviceCall<'_>, vector: &DeviceTensor, at: usize) -> DeviceOpResult<DeviceTensor> {
    let axis = Axis::Steps { start: at, step: 1, count: 1 };
    moved(call, vector, &Moves::new(vector.shape().dims(), vec![axis]), &[])
}

fn one_hot(call: &DeviceCall<'_>) -> Queued {
    let (at, values) = (call.tensor(0)?, call.tensor(2)?);
    let axis = axis_of(int_or(call.attrs, "axis", -1)?, at.shape().rank() + 1, "axis")?;
    let &[depth] = &whole(call.host(1)?)?[..] else {
        return Err(invalid("depth must have one element").into());
    };
    let depth =
        usize::try_from(depth).map_err(|_| invalid(format!("depth must not be negative, got {depth}")))?;
    if values.shape().num_elements()? != 2 {
        return Err(invalid(format!("values must have 2 elements, got shape {}", values.shape())).into());
    }
    let mut dims = at.shape().dims().to_vec();
    dims.insert(axis, depth);
    let y = call.allocate_as(&TensorMetadata::new(values.dtype(), TensorShape::new(&dims)?))?;
    if count(&y) == 0 {
        return Ok(y.into());
    }
    let mut places = cast(call, at, DType::I64, true)?;
    // The upper half of unsigned numbers becomes negative and so is no place.
    if at.dtype() != DType::UI64 {
        places = from_front(call, &places, &[depth])?;
    }
    let values = values.reshape(&TensorShape::new(&[2])?)?;
    let (off, on) = (element(call, &values, 0)?, element(call, &values, 1)?);
    let (outer, inner) = (product(&dims[..axis]) as u64, product(&dims[axis + 1..]) as u64);
    let rows = OneHot { outer, depth: depth as u64, inner };
    let (kernels, stream, index) =
        (call.queue.kernels(), call.queue.stream(), (places.buffer(), places.dtype()));
    kernels.one_hot(stream, y.dtype(), y.buffer(), index, [on.buffer(), off.buffer()], rows)?;
    Ok(y.into())
}

fn cum_sum(call: &DeviceCall<'_>) -> Queued {
    let x = call.tensor(0)?;
    let axis = axis_of(integer_within(call.host(1)?, "axis", 1)?, x.shape().rank(), "axis")?;
    let shape = ReductionShape::new(&extents(x), axis..axis + 1)?;
    let (exclusive, reverse) = (flag(call.attrs, "exclusive", false)?, flag(call.attrs, "reverse", false)?);
    let scan = Scan { multiplies: false, exclusive, reverse };
    let wide = cast(call, x, computed_as(x.dtype()), false)?;
    let y = call.allocate_as(wide.metadata())?;
    call.queue.kernels().scan(call.queue.stream(), scan, y.dtype(), y.buffer(), wide.buffer(), shape)?;
    Ok(cast(call, &y, x.dtype(), false)?.into())
}

/// Returns the first elements of each line in their order, which is also given if the op leaves it
/// open.
fn top_k(call: &DeviceCall<'_>) -> Queued {
    let (x, k) = (call.tensor(0)?, integer_within(call.host(1)?, "K", 1)?);
    let axis = axis_of(int_or(call.attrs, "axis", -1)?, x.shape().rank(), "axis")?;
    let order = match flag(call.attrs, "largest", true)? {
        true => LineOrder::GreatestNanFirst,
        false => LineOrder::Least,
    };
    let mut dims = x.shape().dims().to_vec();
    let extent = dims[axis];
    dims[axis] = usize::try_from(k)
        .ok()
        .filter(|&k| k <= extent)
        .ok_or_else(|| invalid(format!("K must be in the range [0, {extent}], got {k}")))?;
    let (dtype, x, shape) = (x.dtype(), ordered(call, x)?, TensorShape::new(&dims)?);
    let values = call.allocate_as(&TensorMetadata::new(x.dtype(), shape.clone()))?;
    let places = call.allocate_as(&TensorMetadata::new(DType::I32, shape))?;
    if count(&values) > 0 {
        let line = Line { count: dims[axis] as u64, order };
        let rows = ReductionShape::new(&extents(&x), axis..axis + 1)?;
        let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
        kernels.top(stream, line, x.dtype(), Some(values.buffer()), places.buffer(), x.buffer(), rows)?;
    }
    results([from_ordered(call, &values, dtype)?, cast(call, &places, DType::I64, false)?])
}

fn remainder(call: &DeviceCall<'_>) -> Queued {
    binary(call, if flag(call.attrs, "fmod", false)? { Binary::Mod } else { Binary::FloorMod })
}

fn is_infinite(call: &DeviceCall<'_>) -> Queued {
    let [x] = call.tensors()?;
    let y = call.allocate(0)?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    let sides = [flag(call.attrs, "detect_negative", true)?, flag(call.attrs, "detect_positive", true)?];
    let wanted = match sides {
        [true, true] => {
            kernels.classify(stream, Class::Infinite, x.dtype(), y.buffer(), x.buffer(), count(x))?;
            return Ok(y.into());
        }
        [false, false] => return Ok(constant(call, y.metadata(), 0.0)?.into()),
        [true, false] => f64::NEG_INFINITY,
        [false, true] => f64::INFINITY,
    };
    let wanted = broadcast(call, &scalar(call, x.dtype(), wanted)?, x.shape())?;
    let operands = (x.buffer(), wanted.buffer());
    kernels.compare(stream, Comparison::Equal, x.dtype(), y.buffer(), operands.0, operands.1, count(x))?;
    Ok(y.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    let second = HostArguments::at(&[1]);
    ops.extend("onnx.GatherElements").device(gather_elements);
    ops.extend("onnx.GatherND").device(gather_nd);
    ops.extend("onnx.Trilu").device_with(trilu, second);
    ops.extend("onnx.OneHot").device_with(one_hot, second);
    ops.extend("onnx.CumSum").device_with(cum_sum, second);
    ops.extend("onnx.TopK").device_with(top_k, second);
    ops.extend("onnx.Mod").device(remainder);
    ops.extend("onnx.IsInf").device(is_infinite);
}
