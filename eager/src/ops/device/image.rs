//! Resizing of images, with gradients, one axis after another: rows and columns of pixels are
//! gathered from positions that the host computes. Local response normalization.

use std::ops::Range;

use tfrt_host::{DType, Diagnostic};
use tfrt_launch::{Binary, LocalResponse, Reduction};
use tfrt_tensor::{DenseHostTensor, TensorMetadata, TensorShape};

use super::{
    Queued,
    arrays::{reduce_neighbours, reduced},
    check_floats, count,
    expression::{cast, computed_as, constant, zip},
    moves::picked,
};
use crate::{
    DeviceCall, DeviceOpResult, DeviceTensor, HostArguments, OpRegistry,
    ops::{
        image::{
            Place, Response, Scale, Sizes, Takers, positive_size, resized_columns, takers_between,
            takers_nearest,
        },
        pick::NOWHERE,
        support::{invalid, product, room_for},
        window::four,
    },
};

/// The axes of height and width in images.
const HEIGHT: usize = 1;
const WIDTH: usize = 2;

/// Returns images with the selected rows or columns along an axis.
pub(super) fn chosen(
    call: &DeviceCall<'_>,
    x: &DeviceTensor,
    axis: usize,
    places: &[usize],
) -> DeviceOpResult<DeviceTensor> {
    let mut dims = x.shape().dims().to_vec();
    if places.len() == dims[axis] && places.iter().enumerate().all(|(i, &place)| i == place) {
        return Ok(x.clone());
    }
    dims[axis] = places.len();
    picked(call, x, (product(&dims[..axis]), product(&dims[axis + 1..])), places, &dims)
}

/// Returns `x` times a weight for each place along an axis.
fn weighted(
    call: &DeviceCall<'_>,
    x: &DeviceTensor,
    axis: usize,
    weights: &[f32],
) -> DeviceOpResult<DeviceTensor> {
    let mut dims = [1; 4];
    dims[axis] = weights.len();
    let weights = DenseHostTensor::from_slice(dims, weights, call.cx.host().allocator())?;
    zip(call, Binary::Mul, x, &call.upload(&weights.into())?)
}

/// Interpolates each result along an axis between two of `extent`.
fn mixed(
    call: &DeviceCall<'_>,
    x: &DeviceTensor,
    (axis, scale): (usize, Scale),
    resized: usize,
) -> DeviceOpResult<DeviceTensor> {
    let extent = x.shape().dims()[axis];
    let places = resized_columns(1, resized, |at| scale.between(at, extent))?;
    let first = chosen(call, x, axis, &places.iter().map(|place| place.0).collect::<Vec<_>>())?;
    let second = chosen(call, x, axis, &places.iter().map(|place| place.1).collect::<Vec<_>>())?;
    let weights: Vec<f32> = places.iter().map(|place| place.2).collect();
    let step = weighted(call, &zip(call, Binary::Sub, &second, &first)?, axis, &weights)?;
    zip(call, Binary::Add, &first, &step)
}

fn resize_bilinear(call: &DeviceCall<'_>) -> Queued {
    let x = call.tensor(0)?;
    let sizes = Sizes::new(call.attrs, x.shape(), call.host(1)?)?;
    let metadata = TensorMetadata::new(DType::F32, TensorShape::new(&sizes.dims())?);
    if metadata.shape.num_elements()? == 0 {
        return Ok(call.allocate_as(&metadata)?.into());
    }
    let x = cast(call, x, DType::F32, false)?;
    let x = mixed(call, &x, (HEIGHT, sizes.scales[0]), sizes.output[0])?;
    Ok(mixed(call, &x, (WIDTH, sizes.scales[1]), sizes.output[1])?.into())
}

