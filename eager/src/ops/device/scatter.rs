//! Elements that go where indices say. The host looks at the indices first, so that those which are
//! wrong are errors here, too, and says what comes to each place in which order: the results do not
//! depend on how a device runs.

use tfrt_host::DType;
use tfrt_launch::{Combination, SegmentIds, Segments};
use tfrt_tensor::{DenseHostTensor, TensorMetadata, TensorShape};

use super::{
    Queued, count,
    expression::{cast, computed_as, constant, from_ordered, ordered, parts},
    unsupported,
};
use crate::{
    DeviceCall, DeviceFn, DeviceOpResult, DeviceTensor, HostArguments, OpRegistry,
    ops::{
        scatter::{Destinations, destinations, places_of_new, segments_of},
        support::{is_complex, room_for},
    },
};

/// Numbers in memory of the device.
fn uploaded(call: &DeviceCall<'_>, numbers: &[usize]) -> DeviceOpResult<DeviceTensor> {
    let mut list = room_for(numbers.len())?;
    list.extend(numbers.iter().map(|&number| number as u64));
    let list = DenseHostTensor::from_slice([list.len()], &list, call.cx.host().allocator())?;
    call.upload(&list.into())
}

/// Where units go, in what is scattered into segments.
#[derive(Clone, Copy)]
pub(super) enum Targets<'a> {
    /// The host knows the segment of each unit.
    Known(&'a Destinations),
    /// A tensor (i64) in device memory has the segment of each unit, and drops those of no segment.
    Computed { ids: &'a DeviceTensor, unit: usize },
}

/// `start`, or zeros, with the units of `x` combined into it.
fn combined(
    call: &DeviceCall<'_>,
    start: Option<&DeviceTensor>,
    x: &DeviceTensor,
    to: &Destinations,
    combination: Combination,
) -> DeviceOpResult<DeviceTensor> {
    combined_into(call, start, x, (Targets::Known(to), &to.dims), combination)
}

/// The same for segments of a tensor of extents `dims`.
pub(super) fn combined_into(
    call: &DeviceCall<'_>,
    start: Option<&DeviceTensor>,
    x: &DeviceTensor,
    (to, dims): (Targets<'_>, &[usize]),
    combination: Combination,
) -> DeviceOpResult<DeviceTensor> {
    let metadata = TensorMetadata::new(x.dtype(), TensorShape::new(dims)?);
    let (ratio, x) = (if is_complex(x.dtype()) { 2 } else { 1 }, parts(x)?);
    let dtype = x.dtype();
    let is_extreme = matches!(combination, Combination::Maximum | Combination::Minimum);
    let known = |x: &DeviceTensor| match dtype {
        DType::I1 => cast(call, x, DType::I32, false),
        _ if is_extreme => ordered(call, x),
        _ => cast(call, x, computed_as(dtype), false),
    };
    let of_parts = &[ratio][..ratio - 1];
    let (x, shape) = (known(&x)?, TensorShape::new(&[dims, of_parts].concat())?);
    let y = match start {
        Some(start) => known(&parts(start)?)?,
        None => constant(call, &TensorMetadata::new(x.dtype(), shape), 0.0)?,
    };
    // What no conversion made is the argument itself.
    let y = if y.buffer().is_exclusive() { y } else { call.copy(&y)? };
    if count(&y) > 0 {
        scatter(call, combination, [&y, &x], (to, ratio))?;
    }
    let y = if is_extreme { from_ordered(call, &y, dtype)? } else { cast(call, &y, dtype, false)? };
    Ok(y.reinterpret(&metadata)?)
}

/// Queues the combination of units of `x`, whose elements are `ratio` numbers, into `y`.
fn scatter(
    call: &DeviceCall<'_>,
    combination: Combination,
    [y, x]: [&DeviceTensor; 2],
    (to, ratio): (Targets<'_>, usize),
) -> DeviceOpResult<()> {
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    let to = match to {
        Targets::Known(to) => to,
        Targets::Computed { ids, unit } => {
            let unit = (unit * ratio) as u64;
            let segments = count(y).checked_div(unit).unwrap_or(0);
            let to = SegmentIds { ids: ids.buffer(), segments, units: count(ids), unit };
            kernels.scatter_by_id(stream, combination, x.dtype(), y.buffer(), x.buffer(), to)?;
            return Ok(());
        }
    };
    let (segments, members) = to.touched()?;
    let (touched, ends) = (uploaded(call, &segments)?, uploaded(call, &members.ends)?);
    let places = uploaded(call, &members.units)?;
    let to = Segments {
        touched: touched.buffer(),
        touched_count: segments.len() as u64,
        members: places.buffer(),
        member_count: members.units.len() as u64,
        ends: ends.buffer(),
        segments: to.segments as u64,
        units: to.units() as u64,
        unit: (to.unit * ratio) as u64,
    };
    kernels.scatter(stream, combination, x.dtype(), y.buffer(), x.buffer(), to)?;
    Ok(())
}

fn unsorted_segment_sum(call: &DeviceCall<'_>) -> Queued {
    let data = call.tensor(0)?;
    let to = segments_of(data.shape(), call.host(1)?, call.host(2)?)?;
    Ok(combined(call, None, data, &to, Combination::Add)?.into())
}

fn scatter_nd(call: &DeviceCall<'_>) -> Queued {
    let updates = call.tensor(1)?;
    let to = places_of_new(call.host(0)?, updates.shape(), call.host(2)?, call.attrs)?;
    let combination = match updates.dtype() {
        // Whether any is true.
        DType::I1 => Combination::Maximum,
        _ => Combination::Add,
    };
    Ok(combined(call, None, updates, &to, combination)?.into())
}

fn tensor_scatter(call: &DeviceCall<'_>, combination: Combination, op: &str) -> Queued {
    let (tensor, updates) = (call.tensor(0)?, call.tensor(2)?);
    let to = destinations(tensor.shape(), call.host(1)?, updates.shape(), call.attrs)?;
    let dtype = updates.dtype();
    let has_it = match combination {
        Combination::Replace => true,
        Combination::Add | Combination::Sub | Combination::Multiply => dtype != DType::I1,
        Combination::Maximum | Combination::Minimum => dtype != DType::I1 && !is_complex(dtype),
    };
    if !has_it {
        return Err(unsupported(op, dtype).into());
    }
    Ok(combined(call, Some(tensor), updates, &to, combination)?.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    const TENSOR_SCATTERS: &[(&str, DeviceFn)] = &[
        ("tf.TensorScatterAdd", |call| tensor_scatter(call, Combination::Add, "tf.TensorScatterAdd")),
        ("tf.TensorScatterSub", |call| tensor_scatter(call, Combination::Sub, "tf.TensorScatterSub")),
        ("tf.TensorScatterMax", |call| tensor_scatter(call, Combination::Maximum, "tf.TensorScatterMax")),
        ("tf.TensorScatterMin", |call| tensor_scatter(call, Combination::Minimum, "tf.TensorScatterMin")),
        ("tf.TensorScatterUpdate", |call| {
            tensor_scatter(call, Combination::Replace, "tf.TensorScatterUpdate")
        }),
    ];
    ops.extend("tf.UnsortedSegmentSum").device_with(unsorted_segment_sum, HostArguments::at(&[1, 2]));
    ops.extend("tf.ScatterNd").device_with(scatter_nd, HostArguments::at(&[0, 2]));
    for &(name, function) in TENSOR_SCATTERS {
        ops.extend(name).device_with(function, HostArguments::at(&[1]));
    }
}
