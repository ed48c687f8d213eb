//! `onnx.GridSample` and `onnx.AffineGrid`: images at coordinates, and the coordinates of affine
//! transformations.

use tfrt_host::{DType, Diagnostic};
use tfrt_math::Float;
use tfrt_tensor::{Accessor, Element, HostTensor, TensorMetadata, TensorShape};

use super::arguments::{check_dims, extents_of, flag, text_or, unknown};
use super::elements::strides;
use super::parallel::for_units;
use crate::ops::support::{
    Computed, Described, allocate, compute, integers, invalid, one, product, room_for, shape_of, with_float,
};
use crate::ops::types;
use crate::{CpuCall, MetadataCall, OpAttrs, OpRegistry, attr};

static ME: Accessor = Accessor::new("onnx op on grids");

/// The batch, channels and spatial extents of images, and the extents of a grid.
pub(in crate::ops) type Extents<'a> = (usize, usize, &'a [usize], &'a [usize]);

/// Returns the extents of a call.
pub(in crate::ops) fn extents<'a>(
    x: &'a TensorShape,
    grid: &'a TensorShape,
) -> Result<Extents<'a>, Diagnostic> {
    if let ([batch, channels, spatial @ ..], [grids, at @ .., numbers]) = (x.dims(), grid.dims())
        && batch == grids
        && (1..=MAX_RANK).contains(&spatial.len())
        && *numbers == spatial.len()
        && at.len() == spatial.len()
    {
        return Ok((*batch, *channels, spatial, at));
    }
    Err(invalid(format!("a grid of shape {grid} does not fit images of shape {x}")))
}

/// The greatest number of spatial dimensions.
const MAX_RANK: usize = 6;

fn metadata(call: MetadataCall<'_>) -> Described {
    let [x, grid] = call.take()?;
    let (batch, channels, _, at) = extents(&x.shape, &grid.shape)?;
    one(TensorMetadata::new(x.dtype, TensorShape::new(&[&[batch, channels], at].concat())?))
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::ops) enum Mode {
    Nearest,
    Linear,
    Cubic,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::ops) enum Padding {
    Zeros,
    Border,
    Reflection,
}

/// The interpretation of coordinates.
#[derive(Clone, Copy)]
pub(in crate::ops) struct Sampling {
    pub(in crate::ops) mode: Mode,
    pub(in crate::ops) padding: Padding,
    pub(in crate::ops) aligns_corners: bool,
}

impl Sampling {
    pub(in crate::ops) fn of(attrs: &OpAttrs) -> Result<Self, Diagnostic> {
        Ok(Self {
            mode: match text_or(attrs, "mode", "linear")? {
                "linear" | "bilinear" => Mode::Linear,
                "nearest" => Mode::Nearest,
                "cubic" | "bicubic" => Mode::Cubic,
                other => return Err(unknown("mode", other)),
            },
            padding: match text_or(attrs, "padding_mode", "zeros")? {
                "zeros" => Padding::Zeros,
                "border" => Padding::Border,
                "reflection" => Padding::Reflection,
                other => return Err(unknown("padding_mode", other)),
            },
            aligns_corners: flag(attrs, "align_corners", false)?,
        })
    }

    /// Returns the coordinates of the image's border.
    fn border(self, extent: usize) -> [f64; 2] {
        let extent = extent as f64;
        if self.aligns_corners { [0.0, extent - 1.0] } else { [-0.5, extent - 0.5] }
    }

    /// Returns the elements along a dimension for a number of the grid, with their weights.
    fn taps(self, number: f64, extent: usize) -> Taps {
        let length = extent as f64;
        let x = match self.aligns_corners {
            true => (number + 1.0) / 2.0 * (length - 1.0),
            false => ((number + 1.0) * length - 1.0) / 2.0,
        };
        let [low, high] = self.border(extent);
        let x = if self.mode == Mode::Nearest { x.round_ties_even() } else { x };
        let x = match self.padding {
            _ if (low..=high).contains(&x) => x,
            // Cubic interpolation continues outside the image; its elements are mapped one by one.
            _ if self.mode == Mode::Cubic => x,
            Padding::Zeros => x,
            Padding::Border => x.clamp(0.0, length - 1.0),
            Padding::Reflection => reflected(x, low, high),
        };
        let (base, mut taps) = (x.floor(), Taps::default());
        let t = x - base;
        match self.mode {
            Mode::Nearest => taps.push(self.place(x, extent), 1.0),
            Mode::Linear => {
                taps.push(self.place(base, extent), 1.0 - t);
                taps.push(self.place(base + 1.0, extent), t);
            }
            Mode::Cubic => {
                for (i, weight) in cubic(t).into_iter().enumerate() {
                    taps.push(self.place(base - 1.0 + i as f64, extent), weight);
                }
            }
        }
        taps
    }

