//! [`Stage`]: what a program computes in one loop. Some sequences of steps are so common, and each
//! of their steps so cheap, that loading and storing the results between them takes most of the
//! time.
//!
//! A stage rounds as its steps do, except for sigmoids, which may add products with one rounding.

use super::program::{Function, Step, Term};
use super::{UnaryLoop, map_in_place, ops};
use crate::simd::{Body, Products, vectorize_products};

/// One or several steps. Its result is that of the last one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stage {
    pub(super) loops: Loop,
    /// The last step.
    pub(super) to: usize,
}

/// What a stage computes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Loop {
    /// The last step alone.
    Step,
    /// The sigmoid of `x`.
    Sigmoid(Term),
    /// `x · sigmoid(x)`.
    Swish(Term),
    /// A hard sigmoid or a hard swish.
    Ramp(Term, Ramp),
    /// `x` where it is positive, else its product by this slope.
    LeakyRelu(Term, f32),
}

impl Loop {
    /// Replaces each element by the result for it, where that depends on nothing else, and returns
    /// whether it does.
    pub(super) fn apply(&self, elements: &mut [f32]) -> bool {
        match self {
            Self::Sigmoid(Term::Argument(_)) => vectorize_products(SigmoidInPlace::<false>(elements)),
            Self::Swish(Term::Argument(_)) => vectorize_products(SigmoidInPlace::<true>(elements)),
            Self::Ramp(Term::Argument(_), ramp) => ramp.with(&mut |f| f.map_in_place(elements)),
            &Self::LeakyRelu(Term::Argument(_), slope) => leaky_relu(slope).map_in_place(elements),
            _ => return false,
        }
        true
    }
}

/// `(x · a + b)` between two bounds, perhaps times `x`, and `/ e · c + d` of that.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ramp {
    slope: f32,
    offset: f32,
    low: f32,
    high: f32,
    is_gate: bool,
    divisor: f32,
    factor: f32,
    summand: f32,
}

/// Divides steps into stages.
pub(super) fn stages(steps: &[Step]) -> Vec<Stage> {
    let mut uses = vec![0; steps.len()];
    for term in steps.iter().flat_map(|step| &step.terms) {
        if let Term::Step(number) = *term {
            uses[number] += 1;
        }
    }
    let (mut stages, mut at) = (Vec::new(), 0);
    while at < steps.len() {
        let reader = Reader { steps, uses: &uses, first: at, next: at };
        let (loops, end) = match reader.sigmoid().or_else(|| reader.ramp()).or_else(|| reader.leaky_relu()) {
            Some(found) => found,
            None => (Loop::Step, at + 1),
        };
        stages.push(Stage { loops, to: end - 1 });
        at = end;
    }
    stages
}

/// Reads consecutive steps, each of which takes the result of the one before.
#[derive(Clone, Copy)]
struct Reader<'a> {
    steps: &'a [Step],
    uses: &'a [usize],
    first: usize,
    next: usize,
}

impl Reader<'_> {
    /// The operand of the next step besides `x`, or besides the result of the step before if there
    /// is one: if that step is this function and nothing else uses the result before.
    fn take(&mut self, function: Function, x: Term) -> Option<Term> {
        let step = self.steps.get(self.next).filter(|step| step.function == function)?;
        let before = if self.next == self.first { x } else { Term::Step(self.next - 1) };
        let other = match step.terms[..] {
            [a] if a == before => Term::Number(0.0),
            [a, b] if a == before => b,
            // The order matters to a division alone.
            [a, b] if b == before && function != Function::Div => a,
            _ => return None,
        };
        if self.next > self.first && self.uses[self.next - 1] != 1 {
            return None;
        }
        self.next += 1;
        Some(other)
    }

    fn take_number(&mut self, function: Function, x: Term) -> Option<f32> {
        let mut reader = *self;
        let Term::Number(number) = reader.take(function, x)? else { return None };
        *self = reader;
        Some(number)
    }

    /// The operand of the first step that is no number.
    fn operand(&self) -> Option<Term> {
        self.steps[self.first].terms.iter().copied().find(|term| !matches!(term, Term::Number(_)))
    }

    fn sigmoid(mut self) -> Option<(Loop, usize)> {
        let x = self.operand()?;
        self.take(Function::Sigmoid, x)?;
        let mut gated = self;
        if gated.take(Function::Mul, x) == Some(x) {
            return Some((Loop::Swish(x), gated.next));
        }
        Some((Loop::Sigmoid(x), self.next))
    }

    fn leaky_relu(self) -> Option<(Loop, usize)> {
        let step = &self.steps[self.first];
        match step.terms[..] {
            [x, Term::Number(slope)] if step.function == Function::LeakyRelu => {
                Some((Loop::LeakyRelu(x, slope), self.first + 1))
            }
            _ => None,
        }
    }

    fn bounds(&mut self, x: Term) -> Option<(f32, f32)> {
        if self.take(Function::Relu6, x).is_some() {
            return Some((0.0, 6.0));
        }
        let bounds = match self.take_number(Function::Maximum, x) {
            Some(low) => (low, self.take_number(Function::Minimum, x)?),
            None => {
                let high = self.take_number(Function::Minimum, x)?;
                (self.take_number(Function::Maximum, x)?, high)
            }
        };
        // Then either order of the two has the same result.
        (bounds.0 <= bounds.1).then_some(bounds)
    }

    fn ramp(mut self) -> Option<(Loop, usize)> {
        let x = self.operand()?;
        // A factor of 1 changes nothing, and neither does a summand of -0.
        let slope = self.take_number(Function::Mul, x).unwrap_or(1.0);
        let offset = self.take_number(Function::Add, x)?;
        let (low, high) = self.bounds(x)?;
        let mut gated = self;
        let is_gate = gated.take(Function::Mul, x) == Some(x);
        if is_gate {
            self = gated;
        }
        let divisor = self.take_number(Function::Div, x).unwrap_or(1.0);
        let factor = self.take_number(Function::Mul, x).unwrap_or(1.0);
        let summand = self.take_number(Function::Add, x).unwrap_or(-0.0);
        let ramp = Ramp { slope, offset, low, high, is_gate, divisor, factor, summand };
        Some((Loop::Ramp(x, ramp), self.next))
    }
}

