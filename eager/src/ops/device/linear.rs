//! Products of matrices through the device's BLAS library, or of integers and complex numbers by a
//! kernel, and sums with biases.

use tfrt_device::{
    error::Status,
    front::{GemmArguments, GemmEpilogue, Matrix},
    hal::Transpose,
};
use tfrt_host::DType;
use tfrt_launch::{Activation, Affine, Binary, Products};
use tfrt_tensor::{TensorMetadata, TensorShape};

use super::{
    Queued, check_floats, count,
    elementwise::{combine, store},
    expression::{broadcast, cast, conjugate},
    fused::activate,
    unsupported,
};
use crate::{
    DeviceCall, DeviceOpResult, DeviceTensor, OpRegistry,
    ops::{
        activation::Activation as Elementwise,
        fused::{check_channels, fused_leak, names},
        matmul::{BATCHED, MATMUL, batch_dims, oriented, transposed},
        support::{self, invalid},
    },
};

/// Queues `c = a · b` for each pair of a batch; flags say which of them are transposed. All are
/// row-major: to the library, which counts columns first, that is the transposed product of the
/// transposed matrices. Where a tensor has one matrix it serves for all.
pub(super) fn product(
    call: &DeviceCall<'_>,
    op: &str,
    flags: [bool; 2],
    factors: [&DeviceTensor; 2],
    c: &DeviceTensor,
) -> DeviceOpResult<()> {
    product_with(call, op, flags, factors, c, GemmEpilogue::default()).map(drop)
}

