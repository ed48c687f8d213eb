//! References of `math_f64.cu`: the host's functions, which are within a unit in the last place
//! themselves.

use crate::support::{
    Gpu, args,
    compare::{assert_close, assert_same, ulp_error_f64},
    kernels,
};

fn inputs(gpu: &mut Gpu, low: f64, high: f64) -> Vec<f64> {
    let n = gpu.len(200);
    let mut x: Vec<f64> = (0..n).map(|_| low + (high - low) * gpu.rng.f64()).collect();
    x.extend([
        0.0,
        -0.0,
        1.0,
        0.5,
        2.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        5e-324,
        f64::MIN_POSITIVE,
    ]);
    x
}

#[track_caller]
fn check(x: &[f64], got: &[f64], want: &[f64], ulps: f64) {
    for ((x, got), want) in x.iter().zip(got).zip(want) {
        let error = ulp_error_f64(*got, *want);
        assert!(error <= ulps, "f({x:e}) = {got:e}, not {want:e}: {error} ulp");
    }
}

fn one(gpu: &mut Gpu, name: &str, (low, high): (f64, f64), ulps: f64, f: fn(f64) -> f64) {
    let x = inputs(gpu, low, high);
    let (dx, dy) = (gpu.upload(&x), gpu.uninit::<f64>(x.len()));
    gpu.launch(name, x.len().div_ceil(64) as u32, 64, args![dx, dy, x.len() as i32]);
    check(&x, &gpu.read(dy), &x.iter().map(|&x| f(x)).collect::<Vec<_>>(), ulps);
}

fn two(gpu: &mut Gpu, name: &str, (low, high): (f64, f64), ulps: f64, f: fn(f64, f64) -> f64) {
    let x = inputs(gpu, low, high);
    let mut y = inputs(gpu, -9.0, 9.0);
    y.resize(x.len(), 1.5);
    gpu.rng.shuffle(&mut y);
    let (dx, dy, dz) = (gpu.upload(&x), gpu.upload(&y), gpu.uninit::<f64>(x.len()));
    gpu.launch(name, x.len().div_ceil(32) as u32, 32, args![dx, dy, dz, x.len() as i32]);
    check(&x, &gpu.read(dz), &x.iter().zip(&y).map(|(&x, &y)| f(x, y)).collect::<Vec<_>>(), ulps);
}

macro_rules! functions {
    ($kind:ident: $($name:ident $range:expr, $ulps:literal, $f:expr;)*) => {$(
        fn $name(gpu: &mut Gpu) {
            $kind(gpu, stringify!($name), $range, $ulps, $f);
        }
    )*};
}

const WIDE: (f64, f64) = (-100.0, 100.0);
const POSITIVE: (f64, f64) = (0.0, 1000.0);

// The bound of CUDA's programming guide, and one for the host's function.
functions! { one:
    map_sin (-1e9, 1e9), 3.0, f64::sin;
    map_cos (-1e9, 1e9), 3.0, f64::cos;
    map_tan (-1e6, 1e6), 3.0, f64::tan;
    map_asin (-1.0, 1.0), 3.0, f64::asin;
    map_atan WIDE, 3.0, f64::atan;
    map_sinh (-700.0, 700.0), 3.0, f64::sinh;
    map_tanh (-20.0, 20.0), 3.0, f64::tanh;
    map_exp (-740.0, 709.0), 2.0, f64::exp;
    map_exp2 (-1070.0, 1023.0), 2.0, f64::exp2;
    map_expm1 (-40.0, 700.0), 2.0, f64::exp_m1;
    map_log POSITIVE, 2.0, f64::ln;
    map_log2 POSITIVE, 2.0, f64::log2;
    map_log1p (-1.0, 100.0), 2.0, f64::ln_1p;
    map_sqrt POSITIVE, 0.0, f64::sqrt;
    map_rsqrt POSITIVE, 2.0, |x| if x == 0.0 { f64::INFINITY.copysign(x) } else { 1.0 / x.sqrt() };
    map_cbrt WIDE, 2.0, f64::cbrt;
    map_erf (-6.0, 6.0), 3.0, libm::erf;
    map_erfc (-5.0, 26.0), 6.0, libm::erfc;
    map_tgamma (0.1, 170.0), 11.0, |x| if x == 0.0 { f64::INFINITY.copysign(x) } else { libm::tgamma(x) };
    map_floor WIDE, 0.0, f64::floor;
    map_rint WIDE, 0.0, f64::round_ties_even;
    map_round WIDE, 0.0, f64::round;
}

functions! { two:
    map_pow (0.0, 1000.0), 3.0, libm::pow;
    map_fmod (-1e15, 1e15), 0.0, libm::fmod;
    map_atan2 WIDE, 3.0, f64::atan2;
    map_hypot WIDE, 3.0, libm::hypot;
}

kernels! { math_f64: compute_90 => [
    map_sin map_cos map_tan map_asin map_atan map_sinh map_tanh map_exp map_exp2 map_expm1 map_log map_log2 map_log1p
    map_sqrt map_rsqrt map_cbrt map_erf map_erfc map_tgamma map_lgamma map_floor map_rint map_round map_pow map_fmod
    map_atan2 map_hypot several_f64
] }

/// Near its zeros the logarithm of gamma is bounded in absolute terms.
fn map_lgamma(gpu: &mut Gpu) {
    let x: Vec<f64> = (0..200).map(|_| 0.01 + gpu.rng.f64() * 100.0).collect();
    let (dx, dy) = (gpu.upload(&x), gpu.uninit::<f64>(x.len()));
    gpu.launch("map_lgamma", 2, 128, args![dx, dy, x.len() as i32]);
    assert_close(&gpu.read(dy), &x.iter().map(|&x| libm::lgamma(x)).collect::<Vec<_>>(), 2e-15, 2e-15);
}

fn several_f64(gpu: &mut Gpu) {
    let x = gpu.any_f64(300);
    let (dx, out) = (gpu.upload(&x), gpu.uninit::<[f64; 8]>(x.len()));
    gpu.launch("several_f64", 5, 64, args![dx, out, x.len() as i32]);
    let value = |(i, &x): (usize, &f64)| {
        let (fraction, power) = libm::frexp(x);
        [
            fraction,
            if x.is_finite() { power.into() } else { 0.0 },
            if x.is_infinite() { 0f64.copysign(x) } else { (x - x.trunc()).copysign(x) },
            x.trunc(),
            1.0 / x,
            x / 3.0,
            x.mul_add(x, -1.0),
            libm::ldexp(x, i as i32 % 100 - 50),
        ]
    };
    assert_same(&gpu.read(out), &x.iter().enumerate().map(value).collect::<Vec<_>>());
}
