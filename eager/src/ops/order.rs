//! Along one dimension: where extremes are, the greatest elements, where values belong among sorted
//! ones, running sums and products.

use tfrt_host::{AsyncValue, DType, Diagnostic};
use tfrt_math::{Number, ops};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, HostTensor, TensorMetadata};

use super::ranking::Ranking;
use super::shape::{numbers, out_type};
use super::support::{
    Computed, Described, allocate, axis_of, compute, integer, integer_or, invalid, one, operand_type,
    product, take, with_number, with_number_or_complex,
};
use super::types;
use crate::{AttrSpec, CpuCall, Forms, MetadataCall, OpAttrs, OpRegistry, OpResult, attr};

static ME: Accessor = Accessor::new("tf op along a dimension");

/// Writes where the extremes of neighbouring lines are. The elements of each of `extent` lie as many
/// places apart as the second number says, and the first line begins at the first number. The first
/// of equals wins; NaN never does.
type Search = Box<dyn Fn((usize, usize, usize), &mut [usize]) + Send + Sync>;

fn search<T: Element + PartialOrd>(x: &DenseHostTensor, greatest: bool) -> Result<Search, Diagnostic> {
    let x = x.read_owned::<T>(&ME)?;
    Ok(Box::new(move |(first, step, extent), out| match greatest {
        true => extremes(&x[first..], (step, extent), |x, best| x > best, out),
        false => extremes(&x[first..], (step, extent), |x, best| x < best, out),
    }))
}

/// The number of lines that are searched at a time: their extremes stay in the first-level cache.
const LINES: usize = 256;

fn extremes<T: Element + PartialOrd>(
    x: &[T],
    (step, extent): (usize, usize),
    is_better: impl Fn(T, T) -> bool,
    out: &mut [usize],
) {
    // Any number is better than NaN, which alone differs from itself.
    let wins = |x: T, best: T| is_better(x, best) | (x.is_self() & !best.is_self());
    if let ([out], Some(&best)) = (&mut *out, x.first()) {
        let each = x.iter().step_by(step).take(extent).enumerate();
        let better = |(place, best), (i, &x)| if wins(x, best) { (i, x) } else { (place, best) };
        return *out = each.fold((0, best), better).0;
    }
    let mut best = [T::default(); LINES];
    for (number, out) in out.chunks_mut(LINES).enumerate() {
        let (x, best) = (&x[number * LINES..], &mut best[..out.len()]);
        best.copy_from_slice(&x[..out.len()]);
        out.fill(0);
        for i in 1..extent {
            let row = &x[i * step..][..out.len()];
            for ((out, best), &x) in out.iter_mut().zip(&mut *best).zip(row) {
                let wins = wins(x, *best);
                *out = if wins { i } else { *out };
                *best = if wins { x } else { *best };
            }
        }
    }
}

/// Whether a value equals itself, as all but NaN do.
trait IsSelf {
    fn is_self(&self) -> bool;
}

impl<T: PartialEq> IsSelf for T {
    #[expect(clippy::eq_op, reason = "NaN differs from itself")]
    fn is_self(&self) -> bool {
        self == self
    }
}

/// The places of extremes along a dimension, as an `I`.
fn places<I: Element>(
    call: &CpuCall<'_>,
    search: Search,
    (dims, axis, extent): (&[usize], usize, usize),
    index: fn(usize) -> I,
) -> Computed {
    let out = allocate(call, I::DTYPE, dims)?;
    let inner = product(&dims[axis..]);
    compute(call, &ME, out, (product(dims), 1, extent), move |range, out: &mut [I]| {
        let (mut place, mut rest, mut found) = (range.start, out, [0; LINES]);
        while !rest.is_empty() {
            // The lines of one row begin next to each other.
            let count = (inner - place % inner).min(LINES).min(rest.len());
            let (out, after) = rest.split_at_mut(count);
            let first = place / inner * inner * extent + place % inner;
            search((first, inner, extent), &mut found[..count]);
            out.iter_mut().zip(found).for_each(|(out, found)| *out = index(found));
            (place, rest) = (place + count, after);
        }
        Ok(())
    })
}

