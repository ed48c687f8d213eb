//! [`Program`]: several elementwise functions in one pass over the elements, as a compiler fuses
//! them.
//!
//! Elements are computed in pieces that stay in the first-level cache, one function after another.

use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

use super::stage::{Loop, Sigmoid, Stage, leaky_relu, stages};
use super::{BinaryLoop, UnaryLoop, ops};
use crate::shape::{element_count, row_major_strides};
use crate::{Number, ShapeError, broadcast_shapes, special};

/// The number of elements that are computed at a time.
const PIECE: usize = 512;
/// The number of elements of a short row.
const SHORT: usize = 64;
/// The longest row that is repeated to whole pieces.
const MAX_PERIOD: usize = 64 * 1024;

/// A function of one or two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Function {
    Add,
    Sub,
    Mul,
    Div,
    Maximum,
    Minimum,
    SquaredDifference,
    /// The second number if the first is positive, else the product of both: `LeakyRelu` with its
    /// slope.
    LeakyRelu,
    Abs,
    Ceil,
    Elu,
    Erf,
    Exp,
    Expm1,
    Floor,
    Gelu,
    /// The approximation of `Gelu` by a hyperbolic tangent.
    GeluTanh,
    Log,
    Neg,
    Reciprocal,
    Relu,
    Relu6,
    Round,
    Rsqrt,
    Selu,
    Sigmoid,
    Softplus,
    Softsign,
    Sqrt,
    Square,
    Tanh,
}

impl Function {
    /// Returns the number of its operands.
    pub fn arity(self) -> usize {
        match self {
            Self::Add
            | Self::Sub
            | Self::Mul
            | Self::Div
            | Self::Maximum
            | Self::Minimum
            | Self::SquaredDifference
            | Self::LeakyRelu => 2,
            _ => 1,
        }
    }

    /// Returns the cost of one element, in elements of streaming.
    fn cost(self) -> usize {
        match self {
            Self::Erf | Self::Gelu | Self::Softplus => 6,
            Self::Elu
            | Self::Exp
            | Self::Expm1
            | Self::GeluTanh
            | Self::Log
            | Self::Selu
            | Self::Sigmoid
            | Self::Tanh => 4,
            _ => 1,
        }
    }
}

/// An operand of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Term {
    /// An argument of the program.
    Argument(usize),
    /// The result of an earlier step.
    Step(usize),
    /// This number.
    Number(f32),
}

/// A function and its operands.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The function.
    pub function: Function,
    /// The operands, as many as the function takes.
    pub terms: Vec<Term>,
}

/// Elementwise functions of arguments and of each other. The last one computes the result. Cloning
/// shares them.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    arguments: usize,
    steps: Arc<[Step]>,
    stages: Arc<[Stage]>,
}

impl Program {
    /// Creates a program with `arguments` arguments.
    ///
    /// # Errors
    /// Parameter errors if there are no steps, or an operand of a step does not exist.
    pub fn new(arguments: usize, steps: Vec<Step>) -> Result<Self, ShapeError> {
        if steps.is_empty() {
            return Err(ShapeError::Parameter("a program must have a step"));
        }
        for (number, step) in steps.iter().enumerate() {
            let is_known = |term: &Term| match *term {
                Term::Argument(index) => index < arguments,
                Term::Step(earlier) => earlier < number,
                Term::Number(_) => true,
            };
            if step.terms.len() != step.function.arity() || !step.terms.iter().all(is_known) {
                return Err(ShapeError::Parameter("a step must take what its function needs and is known"));
            }
        }
        let stages = stages(&steps).into();
        Ok(Self { arguments, steps: steps.into(), stages })
    }

    /// Returns the number of arguments.
    pub fn arguments(&self) -> usize {
        self.arguments
    }

    /// Returns the steps.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns the cost of one element, in elements of streaming.
    pub fn cost(&self) -> usize {
        self.steps.iter().map(|step| step.function.cost()).sum()
    }

