//! Parts of tensors: `tf.Slice`, `tf.StridedSlice` with its gradient, `tf.Split`, `tf.SplitV`,
//! `tf.Unpack`, `tf.ReverseV2`, `tf.ReverseSequence`, `tf.Roll`.

use smallvec::SmallVec;
use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::{HostTensor, TensorShape};

use super::moves::{Axis, Moved, Moves, how, moved};
use super::pick::pick;
use super::support::{
    Computed, axis_of, int_attr, integer, integer_within, integers, invalid, product, room_for, shape_of,
    take, vector, vector_or,
};
use super::types;
use crate::{AttrSpec, CpuCall, Forms, OpAttrs, OpRegistry, attr};

/// The plan of an op that moves elements.
type Planned = Result<Vec<Moved>, Diagnostic>;

pub(super) fn slice(dims: &[usize], others: &[&HostTensor], _: &OpAttrs) -> Planned {
    let [begin, size] = how(others)?;
    let (begin, size) = (vector(begin, "begin")?, vector(size, "size")?);
    if begin.len() != dims.len() || size.len() != dims.len() {
        return Err(invalid(format!(
            "Expected begin and size arguments to be 1-D tensors of size {}, but got sizes {} and {} instead.",
            dims.len(),
            begin.len(),
            size.len()
        )));
    }
    let axes = dims.iter().zip(begin.iter().zip(&size)).enumerate().map(|(i, (&dim, (&begin, &size)))| {
        let start = usize::try_from(begin).ok().filter(|&start| start <= dim);
        let start =
            start.ok_or_else(|| invalid(format!("Expected begin[{i}] in [0, {dim}], but got {begin}")))?;
        let rest = dim - start;
        let count = if size == -1 { Some(rest) } else { usize::try_from(size).ok().filter(|&n| n <= rest) };
        let count =
            count.ok_or_else(|| invalid(format!("Expected size[{i}] in [0, {rest}], but got {size}")))?;
        Ok(Axis::Steps { start, step: 1, count })
    });
    Ok(vec![Moves::new(dims, axes.collect::<Result<_, Diagnostic>>()?).into()])
}

/// The masks of a strided slice: bit `i` belongs to entry `i`.
struct Masks {
    begin: i64,
    end: i64,
    ellipsis: i64,
    new_axis: i64,
    shrink_axis: i64,
}

impl Masks {
    fn new(attrs: &OpAttrs) -> Result<Self, Diagnostic> {
        let mask = |name| Ok::<_, Diagnostic>(int_attr(attrs, name)?.unwrap_or(0));
        Ok(Self {
            begin: mask("begin_mask")?,
            end: mask("end_mask")?,
            ellipsis: mask("ellipsis_mask")?,
            new_axis: mask("new_axis_mask")?,
            shrink_axis: mask("shrink_axis_mask")?,
        })
    }
}

fn has(mask: i64, entry: usize) -> bool {
    entry < 63 && mask >> entry & 1 == 1
}

/// Returns what one entry of a strided slice selects from a dimension, and whether the dimension is
/// dropped.
fn chosen(
    (entry, axis, dim): (usize, usize, usize),
    (begin, end, stride): (i64, i64, i64),
    masks: &Masks,
) -> Result<(Axis, bool), Diagnostic> {
    if stride == 0 {
        return Err(invalid(format!("strides[{entry}] must be non-zero")));
    }
    let extent = dim as i64;
    let from_back = |place: i64| if place < 0 { place.saturating_add(extent) } else { place };
    if has(masks.shrink_axis, entry) {
        if stride < 0 {
            return Err(invalid("only stride 1 allowed on non-range indexing."));
        }
        let place = from_back(begin);
        let start = usize::try_from(place).ok().filter(|&start| start < dim);
        let start = start
            .ok_or_else(|| invalid(format!("slice index {begin} of dimension {axis} out of bounds.")))?;
        return Ok((Axis::Steps { start, step: 1, count: 1 }, true));
    }
    let (least, most) = if stride > 0 { (0, extent) } else { (-1, extent - 1) };
    let (first, last) = if stride > 0 { (least, most) } else { (most, least) };
    let begin = if has(masks.begin, entry) { first } else { from_back(begin).clamp(least, most) };
    let end = if has(masks.end, entry) { last } else { from_back(end).clamp(least, most) };
    let span = end - begin;
    let count = if span != 0 && (span < 0) == (stride < 0) {
        span.unsigned_abs().div_ceil(stride.unsigned_abs())
    } else {
        0
    };
    let axis = Axis::Steps { start: begin.max(0) as usize, step: stride as isize, count: count as usize };
    Ok((axis, false))
}

pub(super) fn strided_slice(dims: &[usize], others: &[&HostTensor], attrs: &OpAttrs) -> Planned {
    Ok(vec![strided(dims, how(others)?, attrs)?])
}

