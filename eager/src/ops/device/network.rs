//! Convolution through the device's DNN library; integer convolution, pooling and batch
//! normalization by our CUDA kernels.
//!
//! Everything is computed on NHWC images. Images in other layouts are converted before and after.

use super::super::types;
use crate::{AttrSpec, attr};
use smallvec::smallvec;
use tfrt_device::{
    front::DnnTensor,
    hal::{
        Activation as DnnActivation, ActivationMode, Convolution, NanPropagation, Pooling, PoolingMode,
        Scaling, TensorLayout,
    },
};
use tfrt_host::{AsyncValue, DType, Diagnostic};
use tfrt_launch::{Activation, Affine, Binary, FilterChannels, PoolingWindow, Unary, WindowPosition};
use tfrt_math::{Conv2dShape, Extent2, Padding, PoolShape};
use tfrt_tensor::{TensorMetadata, TensorShape};

use super::{
    Queued,
    arrays::{padded, permuted},
    count,
    elementwise::combine,
    expression::{constant, from_ordered, least_of_narrow, ordered},
    extents, unsupported,
};
use crate::{
    DeviceCall, DeviceOpResult, DeviceTensor, MetadataCall, OpRegistry, OpResult,
    ops::{
        batch_norm::{epsilon, metadata as batch_norm_metadata},
        convolution::{FilterLayout, Kind, convolution},
        pooling::pooling,
        support::{Described, invalid},
        window::Layout,
    },
};

/// Returns the images of an argument as NHWC.
pub(super) fn to_nhwc(call: &DeviceCall<'_>, x: &DeviceTensor) -> DeviceOpResult<DeviceTensor> {
    match Layout::of(call.attrs)? {
        Layout::Nhwc => Ok(x.clone()),
        Layout::Nchw => permuted(call, x, &[0, 2, 3, 1]),
    }
}

/// Converts NHWC images to the layout of the program.
pub(super) fn from_nhwc(call: &DeviceCall<'_>, y: DeviceTensor) -> DeviceOpResult<DeviceTensor> {
    match Layout::of(call.attrs)? {
        Layout::Nhwc => Ok(y),
        Layout::Nchw => permuted(call, &y, &[0, 3, 1, 2]),
    }
}

/// Returns the rows and columns of padding: top, bottom, left, right.
fn paddings(
    padding: Padding,
    input: Extent2,
    output: Extent2,
    covered: Extent2,
    strides: Extent2,
) -> [usize; 4] {
    match padding {
        Padding::Valid => [0; 4],
        Padding::Explicit { top, bottom, left, right } => [top, bottom, left, right],
        Padding::Same => {
            let around = |input: usize, output: usize, covered: usize, stride: usize| {
                let all = (output.saturating_sub(1) * stride + covered).saturating_sub(input);
                [all / 2, all - all / 2]
            };
            let [top, bottom] = around(input.height, output.height, covered.height, strides.height);
            let [left, right] = around(input.width, output.width, covered.width, strides.width);
            [top, bottom, left, right]
        }
    }
}

/// Returns the rows and columns from a filter's first element to its last.
fn covered(shape: &Conv2dShape) -> Extent2 {
    let covered = |window: usize, dilation: usize| (window - 1) * dilation + 1;
    Extent2::new(
        covered(shape.filter.height, shape.dilations.height),
        covered(shape.filter.width, shape.dilations.width),
    )
}

/// Describes NHWC images in the order N, C, H, W.
pub(super) fn images(tensor: &DeviceTensor) -> Result<TensorLayout, Diagnostic> {
    let &[n, h, w, c] = extents(tensor).as_slice() else {
        return Err(invalid("images have four dimensions"));
    };
    let strides = vec![h * w * c, 1, w * c, c];
    Ok(TensorLayout { dtype: tensor.dtype(), dims: vec![n, c, h, w], strides })
}

/// Returns the images, filter and result of a convolution, each with its layout.
pub(super) fn operands<'a>(
    layouts: &'a [TensorLayout; 3],
    tensors: [&'a DeviceTensor; 3],
) -> [DnnTensor<'a>; 3] {
    let [x, filter, y] = layouts;
    let [of_x, of_filter, of_y] = tensors.map(DeviceTensor::buffer);
    [DnnTensor::new(x, of_x), DnnTensor::new(filter, of_filter), DnnTensor::new(y, of_y)]
}

