//! Ops that store elements at indices: `tf.SegmentSum`, `tf.UnsortedSegmentSum` and related ops,
//! `tf.ScatterNd`, `tf.TensorScatterUpdate` and related ops.

use std::ops::{Add, Mul, Sub};

use tfrt_host::{DType, Diagnostic, host_buffer::HostBuffer};
use tfrt_math::{Number, ops};
use tfrt_tensor::{Accessor, DenseHostTensor, Element, Elements, HostTensor, TensorShape, with_element};

use super::support::{
    Computed, Described, allocate, compute, integer, integers, invalid, one, product, room_for, shape_of,
    take, unsupported, vector, with_number, with_number_or_complex,
};
use super::types;
use crate::{AttrSpec, CpuCall, MetadataCall, OpAttrs, OpRegistry, attr};

static ME: Accessor = Accessor::new("tf op that scatters");

/// The initial values of segments.
enum Start<T: Element> {
    /// One value for all.
    Value(T),
    /// The first unit of each segment, or a value if it has none.
    First(T),
    /// The elements of a tensor with the result's shape.
    Tensor(Elements<T, HostBuffer>),
}

impl<T: Element> Start<T> {
    fn tensor(tensor: &DenseHostTensor) -> Result<Self, Diagnostic> {
        Ok(Self::Tensor(tensor.read_owned::<T>(&ME)?))
    }
}

/// The destinations of units, which are runs of `unit` elements.
pub(super) struct Destinations {
    /// The index of each unit's segment, or `None` if it is dropped.
    ids: Vec<Option<usize>>,
    pub(super) segments: usize,
    pub(super) unit: usize,
    /// The result's shape, with as many elements as all segments.
    pub(super) dims: Vec<usize>,
}

/// The indices of units in the order of their segments, and the end of each segment.
pub(super) struct Members {
    pub(super) units: Vec<usize>,
    pub(super) ends: Vec<usize>,
}

impl Destinations {
    /// Returns the destinations of units that go to these segments of a result of extents `dims`.
    pub(super) fn of_places(places: Vec<usize>, unit: usize, dims: &[usize]) -> Self {
        let segments = product(dims).checked_div(unit).unwrap_or(0);
        let ids = places.into_iter().map(Some).collect();
        Self { ids, segments, unit, dims: dims.to_vec() }
    }

    /// Returns the number of units.
    pub(super) fn units(&self) -> usize {
        self.ids.len()
    }

    /// Returns the units of each segment, in order.
    pub(super) fn members(&self) -> Result<Members, Diagnostic> {
        // Counts the units of each segment first, then computes where they begin.
        let mut ends: Vec<usize> = room_for(self.segments)?;
        ends.resize(self.segments, 0);
        self.ids.iter().flatten().for_each(|&id| ends[id] += 1);
        let mut units: Vec<usize> = room_for(self.ids.len())?;
        units.resize(ends.iter().sum(), 0);
        let mut begin = 0;
        for end in &mut ends {
            begin += std::mem::replace(end, begin);
        }
        for (place, id) in self.ids.iter().enumerate() {
            if let &Some(id) = id {
                units[ends[id]] = place;
                ends[id] += 1;
            }
        }
        Ok(Members { units, ends })
    }

    /// Returns the segments with units in ascending order, and the units of each, in order. It
    /// takes as much memory as there are units, for any number of segments.
    pub(super) fn touched(&self) -> Result<(Vec<usize>, Members), Diagnostic> {
        let mut units: Vec<usize> = room_for(self.ids.len())?;
        units.extend((0..self.ids.len()).filter(|&unit| self.ids[unit].is_some()));
        units.sort_unstable_by_key(|&unit| (self.ids[unit], unit));
        let (mut segments, mut ends) = (room_for(units.len())?, room_for(units.len())?);
        let mut end = 0;
        for units in units.chunk_by(|&a, &b| self.ids[a] == self.ids[b]) {
            end += units.len();
            segments.extend(self.ids[units[0]]);
            ends.push(end);
        }
        Ok((segments, Members { units, ends }))
    }
}

