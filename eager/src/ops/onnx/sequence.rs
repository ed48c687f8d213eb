//! Ops on sequences whose elements are not known when a model is compiled: `onnx.SequenceInsert`,
//! `onnx.SequenceErase`, `onnx.SequenceAt`, `onnx.ConcatFromSequence` and `onnx.SplitToSequence`.
//!
//! A sequence is two tensors: a vector with the elements of all its tensors, one tensor behind the
//! other, and a matrix of their shapes with a row for each. So the tensors of a sequence have one
//! data type and one rank.

use std::ops::Range;

use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::{Accessor, DenseHostTensor, HostTensor, TensorShape};

use super::arguments::{dense, flag, formal, int_or, required};
use super::two::results;
use crate::ops::support::{Computed, allocate, axis_of, integer, integers, invalid, product, take};
use crate::ops::types;
use crate::{CpuCall, OpRegistry, attr};

static ME: Accessor = Accessor::new("onnx op on sequences");

/// A sequence: its elements, and the shape and place of each tensor.
struct Sequence<'c> {
    data: &'c DenseHostTensor,
    dims: Vec<Vec<usize>>,
    places: Vec<Range<usize>>,
}

impl<'c> Sequence<'c> {
    fn new(data: &'c HostTensor, shapes: &HostTensor) -> Result<Self, Diagnostic> {
        let unfit =
            || invalid(format!("shapes of shape {} do not fit a sequence's elements", shapes.shape()));
        let &[count, rank] = shapes.shape().dims() else { return Err(unfit()) };
        let extents = integers(shapes, "shapes")?;
        let extents = extents.iter().map(|&extent| usize::try_from(extent)).collect::<Result<Vec<_>, _>>();
        let extents = extents.map_err(|_| unfit())?;
        let (data, mut start) = (data.dense()?, 0usize);
        let (mut dims, mut places) = (Vec::new(), Vec::new());
        for row in 0..count {
            let own = extents.get(row * rank..(row + 1) * rank).ok_or_else(unfit)?;
            let end = start.checked_add(product(own)).ok_or_else(unfit)?;
            dims.push(own.to_vec());
            places.push(start..end);
            start = end;
        }
        if start == data.num_elements() { Ok(Self { data, dims, places }) } else { Err(unfit()) }
    }

    /// A place of a tensor, counted from the end if it is negative; there are `count` of them.
    fn place(position: &HostTensor, count: usize) -> Result<usize, Diagnostic> {
        let position = integer(position, "position")?;
        let counted = if position < 0 { position.saturating_add(count as i64) } else { position };
        let place = usize::try_from(counted).ok().filter(|&place| place < count);
        place.ok_or_else(|| {
            invalid(format!("position {position} is outside of a sequence with {count} places"))
        })
    }
}

/// A tensor of a new sequence: elements of another tensor, and their shape.
type Piece<'c> = (&'c DenseHostTensor, Range<usize>, Vec<usize>);

/// Makes a sequence of these tensors.
fn sequence(call: &CpuCall<'_>, dtype: DType, pieces: &[Piece<'_>]) -> Computed {
    let rank = pieces.first().map_or(0, |(_, _, dims)| dims.len());
    if pieces.iter().any(|(tensor, _, dims)| dims.len() != rank || tensor.dtype() != dtype) {
        return Err(invalid(
            "the tensors of a sequence must have one data type and one number of dimensions",
        ));
    }
    let count = pieces.iter().fold(0usize, |sum, (_, range, _)| sum.saturating_add(range.len()));
    let data = allocate(call, dtype, &[count])?;
    copy(pieces, &data)?;
    let extents: Vec<i64> = pieces
        .iter()
        .flat_map(|(_, _, dims)| dims)
        .map(|&dim| i64::try_from(dim).unwrap_or(i64::MAX))
        .collect();
    let shape = TensorShape::new(&[pieces.len(), rank])?;
    let shapes = DenseHostTensor::from_slice(shape, &extents, call.cx.host().allocator())?;
    Ok(results([data, shapes]))
}

