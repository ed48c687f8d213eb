//! Softmax, its logarithm, and the greatest element, along any dimension.

use tfrt_compute::run;
use tfrt_host::Diagnostic;
use tfrt_math::{Float, LogSoftmax, Softmax, softmax_columns};
use tfrt_tensor::{Accessor, Element, HostTensor};

use super::arguments::int_or;
use crate::ops::support::{Computed, Described, axis_of, compute, one, product, with_float};
use crate::ops::types;
use crate::{CpuCall, MetadataCall, OpAttrs, OpRegistry, OpResult, attr};

static ME: Accessor = Accessor::new("onnx softmax");

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Softmax,
    Log,
    Hard,
}

/// The extents before, along and after the dimension.
pub(in crate::ops) fn extents(attrs: &OpAttrs, dims: &[usize]) -> Result<[usize; 3], Diagnostic> {
    if dims.is_empty() {
        return Ok([1; 3]);
    }
    let axis = axis_of(int_or(attrs, "axis", -1)?, dims.len(), "axis")?;
    Ok([product(&dims[..axis]), dims[axis], product(&dims[axis + 1..])])
}

fn metadata(call: MetadataCall<'_>) -> Described {
    let [x] = call.take()?;
    extents(call.attrs, x.shape.dims())?;
    one(x.clone())
}

fn softmax<T: Element + Float>(call: &CpuCall<'_>, kind: Kind) -> Computed {
    let ([x], out) = (call.dense()?, call.allocate_unset(0)?);
    let [outer, count, inner] = extents(call.attrs, x.shape().dims())?;
    if out.num_elements() == 0 {
        return Ok(out.into());
    }
    if inner == 1 && kind != Kind::Hard {
        let result = HostTensor::from(out.clone());
        let operands = (x.read_owned::<T>(&ME)?, out.write_owned::<T>(&ME)?);
        return match kind {
            Kind::Log => run(call.cx, LogSoftmax::new(outer, count), operands, |x| x, |out| out, result),
            _ => run(call.cx, Softmax::new(outer, count), operands, |x| x, |out| out, result),
        }
        .map(OpResult::from);
    }
    let (x, unit) = (x.read_owned::<T>(&ME)?, count * inner);
    compute(call, &ME, out, (outer, unit, 16 * unit), move |range, out: &mut [T]| {
        for (index, out) in range.zip(out.chunks_exact_mut(unit)) {
            let x = &x[index * unit..][..unit];
            match kind {
                Kind::Hard => (0..inner).for_each(|column| hard(x, out, (column, inner))),
                _ => softmax_columns(out, x, inner, kind == Kind::Log),
            }
        }
        Ok(())
    })
}

/// Marks the first of the greatest elements of one column of a matrix whose rows have `inner`
/// elements.
fn hard<T: Float>(x: &[T], out: &mut [T], (column, inner): (usize, usize)) {
    let elements = || x[column..].iter().step_by(inner).map(|x| x.to_f64());
    let greatest = elements().fold(f64::NEG_INFINITY, f64::max);
    let mut is_found = false;
    for (out, x) in out[column..].iter_mut().step_by(inner).zip(elements()) {
        let is_first = x == greatest && !is_found;
        is_found |= is_first;
        *out = if is_first { T::ONE } else { T::ZERO };
    }
}

pub(super) fn register(ops: &mut OpRegistry) {
    macro_rules! kinds {
        ($($name:literal => $kind:ident;)*) => {$(
            ops.add($name).types(types::FLOATS).attrs([attr::int_or("axis", -1)]).metadata(metadata).cpu(|call| {
                with_float!(call.result(0)?.dtype, $name, |T| softmax::<T>(&call, Kind::$kind))
            });
        )*};
    }
    kinds! {
        "onnx.Softmax" => Softmax;
        "onnx.LogSoftmax" => Log;
        "onnx.Hardmax" => Hard;
    }
}
