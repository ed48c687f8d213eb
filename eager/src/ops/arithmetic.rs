//! Arithmetic of two tensors with broadcasting: sums, products, quotients, remainders, powers,
//! extremes, bits.
//!
//! Integers wrap. Division of integers by zero is an error of the call; that of floating-point
//! numbers follows IEEE 754.

use tfrt_host::{DType, Diagnostic};
use tfrt_math::{Float, Number, ops};
use tfrt_tensor::{Accessor, Element};

use super::complex::{self, C, binary_complex};
use super::elementwise::{binary, broadcast_metadata};
use super::strings::concatenate;
use super::support::{Computed, Operand, invalid, is_complex, with_float, with_integer, with_number};
use super::types;
use crate::{CpuCall, Forms, OpRegistry};

static ME: Accessor = Accessor::new("tf arithmetic op");

/// Rejects a divisor of zero, for which integers have no result.
fn check_divisor<T: Element + Number>(call: &CpuCall<'_>) -> Result<(), Diagnostic> {
    let divisor = call.arguments.get(1).ok_or_else(|| invalid("the op takes 2 arguments, got 1"))?;
    if Operand::<T>::new(divisor, &ME)?.0.contains(&T::ZERO) {
        return Err(invalid("Integer division by zero"));
    }
    Ok(())
}

/// Defines a quotient of floating-point numbers and one of integers.
macro_rules! quotient {
    ($call:expr, $name:expr, |$T:ident| $float:expr, $integer:expr) => {
        match $call.result(0)?.dtype {
            DType::F16 | DType::BF16 | DType::F32 | DType::F64 => {
                with_float!($call.result(0)?.dtype, $name, |$T| binary::<$T>($call, &ME, $float))
            }
            dtype => with_integer!(dtype, $name, |$T| {
                check_divisor::<$T>($call)?;
                binary::<$T>($call, &ME, $integer)
            }),
        }
    };
}

/// Applies `f` to real numbers of the types that `with` selects, and `complex` to complex ones.
macro_rules! field {
    ($call:expr, $name:expr, $f:path, $complex:expr) => {
        field!($call, $name, with_number, $f, $complex)
    };
    ($call:expr, $name:expr, $with:ident, $f:path, $complex:expr) => {
        match $call.result(0)?.dtype {
            dtype if is_complex(dtype) => binary_complex($call, &ME, $name, $complex),
            dtype => $with!(dtype, $name, |T| binary::<T>($call, &ME, $f)),
        }
    };
}

fn divide(call: &CpuCall<'_>, name: &str) -> Computed {
    match call.result(0)?.dtype {
        dtype if is_complex(dtype) => binary_complex(call, &ME, name, complex::quotient),
        _ => quotient!(call, name, |T| ops::div, ops::div),
    }
}

/// Returns `x / y` rounded down. Unlike for integers, the quotient itself is rounded first.
fn floor_quotient<T: Float>(x: T, y: T) -> T {
    x.over(y).floor()
}

/// Returns `x / y` rounded toward zero.
fn truncated_quotient<T: Float>(x: T, y: T) -> T {
    let quotient = x.over(y);
    if quotient.to_f64() < 0.0 { quotient.ceil() } else { quotient.floor() }
}

/// Returns `base` to the power of `exponent`, by squaring; wraps.
fn integer_power<T: Number>(base: T, exponent: u64) -> T {
    let (mut result, mut square, mut rest) = (T::ONE, base, exponent);
    while rest != 0 {
        if rest & 1 == 1 {
            result = result.times(square);
        }
        square = square.times(square);
        rest >>= 1;
    }
    result
}

fn power(call: &CpuCall<'_>) -> Computed {
    match call.result(0)?.dtype {
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 => {
            with_float!(call.result(0)?.dtype, "tf.Pow", |T| binary::<T>(call, &ME, ops::pow))
        }
        dtype if is_complex(dtype) => binary_complex(call, &ME, "tf.Pow", complex::power),
        dtype => with_integer!(dtype, "tf.Pow", |T| integer_powers::<T>(call)),
    }
}

fn integer_powers<T: Element + Number + TryInto<u64>>(call: &CpuCall<'_>) -> Computed {
    let exponent = call.arguments.get(1).ok_or_else(|| invalid("tf.Pow takes 2 arguments, got 1"))?;
    if Operand::<T>::new(exponent, &ME)?.0.iter().any(|&exponent| exponent.try_into().is_err()) {
        return Err(invalid("Integers to negative integer powers are not allowed"));
    }
    binary::<T>(call, &ME, |x, y| integer_power(x, y.try_into().unwrap_or_default()))
}

/// Returns `x / y`, or zero if `y` is zero.
fn div_no_nan<T: Number>(x: T, y: T) -> T {
    if y == T::ZERO { T::ZERO } else { x.over(y) }
}