/// Copies pieces of the data type of `to`, which has as many elements.
fn copy(pieces: &[Piece<'_>], to: &DenseHostTensor) -> Result<(), Diagnostic> {
    let (mut to, each, mut start) = (to.write_bytes(&ME)?, element_bytes(to), 0);
    for (tensor, range, _) in pieces {
        let from = &tensor.read_bytes(&ME)?[range.start * each..range.end * each];
        to[start..][..from.len()].copy_from_slice(from);
        start += from.len();
    }
    Ok(())
}

/// How many bytes an element has.
fn element_bytes(tensor: &DenseHostTensor) -> usize {
    tensor.dtype().size().unwrap_or(0)
}

fn pieces<'s>(sequence: &Sequence<'s>) -> Vec<Piece<'s>> {
    let tensors = sequence.places.iter().zip(&sequence.dims);
    tensors.map(|(range, dims)| (sequence.data, range.clone(), dims.clone())).collect()
}

fn insert(call: CpuCall<'_>) -> Computed {
    let [data, shapes, tensor, position] = formal(call.arguments, call.attrs)?;
    let sequence_ = Sequence::new(required(data, "data")?, required(shapes, "shapes")?)?;
    let tensor = dense(tensor, "tensor")?;
    let mut pieces = pieces(&sequence_);
    let place = match position {
        None => pieces.len(),
        // The place behind the last tensor is one, too, but negative ones count from the tensors
        // that are there.
        Some(position) => match integer(position, "position")? {
            end if usize::try_from(end) == Ok(pieces.len()) => pieces.len(),
            _ => Sequence::place(position, pieces.len())?,
        },
    };
    pieces.insert(place, (tensor, 0..tensor.num_elements(), tensor.shape().dims().to_vec()));
    sequence(&call, tensor.dtype(), &pieces)
}

fn erase(call: CpuCall<'_>) -> Computed {
    let [data, shapes, position] = formal(call.arguments, call.attrs)?;
    let sequence_ = Sequence::new(required(data, "data")?, required(shapes, "shapes")?)?;
    let mut pieces = pieces(&sequence_);
    let last =
        pieces.len().checked_sub(1).ok_or_else(|| invalid("an empty sequence has no element to erase"))?;
    let place = position.map_or(Ok(last), |position| Sequence::place(position, pieces.len()))?;
    pieces.remove(place);
    sequence(&call, sequence_.data.dtype(), &pieces)
}

fn at(call: CpuCall<'_>) -> Computed {
    let [data, shapes, position] = take(&call)?;
    let sequence = Sequence::new(data, shapes)?;
    let place = Sequence::place(position, sequence.places.len())?;
    let (range, dims) = (sequence.places[place].clone(), &sequence.dims[place]);
    let dtype = sequence.data.dtype();
    let out = allocate(&call, dtype, dims)?;
    let piece = [(sequence.data, range, dims.clone())];
    copy(&piece, &out)?;
    Ok(out.into())
}

fn concat(call: CpuCall<'_>) -> Computed {
    let [data, shapes] = take(&call)?;
    let mut sequence = Sequence::new(data, shapes)?;
    let is_new = flag(call.attrs, "new_axis", false)?;
    let rank =
        sequence.dims.first().ok_or_else(|| invalid("an empty sequence cannot be concatenated"))?.len();
    let axis = axis_of(int_or(call.attrs, "axis", 0)?, rank + usize::from(is_new), "axis")?;
    if is_new {
        sequence.dims.iter_mut().for_each(|dims| dims.insert(axis, 1));
    }
    let mut dims = sequence.dims[0].clone();
    dims[axis] = sequence.dims.iter().map(|dims| dims[axis]).sum();
    for own in &sequence.dims {
        if (0..dims.len()).any(|place| place != axis && own[place] != dims[place]) {
            return Err(invalid(format!(
                "tensors of shapes {:?} and {own:?} cannot be concatenated",
                sequence.dims[0]
            )));
        }
    }
    let dtype = sequence.data.dtype();
    let out = allocate(&call, dtype, &dims)?;
    join(&sequence, axis, &out)?;
    Ok(out.into())
}

