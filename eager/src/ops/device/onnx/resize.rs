//! `onnx.Resize`: weighted sums along one dimension after the other. The host computes which
//! elements each sum has.

use tfrt_host::DType;
use tfrt_launch::Weighted;
use tfrt_tensor::{DenseHostTensor, TensorMetadata, TensorShape};

use super::{super::Queued, device, host_if_given, inputs, saturated};
use crate::{
    DeviceCall, DeviceOpResult, DeviceTensor, HostArguments, OpRegistry,
    ops::{
        device::{expression::cast, image::chosen},
        onnx::resize::{Resizing, Taps, order_of},
        support::{product, room_for},
    },
};

/// Stands for the end of a sum.
const NOWHERE: i64 = -1;

/// Returns the type that elements are interpolated in.
fn work(dtype: DType) -> DType {
    use DType::{F64, I32, I64, UI32, UI64};
    match dtype {
        F64 | I32 | I64 | UI32 | UI64 => F64,
        _ => DType::F32,
    }
}

/// Interpolates along one dimension.
fn along(
    call: &DeviceCall<'_>,
    x: &DeviceTensor,
    axis: usize,
    (plan, outside): (&[Taps], f64),
) -> DeviceOpResult<DeviceTensor> {
    let taps = plan.iter().map(|taps| taps.places.len()).max().unwrap_or(0);
    let mut index = room_for(plan.len().saturating_mul(taps))?;
    let mut weights: Vec<f64> = room_for(plan.len().saturating_mul(taps))?;
    for (end, own) in (1..).zip(plan) {
        index.extend(own.places.iter().map(|&place| place as i64));
        weights.extend(&own.weights);
        index.resize(end * taps, NOWHERE);
        weights.resize(end * taps, 0.0);
    }
    let allocator = call.cx.host().allocator();
    let index = call.upload(&DenseHostTensor::from_slice([index.len()], &index, allocator)?.into())?;
    let weights = match x.dtype() {
        DType::F64 => DenseHostTensor::from_slice([weights.len()], &weights, allocator)?,
        _ => {
            let narrow: Vec<f32> = weights.iter().map(|&weight| weight as f32).collect();
            DenseHostTensor::from_slice([narrow.len()], &narrow, allocator)?
        }
    };
    let weights = call.upload(&weights.into())?;
    let mut dims = x.shape().dims().to_vec();
    let shape = Weighted {
        outer: product(&dims[..axis]) as u64,
        extent: dims[axis] as u64,
        inner: product(&dims[axis + 1..]) as u64,
        count: plan.len() as u64,
        taps: taps as u64,
        outside,
    };
    dims[axis] = plan.len();
    let y = call.allocate_as(&TensorMetadata::new(x.dtype(), TensorShape::new(&dims)?))?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    let tables = [index.buffer(), weights.buffer()];
    kernels.weighted(stream, x.dtype(), y.buffer(), x.buffer(), tables, shape)?;
    Ok(y)
}

fn resize(call: &DeviceCall<'_>) -> Queued {
    let [x, how @ ..] = inputs::<4>(call)?;
    let x = device(call, x, "X")?;
    let mut given = [None; 3];
    for (given, input) in given.iter_mut().zip(how) {
        *given = host_if_given(call, input)?;
    }
    let Resizing { shape, plans, outside, only_moves } = Resizing::of(call.attrs, x.shape(), given)?;
    if shape.num_elements()? == 0 {
        return Ok(call.allocate_as(&TensorMetadata::new(x.dtype(), shape))?.into());
    }
    let order = order_of(&plans, x.shape().dims());
    if only_moves {
        let mut y = x.clone();
        for axis in order {
            let places: Vec<usize> = plans[axis].iter().map(Taps::first).collect();
            y = chosen(call, &y, axis, &places)?;
        }
        return Ok(y.into());
    }
    let mut y = cast(call, x, work(x.dtype()), false)?;
    for axis in order {
        y = along(call, &y, axis, (&plans[axis], outside))?;
    }
    let y = saturated(call, &y, x.dtype())?;
    Ok(cast(call, &y, x.dtype(), false)?.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.extend("onnx.Resize").device_with(resize, HostArguments::at(&[1, 2, 3]));
}
