//! Images in files of the formats PNG, JPEG and BMP, whose bytes are a string.

use std::fmt::Display;
use std::io::Cursor;

use tfrt_host::{DType, Diagnostic};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::{bytestream::ZCursor, colorspace::ColorSpace, options::DecoderOptions};

use super::plain::{results, tensor};
use super::strings::strings;
use super::support::{Computed, int_attr, integers, invalid, room_for, take};
use crate::{CpuCall, Forms, OpRegistry, ResultType, attr};

/// The greatest extent of an image, and the most pixels that it has.
const MAX_SIDE: usize = 1 << 16;
const MAX_PIXELS: usize = 1 << 28;

/// The pixels of an image, of 8 or 16 bits for each channel.
struct Pixels {
    height: usize,
    width: usize,
    channels: usize,
    data: Data,
}

enum Data {
    Bytes(Vec<u8>),
    Words(Vec<u16>),
}

fn broken(format: &str, error: &dyn Display) -> Diagnostic {
    invalid(format!("the {format} image is broken: {error}"))
}

fn check_size(height: usize, width: usize) -> Result<(), Diagnostic> {
    let fits = (1..=MAX_SIDE).contains(&height) && (1..=MAX_SIDE).contains(&width);
    if fits && height * width <= MAX_PIXELS {
        return Ok(());
    }
    Err(invalid(format!(
        "an image of {height} x {width} pixels cannot be read: {MAX_SIDE} each way and {MAX_PIXELS} in all can"
    )))
}

/// How many channels an op asks for: 0 stands for those of the file.
fn wanted_channels(call: &CpuCall<'_>, allowed: &[i64]) -> Result<usize, Diagnostic> {
    let channels = int_attr(call.attrs, "channels")?.unwrap_or(0);
    if !allowed.contains(&channels) {
        return Err(invalid(format!("channels must be one of {allowed:?}, got {channels}")));
    }
    Ok(channels as usize)
}

/// The bytes of the file, which is the first argument.
fn contents<'c>(call: &CpuCall<'c>) -> Result<&'c [u8], Diagnostic> {
    let file = call.arguments.first().ok_or_else(|| invalid("the bytes of an image are missing"))?;
    match strings(file)?.strings() {
        [bytes] if file.shape().rank() == 0 => Ok(bytes),
        _ => Err(invalid(format!("contents must be scalar, got shape {}", file.shape()))),
    }
}

/// Pixels of a PNG file with 1 (grey) to 4 channels.
fn png_pixels(bytes: &[u8], wanted: usize, is_wide: bool) -> Result<Pixels, Diagnostic> {
    let broken = |error: &dyn Display| broken("PNG", error);
    let limits = png::Limits { bytes: MAX_PIXELS };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_transformations(png::Transformations::EXPAND);
    let header = decoder.read_header_info().map_err(|error| broken(&error))?;
    let (width, height) = (header.width as usize, header.height as usize);
    check_size(height, width)?;
    let mut reader = decoder.read_info().map_err(|error| broken(&error))?;
    let info = reader.info();
    // A transparent color does not make a file one with an opacity of each pixel, unless it has a
    // palette.
    let own = match info.color_type {
        png::ColorType::Grayscale => 1,
        png::ColorType::GrayscaleAlpha => 2,
        png::ColorType::Rgb => 3,
        png::ColorType::Rgba => 4,
        png::ColorType::Indexed if info.trns.is_some() => 4,
        png::ColorType::Indexed => 3,
    };
    let size = reader.output_buffer_size().ok_or_else(|| broken(&"it has no size"))?;
    let mut decoded = room_for(size)?;
    decoded.resize(size, 0);
    let frame = reader.next_frame(&mut decoded).map_err(|error| broken(&error))?;
    decoded.truncate(frame.buffer_size());
    let is_deep = frame.bit_depth == png::BitDepth::Sixteen;
    let words: Vec<u16> = match is_deep {
        true => decoded.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect(),
        false => decoded.into_iter().map(u16::from).collect(),
    };
    let channels = if wanted == 0 { own } else { wanted };
    let words = with_channels(words, frame.color_type.samples(), channels, is_deep);
    let data = match (is_deep, is_wide) {
        (true, true) => Data::Words(words),
        // A value of 16 bits for each one of 8 bits keeps its distances from zero and the greatest.
        (false, true) => Data::Words(words.into_iter().map(|word| word * 257).collect()),
        (true, false) => Data::Bytes(words.into_iter().map(|word| (word >> 8) as u8).collect()),
        (false, false) => Data::Bytes(words.into_iter().map(|word| word as u8).collect()),
    };
    Ok(Pixels { height, width, channels, data })
}

