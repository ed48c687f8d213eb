//! Ops on images and volumes whose results have other extents: windows, resizing, decoding, and
//! parts of space that become a batch.

use tfrt_host::{DType, Diagnostic};

use super::{Call, Function, Inferred, declared, extent};
use crate::TensorType;

/// The function of an op of this family.
pub(super) fn function(name: &str) -> Option<Function> {
    Some(match name {
        "tf.ResizeArea" | "tf.ResizeBicubic" | "tf.ResizeBilinear" | "tf.ScaleAndTranslate" => {
            |call| resized(call, Some(DType::F32), 1)
        }
        "tf.ResizeNearestNeighbor" | "tf.ResizeNearestNeighborGrad" => |call| resized(call, call.dtype(0), 1),
        "tf.ImageProjectiveTransformV3" => |call| resized(call, call.dtype(0), 2),
        "tf.CropAndResizeGradBoxes" => |call| like(call, 2, DType::F32),
        "tf.CropAndResizeGradImage" => whole_images,
        "tf.DecodeAndCropJpeg" | "tf.DecodeBmp" | "tf.DecodeImage" | "tf.DecodeJpeg" | "tf.DecodePng" => {
            decoded
        }
        "tf.BatchToSpaceND" => |call| with_blocks(call, joined),
        "tf.SpaceToBatchND" => |call| with_blocks(call, divided),
        "tf.MaxPoolWithArgmax" => pooled,
        "tf.Dilation2D" => dilated,
        "onnx.Col2Im" => image_of_columns,
        _ => return None,
    })
}

fn one(dtype: DType, dims: Vec<Option<u64>>) -> Inferred {
    Ok(Some(vec![TensorType::ranked(dtype, dims)]))
}

/// Images `[batch, height, width, channels]` of the height and width that an argument holds.
fn resized(call: &Call<'_>, dtype: Option<DType>, size: usize) -> Inferred {
    let (Some(&[batch, _, _, channels]), Some(dtype)) = (call.dims(0), dtype) else { return Ok(None) };
    let [height, width] = match call.elements(size).as_deref() {
        Some(&[height, width]) => [extent(height), extent(width)],
        _ => [None; 2],
    };
    one(dtype, vec![batch, height, width, channels])
}

fn like(call: &Call<'_>, argument: usize, dtype: DType) -> Inferred {
    match call.dims(argument) {
        Some(dims) => one(dtype, dims.to_vec()),
        None => Ok(None),
    }
}

/// Images of the extents that the last argument holds.
fn whole_images(call: &Call<'_>) -> Inferred {
    let (Some(size), Some(ty)) = (call.elements(3), declared(call, 0)) else { return Ok(None) };
    one(ty.dtype, size.into_iter().map(extent).collect())
}

/// An image of a file, of as many channels as an attribute asks for.
fn decoded(call: &Call<'_>) -> Inferred {
    let Some(ty) = declared(call, 0) else { return Ok(None) };
    let channels = call.int_attr("channels").filter(|&channels| channels > 0);
    one(ty.dtype, vec![None, None, extent(channels)])
}

/// A dimension's extent from the one before, its block, and what is added or cut off.
type OfBlock = fn(u64, [u64; 2]) -> Option<u64>;

/// A padded dimension, divided into blocks.
fn divided(extent: u64, [block, padding]: [u64; 2]) -> Option<u64> {
    extent.checked_add(padding)?.checked_div(block)
}

/// A dimension of blocks, and what is cut off.
fn joined(extent: u64, [block, cut]: [u64; 2]) -> Option<u64> {
    extent.checked_mul(block)?.checked_sub(cut)
}