/// Returns the shape of a tensor and what a strided slice with gradient `dy` selected from it,
/// given the shape and the slice's begin, end and strides.
pub(super) fn sliced(
    [shape, begin, end, strides]: [&HostTensor; 4],
    dy: &TensorShape,
    attrs: &OpAttrs,
) -> Result<(TensorShape, Moves), Diagnostic> {
    if shape.dtype() != begin.dtype() {
        return Err(invalid(format!("shape is of {}, begin of {}", shape.dtype(), begin.dtype())));
    }
    let shape = shape_of(&vector(shape, "shape")?)?;
    let Moved { moves, dims } = strided(shape.dims(), [begin, end, strides], attrs)?;
    if dy.dims() != dims {
        return Err(invalid(format!("shape of dy was {dy} instead of {}", TensorShape::new(&dims)?)));
    }
    Ok((shape, moves))
}

fn strided_slice_gradient(call: CpuCall<'_>) -> Computed {
    let [shape, begin, end, strides, dy] = take(&call)?;
    let (shape, moves) = sliced([shape, begin, end, strides], dy.shape(), call.attrs)?;
    Ok(moves.give_back(&call, dy.dense()?, &shape)?.into())
}

/// Plans the selection of a strided slice of a tensor of shape `dims`.
fn strided(
    dims: &[usize],
    [begin, end, strides]: [&HostTensor; 3],
    attrs: &OpAttrs,
) -> Result<Moved, Diagnostic> {
    let bounds = |tensor, what| vector_or(tensor, what, DType::I16);
    let (begin, end) = (bounds(begin, "begin")?, bounds(end, "end")?);
    let (strides, masks) = (bounds(strides, "strides")?, Masks::new(attrs)?);
    if begin.len() != end.len() || begin.len() != strides.len() {
        return Err(invalid(format!(
            "Expected begin, end, and strides to be 1D equal size tensors, but got sizes {}, {}, and {} instead.",
            begin.len(),
            end.len(),
            strides.len()
        )));
    }
    if masks.ellipsis.count_ones() > 1 {
        return Err(invalid("Multiple ellipses in slice spec not allowed"));
    }
    let entries = 0..begin.len();
    let ellipsis = entries.clone().find(|&entry| has(masks.ellipsis, entry));
    let is_new = |entry: &usize| has(masks.new_axis, *entry) && Some(*entry) != ellipsis;
    let taken = begin.len() - entries.clone().filter(is_new).count() - usize::from(ellipsis.is_some());
    let left = dims.len().checked_sub(taken).ok_or_else(|| {
        invalid(format!(
            "Index out of range using input dim {}; input has only {} dims",
            dims.len(),
            dims.len()
        ))
    })?;
    let (mut axes, mut shape) = (Vec::new(), Vec::new());
    let all = |axes: &mut Vec<Axis>, shape: &mut Vec<usize>, count: usize| {
        for _ in 0..count {
            let dim = dims[axes.len()];
            axes.push(Axis::whole(dim));
            shape.push(dim);
        }
    };
    for entry in entries {
        if Some(entry) == ellipsis {
            all(&mut axes, &mut shape, left);
        } else if is_new(&entry) {
            shape.push(1);
        } else {
            let place = (entry, axes.len(), dims[axes.len()]);
            let (axis, goes) = chosen(place, (begin[entry], end[entry], strides[entry]), &masks)?;
            shape.extend((!goes).then_some(axis.count()));
            axes.push(axis);
        }
    }
    if ellipsis.is_none() {
        all(&mut axes, &mut shape, left);
    }
    Ok(Moved { moves: Moves::new(dims, axes), dims: shape })
}

/// Plans consecutive parts of `sizes` along `axis`. `drops` removes that dimension.
fn parts(dims: &[usize], axis: usize, sizes: impl ExactSizeIterator<Item = usize>, drops: bool) -> Planned {
    let mut start = 0;
    let mut parts = room_for(sizes.len())?;
    for count in sizes {
        let mut axes: Vec<Axis> = dims.iter().map(|&dim| Axis::whole(dim)).collect();
        axes[axis] = Axis::Steps { start, step: 1, count };
        start += count;
        let moves = Moves::new(dims, axes);
        let mut shape = moves.dims().to_vec();
        if drops {
            shape.remove(axis);
        }
        parts.push(Moved { moves, dims: shape });
    }
    Ok(parts)
}

