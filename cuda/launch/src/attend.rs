//! Attention by kernels, whose scores never leave a multiprocessor.

use tfrt_device::error::{DeviceError, Result};
use tfrt_device::front::{Argument, Attention, DeviceBuffer, Stream};
use tfrt_device::hal::AttentionExtents;
use tfrt_host::DType;

use crate::{DeviceKernels, KernelName, THREADS, input, optional, output, product, typed};

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

/// Returns the number of heads of keys of all batches, and of the rows of heads that share one.
fn groups(extents: &AttentionExtents) -> (u64, u64) {
    let key_heads = extents.heads.checked_div(extents.shared).unwrap_or(0);
    (extents.batch.saturating_mul(key_heads), extents.shared.saturating_mul(extents.rows))
}

/// Returns how many parts the keys are divided into, so that few rows keep a whole device busy.
fn splits(extents: &AttentionExtents) -> u64 {
    let (groups, rows) = groups(extents);
    let tiles = groups.saturating_mul(rows.div_ceil(TILE_ROWS)).max(1);
    (FULL_TILES / tiles).min(extents.keys / LEAST_KEYS).max(1)
}

/// Returns the bytes of scratch memory that [`DeviceKernels::attention`] needs: none unless keys are
/// divided because there are few rows.
pub fn attention_scratch_bytes(extents: &AttentionExtents) -> u64 {
    let (groups, rows) = groups(extents);
    match splits(extents) {
        1 => 0,
        // The sums of each row, its greatest score and the sum of its weights.
        splits => [splits, groups, rows, extents.size.saturating_add(2), 4]
            .iter()
            .fold(1, |product: u64, &extent| product.saturating_mul(extent)),
    }
}

/// The kernel for a call, and the rows and columns of a tile, by which its blocks are counted.
struct Choice {
    name: KernelName,
    threads: u32,
    tile_rows: u64,
    tile_columns: u64,
}

/// Chooses a kernel: tensor cores for types of 16 bits, if the device has them and the rows of a
/// tile fit its registers.
fn choose(dtype: DType, extents: &AttentionExtents, has_tensor_cores: bool) -> Result<Choice> {
    let ((groups, rows), AttentionExtents { depth, size, .. }) = (groups(extents), *extents);
    if dtype != DType::F32 && has_tensor_cores && depth <= MAX_TENSOR_DEPTH {
        let (function, tile_columns) = match depth.max(size.min(128)) {
            0..=64 => ("attend_tensor_64", 64),
            65..=128 => ("attend_tensor_128", 128),
            _ => ("attend_tensor_256", 128),
        };
        let across = size.div_ceil(tile_columns).saturating_mul(groups);
        // Small tiles, if large ones do not fill a device.
        let is_large = rows.div_ceil(128).saturating_mul(across) >= FULL_TILES;
        let (threads, tile_rows) = if is_large { (256, 128) } else { (128, 64) };
        return Ok(Choice { name: typed(function, dtype, TYPES)?, threads, tile_rows, tile_columns });
    }
    let (function, tile_rows, tile_columns) = match (dtype, rows <= 16, size <= 64) {
        (DType::F32, true, true) => ("attend_few_64", 16, 64),
        (DType::F32, true, false) => ("attend_few_128", 16, 128),
        (DType::F32, false, false) => ("attend_128", 64, 128),
        _ => ("attend_64", 64, 64),
    };
    Ok(Choice { name: typed(function, dtype, TYPES)?, threads: 256, tile_rows, tile_columns })
}

/// Returns the arguments of all kernels, which were checked.
fn arguments<'a>(attention: &Attention<'a>, partial: Argument<'a>) -> Result<Vec<Argument<'a>>> {
    let Attention { dtype, extents, mask, lengths, causal, scale, cap, .. } = *attention;
    let AttentionExtents { batch, heads, shared, rows, keys, depth, size } = extents;
    let lengths = lengths.map(|lengths| input(lengths, batch, DType::I64, "the lengths"));
    // The numbers of elements were checked.
    let mut arguments = vec![
        output(attention.output.buffer, 0, dtype, "the result")?,
        partial,
        input(attention.queries.buffer, 0, dtype, "the queries")?,
        input(attention.keys.buffer, 0, dtype, "the keys")?,
        input(attention.values.buffer, 0, dtype, "the values")?,
        optional(mask.map(|mask| input(mask.buffer, 0, mask.dtype, "the mask")))?,
        optional(lengths)?,
    ];
    // The extents fit.
    let count = |count: u64| Argument::from(count as u32);
    arguments.extend([batch, heads, shared, rows, keys, depth, size, splits(&extents)].map(count));
    for operand in [attention.output, attention.queries, attention.keys, attention.values] {
        arguments.extend(operand.strides.map(|stride| Argument::from(stride as i64)));
    }
    let mask_strides = mask.map_or([0; 4], |mask| mask.strides);
    arguments.extend(mask_strides.map(|stride| Argument::from(stride as i64)));
    let mask_kind = match mask.map_or(dtype, |mask| mask.dtype) {
        DType::I1 => 1,
        DType::F32 if dtype != DType::F32 => 2,
        _ => 0,
    };
    let seen = mask.map_or(keys, |mask| mask.keys);
    arguments.extend([seen, mask_kind, causal.unwrap_or(0), causal.is_some().into()].map(count));
    arguments.extend([scale, cap].map(Argument::from));
    Ok(arguments)
}

impl DeviceKernels {
    /// Computes attention of `f32`, `f16` or `bf16`, with sums in `f32`. `scratch` has
    /// [`attention_scratch_bytes`] bytes, and may be absent if that is zero.
    ///
    /// # Errors
    /// See [`Attention::checked`]; `InvalidValue` if scratch memory is missing or too small.
    pub fn attention(
        &self,
        stream: &Stream,
        attention: &Attention<'_>,
        scratch: Option<&DeviceBuffer>,
    ) -> Result<()> {
        let checked = attention.checked()?;
        let (dtype, extents) = (checked.dtype, checked.extents);
        let choice = choose(dtype, &extents, self.capability() >= (8, 0))?;
        let ((groups, rows), splits) = (groups(&extents), splits(&extents));
        let across = extents.size.div_ceil(choice.tile_columns);
        let tiles = product(&[groups, splits, rows.div_ceil(choice.tile_rows), across])?;
        let launch = |name: &KernelName, blocks, threads, partial| {
            self.launch_sized(stream, name, (blocks, 1), threads, &arguments(attention, partial)?)
        };
        if splits == 1 {
            return launch(&choice.name, tiles, choice.threads, Argument::from(0u64));
        }
        let what = "the scratch memory";
        let missing = || DeviceError::invalid_value("attention: scratch memory is missing");
        let (scratch, elements) = (scratch.ok_or_else(missing)?, attention_scratch_bytes(&extents) / 4);
        launch(&choice.name, tiles, choice.threads, output(scratch, elements, DType::F32, what)?)?;
        // A warp for each row.
        let lanes = product(&[extents.batch, extents.heads, extents.rows, 32])?;
        let join = typed("attend_join", dtype, TYPES)?;
        launch(&join, lanes.div_ceil(THREADS.into()), THREADS, input(scratch, elements, DType::F32, what)?)
    }
}
