//! `tfrt.FusedElementwise`: elementwise ops that a compiler fused, computed in one pass.
//!
//! Attribute `steps` describes the computation: steps separated by semicolons, each an op's name
//! without its dialect and its operands. `x0` is the first argument, `s0` the result of the first
//! step, and everything else is a number. `"AddV2 x0 3; Relu6 s0; Mul x0 s1"` has three steps, the
//! last of which computes the result. Tensors of f16 and bf16 are computed in f32, and the result is
//! rounded.

use std::ops::Range;

use smallvec::SmallVec;
use tfrt_compute::{run, shape_error};
use tfrt_host::{DType, Diagnostic, host_buffer::HostBuffer};
use tfrt_math::{Float, Function, Fused, Prepared, Program, Runs, ShapeError, Step, Term, broadcast_shapes};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, Elements, HostTensor, TensorMetadata, TensorShape};

use super::support::{Computed, Described, invalid, one};
use crate::{AttrSpec, CpuCall, MetadataCall, OpAttrs, OpRegistry, OpResult, attr};

static ME: Accessor = Accessor::new("tfrt.FusedElementwise");

/// The op's name.
pub(super) const FUSED: &str = "tfrt.FusedElementwise";
/// The attribute that holds the steps.
pub(super) const STEPS: &str = "steps";

/// The functions by the names of their ops.
const FUNCTIONS: &[(&str, Function)] = &[
    ("AddV2", Function::Add),
    ("Sub", Function::Sub),
    ("Mul", Function::Mul),
    ("RealDiv", Function::Div),
    ("Maximum", Function::Maximum),
    ("Minimum", Function::Minimum),
    ("SquaredDifference", Function::SquaredDifference),
    ("LeakyRelu", Function::LeakyRelu),
    ("Abs", Function::Abs),
    ("Ceil", Function::Ceil),
    ("Elu", Function::Elu),
    ("Erf", Function::Erf),
    ("Exp", Function::Exp),
    ("Expm1", Function::Expm1),
    ("Floor", Function::Floor),
    ("Gelu", Function::Gelu),
    ("GeluTanh", Function::GeluTanh),
    ("Log", Function::Log),
    ("Neg", Function::Neg),
    ("Reciprocal", Function::Reciprocal),
    ("Relu", Function::Relu),
    ("Relu6", Function::Relu6),
    ("Round", Function::Round),
    ("Rsqrt", Function::Rsqrt),
    ("Selu", Function::Selu),
    ("Sigmoid", Function::Sigmoid),
    ("Softplus", Function::Softplus),
    ("Softsign", Function::Softsign),
    ("Sqrt", Function::Sqrt),
    ("Square", Function::Square),
    ("Tanh", Function::Tanh),
];

/// Parses the program of these steps with `arguments` arguments.
///
/// # Errors
/// InvalidArgument if a step cannot be parsed or an operand does not exist.
pub(super) fn program(steps: &str, arguments: usize) -> Result<Program, Diagnostic> {
    let step = |text: &str| {
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or_default();
        let Some((_, function)) = FUNCTIONS.iter().find(|(known, _)| *known == name) else {
            return Err(invalid(format!("'{name}' is not a function that {FUSED} has")));
        };
        Ok(Step { function: *function, terms: words.map(term).collect::<Result<_, _>>()? })
    };
    let steps = steps.split(';').map(step).collect::<Result<_, _>>()?;
    Program::new(arguments, steps).map_err(|error| invalid(format!("attribute '{STEPS}': {error}")))
}

fn term(word: &str) -> Result<Term, Diagnostic> {
    let place = |prefix| word.strip_prefix(prefix).and_then(|digits| digits.parse().ok());
    let known = place('x').map(Term::Argument).or_else(|| place('s').map(Term::Step));
    let number = || word.parse().ok().map(Term::Number);
    known.or_else(number).ok_or_else(|| invalid(format!("'{word}' is neither a value nor a number")))
}

/// Returns what an op computes from each element of `arguments` tensors, if that is all it does: an
/// op that a compiler fused, or one of those that it fuses.
///
/// # Errors
/// InvalidArgument if its steps cannot be read.
pub fn elementwise_program(
    op: &str,
    attrs: &OpAttrs,
    arguments: usize,
) -> Option<Result<Program, Diagnostic>> {
    if op == FUSED {
        return Some(program_of(attrs, arguments));
    }
    let (_, function) = FUNCTIONS.iter().find(|(known, _)| op.strip_prefix("tf.") == Some(known))?;
    let function = match function {
        // They have attributes: a slope, and whether the function is approximated.
        Function::LeakyRelu | Function::GeluTanh => return None,
        Function::Gelu if attrs.optional("approximate").ok()? == Some(true) => Function::GeluTanh,
        function => *function,
    };
    let step = Step { function, terms: (0..arguments).map(Term::Argument).collect() };
    Some(Program::new(arguments, vec![step]).map_err(shape_error))
}

/// Returns the program of a call with `arguments` arguments. It is read once and kept with the
/// attributes.
///
/// # Errors
/// InvalidArgument if a step cannot be read or an operand does not exist.
pub(super) fn program_of(attrs: &OpAttrs, arguments: usize) -> Result<Program, Diagnostic> {
    let read = |attrs: &OpAttrs| program(attrs.required::<&str>(STEPS)?, arguments);
    let kept = attrs.derive(read)?;
    if kept.arguments() == arguments { Ok(kept.clone()) } else { read(attrs) }
}

