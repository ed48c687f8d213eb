//! Colours of pixels, whose last dimension is red, green and blue, or hue, saturation and value.

use tfrt_host::{DType, Diagnostic};
use tfrt_math::Float;
use tfrt_tensor::{Accessor, Element, TensorMetadata};

use super::support::{Computed, Described, allocate, compute, invalid, one, take, value, with_float};
use super::types;
use crate::{CpuCall, MetadataCall, OpRegistry};

static ME: Accessor = Accessor::new("tf op on colours");

type Pixel = [f32; 3];

fn to_hsv([r, g, b]: Pixel) -> Pixel {
    let v = r.max(g).max(b);
    let range = v - r.min(g).min(b);
    if range <= 0.0 {
        return [0.0, 0.0, v];
    }
    let norm = 1.0 / (6.0 * range);
    let hue = if r == v {
        norm * (g - b)
    } else if g == v {
        norm * (b - r) + 2.0 / 6.0
    } else {
        norm * (r - g) + 4.0 / 6.0
    };
    [if hue < 0.0 { hue + 1.0 } else { hue }, if v > 0.0 { range / v } else { 0.0 }, v]
}

fn to_rgb([h, s, v]: Pixel) -> Pixel {
    let h = h * 6.0;
    let parts = [(h - 3.0).abs() - 1.0, 2.0 - (h - 2.0).abs(), 2.0 - (h - 4.0).abs()];
    parts.map(|part| ((1.0 - s) + s * part.clamp(0.0, 1.0)) * v)
}

fn metadata(call: MetadataCall<'_>) -> Described {
    let images = call.arguments.first().ok_or_else(|| invalid("images are missing"))?;
    if images.shape.dims().last() != Some(&3) {
        return Err(invalid(format!("images must have 3 channels, got a tensor of shape {}", images.shape)));
    }
    one(TensorMetadata::new(images.dtype, images.shape.clone()))
}

/// The colours of all pixels by a function.
fn each<T: Element + Float>(
    call: &CpuCall<'_>,
    f: impl Fn(Pixel) -> Pixel + Send + Sync + 'static,
) -> Computed {
    let images = call.arguments.first().ok_or_else(|| invalid("images are missing"))?.dense()?;
    let x = images.read_owned::<T>(&ME)?;
    let out = allocate(call, T::DTYPE, images.shape().dims())?;
    let count = x.len() / 3;
    compute(call, &ME, out, (count, 3, 40), move |range, out: &mut [T]| {
        for (pixel, out) in x[range.start * 3..range.end * 3].chunks_exact(3).zip(out.chunks_exact_mut(3)) {
            let made = f([0, 1, 2].map(|channel| pixel[channel].to_f64() as f32));
            out.iter_mut().zip(made).for_each(|(out, made)| *out = T::from_f64(made.into()));
        }
        Ok(())
    })
}

/// The number that colours are changed by.
fn amount(call: &CpuCall<'_>) -> Result<f32, Diagnostic> {
    let [_, amount] = take(call)?;
    value::<f32>(amount, "the amount")
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.RGBToHSV")
        .types(types::FLOATS)
        .metadata(metadata)
        .cpu(|call| with_float!(call.result(0)?.dtype, "tf.RGBToHSV", |T| each::<T>(&call, to_hsv)));
    ops.add("tf.HSVToRGB")
        .types(types::FLOATS)
        .metadata(metadata)
        .cpu(|call| with_float!(call.result(0)?.dtype, "tf.HSVToRGB", |T| each::<T>(&call, to_rgb)));
    ops.add("tf.AdjustHue").types(&[DType::F16, DType::F32]).metadata(metadata).cpu(|call| {
        let by = amount(&call)?;
        let turned = move |pixel| {
            let [h, s, v] = to_hsv(pixel);
            to_rgb([(h + by).rem_euclid(1.0), s, v])
        };
        with_float!(call.result(0)?.dtype, "tf.AdjustHue", |T| each::<T>(&call, turned))
    });
    ops.add("tf.AdjustSaturation").types(&[DType::F16, DType::F32]).metadata(metadata).cpu(|call| {
        let by = amount(&call)?;
        let scaled = move |pixel| {
            let [h, s, v] = to_hsv(pixel);
            to_rgb([h, (s * by).clamp(0.0, 1.0), v])
        };
        with_float!(call.result(0)?.dtype, "tf.AdjustSaturation", |T| each::<T>(&call, scaled))
    });
}