fn resize_nearest(call: &DeviceCall<'_>) -> Queued {
    let x = call.tensor(0)?;
    let sizes = Sizes::new(call.attrs, x.shape(), call.host(1)?)?;
    let metadata = TensorMetadata::new(x.dtype(), TensorShape::new(&sizes.dims())?);
    if metadata.shape.num_elements()? == 0 {
        return Ok(call.allocate_as(&metadata)?.into());
    }
    let [_, height, width, _] = sizes.input;
    let places = |axis: usize, extent: usize| {
        resized_columns(1, sizes.output[axis], |at| sizes.scales[axis].nearest(at, extent))
    };
    let x = chosen(call, x, HEIGHT, &places(0, height)?)?;
    Ok(chosen(call, &x, WIDTH, &places(1, width)?)?.into())
}

/// Returns what was taken from each of `extent` places along an axis, as parts along an additional
/// axis: as many for each place as the busiest one has, padded with zeros.
fn taken<P: Place>(
    call: &DeviceCall<'_>,
    gradient: &DeviceTensor,
    (axis, extent): (usize, usize),
    takers: &Takers<P>,
    weigh: bool,
) -> DeviceOpResult<DeviceTensor> {
    let parts = |(place, taken): (usize, Range<usize>)| {
        let (weighted, whole) = if weigh { (taken, 0..0) } else { (0..0, taken) };
        takers.weights(weighted, place).chain(whole.map(|taker| (taker, 1.0)))
    };
    let all = || takers.from(0).take(extent).enumerate().map(parts);
    let most = all().map(Iterator::count).max().unwrap_or(0);
    let count = extent.saturating_mul(most);
    let (mut places, mut weights) = (room_for(count)?, room_for(if weigh { count } else { 0 })?);
    for (end, parts) in (1..).zip(all()) {
        for (place, weight) in parts {
            places.push(place);
            if weigh {
                weights.push(weight);
            }
        }
        places.resize(end * most, NOWHERE);
        if weigh {
            weights.resize(end * most, 0.0);
        }
    }
    let mut taken = chosen(call, gradient, axis, &places)?;
    if weigh {
        taken = weighted(call, &taken, axis, &weights)?;
    }
    let (before, after) = gradient.shape().dims().split_at(axis);
    Ok(taken.reshape(&TensorShape::new(&[before, &[extent, most], &after[1..]].concat())?)?)
}

/// Returns the sums of what was taken from each of `extent` places along an axis.
fn given<P: Place>(
    call: &DeviceCall<'_>,
    gradient: &DeviceTensor,
    (axis, extent): (usize, usize),
    takers: &Takers<P>,
    weigh: bool,
) -> DeviceOpResult<DeviceTensor> {
    let mut dims = gradient.shape().dims().to_vec();
    dims[axis] = extent;
    // Allocated before any list, because there may be no memory for the result.
    let sum = call.allocate_as(&TensorMetadata::new(gradient.dtype(), TensorShape::new(&dims)?))?;
    let taken = taken(call, gradient, (axis, extent), takers, weigh)?;
    reduce_neighbours(call, Reduction::Sum, &sum, &taken, axis + 1..axis + 2)?;
    Ok(sum)
}

/// Computes the gradient in double precision: the parts, in single precision, are kept until they
/// are summed.
fn wide_gradient(call: &DeviceCall<'_>, gradient: &DeviceTensor) -> Queued {
    // Allocated before any list, because there may be no memory for the result.
    let sum = call.allocate(0)?;
    let &[batch, height, width, channels] = sum.shape().dims() else {
        return Err(invalid("images have four dimensions").into());
    };
    let takers = |extent, axis: usize| takers_between(call.attrs, extent, gradient.shape().dims()[axis]);
    let rows = taken(call, gradient, (HEIGHT, height), &takers(height, HEIGHT)?, true)?;
    let parts = rows.shape().dims()[HEIGHT + 1];
    let lines = TensorShape::new(&[batch, height * parts, gradient.shape().dims()[WIDTH], channels])?;
    let all = taken(call, &rows.reshape(&lines)?, (WIDTH, width), &takers(width, WIDTH)?, true)?;
    let rows = reduced(call, Reduction::Sum, &cast(call, &all, DType::F64, false)?, &[WIDTH + 1], false)?;
    let rows = rows.reshape(&TensorShape::new(&[batch, height, parts, width, channels])?)?;
    reduce_neighbours(call, Reduction::Sum, &sum, &rows, HEIGHT + 1..HEIGHT + 2)?;
    Ok(sum.into())
}

