//! Greyscale images of digits, drawn and distorted by code: a substitute for MNIST with the same
//! format and about the same difficulty, for machines without it.
//!
//! A digit is a skeleton of strokes, one of several for its class. Its control points are jittered,
//! joined by smooth curves, sheared, rotated, scaled, bent by a smooth field of displacements and
//! drawn with a pen of varying width. Contrast and noise are added last.
//!
//! An image depends only on the seed and its number, and not on the number of threads or the
//! platform: it is computed by additions, multiplications, divisions and square roots of IEEE 754,
//! and with this crate's random numbers.

mod glyphs;
mod pen;

use std::ops::Range;

use crate::random::Random;
use pen::Canvas;

/// The number of rows and columns of an image.
pub const SIDE: usize = 28;
/// The number of bytes of an image.
pub const PIXELS: usize = SIDE * SIDE;
/// The number of classes.
pub const CLASSES: usize = 10;

/// Images with their labels.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DigitSet {
    /// [`PIXELS`] bytes for each image, row by row, with 0 for paper and 255 for ink.
    pub images: Vec<u8>,
    /// The digit in each image.
    pub labels: Vec<u8>,
}

impl DigitSet {
    /// Returns the number of images.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Returns whether there are no images.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Returns one image, or `None` if there is none with this number.
    pub fn image(&self, number: usize) -> Option<&[u8]> {
        self.images.chunks_exact(PIXELS).nth(number)
    }

    /// Returns all images as numbers from 0 to 1.
    pub fn images_f32(&self) -> Vec<f32> {
        self.numbers().collect()
    }

    /// Iterates over the numbers of [`Self::images_f32`].
    pub(crate) fn numbers(&self) -> impl Iterator<Item = f32> {
        self.images.iter().map(|&x| f32::from(x) / 255.0)
    }
}

/// Draws the images with these numbers. Each run of ten images from a multiple of ten on contains
/// every class once, in random order. Different ranges of one seed make a training set and a test
/// set.
pub fn generate(seed: u64, numbers: Range<usize>) -> DigitSet {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    generate_on(threads, seed, numbers)
}

/// Draws images like [`generate`], on this many threads.
pub fn generate_on(threads: usize, seed: u64, numbers: Range<usize>) -> DigitSet {
    let count = numbers.len();
    let labels: Vec<u8> = numbers.clone().map(|number| label(seed, number)).collect();
    let mut images = vec![0; count * PIXELS];
    let each = count.div_ceil(threads.max(1)).max(1);
    std::thread::scope(|scope| {
        for (part, chunk) in images.chunks_mut(each * PIXELS).enumerate() {
            let first = numbers.start + part * each;
            scope.spawn(move || {
                for (number, image) in (first..).zip(chunk.chunks_exact_mut(PIXELS)) {
                    draw(seed, number, image);
                }
            });
        }
    });
    DigitSet { images, labels }
}