    /// Applies a program of one argument to elements in place.
    ///
    /// # Errors
    /// A parameter error if the program has another number of arguments.
    pub fn apply(&self, elements: &mut [f32]) -> Result<(), ShapeError> {
        if self.arguments != 1 {
            return Err(ShapeError::Parameter("a program that is applied in place has one argument"));
        }
        if let [stage] = &*self.stages
            && stage.loops.apply(elements)
        {
            return Ok(());
        }
        let mut memory = SCRATCH.take();
        memory.resize((self.steps.len() * PIECE).max(memory.len()), 0.0);
        let (argument, scratch) = memory.split_at_mut(PIECE);
        for piece in elements.chunks_mut(PIECE) {
            argument[..piece.len()].copy_from_slice(piece);
            self.piece(&[Lane::Each(&argument[..piece.len()])], piece, scratch);
        }
        SCRATCH.set(memory);
        Ok(())
    }

    /// Computes one piece. `scratch` has room for the results of all steps but the last.
    fn piece(&self, arguments: &[Lane<'_>], out: &mut [f32], scratch: &mut [f32]) {
        let (last, len) = (self.steps.len() - 1, out.len());
        for stage in &*self.stages {
            let number = stage.to;
            let (before, after) = scratch.split_at_mut((number * PIECE).min(last * PIECE));
            let to = if number == last { &mut *out } else { &mut after[..len] };
            let lane = |term: &Term| match *term {
                Term::Argument(index) => arguments[index],
                Term::Step(earlier) => Lane::Each(&before[earlier * PIECE..][..len]),
                Term::Number(number) => Lane::One(number),
            };
            match &stage.loops {
                Loop::Sigmoid(x) => map_with(&Sigmoid { is_gate: false }, lane(x), to),
                Loop::Swish(x) => map_with(&Sigmoid { is_gate: true }, lane(x), to),
                Loop::Ramp(x, ramp) => ramp.with(&mut |f| map_with(f, lane(x), to)),
                &Loop::LeakyRelu(ref x, slope) => map_with(&leaky_relu(slope), lane(x), to),
                Loop::Step => match self.steps[number].terms[..] {
                    [x] => map(self.steps[number].function, lane(&x), to),
                    [a, b] => zip(self.steps[number].function, lane(&a), lane(&b), to),
                    _ => {}
                },
            }
        }
    }
}

thread_local! {
    /// A thread's memory for intermediate results: a few pieces.
    static SCRATCH: Cell<Vec<f32>> = const { Cell::new(Vec::new()) };
}

/// A piece of an argument or of a step's result.
#[derive(Debug, Clone, Copy)]
enum Lane<'a> {
    /// One number for each element.
    Each(&'a [f32]),
    /// One number for all elements.
    One(f32),
}

fn map_with(f: &dyn UnaryLoop<f32, f32>, x: Lane<'_>, out: &mut [f32]) {
    match x {
        Lane::Each(x) => f.map(out, x),
        Lane::One(x) => {
            let mut result = [0.0];
            f.map(&mut result, &[x]);
            out.fill(result[0]);
        }
    }
}

fn map(function: Function, x: Lane<'_>, out: &mut [f32]) {
    if let Some(special) = special(function) {
        return map_with(special, x, out);
    }
    macro_rules! each {
        ($($name:ident => $f:expr;)*) => {
            match (function, x) {
                $((Function::$name, Lane::Each(x)) => UnaryLoop::map(&$f, out, x),
                (Function::$name, Lane::One(x)) => out.fill($f(x)),)*
                // Functions of two numbers are not called with one.
                _ => {}
            }
        };
    }
    each! {
        Abs => f32::abs;
        Ceil => f32::ceil;
        Floor => f32::floor;
        Neg => |x: f32| -x;
        Reciprocal => ops::reciprocal::<f32>;
        Relu => ops::relu::<f32>;
        Relu6 => |x: f32| ops::minimum(ops::relu(x), 6.0);
        Round => f32::round_ties_even;
        Rsqrt => |x: f32| 1.0 / x.sqrt();
        Softsign => |x: f32| x / (1.0 + x.abs());
        Sqrt => f32::sqrt;
        Square => |x: f32| x * x;
    }
}

/// The loop of a function that has one for itself.
fn special(function: Function) -> Option<&'static dyn UnaryLoop<f32, f32>> {
    Some(match function {
        Function::Elu => &special::Elu,
        Function::Erf => &special::Erf,
        Function::Exp => &special::Exp,
        Function::Expm1 => &special::Expm1,
        Function::Gelu => &special::Gelu,
        Function::GeluTanh => &special::GeluTanh,
        Function::Log => &special::Log,
        Function::Selu => &special::Selu,
        Function::Sigmoid => &Sigmoid { is_gate: false },
        Function::Softplus => &special::Softplus,
        Function::Tanh => &special::Tanh,
        _ => return None,
    })
}

