//! Two-dimensional convolution (images `NHWC`, filters `HWIO`), the operations that are usually
//! fused with it, and its gradients.

use tfrt_compute::{run, run_then, shape_error, workers};
use tfrt_host::{Arg, AsyncValueRef, Attr, Chain, Diagnostic, ExecutionContext, KernelRegistry, Promise};
use tfrt_math::{
    Activation, Conv2d, Conv2dInput, Conv2dShape, ConvBackwardFilter, ConvBackwardInput, Extent2,
    PackedFilter, Padding,
};
use tfrt_tensor::{Accessor, DenseHostTensor};

use super::{
    check,
    normalize::{self, Channels, Normalize},
};

static CONV: Accessor = Accessor::new("eigen.conv2d");
static CONV_BIAS: Accessor = Accessor::new("eigen.conv2d.bias");
static CONV_BATCH_NORM: Accessor = Accessor::new("eigen.conv2d.batch_norm");
static GRADIENT_FILTER: Accessor = Accessor::new("eigen.conv2d.grad.filter");
static GRADIENT_INPUT: Accessor = Accessor::new("eigen.conv2d.grad.input");

type Done = Result<AsyncValueRef<Chain>, Diagnostic>;

/// Returns the shape of the convolution of images by filters with these extents, and the extents of
/// its result.
pub(super) fn convolution(
    images: [usize; 4],
    filter: [usize; 4],
    padding: Padding,
    strides: &[i64],
) -> Result<(Conv2dShape, [usize; 4]), Diagnostic> {
    let ([batch, height, width, channels], [rows, cols, depth, outputs]) = (images, filter);
    check::same_extent(("input channels", channels), ("kernel depth", depth))?;
    let mut shape = Conv2dShape::new(
        (batch, Extent2::new(height, width), channels),
        (Extent2::new(rows, cols), outputs),
        padding,
    );
    shape.strides = check::extent2("Conv2D", "strides", strides)?;
    let output = shape.output().map_err(shape_error)?;
    Ok((shape, [batch, output.height, output.width, outputs]))
}

fn named_padding(padding: &str) -> Result<Padding, Diagnostic> {
    check::padding(padding)
        .ok_or_else(|| Diagnostic::invalid_argument(format!("Unknown padding type {padding}")))
}

/// The shapes and plan of a convolution.
struct Convolution<'t> {
    input: &'t DenseHostTensor,
    filter: &'t DenseHostTensor,
    output: &'t DenseHostTensor,
}

impl Convolution<'_> {
    fn shape(&self, padding: &str, strides: &[i64]) -> Result<Conv2dShape, Diagnostic> {
        let (images, filter) = (self.input.shape().fixed::<4>()?, self.filter.shape().fixed::<4>()?);
        let (shape, expected) = convolution(images.0, filter.0, named_padding(padding)?, strides)?;
        check::shape_is(("output tensor shape", self.output), "computed output shape", &expected)?;
        Ok(shape)
    }
}

fn conv2d(
    input: Arg<DenseHostTensor>,
    filter: Arg<DenseHostTensor>,
    output: Arg<DenseHostTensor>,
    _chain: Chain,
    padding: Attr<str>,
    strides: Attr<[i64]>,
    cx: &ExecutionContext,
) -> Done {
    let shape =
        Convolution { input: &input, filter: &filter, output: &output }.shape(padding.0, strides.0)?;
    let plan = Conv2d::<f32>::new(&shape, Activation::None, workers(cx)).map_err(shape_error)?;
    let packed = plan.pack_filter(&filter.read::<f32>(&CONV)?).map_err(shape_error)?;
    let operands = ((input.read_owned::<f32>(&CONV)?, packed), output.write_owned::<f32>(&CONV)?);
    run(cx, Ok(plan), operands, |(x, filter)| Conv2dInput::new(x, filter), |out| out, Chain)
}

fn biased<'a>(x: &'a [f32], filter: &'a PackedFilter<f32>, bias: &'a [f32]) -> Conv2dInput<'a, f32> {
    Conv2dInput { bias: Some(bias), ..Conv2dInput::new(x, filter) }
}

