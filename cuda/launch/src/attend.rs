//! Attention: products with a softmax between them, whose scores never leave a multiprocessor.

use tfrt_device::error::{DeviceError, Result};
use tfrt_device::front::{Argument, DeviceBuffer, Stream};
use tfrt_host::DType;

use crate::{DeviceKernels, KernelName, THREADS, input, no_kernel, optional, output, product, typed};

/// The rows of a tile, by which work is divided. Tiles of some kernels have fewer or more.
const TILE_ROWS: u64 = 64;
/// The number of tiles that fill a large device: two for each multiprocessor of an H200. It is the
/// same for all devices, so that the scratch memory is, too.
const FULL_TILES: u64 = 264;
/// The least number of keys that are worth a tile of their own.
const LEAST_KEYS: u64 = 128;
/// The longest rows of queries and keys for tensor cores.
const MAX_TENSOR_DEPTH: u64 = 256;
/// The types with kernels.
const TYPES: &[DType] = &[DType::F32, DType::F16, DType::BF16];

/// Rows of elements that lie side by side.
#[derive(Clone, Copy)]
pub struct AttentionRows<'a> {
    /// The memory of all rows. The first one begins with it.
    pub buffer: &'a DeviceBuffer,
    /// How many elements lie between the beginnings of batches, heads and rows; zero repeats them.
    pub strides: [u64; 3],
}

/// What changes the scores of attention.
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

/// `softmax(scale · Q · Kᵀ + mask) · V` for each head of each batch.
///
/// A row that sees no key becomes NaN, as a softmax of minus infinities is. If there are no keys at
/// all, results are zero.
#[derive(Clone, Copy)]
pub struct Attention<'a> {
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
    /// The results, which must not overlap the operands. Distinct rows must lie apart.
    pub output: AttentionRows<'a>,
    /// The queries.
    pub queries: AttentionRows<'a>,
    /// The keys, by the number of the head among those of keys.
    pub key_rows: AttentionRows<'a>,
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

/// The extents of a call, by which work is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttentionExtents {
    /// The number of batches, times that of the heads of keys.
    pub groups: u64,
    /// The number of rows of the heads that share keys.
    pub rows: u64,
    /// The number of keys of a head.
    pub keys: u64,
    /// The number of elements of a row of values.
    pub size: u64,
}

impl AttentionExtents {
    /// Returns how many parts the keys are divided into, so that few rows keep a whole device busy.
    pub fn splits(&self) -> u64 {
        let tiles = self.groups.saturating_mul(self.rows.div_ceil(TILE_ROWS)).max(1);
        (FULL_TILES / tiles).min(self.keys / LEAST_KEYS).max(1)
    }

    /// Returns the bytes of scratch memory that a call needs: none unless keys are divided.
    pub fn scratch_bytes(&self) -> u64 {
        match self.splits() {
            1 => 0,
            // The sums of each row, its greatest score and the sum of its weights.
            splits => [splits, self.groups, self.rows, self.size + 2, 4].iter().product(),
        }
    }
}

/// The kernel for a call, and the rows of a tile and columns by which its blocks are counted.
struct Choice {
    name: KernelName,
    threads: u32,
    tile_rows: u64,
    tile_columns: u64,
}

