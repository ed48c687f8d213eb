//! Convolution and its gradients.

use tfrt_device::front::{Context, DeviceBuffer, DnnHandle};
use tfrt_device::hal::Convolution;
use tfrt_host::{Arg, Chain, Diagnostic, ExecutionContext, KernelRegistry, value_type};
use tfrt_tensor::DenseHostTensor;

use crate::dnn::{
    ActivationDescriptor, Descriptor, TensorDescriptor, data_type, extents, scaling, tensor, unknown,
};
use crate::from_library;

type ConvolutionDescriptor = Descriptor<Convolution>;

value_type!(ConvolutionDescriptor, "!tfrt_cuda.dnn_convolution_descriptor");

#[expect(clippy::too_many_arguments, reason = "each is a value of the program")]
fn create(
    _context: Arg<Context>,
    padding: Arg<DenseHostTensor>,
    strides: Arg<DenseHostTensor>,
    dilations: Arg<DenseHostTensor>,
    groups: i32,
    mode: u32,
    compute: u32,
    algorithm: i32,
    _chain: Chain,
) -> Result<(ConvolutionDescriptor, Chain), Diagnostic> {
    let kernel = "DnnCreateConvolutionDescriptor";
    let groups = u64::try_from(groups).ok().filter(|&groups| groups > 0);
    let groups = groups
        .ok_or_else(|| Diagnostic::invalid_argument(format!("{kernel}: there is at least one group.")))?;
    if mode > 1 {
        return Err(unknown("convolution mode", mode));
    }
    let convolution = Convolution {
        padding: extents(kernel, "paddings", &padding)?,
        strides: extents(kernel, "strides", &strides)?,
        dilations: extents(kernel, "dilations", &dilations)?,
        groups,
        cross_correlation: mode == 1,
        compute: data_type(compute)?,
        algorithm,
    };
    Ok((Descriptor::new(convolution), Chain))
}

fn destroy(descriptor: Arg<ConvolutionDescriptor>, _chain: Chain) -> Result<Chain, Diagnostic> {
    descriptor.destroy()?;
    Ok(Chain)
}

macro_rules! directions {
    ($registry:expr, $($name:literal => $method:ident, $mutated:literal, $doc:literal;)*) => {$(
        $registry
            .add(
                $name,
                |context: Arg<Context>,
                 handle: Arg<DnnHandle>,
                 convolution: Arg<ConvolutionDescriptor>,
                 alpha: f32,
                 x_descriptor: Arg<TensorDescriptor>,
                 x: Arg<DeviceBuffer>,
                 w_descriptor: Arg<TensorDescriptor>,
                 w: Arg<DeviceBuffer>,
                 beta: f32,
                 y_descriptor: Arg<TensorDescriptor>,
                 y: Arg<DeviceBuffer>,
                 _chain: Chain,
                 cx: &ExecutionContext| {
                    let tensors = [tensor(&x_descriptor, &x)?, tensor(&w_descriptor, &w)?, tensor(&y_descriptor, &y)?];
                    let convolution = convolution.get()?;
                    from_library(cx, &context, &handle, || handle.$method(convolution, scaling(alpha, beta), tensors))?;
                    Ok::<_, Diagnostic>(Chain)
                },
            )
            .side_effecting()
            .mutates(&[$mutated])
            .doc($doc);
    )*};
}

#[expect(clippy::too_many_arguments, reason = "each is a value of the program")]
fn forward(
    context: Arg<Context>,
    handle: Arg<DnnHandle>,
    convolution: Arg<ConvolutionDescriptor>,
    alpha: f32,
    x_descriptor: Arg<TensorDescriptor>,
    x: Arg<DeviceBuffer>,
    w_descriptor: Arg<TensorDescriptor>,
    w: Arg<DeviceBuffer>,
    beta: f32,
    y_descriptor: Arg<TensorDescriptor>,
    y: Arg<DeviceBuffer>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    let tensors = [tensor(&x_descriptor, &x)?, tensor(&w_descriptor, &w)?, tensor(&y_descriptor, &y)?];
    let convolution = convolution.get()?;
    from_library(cx, &context, &handle, || {
        handle.convolution_forward(convolution, scaling(alpha, beta), tensors, None, None, None)
    })?;
    Ok(Chain)
}

/// `y = activation(alpha · conv + factor · z + bias)`, in the order of cuDNN's fused call.
#[expect(clippy::too_many_arguments, reason = "each is a value of the program")]
fn forward_fused(
    context: Arg<Context>,
    handle: Arg<DnnHandle>,
    convolution: Arg<ConvolutionDescriptor>,
    alpha: f32,
    x_descriptor: Arg<TensorDescriptor>,
    x: Arg<DeviceBuffer>,
    w_descriptor: Arg<TensorDescriptor>,
    w: Arg<DeviceBuffer>,
    factor: f32,
    z_descriptor: Arg<TensorDescriptor>,
    z: Arg<DeviceBuffer>,
    bias_descriptor: Arg<TensorDescriptor>,
    bias: Arg<DeviceBuffer>,
    activation: Arg<ActivationDescriptor>,
    y_descriptor: Arg<TensorDescriptor>,
    y: Arg<DeviceBuffer>,
    _chain: Chain,
    cx: &ExecutionContext,
) -> Result<Chain, Diagnostic> {
    let tensors = [tensor(&x_descriptor, &x)?, tensor(&w_descriptor, &w)?, tensor(&y_descriptor, &y)?];
    let bias = tensor(&bias_descriptor, &bias)?;
    let residual = if factor == 0.0 { None } else { Some((tensor(&z_descriptor, &z)?, f64::from(factor))) };
    let (convolution, activation) = (convolution.get()?, *activation.get()?);
    from_library(cx, &context, &handle, || {
        let scaling = scaling(alpha, 0.0);
        handle.convolution_forward(convolution, scaling, tensors, Some(bias), residual, Some(activation))
    })?;
    Ok(Chain)
}

pub(crate) fn register(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_cuda.dnn.create_convolution_descriptor", create)
        .side_effecting()
        .doc(
            "A convolution: paddings, strides, dilations, groups, mode (0 flips filters, 1 does not), type that is summed \
             in, algorithm (-1: the library's choice, found once for a shape and kept).",
        );
    registry
        .add("tfrt_cuda.dnn.destroy_convolution_descriptor", destroy)
        .side_effecting()
        .doc("Destroys a convolution descriptor.");
    registry
        .add("tfrt_cuda.dnn.convolution_forward", forward)
        .side_effecting()
        .mutates(&[10])
        .doc("y = alpha · (x convolved by w) + beta · y; filters have extents K, C, R, S.");
    registry
        .add("tfrt_cuda.dnn.convolution_bias_activation_forward", forward_fused)
        .side_effecting()
        .mutates(&[15])
        .doc("y = activation(alpha · (x convolved by w) + factor · z + bias), in one pass where the library can.");
    directions! {
        registry,
        "tfrt_cuda.dnn.convolution_backward_data" => convolution_backward_data, 5,
            "The gradient of a convolution with respect to x: from w and y, a gradient, to x.";
        "tfrt_cuda.dnn.convolution_backward_filter" => convolution_backward_filter, 7,
            "The gradient of a convolution with respect to w: from x and y, a gradient, to w.";
    }
}
