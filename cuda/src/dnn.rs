//! The DNN library: handles, descriptors, pooling, softmax, activations.
//!
//! Descriptors are made from host tensors of type i32, and numbers that stand for modes are those
//! of the reference.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tfrt_device::error::{DeviceError, Status};
use tfrt_device::front::{Context, DeviceBuffer, DnnHandle, DnnTensor, Stream};
use tfrt_device::hal::{
    Activation, ActivationMode, NanPropagation, Pooling, PoolingMode, Scaling, SoftmaxMode, TensorLayout,
};
use tfrt_host::{Arg, Chain, DType, Diagnostic, ErrorCode, ExecutionContext, KernelRegistry, value_type};
use tfrt_tensor::{Accessor, DenseHostTensor};

use crate::{from, from_library};

/// A descriptor, until it is destroyed.
#[derive(Clone, Debug)]
pub(crate) struct Descriptor<T>(Arc<(T, AtomicBool)>);

impl<T> Descriptor<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Arc::new((value, AtomicBool::new(false))))
    }

    /// What it describes.
    pub(crate) fn get(&self) -> Result<&T, DeviceError> {
        if self.0.1.load(Ordering::Acquire) {
            return Err(DeviceError::new(Status::InvalidHandle, "the descriptor was destroyed"));
        }
        Ok(&self.0.0)
    }

    pub(crate) fn destroy(&self) -> Result<(), DeviceError> {
        if self.0.1.swap(true, Ordering::AcqRel) {
            return Err(DeviceError::new(Status::InvalidHandle, "the descriptor was destroyed already"));
        }
        Ok(())
    }
}

pub(crate) type TensorDescriptor = Descriptor<TensorLayout>;
pub(crate) type PoolingDescriptor = Descriptor<Pooling>;
pub(crate) type ActivationDescriptor = Descriptor<Activation>;

value_type!(TensorDescriptor, "!tfrt_cuda.dnn_tensor_descriptor");
value_type!(PoolingDescriptor, "!tfrt_cuda.dnn_pooling_descriptor");
value_type!(ActivationDescriptor, "!tfrt_cuda.dnn_activation_descriptor");

static DESCRIPTOR: Accessor = Accessor::new("tfrt_cuda.dnn descriptor");

/// The elements of a one-dimensional i32 tensor, none of them negative.
pub(crate) fn extents(kernel: &str, what: &str, tensor: &DenseHostTensor) -> Result<Vec<u64>, Diagnostic> {
    let invalid = |problem: &str| Diagnostic::invalid_argument(format!("{kernel}: {what} {problem}."));
    if tensor.dtype() != DType::I32 {
        return Err(invalid("is not an I32 tensor"));
    }
    if tensor.shape().rank() != 1 {
        return Err(invalid("is not a 1D tensor"));
    }
    let elements = tensor.read::<i32>(&DESCRIPTOR)?;
    elements
        .iter()
        .map(|&e| u64::try_from(e).map_err(|_| invalid(&format!("has a negative element, {e}"))))
        .collect()
}

/// A mode's number that means nothing.
pub(crate) fn unknown(what: &str, number: u32) -> Diagnostic {
    Diagnostic::invalid_argument(format!("{what} {number} is not one of those that exist"))
}

fn pooling_mode(number: u32) -> Result<PoolingMode, Diagnostic> {
    match number {
        0 => Ok(PoolingMode::Max),
        1 => Ok(PoolingMode::AverageIncludePadding),
        2 => Ok(PoolingMode::AverageExcludePadding),
        3 => Ok(PoolingMode::MaxDeterministic),
        _ => Err(unknown("pooling mode", number)),
    }
}

fn nan_propagation(number: u32) -> Result<NanPropagation, Diagnostic> {
    match number {
        0 => Ok(NanPropagation::NotPropagate),
        1 => Ok(NanPropagation::Propagate),
        _ => Err(unknown("NaN propagation", number)),
    }
}

