//! Batch normalization of images over channels, with given statistics and with the batch's, and its gradient.

use smallvec::smallvec;
use tfrt_host::{AsyncValue, DType, Diagnostic};
use tfrt_kernels::math::run::{run, shape_error};
use tfrt_math::{BatchNormBackward, BatchNormBackwardInput, BlockOp, ColumnStatistics, Float, Serial};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, HostTensor, TensorMetadata, TensorShape};

use super::support::{Computed, Described, compute, float_attr, invalid, unsupported, with_type};
use super::window::{Layout, check_layout};
use crate::{CpuCall, MetadataCall, OpAttrs, OpRegistry, OpResult};

static ME: Accessor = Accessor::new("tf.FusedBatchNorm");

/// What TensorFlow adds to variances if programs do not say.
const EPSILON: f64 = 1e-4;

pub(super) fn epsilon(attrs: &OpAttrs) -> Result<f64, Diagnostic> {
    Ok(float_attr(attrs, "epsilon")?.unwrap_or(EPSILON))
}

pub(super) fn is_training(attrs: &OpAttrs) -> Result<bool, Diagnostic> {
    Ok(attrs.optional("is_training")?.unwrap_or(true))
}

/// Whether a tensor has one f32 for each channel, of whatever shape: some programs write four dimensions.
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

/// The results of `tf.FusedBatchNorm` and of its successors, which have one more.
pub(super) fn metadata(call: MetadataCall<'_>, has_third_reserve: bool) -> Described {
    let [x, scale, offset, mean, variance] = call.take()?;
    let [_, _, _, channels] = Layout::of(call.attrs)?.images(&x.shape, "input")?;
    check_channels(scale, channels, "scale")?;
    check_channels(offset, channels, "offset")?;
    // In training, empty ones mean that there is nothing to average with.
    for (tensor, what) in [(mean, "mean"), (variance, "variance")] {
        if !is_training(call.attrs)? || tensor.shape.num_elements()? != 0 {
            check_channels(tensor, channels, what)?;
        }
    }
    let statistics = TensorMetadata::new(DType::F32, [channels]);
    let mut results =
        smallvec![x.clone(), statistics.clone(), statistics.clone(), statistics.clone(), statistics];
    if has_third_reserve {
        results.push(TensorMetadata::new(DType::F32, TensorShape::new(&[])?));
    }
    Ok(results)
}

/// What each channel is normalized with: mean, factor, addend.
type Channels = Vec<[f32; 3]>;

fn fold([scale, offset, mean, variance]: [&[f32]; 4], epsilon: f64) -> Channels {
    let channels = scale.iter().zip(offset).zip(mean.iter().zip(variance));
    let factor =
        |scale: f32, variance: f32| (f64::from(scale) / (f64::from(variance) + epsilon).sqrt()) as f32;
    channels.map(|((&s, &offset), (&mean, &v))| [mean, factor(s, v), offset]).collect()
}

/// `y = (x - mean) · factor + addend` for each channel.
fn normalize<T: Element + Float>(call: &CpuCall<'_>, x: &DenseHostTensor, channels: Channels) -> Computed {
    let (count, depth) = (x.num_elements(), channels.len());
    let out = call.allocate(0)?;
    let x = x.read_owned::<T>(&ME)?;
    let rows = count / depth.max(1);
    compute(call, &ME, out, (rows, depth, depth), move |rows, out: &mut [T]| {
        let x = x[rows.start * depth..rows.end * depth].chunks_exact(depth.max(1));
        for (out, x) in out.chunks_exact_mut(depth.max(1)).zip(x) {
            for ((out, x), [mean, factor, addend]) in out.iter_mut().zip(x).zip(&channels) {
                *out = T::from_f64(f64::from((x.to_f64() as f32 - mean) * factor + addend));
            }
        }
        Ok(())
    })
}

/// Mean and biased variance of each channel.
fn statistics<T: Element + Float>(x: &DenseHostTensor, depth: usize) -> Result<[Vec<f32>; 2], Diagnostic> {
    let x: Vec<f32> = x.read::<T>(&ME)?.iter().map(|x| x.to_f64() as f32).collect();
    let (mut mean, mut variance) = (vec![0.0; depth], vec![0.0; depth]);
    if x.is_empty() {
        return Ok([mean, variance]);
    }
    let plan = ColumnStatistics::<f32>::new(x.len() / depth, depth).map_err(shape_error)?;
    let mut partials = vec![0.0; plan.partials_len()];
    plan.run(&Serial, &x, &mut partials).map_err(shape_error)?;
    plan.finish(&x, &partials, &mut mean, &mut variance).map_err(shape_error)?;
    Ok([mean, variance])
}

