//! Convolution with what follows it: a bias or a normalization, and an activation, in one call of
//! the device's DNN library where it has such a call.

use tfrt_host::DType;
use tfrt_launch::{Activation as Stored, Unary};
use tfrt_tensor::TensorShape;

use super::{
    Queued, count,
    expression::cast,
    fused_elementwise::finish,
    network::{Epilogue, convolve, from_nhwc, normalized, to_nhwc},
};
use crate::{
    DeviceCall, DeviceOpResult, DeviceTensor, OpRegistry,
    ops::{
        activation::Activation,
        convolution::{Addition, FUSED, fusion},
        prepared_convolution::{self, PREPARED},
    },
};

/// Queues `x = activation(x)`.
pub(super) fn activate(
    call: &DeviceCall<'_>,
    activation: Activation,
    x: &DeviceTensor,
) -> DeviceOpResult<()> {
    let (kernels, stream, n) = (call.queue.kernels(), call.queue.stream(), count(x));
    let function = match activation {
        Activation::Relu => Unary::Relu,
        Activation::Relu6 => Unary::Relu6,
        Activation::Elu => Unary::Elu,
        Activation::Sigmoid => Unary::Sigmoid,
        Activation::Tanh => Unary::Tanh,
        Activation::Gelu { approximate: false } => Unary::Gelu,
        Activation::Gelu { approximate: true } => Unary::GeluTanh,
        Activation::LeakyRelu { alpha } => {
            return Ok(kernels.leaky_relu(stream, x.dtype(), x.buffer(), x.buffer(), n, alpha)?);
        }
    };
    Ok(kernels.unary(stream, function, x.dtype(), x.buffer(), x.buffer(), n)?)
}

/// The convolution, normalized with scale, offset, mean and variance, which are arguments 2 to 5.
fn normalized_convolution(call: &DeviceCall<'_>, relu: bool) -> DeviceOpResult<DeviceTensor> {
    let y = convolve(call, FUSED, [call.tensor(0)?, call.tensor(1)?], Epilogue::default())?;
    let vector = |at| {
        let vector = call.tensor(at)?;
        let channels = TensorShape::new(&[vector.shape().num_elements()?])?;
        cast(call, &vector.reshape(&channels)?, DType::F32, false)
    };
    let (scale, offset, mean, variance) = (vector(2)?, vector(3)?, vector(4)?, vector(5)?);
    let stored = if relu { Stored::Relu } else { Stored::Identity };
    normalized(call, &y, [&mean, &variance, &scale, &offset], None, stored)
}

fn fused_conv2d(call: &DeviceCall<'_>) -> Queued {
    let (addition, activation) = fusion(call.attrs)?;
    let relu = activation == Some(Activation::Relu);
    let y = match addition {
        Addition::Bias => {
            let operands = [call.tensor(0)?, call.tensor(1)?];
            convolve(call, FUSED, operands, Epilogue { bias: Some(call.tensor(2)?), residual: None, relu })?
        }
        Addition::Normalization => normalized_convolution(call, relu)?,
    };
    if let Some(activation) = activation.filter(|_| !relu) {
        activate(call, activation, &y)?;
    }
    Ok(from_nhwc(call, y)?.into())
}

/// As [`fused_conv2d`], with a residual before the activation.
fn prepared_conv2d(call: &DeviceCall<'_>) -> Queued {
    let activation = prepared_convolution::activation(call.attrs)?;
    let residual = if call.arguments.len() > 3 { Some(to_nhwc(call, call.tensor(3)?)?) } else { None };
    let relu = activation == Some(Activation::Relu);
    let operands = [call.tensor(0)?, call.tensor(1)?];
    let epilogue = Epilogue { bias: Some(call.tensor(2)?), residual: residual.as_ref(), relu };
    let y = convolve(call, PREPARED, operands, epilogue)?;
    if let Some(activation) = activation.filter(|_| !relu) {
        activate(call, activation, &y)?;
    }
    let y = match prepared_convolution::steps(call.attrs)? {
        Some(program) => finish(call, &program, y)?,
        None => y,
    };
    Ok(from_nhwc(call, y)?.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.extend(FUSED.0).device(fused_conv2d);
    ops.extend(PREPARED.0).device(prepared_conv2d);
}
