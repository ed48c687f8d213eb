//! Images in the size and the range of numbers that a network learnt with.

use std::ops::{Deref, Range};

use super::{CHANNELS, Image, ImageError, SIDE_MAX};

/// How an image becomes what a network takes: scaled until its shorter side has `side` pixels, of
/// which the square of `crop` pixels in the middle is taken; of each channel `mean` is subtracted
/// and the rest divided by `deviation`.
///
/// That is torchvision's `Resize`, `CenterCrop` and `Normalize`, but that `mean` and `deviation`
/// are of numbers from 0 to 255.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preparation {
    /// The shorter side after scaling; no less than `crop`.
    pub side: usize,
    /// Rows and columns of the result.
    pub crop: usize,
    /// Whether the result's channels are blue, green, red, and so `mean` and `deviation`.
    pub bgr: bool,
    /// What is subtracted.
    pub mean: [f32; CHANNELS],
    /// What is divided by; not zero.
    pub deviation: [f32; CHANNELS],
}

impl Preparation {
    /// That an image can be prepared so.
    ///
    /// # Errors
    /// If `side` or `crop` is zero or too large, `crop` is larger than `side`, or a deviation is no
    /// number to divide by.
    pub fn check(&self) -> Result<(), ImageError> {
        let Self { side, crop, .. } = *self;
        if crop == 0 || side < crop || side > SIDE_MAX {
            return Err(ImageError::new(format_args!(
                "of an image of {side} pixels no {crop} can be taken; sides are from 1 to {SIDE_MAX}"
            )));
        }
        if self.deviation.iter().any(|d| *d == 0.0 || !d.is_finite()) {
            return Err(ImageError::new("a deviation must be a number other than zero"));
        }
        Ok(())
    }

    /// Prepares an image: `prepared` is `crop × crop × 3`.
    ///
    /// # Errors
    /// As [`Self::check`], and if `prepared` has another size.
    pub fn apply<P: Deref<Target = [u8]>>(
        &self,
        image: &Image<P>,
        prepared: &mut [f32],
    ) -> Result<(), ImageError> {
        self.check()?;
        let Self { side, crop, .. } = *self;
        if prepared.len() != crop * crop * CHANNELS {
            return Err(ImageError::new(format_args!(
                "{} numbers are not {crop} rows of {crop} pixels of {CHANNELS}",
                prepared.len()
            )));
        }
        // The longer side keeps the proportion, rounded down.
        let scaled = |this: usize, other: usize| if this <= other { side } else { side * this / other };
        let rows = window(image.height, scaled(image.height, image.width), crop);
        let columns = window(image.width, scaled(image.width, image.height), crop);
        // Rows of the image that the crop is made of.
        let first = rows.first().map_or(0, |row| row.first);
        let end = rows.last().map_or(0, |row| row.first + row.weights.len());
        let narrowed = across(image, first..end, &columns);
        for (row, prepared) in rows.iter().zip(prepared.chunks_exact_mut(crop * CHANNELS)) {
            let row = down(&narrowed, row.first - first, &row.weights, crop);
            prepared.iter_mut().zip(self.normalized(&row)).for_each(|(to, number)| *to = number);
        }
        Ok(())
    }

    /// A row of pixels, normalized.
    fn normalized(&self, row: &[f32]) -> impl Iterator<Item = f32> {
        row.chunks_exact(CHANNELS).flat_map(|pixel| {
            let channel = |c: usize| {
                let value = pixel[if self.bgr { CHANNELS - 1 - c } else { c }];
                (value - self.mean[c]) / self.deviation[c]
            };
            [channel(0), channel(1), channel(2)]
        })
    }
}

/// What makes one pixel of a row or column: the first one it is made of, and how much of each from
/// there on.
struct Taps {
    first: usize,
    weights: Vec<f32>,
}

/// The taps of the `crop` pixels in the middle of a side that is scaled from `from` pixels to `to`.
/// Each pixel is a mean of those near it, weighted by a triangle; where the image becomes smaller,
/// the triangle becomes as much wider, so that no pixel goes missing.
fn window(from: usize, to: usize, crop: usize) -> Vec<Taps> {
    let scale = from as f64 / to as f64;
    let reach = scale.max(1.0);
    // Half a pixel goes to the even side, as in torchvision.
    let offset = (((to - crop) as f64) / 2.0).round_ties_even() as usize;
    let taps = |place: usize| {
        let centre = (place as f64 + 0.5) * scale;
        let first = (centre - reach + 0.5).max(0.0) as usize;
        let end = ((centre + reach + 0.5) as usize).min(from).max(first + 1);
        let weight = |at: usize| (1.0 - (at as f64 + 0.5 - centre).abs() / reach).max(0.0);
        let all: f64 = (first..end).map(weight).sum();
        Taps { first, weights: (first..end).map(|at| (weight(at) / all) as f32).collect() }
    };
    (offset..offset + crop).map(taps).collect()
}

/// These rows of the image, made of these columns.
fn across<P: Deref<Target = [u8]>>(image: &Image<P>, rows: Range<usize>, columns: &[Taps]) -> Vec<f32> {
    let mut narrowed = Vec::with_capacity(rows.len() * columns.len() * CHANNELS);
    for row in image.pixels.chunks_exact(image.width * CHANNELS).skip(rows.start).take(rows.len()) {
        for taps in columns {
            let mut sum = [0.0; CHANNELS];
            for (pixel, weight) in row[taps.first * CHANNELS..].chunks_exact(CHANNELS).zip(&taps.weights) {
                for (sum, &channel) in sum.iter_mut().zip(pixel) {
                    *sum += f32::from(channel) * weight;
                }
            }
            // Between the two directions pixels are whole numbers, as in the library that networks
            // learnt with.
            narrowed.extend(sum.map(|sum| (sum + 0.5).floor()));
        }
    }
    narrowed
}

/// One row of `width` pixels, made of several from `first` on.
fn down(narrowed: &[f32], first: usize, weights: &[f32], width: usize) -> Vec<f32> {
    let length = width * CHANNELS;
    let mut sums = vec![0.0; length];
    for (line, weight) in narrowed[first * length..].chunks_exact(length).zip(weights) {
        for (sum, value) in sums.iter_mut().zip(line) {
            *sum += value * weight;
        }
    }
    sums.iter().map(|sum| (sum + 0.5).floor()).collect()
}
