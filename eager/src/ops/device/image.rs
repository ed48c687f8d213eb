//! Images in other sizes, with gradients, one axis after the other: rows and columns of pixels are gathered from where the host
//! says.

use tfrt_host::DType;
use tfrt_kernels::device::Binary;
use tfrt_tensor::{DenseHostTensor, TensorMetadata, TensorShape};

use super::{
    Queued, count,
    expression::{cast, constant, zip},
    moves::picked,
    unsupported,
};
use crate::{
    DeviceCall, DeviceOpResult, DeviceTensor, HostArguments, OpRegistry,
    ops::{
        image::{Scale, Sizes, positive_size, resized_columns, taken_between, taken_nearest},
        moves::NOWHERE,
        support::product,
        window::four,
    },
};

/// The height and the width among the axes of images.
const HEIGHT: usize = 1;
const WIDTH: usize = 2;

/// Images with these rows or columns along an axis.
fn chosen(
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

/// `x` times a weight for each place along an axis.
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

/// Each result along an axis lies between two of `extent`.
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

/// For each place along an axis the sum of what was taken there: of the first places that took something, then of the
/// second, and so on.
fn given<P>(
    call: &DeviceCall<'_>,
    gradient: &DeviceTensor,
    axis: usize,
    taken: &[Vec<P>],
    part: impl Fn(&[Option<&P>]) -> DeviceOpResult<DeviceTensor>,
) -> DeviceOpResult<DeviceTensor> {
    let most = taken.iter().map(Vec::len).max().unwrap_or(0);
    let parts = (0..most).map(|turn| part(&taken.iter().map(|parts| parts.get(turn)).collect::<Vec<_>>()));
    let sum = parts.reduce(|sum, part| zip(call, Binary::Add, &sum?, &part?));
    sum.unwrap_or_else(|| {
        let mut dims = gradient.shape().dims().to_vec();
        dims[axis] = taken.len();
        constant(call, &TensorMetadata::new(gradient.dtype(), TensorShape::new(&dims)?), 0.0)
    })
}

fn bilinear_gradient(call: &DeviceCall<'_>) -> Queued {
    let ([gradient, _], metadata) = (call.tensors()?, call.result(0)?);
    match metadata.dtype {
        DType::F16 | DType::BF16 | DType::F32 => {}
        other => return Err(unsupported("tf.ResizeBilinearGrad", other).into()),
    }
    if count(gradient)? == 0 {
        return Ok(call.allocate(0)?.into());
    }
    let mut sum = gradient.clone();
    for axis in [HEIGHT, WIDTH] {
        let gradient = sum;
        let taken = taken_between(call.attrs, metadata.shape.dims()[axis], gradient.shape().dims()[axis])?;
        sum = given(call, &gradient, axis, &taken, |parts| {
            let places: Vec<_> = parts.iter().map(|part| part.map_or(NOWHERE, |part| part.0)).collect();
            let weights: Vec<_> = parts.iter().map(|part| part.map_or(0.0, |part| part.1)).collect();
            weighted(call, &chosen(call, &gradient, axis, &places)?, axis, &weights)
        })?;
    }
    Ok(cast(call, &sum, metadata.dtype, false)?.into())
}

fn nearest_gradient(call: &DeviceCall<'_>) -> Queued {
    let gradient = call.tensor(0)?;
    let [batch, _, _, channels] = four(gradient.shape(), "grads")?;
    let [height, width] = positive_size(call.host(1)?)?;
    if count(gradient)? == 0 {
        let shape = TensorShape::new(&[batch, height, width, channels])?;
        return Ok(constant(call, &TensorMetadata::new(gradient.dtype(), shape), 0.0)?.into());
    }
    let mut sum = gradient.clone();
    for (axis, extent) in [(HEIGHT, height), (WIDTH, width)] {
        let gradient = sum;
        let taken = taken_nearest(call.attrs, extent, gradient.shape().dims()[axis])?;
        sum = given(call, &gradient, axis, &taken, |parts| {
            let places: Vec<_> = parts.iter().map(|part| part.copied().unwrap_or(NOWHERE)).collect();
            chosen(call, &gradient, axis, &places)
        })?;
    }
    Ok(sum.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    let size_on_host = HostArguments::at(&[1]);
    ops.extend("tf.ResizeBilinear").device_with(resize_bilinear, size_on_host);
    ops.extend("tf.ResizeNearestNeighbor").device_with(resize_nearest, size_on_host);
    ops.extend("tf.ResizeBilinearGrad").device(bilinear_gradient);
    ops.extend("tf.ResizeNearestNeighborGrad").device_with(nearest_gradient, size_on_host);
}
