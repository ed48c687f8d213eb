//! `tf.EncodePng`: images as PNG files.

use bstr::BString;
use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::{Accessor, HostTensor, StringHostTensor, TensorShape};

use super::support::{Computed, int_attr, invalid, room_for, take};
use crate::{CpuCall, Forms, OpRegistry, ResultType, attr};

static ME: Accessor = Accessor::new("tf.EncodePng");

/// The bytes of all pixels; those of 16 bits in the order of the format.
fn pixel_bytes(image: &HostTensor) -> Result<(Vec<u8>, png::BitDepth), Diagnostic> {
    let image = image.dense()?;
    if image.dtype() == DType::UI16 {
        let words = image.read::<u16>(&ME)?;
        let mut bytes = room_for(words.len().saturating_mul(2))?;
        words.iter().for_each(|word| bytes.extend(word.to_be_bytes()));
        return Ok((bytes, png::BitDepth::Sixteen));
    }
    Ok((image.read::<u8>(&ME)?.to_vec(), png::BitDepth::Eight))
}

fn encode(call: &CpuCall<'_>) -> Computed {
    let [image] = take(call)?;
    let &[ref outer @ .., height, width, channels] = image.shape().dims() else {
        return Err(invalid(format!("image must have at least 3 dimensions, got shape {}", image.shape())));
    };
    let color = match channels {
        1 => png::ColorType::Grayscale,
        2 => png::ColorType::GrayscaleAlpha,
        3 => png::ColorType::Rgb,
        4 => png::ColorType::Rgba,
        _ => return Err(invalid(format!("image must have 1, 2, 3 or 4 channels, got {channels}"))),
    };
    let extent = |extent: usize| u32::try_from(extent).ok().filter(|&extent| extent > 0);
    let (Some(rows), Some(columns)) = (extent(height), extent(width)) else {
        return Err(invalid(format!("an image of {height} x {width} pixels cannot be a PNG file")));
    };
    let compression = match int_attr(call.attrs, "compression")?.unwrap_or(-1) {
        -1 => png::DeflateCompression::default(),
        0 => png::DeflateCompression::NoCompression,
        level @ 1..=9 => png::DeflateCompression::Level(level as u8),
        level => return Err(invalid(format!("compression must be -1 to 9, got {level}"))),
    };
    let (bytes, depth) = pixel_bytes(image)?;
    let shape = TensorShape::new(outer)?;
    let size = bytes.len() / shape.num_elements()?.max(1);
    let mut files = room_for(shape.num_elements()?)?;
    for pixels in bytes.chunks_exact(size.max(1)) {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, columns, rows);
        encoder.set_color(color);
        encoder.set_depth(depth);
        encoder.set_deflate_compression(compression);
        let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(pixels));
        written.map_err(|error| invalid(format!("the image cannot be written: {error}")))?;
        files.push(BString::from(file));
    }
    Ok(HostTensor::from(StringHostTensor::new(shape, files)?).into())
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.EncodePng")
        .types(&[DType::UI8, DType::UI16, DType::String])
        .attrs([attr::int_or("compression", -1)])
        .results([ResultType::is(DType::String)])
        .cpu(|call| encode(&call))
        .forms(Forms::STRING);
}