/// Returns the class of an image: the ten classes are shuffled for each run of ten.
fn label(seed: u64, number: usize) -> u8 {
    let mut random = Random::new(seed, (number / CLASSES) as u64 * 2);
    let mut classes: [u8; CLASSES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
    for last in (1..CLASSES).rev() {
        classes.swap(last, random.below(last + 1));
    }
    classes[number % CLASSES]
}

/// A smooth field of displacements over the unit square: random at the corners of a grid,
/// interpolated between.
struct Bend {
    corners: [[(f32, f32); Bend::SIDE]; Bend::SIDE],
}

impl Bend {
    const SIDE: usize = 4;

    fn new(random: &mut Random, strength: f32) -> Self {
        let mut corners = [[(0.0, 0.0); Self::SIDE]; Self::SIDE];
        for corner in corners.iter_mut().flatten() {
            *corner = (random.bell() * strength, random.bell() * strength);
        }
        Self { corners }
    }

    fn apply(&self, (x, y): (f32, f32)) -> (f32, f32) {
        let cell = |v: f32| {
            let v = (v * (Self::SIDE - 1) as f32).clamp(0.0, (Self::SIDE - 1) as f32 - 0.001);
            let whole = v as usize;
            let part = v - whole as f32;
            (whole, part * part * (3.0 - 2.0 * part))
        };
        let ((i, s), (j, t)) = (cell(x), cell(y));
        let blend = |a: f32, b: f32, t: f32| a + (b - a) * t;
        let across = |row: usize, pick: fn((f32, f32)) -> f32| {
            blend(pick(self.corners[row][i]), pick(self.corners[row][i + 1]), s)
        };
        let along = |pick: fn((f32, f32)) -> f32| blend(across(j, pick), across(j + 1, pick), t);
        (x + along(|d| d.0), y + along(|d| d.1))
    }
}

/// The mapping from the unit square of the skeletons to pixels.
struct Placement {
    /// The rows of the matrix.
    matrix: [[f32; 2]; 2],
    centre: (f32, f32),
}

impl Placement {
    fn new(random: &mut Random) -> Self {
        let (sin, cos) = small_angle(random.bell() * 0.45);
        let shear = random.bell() * 0.75 - 0.05;
        let size = 19.5 * (1.0 + random.bell() * 0.28);
        let narrow = 0.95 + random.bell() * 0.38;
        // Scales, then shears, then rotates.
        let (a, b) = (size * narrow, -size * shear);
        let matrix = [[cos * a, cos * b - sin * size], [sin * a, sin * b + cos * size]];
        let middle = SIDE as f32 / 2.0;
        Self { matrix, centre: (middle + random.bell() * 3.0, middle + random.bell() * 3.0) }
    }

    fn apply(&self, (x, y): (f32, f32)) -> (f32, f32) {
        let (x, y) = (x - 0.5, y - 0.5);
        let [p, q] = self.matrix;
        (self.centre.0 + p[0] * x + p[1] * y, self.centre.1 + q[0] * x + q[1] * y)
    }
}

/// Returns the sine and cosine of a small angle in radians, from their series.
fn small_angle(a: f32) -> (f32, f32) {
    let s = a * a;
    (a * (1.0 - s / 6.0 * (1.0 - s / 20.0)), 1.0 - s / 2.0 * (1.0 - s / 12.0 * (1.0 - s / 30.0)))
}

/// Draws one image.
fn draw(seed: u64, number: usize, image: &mut [u8]) {
    // Odd streams are images, even ones are labels.
    let mut random = Random::new(seed, number as u64 * 2 + 1);
    let variants = glyphs::variants(label(seed, number));
    let glyph = variants[random.below(variants.len())];
    let bend = Bend::new(&mut random, 0.18);
    let placement = Placement::new(&mut random);
    let width = 0.75 + random.unit() * 1.15;
    let mut strokes = Vec::new();
    for stroke in glyph {
        let points: Vec<(f32, f32)> =
            stroke.iter().map(|&(x, y)| (x + random.bell() * 0.055, y + random.bell() * 0.055)).collect();
        // The pen presses harder at one end.
        let (start, end) = (width * (1.0 + random.bell() * 0.35), width * (1.0 + random.bell() * 0.35));
        let path: Vec<(f32, f32)> = pen::smooth(&points).map(|p| placement.apply(bend.apply(p))).collect();
        strokes.push(Stroke { path, start, end });
    }
    fit(&mut strokes, width + 0.5);
    let mut canvas = Canvas::new();
    for stroke in &strokes {
        canvas.stroke(&stroke.path, stroke.start, stroke.end);
    }
    finish(&canvas, &mut random, image);
}

/// A stroke in pixels: its path, and the pen's radius at both ends.
struct Stroke {
    path: Vec<(f32, f32)>,
    start: f32,
    end: f32,
}

/// Shrinks and moves strokes that would leave the sheet, with a margin of this many pixels for the
/// pen.
fn fit(strokes: &mut [Stroke], margin: f32) {
    fit_axis(strokes, margin, |point| &mut point.0);
    fit_axis(strokes, margin, |point| &mut point.1);
}

fn fit_axis(strokes: &mut [Stroke], margin: f32, axis: fn(&mut (f32, f32)) -> &mut f32) {
    let mut range = (f32::MAX, f32::MIN);
    for point in strokes.iter_mut().flat_map(|stroke| &mut stroke.path) {
        let value = *axis(point);
        range = (range.0.min(value), range.1.max(value));
    }
    let (room, extent) = (SIDE as f32 - 2.0 * margin, range.1 - range.0);
    let scale = if extent > room { room / extent } else { 1.0 };
    let low = range.0.clamp(margin, (margin + room - extent * scale).max(margin));
    for point in strokes.iter_mut().flat_map(|stroke| &mut stroke.path) {
        let value = axis(point);
        *value = low + (*value - range.0) * scale;
    }
}

/// Applies contrast and noise.
fn finish(canvas: &Canvas, random: &mut Random, image: &mut [u8]) {
    let ink = 255.0 * (1.0 - 0.35 * random.unit() * random.unit());
    let noise = 22.0 * random.unit() * random.unit();
    for (byte, &cover) in image.iter_mut().zip(canvas.cover()) {
        // Paper is mostly clean: noise below its level is cut off, as in a scanner.
        let grain = random.bell() * noise * (0.3 + 0.7 * cover);
        *byte = (cover * ink + grain).clamp(0.0, 255.0) as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_balanced_and_shuffled() {
        let set = generate(1, 30..130);
        assert_eq!((set.len(), set.images.len()), (100, 100 * PIXELS));
        for run in set.labels.chunks(CLASSES) {
            let mut sorted = run.to_vec();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        }
        assert_ne!(set.labels[..10], set.labels[10..20]);
    }

    #[test]
    fn images_depend_on_seed_and_number_alone() {
        let whole = generate_on(1, 7, 0..40);
        assert_eq!(whole, generate_on(3, 7, 0..40));
        assert_eq!(whole.image(25), generate_on(2, 7, 25..26).image(0));
        assert_ne!(whole.images, generate(8, 0..40).images);
        assert_eq!((whole.image(40), generate(7, 5..5).is_empty()), (None, true));
    }

    /// Pins the data set by an FNV-1a hash, so that it does not change by accident.
    #[test]
    fn the_data_set_is_pinned() {
        let set = generate(42, 0..100);
        let hash = set.images.iter().chain(&set.labels).fold(0xCBF2_9CE4_8422_2325u64, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        });
        assert_eq!(hash, 0xED19_3DF1_3C18_F8B4);
    }

    #[test]
    fn images_are_distinct_and_have_ink_inside() {
        let set = generate(3, 0..2000);
        let mut images: Vec<&[u8]> = set.images.chunks_exact(PIXELS).collect();
        for (number, image) in images.iter().enumerate() {
            let ink: usize = image.iter().map(|&x| usize::from(x)).sum();
            assert!((15 * 255..400 * 255).contains(&ink), "image {number} has ink {ink}");
            let border = (0..SIDE).flat_map(|i| [i, (SIDE - 1) * SIDE + i, i * SIDE, i * SIDE + SIDE - 1]);
            let spilt = border.filter(|&p| image[p] > 128).count();
            assert!(spilt < 12, "image {number} spills {spilt} pixels over the border");
        }
        images.sort_unstable();
        images.dedup();
        assert_eq!(images.len(), 2000);
    }

    /// The nearest class mean is right well above chance, but not nearly always.
    #[test]
    fn nearest_mean_is_right_often_but_not_always() {
        let (train, test) = (generate(5, 0..4000), generate(5, 4000..5000));
        let mut means = vec![[0.0f32; PIXELS]; CLASSES];
        for (image, &label) in train.images.chunks_exact(PIXELS).zip(&train.labels) {
            means[usize::from(label)].iter_mut().zip(image).for_each(|(m, &x)| *m += f32::from(x) / 400.0);
        }
        let distance = |mean: &[f32; PIXELS], image: &[u8]| -> f32 {
            mean.iter().zip(image).map(|(m, &x)| (m - f32::from(x)) * (m - f32::from(x))).sum()
        };
        let right = test.images.chunks_exact(PIXELS).zip(&test.labels).filter(|&(image, &label)| {
            let distances = means.iter().map(|mean| distance(mean, image));
            distances
                .enumerate()
                .min_by(|a, b| a.1.total_cmp(&b.1))
                .is_some_and(|(c, _)| c == usize::from(label))
        });
        let percent = right.count() / 10;
        assert!((60..95).contains(&percent), "{percent} % right");
    }
}
