//! Which input elements an output coordinate is made of along one dimension.

use tfrt_host::Diagnostic;
use tfrt_math::Float;

use super::super::arguments::{flag, text_or, unknown};
use crate::OpAttrs;
use crate::ops::support::{float_attr, invalid, room_for};

/// How an output coordinate is mapped to an input coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transformation {
    HalfPixel,
    HalfPixelSymmetric,
    PytorchHalfPixel,
    AlignCorners,
    Asymmetric,
    HalfPixelForNearest,
    CropAndResize,
}

impl Transformation {
    pub(super) fn named(name: &str) -> Result<Self, Diagnostic> {
        Ok(match name {
            "half_pixel" => Self::HalfPixel,
            "half_pixel_symmetric" => Self::HalfPixelSymmetric,
            "pytorch_half_pixel" => Self::PytorchHalfPixel,
            "align_corners" => Self::AlignCorners,
            "asymmetric" => Self::Asymmetric,
            "tf_half_pixel_for_nn" => Self::HalfPixelForNearest,
            "tf_crop_and_resize" => Self::CropAndResize,
            other => return Err(unknown("coordinate_transformation_mode", other)),
        })
    }
}

/// How values between input elements are found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interpolation {
    mode: Mode,
    antialias: bool,
    exclude_outside: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Nearest(Rounding),
    Linear,
    Cubic(f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rounding {
    PreferFloor,
    PreferCeil,
    Floor,
    Ceil,
}

impl Interpolation {
    pub(super) fn of(attrs: &OpAttrs) -> Result<Self, Diagnostic> {
        let mode = match text_or(attrs, "mode", "nearest")? {
            "nearest" => Mode::Nearest(match text_or(attrs, "nearest_mode", "round_prefer_floor")? {
                "round_prefer_floor" => Rounding::PreferFloor,
                "round_prefer_ceil" => Rounding::PreferCeil,
                "floor" => Rounding::Floor,
                "ceil" => Rounding::Ceil,
                other => return Err(unknown("nearest_mode", other)),
            }),
            "linear" => Mode::Linear,
            "cubic" => Mode::Cubic(float_attr(attrs, "cubic_coeff_a")?.unwrap_or(-0.75)),
            other => return Err(unknown("mode", other)),
        };
        Ok(Self {
            mode,
            antialias: flag(attrs, "antialias", false)?,
            exclude_outside: flag(attrs, "exclude_outside", false)?,
        })
    }

    pub(super) fn is_nearest(self) -> bool {
        matches!(self.mode, Mode::Nearest(_))
    }

    /// The weights of neighbours, and the place of the first one relative to the last element
    /// before the coordinate. `ratio` is the coordinate's distance from there, in `(0, 1]`.
    fn weights(self, ratio: f64, scale: f64) -> Result<(i64, Vec<f64>), Diagnostic> {
        let radius = match self.mode {
            Mode::Nearest(rounding) => {
                let is_next = ratio == 1.0
                    || match rounding {
                        Rounding::PreferFloor => ratio > 0.5,
                        Rounding::PreferCeil => ratio >= 0.5,
                        Rounding::Floor => false,
                        Rounding::Ceil => true,
                    };
                return Ok((i64::from(is_next), vec![1.0]));
            }
            Mode::Linear => 1.0,
            Mode::Cubic(_) => 2.0,
        };
        let scale = if self.antialias { scale.min(1.0) } else { 1.0 };
        let start = (-radius / scale).floor() + 1.0;
        let count = 2.0 - 2.0 * start;
        if count.is_nan() || count >= MAX_TAPS {
            return Err(invalid("the scale is too small"));
        }
        let mut weights = room_for(count as usize)?;
        for tap in 0..count as usize {
            let distance = ((start + tap as f64 - ratio) * scale).abs();
            weights.push(match self.mode {
                Mode::Cubic(a) => cubic(distance, a),
                _ => (1.0 - distance).max(0.0),
            });
        }
        if self.antialias {
            normalize(&mut weights);
        }
        Ok((start as i64, weights))
    }
}

/// The most neighbours of one coordinate.
const MAX_TAPS: f64 = (1u32 << 24) as f64;

/// The weight of an element at a distance in cubic convolution.
fn cubic(distance: f64, a: f64) -> f64 {
    let x = distance;
    if x <= 1.0 {
        ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0
    } else if x < 2.0 {
        ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a
    } else {
        0.0
    }
}

fn normalize(weights: &mut [f64]) {
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= sum);
}

