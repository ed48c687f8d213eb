//! Along one dimension: where extremes are, the greatest elements, running sums and products.

use std::cmp::Ordering;

use smallvec::smallvec;
use tfrt_host::{AsyncValue, DType, Diagnostic};
use tfrt_math::{Number, ops};
use tfrt_tensor::{Accessor, Element, HostTensor};

use super::support::{
    Computed, Described, allocate, axis_of, compute, integer, invalid, one, product, take, with_number,
};
use crate::{CpuCall, Forms, MetadataCall, OpRegistry, OpResult};

static ME: Accessor = Accessor::new("tf op along a dimension");

/// The place of the extreme along a dimension, as an `I`. The first of equals wins; NaN never does.
fn extreme_of<T: Element + Number, I: Element>(
    call: &CpuCall<'_>,
    better: fn(T, T) -> bool,
    index: fn(usize) -> I,
) -> Computed {
    let [tensor, axis] = take(call)?;
    let (dense, rank) = (tensor.dense()?, tensor.shape().rank());
    let axis = axis_of(integer(axis, "dimension")?, rank, "dimension")?;
    let mut dims = dense.shape().dims().to_vec();
    let extent = dims.remove(axis);
    let out = allocate(call, I::DTYPE, &dims)?;
    if extent == 0 && out.num_elements() > 0 {
        return Err(invalid(format!("Reduction axis {axis} is empty in shape {}", dense.shape())));
    }
    let (x, inner) = (dense.read_owned::<T>(&ME)?, product(&dims[axis..]));
    compute(call, &ME, out, (product(&dims), 1, extent), move |range, out: &mut [I]| {
        for (place, out) in range.zip(out) {
            let start = place / inner * inner * extent + place % inner;
            let mut best: Option<(usize, T)> = None;
            for (i, &x) in x[start..].iter().step_by(inner).take(extent).enumerate() {
                if !x.is_nan() && best.is_none_or(|(_, greatest)| better(x, greatest)) {
                    best = Some((i, x));
                }
            }
            *out = index(best.map_or(0, |(i, _)| i));
        }
        Ok(())
    })
}

fn extreme(call: &CpuCall<'_>, name: &str, greatest: bool) -> Computed {
    let dtype = call.arguments.first().map_or(DType::F32, HostTensor::dtype);
    let index = call.attrs.optional::<DType>("output_type")?.unwrap_or(DType::I64);
    with_number!(dtype, name, |T| {
        let better: fn(T, T) -> bool = if greatest { |x, y| x > y } else { |x, y| x < y };
        match index {
            DType::I32 => extreme_of::<T, i32>(call, better, |i| i as i32),
            DType::I64 => extreme_of::<T, i64>(call, better, |i| i as i64),
            other => Err(invalid(format!("positions are of type i32 or i64, not {other}"))),
        }
    })
}

/// The greater comes first, and of equals the one that comes first; NaN comes last.
fn descending<T: Number>(x: T, y: T) -> Ordering {
    y.partial_cmp(&x).unwrap_or_else(|| x.is_nan().cmp(&y.is_nan()))
}

