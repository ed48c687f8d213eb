//! Random numbers from Philox, used in the same way as in TensorFlow: the same seeds give the same
//! numbers.
//!
//! Ops with state (`tf.RandomUniform` and related ops) start anew at each call. With seeds, they
//! return what TensorFlow returns when it runs the op for the first time; without seeds, every call
//! returns different numbers.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use tfrt_host::{AsyncValue, DType, Diagnostic};
use tfrt_math::{Distribution, Float, Philox, RandomIntegers};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, HostTensor, TensorShape, bf16, f16};

use super::support::{
    Computed, allocate, compute, int_attr, integers, invalid, shape_of, take, unsupported, value, values,
    vector,
};
use super::types;
use crate::{AttrSpec, CpuCall, Forms, OpAttrs, OpRegistry, OpResult, attr, registry::wrong_count};

static ME: Accessor = Accessor::new("tf random op");

/// The cost of a random number, in elements of streaming.
const COST: usize = 16;
/// The number of random numbers reserved for each result where not all are used.
const RESERVED: u64 = 256;

/// A random number in `[0, 1)` from random bits.
trait Uniform: Element + Float {
    /// The number of random words for a number.
    const WORDS: usize;
    fn uniform(words: &[u32]) -> Self;
    /// Returns two normally distributed numbers from the words of two uniform ones, not yet rounded
    /// to this type.
    fn normal(words: &[u32]) -> [f64; 2];
}

fn uniform_f32(word: u32) -> f32 {
    f32::from_bits(127 << 23 | word & 0x7f_ffff) - 1.0
}

pub(super) fn uniform_f64(low: u32, high: u32) -> f64 {
    f64::from_bits(1023 << 52 | u64::from(low & 0xf_ffff) << 32 | u64::from(high)) - 1.0
}

/// Computes the Box-Muller transform in single precision.
fn normal_f32(words: &[u32]) -> [f64; 2] {
    let radius = (-2.0 * uniform_f32(words[0]).max(1e-7).ln()).sqrt();
    let (sin, cos) = (2.0 * std::f32::consts::PI * uniform_f32(words[1])).sin_cos();
    [sin * radius, cos * radius].map(f64::from)
}

/// Computes the Box-Muller transform in double precision.
pub(super) fn normal_f64(words: &[u32]) -> [f64; 2] {
    let radius = (-2.0 * uniform_f64(words[0], words[1]).max(1e-7).ln()).sqrt();
    let (sin, cos) = (2.0 * std::f64::consts::PI * uniform_f64(words[2], words[3])).sin_cos();
    [sin * radius, cos * radius]
}

impl Uniform for f32 {
    const WORDS: usize = 1;
    fn uniform(words: &[u32]) -> Self {
        uniform_f32(words[0])
    }
    fn normal(words: &[u32]) -> [f64; 2] {
        normal_f32(words)
    }
}

impl Uniform for f64 {
    const WORDS: usize = 2;
    fn uniform(words: &[u32]) -> Self {
        uniform_f64(words[0], words[1])
    }
    fn normal(words: &[u32]) -> [f64; 2] {
        normal_f64(words)
    }
}

impl Uniform for f16 {
    const WORDS: usize = 1;
    fn uniform(words: &[u32]) -> Self {
        Self::from_f32(Self::from_bits(15 << 10 | words[0] as u16 & 0x3ff).to_f32() - 1.0)
    }
    fn normal(words: &[u32]) -> [f64; 2] {
        normal_f32(words)
    }
}

impl Uniform for bf16 {
    const WORDS: usize = 1;
    fn uniform(words: &[u32]) -> Self {
        Self::from_f32(Self::from_bits(127 << 7 | words[0] as u16 & 0x7f).to_f32() - 1.0)
    }
    fn normal(words: &[u32]) -> [f64; 2] {
        normal_f32(words)
    }
}

