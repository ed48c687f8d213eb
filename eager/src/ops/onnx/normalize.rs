//! Normalization of rows, planes, groups of planes and channels, and of channels by adjacent ones.

use tfrt_host::{DType, Diagnostic};
use tfrt_math::{Float, normalize_row};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, TensorMetadata, TensorShape};

use super::arguments::{
    OPERANDS, RESULTS, check_dims, check_same_type, count_or, dense, flag, formal, int_or, optional_dense,
    pick, required, wanted,
};
use super::parallel::for_units;
use super::two::results;
use crate::ops::support::{
    Computed, Described, allocate, axis_of, compute, float_attr, invalid, one, product, room_for, with_float,
};
use crate::ops::types;
use crate::{AttrSpec, CpuCall, MetadataCall, OpAttrs, OpRegistry, attr};

static ME: Accessor = Accessor::new("onnx normalization");

/// The number of partial sums, so that the additions of a sum do not wait for each other.
const LANES: usize = 8;

/// Returns the sum of a function of all elements.
fn sum<T: Float>(x: &[T], f: impl Fn(f64) -> f64) -> f64 {
    let mut lanes = [0.0; LANES];
    let chunks = x.chunks_exact(LANES);
    let rest: f64 = chunks.remainder().iter().map(|x| f(x.to_f64())).sum();
    for chunk in chunks {
        lanes.iter_mut().zip(chunk).for_each(|(lane, x)| *lane += f(x.to_f64()));
    }
    lanes.iter().sum::<f64>() + rest
}

/// Returns the mean and the population variance.
fn moments<T: Float>(x: &[T]) -> (f64, f64) {
    let count = x.len() as f64;
    let mean = sum(x, |x| x) / count;
    (mean, sum(x, |x| (x - mean) * (x - mean)) / count)
}

pub(in crate::ops) fn epsilon(attrs: &OpAttrs) -> Result<f64, Diagnostic> {
    Ok(float_attr(attrs, "epsilon")?.unwrap_or(f64::from(1e-5f32)))
}

/// The element of a broadcast tensor for each element of another.
enum Places {
    /// The only element.
    One,
    /// The same position in each row.
    Column,
    /// A table by the index of the element.
    Table(Vec<usize>),
}

impl Places {
    /// Creates the mapping for a tensor of shape `from` that is broadcast to `dims`, whose rows
    /// begin at dimension `axis`.
    fn new(from: &[usize], dims: &[usize], axis: usize) -> Result<Self, Diagnostic> {
        if from.len() > dims.len() {
            return Err(invalid(format!("a tensor of shape {from:?} cannot be broadcast to {dims:?}")));
        }
        let skipped = dims.len() - from.len();
        if from.iter().zip(&dims[skipped..]).any(|(&from, &dim)| from != dim && from != 1) {
            return Err(invalid(format!("a tensor of shape {from:?} cannot be broadcast to {dims:?}")));
        }
        if from.iter().all(|&dim| dim == 1) {
            return Ok(Self::One);
        }
        let row = &dims[axis..];
        let leading = from.len().saturating_sub(row.len());
        if from[leading..] == *row && from[..leading].iter().all(|&dim| dim == 1) {
            return Ok(Self::Column);
        }
        let count = product(dims);
        let mut table = room_for(count)?;
        for index in 0..count {
            let (mut rest, mut place, mut stride) = (index, 0, 1);
            for (&from, &dim) in from.iter().zip(&dims[skipped..]).rev() {
                place += if from == 1 { 0 } else { rest % dim * stride };
                rest /= dim;
                stride *= from;
            }
            table.push(place);
        }
        Ok(Self::Table(table))
    }

    fn of(&self, element: usize, column: usize) -> usize {
        match self {
            Self::One => 0,
            Self::Column => column,
            Self::Table(table) => table.get(element).copied().unwrap_or(0),
        }
    }
}

/// Returns the dimension at which the normalized rows begin.
pub(in crate::ops) fn row_axis(attrs: &OpAttrs, shape: &TensorShape) -> Result<usize, Diagnostic> {
    axis_of(int_or(attrs, "axis", -1)?, shape.rank(), "axis")
}

