//! References of `fast_math.cu`.

use crate::support::{Gpu, args, compare::assert_close, kernels};

kernels! { fast_math: compute_75 => [fast_functions orbit] }

fn fast_functions(gpu: &mut Gpu) {
    let n = 300;
    let x: Vec<f32> = (0..n).map(|_| gpu.rng.f32() * 6.0 - 3.0).collect();
    let y: Vec<f32> = (0..n).map(|_| gpu.rng.f32() * 2.5).collect();
    let (dx, dy, out) = (gpu.upload(&x), gpu.upload(&y), gpu.uninit::<[f32; 8]>(n));
    gpu.launch("fast_functions", n.div_ceil(96) as u32, 96, args![dx, dy, out, n as i32]);
    let got = gpu.read(out);
    let check = |k: usize, relative: f64, absolute: f64, f: fn(f64, f64) -> f64| {
        let column: Vec<f32> = got.iter().map(|o| o[k]).collect();
        let want: Vec<f64> = x.iter().zip(&y).map(|(&x, &y)| f(x.into(), (y + 0.5).into())).collect();
        assert_close(&column, &want, relative, absolute);
    };
    check(0, 3e-7, 0.0, |a, b| a / b);
    check(1, 3e-7, 0.0, |_, b| b.sqrt());
    check(2, 1e-6, 4e-6, |a, b| a.sin() + b.cos());
    check(3, 1e-6, 0.0, |a, _| a.exp());
    check(4, 1e-6, 1e-6, |_, b| b.ln());
    check(5, 1e-5, 0.0, |a, b| b.powf(a));
    check(6, 1e-3, 1e-6, |a, _| a.tanh());
    check(7, 4e-7, 0.0, |_, b| 1.0 / b.sqrt());
}

fn orbit(gpu: &mut Gpu) {
    let n = gpu.len(100);
    let start: Vec<[f32; 4]> = (0..n).map(|_| [0.5 + gpu.rng.f32(), gpu.rng.f32(), 0.0, 0.8]).collect();
    let state = gpu.upload(&start);
    gpu.launch("orbit", n.div_ceil(32) as u32, 32, args![state, 50i32, 0.01f32, n as i32]);
    let run = |s: &[f32; 4]| {
        let ([mut x, mut y, mut vx, mut vy], dt) = (s.map(f64::from), f64::from(0.01f32));
        for _ in 0..50 {
            let f = -(x * x + y * y + 0.01).powf(-1.5) * dt;
            (vx, vy) = (vx + f * x, vy + f * y);
            (x, y) = (x + vx * dt, y + vy * dt);
        }
        [x, y, vx, vy]
    };
    let want: Vec<f64> = start.iter().flat_map(run).collect();
    assert_close(&gpu.read(state).concat(), &want, 1e-4, 1e-5);
}
