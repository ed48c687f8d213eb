//! [`Moves`]: ops that move elements of their argument without changing them.
//!
//! Slices, repetitions, reversals and broadcasts select along each dimension independently, so a
//! list of steps for each dimension defines the source of every element. Strings are moved in the
//! same way as numbers.

use std::ops::Range;

use smallvec::{SmallVec, smallvec};
use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::{
    Accessor, BString, DenseHostTensor, Element, HostTensor, StringHostTensor, TensorMetadata, TensorShape,
    with_bits,
};

use super::support::{Computed, Output, allocate, compute, invalid, product, room_for};
use crate::{CpuCall, OpAttrs, OpResult, registry::wrong_count};

static ME: Accessor = Accessor::new("tf op that moves elements");

/// The sources of the elements along one dimension of the result.
#[derive(Clone, Debug)]
pub(super) enum Axis {
    /// `count` elements: `start`, `start + step`, …
    Steps { start: usize, step: isize, count: usize },
    /// All `extent` elements, repeated up to `count` in total.
    Repeated { extent: usize, count: usize },
    /// An explicit list.
    Table(Vec<usize>),
}

impl Axis {
    /// Selects a whole dimension.
    pub(super) fn whole(count: usize) -> Self {
        Self::Steps { start: 0, step: 1, count }
    }

    /// Returns the number of elements.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Steps { count, .. } | Self::Repeated { count, .. } => *count,
            Self::Table(table) => table.len(),
        }
    }

    /// Returns this selection and that of the next inner dimension, of `extent` elements, as one
    /// selection from both dimensions, if there is one of the same kind.
    fn with_inner(&self, inner: &Self, extent: usize) -> Option<Self> {
        let is_whole = matches!(inner, Self::Steps { start: 0, step: 1, count } if *count == extent);
        match (self, inner) {
            (Self::Steps { start, step: 1, count }, _) if is_whole => Some(Self::Steps {
                start: start.checked_mul(extent)?,
                step: 1,
                count: count.checked_mul(extent)?,
            }),
            (Self::Repeated { extent: outer, count }, _) if is_whole => {
                Some(Self::Repeated { extent: outer.checked_mul(extent)?, count: count.checked_mul(extent)? })
            }
            (Self::Steps { start, count: 1, .. }, Self::Steps { start: inner, step, count }) => {
                let start = start.checked_mul(extent)?.checked_add(*inner)?;
                Some(Self::Steps { start, step: *step, count: *count })
            }
            _ => None,
        }
    }

    /// Returns the stretches with even steps that it consists of, in units of the dimension.
    fn stretches(&self) -> Vec<Stretch> {
        match self {
            &Self::Steps { start, step, count } => {
                vec![Stretch { to: 0, from: start, steps: smallvec![(count, 1, step)] }]
            }
            &Self::Repeated { extent, count } => {
                let times = count.checked_div(extent).unwrap_or(0);
                let steps = smallvec![(times, extent as isize, 0), (extent, 1, 1)];
                vec![Stretch { to: 0, from: 0, steps }]
            }
            Self::Table(table) => {
                let (mut stretches, mut to) = (Vec::new(), 0);
                while let Some(&from) = table.get(to) {
                    let step = table.get(to + 1).map_or(1, |&next| next.wrapping_sub(from) as isize);
                    let even = |place: &usize| {
                        from.wrapping_add_signed(step * (place - to) as isize) == table[*place]
                    };
                    let count = (to..table.len()).take_while(even).count();
                    stretches.push(Stretch { to, from, steps: smallvec![(count, 1, step)] });
                    to += count;
                }
                stretches
            }
        }
    }

    /// Returns how many times a list has each of several neighbours, as where images become larger
    /// by a whole factor, or 1.
    fn times(&self) -> usize {
        let Self::Table(table) = self else { return 1 };
        let Some(&first) = table.first() else { return 1 };
        let times = table.iter().take_while(|&&place| place == first).count();
        let is_even = table.iter().enumerate().all(|(i, &place)| place == first + i / times);
        if is_even { times } else { 1 }
    }

    fn place(&self, index: usize) -> usize {
        match self {
            // Every position is within the argument, so sums neither overflow nor become negative.
            Self::Steps { start, step, .. } => start.wrapping_add_signed(step.wrapping_mul(index as isize)),
            Self::Repeated { extent, .. } => index % extent,
            Self::Table(table) => table[index],
        }
    }
}

