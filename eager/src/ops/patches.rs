//! Windows of images without sums: patches, dilation, the places of greatest pixels, and
//! projections.

use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::{TensorMetadata, TensorShape};

use super::image::positive_size;
use super::pick::{NOWHERE, pick};
use super::plain::{of_reals, reals, results, tensor};
use super::support::{
    Computed, Described, invalid, one, operand_type, product, room_for, take, value, values,
};
use super::types;
use super::window::{extent, four};
use crate::{CpuCall, MetadataCall, OpAttrs, OpRegistry, ResultType, attr};

/// How windows lie along one axis.
#[derive(Clone, Copy)]
pub(super) struct Axis {
    input: usize,
    window: usize,
    rate: usize,
    stride: usize,
    before: usize,
    pub(super) output: usize,
}

impl Axis {
    fn new(
        attrs: &OpAttrs,
        input: usize,
        window: usize,
        rate: usize,
        stride: usize,
    ) -> Result<Self, Diagnostic> {
        let covered = (window.max(1) - 1).saturating_mul(rate).saturating_add(1);
        let (output, before) = match attrs.required::<&str>("padding")? {
            "VALID" => ((input + stride).saturating_sub(covered) / stride, 0),
            "SAME" => {
                let output = input.div_ceil(stride);
                let needed = (output.max(1) - 1).saturating_mul(stride).saturating_add(covered);
                (output, needed.saturating_sub(input) / 2)
            }
            other => return Err(invalid(format!("'{other}' is no padding of this op"))),
        };
        Ok(Self { input, window, rate, stride, before, output })
    }

    /// The elements of a window that are inside of the image, with their pixels.
    pub(super) fn inside(self, output: usize) -> impl Iterator<Item = (usize, usize)> {
        let start = output * self.stride;
        let first = self.before.saturating_sub(start).div_ceil(self.rate);
        let end = self.input.saturating_add(self.before).saturating_sub(start).div_ceil(self.rate);
        (first..end.min(self.window)).map(move |element| (element, start + element * self.rate - self.before))
    }

    /// The pixel of an element of a window, if it is inside of the image.
    fn pixel(self, output: usize, element: usize) -> Option<usize> {
        (output * self.stride + element * self.rate)
            .checked_sub(self.before)
            .filter(|&pixel| pixel < self.input)
    }
}

/// Both axes of the images under the attributes of these names; `window` overrides the first.
pub(super) fn axes(
    attrs: &OpAttrs,
    [height, width]: [usize; 2],
    window: Option<[usize; 2]>,
    rates: &str,
) -> Result<[Axis; 2], Diagnostic> {
    let window = match window {
        Some(window) => window,
        None => {
            let size = extent(attrs, if rates.is_empty() { "ksize" } else { "ksizes" }, false)?;
            [size.height, size.width]
        }
    };
    let strides = extent(attrs, "strides", false)?;
    let rates = if rates.is_empty() { tfrt_math::Extent2::new(1, 1) } else { extent(attrs, rates, true)? };
    Ok([
        Axis::new(attrs, height, window[0], rates.height, strides.height)?,
        Axis::new(attrs, width, window[1], rates.width, strides.width)?,
    ])
}

fn patches_metadata(call: MetadataCall<'_>) -> Described {
    let [image] = call.take()?;
    let [batch, height, width, channels] = four(&image.shape, "images")?;
    let [rows, columns] = axes(call.attrs, [height, width], None, "rates")?;
    let depth = rows.window.saturating_mul(columns.window).saturating_mul(channels);
    one(TensorMetadata::new(image.dtype, TensorShape::new(&[batch, rows.output, columns.output, depth])?))
}

fn patches(call: &CpuCall<'_>) -> Computed {
    let [image] = take(call)?;
    let [batch, height, width, channels] = four(image.shape(), "images")?;
    let [rows, columns] = axes(call.attrs, [height, width], None, "rates")?;
    let dims = call.result(0)?.shape.dims().to_vec();
    let mut places = room_for(call.result(0)?.shape.num_elements()?.checked_div(channels).unwrap_or(0))?;
    for number in 0..batch {
        for row in 0..rows.output {
            for column in 0..columns.output {
                for y in 0..rows.window {
                    for x in 0..columns.window {
                        let pixel = rows.pixel(row, y).zip(columns.pixel(column, x));
                        places.push(pixel.map_or(NOWHERE, |(y, x)| (number * height + y) * width + x));
                    }
                }
            }
        }
    }
    pick(call, image, places, channels, &dims)
}

