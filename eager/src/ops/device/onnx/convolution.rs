//! Convolutions in one to three dimensions as products of filters and patches, and transposed ones as
//! sums of patches, which are such products. What the DNN library has, the importer of ONNX turns into
//! `tf.Conv2D`.

use tfrt_host::DType;
use tfrt_launch::Binary;
use tfrt_tensor::{HostTensor, TensorMetadata, TensorShape};

use super::{super::Queued, device, device_if_given, inputs, pooling::of_kernels, wide};
use crate::{
    DeviceCall, DeviceOpResult, DeviceTensor, HostArguments, OpRegistry,
    ops::{
        device::{
            check_floats, count,
            expression::{broadcast, cast, constant, zip},
            linear::product as multiply,
        },
        onnx::{
            arguments::extents_of,
            col2im,
            conv::{Geometry, transposed},
            window::{MAX_SPATIAL, Window},
        },
        support::{integers, product},
    },
};

/// Returns a filter with its matrices for each image of a batch: one for all if there is one group.
fn matrices(
    call: &DeviceCall<'_>,
    filter: &DeviceTensor,
    (batch, groups): (usize, usize),
    [rows, columns]: [usize; 2],
) -> DeviceOpResult<DeviceTensor> {
    let filter = filter.reshape(&TensorShape::new(&[1, groups, rows, columns])?)?;
    match groups {
        1 => Ok(filter),
        _ => broadcast(call, &filter, &TensorShape::new(&[batch, groups, rows, columns])?),
    }
}

/// Returns a convolution without bias, in the type of its operands: [batch, outputs, …].
pub(super) fn convolved(
    call: &DeviceCall<'_>,
    geometry: &Geometry,
    [x, filter]: [&DeviceTensor; 2],
) -> DeviceOpResult<DeviceTensor> {
    let &Geometry { batch, channels, outputs, groups, ref window } = geometry;
    let (taps, plane, dtype) = (window.tap_count(), window.output_len(), x.dtype());
    let shape = TensorShape::new(&geometry.dims())?;
    if shape.num_elements()? == 0 || count(x) == 0 {
        return constant(call, &TensorMetadata::new(dtype, shape), 0.0);
    }
    let depth = (channels / groups).saturating_mul(taps);
    let allocate = |dims: &[usize]| call.allocate_as(&TensorMetadata::new(dtype, TensorShape::new(dims)?));
    let patches = allocate(&[batch, groups, depth, plane])?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    let at = ((batch * channels) as u64, &of_kernels(window));
    kernels.volume_patches(stream, dtype, patches.buffer(), x.buffer(), at)?;
    let rows = outputs / groups;
    let filter = matrices(call, filter, (batch, groups), [rows, depth])?;
    let y = allocate(&[batch, groups, rows, plane])?;
    multiply(call, "onnx.Conv", [false, false], [&filter, &patches], &y)?;
    Ok(y.reshape(&shape)?)
}

/// Adds a bias for each channel and rounds to the type of the result.
fn finished(
    call: &DeviceCall<'_>,
    y: DeviceTensor,
    bias: Option<&DeviceTensor>,
    dtype: DType,
) -> DeviceOpResult<DeviceTensor> {
    let Some(bias) = bias else { return cast(call, &y, dtype, false) };
    let mut dims = vec![1; y.shape().rank() - 1];
    dims[0] = bias.shape().num_elements()?;
    let bias = cast(call, bias, y.dtype(), false)?.reshape(&TensorShape::new(&dims)?)?;
    cast(call, &zip(call, Binary::Add, &y, &bias)?, dtype, false)
}

fn conv(call: &DeviceCall<'_>) -> Queued {
    let [x, w, bias] = inputs(call)?;
    let (x, w) = (device(call, x, "X")?, device(call, w, "W")?);
    check_floats(x.dtype(), "onnx.Conv")?;
    let geometry = Geometry::of(call.attrs, x.shape(), w.shape())?;
    let work = wide(x.dtype());
    let operands = [&cast(call, x, work, false)?, &cast(call, w, work, false)?];
    let y = convolved(call, &geometry, operands)?;
    Ok(finished(call, y, device_if_given(call, bias)?, x.dtype())?.into())
}

/// Adds patches up at their places in planes of extents `dims`.
fn summed(
    call: &DeviceCall<'_>,
    patches: &DeviceTensor,
    window: &Window,
    dims: &[usize],
) -> DeviceOpResult<DeviceTensor> {
    let y = call.allocate_as(&TensorMetadata::new(patches.dtype(), TensorShape::new(dims)?))?;
    let at = (product(&dims[..2]) as u64, &of_kernels(window));
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.sum_of_patches(stream, y.dtype(), y.buffer(), patches.buffer(), at)?;
    Ok(y)
}

fn conv_transpose(call: &DeviceCall<'_>) -> Queued {
    let [x, w, bias] = inputs(call)?;
    let (x, w) = (device(call, x, "X")?, device(call, w, "W")?);
    check_floats(x.dtype(), "onnx.ConvTranspose")?;
    let geometry = transposed(call.attrs, x.shape(), w.shape())?;
    // The window's output is the op's input.
    let Geometry { batch, channels, outputs, groups, window } = geometry;
    let axes = &window.axes[MAX_SPATIAL - window.rank..];
    let dims: Vec<usize> = [batch, outputs].into_iter().chain(axes.iter().map(|axis| axis.input)).collect();
    let (work, shape) = (wide(x.dtype()), TensorShape::new(&dims)?);
    let bias = device_if_given(call, bias)?;
    if shape.num_elements()? == 0 || count(x) == 0 {
        let zeros = constant(call, &TensorMetadata::new(work, shape), 0.0)?;
        return Ok(finished(call, zeros, bias, x.dtype())?.into());
    }
    let (plane, depth) = (window.output_len(), channels / groups);
    let rows = (outputs / groups).saturating_mul(window.tap_count());
    let images = cast(call, x, work, false)?.reshape(&TensorShape::new(&[batch, groups, depth, plane])?)?;
    let filter = matrices(call, &cast(call, w, work, false)?, (batch, groups), [depth, rows])?;
    let patches = TensorMetadata::new(work, TensorShape::new(&[batch, groups, rows, plane])?);
    let patches = call.allocate_as(&patches)?;
    multiply(call, "onnx.ConvTranspose", [true, false], [&filter, &images], &patches)?;
    let y = summed(call, &patches, &window, &dims)?;
    Ok(finished(call, y, bias, x.dtype())?.into())
}

fn sum_blocks(call: &DeviceCall<'_>) -> Queued {
    let x = call.tensor(0)?;
    check_floats(x.dtype(), "onnx.Col2Im")?;
    let list = |tensor: &HostTensor, name| extents_of(&integers(tensor, name)?);
    let image = list(call.host(1)?, "image_shape")?;
    let block = list(call.host(2)?, "block_shape")?;
    let window = col2im::window(call.attrs, &image, &block)?;
    let (channels, dims) = col2im::result(x.shape(), &window, &image)?;
    let shape = TensorShape::new(&dims)?;
    if shape.num_elements()? == 0 || channels == 0 || count(x) == 0 {
        return Ok(constant(call, &TensorMetadata::new(x.dtype(), shape), 0.0)?.into());
    }
    let wide = cast(call, x, wide(x.dtype()), false)?;
    Ok(cast(call, &summed(call, &wide, &window, &dims)?, x.dtype(), false)?.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.extend("onnx.Conv").device(conv);
    ops.extend("onnx.ConvTranspose").device(conv_transpose);
    ops.extend("onnx.Col2Im").device_with(sum_blocks, HostArguments::at(&[1, 2]));
}