/// A part of a dimension of the result whose elements are at even steps in the argument.
struct Stretch {
    /// Its start in the result.
    to: usize,
    /// Its start in the argument.
    from: usize,
    /// The number of elements, and their steps in the result and in the argument; the outer one
    /// comes first.
    steps: SmallVec<[(usize, isize, isize); 2]>,
}

/// Elements at even steps in the argument and in the result, for copies on a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ElementBox {
    /// The positions of the first element in the result and in the argument.
    pub(super) starts: [u64; 2],
    /// The extents, and the steps in the result and in the argument.
    pub(super) axes: Vec<(u64, i64, i64)>,
}

/// A selection along each dimension of the result.
#[derive(Clone, Debug)]
pub(crate) struct Moves {
    /// The selections, and the distance between elements along each dimension of the argument.
    /// Dimensions that are selected together are merged.
    axes: Vec<(Axis, usize)>,
    /// The shape of the result.
    dims: Vec<usize>,
}

impl Moves {
    /// Selects `axes` of a dense argument of shape `dims`. Each axis must stay within its
    /// dimension.
    pub(super) fn new(dims: &[usize], axes: Vec<Axis>) -> Self {
        let result = axes.iter().map(Axis::count).collect();
        let mut merged: Vec<(Axis, usize)> = Vec::with_capacity(axes.len());
        for ((axis, &extent), stride) in axes.into_iter().zip(dims).zip(strides(dims)) {
            let both = merged.last().and_then(|(last, _)| last.with_inner(&axis, extent));
            match (merged.last_mut(), both) {
                (Some(last), Some(both)) => *last = (both, stride),
                _ => merged.push((axis, stride)),
            }
        }
        Self { axes: merged, dims: result }
    }

    /// Selects a diagonal of `rank` dimensions from an argument of shape `dims`. For each dimension
    /// of the argument, `along` names the dimension of the result with the same index, or `None`
    /// for index zero.
    pub(super) fn diagonal(dims: &[usize], along: &[Option<usize>], rank: usize) -> Self {
        let mut axes = vec![(0, 0usize); rank];
        for ((&dim, stride), axis) in dims.iter().zip(strides(dims)).zip(along) {
            if let Some(axis) = axis.and_then(|axis| axes.get_mut(axis)) {
                *axis = (dim, axis.1.saturating_add(stride));
            }
        }
        let dims = axes.iter().map(|axis| axis.0).collect();
        Self { axes: axes.into_iter().map(|(dim, stride)| (Axis::whole(dim), stride)).collect(), dims }
    }

    /// Returns the shape of the result.
    pub(crate) fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// Returns the result in shape `dims`, which must have as many elements as [`Moves::dims`].
    pub(super) fn apply(self, call: &CpuCall<'_>, tensor: &HostTensor, dims: &[usize]) -> Computed {
        match tensor {
            HostTensor::String(strings) => {
                Ok(StringHostTensor::new(TensorShape::new(dims)?, self.strings_of(strings)?)?.into())
            }
            HostTensor::Dense(dense) if self.is_identity(dense.num_elements()) => {
                Ok(dense.reshape(TensorShape::new(dims)?)?.into())
            }
            tensor => with_bits!(
                tensor.dtype(),
                |T| self.apply_to::<T>(call, tensor.dense()?, dims),
                else Err(no_memory_form(tensor.dtype()))
            ),
        }
    }

