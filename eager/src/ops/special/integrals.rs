//! Integrals without a closed form: Dawson's, Fresnel's, the exponential integral, Spence's, and
//! inverse error functions.

use std::f64::consts::{FRAC_PI_2, PI, SQRT_2};

const EULER: f64 = 0.577_215_664_901_532_9;
const MAX_STEPS: usize = 500;

/// The inverse of the error function.
pub(crate) fn erfinv(y: f64) -> f64 {
    if y.is_nan() || y.abs() > 1.0 {
        return f64::NAN;
    }
    if y.abs() == 1.0 {
        return y * f64::INFINITY;
    }
    if y.abs() > 0.5 {
        return erfcinv(1.0 - y.abs()).copysign(y);
    }
    // An approximation with an error below 0.01, and steps of Halley's method.
    let log = (-y * y).ln_1p();
    let middle = 2.0 / (PI * 0.147) + log / 2.0;
    let mut x = ((middle * middle - log / 0.147).sqrt() - middle).max(0.0).sqrt().copysign(y);
    for _ in 0..4 {
        let error = (libm::erf(x) - y) / (2.0 / PI.sqrt() * (-x * x).exp());
        x -= error / (1.0 + x * error);
    }
    x
}

/// The inverse of the complementary error function.
pub(crate) fn erfcinv(y: f64) -> f64 {
    if y.is_nan() || !(0.0..=2.0).contains(&y) {
        return f64::NAN;
    }
    if y == 0.0 || y == 2.0 {
        return if y == 0.0 { f64::INFINITY } else { f64::NEG_INFINITY };
    }
    if y > 1.0 {
        return -erfcinv(2.0 - y);
    }
    if y >= 0.5 {
        return erfinv(1.0 - y);
    }
    // Newton's method on the logarithm, which is nearly a parabola.
    let mut x = (-(y * PI.sqrt()).ln()).max(0.1).sqrt();
    for _ in 0..30 {
        let value = libm::erfc(x);
        if value == 0.0 {
            x *= 0.9;
            continue;
        }
        let slope = -2.0 / PI.sqrt() * (-x * x).exp() / value;
        let step = (value.ln() - y.ln()) / slope;
        x -= step;
        if step.abs() < 1e-15 * x.abs() {
            break;
        }
    }
    x
}

/// The inverse of the normal distribution.
pub(crate) fn ndtri(p: f64) -> f64 {
    -SQRT_2 * erfcinv(2.0 * p)
}

/// Dawson's integral, by Rybicki's sum.
pub(crate) fn dawsn(x: f64) -> f64 {
    if x.abs() < 0.2 {
        let square = x * x;
        return x
            * (1.0
                - 2.0 / 3.0
                    * square
                    * (1.0 - 0.4 * square * (1.0 - 2.0 / 7.0 * square * (1.0 - 2.0 / 9.0 * square))));
    }
    if !x.is_finite() {
        return if x.is_nan() { x } else { 0.0f64.copysign(x) };
    }
    const STEP: f64 = 0.2;
    let size = x.abs();
    let middle = 2.0 * (0.5 * size / STEP).round();
    let rest = size - middle * STEP;
    let sum: f64 = (0..40)
        .flat_map(|k| [f64::from(2 * k + 1), -f64::from(2 * k + 1)])
        .map(|odd| (-(rest - odd * STEP).powi(2)).exp() / (odd + middle))
        .sum();
    (sum / PI.sqrt()).copysign(x) * if sum < 0.0 { -1.0 } else { 1.0 }
}

