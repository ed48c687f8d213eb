//! Products of quantized numbers, in integers of 32 bits whose sums wrap.

use tfrt_host::{DType, Diagnostic};
use tfrt_launch::{Binary, Unary};
use tfrt_tensor::{TensorMetadata, TensorShape};

use super::{super::Queued, convolution::convolved, device, device_if_given, inputs, saturated};
use crate::{
    DeviceCall, DeviceOpResult, DeviceTensor, OpRegistry,
    ops::{
        device::{
            count,
            expression::{broadcast, cast, map, moved, zip},
            linear::product as multiply,
        },
        moves::{Axis, Moves},
        onnx::{
            conv::Geometry,
            integer_products::{matrices, product_dims},
        },
        support::{invalid, product},
    },
};

/// The side of matrices that has zero points or scales: one for all, or one for each row or column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Rows,
    Columns,
}

/// Returns numbers of a side of matrices, of extents `dims`, in a shape that is broadcast to them.
fn of_side(numbers: &DeviceTensor, side: Side, dims: &[usize]) -> Result<DeviceTensor, Diagnostic> {
    let (batch, own) = dims.split_at(dims.len().saturating_sub(2));
    let &[rows, columns] = own else { return Err(invalid("the op takes matrices")) };
    let (each, last) = match side {
        Side::Rows => (rows, [rows, 1]),
        Side::Columns => (columns, [1, columns]),
    };
    let given = numbers.shape().num_elements()?;
    if given == 1 {
        return numbers.reshape(&TensorShape::scalar());
    }
    if given == each {
        return numbers.reshape(&TensorShape::new(&last)?);
    }
    if product(batch).checked_mul(each) == Some(given) {
        return numbers.reshape(&TensorShape::new(&[batch, &last].concat())?);
    }
    Err(invalid(format!("{given} scales or zero points do not fit {each} rows or columns")))
}

/// Returns integers of 32 bits with their zero points subtracted, in the shape `dims` of matrices.
fn centered(
    call: &DeviceCall<'_>,
    x: &DeviceTensor,
    zeros: Option<&DeviceTensor>,
    (side, dims): (Side, &[usize]),
) -> DeviceOpResult<DeviceTensor> {
    let x = cast(call, x, DType::I32, false)?.reshape(&TensorShape::new(dims)?)?;
    let Some(zeros) = zeros else { return Ok(x) };
    zip(call, Binary::Sub, &x, &of_side(&cast(call, zeros, DType::I32, false)?, side, dims)?)
}

/// Returns the products of two tensors of matrices, whose batches are broadcast together, in the
/// shape [batch, rows, columns].
fn products(
    call: &DeviceCall<'_>,
    [a, b]: [&DeviceTensor; 2],
    [a_zeros, b_zeros]: [Option<&DeviceTensor>; 2],
) -> DeviceOpResult<DeviceTensor> {
    let (left, right, added) = matrices(a.shape(), b.shape())?;
    let mut dims = product_dims(a.shape(), b.shape())?;
    // Vectors as matrices of one row or column.
    if added[1] {
        dims.push(1);
    }
    if added[0] {
        dims.insert(dims.len() - 1, 1);
    }
    let batch = &dims[..dims.len() - 2];
    let whole = |tensor: DeviceTensor| {
        let own = tensor.shape().dims();
        let last = &own[own.len() - 2..];
        match product(&own[..own.len() - 2]) {
            1 => Ok(tensor),
            _ => broadcast(call, &tensor, &TensorShape::new(&[batch, last].concat())?),
        }
    };
    let a = whole(centered(call, a, a_zeros, (Side::Rows, &left))?)?;
    let b = whole(centered(call, b, b_zeros, (Side::Columns, &right))?)?;
    let y = call.allocate_as(&TensorMetadata::new(DType::I32, TensorShape::new(&dims)?))?;
    if count(&y) > 0 {
        multiply(call, "onnx product of integers", [false, false], [&a, &b], &y)?;
    }
    Ok(y)
}

fn matmul(call: &DeviceCall<'_>) -> Queued {
    let [a, b, a_zeros, b_zeros] = inputs(call)?;
    let (a, b) = (device(call, a, "A")?, device(call, b, "B")?);
    let zeros = [device_if_given(call, a_zeros)?, device_if_given(call, b_zeros)?];
    let shape = TensorShape::new(&product_dims(a.shape(), b.shape())?)?;
    Ok(products(call, [a, b], zeros)?.reshape(&shape)?.into())
}

/// Returns the first element of a tensor as an f64.
fn first(call: &DeviceCall<'_>, x: &DeviceTensor, name: &str) -> DeviceOpResult<DeviceTensor> {
    let elements = x.shape().num_elements()?;
    if elements == 0 {
        return Err(invalid(format!("'{name}' is empty")).into());
    }
    let vector = x.reshape(&TensorShape::new(&[elements])?)?;
    let moves = Moves::new(&[elements], vec![Axis::whole(1)]);
    cast(call, &moved(call, &vector, &moves, &[])?, DType::F64, false)
}

