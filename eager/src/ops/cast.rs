//! `tf.Cast`, `tf.Bitcast`: tensors of another type.
//!
//! Integers wrap. A floating-point number becomes an integer as on the processors that TensorFlow
//! is mostly used on: it is rounded toward zero to 32 or 64 bits, where a number that does not fit
//! becomes the least one, and then wraps to the type. A complex number becomes a real one or a
//! truth value by its real part. Conversion to half types goes through `f32`, which rounds twice,
//! as in TensorFlow and on devices. With `Truncate`, some floating-point conversions truncate
//! instead of rounding.

use tfrt_host::{DType, Diagnostic};
use tfrt_math::CastTo;
use tfrt_tensor::{Accessor, Complex, DenseHostTensor, Element, TensorMetadata, TensorShape, bf16, f16};

use super::complex::{C, Field};
use super::elementwise::unary;
use super::support::{Computed, Described, invalid, one, unsupported, with_complex, with_type};
use super::types;
use crate::{CpuCall, MetadataCall, OpAttrs, OpRegistry, attr};

static ME: Accessor = Accessor::new("tf.Cast");

fn wanted(call: &MetadataCall<'_>, attribute: &str) -> Result<DType, Diagnostic> {
    let dtype = call.attrs.required::<DType>(attribute)?;
    if dtype.size().is_none() {
        return Err(invalid(format!("tensors cannot be cast to {dtype}")));
    }
    Ok(dtype)
}

fn cast_metadata(call: MetadataCall<'_>) -> Described {
    let [argument] = call.take()?;
    one(TensorMetadata::new(wanted(&call, "DstT")?, argument.shape.clone()))
}

/// Rounds toward zero. A number that does not fit becomes the least integer.
fn to_i32(x: f64) -> i32 {
    let x = x.trunc();
    if x >= f64::from(i32::MIN) && x <= f64::from(i32::MAX) { x as i32 } else { i32::MIN }
}

/// Converts like [`to_i32`].
fn to_i64(x: f64) -> i64 {
    // The greatest integer is not a floating-point number. The bound is the power of two above it.
    if x >= i64::MIN as f64 && x < -(i64::MIN as f64) { x as i64 } else { i64::MIN }
}

/// Converts like [`to_i32`], except that numbers too large for signed integers keep their value.
fn to_u64(x: f64) -> u64 {
    if x >= -(i64::MIN as f64) { x as u64 } else { to_i64(x) as u64 }
}

/// Casts like Rust.
fn plain<A: Element + CastTo<B>, B: Element>(call: &CpuCall<'_>) -> Computed {
    unary::<A, B>(call, &ME, A::cast_to)
}

