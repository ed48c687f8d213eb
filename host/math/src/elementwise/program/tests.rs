//! Programs against their steps, and what is wrong with others.

use super::*;

fn step(function: Function, terms: &[Term]) -> Step {
    Step { function, terms: terms.to_vec() }
}

/// `max(a * b + c, 0.5)`.
fn program() -> Program {
    let steps = vec![
        step(Function::Mul, &[Term::Argument(0), Term::Argument(1)]),
        step(Function::Add, &[Term::Step(0), Term::Argument(2)]),
        step(Function::Maximum, &[Term::Step(1), Term::Number(0.5)]),
    ];
    Program::new(3, steps).unwrap()
}

#[test]
fn arguments_are_broadcast() {
    let cases: &[[&[usize]; 3]] = &[
        [&[2, 3, 700], &[2, 3, 700], &[2, 3, 700]],
        [&[2, 3, 700], &[700], &[]],
        [&[2, 30, 7], &[2, 1, 7], &[1, 30, 1]],
        [&[2, 30, 7], &[30, 7], &[1, 1, 1]],
        [&[5, 1], &[1, 4], &[4]],
        [&[600, 3], &[3], &[600, 1]],
        [&[2, 0, 4], &[2, 1, 4], &[2, 1, 1]],
    ];
    for shapes in cases {
        let fused = Fused::new(program(), shapes).unwrap();
        let arguments: Vec<Vec<f32>> = shapes
            .iter()
            .enumerate()
            .map(|(number, shape)| {
                let len = shape.iter().product::<usize>();
                (0..len).map(|i| (i * (number + 3) % 17) as f32 * 0.25 - 1.0).collect()
            })
            .collect();
        let at = |number: usize, index: usize| {
            let own = shapes[number];
            let strides = row_major_strides(own);
            let (mut rest, mut place) = (index, 0);
            for (axis, dim) in fused.shape().iter().enumerate().rev() {
                let (along, missing) = (rest % dim, fused.shape().len() - own.len());
                rest /= dim;
                if axis >= missing && own[axis - missing] != 1 {
                    place += along * strides[axis - missing];
                }
            }
            arguments[number][place]
        };
        let len = fused.shape().iter().product();
        let expected: Vec<f32> = (0..len).map(|i| (at(0, i) * at(1, i) + at(2, i)).max(0.5)).collect();
        let prepared = fused.prepare(arguments.clone()).unwrap();
        let mut out = vec![0.0; len];
        let (first, second) = out.split_at_mut(len / 3);
        prepared.compute(0..len / 3, first).unwrap();
        prepared.compute(len / 3..len, second).unwrap();
        assert_eq!(out, expected, "{shapes:?}");
    }
}

#[test]
fn a_program_is_applied_in_place() {
    let steps = vec![
        step(Function::Sigmoid, &[Term::Argument(0)]),
        step(Function::Mul, &[Term::Argument(0), Term::Step(0)]),
    ];
    let program = Program::new(1, steps).unwrap();
    let mut elements: Vec<f32> = (0..1500).map(|i| i as f32 * 0.01 - 7.0).collect();
    let expected: Vec<f32> = elements.iter().map(|&x| x * ops::sigmoid(x)).collect();
    program.apply(&mut elements).unwrap();
    let is_near = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-6 * b.abs();
    assert!(elements.iter().zip(&expected).all(is_near));
}

/// What a program computes of each element, step by step.
fn by_steps(program: &Program, elements: &[f32]) -> Vec<f32> {
    let mut results: Vec<Vec<f32>> = Vec::new();
    for step in program.steps() {
        let lane = |term: Term| match term {
            Term::Argument(_) => Lane::Each(elements),
            Term::Step(earlier) => Lane::Each(&results[earlier]),
            Term::Number(number) => Lane::One(number),
        };
        let mut out = vec![0.0; elements.len()];
        match step.terms[..] {
            [x] => map(step.function, lane(x), &mut out),
            [a, b] => zip(step.function, lane(a), lane(b), &mut out),
            _ => unreachable!("functions have one or two operands"),
        }
        results.push(out);
    }
    results.pop().unwrap()
}

