//! Weights and images from a seed.

use super::{Layer, Then};
use crate::random::Random;

/// A layer's numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// The filter, `HWIO`.
    pub filter: Vec<f32>,
    /// One number for each output channel to add.
    pub bias: Vec<f32>,
}

/// The numbers of layer number `at` from a seed: between bounds that keep the variance from layer to layer, and less for
/// those that are added to a shortcut.
pub fn seeded_weights(layer: &Layer, at: usize, seed: u64) -> Weights {
    let mut random = Random::new(seed, at as u64);
    let depth = layer.window * layer.window * layer.in_channels;
    let gain = if layer.then == Then::AddRelu { 0.5 } else { 2.0 };
    // A uniform number between -b and b has a variance of b²/3.
    let bound = (3.0 * gain / depth as f32).sqrt();
    let mut uniform = |bound: f32| (random.unit() * 2.0 - 1.0) * bound;
    let filter = (0..depth * layer.out_channels).map(|_| uniform(bound)).collect();
    let bias = (0..layer.out_channels).map(|_| uniform(0.1)).collect();
    Weights { filter, bias }
}

/// A filter as outputs, rows, columns, inputs, from `HWIO`.
pub fn filter_to_ohwi(layer: &Layer, filter: &[f32]) -> Vec<f32> {
    let outputs = layer.out_channels;
    let column = |output: usize| filter.iter().skip(output).step_by(outputs).copied();
    (0..outputs).flat_map(column).collect()
}

/// Images of noise between -1 and 1 from a seed.
pub fn seeded_images(batch: usize, extent: usize, seed: u64) -> Vec<f32> {
    let mut random = Random::new(seed, u64::MAX);
    (0..batch * extent * extent * 3).map(|_| random.unit() * 2.0 - 1.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_turn_round() {
        let layer = Layer {
            name: "x".into(),
            window: 1,
            in_channels: 2,
            out_channels: 3,
            stride: 1,
            then: Then::Relu,
        };
        assert_eq!(
            filter_to_ohwi(&layer, &[0.0, 1.0, 2.0, 10.0, 11.0, 12.0]),
            [0.0, 10.0, 1.0, 11.0, 2.0, 12.0]
        );
    }
}
