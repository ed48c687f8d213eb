//! Images: JPEG and PNG files as pixels, and pixels as what networks take.
//!
//! Files are decoded by libraries; what they may ask of memory has bounds. This module knows no
//! runtime.

mod resize;

use std::error::Error;
use std::fmt;
use std::io::Cursor;
use std::ops::Deref;

use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::{bytestream::ZCursor, colorspace::ColorSpace, options::DecoderOptions};

pub use resize::Preparation;

/// Pixels in a row or column at most.
pub const SIDE_MAX: usize = 1 << 14;
/// Pixels in an image at most.
pub const PIXELS_MAX: usize = 1 << 26;
/// Channels of a pixel: red, green, blue.
pub const CHANNELS: usize = 3;

/// An image of red, green and blue, whose pixels are its own or somebody else's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image<P = Vec<u8>> {
    height: usize,
    width: usize,
    pixels: P,
}

/// What is wrong with an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageError(String);

impl ImageError {
    fn new(message: impl fmt::Display) -> Self {
        Self(message.to_string())
    }
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for ImageError {}

impl<P: Deref<Target = [u8]>> Image<P> {
    /// An image of these pixels: rows from above, three bytes a pixel.
    ///
    /// # Errors
    /// If it has no pixels or too many, or not as many bytes as it should.
    pub fn new(height: usize, width: usize, pixels: P) -> Result<Self, ImageError> {
        check_size(height, width)?;
        if pixels.len() != height * width * CHANNELS {
            return Err(ImageError::new(format_args!(
                "{} bytes are not {height} rows of {width} pixels of {CHANNELS}",
                pixels.len()
            )));
        }
        Ok(Self { height, width, pixels })
    }

    /// Rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows from above, three bytes a pixel.
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }
}

impl Image {
    /// The image in a JPEG or PNG file, whichever the bytes are. Grey becomes colour, 16 bits
    /// become 8; transparency and the direction in which a camera was held are passed over.
    ///
    /// # Errors
    /// If it is neither, is damaged, or is larger than [`SIDE_MAX`] or [`PIXELS_MAX`] allow.
    pub fn decode(bytes: &[u8]) -> Result<Self, ImageError> {
        match bytes {
            [0xff, 0xd8, ..] => decode_jpeg(bytes),
            [0x89, b'P', b'N', b'G', ..] => decode_png(bytes),
            _ => Err(ImageError::new("it is neither a JPEG nor a PNG image")),
        }
    }
}

fn check_size(height: usize, width: usize) -> Result<(), ImageError> {
    if height == 0 || width == 0 {
        return Err(ImageError::new("the image has no pixels"));
    }
    if height > SIDE_MAX || width > SIDE_MAX || height * width > PIXELS_MAX {
        return Err(ImageError::new(format_args!(
            "an image of {width} x {height} pixels is too large: {SIDE_MAX} each way and {PIXELS_MAX} in all are read"
        )));
    }
    Ok(())
}

fn decode_jpeg(bytes: &[u8]) -> Result<Image, ImageError> {
    let broken =
        |error: &dyn fmt::Display| ImageError::new(format_args!("the JPEG image is broken: {error}"));
    let options = DecoderOptions::default()
        .set_max_width(SIDE_MAX)
        .set_max_height(SIDE_MAX)
        .set_strict_mode(true)
        .jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(|error| broken(&error))?;
    let info = decoder.info().ok_or_else(|| broken(&"it has no header"))?;
    let (height, width) = (usize::from(info.height), usize::from(info.width));
    check_size(height, width)?;
    let pixels = decoder.decode().map_err(|error| broken(&error))?;
    if !has_end(bytes) {
        return Err(broken(&"it ends before its end marker"));
    }
    Image::new(height, width, pixels)
}

/// Returns whether the JPEG's end marker is there. The decoder does not miss it, and takes zeros
/// for the last pixels of a file that was cut off.
fn has_end(bytes: &[u8]) -> bool {
    const START_OF_SCAN: u8 = 0xda;
    const END: u8 = 0xd9;
    let mut rest = bytes.get(2..).unwrap_or_default();
    while let [0xff, marker, after @ ..] = rest {
        rest = match *marker {
            END => return true,
            // A marker may be filled up with bytes of 0xff.
            0xff => &rest[1..],
            _ => {
                let [high, low, ..] = after else { return false };
                let length = usize::from(u16::from_be_bytes([*high, *low]));
                let Some(after) = after.get(length..) else { return false };
                if *marker == START_OF_SCAN { after_scan(after) } else { after }
            }
        };
    }
    false
}

/// Returns what follows the compressed pixels of a scan: the next marker that is neither a byte of
/// the pixels nor a restart.
fn after_scan(pixels: &[u8]) -> &[u8] {
    let is_marker = |pair: &[u8]| pair[0] == 0xff && !matches!(pair[1], 0 | 0xd0..=0xd7);
    pixels.windows(2).position(is_marker).map_or(&[], |start| &pixels[start..])
}

fn decode_png(bytes: &[u8]) -> Result<Image, ImageError> {
    let broken = |error: &dyn fmt::Display| ImageError::new(format_args!("the PNG image is broken: {error}"));
    // Four channels of 16 bits, and what the decoder needs beside them.
    let limits = png::Limits { bytes: PIXELS_MAX * 8 + (1 << 20) };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let (width, height) = decoder.read_header_info().map_err(|error| broken(&error))?.size();
    let (height, width) = (height as usize, width as usize);
    check_size(height, width)?;
    let mut reader = decoder.read_info().map_err(|error| broken(&error))?;
    let size = reader.output_buffer_size().ok_or_else(|| broken(&"it has no size"))?;
    let mut decoded = vec![0; size];
    let frame = reader.next_frame(&mut decoded).map_err(|error| broken(&error))?;
    decoded.truncate(frame.buffer_size());
    let pixels = match frame.color_type {
        png::ColorType::Rgb => decoded,
        png::ColorType::Rgba => {
            decoded.chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect()
        }
        png::ColorType::Grayscale => decoded.iter().flat_map(|&grey| [grey; CHANNELS]).collect(),
        png::ColorType::GrayscaleAlpha => {
            decoded.chunks_exact(2).flat_map(|pixel| [pixel[0]; CHANNELS]).collect()
        }
        png::ColorType::Indexed => return Err(broken(&"its palette was not applied")),
    };
    Image::new(height, width, pixels)
}

#[cfg(test)]
mod tests;
