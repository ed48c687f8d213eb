//! Sparse tensors, which are coordinates, values and a shape.
//!
//! The ops here compute with coordinates alone and say where values come from, so that ops on dense
//! tensors of any type move and add the values.

use std::collections::{BTreeMap, HashMap};

use smallvec::SmallVec;
use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::HostTensor;

use super::plain::{count, results, tensor};
use super::support::{Computed, int_attr, integers, invalid, room_for, take, vector};
use super::types;
use crate::{CpuCall, OpRegistry, ResultType, attr};

/// The coordinates of elements, a row for each.
pub(super) struct Coordinates {
    values: SmallVec<[i64; 8]>,
    len: usize,
    pub(super) rank: usize,
}

impl Coordinates {
    fn new(indices: &HostTensor) -> Result<Self, Diagnostic> {
        let &[len, rank] = indices.shape().dims() else {
            return Err(invalid(format!(
                "indices must be a matrix, got a tensor of shape {}",
                indices.shape()
            )));
        };
        Ok(Self { values: integers(indices, "indices")?, len, rank })
    }

    fn row(&self, number: usize) -> &[i64] {
        &self.values[number * self.rank..][..self.rank]
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = &[i64]> {
        (0..self.len).map(|number| self.row(number))
    }

    /// The coordinates, which must lie in a shape.
    pub(super) fn within(indices: &HostTensor, shape: &[i64]) -> Result<Self, Diagnostic> {
        let all = Self::new(indices)?;
        if all.rank != shape.len() {
            let (rank, dims) = (all.rank, shape.len());
            return Err(invalid(format!("indices of rank {rank} do not fit a shape of {dims} dimensions")));
        }
        if shape.iter().any(|&extent| extent < 0) {
            return Err(invalid(format!("a shape has no negative extents, got {shape:?}")));
        }
        for (number, row) in all.rows().enumerate() {
            if row.iter().zip(shape).any(|(&at, &extent)| !(0..extent).contains(&at)) {
                return Err(invalid(format!(
                    "indices[{number}] = {row:?} is out of bounds of shape {shape:?}"
                )));
            }
        }
        Ok(all)
    }
}

/// Coordinates as a tensor.
fn matrix(call: &CpuCall<'_>, rank: usize, values: &[i64]) -> Result<HostTensor, Diagnostic> {
    let len = values.len().checked_div(rank).unwrap_or(0);
    tensor(call, &[len, rank], values)
}

fn list(call: &CpuCall<'_>, values: &[i64]) -> Result<HostTensor, Diagnostic> {
    tensor(call, &[values.len()], values)
}

/// The places of the coordinates in row-major order.
fn order(call: &CpuCall<'_>) -> Computed {
    let [indices] = take(call)?;
    let all = Coordinates::new(indices)?;
    let mut places: Vec<i64> = room_for(all.len)?;
    places.extend(0..all.len as i64);
    places.sort_by(|&a, &b| all.row(a as usize).cmp(all.row(b as usize)));
    Ok(results([list(call, &places)?]))
}

/// The extents of a new shape, of which one may be -1.
fn completed(shape: &[i64], mut new: SmallVec<[i64; 8]>) -> Result<SmallVec<[i64; 8]>, Diagnostic> {
    let product = |dims: &[i64]| dims.iter().try_fold(1i64, |product, &dim| product.checked_mul(dim));
    let too_large = || invalid("a sparse tensor has too many places");
    let total = product(shape).ok_or_else(too_large)?;
    let unknown: Vec<usize> = (0..new.len()).filter(|&axis| new[axis] == -1).collect();
    if let [axis] = unknown[..] {
        new[axis] = 1;
        let rest = product(&new).ok_or_else(too_large)?;
        if rest <= 0 || total % rest != 0 {
            return Err(invalid(format!("{total} places do not divide into a shape with {rest}")));
        }
        new[axis] = total / rest;
    }
    if new.iter().any(|&extent| extent < 0) || product(&new) != Some(total) {
        return Err(invalid(format!("a sparse tensor of shape {shape:?} has no shape {new:?}")));
    }
    Ok(new)
}

fn reshape(call: &CpuCall<'_>) -> Computed {
    let [indices, shape, new] = take(call)?;
    let shape = vector(shape, "input_shape")?;
    let all = Coordinates::within(indices, &shape)?;
    let new = completed(&shape, vector(new, "new_shape")?)?;
    let mut moved = room_for(all.len.saturating_mul(new.len()))?;
    for row in all.rows() {
        let mut place = row.iter().zip(&shape).fold(0, |place, (&at, &extent)| place * extent + at);
        let start = moved.len();
        moved.resize(start + new.len(), 0);
        for (at, &extent) in moved[start..].iter_mut().zip(&new).rev() {
            (*at, place) = (place % extent, place / extent);
        }
    }
    let indices = tensor(call, &[all.len, new.len()], &moved)?;
    Ok(results([indices, list(call, &new)?]))
}

/// The coordinates that two tensors have together, and for each value of the first and then of the
/// second its place.
fn union(call: &CpuCall<'_>) -> Computed {
    let [left, right] = take(call)?;
    let (left, right) = (Coordinates::new(left)?, Coordinates::new(right)?);
    if left.rank != right.rank {
        return Err(invalid(format!("sparse tensors of ranks {} and {}", left.rank, right.rank)));
    }
    let mut places: BTreeMap<&[i64], i64> = left.rows().chain(right.rows()).map(|row| (row, 0)).collect();
    places.values_mut().zip(0..).for_each(|(place, number)| *place = number);
    let of: Vec<i64> = left.rows().chain(right.rows()).map(|row| places[row]).collect();
    let indices: Vec<i64> = places.keys().flat_map(|row| row.iter().copied()).collect();
    let indices = tensor(call, &[places.len(), left.rank], &indices)?;
    Ok(results([indices, list(call, &of)?]))
}

/// Coordinates with one in each empty row, the place of each value, whether each row was empty, and
/// where each value went. The place of the default value is the number of values.
fn fill_empty_rows(call: &CpuCall<'_>) -> Computed {
    let [indices, shape] = take(call)?;
    let shape = vector(shape, "dense_shape")?;
    let all = Coordinates::within(indices, &shape)?;
    let rows = *shape.first().ok_or_else(|| invalid("dense_shape must have a dimension"))? as usize;
    let mut in_row: Vec<Vec<usize>> = room_for(rows)?;
    in_row.resize(rows, Vec::new());
    for (number, row) in all.rows().enumerate() {
        in_row[row[0] as usize].push(number);
    }
    let (mut filled, mut places, mut reverse) = (Vec::new(), Vec::new(), vec![0; all.len]);
    for (row, values) in in_row.iter().enumerate() {
        if values.is_empty() {
            places.push(all.len as i64);
            filled.push(row as i64);
            filled.extend(std::iter::repeat_n(0, all.rank - 1));
        }
        for &number in values {
            reverse[number] = places.len() as i64;
            places.push(number as i64);
            filled.extend_from_slice(all.row(number));
        }
    }
    let empty: Vec<bool> = in_row.iter().map(Vec::is_empty).collect();
    Ok(results([
        matrix(call, all.rank, &filled)?,
        list(call, &places)?,
        tensor(call, &[rows], &empty)?,
        list(call, &reverse)?,
    ]))
}

/// The part of a sparse tensor from `start` on with extents `size`.
fn slice(call: &CpuCall<'_>) -> Computed {
    let [indices, shape, start, size] = take(call)?;
    let shape = vector(shape, "shape")?;
    let (start, size) = (vector(start, "start")?, vector(size, "size")?);
    let all = Coordinates::within(indices, &shape)?;
    if start.len() != all.rank || size.len() != all.rank {
        return Err(invalid("start and size must have an element for each dimension"));
    }
    let (mut kept, mut places) = (Vec::new(), Vec::new());
    for (number, row) in all.rows().enumerate() {
        let moved: SmallVec<[i64; 8]> =
            row.iter().zip(&start).map(|(&at, &start)| at.saturating_sub(start)).collect();
        if moved.iter().zip(&size).all(|(at, size)| (0..*size).contains(at)) {
            kept.extend(moved);
            places.push(number as i64);
        }
    }
    let extents: Vec<i64> = shape
        .iter()
        .zip(start.iter().zip(&size))
        .map(|(&extent, (&start, &size))| extent.saturating_sub(start).clamp(0, size.max(0)))
        .collect();
    let indices = tensor(call, &[places.len(), all.rank], &kept)?;
    Ok(results([indices, list(call, &places)?, list(call, &extents)?]))
}

/// Sparse tensors behind each other along an axis: coordinates, places among all values, and the
/// shape.
fn concat(call: &CpuCall<'_>) -> Computed {
    let number = call.arguments.len() / 2;
    if number == 0 || !call.arguments.len().is_multiple_of(2) {
        return Err(invalid("the op takes coordinates and a shape for each sparse tensor"));
    }
    let (indices, shapes) = call.arguments.split_at(number);
    let first = vector(shapes[0], "shape")?;
    let axis = int_attr(call.attrs, "concat_dim")?.unwrap_or(0);
    let axis = super::support::axis_of(axis, first.len(), "tf.SparseConcat")?;
    let (mut offset, mut rows) = (0i64, Vec::new());
    for (indices, shape) in indices.iter().zip(shapes) {
        let shape = vector(shape, "shape")?;
        let fits = |(at, (a, b)): (usize, (&i64, &i64))| at == axis || a == b;
        if shape.len() != first.len() || !first.iter().zip(&shape).enumerate().all(fits) {
            return Err(invalid(format!("shapes {first:?} and {shape:?} do not fit along axis {axis}")));
        }
        for row in Coordinates::within(indices, &shape)?.rows() {
            let mut row: SmallVec<[i64; 8]> = row.into();
            row[axis] = row[axis].saturating_add(offset);
            rows.push((row, rows.len() as i64));
        }
        offset = offset.checked_add(shape[axis]).ok_or_else(|| invalid("the extents are too large"))?;
    }
    rows.sort();
    let places: Vec<i64> = rows.iter().map(|row| row.1).collect();
    let indices: Vec<i64> = rows.iter().flat_map(|row| row.0.iter().copied()).collect();
    let mut shape = first;
    shape[axis] = offset;
    let indices = tensor(call, &[places.len(), shape.len()], &indices)?;
    Ok(results([indices, list(call, &places)?, list(call, &shape)?]))
}

/// What remains of a shape when some axes are reduced: the place there of each value, the number of
/// places, and the shape.
fn groups(call: &CpuCall<'_>) -> Computed {
    let [indices, shape, axes] = take(call)?;
    let shape = vector(shape, "input_shape")?;
    let all = Coordinates::within(indices, &shape)?;
    let keeps = call.attrs.optional("keep_dims")?.unwrap_or(false);
    let mut is_reduced = vec![false; all.rank];
    for axis in integers(axes, "reduction_axes")? {
        is_reduced[super::support::axis_of(axis, all.rank, "the op")?] = true;
    }
    let kept = |axis: &usize| !is_reduced[*axis];
    let mut total = 1i64;
    for axis in (0..all.rank).filter(kept) {
        total = total.checked_mul(shape[axis]).ok_or_else(|| invalid("the result is too large"))?;
    }
    let place =
        |row: &[i64]| (0..all.rank).filter(kept).fold(0, |place, axis| place * shape[axis] + row[axis]);
    let places: Vec<i64> = all.rows().map(place).collect();
    let extents: Vec<i64> = (0..all.rank)
        .filter_map(|axis| match (is_reduced[axis], keeps) {
            (false, _) => Some(shape[axis]),
            (true, true) => Some(1),
            (true, false) => None,
        })
        .collect();
    Ok(results([list(call, &places)?, tensor(call, &[], &[total])?, list(call, &extents)?]))
}

/// How many edits make each text of a sparse tensor of parts one of another. The keys of parts are
/// numbers.
fn edit_distance(call: &CpuCall<'_>) -> Computed {
    let [left, left_keys, left_shape, right, right_keys, right_shape] = take(call)?;
    let mut shape = vector(left_shape, "hypothesis_shape")?;
    let other = vector(right_shape, "truth_shape")?;
    let sides = [(left, &shape, left_keys), (right, &other, right_keys)];
    if shape.len() != other.len() || shape.is_empty() {
        return Err(invalid("hypothesis and truth must have the same rank"));
    }
    let mut texts: [HashMap<SmallVec<[i64; 8]>, Vec<i64>>; 2] = Default::default();
    for ((indices, shape, keys), texts) in sides.into_iter().zip(&mut texts) {
        let all = Coordinates::within(indices, shape)?;
        let keys = integers(keys, "values")?;
        if keys.len() != all.len {
            return Err(invalid("there must be a value for each index"));
        }
        for (row, &key) in all.rows().zip(&keys) {
            texts.entry(row[..all.rank - 1].into()).or_default().push(key);
        }
    }
    shape.pop();
    let dims: Vec<usize> =
        shape.iter().zip(&other).map(|(&a, &b)| count(a.max(b), "an extent")).collect::<Result<_, _>>()?;
    let places = super::support::product(&dims);
    let normalize = call.attrs.optional("normalize")?.unwrap_or(true);
    let mut distances = room_for(places)?;
    for place in 0..places {
        let (mut key, mut rest) = (SmallVec::<[i64; 8]>::from_elem(0, dims.len()), place);
        for (at, &extent) in key.iter_mut().zip(&dims).rev() {
            (*at, rest) = ((rest % extent) as i64, rest / extent);
        }
        let text = |side: usize| texts[side].get(&key).map_or(&[][..], Vec::as_slice);
        let (a, b) = (text(0), text(1));
        let distance = levenshtein(a, b) as f32;
        distances.push(match (normalize, b.len()) {
            (false, _) => distance,
            (true, 0) => {
                if a.is_empty() {
                    0.0
                } else {
                    f32::INFINITY
                }
            }
            (true, length) => distance / length as f32,
        });
    }
    Ok(results([tensor(call, &dims, &distances)?]))
}

/// The number of insertions, deletions and replacements between two texts.
fn levenshtein(a: &[i64], b: &[i64]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = before + usize::from(x != y);
            before = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(before + 1);
        }
    }
    row[b.len()]
}

