//! `onnx.RoiAlign` and `onnx.MaxRoiPool`: regions of images, each resized to the same extents.

use tfrt_host::Diagnostic;
use tfrt_math::Float;
use tfrt_tensor::{Accessor, Element, HostTensor, TensorMetadata, TensorShape};

use super::arguments::{check_dims, count_or, extents_of, int_or, ints_attr, text_or, unknown};
use crate::ops::support::{Computed, Described, compute, float_attr, integers, invalid, one, with_float};
use crate::ops::types;
use crate::{AttrSpec, CpuCall, MetadataCall, OpAttrs, OpRegistry, attr};

static ME: Accessor = Accessor::new("onnx op on regions");

/// The most samples of one result along a dimension.
pub(in crate::ops) const MAX_SAMPLES: f64 = 4096.0;

/// Batch, channels, height and width.
pub(in crate::ops) fn images(shape: &TensorShape) -> Result<[usize; 4], Diagnostic> {
    shape
        .dims()
        .try_into()
        .map_err(|_| invalid(format!("the input must have 4 dimensions, got shape {shape}")))
}

fn described(x: &TensorMetadata, regions: &TensorMetadata, numbers: usize, extents: [usize; 2]) -> Described {
    let [_, channels, ..] = images(&x.shape)?;
    let count = regions.shape.dims().first().copied().unwrap_or(0);
    check_dims("rois", regions.shape.dims(), &[count, numbers])?;
    one(TensorMetadata::new(x.dtype, TensorShape::new(&[count, channels, extents[0], extents[1]])?))
}

/// The extents of a region's result.
pub(in crate::ops) fn align_extents(attrs: &OpAttrs) -> Result<[usize; 2], Diagnostic> {
    Ok([count_or(attrs, "output_height", 1)?, count_or(attrs, "output_width", 1)?])
}

fn align_metadata(call: MetadataCall<'_>) -> Described {
    let [x, regions, indices] = call.take()?;
    let described = described(x, regions, 4, align_extents(call.attrs)?)?;
    check_dims("batch_indices", indices.shape.dims(), &regions.shape.dims()[..1])?;
    Ok(described)
}

/// A place between two neighbours: both, with their weights.
type Sample = [(usize, f64); 2];
/// The samples of each result along a dimension.
type Samples = Vec<Vec<Sample>>;

/// Samples of one dimension of a region: for each result its samples, as two places with their
/// weights.
fn samples(
    (start, end): (f64, f64),
    count: usize,
    ratio: i64,
    extent: usize,
    is_half_pixel: bool,
) -> Result<Samples, Diagnostic> {
    let length = if is_half_pixel { end - start } else { (end - start).max(1.0) };
    let bin = length / count as f64;
    let number = if ratio > 0 { ratio as f64 } else { bin.ceil().max(0.0) };
    if number.is_nan() || number > MAX_SAMPLES {
        return Err(invalid(format!("a region of extent {length} has too many samples")));
    }
    let sample = |place: f64| {
        if place < -1.0 || place > extent as f64 || place.is_nan() {
            return [(0, 0.0); 2];
        }
        let place = place.max(0.0);
        let (low, last) = (place as usize, extent - 1);
        if low >= last {
            return [(last, 1.0), (last, 0.0)];
        }
        let weight = place - low as f64;
        [(low, 1.0 - weight), (low + 1, weight)]
    };
    let of_result = |index: usize| {
        let each = |i: usize| sample(start + index as f64 * bin + (i as f64 + 0.5) * bin / number);
        (0..number as usize).map(each).collect()
    };
    Ok((0..count).map(of_result).collect())
}

/// The samples of both dimensions of a region, and the image they are of.
struct Region {
    image: usize,
    axes: [Samples; 2],
}

/// Returns whether coordinates are moved by half an element.
pub(in crate::ops) fn is_half_pixel(attrs: &OpAttrs) -> Result<bool, Diagnostic> {
    match text_or(attrs, "coordinate_transformation_mode", "half_pixel")? {
        "half_pixel" => Ok(true),
        "output_half_pixel" => Ok(false),
        other => Err(unknown("coordinate_transformation_mode", other)),
    }
}

