//! Random integers of all values, samples of classes, and permutations, as TensorFlow draws them
//! from Philox.

use tfrt_host::DType;
use tfrt_math::Philox;
use tfrt_tensor::HostTensor;

use super::plain::{reals, results, tensor};
use super::random::{Seeding, keyed, random_shape, seeded, stateless};
use super::support::{Computed, integer, integers as integers_of, invalid, room_for, take};
use super::types;
use crate::{CpuCall, OpRegistry, ResultType, attr};

/// The words that a generator gives, one after the other.
struct Words {
    generator: Philox,
    next: u64,
}

impl Words {
    fn word(&mut self) -> u32 {
        let (block, place) = (self.next / Philox::BLOCK as u64, self.next as usize % Philox::BLOCK);
        self.next += 1;
        self.generator.block(block)[place]
    }

    /// A number in `[0, 1)`.
    fn real(&mut self) -> f64 {
        let (high, low) = (self.word(), self.word());
        f64::from_bits(1023 << 52 | u64::from(high & 0xf_ffff) << 32 | u64::from(low)) - 1.0
    }
}

/// Integers of which each value is as likely.
fn integers<const N: usize>(call: &CpuCall<'_>, seeding: Seeding) -> Computed {
    let arguments = take::<N>(call)?;
    let (generator, shape) = (seeding(&arguments, call.attrs)?, random_shape(&arguments)?);
    let mut words = Words { generator, next: 0 };
    let count = shape.num_elements()?;
    let dtype: DType = call.attrs.optional("dtype")?.unwrap_or(DType::UI64);
    if dtype.size() == Some(4) {
        let mut list: Vec<u32> = room_for(count)?;
        list.extend((0..count).map(|_| words.word()));
        return Ok(results([match dtype {
            DType::UI32 => tensor(call, shape.dims(), &list)?,
            _ => tensor(call, shape.dims(), &list.into_iter().map(|word| word as i32).collect::<Vec<_>>())?,
        }]));
    }
    let mut list: Vec<u64> = room_for(count)?;
    list.extend((0..count).map(|_| u64::from(words.word()) | u64::from(words.word()) << 32));
    Ok(results([match dtype {
        DType::UI64 => tensor(call, shape.dims(), &list)?,
        _ => tensor(call, shape.dims(), &list.into_iter().map(|word| word as i64).collect::<Vec<_>>())?,
    }]))
}

/// Classes drawn with the probabilities that the rows of logarithms give.
fn classes(call: &CpuCall<'_>, arguments: &[&HostTensor], generator: Philox) -> Computed {
    let &[logits, samples, ..] = arguments else { return Err(invalid("the op lacks arguments")) };
    let &[rows, classes] = logits.shape().dims() else {
        return Err(invalid(format!("logits should be a matrix, got shape {}", logits.shape())));
    };
    let samples = integer(samples, "num_samples")?;
    let samples = usize::try_from(samples)
        .map_err(|_| invalid(format!("num_samples should be nonnegative, got {samples}")))?;
    if classes == 0 && rows > 0 {
        return Err(invalid("num_classes should be positive, got 0"));
    }
    let (logits, mut words) = (reals(logits)?, Words { generator, next: 0 });
    let mut drawn: Vec<i64> = room_for(rows.saturating_mul(samples))?;
    for row in logits.chunks_exact(classes.max(1)) {
        let finite = |x: &&f64| x.is_finite();
        let greatest = row.iter().filter(finite).fold(f64::NEG_INFINITY, |greatest, &x| greatest.max(x));
        let mut total = 0.0;
        let sums: Vec<f64> = row
            .iter()
            .map(|x| {
                total += if x.is_finite() { (x - greatest).exp() } else { 0.0 };
                total
            })
            .collect();
        for _ in 0..samples {
            let wanted = words.real() * total;
            drawn.push(sums.partition_point(|&sum| sum <= wanted) as i64);
        }
    }
    let dims = [rows, samples];
    Ok(results([match call.attrs.optional::<DType>("output_dtype")?.unwrap_or(DType::I64) {
        DType::I32 => tensor(call, &dims, &drawn.into_iter().map(|class| class as i32).collect::<Vec<_>>())?,
        _ => tensor(call, &dims, &drawn)?,
    }]))
}

/// The numbers below a count, which is a vector of one element, in a random order.
fn permutation(call: &CpuCall<'_>, generator: Philox) -> Computed {
    let count = call.arguments.first().ok_or_else(|| invalid("the count is missing"))?;
    let count = integers_of(count, "the count")?.first().copied().unwrap_or(0);
    let count = usize::try_from(count).map_err(|_| invalid("the count is negative"))?;
    let mut words = Words { generator, next: 0 };
    let mut order: Vec<i64> = room_for(count)?;
    order.extend(0..count as i64);
    for place in 0..count.saturating_sub(1) {
        let left = u32::try_from(count - place).unwrap_or(u32::MAX);
        order.swap(place, place + (words.word() % left) as usize);
    }
    Ok(results([tensor(call, &[count], &order)?]))
}

pub(super) fn register(ops: &mut OpRegistry) {
    const SEEDS: [crate::AttrSpec; 2] = [attr::int_or("seed", 0), attr::int_or("seed2", 0)];
    const DRAWN: ResultType = ResultType::named("output_dtype").rank(2);
    ops.add("tf.StatelessRandomUniformFullInt")
        .types(&[DType::I32, DType::I64, DType::UI32, DType::UI64])
        .attrs([attr::dtype_or("dtype", DType::UI64)])
        .results([ResultType::named("dtype")])
        .cpu(|call| integers::<2>(&call, stateless));
    ops.add("tf.StatelessRandomUniformFullIntV2")
        .types(&[DType::I32, DType::I64, DType::UI32, DType::UI64])
        .attrs([attr::dtype_or("dtype", DType::UI64)])
        .results([ResultType::named("dtype")])
        .cpu(|call| integers::<4>(&call, keyed));
    ops.add("tf.Multinomial")
        .types(types::NUMBERS)
        .attrs([SEEDS[0], SEEDS[1], attr::dtype_or("output_dtype", DType::I64)])
        .results([DRAWN])
        .cpu(|call| {
            let generator = seeded(&[], call.attrs)?;
            classes(&call, call.arguments, generator)
        })
        .nondeterministic();
    ops.add("tf.StatelessMultinomial")
        .types(types::NUMBERS)
        .attrs([attr::dtype_or("output_dtype", DType::I64)])
        .results([DRAWN])
        .cpu(|call| {
            let seed = call.arguments.get(1..).unwrap_or_default();
            let generator = stateless(seed, call.attrs)?;
            classes(&call, call.arguments, generator)
        });
    ops.add("tfrt.RandomPermutation")
        .types(types::INDICES)
        .attrs(SEEDS)
        .results([ResultType::is(DType::I64).rank(1)])
        .cpu(|call| {
            let generator = seeded(&[], call.attrs)?;
            permutation(&call, generator)
        })
        .nondeterministic();
    ops.add("tfrt.StatelessPermutation")
        .types(&[DType::I32, DType::I64, DType::UI64])
        .results([ResultType::is(DType::I64).rank(1)])
        .cpu(|call| {
            let generator = keyed(call.arguments, call.attrs)?;
            permutation(&call, generator)
        });
}