/// The reference's numbers of data types, and behind them bfloat16.
pub(crate) fn data_type(number: u32) -> Result<DType, Diagnostic> {
    match number {
        0 => Ok(DType::F32),
        1 => Ok(DType::F64),
        2 => Ok(DType::F16),
        3 => Ok(DType::I8),
        4 => Ok(DType::I32),
        6 => Ok(DType::UI8),
        9 => Ok(DType::BF16),
        5 | 7 | 8 => Err(Diagnostic::new(
            ErrorCode::FailedPrecondition,
            format!("CUDNN_STATUS_NOT_SUPPORTED: vectors of channels (data type {number})"),
        )),
        _ => Err(unknown("data type", number)),
    }
}

fn activation_mode(number: u32) -> Result<ActivationMode, Diagnostic> {
    match number {
        0 => Ok(ActivationMode::Sigmoid),
        1 => Ok(ActivationMode::Relu),
        2 => Ok(ActivationMode::Tanh),
        3 => Ok(ActivationMode::ClippedRelu),
        4 => Ok(ActivationMode::Elu),
        5 => Ok(ActivationMode::Identity),
        _ => Err(unknown("activation mode", number)),
    }
}

pub(crate) fn scaling(alpha: f32, beta: f32) -> Scaling {
    Scaling { alpha: alpha.into(), beta: beta.into() }
}

/// A tensor from its descriptor and buffer.
pub(crate) fn tensor<'a>(
    descriptor: &'a TensorDescriptor,
    buffer: &'a DeviceBuffer,
) -> Result<DnnTensor<'a>, DeviceError> {
    Ok(DnnTensor::new(descriptor.get()?, buffer))
}