/// The greatest sum of a pixel and a filter's element in each window.
fn dilate(call: &CpuCall<'_>) -> Computed {
    let [image, filter] = take(call)?;
    let [batch, height, width, channels] = four(image.shape(), "input")?;
    let &[tall, wide, depth] = filter.shape().dims() else {
        return Err(invalid("filter must be 3-dimensional"));
    };
    if depth != channels {
        return Err(invalid(format!("input and filter must have the same depth: {channels} vs {depth}")));
    }
    let [rows, columns] = axes(call.attrs, [height, width], Some([tall, wide]), "rates")?;
    let (x, f) = (reals(image)?, reals(filter)?);
    let dims = [batch, rows.output, columns.output, channels];
    let mut out = room_for(product(&dims))?;
    // Without channels, the other extents are arbitrary.
    let batch = if channels == 0 { 0 } else { batch };
    for number in 0..batch {
        for row in 0..rows.output {
            for column in 0..columns.output {
                for channel in 0..channels {
                    let mut greatest = f64::MIN;
                    for (j, y) in rows.inside(row) {
                        for (i, at) in columns.inside(column) {
                            let pixel = x[((number * height + y) * width + at) * channels + channel];
                            greatest = greatest.max(pixel + f[(j * wide + i) * depth + channel]);
                        }
                    }
                    out.push(greatest);
                }
            }
        }
    }
    Ok(results([of_reals(call, image.dtype(), &dims, &out)?]))
}

/// The greatest pixel of each window and its place.
fn pool_with_places(call: &CpuCall<'_>) -> Computed {
    let [image] = take(call)?;
    let [batch, height, width, channels] = four(image.shape(), "input")?;
    let [rows, columns] = axes(call.attrs, [height, width], None, "")?;
    let has_batch = call.attrs.optional("include_batch_in_index")?.unwrap_or(false);
    let x = reals(image)?;
    let dims = [batch, rows.output, columns.output, channels];
    let (mut out, mut places) = (room_for(product(&dims))?, room_for(product(&dims))?);
    // Without channels, the other extents are arbitrary.
    let batch = if channels == 0 { 0 } else { batch };
    for number in 0..batch {
        for row in 0..rows.output {
            for column in 0..columns.output {
                for channel in 0..channels {
                    let (mut greatest, mut place) = (f64::NEG_INFINITY, None);
                    for (_, y) in rows.inside(row) {
                        for (_, at) in columns.inside(column) {
                            let index = (y * width + at) * channels + channel;
                            let pixel = x[number * height * width * channels + index];
                            if place.is_none() || pixel > greatest {
                                (greatest, place) = (pixel, Some(index));
                            }
                        }
                    }
                    let offset = if has_batch { number * height * width * channels } else { 0 };
                    out.push(greatest);
                    places.push((place.unwrap_or(0) + offset) as i64);
                }
            }
        }
    }
    let places = match call.attrs.optional::<DType>("Targmax")?.unwrap_or(DType::I64) {
        DType::I32 => tensor(call, &dims, &places.iter().map(|&place| place as i32).collect::<Vec<_>>())?,
        _ => tensor(call, &dims, &places)?,
    };
    Ok(results([of_reals(call, image.dtype(), &dims, &out)?, places]))
}

/// Where a place outside of an image leads, as `fill_mode` says.
fn wrapped(mode: &str, place: f32, extent: usize) -> Result<f32, Diagnostic> {
    let (last, length) = (extent as f32 - 1.0, extent as f32);
    let is_outside = place < 0.0 || place > last;
    Ok(match mode {
        "CONSTANT" => place,
        _ if !is_outside => place,
        "NEAREST" => place.clamp(0.0, last),
        _ if extent <= 1 => 0.0,
        "REFLECT" => {
            let double = 2.0 * length;
            let mut inside = place;
            if inside < 0.0 {
                if inside < double {
                    inside += double * (-inside / double).trunc();
                }
                inside = if inside < -length { inside + double } else { -inside - 1.0 };
            } else {
                inside -= double * (inside / double).trunc();
                if inside >= length {
                    inside = double - inside - 1.0;
                }
            }
            inside.clamp(0.0, last)
        }
        "WRAP" => {
            let inside = if place < 0.0 {
                place + length * ((-place / last).trunc() + 1.0)
            } else {
                place - length * (place / last).trunc()
            };
            inside.clamp(0.0, last)
        }
        other => return Err(invalid(format!("fill_mode '{other}' is not supported"))),
    })
}

