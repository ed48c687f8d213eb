//! Convolution with a bias and an activation after it, in one call of the device's DNN library where it has such a call.

use tfrt_kernels::device::Unary;

use super::{
    Queued, count,
    network::{convolve, from_nhwc},
};
use crate::{
    DeviceCall, OpRegistry,
    ops::{
        activation::Activation,
        convolution::{Addition, FUSED, fusion},
        support::invalid,
    },
};

fn fused_conv2d(call: &DeviceCall<'_>) -> Queued {
    let name = FUSED.0;
    let (addition, activation) = fusion(call.attrs)?;
    if addition != Addition::Bias {
        return Err(invalid(format!("{name} does not support the fusion FusedBatchNorm on a device")).into());
    }
    let function = match activation {
        None | Some(Activation::Relu) => None,
        Some(Activation::Relu6) => Some(Unary::Relu6),
        Some(Activation::Sigmoid) => Some(Unary::Sigmoid),
        Some(Activation::Tanh) => Some(Unary::Tanh),
        Some(other) => {
            return Err(
                invalid(format!("{name} does not support the activation {other:?} on a device")).into()
            );
        }
    };
    let (operands, relu) = ([call.tensor(0)?, call.tensor(1)?], activation == Some(Activation::Relu));
    let y = convolve(call, name, operands, Some(call.tensor(2)?), relu)?;
    if let Some(function) = function {
        let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
        kernels.unary(stream, function, y.dtype(), y.buffer(), y.buffer(), count(&y)?)?;
    }
    Ok(from_nhwc(call, y)?.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.extend(FUSED.0).device(fused_conv2d);
}
