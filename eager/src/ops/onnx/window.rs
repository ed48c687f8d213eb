//! Windows that slide over one to three spatial dimensions of `NCHW` tensors.

use std::ops::Range;

use tfrt_host::Diagnostic;
use tfrt_math::{Element, zip_in_place};

use super::arguments::{flag, ints_attr, text_or, unknown};
use crate::OpAttrs;
use crate::ops::support::invalid;

/// The most taps along one dimension: far more than any model has, and few enough to make a list of
/// them.
const MAX_TAPS: usize = 1 << 20;

/// The most spatial dimensions.
pub(in crate::ops) const MAX_SPATIAL: usize = 3;

/// One spatial dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ops) struct Axis {
    pub(in crate::ops) input: usize,
    pub(in crate::ops) output: usize,
    pub(in crate::ops) kernel: usize,
    pub(in crate::ops) stride: usize,
    pub(in crate::ops) dilation: usize,
    /// Padding before the first element and after the last; negative padding crops.
    pub(in crate::ops) pads: [i64; 2],
}

impl Axis {
    pub(in crate::ops) const UNIT: Self =
        Self { input: 1, output: 1, kernel: 1, stride: 1, dilation: 1, pads: [0; 2] };

    /// The input position of an output position's tap, which may lie outside.
    pub(super) fn position(&self, output: usize, tap: usize) -> i64 {
        // The constructor checks that the last position of the last tap fits.
        (output * self.stride + tap * self.dilation) as i64 - self.pads[0]
    }

    /// Whether each output position has one tap, which lies at the same position.
    fn is_whole(&self) -> bool {
        (self.kernel, self.stride, self.pads) == (1, 1, [0; 2]) && self.input == self.output
    }

    /// The output positions at which a tap lies inside the input.
    pub(super) fn outputs(&self, tap: usize) -> Range<usize> {
        let (stride, offset) = (self.stride as i64, (tap * self.dilation) as i64 - self.pads[0]);
        let least = if offset >= 0 { 0 } else { (-offset + stride - 1) / stride };
        let beyond = (self.input as i64 - offset + stride - 1).max(0) / stride;
        let end = beyond.min(self.output as i64).max(0) as usize;
        (least as usize).min(end)..end
    }

    /// The extent that a window covers.
    fn covered(&self) -> Option<usize> {
        self.kernel.checked_sub(1)?.checked_mul(self.dilation)?.checked_add(1)
    }

    /// The taps at an output position that lie inside the input, or inside the input and its
    /// padding.
    pub(super) fn taps(&self, output: usize, includes_padding: bool) -> Range<usize> {
        let (low, high) = match includes_padding {
            true => (-self.pads[0], self.input as i64 + self.pads[1]),
            false => (0, self.input as i64),
        };
        let (first, dilation) = (self.position(output, 0), self.dilation as i64);
        let steps = |distance: i64| {
            (distance.max(0) / dilation + i64::from(distance.max(0) % dilation != 0)) as usize
        };
        let end = steps(high - first).min(self.kernel);
        steps(low - first).min(end)..end
    }
}

/// How output extents are rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rounding {
    Down,
    Up,
}

/// A window: its spatial dimensions, preceded by dimensions of extent 1 so that there are always
/// three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ops) struct Window {
    pub(in crate::ops) axes: [Axis; MAX_SPATIAL],
    pub(in crate::ops) rank: usize,
}

/// A row of elements that one tap reads for one row of outputs.
pub(super) struct Row {
    /// Where the outputs begin in their plane.
    pub(super) output: usize,
    /// How many outputs there are.
    pub(super) count: usize,
    /// Where the first element read lies in the input plane; the others follow at steps of the last
    /// stride.
    pub(super) input: usize,
    /// The tap's number in the kernel.
    pub(super) tap: usize,
}