/// Pixels with another number of channels: grey or colors, with or without opacity.
fn with_channels(words: Vec<u16>, from: usize, to: usize, is_deep: bool) -> Vec<u16> {
    if from == to {
        return words;
    }
    let opaque = if is_deep { u16::MAX } else { u16::from(u8::MAX) };
    let mut made = Vec::with_capacity(words.len() / from * to);
    for pixel in words.chunks_exact(from) {
        let color = match *pixel {
            [red, green, blue, ..] => [red, green, blue],
            [grey, ..] => [grey; 3],
            [] => [0; 3],
        };
        match to {
            1 | 2 => made.push(grey_of(color, is_deep)),
            _ => made.extend(color),
        }
        if to.is_multiple_of(2) {
            made.push(if from.is_multiple_of(2) { pixel[from - 1] } else { opaque });
        }
    }
    made
}

/// The brightness of a color, in fixed-point numbers of 15 bits. As in libpng, only that of 16 bits
/// is rounded to the nearest number.
fn grey_of([red, green, blue]: [u16; 3], is_deep: bool) -> u16 {
    if red == green && green == blue {
        return red;
    }
    let sum = 9797 * u32::from(red) + 19234 * u32::from(green) + 3737 * u32::from(blue);
    ((sum + if is_deep { 1 << 14 } else { 0 }) >> 15) as u16
}

fn jpeg_pixels(bytes: &[u8], wanted: usize) -> Result<Pixels, Diagnostic> {
    let broken = |error: &dyn Display| broken("JPEG", error);
    let decoder = |space: Option<ColorSpace>| {
        let mut options = DecoderOptions::default().set_max_width(MAX_SIDE).set_max_height(MAX_SIDE);
        if let Some(space) = space {
            options = options.jpeg_set_out_colorspace(space);
        }
        JpegDecoder::new_with_options(ZCursor::new(bytes), options)
    };
    let mut header = decoder(None);
    header.decode_headers().map_err(|error| broken(&error))?;
    let info = header.info().ok_or_else(|| broken(&"it has no header"))?;
    let (height, width) = (usize::from(info.height), usize::from(info.width));
    check_size(height, width)?;
    let channels = match wanted {
        0 if info.components == 1 => 1,
        0 => 3,
        wanted => wanted,
    };
    let space = if channels == 1 { ColorSpace::Luma } else { ColorSpace::RGB };
    let data = decoder(Some(space)).decode().map_err(|error| broken(&error))?;
    if data.len() != height * width * channels {
        return Err(broken(&"it does not have all pixels"));
    }
    Ok(Pixels { height, width, channels, data: Data::Bytes(data) })
}

/// Pixels of a BMP file without compression, of 1 (grey), 3 or 4 channels.
fn bmp_pixels(bytes: &[u8], wanted: usize) -> Result<Pixels, Diagnostic> {
    let broken = |error: &str| broken("BMP", &error);
    let word = |at: usize| {
        let word = bytes.get(at..at + 4).and_then(|word| word.try_into().ok());
        word.map(i32::from_le_bytes).ok_or_else(|| broken("it ends in its header"))
    };
    let (start, width, height) = (word(10)?, word(18)?, word(22)?);
    let depth = (word(28)? & 0xffff) / 8;
    let (Ok(start), Ok(width), Ok(own)) =
        (usize::try_from(start), usize::try_from(width), usize::try_from(depth))
    else {
        return Err(broken("its header has negative numbers"));
    };
    let (rows, is_upside_down) = (height.unsigned_abs() as usize, height > 0);
    check_size(rows, width)?;
    if !matches!(own, 1 | 3 | 4) {
        return Err(invalid(format!(
            "a BMP image must have 8, 24 or 32 bits for each pixel, got {}",
            own * 8
        )));
    }
    if wanted == 1 {
        return Err(invalid("channels must be 0, 3 or 4 for a BMP image, got 1"));
    }
    let row_bytes = (own * width).div_ceil(4) * 4;
    // A short file does not reserve memory for a large image.
    if bytes.len() < start.saturating_add((rows - 1) * row_bytes + own * width) {
        return Err(broken("it ends too early"));
    }
    let mut data = room_for(rows * width * own)?;
    for row in 0..rows {
        let row = if is_upside_down { rows - 1 - row } else { row };
        let from = start.saturating_add(row * row_bytes);
        let line =
            bytes.get(from..from.saturating_add(own * width)).ok_or_else(|| broken("it ends too early"))?;
        for pixel in line.chunks_exact(own) {
            match *pixel {
                [blue, green, red] => data.extend([red, green, blue].map(u16::from)),
                [blue, green, red, opacity] => data.extend([red, green, blue, opacity].map(u16::from)),
                _ => data.extend(pixel.iter().copied().map(u16::from)),
            }
        }
    }
    let channels = if wanted == 0 { own } else { wanted };
    let words = with_channels(data, own, channels, false);
    let data = Data::Bytes(words.into_iter().map(|word| word as u8).collect());
    Ok(Pixels { height: rows, width, channels, data })
}

