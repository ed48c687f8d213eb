//! Two-dimensional convolution, also depthwise, its fused forms, and its gradients.

use std::sync::Arc;

use tfrt_compute::{run, shape_error, workers};
use tfrt_host::{DType, Diagnostic};
use tfrt_math::{
    Activation, Conv2d, Conv2dInput, Conv2dShape, ConvBackwardFilter, ConvBackwardInput, ConvElement,
    Extent2, Float, PackedFilter,
};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, HostTensor, TensorMetadata, TensorShape};

use super::activation::Activation as Elementwise;
use super::batch_norm::epsilon;
use super::fused::{Step, channel_vector, fused_leak, names, run_with_steps};
use super::images::{compute_images, to_nhwc};
use super::support::{Computed, Described, allocate, invalid, one, shape_of, vector, with_float, with_type};
use super::types;
use super::window::{Layout, check_fit, extent, four, padding};
use crate::{AttrSpec, CpuCall, MetadataCall, OpAttrs, OpRegistry, attr};

static ME: Accessor = Accessor::new("tf convolution");

/// The meaning of a filter's third and fourth dimension.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Input channels of a group, output channels.
    Full,
    /// Input channels, output channels for each of them.
    Depthwise,
}

/// The order of a filter's elements.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FilterLayout {
    /// Rows, columns, inputs, outputs: TensorFlow's order.
    Hwio,
    /// Outputs, rows, columns, inputs: the order of DNN libraries.
    Ohwi,
}

/// The attribute that names the order.
pub(super) const FILTER_LAYOUT: &str = "filter_format";

impl FilterLayout {
    /// Returns the order that an op's attributes name.
    pub(super) fn of(attrs: &OpAttrs) -> Result<Self, Diagnostic> {
        match attrs.optional::<&str>(FILTER_LAYOUT)? {
            None | Some("HWIO") => Ok(Self::Hwio),
            Some("OHWI") => Ok(Self::Ohwi),
            Some(other) => {
                Err(invalid(format!("attribute '{FILTER_LAYOUT}' must be HWIO or OHWI, got '{other}'")))
            }
        }
    }

    /// Returns the rows, columns, inputs and outputs of a filter.
    pub(super) fn extents(self, filter: &TensorShape) -> Result<[usize; 4], Diagnostic> {
        let [a, b, c, d] = four(filter, "filter")?;
        Ok(if self == Self::Hwio { [a, b, c, d] } else { [b, c, d, a] })
    }
}

/// Returns the convolution of images by filters of these shapes with an op's attributes, and the
/// shape of its result.
pub(super) fn convolution(
    attrs: &OpAttrs,
    kind: Kind,
    input: &TensorShape,
    filter: &TensorShape,
) -> Result<(Conv2dShape, TensorShape), Diagnostic> {
    let layout = Layout::of(attrs)?;
    let [batch, height, width, channels] = layout.images(input, "input")?;
    let [rows, cols, depth, last] = FilterLayout::of(attrs)?.extents(filter)?;
    let (groups, outputs) = match kind {
        Kind::Full => {
            if depth == 0 || channels % depth != 0 {
                return Err(invalid(format!(
                    "input depth must be evenly divisible by filter depth: {channels} vs {depth}"
                )));
            }
            (channels / depth, last)
        }
        Kind::Depthwise => {
            if channels != depth {
                return Err(invalid(format!(
                    "input and filter must have the same depth: {channels} vs {depth}"
                )));
            }
            (channels, channels.checked_mul(last).ok_or_else(|| invalid("too many output channels"))?)
        }
    };
    if groups > 0 && outputs % groups != 0 {
        return Err(invalid(format!(
            "output depth must be evenly divisible by number of groups: {outputs} vs {groups}"
        )));
    }
    if rows == 0 || cols == 0 {
        return Err(invalid(format!("filter must not have zero elements, got shape {filter}")));
    }
    let (input, window) = (Extent2::new(height, width), Extent2::new(rows, cols));
    let shape = Conv2dShape {
        groups: groups.max(1),
        strides: extent(attrs, "strides", true)?,
        dilations: extent(attrs, "dilations", true)?,
        ..Conv2dShape::new((batch, input, channels), (window, outputs), padding(attrs)?)
    };
    let covered = |window: usize, dilation: usize| (window - 1).saturating_mul(dilation).saturating_add(1);
    let covered = Extent2::new(covered(rows, shape.dilations.height), covered(cols, shape.dilations.width));
    check_fit(input, covered, shape.strides, shape.padding)?;
    let output = shape.output().map_err(shape_error)?;
    Ok((shape, layout.shape([batch, output.height, output.width, outputs])?))
}

