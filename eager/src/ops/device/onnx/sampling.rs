//! Images at coordinates and in regions, and the coordinates of affine transformations.

use tfrt_host::DType;
use tfrt_launch::{GridSampling, Regions, SampledPadding, SampledPlanes};
use tfrt_tensor::{DenseHostTensor, TensorMetadata, TensorShape};

use super::{super::Queued, wide};
use crate::{
    DeviceCall, HostArguments, OpRegistry,
    ops::{
        device::{check_floats, count, expression::cast, linear::product as multiply, unsupported},
        onnx::{
            arguments::int_or,
            grid::{self, AffineGrid, Mode, Padding, Sampling},
            roi::{MAX_SAMPLES, align_extents, images, is_average, is_half_pixel},
        },
        support::{float_attr, invalid},
    },
};

/// The most spatial dimensions that the kernel has.
const MAX_RANK: usize = 3;

/// Returns extents after those of the dimensions that they lack.
fn last_three(extents: &[usize]) -> [u64; 3] {
    let mut three = [1; MAX_RANK];
    let places = three.iter_mut().rev().zip(extents.iter().rev());
    places.for_each(|(place, &extent)| *place = extent as u64);
    three
}

fn grid_sample(call: &DeviceCall<'_>) -> Queued {
    let ([x, grid], y) = (call.tensors()?, call.allocate(0)?);
    check_floats(x.dtype(), "onnx.GridSample")?;
    check_floats(grid.dtype(), "onnx.GridSample")?;
    let (batch, channels, spatial, at) = grid::extents(x.shape(), grid.shape())?;
    let sampling = Sampling::of(call.attrs)?;
    if count(&y) == 0 {
        return Ok(y.into());
    }
    if spatial.contains(&0) {
        return Err(invalid("images without elements have no samples").into());
    }
    if spatial.len() > MAX_RANK {
        return Err(unsupported("onnx.GridSample of more than 3 dimensions", x.dtype()).into());
    }
    let planes = SampledPlanes {
        batch: batch as u64,
        channels: channels as u64,
        input: last_three(spatial),
        output: last_three(at),
        rank: spatial.len() as u32,
    };
    let sampling = GridSampling {
        taps: match sampling.mode {
            Mode::Nearest => 1,
            Mode::Linear => 2,
            Mode::Cubic => 4,
        },
        padding: match sampling.padding {
            Padding::Zeros => SampledPadding::Zeros,
            Padding::Border => SampledPadding::Border,
            Padding::Reflection => SampledPadding::Reflection,
        },
        aligned: sampling.aligns_corners,
    };
    let grid = cast(call, grid, DType::F64, false)?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.grid_sample(stream, x.dtype(), y.buffer(), [x.buffer(), grid.buffer()], planes, sampling)?;
    Ok(y.into())
}

/// Multiplies the coordinates of all points, which the host computes, with the transformations.
fn affine_grid(call: &DeviceCall<'_>) -> Queued {
    let theta = call.tensor(0)?;
    check_floats(theta.dtype(), "onnx.AffineGrid")?;
    let AffineGrid { dims, points, rank } = AffineGrid::of(call.attrs, theta.shape(), call.host(1)?)?;
    let (dtype, rows) = (wide(theta.dtype()), points.len() / (rank + 1));
    let y = TensorMetadata::new(dtype, TensorShape::new(&[dims[0], rows, rank])?);
    let y = call.allocate_as(&y)?;
    if count(&y) > 0 {
        let shape = TensorShape::new(&[1, rows, rank + 1])?;
        let points = DenseHostTensor::from_slice(shape, &points, call.cx.host().allocator())?;
        let points = cast(call, &call.upload(&points.into())?, dtype, false)?;
        let theta = cast(call, theta, dtype, false)?;
        multiply(call, "onnx.AffineGrid", [false, true], [&points, &theta], &y)?;
    }
    Ok(cast(call, &y, theta.dtype(), false)?.reshape(&TensorShape::new(&dims)?)?.into())
}

fn align(call: &DeviceCall<'_>) -> Queued {
    let ([x, corners, of], y) = (call.tensors()?, call.allocate(0)?);
    check_floats(x.dtype(), "onnx.RoiAlign")?;
    let ([batch, channels, height, width], output) = (images(x.shape())?, align_extents(call.attrs)?);
    let (half, maxima) = (is_half_pixel(call.attrs)?, !is_average(call.attrs)?);
    if count(&y) == 0 {
        return Ok(y.into());
    }
    if corners.dtype() != x.dtype() {
        return Err(invalid(format!("regions must be of type {}, got {}", x.dtype(), corners.dtype())).into());
    }
    let ratio = int_or(call.attrs, "sampling_ratio", 0)?;
    if ratio as f64 > MAX_SAMPLES {
        return Err(invalid(format!("{ratio} samples of a result are too many")).into());
    }
    let regions = Regions {
        count: corners.shape().dims().first().copied().unwrap_or(0) as u64,
        batch: batch as u64,
        channels: channels as u64,
        input: [height, width].map(|extent| extent as u64),
        output: output.map(|extent| extent as u64),
        scale: float_attr(call.attrs, "spatial_scale")?.unwrap_or(1.0),
        ratio,
        half,
        maxima,
    };
    let of = cast(call, of, DType::I64, false)?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    let operands = [x.buffer(), corners.buffer(), of.buffer()];
    kernels.roi_align(stream, x.dtype(), y.buffer(), operands, regions)?;
    Ok(y.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.extend("onnx.GridSample").device(grid_sample);
    ops.extend("onnx.AffineGrid").device_with(affine_grid, HostArguments::at(&[1]));
    ops.extend("onnx.RoiAlign").device(align);
}