fn bilinear_gradient(call: &DeviceCall<'_>) -> Queued {
    let ([gradient, _], metadata) = (call.tensors()?, call.result(0)?);
    check_floats(metadata.dtype, "tf.ResizeBilinearGrad")?;
    if count(gradient) == 0 {
        return Ok(call.allocate(0)?.into());
    }
    if metadata.dtype == DType::F64 {
        return wide_gradient(call, gradient);
    }
    let mut sum = gradient.clone();
    for axis in [HEIGHT, WIDTH] {
        let extent = metadata.shape.dims()[axis];
        let takers = takers_between(call.attrs, extent, sum.shape().dims()[axis])?;
        sum = given(call, &sum, (axis, extent), &takers, true)?;
    }
    Ok(cast(call, &sum, metadata.dtype, false)?.into())
}

fn nearest_gradient(call: &DeviceCall<'_>) -> Queued {
    let gradient = call.tensor(0)?;
    let [batch, _, _, channels] = four(gradient.shape(), "grads")?;
    let [height, width] = positive_size(call.host(1)?)?;
    if count(gradient) == 0 {
        let shape = TensorShape::new(&[batch, height, width, channels])?;
        return Ok(constant(call, &TensorMetadata::new(gradient.dtype(), shape), 0.0)?.into());
    }
    // Sums wrap as in the type itself.
    let mut sum = cast(call, gradient, computed_as(gradient.dtype()), false)?;
    for (axis, extent) in [(HEIGHT, height), (WIDTH, width)] {
        let takers = takers_nearest(call.attrs, extent, sum.shape().dims()[axis])?;
        sum = given(call, &sum, (axis, extent), &takers, false)?;
    }
    Ok(cast(call, &sum, gradient.dtype(), false)?.into())
}

/// Returns the parameters of a response for kernels, and the numbers of pixels and channels of the
/// images.
fn response_of(call: &DeviceCall<'_>, x: &DeviceTensor) -> Result<(LocalResponse, [u64; 2]), Diagnostic> {
    let Response { radius, bias, alpha, beta } = Response::of(call.attrs)?;
    let [_, _, _, depth] = four(x.shape(), "in")?;
    Ok((LocalResponse { radius: radius as u64, bias, alpha, beta }, [count(x), depth as u64]))
}

fn response(call: &DeviceCall<'_>) -> Queued {
    let [x] = call.tensors()?;
    let ((response, extents), y) = (response_of(call, x)?, call.allocate(0)?);
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.local_response(stream, response, x.dtype(), y.buffer(), x.buffer(), extents)?;
    Ok(y.into())
}

fn response_gradient(call: &DeviceCall<'_>) -> Queued {
    let [dy, x, y] = call.tensors()?;
    let ((response, extents), dx) = (response_of(call, x)?, call.allocate(0)?);
    let shares = call.allocate_as(&TensorMetadata::new(DType::F32, x.shape().clone()))?;
    let operands = [dy, x, y].map(DeviceTensor::buffer);
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    let (out, scratch) = (dx.buffer(), shares.buffer());
    kernels.local_response_gradient(stream, response, x.dtype(), out, operands, scratch, extents)?;
    Ok(dx.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    let size_on_host = HostArguments::at(&[1]);
    ops.extend("tf.ResizeBilinear").device_with(resize_bilinear, size_on_host);
    ops.extend("tf.ResizeNearestNeighbor").device_with(resize_nearest, size_on_host);
    ops.extend("tf.ResizeBilinearGrad").device(bilinear_gradient);
    ops.extend("tf.ResizeNearestNeighborGrad").device_with(nearest_gradient, size_on_host);
    ops.extend("tf.LRN").device(response);
    ops.extend("tf.LRNGrad").device(response_gradient);
}