#[expect(clippy::too_many_arguments, reason = "each is a value or an attribute of the program")]
fn conv2d_bias(
    input: Arg<DenseHostTensor>,
    filter: Arg<DenseHostTensor>,
    bias: Arg<DenseHostTensor>,
    output: Arg<DenseHostTensor>,
    _chain: Chain,
    padding: Attr<str>,
    strides: Attr<[i64]>,
    cx: &ExecutionContext,
) -> Done {
    let shape =
        Convolution { input: &input, filter: &filter, output: &output }.shape(padding.0, strides.0)?;
    check::same_extent(
        ("bias shape", bias.shape().fixed::<1>()?.0[0]),
        ("output channels size", shape.out_channels),
    )?;
    let plan = Conv2d::<f32>::new(&shape, Activation::None, workers(cx)).map_err(shape_error)?;
    let packed = plan.pack_filter(&filter.read::<f32>(&CONV_BIAS)?).map_err(shape_error)?;
    let reads = (input.read_owned::<f32>(&CONV_BIAS)?, packed, bias.read_owned::<f32>(&CONV_BIAS)?);
    let operands = (reads, output.write_owned::<f32>(&CONV_BIAS)?);
    run(cx, Ok(plan), operands, |(x, filter, bias)| biased(x, filter, bias), |out| out, Chain)
}

/// The channel-wise operands of batch normalization with known statistics.
struct Statistics<'t> {
    scale: &'t DenseHostTensor,
    offset: &'t DenseHostTensor,
    mean: &'t DenseHostTensor,
    variance: &'t DenseHostTensor,
    epsilon: f32,
}

impl Statistics<'_> {
    /// Returns the normalization of each channel.
    fn fold(&self, channels: usize) -> Result<Channels, Diagnostic> {
        let operands = [
            ("scale shape", self.scale),
            ("offset shape", self.offset),
            ("estimated mean shape", self.mean),
            ("estimated var shape", self.variance),
        ];
        for (name, tensor) in operands {
            check::same_extent(
                (name, tensor.shape().fixed::<1>()?.0[0]),
                ("output channels size", channels),
            )?;
        }
        let me = &CONV_BATCH_NORM;
        let (scale, offset) = (self.scale.read(me)?, self.offset.read(me)?);
        let (mean, variance) = (self.mean.read(me)?, self.variance.read(me)?);
        Ok(normalize::fold([&scale, &offset, &mean, &variance], self.epsilon))
    }
}

/// Convolves, and then normalizes the result in place. Folding the factors into the filter instead
/// would round differently if a channel's mean nearly cancels it.
fn conv2d_batch_norm(
    operands: &Convolution,
    statistics: &Statistics,
    (padding, strides): (&str, &[i64]),
    activation: Activation,
    cx: &ExecutionContext,
) -> Done {
    let shape = operands.shape(padding, strides)?;
    let channels = statistics.fold(shape.out_channels)?;
    let [batch, height, width, _] = operands.output.shape().fixed::<4>()?.0;
    let normalize = Normalize { rows: batch * height * width, channels: shape.out_channels, activation };
    let plan = Conv2d::<f32>::new(&shape, Activation::None, workers(cx)).map_err(shape_error)?;
    let me = &CONV_BATCH_NORM;
    let packed = plan.pack_filter(&operands.filter.read::<f32>(me)?).map_err(shape_error)?;
    let reads = (operands.input.read_owned::<f32>(me)?, packed);
    let operands = (reads, operands.output.write_owned::<f32>(me)?);
    let (promise, done) = Promise::new();
    let caller = cx.clone();
    run_then(
        cx,
        plan,
        operands,
        |(x, filter)| Conv2dInput::new(x, filter),
        |out| out,
        move |outcome| match outcome {
            Err(error) => caller.settle(promise, Err(error)),
            Ok((_, output)) => {
                let inner = caller.clone();
                run_then(
                    &caller,
                    normalize,
                    (channels, output),
                    |c| c,
                    |out| out,
                    move |outcome| {
                        let outcome = outcome.map(drop);
                        inner.settle(promise, outcome.map(|()| Chain));
                    },
                );
            }
        },
    );
    Ok(done)
}

