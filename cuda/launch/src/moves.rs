//! Moves elements: in steps along each axis, or to and from places given by indices.

use tfrt_device::error::{DeviceError, Result, Status};
use tfrt_device::front::{Argument, DeviceBuffer, Stream};
use tfrt_host::DType;

use crate::broadcast::MAX_RANK;
use crate::{DeviceKernels, by_width, in_out, input, name_of, output, product};

/// One axis of a box: the number of positions, and their distance in the result and in the operand.
type Axis = (u64, i64, i64);

/// A box of elements, and its places in the result and in the operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// From the last axis to the first, without axes of extent 1, merged where possible.
    axes: Vec<Axis>,
    elements: u64,
    /// The first position in the result and in the operand.
    starts: [u64; 2],
    /// One past the last element that is accessed in each.
    ends: [u64; 2],
}

impl Move {
    /// Creates a box whose first element is at `starts` of the result and of the operand. `axes`
    /// are extents and steps.
    ///
    /// # Errors
    /// `InvalidValue` for places before the first element or positions that overflow, and if more
    /// than six axes remain after merging.
    pub fn new(starts: [u64; 2], axes: &[(u64, i64, i64)]) -> Result<Self> {
        let elements = product(&axes.iter().map(|axis| axis.0).collect::<Vec<_>>())?;
        if elements == 0 {
            return Ok(Self { axes: Vec::new(), elements, starts, ends: [0; 2] });
        }
        let mut merged: Vec<Axis> = Vec::new();
        for &(extent, to, from) in axes.iter().rev().filter(|axis| axis.0 != 1) {
            let one = |step: i64, inner: i64, extent: u64| {
                i64::try_from(extent).ok()?.checked_mul(inner).filter(|&all| all == step)
            };
            match merged.last_mut() {
                Some((inner, inner_to, inner_from))
                    if one(to, *inner_to, *inner).is_some() && one(from, *inner_from, *inner).is_some() =>
                {
                    *inner *= extent;
                }
                _ => merged.push((extent, to, from)),
            }
        }
        if merged.len() > MAX_RANK {
            return Err(DeviceError::invalid_value("elements move along more than six axes"));
        }
        let end = |start: u64, step: fn(&Axis) -> i64| {
            let (mut least, mut greatest) = (i128::from(start), i128::from(start));
            for axis in &merged {
                let reach = i128::from(axis.0 - 1) * i128::from(step(axis));
                (least, greatest) = (least + reach.min(0), greatest + reach.max(0));
            }
            let outside = || DeviceError::invalid_value("elements move to or from outside of a tensor");
            if least < 0 { Err(outside()) } else { u64::try_from(greatest + 1).map_err(|_| outside()) }
        };
        let ends = [end(starts[0], |axis| axis.1)?, end(starts[1], |axis| axis.2)?];
        Ok(Self { axes: merged, elements, starts, ends })
    }

    /// Returns how many neighbouring elements, a power of two up to `most`, can be moved as one.
    fn unit(&self, most: u64) -> u64 {
        let Some((&(extent, 1, 1), outer)) = self.axes.split_first() else { return 1 };
        let steps = outer.iter().flat_map(|axis| [axis.1.unsigned_abs(), axis.2.unsigned_abs()]);
        let all = steps.chain(self.starts).fold(extent, |all, number| all | number);
        most.min(1 << all.trailing_zeros().min(63))
    }

    /// Returns the same move in units of `unit` elements.
    fn in_units(&self, unit: u64) -> Self {
        let mut wider = self.clone();
        for (place, axis) in wider.axes.iter_mut().enumerate() {
            if place == 0 {
                axis.0 /= unit;
            } else {
                (axis.1, axis.2) = (axis.1 / unit as i64, axis.2 / unit as i64);
            }
        }
        wider.elements /= unit;
        wider.starts = wider.starts.map(|start| start / unit);
        wider
    }
}

/// The shape of a gather: for each of `batches` batches and `outer` rows, `count` of `extent`
/// pieces of `width` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gather {
    /// The number of batches, which have separate indices.
    pub batches: u64,
    /// The number of rows that share indices.
    pub outer: u64,
    /// The number of pieces in a row.
    pub extent: u64,
    /// The number of indices.
    pub count: u64,
    /// The size of a piece in bytes.
    pub width: u64,
}