/// The elements that make one output coordinate, with their weights; none outside of the region to
/// resize.
#[derive(Clone, Debug)]
pub(in crate::ops) struct Taps {
    pub(in crate::ops) places: Vec<usize>,
    pub(in crate::ops) weights: Vec<f64>,
}

impl Taps {
    /// The first element's place.
    pub(in crate::ops) fn first(&self) -> usize {
        self.places.first().copied().unwrap_or(0)
    }

    /// Whether it is the element at this place, and no part of any other.
    pub(super) fn is_only(&self, place: usize) -> bool {
        let mut parts = self.places.iter().zip(&self.weights).filter(|&(_, &weight)| weight != 0.0);
        parts.next() == Some((&place, &1.0)) && parts.next().is_none()
    }

    /// The weighted sum of elements.
    pub(super) fn sum<W: Float>(&self, x: &[W], outside: W) -> W {
        if self.weights.is_empty() {
            return outside;
        }
        let products = self
            .places
            .iter()
            .zip(&self.weights)
            .map(|(&place, &weight)| W::from_f64(weight).times(x[place]));
        products.fold(W::ZERO, W::plus)
    }

    /// The weighted sum of rows.
    pub(super) fn sum_rows<W: Float>(&self, x: &[W], out: &mut [W], outside: W) {
        let inner = out.len();
        if let (&[first, second], &[v, w]) = (&self.places[..], &self.weights[..]) {
            let (v, w) = (W::from_f64(v), W::from_f64(w));
            let rows = x[first * inner..][..inner].iter().zip(&x[second * inner..][..inner]);
            out.iter_mut().zip(rows).for_each(|(out, (&a, &b))| *out = v.times(a).plus(w.times(b)));
            return;
        }
        out.fill(if self.weights.is_empty() { outside } else { W::ZERO });
        for (&place, &weight) in self.places.iter().zip(&self.weights) {
            let weight = W::from_f64(weight);
            let x = &x[place * inner..][..inner];
            out.iter_mut().zip(x).for_each(|(out, &x)| *out = out.plus(weight.times(x)));
        }
    }
}

/// Returns the two elements of each output coordinate with their weights, if each has two.
pub(super) fn pairs<W: Float>(plan: &[Taps]) -> Option<Vec<[(usize, W); 2]>> {
    let pair = |taps: &Taps| match (&taps.places[..], &taps.weights[..]) {
        (&[a, b], &[v, w]) => Some([(a, W::from_f64(v)), (b, W::from_f64(w))]),
        _ => None,
    };
    plan.iter().map(pair).collect()
}

/// One dimension: its extents, the scale between them, and the region of the input that is resized,
/// in fractions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub(super) input: usize,
    pub(super) output: usize,
    pub(super) scale: f64,
    pub(super) region: [f64; 2],
}

impl Axis {
    /// What each output coordinate is made of.
    pub(super) fn taps(
        &self,
        transformation: Transformation,
        interpolation: Interpolation,
    ) -> Result<Vec<Taps>, Diagnostic> {
        let mut all = room_for(self.output)?;
        for output in 0..self.output {
            let is_nearest = interpolation.is_nearest();
            let Some(x) = self.coordinate(transformation, is_nearest, output as f64) else {
                all.push(Taps { places: Vec::new(), weights: Vec::new() });
                continue;
            };
            let base = x.ceil() - 1.0;
            let (start, mut weights) = interpolation.weights(x - base, self.scale)?;
            let last = self.input as i64 - 1;
            let places = (0..weights.len() as i64).map(|tap| (base as i64).saturating_add(start + tap));
            if interpolation.exclude_outside {
                for (weight, place) in weights.iter_mut().zip(places.clone()) {
                    if !(0..=last).contains(&place) {
                        *weight = 0.0;
                    }
                }
                normalize(&mut weights);
            }
            all.push(Taps { places: places.map(|place| place.clamp(0, last) as usize).collect(), weights });
        }
        Ok(all)
    }