impl Attention<'_> {
    /// Returns the extents by which work is divided.
    pub fn extents(&self) -> AttentionExtents {
        let groups = self.batch.saturating_mul(self.heads.checked_div(self.shared).unwrap_or(0));
        let rows = self.shared.saturating_mul(self.rows);
        AttentionExtents { groups, rows, keys: self.keys, size: self.size }
    }

    fn check(&self) -> Result<()> {
        let invalid = |detail: &str| Err(DeviceError::invalid_value(format!("attention: {detail}")));
        if self.shared == 0 || !self.heads.is_multiple_of(self.shared) {
            return invalid("heads of queries must share heads of keys evenly");
        }
        let extents = self.extents();
        let past = self.causal.unwrap_or(0).saturating_add(self.rows);
        // Kernels count these in 32 bits, with some tiles to spare.
        let counts = [self.batch, self.heads, extents.rows, self.keys, self.depth, self.size, past];
        if counts.iter().any(|&count| count > (i32::MAX as u64) / 2) {
            return invalid("an extent is too large");
        }
        if self.mask.is_some_and(|mask| mask.keys > self.keys) {
            return invalid("the mask has more columns than there are keys");
        }
        Ok(())
    }

    /// Chooses a kernel: tensor cores for types of 16 bits, if the device has them and the rows of a
    /// tile fit its registers.
    fn choose(&self, dtype: DType, has_tensor_cores: bool) -> Result<Choice> {
        let AttentionExtents { groups, rows, .. } = self.extents();
        if dtype != DType::F32 && has_tensor_cores && self.depth <= MAX_TENSOR_DEPTH {
            let (function, tile_columns) = match self.depth.max(self.size.min(128)) {
                0..=64 => ("attend_tensor_64", 64),
                65..=128 => ("attend_tensor_128", 128),
                _ => ("attend_tensor_256", 128),
            };
            let across = self.size.div_ceil(tile_columns).saturating_mul(groups);
            // Small tiles, if large ones do not fill a device.
            let is_large = rows.div_ceil(128).saturating_mul(across) >= FULL_TILES;
            let (threads, tile_rows) = if is_large { (256, 128) } else { (128, 64) };
            return Ok(Choice { name: typed(function, dtype, TYPES)?, threads, tile_rows, tile_columns });
        }
        let (function, tile_rows, tile_columns) = match (dtype, rows <= 16, self.size <= 64) {
            (DType::F32, true, true) => ("attend_few_64", 16, 64),
            (DType::F32, true, false) => ("attend_few_128", 16, 128),
            (DType::F32, false, false) => ("attend_128", 64, 128),
            _ => ("attend_64", 64, 64),
        };
        Ok(Choice { name: typed(function, dtype, TYPES)?, threads: 256, tile_rows, tile_columns })
    }

    fn arguments<'a>(&'a self, dtype: DType, partial: Argument<'a>) -> Result<Vec<Argument<'a>>> {
        let Self { batch, heads, shared, rows, keys, depth, size, .. } = *self;
        let key_heads = heads / shared;
        let by_query = [batch, heads, rows];
        let by_key = [batch, key_heads, keys];
        let read = |rows: &AttentionRows<'a>, extents: [u64; 3], length: u64, what: &str| {
            input(rows.buffer, span(&extents, &rows.strides, length)?, dtype, what)
        };
        let output_span = span(&by_query, &self.output.strides, size)?;
        let mask = self.mask.map(|mask| {
            let extents = [batch, heads, rows, mask.keys];
            input(mask.buffer, span(&extents, &mask.strides, 1)?, mask.dtype, "the mask")
        });
        let mask_kind = match self.mask.map(|mask| mask.dtype) {
            Some(DType::I1) => 1,
            Some(DType::F32) if dtype != DType::F32 => 2,
            Some(other) if other != dtype => return Err(no_kernel("a mask of attention", other)),
            _ => 0,
        };
        let lengths = self.lengths.map(|lengths| input(lengths, batch, DType::I64, "the lengths"));
        let mut arguments = vec![
            output(self.output.buffer, output_span, dtype, "the result")?,
            partial,
            read(&self.queries, by_query, depth, "the queries")?,
            read(&self.key_rows, by_key, depth, "the keys")?,
            read(&self.values, by_key, size, "the values")?,
            optional(mask)?,
            optional(lengths)?,
        ];
        // The extents were checked to fit.
        let count = |count: u64| Argument::from(count as u32);
        arguments.extend([batch, heads, shared, rows, keys, depth, size, self.extents().splits()].map(count));
        for operand in [&self.output, &self.queries, &self.key_rows, &self.values] {
            arguments.extend(operand.strides.map(|stride| Argument::from(stride as i64)));
        }
        let mask_strides = self.mask.map_or([0; 4], |mask| mask.strides);
        arguments.extend(mask_strides.map(|stride| Argument::from(stride as i64)));
        let seen = self.mask.map_or(keys, |mask| mask.keys);
        let past = self.causal.unwrap_or(0);
        arguments.extend([seen, mask_kind, past, self.causal.is_some().into()].map(count));
        arguments.extend([self.scale, self.cap].map(Argument::from));
        Ok(arguments)
    }
}

/// Returns how many elements rows of this length take, from the first to the last.
fn span(extents: &[u64], strides: &[u64], length: u64) -> Result<u64> {
    if length == 0 || extents.contains(&0) {
        return Ok(0);
    }
    extents
        .iter()
        .zip(strides)
        .try_fold(length, |end, (&extent, &stride)| end.checked_add((extent - 1).checked_mul(stride)?))
        .filter(|&end| end <= i64::MAX as u64)
        .ok_or_else(|| DeviceError::invalid_value("attention: an operand is too large"))
}

impl DeviceKernels {
    /// Computes attention of `f32`, `f16` or `bf16`, with sums in `f32`. `scratch` has
    /// [`AttentionExtents::scratch_bytes`] bytes, and may be absent if that is zero.
    ///
    /// # Errors
    /// See [`DeviceKernels::fill`]; `InvalidValue` if heads do not share keys evenly, or an extent is
    /// above 2^30.
    pub fn attention(
        &self,
        stream: &Stream,
        dtype: DType,
        attention: &Attention<'_>,
        scratch: Option<&DeviceBuffer>,
    ) -> Result<()> {
        if !TYPES.contains(&dtype) {
            return Err(no_kernel("attend", dtype));
        }
        attention.check()?;
        let choice = attention.choose(dtype, self.capability() >= (8, 0))?;
        let extents = attention.extents();
        let downward = extents.rows.div_ceil(choice.tile_rows);
        let across = attention.size.div_ceil(choice.tile_columns);
        let tiles = product(&[extents.groups, extents.splits(), downward, across])?;
        let launch = |name: &KernelName, blocks, threads, partial| {
            self.launch_sized(stream, name, (blocks, 1), threads, &attention.arguments(dtype, partial)?)
        };
        if extents.splits() == 1 {
            return launch(&choice.name, tiles, choice.threads, Argument::from(0u64));
        }
        let what = "the scratch memory";
        let missing = || DeviceError::invalid_value("attention: scratch memory is missing");
        let (scratch, elements) = (scratch.ok_or_else(missing)?, extents.scratch_bytes() / 4);
        launch(&choice.name, tiles, choice.threads, output(scratch, elements, DType::F32, what)?)?;
        // A warp for each row.
        let lines = product(&[attention.batch, attention.heads, attention.rows, 32])?;
        let join = typed("attend_join", dtype, TYPES)?;
        launch(&join, lines.div_ceil(THREADS.into()), THREADS, input(scratch, elements, DType::F32, what)?)
    }
}
