//! Functions of one and of two elements, casts, comparisons and selections.
//!
//! For integers, the quotient and the remainder of a division by zero are zero, and powers with
//! negative exponents are truncated. The host rejects such operands instead; a device cannot check
//! them first.

use tfrt_host::DType;
use tfrt_launch::{Binary, Bitwise, Broadcast, Class, Comparison, Reduction, Unary, no_kernel};
use tfrt_tensor::TensorMetadata;

use super::{
    Queued,
    arrays::reduced,
    count,
    expression::{self, broadcast, constant, is_integer, map, parts, scalar, zip},
    extents, unsupported,
};
use crate::{
    DeviceCall, DeviceFn, DeviceOpResult, DeviceTensor, OpRegistry,
    ops::{activation::leak, cast::truncated_digits, elementwise::broadcast_shape, support::is_complex},
};

pub(super) fn unary(call: &DeviceCall<'_>, function: Unary) -> Queued {
    let [x] = call.tensors()?;
    if x.dtype() == DType::Complex64 {
        return Ok(map(call, function, x)?.into());
    }
    let y = call.reuse(&[0], 0)?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.unary(stream, function, y.dtype(), y.buffer(), x.buffer(), count(x))?;
    Ok(y.into())
}

/// Rounds to integral values, which integers already are.
fn rounding(call: &DeviceCall<'_>, function: Unary) -> Queued {
    match call.tensor(0)? {
        x if is_integer(x.dtype()) => Ok(x.clone().into()),
        _ => unary(call, function),
    }
}

/// Applies `function` to two tensors with broadcasting.
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
) -> DeviceOpResult<()> {
    if is_complex(y.dtype()) && y.dtype() == a.dtype() && a.dtype() == b.dtype() {
        if matches!(function, Binary::Add | Binary::Sub) && a.shape() == b.shape() {
            return combine(call, function, &parts(y)?, &parts(a)?, &parts(b)?);
        }
        if y.dtype() == DType::Complex64 {
            if !function.is_of_complex() {
                return Err(no_kernel(function.name(), y.dtype()).into());
            }
            let wide = |x| expression::cast(call, x, DType::Complex128, false);
            return store(call, y, &zip(call, function, &wide(a)?, &wide(b)?)?);
        }
    }
    let shape = match a.shape() == b.shape() {
        true => Broadcast::of_equal(count(a)),
        false => Broadcast::new(&extents(a), &extents(b))?,
    };
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    Ok(kernels.binary(stream, function, y.dtype(), y.buffer(), a.buffer(), b.buffer(), &shape)?)
}

/// Queues `y = x`, converted to the type of `y`.
pub(super) fn store(call: &DeviceCall<'_>, y: &DeviceTensor, x: &DeviceTensor) -> DeviceOpResult<()> {
    let x = expression::cast(call, x, y.dtype(), false)?;
    let bytes = y.metadata().size_bytes()? as u64;
    Ok(call.queue.stream().copy((y.buffer(), 0), (x.buffer(), 0), bytes, true)?)
}

/// Compares two tensors; `exchanged` compares the second with the first.
fn compare(call: &DeviceCall<'_>, comparison: Comparison, exchanged: bool) -> Queued {
    let [a, b] = call.tensors()?;
    if broadcast_shape(a.shape(), b.shape()).is_err() {
        // For incompatible shapes, the program may request a single result, see
        // `incompatible_shape_error`.
        let unequal = comparison == Comparison::NotEqual;
        return Ok(constant(call, call.result(0)?, f64::from(u8::from(unequal)))?.into());
    }
    let y = call.allocate(0)?;
    let [a, b] = broadcast_operands(call, &y)?;
    if is_complex(a.dtype()) {
        return compare_parts(call, comparison, [&a, &b]);
    }
    let (a, b) = if exchanged { (b, a) } else { (a, b) };
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.compare(stream, comparison, a.dtype(), y.buffer(), a.buffer(), b.buffer(), count(&y))?;
    Ok(y.into())
}

/// Compares complex numbers, which are equal if both of their parts are.
fn compare_parts(call: &DeviceCall<'_>, comparison: Comparison, operands: [&DeviceTensor; 2]) -> Queued {
    let over_parts = match comparison {
        Comparison::Equal => Reduction::Minimum,
        Comparison::NotEqual => Reduction::Maximum,
        _ => return Err(unsupported("an op that orders numbers", operands[0].dtype()).into()),
    };
    let [a, b] = [parts(operands[0])?, parts(operands[1])?];
    let each = call.allocate_as(&TensorMetadata::new(DType::I1, a.shape().clone()))?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.compare(stream, comparison, a.dtype(), each.buffer(), a.buffer(), b.buffer(), count(&a))?;
    Ok(reduced(call, over_parts, &each, &[operands[0].shape().rank()], false)?.into())
}