impl Function {
    /// Replaces each element by a function of one number of it.
    pub(crate) fn map_in_place(self, elements: &mut [f32]) {
        // Short rows are common, and clearing a long piece would take as long as the function.
        match elements.len() {
            ..=SHORT => self.map_pieces::<SHORT>(elements),
            _ => self.map_pieces::<PIECE>(elements),
        }
    }

    fn map_pieces<const LEN: usize>(self, elements: &mut [f32]) {
        let mut before = [0.0; LEN];
        for piece in elements.chunks_mut(LEN) {
            let before = &mut before[..piece.len()];
            before.copy_from_slice(piece);
            map(self, Lane::Each(before), piece);
        }
    }
}

/// The loop of a function of one number.
impl UnaryLoop<f32, f32> for Function {
    fn map(&self, out: &mut [f32], x: &[f32]) {
        let len = out.len().min(x.len());
        map(*self, Lane::Each(&x[..len]), &mut out[..len]);
    }
}

/// The loop of a function of one number, computed in single precision and rounded once.
macro_rules! in_single_precision {
    ($($half:ty)*) => {$(
        impl UnaryLoop<$half, $half> for Function {
            fn map(&self, out: &mut [$half], x: &[$half]) {
                let (mut wide, mut results) = ([0.0; PIECE], [0.0; PIECE]);
                for (out, x) in out.chunks_mut(PIECE).zip(x.chunks(PIECE)) {
                    let (wide, results) = (&mut wide[..x.len()], &mut results[..x.len()]);
                    UnaryLoop::map(&|x: $half| x.to_acc(), wide, x);
                    map(*self, Lane::Each(wide), results);
                    UnaryLoop::map(&<$half as Number>::from_acc, out, results);
                }
            }
        }
    )*};
}

in_single_precision!(half::f16 half::bf16);

fn zip(function: Function, a: Lane<'_>, b: Lane<'_>, out: &mut [f32]) {
    macro_rules! each {
        ($($name:ident => $f:expr;)*) => {
            match function {
                $(Function::$name => {
                    let f = $f;
                    match (a, b) {
                        (Lane::Each(a), Lane::Each(b)) => BinaryLoop::zip(&f, out, a, b),
                        (Lane::One(a), Lane::Each(b)) => UnaryLoop::map(&move |b| f(a, b), out, b),
                        (Lane::Each(a), Lane::One(b)) => UnaryLoop::map(&move |a| f(a, b), out, a),
                        (Lane::One(a), Lane::One(b)) => out.fill(f(a, b)),
                    }
                })*
                // Functions of one number are not called with two.
                _ => {}
            }
        };
    }
    each! {
        Add => ops::add::<f32>;
        Sub => ops::sub::<f32>;
        Mul => ops::mul::<f32>;
        Div => ops::div::<f32>;
        Maximum => ops::maximum::<f32>;
        Minimum => ops::minimum::<f32>;
        SquaredDifference => ops::squared_difference::<f32>;
        LeakyRelu => ops::leaky_relu::<f32>;
    }
}