fn same_types(input: &TensorMetadata, filter: &TensorMetadata) -> Result<(), Diagnostic> {
    if input.dtype == filter.dtype {
        return Ok(());
    }
    Err(invalid(format!("input and filter must have the same type: {} vs {}", input.dtype, filter.dtype)))
}

fn forward_metadata(call: MetadataCall<'_>, what: (&str, Kind)) -> Described {
    let [input, filter] = call.take()?;
    same_types(input, filter)?;
    let (_, output) = convolution(call.attrs, what.1, &input.shape, &filter.shape)?;
    one(TensorMetadata::new(input.dtype, output))
}

/// Returns a filter laid out for convolution. It is cached with the filter, which does not change
/// between calls in inference.
fn laid_out<T: Element + ConvElement>(
    plan: &Conv2d<T>,
    filter: &DenseHostTensor,
) -> Result<Arc<PackedFilter<T>>, Diagnostic> {
    let filter = filter.read::<T>(&ME)?;
    filter.derived(|packed| plan.takes(packed), |filter| plan.pack_filter(filter)).map_err(shape_error)
}

/// Computes `activation(conv(input, filter) + bias)`.
fn forward<T: Element + ConvElement>(
    call: &CpuCall<'_>,
    shape: &Conv2dShape,
    [input, filter]: [&DenseHostTensor; 2],
    bias: Option<&DenseHostTensor>,
    activation: Activation,
) -> Computed {
    let (layout, out) = (Layout::of(call.attrs)?, call.allocate_unset(0)?);
    let plan = Conv2d::<T>::new(shape, activation, workers(call.cx)).map_err(shape_error)?;
    let packed = laid_out(&plan, filter)?;
    let bias = bias.map(|bias| bias.read_owned::<T>(&ME)).transpose()?;
    let x = to_nhwc(call, layout, input)?.read_owned::<T>(&ME)?;
    compute_images::<T, _, _>(call, layout, plan, ((x, packed, bias), out), |(x, filter, bias)| Conv2dInput {
        bias: bias.as_deref(),
        ..Conv2dInput::new(x, filter)
    })
}

fn conv2d(call: &CpuCall<'_>, what: (&str, Kind)) -> Computed {
    let [input, filter] = call.dense()?;
    let (shape, _) = convolution(call.attrs, what.1, input.shape(), filter.shape())?;
    if input.num_elements() == 0 {
        // Without channels, the sums have no terms, for any depth of the filter.
        return Ok(call.allocate(0)?.into());
    }
    with_type!(
        input.dtype(),
        what.0,
        |T| forward::<T>(call, &shape, [input, filter], None, Activation::None),
        F16 tfrt_tensor::f16, BF16 tfrt_tensor::bf16, F32 f32, F64 f64, I32 i32
    )
}

pub(super) const FUSED: (&str, Kind) = ("tf._FusedConv2D", Kind::Full);

/// The addition of a fused convolution to its sums.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Addition {
    /// One number for each output channel.
    Bias,
    /// Normalization with scale, offset, mean and variance for each output channel.
    Normalization,
}

/// Returns the addition and activation in attribute `fused_ops`.
pub(super) fn fusion(attrs: &OpAttrs) -> Result<(Addition, Option<Elementwise>), Diagnostic> {
    let names = names(attrs, "fused_ops")?;
    let unknown = || invalid(format!("{} does not support the fusion of [{}]", FUSED.0, names.join(", ")));
    let (addition, rest) = match &names[..] {
        ["BiasAdd", rest @ ..] => (Addition::Bias, rest),
        ["FusedBatchNorm", rest @ ..] => (Addition::Normalization, rest),
        _ => return Err(unknown()),
    };
    match *rest {
        [] => Ok((addition, None)),
        [name] => match Elementwise::named(name, fused_leak(attrs)?) {
            Some(activation) => Ok((addition, Some(activation))),
            None => Err(unknown()),
        },
        _ => Err(unknown()),
    }
}

fn fused_metadata(call: MetadataCall<'_>) -> Described {
    let (addition, _) = fusion(call.attrs)?;
    let [input, filter, vectors @ ..] = call.arguments else {
        return Err(invalid(format!(
            "the op takes an input and a filter, got {} arguments",
            call.arguments.len()
        )));
    };
    let expected = if addition == Addition::Bias { 1 } else { 4 };
    if vectors.len() != expected {
        return Err(invalid(format!(
            "the fusion takes {expected} arguments besides input and filter, got {}",
            vectors.len()
        )));
    }
    same_types(input, filter)?;
    let (shape, output) = convolution(call.attrs, FUSED.1, &input.shape, &filter.shape)?;
    for vector in vectors {
        same_types(input, vector)?;
        if vector.shape.dims() != [shape.out_channels] {
            return Err(invalid(format!(
                "bias must have {} elements, got shape {}",
                shape.out_channels, vector.shape
            )));
        }
    }
    one(TensorMetadata::new(input.dtype, output))
}