fn extreme(call: &CpuCall<'_>, name: &str, greatest: bool) -> Computed {
    let [tensor, axis] = take(call)?;
    let (dense, rank) = (tensor.dense()?, tensor.shape().rank());
    let axis = axis_of(integer(axis, "dimension")?, rank, "dimension")?;
    let mut dims = dense.shape().dims().to_vec();
    let extent = dims.remove(axis);
    if extent == 0 {
        return Err(invalid(format!("Reduction axis {axis} is empty in shape {}", dense.shape())));
    }
    let to = position_type(call.attrs)?;
    let search = match dense.dtype() {
        DType::I1 => search::<bool>(dense, greatest)?,
        dtype => with_number!(dtype, name, |T| search::<T>(dense, greatest))?,
    };
    let line = (&*dims, axis, extent);
    match to {
        DType::I16 => places(call, search, line, |i| i as i16),
        DType::UI16 => places(call, search, line, |i| i as u16),
        DType::I32 => places(call, search, line, |i| i as i32),
        _ => places(call, search, line, |i| i as i64),
    }
}

/// The type of the positions of extremes: I16, UI16, I32 or I64.
pub(super) fn position_type(attrs: &OpAttrs) -> Result<DType, Diagnostic> {
    match attrs.optional::<DType>("output_type")?.unwrap_or(DType::I64) {
        dtype @ (DType::I16 | DType::UI16 | DType::I32 | DType::I64) => Ok(dtype),
        other => Err(invalid(format!("positions are of type i16, ui16, i32 or i64, not {other}"))),
    }
}

/// The key of a number in the order from the greatest to the least, and then NaN.
fn descending_key<T: Number>(x: T) -> u64 {
    if x.is_nan() { u64::MAX } else { !x.order_key() }
}

/// The `k` greatest of each row, and where they are.
fn top_k(call: CpuCall<'_>) -> Computed {
    let [tensor, k] = take(&call)?;
    let (dense, k) = (tensor.dense()?, integer_or(k, "k", DType::I16)?);
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
        let mut ranking = Ranking::default();
        for ((row, values), places) in
            rows.zip(results).zip(places.elements_mut::<i32>()?.chunks_exact_mut(k.max(1)))
        {
            let order = ranking.first(row.iter().map(|&x| descending_key(x)), k, sorted);
            for ((value, place), i) in values.iter_mut().zip(places).zip(order) {
                (*value, *place) = (row[i], i as i32);
            }
        }
        Ok::<(), Diagnostic>(())
    })?;
    let places = match index_type(call.attrs)? {
        DType::I16 => retyped(&call, &places, |i| i as i16)?,
        DType::I64 => retyped(&call, &places, i64::from)?,
        _ => places,
    };
    let tensors = [out, places].map(|tensor| AsyncValue::new(HostTensor::from(tensor)));
    Ok(OpResult { tensors: tensors.into(), done: None })
}

/// The type of the places that `tf.TopKV2` gives: I16, I32 or I64.
pub(super) fn index_type(attrs: &OpAttrs) -> Result<DType, Diagnostic> {
    match attrs.optional::<DType>("index_type")?.unwrap_or(DType::I32) {
        dtype @ (DType::I16 | DType::I32 | DType::I64) => Ok(dtype),
        other => Err(invalid(format!("index_type must be i16, i32 or i64, not {other}"))),
    }
}

/// Places as another type of integers.
fn retyped<I: Element>(
    call: &CpuCall<'_>,
    places: &DenseHostTensor,
    index: fn(i32) -> I,
) -> Result<DenseHostTensor, Diagnostic> {
    let indices: Vec<I> = places.read::<i32>(&ME)?.iter().map(|&i| index(i)).collect();
    DenseHostTensor::from_slice(places.shape().clone(), &indices, call.cx.host().allocator())
}

fn scan_metadata(call: MetadataCall<'_>) -> Described {
    let [tensor, _] = call.take()?;
    one(tensor.clone())
}

/// Running results of `f` along a dimension, from `first` on.
fn scan<T: Element>(
    call: &CpuCall<'_>,
    f: impl Fn(T, T) -> T + Copy + Send + Sync + 'static,
    first: T,
) -> Computed {
    let [tensor, axis] = take(call)?;
    let (dense, rank) = (tensor.dense()?, tensor.shape().rank());
    let axis = integer(axis, "axis")?;
    let axis = axis_of(axis, rank, "ScanOp").map_err(|_| {
        invalid(format!("ScanOp: Expected scan axis in the range [-{rank}, {rank}), but got {axis}"))
    })?;
    let flag = |name| Ok::<bool, Diagnostic>(call.attrs.optional(name)?.unwrap_or(false));
    let (exclusive, reverse) = (flag("exclusive")?, flag("reverse")?);
    let (extent, inner) = (dense.shape().dims()[axis], product(&dense.shape().dims()[axis + 1..]));
    let (slab, x, out) = (extent.saturating_mul(inner), dense.read_owned::<T>(&ME)?, call.allocate_unset(0)?);
    let slabs = out.num_elements().checked_div(slab).unwrap_or(0);
    compute(call, &ME, out, (slabs, slab, slab), move |slabs, out: &mut [T]| {
        for (slab_number, out) in slabs.zip(out.chunks_exact_mut(slab.max(1))) {
            let x = &x[slab_number * slab..][..slab];
            let mut running = vec![first; inner];
            for i in 0..extent {
                let row = if reverse { extent - 1 - i } else { i };
                let (x, out) = (&x[row * inner..][..inner], &mut out[row * inner..][..inner]);
                if exclusive {
                    out.copy_from_slice(&running);
                }
                running.iter_mut().zip(x).for_each(|(running, &x)| *running = f(*running, x));
                if !exclusive {
                    out.copy_from_slice(&running);
                }
            }
        }
        Ok(())
    })
}