/// Per-axis attribute values, by default all the same.
pub(super) fn extents(
    attrs: &OpAttrs,
    name: &str,
    rank: usize,
    default: usize,
) -> Result<Vec<usize>, Diagnostic> {
    let Some(values) = ints_attr(attrs, name)? else { return Ok(vec![default; rank]) };
    let extents: Vec<usize> =
        values.iter().filter_map(|&value| usize::try_from(value).ok()).filter(|&value| value > 0).collect();
    if extents.len() != rank || values.len() != rank {
        return Err(invalid(format!(
            "attribute '{name}' must have {rank} positive numbers, got {:?}",
            values.as_slice()
        )));
    }
    Ok(extents)
}

/// The padding of each axis, `[before, after]`.
pub(super) fn pads(attrs: &OpAttrs, rank: usize) -> Result<Vec<[i64; 2]>, Diagnostic> {
    let Some(values) = ints_attr(attrs, "pads")? else { return Ok(vec![[0; 2]; rank]) };
    if values.len() != 2 * rank {
        return Err(invalid(format!(
            "attribute 'pads' must have {} numbers, got {}",
            2 * rank,
            values.len()
        )));
    }
    Ok((0..rank).map(|axis| [values[axis], values[rank + axis]]).collect())
}

impl Window {
    /// The window of an op's attributes over these spatial extents.
    ///
    /// # Errors
    /// InvalidArgument for attributes that do not fit, or extents that are too large.
    pub(super) fn new(
        attrs: &OpAttrs,
        spatial: &[usize],
        kernel: &[usize],
        has_dilations: bool,
    ) -> Result<Self, Diagnostic> {
        let rank = spatial.len();
        if rank == 0 || rank > MAX_SPATIAL || kernel.len() != rank {
            return Err(invalid(format!(
                "the op takes one to {MAX_SPATIAL} spatial dimensions and a kernel of as many, got {rank} and {}",
                kernel.len()
            )));
        }
        let strides = extents(attrs, "strides", rank, 1)?;
        let dilations = if has_dilations { extents(attrs, "dilations", rank, 1)? } else { vec![1; rank] };
        let pads = pads(attrs, rank)?;
        let auto_pad = text_or(attrs, "auto_pad", "NOTSET")?;
        let rounding = if flag(attrs, "ceil_mode", false)? { Rounding::Up } else { Rounding::Down };
        let mut axes = [Axis::UNIT; MAX_SPATIAL];
        for (index, axis) in axes[MAX_SPATIAL - rank..].iter_mut().enumerate() {
            *axis = Axis {
                input: spatial[index],
                output: 0,
                kernel: kernel[index],
                stride: strides[index],
                dilation: dilations[index],
                pads: pads[index],
            };
            place(axis, auto_pad, rounding)?;
        }
        Ok(Self { axes, rank })
    }

    /// The window of axes that are known.
    ///
    /// # Errors
    /// InvalidArgument if positions do not fit.
    pub(in crate::ops) fn of_axes(known: &[Axis]) -> Result<Self, Diagnostic> {
        let mut axes = [Axis::UNIT; MAX_SPATIAL];
        let rank = known.len().min(MAX_SPATIAL);
        axes[MAX_SPATIAL - rank..].copy_from_slice(&known[..rank]);
        axes.iter().try_for_each(check)?;
        Ok(Self { axes, rank })
    }

    /// The output extents.
    pub(in crate::ops) fn output(&self) -> Vec<usize> {
        self.axes[MAX_SPATIAL - self.rank..].iter().map(|axis| axis.output).collect()
    }

    /// Elements of an input plane. The caller has checked that the tensor's size fits.
    pub(in crate::ops) fn input_len(&self) -> usize {
        self.axes.iter().fold(1, |count, axis| count.saturating_mul(axis.input))
    }

    /// Elements of an output plane.
    pub(in crate::ops) fn output_len(&self) -> usize {
        self.axes.iter().fold(1, |count, axis| count.saturating_mul(axis.output))
    }

    /// Taps of the kernel.
    pub(in crate::ops) fn tap_count(&self) -> usize {
        self.axes.iter().fold(1, |taps, axis| taps.saturating_mul(axis.kernel))
    }

    /// The distance between elements that neighbouring outputs of a row read.
    pub(super) fn row_step(&self) -> usize {
        self.axes[2].stride
    }

