//! Attention: its operands and their checks.

use tfrt_host::DType;

use super::buffer::DeviceBuffer;
use super::context::Context;
use super::managed::Queueing;
use super::stream::Stream;
use crate::error::{DeviceError, Result, Status};
use crate::hal::{self, AttentionExtents};

/// Rows of elements that lie side by side.
#[derive(Clone, Copy)]
pub struct AttentionRows<'a> {
    /// The memory of all rows. The first one begins with it.
    pub buffer: &'a DeviceBuffer,
    /// How many elements lie between the beginnings of batches, heads and rows; zero repeats them.
    pub strides: [u64; 3],
}

/// What changes the scores of attention, see [`hal::AttentionMask`].
#[derive(Clone, Copy)]
pub struct AttentionMask<'a> {
    /// Its elements.
    pub buffer: &'a DeviceBuffer,
    /// Their type: truth values, of which false hides a key, or `f32` or the operands' type, which
    /// are added.
    pub dtype: DType,
    /// The distances between its elements along batch, heads, rows and keys; zero repeats it.
    pub strides: [u64; 4],
    /// The number of keys it is for. Later ones are hidden.
    pub keys: u64,
}

/// The operands of attention, see [`hal::Attention`].
#[derive(Clone, Copy)]
pub struct Attention<'a> {
    /// The type of the operands and the result: `f32`, `f16` or `bf16`. Sums are `f32`.
    pub dtype: DType,
    /// The extents.
    pub extents: AttentionExtents,
    /// The results, which must not overlap the operands. Distinct rows must lie apart.
    pub output: AttentionRows<'a>,
    /// The queries.
    pub queries: AttentionRows<'a>,
    /// The keys, by the number of the head among those of keys.
    pub keys: AttentionRows<'a>,
    /// The values, likewise.
    pub values: AttentionRows<'a>,
    /// The mask.
    pub mask: Option<AttentionMask<'a>>,
    /// The number of keys (i64) of each batch.
    pub lengths: Option<&'a DeviceBuffer>,
    /// If row `r` sees only `r + 1` keys and some more, the number of these.
    pub causal: Option<u64>,
    /// The factor of products.
    pub scale: f32,
    /// If above zero, the bound that scores approach by the hyperbolic tangent.
    pub cap: f32,
}

/// The largest extent. Kernels count in 32 bits, with some tiles to spare.
const MAX_EXTENT: u64 = 1 << 30;

fn invalid(detail: impl std::fmt::Display) -> DeviceError {
    DeviceError::invalid_value(format!("attention: {detail}"))
}

/// Returns the address of as many elements in a buffer.
fn address_of(buffer: &DeviceBuffer, dtype: DType, elements: Option<u64>, what: &str) -> Result<u64> {
    let size = dtype.size().unwrap_or(0) as u64;
    let bytes = elements.and_then(|elements| elements.checked_mul(size));
    if bytes.is_none_or(|bytes| bytes > buffer.len()) {
        return Err(invalid(format_args!("{what} do not lie in their buffer of {} bytes", buffer.len())));
    }
    if !buffer.address().is_multiple_of(size.max(1)) {
        let detail = format!("attention: {what} are not aligned to their elements");
        return Err(DeviceError::new(Status::MisalignedAddress, detail));
    }
    Ok(buffer.address())
}

impl Attention<'_> {
    /// Checks the operands, and returns them as addresses.
    ///
    /// # Errors
    /// `InvalidValue` if heads do not share keys evenly, an extent is above 2^30, or an operand does
    /// not lie in its buffer; `NotSupported` for other types.
    pub fn checked(&self) -> Result<hal::Attention> {
        let (dtype, extents) = (self.dtype, self.extents);
        let AttentionExtents { batch, heads, shared, rows, keys, depth, size } = extents;
        let mask_type = self.mask.map_or(dtype, |mask| mask.dtype);
        if !matches!(dtype, DType::F32 | DType::F16 | DType::BF16)
            || mask_type != dtype && !matches!(mask_type, DType::I1 | DType::F32)
        {
            let detail = format!("attention of {dtype} with a mask of {mask_type}");
            return Err(DeviceError::new(Status::NotSupported, detail));
        }
        if shared == 0 || !heads.is_multiple_of(shared) {
            return Err(invalid("heads of queries must share heads of keys evenly"));
        }
        let (group, past) = (shared.saturating_mul(rows), self.causal.unwrap_or(0).saturating_add(rows));
        if [batch, heads, group, keys, depth, size, past].iter().any(|&extent| extent > MAX_EXTENT) {
            return Err(invalid("an extent is too large"));
        }
        if self.mask.is_some_and(|mask| mask.keys > keys) {
            return Err(invalid("the mask has more columns than there are keys"));
        }
        let of = |rows: AttentionRows<'_>, span: Option<u64>, what: &str| {
            let address = address_of(rows.buffer, dtype, span, what)?;
            Ok::<_, DeviceError>(hal::AttentionRows { address, strides: rows.strides })
        };
        let by_query = |rows: AttentionRows<'_>, length| extents.query_span(rows.strides, length);
        let by_key = |rows: AttentionRows<'_>, length| extents.key_span(rows.strides, length);
        let mask = self.mask.map(|mask| {
            let span = extents.mask_span(mask.strides, mask.keys);
            let address = address_of(mask.buffer, mask.dtype, span, "the mask's elements")?;
            let (strides, keys) = (mask.strides, mask.keys);
            Ok::<_, DeviceError>(hal::AttentionMask { address, dtype: mask.dtype, strides, keys })
        });
        let lengths = self.lengths.map(|lengths| address_of(lengths, DType::I64, Some(batch), "lengths"));
        Ok(hal::Attention {
            dtype,
            extents,
            output: of(self.output, by_query(self.output, size), "results")?,
            queries: of(self.queries, by_query(self.queries, depth), "queries")?,
            keys: of(self.keys, by_key(self.keys, depth), "keys")?,
            values: of(self.values, by_key(self.values, size), "values")?,
            mask: mask.transpose()?,
            lengths: lengths.transpose()?,
            causal: self.causal,
            scale: self.scale,
            cap: self.cap,
        })
    }
}

impl Context {
    /// Returns whether the device computes attention itself. On others, kernels compute it.
    pub fn computes_attention(&self) -> bool {
        self.hal().computes_attention()
    }
}

impl Stream {
    /// Queues attention on a device that computes it itself.
    ///
    /// # Errors
    /// See [`Attention::checked`]; `NotSupported` on other devices.
    pub fn attention(&self, attention: &Attention<'_>) -> Result<()> {
        let mut queueing = Queueing::on(self);
        let rows = [attention.output, attention.queries, attention.keys, attention.values];
        let others = [attention.mask.map(|mask| mask.buffer), attention.lengths];
        for buffer in rows.iter().map(|rows| rows.buffer).chain(others.into_iter().flatten()) {
            buffer.used_by(&mut queueing)?;
        }
        let checked = attention.checked()?;
        let AttentionExtents { batch, heads, rows, keys, size, .. } = checked.extents;
        if [batch, heads, rows, size].contains(&0) {
            return Ok(());
        }
        self.traced(
            || format!("attention, {batch} x {heads} x {rows} queries of {keys} keys"),
            || self.context().hal().attention(self.hal(), &checked),
        )
    }
}
