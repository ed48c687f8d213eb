//! Fused elementwise ops on devices: one launch for all steps, or where that cannot be, one for each.

use tfrt_host::DType;
use tfrt_launch::{Binary, Steps, Unary};
use tfrt_math::{Function, Program, Term};
use tfrt_tensor::{DenseHostTensor, TensorShape};

use super::{
    Queued, count,
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

/// A program as one launch.
enum OneLaunch {
    /// `x · sigmoid(x)`.
    Silu,
    Steps(Steps),
}

/// Returns how one launch computes a program, if it can. A single function of tensors alone has a
/// faster kernel of its own.
fn one_launch(program: &Program, arguments: &[&DeviceTensor], result: &TensorShape) -> Option<OneLaunch> {
    const X: Term = Term::Argument(0);
    if let ([first, second], 1) = (program.steps(), arguments.len())
        && (first.function, second.function) == (Function::Sigmoid, Function::Mul)
        && first.terms[..] == [X]
        && (second.terms[..] == [X, Term::Step(0)] || second.terms[..] == [Term::Step(0), X])
    {
        return Some(OneLaunch::Silu);
    }
    if let [only] = program.steps()
        && !only.terms.iter().any(|term| matches!(term, Term::Number(_)))
    {
        return None;
    }
    let dims: Vec<_> = arguments.iter().map(|argument| argument.shape().dims()).collect();
    Steps::new(program, &dims, result.dims()).map(OneLaunch::Steps)
}

/// Queues the launch of a program.
fn launch(
    call: &DeviceCall<'_>,
    what: &OneLaunch,
    y: &DeviceTensor,
    arguments: &[&DeviceTensor],
) -> DeviceOpResult<()> {
    let steps = match (what, arguments) {
        (OneLaunch::Silu, [x, ..]) => {
            let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
            return Ok(kernels.unary(stream, Unary::Silu, x.dtype(), y.buffer(), x.buffer(), count(x))?);
        }
        (OneLaunch::Silu, []) => return Err(invalid("the steps take an argument").into()),
        (OneLaunch::Steps(steps), _) => steps,
    };
    let code = DenseHostTensor::from_vec(TensorShape::new(&[steps.code().len()])?, steps.code().to_vec())?;
    let code = call.upload(&code.into())?;
    let buffers: Vec<_> = arguments.iter().map(|argument| argument.buffer()).collect();
    let (kernels, stream) = (call.queue.kernels(), call.queue.stream());
    Ok(kernels.steps(stream, (steps, y.dtype()), y.buffer(), code.buffer(), &buffers)?)
}

/// Queues the steps of a program on a tensor, which nobody else uses, and gives the result.
pub(super) fn finish(
    call: &DeviceCall<'_>,
    program: &Program,
    x: DeviceTensor,
) -> DeviceOpResult<DeviceTensor> {
    let has_kernel = matches!(x.dtype(), DType::F32 | DType::F16 | DType::BF16);
    match one_launch(program, &[&x], x.shape()).filter(|_| has_kernel) {
        Some(what) => {
            launch(call, &what, &x, &[&x])?;
            Ok(x)
        }
        None => step_by_step(call, program, &[&x]),
    }
}

/// Queues the steps of a program on these arguments, and gives the last one's result.
fn step_by_step(
    call: &DeviceCall<'_>,
    program: &Program,
    arguments: &[&DeviceTensor],
) -> DeviceOpResult<DeviceTensor> {
    let missing = || invalid("a step takes what is not there");
    let dtype = arguments.first().map_or(DType::F32, |argument| argument.dtype());
    let mut results: Vec<DeviceTensor> = Vec::with_capacity(program.steps().len());
    for step in program.steps() {
        let mut terms = Vec::with_capacity(2);
        for term in &step.terms {
            terms.push(match *term {
                Term::Argument(index) => DeviceTensor::clone(arguments.get(index).ok_or_else(missing)?),
                Term::Step(earlier) => results.get(earlier).ok_or_else(missing)?.clone(),
                Term::Number(number) => scalar(call, dtype, number.into())?,
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
    let result = call.result(0)?;
    let Some(what) = one_launch(&program, &arguments, &result.shape) else {
        return Ok(step_by_step(call, &program, &arguments)?.into());
    };
    let is_whole = |&index: &usize| arguments[index].metadata() == result;
    let whole: Vec<_> = (0..arguments.len()).filter(is_whole).collect();
    let y = call.reuse(&whole, 0)?;
    launch(call, &what, &y, &arguments)?;
    Ok(y.into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.extend(FUSED).device(fused);
}