    fn apply_to<T: Element>(self, call: &CpuCall<'_>, tensor: &DenseHostTensor, dims: &[usize]) -> Computed {
        let (x, out) = (tensor.as_bits().read_owned::<T>(&ME)?, allocate(call, tensor.dtype(), dims)?);
        let inner = self.row();
        compute(call, &ME, Output::Bits(out), (self.rows(), inner, inner), move |rows, out: &mut [T]| {
            self.copy(&x, rows, out);
            Ok(())
        })
    }

    /// Returns the strings of the result.
    pub(crate) fn strings_of(&self, tensor: &StringHostTensor) -> Result<Vec<BString>, Diagnostic> {
        let places: Vec<usize> = (0..tensor.strings().len()).collect();
        let count = TensorShape::new(self.dims())?.num_elements()?;
        let mut chosen = room_for(count)?;
        chosen.resize(count, 0);
        self.copy_all(&places, &mut chosen);
        Ok(chosen.into_iter().map(|place| tensor.strings()[place].clone()).collect())
    }

    /// Writes the whole result.
    pub(crate) fn copy_all<T: Copy>(&self, x: &[T], out: &mut [T]) {
        self.copy(x, 0..self.rows(), out);
    }

    /// Returns the result like [`Moves::apply`], immediately.
    pub(super) fn copy_dense(
        self,
        call: &CpuCall<'_>,
        tensor: &DenseHostTensor,
        dims: &[usize],
    ) -> Result<DenseHostTensor, Diagnostic> {
        let out = allocate(call, tensor.dtype(), dims)?;
        with_bits!(
            tensor.dtype(),
            |T| {
                let x = tensor.as_bits();
                self.copy(&x.read::<T>(&ME)?, 0..self.rows(), &mut out.as_bits().write(&ME)?);
                Ok(out)
            },
            else Err(no_memory_form(tensor.dtype()))
        )
    }

    /// Returns a tensor with the argument's shape: the elements of `tensor`, which has the size of
    /// the result, at the positions they would be selected from, and zeros elsewhere.
    pub(super) fn give_back(
        &self,
        call: &CpuCall<'_>,
        tensor: &DenseHostTensor,
        shape: &TensorShape,
    ) -> Result<DenseHostTensor, Diagnostic> {
        let metadata = TensorMetadata::new(tensor.dtype(), shape.clone());
        let out = DenseHostTensor::allocate(metadata, call.cx.host().allocator())?;
        with_bits!(
            tensor.dtype(),
            |T| {
                self.scatter(&tensor.as_bits().read::<T>(&ME)?, &mut out.as_bits().write(&ME)?);
                Ok(out)
            },
            else Err(no_memory_form(tensor.dtype()))
        )
    }

    /// Writes the elements of a result to the positions they are selected from.
    fn scatter<T: Copy>(&self, x: &[T], out: &mut [T]) {
        let Some(((inner, stride), outer)) = self.axes.split_last() else {
            out.iter_mut().zip(x).for_each(|(out, &x)| *out = x);
            return;
        };
        if inner.count() == 0 {
            return;
        }
        let mut walk = Walk::new(outer, 0);
        for x in x.chunks_exact(inner.count()).take(self.rows()) {
            let out = &mut out[walk.base()..];
            walk.advance();
            x.iter().enumerate().for_each(|(i, &x)| out[inner.place(i) * stride] = x);
        }
    }

    /// Returns whether the result has the elements of the argument in order.
    pub(super) fn is_identity(&self, count: usize) -> bool {
        let whole = |(axis, _): &(Axis, usize)| matches!(axis, Axis::Steps { start: 0, step: 1, .. });
        self.axes.iter().all(whole) && product(&self.dims) == count
    }