/// Pixels of a PNG or JPEG file, which its first bytes tell.
fn common_pixels(bytes: &[u8], wanted: usize, is_wide: bool) -> Result<Pixels, Diagnostic> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => png_pixels(bytes, wanted, is_wide),
        [0xff, 0xd8, 0xff, ..] => jpeg_pixels(bytes, wanted),
        [b'B', b'M', ..] => Err(invalid("BMP images are read by the ops DecodeBmp and DecodeImage only")),
        [b'G', b'I', b'F', ..] => Err(invalid("GIF images are not supported")),
        _ => Err(invalid("Unknown image file format. One of JPEG, PNG, BMP required.")),
    }
}

/// Pixels as a tensor of the type that the op's attribute names.
fn image(call: &CpuCall<'_>, pixels: &Pixels) -> Computed {
    let dims = [pixels.height, pixels.width, pixels.channels];
    let dtype = call.attrs.optional::<DType>("dtype")?.unwrap_or(DType::UI8);
    Ok(results([match (dtype, &pixels.data) {
        (DType::UI8, Data::Bytes(bytes)) => tensor(call, &dims, bytes)?,
        (DType::UI16, Data::Words(words)) => tensor(call, &dims, words)?,
        (DType::UI16, Data::Bytes(bytes)) => {
            tensor(call, &dims, &bytes.iter().map(|&byte| u16::from(byte) * 256).collect::<Vec<_>>())?
        }
        (DType::F32, Data::Bytes(bytes)) => {
            let scale = 1.0 / f32::from(u8::MAX);
            tensor(call, &dims, &bytes.iter().map(|&byte| f32::from(byte) * scale).collect::<Vec<_>>())?
        }
        (DType::F32, Data::Words(words)) => {
            let scale = 1.0 / f32::from(u16::MAX);
            tensor(call, &dims, &words.iter().map(|&word| f32::from(word) * scale).collect::<Vec<_>>())?
        }
        (other, _) => return Err(invalid(format!("pixels are of type ui8, ui16 or f32, not {other}"))),
    }]))
}

fn decode_png(call: &CpuCall<'_>) -> Computed {
    let wanted = wanted_channels(call, &[0, 1, 3, 4])?;
    let is_wide = call.attrs.optional::<DType>("dtype")? == Some(DType::UI16);
    image(call, &common_pixels(contents(call)?, wanted, is_wide)?)
}

fn decode_jpeg(call: &CpuCall<'_>) -> Computed {
    if int_attr(call.attrs, "ratio")?.unwrap_or(1) != 1 {
        return Err(invalid("JPEG images are not read at a lower resolution: ratio must be 1"));
    }
    let wanted = wanted_channels(call, &[0, 1, 3])?;
    image(call, &common_pixels(contents(call)?, wanted, false)?)
}

fn decode_image(call: &CpuCall<'_>) -> Computed {
    let wanted = wanted_channels(call, &[0, 1, 3, 4])?;
    let is_wide = call.attrs.optional::<DType>("dtype")?.unwrap_or(DType::UI8) != DType::UI8;
    let pixels = match contents(call)? {
        bytes @ [b'B', b'M', ..] => bmp_pixels(bytes, wanted)?,
        bytes => common_pixels(bytes, wanted, is_wide)?,
    };
    image(call, &pixels)
}

fn decode_bmp(call: &CpuCall<'_>) -> Computed {
    let wanted = wanted_channels(call, &[0, 1, 3, 4])?;
    match contents(call)? {
        bytes @ [b'B', b'M', ..] => image(call, &bmp_pixels(bytes, wanted)?),
        _ => Err(invalid("a BMP image begins with the letters BM")),
    }
}

