//! Batches of a data set in an order that is new in each epoch.

use tfrt_host::{Arg, Attr, Chain, Diagnostic, KernelRegistry};
use tfrt_tensor::{Accessor, DenseHostTensor};

static BATCH: Accessor = Accessor::new("tfrt_mnist.batch");

/// A permutation of `0..len`, computed place by place: a Feistel network over the next power of
/// four, walked until it comes back into range (Black and Rogaway, "Ciphers with arbitrary finite
/// domains", 2002).
#[derive(Clone, Copy)]
struct Order {
    len: u64,
    half_bits: u32,
    key: u64,
}

impl Order {
    const ROUNDS: u64 = 4;

    fn new(len: usize, key: u64) -> Self {
        let len = len as u64;
        let bits = u64::BITS - len.saturating_sub(1).leading_zeros();
        Self { len, half_bits: bits.div_ceil(2), key }
    }

    /// What stands at `place`, which must be below the length.
    fn at(self, place: usize) -> usize {
        let mut number = place as u64;
        loop {
            number = self.encipher(number);
            if number < self.len {
                return number as usize;
            }
        }
    }

    fn encipher(self, number: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (number >> self.half_bits, number & mask);
        for round in 0..Self::ROUNDS {
            let mixed = mix(right ^ mix(self.key.wrapping_add(round)));
            (left, right) = (right, left ^ (mixed & mask));
        }
        left << self.half_bits | right
    }
}

/// The finalizer of SplitMix64.
fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

fn batch(
    images: Arg<DenseHostTensor>,
    labels: Arg<DenseHostTensor>,
    step: i32,
    batch_images: Arg<DenseHostTensor>,
    batch_labels: Arg<DenseHostTensor>,
    chain: Chain,
    seed: Attr<i64>,
) -> Result<Chain, Diagnostic> {
    let ([count, pixels], [size, width]) =
        (images.shape().fixed::<2>()?.0, batch_images.shape().fixed::<2>()?.0);
    let ([label_count], [label_size]) =
        (labels.shape().fixed::<1>()?.0, batch_labels.shape().fixed::<1>()?.0);
    if width != pixels || label_count != count || label_size != size {
        return Err(Diagnostic::invalid_argument(format!(
            "a batch of images {} and labels {} does not suit images {} and labels {}",
            batch_images.shape(),
            batch_labels.shape(),
            images.shape(),
            labels.shape()
        )));
    }
    let (Some(steps), Ok(step)) = (count.checked_div(size).filter(|&n| n > 0), usize::try_from(step)) else {
        return Err(Diagnostic::invalid_argument(format!("no batch {step} of {size} among {count} images")));
    };
    let order = Order::new(count, mix(seed.0.cast_unsigned() ^ mix((step / steps) as u64)));
    let (images, labels) = (images.read::<f32>(&BATCH)?, labels.read::<i32>(&BATCH)?);
    let mut image_rows = batch_images.write::<f32>(&BATCH)?;
    let mut label_rows = batch_labels.write::<i32>(&BATCH)?;
    let rows = image_rows.chunks_exact_mut(pixels.max(1)).zip(label_rows.iter_mut());
    for (row, (image, label)) in rows.enumerate() {
        let from = order.at(step % steps * size + row);
        image.copy_from_slice(&images[from * pixels..][..pixels]);
        *label = labels[from];
    }
    Ok(chain)
}

pub(super) fn register(registry: &mut KernelRegistry) {
    registry
        .add("tfrt_mnist.batch", batch)
        .attributes(&["seed"])
        .mutates(&[3, 4])
        .doc(
            "Copies the images and labels of batch number `step` into tensors of a batch's size. Each epoch has its own \
             order; images that do not fill a batch are left out of it.",
        );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_image_is_in_an_epoch_once() {
        for len in [1, 2, 3, 10, 255, 256, 257, 1000] {
            for key in [0, 1, u64::MAX] {
                let order = Order::new(len, key);
                let mut seen: Vec<_> = (0..len).map(|place| order.at(place)).collect();
                seen.sort_unstable();
                assert!(seen.into_iter().eq(0..len), "{len} {key}");
            }
        }
    }

    #[test]
    fn epochs_differ() {
        let order = |key| (0..100).map(|place| Order::new(100, mix(key)).at(place)).collect::<Vec<_>>();
        assert_ne!(order(0), order(1));
        assert!(order(0).windows(2).filter(|pair| pair[1] == pair[0] + 1).count() < 10);
    }
}
