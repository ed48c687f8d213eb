//! Modified Bessel functions of orders 0 and 1. Those times an exponential do not overflow.

use std::f64::consts::PI;

/// The asymptotic series of `sqrt(2πx) e^-x I(x)` (with `sign` -1) or `sqrt(2x / π) e^x K(x)` (with
/// 1) for large arguments.
fn asymptotic(order: f64, x: f64, sign: f64) -> f64 {
    let (mut term, mut sum) = (1.0f64, 1.0f64);
    for k in 1..30 {
        let k = f64::from(k);
        let next = term * sign * (4.0 * order * order - (2.0 * k - 1.0).powi(2)) / (8.0 * k * x);
        if next.abs() > term.abs() || next.abs() < f64::EPSILON {
            break;
        }
        term = next;
        sum += term;
    }
    sum
}

/// `e^-|x| I(x)` of order 0 or 1.
fn i_scaled(order: i32, x: f64) -> f64 {
    let size = x.abs();
    let value = if size.is_nan() {
        size
    } else if size < 2.0 {
        let square = size * size / 4.0;
        let (mut term, mut sum) = (1.0, 1.0);
        for k in 1..40 {
            term *= square / (f64::from(k) * f64::from(k + order));
            sum += term;
        }
        (if order == 1 { size / 2.0 * sum } else { sum }) * (-size).exp()
    } else if size > 500.0 {
        asymptotic(order.into(), size, -1.0) / (2.0 * PI * size).sqrt()
    } else {
        // The mean over a circle, which equidistant points give to full precision.
        const POINTS: i32 = 256;
        let angle = |k: i32| 2.0 * PI * f64::from(k) / f64::from(POINTS);
        let at = |k: i32| (size * (angle(k).cos() - 1.0)).exp() * (f64::from(order) * angle(k)).cos();
        (0..POINTS).map(at).sum::<f64>() / f64::from(POINTS)
    };
    if order == 1 && x < 0.0 { -value } else { value }
}

/// `e^x K(x)` of order 0 or 1, by the trapezoidal rule, which is exact but for rounding for this
/// integrand.
fn k_scaled(order: i32, x: f64) -> f64 {
    if x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    if x == 0.0 {
        return f64::INFINITY;
    }
    if x > 500.0 {
        return asymptotic(order.into(), x, 1.0) * (PI / (2.0 * x)).sqrt();
    }
    const STEP: f64 = 1.0 / 32.0;
    let mut sum = 0.5;
    for k in 1..100_000 {
        let t = STEP * f64::from(k);
        let term = (-x * (t.cosh() - 1.0)).exp() * (f64::from(order) * t).cosh();
        sum += term;
        if term < sum * 1e-18 {
            break;
        }
    }
    sum * STEP
}

pub(crate) fn i0e(x: f64) -> f64 {
    i_scaled(0, x)
}

pub(crate) fn i1e(x: f64) -> f64 {
    i_scaled(1, x)
}

pub(crate) fn i0(x: f64) -> f64 {
    i_scaled(0, x) * x.abs().exp()
}

pub(crate) fn i1(x: f64) -> f64 {
    i_scaled(1, x) * x.abs().exp()
}

pub(crate) fn k0e(x: f64) -> f64 {
    k_scaled(0, x)
}

pub(crate) fn k1e(x: f64) -> f64 {
    k_scaled(1, x)
}

pub(crate) fn k0(x: f64) -> f64 {
    k_scaled(0, x) * (-x).exp()
}

pub(crate) fn k1(x: f64) -> f64 {
    k_scaled(1, x) * (-x).exp()
}
