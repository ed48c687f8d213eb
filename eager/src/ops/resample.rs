//! Resizing of images by weights for each row and column: `tf.ResizeBicubic`, `tf.ResizeArea` and
//! `tf.ScaleAndTranslate`, and gradients of these.

use std::f32::consts::PI;

use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::{Accessor, DenseHostTensor, HostTensor};

use super::image::positive_size;
use super::plain::{of_reals, reals, results};
use super::support::{Computed, Described, allocate, compute, invalid, one, product, room_for, take, values};
use super::types;
use super::window::four;
use crate::{CpuCall, MetadataCall, OpRegistry, ResultType, attr};

static ME: Accessor = Accessor::new("tf op that resizes images");

/// The pixels of the original that a pixel of the result is made of, along one axis, with their
/// weights.
type Taps = Vec<(usize, f32)>;

/// The weights for the rows and for the columns of a result.
type Axes = [Vec<Taps>; 2];

/// Resizes an image by the weights that `axes` returns for its extents before and after. One without
/// elements may have any extents, for which weights would not fit memory.
fn resized(
    call: &CpuCall<'_>,
    [image, size]: [&HostTensor; 2],
    axes: impl FnOnce([(usize, usize); 2]) -> Result<Axes, Diagnostic>,
) -> Computed {
    let to = positive_size(size)?;
    let extents = extents_to(image, to)?;
    let [batch, _, _, channels] = four(image.shape(), "images")?;
    if batch == 0 || channels == 0 {
        let out: DenseHostTensor = allocate(call, DType::F32, &[batch, to[0], to[1], channels])?;
        return Ok(HostTensor::from(out).into());
    }
    let [rows, columns] = axes(extents)?;
    resample(call, image, rows, columns)
}

/// Sums along columns and then along rows.
fn resample(call: &CpuCall<'_>, image: &HostTensor, rows: Vec<Taps>, columns: Vec<Taps>) -> Computed {
    let [batch, height, width, channels] = four(image.shape(), "images")?;
    let pixels: Vec<f32> = reals(image)?.into_iter().map(|value| value as f32).collect();
    let out: DenseHostTensor = allocate(call, DType::F32, &[batch, rows.len(), columns.len(), channels])?;
    let row = columns.len().saturating_mul(channels);
    let count = rows.len();
    let units = (batch.saturating_mul(count), row, row.saturating_mul(16));
    compute(call, &ME, out, units, move |lines, out: &mut [f32]| {
        for (line, out) in lines.zip(out.chunks_exact_mut(row.max(1))) {
            let image = &pixels[line / count * height * width * channels..];
            for (taps, out) in columns.iter().zip(out.chunks_exact_mut(channels.max(1))) {
                for (channel, out) in out.iter_mut().enumerate() {
                    let along = |y: usize| -> f32 {
                        let pixel = |x: usize| image[(y * width + x) * channels + channel];
                        taps.iter().map(|&(x, weight)| pixel(x) * weight).sum()
                    };
                    *out = rows[line % count].iter().map(|&(y, weight)| along(y) * weight).sum();
                }
            }
        }
        Ok(())
    })
}

