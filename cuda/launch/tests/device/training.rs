//! Gradients of activations by differences, and steps of optimizers.

use tfrt_host::DType;
use tfrt_launch::{Adam, Gradient, Momentum, Unary};

use super::{Random, assert_close, device};

#[test]
fn gradients_are_slopes() {
    let (d, mut random) = (device(), Random::new(51));
    let pairs = [
        (Gradient::Relu, Unary::Relu, true),
        (Gradient::Relu6, Unary::Relu6, true),
        (Gradient::Sigmoid, Unary::Sigmoid, true),
        (Gradient::Tanh, Unary::Tanh, true),
        (Gradient::Elu, Unary::Elu, true),
        (Gradient::Selu, Unary::Selu, true),
        (Gradient::Softplus, Unary::Softplus, false),
        (Gradient::Softsign, Unary::Softsign, false),
        (Gradient::Silu, Unary::Silu, false),
        (Gradient::Gelu, Unary::Gelu, false),
        (Gradient::GeluTanh, Unary::GeluTanh, false),
    ];
    let n = 37;
    let (x, dy) = (random.f32s(n, -3.0, 7.0), random.f32s(n, -2.0, 2.0));
    const STEP: f32 = 1.0 / 64.0;
    let run = |function, x: &[f32]| {
        let (dx, room) = (d.upload(x), d.room::<f32>(n));
        d.kernels.unary(&d.stream, function, DType::F32, &room, &dx, n as u64).unwrap();
        room
    };
    for (gradient, function, from_result) in pairs {
        let moved = |by: f32| x.iter().map(|x| x + by).collect::<Vec<_>>();
        let above = d.download::<f32>(&run(function, &moved(STEP)), n);
        let below = d.download::<f32>(&run(function, &moved(-STEP)), n);
        let value = if from_result { run(function, &x) } else { d.upload(&x) };
        let (upstream, room) = (d.upload(&dy), d.room::<f32>(n));
        let operands = [&upstream, &value];
        d.kernels.activation_gradient(&d.stream, gradient, DType::F32, &room, operands, n as u64).unwrap();
        let slopes = d.download::<f32>(&room, n);
        for i in 0..n {
            // A difference over a corner is no slope.
            let corner = x[i].abs() <= STEP || (x[i] - 6.0).abs() <= STEP;
            let expected = (above[i] - below[i]) / (2.0 * STEP) * dy[i];
            let close = (slopes[i] - expected).abs() < 2e-3;
            assert!(corner || close, "{gradient:?} at {}: {} instead of {expected}", x[i], slopes[i]);
        }
    }
}

#[test]
fn steps_of_optimizers() {
    let (d, mut random) = (device(), Random::new(52));
    let n = 1027;
    let [w, v, g] = [(); 3].map(|()| random.f32s(n, -1.0, 1.0));
    let squares = random.f32s(n, 0.0, 1.0);
    let gradients = d.upload(&g);

    let weights = d.upload(&w);
    d.kernels.sgd(&d.stream, DType::F32, &weights, &gradients, n as u64, [0.1, 0.01]).unwrap();
    let expected: Vec<_> = w.iter().zip(&g).map(|(w, g)| w - 0.1 * (g + 0.01 * w)).collect();
    assert_close(&d.download::<f32>(&weights, n), &expected, 1e-6);

    for nesterov in [false, true] {
        let (weights, velocities) = (d.upload(&w), d.upload(&v));
        let options = Momentum { rate: 0.1, momentum: 0.9, decay: 0.01, nesterov };
        let states = [&weights, &velocities];
        d.kernels.momentum(&d.stream, DType::F32, states, &gradients, n as u64, options).unwrap();
        let velocity = |i: usize| 0.9 * v[i] + g[i] + 0.01 * w[i];
        let step = |i: usize| {
            if nesterov { g[i] + 0.01 * w[i] + 0.9 * velocity(i) } else { velocity(i) }
        };
        assert_close(&d.download::<f32>(&velocities, n), &(0..n).map(velocity).collect::<Vec<_>>(), 1e-6);
        let expected: Vec<_> = (0..n).map(|i| w[i] - 0.1 * step(i)).collect();
        assert_close(&d.download::<f32>(&weights, n), &expected, 1e-6);
    }

    let (weights, means, means_of_squares) = (d.upload(&w), d.upload(&v), d.upload(&squares));
    let options = Adam { rate: 0.01, beta1: 0.9, beta2: 0.99, epsilon: 1e-6, decay: 0.1, step: 3 };
    let states = [&weights, &means, &means_of_squares];
    d.kernels.adam(&d.stream, DType::F32, states, &gradients, n as u64, options).unwrap();
    let expected: Vec<_> = (0..n)
        .map(|i| {
            let m = (0.9 * v[i] + 0.1 * g[i]) / (1.0 - 0.9f32.powi(3));
            let s = (0.99 * squares[i] + 0.01 * g[i] * g[i]) / (1.0 - 0.99f32.powi(3));
            w[i] - 0.01 * (m / (s.sqrt() + 1e-6) + 0.1 * w[i])
        })
        .collect();
    assert_close(&d.download::<f32>(&weights, n), &expected, 2e-5);
}