/// Returns a tensor of segments, each of which combines its initial value with its units of `x`, in
/// order.
fn combined<T: Element>(
    call: &CpuCall<'_>,
    start: Start<T>,
    x: &DenseHostTensor,
    to: Destinations,
    combine: fn(T, T) -> T,
) -> Computed {
    let (x, out) = (x.read_owned::<T>(&ME)?, allocate(call, T::DTYPE, &to.dims)?);
    let (segments, unit) = (to.segments, to.unit);
    if unit == 0 {
        return Ok(out.into());
    }
    let Members { units: members, ends } = to.members()?;
    let cost = unit.saturating_mul(1 + x.len().checked_div(unit.saturating_mul(segments)).unwrap_or(0));
    compute(call, &ME, out, (segments, unit, cost), move |range, out: &mut [T]| {
        for (segment, out) in range.zip(out.chunks_exact_mut(unit)) {
            let begin = segment.checked_sub(1).map_or(0, |before| ends[before]);
            let mut places = members[begin..ends[segment]].iter();
            match &start {
                Start::Value(value) => out.fill(*value),
                Start::First(value) => match places.next() {
                    Some(place) => out.copy_from_slice(&x[place * unit..][..unit]),
                    None => out.fill(*value),
                },
                Start::Tensor(tensor) => out.copy_from_slice(&tensor[segment * unit..][..unit]),
            }
            for place in places {
                let x = &x[place * unit..][..unit];
                out.iter_mut().zip(x).for_each(|(out, &x)| *out = combine(*out, x));
            }
        }
        Ok(())
    })
}

/// Returns the destinations of the units of data: each goes to the segment with its id as index.
/// Units with negative ids are dropped.
pub(super) fn segments_of(
    data: &TensorShape,
    ids: &HostTensor,
    count: &HostTensor,
) -> Result<Destinations, Diagnostic> {
    let Some(rest) = data.dims().strip_prefix(ids.shape().dims()) else {
        return Err(invalid(format!(
            "data.shape = {data} does not start with segment_ids.shape = {}",
            ids.shape()
        )));
    };
    let count = integer(count, "num_segments")?;
    let segments = usize::try_from(count)
        .map_err(|_| invalid(format!("Input num_segments == {count} must not be negative.")))?;
    let id = |&id: &i64| match usize::try_from(id) {
        Ok(id) if id < segments => Ok(Some(id)),
        Ok(id) => Err(invalid(format!("segment_ids: {id} is out of range [0, {segments})"))),
        Err(_) => Ok(None),
    };
    let ids = integers(ids, "segment_ids")?.iter().map(id).collect::<Result<Vec<_>, _>>()?;
    Ok(Destinations { ids, segments, unit: product(rest), dims: [&[segments], rest].concat() })
}

/// Returns the destinations of the units of data with ascending ids: each goes to the segment with
/// its id as index. The last id defines the number of segments.
fn sorted_segments_of(data: &TensorShape, ids: &HostTensor) -> Result<Destinations, Diagnostic> {
    let ids = vector(ids, "segment_ids")?;
    let Some((_, rest)) = data.dims().split_first().filter(|&(&count, _)| count == ids.len()) else {
        return Err(invalid(format!(
            "segment_ids should be the same size as dimension 0 of input, got {} for {data}",
            ids.len()
        )));
    };
    if !ids.is_sorted() {
        return Err(invalid("segment ids are not increasing"));
    }
    let id = |&id: &i64| match usize::try_from(id) {
        Ok(id) => Ok(Some(id)),
        Err(_) => Err(invalid(format!("segment ids must be >= 0, got {id}"))),
    };
    let ids = ids.iter().map(id).collect::<Result<Vec<_>, _>>()?;
    let segments = ids.last().copied().flatten().map_or(0, |last| last.saturating_add(1));
    Ok(Destinations { ids, segments, unit: product(rest), dims: [&[segments], rest].concat() })
}

/// The data and its destinations.
type Segmented<'c> = Result<(&'c DenseHostTensor, Destinations), Diagnostic>;

fn sorted<'c>(call: &CpuCall<'c>) -> Segmented<'c> {
    let [data, ids] = take(call)?;
    Ok((data.dense()?, sorted_segments_of(data.shape(), ids)?))
}

fn unsorted<'c>(call: &CpuCall<'c>) -> Segmented<'c> {
    let [data, ids, count] = take(call)?;
    Ok((data.dense()?, segments_of(data.shape(), ids, count)?))
}

/// Returns the greatest finite value.
fn greatest_finite<T: Number>() -> T {
    let is_finite = T::HIGHEST.minus(T::HIGHEST) == T::ZERO;
    if is_finite { T::HIGHEST } else { T::ZERO.minus(T::LEAST_FINITE) }
}