/// Adds the gradient of each pixel of the result to the pixels that it is made of, by the weights
/// that `axes` returns as for [`resized`].
fn spread_gradients(
    call: &CpuCall<'_>,
    [gradients, image]: [&HostTensor; 2],
    axes: impl FnOnce([(usize, usize); 2]) -> Result<Axes, Diagnostic>,
) -> Computed {
    let dims = four(image.shape(), "original_image")?;
    let [batch, height, width, channels] = dims;
    let [count, to_height, to_width, depth] = four(gradients.shape(), "grads")?;
    if [count, depth] != [batch, channels] {
        let message = format!("grads of shape {} do not fit an image of {dims:?}", gradients.shape());
        return Err(invalid(message));
    }
    let extents = extents_to(image, [to_height, to_width])?;
    let is_empty = product(gradients.shape().dims()) == 0;
    let [rows, columns] = if is_empty { Axes::default() } else { axes(extents)? };
    let total = product(&dims);
    let mut sums: Vec<f64> = room_for(total)?;
    sums.resize(total, 0.0);
    let gradients = reals(gradients)?;
    let line = (columns.len() * channels).max(1);
    for (number, gradients) in gradients.chunks_exact(line).enumerate() {
        let image = number / rows.len() * height;
        for &(y, share) in &rows[number % rows.len()] {
            for (taps, gradients) in columns.iter().zip(gradients.chunks_exact(channels.max(1))) {
                for &(x, part) in taps {
                    let sums = &mut sums[((image + y) * width + x) * channels..];
                    let weight = f64::from(share) * f64::from(part);
                    sums.iter_mut().zip(gradients).for_each(|(sum, gradient)| *sum += weight * gradient);
                }
            }
        }
    }
    Ok(results([of_reals(call, image.dtype(), &dims, &sums)?]))
}

fn flag(call: &CpuCall<'_>, name: &str) -> Result<bool, Diagnostic> {
    Ok(call.attrs.optional(name)?.unwrap_or(false))
}

/// How far pixels of the original lie apart.
fn step(call: &CpuCall<'_>, from: usize, to: usize) -> Result<f32, Diagnostic> {
    Ok(match flag(call, "align_corners")? && to > 1 {
        true => (from - 1) as f32 / (to - 1) as f32,
        false => from as f32 / to as f32,
    })
}

/// The extents of an image that is resized, before and after.
fn extents_to(image: &HostTensor, to: [usize; 2]) -> Result<[(usize, usize); 2], Diagnostic> {
    let [_, height, width, _] = four(image.shape(), "images")?;
    let [to_height, to_width] = to;
    if height == 0 || width == 0 {
        return Err(invalid("input image must be of non-zero size"));
    }
    Ok([(height, to_height), (width, to_width)])
}

/// Weights of four pixels by a cubic polynomial, at distances that are rounded to 1/1024, as in
/// TensorFlow.
fn cubic(at: usize, extent: usize, step: f32, half_pixels: bool) -> Taps {
    const TABLE: f32 = 1024.0;
    let place = if half_pixels { (at as f32 + 0.5) * step - 0.5 } else { at as f32 * step };
    let first = place.floor();
    let offset = ((place - first) * TABLE).round_ties_even() / TABLE;
    let a = if half_pixels { -0.5f32 } else { -0.75 };
    let near = |x: f32| ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
    let far = |x: f32| {
        let x = x + 1.0;
        ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a
    };
    let weights = [far(offset), near(offset), near(1.0 - offset), far(1.0 - offset)];
    let taps = weights.iter().zip(-1i64..).map(|(&weight, shift)| {
        let wanted = first as i64 + shift;
        let pixel = wanted.clamp(0, extent as i64 - 1);
        // With half pixels, those outside of the image count for nothing.
        (pixel as usize, if half_pixels && pixel != wanted { 0.0 } else { weight })
    });
    let mut taps: Taps = taps.collect();
    if half_pixels {
        normalize(&mut taps);
    }
    taps
}

/// Divides weights by their sum.
fn normalize(taps: &mut Taps) {
    let sum: f32 = taps.iter().map(|tap| tap.1).sum();
    if sum.abs() >= 1000.0 * f32::MIN_POSITIVE {
        taps.iter_mut().for_each(|tap| tap.1 /= sum);
    }
}

fn cubic_axes(call: &CpuCall<'_>, extents: [(usize, usize); 2]) -> Result<Axes, Diagnostic> {
    let half_pixels = flag(call, "half_pixel_centers")?;
    let mut axes = Axes::default();
    for (axis, (from, to)) in axes.iter_mut().zip(extents) {
        let step = step(call, from, to)?;
        *axis = (0..to).map(|at| cubic(at, from, step, half_pixels)).collect();
    }
    Ok(axes)
}