fn bound_metadata(call: MetadataCall<'_>) -> Described {
    let [sorted, values] = call.take()?;
    match (sorted.shape.dims(), values.shape.dims()) {
        ([rows, _], [others, _]) if rows == others && sorted.dtype == values.dtype => {
            one(TensorMetadata::new(out_type(call.attrs)?, values.shape.clone()))
        }
        _ => Err(invalid(format!(
            "sorted_inputs and values must be matrices of one type with as many rows, got {sorted} and {values}"
        ))),
    }
}

/// For each value how many of its row of sorted numbers are before it, as `before` says.
fn bound<T: Element>(call: &CpuCall<'_>, before: fn(&T, &T) -> bool) -> Computed {
    let [sorted, values] = call.dense()?;
    let width = |tensor: &DenseHostTensor| tensor.shape().dims().last().copied().unwrap_or(0);
    let (extent, count) = (width(sorted), width(values).max(1));
    let (sorted, values) = (sorted.read::<T>(&ME)?, values.read::<T>(&ME)?);
    let places: Vec<usize> = values
        .iter()
        .enumerate()
        .map(|(i, value)| sorted[i / count * extent..][..extent].partition_point(|x| before(x, value)))
        .collect();
    Ok(numbers(call.result(0)?, call.cx, &places)?.into())
}

const SCANNED: [AttrSpec; 2] = [attr::boolean_or("exclusive", false), attr::boolean_or("reverse", false)];

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.ArgMax")
        .types(types::ORDERED)
        .attrs([attr::dtype_or("output_type", DType::I64)])
        .cpu(|call| extreme(&call, "tf.ArgMax", true));
    ops.add("tf.ArgMin")
        .types(types::ORDERED)
        .attrs([attr::dtype_or("output_type", DType::I64)])
        .cpu(|call| extreme(&call, "tf.ArgMin", false));
    ops.add("tf.TopKV2")
        .types(types::NUMBERS)
        .attrs([attr::boolean_or("sorted", true), attr::dtype_or("index_type", DType::I32)])
        .cpu(top_k)
        .forms(Forms::default());
    ops.add("tf.LowerBound")
        .types(types::NUMBERS)
        .attrs([attr::dtype_or("out_type", DType::I32)])
        .metadata(bound_metadata)
        .cpu(|call| {
            with_number!(operand_type(&call)?, "tf.LowerBound", |T| bound::<T>(&call, |x, value| x < value))
        });
    ops.add("tf.UpperBound")
        .types(types::NUMBERS)
        .attrs([attr::dtype_or("out_type", DType::I32)])
        .metadata(bound_metadata)
        .cpu(|call| {
            with_number!(operand_type(&call)?, "tf.UpperBound", |T| bound::<T>(&call, |x, value| x <= value))
        });
    ops.add("tf.Cumsum").types(types::FIELDS).attrs(SCANNED).metadata(scan_metadata).cpu(|call| {
        with_number_or_complex!(
            call.result(0)?.dtype,
            "tf.Cumsum",
            |T| scan::<T>(&call, ops::add, <T as Number>::ZERO),
            scan::<T>(&call, |x, y| x + y, T::ZERO)
        )
    });
    ops.add("tf.Cumprod").types(types::FIELDS).attrs(SCANNED).metadata(scan_metadata).cpu(|call| {
        with_number_or_complex!(
            call.result(0)?.dtype,
            "tf.Cumprod",
            |T| scan::<T>(&call, ops::mul, <T as Number>::ONE),
            scan::<T>(&call, |x, y| x * y, T::ONE)
        )
    });
}