fn layer_metadata(call: MetadataCall<'_>) -> Described {
    let [x, scale, bias] = formal(call.arguments, call.attrs)?;
    let (x, scale) = (required(x, "X")?, required(scale, "Scale")?);
    let axis = row_axis(call.attrs, &x.shape)?;
    for tensor in [Some(scale), bias].into_iter().flatten() {
        check_same_type(("X", x), ("Scale or B", tensor))?;
    }
    let mut reduced = x.shape.dims().to_vec();
    reduced[axis..].fill(1);
    let statistics = TensorMetadata::new(DType::F32, TensorShape::new(&reduced)?);
    Ok(pick([x.clone(), statistics.clone(), statistics], wanted(call.attrs, [true, false, false])?))
}

/// Layer normalization in single precision, with a scale, and perhaps a bias, for each column.
fn layer_of_singles(
    call: &CpuCall<'_>,
    ([x, scale], bias): ([&DenseHostTensor; 2], Option<&DenseHostTensor>),
    (rows, columns): (usize, usize),
    epsilon: f64,
) -> Computed {
    let out = allocate(call, DType::F32, x.shape().dims())?;
    let (x, scale) = (x.read_owned::<f32>(&ME)?, scale.read_owned::<f32>(&ME)?);
    let bias = bias.map(|bias| bias.read_owned::<f32>(&ME)).transpose()?;
    compute(call, &ME, out, (rows, columns, columns.saturating_mul(2)), move |range, out: &mut [f32]| {
        for (row, out) in range.zip(out.chunks_exact_mut(columns)) {
            let x = &x[row * columns..][..columns];
            normalize_row(out, x, &scale, bias.as_deref(), epsilon as f32)?;
        }
        Ok(())
    })
}

fn layer<T: Element + Float>(call: &CpuCall<'_>) -> Computed {
    let [x, scale, bias] = formal(call.arguments, call.attrs)?;
    let (x, scale, bias) = (dense(x, "X")?, dense(scale, "Scale")?, optional_dense(bias)?);
    let (dims, epsilon) = (x.shape().dims(), epsilon(call.attrs)?);
    let axis = row_axis(call.attrs, x.shape())?;
    let (rows, columns) = (product(&dims[..axis]), product(&dims[axis..]));
    let scale_places = Places::new(scale.shape().dims(), dims, axis)?;
    let bias_places = bias.map(|bias| Places::new(bias.shape().dims(), dims, axis)).transpose()?;
    let wanted = wanted(call.attrs, [true, false, false])?;
    let is_plain = [Some(&scale_places), bias_places.as_ref()]
        .into_iter()
        .flatten()
        .all(|places| matches!(places, Places::Column));
    if T::DTYPE == DType::F32 && wanted == [true, false, false] && is_plain {
        return layer_of_singles(call, ([x, scale], bias), (rows, columns), epsilon);
    }
    let out = allocate(call, T::DTYPE, dims)?;
    let (x, scale) = (x.read_owned::<T>(&ME)?, scale.read_owned::<T>(&ME)?);
    let bias = bias.map(|bias| bias.read_owned::<T>(&ME)).transpose()?.zip(bias_places);
    let normalize = move |row: usize, x: &[T], out: &mut [T]| {
        let (mean, variance) = moments(x);
        let factor = 1.0 / (variance + epsilon).sqrt();
        for (column, (out, x)) in out.iter_mut().zip(x).enumerate() {
            let element = row * columns + column;
            let scaled = (x.to_f64() - mean) * factor * scale[scale_places.of(element, column)].to_f64();
            let shift = bias.as_ref().map_or(0.0, |(bias, places)| bias[places.of(element, column)].to_f64());
            *out = T::from_f64(scaled + shift);
        }
        (mean, factor)
    };
    if wanted == [true, false, false] {
        return compute(
            call,
            &ME,
            out,
            (rows, columns, columns.saturating_mul(4)),
            move |range, out: &mut [T]| {
                for (row, out) in range.zip(out.chunks_exact_mut(columns)) {
                    normalize(row, &x[row * columns..][..columns], out);
                }
                Ok(())
            },
        );
    }
    let mut reduced = dims.to_vec();
    reduced[axis..].fill(1);
    let [mut means, mut factors] =
        [allocate(call, DType::F32, &reduced)?, allocate(call, DType::F32, &reduced)?];
    let mut values = out;
    {
        means.elements_mut::<f32>()?.fill(f32::NAN);
        factors.elements_mut::<f32>()?.fill(f32::NAN);
        let statistics = means.elements_mut::<f32>()?.iter_mut().zip(factors.elements_mut::<f32>()?);
        let outputs = values.elements_mut::<T>()?.chunks_exact_mut(columns.max(1));
        for (row, (out, (mean, factor))) in outputs.zip(statistics).enumerate() {
            let (m, f) = normalize(row, &x[row * columns..][..columns], out);
            (*mean, *factor) = (m as f32, f as f32);
        }
    }
    Ok(results(pick([values, means, factors], wanted)))
}

