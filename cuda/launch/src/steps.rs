//! Several elementwise functions in one launch.

use tfrt_device::error::{DeviceError, Result};
use tfrt_device::front::{DeviceBuffer, Stream};
use tfrt_host::DType;
use tfrt_math::{Function, Program, Term};

use crate::{DeviceKernels, input, output, typed};

/// The most arguments of a kernel.
const MAX_ARGUMENTS: usize = 4;
/// The most results of steps that are needed at one time.
const MAX_PLACES: usize = 8;
/// The number of elements that a thread computes at a time.
const WIDTH: u64 = 4;

/// A program as the kernel reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps {
    code: Vec<i32>,
    /// The number of elements of each argument.
    arguments: Vec<u64>,
    elements: u64,
}

/// The elements of an argument for those of the result, from the innermost axes on: divisor, extent
/// and stride. See `steps.cu`.
pub(crate) type Groups = Vec<[u64; 3]>;

/// Returns where the elements of an argument of extents `dims` lie for those of a result.
pub(crate) fn groups(dims: &[usize], result: &[usize]) -> Groups {
    let mut groups = Groups::new();
    let (mut divisor, mut stride) = (1u64, 1u64);
    for (back, &extent) in result.iter().rev().enumerate() {
        let own = dims.len().checked_sub(back + 1).map_or(1, |axis| dims[axis]);
        if own != 1 {
            let extent = own as u64;
            match groups.last_mut() {
                Some([first, length, _]) if *first * *length == divisor => *length *= extent,
                _ => groups.push([divisor, extent, stride]),
            }
            stride *= extent;
        }
        divisor *= extent as u64;
    }
    groups
}

/// Returns a number of the code, which has unsigned ones of 32 bits.
pub(crate) fn word(number: u64) -> Option<i32> {
    u32::try_from(number).ok().map(u32::cast_signed)
}

/// Returns the six numbers that say where an argument's elements lie, if the kernel can express it.
fn layout(dims: &[usize], result: &[usize], elements: u64) -> Option<[i32; 6]> {
    const NOTHING: [u64; 3] = [1, 1, 0];
    let groups = groups(dims, result);
    let numbers = match groups[..] {
        [] => [NOTHING, NOTHING],
        // In the order of the result's.
        [[1, extent, 1]] if extent == elements => [[1, 0, 0], NOTHING],
        [one] => [one, NOTHING],
        [one, other] => [one, other],
        _ => return None,
    };
    let mut words = [0; 6];
    for (place, number) in words.iter_mut().zip(numbers.into_iter().flatten()) {
        *place = word(number)?;
    }
    Some(words)
}

/// Returns the place of each step's result.
fn places(program: &Program) -> Option<Vec<usize>> {
    let steps = program.steps();
    let uses = |step: usize, of: usize| steps[of].terms.contains(&Term::Step(step));
    let last_use = |step: usize| (step + 1..steps.len()).rev().find(|&of| uses(step, of));
    let mut places: Vec<usize> = Vec::with_capacity(steps.len());
    for step in 0..steps.len() {
        let is_taken = |place: usize| {
            (0..step).any(|earlier| places[earlier] == place && last_use(earlier).is_some_and(|of| of > step))
        };
        places.push((0..MAX_PLACES).find(|&place| !is_taken(place))?);
    }
    Some(places)
}

impl Steps {
    /// Encodes a program on arguments of these extents, which are broadcast to those of the result.
    /// Returns nothing if one launch cannot compute it: for more than four arguments, too many
    /// results of steps that are needed later, 2³² elements, or an argument that is broadcast along
    /// alternating axes.
    pub fn new(program: &Program, arguments: &[&[usize]], result: &[usize]) -> Option<Self> {
        let count = |dims: &[usize]| dims.iter().try_fold(1u64, |n, &dim| n.checked_mul(dim as u64));
        let elements = count(result)?;
        // The last elements of the last thread are counted, too.
        word(elements.checked_add(WIDTH)?)?;
        if arguments.len() > MAX_ARGUMENTS {
            return None;
        }
        let places = places(program)?;
        let mut code = vec![word(program.steps().len() as u64)?];
        for argument in 0..MAX_ARGUMENTS {
            code.extend(layout(arguments.get(argument).copied().unwrap_or_default(), result, elements)?);
        }
        for (step, &place) in program.steps().iter().zip(&places) {
            code.extend([number(step.function), word(place as u64)?]);
            for operand in 0..2 {
                code.extend(match step.terms.get(operand) {
                    Some(&Term::Step(earlier)) => [0, word(places[earlier] as u64)?],
                    Some(&Term::Argument(index)) => [1, word(index as u64)?],
                    Some(&Term::Number(number)) => [2, number.to_bits().cast_signed()],
                    None => [2, 0],
                });
            }
        }
        let arguments = arguments.iter().map(|dims| count(dims)).collect::<Option<_>>()?;
        Some(Self { code, arguments, elements })
    }