/// Returns both arguments, broadcast to the result's shape.
fn broadcast_operands(call: &DeviceCall<'_>, y: &DeviceTensor) -> DeviceOpResult<[DeviceTensor; 2]> {
    let [a, b] = call.tensors()?;
    Ok([broadcast(call, a, y.shape())?, broadcast(call, b, y.shape())?])
}

/// Returns whether both are true, or whether `either` is.
fn logical(call: &DeviceCall<'_>, either: bool) -> Queued {
    let y = call.allocate(0)?;
    let [a, b] = broadcast_operands(call, &y)?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.both_or_either(stream, either, y.buffer(), [a.buffer(), b.buffer()], count(&y))?;
    Ok(y.into())
}

fn not(call: &DeviceCall<'_>) -> Queued {
    let ([x], y) = (call.tensors()?, call.reuse(&[0], 0)?);
    call.queue.kernels().not(call.queue.stream(), y.buffer(), x.buffer(), count(x))?;
    Ok(y.into())
}

fn classify(call: &DeviceCall<'_>, class: Class) -> Queued {
    let ([x], y) = (call.tensors()?, call.allocate(0)?);
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.classify(stream, class, x.dtype(), y.buffer(), x.buffer(), count(x))?;
    Ok(y.into())
}

fn leaky_relu(call: &DeviceCall<'_>) -> Queued {
    let ([x], y) = (call.tensors()?, call.reuse(&[0], 0)?);
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.leaky_relu(stream, x.dtype(), y.buffer(), x.buffer(), count(x), leak(call.attrs)?)?;
    Ok(y.into())
}

fn gelu(call: &DeviceCall<'_>) -> Queued {
    let approximate = call.attrs.optional("approximate")?.unwrap_or(false);
    unary(call, if approximate { Unary::GeluTanh } else { Unary::Gelu })
}

fn cast(call: &DeviceCall<'_>) -> Queued {
    let [x] = call.tensors()?;
    let to = call.result(0)?.dtype;
    let truncate = truncated_digits(call.attrs, x.dtype(), to)?.is_some();
    Ok(expression::cast(call, x, to, truncate)?.into())
}

/// Reinterprets the memory as elements of another type.
fn bitcast(call: &DeviceCall<'_>) -> Queued {
    let [x] = call.tensors()?;
    Ok(x.reinterpret(call.result(0)?)?.into())
}

fn bitwise(call: &DeviceCall<'_>, function: Bitwise, op: &str) -> Queued {
    let y = call.allocate(0)?;
    if !is_integer(y.dtype()) {
        return Err(unsupported(op, y.dtype()).into());
    }
    let [a, b] = broadcast_operands(call, &y)?;
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    kernels.bitwise(stream, function, y.dtype(), y.buffer(), [a.buffer(), b.buffer()], count(&y))?;
    Ok(y.into())
}

/// Inverts all bits of integers by subtracting them from all ones, which never borrows.
fn invert(call: &DeviceCall<'_>) -> Queued {
    let [x] = call.tensors()?;
    if !is_integer(x.dtype()) {
        return Err(unsupported("tf.Invert", x.dtype()).into());
    }
    let ones = zip(call, Binary::Sub, &scalar(call, x.dtype(), 0.0)?, &scalar(call, x.dtype(), 1.0)?)?;
    Ok(zip(call, Binary::Sub, &ones, x)?.into())
}