fn rms_metadata(call: MetadataCall<'_>) -> Described {
    let [x, scale] = call.take()?;
    check_same_type(("X", x), ("scale", scale))?;
    row_axis(call.attrs, &x.shape)?;
    one(x.clone())
}

fn rms<T: Element + Float>(call: &CpuCall<'_>) -> Computed {
    let ([x, scale], out, epsilon) = (call.dense()?, call.allocate_unset(0)?, epsilon(call.attrs)?);
    let dims = x.shape().dims();
    let axis = row_axis(call.attrs, x.shape())?;
    let (rows, columns) = (product(&dims[..axis]), product(&dims[axis..]));
    let places = Places::new(scale.shape().dims(), dims, axis)?;
    let (x, scale) = (x.read_owned::<T>(&ME)?, scale.read_owned::<T>(&ME)?);
    compute(call, &ME, out, (rows, columns, columns.saturating_mul(4)), move |range, out: &mut [T]| {
        for (row, out) in range.zip(out.chunks_exact_mut(columns)) {
            let x = &x[row * columns..][..columns];
            let factor = 1.0 / (sum(x, |x| x * x) / columns as f64 + epsilon).sqrt();
            for (column, (out, x)) in out.iter_mut().zip(x).enumerate() {
                let scale = scale[places.of(row * columns + column, column)].to_f64();
                *out = T::from_f64(x.to_f64() * factor * scale);
            }
        }
        Ok(())
    })
}

/// Returns the batch, the channels and the number of elements of a plane.
pub(in crate::ops) fn planes(shape: &TensorShape) -> Result<[usize; 3], Diagnostic> {
    match shape.dims() {
        [batch, channels, plane @ ..] => Ok([*batch, *channels, product(plane)]),
        _ => Err(invalid(format!("the input must have at least 2 dimensions, got shape {shape}"))),
    }
}

fn grouped_metadata(call: MetadataCall<'_>) -> Described {
    let [x, scale, bias] = call.take()?;
    let [_, channels, _] = planes(&x.shape)?;
    for (name, tensor) in [("scale", scale), ("B", bias)] {
        check_same_type(("input", x), (name, tensor))?;
        check_dims(name, tensor.shape.dims(), &[channels])?;
    }
    one(x.clone())
}

/// Returns how many channels each of `groups` groups has.
pub(in crate::ops) fn group_size(shape: &TensorShape, groups: usize) -> Result<usize, Diagnostic> {
    let ([_, channels, _], groups) = (planes(shape)?, groups.max(1));
    if channels < groups || !channels.is_multiple_of(groups) {
        return Err(invalid(format!("{channels} channels cannot be divided into {groups} groups")));
    }
    Ok(channels / groups)
}

/// Normalizes groups of `group` channels.
fn grouped<T: Element + Float>(call: &CpuCall<'_>, group: usize) -> Computed {
    let ([x, scale, bias], out, epsilon) = (call.dense()?, call.allocate_unset(0)?, epsilon(call.attrs)?);
    let [batch, channels, plane] = planes(x.shape())?;
    let (x, scale, bias) = (x.read_owned::<T>(&ME)?, scale.read_owned::<T>(&ME)?, bias.read_owned::<T>(&ME)?);
    let (unit, groups) = (group.saturating_mul(plane), channels / group);
    compute(
        call,
        &ME,
        out,
        (batch.saturating_mul(groups), unit, unit.saturating_mul(4)),
        move |range, out: &mut [T]| {
            for (index, out) in range.zip(out.chunks_exact_mut(unit)) {
                let x = &x[index * unit..][..unit];
                let (mean, variance) = moments(x);
                let factor = 1.0 / (variance + epsilon).sqrt();
                let outputs = out.chunks_exact_mut(plane).zip(x.chunks_exact(plane));
                for (channel, (out, x)) in (index % groups * group..).zip(outputs) {
                    let (scale, bias) = (factor * scale[channel].to_f64(), bias[channel].to_f64());
                    out.iter_mut()
                        .zip(x)
                        .for_each(|(out, x)| *out = T::from_f64((x.to_f64() - mean) * scale + bias));
                }
            }
            Ok(())
        },
    )
}