/// The way in which the DNN library computes a convolution.
pub(super) struct Plan {
    pub(super) geometry: Convolution,
    /// The border to add first, if the padding is asymmetric, which the library does not support:
    /// top, bottom, left, right.
    pub(super) border: Option<[usize; 4]>,
    /// The extents of the result: images, rows, columns and channels.
    pub(super) output: TensorShape,
}

impl Plan {
    pub(super) fn new(shape: &Conv2dShape, dtype: DType, op: &str) -> Result<Self, Diagnostic> {
        let compute = match dtype {
            DType::F16 | DType::BF16 | DType::F32 => DType::F32,
            DType::F64 => DType::F64,
            other => return Err(unsupported(op, other)),
        };
        let output = shape.output().map_err(|error| invalid(error.to_string()))?;
        let around = paddings(shape.padding, shape.input, output, covered(shape), shape.strides);
        let [top, bottom, left, right] = around;
        let uneven = top != bottom || left != right;
        let padding = if uneven { [0, 0] } else { [top as u64, left as u64] };
        Ok(Self {
            geometry: Convolution {
                padding: padding.to_vec(),
                strides: vec![shape.strides.height as u64, shape.strides.width as u64],
                dilations: vec![shape.dilations.height as u64, shape.dilations.width as u64],
                groups: shape.groups as u64,
                cross_correlation: true,
                compute,
                algorithm: -1,
            },
            border: uneven.then_some(around),
            output: TensorShape::new(&[shape.batch, output.height, output.width, shape.out_channels])?,
        })
    }

    /// Returns images with the border of the plan.
    pub(super) fn with_border(&self, call: &DeviceCall<'_>, x: DeviceTensor) -> DeviceOpResult<DeviceTensor> {
        match self.border {
            Some([top, bottom, left, right]) => {
                padded(call, &x, &[(0, 0), (top, bottom), (left, right), (0, 0)], None)
            }
            None => Ok(x),
        }
    }
}

/// Returns the rows, columns, inputs and outputs of a filter for the library. A depthwise filter is
/// a grouped one with one input and as many groups as channels.
pub(super) fn filter_extents(shape: &Conv2dShape) -> [usize; 4] {
    [shape.filter.height, shape.filter.width, shape.in_channels / shape.groups, shape.out_channels]
}

fn conv2d(call: &DeviceCall<'_>, what: (&str, Kind)) -> Queued {
    let [x, filter] = call.tensors()?;
    let y = match x.dtype() {
        DType::I32 => convolve_integers(call, what.1, [x, filter])?,
        _ => convolve(call, what, [x, filter], Epilogue::default())?,
    };
    Ok(from_nhwc(call, y)?.into())
}

/// Queues `conv(x, filter)` of integers, which the library does not support. The result is NHWC.
fn convolve_integers(
    call: &DeviceCall<'_>,
    kind: Kind,
    [x, filter]: [&DeviceTensor; 2],
) -> DeviceOpResult<DeviceTensor> {
    let (shape, _) = convolution(call.attrs, kind, x.shape(), filter.shape())?;
    let (window, channels) = convolution_window(&shape)?;
    let y = images_under(call, &window, (x.dtype(), shape.out_channels))?;
    let x = to_nhwc(call, x)?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.convolution(stream, y.buffer(), [x.buffer(), filter.buffer()], channels, &window)?;
    Ok(y)
}

/// What a convolution does with its sums before it stores them.
#[derive(Clone, Copy, Default)]
pub(super) struct Epilogue<'a> {
    /// One number for each channel, which is added.
    pub(super) bias: Option<&'a DeviceTensor>,
    /// NHWC images that are added.
    pub(super) residual: Option<&'a DeviceTensor>,
    /// Whether results are at least zero.
    pub(super) relu: bool,
}