    /// Returns the element at an integral coordinate, or `None` outside an image that is padded
    /// with zeros.
    fn place(self, x: f64, extent: usize) -> Option<usize> {
        let last = extent as f64 - 1.0;
        let x = match self.padding {
            Padding::Zeros => x,
            Padding::Border => x.clamp(0.0, last),
            Padding::Reflection => {
                let [low, high] = self.border(extent);
                reflected(x, low, high).clamp(0.0, last)
            }
        };
        (0.0..=last).contains(&x).then_some(x as usize)
    }
}

/// Reflects a coordinate at two borders until it lies between them.
fn reflected(x: f64, low: f64, high: f64) -> f64 {
    let range = high - low;
    let distance = if x < low {
        low - x
    } else if x > high {
        x - high
    } else {
        return x;
    };
    if range <= 0.0 || !distance.is_finite() {
        return low;
    }
    let turns = (distance / range).floor();
    let rest = distance - turns * range;
    let is_even = turns % 2.0 == 0.0;
    if (x < low) == is_even { low + rest } else { high - rest }
}

/// Returns the weights of cubic convolution.
fn cubic(t: f64) -> [f64; 4] {
    const A: f64 = -0.75;
    let near = |x: f64| ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0;
    let far = |x: f64| ((A * x - 5.0 * A) * x + 8.0 * A) * x - 4.0 * A;
    [far(t + 1.0), near(t), near(1.0 - t), far(2.0 - t)]
}

/// Up to four elements along a dimension.
#[derive(Clone, Copy, Default)]
struct Taps {
    places: [usize; 4],
    weights: [f64; 4],
    count: usize,
}

impl Taps {
    fn push(&mut self, place: Option<usize>, weight: f64) {
        if let Some(place) = place {
            (self.places[self.count], self.weights[self.count]) = (place, weight);
            self.count += 1;
        }
    }
}

/// The elements that one sample is made of, with their weights: all combinations of its taps along
/// each dimension, of which there are at most `each`.
struct Samples {
    entries: Vec<(usize, f64)>,
    each: usize,
}

impl Samples {
    /// Finds the elements for all points of the grids. The channels of an image share them.
    fn new(
        call: &CpuCall<'_>,
        numbers: &[f64],
        (sampling, spatial): (Sampling, &[usize]),
    ) -> Result<Self, Diagnostic> {
        let (rank, strides) = (spatial.len(), strides(spatial));
        let along = match sampling.mode {
            Mode::Nearest => 1usize,
            Mode::Linear => 2,
            Mode::Cubic => 4,
        };
        let each = along.pow(rank as u32);
        let count = (numbers.len() / rank).checked_mul(each);
        let mut entries = room_for(count.ok_or_else(|| invalid("there are too many samples"))?)?;
        entries.resize(numbers.len() / rank * each, (NOWHERE, 0.0));
        for_units(call.cx, &mut entries, (each, 8 * each), &|point, entries| {
            let mut taps = [Taps::default(); MAX_RANK];
            // The grid has the last dimension first.
            let numbers = numbers[point * rank..][..rank].iter().rev();
            for (taps, (&number, &extent)) in taps.iter_mut().zip(numbers.zip(spatial)) {
                *taps = sampling.taps(number, extent);
            }
            let mut entries = entries.iter_mut();
            combinations(&taps[..rank], &strides, (0, 1.0), &mut |entry| {
                if let Some(next) = entries.next() {
                    *next = entry;
                }
            });
        });
        Ok(Self { entries, each })
    }

    /// Writes the samples of a plane at the points from `first` on.
    fn sample<T: Float>(&self, plane: &[T], first: usize, out: &mut [T]) {
        let entries = &self.entries[first * self.each..];
        match self.each {
            4 => out.iter_mut().zip(entries.as_chunks::<4>().0).for_each(|(out, entries)| {
                let [a, b, c, d] = entries.map(|entry| part(plane, entry));
                *out = T::from_f64((a + b) + (c + d));
            }),
            each => out.iter_mut().zip(entries.chunks_exact(each)).for_each(|(out, entries)| {
                *out = T::from_f64(entries.iter().map(|&entry| part(plane, entry)).sum());
            }),
        }
    }
}

/// An element with its weight. What lies outside of the image has no part, not even of zero times
/// infinity.
fn part<T: Float>(plane: &[T], (place, weight): (usize, f64)) -> f64 {
    plane.get(place).map_or(0.0, |x| weight * x.to_f64())
}

/// A place that no image has.
const NOWHERE: usize = usize::MAX;

/// Calls `f` with the place and the weight of each combination of taps.
fn combinations(
    taps: &[Taps],
    strides: &[usize],
    (place, weight): (usize, f64),
    f: &mut dyn FnMut((usize, f64)),
) {
    let (Some((own, rest)), Some((stride, strides))) = (taps.split_first(), strides.split_first()) else {
        return f((place, weight));
    };
    for (at, by) in own.places.iter().zip(own.weights).take(own.count) {
        combinations(rest, strides, (place + at * stride, weight * by), f);
    }
}

