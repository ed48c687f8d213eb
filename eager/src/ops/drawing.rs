//! Boxes drawn into images, and glimpses of images: `tf.DrawBoundingBoxesV2`, `tf.ExtractGlimpse`.

use std::hash::{BuildHasher, RandomState};

use tfrt_host::{DType, Diagnostic};
use tfrt_math::Philox;

use super::image::positive_size;
use super::plain::{of_reals, reals, results};
use super::support::{Computed, invalid, one, room_for, take};
use super::types;
use super::window::four;
use crate::{CpuCall, OpRegistry, ResultType, attr};

/// The colors of boxes that are given none: red, green, blue and opacity.
const COLORS: [[f64; 4]; 10] = [
    [1.0, 1.0, 0.0, 1.0],
    [0.0, 0.0, 1.0, 1.0],
    [1.0, 0.0, 0.0, 1.0],
    [0.0, 1.0, 0.0, 1.0],
    [0.5, 0.0, 0.5, 1.0],
    [0.5, 0.5, 0.0, 1.0],
    [0.5, 0.0, 0.0, 1.0],
    [0.0, 0.0, 0.5, 1.0],
    [0.0, 1.0, 1.0, 1.0],
    [1.0, 0.0, 1.0, 1.0],
];

/// The colors of boxes, for images of `depth` channels. Boxes take turns if there are more of them.
fn colors(call: &CpuCall<'_>, depth: usize) -> Result<Vec<Vec<f64>>, Diagnostic> {
    let given = match call.arguments {
        [_, _, colors] if !colors.shape().dims().contains(&0) => colors,
        [_, _] | [_, _, _] => {
            let color = |color: &[f64; 4]| if depth == 1 { vec![1.0] } else { color.to_vec() };
            return match depth {
                1 | 3 | 4 => Ok(COLORS.iter().map(color).collect()),
                _ => Err(invalid(format!("images must have 1, 3 or 4 channels, got {depth}"))),
            };
        }
        other => return Err(crate::registry::wrong_count(3, other.len())),
    };
    let &[_, length] = given.shape().dims() else {
        return Err(invalid(format!("colors must be a matrix, got shape {}", given.shape())));
    };
    if length < depth {
        return Err(invalid(format!("colors have {length} channels, but the images {depth}")));
    }
    Ok(reals(given)?.chunks_exact(length).map(<[f64]>::to_vec).collect())
}

/// The first and the last pixel of a box along one axis, which may lie outside of the image.
/// `None` if no pixel of the box is inside.
fn edges(from: f64, to: f64, extent: usize) -> Option<[i64; 2]> {
    let scale = (extent as f32) - 1.0;
    let edge = |place: f64| (place as f32 * scale) as i64;
    let (first, last) = (edge(from), edge(to));
    (first <= last && last >= 0 && first < extent as i64).then_some([first, last])
}

fn draw(call: &CpuCall<'_>) -> Computed {
    let (Some(images), Some(boxes)) = (call.arguments.first(), call.arguments.get(1)) else {
        return Err(crate::registry::wrong_count(3, call.arguments.len()));
    };
    let dims = four(images.shape(), "images")?;
    let [batch, height, width, depth] = dims;
    let &[box_batch, count, 4] = boxes.shape().dims() else {
        return Err(invalid(format!("boxes must have shape [batch, boxes, 4], got {}", boxes.shape())));
    };
    if box_batch != batch {
        return Err(invalid(format!("there are {batch} images, but boxes of {box_batch}")));
    }
    let (colors, mut pixels) = (colors(call, depth)?, reals(images)?);
    for (number, corners) in reals(boxes)?.chunks_exact(4).enumerate() {
        let rows = edges(corners[0], corners[2], height);
        let columns = edges(corners[1], corners[3], width);
        let (Some([top, bottom]), Some([left, right])) = (rows, columns) else { continue };
        let color = &colors[number % count.max(1) % colors.len()];
        let image = number / count.max(1) * height;
        let mut paint = |row: i64, column: i64| {
            let at = ((image + row as usize) * width + column as usize) * depth;
            pixels[at..at + depth].copy_from_slice(&color[..depth]);
        };
        for row in [top, bottom].into_iter().filter(|row| (0..height as i64).contains(row)) {
            (left.max(0)..=right.min(width as i64 - 1)).for_each(|column| paint(row, column));
        }
        for column in [left, right].into_iter().filter(|column| (0..width as i64).contains(column)) {
            (top.max(0)..=bottom.min(height as i64 - 1)).for_each(|row| paint(row, column));
        }
    }
    Ok(results([of_reals(call, images.dtype(), &dims, &pixels)?]))
}

/// How the offsets of glimpses are meant.
struct Offsets {
    is_centered: bool,
    is_normalized: bool,
    /// The first version of the op takes centers in any case, and halves them where they are
    /// counted from the image's center.
    is_first: bool,
}

impl Offsets {
    /// The first pixel of a glimpse along one axis.
    fn start(&self, offset: f32, extent: usize, window: usize) -> i64 {
        let (extent, half) = (extent as f32, window as f32 / 2.0);
        let mut place = if self.is_normalized { offset * extent } else { offset };
        let halves = self.is_first || self.is_normalized;
        if self.is_centered {
            place = if halves { place / 2.0 } else { place } + extent / 2.0;
        }
        if self.is_first || self.is_centered && self.is_normalized {
            place -= half;
        }
        place as i64
    }
}