const LIST: ResultType = ResultType::is(DType::I64).rank(1);
const MATRIX: ResultType = ResultType::is(DType::I64).rank(2);

pub(super) fn register(ops: &mut OpRegistry) {
    let indices = types::INDICES;
    ops.add("tfrt.SparseOrder").types(indices).results([LIST]).cpu(|call| order(&call));
    ops.add("tf.SparseReshape").types(indices).results([MATRIX, LIST]).cpu(|call| reshape(&call));
    ops.add("tfrt.SparseUnion").types(indices).results([MATRIX, LIST]).cpu(|call| union(&call));
    ops.add("tfrt.SparseFillEmptyRows")
        .types(indices)
        .results([MATRIX, LIST, ResultType::is(DType::I1).rank(1), LIST])
        .cpu(|call| fill_empty_rows(&call));
    ops.add("tfrt.SparseSlice").types(indices).results([MATRIX, LIST, LIST]).cpu(|call| slice(&call));
    ops.add("tfrt.SparseConcat")
        .types(indices)
        .attrs([attr::int_or("concat_dim", 0)])
        .results([MATRIX, LIST, LIST])
        .cpu(|call| concat(&call));
    ops.add("tfrt.SparseGroups")
        .types(indices)
        .attrs([attr::boolean_or("keep_dims", false)])
        .results([LIST, ResultType::is(DType::I64).rank(0), LIST])
        .cpu(|call| groups(&call));
    ops.add("tfrt.EditDistance")
        .types(indices)
        .attrs([attr::boolean_or("normalize", true)])
        .results([ResultType::is(DType::F32)])
        .cpu(|call| edit_distance(&call));
}

#[cfg(test)]
mod tests {
    use super::levenshtein;

    #[test]
    fn edits_are_counted() {
        assert_eq!(levenshtein(&[1, 2, 3], &[1, 3]), 1);
        assert_eq!(levenshtein(&[], &[4, 5]), 2);
        assert_eq!(levenshtein(&[1, 2, 3, 3, 4, 5], &[6, 2, 3, 3, 2, 5, 7]), 3);
    }
}
