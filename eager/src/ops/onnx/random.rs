//! Random numbers: `onnx.RandomNormal`, `onnx.RandomUniform`, both like another tensor,
//! `onnx.Bernoulli` and `onnx.Multinomial`. Equal seeds give equal numbers, which are not those of
//! other runtimes.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use tfrt_host::{DType, Diagnostic};
use tfrt_math::{CastTo, Float, Number, Philox};
use tfrt_tensor::{Accessor, Element, TensorMetadata};

use super::arguments::{count_or, ints_attr};
use crate::ops::support::{
    Computed, Described, compute, float_attr, invalid, one, shape_of, with_float, with_type,
};
use crate::ops::types;
use crate::{AttrSpec, CpuCall, MetadataCall, OpAttrs, OpRegistry, attr};

static ME: Accessor = Accessor::new("onnx random op");

/// The generator of a call.
fn generator(attrs: &OpAttrs) -> Result<Philox, Diagnostic> {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    Ok(match float_attr(attrs, "seed")? {
        Some(seed) => Philox::new(seed.to_bits(), 0),
        // Hash keys of the standard library are random.
        None => Philox::new(
            RandomState::new().hash_one("seed"),
            u128::from(CALLS.fetch_add(1, Ordering::Relaxed)) << 64,
        ),
    })
}

/// Two independent numbers in `[0, 1)`.
fn uniform(generator: &Philox, index: usize) -> [f64; 2] {
    let [a, b, c, d] = generator.block(index as u64);
    let number =
        |high: u32, low: u32| (u64::from(high) << 21 | u64::from(low >> 11)) as f64 / (1u64 << 53) as f64;
    [number(a, b), number(c, d)]
}

