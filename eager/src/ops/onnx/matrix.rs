//! `onnx.Det`: determinants of square matrices.

use tfrt_host::Diagnostic;
use tfrt_math::Float;
use tfrt_tensor::{Accessor, Element, TensorMetadata, TensorShape};

use crate::ops::support::{Computed, Described, compute, invalid, one, with_float};
use crate::ops::types;
use crate::{CpuCall, MetadataCall, OpRegistry};

static ME: Accessor = Accessor::new("onnx.Det");

/// The shape before the matrices, and their extent.
fn extents(shape: &TensorShape) -> Result<(&[usize], usize), Diagnostic> {
    match shape.dims() {
        [outer @ .., rows, columns] if rows == columns => Ok((outer, *rows)),
        _ => Err(invalid(format!("the matrices must be square, got shape {shape}"))),
    }
}

fn metadata(call: MetadataCall<'_>) -> Described {
    let [x] = call.take()?;
    one(TensorMetadata::new(x.dtype, TensorShape::new(extents(&x.shape)?.0)?))
}

/// The determinant of an `n` × `n` matrix, by elimination with pivots.
fn determinant(matrix: &mut [f64], n: usize) -> f64 {
    let mut product = 1.0;
    for step in 0..n {
        let size = |row: usize, matrix: &[f64]| matrix[row * n + step].abs();
        let pivot = (step..n).max_by(|&a, &b| size(a, matrix).total_cmp(&size(b, matrix))).unwrap_or(step);
        if pivot != step {
            (0..n).for_each(|column| matrix.swap(pivot * n + column, step * n + column));
            product = -product;
        }
        let head = matrix[step * n + step];
        product *= head;
        if head == 0.0 {
            return 0.0;
        }
        for row in step + 1..n {
            let factor = matrix[row * n + step] / head;
            (step..n).for_each(|column| matrix[row * n + column] -= factor * matrix[step * n + column]);
        }
    }
    product
}

fn det<T: Element + Float>(call: &CpuCall<'_>) -> Computed {
    let ([x], out) = (call.dense()?, call.allocate_unset(0)?);
    let (_, n) = extents(x.shape())?;
    let (count, x) = (out.num_elements(), x.read_owned::<T>(&ME)?);
    compute(call, &ME, out, (count, 1, n.saturating_pow(3)), move |range, out: &mut [T]| {
        for (index, out) in range.zip(out) {
            let mut matrix: Vec<f64> = x[index * n * n..][..n * n].iter().map(|x| x.to_f64()).collect();
            *out = T::from_f64(determinant(&mut matrix, n));
        }
        Ok(())
    })
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("onnx.Det")
        .types(types::FLOATS)
        .metadata(metadata)
        .cpu(|call| with_float!(call.result(0)?.dtype, "onnx.Det", |T| det::<T>(&call)));
}
