//! The gamma function's relatives: digamma, zeta, incomplete gamma and beta functions.

use std::f64::consts::PI;

const MAX_STEPS: usize = 10_000;
/// The most terms of a series whose terms grow up to `x`.
const MAX_SLOPE_STEPS: usize = 100_000;
const TINY: f64 = 1e-300;

/// The derivative of the logarithm of the gamma function.
pub(crate) fn digamma(x: f64) -> f64 {
    if x <= 0.0 && x == x.floor() {
        return f64::NAN;
    }
    if x < 0.0 {
        return digamma(1.0 - x) - PI / (PI * x).tan();
    }
    let (mut x, mut sum) = (x, 0.0);
    while x < 10.0 {
        sum -= 1.0 / x;
        x += 1.0;
    }
    let z = 1.0 / (x * x);
    let series =
        [1.0 / 12.0, -691.0 / 32_760.0, 1.0 / 132.0, -1.0 / 240.0, 1.0 / 252.0, -1.0 / 120.0, 1.0 / 12.0];
    let tail = series.iter().fold(0.0, |sum, c| (sum + c) * z);
    sum + x.ln() - 0.5 / x - tail
}

/// The Hurwitz zeta function: the sum of `(q + k)^-x` over all k from 0.
pub(crate) fn zeta(x: f64, q: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    if x < 1.0 {
        return f64::NAN;
    }
    if q <= 0.0 {
        if q == q.floor() {
            return f64::INFINITY;
        }
        if x != x.floor() {
            return f64::NAN;
        }
    }
    let (mut sum, mut a) = (q.powf(-x), q);
    let mut step = 0;
    let mut term;
    loop {
        step += 1;
        a += 1.0;
        term = a.powf(-x);
        sum += term;
        if term.abs() < f64::EPSILON * sum.abs() {
            return sum;
        }
        if step >= 9 && a > 9.0 {
            break;
        }
    }
    // The formula of Euler and Maclaurin for the rest. The divisors are (2k)! over Bernoulli
    // numbers.
    const DIVISORS: [f64; 12] = [
        12.0,
        -720.0,
        30_240.0,
        -1_209_600.0,
        47_900_160.0,
        -1.892_437_580_318_379_5e9,
        7.47242496e10,
        -2.950_130_727_918_164e12,
        1.164_678_281_435_006_8e14,
        -4.597_978_722_407_472e15,
        1.815_210_540_194_354_5e17,
        -7.166_165_256_175_667e18,
    ];
    sum += term * a / (x - 1.0) - 0.5 * term;
    let (mut factor, mut k) = (1.0, 0.0);
    for divisor in DIVISORS {
        factor *= x + k;
        term /= a;
        let part = factor * term / divisor;
        sum += part;
        if (part / sum).abs() < f64::EPSILON {
            break;
        }
        k += 1.0;
        factor *= x + k;
        term /= a;
        k += 1.0;
    }
    sum
}

/// The derivative of order `n` of the digamma function.
pub(crate) fn polygamma(n: f64, x: f64) -> f64 {
    if n < 0.0 || n != n.floor() {
        return f64::NAN;
    }
    if n == 0.0 {
        return digamma(x);
    }
    let sign = if n % 2.0 == 0.0 { -1.0 } else { 1.0 };
    sign * libm::tgamma(n + 1.0) * zeta(n + 1.0, x)
}

/// What both incomplete gamma functions have in common: x^a e^-x / Γ(a).
fn gamma_factor(a: f64, x: f64) -> f64 {
    (a * x.ln() - x - libm::lgamma(a)).exp()
}

fn gamma_series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum, mut n) = (1.0 / a, 1.0 / a, a);
    for _ in 0..MAX_STEPS {
        n += 1.0;
        term *= x / n;
        sum += term;
        if term < sum * f64::EPSILON {
            break;
        }
    }
    sum * gamma_factor(a, x)
}

