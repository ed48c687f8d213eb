//! Functions of one element and of two, casts, comparisons and choices.

use tfrt_host::DType;
use tfrt_kernels::device::{Binary, Broadcast, Comparison, Unary};

use super::{Queued, count, extents, unsupported};
use crate::{DeviceCall, DeviceFn, DeviceTensor, OpRegistry, ops::support::invalid};

pub(super) fn unary(call: &DeviceCall<'_>, function: Unary) -> Queued {
    let [x] = call.tensors()?;
    let y = call.reuse(&[0], 0)?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.unary(stream, function, y.dtype(), y.buffer(), x.buffer(), count(x)?)?;
    Ok(y.into())
}

/// `function` of two tensors with broadcasting.
pub(super) fn binary(call: &DeviceCall<'_>, function: Binary) -> Queued {
    let [a, b] = call.tensors()?;
    let y = call.reuse(&[0, 1], 0)?;
    combine(call, function, &y, a, b)?;
    Ok(y.into())
}

/// Queues `y = function(a, b)`.
pub(super) fn combine(
    call: &DeviceCall<'_>,
    function: Binary,
    y: &DeviceTensor,
    a: &DeviceTensor,
    b: &DeviceTensor,
) -> crate::DeviceOpResult<()> {
    let shape = Broadcast::new(&extents(a), &extents(b))?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    Ok(kernels.binary(stream, function, y.dtype(), y.buffer(), a.buffer(), b.buffer(), &shape)?)
}

/// A comparison of two tensors of one shape; `exchanged`: of the second with the first.
fn compare(call: &DeviceCall<'_>, comparison: Comparison, exchanged: bool) -> Queued {
    let [a, b] = call.tensors()?;
    if a.shape() != b.shape() {
        let message = format!("comparisons on a device do not broadcast: {} and {}", a.shape(), b.shape());
        return Err(invalid(message).into());
    }
    let y = call.allocate(0)?;
    let (a, b) = if exchanged { (b, a) } else { (a, b) };
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.compare(stream, comparison, a.dtype(), y.buffer(), a.buffer(), b.buffer(), count(a)?)?;
    Ok(y.into())
}

fn cast(call: &DeviceCall<'_>) -> Queued {
    let [x] = call.tensors()?;
    let (from, to) = (x.dtype(), call.result(0)?.dtype);
    if from == to {
        return Ok(x.clone().into());
    }
    let has_kernel = match (from, to) {
        (DType::F32, other) | (other, DType::F32) => matches!(
            other,
            DType::F16
                | DType::BF16
                | DType::F64
                | DType::I32
                | DType::I64
                | DType::I8
                | DType::UI8
                | DType::I1
        ),
        (DType::F16, DType::BF16) | (DType::BF16, DType::F16) => true,
        (DType::I32, other) | (other, DType::I32) => matches!(other, DType::I64 | DType::I1),
        _ => false,
    };
    if !has_kernel {
        return Err(unsupported(&format!("tf.Cast to {to}"), from).into());
    }
    let y = call.allocate(0)?;
    let truncate = call.attrs.optional("Truncate")?.unwrap_or(false);
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.cast(stream, (to, y.buffer()), (from, x.buffer()), count(x)?, truncate)?;
    Ok(y.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    const FUNCTIONS: &[(&str, DeviceFn)] = &[
        ("tf.Abs", |call| unary(call, Unary::Abs)),
        ("tf.Ceil", |call| unary(call, Unary::Ceil)),
        ("tf.Cos", |call| unary(call, Unary::Cos)),
        ("tf.Erf", |call| unary(call, Unary::Erf)),
        ("tf.Exp", |call| unary(call, Unary::Exp)),
        ("tf.Expm1", |call| unary(call, Unary::Expm1)),
        ("tf.Floor", |call| unary(call, Unary::Floor)),
        ("tf.Log", |call| unary(call, Unary::Log)),
        ("tf.Log1p", |call| unary(call, Unary::Log1p)),
        ("tf.Neg", |call| unary(call, Unary::Neg)),
        ("tf.Reciprocal", |call| unary(call, Unary::Reciprocal)),
        ("tf.Relu", |call| unary(call, Unary::Relu)),
        ("tf.Relu6", |call| unary(call, Unary::Relu6)),
        ("tf.Round", |call| unary(call, Unary::Round)),
        ("tf.Rsqrt", |call| unary(call, Unary::Rsqrt)),
        ("tf.Sigmoid", |call| unary(call, Unary::Sigmoid)),
        ("tf.Sign", |call| unary(call, Unary::Sign)),
        ("tf.Sin", |call| unary(call, Unary::Sin)),
        ("tf.Softplus", |call| unary(call, Unary::Softplus)),
        ("tf.Sqrt", |call| unary(call, Unary::Sqrt)),
        ("tf.Square", |call| unary(call, Unary::Square)),
        ("tf.Tanh", |call| unary(call, Unary::Tanh)),
        ("tf.Add", |call| binary(call, Binary::Add)),
        ("tf.AddV2", |call| binary(call, Binary::Add)),
        ("tf.Maximum", |call| binary(call, Binary::Maximum)),
        ("tf.Minimum", |call| binary(call, Binary::Minimum)),
        ("tf.Mul", |call| binary(call, Binary::Mul)),
        ("tf.Pow", |call| power_or_quotient(call, Binary::Pow, "tf.Pow")),
        ("tf.RealDiv", |call| power_or_quotient(call, Binary::Div, "tf.RealDiv")),
        ("tf.SquaredDifference", |call| binary(call, Binary::SquaredDifference)),
        ("tf.Sub", |call| binary(call, Binary::Sub)),
        ("tf.Equal", |call| compare(call, Comparison::Equal, false)),
        ("tf.NotEqual", |call| compare(call, Comparison::NotEqual, false)),
        ("tf.Less", |call| compare(call, Comparison::Less, false)),
        ("tf.LessEqual", |call| compare(call, Comparison::LessEqual, false)),
        ("tf.Greater", |call| compare(call, Comparison::Less, true)),
        ("tf.GreaterEqual", |call| compare(call, Comparison::LessEqual, true)),
        ("tf.Cast", cast),
    ];
    for &(name, function) in FUNCTIONS {
        ops.extend(name).device(function);
    }
}

/// Floating-point numbers alone: integers are checked on the host, where a divisor or an exponent may be refused.
fn power_or_quotient(call: &DeviceCall<'_>, function: Binary, name: &str) -> Queued {
    match call.result(0)?.dtype {
        DType::F16 | DType::BF16 | DType::F32 => binary(call, function),
        other => Err(unsupported(name, other).into()),
    }
}