/// Queues a convolution of filters in the order that the call's attributes name. The result is
/// NHWC.
pub(super) fn convolve(
    call: &DeviceCall<'_>,
    (op, kind): (&str, Kind),
    [x, filter]: [&DeviceTensor; 2],
    Epilogue { bias, residual, relu }: Epilogue<'_>,
) -> DeviceOpResult<DeviceTensor> {
    let (shape, result) = convolution(call.attrs, kind, x.shape(), filter.shape())?;
    let plan = Plan::new(&shape, x.dtype(), op)?;
    let y = call.allocate_as(&TensorMetadata::new(x.dtype(), plan.output.clone()))?;
    if result.num_elements()? == 0 {
        return Ok(y);
    }
    if x.shape().num_elements()? == 0 || filter.shape().num_elements()? == 0 {
        // The sum has no terms.
        let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
        kernels.fill(stream, y.dtype(), y.buffer(), count(&y), 0.0)?;
        if let Some(bias) = bias {
            combine(call, Binary::Add, &y, &y, bias)?;
        }
        if let Some(residual) = residual {
            combine(call, Binary::Add, &y, &y, residual)?;
        }
        if relu {
            kernels.unary(stream, Unary::Relu, y.dtype(), y.buffer(), y.buffer(), count(&y))?;
        }
        return Ok(y);
    }
    let x = plan.with_border(call, to_nhwc(call, x)?)?;
    // The library takes outputs, rows, columns, inputs. It names the extents in the order K, C, R,
    // S.
    let [rows, columns, inputs, outputs] = filter_extents(&shape);
    let filter = match FilterLayout::of(call.attrs)? {
        FilterLayout::Ohwi => filter.reshape(&TensorShape::new(&[outputs, rows, columns, inputs])?)?,
        FilterLayout::Hwio => {
            let filter = filter.reshape(&TensorShape::new(&[rows, columns, inputs, outputs])?)?;
            permuted(call, &filter, &[3, 0, 1, 2])?
        }
    };
    let layouts = [images(&x)?, images(&filter)?, images(&y)?];
    let operands = operands(&layouts, [&x, &filter, &y]);
    let of_bias = bias.map(|bias| channels(bias.dtype(), shape.out_channels as u64));
    let bias = of_bias.as_ref().zip(bias).map(|(layout, bias)| DnnTensor::new(layout, bias.buffer()));
    let relu = relu.then_some(DnnActivation {
        mode: ActivationMode::Relu,
        coefficient: 0.0,
        nan: NanPropagation::Propagate,
    });
    let of_residual = residual.map(images).transpose()?;
    let residual = of_residual.as_ref().zip(residual);
    let residual = residual.map(|(layout, residual)| (DnnTensor::new(layout, residual.buffer()), 1.0));
    call.queue.dnn()?.convolution_forward(&plan.geometry, Scaling::ONE, operands, bias, residual, relu)?;
    Ok(y)
}

/// Describes one number for each channel in the order N, C, H, W.
fn channels(dtype: DType, count: u64) -> TensorLayout {
    TensorLayout { dtype, dims: vec![1, count, 1, 1], strides: vec![count, 1, count, count] }
}

/// Converts a number to the type that kernels take.
fn narrow(n: usize) -> Result<u32, Diagnostic> {
    u32::try_from(n).map_err(|_| invalid("an image is too large for a device"))
}

fn position(extent: Extent2) -> Result<WindowPosition, Diagnostic> {
    Ok(WindowPosition { y: narrow(extent.height)?, x: narrow(extent.width)? })
}

/// Returns the windows of a pooling for kernels.
pub(super) fn pooling_window(shape: &PoolShape) -> Result<PoolingWindow, Diagnostic> {
    let output = shape.output().map_err(|error| invalid(error.to_string()))?;
    let [top, _, left, _] = paddings(shape.padding, shape.input, output, shape.window, shape.strides);
    Ok(PoolingWindow {
        batch: narrow(shape.batch)?,
        input: position(shape.input)?,
        channels: narrow(shape.channels)?,
        output: position(output)?,
        window: position(shape.window)?,
        strides: position(shape.strides)?,
        dilations: WindowPosition { y: 1, x: 1 },
        padding: position(Extent2::new(top, left))?,
    })
}

/// Returns the windows of a convolution for kernels, and the channels of its filter.
pub(super) fn convolution_window(shape: &Conv2dShape) -> Result<(PoolingWindow, FilterChannels), Diagnostic> {
    let output = shape.output().map_err(|error| invalid(error.to_string()))?;
    let [top, _, left, _] = paddings(shape.padding, shape.input, output, covered(shape), shape.strides);
    let window = PoolingWindow {
        batch: narrow(shape.batch)?,
        input: position(shape.input)?,
        channels: narrow(shape.in_channels)?,
        output: position(output)?,
        window: position(shape.filter)?,
        strides: position(shape.strides)?,
        dilations: position(shape.dilations)?,
        padding: position(Extent2::new(top, left))?,
    };
    Ok((window, FilterChannels { outputs: narrow(shape.out_channels)?, groups: narrow(shape.groups)? }))
}

/// Allocates a tensor for the results of windows over images: NHWC.
pub(super) fn pooled(
    call: &DeviceCall<'_>,
    window: &PoolingWindow,
    dtype: DType,
) -> DeviceOpResult<DeviceTensor> {
    images_under(call, window, (dtype, window.channels as usize))
}