fn metadata(call: MetadataCall<'_>) -> Described {
    let [first, others @ ..] = call.arguments else {
        return Err(invalid(format!("{FUSED} takes at least one tensor")));
    };
    if let Some(other) = others.iter().find(|other| other.dtype != first.dtype) {
        return Err(invalid(format!("the tensors have one type, got {} and {}", first.dtype, other.dtype)));
    }
    program_of(call.attrs, call.arguments.len())?;
    let mut dims = Vec::new();
    for argument in call.arguments {
        dims = broadcast_shapes(&dims, argument.shape.dims()).map_err(|_| {
            let shapes: Vec<_> = call.arguments.iter().map(|argument| argument.shape.to_string()).collect();
            invalid(format!("Incompatible shapes: {}", shapes.join(" vs. ")))
        })?;
    }
    one(TensorMetadata::new(first.dtype, TensorShape::new(&dims)?))
}

/// An argument's elements, or the single number that all of them are.
enum Argument {
    Elements(Elements<f32, HostBuffer>),
    Widened(Vec<f32>),
    One([f32; 1]),
}

impl AsRef<[f32]> for Argument {
    fn as_ref(&self) -> &[f32] {
        match self {
            Self::Elements(elements) => elements,
            Self::Widened(elements) => elements,
            Self::One(number) => number,
        }
    }
}

/// A type that steps are computed for, in f32.
trait Narrow: Element + Float {
    /// The elements of a tensor.
    fn read(tensor: &DenseHostTensor) -> Result<Argument, Diagnostic> {
        let elements = tensor.read::<Self>(&ME)?;
        Ok(Argument::Widened(elements.iter().map(|x| x.to_f64() as f32).collect()))
    }

    /// Computes elements of the result.
    fn compute(
        prepared: &Prepared<Argument>,
        range: Range<usize>,
        out: &mut [Self],
    ) -> Result<(), ShapeError> {
        let mut wide = vec![0.0; range.len()];
        prepared.compute(range, &mut wide)?;
        for (out, &wide) in out.iter_mut().zip(&wide) {
            *out = Self::from_f64(wide.into());
        }
        Ok(())
    }
}

impl Narrow for tfrt_tensor::f16 {}
impl Narrow for tfrt_tensor::bf16 {}
impl Narrow for f32 {
    fn read(tensor: &DenseHostTensor) -> Result<Argument, Diagnostic> {
        tensor.read_owned::<f32>(&ME).map(Argument::Elements)
    }

    fn compute(
        prepared: &Prepared<Argument>,
        range: Range<usize>,
        out: &mut [f32],
    ) -> Result<(), ShapeError> {
        prepared.compute(range, out)
    }
}

fn fused(call: CpuCall<'_>) -> Computed {
    match call.result(0)?.dtype {
        DType::F16 => fused_of::<tfrt_tensor::f16>(&call),
        DType::BF16 => fused_of::<tfrt_tensor::bf16>(&call),
        _ => fused_of::<f32>(&call),
    }
}

fn fused_of<T: Narrow>(call: &CpuCall<'_>) -> Computed {
    let program = program_of(call.attrs, call.arguments.len())?;
    let (cost, mut shapes, mut arguments) = (program.cost(), SmallVec::<[&[usize]; 4]>::new(), Vec::new());
    for argument in call.arguments {
        match argument {
            HostTensor::Scalar(scalar) if scalar.shape().num_elements()? == 1 => {
                shapes.push(&[]);
                arguments.push(Argument::One([scalar.value::<T>()?.to_f64() as f32]));
            }
            argument => {
                let dense = argument.dense()?;
                shapes.push(dense.shape().dims());
                arguments.push(T::read(dense)?);
            }
        }
    }
    let prepared =
        Fused::new(program, &shapes).and_then(|fused| fused.prepare(arguments)).map_err(shape_error)?;
    let mut out = call.allocate_unset(0)?;
    let count = out.num_elements();
    if Runs::<T>::is_one(count, cost) {
        T::compute(&prepared, 0..count, out.elements_mut()?).map_err(shape_error)?;
        return Ok(out.into());
    }
    let plan =
        Runs::new(count, 1, cost, Box::new(move |range, out: &mut [T]| T::compute(&prepared, range, out)));
    let result = HostTensor::from(out.clone());
    run(call.cx, plan, ((), out.write_owned::<T>(&ME)?), |_| (), |out| out, result).map(OpResult::from)
}

const ATTRS: [AttrSpec; 1] = [attr::string(STEPS)];

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add(FUSED).types(&[DType::F32, DType::F16, DType::BF16]).attrs(ATTRS).metadata(metadata).cpu(fused);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ops_of_one_function_have_a_program() {
        let attrs = OpAttrs::new();
        let function = |op: &str, arguments| {
            let program = elementwise_program(op, &attrs, arguments)?.ok()?;
            Some((program.steps()[0].function, program.arguments()))
        };
        assert_eq!(function("tf.Mul", 2), Some((Function::Mul, 2)));
        assert_eq!(function("tf.Gelu", 1), Some((Function::Gelu, 1)));
        // The wrong number of arguments, attributes, a name of steps alone, another op.
        for (op, arguments) in
            [("tf.Mul", 1), ("tf.LeakyRelu", 1), ("tf.GeluTanh", 1), ("Mul", 2), ("tf.Pow", 2)]
        {
            assert_eq!(function(op, arguments), None, "{op}");
        }
    }
}
