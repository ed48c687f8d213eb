//! References of `math_f32.cu`: functions in double precision. Bounds are those of CUDA's
//! programming guide, in units in the last place; half a unit more for `expm1f`, as they hold for a
//! GPU's own `ex2.approx`.

use crate::support::{
    Gpu, args,
    compare::{assert_same, assert_ulps_f32},
    kernels,
};

type One = fn(f64) -> f64;
type Two = fn(f64, f64) -> f64;

/// Numbers in a range, and the special ones.
fn inputs(gpu: &mut Gpu, low: f32, high: f32) -> Vec<f32> {
    let n = gpu.len(300);
    let mut x: Vec<f32> = (0..n).map(|_| low + (high - low) * gpu.rng.f32()).collect();
    x.extend([
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        2.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        1e-40,
        f32::MIN_POSITIVE,
    ]);
    x
}

fn one(gpu: &mut Gpu, name: &str, (low, high): (f32, f32), ulps: f64, f: One) {
    for block in [32, 96] {
        let x = inputs(gpu, low, high);
        let (dx, dy) = (gpu.upload(&x), gpu.uninit::<f32>(x.len()));
        gpu.launch(name, x.len().div_ceil(block) as u32, block as u32, args![dx, dy, x.len() as i32]);
        assert_ulps_f32(&x, &gpu.read(dy), &x.iter().map(|&x| f(x.into())).collect::<Vec<_>>(), ulps);
    }
}

fn two(gpu: &mut Gpu, name: &str, (low, high): (f32, f32), ulps: f64, f: Two) {
    let x = inputs(gpu, low, high);
    let mut y = inputs(gpu, -9.0, 9.0);
    y.resize(x.len(), 1.5);
    gpu.rng.shuffle(&mut y);
    let (dx, dy, dz) = (gpu.upload(&x), gpu.upload(&y), gpu.uninit::<f32>(x.len()));
    gpu.launch(name, x.len().div_ceil(64) as u32, 64, args![dx, dy, dz, x.len() as i32]);
    let want: Vec<f64> = x.iter().zip(&y).map(|(&x, &y)| f(x.into(), y.into())).collect();
    assert_ulps_f32(&x, &gpu.read(dz), &want, ulps);
}

macro_rules! functions {
    ($kind:ident: $($name:ident $range:expr, $ulps:literal, $f:expr;)*) => {$(
        fn $name(gpu: &mut Gpu) {
            $kind(gpu, stringify!($name), $range, $ulps, $f);
        }
    )*};
}

const WIDE: (f32, f32) = (-100.0, 100.0);
const UNIT: (f32, f32) = (-1.0, 1.0);
const POSITIVE: (f32, f32) = (0.0, 1000.0);

functions! { one:
    map_sinf (-1e6, 1e6), 2.0, f64::sin;
    map_cosf (-1e6, 1e6), 2.0, f64::cos;
    map_tanf (-1e4, 1e4), 4.0, f64::tan;
    map_sinpif WIDE, 1.5, sin_pi;
    map_asinf UNIT, 2.0, f64::asin;
    map_acosf UNIT, 2.0, f64::acos;
    map_atanf WIDE, 2.0, f64::atan;
    map_sinhf (-80.0, 80.0), 3.0, f64::sinh;
    map_coshf (-80.0, 80.0), 2.0, f64::cosh;
    map_tanhf (-10.0, 10.0), 2.0, f64::tanh;
    map_asinhf WIDE, 3.0, libm::asinh;
    map_acoshf (1.0, 1000.0), 4.0, libm::acosh;
    map_atanhf UNIT, 3.0, libm::atanh;
    map_expf (-100.0, 88.0), 2.0, f64::exp;
    map_exp2f (-140.0, 127.0), 2.0, f64::exp2;
    map_exp10f (-40.0, 38.0), 2.0, libm::exp10;
    map_expm1f (-20.0, 80.0), 1.5, f64::exp_m1;
    map_logf POSITIVE, 1.0, f64::ln;
    map_log2f POSITIVE, 1.0, f64::log2;
    map_log10f POSITIVE, 2.0, f64::log10;
    map_log1pf (-1.0, 100.0), 1.0, f64::ln_1p;
    map_logbf WIDE, 0.0, exponent;
    map_sqrtf POSITIVE, 0.5, f64::sqrt;
    map_rsqrtf POSITIVE, 2.0, |x| if x == 0.0 { f64::INFINITY.copysign(x) } else { 1.0 / x.sqrt() };
    map_cbrtf WIDE, 1.0, f64::cbrt;
    map_erff (-4.0, 4.0), 2.0, libm::erf;
    map_erfcf (-3.0, 9.0), 4.0, libm::erfc;
    map_tgammaf (0.1, 33.0), 5.0, gamma;
    map_lgammaf (0.1, 100.0), 6.0, |x| if x == -1.0 { f64::INFINITY } else { libm::lgamma(x) };
    map_floorf WIDE, 0.0, f64::floor;
    map_ceilf WIDE, 0.0, f64::ceil;
    map_truncf WIDE, 0.0, f64::trunc;
    map_rintf WIDE, 0.0, f64::round_ties_even;
    map_roundf WIDE, 0.0, f64::round;
    map_normcdff (-9.0, 6.0), 5.0, |x| 0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2);
    map_erfinvf UNIT, 4.0, inverse_erf;
}

functions! { two:
    map_powf (0.0, 50.0), 4.0, libm::pow;
    map_fmodf WIDE, 0.0, libm::fmod;
    map_remainderf WIDE, 0.0, libm::remainder;
    map_atan2f WIDE, 3.0, f64::atan2;
    map_hypotf WIDE, 3.0, libm::hypot;
    map_fdimf WIDE, 0.5, libm::fdim;
    map_copysignf WIDE, 0.0, f64::copysign;
    map_nextafterf WIDE, 0.0, |x, y| libm::nextafterf(x as f32, y as f32).into();
    map_fdividef (-20.0, 20.0), 0.5, |x, y| x / y;
}