/// Allocates a tensor with as many pixels as there are windows, and this many channels: NHWC.
fn images_under(
    call: &DeviceCall<'_>,
    window: &PoolingWindow,
    (dtype, channels): (DType, usize),
) -> DeviceOpResult<DeviceTensor> {
    let [batch, rows, columns] = [window.batch, window.output.y, window.output.x].map(|n| n as usize);
    call.allocate_as(&TensorMetadata::new(dtype, TensorShape::new(&[batch, rows, columns, channels])?))
}

/// Queues a pooling of f32 by the DNN library, if the device has one and both sides are padded
/// alike. Returns whether it does. Where no number is under a window, narrow types have another
/// least number than the library gives.
fn pool_by_library(
    call: &DeviceCall<'_>,
    (mode, shape): (PoolingMode, &PoolShape),
    [x, y]: [&DeviceTensor; 2],
) -> DeviceOpResult<bool> {
    let output = shape.output().map_err(|error| invalid(error.to_string()))?;
    let [top, bottom, left, right] =
        paddings(shape.padding, shape.input, output, shape.window, shape.strides);
    let follows = |input: usize, window: usize, padding: usize, stride: usize, output: usize| {
        let padded = (input + 2 * padding).checked_sub(window);
        padded.is_some_and(|rest| rest / stride + 1 == output) && padding < window
    };
    let has_such_windows = (top, left) == (bottom, right)
        && follows(shape.input.height, shape.window.height, top, shape.strides.height, output.height)
        && follows(shape.input.width, shape.window.width, left, shape.strides.width, output.width);
    if !has_such_windows || count(x) == 0 || x.dtype() != DType::F32 {
        return Ok(false);
    }
    let Ok(library) = call.queue.dnn() else { return Ok(false) };
    let both = |extent: Extent2| vec![extent.height as u64, extent.width as u64];
    let pooling = Pooling {
        mode,
        // Of numbers, as the kernel.
        nan: NanPropagation::NotPropagate,
        window: both(shape.window),
        padding: vec![top as u64, left as u64],
        strides: both(shape.strides),
    };
    let (of_x, of_y) = (images(x)?, images(y)?);
    let (from, to) = (DnnTensor::new(&of_x, x.buffer()), DnnTensor::new(&of_y, y.buffer()));
    library.pooling_forward(&pooling, Scaling::ONE, from, to)?;
    Ok(true)
}

fn max_pool(call: &DeviceCall<'_>) -> Queued {
    let [x] = call.tensors()?;
    let (shape, _) = pooling(call.attrs, x.shape())?;
    let window = pooling_window(&shape)?;
    if let (0, Some(least)) = (count(x), least_of_narrow(x.dtype())) {
        // Windows without pixels.
        return Ok(constant(call, call.result(0)?, least)?.into());
    }
    let known = to_nhwc(call, &ordered(call, x)?)?;
    let y = pooled(call, &window, known.dtype())?;
    if !pool_by_library(call, (PoolingMode::Max, &shape), [&known, &y])? {
        let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
        kernels.max_pool_of_numbers(stream, y.dtype(), y.buffer(), known.buffer(), &window)?;
    }
    Ok(from_nhwc(call, from_ordered(call, &y, x.dtype())?)?.into())
}

fn average_pool(call: &DeviceCall<'_>) -> Queued {
    let [x] = call.tensors()?;
    let (shape, _) = pooling(call.attrs, x.shape())?;
    let window = pooling_window(&shape)?;
    let (x, y) = (to_nhwc(call, x)?, pooled(call, &window, x.dtype())?);
    if !pool_by_library(call, (PoolingMode::AverageExcludePadding, &shape), [&x, &y])? {
        let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
        kernels.average_pool(stream, x.dtype(), y.buffer(), x.buffer(), false, &window)?;
    }
    Ok(from_nhwc(call, y)?.into())
}

/// Computes `activation((x - mean) · scale / √(variance + epsilon) + offset + side)` of NHWC
/// images. The vectors are mean, variance, scale and offset.
pub(super) fn normalized(
    call: &DeviceCall<'_>,
    x: &DeviceTensor,
    vectors: [&DeviceTensor; 4],
    side: Option<&DeviceTensor>,
    activation: Activation,
) -> DeviceOpResult<DeviceTensor> {
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    let y = call.allocate_as(x.metadata())?;
    let channels = count(vectors[0]);
    let factor = call.scratch(channels * 4)?;
    let [mean, variance, scale, offset] = vectors.map(DeviceTensor::buffer);
    kernels.normalization_factor(
        stream,
        &factor,
        [variance, scale],
        channels,
        epsilon(call.attrs)? as f32,
    )?;
    let affine = Affine {
        rows: count(x).checked_div(channels).unwrap_or(0),
        channels,
        residual: side.map(DeviceTensor::buffer),
        activation,
    };
    let parameters = [mean, &factor, offset];
    kernels.normalize_activation(stream, x.dtype(), y.buffer(), x.buffer(), parameters, affine)?;
    Ok(y)
}

