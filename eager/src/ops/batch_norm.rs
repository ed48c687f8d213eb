//! Batch normalization of images over channels, with given or batch statistics, and its gradient.

use std::ops::Deref;

use smallvec::smallvec;
use tfrt_compute::{OnQueue, shape_error};
use tfrt_host::{AsyncValue, DType, Diagnostic};
use tfrt_math::{
    BatchNormBackward, BatchNormBackwardInput, BlockOp, Coefficients, ColumnStatistics, Float, InputGradient,
};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, HostTensor, TensorMetadata, TensorShape, bf16, f16};

use super::images::{compute_images, from_nhwc, to_nhwc};
use super::support::{
    Computed, Described, allocate, compute, float_attr, invalid, product, unsupported, with_type,
};
use super::types;
use super::window::Layout;
use crate::{AttrSpec, CpuCall, MetadataCall, OpAttrs, OpRegistry, OpResult, attr};

static ME: Accessor = Accessor::new("tf.FusedBatchNorm");

/// TensorFlow's default for the number that is added to variances.
const EPSILON: f64 = 1e-4;

pub(super) fn epsilon(attrs: &OpAttrs) -> Result<f64, Diagnostic> {
    Ok(float_attr(attrs, "epsilon")?.unwrap_or(EPSILON))
}

pub(super) fn is_training(attrs: &OpAttrs) -> Result<bool, Diagnostic> {
    Ok(attrs.optional("is_training")?.unwrap_or(true))
}

/// Returns the weight of new statistics in running averages.
pub(super) fn average_factor(attrs: &OpAttrs) -> Result<f64, Diagnostic> {
    Ok(float_attr(attrs, "exponential_avg_factor")?.unwrap_or(1.0))
}

/// Checks that a tensor has one f32 for each channel. It may have any shape, because some programs
/// use four dimensions.
fn check_channels(tensor: &TensorMetadata, channels: usize, what: &str) -> Result<(), Diagnostic> {
    if tensor.dtype != DType::F32 {
        return Err(invalid(format!("{what} must be of type f32, got {}", tensor.dtype)));
    }
    if tensor.shape.num_elements()? == channels {
        return Ok(());
    }
    Err(invalid(format!(
        "{what} must have the same number of elements as the channels of x, got {} and {channels}",
        tensor.shape
    )))
}

/// Returns the metadata of `tf.FusedBatchNorm` and of its successors, which have one more result.
pub(super) fn metadata(call: MetadataCall<'_>, has_third_reserve: bool) -> Described {
    let [x, scale, offset, mean, variance] = call.take()?;
    let [_, _, _, channels] = Layout::of(call.attrs)?.images(&x.shape, "input")?;
    check_channels(scale, channels, "scale")?;
    check_channels(offset, channels, "offset")?;
    // In training, they are only used for averaging.
    let is_needed = !is_training(call.attrs)? || average_factor(call.attrs)? != 1.0;
    for (tensor, what) in [(mean, "mean"), (variance, "variance")] {
        let count = if is_needed { channels } else { tensor.shape.num_elements()? };
        check_channels(tensor, count, what)?;
    }
    let statistics = TensorMetadata::new(DType::F32, [channels]);
    let mut results =
        smallvec![x.clone(), statistics.clone(), statistics.clone(), statistics.clone(), statistics];
    if has_third_reserve {
        results.push(TensorMetadata::new(DType::F32, TensorShape::new(&[])?));
    }
    Ok(results)
}

/// The normalization of each channel: means, factors, addends.
type Channels = [Vec<f32>; 3];

fn fold([scale, offset, mean, variance]: [&[f32]; 4], epsilon: f64) -> Channels {
    let factor = |(&scale, &variance): (&f32, &f32)| {
        (f64::from(scale) / (f64::from(variance) + epsilon).sqrt()) as f32
    };
    [mean.to_vec(), scale.iter().zip(variance).map(factor).collect(), offset.to_vec()]
}