    /// Returns the result as boxes of elements at even steps, or nothing for an empty result.
    pub(super) fn boxes(&self) -> Vec<ElementBox> {
        if self.dims.contains(&0) {
            return Vec::new();
        }
        let mut boxes = vec![ElementBox::default()];
        let counts: Vec<_> = self.axes.iter().map(|(axis, _)| axis.count()).collect();
        for ((axis, from_stride), to_stride) in self.axes.iter().zip(strides(&counts)) {
            let stretches = axis.stretches();
            let longer = |known: &ElementBox, stretch: &Stretch| {
                let mut next = known.clone();
                next.starts[0] += (stretch.to * to_stride) as u64;
                next.starts[1] += (stretch.from * from_stride) as u64;
                next.axes.extend(stretch.steps.iter().map(|&(count, to, from)| {
                    (count as u64, to as i64 * to_stride as i64, from as i64 * *from_stride as i64)
                }));
                next
            };
            boxes = boxes
                .iter()
                .flat_map(|known| stretches.iter().map(move |stretch| longer(known, stretch)))
                .collect();
        }
        boxes
    }

    /// Returns the number of elements that the innermost selection has.
    fn row(&self) -> usize {
        self.axes.last().map_or(1, |(axis, _)| axis.count())
    }

    /// Returns the number of rows of the innermost selection.
    fn rows(&self) -> usize {
        product(&self.dims).checked_div(self.row()).unwrap_or(0)
    }

    /// Writes rows of the result.
    fn copy<T: Copy>(&self, x: &[T], rows: Range<usize>, out: &mut [T]) {
        let Some(((inner, stride), outer)) = self.axes.split_last() else {
            out.iter_mut().zip(x).for_each(|(out, &x)| *out = x);
            return;
        };
        if inner.count() == 0 {
            return;
        }
        let (mut walk, count, mut before) = (Walk::new(outer, rows.start), inner.count(), None);
        let times = inner.times();
        for row in 0..rows.len().min(out.len() / count) {
            let (done, out) = out.split_at_mut(row * count);
            let (out, base) = (&mut out[..count], walk.base());
            walk.advance();
            if before == Some(base) {
                // The same row again, as where images become larger.
                out.copy_from_slice(&done[(row - 1) * count..]);
                continue;
            }
            before = Some(base);
            let x = &x[base..];
            match inner {
                Axis::Steps { start, step: 1, count } if *stride == 1 => {
                    out.copy_from_slice(&x[*start..][..*count]);
                }
                &Axis::Steps { start, step, .. } => {
                    let (mut at, step) = (start * stride, step.wrapping_mul(*stride as isize));
                    for out in out {
                        *out = x[at];
                        at = at.wrapping_add_signed(step);
                    }
                }
                Axis::Repeated { extent: 1, .. } => out.fill(x[0]),
                Axis::Repeated { extent, .. } if *stride == 1 => {
                    out.chunks_mut(*extent).for_each(|out| out.copy_from_slice(&x[..out.len()]));
                }
                Axis::Table(table) if *stride == 1 && times > 1 => match times {
                    2 => repeat_each::<T, 2>(&x[table[0]..], out),
                    3 => repeat_each::<T, 3>(&x[table[0]..], out),
                    4 => repeat_each::<T, 4>(&x[table[0]..], out),
                    times => out.chunks_mut(times).zip(&x[table[0]..]).for_each(|(out, &x)| out.fill(x)),
                },
                Axis::Table(table) => {
                    out.iter_mut().zip(table).for_each(|(out, &place)| *out = x[place * stride]);
                }
                inner => out.iter_mut().enumerate().for_each(|(i, out)| *out = x[inner.place(i) * stride]),
            }
        }
    }
}

/// Writes each element `N` times.
fn repeat_each<T: Copy, const N: usize>(x: &[T], out: &mut [T]) {
    let (whole, rest) = out.as_chunks_mut::<N>();
    if let Some(&x) = x.get(whole.len()) {
        rest.fill(x);
    }
    whole.iter_mut().zip(x).for_each(|(out, &x)| *out = [x; N]);
}

/// The starts of rows of the result in the argument, one row after the other.
struct Walk<'a> {
    outer: &'a [(Axis, usize)],
    index: SmallVec<[usize; 6]>,
    /// For each axis, the position that it and the axes before it give.
    bases: SmallVec<[usize; 6]>,
}