/// Returns the number of coordinates of a unit of `updates` in a tensor of shape `into`.
fn depth(into: &TensorShape, indices: &TensorShape, updates: &TensorShape) -> Result<usize, Diagnostic> {
    // A single row of coordinates is not a list of them.
    let Some((&depth, outer)) = indices.dims().split_last().filter(|(_, outer)| !outer.is_empty()) else {
        return Err(invalid(format!("Indices shape must have rank at least two. Found: {indices}")));
    };
    if !(1..=into.rank()).contains(&depth) {
        return Err(invalid(format!(
            "a coordinate of {into} has between 1 and {} numbers, those of indices {indices} have {depth}",
            into.rank()
        )));
    }
    let Some(units) = updates.dims().strip_prefix(outer) else {
        return Err(invalid(format!(
            "the first dimensions of updates, {updates}, must be those of indices, {indices}"
        )));
    };
    if into.dims().get(depth..) != Some(units) {
        return Err(invalid(format!(
            "the inner dimensions of {into} beyond {depth} must match those of updates, {updates}"
        )));
    }
    let counts = [indices.num_elements()?, updates.num_elements()?];
    if counts != [0, 0] && (counts.contains(&0) || into.num_elements()? == 0) {
        return Err(invalid(format!(
            "Indices and updates specified for empty output shape: {indices} and {updates} for {into}"
        )));
    }
    Ok(depth)
}

/// Returns whether coordinates out of bounds are ignored: updates are dropped, and reads return
/// zeros.
pub(super) fn ignores_bad_indices(attrs: &OpAttrs) -> Result<bool, Diagnostic> {
    match attrs.optional("bad_indices_policy")? {
        None | Some("" | "DEFAULT" | "ERROR") => Ok(false),
        Some("IGNORE") => Ok(true),
        Some(other) => Err(invalid(format!("Unknown bad_indices_policy: {other}"))),
    }
}

/// Returns the destinations of the units of `updates` in a tensor of shape `into`.
pub(super) fn destinations(
    into: &TensorShape,
    indices: &HostTensor,
    updates: &TensorShape,
    attrs: &OpAttrs,
) -> Result<Destinations, Diagnostic> {
    let depth = depth(into, indices.shape(), updates)?;
    let is_lenient = ignores_bad_indices(attrs)?;
    let (outer, inner) = into.dims().split_at(depth);
    let list = integers(indices, "indices")?;
    let mut ids = room_for(list.len().checked_div(depth).unwrap_or(0))?;
    for (row, coordinates) in list.chunks_exact(depth.max(1)).enumerate() {
        let place = coordinates.iter().zip(outer).try_fold(0, |place, (&index, &dim)| {
            let index = usize::try_from(index).ok().filter(|&index| index < dim)?;
            Some(place * dim + index)
        });
        if place.is_none() && !is_lenient {
            return Err(invalid(format!(
                "indices[{row}] = {coordinates:?} does not index into shape {into}"
            )));
        }
        ids.push(place);
    }
    Ok(Destinations { ids, segments: product(outer), unit: product(inner), dims: into.dims().to_vec() })
}

/// Returns the destinations of the units of `updates` in a new tensor.
pub(super) fn places_of_new(
    indices: &HostTensor,
    updates: &TensorShape,
    shape: &HostTensor,
    attrs: &OpAttrs,
) -> Result<Destinations, Diagnostic> {
    if indices.dtype() != shape.dtype() {
        return Err(invalid(format!("indices are of {}, shape of {}", indices.dtype(), shape.dtype())));
    }
    destinations(&shape_of(&vector(shape, "shape")?)?, indices, updates, attrs)
}

/// Returns the sums of the units at each position, and zeros elsewhere.
fn scatter_nd(call: CpuCall<'_>) -> Computed {
    let [indices, updates, shape] = take(&call)?;
    let updates = updates.dense()?;
    let to = places_of_new(indices, updates.shape(), shape, call.attrs)?;
    match updates.dtype() {
        DType::I1 => combined::<bool>(&call, Start::Value(false), updates, to, |a, b| a | b),
        dtype => with_number_or_complex!(
            dtype,
            "tf.ScatterNd",
            |T| combined::<T>(&call, Start::Value(<T as Number>::ZERO), updates, to, ops::add),
            combined::<T>(&call, Start::Value(T::ZERO), updates, to, T::add)
        ),
    }
}

fn tensor_scatter_metadata(call: MetadataCall<'_>) -> Described {
    let [tensor, indices, updates] = call.take()?;
    if tensor.dtype != updates.dtype {
        return Err(invalid(format!("updates are of {}, the tensor of {}", updates.dtype, tensor.dtype)));
    }
    depth(&tensor.shape, &indices.shape, &updates.shape)?;
    one(tensor.clone())
}