fn join(sequence: &Sequence<'_>, axis: usize, to: &DenseHostTensor) -> Result<(), Diagnostic> {
    let (each, mut start) = (element_bytes(to), 0);
    let (from, mut to) = (sequence.data.read_bytes(&ME)?, to.write_bytes(&ME)?);
    let rows = product(&sequence.dims[0][..axis]);
    for row in 0..if to.is_empty() { 0 } else { rows } {
        for (range, dims) in sequence.places.iter().zip(&sequence.dims) {
            let unit = product(&dims[axis..]) * each;
            to[start..start + unit].copy_from_slice(&from[range.start * each + row * unit..][..unit]);
            start += unit;
        }
    }
    Ok(())
}

/// The extents of the parts along the axis that a tensor is split along.
fn part_extents(split: Option<&HostTensor>, extent: usize) -> Result<Vec<usize>, Diagnostic> {
    let sizes = split
        .map(|split| Ok::<_, Diagnostic>((split.shape().rank(), integers(split, "split")?)))
        .transpose()?;
    let chunk = match sizes {
        Some((1.., sizes)) => {
            let parts = sizes.iter().map(|&size| usize::try_from(size).ok()).collect::<Option<Vec<_>>>();
            let parts = parts.filter(|parts| {
                parts.iter().try_fold(0, |sum: usize, &part| sum.checked_add(part)) == Some(extent)
            });
            return parts.ok_or_else(|| invalid(format!("{extent} places cannot be split into {sizes:?}")));
        }
        Some((_, size)) => size.first().and_then(|&size| usize::try_from(size).ok()).unwrap_or(0),
        None => 1,
    };
    if chunk == 0 {
        return Err(invalid("the parts of a split must have a positive size"));
    }
    Ok((0..extent.div_ceil(chunk)).map(|part| chunk.min(extent - part * chunk)).collect())
}

fn split(call: CpuCall<'_>) -> Computed {
    let [x, split] = formal(call.arguments, call.attrs)?;
    let x = dense(x, "input")?;
    let dims = x.shape().dims();
    let axis = axis_of(int_or(call.attrs, "axis", 0)?, dims.len(), "axis")?;
    let extents = part_extents(split, dims[axis])?;
    let drops = split.is_none() && !flag(call.attrs, "keepdims", true)?;
    // Parts of rows lie behind each other once each part is a tensor of its own.
    let parts = allocate(&call, x.dtype(), &[x.num_elements()])?;
    divide(x, axis, &extents, &parts)?;
    let mut start = 0;
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    for &extent in &extents {
        let mut own = dims.to_vec();
        own[axis] = extent;
        let end = start + product(&own);
        if drops {
            own.remove(axis);
        }
        pieces.push((&parts, start..end, own));
        start = end;
    }
    sequence(&call, x.dtype(), &pieces)
}

fn divide(
    x: &DenseHostTensor,
    axis: usize,
    extents: &[usize],
    to: &DenseHostTensor,
) -> Result<(), Diagnostic> {
    let (from, mut to, each) = (x.read_bytes(&ME)?, to.write_bytes(&ME)?, element_bytes(x));
    let dims = x.shape().dims();
    let (rows, inner, whole) =
        (product(&dims[..axis]), product(&dims[axis + 1..]) * each, product(&dims[axis..]) * each);
    let (mut start, mut first) = (0, 0);
    for &extent in extents {
        let unit = extent * inner;
        for row in 0..if from.is_empty() { 0 } else { rows } {
            to[start..start + unit].copy_from_slice(&from[row * whole + first..][..unit]);
            start += unit;
        }
        first += unit;
    }
    Ok(())
}

pub(super) fn register(ops: &mut OpRegistry) {
    let operands = super::arguments::OPERANDS;
    ops.add("onnx.SequenceInsert").types(types::ELEMENTS).attrs([operands]).cpu(insert);
    ops.add("onnx.SequenceErase").types(types::ELEMENTS).attrs([operands]).cpu(erase);
    ops.add("onnx.SequenceAt").types(types::ELEMENTS).cpu(at);
    ops.add("onnx.ConcatFromSequence")
        .types(types::ELEMENTS)
        .attrs([attr::int("axis"), attr::int_or("new_axis", 0)])
        .cpu(concat);
    ops.add("onnx.SplitToSequence")
        .types(types::ELEMENTS)
        .attrs([attr::int_or("axis", 0), attr::int_or("keepdims", 1), operands])
        .cpu(split);
}
