//! What one list has that another lacks: `tf.ListDiff`.

use std::collections::HashSet;

use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::{Accessor, Element, HostTensor, with_element};

use super::pick::pick;
use super::plain::{results, tensor};
use super::support::{Computed, invalid, take, unsupported};
use super::types;
use crate::{CpuCall, Forms, OpRegistry, ResultType, attr};

static ME: Accessor = Accessor::new("tf.ListDiff");

/// The places of the elements of the first list that are not in the second.
fn places(x: &HostTensor, y: &HostTensor) -> Result<Vec<usize>, Diagnostic> {
    fn of<T: Element>(x: &HostTensor, y: &HostTensor) -> Result<Vec<usize>, Diagnostic> {
        let (x, y) = (x.dense()?.read::<T>(&ME)?, y.dense()?.read::<T>(&ME)?);
        let known: HashSet<&[u8]> = y.iter().map(bytemuck::bytes_of).collect();
        Ok((0..x.len()).filter(|&place| !known.contains(bytemuck::bytes_of(&x[place]))).collect())
    }
    match (x, y) {
        (HostTensor::String(x), HostTensor::String(y)) => {
            let known: HashSet<_> = y.strings().iter().collect();
            Ok((0..x.strings().len()).filter(|&place| !known.contains(&x.strings()[place])).collect())
        }
        (x, y) if x.dtype() == y.dtype() => {
            with_element!(x.dtype(), |T| of::<T>(x, y), else Err(unsupported("tf.ListDiff", x.dtype())))
        }
        (x, y) => Err(invalid(format!("x and y must have one type, got {} and {}", x.dtype(), y.dtype()))),
    }
}

fn difference(call: &CpuCall<'_>) -> Computed {
    let [x, y] = take(call)?;
    if x.shape().rank() != 1 || y.shape().rank() != 1 {
        return Err(invalid(format!("x and y must be vectors, got shapes {} and {}", x.shape(), y.shape())));
    }
    let places = places(x, y)?;
    let numbers = numbers(call, &places)?;
    let count = [places.len()];
    let mut kept = pick(call, x, places, 1, &count)?;
    kept.tensors.extend(results([numbers]).tensors);
    Ok(kept)
}

/// Numbers of the type that an attribute names.
fn numbers(call: &CpuCall<'_>, numbers: &[usize]) -> Result<HostTensor, Diagnostic> {
    let count = [numbers.len()];
    match call.attrs.optional::<DType>("out_idx")?.unwrap_or(DType::I32) {
        DType::I64 => tensor(call, &count, &numbers.iter().map(|&number| number as i64).collect::<Vec<_>>()),
        _ => tensor(call, &count, &numbers.iter().map(|&number| number as i32).collect::<Vec<_>>()),
    }
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.ListDiff")
        .types(types::ANY)
        .attrs([attr::dtype_or("out_idx", DType::I32)])
        .results([ResultType::like(0).rank(1), ResultType::named("out_idx").rank(1)])
        .cpu(|call| difference(&call))
        .forms(Forms::STRING);
}