fn bicubic(call: &CpuCall<'_>) -> Computed {
    resized(call, take(call)?, |extents| cubic_axes(call, extents))
}

fn bicubic_gradient(call: &CpuCall<'_>) -> Computed {
    spread_gradients(call, take(call)?, |extents| cubic_axes(call, extents))
}

/// The part of each pixel that a larger pixel covers.
fn covered(at: usize, extent: usize, step: f32) -> Taps {
    let (low, high) = (at as f32 * step, (at as f32 + 1.0) * step);
    let pixels = low.floor() as usize..(high.ceil() as usize).max(low.floor() as usize + 1);
    let overlap = |pixel: usize| {
        let pixel = pixel as f32;
        let weight = if pixel < low {
            if pixel + 1.0 > high { step } else { pixel + 1.0 - low }
        } else if pixel + 1.0 > high {
            high - pixel
        } else {
            1.0
        };
        weight / step
    };
    pixels.map(|pixel| (pixel.min(extent - 1), overlap(pixel))).collect()
}

fn area(call: &CpuCall<'_>) -> Computed {
    resized(call, take(call)?, |extents| {
        let mut axes = Axes::default();
        for (axis, (from, to)) in axes.iter_mut().zip(extents) {
            let step = step(call, from, to)?;
            if step == 0.0 {
                return Err(invalid("an image of one pixel cannot be resized with its corners aligned"));
            }
            *axis = (0..to).map(|at| covered(at, from, step)).collect();
        }
        Ok(axes)
    })
}

/// What weights depend on: the distance, up to a radius.
#[derive(Clone, Copy)]
enum Kernel {
    Lanczos(f32),
    Gaussian,
    Box,
    Triangle,
    Keys,
    Mitchell,
}

impl Kernel {
    fn of(name: &str) -> Result<Self, Diagnostic> {
        Ok(match name {
            "lanczos1" => Self::Lanczos(1.0),
            "lanczos3" => Self::Lanczos(3.0),
            "lanczos5" => Self::Lanczos(5.0),
            "gaussian" => Self::Gaussian,
            "box" => Self::Box,
            "triangle" => Self::Triangle,
            "keyscubic" => Self::Keys,
            "mitchellcubic" => Self::Mitchell,
            other => return Err(invalid(format!("Unrecognized kernel type: {other}"))),
        })
    }

    fn radius(self) -> f32 {
        match self {
            Self::Lanczos(radius) => radius,
            Self::Gaussian => 1.5,
            Self::Box => 0.5,
            Self::Triangle => 1.0,
            Self::Keys | Self::Mitchell => 2.0,
        }
    }

    fn weight(self, x: f32) -> f32 {
        match self {
            Self::Box if x < 0.5 => 1.0,
            Self::Box if x == 0.5 => 0.5,
            Self::Lanczos(_) if x <= 1e-3 => 1.0,
            _ if x >= self.radius() => 0.0,
            Self::Box => 0.0,
            Self::Lanczos(radius) => radius * (PI * x).sin() * (PI * x / radius).sin() / (PI * PI * x * x),
            Self::Gaussian => (-x * x / 0.5).exp(),
            Self::Triangle => 1.0 - x,
            Self::Keys if x >= 1.0 => ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0,
            Self::Keys => (1.5 * x - 2.5) * x * x + 1.0,
            Self::Mitchell if x >= 1.0 => ((-7.0 / 18.0 * x + 2.0) * x - 10.0 / 3.0) * x + 16.0 / 9.0,
            Self::Mitchell => (7.0 / 6.0 * x - 2.0) * x * x + 8.0 / 9.0,
        }
    }