/// Multiplies sums by factors (f64), rounds, adds a zero point and cuts to the range of its type.
fn requantized(
    call: &DeviceCall<'_>,
    sums: &DeviceTensor,
    factors: &DeviceTensor,
    zero: &DeviceTensor,
) -> DeviceOpResult<DeviceTensor> {
    let y = zip(call, Binary::Mul, &cast(call, sums, DType::F64, false)?, factors)?;
    let y = map(call, Unary::Round, &y)?;
    let y = zip(call, Binary::Add, &y, &first(call, zero, "y_zero_point")?)?;
    let y = saturated(call, &y, zero.dtype())?;
    cast(call, &y, zero.dtype(), false)
}

fn linear_matmul(call: &DeviceCall<'_>) -> Queued {
    let [a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero] = call.tensors()?;
    let sums = products(call, [a, b], [Some(a_zero), Some(b_zero)])?;
    let scale = |scale: &DeviceTensor, side| -> DeviceOpResult<DeviceTensor> {
        Ok(of_side(&cast(call, scale, DType::F64, false)?, side, sums.shape().dims())?)
    };
    let factors = zip(call, Binary::Mul, &scale(a_scale, Side::Rows)?, &scale(b_scale, Side::Columns)?)?;
    let factors = zip(call, Binary::Div, &factors, &first(call, y_scale, "y_scale")?)?;
    let shape = TensorShape::new(&product_dims(a.shape(), b.shape())?)?;
    Ok(requantized(call, &sums, &factors, y_zero)?.reshape(&shape)?.into())
}

/// Returns a convolution of integers of 32 bits.
fn sums(
    call: &DeviceCall<'_>,
    [x, w]: [&DeviceTensor; 2],
    [x_zero, w_zeros]: [Option<&DeviceTensor>; 2],
) -> DeviceOpResult<DeviceTensor> {
    let geometry = Geometry::of(call.attrs, x.shape(), w.shape())?;
    let all = [1, x.shape().num_elements()?.max(1)];
    let images = match count(x) {
        0 => cast(call, x, DType::I32, false)?,
        _ => centered(call, x, x_zero, (Side::Rows, &all))?.reshape(x.shape())?,
    };
    let outputs = geometry.outputs.max(1);
    let rows = [outputs, w.shape().num_elements()? / outputs];
    let filter = centered(call, w, w_zeros, (Side::Rows, &rows))?;
    convolved(call, &geometry, [&images, &filter])
}

fn conv_integer(call: &DeviceCall<'_>) -> Queued {
    let [x, w, x_zero, w_zeros] = inputs(call)?;
    let operands = [device(call, x, "x")?, device(call, w, "w")?];
    Ok(sums(call, operands, [device_if_given(call, x_zero)?, device_if_given(call, w_zeros)?])?.into())
}

/// Returns a vector of one number for each channel, or of one for all, in a shape that is broadcast
/// to [batch, channels, …].
fn of_channels(x: &DeviceTensor, channels: usize, rank: usize) -> Result<DeviceTensor, Diagnostic> {
    let given = x.shape().num_elements()?;
    if given != 1 && given != channels {
        let message = format!("w_scale and B must have a number for each of {channels} output channels");
        return Err(invalid(message));
    }
    let mut dims = vec![1; rank.saturating_sub(1).max(1)];
    dims[0] = given;
    x.reshape(&TensorShape::new(&dims)?)
}

fn linear_conv(call: &DeviceCall<'_>) -> Queued {
    let [x, x_scale, x_zero, w, w_scale, w_zeros, y_scale, y_zero, bias] = inputs(call)?;
    let given = |input, name| device(call, input, name);
    let operands = [given(x, "x")?, given(w, "w")?];
    let zeros = [Some(given(x_zero, "x_zero_point")?), Some(given(w_zeros, "w_zero_point")?)];
    let mut y = sums(call, operands, zeros)?;
    let &[_, channels, ..] = y.shape().dims() else { return Err(invalid("images have channels").into()) };
    let rank = y.shape().rank();
    if let Some(bias) = device_if_given(call, bias)? {
        if bias.shape().num_elements()? != channels {
            return Err(invalid(format!("B must have a number for each of {channels} channels")).into());
        }
        y = zip(call, Binary::Add, &y, &of_channels(&cast(call, bias, DType::I32, false)?, channels, rank)?)?;
    }
    let x_scale = first(call, given(x_scale, "x_scale")?, "x_scale")?;
    let y_scale = first(call, given(y_scale, "y_scale")?, "y_scale")?;
    let scale = zip(call, Binary::Div, &x_scale, &y_scale)?;
    let w_scale = cast(call, given(w_scale, "w_scale")?, DType::F64, false)?;
    let factors = zip(call, Binary::Mul, &scale, &of_channels(&w_scale, channels, rank)?)?;
    Ok(requantized(call, &y, &factors, given(y_zero, "y_zero_point")?)?.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.extend("onnx.MatMulInteger").device(matmul);
    ops.extend("onnx.QLinearMatMul").device(linear_matmul);
    ops.extend("onnx.ConvInteger").device(conv_integer);
    ops.extend("onnx.QLinearConv").device(linear_conv);
}