/// Images seen through a projective transform for each, or one for all.
fn project(call: &CpuCall<'_>) -> Computed {
    let [image, transforms, size, fill] = take(call)?;
    let [batch, height, width, channels] = four(image.shape(), "images")?;
    let [rows, columns] = positive_size(size)?;
    let fill = f64::from(value::<f32>(fill, "fill_value")?);
    let of = values::<f32>(transforms)?;
    if transforms.shape().dims() != [batch, 8] && transforms.shape().dims() != [1, 8] {
        return Err(invalid(format!(
            "Input transform should be num_images x 8 or 1 x 8, got {}",
            transforms.shape()
        )));
    }
    let is_nearest = match call.attrs.required::<&str>("interpolation")? {
        "NEAREST" => true,
        "BILINEAR" => false,
        other => {
            return Err(invalid(format!(
                "Invalid interpolation {other}. Supported types: NEAREST, BILINEAR"
            )));
        }
    };
    let mode = call.attrs.optional::<&str>("fill_mode")?.unwrap_or("CONSTANT");
    let pixels = reals(image)?;
    let mut out = room_for(batch.saturating_mul(rows).saturating_mul(columns).saturating_mul(channels))?;
    for number in 0..batch {
        let t = if of.len() == 8 { &of[..] } else { &of[number * 8..][..8] };
        for row in 0..rows {
            for column in 0..columns {
                let (x, y) = (column as f32, row as f32);
                let depth = t[6] * x + t[7] * y + 1.0;
                let place = |a: f32, b: f32, c: f32| (a * x + b * y + c) / depth;
                let (x, y) = (
                    wrapped(mode, place(t[0], t[1], t[2]), width)?,
                    wrapped(mode, place(t[3], t[4], t[5]), height)?,
                );
                for channel in 0..channels {
                    let pixel = |x: f32, y: f32| match (0.0..height as f32).contains(&y)
                        && (0.0..width as f32).contains(&x)
                    {
                        true => {
                            pixels[((number * height + y as usize) * width + x as usize) * channels + channel]
                        }
                        false => fill,
                    };
                    out.push(if depth == 0.0 {
                        fill
                    } else if is_nearest {
                        pixel(x.round(), y.round())
                    } else {
                        let along = |y: f32| {
                            let part = f64::from(x - x.floor());
                            (1.0 - part) * pixel(x.floor(), y) + part * pixel(x.floor() + 1.0, y)
                        };
                        let part = f64::from(y - y.floor());
                        (1.0 - part) * along(y.floor()) + part * along(y.floor() + 1.0)
                    });
                }
            }
        }
    }
    Ok(results([of_reals(call, operand_type(call)?, &[batch, rows, columns, channels], &out)?]))
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.ExtractImagePatches")
        .types(types::ELEMENTS)
        .attrs([attr::ints("ksizes"), attr::string("padding"), attr::ints("rates"), attr::ints("strides")])
        .metadata(patches_metadata)
        .cpu(|call| patches(&call));
    ops.add("tf.Dilation2D")
        .types(types::NUMBERS)
        .attrs([attr::string("padding"), attr::ints("rates"), attr::ints("strides")])
        .results([ResultType::like(0).rank(4)])
        .cpu(|call| dilate(&call));
    ops.add("tf.MaxPoolWithArgmax")
        .types(types::NUMBERS)
        .attrs([
            attr::dtype_or("Targmax", DType::I64),
            attr::boolean_or("include_batch_in_index", false),
            attr::ints("ksize"),
            attr::string("padding"),
            attr::ints("strides"),
        ])
        .results([ResultType::like(0).rank(4), ResultType::named("Targmax").rank(4)])
        .cpu(|call| pool_with_places(&call));
    ops.add("tf.ImageProjectiveTransformV3")
        .types(types::NUMBERS)
        .attrs([attr::string_or("fill_mode", "CONSTANT"), attr::string("interpolation")])
        .results([ResultType::like(0).rank(4)])
        .cpu(|call| project(&call));
}
