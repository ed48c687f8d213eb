//! Mathematics of one tensor, element by element, and the gradients of what training needs.
//!
//! Half types, and functions that vectors of a processor do not have, are computed in wider numbers
//! and rounded once.

use std::convert::identity;

use tfrt_host::DType;
use tfrt_math::{Circular, Float, Function, ops};
use tfrt_tensor::Accessor;

use super::complex::{self, Field, Wide, map_complex};
use super::elementwise::{binary, map, map_loop, retyped, single, unary};
use super::support::{
    invalid, is_complex, one, same, with_field, with_float, with_integer, with_number, with_type,
};
use super::types;
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

/// Ops on real numbers, of the types that `with` chooses among, and on complex ones.
macro_rules! of_fields {
    ($ops:expr, $with:ident, $types:ident; $($name:literal => |$x:ident: $T:ident| $body:expr, $complex:expr;)*) => {$(
        $ops.add($name).types(types::$types).metadata(same).cpu(|call| match call.result(0)?.dtype {
            dtype if is_complex(dtype) => map_complex(&call, &ME, $name, $complex),
            dtype => $with!(dtype, $name, |$T| map::<$T>(&call, &ME, |$x: $T| $body)),
        });
    )*};
}

/// Ops on real numbers that have vectorized loops in single precision, and on complex ones.
macro_rules! of_vectors {
    ($ops:expr; $($name:literal => $function:ident, $wide:expr, $complex:expr;)*) => {$(
        $ops.add($name).types(types::FRACTIONS).metadata(same).cpu(|call| match call.result(0)?.dtype {
            dtype if is_complex(dtype) => map_complex(&call, &ME, $name, $complex),
            _ => single(&call, &ME, $name, Function::$function, $wide),
        });
    )*};
}

/// Circular functions, which have vectorized loops for elements of single precision, and are complex
/// too.
macro_rules! circular {
    ($ops:expr; $($name:literal => $function:ident, $f:path, $complex:expr;)*) => {$(
        $ops.add($name).types(types::FRACTIONS).metadata(same).cpu(|call| match call.result(0)?.dtype {
            dtype if is_complex(dtype) => map_complex(&call, &ME, $name, $complex),
            DType::F32 => map_loop::<f32>(&call, &ME, Box::new(Circular::$function)),
            dtype => with_type!(dtype, $name, |T| map::<T>(&call, &ME, $f),
                F16 tfrt_tensor::f16, BF16 tfrt_tensor::bf16, F64 f64),
        });
    )*};
}

/// Ops on floating-point numbers.
macro_rules! of_floats {
    ($ops:expr; $($name:literal => |$x:ident: $T:ident| $body:expr;)*) => {$(
        $ops.add($name).types(types::FLOATS).metadata(same).cpu(|call| {
            with_float!(call.result(0)?.dtype, $name, |$T| map::<$T>(&call, &ME, |$x: $T| $body))
        });
    )*};
}

