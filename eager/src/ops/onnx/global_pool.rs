//! Pooling of whole planes.

use tfrt_host::Diagnostic;
use tfrt_math::{Float, Number, ops};
use tfrt_tensor::{Accessor, Element, TensorMetadata, TensorShape};

use super::pool::{float_attr_or_int, powered, root};
use crate::ops::support::{Computed, Described, compute, invalid, one, product, with_float};
use crate::ops::types;
use crate::{CpuCall, MetadataCall, OpRegistry, attr};

static ME: Accessor = Accessor::new("onnx global pooling");

fn metadata(call: MetadataCall<'_>) -> Described {
    let [x] = call.take()?;
    let mut dims = x.shape.dims().to_vec();
    if dims.len() < 2 {
        return Err(invalid(format!("the input must have at least 2 dimensions, got shape {}", x.shape)));
    }
    dims[2..].fill(1);
    one(TensorMetadata::new(x.dtype, TensorShape::new(&dims)?))
}

/// Computes one number of each plane.
fn by_plane<T: Element + Number>(
    call: &CpuCall<'_>,
    f: impl Fn(&[T]) -> T + Send + Sync + 'static,
) -> Computed {
    let ([x], out) = (call.dense()?, call.allocate_unset(0)?);
    let plane = product(&x.shape().dims()[2..]);
    let x = x.read_owned::<T>(&ME)?;
    compute(
        call,
        &ME,
        out,
        (call.result(0)?.shape.num_elements()?, 1, plane),
        move |planes, out: &mut [T]| {
            for (index, out) in planes.zip(out) {
                *out = f(&x[index * plane..][..plane]);
            }
            Ok(())
        },
    )
}

fn average<T: Element + Float>(call: &CpuCall<'_>) -> Result<crate::OpResult, Diagnostic> {
    by_plane::<T>(call, |x| {
        let sum = x.iter().fold(<T::Acc>::default(), |sum, &x| sum.plus(x.to_acc()));
        T::from_acc(sum.over(<T::Acc as Number>::from_count(x.len())))
    })
}

fn maximum<T: Element + Number>(call: &CpuCall<'_>) -> Computed {
    by_plane::<T>(call, |x| x.iter().fold(T::LOWEST, |greatest, &x| ops::maximum(greatest, x)))
}

fn lp<T: Element + Float>(call: &CpuCall<'_>) -> Computed {
    let power = float_attr_or_int(call.attrs, "p", 2.0)?;
    by_plane::<T>(call, move |x| {
        T::from_f64(root(x.iter().map(|&x| powered(x.to_f64(), power)).sum(), power))
    })
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("onnx.GlobalAveragePool")
        .types(types::FLOATS)
        .metadata(metadata)
        .cpu(|call| with_float!(call.result(0)?.dtype, "onnx.GlobalAveragePool", |T| average::<T>(&call)));
    ops.add("onnx.GlobalMaxPool")
        .types(types::FLOATS)
        .metadata(metadata)
        .cpu(|call| with_float!(call.result(0)?.dtype, "onnx.GlobalMaxPool", |T| maximum::<T>(&call)));
    ops.add("onnx.GlobalLpPool")
        .types(types::FLOATS)
        .attrs([attr::int_or("p", 2)])
        .metadata(metadata)
        .cpu(|call| with_float!(call.result(0)?.dtype, "onnx.GlobalLpPool", |T| lp::<T>(&call)));
}