    /// Calls `f` for each tap of each row of outputs, where any element lies inside the input. Taps
    /// of a row come in the kernel's order.
    pub(super) fn rows(&self, mut f: impl FnMut(Row)) {
        let [z, y, x] = &self.axes;
        let columns: Vec<Range<usize>> = (0..x.kernel).map(|tap| x.outputs(tap)).collect();
        for (oz, oy) in (0..z.output).flat_map(|oz| (0..y.output).map(move |oy| (oz, oy))) {
            let output = (oz * y.output + oy) * x.output;
            let taps = y.taps(oy, false);
            for (tz, ty) in z.taps(oz, false).flat_map(|tz| taps.clone().map(move |ty| (tz, ty))) {
                let (iz, iy) = (z.position(oz, tz) as usize, y.position(oy, ty) as usize);
                let row = (iz * y.input + iy) * x.input;
                for (tx, columns) in columns.iter().enumerate().filter(|(_, columns)| !columns.is_empty()) {
                    f(Row {
                        output: output + columns.start,
                        count: columns.len(),
                        input: row + x.position(columns.start, tx) as usize,
                        tap: (tz * y.kernel + ty) * x.kernel + tx,
                    });
                }
            }
        }
    }
}

/// How elements under a window are combined: what no elements give, an element by itself, and two
/// results together, which is associative.
pub(super) struct Fold<A, L, M> {
    pub(super) identity: A,
    pub(super) load: L,
    pub(super) merge: M,
}

impl Window {
    /// Combines the elements of an input plane under each position of the window, one dimension
    /// after the other. What is outside does not count. Calls `emit` with each row of outputs and
    /// its number.
    pub(super) fn combine<T: Element, A: Element>(
        &self,
        x: &[T],
        fold: &Fold<A, impl Fn(T) -> A + Copy, impl Fn(A, A) -> A + Copy>,
        mut emit: impl FnMut(usize, &[A]),
    ) {
        let &Fold { identity, load, merge } = fold;
        let [depth, height, width] = &self.axes;
        let plane = height.input * width.input;
        // Planes are combined first if several rows of the output use the result.
        let by_plane = !depth.is_whole() && !height.is_whole();
        let mut volume = vec![identity; if by_plane { plane } else { 0 }];
        let (mut row, mut out) = (vec![identity; width.input], vec![identity; width.output]);
        let mut lanes = Vec::new();
        for z in 0..depth.output {
            let planes = depth.taps(z, false).map(|tap| depth.position(z, tap) as usize);
            if by_plane {
                volume.fill(identity);
                for at in planes.clone() {
                    zip_in_place(&mut volume, &x[at * plane..][..plane], |a, x| merge(a, load(x)));
                }
            }
            for y in 0..height.output {
                row.fill(identity);
                for tap in height.taps(y, false) {
                    let from = height.position(y, tap) as usize * width.input;
                    if by_plane {
                        zip_in_place(&mut row, &volume[from..], merge);
                        continue;
                    }
                    for at in planes.clone() {
                        zip_in_place(&mut row, &x[at * plane + from..], |a, x| merge(a, load(x)));
                    }
                }
                if width.is_whole() {
                    emit(z * height.output + y, &row);
                    continue;
                }
                out.fill(identity);
                combine_row(width, &row, &mut out, (&mut lanes, identity, merge));
                emit(z * height.output + y, &out);
            }
        }
    }
}

/// Combines the elements of one row. Those that a tap reads are next to each other in one of `stride`
/// lanes, which have every `stride`-th element.
fn combine_row<A: Element>(
    axis: &Axis,
    x: &[A],
    out: &mut [A],
    (lanes, identity, merge): (&mut Vec<A>, A, impl Fn(A, A) -> A + Copy),
) {
    let stride = axis.stride.min(x.len().max(1));
    let length = x.len().div_ceil(stride);
    let lanes = if stride == 1 {
        x
    } else {
        lanes.resize(stride * length, identity);
        deal(x, lanes, (stride, length));
        &*lanes
    };
    for tap in 0..axis.kernel {
        let outputs = axis.outputs(tap);
        if outputs.is_empty() {
            continue;
        }
        let from = axis.position(outputs.start, tap) as usize;
        let from = from % stride * length + from / stride;
        let lane = &lanes[from..][..outputs.len()];
        zip_in_place(&mut out[outputs], lane, merge);
    }
}