fn gamma_fraction(a: f64, x: f64) -> f64 {
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (1.0 / TINY, 1.0 / b);
    let mut h = d;
    for i in 1..MAX_STEPS {
        let an = -(i as f64) * (i as f64 - a);
        b += 2.0;
        d = nonzero(an * d + b).recip();
        c = nonzero(b + an / c);
        h *= d * c;
        if (d * c - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    h * gamma_factor(a, x)
}

fn nonzero(x: f64) -> f64 {
    if x.abs() < TINY { TINY } else { x }
}

/// The lower incomplete gamma function, as a part of the whole.
pub(crate) fn igamma(a: f64, x: f64) -> f64 {
    match (a, x) {
        _ if a.is_nan() || x.is_nan() || x < 0.0 || a < 0.0 => f64::NAN,
        (0.0, x) => {
            if x > 0.0 {
                1.0
            } else {
                f64::NAN
            }
        }
        (_, 0.0) => 0.0,
        _ if a.is_infinite() => {
            if x.is_infinite() {
                f64::NAN
            } else {
                0.0
            }
        }
        _ if x.is_infinite() => 1.0,
        _ if x < a + 1.0 => gamma_series(a, x),
        _ => 1.0 - gamma_fraction(a, x),
    }
}

/// The upper incomplete gamma function, as a part of the whole.
pub(crate) fn igammac(a: f64, x: f64) -> f64 {
    match (a, x) {
        _ if a.is_nan() || x.is_nan() || x < 0.0 || a < 0.0 => f64::NAN,
        (0.0, x) => {
            if x > 0.0 {
                0.0
            } else {
                f64::NAN
            }
        }
        (_, 0.0) => 1.0,
        _ if a.is_infinite() => {
            if x.is_infinite() {
                f64::NAN
            } else {
                1.0
            }
        }
        _ if x.is_infinite() => 0.0,
        _ if x < a + 1.0 => 1.0 - gamma_series(a, x),
        _ => gamma_fraction(a, x),
    }
}

/// The slope of [`igamma`] with respect to `a`: each term of its series times the slope of the term's
/// logarithm.
pub(crate) fn igamma_slope(a: f64, x: f64) -> f64 {
    if a.is_nan() || x.is_nan() || x < 0.0 || a <= 0.0 {
        return f64::NAN;
    }
    // Far above `a`, the function is one however `a` changes.
    if x == 0.0 || x > a + 40.0 * (a.sqrt() + 20.0) {
        return 0.0;
    }
    let mut term = (a * x.ln() - x - libm::lgamma(a + 1.0)).exp();
    let mut slope = x.ln() - digamma(a + 1.0);
    let (mut sum, mut size) = (0.0, 0.0);
    for n in 1..MAX_SLOPE_STEPS {
        sum += term * slope;
        size += (term * slope).abs();
        let next = a + n as f64;
        if next > x && (term * slope).abs() <= size * f64::EPSILON {
            break;
        }
        term *= x / next;
        slope -= 1.0 / next;
    }
    sum
}

/// How much a number from the gamma distribution changes with `a` if its rank does not.
pub(crate) fn gamma_sample_slope(a: f64, x: f64) -> f64 {
    let density = ((a - 1.0) * x.ln() - x - libm::lgamma(a)).exp();
    -igamma_slope(a, x) / density
}

fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    let (mut c, mut d) = (1.0, nonzero(1.0 - (a + b) * x / (a + 1.0)).recip());
    let mut h = d;
    for m in 1..MAX_STEPS {
        let m = m as f64;
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for part in [even, odd] {
            d = nonzero(1.0 + part * d).recip();
            c = nonzero(1.0 + part / c);
            change = d * c;
            h *= change;
        }
        if (change - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    h
}

/// The incomplete beta function, as a part of the whole.
pub(crate) fn betainc(a: f64, b: f64, x: f64) -> f64 {
    if a.is_nan() || b.is_nan() || !(0.0..=1.0).contains(&x) || a <= 0.0 || b <= 0.0 {
        return f64::NAN;
    }
    if x == 0.0 || x == 1.0 {
        return x;
    }
    let logarithm = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * x.ln() + b * (-x).ln_1p();
    if x < (a + 1.0) / (a + b + 2.0) {
        logarithm.exp() * beta_fraction(a, b, x) / a
    } else {
        1.0 - logarithm.exp() * beta_fraction(b, a, 1.0 - x) / b
    }
}