fn fused_conv2d(call: &CpuCall<'_>) -> Computed {
    let [input, filter, vectors @ ..] = call.arguments else {
        return Err(invalid("the op takes an input and a filter"));
    };
    let (input, filter) = (input.dense()?, filter.dense()?);
    let (shape, _) = convolution(call.attrs, FUSED.1, input.shape(), filter.shape())?;
    let (addition, activation) = fusion(call.attrs)?;
    // The operations that the convolution can apply when it stores its results.
    let stored = match (addition, activation) {
        (Addition::Bias, None) => Some(Activation::None),
        (Addition::Bias, Some(Elementwise::Relu)) => Some(Activation::Relu),
        _ => None,
    };
    with_float!(input.dtype(), FUSED.0, |T| match (stored, vectors) {
        (Some(stored), [bias]) => forward::<T>(call, &shape, [input, filter], Some(bias.dense()?), stored),
        _ => forward_with_steps::<T>(call, &shape, [input, filter], vectors, (addition, activation)),
    })
}

/// Computes a convolution, and then the operations after it, element by element.
fn forward_with_steps<T: Element + ConvElement + Float>(
    call: &CpuCall<'_>,
    shape: &Conv2dShape,
    [input, filter]: [&DenseHostTensor; 2],
    vectors: &[&HostTensor],
    (addition, activation): (Addition, Option<Elementwise>),
) -> Computed {
    let columns = shape.out_channels;
    let mut vectors = vectors.iter().copied();
    let mut vector = |what| channel_vector::<T>(vectors.next(), what, columns, &ME);
    let mut steps = vec![match addition {
        Addition::Bias => Step::Bias(vector("Bias")?),
        Addition::Normalization => {
            let (scale, offset) = (vector("Scale")?, vector("Offset")?);
            let (mean, variance) = (vector("Mean")?, vector("Variance")?);
            let epsilon = epsilon(call.attrs)?;
            let column = |i: usize| {
                let factor = scale[i].to_f64() / (variance[i].to_f64() + epsilon).sqrt();
                [mean[i], T::from_f64(factor), offset[i]]
            };
            Step::Normalize((0..columns).map(column).collect())
        }
    }];
    steps.extend(activation.map(Step::Activation));
    if Layout::of(call.attrs)? != Layout::Nhwc {
        return Err(invalid(format!(
            "{} in host memory supports NCHW with the fusions [BiasAdd] and [BiasAdd, Relu] alone",
            FUSED.0
        )));
    }
    let plan = Conv2d::<T>::new(shape, Activation::None, workers(call.cx)).map_err(shape_error)?;
    let packed = laid_out(&plan, filter)?;
    let reads = (input.read_owned::<T>(&ME)?, packed);
    let operands = (reads, call.allocate_unset(0)?);
    run_with_steps(call, plan, operands, |(x, filter)| Conv2dInput::new(x, filter), (steps, columns))
}

/// Returns the shape in an argument.
fn shape_in(sizes: &DenseHostTensor) -> Result<TensorShape, Diagnostic> {
    shape_of(&vector(&HostTensor::from(sizes.clone()), "sizes")?)
}

/// Returns the shape of the images of a convolution by `filter`, from `sizes`: the whole shape, or
/// only height and width. In that case the number of images is that of `gradient`, and the channels
/// are the filter's.
pub(super) fn convolved_shape(
    attrs: &OpAttrs,
    sizes: TensorShape,
    filter: &TensorShape,
    gradient: &TensorShape,
) -> Result<TensorShape, Diagnostic> {
    let &[height, width] = sizes.dims() else { return Ok(sizes) };
    let layout = Layout::of(attrs)?;
    let ([batch, ..], [_, _, depth, _]) = (layout.images(gradient, "out_backprop")?, four(filter, "filter")?);
    layout.shape([batch, height, width, depth])
}

pub(super) fn check_gradient(gradient: &TensorShape, expected: &TensorShape) -> Result<(), Diagnostic> {
    if gradient == expected {
        return Ok(());
    }
    Err(invalid(format!("out_backprop has shape {gradient}, but the convolution gives {expected}")))
}