/// Deals the elements of a row out to lanes in turn.
fn deal<A: Element>(x: &[A], lanes: &mut [A], (stride, length): (usize, usize)) {
    if stride == 2 {
        let (even, odd) = lanes.split_at_mut(length);
        let (pairs, last) = x.as_chunks::<2>();
        even.iter_mut().zip(odd).zip(pairs).for_each(|((even, odd), pair)| [*even, *odd] = *pair);
        if let ([x], Some(even)) = (last, even.last_mut()) {
            *even = *x;
        }
        return;
    }
    for (first, lane) in lanes.chunks_exact_mut(length.max(1)).enumerate() {
        lane.iter_mut().zip(x[first..].iter().step_by(stride)).for_each(|(lane, &x)| *lane = x);
    }
}

/// Finds padding and output extent of an axis.
fn place(axis: &mut Axis, auto_pad: &str, rounding: Rounding) -> Result<(), Diagnostic> {
    let too_large = || invalid("the window is too large");
    if axis.kernel > MAX_TAPS || axis.dilation > i64::MAX as usize || axis.stride > i64::MAX as usize {
        return Err(too_large());
    }
    let covered = axis.covered().and_then(|covered| i64::try_from(covered).ok()).ok_or_else(too_large)?;
    let (input, stride) = (i64::try_from(axis.input).map_err(|_| too_large())?, axis.stride as i64);
    let output = match auto_pad {
        "NOTSET" | "" | "VALID" => {
            if auto_pad == "VALID" {
                axis.pads = [0; 2];
            }
            let padded = input.checked_add(axis.pads[0]).and_then(|sum| sum.checked_add(axis.pads[1]));
            let room = padded.and_then(|padded| padded.checked_sub(covered)).ok_or_else(too_large)?;
            if rounding == Rounding::Up {
                // The quotient is rounded towards zero, and so it is rounded up where it is negative.
                let output = (room / stride + 1 + i64::from(room > 0 && room % stride != 0)).max(0);
                // A window that would begin in the padding after the input does not count.
                let last = (output - 1).checked_mul(stride).ok_or_else(too_large)?;
                output - i64::from(last >= input + axis.pads[0])
            } else if room < 0 {
                0
            } else {
                room / stride + 1
            }
        }
        "SAME_UPPER" | "SAME_LOWER" => {
            let output = input / stride + i64::from(input % stride != 0);
            let total = ((output - 1).max(0) * stride).saturating_add(covered).saturating_sub(input).max(0);
            let (less, more) = (total / 2, total - total / 2);
            axis.pads = if auto_pad == "SAME_UPPER" { [less, more] } else { [more, less] };
            output
        }
        other => return Err(unknown("auto_pad", other)),
    };
    axis.output = output.max(0) as usize;
    check(axis)
}