pub(super) fn split(dims: &[usize], others: &[&HostTensor], attrs: &OpAttrs) -> Planned {
    let [axis] = how(others)?;
    let axis = axis_of(integer(axis, "split_dim")?, dims.len(), "split_dim")?;
    let count = int_attr(attrs, "num_split")?.and_then(|count| usize::try_from(count).ok());
    let count = count
        .filter(|&count| count > 0)
        .ok_or_else(|| invalid("Number of ways to split should be > 0, given by attribute 'num_split'"))?;
    let dim = dims[axis];
    if !dim.is_multiple_of(count) {
        return Err(invalid(format!(
            "Number of ways to split should evenly divide the split dimension, but got split_dim {axis} (size = {dim}) \
             and num_split {count}"
        )));
    }
    parts(dims, axis, (0..count).map(|_| dim / count), false)
}

pub(super) fn split_sizes(dims: &[usize], others: &[&HostTensor], _: &OpAttrs) -> Planned {
    let [sizes, axis] = how(others)?;
    let axis = axis_of(integer_within(axis, "split_dim", usize::MAX)?, dims.len(), "split_dim")?;
    let (sizes, dim) = (vector_or(sizes, "size_splits", DType::I8)?, dims[axis]);
    if matches!(*sizes, [size] if size != dim as i64) {
        return Err(invalid("If there is only one output, it must have the same size as the input."));
    }
    let known: i64 =
        sizes.iter().filter(|&&size| size != -1).fold(0, |sum: i64, &size| sum.saturating_add(size));
    let (unknown, rest) =
        (sizes.iter().filter(|&&size| size == -1).count(), (dim as i64).saturating_sub(known));
    let fits = match unknown {
        0 => rest == 0,
        _ => unknown == 1 && rest >= 0,
    };
    let sizes: Option<SmallVec<[usize; 8]>> =
        sizes.iter().map(|&size| usize::try_from(if size == -1 { rest } else { size }).ok()).collect();
    match sizes.filter(|_| fits) {
        Some(sizes) => parts(dims, axis, sizes.into_iter(), false),
        None => Err(invalid(format!(
            "Determined shape must either match input shape along split_dim exactly if fully specified, or be less \
             than the size of the input along split_dim if not fully specified. Got: {known} of {dim}"
        ))),
    }
}

pub(super) fn unpack(dims: &[usize], others: &[&HostTensor], attrs: &OpAttrs) -> Planned {
    let [] = how(others)?;
    let axis = axis_of(int_attr(attrs, "axis")?.unwrap_or(0), dims.len(), "axis")?;
    let dim = dims[axis];
    if let Some(count) = int_attr(attrs, "num")?.filter(|&count| count != dim as i64) {
        let shape = TensorShape::new(dims)?;
        return Err(invalid(format!("Input shape axis {axis} must equal {count}, got shape {shape}")));
    }
    parts(dims, axis, (0..dim).map(|_| 1), true)
}

pub(super) fn reverse(dims: &[usize], others: &[&HostTensor], _: &OpAttrs) -> Planned {
    let [axes] = how(others)?;
    if dims.is_empty() || dims.contains(&0) {
        // Nothing moves, for any axes, which TensorFlow does not check.
        return Ok(vec![Moves::new(dims, dims.iter().map(|&dim| Axis::whole(dim)).collect()).into()]);
    }
    let axes = vector(axes, "axis")?;
    let mut chosen: Vec<Axis> = dims.iter().map(|&dim| Axis::whole(dim)).collect();
    let mut seen = vec![false; dims.len()];
    for &axis in &axes {
        let axis = axis_of(axis, dims.len(), "axis")?;
        if std::mem::replace(&mut seen[axis], true) {
            return Err(invalid(format!("axis {axis} specified more than once.")));
        }
        chosen[axis] = Axis::Steps { start: dims[axis] - 1, step: -1, count: dims[axis] };
    }
    Ok(vec![Moves::new(dims, chosen).into()])
}