impl<'a> Walk<'a> {
    fn new(outer: &'a [(Axis, usize)], row: usize) -> Self {
        let (mut rest, mut index) = (row, smallvec![0; outer.len()]);
        for ((axis, _), index) in outer.iter().zip(&mut index).rev() {
            *index = rest % axis.count().max(1);
            rest /= axis.count().max(1);
        }
        let mut walk = Self { outer, index, bases: smallvec![0; outer.len()] };
        walk.place_from(0);
        walk
    }

    /// The start of the present row.
    fn base(&self) -> usize {
        self.bases.last().copied().unwrap_or(0)
    }

    /// Goes to the next row, and after the last to the first.
    fn advance(&mut self) {
        for level in (0..self.outer.len()).rev() {
            self.index[level] += 1;
            if self.index[level] < self.outer[level].0.count() {
                return self.place_from(level);
            }
            self.index[level] = 0;
        }
        self.place_from(0);
    }

    fn place_from(&mut self, level: usize) {
        for level in level..self.outer.len() {
            let before = level.checked_sub(1).map_or(0, |before| self.bases[before]);
            let (axis, stride) = &self.outer[level];
            // A selection without elements has no places; then there are no rows, and other axes may be
            // longer than places can be counted.
            let place = if axis.count() == 0 { 0 } else { axis.place(self.index[level]) };
            self.bases[level] = before.wrapping_add(place.wrapping_mul(*stride));
        }
    }
}

/// A result of an op that moves elements.
#[derive(Clone, Debug)]
pub(super) struct Moved {
    /// The source of each element.
    pub(super) moves: Moves,
    /// The result's shape, with as many elements.
    pub(super) dims: Vec<usize>,
}

impl From<Moves> for Moved {
    fn from(moves: Moves) -> Self {
        Self { dims: moves.dims.clone(), moves }
    }
}

/// Plans an op's results for a tensor of this shape from its other arguments and its attributes.
pub(super) type MovePlan = fn(&[usize], &[&HostTensor], &OpAttrs) -> Result<Vec<Moved>, Diagnostic>;

/// Returns the arguments that control how an op moves elements, of which there must be `N`.
pub(super) fn how<'t, const N: usize>(others: &[&'t HostTensor]) -> Result<[&'t HostTensor; N], Diagnostic> {
    others.try_into().map_err(|_| wrong_count(N + 1, others.len() + 1))
}

/// Returns the results of an op that moves the elements of argument `at`, controlled by the other
/// arguments.
pub(super) fn moved(call: &CpuCall<'_>, at: usize, plan: MovePlan) -> Computed {
    let tensor = call.arguments.get(at).ok_or_else(|| wrong_count(at + 1, call.arguments.len()))?;
    let others = call.arguments.iter().enumerate().filter(|(index, _)| *index != at);
    let others: SmallVec<[&HostTensor; 3]> = others.map(|(_, &argument)| argument).collect();
    let mut results = OpResult::default();
    for Moved { moves, dims } in plan(tensor.shape().dims(), &others, call.attrs)? {
        results.tensors.extend(moves.apply(call, tensor, &dims)?.tensors);
    }
    Ok(results)
}

/// Returns the distances between elements along each dimension.
fn strides(dims: &[usize]) -> Vec<usize> {
    let mut strides = vec![1usize; dims.len()];
    for axis in (1..dims.len()).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(dims[axis]);
    }
    strides
}