/// Returns whether a result is the average of samples, and not the greatest part of one.
pub(in crate::ops) fn is_average(attrs: &OpAttrs) -> Result<bool, Diagnostic> {
    match text_or(attrs, "mode", "avg")? {
        "avg" => Ok(true),
        "max" => Ok(false),
        other => Err(unknown("mode", other)),
    }
}

fn align<T: Element + Float>(call: &CpuCall<'_>) -> Computed {
    let ([x, regions, indices], out) = (call.dense()?, call.allocate_unset(0)?);
    let ([batch, channels, height, width], [rows, columns]) =
        (images(x.shape())?, align_extents(call.attrs)?);
    let scale = float_attr(call.attrs, "spatial_scale")?.unwrap_or(1.0);
    let ratio = int_or(call.attrs, "sampling_ratio", 0)?;
    let (is_half_pixel, is_average) = (is_half_pixel(call.attrs)?, is_average(call.attrs)?);
    if out.num_elements() == 0 {
        return Ok(out.into());
    }
    if height == 0 || width == 0 {
        return Err(invalid("images without elements have no regions"));
    }
    let offset = if is_half_pixel { 0.5 } else { 0.0 };
    let images = integers(&HostTensor::from(indices.clone()), "batch_indices")?;
    let mut all = Vec::new();
    for (numbers, &image) in regions.read::<T>(&ME)?.chunks_exact(4).zip(&images) {
        let image = usize::try_from(image).ok().filter(|&image| image < batch);
        let image =
            image.ok_or_else(|| invalid(format!("batch_indices must be in the range [0, {batch})")))?;
        let at = |i: usize| numbers[i].to_f64() * scale - offset;
        all.push(Region {
            image,
            axes: [
                samples((at(1), at(3)), rows, ratio, height, is_half_pixel)?,
                samples((at(0), at(2)), columns, ratio, width, is_half_pixel)?,
            ],
        });
    }
    let (x, unit) = (x.read_owned::<T>(&ME)?, rows * columns);
    compute(call, &ME, out, (all.len() * channels, unit, 32 * unit), move |range, out: &mut [T]| {
        let (mut known, mut elements) = (None, Elements::default());
        for (index, out) in range.zip(out.chunks_exact_mut(unit)) {
            let (number, channel) = (index / channels, index % channels);
            let region = &all[number];
            if known != Some(number) {
                // All channels of a region have the same samples.
                elements.find(region, width);
                known = Some(number);
            }
            let plane = &x[(region.image * channels + channel) * height * width..][..height * width];
            for (place, out) in out.iter_mut().enumerate() {
                *out = T::from_f64(elements.pooled(plane, place, is_average));
            }
        }
        Ok(())
    })
}

/// The elements that the results of a region are made of, with their weights: as many for each.
#[derive(Default)]
struct Elements {
    all: Vec<(usize, f64)>,
    /// The elements of each result: four for each sample.
    each: usize,
}

impl Elements {
    fn find(&mut self, region: &Region, width: usize) {
        let [vertical, horizontal] = &region.axes;
        self.all.clear();
        for (ys, xs) in vertical.iter().flat_map(|ys| horizontal.iter().map(move |xs| (ys, xs))) {
            for (y, x) in ys.iter().flat_map(|y| xs.iter().map(move |x| (y, x))) {
                for (row, down) in y {
                    self.all.extend(x.map(|(column, across)| (row * width + column, down * across)));
                }
            }
        }
        self.each = self.all.len() / (vertical.len() * horizontal.len()).max(1);
    }

    /// The average of samples, or the greatest product of an element and its weight.
    fn pooled<T: Float>(&self, plane: &[T], place: usize, is_average: bool) -> f64 {
        let (samples, _) = self.all[place * self.each..][..self.each].as_chunks::<4>();
        let products = |sample: &[(usize, f64); 4]| sample.map(|(at, weight)| weight * plane[at].to_f64());
        if !is_average {
            let greatest = samples.iter().flat_map(products).reduce(f64::max);
            return greatest.unwrap_or(0.0);
        }
        // Four sums, none of which waits for the others.
        let mut sums = [0.0; 4];
        for sample in samples {
            sums.iter_mut().zip(products(sample)).for_each(|(sum, product)| *sum += product);
        }
        sums.iter().sum::<f64>() / samples.len().max(1) as f64
    }
}