/// The part of a JPEG image that a window of the form `[top, left, height, width]` shows.
fn decode_and_crop(call: &CpuCall<'_>) -> Computed {
    let [_, window] = take(call)?;
    let whole = jpeg_pixels(contents(call)?, wanted_channels(call, &[0, 1, 3])?)?;
    let window = integers(window, "crop_window")?;
    let extents: Option<Vec<usize>> = window.iter().map(|&at| usize::try_from(at).ok()).collect();
    let &[top, left, height, width] = extents.as_deref().unwrap_or_default() else {
        return Err(invalid("crop_window must be [top, left, height, width]"));
    };
    let fits = |start: usize, extent: usize, of: usize| {
        extent > 0 && start.checked_add(extent).is_some_and(|end| end <= of)
    };
    if !fits(top, height, whole.height) || !fits(left, width, whole.width) {
        return Err(invalid("Invalid crop window: it does not lie in the image"));
    }
    let Data::Bytes(bytes) = &whole.data else { return Err(invalid("a JPEG image has bytes")) };
    let row_bytes = whole.width * whole.channels;
    let rows = bytes.chunks_exact(row_bytes).skip(top).take(height);
    let data =
        rows.flat_map(|row| &row[left * whole.channels..][..width * whole.channels]).copied().collect();
    image(call, &Pixels { height, width, channels: whole.channels, data: Data::Bytes(data) })
}

/// Height, width and channels of a JPEG image.
fn jpeg_shape(call: &CpuCall<'_>) -> Computed {
    let mut decoder = JpegDecoder::new(ZCursor::new(contents(call)?));
    decoder.decode_headers().map_err(|error| broken("JPEG", &error))?;
    let info = decoder.info().ok_or_else(|| broken("JPEG", &"it has no header"))?;
    let shape = [i32::from(info.height), i32::from(info.width), i32::from(info.components)];
    Ok(results([match call.attrs.optional::<DType>("output_type")?.unwrap_or(DType::I32) {
        DType::I64 => tensor(call, &[3], &shape.map(i64::from))?,
        _ => tensor(call, &[3], &shape)?,
    }]))
}

pub(super) fn register(ops: &mut OpRegistry) {
    const CHANNELS: crate::AttrSpec = attr::int_or("channels", 0);
    const TYPE: crate::AttrSpec = attr::dtype_or("dtype", DType::UI8);
    const JPEG: [crate::AttrSpec; 2] = [CHANNELS, attr::int_or("ratio", 1)];
    const BYTES: ResultType = ResultType::is(DType::UI8).rank(3);
    const BYTE_IMAGES: &[DType] = &[DType::String, DType::UI8];
    ops.add("tf.DecodePng")
        .types(&[DType::String, DType::UI8, DType::UI16])
        .attrs([CHANNELS, TYPE])
        .results([ResultType::named("dtype").rank(3)])
        .cpu(|call| decode_png(&call))
        .forms(Forms::STRING);
    ops.add("tf.DecodeJpeg")
        .types(BYTE_IMAGES)
        .attrs(JPEG)
        .results([BYTES])
        .cpu(|call| decode_jpeg(&call))
        .forms(Forms::STRING);
    // Animations, which the last attribute is about, are not read.
    ops.add("tf.DecodeImage")
        .types(&[DType::String, DType::UI8, DType::UI16, DType::F32])
        .attrs([CHANNELS, TYPE, attr::boolean_or("expand_animations", true)])
        .results([ResultType::named("dtype").rank(3)])
        .cpu(|call| decode_image(&call))
        .forms(Forms::STRING);
    ops.add("tf.DecodeBmp")
        .types(BYTE_IMAGES)
        .attrs([CHANNELS])
        .results([BYTES])
        .cpu(|call| decode_bmp(&call))
        .forms(Forms::STRING);
    ops.add("tf.DecodeAndCropJpeg")
        .types(&[DType::String, DType::I32, DType::UI8])
        .attrs(JPEG)
        .results([BYTES])
        .cpu(|call| decode_and_crop(&call))
        .forms(Forms::STRING);
    ops.add("tf.ExtractJpegShape")
        .types(&[DType::String, DType::I32, DType::I64])
        .attrs([attr::dtype_or("output_type", DType::I32)])
        .results([ResultType::named("output_type").rank(1)])
        .cpu(|call| jpeg_shape(&call))
        .forms(Forms::STRING);
}