fn vector(call: &CpuCall<'_>, values: &[f32]) -> Result<AsyncValue, Diagnostic> {
    let metadata = TensorMetadata::new(DType::F32, [values.len()]);
    let tensor = DenseHostTensor::allocate(metadata, call.cx.host().allocator())?;
    tensor.write::<f32>(&ME)?.copy_from_slice(values);
    Ok(AsyncValue::new(HostTensor::from(tensor)))
}

/// What running averages become: `old + (new - old) · weight`, where there are old ones.
fn averaged(old: &[f32], new: &[f32], weight: f32) -> Vec<f32> {
    if old.is_empty() || weight == 1.0 {
        return new.to_vec();
    }
    old.iter().zip(new).map(|(&old, &new)| old * (1.0 - weight) + new * weight).collect()
}

fn batch_norm<T: Element + Float>(call: &CpuCall<'_>) -> Computed {
    check_layout(call.attrs, "tf.FusedBatchNorm")?;
    let [x, scale, offset, mean, variance] = call.dense()?;
    let [scale, offset, old_mean, old_variance] = [scale, offset, mean, variance].map(|t| t.read::<f32>(&ME));
    let (scale, offset, old_mean, old_variance) = (scale?, offset?, old_mean?, old_variance?);
    let epsilon = epsilon(call.attrs)?;
    let depth = scale.len();
    // What the op gives of the statistics, and what it keeps for the gradient.
    let (given, kept) = if is_training(call.attrs)? {
        let [mean, variance] = statistics::<T>(x, depth)?;
        let rows = x.num_elements() / depth.max(1);
        let unbiased = if rows > 1 { rows as f32 / (rows - 1) as f32 } else { 1.0 };
        let corrected: Vec<f32> = variance.iter().map(|v| v * unbiased).collect();
        let weight = float_attr(call.attrs, "exponential_avg_factor")?.unwrap_or(1.0) as f32;
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
        let third = call.allocate(5)?;
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

/// The gradients with respect to operand, scale and offset. Only for images of f32.
fn gradient(call: &CpuCall<'_>) -> Computed {
    check_layout(call.attrs, "tf.FusedBatchNormGrad")?;
    let mut dense = Vec::new();
    for argument in call.arguments.iter().take(5) {
        dense.push(argument.dense()?);
    }
    let &[dy, x, scale, mean, variance] = dense.as_slice() else {
        return Err(invalid("the gradient of batch normalization takes 5 or 6 arguments"));
    };
    if x.dtype() != DType::F32 {
        return Err(unsupported("tf.FusedBatchNormGrad", x.dtype()));
    }
    let [scale, mean, variance] = [scale, mean, variance].map(|t| t.read::<f32>(&ME));
    let (scale, mean, variance) = (scale?, mean?, variance?);
    let (depth, epsilon) = (scale.len(), epsilon(call.attrs)?);
    let plan = BatchNormBackward::<f32>::new(x.num_elements() / depth.max(1), depth, epsilon)
        .map_err(shape_error)?;
    let (mut dscale, mut doffset) = (vec![0.0; depth], vec![0.0; depth]);
    let mut coefficients = {
        let (x, dy) = (x.read::<f32>(&ME)?, dy.read::<f32>(&ME)?);
        let input =
            BatchNormBackwardInput { x: &x, dy: &dy, scale: &scale, mean: &mean, variance: &variance };
        let mut partials = vec![0.0; plan.partials_len()];
        BlockOp::run(&plan, &Serial, input, &mut partials).map_err(shape_error)?;
        plan.finish(input, &partials, &mut dscale, &mut doffset).map_err(shape_error)?
    };
    if !is_training(call.attrs)? {
        // Known statistics do not depend on the operand.
        coefficients[1].fill(0.0);
        coefficients[2].fill(0.0);
    }
    let out = call.allocate(0)?;
    let reads = (dy.read_owned::<f32>(&ME)?, x.read_owned::<f32>(&ME)?, coefficients);
    let operands = (reads, out.write_owned::<f32>(&ME)?);
    let result = HostTensor::from(out.clone());
    let dx = run(call.cx, Ok(plan.input_gradient), operands, |(dy, x, c)| (dy, x, c), |out| out, result)?;
    let OpResult { mut tensors, done } = OpResult::from(dx);
    tensors.extend([vector(call, &dscale)?, vector(call, &doffset)?, vector(call, &[])?, vector(call, &[])?]);
    Ok(OpResult { tensors, done })
}

pub(super) fn register(ops: &mut OpRegistry) {
    macro_rules! forward {
        ($($name:literal, $third:literal;)*) => {$(
            ops.add($name).metadata(|call| metadata(call, $third)).cpu(|call| {
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
        ops.add(name).metadata(|call| gradient_metadata(call, false)).cpu(|call| gradient(&call));
    }
    ops.add("tf.FusedBatchNormGradV3")
        .metadata(|call| gradient_metadata(call, true))
        .cpu(|call| gradient(&call));
}