    fn taps(self, at: usize, extent: usize, (scale, shift): (f32, f32), smooths: bool) -> Taps {
        let inverse = 1.0 / scale;
        let widening = if smooths { inverse.max(1.0) } else { 1.0 };
        let place = (at as f32 + 0.5) * inverse - inverse * shift;
        if !(0.0..=extent as f32).contains(&place) {
            return Taps::new();
        }
        let reach = self.radius() * widening;
        let last = extent as f32 - 1.0;
        let start = (place - reach - 0.5).ceil().clamp(0.0, last) as usize;
        let end = (place + reach - 0.5).floor().clamp(0.0, last) as usize;
        let weight = |pixel: usize| self.weight(((pixel as f32 + 0.5 - place) * (1.0 / widening)).abs());
        let mut taps: Taps = (start..=end).map(|pixel| (pixel, weight(pixel))).collect();
        normalize(&mut taps);
        taps
    }
}

/// The pixels that those of an image are made of that is scaled and moved.
fn moved(
    call: &CpuCall<'_>,
    [scale, translation]: [&HostTensor; 2],
    extents: [(usize, usize); 2],
) -> Result<Axes, Diagnostic> {
    let kernel = Kernel::of(call.attrs.optional::<&str>("kernel_type")?.unwrap_or("lanczos3"))?;
    let smooths = call.attrs.optional("antialias")?.unwrap_or(true);
    let (scale, translation) = (values::<f32>(scale)?, values::<f32>(translation)?);
    if scale.len() != 2 || translation.len() != 2 || scale.iter().any(|&scale| scale.is_nan() || scale <= 0.0)
    {
        return Err(invalid("scale and translation must have two elements, and scale must be positive"));
    }
    let mut axes = Axes::default();
    for (number, (from, to)) in extents.into_iter().enumerate() {
        let by = (scale[number], translation[number]);
        axes[number] = (0..to).map(|at| kernel.taps(at, from, by, smooths)).collect();
    }
    Ok(axes)
}

fn scale_and_translate(call: &CpuCall<'_>) -> Computed {
    let [image, size, scale, translation] = take(call)?;
    resized(call, [image, size], |extents| moved(call, [scale, translation], extents))
}

fn scale_and_translate_gradient(call: &CpuCall<'_>) -> Computed {
    let [gradients, image, scale, translation] = take(call)?;
    spread_gradients(call, [gradients, image], |extents| moved(call, [scale, translation], extents))
}

/// The gradient of an image has its type and shape.
fn gradient_metadata(call: MetadataCall<'_>) -> Described {
    match call.arguments {
        [_, image, ..] => one((*image).clone()),
        other => Err(crate::registry::wrong_count(2, other.len())),
    }
}

pub(super) fn register(ops: &mut OpRegistry) {
    const IMAGES: ResultType = ResultType::is(DType::F32).rank(4);
    let flags = || [attr::boolean_or("align_corners", false), attr::boolean_or("half_pixel_centers", false)];
    ops.add("tf.ResizeBicubic")
        .types(types::NUMBERS)
        .attrs(flags())
        .results([IMAGES])
        .cpu(|call| bicubic(&call));
    ops.add("tf.ResizeArea")
        .types(types::NUMBERS)
        .attrs([attr::boolean_or("align_corners", false)])
        .results([IMAGES])
        .cpu(|call| area(&call));
    ops.add("tf.ScaleAndTranslate")
        .types(types::NUMBERS)
        .attrs([attr::boolean_or("antialias", true), attr::string_or("kernel_type", "lanczos3")])
        .results([IMAGES])
        .cpu(|call| scale_and_translate(&call));
    ops.add("tf.ResizeBicubicGrad")
        .types(types::FLOATS)
        .attrs(flags())
        .metadata(gradient_metadata)
        .cpu(|call| bicubic_gradient(&call));
    ops.add("tf.ScaleAndTranslateGrad")
        .types(types::FLOATS)
        .attrs([attr::boolean_or("antialias", true), attr::string_or("kernel_type", "lanczos3")])
        .metadata(gradient_metadata)
        .cpu(|call| scale_and_translate_gradient(&call));
}