    /// The input coordinate of an output coordinate; `None` outside of the input for regions.
    ///
    /// Which element is nearest can hang on the last bit, so that each step is rounded as the `f32`
    /// arithmetic of ONNX Runtime and PyTorch rounds it: `3 / 0.6` is 5 there, and less in `f64`.
    fn coordinate(&self, transformation: Transformation, is_nearest: bool, x: f64) -> Option<f64> {
        let rounded = |x: f64| if is_nearest { f64::from(x as f32) } else { x };
        let (input, scale) = (self.input as f64, rounded(self.scale));
        // The output's extent before it is rounded.
        let output = rounded(scale * input);
        Some(match transformation {
            Transformation::HalfPixel => rounded(rounded((x + 0.5) / scale) - 0.5),
            Transformation::HalfPixelSymmetric => {
                let adjustment = rounded(self.output as f64 / output);
                let offset = rounded(input / 2.0 * rounded(1.0 - adjustment));
                rounded(offset + rounded(rounded((x + 0.5) / scale) - 0.5))
            }
            Transformation::PytorchHalfPixel if output == 1.0 => -0.5,
            Transformation::PytorchHalfPixel => rounded(rounded((x + 0.5) / scale) - 0.5),
            Transformation::AlignCorners if output == 1.0 => 0.0,
            Transformation::AlignCorners => rounded(rounded(x * (input - 1.0)) / rounded(output - 1.0)),
            Transformation::Asymmetric => rounded(x / scale),
            Transformation::HalfPixelForNearest => rounded((x + 0.5) / scale),
            Transformation::CropAndResize => {
                let [start, end] = self.region;
                let offset = match output == 1.0 {
                    true => (end - start) * (input - 1.0) / 2.0,
                    false => x * (end - start) * (input - 1.0) / (output - 1.0),
                };
                let x = offset + start * (input - 1.0);
                return (0.0..=input - 1.0).contains(&x).then_some(x);
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear(antialias: bool) -> Interpolation {
        Interpolation { mode: Mode::Linear, antialias, exclude_outside: false }
    }

    #[test]
    fn weights_are_of_the_neighbours() {
        assert_eq!(linear(false).weights(0.25, 2.0), Ok((0, vec![0.75, 0.25])));
        assert_eq!(linear(true).weights(1.0, 0.5), Ok((-1, vec![0.0, 0.25, 0.5, 0.25])));
        let cubic = Interpolation { mode: Mode::Cubic(-0.75), ..linear(false) };
        let (start, weights) = cubic.weights(0.5, 1.0).unwrap();
        assert_eq!((start, weights), (-1, vec![-0.09375, 0.59375, 0.59375, -0.09375]));
        let nearest = |rounding| Interpolation { mode: Mode::Nearest(rounding), ..linear(false) };
        assert_eq!(nearest(Rounding::PreferFloor).weights(0.5, 1.0), Ok((0, vec![1.0])));
        assert_eq!(nearest(Rounding::PreferCeil).weights(0.5, 1.0), Ok((1, vec![1.0])));
    }

    #[test]
    fn the_nearest_element_is_that_of_f32_arithmetic() {
        let interpolation = Interpolation { mode: Mode::Nearest(Rounding::Floor), ..linear(false) };
        let axis = Axis { input: 10, output: 6, scale: f64::from(0.6f32), region: [0.0, 1.0] };
        let taps = axis.taps(Transformation::Asymmetric, interpolation).unwrap();
        let places: Vec<_> = taps.iter().map(Taps::first).collect();
        assert_eq!(places, [0, 1, 3, 5, 6, 8]);
    }

    #[test]
    fn coordinates_outside_of_a_region_have_no_elements() {
        let axis = Axis { input: 4, output: 3, scale: 0.75, region: [-0.5, 1.0] };
        let taps = axis.taps(Transformation::CropAndResize, linear(false)).unwrap();
        assert!(taps[0].weights.is_empty() && !taps[2].weights.is_empty());
    }
}
