//! [`Moves`]: ops whose elements are the argument's, in other places.
//!
//! Slices, repetitions, reversals and broadcasts choose along each dimension on its own, so that a list of steps for each
//! dimension says where every element comes from. Strings go the same way as numbers.

use std::ops::Range;

use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::{
    Accessor, DenseHostTensor, Element, HostTensor, StringHostTensor, TensorShape, with_element,
};

use super::support::{Computed, allocate, compute, invalid, product, room_for};
use crate::CpuCall;

static ME: Accessor = Accessor::new("tf op that moves elements");

/// Where the elements along one dimension of the result are found along the argument's.
#[derive(Clone, Debug)]
pub(super) enum Axis {
    /// `count` of them: `start`, `start + step`, …
    Steps { start: usize, step: isize, count: usize },
    /// All `extent` of them, over and over, `count` in all.
    Repeated { extent: usize, count: usize },
    /// These.
    Table(Vec<usize>),
}

impl Axis {
    /// All of a dimension.
    pub(super) fn whole(count: usize) -> Self {
        Self::Steps { start: 0, step: 1, count }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Steps { count, .. } | Self::Repeated { count, .. } => *count,
            Self::Table(table) => table.len(),
        }
    }

    fn place(&self, index: usize) -> usize {
        match self {
            // Every place lies within the argument, so that sums neither overflow nor become negative.
            Self::Steps { start, step, .. } => start.wrapping_add_signed(step.wrapping_mul(index as isize)),
            Self::Repeated { extent, .. } => index % extent,
            Self::Table(table) => table[index],
        }
    }
}

/// A choice along each dimension of the result.
#[derive(Clone, Debug)]
pub(crate) struct Moves {
    /// What is chosen, and how far apart neighbours are in the argument.
    axes: Vec<(Axis, usize)>,
    dims: Vec<usize>,
}

impl Moves {
    /// Chooses `axes` of a dense argument of shape `dims`. Each axis must stay within its dimension.
    pub(super) fn new(dims: &[usize], axes: Vec<Axis>) -> Self {
        let strides = strides(dims);
        Self { dims: axes.iter().map(Axis::count).collect(), axes: axes.into_iter().zip(strides).collect() }
    }

    /// The shape of the result.
    pub(crate) fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// The result, in shape `dims` of as many elements as [`Moves::dims`].
    pub(super) fn apply(self, call: &CpuCall<'_>, tensor: &HostTensor, dims: &[usize]) -> Computed {
        match tensor {
            HostTensor::String(strings) => {
                Ok(StringHostTensor::new(TensorShape::new(dims)?, self.strings_of(strings)?)?.into())
            }
            tensor => with_element!(
                tensor.dtype(),
                |T| self.apply_to::<T>(call, tensor, dims),
                else Err(no_memory_form(tensor.dtype()))
            ),
        }
    }

    fn apply_to<T: Element>(self, call: &CpuCall<'_>, tensor: &HostTensor, dims: &[usize]) -> Computed {
        let (x, out) = (tensor.dense()?.read_owned::<T>(&ME)?, allocate(call, T::DTYPE, dims)?);
        let inner = self.dims.last().copied().unwrap_or(1);
        compute(call, &ME, out, (self.rows(), inner, inner), move |rows, out: &mut [T]| {
            self.copy(&x, rows, out);
            Ok(())
        })
    }

    /// The strings of the result.
    pub(crate) fn strings_of(&self, tensor: &StringHostTensor) -> Result<Vec<String>, Diagnostic> {
        let places: Vec<usize> = (0..tensor.strings().len()).collect();
        let count = TensorShape::new(self.dims())?.num_elements()?;
        let mut chosen = room_for(count)?;
        chosen.resize(count, 0);
        self.copy_all(&places, &mut chosen);
        Ok(chosen.into_iter().map(|place| tensor.strings()[place].clone()).collect())
    }

    /// Writes all of the result.
    pub(crate) fn copy_all<T: Copy>(&self, x: &[T], out: &mut [T]) {
        self.copy(x, 0..self.rows(), out);
    }

    /// As [`Moves::apply`], at once.
    pub(super) fn copy_dense(
        self,
        call: &CpuCall<'_>,
        tensor: &DenseHostTensor,
        dims: &[usize],
    ) -> Result<DenseHostTensor, Diagnostic> {
        with_element!(
            tensor.dtype(),
            |T| {
                let mut out = allocate(call, T::DTYPE, dims)?;
                self.copy(&tensor.read::<T>(&ME)?, 0..self.rows(), out.elements_mut()?);
                Ok(out)
            },
            else Err(no_memory_form(tensor.dtype()))
        )
    }

    /// How many rows of the innermost dimension the result has.
    fn rows(&self) -> usize {
        let outer = self.dims.len().saturating_sub(1);
        if self.dims.contains(&0) { 0 } else { product(&self.dims[..outer]) }
    }

    /// Writes rows of the result.
    fn copy<T: Copy>(&self, x: &[T], rows: Range<usize>, out: &mut [T]) {
        let Some(((inner, _), outer)) = self.axes.split_last() else {
            out.iter_mut().zip(x).for_each(|(out, &x)| *out = x);
            return;
        };
        if inner.count() == 0 {
            return;
        }
        for (row, out) in rows.zip(out.chunks_exact_mut(inner.count())) {
            let (mut rest, mut base) = (row, 0);
            for (axis, stride) in outer.iter().rev() {
                base += axis.place(rest % axis.count()) * stride;
                rest /= axis.count();
            }
            let x = &x[base..];
            match inner {
                Axis::Steps { start, step: 1, count } => out.copy_from_slice(&x[*start..][..*count]),
                inner => out.iter_mut().enumerate().for_each(|(i, out)| *out = x[inner.place(i)]),
            }
        }
    }
}

/// The distances between neighbours along each dimension, in elements.
fn strides(dims: &[usize]) -> Vec<usize> {
    let mut strides = vec![1usize; dims.len()];
    for axis in (1..dims.len()).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(dims[axis]);
    }
    strides
}

/// A tensor of whole units of the argument: runs of `unit` elements, the first of which is at `places[i] * unit`.
pub(super) fn pick(
    call: &CpuCall<'_>,
    tensor: &HostTensor,
    places: Vec<usize>,
    unit: usize,
    dims: &[usize],
) -> Computed {
    if let HostTensor::String(strings) = tensor {
        let chosen = places.iter().flat_map(|place| &strings.strings()[place * unit..][..unit]);
        return Ok(StringHostTensor::new(TensorShape::new(dims)?, chosen.cloned().collect())?.into());
    }
    with_element!(
        tensor.dtype(),
        |T| {
            let (x, out) = (tensor.dense()?.read_owned::<T>(&ME)?, allocate(call, T::DTYPE, dims)?);
            compute(call, &ME, out, (places.len(), unit, unit.max(1)), move |range, out: &mut [T]| {
                if unit > 0 {
                    let units = out.chunks_exact_mut(unit).zip(&places[range]);
                    units.for_each(|(out, place)| out.copy_from_slice(&x[place * unit..][..unit]));
                }
                Ok(())
            })
        },
        else Err(no_memory_form(tensor.dtype()))
    )
}

/// The error for tensors that hold no plain values.
pub(super) fn no_memory_form(dtype: DType) -> Diagnostic {
    invalid(format!("elements of type {dtype} cannot be moved"))
}