/// The shape of a gather by coordinates: `count` pieces of `width` bytes from a box of pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatherNd<'a> {
    /// The extents of the box, at most [`GatherNd::MAX_DEPTH`]. Each piece has as many coordinates.
    pub extents: &'a [u64],
    /// The number of indices.
    pub count: u64,
    /// The size of a piece in bytes.
    pub width: u64,
}

impl GatherNd<'_> {
    /// The most coordinates of a piece.
    pub const MAX_DEPTH: usize = 8;

    /// Returns extents as the kernels take them, with ones after them.
    pub(crate) fn padded(extents: &[u64]) -> Result<[u64; GatherNd::MAX_DEPTH]> {
        let mut padded = [1; GatherNd::MAX_DEPTH];
        let Some(front) = padded.get_mut(..extents.len()) else {
            let detail = format!("no kernel takes {} coordinates", extents.len());
            return Err(DeviceError::new(Status::NotSupported, detail));
        };
        front.copy_from_slice(extents);
        Ok(padded)
    }
}

/// The shape of a gather of single elements along one axis of an operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatherElements {
    /// The positions of the indices as a move, whose operand has the element at index zero.
    places: Move,
    extent: u64,
    stride: u64,
    operand: u64,
}

impl GatherElements {
    /// Creates the gather along `axis` of an operand of extents `x` by indices of extents `index`,
    /// which has as many axes.
    ///
    /// # Errors
    /// `InvalidValue` if the extents do not fit, or if more than six axes remain after merging.
    pub fn new(x: &[u64], index: &[u64], axis: usize) -> Result<Self> {
        let fits = x.len() == index.len() && axis < x.len();
        if !fits || (0..x.len()).any(|other| other != axis && index[other] > x[other]) {
            let detail = format!("indices of extents {index:?} do not fit an operand of extents {x:?}");
            return Err(DeviceError::invalid_value(detail));
        }
        let mut axes = Vec::with_capacity(x.len());
        let (mut to, mut from) = (1u64, 1u64);
        for other in (0..x.len()).rev() {
            let step = if other == axis { 0 } else { from };
            axes.push((index[other], to as i64, step as i64));
            (to, from) = (to.saturating_mul(index[other]), from.saturating_mul(x[other]));
        }
        axes.reverse();
        let places = Move::new([0, 0], &axes)?;
        Ok(Self { places, extent: x[axis], stride: product(&x[axis + 1..])?, operand: product(x)? })
    }

    /// Returns the number of indices.
    pub(crate) fn elements(&self) -> u64 {
        self.places.elements
    }

    /// Returns the parameters behind the operands, in the order of the kernels.
    pub(crate) fn numbers(&self) -> Vec<Argument<'static>> {
        let (mut extents, mut steps) = ([1u64; MAX_RANK], [0i64; MAX_RANK]);
        for (place, &(extent, _, from)) in self.places.axes.iter().enumerate() {
            let axis = MAX_RANK - 1 - place;
            (extents[axis], steps[axis]) = (extent, from);
        }
        let counts = [self.elements(), self.extent, self.stride].into_iter().chain(extents);
        counts.map(Argument::from).chain(steps.map(Argument::from)).collect()
    }
}

/// The shape of one-hot rows of `depth` elements along an axis, with `inner` elements after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OneHot {
    /// The product of the extents before the axis.
    pub outer: u64,
    /// The number of elements of a row.
    pub depth: u64,
    /// The product of the extents after the axis.
    pub inner: u64,
}

/// The band of diagonals of matrices that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Band {
    /// The number of matrices.
    pub count: u64,
    /// The number of rows of each.
    pub rows: u64,
    /// The number of columns of each.
    pub columns: u64,
    /// How far the lowest diagonal lies below the main one; above it if negative.
    pub lower: i64,
    /// How far the highest diagonal lies above the main one; below it if negative.
    pub upper: i64,
}