/// Computes `y = (x - mean) · factor + addend` for each channel.
fn normalize<T: Element + Float>(call: &CpuCall<'_>, x: &DenseHostTensor, channels: Channels) -> Computed {
    fn element<T: Float>(x: T, mean: f32, factor: f32, addend: f32) -> T {
        T::from_f64(f64::from((x.to_f64() as f32 - mean) * factor + addend))
    }
    let (out, layout) = (call.allocate_unset(0)?, Layout::of(call.attrs)?);
    let [_, height, width, depth] = layout.images(x.shape(), "input")?;
    // The contiguous elements: the channels of a pixel, or the pixels of a channel.
    let unit = if layout == Layout::Nhwc { depth } else { product(&[height, width]) };
    let (count, x) = (x.num_elements() / unit.max(1), x.read_owned::<T>(&ME)?);
    compute(call, &ME, out, (count, unit, unit), move |units, out: &mut [T]| {
        let [means, factors, addends] = &channels;
        let x = x[units.start * unit..units.end * unit].chunks_exact(unit.max(1));
        for ((out, x), number) in out.chunks_exact_mut(unit.max(1)).zip(x).zip(units) {
            if layout == Layout::Nhwc {
                let channels = means.iter().zip(factors).zip(addends);
                for ((out, &x), ((&mean, &factor), &addend)) in out.iter_mut().zip(x).zip(channels) {
                    *out = element(x, mean, factor, addend);
                }
            } else {
                let channel = number % depth;
                let (mean, factor, addend) = (means[channel], factors[channel], addends[channel]);
                out.iter_mut().zip(x).for_each(|(out, &x)| *out = element(x, mean, factor, addend));
            }
        }
        Ok(())
    })
}

/// Returns the mean and biased variance of each channel of images in `NHWC`.
fn statistics<T: Element + Float>(
    call: &CpuCall<'_>,
    x: &DenseHostTensor,
    depth: usize,
) -> Result<[Vec<f32>; 2], Diagnostic> {
    let x = to_nhwc(call, Layout::of(call.attrs)?, x)?;
    let x = x.read::<T>(&ME)?;
    let widened: Vec<f32>;
    // Elements that are already f32 are not copied.
    let x = match bytemuck::checked::try_cast_slice::<T, f32>(&x) {
        Ok(same) if T::DTYPE == DType::F32 => same,
        _ => {
            widened = x.iter().map(|x| x.to_f64() as f32).collect();
            &widened
        }
    };
    let (mut mean, mut variance) = (vec![0.0; depth], vec![0.0; depth]);
    if depth == 0 {
        return Ok([mean, variance]);
    }
    let plan = ColumnStatistics::<f32>::new(x.len() / depth, depth).map_err(shape_error)?;
    let mut partials = vec![0.0; plan.partials_len()];
    plan.run(&OnQueue(call.cx), x, &mut partials).map_err(shape_error)?;
    plan.finish(x, &partials, &mut mean, &mut variance).map_err(shape_error)?;
    Ok([mean, variance])
}

fn vector(call: &CpuCall<'_>, values: &[f32]) -> Result<AsyncValue, Diagnostic> {
    let tensor = DenseHostTensor::from_slice([values.len()], values, call.cx.host().allocator())?;
    Ok(AsyncValue::new(HostTensor::from(tensor)))
}

/// Returns the new running averages: `old + (new - old) · weight`.
fn averaged(old: &[f32], new: &[f32], weight: f32) -> Vec<f32> {
    if weight == 1.0 {
        return new.to_vec();
    }
    old.iter().zip(new).map(|(&old, &new)| old * (1.0 - weight) + new * weight).collect()
}

fn batch_norm<T: Element + Float>(call: &CpuCall<'_>) -> Computed {
    let [x, scale, offset, mean, variance] = call.dense()?;
    let [scale, offset, old_mean, old_variance] = [scale, offset, mean, variance].map(|t| t.read::<f32>(&ME));
    let (scale, offset, old_mean, old_variance) = (scale?, offset?, old_mean?, old_variance?);
    let epsilon = epsilon(call.attrs)?;
    let depth = scale.len();
    // The statistics that the op returns, and those that it keeps for the gradient.
    let (given, kept) = if is_training(call.attrs)? {
        let [mean, variance] = statistics::<T>(call, x, depth)?;
        let rows = x.num_elements() / depth.max(1);
        let unbiased = if rows > 1 { rows as f32 / (rows - 1) as f32 } else { 1.0 };
        let corrected: Vec<f32> = variance.iter().map(|v| v * unbiased).collect();
        let weight = average_factor(call.attrs)? as f32;
        let given = [averaged(&old_mean, &mean, weight), averaged(&old_variance, &corrected, weight)];
        (given, [mean, variance])
    } else {
        let known = [old_mean.to_vec(), old_variance.to_vec()];
        (known.clone(), known)
    };
    let channels = fold([&scale, &offset, &kept[0], &kept[1]], epsilon);
    let OpResult { mut tensors, done } = normalize::<T>(call, x, channels)?;
    for values in given.iter().chain(&kept) {
        tensors.push(vector(call, values)?);
    }
    if call.results.len() > 5 {
        let third = call.allocate_unset(5)?;
        third.write::<f32>(&ME)?.fill(0.0);
        tensors.push(AsyncValue::new(HostTensor::from(third)));
    }
    Ok(OpResult { tensors, done })
}

