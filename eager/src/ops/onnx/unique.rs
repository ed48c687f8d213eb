//! `onnx.Unique`: the different elements of a tensor, or its different slices along a dimension.

use std::cmp::Ordering;

use tfrt_host::DType;
use tfrt_tensor::{Accessor, Element, HostTensor, StringHostTensor, TensorShape};

use super::arguments::{RESULTS, flag, pick, wanted};
use crate::ops::plain::results;
use crate::ops::strings::strings;
use crate::ops::support::{Computed, allocate, axis_of, int_attr, invalid, product, room_for, take};
use crate::ops::types;
use crate::{CpuCall, Forms, OpRegistry, attr};

static ME: Accessor = Accessor::new("onnx.Unique");

/// The order of two elements; NaN comes last.
fn compare<T: Element + PartialOrd>(x: &T, y: &T) -> Ordering {
    // Only NaN differs from itself.
    let is_nan = |x: &T| x.partial_cmp(x).is_none();
    x.partial_cmp(y).unwrap_or_else(|| is_nan(x).cmp(&is_nan(y)))
}

fn unique<T: Element + PartialOrd>(call: &CpuCall<'_>) -> Computed {
    let [x] = call.dense()?;
    let (dims, axis) = match int_attr(call.attrs, "axis")? {
        Some(axis) => (x.shape().dims().to_vec(), axis_of(axis, x.shape().rank(), "axis")?),
        None => (vec![x.num_elements()], 0),
    };
    let (outer, count, inner) = (product(&dims[..axis]), dims[axis], product(&dims[axis + 1..]));
    if x.num_elements() == 0 && count > 0 {
        return Err(invalid(format!(
            "slices of a tensor of shape {} have no elements to compare",
            x.shape()
        )));
    }
    let x = x.read::<T>(&ME)?;
    let slice = |i: usize| (0..outer).flat_map(move |o| (o * count + i) * inner..(o * count + i + 1) * inner);
    let order_of = |i: usize, j: usize| {
        let pairs = slice(i).zip(slice(j)).map(|(a, b)| compare(&x[a], &x[b]));
        pairs.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    };
    let groups = group(count, flag(call.attrs, "sorted", true)?, &order_of);
    let mut result_dims = dims.clone();
    result_dims[axis] = groups.len();
    let mut values = allocate(call, T::DTYPE, &result_dims)?;
    let elements = values.elements_mut::<T>()?;
    for o in 0..outer {
        for (g, group) in groups.iter().enumerate() {
            let from = &x[(o * count + group[0]) * inner..][..inner];
            elements[(o * groups.len() + g) * inner..][..inner].copy_from_slice(from);
        }
    }
    describe(call, values.into(), &groups, count)
}

/// Returns the members of each group of equal slices, in their order. The groups are in the slices'
/// order if `is_sorted`, else in the order of their first members.
fn group(count: usize, is_sorted: bool, order_of: &dyn Fn(usize, usize) -> Ordering) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&i, &j| order_of(i, j).then(i.cmp(&j)));
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for i in order {
        match groups.last_mut() {
            Some(group) if order_of(group[0], i).is_eq() => group.push(i),
            _ => groups.push(vec![i]),
        }
    }
    if !is_sorted {
        groups.sort_by_key(|group| group[0]);
    }
    groups
}

/// The different elements of a tensor of strings, which is looked at as a vector.
fn unique_strings(call: &CpuCall<'_>) -> Computed {
    let [x] = take(call)?;
    if int_attr(call.attrs, "axis")?.is_some() && x.shape().rank() > 1 {
        return Err(invalid("slices of strings are not supported"));
    }
    let x = strings(x)?.strings();
    let groups = group(x.len(), flag(call.attrs, "sorted", true)?, &|i, j| x[i].cmp(&x[j]));
    let mut values = room_for(groups.len())?;
    values.extend(groups.iter().map(|group| x[group[0]].clone()));
    let values = StringHostTensor::new(TensorShape::new(&[groups.len()])?, values)?;
    describe(call, values.into(), &groups, x.len())
}

/// Returns the results: `values`, and where they are among `count` slices.
fn describe(call: &CpuCall<'_>, values: HostTensor, groups: &[Vec<usize>], count: usize) -> Computed {
    let list = |count: usize, at: &mut dyn FnMut(&mut [i64])| {
        let mut tensor = allocate(call, DType::I64, &[count])?;
        at(tensor.elements_mut::<i64>()?);
        Ok::<HostTensor, tfrt_host::Diagnostic>(tensor.into())
    };
    let firsts = list(groups.len(), &mut |out| {
        out.iter_mut().zip(groups).for_each(|(out, group)| *out = group[0] as i64);
    })?;
    let inverse = list(count, &mut |out| {
        groups.iter().enumerate().for_each(|(g, group)| group.iter().for_each(|&i| out[i] = g as i64));
    })?;
    let counts = list(groups.len(), &mut |out| {
        out.iter_mut().zip(groups).for_each(|(out, group)| *out = group.len() as i64);
    })?;
    Ok(results(pick([values, firsts, inverse, counts], wanted(call.attrs, [true, false, false, false])?)))
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("onnx.Unique")
        .types(types::ORDERED_OR_STRINGS)
        .attrs([attr::int("axis").optional(), attr::int_or("sorted", 1), RESULTS])
        .cpu(|call| {
            let dtype = call.arguments.first().map_or(DType::F32, |tensor| tensor.dtype());
            if dtype == DType::String {
                return unique_strings(&call);
            }
            crate::ops::support::with_type!(dtype, "onnx.Unique", |T| unique::<T>(&call),
                I1 bool, I8 i8, I16 i16, I32 i32, I64 i64, UI8 u8, UI16 u16, UI32 u32, UI64 u64,
                F16 tfrt_tensor::f16, BF16 tfrt_tensor::bf16, F32 f32, F64 f64)
        })
        .forms(Forms::STRING);
}