/// The exponential integral Ei.
pub(crate) fn expint(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x == 0.0 {
        return f64::NEG_INFINITY;
    }
    if x < -1.0 {
        // Lentz's continued fraction of E1.
        let z = -x;
        let mut b = z + 1.0;
        let (mut c, mut d) = (1e300, 1.0 / b);
        let mut h = d;
        for i in 1..MAX_STEPS {
            let a = -((i * i) as f64);
            b += 2.0;
            d = 1.0 / (a * d + b);
            c = b + a / c;
            h *= c * d;
            if (c * d - 1.0).abs() < f64::EPSILON {
                break;
            }
        }
        return -h * (-z).exp();
    }
    if x > 40.0 {
        let (mut sum, mut term) = (1.0, 1.0);
        for k in 1..MAX_STEPS {
            let next = term * k as f64 / x;
            if next > term || next < f64::EPSILON {
                break;
            }
            term = next;
            sum += term;
        }
        return x.exp() / x * sum;
    }
    let (mut sum, mut term) = (0.0, 1.0);
    for k in 1..MAX_STEPS {
        term *= x / k as f64;
        sum += term / k as f64;
        if term.abs() < f64::EPSILON * 1e-2 * f64::abs(sum) {
            break;
        }
    }
    EULER + x.abs().ln() + sum
}

/// Fresnel's integrals: that of the cosine and that of the sine.
pub(crate) fn fresnel(x: f64) -> (f64, f64) {
    let size = x.abs();
    if size.is_nan() {
        return (x, x);
    }
    let (cosine, sine) = if size > 1e7 {
        (0.5, 0.5)
    } else if size < 1.5 {
        let square = FRAC_PI_2 * size * size;
        let (mut term, mut sums) = (size, [0.0, 0.0]);
        for k in 0..100 {
            let sign = if k / 2 % 2 == 0 { 1.0 } else { -1.0 };
            sums[k % 2] += sign * term / (2 * k + 1) as f64;
            term *= square / (k + 1) as f64;
            if term < 1e-18 * size {
                break;
            }
        }
        (sums[0], sums[1])
    } else {
        fresnel_fraction(size)
    };
    (cosine.copysign(x), sine.copysign(x))
}

/// Fresnel's integrals by a continued fraction of complex numbers.
fn fresnel_fraction(size: f64) -> (f64, f64) {
    type Pair = (f64, f64);
    let times = |a: Pair, b: Pair| (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0);
    let over = |a: f64, b: Pair| {
        let norm = b.0 * b.0 + b.1 * b.1;
        (a * b.0 / norm, -a * b.1 / norm)
    };
    let square = PI * size * size;
    let mut b = (1.0, -square);
    let mut c = (1e300, 0.0);
    let mut d = over(1.0, b);
    let mut h = d;
    let mut n = -1.0;
    for _ in 0..MAX_STEPS {
        n += 2.0;
        let a = -n * (n + 1.0);
        b.0 += 4.0;
        d = over(1.0, (a * d.0 + b.0, a * d.1 + b.1));
        let part = over(a, c);
        c = (b.0 + part.0, b.1 + part.1);
        let change = times(c, d);
        h = times(h, change);
        if (change.0 - 1.0).abs() + change.1.abs() < f64::EPSILON {
            break;
        }
    }
    h = times((size, -size), h);
    let turned = times(((0.5 * square).cos(), (0.5 * square).sin()), h);
    let whole = times((0.5, 0.5), (1.0 - turned.0, -turned.1));
    (whole.0, whole.1)
}

/// Spence's integral: the dilogarithm of `1 - x`.
pub(crate) fn spence(x: f64) -> f64 {
    if x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    let sixth = PI * PI / 6.0;
    let series = |z: f64| {
        let (mut power, mut sum) = (1.0, 0.0);
        for k in 1..200 {
            power *= z;
            let term = power / (k * k) as f64;
            sum += term;
            if term.abs() < f64::EPSILON * 1e-2 {
                break;
            }
        }
        sum
    };
    match x {
        0.0 => sixth,
        x if x < 0.5 => sixth - x.ln() * (-x).ln_1p() - series(x),
        x if x <= 1.5 => series(1.0 - x),
        x => -0.5 * x.ln().powi(2) - series(1.0 - 1.0 / x),
    }
}
