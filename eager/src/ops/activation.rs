//! Activations and their gradients.

use tfrt_host::Diagnostic;
use tfrt_math::{Float, Function, Number, map_in_place, ops};
use tfrt_tensor::Accessor;

use super::elementwise::{binary, broadcast_metadata, map, single};
use super::support::{Described, float_attr, invalid, same, with_float, with_number};
use super::types;
use crate::{CpuCall, MetadataCall, OpRegistry, attr};

static ME: Accessor = Accessor::new("tf activation");

/// The scale of scaled exponential units, which preserves means and variances.
const SELU_SCALE: f64 = 1.050_700_987_355_480_5;
const SELU_SCALE_ALPHA: f64 = 1.758_099_340_847_376_6;

/// An activation that other ops may apply last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Activation {
    Relu,
    Relu6,
    Elu,
    LeakyRelu { alpha: f64 },
    Tanh,
    Sigmoid,
    Gelu { approximate: bool },
}

impl Activation {
    /// Returns the activation with this name and its attributes.
    pub(super) fn named(name: &str, alpha: f64) -> Option<Self> {
        match name {
            "Relu" => Some(Self::Relu),
            "Relu6" => Some(Self::Relu6),
            "Elu" => Some(Self::Elu),
            "LeakyRelu" => Some(Self::LeakyRelu { alpha }),
            "Tanh" => Some(Self::Tanh),
            "Sigmoid" => Some(Self::Sigmoid),
            "GeluExact" => Some(Self::Gelu { approximate: false }),
            "GeluApproximate" => Some(Self::Gelu { approximate: true }),
            _ => None,
        }
    }

    /// Applies it to one element.
    pub(super) fn apply<T: Float>(self, x: T) -> T {
        match self {
            Self::Relu => ops::relu(x),
            Self::Relu6 => relu6(x),
            Self::Elu => elu(x),
            Self::LeakyRelu { alpha } => ops::leaky_relu(x, T::from_f64(alpha)),
            Self::Tanh => ops::tanh(x),
            Self::Sigmoid => ops::sigmoid(x),
            Self::Gelu { approximate } => T::from_f64(gelu(x.to_f64(), approximate)),
        }
    }
}

impl Activation {
    /// Applies it to all elements. Each of these functions has a loop of its own, which is computed
    /// with vectors.
    pub(super) fn apply_to<T: Float>(self, elements: &mut [T]) {
        match self {
            Self::Relu6 => map_in_place(elements, relu6),
            Self::LeakyRelu { alpha } => {
                let alpha = T::from_f64(alpha);
                map_in_place(elements, move |x| ops::leaky_relu(x, alpha));
            }
            Self::Tanh => T::tanh_row(elements),
            Self::Sigmoid => T::sigmoid_row(elements),
            other => map_in_place(elements, |x| other.apply(x)),
        }
    }
}

/// Returns the slope of `tf.LeakyRelu` for negative numbers.
pub(super) fn leak(attrs: &crate::OpAttrs) -> Result<f64, Diagnostic> {
    Ok(float_attr(attrs, "alpha")?.unwrap_or(f64::from(0.2f32)))
}

fn relu6<T: Number>(x: T) -> T {
    ops::minimum(ops::relu(x), T::from_count(6))
}

/// Returns `dy` where the function rises, else zero. If `dy` is not finite the result is NaN, as in
/// TensorFlow, so that it stays visible.
fn where_rising<T: Number>(dy: T, rises: bool) -> T {
    if rises { dy } else { dy.minus(dy) }
}

fn elu<T: Float>(x: T) -> T {
    if x < T::ZERO { T::from_f64(x.to_f64().exp_m1()) } else { x }
}

fn selu(x: f64) -> f64 {
    if x < 0.0 { SELU_SCALE_ALPHA * x.exp_m1() } else { SELU_SCALE * x }
}

fn softplus(x: f64) -> f64 {
    // exp(x) would overflow long before the two terms differ.
    if x > 40.0 { x } else { x.exp().ln_1p() }
}

/// `x · Φ(x)`, where Φ is the standard normal distribution, or its approximation by a hyperbolic
/// tangent.
fn gelu(x: f64, approximate: bool) -> f64 {
    if approximate {
        let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x);
        0.5 * x * (1.0 + inner.tanh())
    } else {
        0.5 * x * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
    }
}

fn sigmoid(x: f64) -> f64 {
    ops::sigmoid(x)
}

fn approximate(call: &CpuCall<'_>) -> Result<bool, Diagnostic> {
    Ok(call.attrs.optional("approximate")?.unwrap_or(false))
}