fn batch_metadata(call: MetadataCall<'_>) -> Described {
    let [x, scale, bias, mean, variance] = call.take()?;
    let [_, channels, _] = planes(&x.shape)?;
    for (name, tensor) in [("scale", scale), ("B", bias), ("input_mean", mean), ("input_var", variance)] {
        check_dims(name, tensor.shape.dims(), &[channels])?;
    }
    let is_training = flag(call.attrs, "training_mode", false)?;
    let wanted = wanted(call.attrs, [true, is_training, is_training])?;
    if !is_training && (wanted[1] || wanted[2]) {
        return Err(invalid("running statistics are results in training mode alone"));
    }
    Ok(pick([x.clone(), mean.clone(), variance.clone()], wanted))
}

/// Returns a vector of any floating-point type.
fn vector(tensor: &DenseHostTensor) -> Result<Vec<f64>, Diagnostic> {
    with_float!(tensor.dtype(), "onnx.BatchNormalization", |T| {
        Ok(tensor.read::<T>(&ME)?.iter().map(|x| x.to_f64()).collect())
    })
}

fn vector_like(
    call: &CpuCall<'_>,
    like: &DenseHostTensor,
    values: &[f64],
) -> Result<DenseHostTensor, Diagnostic> {
    with_float!(like.dtype(), "onnx.BatchNormalization", |T| {
        let mut out = allocate(call, T::DTYPE, like.shape().dims())?;
        out.elements_mut::<T>()?.iter_mut().zip(values).for_each(|(out, &value)| *out = T::from_f64(value));
        Ok(out)
    })
}

/// Returns means and variances to be computed.
fn zero_statistics(channels: usize) -> Result<Vec<(f64, f64)>, Diagnostic> {
    let mut statistics = room_for(channels)?;
    statistics.resize(channels, (0.0, 0.0));
    Ok(statistics)
}

fn batch<T: Element + Float>(call: &CpuCall<'_>) -> Computed {
    let ([x, scale, bias, mean, variance], epsilon) = (call.dense()?, epsilon(call.attrs)?);
    let [batch, channels, plane] = planes(x.shape())?;
    let (scale, bias) = (vector(scale)?, vector(bias)?);
    let (given_mean, given_variance) = (vector(mean)?, vector(variance)?);
    let is_training = flag(call.attrs, "training_mode", false)?;
    let out = allocate(call, T::DTYPE, x.shape().dims())?;
    let x = x.read_owned::<T>(&ME)?;
    let statistics = if is_training {
        let mut statistics = zero_statistics(channels)?;
        for_units(
            call.cx,
            &mut statistics,
            (1, batch.saturating_mul(plane).saturating_mul(4)),
            &|channel, out| {
                let images = || {
                    (0..if plane == 0 { 0 } else { batch })
                        .map(|image| &x[(image * channels + channel) * plane..][..plane])
                };
                let count = batch as f64 * plane as f64;
                let mean = images().map(|x| sum(x, |x| x)).sum::<f64>() / count;
                let variance = images().map(|x| sum(x, |x| (x - mean) * (x - mean))).sum::<f64>() / count;
                out.fill((mean, variance));
            },
        );
        statistics
    } else {
        given_mean.iter().copied().zip(given_variance.iter().copied()).collect()
    };
    let factors: Vec<[f64; 2]> = statistics
        .iter()
        .zip(scale.iter().zip(&bias))
        .map(|(&(mean, variance), (&scale, &bias))| {
            let factor = scale / (variance + epsilon).sqrt();
            [factor, bias - mean * factor]
        })
        .collect();
    let cost = plane.saturating_mul(2);
    let normalized = compute(
        call,
        &ME,
        out,
        (batch.saturating_mul(channels), plane, cost),
        move |range, out: &mut [T]| {
            for (index, out) in range.zip(out.chunks_exact_mut(plane)) {
                let [factor, shift] = factors[index % channels];
                let x = &x[index * plane..][..plane];
                out.iter_mut().zip(x).for_each(|(out, x)| *out = T::from_f64(x.to_f64() * factor + shift));
            }
            Ok(())
        },
    )?;
    let wanted = wanted(call.attrs, [true, is_training, is_training])?;
    let momentum = float_attr(call.attrs, "momentum")?.unwrap_or(f64::from(0.9f32));
    let running = |old: &[f64], new: &dyn Fn(&(f64, f64)) -> f64| -> Vec<f64> {
        old.iter().zip(&statistics).map(|(old, new_)| old * momentum + new(new_) * (1.0 - momentum)).collect()
    };
    let means = vector_like(call, mean, &running(&given_mean, &|new| new.0))?;
    let variances = vector_like(call, variance, &running(&given_variance, &|new| new.1))?;
    let mut all = results([means, variances]).tensors.into_iter();
    let mut tensors = normalized.tensors;
    tensors.retain(|_| wanted[0]);
    for is_wanted in [wanted[1], wanted[2]] {
        tensors.extend(all.next().filter(|_| is_wanted));
    }
    Ok(crate::OpResult { tensors, done: None })
}