fn backprop_input(call: &CpuCall<'_>, what: (&str, Kind)) -> Computed {
    let [sizes, filter, gradient] = call.dense()?;
    let layout = Layout::of(call.attrs)?;
    let dims = convolved_shape(call.attrs, shape_in(sizes)?, filter.shape(), gradient.shape())?;
    let (shape, output) = convolution(call.attrs, what.1, &dims, filter.shape())?;
    check_gradient(gradient.shape(), &output)?;
    let out = allocate(call, filter.dtype(), dims.dims())?;
    with_type!(
        filter.dtype(),
        what.0,
        |T| {
        let plan = ConvBackwardInput::<T>::new(&shape, workers(call.cx)).map_err(shape_error)?;
        let packed = plan.pack_filter(&filter.read::<T>(&ME)?).map_err(shape_error)?;
        let dy = to_nhwc(call, layout, gradient)?.read_owned::<T>(&ME)?;
        compute_images::<T, _, _>(call, layout, plan, ((dy, packed), out), |(dy, filter)| (dy, filter))
        },
        F16 tfrt_tensor::f16, BF16 tfrt_tensor::bf16, F32 f32, F64 f64, I32 i32
    )
}

fn backprop_filter(call: &CpuCall<'_>, what: (&str, Kind)) -> Computed {
    let [input, sizes, gradient] = call.dense()?;
    let (layout, dims) = (Layout::of(call.attrs)?, shape_in(sizes)?);
    let (shape, output) = convolution(call.attrs, what.1, input.shape(), &dims)?;
    check_gradient(gradient.shape(), &output)?;
    let out = allocate(call, input.dtype(), dims.dims())?;
    with_float!(input.dtype(), what.0, |T| {
        let plan = ConvBackwardFilter::<T>::new(&shape, workers(call.cx));
        let [x, dy] = [input, gradient].map(|images| to_nhwc(call, layout, images));
        let reads = (x?.read_owned::<T>(&ME)?, dy?.read_owned::<T>(&ME)?);
        let result = HostTensor::from(out.clone());
        run(call.cx, plan, (reads, out.write_owned::<T>(&ME)?), |(x, dy)| (x, dy), |out| out, result)
            .map(Into::into)
    })
}

/// The attributes of a convolution's window.
pub(super) const WINDOW: [AttrSpec; 5] = [
    attr::ints("strides"),
    attr::string("padding"),
    attr::ints_or("explicit_paddings", &[]),
    attr::string_or("data_format", "NHWC"),
    attr::ints_or_each("dilations", 1),
];

const FUSED_WINDOW: [AttrSpec; 8] = [
    attr::strings("fused_ops"),
    attr::ints("strides"),
    attr::string("padding"),
    attr::ints_or("explicit_paddings", &[]),
    attr::string_or("data_format", "NHWC"),
    attr::ints_or_each("dilations", 1),
    attr::float_or("epsilon", 0.0001),
    attr::float_or("leakyrelu_alpha", 0.2),
];

const CONVOLVED: &[DType] = &[DType::I32, DType::F16, DType::BF16, DType::F32, DType::F64];

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.Conv2D")
        .types(CONVOLVED)
        .attrs(WINDOW)
        .metadata(|call| forward_metadata(call, ("tf.Conv2D", Kind::Full)))
        .cpu(|call| conv2d(&call, ("tf.Conv2D", Kind::Full)));
    ops.add("tf.DepthwiseConv2dNative")
        .types(CONVOLVED)
        .attrs(WINDOW)
        .metadata(|call| forward_metadata(call, ("tf.DepthwiseConv2dNative", Kind::Depthwise)))
        .cpu(|call| conv2d(&call, ("tf.DepthwiseConv2dNative", Kind::Depthwise)));
    ops.add(FUSED.0)
        .types(types::FLOATS)
        .attrs(FUSED_WINDOW)
        .metadata(fused_metadata)
        .cpu(|call| fused_conv2d(&call));
    ops.add("tf.Conv2DBackpropInput")
        .types(CONVOLVED)
        .attrs(WINDOW)
        .cpu(|call| backprop_input(&call, ("tf.Conv2DBackpropInput", Kind::Full)));
    ops.add("tf.Conv2DBackpropFilter")
        .types(types::FLOATS)
        .attrs(WINDOW)
        .cpu(|call| backprop_filter(&call, ("tf.Conv2DBackpropFilter", Kind::Full)));
    ops.add("tf.DepthwiseConv2dNativeBackpropInput")
        .types(CONVOLVED)
        .attrs(WINDOW)
        .cpu(|call| backprop_input(&call, ("tf.DepthwiseConv2dNativeBackpropInput", Kind::Depthwise)));
    ops.add("tf.DepthwiseConv2dNativeBackpropFilter")
        .types(types::FLOATS)
        .attrs(WINDOW)
        .cpu(|call| backprop_filter(&call, ("tf.DepthwiseConv2dNativeBackpropFilter", Kind::Depthwise)));
}
