//! Several elementwise functions in one launch, against the same program on the host.

use tfrt_host::DType;
use tfrt_launch::Steps;
use tfrt_math::{Function, Fused, Program, Step, Term};

use super::{Random, assert_close, device};

const FUNCTIONS: [Function; 31] = [
    Function::Add,
    Function::Sub,
    Function::Mul,
    Function::Div,
    Function::Maximum,
    Function::Minimum,
    Function::SquaredDifference,
    Function::LeakyRelu,
    Function::Abs,
    Function::Ceil,
    Function::Elu,
    Function::Erf,
    Function::Exp,
    Function::Expm1,
    Function::Floor,
    Function::Gelu,
    Function::GeluTanh,
    Function::Log,
    Function::Neg,
    Function::Reciprocal,
    Function::Relu,
    Function::Relu6,
    Function::Round,
    Function::Rsqrt,
    Function::Selu,
    Function::Sigmoid,
    Function::Softplus,
    Function::Softsign,
    Function::Sqrt,
    Function::Square,
    Function::Tanh,
];

pub(super) fn step(function: Function, terms: &[Term]) -> Step {
    Step { function, terms: terms.to_vec() }
}

/// Compares a program on arguments of these extents with the host's.
fn check(steps: Vec<Step>, shapes: &[&[usize]], result: &[usize]) {
    let (d, mut random) = (device(), Random::new(7));
    let program = Program::new(shapes.len(), steps).unwrap();
    let count = |dims: &[usize]| dims.iter().product::<usize>();
    let arguments: Vec<Vec<f32>> = shapes.iter().map(|dims| random.f32s(count(dims), -4.0, 4.0)).collect();
    let mut expected = vec![0.0f32; count(result)];
    let fused = Fused::new(program.clone(), shapes).unwrap();
    fused.prepare(arguments.clone()).unwrap().compute(0..expected.len(), &mut expected).unwrap();

    let steps = Steps::new(&program, shapes, result).unwrap();
    let code = d.upload(steps.code());
    let buffers: Vec<_> = arguments.iter().map(|argument| d.upload(argument)).collect();
    let y = d.room::<f32>(expected.len());
    d.kernels.steps(&d.stream, (&steps, DType::F32), &y, &code, &buffers.iter().collect::<Vec<_>>()).unwrap();
    let found = d.download::<f32>(&y, expected.len());
    assert_close(&found, &expected, 1e-5);
}

#[test]
fn every_function_is_the_hosts() {
    let x = Term::Argument;
    for function in FUNCTIONS {
        let terms = &[x(0), x(1)][..function.arity()];
        let steps = vec![step(function, terms), step(Function::Mul, &[Term::Step(0), Term::Number(0.5)])];
        check(steps, &[&[5, 7], &[5, 7]], &[5, 7]);
    }
}

#[test]
fn arguments_are_broadcast() {
    let (x, s) = (Term::Argument, Term::Step);
    let steps = || {
        vec![
            step(Function::Sigmoid, &[x(1)]),
            step(Function::Mul, &[x(0), s(0)]),
            step(Function::Add, &[s(1), x(2)]),
            step(Function::Sub, &[Term::Number(1.0), s(2)]),
        ]
    };
    for (shapes, result) in [
        ([&[2usize, 3, 4, 8][..], &[2, 1, 1, 8], &[8]], &[2usize, 3, 4, 8][..]),
        ([&[8], &[2, 3, 4, 1], &[]], &[2, 3, 4, 8]),
        ([&[3, 1], &[1, 5], &[1]], &[3, 5]),
        ([&[6, 5, 1], &[6, 1, 3], &[6, 5, 3]], &[6, 5, 3]),
        ([&[1], &[1], &[1]], &[1]),
    ] {
        check(steps(), &shapes, result);
    }
}

#[test]
fn a_result_may_take_the_place_of_an_argument() {
    let d = device();
    let x: Vec<f32> = (0..1_003).map(|i| i as f32 - 500.0).collect();
    let steps = vec![
        step(Function::Add, &[Term::Argument(0), Term::Number(3.0)]),
        step(Function::Relu6, &[Term::Step(0)]),
        step(Function::Mul, &[Term::Argument(0), Term::Step(1)]),
    ];
    let program = Program::new(1, steps).unwrap();
    let steps = Steps::new(&program, &[&[1_003]], &[1_003]).unwrap();
    let (code, y) = (d.upload(steps.code()), d.upload(&x));
    d.kernels.steps(&d.stream, (&steps, DType::F32), &y, &code, &[&y]).unwrap();
    let expected: Vec<f32> = x.iter().map(|&x| x * (x + 3.0).clamp(0.0, 6.0)).collect();
    assert_eq!(d.download::<f32>(&y, x.len()), expected);
    assert!(d.kernels.steps(&d.stream, (&steps, DType::F32), &y, &code, &[]).is_err());
}