kernels! { math_f32: compute_75 => [
    map_sinf map_cosf map_tanf map_sinpif map_asinf map_acosf map_atanf map_sinhf map_coshf map_tanhf map_asinhf
    map_acoshf map_atanhf map_expf map_exp2f map_exp10f map_expm1f map_logf map_log2f map_log10f map_log1pf map_logbf
    map_sqrtf map_rsqrtf map_cbrtf map_erff map_erfcf map_tgammaf map_lgammaf map_j0f map_floorf map_ceilf map_truncf
    map_rintf map_roundf map_normcdff map_erfinvf map_powf map_fmodf map_remainderf map_atan2f map_hypotf map_fdimf
    map_copysignf map_nextafterf map_fdividef several_f32
] }

/// Exact where the argument is a multiple of a half.
fn sin_pi(x: f64) -> f64 {
    let rest = x % 2.0;
    match rest.abs() {
        0.0 | 1.0 => 0f64.copysign(x),
        0.5 => 1f64.copysign(rest),
        1.5 => -1f64.copysign(rest),
        _ => (rest * std::f64::consts::PI).sin(),
    }
}

fn exponent(x: f64) -> f64 {
    if x == 0.0 {
        f64::NEG_INFINITY
    } else if x.is_finite() {
        x.abs().log2().floor()
    } else {
        x.abs()
    }
}

fn gamma(x: f64) -> f64 {
    if x == 0.0 {
        f64::INFINITY.copysign(x)
    } else if x == -1.0 {
        f64::NAN
    } else {
        libm::tgamma(x)
    }
}

/// By Newton's method.
fn inverse_erf(y: f64) -> f64 {
    if y.is_nan() || y.abs() >= 1.0 {
        return if y.abs() == 1.0 { y * f64::INFINITY } else { f64::NAN };
    }
    let slope = |x: f64| 2.0 / std::f64::consts::PI.sqrt() * (-x * x).exp();
    // Winitzki's estimate to begin with.
    let log = (1.0 - y * y).ln();
    let half = 2.0 / (std::f64::consts::PI * 0.147) + log / 2.0;
    let start = ((half * half - log / 0.147).sqrt() - half).max(0.0).sqrt().copysign(y);
    // Near 1 the complement keeps the digits.
    let residual = |x: f64| match y.abs() < 0.5 {
        true => libm::erf(x) - y,
        false => (1.0 - y.abs() - libm::erfc(x.abs())) * y.signum(),
    };
    (0..60).fold(start, |x, _| x - residual(x) / slope(x))
}

/// The Bessel function's error is given in absolute terms.
fn map_j0f(gpu: &mut Gpu) {
    let x: Vec<f32> = (0..200).map(|_| gpu.rng.f32() * 16.0 - 8.0).collect();
    let (dx, dy) = (gpu.upload(&x), gpu.uninit::<f32>(x.len()));
    gpu.launch("map_j0f", 2, 128, args![dx, dy, x.len() as i32]);
    let want: Vec<f64> = x.iter().map(|&x| libm::j0(x.into())).collect();
    crate::support::compare::assert_close(&gpu.read(dy), &want, 1e-6, 3e-7);
}

fn several_f32(gpu: &mut Gpu) {
    let x = gpu.any_f32(300);
    let (dx, out) = (gpu.upload(&x), gpu.uninit::<[f32; 12]>(x.len()));
    gpu.launch("several_f32", 5, 64, args![dx, out, x.len() as i32]);
    let value = |(i, &x): (usize, &f32)| {
        let (fraction, power) = libm::frexpf(x);
        let power = if x.is_finite() { power as f32 } else { 0.0 };
        let wide = f64::from(x);
        let logb = match exponent(wide) {
            _ if x == 0.0 || x.is_nan() => i32::MIN,
            e if e.is_infinite() => i32::MAX,
            e => e as i32,
        };
        let class = u8::from(x.is_nan())
            | u8::from(x.is_infinite()) << 1
            | u8::from(x.is_sign_negative()) << 2
            | u8::from(x.is_finite()) << 3;
        [
            fraction,
            power,
            if x.is_infinite() { 0f32.copysign(x) } else { (x - x.trunc()).copysign(x) },
            x.trunc(),
            // Sine and cosine are compared apart.
            0.0,
            0.0,
            libm::ldexp(wide, i as i32 % 300 - 150) as f32,
            logb as f32,
            class.into(),
            x.mul_add(x, -1.0),
            // What rounds to an integer saturates; no number is zero, or the least in 64 bits.
            if x.is_nan() { i64::MIN as f32 } else { wide.round_ties_even() as i64 as f32 },
            // A NaN saturates to zero.
            if x > 0.0 { x.min(1.0) } else { 0.0 },
        ]
    };
    let want: Vec<[f32; 12]> = x.iter().enumerate().map(value).collect();
    let got = gpu.read(out);
    let sines: Vec<f32> = got.iter().map(|o| o[4]).collect();
    let cosines: Vec<f32> = got.iter().map(|o| o[5]).collect();
    assert_ulps_f32(&x, &sines, &x.iter().map(|&x| f64::from(x).sin()).collect::<Vec<_>>(), 2.0);
    assert_ulps_f32(&x, &cosines, &x.iter().map(|&x| f64::from(x).cos()).collect::<Vec<_>>(), 2.0);
    let mut got = got;
    got.iter_mut().for_each(|o| (o[4], o[5]) = (0.0, 0.0));
    assert_same(&got, &want);
}
