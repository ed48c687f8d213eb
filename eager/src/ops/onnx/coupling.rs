//! `onnx.CouplePairs`: probabilities of classes from those of each pair of classes, as support
//! vector machines estimate them.
//!
//! The method is the second one of Wu, Lin and Weng, "Probability Estimates for Multi-class
//! Classification by Pairwise Coupling" (2004), which LIBSVM uses, with its bounds on iterations
//! and accuracy.

use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::{Accessor, TensorMetadata, TensorShape};

use crate::ops::support::{Computed, Described, compute, int_attr, invalid, one};
use crate::{CpuCall, MetadataCall, OpAttrs, OpRegistry, attr};

static ME: Accessor = Accessor::new("onnx.CouplePairs");

fn class_count(attrs: &OpAttrs) -> Result<usize, Diagnostic> {
    let count = int_attr(attrs, "class_count")?.unwrap_or(0);
    usize::try_from(count).ok().filter(|count| (2..=MAX_CLASSES).contains(count)).ok_or_else(|| {
        invalid(format!("attribute 'class_count' must be between 2 and {MAX_CLASSES}, got {count}"))
    })
}

/// The pairs of more classes would fill memory.
const MAX_CLASSES: usize = 1 << 15;

fn metadata(call: MetadataCall<'_>) -> Described {
    let [pairs] = call.take()?;
    let count = class_count(call.attrs)?;
    match pairs.shape.dims() {
        &[rows, columns] if columns == count * (count - 1) / 2 => {
            one(TensorMetadata::new(pairs.dtype, TensorShape::new(&[rows, count])?))
        }
        _ => Err(invalid(format!("pairs of shape {} do not fit {count} classes", pairs.shape))),
    }
}

/// Solves for the probabilities `p` of `k` classes. `of_pair` has that of class `i` against `j` for
/// each `i < j`, in order.
fn couple(of_pair: &[f32], p: &mut [f32]) {
    let k = p.len();
    let mut against = vec![0.0f64; k * k];
    let mut pairs = of_pair.iter();
    for i in 0..k {
        for j in i + 1..k {
            let probability = f64::from(pairs.next().copied().unwrap_or(0.5));
            (against[i * k + j], against[j * k + i]) = (probability, 1.0 - probability);
        }
    }
    let mut q = vec![0.0; k * k];
    for i in 0..k {
        for j in (0..k).filter(|&j| j != i) {
            q[i * k + i] += against[j * k + i] * against[j * k + i];
            q[i * k + j] = -against[j * k + i] * against[i * k + j];
        }
    }
    let mut solution = vec![1.0 / k as f64; k];
    let tolerance = 0.005 / k as f64;
    for _ in 0..k.max(100) {
        let mut products: Vec<f64> =
            q.chunks_exact(k).map(|row| row.iter().zip(&solution).map(|(q, p)| q * p).sum()).collect();
        let mut whole: f64 = products.iter().zip(&solution).map(|(product, p)| product * p).sum();
        if products.iter().all(|product| (product - whole).abs() < tolerance) {
            break;
        }
        for i in 0..k {
            let step = (whole - products[i]) / q[i * k + i];
            solution[i] += step;
            whole = (whole + step * (step * q[i * k + i] + 2.0 * products[i])) / (1.0 + step) / (1.0 + step);
            for j in 0..k {
                products[j] = (products[j] + step * q[i * k + j]) / (1.0 + step);
                solution[j] /= 1.0 + step;
            }
        }
    }
    p.iter_mut().zip(&solution).for_each(|(p, &solved)| *p = solved as f32);
}

fn couple_pairs(call: &CpuCall<'_>) -> Computed {
    let ([pairs], out, count) = (call.dense()?, call.allocate_unset(0)?, class_count(call.attrs)?);
    let rows = pairs.shape().dims().first().copied().unwrap_or(0);
    let (pairs, width) = (pairs.read_owned::<f32>(&ME)?, count * (count - 1) / 2);
    let cost = count.saturating_pow(2).saturating_mul(64);
    compute(call, &ME, out, (rows, count, cost), move |range, out: &mut [f32]| {
        for (row, out) in range.zip(out.chunks_exact_mut(count)) {
            couple(&pairs[row * width..][..width], out);
        }
        Ok(())
    })
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("onnx.CouplePairs")
        .types(&[DType::F32])
        .attrs([attr::int("class_count")])
        .metadata(metadata)
        .cpu(|call| couple_pairs(&call));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_classes_have_the_probabilities_of_their_pair() {
        let mut p = [0.0; 2];
        couple(&[0.8], &mut p);
        assert!((p[0] - 0.8).abs() < 0.01 && (p[1] - 0.2).abs() < 0.01, "{p:?}");
    }

    #[test]
    fn probabilities_sum_to_one() {
        let mut p = [0.0; 3];
        couple(&[0.9, 0.6, 0.2], &mut p);
        assert!((p.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{p:?}");
        assert!(p[0] > p[1] && p[2] > p[1], "{p:?}");
    }
}