/// Casts to a half type through `f32`.
fn halved<A: Element + CastTo<f32>, B: Element>(call: &CpuCall<'_>) -> Computed
where
    f32: CastTo<B>,
{
    unary(call, &ME, |x: A| -> B { CastTo::<f32>::cast_to(x).cast_to() })
}

/// Casts from a type of integers or truth values.
macro_rules! from_exact {
    ($call:expr, $A:ty, $to:expr) => {
        match $to {
            DType::F16 => halved::<$A, f16>($call),
            DType::BF16 => halved::<$A, bf16>($call),
            to => with_type!(to, "tf.Cast", |B| plain::<$A, B>($call),
                I1 bool, I8 i8, I16 i16, I32 i32, I64 i64, UI8 u8, UI16 u16, UI32 u32, UI64 u64, F32 f32, F64 f64),
        }
    };
}

/// Casts from a floating-point type.
fn from_float<A>(call: &CpuCall<'_>, to: DType) -> Computed
where
    A: Element + CastTo<f64> + CastTo<f32> + CastTo<bool>,
{
    match to {
        DType::F16 => halved::<A, f16>(call),
        DType::BF16 => halved::<A, bf16>(call),
        DType::F32 => plain::<A, f32>(call),
        DType::I1 => plain::<A, bool>(call),
        to => from_wide(call, to, |x: A| -> f64 { x.cast_to() }),
    }
}

/// Casts from a complex type.
fn from_complex<A: Field<Wide = C>>(call: &CpuCall<'_>, to: DType) -> Computed {
    match to {
        DType::I1 => unary(call, &ME, |z: A| z.wide().re != 0.0),
        DType::Complex64 | DType::Complex128 => {
            with_complex!(to, "tf.Cast", |B| unary(call, &ME, |z: A| B::narrow(z.wide())))
        }
        to => from_wide(call, to, |z: A| z.wide().re),
    }
}

/// Casts to complex numbers with parts of type `$B`, with zero as the imaginary part.
macro_rules! to_complex {
    ($call:expr, $from:expr, $B:ty) => {
        with_type!($from, "tf.Cast", |A| unary($call, &ME, |x: A| Complex::<$B>::new(x.cast_to(), 0.0)),
            I1 bool, I8 i8, I16 i16, I32 i32, I64 i64, UI8 u8, UI16 u16, UI32 u32, UI64 u64,
            F16 f16, BF16 bf16, F32 f32, F64 f64)
    };
}

/// Casts from a type whose elements `wide` converts.
fn from_wide<A: Element>(
    call: &CpuCall<'_>,
    to: DType,
    wide: impl Fn(A) -> f64 + Send + Sync + 'static,
) -> Computed {
    match to {
        DType::I8 => unary(call, &ME, move |x| to_i32(wide(x)) as i8),
        DType::I16 => unary(call, &ME, move |x| to_i32(wide(x)) as i16),
        DType::I32 => unary(call, &ME, move |x| to_i32(wide(x))),
        DType::I64 => unary(call, &ME, move |x| to_i64(wide(x))),
        DType::UI8 => unary(call, &ME, move |x| to_i32(wide(x)) as u8),
        DType::UI16 => unary(call, &ME, move |x| to_i32(wide(x)) as u16),
        DType::UI32 => unary(call, &ME, move |x| to_i64(wide(x)) as u32),
        DType::UI64 => unary(call, &ME, move |x| to_u64(wide(x))),
        DType::F16 => unary(call, &ME, move |x| f16::from_f32(wide(x) as f32)),
        DType::BF16 => unary(call, &ME, move |x| bf16::from_f32(wide(x) as f32)),
        DType::F32 => unary(call, &ME, move |x| wide(x) as f32),
        DType::F64 => unary(call, &ME, wide),
        other => Err(unsupported("tf.Cast", other)),
    }
}

/// Returns how many digits of an `f64` are truncated if the attributes of `tf.Cast` request
/// truncation. Returns `None` if the cast rounds, as between most types.
pub(super) fn truncated_digits(attrs: &OpAttrs, from: DType, to: DType) -> Result<Option<u32>, Diagnostic> {
    let kept = match (from, to) {
        (DType::F64, DType::F32) => f32::MANTISSA_DIGITS,
        (DType::F64 | DType::F32, DType::F16) => f16::MANTISSA_DIGITS,
        (DType::F32, DType::BF16) => bf16::MANTISSA_DIGITS,
        _ => return Ok(None),
    };
    let truncate = attrs.optional("Truncate")?.unwrap_or(false);
    Ok(truncate.then(|| f64::MANTISSA_DIGITS - kept))
}

/// Returns a number without its last `lost` digits. NaN stays NaN.
fn without_digits(x: f64, lost: u32) -> f64 {
    if x.is_nan() { x } else { f64::from_bits(x.to_bits() >> lost << lost) }
}

/// Casts without the last `lost` digits.
fn truncated<A: Element + CastTo<f64>>(call: &CpuCall<'_>, to: DType, lost: u32) -> Computed {
    from_wide(call, to, move |x: A| without_digits(x.cast_to(), lost))
}

fn cast(call: CpuCall<'_>) -> Computed {
    let [x] = call.dense()?;
    let (from, to) = (x.dtype(), call.result(0)?.dtype);
    if from == to {
        return Ok(x.clone().into());
    }
    let call = &call;
    match (from, truncated_digits(call.attrs, from, to)?) {
        (DType::F32, Some(lost)) => return truncated::<f32>(call, to, lost),
        (_, Some(lost)) => return truncated::<f64>(call, to, lost),
        (_, None) => {}
    }
    match (from, to) {
        (DType::Complex64, _) => return from_complex::<Complex<f32>>(call, to),
        (DType::Complex128, _) => return from_complex::<C>(call, to),
        (_, DType::Complex64) => return to_complex!(call, from, f32),
        (_, DType::Complex128) => return to_complex!(call, from, f64),
        _ => {}
    }
    match from {
        DType::F16 => from_float::<f16>(call, to),
        DType::BF16 => from_float::<bf16>(call, to),
        DType::F32 => from_float::<f32>(call, to),
        DType::F64 => from_float::<f64>(call, to),
        DType::I1 => from_exact!(call, bool, to),
        DType::I8 => from_exact!(call, i8, to),
        DType::I16 => from_exact!(call, i16, to),
        DType::I32 => from_exact!(call, i32, to),
        DType::I64 => from_exact!(call, i64, to),
        DType::UI8 => from_exact!(call, u8, to),
        DType::UI16 => from_exact!(call, u16, to),
        DType::UI32 => from_exact!(call, u32, to),
        DType::UI64 => from_exact!(call, u64, to),
        other => Err(unsupported("tf.Cast", other)),
    }
}

/// Returns the metadata of the same bytes as another type. If the sizes differ, a dimension is
/// added or removed.
fn bitcast_metadata(call: MetadataCall<'_>) -> Described {
    let [argument] = call.take()?;
    let dtype = wanted(&call, "type")?;
    let size = |dtype: DType| dtype.size().ok_or_else(|| unsupported("tf.Bitcast", dtype));
    let (from, to) = (size(argument.dtype)?, size(dtype)?);
    let mut dims = argument.shape.dims().to_vec();
    if from > to {
        dims.push(from / to);
    } else if from < to && dims.pop() != Some(to / from) {
        return Err(invalid(format!(
            "Cannot bitcast from {} to {dtype}: shape {}",
            argument.dtype, argument.shape
        )));
    }
    one(TensorMetadata::new(dtype, TensorShape::new(&dims)?))
}

fn bitcast(call: CpuCall<'_>) -> Computed {
    let [x] = call.dense()?;
    let metadata = call.result(0)?.clone();
    Ok(DenseHostTensor::from_buffer(metadata, x.buffer().clone())?.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.Cast")
        .types(types::ELEMENTS)
        .attrs([attr::dtype("DstT"), attr::boolean_or("Truncate", false)])
        .metadata(cast_metadata)
        .cpu(cast);
    ops.add("tf.Bitcast")
        .types(types::ELEMENTS)
        .attrs([attr::dtype("type")])
        .metadata(bitcast_metadata)
        .cpu(bitcast);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_lost_but_not_that_a_value_is_no_number() {
        assert_eq!(without_digits(1.0 + f64::EPSILON, 29), 1.0);
        assert_eq!(
            [f64::INFINITY, -0.0].map(|x| without_digits(x, 29).to_bits()),
            [f64::INFINITY, -0.0].map(f64::to_bits)
        );
        assert!(without_digits(f64::from_bits(0x7ff0_0000_0000_0001), 29).is_nan());
    }
}
