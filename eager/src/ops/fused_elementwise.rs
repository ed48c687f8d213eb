//! `tfrt.FusedElementwise`: elementwise ops that a compiler fused, computed in one pass.
//!
//! Attribute `steps` describes the computation: steps separated by semicolons, each an op's name
//! without its dialect and its operands. `x0` is the first argument, `s0` the result of the first
//! step, and everything else is a number. `"AddV2 x0 3; Relu6 s0; Mul x0 s1"` has three steps, the
//! last of which computes the result.

use smallvec::SmallVec;
use tfrt_compute::{run, shape_error};
use tfrt_host::{DType, Diagnostic, host_buffer::HostBuffer};
use tfrt_math::{Function, Fused, Program, Runs, Step, Term, broadcast_shapes};
use tfrt_tensor::{Accessor, Elements, HostTensor, TensorMetadata, TensorShape};

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
    if let Some(other) = call.arguments.iter().find(|argument| argument.dtype != DType::F32) {
        return Err(invalid(format!("the op takes tensors of f32, got {}", other.dtype)));
    }
    program_of(call.attrs, call.arguments.len())?;
    let mut dims = Vec::new();
    for argument in call.arguments {
        dims = broadcast_shapes(&dims, argument.shape.dims()).map_err(|_| {
            let shapes: Vec<_> = call.arguments.iter().map(|argument| argument.shape.to_string()).collect();
            invalid(format!("Incompatible shapes: {}", shapes.join(" vs. ")))
        })?;
    }
    one(TensorMetadata::new(DType::F32, TensorShape::new(&dims)?))
}

/// An argument's elements, or the single number that all of them are.
enum Argument {
    Elements(Elements<f32, HostBuffer>),
    One([f32; 1]),
}

impl AsRef<[f32]> for Argument {
    fn as_ref(&self) -> &[f32] {
        match self {
            Self::Elements(elements) => elements,
            Self::One(number) => number,
        }
    }
}

fn fused(call: CpuCall<'_>) -> Computed {
    let program = program_of(call.attrs, call.arguments.len())?;
    let (cost, mut shapes, mut arguments) = (program.cost(), SmallVec::<[&[usize]; 4]>::new(), Vec::new());
    for argument in call.arguments {
        match argument {
            HostTensor::Scalar(scalar) if scalar.shape().num_elements()? == 1 => {
                shapes.push(&[]);
                arguments.push(Argument::One([scalar.value()?]));
            }
            argument => {
                let dense = argument.dense()?;
                shapes.push(dense.shape().dims());
                arguments.push(Argument::Elements(dense.read_owned::<f32>(&ME)?));
            }
        }
    }
    let prepared =
        Fused::new(program, &shapes).and_then(|fused| fused.prepare(arguments)).map_err(shape_error)?;
    let mut out = call.allocate_unset(0)?;
    let count = out.num_elements();
    if Runs::<f32>::is_one(count, cost) {
        prepared.compute(0..count, out.elements_mut()?).map_err(shape_error)?;
        return Ok(out.into());
    }
    let plan =
        Runs::new(count, 1, cost, Box::new(move |range, out: &mut [f32]| prepared.compute(range, out)));
    let result = HostTensor::from(out.clone());
    run(call.cx, plan, ((), out.write_owned::<f32>(&ME)?), |_| (), |out| out, result).map(OpResult::from)
}

const ATTRS: [AttrSpec; 1] = [attr::string(STEPS)];

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add(FUSED).types(&[DType::F32]).attrs(ATTRS).metadata(metadata).cpu(fused);
}
