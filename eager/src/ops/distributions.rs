//! Numbers of gamma and Poisson distributions, which are drawn by rejection, as TensorFlow draws
//! them from Philox. Each number has its own part of the generator's words, so that it does not
//! depend on how many others were rejected.

use tfrt_host::DType;
use tfrt_math::Philox;
use tfrt_tensor::TensorShape;

use super::plain::{of_reals, reals};
use super::random::{Seeding, keyed, normal_f64, random_shape, seeded, stateless, uniform_f64};
use super::support::{Computed, invalid, room_for};
use super::types;
use crate::{CpuCall, OpRegistry, ResultType, attr, registry::wrong_count};

/// How many blocks of words are reserved for a number.
const RESERVED: u64 = 256;

/// The words of one number, and the numbers that were made of them and not used.
struct Words<'g> {
    generator: &'g Philox,
    block: u64,
    uniform: Vec<f64>,
    normal: Vec<f64>,
}

impl<'g> Words<'g> {
    fn new(generator: &'g Philox, number: usize) -> Self {
        let block = (number as u64).wrapping_mul(RESERVED);
        Self { generator, block, uniform: Vec::new(), normal: Vec::new() }
    }

    /// The next words.
    fn next(&mut self) -> [u32; Philox::BLOCK] {
        let words = self.generator.block(self.block);
        self.block += 1;
        words
    }

    /// A number in `[0, 1)`.
    fn uniform(&mut self) -> f64 {
        if let Some(number) = self.uniform.pop() {
            return number;
        }
        let words = self.next();
        self.uniform.push(uniform_f64(words[0], words[1]));
        uniform_f64(words[2], words[3])
    }

    fn normal(&mut self) -> f64 {
        if let Some(number) = self.normal.pop() {
            return number;
        }
        let [first, second] = normal_f64(&self.next());
        self.normal.push(first);
        second
    }
}

/// Marsaglia's and Tsang's method.
fn gamma(alpha: f64, words: &mut Words<'_>) -> f64 {
    if alpha == 1.0 {
        return -(-words.uniform()).ln_1p();
    }
    let is_small = alpha < 1.0;
    let d = alpha + if is_small { 2.0 / 3.0 } else { -1.0 / 3.0 };
    let c = 1.0 / 3.0 / d.sqrt();
    // Parameters that are no numbers are never accepted.
    if d.is_nan() || d <= 0.0 {
        return f64::NAN;
    }
    loop {
        let x = words.normal();
        let v = 1.0 + c * x;
        if v <= 0.0 {
            continue;
        }
        let v = v * v * v;
        let u = words.uniform();
        if u < 1.0 - 0.0331 * (x * x) * (x * x) || u.ln() < 0.5 * x * x + d * (1.0 - v + v.ln()) {
            let power = if is_small { words.uniform().powf(1.0 / alpha) } else { 1.0 };
            return d * v * power;
        }
    }
}

/// Knuth's method for small rates, and Hörmann's transformed rejection for others.
fn poisson(rate: f64, words: &mut Words<'_>) -> f64 {
    if !rate.is_finite() || rate < 0.0 {
        return if rate == f64::INFINITY { rate } else { f64::NAN };
    }
    if rate < 10.0 {
        let least = (-rate).exp();
        let (mut product, mut count) = (1.0, 0.0);
        loop {
            product *= words.uniform();
            if product <= least {
                return count;
            }
            count += 1.0;
        }
    }
    let b = 0.931 + 2.53 * rate.sqrt();
    let a = -0.059 + 0.02483 * b;
    let inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    loop {
        let u = words.uniform() - 0.5;
        let v = words.uniform();
        let shifted = 0.5 - u.abs();
        let k = ((2.0 * a / shifted + b) * u + rate + 0.43).floor();
        if shifted >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2.0) {
            return k;
        }
        if k < 0.0 || shifted < 0.013 && v > shifted {
            continue;
        }
        let s = (v * inverse_alpha / (a / (shifted * shifted) + b)).ln();
        if s <= -rate + k * rate.ln() - libm::lgamma(k + 1.0) {
            return k;
        }
    }
}

/// Where an op has the shape of its result, and the parameters.
#[derive(Clone, Copy)]
enum Form {
    /// The shape ends with that of the parameters.
    Whole,
    /// The shape comes before that of the parameters.
    Before,
}

/// Draws a number for each place of the result: `f` of the parameter and the words of the place.
fn drawn(
    call: &CpuCall<'_>,
    (seeding, first): (Seeding, usize),
    form: Form,
    f: fn(f64, &mut Words<'_>) -> f64,
) -> Computed {
    let &[.., parameter] = call.arguments else { return Err(invalid("the op lacks arguments")) };
    if call.arguments.len() != first + 1 {
        return Err(wrong_count(first + 1, call.arguments.len()));
    }
    let (generator, shape) = (seeding(call.arguments, call.attrs)?, random_shape(call.arguments)?);
    let (parameters, inner) = (reals(parameter)?, parameter.shape().dims());
    let dims = match form {
        Form::Whole if shape.dims().ends_with(inner) => shape.dims().to_vec(),
        Form::Whole => {
            let of = parameter.shape();
            return Err(invalid(format!("the shape {shape} must end with that of the parameters, {of}")));
        }
        Form::Before => [shape.dims(), inner].concat(),
    };
    let (total, batch) = (TensorShape::new(&dims)?.num_elements()?, parameters.len());
    let each = total.checked_div(batch).unwrap_or(0);
    let mut values = room_for(total)?;
    values.resize(total, 0.0);
    for number in 0..total {
        let (place, sample) = (number / each, number % each);
        values[sample * batch + place] = f(parameters[place], &mut Words::new(&generator, number));
    }
    let dtype = call.attrs.optional::<DType>("dtype")?.unwrap_or(parameter.dtype());
    Ok(of_reals(call, dtype, &dims, &values)?.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    const SEEDS: [crate::AttrSpec; 2] = [attr::int_or("seed", 0), attr::int_or("seed2", 0)];
    const DRAWN: [ResultType; 1] = [ResultType::named("dtype")];
    ops.add("tf.RandomGamma")
        .types(types::FLOATS)
        .attrs(SEEDS)
        .results([ResultType::like(1)])
        .cpu(|call| drawn(&call, (seeded, 1), Form::Before, gamma))
        .nondeterministic();
    ops.add("tf.StatelessRandomGammaV2")
        .types(types::FLOATS)
        .results([ResultType::like(2)])
        .cpu(|call| drawn(&call, (stateless, 2), Form::Whole, gamma));
    ops.add("tf.StatelessRandomGammaV3")
        .types(types::FLOATS)
        .results([ResultType::like(4)])
        .cpu(|call| drawn(&call, (keyed, 4), Form::Whole, gamma));
    ops.add("tf.RandomPoissonV2")
        .types(types::NUMBERS)
        .attrs([SEEDS[0], SEEDS[1], attr::dtype_or("dtype", DType::I64)])
        .results(DRAWN)
        .cpu(|call| drawn(&call, (seeded, 1), Form::Before, poisson))
        .nondeterministic();
    ops.add("tf.StatelessRandomPoisson")
        .types(types::NUMBERS)
        .attrs([attr::dtype("dtype")])
        .results(DRAWN)
        .cpu(|call| drawn(&call, (stateless, 2), Form::Whole, poisson));
}
