//! Attention, for devices that compute it themselves.

use tfrt_host::DType;

use super::{Resources, Result};
use crate::error::{DeviceError, Status};

/// Rows of elements that lie side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttentionRows {
    /// The address of the first row.
    pub address: u64,
    /// How many elements lie between the beginnings of batches, heads and rows; zero repeats them.
    pub strides: [u64; 3],
}

/// What changes the scores of attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttentionMask {
    /// The address of the first element.
    pub address: u64,
    /// The type of its elements: truth values, of which false hides a key, or `f32` or the operands'
    /// type, which are added.
    pub dtype: DType,
    /// The distances between its elements along batch, heads, rows and keys; zero repeats it.
    pub strides: [u64; 4],
    /// The number of keys it is for. Later ones are hidden.
    pub keys: u64,
}

/// `softmax(scale · Q · Kᵀ + mask) · V` for each head of each batch.
///
/// A row that sees no key becomes NaN, as a softmax of minus infinities is. If there are no keys at
/// all, results are zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attention {
    /// The type of the operands and the result: `f32`, `f16` or `bf16`. Sums are `f32`.
    pub dtype: DType,
    /// The extents.
    pub extents: AttentionExtents,
    /// The results.
    pub output: AttentionRows,
    /// The queries.
    pub queries: AttentionRows,
    /// The keys, by the number of the head among those of keys.
    pub keys: AttentionRows,
    /// The values, likewise.
    pub values: AttentionRows,
    /// The mask.
    pub mask: Option<AttentionMask>,
    /// The address of the number of keys (i64) of each batch.
    pub lengths: Option<u64>,
    /// If row `r` sees only `r + 1` keys and some more, the number of these.
    pub causal: Option<u64>,
    /// The factor of products.
    pub scale: f32,
    /// If above zero, the bound that scores approach by the hyperbolic tangent.
    pub cap: f32,
}

/// The extents of attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttentionExtents {
    /// The number of batches.
    pub batch: u64,
    /// The number of heads of queries.
    pub heads: u64,
    /// The number of heads of queries that share a head of keys and values. It divides `heads`.
    pub shared: u64,
    /// The number of queries of a head.
    pub rows: u64,
    /// The number of keys of a head.
    pub keys: u64,
    /// The number of elements of a query and of a key.
    pub depth: u64,
    /// The number of elements of a row of values and of the output.
    pub size: u64,
}

impl AttentionExtents {
    /// Returns how many elements queries take from the first to the last, or the output, whose rows
    /// have `length` elements; `None` if that overflows.
    pub fn query_span(&self, strides: [u64; 3], length: u64) -> Option<u64> {
        span(&[self.batch, self.heads, self.rows], &strides, length)
    }

    /// Returns the same for keys or values.
    pub fn key_span(&self, strides: [u64; 3], length: u64) -> Option<u64> {
        span(&[self.batch, self.heads.checked_div(self.shared)?, self.keys], &strides, length)
    }

    /// Returns the same for a mask for `keys` keys.
    pub fn mask_span(&self, strides: [u64; 4], keys: u64) -> Option<u64> {
        span(&[self.batch, self.heads, self.rows, keys], &strides, 1)
    }
}

fn span(extents: &[u64], strides: &[u64], length: u64) -> Option<u64> {
    if length == 0 || extents.contains(&0) {
        return Some(0);
    }
    extents
        .iter()
        .zip(strides)
        .try_fold(length, |end, (&extent, &stride)| end.checked_add((extent - 1).checked_mul(stride)?))
        .filter(|&end| end <= i64::MAX as u64)
}

/// Queues attention on a device that computes it itself. On others, kernels compute it.
pub trait Attends: Resources {
    /// Returns whether the device computes attention itself.
    fn computes_attention(&self) -> bool {
        false
    }

    /// Queues attention, whose operands were checked.
    fn attention(&self, _stream: &Self::Stream, _attention: &Attention) -> Result<()> {
        Err(DeviceError::new(Status::NotSupported, "the device does not compute attention itself"))
    }
}