/// The loop of a sigmoid, or of `x · sigmoid(x)`.
pub(super) struct Sigmoid {
    pub(super) is_gate: bool,
}

impl UnaryLoop<f32, f32> for Sigmoid {
    fn map(&self, out: &mut [f32], x: &[f32]) {
        match self.is_gate {
            true => vectorize_products(SigmoidBody::<true> { out, x }),
            false => vectorize_products(SigmoidBody::<false> { out, x }),
        }
    }
}

struct SigmoidBody<'a, const IS_GATE: bool> {
    out: &'a mut [f32],
    x: &'a [f32],
}

impl<const IS_GATE: bool> Body for SigmoidBody<'_, IS_GATE> {
    #[inline(always)]
    fn run<P: Products>(self) {
        for (out, &x) in self.out.iter_mut().zip(self.x) {
            let y = sigmoid::<P>(x);
            *out = if IS_GATE { x * y } else { y };
        }
    }
}

/// [`SigmoidBody`] whose operand is its result.
struct SigmoidInPlace<'a, const IS_GATE: bool>(&'a mut [f32]);

impl<const IS_GATE: bool> Body for SigmoidInPlace<'_, IS_GATE> {
    #[inline(always)]
    fn run<P: Products>(self) {
        for x in self.0 {
            let y = sigmoid::<P>(*x);
            *x = if IS_GATE { *x * y } else { y };
        }
    }
}

/// `1 / (1 + e^-x)` within 3 units in the last place, or zero where that is less than 3e-38.
///
/// See [`exp_f32`](crate::exp::exp_f32) for the exponential function. Here its result is at most 1.
#[inline(always)]
fn sigmoid<P: Products>(x: f32) -> f32 {
    const ROUNDER: f32 = 12_582_912.0;
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    const LEAST: f32 = -86.5;
    let t = -x.abs();
    let rounded = P::product_plus(t, std::f32::consts::LOG2_E, ROUNDER);
    let n = rounded - ROUNDER;
    let r = P::product_plus(n, -LN_2_LOW, P::product_plus(n, -LN_2_HIGH, t));
    let mut p = 1.0 / 5040.0;
    for c in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        p = P::product_plus(p, r, c);
    }
    let n = rounded.to_bits().wrapping_sub(ROUNDER.to_bits()).wrapping_add(127);
    let e = p * f32::from_bits(n << 23);
    // NaN is not less.
    let e = if t < LEAST { 0.0 } else { e };
    (if x < 0.0 { e } else { 1.0 }) / (1.0 + e)
}

/// The loop of a leaky ReLU with this slope.
pub(super) fn leaky_relu(slope: f32) -> impl InPlaceLoop {
    move |x: f32| ops::leaky_relu(x, slope)
}

/// The loop of a function whose result may take the place of its operand.
pub(super) trait InPlaceLoop: UnaryLoop<f32, f32> {
    /// Replaces each element by the function of it.
    fn map_in_place(&self, elements: &mut [f32]);
}

impl<F: Fn(f32) -> f32> InPlaceLoop for F {
    fn map_in_place(&self, elements: &mut [f32]) {
        map_in_place(elements, self);
    }
}

impl Ramp {
    /// Calls `run` with the function. Without a division it takes a fraction of the time.
    pub(super) fn with(&self, run: &mut dyn FnMut(&dyn InPlaceLoop)) {
        let Self { slope, offset, low, high, divisor, factor, summand, .. } = *self;
        let ramp = move |x: f32| ops::minimum(ops::maximum(x * slope + offset, low), high);
        match (self.is_gate, divisor == 1.0) {
            (true, true) => run(&move |x: f32| x * ramp(x) * factor + summand),
            (true, false) => run(&move |x: f32| x * ramp(x) / divisor * factor + summand),
            (false, true) => run(&move |x: f32| ramp(x) * factor + summand),
            (false, false) => run(&move |x: f32| ramp(x) / divisor * factor + summand),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sigmoids_agree_with_double_precision() {
        let x: Vec<f32> = (-120_000..=120_000).map(|i| i as f32 * 1e-3).collect();
        let (mut plain, mut gated) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        Sigmoid { is_gate: false }.map(&mut plain, &x);
        Sigmoid { is_gate: true }.map(&mut gated, &x);
        for ((&x, plain), gated) in x.iter().zip(plain).zip(gated) {
            let exact = 1.0 / (1.0 + (-f64::from(x)).exp());
            let error = 3.0 * f64::from(f32::EPSILON) * exact + 3e-38;
            assert!((f64::from(plain) - exact).abs() <= error, "sigmoid({x}) = {plain}, not {exact}");
            assert_eq!(gated, x * plain, "{x}");
        }
    }

    #[test]
    fn sigmoids_of_special_values() {
        let mut out = [0.0; 6];
        let x = [f32::NEG_INFINITY, -1e30, -0.0, 0.0, 1e30, f32::INFINITY];
        Sigmoid { is_gate: false }.map(&mut out, &x);
        assert_eq!(out, [0.0, 0.0, 0.5, 0.5, 1.0, 1.0]);
        let mut nan = [0.0; 20];
        Sigmoid { is_gate: false }.map(&mut nan, &[f32::NAN; 20]);
        assert!(nan.iter().all(|x| x.is_nan()));
    }
}
