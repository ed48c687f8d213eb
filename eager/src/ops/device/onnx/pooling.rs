//! Pooling of planes in one to three dimensions, and of whole planes.

use tfrt_host::DType;
use tfrt_launch::{Binary, Reduction, Unary, VolumeAxis, VolumeWindow};
use tfrt_tensor::{TensorMetadata, TensorShape};

use super::{super::Queued, results, wide};
use crate::{
    DeviceCall, DeviceOpResult, DeviceTensor, OpRegistry,
    ops::{
        device::{
            arrays::reduced,
            check_floats, count,
            expression::{cast, constant, map, scalar, zip},
        },
        onnx::{
            arguments::{flag, int_or, pick, wanted},
            pool::{float_attr_or_int, window},
            window::Window,
        },
        support::product,
    },
};

/// Returns a window as kernels have it.
pub(super) fn of_kernels(window: &Window) -> VolumeWindow {
    VolumeWindow {
        axes: window.axes.map(|axis| VolumeAxis {
            input: axis.input as u64,
            output: axis.output as u64,
            kernel: axis.kernel as u64,
            stride: axis.stride as u64,
            dilation: axis.dilation as u64,
            padding: axis.pads,
        }),
    }
}

/// Returns the number of planes of a tensor [batch, channels, …].
fn planes(x: &DeviceTensor) -> u64 {
    product(x.shape().dims().get(..2).unwrap_or_default()) as u64
}

/// Returns the type whose maxima kernels find for a type, and the number that no elements have.
fn compared(dtype: DType) -> (DType, f64) {
    match dtype {
        DType::I8 => (DType::I32, f64::from(i8::MIN)),
        DType::UI8 => (DType::I32, 0.0),
        other => (other, f64::NEG_INFINITY),
    }
}

fn max_pool(call: &DeviceCall<'_>) -> Queued {
    let [x] = call.tensors()?;
    let windows = of_kernels(&window(call.attrs, x.shape())?);
    let wanted = wanted(call.attrs, [true, false])?;
    let (known, least) = compared(x.dtype());
    let shape = call.results.first().map(|result| result.shape.clone());
    let Some(shape) = shape else { return results([]) };
    let y = call.allocate_as(&TensorMetadata::new(known, shape.clone()))?;
    let places = match wanted[1] {
        true => Some(call.allocate_as(&TensorMetadata::new(DType::I64, shape))?),
        false => None,
    };
    let wide = cast(call, x, known, false)?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    let order = (least, int_or(call.attrs, "storage_order", 0)? == 1);
    let indices = places.as_ref().map(DeviceTensor::buffer);
    kernels.volume_max(stream, known, y.buffer(), indices, wide.buffer(), (planes(x), &windows), order)?;
    let y = cast(call, &y, x.dtype(), false)?;
    results(pick([Some(y), places], wanted).into_iter().flatten())
}

fn average_pool(call: &DeviceCall<'_>) -> Queued {
    let ([x], y) = (call.tensors()?, call.allocate(0)?);
    let windows = of_kernels(&window(call.attrs, x.shape())?);
    let counts_padding = flag(call.attrs, "count_include_pad", false)?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    let at = (planes(x), &windows);
    kernels.volume_average(stream, x.dtype(), y.buffer(), x.buffer(), at, counts_padding)?;
    Ok(y.into())
}

fn lp_pool(call: &DeviceCall<'_>) -> Queued {
    let ([x], y) = (call.tensors()?, call.allocate(0)?);
    let windows = of_kernels(&window(call.attrs, x.shape())?);
    let power = float_attr_or_int(call.attrs, "p", 2.0)?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.volume_norm(stream, x.dtype(), y.buffer(), x.buffer(), (planes(x), &windows), power)?;
    Ok(y.into())
}

/// Returns a number for each whole plane, computed by `f` from a matrix with a plane in each row.
fn by_plane(call: &DeviceCall<'_>, f: impl FnOnce(&DeviceTensor) -> DeviceOpResult<DeviceTensor>) -> Queued {
    let ([x], result) = (call.tensors()?, call.result(0)?);
    check_floats(x.dtype(), "onnx global pooling")?;
    let rows = result.shape.num_elements()?;
    let columns = product(&x.shape().dims()[2..]);
    Ok(f(&x.reshape(&TensorShape::new(&[rows, columns])?)?)?.reshape(&result.shape)?.into())
}

fn global_norm(call: &DeviceCall<'_>) -> Queued {
    let power = float_attr_or_int(call.attrs, "p", 2.0)?;
    by_plane(call, |x| {
        let wide = cast(call, x, wide(x.dtype()), false)?;
        let number = |value| scalar(call, wide.dtype(), value);
        let norm = if power == 2.0 {
            map(
                call,
                Unary::Sqrt,
                &reduced(call, Reduction::Sum, &map(call, Unary::Square, &wide)?, &[1], false)?,
            )?
        } else {
            let powers = zip(call, Binary::Pow, &map(call, Unary::Abs, &wide)?, &number(power)?)?;
            let sum = reduced(call, Reduction::Sum, &powers, &[1], false)?;
            zip(call, Binary::Pow, &sum, &number(1.0 / power)?)?
        };
        cast(call, &norm, x.dtype(), false)
    })
}

/// Returns the extremes of planes, of which those without elements have minus infinity.
fn global_max(call: &DeviceCall<'_>) -> Queued {
    by_plane(call, |x| match count(x) {
        0 => {
            let shape = TensorShape::new(&x.shape().dims()[..1])?;
            constant(call, &TensorMetadata::new(x.dtype(), shape), f64::NEG_INFINITY)
        }
        _ => reduced(call, Reduction::Maximum, x, &[1], false),
    })
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.extend("onnx.MaxPool").device(max_pool);
    ops.extend("onnx.AveragePool").device(average_pool);
    ops.extend("onnx.LpPool").device(lp_pool);
    ops.extend("onnx.GlobalAveragePool")
        .device(|call| by_plane(call, |x| reduced(call, Reduction::Mean, x, &[1], false)));
    ops.extend("onnx.GlobalMaxPool").device(global_max);
    ops.extend("onnx.GlobalLpPool").device(global_norm);
}