/// Returns the updates of a tensor and their destinations.
fn parts<'c>(
    call: &CpuCall<'c>,
) -> Result<(&'c DenseHostTensor, &'c DenseHostTensor, Destinations), Diagnostic> {
    let [tensor, indices, updates] = take(call)?;
    let to = destinations(tensor.shape(), indices, updates.shape(), call.attrs)?;
    Ok((tensor.dense()?, updates.dense()?, to))
}

/// Returns a tensor in which the last update of a position replaces its value.
fn tensor_scatter_update(call: CpuCall<'_>) -> Computed {
    let (tensor, updates, to) = parts(&call)?;
    with_element!(
        tensor.dtype(),
        |T| combined::<T>(&call, Start::tensor(tensor)?, updates, to, |_, new| new),
        else Err(unsupported("tf.TensorScatterUpdate", tensor.dtype()))
    )
}

const POLICY: [AttrSpec; 1] = [attr::string_or("bad_indices_policy", "")];

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.ScatterNd").types(types::ELEMENTS).attrs(POLICY).cpu(scatter_nd);
    ops.add("tf.TensorScatterUpdate")
        .types(types::ELEMENTS)
        .attrs(POLICY)
        .metadata(tensor_scatter_metadata)
        .cpu(tensor_scatter_update);
    macro_rules! segments {
        ($($name:literal, $types:ident, $parts:ident, $with:ident => $(($start:expr, $function:expr)),+;)*) => {$(
            ops.add($name).types(types::$types).cpu(|call| {
                let (data, to) = $parts(&call)?;
                $with!(data.dtype(), $name, |T| $(combined::<T>(&call, $start, data, to, $function)),+)
            });
        )*};
    }
    segments! {
        "tf.SegmentSum", FIELDS, sorted, with_number_or_complex =>
            (Start::First(<T as Number>::ZERO), ops::add), (Start::First(T::ZERO), T::add);
        "tf.SegmentProd", FIELDS, sorted, with_number_or_complex =>
            (Start::First(<T as Number>::ONE), ops::mul), (Start::First(T::ONE), T::mul);
        "tf.SegmentMax", NUMBERS, sorted, with_number => (Start::First(T::ZERO), ops::maximum);
        "tf.SegmentMin", NUMBERS, sorted, with_number => (Start::First(T::ZERO), ops::minimum);
        "tf.UnsortedSegmentSum", FIELDS, unsorted, with_number_or_complex =>
            (Start::Value(<T as Number>::ZERO), ops::add), (Start::Value(T::ZERO), T::add);
        "tf.UnsortedSegmentProd", FIELDS, unsorted, with_number_or_complex =>
            (Start::Value(<T as Number>::ONE), ops::mul), (Start::Value(T::ONE), T::mul);
        "tf.UnsortedSegmentMax", NUMBERS, unsorted, with_number => (Start::Value(T::LEAST_FINITE), ops::maximum);
        "tf.UnsortedSegmentMin", NUMBERS, unsorted, with_number => (Start::Value(greatest_finite::<T>()), ops::minimum);
    }
    macro_rules! combinations {
        ($($name:literal, $types:ident, $with:ident => $($function:expr),+;)*) => {$(
            ops.add($name).types(types::$types).attrs(POLICY).metadata(tensor_scatter_metadata).cpu(|call| {
                let (tensor, updates, to) = parts(&call)?;
                $with!(tensor.dtype(), $name, |T| $(
                    combined::<T>(&call, Start::tensor(tensor)?, updates, to, $function)
                ),+)
            });
        )*};
    }
    combinations! {
        "tf.TensorScatterAdd", FIELDS, with_number_or_complex => ops::add, T::add;
        "tf.TensorScatterSub", FIELDS, with_number_or_complex => ops::sub, T::sub;
        "tf.TensorScatterMax", NUMBERS, with_number => ops::maximum;
        "tf.TensorScatterMin", NUMBERS, with_number => ops::minimum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_units_of_many_segments_are_listed_in_their_order() {
        let last = usize::MAX - 1;
        let ids = vec![Some(last), Some(5), None, Some(last), Some(0), Some(last)];
        let to = Destinations { ids, segments: usize::MAX, unit: 1, dims: vec![usize::MAX] };
        let (segments, members) = to.touched().unwrap();
        assert_eq!(segments, [0, 5, last]);
        assert_eq!((members.units, members.ends), (vec![4, 1, 0, 3, 5], vec![1, 2, 5]));
    }
}
