//! What comes behind networks that find objects: `tf.CropAndResize` and
//! `tf.CombinedNonMaxSuppression`.

use std::ops::Range;

use tfrt_host::{AsyncValue, DType, Diagnostic};
use tfrt_math::CastTo;
use tfrt_tensor::{Accessor, Element, HostTensor};

use super::image::positive_size;
use super::onnx::suppression::{Corners, kept};
use super::support::{
    Computed, allocate, compute, float_attr, integer, invalid, operand_type, take, value, values, with_number,
};
use super::types;
use super::window::four;
use crate::{CpuCall, OpRegistry, OpResult, attr};

static ME: Accessor = Accessor::new("tf op on boxes");

/// Where the pixels of one crop lie in its image along one axis.
#[derive(Clone, Copy)]
pub(super) struct Span {
    first: f32,
    step: f32,
    /// The place of the last pixel of the image.
    end: f32,
}

impl Span {
    /// The pixels from `low` to `high`, as fractions of an image of `extent` pixels. A single one
    /// lies in the middle.
    fn new(low: f32, high: f32, extent: usize, pixels: usize) -> Self {
        let end = extent as f32 - 1.0;
        match pixels {
            0 | 1 => Self { first: 0.5 * (low + high) * end, step: 0.0, end },
            _ => Self { first: low * end, step: (high - low) * end / (pixels as f32 - 1.0), end },
        }
    }

    /// The place of a pixel, if that is inside of the image.
    pub(super) fn place(self, pixel: usize) -> Option<f32> {
        let place = self.first + pixel as f32 * self.step;
        (0.0..=self.end).contains(&place).then_some(place)
    }
}

/// A part of an image that is cut out.
pub(super) struct Crop {
    pub(super) image: usize,
    pub(super) rows: Span,
    pub(super) columns: Span,
}

/// The parts that boxes and the numbers of their images name.
pub(super) fn crops(
    boxes: &HostTensor,
    images: &HostTensor,
    [count, height, width]: [usize; 3],
    size: [usize; 2],
) -> Result<Vec<Crop>, Diagnostic> {
    let images = values::<i32>(images)?;
    if boxes.shape().dims() != [images.len(), 4] {
        let message = format!("boxes must have shape [{}, 4], got {}", images.len(), boxes.shape());
        return Err(invalid(message));
    }
    let corners = values::<f32>(boxes)?;
    let crop = |(corners, &image): (&[f32], &i32)| {
        let number = usize::try_from(image).ok().filter(|&image| image < count);
        let image = number.ok_or_else(|| invalid(format!("box_ind is {image}, there are {count} images")))?;
        Ok(Crop {
            image,
            rows: Span::new(corners[0], corners[2], height, size[0]),
            columns: Span::new(corners[1], corners[3], width, size[1]),
        })
    };
    corners.chunks_exact(4).zip(&images).map(crop).collect()
}

/// Whether a pixel is that nearest to its place, and not a mean of those around it.
pub(super) fn is_nearest(call: &CpuCall<'_>) -> Result<bool, Diagnostic> {
    match call.attrs.optional::<&str>("method")?.unwrap_or("bilinear") {
        "bilinear" => Ok(false),
        "nearest" => Ok(true),
        other => Err(invalid(format!("method must be bilinear or nearest, got {other}"))),
    }
}

fn crop_and_resize<T: Element + CastTo<f32>>(call: &CpuCall<'_>) -> Computed {
    let [image, boxes, images, size] = take(call)?;
    let [count, height, width, channels] = four(image.shape(), "image")?;
    let size = positive_size(size)?;
    if height == 0 || width == 0 {
        return Err(invalid("image must be of non-zero size"));
    }
    let is_nearest = is_nearest(call)?;
    let outside = float_attr(call.attrs, "extrapolation_value")?.unwrap_or(0.0) as f32;
    let crops = crops(boxes, images, [count, height, width], size)?;
    let out = allocate(call, DType::F32, &[crops.len(), size[0], size[1], channels])?;
    let image = image.dense()?.read_owned::<T>(&ME)?;
    let row = size[1].saturating_mul(channels);
    let units = (crops.len() * size[0], row, row.saturating_mul(4));
    compute(call, &ME, out, units, move |rows: Range<usize>, out: &mut [f32]| {
        for (number, out) in rows.zip(out.chunks_exact_mut(row.max(1))) {
            let crop = &crops[number / size[0]];
            let Some(y) = crop.rows.place(number % size[0]) else {
                out.fill(outside);
                continue;
            };
            let pixel = |y: f32, x: f32, channel: usize| -> f32 {
                let pixel = (crop.image * height + y as usize) * width + x as usize;
                image[pixel * channels + channel].cast_to()
            };
            for (column, out) in out.chunks_exact_mut(channels.max(1)).enumerate() {
                let Some(x) = crop.columns.place(column) else {
                    out.fill(outside);
                    continue;
                };
                for (channel, out) in out.iter_mut().enumerate() {
                    *out = if is_nearest {
                        pixel(y.round(), x.round(), channel)
                    } else {
                        let along = |y: f32| {
                            let (left, right) = (pixel(y, x.floor(), channel), pixel(y, x.ceil(), channel));
                            left + (right - left) * (x - x.floor())
                        };
                        let (top, bottom) = (along(y.floor()), along(y.ceil()));
                        top + (bottom - top) * (y - y.floor())
                    };
                }
            }
        }
        Ok(())
    })
}

