//! Problems as numbers: what plans are looked up by, in memory and on disk.

use std::fmt::Write as _;

use tfrt_device::hal::TensorLayout;

use super::convolution::Problem;
use crate::GpuOptions;

/// A problem as numbers. Equal keys have equal plans.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Key(Vec<u64>);

/// Passes the numbers of a problem to `take`, until it returns false.
fn each_number(problem: &Problem<'_>, options: GpuOptions, take: &mut impl FnMut(u64) -> bool) -> bool {
    let convolution = problem.convolution;
    let first = [
        u64::from(options.allows_tf32),
        problem.kind as u64,
        convolution.groups,
        u64::from(convolution.cross_correlation),
        convolution.compute as u64,
        // The bits, because −1 is a valid value.
        convolution.algorithm as u64,
        problem.scaling.alpha.to_bits(),
        problem.scaling.beta.to_bits(),
    ];
    let lists = [&convolution.padding, &convolution.strides, &convolution.dilations];
    let bias = problem.bias.into_iter();
    let residual = problem.residual.map(|(layout, alignment, _)| (layout, alignment)).into_iter();
    let mut all = |numbers: &[u64]| numbers.iter().all(|&number| take(number));
    all(&first)
        && lists.into_iter().all(|list| all(&[list.len() as u64]) && all(list))
        && problem.tensors.into_iter().chain(bias).chain(residual).all(
            |(layout, alignment): (&TensorLayout, u32)| {
                all(&[layout.dtype as u64, u64::from(alignment), layout.dims.len() as u64])
                    && all(&layout.dims)
                    && all(&layout.strides)
            },
        )
        && all(&[
            u64::from(problem.bias.is_some()),
            problem.residual.map_or(0, |(_, _, factor)| factor.to_bits()),
            u64::from(problem.residual.is_some()),
        ])
        && problem.activation.is_none_or(|activation| {
            all(&[activation.mode as u64, activation.coefficient.to_bits(), activation.nan as u64])
        })
}

/// Returns a number that differs for most problems of a network. It takes less time than a hash of
/// all numbers.
pub(super) fn mark(problem: &Problem<'_>) -> u64 {
    let [x, w, y] = problem.tensors.map(|(layout, _)| &layout.dims);
    let steps = u64::from(problem.residual.is_some()) << 1 | u64::from(problem.bias.is_some());
    let first = (problem.kind as u64) << 2 | steps;
    x.iter()
        .chain(w)
        .chain(y)
        .fold(first, |sum, &number| (sum ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23))
}

impl Key {
    pub(super) fn new(problem: &Problem<'_>, options: GpuOptions) -> Self {
        let mut numbers = Vec::with_capacity(64);
        each_number(problem, options, &mut |number| {
            numbers.push(number);
            true
        });
        Self(numbers)
    }

    /// Returns whether this is the key of a problem, without creating that.
    pub(super) fn is_of(&self, problem: &Problem<'_>, options: GpuOptions) -> bool {
        let mut left = self.0.iter();
        each_number(problem, options, &mut |number| left.next() == Some(&number)) && left.next().is_none()
    }

    /// Returns the numbers as one line.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for number in &self.0 {
            let _ = write!(text, "{number:x} ");
        }
        text
    }

    /// Returns a hash for the file's name.
    pub(super) fn hash(&self) -> u64 {
        hash(self.0.iter().flat_map(|number| number.to_le_bytes()))
    }
}

/// Returns the first line of a file: the problem, and a hash of the plan.
pub(super) fn head_of(key: &Key, json: &str) -> String {
    format!("{}{:016x}", key.text(), hash(json.bytes()))
}

/// Hashes bytes by FNV-1a, which is the same in every version of this program.
fn hash(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}