/// Blocks of the dimensions behind the first one become a part of that, or parts of it become
/// blocks.
fn with_blocks(call: &Call<'_>, of_block: OfBlock) -> Inferred {
    let (Some(dims), Some(dtype)) = (call.dims(0), call.dtype(0)) else { return Ok(None) };
    let unknown = one(dtype, vec![None; dims.len()]);
    let (Some(blocks), Some(margins)) = (call.integers(1), call.integers(2)) else { return unknown };
    let blocks: Option<Vec<u64>> = blocks.into_iter().map(|block| extent(Some(block))).collect();
    let margins: Option<Vec<u64>> = margins
        .chunks_exact(2)
        .map(|around| extent(Some(around[0]))?.checked_add(extent(Some(around[1]))?))
        .collect();
    let (Some(blocks), Some(margins)) = (blocks, margins) else { return unknown };
    if dims.len() <= blocks.len() || margins.len() != blocks.len() {
        return Err(Diagnostic::invalid_argument(format!(
            "{}: {} blocks and {} margins do not suit {} dimensions",
            call.name,
            blocks.len(),
            margins.len(),
            dims.len()
        )));
    }
    let mut results = dims.to_vec();
    let all = blocks.iter().try_fold(1u64, |all, &block| all.checked_mul(block));
    results[0] = dims[0].zip(all).and_then(|(batch, all)| {
        if call.name == "tf.BatchToSpaceND" { batch.checked_div(all) } else { batch.checked_mul(all) }
    });
    for (place, dim) in results[1..=blocks.len()].iter_mut().enumerate() {
        *dim = dim.and_then(|dim| of_block(dim, [blocks[place], margins[place]]));
    }
    one(dtype, results)
}

/// Attributes with an entry for each of four dimensions, of which those of height and width count.
fn of_image(call: &Call<'_>, name: &str) -> Option<[u64; 2]> {
    match *call.attrs.optional::<&[i64]>(name).ok()?? {
        [_, height, width, _] => Some([u64::try_from(height).ok()?, u64::try_from(width).ok()?]),
        _ => None,
    }
}

/// The number of windows of an extent.
fn windows(call: &Call<'_>, extent: u64, window: u64, stride: u64) -> Option<u64> {
    let places = match call.attrs.optional::<&str>("padding").ok()?? {
        "SAME" => extent,
        "VALID" => extent.checked_add(1)?.checked_sub(window)?,
        _ => return None,
    };
    (stride > 0).then(|| places.div_ceil(stride))
}

/// The greatest elements of windows, and where they lie.
fn pooled(call: &Call<'_>) -> Inferred {
    let (Some(&[batch, height, width, channels]), Some(dtype)) = (call.dims(0), call.dtype(0)) else {
        return Ok(None);
    };
    let (Some(places), window, strides) =
        (declared(call, 1), of_image(call, "ksize"), of_image(call, "strides"))
    else {
        return Ok(None);
    };
    let along = |dim: Option<u64>, axis: usize| windows(call, dim?, window?[axis], strides?[axis]);
    let dims = vec![batch, along(height, 0), along(width, 1), channels];
    Ok(Some(vec![TensorType::ranked(dtype, dims.clone()), TensorType::ranked(places.dtype, dims)]))
}

/// Windows that are as far apart as strides say, and whose elements lie as far apart as rates say.
fn dilated(call: &Call<'_>) -> Inferred {
    let (Some(&[batch, height, width, channels]), Some(dtype)) = (call.dims(0), call.dtype(0)) else {
        return Ok(None);
    };
    let filter = match call.dims(1) {
        Some(&[height, width, _]) => [height, width],
        _ => [None; 2],
    };
    let (strides, rates) = (of_image(call, "strides"), of_image(call, "rates"));
    let along = |dim: Option<u64>, axis: usize| {
        let window = filter[axis]?.checked_sub(1)?.checked_mul(rates?[axis])?.checked_add(1)?;
        windows(call, dim?, window, strides?[axis])
    };
    one(dtype, vec![batch, along(height, 0), along(width, 1), channels])
}

/// Images of the extents that the second argument holds, of columns with a block of each channel.
fn image_of_columns(call: &Call<'_>) -> Inferred {
    let (Some(&[batch, rows, _]), Some(dtype)) = (call.dims(0), call.dtype(0)) else { return Ok(None) };
    let Some(image) = call.elements(1) else { return Ok(None) };
    let block = call.integers(2).and_then(|block| {
        block.into_iter().try_fold(1u64, |all, extent| all.checked_mul(u64::try_from(extent).ok()?))
    });
    let channels = rows.zip(block).and_then(|(rows, block)| rows.checked_div(block));
    one(dtype, [batch, channels].into_iter().chain(image.into_iter().map(extent)).collect())
}