#[test]
fn common_sequences_are_computed_in_one_loop() {
    use Function::{Add, Div, LeakyRelu, Maximum, Minimum, Mul, Relu6, Sigmoid};
    use Term::Number;
    let (x, s) = (Term::Argument(0), Term::Step);
    let line = [step(Mul, &[x, Number(0.2)]), step(Add, &[Number(0.5), s(0)])];
    let low_first = [step(Maximum, &[s(1), Number(0.0)]), step(Minimum, &[s(2), Number(1.0)])];
    let high_first = [step(Minimum, &[Number(1.0), s(1)]), step(Maximum, &[s(2), Number(0.0)])];
    let parts = [
        step(Add, &[x, Number(3.0)]),
        step(Relu6, &[s(0)]),
        step(Mul, &[s(1), x]),
        step(Div, &[s(2), Number(6.0)]),
        step(Mul, &[Number(0.7), s(3)]),
        step(Add, &[s(4), Number(-0.3)]),
    ];
    let fused: Vec<(usize, Vec<Step>)> = vec![
        (1, [&line[..], &low_first].concat()),
        (1, [&line[..], &high_first].concat()),
        (1, [&line[..], &low_first, &[step(Mul, &[x, s(3)])]].concat()),
        (1, [&line[..], &high_first, &[step(Mul, &[s(3), x]), step(Mul, &[s(4), Number(2.0)])]].concat()),
        (1, parts.to_vec()),
        (1, parts[..3].to_vec()),
        (1, vec![step(Sigmoid, &[x]), step(Mul, &[s(0), x])]),
        (2, vec![step(Function::Tanh, &[x]), step(Sigmoid, &[s(0)]), step(Mul, &[s(0), s(1)])]),
        // The line, or the gate, is needed elsewhere, too.
        (5, [&line[..], &low_first, &[step(Mul, &[s(1), s(3)])]].concat()),
        (2, [&line[..], &low_first, &[step(Mul, &[x, s(3)]), step(Add, &[s(4), s(4)])]].concat()),
        (3, vec![step(Sigmoid, &[x]), step(Mul, &[s(0), x]), step(Add, &[s(0), s(1)])]),
        (1, vec![step(LeakyRelu, &[x, Number(0.1)])]),
        (2, vec![step(LeakyRelu, &[x, Number(0.1)]), step(LeakyRelu, &[s(0), Number(2.0)])]),
        (2, vec![step(Mul, &[x, Number(0.1)]), step(LeakyRelu, &[x, s(0)])]),
        // Bounds in the wrong order, a quotient of the other way around.
        (
            4,
            [&line[..], &[step(Maximum, &[s(1), Number(1.0)]), step(Minimum, &[s(2), Number(0.0)])]].concat(),
        ),
        (2, [&line[..], &low_first, &[step(Div, &[Number(6.0), s(3)])]].concat()),
    ];
    let elements: Vec<f32> =
        (0..1200).map(|i| i as f32 * 0.02 - 12.0).chain([f32::NAN, f32::INFINITY, -0.0]).collect();
    for (stages, steps) in fused {
        let program = Program::new(1, steps.clone()).unwrap();
        assert_eq!(program.stages.len(), stages, "{steps:?}");
        let (mut found, expected) = (elements.clone(), by_steps(&program, &elements));
        program.apply(&mut found).unwrap();
        // Sigmoids may round differently.
        let is_same = |(a, b): (&f32, &f32)| {
            a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-6 * b.abs() + 1e-35
        };
        assert!(found.iter().zip(&expected).all(is_same), "{steps:?}");
    }
    let number =
        Program::new(0, vec![step(Sigmoid, &[Number(1.0)]), step(Mul, &[s(0), Number(1.0)])]).unwrap();
    assert_eq!(by_steps(&number, &[0.0]), [ops::sigmoid(1.0f32)]);
}

#[test]
fn programs_that_do_not_fit_are_errors() {
    assert!(Program::new(0, vec![]).is_err());
    assert!(Program::new(1, vec![step(Function::Add, &[Term::Argument(0)])]).is_err());
    assert!(Program::new(1, vec![step(Function::Neg, &[Term::Step(0)])]).is_err());
    assert!(Program::new(1, vec![step(Function::Neg, &[Term::Argument(1)])]).is_err());
    assert!(Fused::new(program(), &[&[2], &[3], &[]]).is_err());
    let fused = Fused::new(program(), &[&[2], &[2], &[]]).unwrap();
    assert!(fused.prepare(vec![vec![1.0; 2], vec![1.0], vec![1.0]]).is_err());
    let prepared = fused.prepare(vec![vec![1.0; 2], vec![1.0; 2], vec![1.0]]).unwrap();
    assert!(prepared.compute(1..3, &mut [0.0; 2]).is_err());
    assert!(program().apply(&mut [1.0]).is_err());
}
