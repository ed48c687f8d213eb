//! Tensors put together: `tf.ConcatV2`, `tf.Concat`, `tf.Pack`.

use std::ops::{Deref, Range};

use smallvec::SmallVec;
use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::{Accessor, Element, HostTensor, StringHostTensor, TensorMetadata, TensorShape, with_bits};

use super::moves::no_memory_form;
use super::support::{
    Computed, Output, allocate, axis_of, check_shape, compute, int_attr, integer_within, invalid, product,
    room_for,
};
use super::types;
use crate::{CpuCall, Forms, OpRegistry, attr};

static ME: Accessor = Accessor::new("tf concatenation");

/// Tensors laid one after another along one dimension.
pub(super) struct Joined {
    /// Of all tensors.
    pub(super) dtype: DType,
    /// The result's shape.
    pub(super) dims: Vec<usize>,
    /// Elements that each tensor has for each row of the result, a row being all from the dimension
    /// on.
    pub(super) runs: Vec<usize>,
}

impl Joined {
    /// Joins along an existing dimension. Scalars, which TensorFlow refuses, count as vectors of
    /// one element, as existing programs expect.
    pub(super) fn along(tensors: &[&TensorMetadata], axis: i64) -> Result<Self, Diagnostic> {
        let first = tensors.first().ok_or_else(|| invalid("ConcatOp : needs at least one tensor"))?;
        let extents = |tensor: &TensorMetadata| match tensor.shape.dims() {
            [] => vec![1],
            dims => dims.to_vec(),
        };
        let (mut dims, rank) = (extents(first), first.shape.rank().max(1));
        let axis = axis_of(axis, rank, "ConcatOp").map_err(|_| {
            invalid(format!(
                "ConcatOp : Expected concatenating dimensions in the range [-{rank}, {rank}), but got {axis}"
            ))
        })?;
        dims[axis] = 0;
        let mut runs = Vec::with_capacity(tensors.len());
        for (number, tensor) in tensors.iter().enumerate() {
            if tensor.dtype != first.dtype {
                return Err(invalid(format!(
                    "ConcatOp : tensors must have one type: tensor 0 has {}, tensor {number} has {}",
                    first.dtype, tensor.dtype
                )));
            }
            let other = extents(tensor);
            if other.len() != dims.len() {
                return Err(invalid(format!(
                    "ConcatOp : Ranks of all input tensors should match: shape[0] = {} vs. shape[{number}] = {}",
                    first.shape, tensor.shape
                )));
            }
            if let Some(wrong) = (0..rank).find(|&i| i != axis && other[i] != dims[i]) {
                return Err(invalid(format!(
                    "ConcatOp : Dimension {wrong} in both shapes must be equal: shape[0] = {} vs. shape[{number}] = {}",
                    first.shape, tensor.shape
                )));
            }
            dims[axis] = dims[axis].saturating_add(other[axis]);
            runs.push(product(&other[axis..]));
        }
        Ok(Self { dtype: first.dtype, dims, runs })
    }

    /// Joins along a new dimension.
    pub(super) fn stacked(tensors: &[&TensorMetadata], axis: i64) -> Result<Self, Diagnostic> {
        let first = tensors.first().ok_or_else(|| invalid("tf.Pack needs at least one tensor"))?;
        let rank = first.shape.rank() + 1;
        let place = axis_of(axis, rank, "axis")
            .map_err(|_| invalid(format!("axis = {axis} not in [-{rank}, {rank})")))?;
        if let Some(other) = tensors.iter().find(|tensor| **tensor != *first) {
            return Err(invalid(format!("Shapes and types of all inputs must match: {first} and {other}")));
        }
        let mut dims = first.shape.dims().to_vec();
        let run = product(&dims[place..]);
        dims.insert(place, tensors.len());
        Ok(Self { dtype: first.dtype, dims, runs: vec![run; tensors.len()] })
    }

    /// Elements of a row of the result.
    pub(super) fn row(&self) -> usize {
        self.runs.iter().fold(0, |sum: usize, &run| sum.saturating_add(run))
    }

    /// Rows of a result of `count` elements.
    pub(super) fn rows(&self, count: usize) -> usize {
        count.checked_div(self.row()).unwrap_or(0)
    }

    fn compute(&self, call: &CpuCall<'_>, tensors: &[&HostTensor]) -> Computed {
        let shape = TensorShape::new(&self.dims)?;
        let count = shape.num_elements()?;
        let (row, rows) = (self.row(), self.rows(count));
        if self.dtype == DType::String {
            let mut strings = room_for(count)?;
            for i in 0..rows {
                for (tensor, &run) in tensors.iter().zip(&self.runs) {
                    strings.extend_from_slice(&tensor.string()?.strings()[i * run..][..run]);
                }
            }
            return Ok(StringHostTensor::new(shape, strings)?.into());
        }
        with_bits!(
            self.dtype,
            |T| self.compute_of::<T>(call, tensors, (rows, row)),
            else Err(no_memory_form(self.dtype))
        )
    }