/// Returns `x * y`, or zero if `y` is zero.
fn mul_no_nan<T: Number>(x: T, y: T) -> T {
    if y == T::ZERO { T::ZERO } else { x.times(y) }
}

/// Computes [`div_no_nan`] for complex numbers.
fn complex_div_no_nan(x: C, y: C) -> C {
    if y == C::default() { y } else { complex::quotient(x, y) }
}

/// Computes [`mul_no_nan`] for complex numbers.
fn complex_mul_no_nan(x: C, y: C) -> C {
    if y == C::default() { y } else { x * y }
}

fn arctangent<T: Float>(y: T, x: T) -> T {
    T::from_f64(y.to_f64().atan2(x.to_f64()))
}

/// Adds an op whose implementation depends on the data type of its results.
macro_rules! ops_by_type {
    ($ops:expr; $($name:literal, $types:ident => |$call:ident| $body:expr;)*) => {$(
        $ops.add($name)
            .types(types::$types)
            .metadata(broadcast_metadata)
            .cpu(|call| {
                let $call = &call;
                $body
            })
            .forms(Forms::SCALAR);
    )*};
}

const SUMMED: &[DType] = &[
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::UI8,
    DType::UI16,
    DType::UI32,
    DType::UI64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
    DType::Complex64,
    DType::Complex128,
    DType::String,
];

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.Add")
        .types(SUMMED)
        .metadata(broadcast_metadata)
        .cpu(|call| match call.result(0)?.dtype {
            DType::String => concatenate(&call),
            _ => field!(&call, "tf.Add", ops::add, |x, y| x + y),
        })
        .forms(Forms::SCALAR_OR_STRING);
    ops_by_type! { ops;
        "tf.AddV2", FIELDS => |call| field!(call, "tf.AddV2", ops::add, |x, y| x + y);
        "tf.Sub", FIELDS => |call| field!(call, "tf.Sub", ops::sub, |x, y| x - y);
        "tf.Mul", FIELDS => |call| field!(call, "tf.Mul", ops::mul, |x, y| x * y);
        "tf.RealDiv", FIELDS => |call| divide(call, "tf.RealDiv");
        "tf.Div", FIELDS => |call| divide(call, "tf.Div");
        "tf.TruncateDiv", FIELDS => |call| match call.result(0)?.dtype {
            dtype if is_complex(dtype) => divide(call, "tf.TruncateDiv"),
            _ => quotient!(call, "tf.TruncateDiv", |T| truncated_quotient, ops::div),
        };
        "tf.FloorDiv", NUMBERS => |call| quotient!(call, "tf.FloorDiv", |T| floor_quotient, ops::floor_div);
        "tf.FloorMod", NUMBERS => |call| quotient!(call, "tf.FloorMod", |T| ops::floor_mod, ops::floor_mod);
        "tf.Mod", NUMBERS => |call| quotient!(call, "tf.Mod", |T| T::remainder, T::remainder);
        "tf.TruncateMod", NUMBERS => |call| quotient!(call, "tf.TruncateMod", |T| T::remainder, T::remainder);
        "tf.Maximum", NUMBERS => |call| {
            with_number!(call.result(0)?.dtype, "tf.Maximum", |T| binary::<T>(call, &ME, ops::maximum))
        };
        "tf.Minimum", NUMBERS => |call| {
            with_number!(call.result(0)?.dtype, "tf.Minimum", |T| binary::<T>(call, &ME, ops::minimum))
        };
        "tf.SquaredDifference", FIELDS => |call| {
            field!(call, "tf.SquaredDifference", ops::squared_difference, complex::squared_difference)
        };
        "tf.DivNoNan", FRACTIONS => |call| field!(call, "tf.DivNoNan", with_float, div_no_nan, complex_div_no_nan);
        "tf.MulNoNan", FRACTIONS => |call| field!(call, "tf.MulNoNan", with_float, mul_no_nan, complex_mul_no_nan);
        "tf.Atan2", FLOATS => |call| {
            with_float!(call.result(0)?.dtype, "tf.Atan2", |T| binary::<T>(call, &ME, arctangent))
        };
        "tf.BitwiseAnd", INTEGERS => |call| {
            with_integer!(call.result(0)?.dtype, "tf.BitwiseAnd", |T| binary::<T>(call, &ME, |x, y| x & y))
        };
        "tf.BitwiseOr", INTEGERS => |call| {
            with_integer!(call.result(0)?.dtype, "tf.BitwiseOr", |T| binary::<T>(call, &ME, |x, y| x | y))
        };
        "tf.BitwiseXor", INTEGERS => |call| {
            with_integer!(call.result(0)?.dtype, "tf.BitwiseXor", |T| binary::<T>(call, &ME, |x, y| x ^ y))
        };
        "tf.Pow", FIELDS => |call| power(call);
    }
}
