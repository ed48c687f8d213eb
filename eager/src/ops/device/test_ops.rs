//! Device implementations of the ops in `test_ops`, and further ops for tests on devices.

use smallvec::{SmallVec, smallvec};
use tfrt_host::{AsyncValue, Chain, DType, Diagnostic, Promise, work_queue::Task};
use tfrt_launch::Binary;
use tfrt_tensor::{
    Accessor, DenseHostTensor, Element, HostTensor, TensorMetadata, TensorShape, with_element,
};

use super::Queued;
use super::elementwise::binary;
use crate::ops::support::{Described, same, unsupported};
use crate::ops::test_ops::fill_from_values;
use crate::{DeviceArgument, DeviceCall, DeviceOpResult, DeviceTensor, MetadataCall, OpRegistry, OpResult};

static ME: Accessor = Accessor::new("tfrt_test op");

/// The greatest number of elements that are printed.
const MAX_PRINTED: usize = 32;

/// Returns a result that is available once everything queued before is done, to make the progress
/// of a device visible.
fn synchronize(call: &DeviceCall<'_>) -> Queued {
    let tensor = call.tensors::<1>()?[0].clone();
    let (promise, value) = Promise::new();
    let (caller, work) = (call.cx.clone(), call.cx.host().external_work());
    call.queue.stream().when_done(move |outcome| {
        let host = caller.host().clone();
        host.add_task(Task::new(move || {
            caller.settle(promise, outcome.map(|()| tensor).map_err(Diagnostic::from));
        }));
        drop(work);
    })?;
    Ok(OpResult { tensors: smallvec![value.into_untyped()], done: None })
}

pub(in crate::ops) fn create_dense(call: &DeviceCall<'_>) -> Queued {
    let mut tensor = DenseHostTensor::allocate(call.result(0)?.clone(), call.cx.host().allocator())?;
    fill_from_values(&mut tensor, call.attrs)?;
    Ok(call.upload(&tensor.into())?.into())
}

fn to_host(call: &DeviceCall<'_>) -> Queued {
    let [tensor] = call.tensors()?;
    Ok(OpResult { tensors: smallvec![tensor.to_host(call.cx)?.into_untyped()], done: None })
}

fn to_device(call: &DeviceCall<'_>) -> Queued {
    Ok(call.tensors::<1>()?[0].clone().into())
}

pub(in crate::ops) fn add(call: &DeviceCall<'_>) -> Queued {
    binary(call, Binary::Add)
}

/// Returns the last of one or two tensors.
fn last_of_one_or_two(call: &DeviceCall<'_>) -> Queued {
    match call.arguments {
        [DeviceArgument::Device(tensor)] | [_, DeviceArgument::Device(tensor)] => {
            Ok(DeviceTensor::clone(tensor).into())
        }
        _ => Err(Diagnostic::invalid_argument("the op takes one or two arguments").into()),
    }
}

/// Returns the second of several tensors, or the only one.
fn second_of_many(call: &DeviceCall<'_>) -> Queued {
    Ok(call.tensor(usize::from(call.arguments.len() > 1))?.clone().into())
}

fn two_scalars(call: MetadataCall<'_>) -> Described {
    call.take::<0>()?;
    let scalar = TensorMetadata::new(DType::F32, TensorShape::scalar());
    Ok(smallvec![scalar.clone(), scalar])
}

fn two_results(call: &DeviceCall<'_>) -> Queued {
    let tensors: SmallVec<[DeviceTensor; 2]> =
        (0..2).map(|index| call.allocate(index)).collect::<DeviceOpResult<_>>()?;
    Ok(OpResult { tensors: tensors.into_iter().map(AsyncValue::new).collect(), done: None })
}

fn two_results_with_error(_: &DeviceCall<'_>) -> Queued {
    // Existing programs expect this text.
    Err(Diagnostic::from("error from ReturnMultipleResultsWithError op").into())
}

/// Prints tensors: those in host memory with all digits, and for others their location.
pub(in crate::ops) fn print(call: &DeviceCall<'_>) -> Queued {
    for argument in call.arguments {
        let text = match argument {
            DeviceArgument::Device(tensor) => tensor.dense().to_string(),
            DeviceArgument::Host(HostTensor::Dense(tensor)) => precise(tensor)?,
            DeviceArgument::Host(tensor) => tensor.print(&ME)?,
        };
        call.cx.host().print(format_args!("{text}\n"));
    }
    Ok(Chain.into())
}

/// Formats a tensor, its elements with as many digits as distinguish them from others.
fn precise(tensor: &DenseHostTensor) -> Result<String, Diagnostic> {
    let (dtype, shape) = (tensor.dtype(), tensor.shape());
    let elements = match dtype {
        DType::F32 => texts::<f32>(tensor, |value| general(value.into(), 9))?,
        DType::F64 => texts::<f64>(tensor, |value| general(value, 17))?,
        _ => with_element!(
            dtype,
            |T| texts::<T>(tensor, |value| {
                let mut text = String::new();
                // Writing to a string does not fail.
                let _ = value.print(&mut text);
                text
            })?,
            else return Err(unsupported("tfrt_test.print", dtype))
        ),
    };
    let more = if tensor.num_elements() > MAX_PRINTED { ", ... " } else { "" };
    Ok(format!(
        "DenseHostTensor dtype = {dtype:?}, shape = {shape}, values = [{}{more}]",
        elements.join(", ")
    ))
}

fn texts<T: Element>(
    tensor: &DenseHostTensor,
    text: impl Fn(T) -> String,
) -> Result<Vec<String>, Diagnostic> {
    Ok(tensor.read::<T>(&ME)?.iter().take(MAX_PRINTED).map(|&value| text(value)).collect())
}

/// Formats a number like C's `%g` with this many digits.
fn general(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return if value.is_nan() {
            "nan"
        } else if value < 0.0 {
            "-inf"
        } else {
            "inf"
        }
        .to_owned();
    }
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trimmed(mantissa), exponent.unsigned_abs());
    }
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    trimmed(&format!("{value:.decimals$}"))
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tfrt_test.synchronize").metadata(same).device(synchronize);
    ops.add("tfrt_test.gpu_tensor_to_host_tensor").metadata(same).device(to_host).results_on_host();
    ops.add("tfrt_test.dht_to_gpu_tensor").metadata(same).device(to_device);
    ops.add("tfrt_test.test_optional_arg").device(last_of_one_or_two);
    ops.add("tfrt_test.test_variadic_arg").device(second_of_many);
    ops.add("tfrt_test.return_multiple_results").metadata(two_scalars).device(two_results);
    ops.add("tfrt_test.return_multiple_results_with_error")
        .metadata(two_scalars)
        .device(two_results_with_error);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_print_as_the_c_library_does() {
        let cases = [
            (1.2f32.into(), 9, "1.20000005"),
            (0.0, 9, "0"),
            (-0.5, 9, "-0.5"),
            (100.0, 9, "100"),
            (3.402_823_466_385_288_6e38, 9, "3.40282347e+38"),
            (1e9, 9, "1e+09"),
            (123_456_789.0, 9, "123456789"),
            (0.0001, 17, "0.0001"),
            (4.656_612_873_077_393e-10, 17, "4.6566128730773926e-10"),
            (f64::NEG_INFINITY, 9, "-inf"),
            (f64::NAN, 9, "nan"),
        ];
        for (value, digits, text) in cases {
            assert_eq!(general(value, digits), text);
        }
    }
}