    fn compute_of<T: Element>(
        &self,
        call: &CpuCall<'_>,
        tensors: &[&HostTensor],
        (rows, row): (usize, usize),
    ) -> Computed {
        let out = allocate(call, self.dtype, &self.dims)?;
        let parts = tensors.iter().zip(&self.runs);
        let parts = parts
            .map(|(tensor, &run)| Ok((tensor.dense()?.as_bits_of(self.dtype)?.read_owned::<T>(&ME)?, run)));
        let parts: Vec<_> = parts.collect::<Result<_, Diagnostic>>()?;
        compute(call, &ME, Output::Bits(out), (rows, row, row), move |rows, out: &mut [T]| {
            join_rows(&parts, rows, row, out);
            Ok(())
        })
    }
}

fn metadata<'t>(tensors: &[&'t HostTensor]) -> SmallVec<[&'t TensorMetadata; 4]> {
    tensors.iter().map(|tensor| tensor.metadata()).collect()
}

/// Rows of at most this many elements are joined part by part, because the copy of a few elements
/// costs less than the call that copies any number of them.
const MAX_SHORT_ROW: usize = 64;

/// Writes these rows of `row` elements: of each part its next run.
fn join_rows<T: Copy>(
    parts: &[(impl Deref<Target = [T]>, usize)],
    rows: Range<usize>,
    row: usize,
    out: &mut [T],
) {
    if row <= MAX_SHORT_ROW {
        let mut first = 0;
        for (part, run) in parts {
            let part = &part[rows.start * run..rows.end * run];
            match run {
                1 => scatter_runs::<T, 1>(part, &mut out[first..], row),
                2 => scatter_runs::<T, 2>(part, &mut out[first..], row),
                4 => scatter_runs::<T, 4>(part, &mut out[first..], row),
                0 => {}
                &run => {
                    let places = out.chunks_exact_mut(row).map(|out| &mut out[first..first + run]);
                    places.zip(part.chunks_exact(run)).for_each(|(out, part)| {
                        out.iter_mut().zip(part).for_each(|(out, &x)| *out = x);
                    });
                }
            }
            first += run;
        }
        return;
    }
    for (i, mut out) in rows.zip(out.chunks_exact_mut(row.max(1))) {
        for (part, run) in parts {
            let (here, rest) = out.split_at_mut(*run);
            here.copy_from_slice(&part[i * run..][..*run]);
            out = rest;
        }
    }
}

/// Writes one run of `N` elements at the start of each row of `row` elements.
fn scatter_runs<T: Copy, const N: usize>(part: &[T], out: &mut [T], row: usize) {
    for (place, run) in out.chunks_mut(row).zip(part.as_chunks::<N>().0) {
        place[..N].copy_from_slice(run);
    }
}

/// Tensors of `T` one after another along an existing dimension, in a tensor that is given, at
/// once.
pub(crate) fn concat_into<T: Element>(
    tensors: &[&HostTensor],
    axis: i64,
    result: &HostTensor,
) -> Result<(), Diagnostic> {
    let joined = Joined::along(&metadata(tensors), axis)?;
    check_shape(result, &joined.dims)?;
    let parts =
        tensors.iter().zip(&joined.runs).map(|(tensor, &run)| Ok((tensor.dense()?.read::<T>(&ME)?, run)));
    let parts: Vec<_> = parts.collect::<Result<_, Diagnostic>>()?;
    let mut out = result.dense()?.write::<T>(&ME)?;
    join_rows(&parts, 0..joined.rows(out.len()), joined.row(), &mut out);
    Ok(())
}

fn concat_v2(call: CpuCall<'_>) -> Computed {
    let [tensors @ .., axis] = call.arguments else {
        return Err(invalid("tf.ConcatV2 needs an axis"));
    };
    Joined::along(&metadata(tensors), integer_within(axis, "axis", 1)?)?.compute(&call, tensors)
}

fn concat(call: CpuCall<'_>) -> Computed {
    let [axis, tensors @ ..] = call.arguments else {
        return Err(invalid("tf.Concat needs an axis"));
    };
    Joined::along(&metadata(tensors), integer_within(axis, "concat_dim", 1)?)?.compute(&call, tensors)
}

fn pack(call: CpuCall<'_>) -> Computed {
    let axis = int_attr(call.attrs, "axis")?.unwrap_or(0);
    Joined::stacked(&metadata(call.arguments), axis)?.compute(&call, call.arguments)
}

pub(super) fn register(ops: &mut OpRegistry) {
    let forms = Forms::STRING;
    ops.add("tf.ConcatV2").types(types::ANY).cpu(concat_v2).forms(forms);
    ops.add("tf.Concat").types(types::ANY).cpu(concat).forms(forms);
    ops.add("tf.Pack").types(types::ANY).attrs([attr::int_or("axis", 0)]).cpu(pack).forms(forms);
}