fn gradient_filter(
    output_gradient: Arg<DenseHostTensor>,
    input: Arg<DenseHostTensor>,
    filter_gradient: Arg<DenseHostTensor>,
    _chain: Chain,
    padding: Attr<str>,
    strides: Attr<[i64]>,
    cx: &ExecutionContext,
) -> Done {
    let (images, filter) = (input.shape().fixed::<4>()?, filter_gradient.shape().fixed::<4>()?);
    let (shape, expected) = convolution(images.0, filter.0, named_padding(padding.0)?, strides.0)?;
    check::shape_is(("output gradient shape", &output_gradient), "computed output shape", &expected)?;
    let plan = ConvBackwardFilter::<f32>::new(&shape, workers(cx));
    let me = &GRADIENT_FILTER;
    let reads = (input.read_owned::<f32>(me)?, output_gradient.read_owned::<f32>(me)?);
    run(cx, plan, (reads, filter_gradient.write_owned::<f32>(me)?), |(x, dy)| (x, dy), |out| out, Chain)
}

fn gradient_input(
    output_gradient: Arg<DenseHostTensor>,
    filter: Arg<DenseHostTensor>,
    input_gradient: Arg<DenseHostTensor>,
    _chain: Chain,
    padding: Attr<str>,
    strides: Attr<[i64]>,
    cx: &ExecutionContext,
) -> Done {
    let (images, weights) = (input_gradient.shape().fixed::<4>()?, filter.shape().fixed::<4>()?);
    let (shape, expected) = convolution(images.0, weights.0, named_padding(padding.0)?, strides.0)?;
    check::shape_is(("output gradient shape", &output_gradient), "computed output shape", &expected)?;
    let plan = ConvBackwardInput::<f32>::new(&shape, workers(cx)).map_err(shape_error)?;
    let me = &GRADIENT_INPUT;
    let packed = plan.pack_filter(&filter.read::<f32>(me)?).map_err(shape_error)?;
    let reads = (output_gradient.read_owned::<f32>(me)?, packed);
    run(cx, Ok(plan), (reads, input_gradient.write_owned::<f32>(me)?), |(dy, w)| (dy, w), |out| out, Chain)
}

pub(super) fn register(registry: &mut KernelRegistry) {
    type Tensor<'a> = Arg<'a, DenseHostTensor>;
    registry
        .add("eigen.conv2d.f32", conv2d)
        .attributes(&["padding", "strides"])
        .mutates(&[2])
        .doc("Convolution of images (NHWC) by a filter (HWIO); padding is 'same' or 'valid'.");
    registry
        .add("eigen.conv2d.bias.f32", conv2d_bias)
        .attributes(&["padding", "strides"])
        .mutates(&[3])
        .doc("Convolution plus a bias for each channel.");
    for (name, activation, doc) in [
        (
            "eigen.conv2d.batch_norm.f32",
            Activation::None,
            "Convolution and batch normalization with known statistics.",
        ),
        (
            "eigen.conv2d.batch_norm.relu.f32",
            Activation::Relu,
            "Convolution, batch normalization with known statistics, and max(x, 0).",
        ),
    ] {
        registry
            .add(
                name,
                move |input: Tensor,
                      filter: Tensor,
                      scale: Tensor,
                      offset: Tensor,
                      mean: Tensor,
                      variance: Tensor,
                      output: Tensor,
                      _: Chain,
                      epsilon: Attr<f32>,
                      padding: Attr<str>,
                      strides: Attr<[i64]>,
                      cx: &ExecutionContext| {
                    let operands = Convolution { input: &input, filter: &filter, output: &output };
                    let (scale, offset, mean, variance) = (&*scale, &*offset, &*mean, &*variance);
                    let statistics = Statistics { scale, offset, mean, variance, epsilon: epsilon.0 };
                    conv2d_batch_norm(&operands, &statistics, (padding.0, strides.0), activation, cx)
                },
            )
            .attributes(&["epsilon", "padding", "strides"])
            .mutates(&[6])
            .doc(doc);
    }
    registry
        .add("eigen.conv2d.grad.filter.f32", gradient_filter)
        .attributes(&["padding", "strides"])
        .mutates(&[2])
        .doc("The gradient of a convolution with respect to its filter.");
    registry
        .add("eigen.conv2d.grad.input.f32", gradient_input)
        .attributes(&["padding", "strides"])
        .mutates(&[2])
        .doc("The gradient of a convolution with respect to its images.");
}