/// What stands outside of an image.
enum Noise {
    Zero,
    /// Numbers between the least and the greatest pixel.
    Uniform,
    /// Numbers with the mean and the deviation of the pixels.
    Normal,
}

impl Noise {
    fn of(call: &CpuCall<'_>) -> Result<Self, Diagnostic> {
        match call.attrs.optional::<&str>("noise")?.unwrap_or("uniform") {
            "zero" => Ok(Self::Zero),
            "gaussian" => Ok(Self::Normal),
            "uniform" if !call.attrs.optional("uniform_noise")?.unwrap_or(true) => Ok(Self::Normal),
            "uniform" => Ok(Self::Uniform),
            other => Err(invalid(format!("noise must be uniform, gaussian or zero, got '{other}'"))),
        }
    }

    /// Fills a glimpse of an image.
    fn fill(&self, image: &[f64], generator: &Philox, out: &mut [f64]) {
        let uniform = |place: usize| f64::from(generator.block(place as u64)[0]) / 2f64.powi(32);
        let count = image.len().max(1) as f64;
        match self {
            Self::Zero => out.fill(0.0),
            Self::Uniform => {
                let low = image.iter().copied().fold(f64::INFINITY, f64::min);
                let high = image.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let numbers = (0..).map(|place| low + (high - low) * uniform(place));
                out.iter_mut().zip(numbers).for_each(|(out, number)| *out = number);
            }
            Self::Normal => {
                let mean = image.iter().sum::<f64>() / count;
                let variance = image.iter().map(|pixel| (pixel - mean).powi(2)).sum::<f64>() / count;
                let numbers = (0..).map(|place| {
                    let radius = (-2.0 * (1.0 - uniform(2 * place)).ln()).sqrt();
                    mean + variance.sqrt() * radius * (std::f64::consts::TAU * uniform(2 * place + 1)).cos()
                });
                out.iter_mut().zip(numbers).for_each(|(out, number)| *out = number);
            }
        }
    }
}

fn glimpse(call: &CpuCall<'_>, is_first: bool) -> Computed {
    let [images, size, offsets] = take(call)?;
    let [batch, height, width, depth] = four(images.shape(), "input")?;
    let [rows, columns] = positive_size(size)?;
    if offsets.shape().dims() != [batch, 2] {
        return Err(invalid(format!("offsets must have shape [{batch}, 2], got {}", offsets.shape())));
    }
    let meaning = Offsets {
        is_centered: call.attrs.optional("centered")?.unwrap_or(true),
        is_normalized: call.attrs.optional("normalized")?.unwrap_or(true),
        is_first,
    };
    let noise = Noise::of(call)?;
    let (pixels, offsets) = (reals(images)?, reals(offsets)?);
    let (image, unit) = (height * width * depth, rows.saturating_mul(columns).saturating_mul(depth));
    let total = batch.saturating_mul(unit);
    let mut out: Vec<f64> = room_for(total)?;
    out.resize(total, 0.0);
    for (number, out) in out.chunks_exact_mut(unit.max(1)).enumerate() {
        let pixels = &pixels[number * image..][..image];
        let seed = RandomState::new().hash_one(number);
        noise.fill(pixels, &Philox::new(seed, 0), out);
        let top = meaning.start(offsets[2 * number] as f32, height, rows);
        let left = meaning.start(offsets[2 * number + 1] as f32, width, columns);
        for (place, out) in out.chunks_exact_mut(depth.max(1)).enumerate() {
            let row = top.saturating_add((place / columns) as i64);
            let column = left.saturating_add((place % columns) as i64);
            if (0..height as i64).contains(&row) && (0..width as i64).contains(&column) {
                let at = (row as usize * width + column as usize) * depth;
                out.copy_from_slice(&pixels[at..at + depth]);
            }
        }
    }
    Ok(results([of_reals(call, DType::F32, &[batch, rows, columns, depth], &out)?]))
}

pub(super) fn register(ops: &mut OpRegistry) {
    for name in ["tf.DrawBoundingBoxes", "tf.DrawBoundingBoxesV2"] {
        ops.add(name)
            .types(types::FLOATS)
            .metadata(|call| match call.arguments.first() {
                Some(images) => one((*images).clone()),
                None => Err(crate::registry::wrong_count(3, 0)),
            })
            .cpu(|call| draw(&call));
    }
    let attributes = || {
        [
            attr::boolean_or("centered", true),
            attr::string_or("noise", "uniform"),
            attr::boolean_or("normalized", true),
            attr::boolean_or("uniform_noise", true),
        ]
    };
    const GLIMPSES: ResultType = ResultType::is(DType::F32).rank(4);
    ops.add("tf.ExtractGlimpse")
        .types(&[DType::F32, DType::I32])
        .attrs(attributes())
        .results([GLIMPSES])
        .nondeterministic()
        .cpu(|call| glimpse(&call, true));
    ops.add("tf.ExtractGlimpseV2")
        .types(&[DType::F32, DType::I32])
        .attrs(attributes())
        .results([GLIMPSES])
        .nondeterministic()
        .cpu(|call| glimpse(&call, false));
}
