//! Tensors of which some elements are replaced by others or combined with them. The host looks at
//! the indices first, as for the scatter ops of TensorFlow.

use tfrt_host::{DType, Diagnostic};
use tfrt_launch::Combination;

use super::super::Queued;
use crate::{
    DeviceCall, HostArguments, OpRegistry,
    ops::{
        device::{scatter::combined, unsupported},
        onnx::{
            arguments::{check_dims, int_or, text_or, unknown},
            elements::{check_chosen, places},
            scatter::nd_places,
        },
        scatter::Destinations,
        support::{axis_of, is_complex},
    },
};

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

fn scattered(call: &DeviceCall<'_>, places: Vec<usize>, unit: usize) -> Queued {
    let (data, updates) = (call.tensor(0)?, call.tensor(2)?);
    let combination = combination(call, data.dtype())?;
    let to = Destinations::of_places(places, unit, data.shape().dims());
    Ok(combined(call, Some(data), updates, &to, combination)?.into())
}

fn scatter_elements(call: &DeviceCall<'_>) -> Queued {
    let (data, indices, updates) = (call.tensor(0)?, call.host(1)?, call.tensor(2)?);
    let axis = axis_of(int_or(call.attrs, "axis", 0)?, data.shape().rank(), "axis")?;
    check_chosen(data.shape(), indices.shape(), axis)?;
    check_dims("updates", updates.shape().dims(), indices.shape().dims())?;
    scattered(call, places(data.shape().dims(), indices, axis)?, 1)
}

fn scatter_nd(call: &DeviceCall<'_>) -> Queued {
    let (data, updates) = (call.tensor(0)?, call.tensor(2)?);
    let (places, unit) = nd_places(data.shape(), call.host(1)?, updates.shape())?;
    scattered(call, places, unit)
}

pub(super) fn register(ops: &mut OpRegistry) {
    let second = HostArguments::at(&[1]);
    ops.extend("onnx.ScatterElements").device_with(scatter_elements, second);
    ops.extend("onnx.ScatterND").device_with(scatter_nd, second);
}