/// Returns a tensor of floating-point numbers.
fn floats<T: Uniform>(
    call: &CpuCall<'_>,
    out: DenseHostTensor,
    generator: Philox,
    distribution: Distribution,
) -> Computed {
    let each = Philox::BLOCK / T::WORDS;
    let count = out.num_elements();
    let blocks = count.div_ceil(each);
    // The last block may be partial, so units are elements.
    compute(call, &ME, out, (count, 1, COST), move |range, out: &mut [T]| {
        let mut numbers = [T::default(); Philox::BLOCK];
        for block in range.start / each..blocks.min(range.end.div_ceil(each)) {
            match distribution {
                Distribution::Uniform => {
                    let words = generator.block(block as u64);
                    let uniform = words.chunks_exact(T::WORDS).map(T::uniform);
                    numbers.iter_mut().zip(uniform).for_each(|(number, x)| *number = x);
                }
                Distribution::Normal => {
                    let words = generator.block(block as u64);
                    let normal = words.chunks_exact(2 * T::WORDS).flat_map(T::normal).map(T::from_f64);
                    numbers.iter_mut().zip(normal).for_each(|(number, x)| *number = x);
                }
                Distribution::Truncated => truncated(&generator, block as u64, &mut numbers[..each]),
            }
            let first = block * each;
            for (i, &number) in numbers[..each].iter().enumerate() {
                if let Some(out) = (first + i).checked_sub(range.start).and_then(|place| out.get_mut(place)) {
                    *out = number;
                }
            }
        }
        Ok(())
    })
}

/// Fills a block with normally distributed numbers less than 2 away from the mean.
fn truncated<T: Uniform>(generator: &Philox, block: u64, numbers: &mut [T]) {
    let mut skip = block * (numbers.len() as u64 * RESERVED / Philox::BLOCK as u64);
    let mut filled = 0;
    loop {
        let words = generator.block(skip);
        skip += 1;
        for x in words.chunks_exact(2 * T::WORDS).flat_map(T::normal) {
            if x.abs() < 2.0 {
                numbers[filled] = T::from_f64(x);
                filled += 1;
                if filled == numbers.len() {
                    return;
                }
            }
        }
    }
}

/// Returns the shape of an op's result, which is its first argument.
pub(super) fn random_shape(arguments: &[&HostTensor]) -> Result<TensorShape, Diagnostic> {
    let shape = arguments.first().ok_or_else(|| invalid("a random op takes a shape"))?;
    shape_of(&vector(shape, "shape")?)
}

fn random<const N: usize>(call: &CpuCall<'_>, seeding: Seeding, distribution: Distribution) -> Computed {
    let arguments = take::<N>(call)?;
    let (dtype, generator) = (dtype(call.attrs)?, seeding(&arguments, call.attrs)?);
    let out = allocate(call, dtype, random_shape(&arguments)?.dims())?;
    match dtype {
        DType::F32 => floats::<f32>(call, out, generator, distribution),
        DType::F64 => floats::<f64>(call, out, generator, distribution),
        DType::F16 => floats::<f16>(call, out, generator, distribution),
        DType::BF16 => floats::<bf16>(call, out, generator, distribution),
        other => Err(unsupported("a random op", other)),
    }
}

/// Returns the generator of an op's numbers, from its arguments and attributes.
pub(super) type Seeding = fn(&[&HostTensor], &OpAttrs) -> Result<Philox, Diagnostic>;

/// Returns the generator for the attributes of an op with state.
pub(super) fn seeded(_: &[&HostTensor], attrs: &OpAttrs) -> Result<Philox, Diagnostic> {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let seed = |name| Ok::<_, Diagnostic>(int_attr(attrs, name)?.unwrap_or(0) as u64);
    let (mut seed, mut second) = (seed("seed")?, seed("seed2")?);
    if (seed, second) == (0, 0) {
        // The standard library's hash keys are random.
        seed = RandomState::new().hash_one("seed");
        second = CALLS.fetch_add(1, Ordering::Relaxed);
    }
    Ok(Philox::new(seed, u128::from(second) << 64))
}

/// The numbers of algorithms in ops that have one as an argument.
const PHILOX: i32 = 1;
const THREEFRY: i32 = 2;

/// Returns a key and a counter, mixed from a tensor of two seeds.
fn mixed(seed: &HostTensor) -> Result<(u64, u128), Diagnostic> {
    let [first, second] = *vector(seed, "seed")? else {
        return Err(invalid(format!("seed must have shape [2], not {}", seed.shape())));
    };
    let counter = u128::from(first as u64) | u128::from(second as u64) << 64;
    let mixed = Philox::new(0x0246_1e29_3ec8_f720, counter).block(0).map(u64::from);
    Ok((mixed[0] | mixed[1] << 32, u128::from(mixed[2] | mixed[3] << 32) << 64))
}

/// Returns the generator for a tensor of two seeds, which follows the shape.
pub(super) fn stateless(arguments: &[&HostTensor], _: &OpAttrs) -> Result<Philox, Diagnostic> {
    let seed = arguments.get(1).ok_or_else(|| invalid("a stateless random op takes a seed"))?;
    mixed(seed).map(|(key, counter)| Philox::new(key, counter))
}

