//! Batch normalization.

use tfrt_device::front::{Context, DeviceBuffer, DnnHandle};
use tfrt_device::hal::{BatchNormMode, Scaling};
use tfrt_host::{Arg, Chain, Diagnostic, ExecutionContext, KernelRegistry};

use crate::dnn::{TensorDescriptor, tensor, unknown};
use crate::from_library;

fn mode(number: u32) -> Result<BatchNormMode, Diagnostic> {
    match number {
        0 => Ok(BatchNormMode::PerActivation),
        1 => Ok(BatchNormMode::Spatial),
        _ => Err(unknown("batch normalization mode", number)),
    }
}

#[expect(clippy::too_many_arguments, reason = "each is a value of the program")]
fn inference(
    context: Arg<Context>,
    handle: Arg<DnnHandle>,
    number: u32,
    x_descriptor: Arg<TensorDescriptor>,
    x: Arg<DeviceBuffer>,
    y_descriptor: Arg<TensorDescriptor>,
    y: Arg<DeviceBuffer>,
    parameters: Arg<TensorDescriptor>,
    scale: Arg<DeviceBuffer>,
    bias: Arg<DeviceBuffer>,
    mean: Arg<DeviceBuffer>,
    variance: Arg<DeviceBuffer>,
    epsilon: f64,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    let (x, y) = (tensor(&x_descriptor, &x)?, tensor(&y_descriptor, &y)?);
    let (mode, layout) = (mode(number)?, parameters.get()?);
    let statistics: [&DeviceBuffer; 4] = [&scale, &bias, &mean, &variance];
    from_library(cx, &context, &handle, || {
        handle.batch_norm_inference(mode, Scaling::ONE, x, y, layout, statistics, epsilon)
    })?;
    Ok(Chain)
}

#[expect(clippy::too_many_arguments, reason = "each is a value of the program")]
fn training(
    context: Arg<Context>,
    handle: Arg<DnnHandle>,
    number: u32,
    x_descriptor: Arg<TensorDescriptor>,
    x: Arg<DeviceBuffer>,
    y_descriptor: Arg<TensorDescriptor>,
    y: Arg<DeviceBuffer>,
    parameters: Arg<TensorDescriptor>,
    scale: Arg<DeviceBuffer>,
    bias: Arg<DeviceBuffer>,
    factor: f64,
    running_mean: Arg<DeviceBuffer>,
    running_variance: Arg<DeviceBuffer>,
    epsilon: f64,
    saved_mean: Arg<DeviceBuffer>,
    saved_inverse: Arg<DeviceBuffer>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    let (x, y) = (tensor(&x_descriptor, &x)?, tensor(&y_descriptor, &y)?);
    let (mode, layout) = (mode(number)?, parameters.get()?);
    let running: ([&DeviceBuffer; 2], f64) = ([&running_mean, &running_variance], factor);
    let saved: [&DeviceBuffer; 2] = [&saved_mean, &saved_inverse];
    from_library(cx, &context, &handle, || {
        let parameters = [&*scale, &*bias];
        handle.batch_norm_training(
            mode,
            Scaling::ONE,
            x,
            y,
            layout,
            parameters,
            Some(running),
            Some(saved),
            epsilon,
        )
    })?;
    Ok(Chain)
}

#[expect(clippy::too_many_arguments, reason = "each is a value of the program")]
fn backward(
    context: Arg<Context>,
    handle: Arg<DnnHandle>,
    number: u32,
    x_descriptor: Arg<TensorDescriptor>,
    x: Arg<DeviceBuffer>,
    dy_descriptor: Arg<TensorDescriptor>,
    dy: Arg<DeviceBuffer>,
    dx_descriptor: Arg<TensorDescriptor>,
    dx: Arg<DeviceBuffer>,
    parameters: Arg<TensorDescriptor>,
    scale: Arg<DeviceBuffer>,
    scale_gradient: Arg<DeviceBuffer>,
    bias_gradient: Arg<DeviceBuffer>,
    epsilon: f64,
    saved_mean: Arg<DeviceBuffer>,
    saved_inverse: Arg<DeviceBuffer>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    let tensors = [tensor(&x_descriptor, &x)?, tensor(&dy_descriptor, &dy)?, tensor(&dx_descriptor, &dx)?];
    let (mode, layout) = (mode(number)?, parameters.get()?);
    let gradients: [&DeviceBuffer; 2] = [&scale_gradient, &bias_gradient];
    let saved: [&DeviceBuffer; 2] = [&saved_mean, &saved_inverse];
    from_library(cx, &context, &handle, || {
        let scaling = [Scaling::ONE; 2];
        handle.batch_norm_backward(mode, scaling, tensors, layout, &scale, gradients, Some(saved), epsilon)
    })?;
    Ok(Chain)
}

pub(crate) fn register(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_cuda.dnn.batch_normalization_forward_inference", inference)
        .side_effecting()
        .mutates(&[6])
        .doc("Batch normalization with known statistics: mode (0 each element, 1 each channel), x, y, parameters, epsilon.");
    registry
        .add("tfrt_cuda.dnn.batch_normalization_forward_training", training)
        .side_effecting()
        .mutates(&[6, 11, 12, 14, 15])
        .doc("Batch normalization with the batch's statistics, which move the running ones and are saved for the gradient.");
    registry
        .add("tfrt_cuda.dnn.batch_normalization_backward", backward)
        .side_effecting()
        .mutates(&[8, 11, 12])
        .doc(
            "The gradient of batch normalization in training: to dx, and to the gradients of scale and bias.",
        );
}
