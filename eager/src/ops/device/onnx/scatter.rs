//! Tensors of which some elements are replaced by others or combined with them. The host looks at
//! indices that it has, as for the scatter ops of TensorFlow. In programs with planned memory a
//! device may compute them; those out of bounds are then dropped.

use tfrt_host::{DType, Diagnostic};
use tfrt_launch::{Combination, GatherElements};
use tfrt_tensor::{HostTensor, TensorMetadata, TensorShape};

use super::{super::Queued, elements::indices};
use crate::{
    DeviceArgument, DeviceCall, DeviceOpResult, DeviceTensor, HostArguments, OpRegistry,
    ops::{
        device::{
            count, extents,
            scatter::{Targets, combined_into},
            unsupported,
        },
        onnx::{
            arguments::{check_dims, int_or, text_or, unknown},
            elements::{check_chosen, places},
            scatter::{nd_places, nd_unit},
        },
        scatter::Destinations,
        support::{axis_of, is_complex},
    },
};

/// The most comparisons of indices that a device computes with each other. With more, a program is
/// faster if the host sorts them.
const MAX_COMPARISONS: u64 = 1 << 30;

fn combination(call: &DeviceCall<'_>, dtype: DType) -> Result<Combination, Diagnostic> {
    let combination = match text_or(call.attrs, "reduction", "none")? {
        "none" => return Ok(Combination::Replace),
        "add" => Combination::Add,
        "mul" => Combination::Multiply,
        "max" => Combination::Maximum,
        "min" => Combination::Minimum,
        other => return Err(unknown("reduction", other)),
    };
    match dtype {
        DType::I1 => Err(unsupported("onnx op that scatters", dtype)),
        dtype if is_complex(dtype) => Err(unsupported("onnx op that scatters", dtype)),
        _ => Ok(combination),
    }
}

fn scattered(call: &DeviceCall<'_>, to: Targets<'_>) -> Queued {
    let (data, updates) = (call.tensor(0)?, call.tensor(2)?);
    let combination = combination(call, data.dtype())?;
    Ok(combined_into(call, Some(data), updates, (to, data.shape().dims()), combination)?.into())
}

fn by_places(call: &DeviceCall<'_>, places: Vec<usize>, unit: usize) -> Queued {
    let to = Destinations::of_places(places, unit, call.tensor(0)?.shape().dims());
    scattered(call, Targets::Known(&to))
}

/// Returns room for the segments of `units` units of `unit` elements, unless a device would compare
/// them for too long.
fn room_for_ids(call: &DeviceCall<'_>, units: u64, unit: usize) -> DeviceOpResult<DeviceTensor> {
    let comparisons = units.checked_mul(units).and_then(|pairs| pairs.checked_mul(unit as u64));
    if comparisons.is_none_or(|comparisons| comparisons > MAX_COMPARISONS) {
        let dtype = call.tensor(0)?.dtype();
        return Err(unsupported(&format!("a scatter of {units} units by computed indices"), dtype).into());
    }
    call.allocate_as(&TensorMetadata::new(DType::I64, TensorShape::new(&[units as usize])?))
}

fn scatter_elements(call: &DeviceCall<'_>) -> Queued {
    let (data, updates) = (call.tensor(0)?, call.tensor(2)?);
    let axis = axis_of(int_or(call.attrs, "axis", 0)?, data.shape().rank(), "axis")?;
    let check = |indices: &TensorShape| {
        check_chosen(data.shape(), indices, axis)?;
        check_dims("updates", updates.shape().dims(), indices.dims())
    };
    let Some(DeviceArgument::Device(at)) = call.arguments.get(1) else {
        let indices: &HostTensor = call.host(1)?;
        check(indices.shape())?;
        return by_places(call, places(data.shape().dims(), indices, axis)?, 1);
    };
    check(at.shape())?;
    let (at, ids) = (indices(call, at)?, room_for_ids(call, count(at), 1)?);
    if count(&ids) > 0 {
        let gather = GatherElements::new(&extents(data), &extents(&at), axis)?;
        let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
        kernels.element_ids(stream, ids.buffer(), (at.buffer(), at.dtype()), &gather)?;
    }
    scattered(call, Targets::Computed { ids: &ids, unit: 1 })
}

fn scatter_nd(call: &DeviceCall<'_>) -> Queued {
    let (data, updates) = (call.tensor(0)?, call.tensor(2)?);
    let Some(DeviceArgument::Device(at)) = call.arguments.get(1) else {
        let (places, unit) = nd_places(data.shape(), call.host(1)?, updates.shape())?;
        return by_places(call, places, unit);
    };
    let (depth, unit) = nd_unit(data.shape(), at.shape(), updates.shape())?;
    let units = count(updates).checked_div(unit as u64).unwrap_or(0);
    let (at, ids) = (indices(call, at)?, room_for_ids(call, units, unit)?);
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    let of_data = extents(data);
    kernels.nd_ids(stream, ids.buffer(), (at.buffer(), at.dtype()), units, &of_data[..depth])?;
    scattered(call, Targets::Computed { ids: &ids, unit })
}

pub(super) fn register(ops: &mut OpRegistry) {
    let second = HostArguments::at(&[1]).or_planned_on_device();
    ops.extend("onnx.ScatterElements").device_with(scatter_elements, second);
    ops.extend("onnx.ScatterND").device_with(scatter_nd, second);
}