/// Returns normalized images and statistics: the op's results, including those kept for the
/// gradient.
pub(super) fn normalization_results(
    call: &DeviceCall<'_>,
    y: DeviceTensor,
    [mean, variance, kept_mean, kept_variance]: [&DeviceTensor; 4],
) -> Queued {
    let mut tensors = smallvec![AsyncValue::new(from_nhwc(call, y)?)];
    for (index, metadata) in call.results.iter().enumerate().skip(1) {
        let tensor = match index {
            1 => mean.reshape(&metadata.shape)?,
            2 => variance.reshape(&metadata.shape)?,
            3 => kept_mean.reshape(&metadata.shape)?,
            4 => kept_variance.reshape(&metadata.shape)?,
            // Further reserved results are empty or unused.
            _ => constant(call, metadata, 0.0)?,
        };
        tensors.push(AsyncValue::new(tensor));
    }
    Ok(OpResult { tensors, done: None })
}

/// Applies batch normalization with known statistics, and the activation after it.
pub(super) fn batch_norm(
    call: &DeviceCall<'_>,
    side: Option<&DeviceTensor>,
    activation: Activation,
) -> Queued {
    let (x, scale, offset) = (call.tensor(0)?, call.tensor(1)?, call.tensor(2)?);
    let (mean, variance) = (call.tensor(3)?, call.tensor(4)?);
    let x = to_nhwc(call, x)?;
    let side = side.map(|side| to_nhwc(call, side)).transpose()?;
    let y = normalized(call, &x, [mean, variance, scale, offset], side.as_ref(), activation)?;
    normalization_results(call, y, [mean, variance, mean, variance])
}

/// Returns the metadata of batch normalization with known statistics and what follows it.
fn extended_metadata(call: MetadataCall<'_>) -> Described {
    let (five, side) = match call.arguments {
        [_, _, _, _, _] => (call.arguments, None),
        [five @ .., side] if five.len() == 5 => (five, Some(side)),
        other => return Err(invalid(format!("the op takes 5 or 6 arguments, got {}", other.len()))),
    };
    if let Some(side) = side.filter(|side| **side != five[0]) {
        return Err(invalid(format!("the side input must be like the images: {side} and {}", five[0])));
    }
    activation(call)?;
    batch_norm_metadata(MetadataCall { arguments: five, attrs: call.attrs }, true)
}

fn activation(call: MetadataCall<'_>) -> Result<Activation, Diagnostic> {
    match call.attrs.optional("activation_mode")?.unwrap_or("Identity") {
        "Identity" => Ok(Activation::Identity),
        "Relu" => Ok(Activation::Relu),
        other => Err(invalid(format!("'{other}' is no activation_mode: Identity and Relu are"))),
    }
}

fn extended_batch_norm(call: &DeviceCall<'_>) -> Queued {
    let side = (call.arguments.len() == 6).then(|| call.tensor(5)).transpose()?;
    let activation = activation(MetadataCall { arguments: &[], attrs: call.attrs })?;
    batch_norm(call, side, activation)
}

const FUSED_BATCH_NORM_EX: [AttrSpec; 3] = [
    attr::float_or("epsilon", 0.0001),
    attr::string_or("activation_mode", "Identity"),
    attr::string_or("data_format", "NHWC"),
];

pub(super) fn register(ops: &mut OpRegistry) {
    ops.extend("tf.Conv2D").device(|call| conv2d(call, ("tf.Conv2D", Kind::Full)));
    ops.extend("tf.DepthwiseConv2dNative")
        .device(|call| conv2d(call, ("tf.DepthwiseConv2dNative", Kind::Depthwise)));
    ops.extend("tf.MaxPool").device(max_pool);
    ops.extend("tf.AvgPool").device(average_pool);
    ops.add("tf._FusedBatchNormEx")
        .types(types::NARROW_FLOATS)
        .attrs(FUSED_BATCH_NORM_EX)
        .metadata(extended_metadata)
        .device(extended_batch_norm);
}