/// How an argument is broadcast to the result.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Spread {
    /// One element for each element of the result.
    Whole,
    /// One element for all.
    Single,
    /// A row with this many elements, repeated.
    Cyclic(usize),
    /// The distances between elements along each dimension of the result.
    Strides(Vec<usize>),
}

/// A [`Program`] over arguments that are broadcast together.
#[derive(Debug, Clone)]
pub struct Fused {
    program: Program,
    spreads: Vec<Spread>,
    shape: Vec<usize>,
    /// The extents that strides are along: those of the shape, some of them merged.
    extents: Vec<usize>,
    len: usize,
}

impl Fused {
    /// Plans a program for arguments of these shapes.
    ///
    /// # Errors
    /// Shape errors if there are as many shapes as arguments but they do not fit together.
    pub fn new(program: Program, shapes: &[&[usize]]) -> Result<Self, ShapeError> {
        if shapes.len() != program.arguments {
            return Err(ShapeError::Rank {
                operand: "arguments of a program",
                expected: program.arguments,
                actual: shapes.len(),
            });
        }
        let mut shape = Vec::new();
        for other in shapes {
            shape = broadcast_shapes(&shape, other)?;
        }
        let len = element_count(&shape)?;
        let mut spreads: Vec<_> = shapes.iter().map(|own| spread(own, &shape)).collect();
        let extents = merge(&shape, &mut spreads);
        Ok(Self { program, spreads, shape, extents, len })
    }

    /// Returns the shape of the result.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Prepares arguments of the planned shapes, so that ranges of the result can be computed.
    ///
    /// # Errors
    /// A shape error if an argument has another number of elements.
    pub fn prepare<A: AsRef<[f32]>>(&self, arguments: Vec<A>) -> Result<Prepared<A>, ShapeError> {
        let mut rows = Vec::with_capacity(arguments.len());
        for (argument, spread) in arguments.iter().zip(&self.spreads) {
            let elements = argument.as_ref();
            let expected = match spread {
                Spread::Whole => self.len,
                Spread::Single => 1,
                Spread::Cyclic(period) => *period,
                Spread::Strides(strides) => {
                    let reach =
                        strides.iter().zip(&self.extents).map(|(stride, dim)| stride * dim.saturating_sub(1));
                    reach.sum::<usize>() + 1
                }
            };
            if elements.len() < expected && self.len > 0 {
                let actual = elements.len();
                return Err(ShapeError::Length { operand: "argument", expected, actual });
            }
            rows.push(match spread {
                Spread::Cyclic(period) if self.len > 0 => {
                    elements[..*period].iter().copied().cycle().take(period + PIECE).collect()
                }
                _ => Vec::new(),
            });
        }
        Ok(Prepared { plan: self.clone(), arguments, rows })
    }
}

/// Returns how an argument of shape `own` is broadcast to a result of `shape`.
fn spread(own: &[usize], shape: &[usize]) -> Spread {
    let (own_len, missing) = (own.iter().product::<usize>(), shape.len().saturating_sub(own.len()));
    if own_len == 1 {
        return Spread::Single;
    }
    if own_len == shape.iter().product::<usize>() {
        return Spread::Whole;
    }
    let extents = || std::iter::repeat_n(1, missing).chain(own.iter().copied());
    // All dimensions from the first that is not one must be those of the result.
    let first = extents().position(|extent| extent != 1).unwrap_or(0);
    if own_len <= MAX_PERIOD && extents().skip(first).eq(shape.iter().copied().skip(first)) {
        return Spread::Cyclic(own_len);
    }
    let strides = row_major_strides(&extents().collect::<Vec<_>>());
    Spread::Strides(
        extents().zip(strides).map(|(extent, stride)| if extent == 1 { 0 } else { stride }).collect(),
    )
}