/// Plans the reversal of the first elements along a dimension, with a separate count for each
/// position along another dimension. Returns the sources of the units of a tensor of shape `dims`,
/// and the number of elements of a unit.
pub(super) fn reversed_parts(
    dims: &[usize],
    lengths: &HostTensor,
    attrs: &OpAttrs,
) -> Result<(Vec<usize>, usize), Diagnostic> {
    let axis = |name, otherwise| {
        let axis = int_attr(attrs, name)?.or(otherwise);
        let axis = axis.ok_or_else(|| invalid(format!("attribute '{name}' is missing")))?;
        let within = usize::try_from(axis).ok().filter(|&axis| axis < dims.len());
        within.ok_or_else(|| invalid(format!("Invalid {name} {axis} of {} dimensions", dims.len())))
    };
    let (row, batch) = (axis("seq_dim", None)?, axis("batch_dim", Some(0))?);
    if row == batch {
        return Err(invalid(format!("batch_dim == seq_dim == {row}")));
    }
    let list = vector(lengths, "seq_lengths")?;
    if list.len() != dims[batch] {
        return Err(invalid(format!(
            "Length of seq_lengths != input.dims({batch}), ({} vs. {})",
            list.len(),
            dims[batch]
        )));
    }
    let length = |(place, &length): (usize, &i64)| {
        usize::try_from(length)
            .ok()
            .filter(|&length| length <= dims[row])
            .ok_or_else(|| invalid(format!("seq_lens({place}) = {length} is not in [0, {}]", dims[row])))
    };
    let lengths: Vec<usize> = list.iter().enumerate().map(length).collect::<Result<_, _>>()?;
    let units = 1 + row.max(batch);
    let unit = product(&dims[units..]);
    let count = if unit == 0 { 0 } else { product(&dims[..units]) };
    let mut places = room_for(count)?;
    let step = |axis: usize| product(&dims[axis + 1..units]);
    let (row_step, batch_step) = (step(row), step(batch));
    places.extend((0..count).map(|place| {
        let (along, length) = (place / row_step % dims[row], lengths[place / batch_step % dims[batch]]);
        if along < length { place - along * row_step + (length - 1 - along) * row_step } else { place }
    }));
    Ok((places, unit))
}

fn reverse_sequence(call: CpuCall<'_>) -> Computed {
    let [tensor, lengths] = take(&call)?;
    let (places, unit) = reversed_parts(tensor.shape().dims(), lengths, call.attrs)?;
    pick(&call, tensor, places, unit, tensor.shape().dims())
}

/// Plans a roll: each element moves this many positions along an axis, and wraps around at the end.
pub(super) fn roll(dims: &[usize], others: &[&HostTensor], _: &OpAttrs) -> Planned {
    let [shift, axis] = how(others)?;
    if dims.is_empty() {
        return Err(invalid("input must be 1-D or higher"));
    }
    if shift.shape() != axis.shape() || shift.shape().rank() > 1 {
        return Err(invalid(format!(
            "shift and axis must be scalars or vectors of the same size, got {} and {}",
            shift.shape(),
            axis.shape()
        )));
    }
    let mut shifts = vec![0i128; dims.len()];
    for (&shift, &axis) in integers(shift, "shift")?.iter().zip(&integers(axis, "axis")?) {
        shifts[axis_of(axis, dims.len(), "axis")?] += i128::from(shift);
    }
    let rolled = |(&dim, shift): (&usize, i128)| {
        let first = (-shift).rem_euclid(dim.max(1) as i128) as usize;
        match first {
            0 => Ok(Axis::whole(dim)),
            _ => {
                let mut table = room_for(dim)?;
                table.extend((first..dim).chain(0..first));
                Ok(Axis::Table(table))
            }
        }
    };
    let axes = dims.iter().zip(shifts).map(rolled).collect::<Result<_, Diagnostic>>()?;
    Ok(vec![Moves::new(dims, axes).into()])
}

const SLICED: [AttrSpec; 5] = [
    attr::int_or("begin_mask", 0),
    attr::int_or("end_mask", 0),
    attr::int_or("ellipsis_mask", 0),
    attr::int_or("new_axis_mask", 0),
    attr::int_or("shrink_axis_mask", 0),
];

pub(super) fn register(ops: &mut OpRegistry) {
    let forms = Forms::STRING;
    ops.add("tf.Slice").types(types::ANY).cpu(|call| moved(&call, 0, slice)).forms(forms);
    ops.add("tf.StridedSlice")
        .types(types::ANY)
        .attrs(SLICED)
        .cpu(|call| moved(&call, 0, strided_slice))
        .forms(forms);
    ops.add("tf.StridedSliceGrad").types(types::ELEMENTS).attrs(SLICED).cpu(strided_slice_gradient);
    ops.add("tf.Split")
        .types(types::ANY)
        .attrs([attr::int("num_split")])
        .cpu(|call| moved(&call, 1, split))
        .forms(forms);
    ops.add("tf.SplitV")
        .types(types::ANY)
        .attrs([attr::int("num_split").optional()])
        .cpu(|call| moved(&call, 0, split_sizes))
        .forms(forms);
    ops.add("tf.Unpack")
        .types(types::ANY)
        .attrs([attr::int_or("axis", 0), attr::int("num").optional()])
        .cpu(|call| moved(&call, 0, unpack))
        .forms(forms);
    ops.add("tf.ReverseV2").types(types::ANY).cpu(|call| moved(&call, 0, reverse)).forms(forms);
    ops.add("tf.ReverseSequence")
        .types(types::ANY)
        .attrs([attr::int("seq_dim"), attr::int_or("batch_dim", 0)])
        .cpu(reverse_sequence)
        .forms(forms);
    ops.add("tf.Roll").types(types::ANY).cpu(|call| moved(&call, 0, roll)).forms(forms);
}
