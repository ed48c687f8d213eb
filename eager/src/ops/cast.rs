//! `tf.Cast`, `tf.Bitcast`: tensors of another type.
//!
//! Integers wrap. A floating-point number becomes an integer as on the processors that TensorFlow
//! is mostly used on: it is rounded toward zero to 32 or 64 bits, where a number that does not fit
//! becomes the least one, and then wraps to the type. A complex number becomes a real one or a
//! truth value by its real part. Conversion to half types goes through `f32`, which rounds twice,
//! as in TensorFlow and on devices. With `Truncate`, some floating-point conversions truncate
//! instead of rounding.

use std::ops::Range;

use tfrt_host::{DType, Diagnostic};
use tfrt_math::{CastTo, UnaryLoop as _};
use tfrt_tensor::{Accessor, Complex, DenseHostTensor, Element, TensorMetadata, TensorShape, bf16, f16};

use super::complex::{C, Field};
use super::elementwise::{COST, PIECE, unary};
use super::support::{Computed, Described, compute, invalid, one, unsupported, with_type};
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

/// Converts the elements of a range exactly to a wider type.
type Widen<W> = Box<dyn Fn(Range<usize>, &mut [W]) + Send + Sync>;

fn widened<A: Element, W: Element>(
    call: &CpuCall<'_>,
    widen: impl Fn(A) -> W + Send + Sync + 'static,
) -> Result<Widen<W>, Diagnostic> {
    let [x] = call.dense()?;
    let x = x.read_owned::<A>(&ME)?;
    Ok(Box::new(move |range, out| widen.map(out, &x[range])))
}

/// Converts elements from a wider type, piece by piece.
fn narrowed<W: Element, B: Element>(
    call: &CpuCall<'_>,
    source: Widen<W>,
    narrow: impl Fn(W) -> B + Send + Sync + 'static,
) -> Computed {
    let out = call.allocate_unset(0)?;
    let count = out.num_elements();
    compute(call, &ME, out, (count, 1, COST), move |range: Range<usize>, out| {
        let mut wide = [W::default(); PIECE];
        for (piece, out) in out.chunks_mut(PIECE).enumerate() {
            let start = range.start + piece * PIECE;
            let wide = &mut wide[..out.len()];
            source(start..start + out.len(), wide);
            narrow.map(out, wide);
        }
        Ok(())
    })
}

/// Casts like Rust.
fn plain<A: Element + CastTo<B>, B: Element>(call: &CpuCall<'_>) -> Computed {
    unary::<A, B>(call, &ME, A::cast_to)
}

/// Casts like Rust, through `f32`.
fn through_f32<A: CastTo<f32>, B>(x: A) -> B
where
    f32: CastTo<B>,
{
    CastTo::<f32>::cast_to(x).cast_to()
}

/// Casts from integers or truth values.
macro_rules! from_integers {
    ($call:expr, $source:expr, $W:ty, $to:expr) => {{
        let (call, source): (_, Widen<$W>) = ($call, $source);
        match $to {
            DType::F16 => narrowed(call, source, through_f32::<$W, f16>),
            DType::BF16 => narrowed(call, source, through_f32::<$W, bf16>),
            DType::Complex64 => narrowed(call, source, |x| Complex::<f32>::new(x.cast_to(), 0.0)),
            DType::Complex128 => narrowed(call, source, |x| C::new(x.cast_to(), 0.0)),
            to => with_type!(to, "tf.Cast", |B| narrowed(call, source, <$W as CastTo<B>>::cast_to),
                I1 bool, I8 i8, I16 i16, I32 i32, I64 i64, UI8 u8, UI16 u16, UI32 u32, UI64 u64, F32 f32, F64 f64),
        }
    }};
}

