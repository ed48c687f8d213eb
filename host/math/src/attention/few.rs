//! Products of a few queries with keys, and of their weights with values, which are read where they
//! are.

use crate::simd::{Body, Products};

/// Rows of a matrix that are adjacent elements, `stride` apart.
#[derive(Clone, Copy)]
pub(super) struct InPlace<'a> {
    pub(super) data: &'a [f32],
    pub(super) stride: usize,
    pub(super) cols: usize,
}

impl<'a> InPlace<'a> {
    #[inline(always)]
    fn row(&self, row: usize) -> &'a [f32] {
        &self.data[row * self.stride..][..self.cols]
    }
}

/// Computes the products of a few queries with each key: a row of scores for each query.
pub(super) struct FewScores<'a> {
    pub(super) queries: InPlace<'a>,
    pub(super) keys: InPlace<'a>,
    pub(super) key_count: usize,
    pub(super) scores: &'a mut [f32],
}

impl Body for FewScores<'_> {
    #[inline(always)]
    fn run<P: Products>(self) {
        for key in 0..self.key_count {
            let elements = self.keys.row(key);
            for (row, scores) in self.scores.chunks_exact_mut(self.key_count).enumerate() {
                scores[key] = dot::<P>(self.queries.row(row), elements);
            }
        }
    }
}

/// Returns the sum of products.
#[inline(always)]
fn dot<P: Products>(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 16;
    let ((a, rest_a), (b, rest_b)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut lanes = [0.0f32; LANES];
    for (a, b) in a.iter().zip(b) {
        for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
            *lane = P::product_plus(*a, *b, *lane);
        }
    }
    for ((lane, a), b) in lanes.iter_mut().zip(rest_a).zip(rest_b) {
        *lane = P::product_plus(*a, *b, *lane);
    }
    // In pairs, as vectors are added.
    let mut width = LANES / 2;
    while width > 0 {
        let (low, high) = lanes.split_at_mut(width);
        low.iter_mut().zip(high).for_each(|(low, high)| *low += *high);
        width /= 2;
    }
    lanes[0]
}

/// Adds the values, weighted with the exponentials of a row, to the row's result.
pub(super) struct FewValues<'a> {
    pub(super) values: InPlace<'a>,
    pub(super) weights: &'a [f32],
    pub(super) out: &'a mut [f32],
}

impl Body for FewValues<'_> {
    #[inline(always)]
    fn run<P: Products>(self) {
        // The values of a few keys at a time, so that results stay in registers.
        const KEYS: usize = 4;
        let (weights, rest) = self.weights.as_chunks::<KEYS>();
        for (at, weights) in weights.iter().enumerate() {
            let [a, b, c, d] = std::array::from_fn(|key| self.values.row(at * KEYS + key));
            for ((((out, a), b), c), d) in self.out.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                let sum = P::product_plus(*b, weights[1], P::product_plus(*a, weights[0], *out));
                *out = P::product_plus(*d, weights[3], P::product_plus(*c, weights[2], sum));
            }
        }
        for (key, &weight) in rest.iter().enumerate() {
            let values = self.values.row(weights.len() * KEYS + key);
            self.out.iter_mut().zip(values).for_each(|(out, x)| *out = P::product_plus(*x, weight, *out));
        }
    }
}
