//! Softmax, its logarithm, and the greatest element, along any dimension.

use tfrt_host::DType;
use tfrt_launch::{Line, LineOrder, OneHot, ReductionShape, Rows};
use tfrt_tensor::{TensorMetadata, TensorShape};

use super::super::Queued;
use crate::{
    DeviceCall, OpRegistry,
    ops::{
        device::{arrays::permuted, check_floats, count, expression::scalar},
        onnx::softmax::extents,
    },
};

fn softmax(call: &DeviceCall<'_>, log: bool) -> Queued {
    let [x] = call.tensors()?;
    check_floats(x.dtype(), "onnx.Softmax")?;
    let [outer, columns, inner] = extents(call.attrs, x.shape().dims())?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    if count(x) == 0 {
        return Ok(x.clone().into());
    }
    let rows = Rows { rows: (outer * inner) as u64, columns: columns as u64 };
    if inner == 1 {
        let y = call.reuse(&[0], 0)?;
        kernels.softmax(stream, x.dtype(), log, y.buffer(), x.buffer(), rows)?;
        return Ok(y.into());
    }
    let turned = permuted(call, &x.reshape(&TensorShape::new(&[outer, columns, inner])?)?, &[0, 2, 1])?;
    kernels.softmax(stream, x.dtype(), log, turned.buffer(), turned.buffer(), rows)?;
    Ok(permuted(call, &turned, &[0, 2, 1])?.reshape(x.shape())?.into())
}

/// Marks the first of the greatest elements of each line.
fn hardmax(call: &DeviceCall<'_>) -> Queued {
    let [x] = call.tensors()?;
    check_floats(x.dtype(), "onnx.Hardmax")?;
    let [outer, columns, inner] = extents(call.attrs, x.shape().dims())?.map(|extent| extent as u64);
    let y = call.allocate(0)?;
    if count(x) == 0 {
        return Ok(y.into());
    }
    let lines = TensorShape::new(&[(outer * inner) as usize])?;
    let places = call.allocate_as(&TensorMetadata::new(DType::I32, lines))?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    let line = Line { count: 1, order: LineOrder::Greatest };
    let shape = ReductionShape { outer, extent: columns, inner };
    kernels.top(stream, line, x.dtype(), None, places.buffer(), x.buffer(), shape)?;
    let (on, off) = (scalar(call, x.dtype(), 1.0)?, scalar(call, x.dtype(), 0.0)?);
    let (rows, index) = (OneHot { outer, depth: columns, inner }, (places.buffer(), DType::I32));
    kernels.one_hot(stream, y.dtype(), y.buffer(), index, [on.buffer(), off.buffer()], rows)?;
    Ok(y.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.extend("onnx.Softmax").device(|call| softmax(call, false));
    ops.extend("onnx.LogSoftmax").device(|call| softmax(call, true));
    ops.extend("onnx.Hardmax").device(hardmax);
}