/// That every position that [`Axis::position`] computes fits.
fn check(axis: &Axis) -> Result<(), Diagnostic> {
    let signed = |value: usize| i64::try_from(value).ok();
    let last = || {
        let last =
            signed(axis.output)?.checked_mul(signed(axis.stride)?)?.checked_add(signed(axis.covered()?)?)?;
        let last = last.checked_add(axis.pads[0].checked_abs()?)?.checked_add(axis.pads[1].checked_abs()?)?;
        last.checked_add(signed(axis.input)?)?.checked_add(signed(axis.stride)?)
    };
    if axis.kernel > MAX_TAPS || last().is_none() {
        return Err(invalid("the window is too large"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(input: usize, kernel: usize, stride: usize, dilation: usize, pads: [i64; 2]) -> Axis {
        Axis { input, output: 0, kernel, stride, dilation, pads }
    }

    #[test]
    fn output_extents_follow_the_standard() {
        for (mut axis, auto_pad, rounding, output) in [
            (axis(5, 3, 1, 1, [0, 0]), "NOTSET", Rounding::Down, 3),
            (axis(4, 3, 2, 1, [0, 0]), "NOTSET", Rounding::Up, 2),
            (axis(2, 1, 2, 1, [0, 0]), "NOTSET", Rounding::Up, 1),
            (axis(2, 3, 3, 1, [0, 0]), "NOTSET", Rounding::Up, 1),
            (axis(2, 3, 1, 1, [0, 0]), "NOTSET", Rounding::Up, 0),
            (axis(2, 9, 3, 1, [0, 0]), "NOTSET", Rounding::Up, 0),
            (axis(5, 3, 2, 1, [0, 0]), "SAME_UPPER", Rounding::Down, 3),
            (axis(2, 3, 1, 1, [0, 0]), "VALID", Rounding::Down, 0),
            (axis(5, 2, 1, 1, [-1, -1]), "NOTSET", Rounding::Down, 2),
        ] {
            place(&mut axis, auto_pad, rounding).unwrap();
            assert_eq!(axis.output, output, "{axis:?} {auto_pad}");
        }
        assert!(place(&mut axis(1, usize::MAX, 1, 2, [0, 0]), "NOTSET", Rounding::Down).is_err());
        assert!(place(&mut axis(1, 1, 1, 1, [i64::MAX, 1]), "NOTSET", Rounding::Down).is_err());
    }

    #[test]
    fn combined_elements_are_those_under_the_window() {
        let extents = [(5, 3, 2, 1), (4, 2, 1, 2), (9, 3, 3, 1), (3, 1, 4, 1), (6, 1, 1, 1)];
        for pads in [[0, 0], [1, 1], [2, 0], [-1, 1]] {
            for (z, y, x) in [(0, 1, 2), (1, 2, 0), (2, 3, 4), (4, 4, 3), (4, 0, 4)] {
                let axes = [z, y, x].map(|i| {
                    let (input, kernel, stride, dilation) = extents[i];
                    let mut axis =
                        axis(input, kernel, stride, dilation, if kernel == 1 { [0; 2] } else { pads });
                    place(&mut axis, "NOTSET", Rounding::Down).unwrap();
                    axis
                });
                let window = Window { axes, rank: 3 };
                let plane: Vec<u64> = (0..window.input_len() as u64).map(|i| i * i % 101).collect();
                let mut expected = vec![0; window.output_len()];
                window.rows(|row| {
                    for i in 0..row.count {
                        expected[row.output + i] += plane[row.input + i * window.row_step()];
                    }
                });
                let fold = Fold { identity: 0, load: |x: u64| x, merge: |a: u64, b: u64| a + b };
                let mut combined = vec![u64::MAX; expected.len()];
                window.combine(&plane, &fold, |row, sums| {
                    combined[row * sums.len()..][..sums.len()].copy_from_slice(sums);
                });
                assert_eq!(combined, expected, "{window:?}");
            }
        }
    }

    #[test]
    fn rows_are_the_taps_inside() {
        for pads in [[0, 0], [2, 1], [-1, 0], [5, 5]] {
            let mut axis = axis(5, 3, 2, 2, pads);
            place(&mut axis, "NOTSET", Rounding::Down).unwrap();
            for tap in 0..3 {
                let inside = |&output: &usize| (0..5).contains(&axis.position(output, tap));
                let expected: Vec<usize> = (0..axis.output).filter(inside).collect();
                assert_eq!(axis.outputs(tap).collect::<Vec<_>>(), expected, "{pads:?} {tap}");
            }
            for output in 0..axis.output {
                let inside = |&tap: &usize| (0..5).contains(&axis.position(output, tap));
                let expected: Vec<usize> = (0..3).filter(inside).collect();
                assert_eq!(axis.taps(output, false).collect::<Vec<_>>(), expected, "{pads:?} {output}");
            }
        }
    }
}