fn grid_sample<T: Element + Float>(call: &CpuCall<'_>) -> Computed {
    let ([x, grid], out) = (call.dense()?, call.allocate_unset(0)?);
    let (_, channels, spatial, at) = extents(x.shape(), grid.shape())?;
    let sampling = Sampling::of(call.attrs)?;
    let count = out.num_elements();
    if count == 0 {
        return Ok(out.into());
    }
    if spatial.contains(&0) {
        return Err(invalid("images without elements have no samples"));
    }
    let (points, plane) = (product(at), product(spatial));
    let x = x.read_owned::<T>(&ME)?;
    let numbers: Vec<f64> = with_float!(grid.dtype(), "onnx.GridSample", |G| {
        Ok::<_, Diagnostic>(grid.read::<G>(&ME)?.iter().map(|x| x.to_f64()).collect())
    })?;
    let samples = Samples::new(call, &numbers, (sampling, spatial))?;
    let cost = points.saturating_mul(2 * samples.each);
    compute(call, &ME, out, (count / points, points, cost), move |range, out: &mut [T]| {
        for (index, out) in range.zip(out.chunks_exact_mut(points)) {
            samples.sample(&x[index * plane..][..plane], index / channels * points, out);
        }
        Ok(())
    })
}

/// The points of the grids of a call.
pub(in crate::ops) struct AffineGrid {
    /// The shape of the grids.
    pub(in crate::ops) dims: Vec<usize>,
    /// The coordinates of each point, those of the last dimension first, and a one after them.
    pub(in crate::ops) points: Vec<f64>,
    /// The number of spatial dimensions.
    pub(in crate::ops) rank: usize,
}

impl AffineGrid {
    pub(in crate::ops) fn of(
        attrs: &OpAttrs,
        theta: &TensorShape,
        size: &HostTensor,
    ) -> Result<Self, Diagnostic> {
        let size = extents_of(&integers(size, "size")?)?;
        let [batch, _, spatial @ ..] = &size[..] else {
            return Err(invalid("size must have 4 or 5 numbers"));
        };
        let rank = spatial.len();
        if rank != 2 && rank != 3 {
            return Err(invalid(format!("size must have 4 or 5 numbers, got {}", size.len())));
        }
        check_dims("theta", theta.dims(), &[*batch, rank, rank + 1])?;
        let aligns_corners = flag(attrs, "align_corners", false)?;
        let signed: Vec<i64> = [*batch].iter().chain(spatial).chain(&[rank]).map(|&dim| dim as i64).collect();
        let shape = shape_of(&signed)?;
        let count = if shape.num_elements()? == 0 { 0 } else { product(spatial) };
        let mut points = room_for(count.saturating_mul(rank + 1))?;
        for point in 0..count {
            let mut rest = point;
            for &extent in spatial.iter().rev() {
                let (place, length) = ((rest % extent) as f64, extent as f64);
                points.push(match aligns_corners {
                    true if extent == 1 => 0.0,
                    true => 2.0 * place / (length - 1.0) - 1.0,
                    false => (2.0 * place + 1.0) / length - 1.0,
                });
                rest /= extent;
            }
            points.push(1.0);
        }
        Ok(Self { dims: shape.dims().to_vec(), points, rank })
    }
}

fn affine_grid<T: Element + Float>(call: &CpuCall<'_>) -> Computed {
    let [theta, size] = call.dense()?;
    let AffineGrid { dims, points, rank } =
        AffineGrid::of(call.attrs, theta.shape(), &HostTensor::from(size.clone()))?;
    let (out, theta) = (allocate(call, T::DTYPE, &dims)?, theta.read_owned::<T>(&ME)?);
    let (columns, count) = (rank + 1, points.len() / (rank + 1));
    compute(call, &ME, out, (dims[0].saturating_mul(count), rank, 8 * rank), move |range, out: &mut [T]| {
        for (index, out) in range.zip(out.chunks_exact_mut(rank)) {
            let at = &points[index % count * columns..][..columns];
            let rows = theta[index / count * rank * columns..].chunks_exact(columns);
            for (out, row) in out.iter_mut().zip(rows) {
                *out = T::from_f64(row.iter().zip(at).map(|(weight, x)| weight.to_f64() * x).sum());
            }
        }
        Ok(())
    })
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("onnx.GridSample")
        .types(types::FLOATS)
        .attrs([
            attr::int_or("align_corners", 0),
            attr::string_or("mode", "linear"),
            attr::string_or("padding_mode", "zeros"),
        ])
        .metadata(metadata)
        .cpu(|call| with_float!(call.result(0)?.dtype, "onnx.GridSample", |T| grid_sample::<T>(&call)));
    ops.add("onnx.AffineGrid").types(types::FLOATS).attrs([attr::int_or("align_corners", 0)]).cpu(|call| {
        let dtype = call.arguments.first().map_or(DType::F32, |tensor| tensor.dtype());
        with_float!(dtype, "onnx.AffineGrid", |T| affine_grid::<T>(&call))
    });
}
