//! `onnx.QuantizeLinear`, `onnx.DequantizeLinear` and `onnx.DynamicQuantizeLinear`.

use tfrt_host::{DType, Diagnostic};
use tfrt_launch::{Binary, Comparison, Reduction, ScaleBlocks, Scales, Unary};
use tfrt_tensor::{TensorMetadata, TensorShape};

use super::{super::Queued, device, device_if_given, inputs, results, saturated};
use crate::{
    DeviceCall, DeviceOpResult, DeviceTensor, OpRegistry,
    ops::{
        device::{
            arrays::reduced,
            count,
            expression::{cast, map, scalar, scaled, zip},
        },
        onnx::quantize::Blocks,
    },
};

/// Returns the assignment of scales to elements as kernels have it.
fn blocks(call: &DeviceCall<'_>, x: &DeviceTensor, scale: &DeviceTensor) -> Result<ScaleBlocks, Diagnostic> {
    let Blocks { extent, inner, count: scales, block, is_blocked } =
        Blocks::new(call.attrs, x.shape(), scale.shape())?;
    let outer = count(x).checked_div((extent * inner) as u64).unwrap_or(0);
    Ok(ScaleBlocks {
        inner: inner as u64,
        extent: extent as u64,
        block: block as u64,
        count: scales as u64,
        outer: is_blocked.then_some(outer),
    })
}

fn quantize(call: &DeviceCall<'_>) -> Queued {
    let [x, scale, zero] = inputs(call)?;
    let (x, scale) = (device(call, x, "x")?, device(call, scale, "y_scale")?);
    let (zero, y) = (device_if_given(call, zero)?, call.allocate(0)?);
    if count(&y) == 0 {
        return Ok(y.into());
    }
    let blocks = blocks(call, x, scale)?;
    let x = cast(call, x, scale.dtype(), false)?;
    let scales = Scales { scale: scale.buffer(), zero: zero.map(DeviceTensor::buffer), blocks };
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.quantize(stream, (y.dtype(), y.buffer()), (x.dtype(), x.buffer()), scales, count(&y))?;
    Ok(y.into())
}

fn dequantize(call: &DeviceCall<'_>) -> Queued {
    let [x, scale, zero] = inputs(call)?;
    let (x, scale) = (device(call, x, "x")?, device(call, scale, "x_scale")?);
    let (zero, y) = (device_if_given(call, zero)?, call.allocate(0)?);
    if count(&y) == 0 {
        return Ok(y.into());
    }
    let blocks = blocks(call, x, scale)?;
    let scale = cast(call, scale, DType::F32, false)?;
    let scales = Scales { scale: scale.buffer(), zero: zero.map(DeviceTensor::buffer), blocks };
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.dequantize(stream, (y.dtype(), y.buffer()), (x.dtype(), x.buffer()), scales, count(&y))?;
    Ok(y.into())
}

/// The number of steps between the least and the greatest number of eight bits.
const STEPS: f64 = 255.0;

/// Returns the scale, which is one step if all numbers are zero.
fn dynamic_scale(call: &DeviceCall<'_>, range: &DeviceTensor) -> DeviceOpResult<DeviceTensor> {
    let zero = scalar(call, DType::F32, 0.0)?;
    let is_zero = call.allocate_as(&TensorMetadata::new(DType::I1, TensorShape::scalar()))?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    let operands = [range.buffer(), zero.buffer()];
    kernels.compare(stream, Comparison::Equal, DType::F32, is_zero.buffer(), operands[0], operands[1], 1)?;
    let step = scaled(call, &cast(call, &is_zero, DType::F32, false)?, 1.0 / STEPS)?;
    let steps = zip(call, Binary::Div, range, &scalar(call, DType::F32, STEPS)?)?;
    zip(call, Binary::Add, &steps, &step)
}

fn dynamic(call: &DeviceCall<'_>) -> Queued {
    let ([x], y) = (call.tensors()?, call.allocate(0)?);
    let axes: Vec<usize> = (0..x.shape().rank()).collect();
    let zero = scalar(call, DType::F32, 0.0)?;
    let greatest = zip(call, Binary::Maximum, &reduced(call, Reduction::Maximum, x, &axes, false)?, &zero)?;
    let least = zip(call, Binary::Minimum, &reduced(call, Reduction::Minimum, x, &axes, false)?, &zero)?;
    let scale = dynamic_scale(call, &zip(call, Binary::Sub, &greatest, &least)?)?;
    let point = zip(call, Binary::Sub, &zero, &zip(call, Binary::Div, &least, &scale)?)?;
    let point = map(call, Unary::Round, &saturated(call, &point, DType::UI8)?)?;
    let point = cast(call, &point, DType::UI8, false)?;
    let blocks = ScaleBlocks { inner: 1, extent: 1, block: 1, count: 1, outer: None };
    let scales = Scales { scale: scale.buffer(), zero: Some(point.buffer()), blocks };
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.quantize(stream, (y.dtype(), y.buffer()), (x.dtype(), x.buffer()), scales, count(&y))?;
    results([y, scale, point])
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.extend("onnx.QuantizeLinear").device(quantize);
    ops.extend("onnx.DequantizeLinear").device(dequantize);
    ops.extend("onnx.DynamicQuantizeLinear").device(dynamic);
}
