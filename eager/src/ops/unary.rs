//! Mathematics of one tensor, element by element, and the gradients of what training needs.
//!
//! Half types, and functions that vectors of a processor do not have, are computed in wider numbers and rounded once.

use std::convert::identity;

use tfrt_host::DType;
use tfrt_math::{Float, ops};
use tfrt_tensor::Accessor;

use super::elementwise::{binary, map, retyped, unary};
use super::support::{invalid, one, same, with_float, with_integer, with_number};
use crate::{MetadataCall, OpRegistry, ops::support::Described};

static ME: Accessor = Accessor::new("tf unary op");

/// `f` in double precision, rounded once.
fn wide<T: Float>(x: T, f: impl Fn(f64) -> f64) -> T {
    T::from_f64(f(x.to_f64()))
}

fn is_infinite<T: Float>(x: T) -> bool {
    x == T::HIGHEST || x == T::LOWEST
}

fn is_finite<T: Float>(x: T) -> bool {
    !is_infinite(x) && !x.is_nan()
}

fn truth(call: MetadataCall<'_>) -> Described {
    retyped(&call, DType::I1)
}

/// Ops on floating-point numbers.
macro_rules! of_floats {
    ($ops:expr; $($name:literal => |$x:ident: $T:ident| $body:expr;)*) => {$(
        $ops.add($name).metadata(same).cpu(|call| {
            with_float!(call.result(0)?.dtype, $name, |$T| map::<$T>(&call, &ME, |$x: $T| $body))
        });
    )*};
}

/// Ops on all numbers.
macro_rules! of_numbers {
    ($ops:expr; $($name:literal => |$x:ident: $T:ident| $body:expr;)*) => {$(
        $ops.add($name).metadata(same).cpu(|call| {
            with_number!(call.result(0)?.dtype, $name, |$T| map::<$T>(&call, &ME, |$x: $T| $body))
        });
    )*};
}

/// Ops that leave integers as they are.
macro_rules! of_fractions {
    ($ops:expr; $($name:literal => $f:path;)*) => {$(
        $ops.add($name).metadata(same).cpu(|call| match call.result(0)?.dtype {
            DType::F16 | DType::BF16 | DType::F32 | DType::F64 => {
                with_float!(call.result(0)?.dtype, $name, |T| map::<T>(&call, &ME, $f))
            }
            dtype => with_integer!(dtype, $name, |T| map::<T>(&call, &ME, identity)),
        });
    )*};
}

/// Ops that answer whether.
macro_rules! questions {
    ($ops:expr; $($name:literal => $f:path;)*) => {$(
        $ops.add($name).metadata(truth).cpu(|call| {
            let [x] = call.dense()?;
            with_float!(x.dtype(), $name, |T| unary::<T, bool>(&call, &ME, $f))
        });
    )*};
}

/// The metadata of a function of two tensors of one type and as many elements, in whatever shapes: the result has that of
/// the first one.
fn pairs(call: MetadataCall<'_>) -> Described {
    let [left, right] = call.take()?;
    if left.dtype != right.dtype || left.shape.num_elements()? != right.shape.num_elements()? {
        return Err(invalid(format!(
            "The two arguments to a cwise op must have same number of elements, and one type, got {left} and {right}"
        )));
    }
    one(left.clone())
}

/// Gradients: functions of the op's result `y` and the gradient `dy` of that.
macro_rules! gradients {
    ($ops:expr; $($name:literal => |$y:ident, $dy:ident| $body:expr;)*) => {$(
        $ops.add($name).metadata(pairs).cpu(|call| {
            with_float!(call.result(0)?.dtype, $name, |T| {
                binary::<T>(&call, &ME, |y, dy| {
                    let ($y, $dy) = (y.to_f64(), dy.to_f64());
                    T::from_f64($body)
                })
            })
        });
    )*};
}

pub(super) fn register(ops: &mut OpRegistry) {
    of_numbers! { ops;
        "tf.Abs" => |x: T| ops::abs(x);
        "tf.Neg" => |x: T| ops::neg(x);
        "tf.Sign" => |x: T| ops::sign(x);
        "tf.Square" => |x: T| ops::square(x);
    }
    of_floats! { ops;
        "tf.Acos" => |x: T| wide(x, f64::acos);
        "tf.Acosh" => |x: T| wide(x, f64::acosh);
        "tf.Asin" => |x: T| wide(x, f64::asin);
        "tf.Asinh" => |x: T| wide(x, f64::asinh);
        "tf.Atan" => |x: T| wide(x, f64::atan);
        "tf.Atanh" => |x: T| wide(x, f64::atanh);
        "tf.Cos" => |x: T| ops::cos(x);
        "tf.Cosh" => |x: T| wide(x, f64::cosh);
        "tf.Erf" => |x: T| wide(x, libm::erf);
        "tf.Erfc" => |x: T| wide(x, libm::erfc);
        "tf.Exp" => |x: T| ops::exp(x);
        "tf.Expm1" => |x: T| wide(x, f64::exp_m1);
        "tf.Inv" => |x: T| ops::reciprocal(x);
        "tf.Lgamma" => |x: T| wide(x, libm::lgamma);
        "tf.Log" => |x: T| ops::log(x);
        "tf.Log1p" => |x: T| wide(x, f64::ln_1p);
        "tf.Reciprocal" => |x: T| ops::reciprocal(x);
        "tf.Rint" => |x: T| ops::round(x);
        "tf.Rsqrt" => |x: T| ops::rsqrt(x);
        "tf.Sigmoid" => |x: T| ops::sigmoid(x);
        "tf.Sin" => |x: T| ops::sin(x);
        "tf.Sinh" => |x: T| wide(x, f64::sinh);
        "tf.Sqrt" => |x: T| ops::sqrt(x);
        "tf.Tan" => |x: T| wide(x, f64::tan);
        "tf.Tanh" => |x: T| ops::tanh(x);
    }
    of_fractions! { ops;
        "tf.Ceil" => ops::ceil;
        "tf.Floor" => ops::floor;
        "tf.Round" => ops::round;
    }
    questions! { ops;
        "tf.IsFinite" => is_finite;
        "tf.IsInf" => is_infinite;
        "tf.IsNan" => T::is_nan;
    }
    gradients! { ops;
        "tf.InvGrad" => |y, dy| -dy * y * y;
        "tf.ReciprocalGrad" => |y, dy| -dy * y * y;
        "tf.RsqrtGrad" => |y, dy| -0.5 * dy * y * y * y;
        "tf.SigmoidGrad" => |y, dy| dy * y * (1.0 - y);
        "tf.SqrtGrad" => |y, dy| 0.5 * dy / y;
        "tf.TanhGrad" => |y, dy| dy * (1.0 - y * y);
    }
    ops.add("tf.Invert")
        .metadata(same)
        .cpu(|call| with_integer!(call.result(0)?.dtype, "tf.Invert", |T| map::<T>(&call, &ME, |x| !x)));
}
