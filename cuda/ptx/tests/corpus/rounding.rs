//! References of `rounding.cu`: directed rounding by definition, from exact values in two parts.

use crate::support::{
    Gpu, args,
    compare::{assert_close, assert_same},
    floats::{F32, F64, Format, MODES, Mode, round, two_fma, two_product, two_sum},
    kernels,
};

kernels! { rounding: compute_75 compute_90 => [directed_f32 directed_f64 approximations flushed] }

/// Numbers of moderate size, so that what an operation loses can be computed, and some that make
/// exact results.
fn moderate(gpu: &mut Gpu, n: usize) -> Vec<f64> {
    let draw = |_| match gpu.rng.u8(..4) {
        0 => f64::from(gpu.rng.i8(..)) + 0.5,
        1 => 2f64.powi(gpu.rng.i32(-30..30)),
        _ => (gpu.rng.f64() - 0.5) * 2f64.powi(gpu.rng.i32(-40..40)),
    };
    (0..n).map(draw).collect()
}

/// Results in four modes of sum, product, fused product and sum, quotient, root, reciprocal.
fn directed([a, b, c]: [f64; 3], format: Format) -> [f64; 24] {
    let p = a.abs();
    let quotient = |a: f64, b: f64| (a / b, (-(a / b)).mul_add(b, a) * b.signum());
    let root = (p.sqrt(), (-p.sqrt()).mul_add(p.sqrt(), p));
    let exact = [two_sum(a, b), two_product(a, b), two_fma(a, b, c), quotient(a, b), root, quotient(1.0, a)];
    std::array::from_fn(|i| {
        let ((value, rest), mode) = (exact[i / 4], MODES[i % 4]);
        // A sum that cancels is +0, and -0 when rounding down.
        let cancelled = value == 0.0 && matches!(i / 4, 0 | 2);
        if cancelled && matches!(mode, Mode::Down) { -0.0 } else { round(value, rest, format, mode) }
    })
}

fn directed_f32(gpu: &mut Gpu) {
    let n = 400;
    let mut draw = || moderate(gpu, n).iter().map(|&x| x as f32).collect::<Vec<_>>();
    let (x, y, z) = (draw(), draw(), draw());
    let (dx, dy, dz, out) = (gpu.upload(&x), gpu.upload(&y), gpu.upload(&z), gpu.uninit::<[f32; 24]>(n));
    gpu.launch("directed_f32", n.div_ceil(64) as u32, 64, args![dx, dy, dz, out, n as i32]);
    let value = |i: usize| directed([x[i], y[i], z[i]].map(f64::from), F32).map(|r| r as f32);
    assert_same(&gpu.read(out), &(0..n).map(value).collect::<Vec<_>>());
}

fn directed_f64(gpu: &mut Gpu) {
    let n = 400;
    let (x, y, z) = (moderate(gpu, n), moderate(gpu, n), moderate(gpu, n));
    let (dx, dy, dz, out) = (gpu.upload(&x), gpu.upload(&y), gpu.upload(&z), gpu.uninit::<[f64; 24]>(n));
    gpu.launch("directed_f64", n.div_ceil(64) as u32, 64, args![dx, dy, dz, out, n as i32]);
    assert_same(&gpu.read(out), &(0..n).map(|i| directed([x[i], y[i], z[i]], F64)).collect::<Vec<_>>());
}

fn approximations(gpu: &mut Gpu) {
    let n = 300;
    let x: Vec<f32> = (0..n).map(|_| gpu.rng.f32() * 6.0 - 3.0).collect();
    let y: Vec<f32> =
        (0..n).map(|_| (0.1 + gpu.rng.f32() * 50.0) * if gpu.rng.bool() { 1.0 } else { -1.0 }).collect();
    let (dx, dy, out) = (gpu.upload(&x), gpu.upload(&y), gpu.uninit::<[f32; 10]>(n));
    gpu.launch("approximations", n.div_ceil(64) as u32, 64, args![dx, dy, out, n as i32]);
    let got = gpu.read(out);
    let column = |k: usize| got.iter().map(|o| o[k]).collect::<Vec<_>>();
    let want =
        |f: fn(f64, f64) -> f64| x.iter().zip(&y).map(|(&x, &y)| f(x.into(), y.into())).collect::<Vec<_>>();
    // Bounds of the PTX manual and the programming guide; absolute for sine, cosine and logarithm
    // near 1.
    assert_close(&column(0), &want(|x, _| x.sin()), 0.0, 2e-6);
    assert_close(&column(1), &want(|x, _| x.cos()), 0.0, 2e-6);
    assert_close(&column(2), &want(|x, _| x.exp()), 6e-7, 0.0);
    assert_close(&column(3), &want(|_, y| y.abs().ln()), 4e-7, 5e-7);
    assert_close(&column(4), &want(|x, y| x / y), 3e-7, 0.0);
    assert_close(&column(5), &want(|x, y| y.abs().powf(x)), 3e-5, 0.0);
    assert_close(&column(7), &want(|_, y| 1.0 / y.abs().sqrt()), 6e-8, 0.0);
    assert_close(&column(8), &want(|x, _| x.tanh()), 5e-4, 0.0);
    assert_close(&column(9), &want(|_, y| 1.0 / y), 1.2e-7, 0.0);
    // The tangent is a quotient of sine and cosine: near a pole only as good as the cosine.
    let tangent: Vec<f64> = x.iter().map(|&x| f64::from(x).tan()).collect();
    for (got, want) in column(6).into_iter().zip(tangent) {
        assert!((f64::from(got) - want).abs() <= 5e-6 * (1.0 + want * want), "{got} for {want}");
    }
}

fn flushed(gpu: &mut Gpu) {
    let n = 400;
    // Around the least normal number, and some larger ones.
    let mut draw = || {
        let tiny = f32::from_bits(gpu.rng.u32(..0x0180_0000));
        [tiny, -tiny, gpu.rng.f32() * 2.0 - 0.5, 0.0, -0.0][gpu.rng.usize(..5)]
    };
    let x: Vec<f32> = (0..n).map(|_| draw()).collect();
    let y: Vec<f32> = (0..n).map(|_| draw()).collect();
    let (dx, dy, out) = (gpu.upload(&x), gpu.upload(&y), gpu.uninit::<[f32; 8]>(n));
    gpu.launch("flushed", n.div_ceil(64) as u32, 64, args![dx, dy, out, n as i32]);
    let flush = |v: f32| if v.is_subnormal() { 0f32.copysign(v) } else { v };
    let saturate = |v: f32| if v > 0.0 { v.min(1.0) } else { 0.0 };
    let value = |i: usize| {
        let (a, b, fa, fb) = (x[i], y[i], flush(x[i]), flush(y[i]));
        let (product, rest) = two_fma(fa.into(), fb.into(), fb.into());
        let toward_zero = round(product, rest, F32, Mode::Zero) as f32;
        // Of zeros of either sign, the negative is the less.
        let least = if fa == fb { if fa.is_sign_negative() { fa } else { fb } } else { fa.min(fb) };
        [
            flush(fa + fb),
            flush(fa * fb),
            flush(fa.mul_add(fb, fa)),
            saturate(a + b),
            flush(saturate(toward_zero)),
            least,
            fa.abs(),
            if fa == 0.0 { 1.0 } else { 0.0 },
        ]
    };
    assert_same(&gpu.read(out), &(0..n).map(value).collect::<Vec<_>>());
}