fn gradient_metadata(call: MetadataCall<'_>, has_third_reserve: bool) -> Described {
    let arguments = if has_third_reserve {
        let [dy, x, scale, mean, variance, _] = call.take()?;
        [dy, x, scale, mean, variance]
    } else {
        let [dy, x, scale, mean, variance] = call.take()?;
        [dy, x, scale, mean, variance]
    };
    let [dy, x, scale, mean, variance] = arguments;
    let [_, _, _, channels] = Layout::of(call.attrs)?.images(&x.shape, "input")?;
    if dy != x {
        return Err(invalid(format!("x and y_backprop must have the same type and shape, got {x} and {dy}")));
    }
    for (tensor, what) in [(scale, "scale"), (mean, "reserve_space_1"), (variance, "reserve_space_2")] {
        check_channels(tensor, channels, what)?;
    }
    let (vector, empty) = (TensorMetadata::new(DType::F32, [channels]), TensorMetadata::new(DType::F32, [0]));
    Ok(smallvec![x.clone(), vector.clone(), vector, empty.clone(), empty])
}

/// The inputs of the gradients, all in f32: the images in `NHWC`.
struct GradientInput<X> {
    x: X,
    dy: X,
    /// The scale, mean and variance of each channel.
    vectors: [Vec<f32>; 3],
}

/// The gradients with respect to scale and offset, and the coefficients of the one with respect to
/// the operand.
struct ChannelGradients {
    plan: InputGradient<f32>,
    coefficients: Coefficients<f32>,
    dscale: Vec<f32>,
    doffset: Vec<f32>,
}

impl<X: Deref<Target = [f32]>> GradientInput<X> {
    fn channels(&self, call: &CpuCall<'_>) -> Result<ChannelGradients, Diagnostic> {
        let Self { x, dy, vectors: [scale, mean, variance] } = self;
        let (depth, epsilon) = (scale.len(), epsilon(call.attrs)?);
        let plan =
            BatchNormBackward::<f32>::new(x.len() / depth.max(1), depth, epsilon).map_err(shape_error)?;
        let (mut dscale, mut doffset) = (vec![0.0; depth], vec![0.0; depth]);
        let input = BatchNormBackwardInput { x, dy, scale, mean, variance };
        let mut partials = vec![0.0; plan.partials_len()];
        BlockOp::run(&plan, &OnQueue(call.cx), input, &mut partials).map_err(shape_error)?;
        let mut coefficients =
            plan.finish(input, &partials, &mut dscale, &mut doffset).map_err(shape_error)?;
        if !is_training(call.attrs)? {
            // Known statistics do not depend on the operand. If they are finite, only the factor
            // remains.
            coefficients[1].fill(0.0);
            coefficients[2].fill(0.0);
        }
        Ok(ChannelGradients { plan: plan.input_gradient, coefficients, dscale, doffset })
    }
}

