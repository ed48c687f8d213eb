//! Layer normalization of one row in single precision.

use crate::ShapeError;
use crate::error::check_len;
use crate::simd::{Loop, run_wide};

/// The number of partial sums: enough for the additions of a sum not to wait for each other.
const LANES: usize = 32;

/// Writes `(x - mean) / √(variance + epsilon) · scale + bias` for a row, with its mean and its
/// population variance. Nothing is added without a bias.
///
/// # Errors
/// Length errors if the row, the scale, the bias and the output differ in length.
pub fn normalize_row(
    out: &mut [f32],
    x: &[f32],
    scale: &[f32],
    bias: Option<&[f32]>,
    epsilon: f32,
) -> Result<(), ShapeError> {
    check_len("output row", x.len(), out.len())?;
    check_len("scale", x.len(), scale.len())?;
    check_len("bias", x.len(), bias.map_or(x.len(), <[f32]>::len))?;
    run_wide(Row { out, x, scale, bias, epsilon });
    Ok(())
}

struct Row<'a> {
    out: &'a mut [f32],
    x: &'a [f32],
    scale: &'a [f32],
    bias: Option<&'a [f32]>,
    epsilon: f32,
}

impl Loop for Row<'_> {
    #[inline(always)]
    fn run(self) {
        let count = self.x.len() as f32;
        let [sum, _] = sums(self.x, |x| [x, 0.0]);
        let rough = sum / count;
        // The differences from a mean that is rounded have a small mean themselves, which corrects
        // both results.
        let [shift, squares] =
            sums(self.x, |x| [x - rough, (x - rough) * (x - rough)]).map(|sum| sum / count);
        let (mean, variance) = (rough + shift, (squares - shift * shift).max(0.0));
        let factor = 1.0 / (variance + self.epsilon).sqrt();
        let elements = self.out.iter_mut().zip(self.x).zip(self.scale);
        match self.bias {
            Some(bias) => {
                elements.zip(bias).for_each(|(((o, x), s), b)| *o = (x - mean) * factor * s + b);
            }
            None => elements.for_each(|((o, x), s)| *o = (x - mean) * factor * s),
        }
    }
}

/// Returns two sums over a row, each of which is added in lanes.
#[inline(always)]
fn sums(x: &[f32], f: impl Fn(f32) -> [f32; 2]) -> [f32; 2] {
    let mut lanes = [[0.0f32; LANES]; 2];
    let chunks = x.chunks_exact(LANES);
    for (&x, lane) in chunks.remainder().iter().zip(0..) {
        let [a, b] = f(x);
        lanes[0][lane] = a;
        lanes[1][lane] = b;
    }
    for chunk in chunks {
        for (lane, &x) in chunk.iter().enumerate() {
            let [a, b] = f(x);
            lanes[0][lane] += a;
            lanes[1][lane] += b;
        }
    }
    lanes.map(|mut lanes| {
        let mut half = LANES / 2;
        while half > 0 {
            for lane in 0..half {
                lanes[lane] += lanes[lane + half];
            }
            half /= 2;
        }
        lanes[0]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_those_of_the_definition() {
        for len in [1usize, 2, 31, 32, 33, 100, 768] {
            for offset in [0.0, 1000.0] {
                let x: Vec<f32> = (0..len).map(|i| offset + ((i * 37) % 23) as f32 * 0.25).collect();
                let scale: Vec<f32> = (0..len).map(|i| 0.5 + (i % 7) as f32).collect();
                let bias: Vec<f32> = (0..len).map(|i| i as f32 - 3.0).collect();
                let mean = x.iter().map(|&x| f64::from(x)).sum::<f64>() / len as f64;
                let variance = x.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / len as f64;
                for bias in [None, Some(&bias[..])] {
                    let mut out = vec![f32::NAN; len];
                    normalize_row(&mut out, &x, &scale, bias, 1e-5).unwrap();
                    for (i, &out) in out.iter().enumerate() {
                        let scaled =
                            (f64::from(x[i]) - mean) / (variance + 1e-5).sqrt() * f64::from(scale[i]);
                        let expected = scaled + bias.map_or(0.0, |bias| f64::from(bias[i]));
                        let error = (f64::from(out) - expected).abs();
                        assert!(error < 2e-4 * expected.abs().max(1.0), "{len} {i}: {out}, not {expected}");
                    }
                }
            }
        }
    }

    #[test]
    fn empty_rows_and_wrong_lengths() {
        normalize_row(&mut [], &[], &[], None, 1.0).unwrap();
        assert!(normalize_row(&mut [0.0], &[], &[], None, 1.0).is_err());
        assert!(normalize_row(&mut [0.0], &[1.0], &[], None, 1.0).is_err());
        assert!(normalize_row(&mut [0.0], &[1.0], &[1.0], Some(&[]), 1.0).is_err());
        let mut out = [0.0; 2];
        normalize_row(&mut out, &[1.0, f32::NAN], &[1.0; 2], None, 1.0).unwrap();
        assert!(out.iter().all(|x| x.is_nan()));
    }
}
