//! Ops on images whose result extents are said by an argument.

use tfrt_host::DType;

use super::{Call, Function, Inferred};
use crate::TensorType;

/// The function of an op of this family.
pub(super) fn function(name: &str) -> Option<Function> {
    Some(match name {
        "onnx.AffineGrid" => affine_grid,
        "onnx.MaxUnpool" => max_unpool,
        "tf.CombinedNonMaxSuppression" => combined,
        "tf.CropAndResize" => crop_and_resize,
        _ => return None,
    })
}

/// A grid `[batch, extents..., coordinates]` for images of size `[batch, channels, extents...]`.
fn affine_grid(call: &Call<'_>) -> Inferred {
    let Some(dtype) = call.dtype(0) else { return Ok(None) };
    let rank = call.dims(0).and_then(|theta| theta.get(1).copied().flatten());
    let size = match (call.elements(1), rank) {
        (Some(size), _) => size,
        (None, Some(rank @ 2..=3)) => vec![None; rank as usize + 2],
        (None, _) => return Ok(None),
    };
    let Some((outer, extents)) = size.split_at_checked(2) else { return Ok(None) };
    let extent = |element: &Option<i64>| element.and_then(|element| u64::try_from(element).ok());
    let mut dims = vec![extent(&outer[0])];
    dims.extend(extents.iter().map(extent));
    dims.push(Some(extents.len() as u64));
    Ok(Some(vec![TensorType::ranked(dtype, dims)]))
}

/// As many boxes as the fourth argument says for each image, unless rows of classes are shorter.
fn combined(call: &Call<'_>) -> Inferred {
    let batch = call.dims(0).and_then(|boxes| boxes.first().copied().flatten());
    let is_padded = matches!(call.attrs.optional::<bool>("pad_per_class"), Ok(Some(true)));
    let total = call
        .elements(3)
        .filter(|_| !is_padded)
        .and_then(|total| u64::try_from(total.first().copied()??).ok());
    Ok(Some(vec![
        TensorType::ranked(DType::F32, [batch, total, Some(4)]),
        TensorType::ranked(DType::F32, [batch, total]),
        TensorType::ranked(DType::F32, [batch, total]),
        TensorType::ranked(DType::I32, [batch]),
    ]))
}

/// A part of an image for each box, of the size that the last argument says.
fn crop_and_resize(call: &Call<'_>) -> Inferred {
    let boxes = call.dims(1).and_then(|boxes| boxes.first().copied().flatten());
    let channels = call.dims(0).and_then(|image| image.get(3).copied().flatten());
    let size = call.elements(3).unwrap_or_default();
    let extent =
        |axis: usize| size.get(axis).copied().flatten().and_then(|extent| u64::try_from(extent).ok());
    Ok(Some(vec![TensorType::ranked(DType::F32, [boxes, extent(0), extent(1), channels])]))
}

/// The shape that the third argument says, or else the one that the window led from.
fn max_unpool(call: &Call<'_>) -> Inferred {
    let (Some(dtype), Some(dims)) = (call.dtype(0), call.dims(0)) else { return Ok(None) };
    if call.operands.len() > 2 {
        let asked = call.elements(2).filter(|asked| asked.len() == dims.len());
        let asked = asked.unwrap_or_else(|| vec![None; dims.len()]);
        let asked = asked.into_iter().map(|extent| u64::try_from(extent?).ok());
        return Ok(Some(vec![TensorType::ranked(dtype, asked.collect::<Vec<_>>())]));
    }
    let spatial = dims.len().saturating_sub(2);
    let list = |name: &str, default: i64, count: usize| match call.attrs.optional::<&[i64]>(name) {
        Ok(Some(list)) if list.len() == count => list.to_vec(),
        _ => vec![default; count],
    };
    let (kernel, strides) = (list("kernel_shape", 1, spatial), list("strides", 1, spatial));
    let pads = list("pads", 0, 2 * spatial);
    let mut result = dims.to_vec();
    for (axis, dim) in result.iter_mut().skip(2).enumerate() {
        let extent = |dim: u64| {
            let before = i64::try_from(dim).ok()?.checked_sub(1)?.checked_mul(strides[axis])?;
            let padding = pads[axis].checked_add(pads[axis + spatial])?;
            u64::try_from(before.checked_add(kernel[axis])?.checked_sub(padding)?).ok()
        };
        *dim = dim.and_then(extent);
    }
    Ok(Some(vec![TensorType::ranked(dtype, result)]))
}