fn response_metadata(call: MetadataCall<'_>) -> Described {
    let [x] = call.take()?;
    planes(&x.shape)?;
    one(x.clone())
}

fn response<T: Element + Float>(call: &CpuCall<'_>) -> Computed {
    let ([x], out) = (call.dense()?, call.allocate_unset(0)?);
    let [batch, channels, plane] = planes(x.shape())?;
    let size = count_or(call.attrs, "size", 0)?;
    if size == 0 {
        return Err(invalid("attribute 'size' must be positive"));
    }
    let number = |name, default| Ok::<_, Diagnostic>(float_attr(call.attrs, name)?.unwrap_or(default));
    let (alpha, beta, bias) =
        (number("alpha", f64::from(1e-4f32))? / size as f64, number("beta", 0.75)?, number("bias", 1.0)?);
    let (before, after) = ((size - 1) / 2, size / 2);
    let x = x.read_owned::<T>(&ME)?;
    let unit = channels.saturating_mul(plane);
    compute(
        call,
        &ME,
        out,
        (batch, unit, unit.saturating_mul(size.min(channels).saturating_add(8))),
        move |range, out: &mut [T]| {
            for (image, out) in range.zip(out.chunks_exact_mut(unit)) {
                let x = &x[image * unit..][..unit];
                for (place, out) in out.iter_mut().enumerate() {
                    let (channel, pixel) = (place / plane, place % plane);
                    let near =
                        channel.saturating_sub(before)..channel.saturating_add(after + 1).min(channels);
                    let squares: f64 = near.map(|near| x[near * plane + pixel].to_f64().powi(2)).sum();
                    *out = T::from_f64(x[place].to_f64() / (bias + alpha * squares).powf(beta));
                }
            }
            Ok(())
        },
    )
}

const EPSILON: AttrSpec = attr::float_or("epsilon", 1e-5);

const LAYER: [AttrSpec; 5] =
    [attr::int_or("axis", -1), EPSILON, attr::int_or("stash_type", 1), OPERANDS, RESULTS];

const BATCH: [AttrSpec; 4] =
    [EPSILON, attr::float_or("momentum", 0.9), attr::int_or("training_mode", 0), RESULTS];

const RESPONSE: [AttrSpec; 4] = [
    attr::float_or("alpha", 0.0001),
    attr::float_or("beta", 0.75),
    attr::float_or("bias", 1.0),
    attr::int("size"),
];

pub(super) fn register(ops: &mut OpRegistry) {
    macro_rules! ops_of_floats {
        ($($name:literal, $attrs:expr, $metadata:path => |$call:ident, $T:ident| $body:expr;)*) => {$(
            ops.add($name).types(types::FLOATS).attrs($attrs).metadata($metadata).cpu(|call| {
                let dtype = call.arguments.first().map_or(DType::F32, |tensor| tensor.dtype());
                let $call = &call;
                with_float!(dtype, $name, |$T| $body)
            });
        )*};
    }
    ops_of_floats! {
        "onnx.LayerNormalization", LAYER, layer_metadata => |call, T| layer::<T>(call);
        "onnx.RMSNormalization", [attr::int_or("axis", -1), EPSILON, attr::int_or("stash_type", 1)], rms_metadata =>
            |call, T| rms::<T>(call);
        "onnx.InstanceNormalization", [EPSILON], grouped_metadata => |call, T| grouped::<T>(call, 1);
        "onnx.GroupNormalization", [EPSILON, attr::int("num_groups"), attr::int_or("stash_type", 1)], grouped_metadata =>
            |call, T| {
                let groups = count_or(call.attrs, "num_groups", 0)?;
                grouped::<T>(call, group_size(call.dense::<3>()?[0].shape(), groups)?)
            };
        "onnx.BatchNormalization", BATCH, batch_metadata => |call, T| batch::<T>(call);
        "onnx.LRN", RESPONSE, response_metadata => |call, T| response::<T>(call);
    }
}