/// Returns the key and counter from which [`keyed`] creates the generator of two seeds. `tells`
/// adds the algorithm.
pub(super) fn key_and_counter(call: &CpuCall<'_>, tells: bool) -> Computed {
    let [seed] = take(call)?;
    let (key, counter) = mixed(seed)?;
    let allocator = call.cx.host().allocator();
    let counter = [counter as u64, (counter >> 64) as u64];
    let mut tensors = vec![
        DenseHostTensor::from_slice([1], &[key], allocator)?,
        DenseHostTensor::from_slice([2], &counter, allocator)?,
    ];
    if tells {
        tensors.push(algorithm(call)?);
    }
    let tensors = tensors.into_iter().map(|tensor| AsyncValue::new(HostTensor::from(tensor))).collect();
    Ok(OpResult { tensors, done: None })
}

/// Returns the number of the algorithm that key and counter belong to.
fn algorithm(call: &CpuCall<'_>) -> Result<DenseHostTensor, Diagnostic> {
    DenseHostTensor::from_slice(TensorShape::scalar(), &[PHILOX], call.cx.host().allocator())
}

pub(super) fn which_algorithm(call: CpuCall<'_>) -> Computed {
    let [] = take(&call)?;
    Ok(algorithm(&call)?.into())
}

/// Returns the generator for a key, a counter and the number of an algorithm, which follow the
/// shape.
pub(super) fn keyed(arguments: &[&HostTensor], _: &OpAttrs) -> Result<Philox, Diagnostic> {
    let &[shape, key, counter, algorithm, ..] = arguments else {
        return Err(wrong_count(4, arguments.len()));
    };
    let is_empty = integers(shape, "shape")?.contains(&0);
    match value::<i32>(algorithm, "alg")? {
        // The number 3 leaves the choice to the runtime.
        PHILOX | 3 => {}
        // Its counters are shorter. Without a result, no number of it is needed.
        THREEFRY if is_empty => {}
        other => return Err(invalid(format!("Unsupported RNG algorithm ID: {other}"))),
    }
    let words = |tensor: &HostTensor, count| {
        let words = values::<u64>(tensor)?;
        if tensor.shape().rank() != 1 || words.len() < count {
            return Err(invalid(format!(
                "a vector of {count} numbers is expected, got shape {}",
                tensor.shape()
            )));
        }
        Ok(words)
    };
    let (key, counter) = (words(key, 1)?, words(counter, if is_empty { 1 } else { 2 })?);
    if key.len() != 1 {
        return Err(invalid(format!("key must have shape [1], not [{}]", key.len())));
    }
    Ok(Philox::new(key[0], u128::from(counter[0]) | u128::from(counter.get(1).copied().unwrap_or(0)) << 64))
}

/// Returns the type of an op's floating-point numbers.
pub(super) fn dtype(attrs: &OpAttrs) -> Result<DType, Diagnostic> {
    Ok(attrs.optional("dtype")?.unwrap_or(DType::F32))
}

/// Returns the last two arguments of an op of integers: from `low` to `high`, exclusive. The range
/// may only be empty if no numbers are requested.
pub(super) fn integers_between(
    arguments: &[&HostTensor],
    is_empty: bool,
) -> Result<RandomIntegers, Diagnostic> {
    let &[.., low, high] = arguments else {
        return Err(wrong_count(3, arguments.len()));
    };
    let empty = |low: i64, high: i64| invalid(format!("Need minval < maxval, got {low} >= {high}"));
    match low.dtype() {
        DType::I32 => {
            let (low, high) = (value::<i32>(low, "minval")?, value::<i32>(high, "maxval")?);
            match low < high || is_empty {
                true => Ok(RandomIntegers::I32 { low, range: high.wrapping_sub(low) as u32 }),
                false => Err(empty(low.into(), high.into())),
            }
        }
        DType::I64 => {
            let (low, high) = (value::<i64>(low, "minval")?, value::<i64>(high, "maxval")?);
            match low < high || is_empty {
                true => Ok(RandomIntegers::I64 { low, range: high.wrapping_sub(low) as u64 }),
                false => Err(empty(low, high)),
            }
        }
        other => Err(unsupported("a random op of integers", other)),
    }
}