/// Returns the sum of all arguments.
fn add_n(call: &DeviceCall<'_>) -> Queued {
    let mut sum = call.tensor(0)?.clone();
    for index in 1..call.arguments.len() {
        sum = zip(call, Binary::Add, &sum, call.tensor(index)?)?;
    }
    Ok(sum.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    const FUNCTIONS: &[(&str, DeviceFn)] = &[
        ("tf.Abs", |call| unary(call, Unary::Abs)),
        ("tf.Acos", |call| unary(call, Unary::Acos)),
        ("tf.Acosh", |call| unary(call, Unary::Acosh)),
        ("tf.Asin", |call| unary(call, Unary::Asin)),
        ("tf.Asinh", |call| unary(call, Unary::Asinh)),
        ("tf.Atan", |call| unary(call, Unary::Atan)),
        ("tf.Atanh", |call| unary(call, Unary::Atanh)),
        ("tf.Ceil", |call| rounding(call, Unary::Ceil)),
        ("tf.Cos", |call| unary(call, Unary::Cos)),
        ("tf.Cosh", |call| unary(call, Unary::Cosh)),
        ("tf.Elu", |call| unary(call, Unary::Elu)),
        ("tf.Erf", |call| unary(call, Unary::Erf)),
        ("tf.Erfc", |call| unary(call, Unary::Erfc)),
        ("tf.Exp", |call| unary(call, Unary::Exp)),
        ("tf.Expm1", |call| unary(call, Unary::Expm1)),
        ("tf.Floor", |call| rounding(call, Unary::Floor)),
        ("tf.Gelu", gelu),
        ("tf.Inv", |call| unary(call, Unary::Reciprocal)),
        ("tf.IsFinite", |call| classify(call, Class::Finite)),
        ("tf.IsInf", |call| classify(call, Class::Infinite)),
        ("tf.IsNan", |call| classify(call, Class::Nan)),
        ("tf.LeakyRelu", leaky_relu),
        ("tf.Lgamma", |call| unary(call, Unary::Lgamma)),
        ("tf.Log", |call| unary(call, Unary::Log)),
        ("tf.Log1p", |call| unary(call, Unary::Log1p)),
        ("tf.Neg", |call| unary(call, Unary::Neg)),
        ("tf.Reciprocal", |call| unary(call, Unary::Reciprocal)),
        ("tf.Relu", |call| unary(call, Unary::Relu)),
        ("tf.Relu6", |call| unary(call, Unary::Relu6)),
        ("tf.Rint", |call| unary(call, Unary::Round)),
        ("tf.Round", |call| rounding(call, Unary::Round)),
        ("tf.Rsqrt", |call| unary(call, Unary::Rsqrt)),
        ("tf.Selu", |call| unary(call, Unary::Selu)),
        ("tf.Sigmoid", |call| unary(call, Unary::Sigmoid)),
        ("tf.Sign", |call| unary(call, Unary::Sign)),
        ("tf.Sin", |call| unary(call, Unary::Sin)),
        ("tf.Sinh", |call| unary(call, Unary::Sinh)),
        ("tf.Softplus", |call| unary(call, Unary::Softplus)),
        ("tf.Softsign", |call| unary(call, Unary::Softsign)),
        ("tf.Sqrt", |call| unary(call, Unary::Sqrt)),
        ("tf.Square", |call| unary(call, Unary::Square)),
        ("tf.Tan", |call| unary(call, Unary::Tan)),
        ("tf.Tanh", |call| unary(call, Unary::Tanh)),
        ("tf.Add", |call| binary(call, Binary::Add)),
        ("tf.AddN", add_n),
        ("tf.AddV2", |call| binary(call, Binary::Add)),
        ("tf.Atan2", |call| binary(call, Binary::Atan2)),
        ("tf.Div", |call| binary(call, Binary::Div)),
        ("tf.DivNoNan", |call| binary(call, Binary::DivNoNan)),
        ("tf.FloorDiv", |call| binary(call, Binary::FloorDiv)),
        ("tf.FloorMod", |call| binary(call, Binary::FloorMod)),
        ("tf.Maximum", |call| binary(call, Binary::Maximum)),
        ("tf.Minimum", |call| binary(call, Binary::Minimum)),
        ("tf.Mod", |call| binary(call, Binary::Mod)),
        ("tf.Mul", |call| binary(call, Binary::Mul)),
        ("tf.MulNoNan", |call| binary(call, Binary::MulNoNan)),
        ("tf.Pow", |call| binary(call, Binary::Pow)),
        ("tf.RealDiv", |call| binary(call, Binary::Div)),
        ("tf.SquaredDifference", |call| binary(call, Binary::SquaredDifference)),
        ("tf.Sub", |call| binary(call, Binary::Sub)),
        ("tf.TruncateDiv", |call| binary(call, Binary::TruncateDiv)),
        ("tf.TruncateMod", |call| binary(call, Binary::Mod)),
        ("tf.Equal", |call| compare(call, Comparison::Equal, false)),
        ("tf.NotEqual", |call| compare(call, Comparison::NotEqual, false)),
        ("tf.Less", |call| compare(call, Comparison::Less, false)),
        ("tf.LessEqual", |call| compare(call, Comparison::LessEqual, false)),
        ("tf.Greater", |call| compare(call, Comparison::Less, true)),
        ("tf.GreaterEqual", |call| compare(call, Comparison::LessEqual, true)),
        ("tf.LogicalAnd", |call| logical(call, false)),
        ("tf.LogicalOr", |call| logical(call, true)),
        ("tf.LogicalNot", not),
        ("tf.Cast", cast),
        ("tf.Bitcast", bitcast),
        ("tf.BitwiseAnd", |call| bitwise(call, Bitwise::And, "tf.BitwiseAnd")),
        ("tf.BitwiseOr", |call| bitwise(call, Bitwise::Or, "tf.BitwiseOr")),
        ("tf.BitwiseXor", |call| bitwise(call, Bitwise::Xor, "tf.BitwiseXor")),
        ("tf.Invert", invert),
    ];
    for &(name, function) in FUNCTIONS {
        ops.extend(name).device(function);
    }
}