/// Returns the gradients with respect to operand, scale and offset.
fn gradient(call: &CpuCall<'_>) -> Computed {
    let mut dense = Vec::new();
    for argument in call.arguments.iter().take(5) {
        dense.push(argument.dense()?);
    }
    let &[dy, x, scale, mean, variance] = dense.as_slice() else {
        return Err(invalid("the gradient of batch normalization takes 5 or 6 arguments"));
    };
    let vector_of = |t: &DenseHostTensor| Ok::<_, Diagnostic>(t.read::<f32>(&ME)?.to_vec());
    let vectors = [vector_of(scale)?, vector_of(mean)?, vector_of(variance)?];
    let layout = Layout::of(call.attrs)?;
    let (result, dscale, doffset) = match x.dtype() {
        DType::F32 => {
            let [x, dy] = [x, dy].map(|images| to_nhwc(call, layout, images)?.read_owned::<f32>(&ME));
            let input = GradientInput { x: x?, dy: dy?, vectors };
            let ChannelGradients { plan, coefficients, dscale, doffset } = input.channels(call)?;
            let operands = ((input.dy, input.x, coefficients), call.allocate_unset(0)?);
            let dx = compute_images::<f32, _, _>(call, layout, plan, operands, |(dy, x, c)| (dy, x, c))?;
            (dx, dscale, doffset)
        }
        DType::F16 => narrow_gradient::<f16>(call, layout, [x, dy], vectors)?,
        DType::BF16 => narrow_gradient::<bf16>(call, layout, [x, dy], vectors)?,
        other => return Err(unsupported("tf.FusedBatchNormGrad", other)),
    };
    let OpResult { mut tensors, done } = result;
    tensors.extend([vector(call, &dscale)?, vector(call, &doffset)?, vector(call, &[])?, vector(call, &[])?]);
    Ok(OpResult { tensors, done })
}

/// Computes the gradients for images in half types, in f32, rounded once.
fn narrow_gradient<T: Element + Float>(
    call: &CpuCall<'_>,
    layout: Layout,
    [x, dy]: [&DenseHostTensor; 2],
    vectors: [Vec<f32>; 3],
) -> Result<(OpResult, Vec<f32>, Vec<f32>), Diagnostic> {
    let wide = |images: &DenseHostTensor| {
        let images = to_nhwc(call, layout, images)?;
        let wide: Vec<f32> = images.read::<T>(&ME)?.iter().map(|x| x.to_f64() as f32).collect();
        Ok::<_, Diagnostic>(wide)
    };
    let input = GradientInput { x: wide(x)?, dy: wide(dy)?, vectors };
    let ChannelGradients { plan, coefficients, dscale, doffset } = input.channels(call)?;
    let mut dx = vec![0.0; input.x.len()];
    plan.run(&OnQueue(call.cx), (&input.dy, &input.x, &coefficients), &mut dx).map_err(shape_error)?;
    let out = allocate(call, T::DTYPE, &layout.images(x.shape(), "input")?)?;
    out.write::<T>(&ME)?.iter_mut().zip(dx).for_each(|(out, dx)| *out = T::from_f64(dx.into()));
    Ok((from_nhwc(call, layout, out)?.into(), dscale, doffset))
}

const NORMALIZATION_GRADIENT: [AttrSpec; 3] = [
    attr::float_or("epsilon", 0.0001),
    attr::boolean_or("is_training", true),
    attr::string_or("data_format", "NHWC"),
];

const NORMALIZATION: [AttrSpec; 4] = [
    attr::float_or("epsilon", 0.0001),
    attr::boolean_or("is_training", true),
    attr::float_or("exponential_avg_factor", 1.0),
    attr::string_or("data_format", "NHWC"),
];

pub(super) fn register(ops: &mut OpRegistry) {
    macro_rules! forward {
        ($($name:literal, $third:literal;)*) => {$(
            ops.add($name).types(types::NARROW_FLOATS).attrs(NORMALIZATION).metadata(|call| metadata(call, $third)).cpu(|call| {
                with_type!(call.result(0)?.dtype, $name, |T| batch_norm::<T>(&call),
                    F16 tfrt_tensor::f16, BF16 tfrt_tensor::bf16, F32 f32)
            });
        )*};
    }
    forward! {
        "tf.FusedBatchNorm", false;
        "tf.FusedBatchNormV2", false;
        "tf.FusedBatchNormV3", true;
    }
    for name in ["tf.FusedBatchNormGrad", "tf.FusedBatchNormGradV2"] {
        ops.add(name)
            .types(types::NARROW_FLOATS)
            .attrs(NORMALIZATION_GRADIENT)
            .metadata(|call| gradient_metadata(call, false))
            .cpu(|call| gradient(&call));
    }
    ops.add("tf.FusedBatchNormGradV3")
        .types(types::NARROW_FLOATS)
        .attrs(NORMALIZATION_GRADIENT)
        .metadata(|call| gradient_metadata(call, true))
        .cpu(|call| gradient(&call));
}
