//! `tfrt.NarrowMatMul`: a few rows are multiplied by the integers as they are packed, more by the
//! numbers that these stand for. Rows are not rounded.

use tfrt_host::DType;
use tfrt_launch::{Binary, Narrow};
use tfrt_tensor::{TensorMetadata, TensorShape};

use super::{super::Queued, device, device_if_given, inputs};
use crate::{
    DeviceCall, DeviceTensor, OpRegistry,
    ops::{
        device::{count, expression::zip, linear::product as multiply},
        narrow_matmul::shape_of,
    },
};

/// The most rows for which the matrix is read once for each four of them. More are worth the memory
/// of the numbers.
const MOST_ROWS: u64 = 16;

fn product(call: &DeviceCall<'_>) -> Queued {
    let [a, matrix, scales, zeros, bias] = inputs(call)?;
    let (a, matrix) = (device(call, a, "a")?, device(call, matrix, "matrix")?);
    let shape = shape_of(call.attrs, a.shape(), matrix.shape())?;
    let narrow = Narrow {
        matrix: matrix.buffer(),
        scales: device(call, scales, "scales")?.buffer(),
        zeros: device_if_given(call, zeros)?.map(DeviceTensor::buffer),
        depth: shape.depth() as u64,
        cols: shape.cols() as u64,
        block: shape.block() as u64,
        bits: shape.bits() as u64,
    };
    let y = call.allocate(0)?;
    if count(&y) == 0 {
        return Ok(y.into());
    }
    let rows = count(&y) / shape.cols() as u64;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    if rows <= MOST_ROWS {
        kernels.narrow_rows(stream, y.buffer(), (a.buffer(), rows), narrow)?;
    } else {
        let [rows, depth, cols] = [rows as usize, shape.depth(), shape.cols()];
        let whole = TensorMetadata::new(DType::F32, TensorShape::new(&[cols, depth])?);
        let values = call.allocate_as(&whole)?;
        kernels.narrow_values(stream, values.buffer(), narrow)?;
        let [from, to] = [[rows, depth], [rows, cols]].map(|dims| TensorShape::new(&dims));
        multiply(
            call,
            "tfrt.NarrowMatMul",
            [false, true],
            [&a.reshape(&from?)?, &values],
            &y.reshape(&to?)?,
        )?;
    }
    match device_if_given(call, bias)? {
        Some(bias) => Ok(zip(call, Binary::Add, &y, bias)?.into()),
        None => Ok(y.into()),
    }
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.extend("tfrt.NarrowMatMul").device(product);
}