fn pool_extents(attrs: &OpAttrs) -> Result<[usize; 2], Diagnostic> {
    let extents = extents_of(&ints_attr(attrs, "pooled_shape")?.unwrap_or_default())?;
    extents.try_into().map_err(|_| invalid("attribute 'pooled_shape' must have 2 numbers"))
}

fn pool_metadata(call: MetadataCall<'_>) -> Described {
    let [x, regions] = call.take()?;
    described(x, regions, 5, pool_extents(call.attrs)?)
}

fn max_pool<T: Element + Float>(call: &CpuCall<'_>) -> Computed {
    let ([x, regions], out) = (call.dense()?, call.allocate_unset(0)?);
    let ([batch, channels, height, width], [rows, columns]) = (images(x.shape())?, pool_extents(call.attrs)?);
    let scale = float_attr(call.attrs, "spatial_scale")?.unwrap_or(1.0);
    if out.num_elements() == 0 {
        return Ok(out.into());
    }
    let (x, regions) = (x.read_owned::<T>(&ME)?, regions.read_owned::<T>(&ME)?);
    if regions.chunks_exact(5).any(|numbers| !(0.0..batch as f64).contains(&numbers[0].to_f64())) {
        return Err(invalid(format!("regions must be of images in the range [0, {batch})")));
    }
    // The elements of a bin along one dimension.
    let bin = |start: f64, end: f64, count: usize, index: usize, extent: usize| {
        let size = (end - start + 1.0).max(1.0) / count as f64;
        let limit = |place: f64| (place + start).clamp(0.0, extent as f64) as usize;
        limit((index as f64 * size).floor())..limit(((index + 1) as f64 * size).ceil())
    };
    let unit = rows * columns;
    let cost = unit.saturating_add(height * width);
    compute(call, &ME, out, (regions.len() / 5 * channels, unit, cost), move |range, out: &mut [T]| {
        for (index, out) in range.zip(out.chunks_exact_mut(unit)) {
            let region = &regions[index / channels * 5..][..5];
            let image = region[0].to_f64() as usize;
            let at = |i: usize| (region[i].to_f64() * scale).round();
            let plane = &x[(image * channels + index % channels) * height * width..][..height * width];
            for (place, out) in out.iter_mut().enumerate() {
                let ys = bin(at(2), at(4), rows, place / columns, height);
                let xs = bin(at(1), at(3), columns, place % columns, width);
                let elements = ys.flat_map(|y| xs.clone().map(move |x| plane[y * width + x]));
                *out = elements.reduce(|a, b| if b > a { b } else { a }).unwrap_or(T::ZERO);
            }
        }
        Ok(())
    })
}

const ALIGN: [AttrSpec; 6] = [
    attr::string_or("coordinate_transformation_mode", "half_pixel"),
    attr::string_or("mode", "avg"),
    attr::int_or("output_height", 1),
    attr::int_or("output_width", 1),
    attr::int_or("sampling_ratio", 0),
    attr::float_or("spatial_scale", 1.0),
];

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("onnx.RoiAlign")
        .types(types::FLOATS)
        .attrs(ALIGN)
        .metadata(align_metadata)
        .cpu(|call| with_float!(call.result(0)?.dtype, "onnx.RoiAlign", |T| align::<T>(&call)));
    ops.add("onnx.MaxRoiPool")
        .types(types::FLOATS)
        .attrs([attr::ints("pooled_shape"), attr::float_or("spatial_scale", 1.0)])
        .metadata(pool_metadata)
        .cpu(|call| with_float!(call.result(0)?.dtype, "onnx.MaxRoiPool", |T| max_pool::<T>(&call)));
}
