//! Ops of networks for images whose channels come last.

use tfrt_ir::{Attribute, ValueId};

use super::{Family, float, fused, int};
use crate::import::onnx::node::{Imported, Node};

pub(super) const OPS: Family = &[
    ("CropAndResize", crop_and_resize),
    ("GroupNorm", group_normalization),
    ("NhwcConv", convolution),
    ("NhwcFusedConv", convolution),
    ("NhwcMaxPool", max_pool),
    ("SkipGroupNorm", skip_group_normalization),
];

/// Moves the channels from behind the other dimensions to before them.
pub(super) fn channels_first(node: &mut Node<'_, '_>, x: ValueId) -> Imported<ValueId> {
    let rank = node.rank(x)? as i64;
    let order: Vec<i64> = [0, rank - 1].into_iter().chain(1..rank - 1).collect();
    node.transpose(x, &order)
}

/// Moves the channels from before the other dimensions to behind them.
pub(super) fn channels_last(node: &mut Node<'_, '_>, x: ValueId) -> Imported<ValueId> {
    let rank = node.rank(x)? as i64;
    let order: Vec<i64> = [0].into_iter().chain(2..rank).chain([1]).collect();
    node.transpose(x, &order)
}

/// A convolution, plus a residual, with an activation. The filter has its channels first.
fn convolution(node: &mut Node<'_, '_>) -> Imported {
    let x = channels_first(node, node.input(0)?)?;
    let residual = node.optional(3).map(|residual| channels_first(node, residual)).transpose()?;
    let y = fused::convolve(node, x, residual)?;
    Ok(vec![channels_last(node, y)?])
}

fn max_pool(node: &mut Node<'_, '_>) -> Imported {
    let x = channels_first(node, node.input(0)?)?;
    let y = node.standard_alike("MaxPool", &[Some(x)])?;
    Ok(vec![channels_last(node, y)?])
}

fn group_normalization(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    Ok(vec![normalized(node, x)?])
}

/// Normalizes the sum of the input, of another one or one for each channel, and of a bias. The
/// second output is the sum.
fn skip_group_normalization(node: &mut Node<'_, '_>) -> Imported {
    let is_last = node.int_or("channels_last", 1)? != 0;
    let last = |node: &mut Node<'_, '_>, x| if is_last { Ok(x) } else { channels_last(node, x) };
    let mut sum = last(node, node.input(0)?)?;
    let mut skip = node.input(3)?;
    if node.rank(skip)? == 2 {
        for _ in 0..2 {
            let axis = node.add_integer(1)?;
            skip = node.op("tf.ExpandDims", &[skip, axis], &[])?;
        }
    } else {
        skip = last(node, skip)?;
    }
    for summand in [Some(skip), node.optional(4)].into_iter().flatten() {
        sum = node.op("tf.AddV2", &[sum, summand], &[])?;
    }
    if !is_last {
        sum = channels_first(node, sum)?;
    }
    Ok(vec![normalized(node, sum)?, sum])
}

/// Normalizes groups of channels, each channel with a scale and an offset.
fn normalized(node: &mut Node<'_, '_>, x: ValueId) -> Imported<ValueId> {
    let is_last = node.int_or("channels_last", 1)? != 0;
    let dtype = node.dtype(x)?;
    let [scale, offset] = [node.input(1)?, node.input(2)?].map(|factor| node.cast(factor, dtype));
    let attributes = vec![
        int("num_groups", node.int("groups")?.ok_or("attribute 'groups' is missing")?),
        float("epsilon", node.float_or("epsilon", 1e-5)?),
    ];
    let x = if is_last { channels_first(node, x)? } else { x };
    let inputs = [Some(x), Some(scale?), Some(offset?)];
    let mut y = node.standard("GroupNormalization", &inputs, attributes, 1)?[0];
    match node.int_or("activation", 0)? {
        0 => {}
        1 => y = node.standard("Swish", &[Some(y)], Vec::new(), 1)?[0],
        other => return Err(format!("attribute 'activation' must be 0 or 1, and is {other}").into()),
    }
    if is_last { channels_last(node, y) } else { Ok(y) }
}

fn crop_and_resize(node: &mut Node<'_, '_>) -> Imported {
    let x = channels_last(node, node.input(0)?)?;
    let dtype = tfrt_host::DType::I32;
    let [images, size] = [node.input(2)?, node.input(3)?].map(|x| node.cast(x, dtype));
    let attributes = [
        ("method", Attribute::string(node.string_or("mode", "bilinear")?)),
        ("extrapolation_value", Attribute::f32(node.float_or("extrapolation_value", 0.0)?)),
    ];
    let boxes = node.input(1)?;
    let y = node.op("tf.CropAndResize", &[x, boxes, images?, size?], &attributes)?;
    Ok(vec![channels_first(node, y)?])
}