/// Returns the error for tensors without plain values.
pub(super) fn no_memory_form(dtype: DType) -> Diagnostic {
    invalid(format!("elements of type {dtype} cannot be moved"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the elements that the boxes copy.
    fn copied(moves: &Moves, x: &[usize]) -> Vec<usize> {
        let mut out = vec![usize::MAX; product(moves.dims())];
        for ElementBox { starts, axes } in moves.boxes() {
            for position in 0..axes.iter().map(|axis| axis.0).product() {
                let (mut rest, mut at): (u64, _) = (position, starts.map(|start| start as i64));
                for &(extent, to, from) in axes.iter().rev() {
                    let index = (rest % extent) as i64;
                    (rest, at) = (rest / extent, [at[0] + index * to, at[1] + index * from]);
                }
                out[at[0] as usize] = x[at[1] as usize];
            }
        }
        out
    }

    #[test]
    fn boxes_hold_what_a_copy_on_the_host_does() {
        let x: Vec<usize> = (0..24).collect();
        let whole = Axis::whole;
        let cases = [
            vec![whole(2), whole(3), whole(4)],
            vec![
                Axis::Steps { start: 1, step: -1, count: 2 },
                Axis::Steps { start: 2, step: 1, count: 1 },
                whole(4),
            ],
            vec![Axis::Repeated { extent: 2, count: 6 }, whole(3), Axis::Repeated { extent: 4, count: 8 }],
            vec![whole(2), Axis::Table(vec![2, 1, 0, 1, 2, 1]), Axis::Table(vec![3, 3, 0])],
            vec![Axis::Steps { start: 1, step: 1, count: 1 }, whole(3), whole(4)],
            vec![whole(2), Axis::Steps { start: 1, step: 1, count: 2 }, whole(4)],
            vec![
                Axis::Steps { start: 1, step: 1, count: 1 },
                Axis::Steps { start: 2, step: -2, count: 2 },
                Axis::Steps { start: 3, step: -1, count: 3 },
            ],
            vec![whole(2), Axis::Repeated { extent: 3, count: 6 }, whole(4)],
            vec![Axis::Repeated { extent: 2, count: 4 }, whole(3), whole(4)],
            vec![Axis::Table(vec![1, 0]), whole(3), Axis::Steps { start: 0, step: 1, count: 3 }],
            vec![whole(2), Axis::Steps { start: 0, step: 1, count: 0 }, whole(4)],
        ];
        for axes in cases {
            let moves = Moves::new(&[2, 3, 4], axes);
            let mut expected = vec![0; product(moves.dims())];
            moves.copy_all(&x, &mut expected);
            assert_eq!(copied(&moves, &x), expected, "{moves:?}");
            let rows = moves.rows();
            for first in 0..rows {
                let row = moves.row();
                let mut later = vec![0; (rows - first) * row];
                moves.copy(&x, first..rows, &mut later);
                assert_eq!(later, expected[first * row..], "{moves:?}");
            }
            assert_eq!(moves.is_identity(24), expected == x, "{moves:?}");
        }
    }

    #[test]
    fn a_diagonal_has_an_index_for_several_dimensions() {
        let x: Vec<usize> = (0..18).collect();
        let moves = Moves::diagonal(&[3, 1, 2, 3], &[Some(1), None, Some(0), Some(1)], 2);
        let mut out = vec![0; 6];
        moves.copy_all(&x, &mut out);
        assert_eq!((moves.dims(), &out[..]), (&[2, 3][..], &[0, 7, 14, 3, 10, 17][..]));
        assert_eq!(copied(&moves, &x), out);
        assert!(!moves.is_identity(18) && Moves::diagonal(&[3, 1], &[Some(0), None], 1).is_identity(3));
    }

    #[test]
    fn returned_storage_is_chosen_again() {
        let axes = vec![
            Axis::Steps { start: 1, step: -1, count: 2 },
            Axis::Steps { start: 0, step: 2, count: 2 },
            Axis::Steps { start: 3, step: -3, count: 2 },
        ];
        let moves = Moves::new(&[2, 3, 4], axes);
        let x: Vec<usize> = (1..9).collect();
        let (mut whole, mut again) = (vec![0; 24], vec![0; 8]);
        moves.scatter(&x, &mut whole);
        moves.copy_all(&whole, &mut again);
        assert_eq!((again, whole.iter().filter(|&&x| x == 0).count()), (x, 16));
    }
}