/// Returns the metadata of two tensors with the same shape and type.
fn alike(call: MetadataCall<'_>) -> Described {
    let [left, right] = call.take()?;
    if left.shape != right.shape {
        return Err(invalid(format!(
            "Inputs must have the same shape, got {} and {}",
            left.shape, right.shape
        )));
    }
    broadcast_metadata(call)
}

/// Defines activations that have vectorized loops in single precision.
macro_rules! vectors {
    ($ops:expr; $($name:literal => $function:ident, $wide:expr;)*) => {$(
        $ops.add($name).types(types::FLOATS).metadata(same).cpu(|call| {
            single(&call, &ME, $name, Function::$function, $wide)
        });
    )*};
}

/// Defines gradients, as functions of two tensors in double precision.
macro_rules! gradients {
    ($ops:expr; $($name:literal => |$a:ident, $b:ident| $body:expr;)*) => {$(
        $ops.add($name).types(types::FLOATS).metadata(alike).cpu(|call| {
            with_float!(call.result(0)?.dtype, $name, |T| {
                binary::<T>(&call, &ME, |a, b| {
                    let ($a, $b) = (a.to_f64(), b.to_f64());
                    T::from_f64($body)
                })
            })
        });
    )*};
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.Relu")
        .types(types::NUMBERS)
        .metadata(same)
        .cpu(|call| with_number!(call.result(0)?.dtype, "tf.Relu", |T| map::<T>(&call, &ME, ops::relu)));
    ops.add("tf.Relu6")
        .types(types::NUMBERS)
        .metadata(same)
        .cpu(|call| with_number!(call.result(0)?.dtype, "tf.Relu6", |T| map::<T>(&call, &ME, relu6)));
    vectors! { ops;
        "tf.Elu" => Elu, elu::<f64>;
        "tf.Selu" => Selu, selu;
        "tf.Softplus" => Softplus, softplus;
        "tf.Softsign" => Softsign, |x| x / (1.0 + x.abs());
    }
    ops.add("tf.LeakyRelu").types(types::FLOATS).attrs([attr::float_or("alpha", 0.2)]).metadata(same).cpu(
        |call| {
            let alpha = leak(call.attrs)?;
            with_float!(call.result(0)?.dtype, "tf.LeakyRelu", |T| {
                let alpha = T::from_f64(alpha);
                map::<T>(&call, &ME, move |x| ops::leaky_relu(x, alpha))
            })
        },
    );
    ops.add("tf.Gelu")
        .types(types::FLOATS)
        .attrs([attr::boolean_or("approximate", false)])
        .metadata(same)
        .cpu(|call| {
            let approximate = approximate(&call)?;
            let function = if approximate { Function::GeluTanh } else { Function::Gelu };
            single(&call, &ME, "tf.Gelu", function, move |x| gelu(x, approximate))
        });
    ops.add("tf.ReluGrad").types(types::NUMBERS).metadata(alike).cpu(|call| {
        with_number!(call.result(0)?.dtype, "tf.ReluGrad", |T| {
            binary::<T>(&call, &ME, |dy, x| where_rising(dy, x > T::ZERO))
        })
    });
    ops.add("tf.Relu6Grad").types(types::NUMBERS).metadata(alike).cpu(|call| {
        with_number!(call.result(0)?.dtype, "tf.Relu6Grad", |T| {
            binary::<T>(&call, &ME, |dy, x| where_rising(dy, x > T::ZERO && x < T::from_count(6)))
        })
    });
    ops.add("tf.LeakyReluGrad")
        .types(types::FLOATS)
        .attrs([attr::float_or("alpha", 0.2)])
        .metadata(alike)
        .cpu(|call| {
            let alpha = leak(call.attrs)?;
            with_float!(call.result(0)?.dtype, "tf.LeakyReluGrad", |T| {
                let alpha = T::from_f64(alpha);
                binary::<T>(&call, &ME, move |dy, x| if x > T::ZERO { dy } else { dy.times(alpha) })
            })
        });
    gradients! { ops;
        "tf.EluGrad" => |dy, y| if y < 0.0 { dy * (y + 1.0) } else { dy };
        "tf.SeluGrad" => |dy, y| if y < 0.0 { dy * (y + SELU_SCALE_ALPHA) } else { dy * SELU_SCALE };
        "tf.SoftplusGrad" => |dy, x| dy * sigmoid(x);
        "tf.SoftsignGrad" => |dy, x| dy / ((1.0 + x.abs()) * (1.0 + x.abs()));
    }
}