/// A box that is found: its score, its class, and its place among the boxes of its image.
type Found = (f32, usize, usize);

/// What is asked of the boxes that are kept.
struct Limits {
    per_class: usize,
    total: usize,
    overlap: f32,
    least: f32,
}

impl Limits {
    fn new(call: &CpuCall<'_>, classes: usize) -> Result<Self, Diagnostic> {
        let [_, _, per_class, total, overlap, least] = take(call)?;
        let count = |tensor, what: &str| {
            let count = integer(tensor, what)?;
            usize::try_from(count).map_err(|_| invalid(format!("{what} must not be negative, got {count}")))
        };
        let per_class = count(per_class, "max_output_size_per_class")?;
        let mut total = count(total, "max_total_size")?;
        if call.attrs.optional("pad_per_class")?.unwrap_or(false) {
            total = total.min(per_class.saturating_mul(classes));
        }
        let (overlap, least) = (value(overlap, "iou_threshold")?, value(least, "score_threshold")?);
        Ok(Self { per_class, total, overlap, least })
    }
}

/// The best boxes of each image, best first, filled with zeros up to the same number for all.
fn combined(call: &CpuCall<'_>) -> Computed {
    let boxes = call.arguments.first().ok_or_else(|| invalid("boxes are missing"))?.dense()?;
    let scores = call.arguments.get(1).ok_or_else(|| invalid("scores are missing"))?.dense()?;
    let (&[batch, count, sets, 4], &[batches, scored, classes]) =
        (boxes.shape().dims(), scores.shape().dims())
    else {
        let (boxes, scores) = (boxes.shape(), scores.shape());
        let message = "boxes and scores must have shapes [batch, boxes, sets, 4] and [batch, boxes, classes]";
        return Err(invalid(format!("{message}, got {boxes} and {scores}")));
    };
    if (batch, count) != (batches, scored) || sets != 1 && sets != classes {
        let (boxes, scores) = (boxes.shape(), scores.shape());
        return Err(invalid(format!("scores of shape {scores} do not fit boxes of shape {boxes}")));
    }
    let limits = Limits::new(call, classes)?;
    let clips = call.attrs.optional("clip_boxes")?.unwrap_or(true);
    let (boxes, scores) = (boxes.read::<f32>(&ME)?, scores.read::<f32>(&ME)?);
    let corners =
        |image: usize, set: usize, place: usize| &boxes[((image * count + place) * sets + set) * 4..][..4];
    let mut out_boxes = allocate(call, DType::F32, &[batch, limits.total, 4])?;
    let mut out_scores = allocate(call, DType::F32, &[batch, limits.total])?;
    let mut out_classes = allocate(call, DType::F32, &[batch, limits.total])?;
    let mut valid = allocate(call, DType::I32, &[batch])?;
    for image in 0..batch {
        let mut found: Vec<Found> = Vec::new();
        for class in 0..classes {
            let set = if sets == 1 { 0 } else { class };
            let all: Vec<Corners> =
                (0..count).map(|place| Corners::new(corners(image, set, place), false)).collect();
            let own: Vec<f32> =
                (0..count).map(|place| scores[(image * count + place) * classes + class]).collect();
            let kept = kept(&all, &own, limits.per_class, limits.overlap, Some(limits.least));
            found.extend(kept.into_iter().map(|place| (own[place], class, place)));
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        found.truncate(limits.total);
        valid.elements_mut::<i32>()?[image] = found.len() as i32;
        let rows = image * limits.total..(image + 1) * limits.total;
        let to_boxes = &mut out_boxes.elements_mut::<f32>()?[rows.start * 4..rows.end * 4];
        to_boxes.fill(0.0);
        for (to, &(_, class, place)) in to_boxes.chunks_exact_mut(4).zip(&found) {
            to.copy_from_slice(corners(image, if sets == 1 { 0 } else { class }, place));
            if clips {
                to.iter_mut().for_each(|x| *x = x.clamp(0.0, 1.0));
            }
        }
        let padded = |f: fn(&Found) -> f32, to: &mut [f32]| {
            to.fill(0.0);
            to.iter_mut().zip(&found).for_each(|(to, found)| *to = f(found));
        };
        padded(|found| found.0, &mut out_scores.elements_mut::<f32>()?[rows.clone()]);
        padded(|found| found.1 as f32, &mut out_classes.elements_mut::<f32>()?[rows]);
    }
    let tensors = [out_boxes, out_scores, out_classes, valid];
    let tensors = tensors.map(|tensor| AsyncValue::new(HostTensor::from(tensor)));
    Ok(OpResult { tensors: tensors.into_iter().collect(), done: None })
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.CropAndResize")
        .types(types::NUMBERS)
        .attrs([attr::string_or("method", "bilinear"), attr::float_or("extrapolation_value", 0.0)])
        .cpu(|call| with_number!(operand_type(&call)?, "tf.CropAndResize", |T| crop_and_resize::<T>(&call)));
    ops.add("tf.CombinedNonMaxSuppression")
        .types(&[DType::F32])
        .attrs([attr::boolean_or("pad_per_class", false), attr::boolean_or("clip_boxes", true)])
        .cpu(|call| combined(&call));
}