/// Casts from floating-point numbers.
fn from_reals(call: &CpuCall<'_>, source: Widen<f64>, to: DType) -> Computed {
    match to {
        DType::I1 => narrowed(call, source, |x| x != 0.0),
        DType::I8 => narrowed(call, source, |x| to_i32(x) as i8),
        DType::I16 => narrowed(call, source, |x| to_i32(x) as i16),
        DType::I32 => narrowed(call, source, to_i32),
        DType::I64 => narrowed(call, source, to_i64),
        DType::UI8 => narrowed(call, source, |x| to_i32(x) as u8),
        DType::UI16 => narrowed(call, source, |x| to_i32(x) as u16),
        DType::UI32 => narrowed(call, source, |x| to_i64(x) as u32),
        DType::UI64 => narrowed(call, source, to_u64),
        DType::F16 => narrowed(call, source, through_f32::<f64, f16>),
        DType::BF16 => narrowed(call, source, through_f32::<f64, bf16>),
        DType::F32 => narrowed(call, source, |x| x as f32),
        DType::F64 => narrowed(call, source, |x| x),
        DType::Complex64 => narrowed(call, source, |x| Complex::new(x as f32, 0.0)),
        DType::Complex128 => narrowed(call, source, |x| C::new(x, 0.0)),
        other => Err(unsupported("tf.Cast", other)),
    }
}

/// Casts between the types that are cast most, in one step.
fn direct(call: &CpuCall<'_>, from: DType, to: DType) -> Option<Computed> {
    Some(match (from, to) {
        (DType::F32, DType::I1) => plain::<f32, bool>(call),
        (DType::F32, DType::UI8) => unary(call, &ME, |x: f32| to_i32(x.into()) as u8),
        (DType::F32, DType::I32) => unary(call, &ME, |x: f32| to_i32(x.into())),
        (DType::F32, DType::I64) => unary(call, &ME, |x: f32| to_i64(x.into())),
        (DType::F32, DType::F16) => plain::<f32, f16>(call),
        (DType::F32, DType::BF16) => plain::<f32, bf16>(call),
        (DType::F32, DType::F64) => plain::<f32, f64>(call),
        (DType::I1, DType::F32) => plain::<bool, f32>(call),
        (DType::UI8, DType::F32) => plain::<u8, f32>(call),
        (DType::I32, DType::F32) => plain::<i32, f32>(call),
        (DType::I32, DType::I64) => plain::<i32, i64>(call),
        (DType::I64, DType::F32) => plain::<i64, f32>(call),
        (DType::I64, DType::I32) => plain::<i64, i32>(call),
        (DType::F16, DType::F32) => plain::<f16, f32>(call),
        (DType::BF16, DType::F32) => plain::<bf16, f32>(call),
        (DType::F64, DType::F32) => plain::<f64, f32>(call),
        (DType::Complex64, DType::Complex128) => unary(call, &ME, |z: Complex<f32>| z.wide()),
        (DType::Complex128, DType::Complex64) => unary(call, &ME, Complex::<f32>::narrow),
        _ => return None,
    })
}

/// Casts by way of the type that holds all numbers of a type exactly, so that not every pair of
/// types has a loop of its own.
fn by_way(call: &CpuCall<'_>, from: DType, to: DType) -> Computed {
    match from {
        DType::F16 => from_reals(call, widened(call, |x: f16| x.into())?, to),
        DType::BF16 => from_reals(call, widened(call, |x: bf16| x.into())?, to),
        DType::F32 => from_reals(call, widened(call, |x: f32| x.into())?, to),
        DType::F64 => from_reals(call, widened(call, |x: f64| x)?, to),
        DType::Complex64 => from_reals(call, widened(call, |z: Complex<f32>| z.re.into())?, to),
        DType::Complex128 => from_reals(call, widened(call, |z: C| z.re)?, to),
        DType::UI64 => from_integers!(call, widened(call, |x: u64| x)?, u64, to),
        from => {
            let source = with_type!(from, "tf.Cast", |A| widened(call, <A as CastTo<i64>>::cast_to),
                I1 bool, I8 i8, I16 i16, I32 i32, I64 i64, UI8 u8, UI16 u16, UI32 u32)?;
            from_integers!(call, source, i64, to)
        }
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

fn cast(call: CpuCall<'_>) -> Computed {
    let [x] = call.dense()?;
    let (from, to) = (x.dtype(), call.result(0)?.dtype);
    if from == to {
        return Ok(x.clone().into());
    }
    if let Some(lost) = truncated_digits(call.attrs, from, to)? {
        let source = match from {
            DType::F32 => widened(&call, move |x: f32| without_digits(x.into(), lost)),
            _ => widened(&call, move |x: f64| without_digits(x, lost)),
        };
        return from_reals(&call, source?, to);
    }
    direct(&call, from, to).unwrap_or_else(|| by_way(&call, from, to))
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
