//! Products of matrices through the device's BLAS library, and sums with biases.

use tfrt_cuda::{
    front::{GemmArguments, Matrix},
    hal::Transpose,
};
use tfrt_host::DType;
use tfrt_kernels::device::{Activation, Affine, Binary};

use super::{Queued, count, elementwise::combine, unsupported};
use crate::{
    DeviceCall, DeviceOpResult, DeviceTensor, OpRegistry,
    ops::{
        matmul::{MATMUL, transposed},
        support::invalid,
    },
};

/// Queues `c = a · b`, either of which may be transposed. All are row-major: to the library, which counts columns first, that
/// is the transposed product of the transposed matrices.
fn product(
    call: &DeviceCall<'_>,
    a: &DeviceTensor,
    b: &DeviceTensor,
    c: &DeviceTensor,
) -> DeviceOpResult<()> {
    let dtype = c.dtype();
    let compute = match dtype {
        DType::F16 | DType::BF16 | DType::F32 => DType::F32,
        DType::F64 => DType::F64,
        other => return Err(unsupported("tf.MatMul", other).into()),
    };
    let [transpose_a, transpose_b] = transposed(call.attrs, MATMUL)?;
    let (&[a_rows, a_columns], &[_, b_columns]) = (a.shape().dims(), b.shape().dims()) else {
        return Err(invalid("a product takes two matrices").into());
    };
    let &[m, n] = c.shape().dims() else { return Err(invalid("a product is a matrix").into()) };
    let k = if transpose_a { a_rows } else { a_columns };
    if k == 0 {
        return Ok(call.queue.kernels().fill(call.queue.stream(), dtype, c.buffer(), count(c)?, 0.0)?);
    }
    let transpose = |transposed| if transposed { Transpose::Transposed } else { Transpose::None };
    call.queue.blas()?.gemm(&GemmArguments {
        transpose: [transpose(transpose_b), transpose(transpose_a)],
        m: n as i64,
        n: m as i64,
        k: k as i64,
        alpha: 1.0,
        a: matrix(b, b_columns),
        b: matrix(a, a_columns),
        beta: 0.0,
        c: matrix(c, n),
        compute,
        batch: 1,
        algorithm: -1,
    })?;
    Ok(())
}

/// A matrix of so many columns, which are what the library counts first.
fn matrix(tensor: &DeviceTensor, columns: usize) -> Matrix<'_> {
    let leading_dimension = columns.max(1) as i64;
    Matrix { buffer: tensor.buffer(), dtype: tensor.dtype(), leading_dimension, batch_stride: 0 }
}

fn matmul(call: &DeviceCall<'_>) -> Queued {
    let [a, b] = call.tensors()?;
    let c = call.allocate(0)?;
    product(call, a, b, &c)?;
    Ok(c.into())
}

/// Queues `y = activation(x + bias)`, the bias along the last axis.
fn add_bias(
    call: &DeviceCall<'_>,
    y: &DeviceTensor,
    x: &DeviceTensor,
    bias: &DeviceTensor,
) -> DeviceOpResult<()> {
    if y.dtype() != DType::F32 {
        return combine(call, Binary::Add, y, x, bias);
    }
    let channels = count(bias)?;
    let rows = count(x)?.checked_div(channels).unwrap_or(0);
    let affine = Affine { rows, channels, residual: None, activation: Activation::Identity };
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    Ok(kernels.bias_activation(stream, DType::F32, y.buffer(), x.buffer(), bias.buffer(), affine)?)
}

fn bias_add(call: &DeviceCall<'_>) -> Queued {
    let [x, bias] = call.tensors()?;
    let y = call.reuse(&[0], 0)?;
    add_bias(call, &y, x, bias)?;
    Ok(y.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.extend("tf.MatMul").device(matmul);
    ops.extend("tf.BiasAdd").device(bias_add);
}
