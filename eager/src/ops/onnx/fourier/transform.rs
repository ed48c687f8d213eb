//! The discrete Fourier transform of one signal: by halving for powers of two, and as a convolution
//! with such a length for others.

use std::f64::consts::PI;

use tfrt_host::Diagnostic;

use crate::ops::support::{invalid, room_for};

/// The real and the imaginary part.
pub(in crate::ops) type Complex = [f64; 2];

fn times([a, b]: Complex, [c, d]: Complex) -> Complex {
    [a * c - b * d, a * d + b * c]
}

/// Returns `e` to the power of `i` times an angle.
fn turn(angle: f64) -> Complex {
    let (sin, cos) = angle.sin_cos();
    [cos, sin]
}

/// A transform of signals of one length.
pub(in crate::ops) struct Transform {
    length: usize,
    is_inverse: bool,
    /// The factors of the transform with a power of two.
    factors: Vec<Complex>,
    chirp: Option<Chirp>,
}

/// The factors for other lengths.
struct Chirp {
    /// The factors that samples and frequencies are multiplied by.
    factors: Vec<Complex>,
    /// The transform of the convolution's kernel.
    kernel: Vec<Complex>,
}

impl Transform {
    /// Plans transforms of signals with `length` samples.
    ///
    /// # Errors
    /// InvalidArgument or OutOfMemory if it is too long.
    pub(in crate::ops) fn new(length: usize, is_inverse: bool) -> Result<Self, Diagnostic> {
        let too_long = || invalid(format!("a transform of {length} samples is too long"));
        if length.is_power_of_two() {
            return Ok(Self { length, is_inverse, factors: factors(length)?, chirp: None });
        }
        let padded = length.checked_mul(2).and_then(usize::checked_next_power_of_two).ok_or_else(too_long)?;
        let all = factors(padded)?;
        let mut chirp = room_for(length)?;
        // The square of a position only matters modulo twice the length.
        let angle = |i: usize| (i as u128 * i as u128 % (2 * length as u128)) as f64 * PI / length as f64;
        chirp.extend((0..length).map(|i| turn(-angle(i))));
        let mut kernel = room_for(padded)?;
        kernel.resize(padded, [0.0; 2]);
        for (i, &[re, im]) in chirp.iter().enumerate() {
            kernel[i] = [re, -im];
            kernel[(padded - i) % padded] = [re, -im];
        }
        by_halves(&mut kernel, &all);
        Ok(Self { length, is_inverse, factors: all, chirp: Some(Chirp { factors: chirp, kernel }) })
    }

    /// Transforms a signal of the planned length. The inverse divides by the length.
    pub(in crate::ops) fn run(&self, signal: &mut Vec<Complex>) {
        if self.is_inverse {
            signal.iter_mut().for_each(|x| x[1] = -x[1]);
        }
        match &self.chirp {
            None => by_halves(signal, &self.factors),
            Some(chirp) => self.convolve(chirp, signal),
        }
        if self.is_inverse {
            let factor = 1.0 / self.length as f64;
            signal.iter_mut().for_each(|x| *x = [x[0] * factor, -x[1] * factor]);
        }
    }

    fn convolve(&self, chirp: &Chirp, signal: &mut Vec<Complex>) {
        let padded = chirp.kernel.len();
        signal.iter_mut().zip(&chirp.factors).for_each(|(x, &factor)| *x = times(*x, factor));
        signal.resize(padded, [0.0; 2]);
        by_halves(signal, &self.factors);
        // The inverse transform is the transform of conjugates.
        for (x, &kernel) in signal.iter_mut().zip(&chirp.kernel) {
            let [re, im] = times(*x, kernel);
            *x = [re, -im];
        }
        by_halves(signal, &self.factors);
        signal.truncate(self.length);
        for (x, &factor) in signal.iter_mut().zip(&chirp.factors) {
            let [re, im] = times([x[0], -x[1]], factor);
            *x = [re / padded as f64, im / padded as f64];
        }
    }
}

/// Returns the factors of a transform with a power of two.
fn factors(length: usize) -> Result<Vec<Complex>, Diagnostic> {
    let mut factors = room_for(length / 2)?;
    factors.extend((0..length / 2).map(|i| turn(-2.0 * PI * i as f64 / length as f64)));
    Ok(factors)
}

/// Transforms a signal whose length is a power of two.
fn by_halves(signal: &mut [Complex], factors: &[Complex]) {
    let length = signal.len();
    if length < 2 {
        return;
    }
    let bits = length.trailing_zeros();
    for i in 0..length {
        let j = i.reverse_bits() >> (usize::BITS - bits);
        if i < j {
            signal.swap(i, j);
        }
    }
    let mut half = 1;
    while half < length {
        let step = length / (2 * half);
        for block in signal.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            for ((low, high), &factor) in low.iter_mut().zip(high).zip(factors.iter().step_by(step)) {
                let (a, b) = (*low, times(*high, factor));
                *low = [a[0] + b[0], a[1] + b[1]];
                *high = [a[0] - b[0], a[1] - b[1]];
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transforms_are_sums_of_turns_and_have_inverses() {
        for length in [1, 2, 3, 5, 8, 12, 17, 64, 100] {
            let signal: Vec<Complex> =
                (0..length).map(|i| [(i * i % 7) as f64 - 3.0, (i % 5) as f64]).collect();
            let mut found = signal.clone();
            Transform::new(length, false).unwrap().run(&mut found);
            for (k, found) in found.iter().enumerate() {
                let term =
                    |(i, &x): (usize, &Complex)| times(x, turn(-2.0 * PI * (i * k) as f64 / length as f64));
                let sum =
                    signal.iter().enumerate().map(term).fold([0.0; 2], |a, b| [a[0] + b[0], a[1] + b[1]]);
                assert!((found[0] - sum[0]).abs() + (found[1] - sum[1]).abs() < 1e-9, "{length} {k}");
            }
            Transform::new(length, true).unwrap().run(&mut found);
            let error = |(a, b): (&Complex, &Complex)| (a[0] - b[0]).abs() + (a[1] - b[1]).abs();
            assert!(found.iter().zip(&signal).all(|pair| error(pair) < 1e-10), "{length}");
        }
    }
}