/// Merges neighbouring dimensions along which each argument moves as along one, so that rows are
/// long. Returns the extents.
fn merge(shape: &[usize], spreads: &mut [Spread]) -> Vec<usize> {
    let mut all: Vec<&mut Vec<usize>> = spreads
        .iter_mut()
        .filter_map(|spread| match spread {
            Spread::Strides(strides) => Some(strides),
            _ => None,
        })
        .collect();
    let mut extents = shape.to_vec();
    for axis in (1..extents.len()).rev() {
        let (outer, inner) = (extents[axis - 1], extents[axis]);
        let is_one = |strides: &Vec<usize>| strides[axis - 1] == strides[axis].saturating_mul(inner);
        if outer != 1 && inner != 1 && !all.iter().all(|strides| is_one(strides)) {
            continue;
        }
        extents[axis - 1] = outer.saturating_mul(inner);
        extents.remove(axis);
        // Along a single element nothing moves.
        for strides in &mut all {
            strides.remove(if inner == 1 { axis } else { axis - 1 });
        }
    }
    extents
}

/// A [`Fused`] program with its arguments.
#[derive(Debug)]
pub struct Prepared<A> {
    plan: Fused,
    arguments: Vec<A>,
    /// The repeated rows.
    rows: Vec<Vec<f32>>,
}

impl<A: AsRef<[f32]>> Prepared<A> {
    /// Computes the elements of a range of the result.
    ///
    /// # Errors
    /// A shape error if the range lies outside the result or has another length than `out`.
    pub fn compute(&self, range: Range<usize>, out: &mut [f32]) -> Result<(), ShapeError> {
        crate::error::check_len("output block", range.len(), out.len())?;
        if range.end > self.plan.len {
            let (expected, actual) = (self.plan.len, range.end);
            return Err(ShapeError::Length { operand: "output", expected, actual });
        }
        let inner = self.plan.extents.last().copied().unwrap_or(1);
        let has_strides = self.plan.spreads.iter().any(|spread| matches!(spread, Spread::Strides(_)));
        let mut memory = SCRATCH.take();
        memory.resize((self.plan.program.steps.len() * PIECE).max(memory.len()), 0.0);
        let mut lanes = Vec::with_capacity(self.arguments.len());
        let (mut at, mut rest) = (range.start, out);
        while !rest.is_empty() {
            // With strides, a piece stays within a row.
            let most = if has_strides { inner - at % inner } else { PIECE };
            let (piece, next) = rest.split_at_mut(rest.len().min(most).min(PIECE));
            lanes.clear();
            for (index, spread) in self.plan.spreads.iter().enumerate() {
                let argument = self.arguments[index].as_ref();
                lanes.push(match spread {
                    Spread::Whole => Lane::Each(&argument[at..at + piece.len()]),
                    Spread::Single => Lane::One(argument[0]),
                    Spread::Cyclic(period) => Lane::Each(&self.rows[index][at % period..][..piece.len()]),
                    Spread::Strides(strides) => self.strided(strides, argument, (at, piece.len())),
                });
            }
            self.plan.program.piece(&lanes, piece, &mut memory);
            (at, rest) = (at + piece.len(), next);
        }
        SCRATCH.set(memory);
        Ok(())
    }

    /// Returns the elements of an argument for `len` elements of a row of the result.
    fn strided<'a>(&self, strides: &[usize], argument: &'a [f32], (at, len): (usize, usize)) -> Lane<'a> {
        let (mut rest, mut start) = (at, 0);
        for (dim, stride) in self.plan.extents.iter().zip(strides).rev() {
            start += rest % dim * stride;
            rest /= dim;
        }
        // Arguments are dense, so along a row elements are either adjacent or the same.
        match strides.last() {
            Some(1) => Lane::Each(&argument[start..start + len]),
            _ => Lane::One(argument[start]),
        }
    }
}

#[cfg(test)]
mod tests;
