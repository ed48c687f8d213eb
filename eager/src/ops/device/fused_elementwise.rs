//! Fused elementwise ops on devices: one kernel for each step.

use tfrt_launch::{Binary, Unary};
use tfrt_math::{Function, Program, Term};

use super::{
    Queued,
    expression::{map, scalar, zip},
};
use crate::{
    DeviceCall, DeviceOpResult, DeviceTensor, OpRegistry,
    ops::{
        fused_elementwise::{FUSED, program_of},
        support::invalid,
    },
};

/// A function as kernels have it.
enum Kernel {
    Unary(Unary),
    Binary(Binary),
    LeakyRelu,
}

fn kernel(function: Function) -> Kernel {
    let unary = match function {
        Function::Add => return Kernel::Binary(Binary::Add),
        Function::Sub => return Kernel::Binary(Binary::Sub),
        Function::Mul => return Kernel::Binary(Binary::Mul),
        Function::Div => return Kernel::Binary(Binary::Div),
        Function::Maximum => return Kernel::Binary(Binary::Maximum),
        Function::Minimum => return Kernel::Binary(Binary::Minimum),
        Function::SquaredDifference => return Kernel::Binary(Binary::SquaredDifference),
        Function::LeakyRelu => return Kernel::LeakyRelu,
        Function::Abs => Unary::Abs,
        Function::Ceil => Unary::Ceil,
        Function::Elu => Unary::Elu,
        Function::Erf => Unary::Erf,
        Function::Exp => Unary::Exp,
        Function::Expm1 => Unary::Expm1,
        Function::Floor => Unary::Floor,
        Function::Gelu => Unary::Gelu,
        Function::GeluTanh => Unary::GeluTanh,
        Function::Log => Unary::Log,
        Function::Neg => Unary::Neg,
        Function::Reciprocal => Unary::Reciprocal,
        Function::Relu => Unary::Relu,
        Function::Relu6 => Unary::Relu6,
        Function::Round => Unary::Round,
        Function::Rsqrt => Unary::Rsqrt,
        Function::Selu => Unary::Selu,
        Function::Sigmoid => Unary::Sigmoid,
        Function::Softplus => Unary::Softplus,
        Function::Softsign => Unary::Softsign,
        Function::Sqrt => Unary::Sqrt,
        Function::Square => Unary::Square,
        Function::Tanh => Unary::Tanh,
    };
    Kernel::Unary(unary)
}

/// Queues the steps of a program on these arguments, and gives the last one's result.
pub(super) fn run_program(
    call: &DeviceCall<'_>,
    program: &Program,
    arguments: &[&DeviceTensor],
) -> DeviceOpResult<DeviceTensor> {
    let missing = || invalid("a step takes what is not there");
    let mut results: Vec<DeviceTensor> = Vec::with_capacity(program.steps().len());
    for step in program.steps() {
        let mut terms = Vec::with_capacity(2);
        for term in &step.terms {
            terms.push(match *term {
                Term::Argument(index) => DeviceTensor::clone(arguments.get(index).ok_or_else(missing)?),
                Term::Step(earlier) => results.get(earlier).ok_or_else(missing)?.clone(),
                Term::Number(number) => scalar(call, tfrt_host::DType::F32, number.into())?,
            });
        }
        let result = match (kernel(step.function), &terms[..]) {
            (Kernel::Unary(function), [x]) => map(call, function, x)?,
            (Kernel::Binary(function), [a, b]) => zip(call, function, a, b)?,
            // `max(x, 0) + slope · min(x, 0)`.
            (Kernel::LeakyRelu, [x, slope]) => {
                let zero = scalar(call, x.dtype(), 0.0)?;
                let below = zip(call, Binary::Mul, &zip(call, Binary::Minimum, x, &zero)?, slope)?;
                zip(call, Binary::Add, &zip(call, Binary::Maximum, x, &zero)?, &below)?
            }
            _ => return Err(missing().into()),
        };
        results.push(result);
    }
    results.pop().ok_or_else(|| missing().into())
}

fn fused(call: &DeviceCall<'_>) -> Queued {
    let program = program_of(call.attrs, call.arguments.len())?;
    let arguments = (0..call.arguments.len()).map(|index| call.tensor(index));
    let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
    Ok(run_program(call, &program, &arguments)?.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.extend(FUSED).device(fused);
}