impl DeviceKernels {
    /// Copies the elements of a box from `x` to `y`, which are different buffers. Other elements of
    /// `y` do not change.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn move_elements(
        &self,
        stream: &Stream,
        dtype: DType,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        moved: &Move,
    ) -> Result<()> {
        let size = match dtype.size() {
            Some(size @ (1 | 2 | 4 | 8 | 16)) => size as u64,
            _ => {
                return Err(DeviceError::new(
                    Status::NotSupported,
                    format!("'move' has no kernel for {dtype}"),
                ));
            }
        };
        let (y_address, x_address) = (y.address(), x.address());
        let [y, x] =
            [in_out(y, moved.ends[0], dtype, "the result")?, input(x, moved.ends[1], dtype, "the operand")?];
        let aligned = (y_address | x_address).is_multiple_of(16);
        let unit = if aligned { moved.unit(16 / size) } else { 1 };
        let wider = moved.in_units(unit);
        let (mut extents, mut steps) = ([1u64; MAX_RANK], [[0i64; MAX_RANK]; 2]);
        for (place, &(extent, to, from)) in wider.axes.iter().enumerate() {
            let axis = MAX_RANK - 1 - place;
            (extents[axis], steps[0][axis], steps[1][axis]) = (extent, to, from);
        }
        let mut arguments = vec![y, x, wider.elements.into(), wider.starts[0].into(), wider.starts[1].into()];
        arguments.extend(extents.map(Argument::from));
        arguments.extend(steps.into_iter().flatten().map(Argument::from));
        self.launch(stream, format!("move_b{}", size * unit * 8), wider.elements, &arguments)
    }

    /// Gathers pieces of `x` by the indices (i32 or i64) to `y`. If there is no such piece, writes
    /// zeros.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn gather(
        &self,
        stream: &Stream,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        (index, dtype): (&DeviceBuffer, DType),
        gather: Gather,
    ) -> Result<()> {
        let Gather { batches, outer, extent, count, width } = gather;
        let name = super::typed("gather", dtype, &[DType::I32, DType::I64])?;
        let bytes = product(&[batches, outer, count, width])?;
        let arguments = [
            output(y, bytes, DType::UI8, "the result")?,
            input(x, product(&[batches, outer, extent, width])?, DType::UI8, "the operand")?,
            input(index, product(&[batches, count])?, dtype, "the indices")?,
            width.into(),
            batches.into(),
            outer.into(),
            extent.into(),
            count.into(),
        ];
        self.launch(stream, name, bytes.div_ceil(4), &arguments)
    }

    /// Gathers pieces of `x` by the coordinates (i32 or i64) to `y`. If there is no such piece,
    /// writes zeros.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`]; `NotSupported` for more coordinates than
    /// [`GatherNd::MAX_DEPTH`].
    pub fn gather_nd(
        &self,
        stream: &Stream,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        (index, dtype): (&DeviceBuffer, DType),
        gather: GatherNd<'_>,
    ) -> Result<()> {
        let GatherNd { extents, count, width } = gather;
        let name = super::typed("gather_nd", dtype, &[DType::I32, DType::I64])?;
        let depth = extents.len() as u64;
        let padded = GatherNd::padded(extents)?;
        let bytes = product(&[count, width])?;
        let mut arguments = vec![
            output(y, bytes, DType::UI8, "the result")?,
            input(x, product(&[product(extents)?, width])?, DType::UI8, "the operand")?,
            input(index, product(&[count, depth])?, dtype, "the indices")?,
            width.into(),
            count.into(),
            (depth as u32).into(),
        ];
        arguments.extend(padded.map(Argument::from));
        self.launch(stream, name, bytes.div_ceil(4), &arguments)
    }

    /// Gathers single elements of `x` along an axis by indices (i32 or i64) to `y`. An index below
    /// zero counts from the end. If there is no such element, writes zero.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn gather_elements(
        &self,
        stream: &Stream,
        dtype: DType,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        (index, index_type): (&DeviceBuffer, DType),
        gather: &GatherElements,
    ) -> Result<()> {
        super::typed("gather_elements", index_type, &[DType::I32, DType::I64])?;
        let n = gather.elements();
        let mut arguments = vec![
            output(y, n, dtype, "the result")?,
            input(x, gather.operand, dtype, "the operand")?,
            input(index, n, index_type, "the indices")?,
        ];
        arguments.extend(gather.numbers());
        let name = by_width(format!("gather_elements_{}", name_of(index_type)), dtype)?;
        self.launch(stream, name, n, &arguments)
    }

    /// Adds to indices below zero (i32 or i64) the extent of what they count in, for rows of one
    /// index for each extent; `y` may be `x`.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`]; `NotSupported` for more extents than [`GatherNd::MAX_DEPTH`].
    pub fn from_front(
        &self,
        stream: &Stream,
        dtype: DType,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        rows: u64,
        extents: &[u64],
    ) -> Result<()> {
        let name = super::typed("from_front", dtype, &[DType::I32, DType::I64])?;
        let padded = GatherNd::padded(extents)?;
        let n = product(&[rows, extents.len() as u64])?;
        let mut arguments = vec![
            output(y, n, dtype, "the result")?,
            input(x, n, dtype, "the indices")?,
            n.into(),
            (extents.len() as u32).into(),
        ];
        arguments.extend(padded.map(Argument::from));
        self.launch(stream, name, n, &arguments)
    }

    /// Writes rows of `off` with one `on` at the index (u8, i32 or i64). Both are one element of
    /// type `dtype`.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn one_hot(
        &self,
        stream: &Stream,
        dtype: DType,
        y: &DeviceBuffer,
        (index, index_type): (&DeviceBuffer, DType),
        [on, off]: [&DeviceBuffer; 2],
        rows: OneHot,
    ) -> Result<()> {
        let OneHot { outer, depth, inner } = rows;
        super::typed("one_hot", index_type, &[DType::UI8, DType::I32, DType::I64])?;
        let n = product(&[outer, depth, inner])?;
        let arguments = [
            output(y, n, dtype, "the result")?,
            input(index, product(&[outer, inner])?, index_type, "the indices")?,
            input(on, 1, dtype, "the value of the chosen")?,
            input(off, 1, dtype, "the value of the others")?,
            outer.into(),
            depth.into(),
            inner.into(),
        ];
        self.launch(stream, by_width(format!("one_hot_{}", name_of(index_type)), dtype)?, n, &arguments)
    }

    /// Copies the band of the matrices `x` to `y`, and sets other elements to zero; `y` may be `x`.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`].
    pub fn band(
        &self,
        stream: &Stream,
        dtype: DType,
        y: &DeviceBuffer,
        x: &DeviceBuffer,
        band: Band,
    ) -> Result<()> {
        let Band { count, rows, columns, lower, upper } = band;
        let n = product(&[count, rows, columns])?;
        let arguments = [
            output(y, n, dtype, "the result")?,
            input(x, n, dtype, "the operand")?,
            n.into(),
            rows.into(),
            columns.into(),
            lower.into(),
            upper.into(),
        ];
        self.launch(stream, by_width("band", dtype)?, n, &arguments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_that_are_one_are_merged_and_moved_in_units() {
        let whole = Move::new([0, 0], &[(2, 12, 12), (3, 4, 4), (4, 1, 1)]).unwrap();
        assert_eq!((whole.axes.clone(), whole.ends), (vec![(24, 1, 1)], [24, 24]));
        assert_eq!((whole.unit(4), whole.unit(16)), (4, 8));
        assert_eq!(whole.in_units(4).axes, [(6, 1, 1)]);
        let repeated = Move::new([0, 0], &[(5, 8, 0), (8, 1, 1)]).unwrap();
        assert_eq!(
            (repeated.axes.clone(), repeated.ends, repeated.unit(4)),
            (vec![(8, 1, 1), (5, 8, 0)], [40, 8], 4)
        );
        let reversed = Move::new([0, 7], &[(8, 1, -1)]).unwrap();
        assert_eq!((reversed.ends, reversed.unit(4)), ([8, 8], 1));
        let odd = Move::new([3, 0], &[(2, 9, 4), (4, 1, 1)]).unwrap();
        assert_eq!((odd.unit(4), odd.ends), (1, [16, 8]));
        let even = Move::new([8, 4], &[(2, 16, 4), (4, 1, 1)]).unwrap();
        assert_eq!(even.in_units(4).axes, [(1, 1, 1), (2, 4, 1)]);
    }

    #[test]
    fn places_outside_are_refused() {
        assert!(Move::new([0, 0], &[(2, 1, -1)]).is_err());
        assert!(Move::new([0, 0], &[(u64::MAX, 1, 1), (2, 1, 1)]).is_err());
        assert!(Move::new([u64::MAX, 0], &[(2, 1, 1)]).is_err());
        let seven = [(2, 64, 1), (2, 1, 2), (2, 32, 4), (2, 2, 8), (2, 16, 16), (2, 4, 32), (2, 8, 64)];
        assert!(Move::new([0, 0], &seven).is_err() && Move::new([0, 0], &seven[1..]).is_ok());
        assert_eq!(Move::new([0, 0], &[(0, 1, 1), (5, 1, 1)]).unwrap().elements, 0);
    }
}