/// Ops that leave integers as they are.
macro_rules! of_fractions {
    ($ops:expr; $($name:literal => $f:path;)*) => {$(
        $ops.add($name).types(types::NUMBERS).metadata(same).cpu(|call| match call.result(0)?.dtype {
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
        $ops.add($name).types(types::FLOATS).metadata(truth).cpu(|call| {
            let [x] = call.dense()?;
            with_float!(x.dtype(), $name, |T| unary::<T, bool>(&call, &ME, $f))
        });
    )*};
}

/// The metadata of a function of two tensors of one type and as many elements, in whatever shapes:
/// the result has that of the first one.
fn pairs(call: MetadataCall<'_>) -> Described {
    let [left, right] = call.take()?;
    if left.dtype != right.dtype || left.shape.num_elements()? != right.shape.num_elements()? {
        return Err(invalid(format!(
            "The two arguments to a cwise op must have same number of elements, and one type, got {left} and {right}"
        )));
    }
    one(left.clone())
}

/// Gradients: functions of the op's result `y` and the gradient `dy` of that. Which of them
/// conjugate is TensorFlow's choice.
macro_rules! gradients {
    ($ops:expr; $($name:literal => |$y:ident, $dy:ident| $body:expr;)*) => {$(
        $ops.add($name).types(types::FRACTIONS).metadata(pairs).cpu(|call| {
            with_field!(call.result(0)?.dtype, $name, |T| {
                binary::<T>(&call, &ME, |y, dy| {
                    let ($y, $dy) = (y.wide(), dy.wide());
                    T::narrow($body)
                })
            })
        });
    )*};
}

pub(super) fn register(ops: &mut OpRegistry) {
    of_fields! { ops, with_number, FIELDS;
        "tf.Neg" => |x: T| ops::neg(x), |z| -z;
        "tf.Sign" => |x: T| ops::sign(x), complex::sign;
        "tf.Square" => |x: T| ops::square(x), complex::square;
    }
    of_fields! { ops, with_float, FRACTIONS;
        "tf.Acos" => |x: T| wide(x, f64::acos), complex::acos;
        "tf.Acosh" => |x: T| wide(x, f64::acosh), complex::acosh;
        "tf.Asin" => |x: T| wide(x, f64::asin), complex::asin;
        "tf.Asinh" => |x: T| wide(x, f64::asinh), complex::asinh;
        "tf.Atan" => |x: T| wide(x, f64::atan), complex::atan;
        "tf.Atanh" => |x: T| wide(x, f64::atanh), complex::atanh;
        "tf.Cosh" => |x: T| wide(x, f64::cosh), complex::cosh;
        "tf.Inv" => |x: T| ops::reciprocal(x), complex::reciprocal;
        "tf.Log1p" => |x: T| wide(x, f64::ln_1p), complex::log1p;
        "tf.Reciprocal" => |x: T| ops::reciprocal(x), complex::reciprocal;
        "tf.Rsqrt" => |x: T| ops::rsqrt(x), complex::rsqrt;
        "tf.Sinh" => |x: T| wide(x, f64::sinh), complex::sinh;
        "tf.Sqrt" => |x: T| ops::sqrt(x), complex::sqrt;
        "tf.Tan" => |x: T| wide(x, f64::tan), complex::tan;
    }
    circular! { ops;
        "tf.Cos" => Cos, ops::cos, complex::cos;
        "tf.Sin" => Sin, ops::sin, complex::sin;
    }
    of_vectors! { ops;
        "tf.Exp" => Exp, f64::exp, complex::exp;
        "tf.Expm1" => Expm1, f64::exp_m1, complex::expm1;
        "tf.Log" => Log, f64::ln, complex::ln;
        "tf.Sigmoid" => Sigmoid, ops::sigmoid::<f64>, complex::sigmoid;
        "tf.Tanh" => Tanh, f64::tanh, complex::tanh;
    }
    ops.add("tf.Erf")
        .types(types::FLOATS)
        .metadata(same)
        .cpu(|call| single(&call, &ME, "tf.Erf", Function::Erf, libm::erf));
    of_floats! { ops;
        "tf.Erfc" => |x: T| wide(x, libm::erfc);
        "tf.Lgamma" => |x: T| wide(x, libm::lgamma);
        "tf.Rint" => |x: T| ops::round(x);
    }
    ops.add("tf.Abs")
        .types(types::NUMBERS)
        .metadata(same)
        .cpu(|call| with_number!(call.result(0)?.dtype, "tf.Abs", |T| map::<T>(&call, &ME, ops::abs)));
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
        "tf.InvGrad" => |y, dy| -dy * y.conj() * y.conj();
        "tf.ReciprocalGrad" => |y, dy| -dy * y.conj() * y.conj();
        "tf.RsqrtGrad" => |y, dy| dy.scaled(-0.5) * y.conj() * y.conj() * y.conj();
        "tf.SigmoidGrad" => |y, dy| dy * y * y.one_minus();
        "tf.SqrtGrad" => |y, dy| dy.scaled(0.5).over(y.conj());
        "tf.TanhGrad" => |y, dy| dy * (y * y).one_minus();
    }
    ops.add("tf.Invert")
        .types(types::INTEGERS)
        .metadata(same)
        .cpu(|call| with_integer!(call.result(0)?.dtype, "tf.Invert", |T| map::<T>(&call, &ME, |x| !x)));
}