fn create(
    context: Arg<Context>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Result<(DnnHandle, Chain), Diagnostic> {
    Ok((from(cx, &context, || context.create_dnn())?, Chain))
}

fn destroy(handle: Arg<DnnHandle>, _chain: Chain) -> Result<Chain, Diagnostic> {
    handle.destroy()?;
    Ok(Chain)
}

fn set_stream(handle: Arg<DnnHandle>, stream: Arg<Stream>, _chain: Chain) -> Result<Chain, Diagnostic> {
    handle.set_stream(&stream)?;
    Ok(Chain)
}

fn get_stream(handle: Arg<DnnHandle>, _chain: Chain) -> Result<(Stream, Chain), Diagnostic> {
    Ok((handle.stream()?, Chain))
}

fn create_pooling(
    _context: Arg<Context>,
    mode: u32,
    nan: u32,
    window: Arg<DenseHostTensor>,
    padding: Arg<DenseHostTensor>,
    strides: Arg<DenseHostTensor>,
    _chain: Chain,
) -> Result<(PoolingDescriptor, Chain), Diagnostic> {
    let kernel = "DnnCreatePoolingDescriptor";
    let pooling = Pooling {
        mode: pooling_mode(mode)?,
        nan: nan_propagation(nan)?,
        window: extents(kernel, "window_dimensions", &window)?,
        padding: extents(kernel, "paddings", &padding)?,
        strides: extents(kernel, "strides", &strides)?,
    };
    if pooling.window.len() != pooling.padding.len() || pooling.window.len() != pooling.strides.len() {
        return Err(Diagnostic::invalid_argument(format!(
            "{kernel}: window_dimensions, paddings and strides have {}, {} and {} elements.",
            pooling.window.len(),
            pooling.padding.len(),
            pooling.strides.len()
        )));
    }
    Ok((Descriptor::new(pooling), Chain))
}

fn destroy_pooling(descriptor: Arg<PoolingDescriptor>, _chain: Chain) -> Result<Chain, Diagnostic> {
    descriptor.destroy()?;
    Ok(Chain)
}

fn create_tensor(
    _context: Arg<Context>,
    dtype: u32,
    dims: Arg<DenseHostTensor>,
    strides: Arg<DenseHostTensor>,
    _chain: Chain,
) -> Result<(TensorDescriptor, Chain), Diagnostic> {
    let kernel = "DnnCreateTensorDescriptor";
    let layout = TensorLayout {
        dtype: data_type(dtype)?,
        dims: extents(kernel, "dimensions", &dims)?,
        strides: extents(kernel, "strides", &strides)?,
    };
    if layout.dims.len() != layout.strides.len() {
        return Err(Diagnostic::invalid_argument(format!(
            "{kernel}: dimensions and strides have {} and {} elements.",
            layout.dims.len(),
            layout.strides.len()
        )));
    }
    if layout.dims.contains(&0) || layout.strides.iter().zip(&layout.dims).any(|(&s, &d)| s == 0 && d > 1) {
        return Err(Diagnostic::invalid_argument(format!("{kernel}: dimensions and strides must not be 0.")));
    }
    Ok((Descriptor::new(layout), Chain))
}

fn destroy_tensor(descriptor: Arg<TensorDescriptor>, _chain: Chain) -> Result<Chain, Diagnostic> {
    descriptor.destroy()?;
    Ok(Chain)
}

fn create_activation(
    _context: Arg<Context>,
    mode: u32,
    nan: u32,
    coefficient: f64,
    _chain: Chain,
) -> Result<(ActivationDescriptor, Chain), Diagnostic> {
    let activation = Activation { mode: activation_mode(mode)?, coefficient, nan: nan_propagation(nan)? };
    Ok((Descriptor::new(activation), Chain))
}

#[expect(clippy::too_many_arguments, reason = "each is a value of the program")]
fn pooling_forward(
    context: Arg<Context>,
    handle: Arg<DnnHandle>,
    pooling: Arg<PoolingDescriptor>,
    alpha: f32,
    x_descriptor: Arg<TensorDescriptor>,
    x: Arg<DeviceBuffer>,
    beta: f32,
    y_descriptor: Arg<TensorDescriptor>,
    y: Arg<DeviceBuffer>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    let (x, y) = (tensor(&x_descriptor, &x)?, tensor(&y_descriptor, &y)?);
    let pooling = pooling.get()?;
    from_library(cx, &context, &handle, || handle.pooling_forward(pooling, scaling(alpha, beta), x, y))?;
    Ok(Chain)
}

#[expect(clippy::too_many_arguments, reason = "each is a value of the program")]
fn pooling_backward(
    context: Arg<Context>,
    handle: Arg<DnnHandle>,
    pooling: Arg<PoolingDescriptor>,
    alpha: f32,
    y_descriptor: Arg<TensorDescriptor>,
    y: Arg<DeviceBuffer>,
    dy_descriptor: Arg<TensorDescriptor>,
    dy: Arg<DeviceBuffer>,
    x_descriptor: Arg<TensorDescriptor>,
    x: Arg<DeviceBuffer>,
    beta: f32,
    dx_descriptor: Arg<TensorDescriptor>,
    dx: Arg<DeviceBuffer>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    let tensors = [
        tensor(&y_descriptor, &y)?,
        tensor(&dy_descriptor, &dy)?,
        tensor(&x_descriptor, &x)?,
        tensor(&dx_descriptor, &dx)?,
    ];
    let pooling = pooling.get()?;
    from_library(cx, &context, &handle, || handle.pooling_backward(pooling, scaling(alpha, beta), tensors))?;
    Ok(Chain)
}

/// Numbers of cuDNN's: algorithm 0 fast, 1 accurate, 2 logarithm; mode 0 the whole image, 1 each
/// pixel.
fn softmax_mode(algorithm: u32, mode: u32) -> Result<SoftmaxMode, Diagnostic> {
    if algorithm > 2 {
        return Err(unknown("softmax algorithm", algorithm));
    }
    if mode > 1 {
        return Err(unknown("softmax mode", mode));
    }
    Ok(SoftmaxMode { per_pixel: mode == 1, log: algorithm == 2, fast: algorithm == 0 })
}

#[expect(clippy::too_many_arguments, reason = "each is a value of the program")]
fn softmax_forward(
    context: Arg<Context>,
    handle: Arg<DnnHandle>,
    algorithm: u32,
    mode: u32,
    alpha: f32,
    x_descriptor: Arg<TensorDescriptor>,
    x: Arg<DeviceBuffer>,
    beta: f32,
    y_descriptor: Arg<TensorDescriptor>,
    y: Arg<DeviceBuffer>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    let (x, y) = (tensor(&x_descriptor, &x)?, tensor(&y_descriptor, &y)?);
    let mode = softmax_mode(algorithm, mode)?;
    from_library(cx, &context, &handle, || handle.softmax_forward(mode, scaling(alpha, beta), x, y))?;
    Ok(Chain)
}

#[expect(clippy::too_many_arguments, reason = "each is a value of the program")]
fn softmax_backward(
    context: Arg<Context>,
    handle: Arg<DnnHandle>,
    algorithm: u32,
    mode: u32,
    alpha: f32,
    y_descriptor: Arg<TensorDescriptor>,
    y: Arg<DeviceBuffer>,
    dy_descriptor: Arg<TensorDescriptor>,
    dy: Arg<DeviceBuffer>,
    beta: f32,
    dx_descriptor: Arg<TensorDescriptor>,
    dx: Arg<DeviceBuffer>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    let tensors = [tensor(&y_descriptor, &y)?, tensor(&dy_descriptor, &dy)?, tensor(&dx_descriptor, &dx)?];
    let mode = softmax_mode(algorithm, mode)?;
    from_library(cx, &context, &handle, || handle.softmax_backward(mode, scaling(alpha, beta), tensors))?;
    Ok(Chain)
}

#[expect(clippy::too_many_arguments, reason = "each is a value of the program")]
fn activation_forward(
    context: Arg<Context>,
    handle: Arg<DnnHandle>,
    activation: Arg<ActivationDescriptor>,
    alpha: f32,
    x_descriptor: Arg<TensorDescriptor>,
    x: Arg<DeviceBuffer>,
    beta: f32,
    y_descriptor: Arg<TensorDescriptor>,
    y: Arg<DeviceBuffer>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    let (x, y) = (tensor(&x_descriptor, &x)?, tensor(&y_descriptor, &y)?);
    let activation = *activation.get()?;
    from_library(cx, &context, &handle, || {
        handle.activation_forward(activation, scaling(alpha, beta), x, y)
    })?;
    Ok(Chain)
}

#[expect(clippy::too_many_arguments, reason = "each is a value of the program")]
fn activation_backward(
    context: Arg<Context>,
    handle: Arg<DnnHandle>,
    activation: Arg<ActivationDescriptor>,
    alpha: f32,
    y_descriptor: Arg<TensorDescriptor>,
    y: Arg<DeviceBuffer>,
    dy_descriptor: Arg<TensorDescriptor>,
    dy: Arg<DeviceBuffer>,
    x_descriptor: Arg<TensorDescriptor>,
    x: Arg<DeviceBuffer>,
    beta: f32,
    dx_descriptor: Arg<TensorDescriptor>,
    dx: Arg<DeviceBuffer>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    let tensors = [
        tensor(&y_descriptor, &y)?,
        tensor(&dy_descriptor, &dy)?,
        tensor(&x_descriptor, &x)?,
        tensor(&dx_descriptor, &dx)?,
    ];
    let activation = *activation.get()?;
    from_library(cx, &context, &handle, || {
        handle.activation_backward(activation, scaling(alpha, beta), tensors)
    })?;
    Ok(Chain)
}

#[expect(clippy::too_many_arguments, reason = "each is a value of the program")]
fn add_tensor(
    context: Arg<Context>,
    handle: Arg<DnnHandle>,
    alpha: f32,
    a_descriptor: Arg<TensorDescriptor>,
    a: Arg<DeviceBuffer>,
    beta: f32,
    c_descriptor: Arg<TensorDescriptor>,
    c: Arg<DeviceBuffer>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    let (a, c) = (tensor(&a_descriptor, &a)?, tensor(&c_descriptor, &c)?);
    from_library(cx, &context, &handle, || handle.add_tensor(scaling(alpha, beta), a, c))?;
    Ok(Chain)
}

fn register_handles(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_cuda.dnn.create", create)
        .side_effecting()
        .blocking()
        .doc("Starts the DNN library for a context.");
    registry.add("tfrt_cuda.dnn.destroy", destroy).side_effecting().doc("Ends the DNN library's use.");
    registry
        .add("tfrt_cuda.dnn.set_stream", set_stream)
        .side_effecting()
        .doc("Sets the stream that DNN calls are queued on from now on.");
    registry
        .add("tfrt_cuda.dnn.get_stream", get_stream)
        .side_effecting()
        .doc("The stream that DNN calls are queued on.");
    registry
        .add("tfrt_cuda.dnn.create_pooling_descriptor", create_pooling)
        .side_effecting()
        .doc(
            "How windows are pooled: mode (0 maximum, 1 mean with padding, 2 mean without, 3 maximum, first of equals), \
             whether NaNs propagate, windows, padding, strides.",
        );
    registry
        .add("tfrt_cuda.dnn.destroy_pooling_descriptor", destroy_pooling)
        .side_effecting()
        .doc("Destroys a pooling descriptor.");
    registry
        .add("tfrt_cuda.dnn.create_tensor_descriptor", create_tensor)
        .side_effecting()
        .doc("How a tensor lies: type (0 f32, 1 f64, 2 f16, 3 i8, 4 i32, 6 ui8, 9 bf16), extents (N, C, …), strides.");
    registry
        .add("tfrt_cuda.dnn.destroy_tensor_descriptor", destroy_tensor)
        .side_effecting()
        .doc("Destroys a tensor descriptor.");
    registry
        .add("tfrt_cuda.dnn.create_activation_descriptor", create_activation)
        .side_effecting()
        .doc(
            "A function of one element: mode (0 sigmoid, 1 ReLU, 2 tanh, 3 clipped ReLU, 4 ELU, 5 identity), whether NaNs \
             propagate, coefficient.",
        );
}

pub(crate) fn register(registry: &mut KernelRegistry) {
    register_handles(registry);
    registry
        .add("tfrt_cuda.dnn.pooling_forward", pooling_forward)
        .side_effecting()
        .mutates(&[8])
        .doc("Pools x to y. Of layouts that exceed their buffers, what exists is computed.");
    registry
        .add("tfrt_cuda.dnn.pooling_backward", pooling_backward)
        .side_effecting()
        .mutates(&[12])
        .doc("The gradient of pooling x to y, from dy to dx.");
    registry.add("tfrt_cuda.dnn.softmax_forward", softmax_forward).side_effecting().mutates(&[9]).doc(
        "Softmax: algorithm (0 fast, 1 accurate, 2 logarithm), mode (0 over the image, 1 over channels).",
    );
    registry
        .add("tfrt_cuda.dnn.softmax_backward", softmax_backward)
        .side_effecting()
        .mutates(&[11])
        .doc("The gradient of softmax, from its result y and dy to dx.");
    registry
        .add("tfrt_cuda.dnn.activation_forward", activation_forward)
        .side_effecting()
        .mutates(&[8])
        .doc("A function of each element.");
    registry
        .add("tfrt_cuda.dnn.activation_backward", activation_backward)
        .side_effecting()
        .mutates(&[12])
        .doc("The gradient of a function of each element, from y, dy and x to dx.");
    registry
        .add("tfrt_cuda.dnn.add_tensor", add_tensor)
        .side_effecting()
        .mutates(&[7])
        .doc("c = alpha · a + beta · c, where extents of 1 in a are repeated: adding a bias.");
}