fn random_integers<const N: usize>(call: &CpuCall<'_>, seeding: Seeding) -> Computed {
    let arguments = take::<N>(call)?;
    let (generator, shape) = (seeding(&arguments, call.attrs)?, random_shape(&arguments)?);
    let integers = integers_between(&arguments, shape.num_elements()? == 0)?;
    let out = allocate(call, arguments[N - 1].dtype(), shape.dims())?;
    let count = out.num_elements();
    match integers {
        RandomIntegers::I32 { low, range } => {
            compute(call, &ME, out, (count, 1, COST), move |places, out: &mut [i32]| {
                for (place, out) in places.zip(out) {
                    let word = generator.block((place / 4) as u64)[place % 4];
                    *out = low.wrapping_add((word % range) as i32);
                }
                Ok(())
            })
        }
        RandomIntegers::I64 { low, range } => {
            compute(call, &ME, out, (count, 1, COST), move |places, out: &mut [i64]| {
                for (place, out) in places.zip(out) {
                    let words = generator.block((place / 2) as u64);
                    let word = u64::from(words[place % 2 * 2]) | u64::from(words[place % 2 * 2 + 1]) << 32;
                    *out = low.wrapping_add((word % range) as i64);
                }
                Ok(())
            })
        }
    }
}

const SEEDED: [AttrSpec; 3] =
    [attr::int_or("seed", 0), attr::int_or("seed2", 0), attr::dtype_or("dtype", DType::F32)];

pub(super) fn register(ops: &mut OpRegistry) {
    use Distribution::{Normal, Truncated, Uniform};
    ops.add("tf.RandomUniform")
        .types(types::FLOATS)
        .attrs(SEEDED)
        .cpu(|call| random::<1>(&call, seeded, Uniform))
        .nondeterministic();
    ops.add("tf.RandomStandardNormal")
        .types(types::FLOATS)
        .attrs(SEEDED)
        .cpu(|call| random::<1>(&call, seeded, Normal))
        .nondeterministic();
    ops.add("tf.TruncatedNormal")
        .types(types::FLOATS)
        .attrs(SEEDED)
        .cpu(|call| random::<1>(&call, seeded, Truncated))
        .nondeterministic();
    ops.add("tf.StatelessRandomUniform")
        .types(types::FLOATS)
        .attrs([attr::dtype_or("dtype", DType::F32)])
        .cpu(|call| random::<2>(&call, stateless, Uniform));
    ops.add("tf.StatelessRandomNormal")
        .types(types::FLOATS)
        .attrs([attr::dtype_or("dtype", DType::F32)])
        .cpu(|call| random::<2>(&call, stateless, Normal));
    ops.add("tf.StatelessTruncatedNormal")
        .types(types::FLOATS)
        .attrs([attr::dtype_or("dtype", DType::F32)])
        .cpu(|call| random::<2>(&call, stateless, Truncated));
    ops.add("tf.StatelessRandomGetKeyCounter")
        .types(&[DType::I32, DType::I64, DType::UI64])
        .cpu(|call| key_and_counter(&call, false));
    ops.add("tf.StatelessRandomGetKeyCounterAlg")
        .types(&[DType::I32, DType::I64, DType::UI64])
        .cpu(|call| key_and_counter(&call, true));
    ops.add("tf.StatelessRandomGetAlg").types(&[DType::I32]).cpu(which_algorithm);
    ops.add("tf.StatelessRandomUniformV2")
        .types(types::FLOATS)
        .attrs([attr::dtype_or("dtype", DType::F32)])
        .cpu(|call| random::<4>(&call, keyed, Uniform));
    ops.add("tf.StatelessRandomNormalV2")
        .types(types::FLOATS)
        .attrs([attr::dtype_or("dtype", DType::F32)])
        .cpu(|call| random::<4>(&call, keyed, Normal));
    ops.add("tf.StatelessTruncatedNormalV2")
        .types(types::FLOATS)
        .attrs([attr::dtype_or("dtype", DType::F32)])
        .cpu(|call| random::<4>(&call, keyed, Truncated));
    ops.add("tf.RandomUniformInt")
        .types(types::INDICES)
        .attrs([attr::int_or("seed", 0), attr::int_or("seed2", 0)])
        .cpu(|call| random_integers::<3>(&call, seeded))
        .nondeterministic()
        .forms(Forms::SCALAR);
    ops.add("tf.StatelessRandomUniformInt")
        .types(types::INDICES)
        .cpu(|call| random_integers::<4>(&call, stateless))
        .forms(Forms::SCALAR);
    ops.add("tf.StatelessRandomUniformIntV2")
        .types(types::INDICES)
        .cpu(|call| random_integers::<6>(&call, keyed));
}
