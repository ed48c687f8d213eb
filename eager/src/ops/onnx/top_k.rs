//! `onnx.TopK`: the greatest or least elements along a dimension.

use tfrt_host::DType;
use tfrt_math::Number;
use tfrt_tensor::{Accessor, Element, HostTensor};

use super::arguments::{flag, int_or};
use super::two::compute_two;
use crate::ops::ranking::Ranking;
use crate::ops::support::{Computed, allocate, axis_of, integer_within, invalid, product, with_number};
use crate::ops::types;
use crate::{CpuCall, OpRegistry, attr};

static ME: Accessor = Accessor::new("onnx.TopK");

fn top_k<T: Element + Number>(call: &CpuCall<'_>) -> Computed {
    let [x, k] = call.dense()?;
    let k = integer_within(&HostTensor::from(k.clone()), "K", 1)?;
    let axis = axis_of(int_or(call.attrs, "axis", -1)?, x.shape().rank(), "axis")?;
    let (is_largest, is_sorted) = (flag(call.attrs, "largest", true)?, flag(call.attrs, "sorted", true)?);
    let mut dims = x.shape().dims().to_vec();
    let (outer, count, inner) = (product(&dims[..axis]), dims[axis], product(&dims[axis + 1..]));
    let k = usize::try_from(k)
        .ok()
        .filter(|&k| k <= count)
        .ok_or_else(|| invalid(format!("K must be in the range [0, {count}], got {k}")))?;
    dims[axis] = k;
    let outputs = (allocate(call, T::DTYPE, &dims)?, allocate(call, DType::I64, &dims)?);
    if outputs.0.num_elements() == 0 {
        return Ok(super::two::results([outputs.0, outputs.1]));
    }
    let (x, unit, from) = (x.read_owned::<T>(&ME)?, k * inner, count * inner);
    compute_two(
        call,
        &ME,
        outputs,
        (outer, [unit; 2], 16 * from),
        move |range, values: &mut [T], places: &mut [i64]| {
            let mut ranking = Ranking::default();
            let outputs = values.chunks_exact_mut(unit).zip(places.chunks_exact_mut(unit));
            for (index, (values, places)) in range.zip(outputs) {
                let x = &x[index * from..][..from];
                for column in 0..inner {
                    let at = |i: usize| x[i * inner + column];
                    // NaN is the greatest.
                    let key = |i: usize| at(i).order_key() ^ if is_largest { u64::MAX } else { 0 };
                    let order = ranking.first((0..count).map(key), k, is_sorted);
                    for (step, i) in order.enumerate() {
                        (values[step * inner + column], places[step * inner + column]) = (at(i), i as i64);
                    }
                }
            }
            Ok(())
        },
    )
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("onnx.TopK")
        .types(types::NUMBERS)
        .attrs([attr::int_or("axis", -1), attr::int_or("largest", 1), attr::int_or("sorted", 1)])
        .cpu(|call| {
            let dtype = call.arguments.first().map_or(DType::F32, |tensor| tensor.dtype());
            with_number!(dtype, "onnx.TopK", |T| top_k::<T>(&call))
        });
}