/// The `k` greatest of each row, and where they are.
fn top_k(call: CpuCall<'_>) -> Computed {
    let [tensor, k] = take(&call)?;
    let (dense, k) = (tensor.dense()?, integer(k, "k")?);
    let Some((&columns, outer)) = dense.shape().dims().split_last() else {
        return Err(invalid(format!("input must be >= 1-D, got shape {}", dense.shape())));
    };
    let k = usize::try_from(k).map_err(|_| invalid(format!("Need k >= 0, got {k}")))?;
    if k > columns {
        return Err(invalid(format!("input must have at least k columns. Had {columns}, needed {k}")));
    }
    let sorted = call.attrs.optional("sorted")?.unwrap_or(true);
    let dims = [outer, &[k]].concat();
    let (mut places, mut out) = (allocate(&call, DType::I32, &dims)?, allocate(&call, dense.dtype(), &dims)?);
    with_number!(dense.dtype(), "tf.TopKV2", |T| {
        let x = dense.read::<T>(&ME)?;
        let rows = x.chunks_exact(columns.max(1));
        let results = out.elements_mut::<T>()?.chunks_exact_mut(k.max(1));
        for ((row, values), places) in
            rows.zip(results).zip(places.elements_mut::<i32>()?.chunks_exact_mut(k.max(1)))
        {
            let mut order: Vec<usize> = (0..columns).collect();
            let compare = |&i: &usize, &j: &usize| descending(row[i], row[j]).then(i.cmp(&j));
            if k < columns {
                order.select_nth_unstable_by(k, compare);
                order.truncate(k);
            }
            if sorted {
                order.sort_unstable_by(compare);
            }
            for ((value, place), i) in values.iter_mut().zip(places).zip(order) {
                (*value, *place) = (row[i], i as i32);
            }
        }
        let tensors =
            smallvec![AsyncValue::new(HostTensor::from(out)), AsyncValue::new(HostTensor::from(places))];
        Ok(OpResult { tensors, done: None })
    })
}

fn scan_metadata(call: MetadataCall<'_>) -> Described {
    let [tensor, _] = call.take()?;
    one(tensor.clone())
}

/// Running results of `f` along a dimension, from `first` on.
fn scan<T: Element + Number>(call: &CpuCall<'_>, f: fn(T, T) -> T, first: T) -> Computed {
    let [tensor, axis] = take(call)?;
    let (dense, rank) = (tensor.dense()?, tensor.shape().rank());
    let axis = integer(axis, "axis")?;
    let axis = axis_of(axis, rank, "ScanOp").map_err(|_| {
        invalid(format!("ScanOp: Expected scan axis in the range [-{rank}, {rank}), but got {axis}"))
    })?;
    let flag = |name| Ok::<bool, Diagnostic>(call.attrs.optional(name)?.unwrap_or(false));
    let (exclusive, reverse) = (flag("exclusive")?, flag("reverse")?);
    let (extent, inner) = (dense.shape().dims()[axis], product(&dense.shape().dims()[axis + 1..]));
    let (slab, x, out) = (extent.saturating_mul(inner), dense.read_owned::<T>(&ME)?, call.allocate(0)?);
    let slabs = out.num_elements().checked_div(slab).unwrap_or(0);
    compute(call, &ME, out, (slabs, slab, slab), move |slabs, out: &mut [T]| {
        for (slab_number, out) in slabs.zip(out.chunks_exact_mut(slab.max(1))) {
            let x = &x[slab_number * slab..][..slab];
            let mut running = vec![first; inner];
            for i in 0..extent {
                let row = if reverse { extent - 1 - i } else { i };
                let (x, out) = (&x[row * inner..][..inner], &mut out[row * inner..][..inner]);
                for ((running, out), &x) in running.iter_mut().zip(out).zip(x) {
                    let before = *running;
                    *running = f(before, x);
                    *out = if exclusive { before } else { *running };
                }
            }
        }
        Ok(())
    })
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.ArgMax").cpu(|call| extreme(&call, "tf.ArgMax", true));
    ops.add("tf.ArgMin").cpu(|call| extreme(&call, "tf.ArgMin", false));
    ops.add("tf.TopKV2").cpu(top_k).forms(Forms::default());
    ops.add("tf.Cumsum").metadata(scan_metadata).cpu(|call| {
        with_number!(call.result(0)?.dtype, "tf.Cumsum", |T| scan::<T>(&call, ops::add, <T as Number>::ZERO))
    });
    ops.add("tf.Cumprod").metadata(scan_metadata).cpu(|call| {
        with_number!(call.result(0)?.dtype, "tf.Cumprod", |T| scan::<T>(&call, ops::mul, <T as Number>::ONE))
    });
}