    /// Returns the code, which the kernel reads from device memory.
    pub fn code(&self) -> &[i32] {
        &self.code
    }
}

/// Returns the number of a function in the code.
fn number(function: Function) -> i32 {
    match function {
        Function::Add => 0,
        Function::Sub => 1,
        Function::Mul => 2,
        Function::Div => 3,
        Function::Maximum => 4,
        Function::Minimum => 5,
        Function::SquaredDifference => 6,
        Function::LeakyRelu => 7,
        Function::Abs => 8,
        Function::Ceil => 9,
        Function::Elu => 10,
        Function::Erf => 11,
        Function::Exp => 12,
        Function::Expm1 => 13,
        Function::Floor => 14,
        Function::Gelu => 15,
        Function::GeluTanh => 16,
        Function::Log => 17,
        Function::Neg => 18,
        Function::Reciprocal => 19,
        Function::Relu => 20,
        Function::Relu6 => 21,
        Function::Round => 22,
        Function::Rsqrt => 23,
        Function::Selu => 24,
        Function::Sigmoid => 25,
        Function::Softplus => 26,
        Function::Softsign => 27,
        Function::Sqrt => 28,
        Function::Square => 29,
        Function::Tanh => 30,
    }
}

impl DeviceKernels {
    /// Computes a program on arguments of one type: f32, f16 or bf16. `code` is a copy of
    /// [`Steps::code`]. `y` may be an argument with as many elements.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`]; `InvalidValue` for another number of arguments, `NotSupported` for
    /// another type.
    pub fn steps(
        &self,
        stream: &Stream,
        (steps, dtype): (&Steps, DType),
        y: &DeviceBuffer,
        code: &DeviceBuffer,
        arguments: &[&DeviceBuffer],
    ) -> Result<()> {
        if arguments.len() != steps.arguments.len() {
            let detail = format!("{} arguments for {}", arguments.len(), steps.arguments.len());
            return Err(DeviceError::invalid_value(detail));
        }
        let mut all = vec![
            output(y, steps.elements, dtype, "the result")?,
            steps.elements.into(),
            input(code, steps.code.len() as u64, DType::I32, "the code")?,
        ];
        for (buffer, &elements) in arguments.iter().zip(&steps.arguments) {
            all.push(input(buffer, elements, dtype, "an argument")?);
        }
        // The kernel does not read arguments that no step names.
        all.resize_with(3 + MAX_ARGUMENTS, || 0u64.into());
        let name = typed("steps", dtype, &[DType::F32, DType::F16, DType::BF16])?;
        self.launch(stream, name, steps.elements.div_ceil(WIDTH), &all)
    }
}

#[cfg(test)]
mod tests {
    use tfrt_math::Step;

    use super::*;

    #[test]
    fn arguments_are_found_by_groups_of_axes() {
        assert_eq!(groups(&[2, 3, 4], &[2, 3, 4]), [[1, 24, 1]]);
        assert_eq!(groups(&[4], &[2, 3, 4]), [[1, 4, 1]]);
        assert_eq!(groups(&[2, 1, 4], &[2, 3, 4]), [[1, 4, 1], [12, 2, 4]]);
        assert_eq!(groups(&[2, 3, 1], &[2, 3, 4]), [[4, 6, 1]]);
        assert_eq!(groups(&[1, 1], &[2, 3, 4]), Groups::new());
        assert!(layout(&[2, 1, 3, 1, 4], &[2, 5, 3, 5, 4], 600).is_none());
    }

    #[test]
    fn results_that_are_needed_later_keep_their_places() {
        let step = |function, terms: &[Term]| Step { function, terms: terms.to_vec() };
        let (x, s) = (Term::Argument(0), Term::Step);
        let steps = vec![
            step(Function::Exp, &[x]),
            step(Function::Neg, &[s(0)]),
            step(Function::Abs, &[s(1)]),
            step(Function::Add, &[s(0), s(2)]),
        ];
        assert_eq!(places(&Program::new(1, steps).unwrap()), Some(vec![0, 1, 1, 0]));
        let mut many: Vec<_> = (0..9).map(|_| step(Function::Exp, &[x])).collect();
        many.extend((1..9).map(|k| step(Function::Add, &[s(k - 1), s(k)])));
        assert_eq!(places(&Program::new(1, many).unwrap()), None);
    }
}