/// A number of the standard normal distribution.
fn normal(generator: &Philox, index: usize) -> f64 {
    let [a, b] = uniform(generator, index);
    (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Distribution {
    Normal,
    Uniform,
}

fn metadata(call: MetadataCall<'_>) -> Described {
    let [] = call.take()?;
    let shape = ints_attr(call.attrs, "shape")?.ok_or_else(|| invalid("attribute 'shape' is missing"))?;
    one(TensorMetadata::new(call.attrs.optional("dtype")?.unwrap_or(DType::F32), shape_of(&shape)?))
}

fn like_metadata(call: MetadataCall<'_>) -> Described {
    let [x] = call.take()?;
    one(TensorMetadata::new(call.attrs.optional("dtype")?.unwrap_or(x.dtype), x.shape.clone()))
}

fn random<T: Element + Float>(call: &CpuCall<'_>, distribution: Distribution) -> Computed {
    let (generator, out) = (generator(call.attrs)?, call.allocate_unset(0)?);
    let number = |name, default| Ok::<_, Diagnostic>(float_attr(call.attrs, name)?.unwrap_or(default));
    let (start, scale) = match distribution {
        Distribution::Normal => (number("mean", 0.0)?, number("scale", 1.0)?),
        Distribution::Uniform => {
            let low = number("low", 0.0)?;
            (low, number("high", 1.0)? - low)
        }
    };
    let count = out.num_elements();
    compute(call, &ME, out, (count, 1, 16), move |range, out: &mut [T]| {
        for (index, out) in range.zip(out) {
            let number = match distribution {
                Distribution::Normal => normal(&generator, index),
                Distribution::Uniform => uniform(&generator, index)[0],
            };
            *out = T::from_f64(start + scale * number);
        }
        Ok(())
    })
}

fn bernoulli<O: Element>(call: &CpuCall<'_>, one: O) -> Computed {
    let (generator, [x], out) = (generator(call.attrs)?, call.dense()?, call.allocate_unset(0)?);
    let chances: Vec<f64> = with_float!(x.dtype(), "onnx.Bernoulli", |T| {
        Ok::<_, Diagnostic>(x.read::<T>(&ME)?.iter().map(|x| x.to_f64()).collect())
    })?;
    let count = out.num_elements();
    compute(call, &ME, out, (count, 1, 16), move |range, out: &mut [O]| {
        for (index, out) in range.zip(out) {
            *out = if uniform(&generator, index)[0] < chances[index] { one } else { O::default() };
        }
        Ok(())
    })
}

fn multinomial_metadata(call: MetadataCall<'_>) -> Described {
    let [x] = call.take()?;
    let &[batch, _] = x.shape.dims() else {
        return Err(invalid(format!("the input must have 2 dimensions, got shape {}", x.shape)));
    };
    let dtype = call.attrs.optional("dtype")?.unwrap_or(DType::I32);
    one(TensorMetadata::new(dtype, [batch, count_or(call.attrs, "sample_size", 1)?]))
}

fn multinomial<O: Element>(call: &CpuCall<'_>) -> Computed
where
    i64: CastTo<O>,
{
    let (generator, [x], out) = (generator(call.attrs)?, call.dense()?, call.allocate_unset(0)?);
    let classes = x.shape().dims()[1];
    let samples = count_or(call.attrs, "sample_size", 1)?;
    if classes == 0 && out.num_elements() > 0 {
        return Err(invalid("there are no classes to draw from"));
    }
    // Sums of chances, which are given by their logarithms.
    let mut sums: Vec<f64> = with_float!(x.dtype(), "onnx.Multinomial", |T| {
        Ok::<_, Diagnostic>(x.read::<T>(&ME)?.iter().map(|x| x.to_f64()).collect())
    })?;
    for row in sums.chunks_exact_mut(classes.max(1)) {
        let greatest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut sum = 0.0;
        for chance in row {
            sum += (*chance - greatest).exp();
            *chance = sum;
        }
    }
    let count = out.num_elements();
    compute(call, &ME, out, (count, 1, 64), move |range, out: &mut [O]| {
        for (index, out) in range.zip(out) {
            let row = &sums[index / samples * classes..][..classes];
            let drawn = uniform(&generator, index)[0] * row[classes - 1];
            let class = row.iter().position(|&sum| drawn < sum).unwrap_or(classes - 1);
            *out = (class as i64).cast_to();
        }
        Ok(())
    })
}

const SEED: AttrSpec = attr::float("seed").optional();
const SHAPE: AttrSpec = attr::ints("shape");
const DTYPE: AttrSpec = attr::dtype_or("dtype", DType::F32);
const LIKE: AttrSpec = attr::dtype("dtype").optional();
const NORMAL: [AttrSpec; 2] = [attr::float_or("mean", 0.0), attr::float_or("scale", 1.0)];
const UNIFORM: [AttrSpec; 2] = [attr::float_or("high", 1.0), attr::float_or("low", 0.0)];

pub(super) fn register(ops: &mut OpRegistry) {
    macro_rules! distributions {
        ($($name:literal, $metadata:path, $attrs:expr => $distribution:ident;)*) => {$(
            ops.add($name).types(types::FLOATS).attrs($attrs).metadata($metadata).nondeterministic().cpu(|call| {
                with_float!(call.result(0)?.dtype, $name, |T| random::<T>(&call, Distribution::$distribution))
            });
        )*};
    }
    distributions! {
        "onnx.RandomNormal", metadata, [DTYPE, NORMAL[0], NORMAL[1], SEED, SHAPE] => Normal;
        "onnx.RandomNormalLike", like_metadata, [LIKE, NORMAL[0], NORMAL[1], SEED] => Normal;
        "onnx.RandomUniform", metadata, [DTYPE, UNIFORM[0], UNIFORM[1], SEED, SHAPE] => Uniform;
        "onnx.RandomUniformLike", like_metadata, [LIKE, UNIFORM[0], UNIFORM[1], SEED] => Uniform;
    }
    ops.add("onnx.Bernoulli")
        .types(types::ORDERED)
        .attrs([LIKE, SEED])
        .metadata(like_metadata)
        .nondeterministic()
        .cpu(|call| match call.result(0)?.dtype {
            DType::I1 => bernoulli(&call, true),
            dtype => with_type!(dtype, "onnx.Bernoulli", |T| bernoulli(&call, <T as Number>::ONE),
                I8 i8, I16 i16, I32 i32, I64 i64, UI8 u8, UI16 u16, UI32 u32, UI64 u64,
                F16 tfrt_tensor::f16, BF16 tfrt_tensor::bf16, F32 f32, F64 f64),
        });
    ops.add("onnx.Multinomial")
        .types(types::FLOATS)
        .attrs([attr::dtype_or("dtype", DType::I32), attr::int_or("sample_size", 1), SEED])
        .metadata(multinomial_metadata)
        .nondeterministic()
        .cpu(|call| {
            with_type!(call.result(0)?.dtype, "onnx.Multinomial", |O| multinomial::<O>(&call), I32 i32, I64 i64)
        });
}
