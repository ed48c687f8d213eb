//! Weights and images from a seed.

use super::{Layer, Then};
use crate::random::Random;

/// The weights of a layer.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// The filter, `HWIO`.
    pub filter: Vec<f32>,
    /// The bias, one number for each output channel.
    pub bias: Vec<f32>,
}

/// Returns the weights of layer `at` from a seed: within bounds that preserve the variance from
/// layer to layer, and smaller for layers whose results are added to a shortcut.
pub fn seeded_weights(layer: &Layer, at: usize, seed: u64) -> Weights {
    let (mut filter, mut bias) = (vec![0.0; filter_len(layer)], vec![0.0; layer.out_channels]);
    fill_seeded_filter(layer, at, seed, &mut filter);
    fill_seeded_bias(layer, at, seed, &mut bias);
    Weights { filter, bias }
}

/// Fills existing memory with the filter of [`seeded_weights`].
pub(crate) fn fill_seeded_filter(layer: &Layer, at: usize, seed: u64, filter: &mut [f32]) {
    let mut random = Random::new(seed, at as u64);
    let depth = layer.window * layer.window * layer.in_channels;
    let gain = if layer.then == Then::AddRelu { 0.5 } else { 2.0 };
    // A uniform number between -b and b has a variance of b²/3.
    let bound = (3.0 * gain / depth as f32).sqrt();
    filter.fill_with(|| uniform(&mut random, bound));
}

/// Fills existing memory with the bias of [`seeded_weights`], whose numbers come after the
/// filter's.
pub(crate) fn fill_seeded_bias(layer: &Layer, at: usize, seed: u64, bias: &mut [f32]) {
    let mut random = Random::new(seed, at as u64);
    random.skip(filter_len(layer));
    bias.fill_with(|| uniform(&mut random, 0.1));
}

fn filter_len(layer: &Layer) -> usize {
    layer.filter_extents().iter().product()
}

/// Returns a number between `-bound` and `bound`.
fn uniform(random: &mut Random, bound: f32) -> f32 {
    (random.unit() * 2.0 - 1.0) * bound
}

/// Converts a filter from `HWIO` to outputs, rows, columns, inputs. Both slices must have the same
/// length.
pub(crate) fn filter_to_ohwi(layer: &Layer, filter: &[f32], turned: &mut [f32]) {
    /// The number of outputs in one cache line.
    const LINE: usize = 16;
    let (outputs, depth) = (layer.out_channels, filter.len() / layer.out_channels);
    for first in (0..outputs).step_by(LINE) {
        for (row, numbers) in filter.chunks_exact(outputs).enumerate() {
            for (output, &number) in numbers.iter().enumerate().skip(first).take(LINE) {
                turned[output * depth + row] = number;
            }
        }
    }
}

/// Returns images of noise between -1 and 1 from a seed.
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
        let mut turned = [0.0; 6];
        filter_to_ohwi(&layer, &[0.0, 1.0, 2.0, 10.0, 11.0, 12.0], &mut turned);
        assert_eq!(turned, [0.0, 10.0, 1.0, 11.0, 2.0, 12.0]);
        // More outputs than are converted at a time.
        let layer = Layer { out_channels: 37, in_channels: 5, ..layer };
        let filter: Vec<f32> = (0..37 * 5).map(|number| number as f32).collect();
        let mut turned = vec![0.0; filter.len()];
        filter_to_ohwi(&layer, &filter, &mut turned);
        let expected = (0..37).flat_map(|output| (0..5).map(move |row| (row * 37 + output) as f32));
        assert!(turned.into_iter().eq(expected));
    }
}