/// As [`product`], and applies the epilogue if the library can. Returns whether it does.
fn product_with(
    call: &DeviceCall<'_>,
    op: &str,
    [transpose_a, transpose_b]: [bool; 2],
    [a, b]: [&DeviceTensor; 2],
    c: &DeviceTensor,
    epilogue: GemmEpilogue<'_>,
) -> DeviceOpResult<bool> {
    let dtype = c.dtype();
    if dtype == DType::Complex64 {
        let wide = |x| cast(call, x, DType::Complex128, false);
        let sums = call.allocate_as(&TensorMetadata::new(DType::Complex128, c.shape().clone()))?;
        product(call, op, [transpose_a, transpose_b], [&wide(a)?, &wide(b)?], &sums)?;
        store(call, c, &sums)?;
        return Ok(false);
    }
    let ([m, k], [_, n]) = (oriented(a.shape(), transpose_a), oriented(b.shape(), transpose_b));
    let batch = batch_dims(c.shape()).map_or(1, support::product);
    let compute = match dtype {
        DType::F16 | DType::BF16 | DType::F32 => DType::F32,
        DType::F64 => DType::F64,
        DType::I8 | DType::UI8 | DType::I16 | DType::I32 | DType::I64 | DType::Complex128 => {
            let [batch, rows, inner, columns] = [batch, m, k, n].map(|extent| extent as u64);
            let (transposed, single) = ([transpose_a, transpose_b], [a, b].map(is_single));
            let products = Products { batch, rows, inner, columns, transposed, single };
            let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
            let factors = [a.buffer(), b.buffer()];
            kernels.products(stream, dtype, c.buffer(), factors, products)?;
            return Ok(false);
        }
        other => return Err(unsupported(op, other).into()),
    };
    if k == 0 {
        call.queue.kernels().fill(call.queue.stream(), dtype, c.buffer(), count(c), 0.0)?;
        return Ok(false);
    }
    let transpose = |transposed| if transposed { Transpose::Transposed } else { Transpose::None };
    let product = GemmArguments {
        transpose: [transpose(transpose_b), transpose(transpose_a)],
        m: n as i64,
        n: m as i64,
        k: k as i64,
        alpha: 1.0,
        a: matrix(b),
        b: matrix(a),
        beta: 0.0,
        c: matrix(c),
        compute,
        batch: batch as i64,
        algorithm: -1,
        epilogue,
    };
    let blas = call.queue.blas()?;
    match blas.gemm(&product) {
        Ok(()) => Ok(true),
        Err(error) if error.status == Status::BlasNotSupported && !epilogue.is_empty() => {
            blas.gemm(&GemmArguments { epilogue: GemmEpilogue::default(), ..product })?;
            Ok(false)
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether a tensor has one matrix, which serves for all.
fn is_single(tensor: &DeviceTensor) -> bool {
    batch_dims(tensor.shape()).is_none_or(|batch| support::product(batch) == 1)
}

/// A tensor's matrices. Their columns, of which the library counts first, are the last dimension.
fn matrix(tensor: &DeviceTensor) -> Matrix<'_> {
    let [rows, columns] = oriented(tensor.shape(), false);
    Matrix {
        buffer: tensor.buffer(),
        dtype: tensor.dtype(),
        leading_dimension: columns.max(1) as i64,
        batch_stride: if is_single(tensor) { 0 } else { rows.saturating_mul(columns) as i64 },
    }
}

fn matmul(call: &DeviceCall<'_>) -> Queued {
    let [a, b] = call.tensors()?;
    let c = call.allocate(0)?;
    product(call, "tf.MatMul", transposed(call.attrs, MATMUL)?, [a, b], &c)?;
    Ok(c.into())
}

fn batch_matmul(call: &DeviceCall<'_>) -> Queued {
    let [x, y] = call.tensors()?;
    let c = call.allocate(0)?;
    if count(&c) == 0 {
        return Ok(c.into());
    }
    let batch = batch_dims(c.shape()).unwrap_or_default();
    // A batch with a matrix for each place, or with one for all.
    let spread = |tensor: &DeviceTensor| {
        let own = batch_dims(tensor.shape()).unwrap_or_default();
        if support::product(own) == 1 || own == batch {
            return Ok(tensor.clone());
        }
        let dims = [batch, &tensor.shape().dims()[own.len()..]].concat();
        broadcast(call, tensor, &TensorShape::new(&dims)?)
    };
    let flags = transposed(call.attrs, BATCHED)?;
    // Complex matrices that are transposed are conjugated, too.
    let factor = |tensor: &DeviceTensor, is_adjoint: bool| match is_adjoint {
        true => spread(&cast(call, &conjugate(call, tensor)?, c.dtype(), false)?),
        false => spread(tensor),
    };
    product(call, "tf.BatchMatMulV2", flags, [&factor(x, flags[0])?, &factor(y, flags[1])?], &c)?;
    Ok(c.into())
}

/// A product, a bias along its rows, and an activation.
fn fused_matmul(call: &DeviceCall<'_>, attribute: &str) -> Queued {
    let names = names(call.attrs, attribute)?;
    let unknown = || invalid(format!("tf._FusedMatMul does not support the fusion {names:?} on a device"));
    let activation = match names[..] {
        ["BiasAdd"] => None,
        ["BiasAdd", name] => Some(Elementwise::named(name, fused_leak(call.attrs)?).ok_or_else(unknown)?),
        _ => return Err(unknown().into()),
    };
    let [a, b, bias] = call.tensors()?;
    let c = call.allocate(0)?;
    check_floats(c.dtype(), "tf._FusedMatMul")?;
    if bias.dtype() != c.dtype() {
        return Err(
            invalid(format!("the bias is of type {}, the product of {}", bias.dtype(), c.dtype())).into()
        );
    }
    check_channels(bias.shape(), "Bias", oriented(c.shape(), false)[1])?;
    if count(&c) == 0 {
        return Ok(c.into());
    }
    let relu = matches!(activation, Some(Elementwise::Relu));
    let epilogue = GemmEpilogue { bias: Some(bias.buffer()), relu };
    let flags = transposed(call.attrs, MATMUL)?;
    let is_applied = product_with(call, "tf._FusedMatMul", flags, [a, b], &c, epilogue)?;
    if !is_applied {
        add_bias(call, &c, &c, bias)?;
    }
    match activation {
        Some(activation) if !(is_applied && relu) => activate(call, activation, &c)?,
        _ => {}
    }
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
    let channels = count(bias);
    let rows = count(x).checked_div(channels).unwrap_or(0);
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
    for name in ["tf.BatchMatMul", "tf.BatchMatMulV2", "tf.BatchMatMulV3"] {
        ops.extend(name).device(batch_matmul);
    }
    ops.extend("tf._FusedMatMul").device(|call| fused_matmul(call, "fused_ops"));
    ops.extend("tf._JitFusedMatMul").device(|call| fused_matmul(call, "fusion"));
    ops.extend("tf.BiasAdd").device(bias_add);
}
