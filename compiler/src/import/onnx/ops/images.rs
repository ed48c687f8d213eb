//! Ops that pad, resize and rearrange images and other tensors.

use tfrt_ir::{Attribute, ValueId};

use super::Family;
use crate::import::onnx::node::{ImportError, Imported, Node, ints};

pub(super) const OPS: Family = &[
    ("CenterCropPad", center_crop_pad),
    ("Col2Im", col2im),
    ("DepthToSpace", depth_to_space),
    ("Pad", pad),
    ("Resize", resize),
    ("SpaceToDepth", space_to_depth),
    ("Upsample", upsample),
];

/// Padding by the node's inputs; by its attributes before operator set 11.
fn pad(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let mode = node.string_or("mode", "constant")?;
    let (pads, constant, axes) = if node.opset < 11 {
        let pads = node.ints("pads")?.ok_or("attribute 'pads' is missing")?;
        let constant = match node.float("value")? {
            Some(value) => Some(node.add_number_like(x, value.into())?),
            None => None,
        };
        (node.add_integers(&pads)?, constant, None)
    } else {
        let constant = match node.optional(2) {
            Some(constant) => {
                let dtype = node.dtype(x)?;
                let constant = node.cast(constant, dtype)?;
                if node.ty(constant)?.static_dims().is_some_and(|dims| dims.contains(&0)) {
                    None
                } else {
                    Some(node.reshape(constant, &[])?)
                }
            }
            None => None,
        };
        (node.input(1)?, constant, node.optional(3))
    };
    if let Some(around) = known_padding(node, x, pads, axes)? {
        if around.iter().all(|pad| *pad == [0, 0]) {
            return Ok(vec![x]);
        }
        if let Some(padded) = plain_padding(node, x, &mode, &around, constant)? {
            return Ok(vec![padded]);
        }
    }
    node.onnx_ops("onnx.Pad", &[Some(x), Some(pads), constant, axes], &[("mode", Attribute::string(mode))], 1)
}

/// The padding before and after each dimension, if it is known.
fn known_padding(
    node: &mut Node<'_, '_>,
    x: ValueId,
    pads: ValueId,
    axes: Option<ValueId>,
) -> Imported<Option<Vec<[i64; 2]>>> {
    let (Some(pads), Some(rank)) = (node.integers(pads), node.ty(x)?.rank()) else { return Ok(None) };
    let axes = match axes {
        Some(axes) => match node.integers(axes) {
            Some(axes) => axes,
            None => return Ok(None),
        },
        None => (0..rank as i64).collect(),
    };
    if pads.len() != 2 * axes.len() {
        return Err(ImportError(format!("{} pads are given for {} axes", pads.len(), axes.len())));
    }
    let mut around = vec![[0; 2]; rank];
    for (index, &axis) in axes.iter().enumerate() {
        around[node.axis(axis, rank)?] = [pads[index], pads[index + axes.len()]];
    }
    Ok(Some(around))
}

/// Padding as TensorFlow has it: no cropping, and reflections within the tensor.
fn plain_padding(
    node: &mut Node<'_, '_>,
    x: ValueId,
    mode: &str,
    around: &[[i64; 2]],
    constant: Option<ValueId>,
) -> Imported<Option<ValueId>> {
    if around.iter().flatten().any(|&pad| pad < 0) {
        return Ok(None);
    }
    let dims = node.dims(x)?;
    let is_within = |(dim, pads): (&Option<u64>, &[i64; 2])| {
        dim.is_some_and(|dim| pads.iter().all(|pad| pad.unsigned_abs() < dim))
    };
    let flat: Vec<i64> = around.iter().flatten().copied().collect();
    let paddings = node.builder().add_elements(&[around.len(), 2], &flat)?;
    match mode {
        "constant" => {
            let constant = match constant {
                Some(constant) => constant,
                None => node.add_number_like(x, 0.0)?,
            };
            Ok(Some(node.op("tf.PadV2", &[x, paddings, constant], &[])?))
        }
        "reflect" if dims.iter().zip(around).all(is_within) => {
            let mode = [("mode", Attribute::string("REFLECT"))];
            Ok(Some(node.op("tf.MirrorPad", &[x, paddings], &mode)?))
        }
        _ => Ok(None),
    }
}

/// An input unless it is absent or has no elements.
fn elements(node: &Node<'_, '_>, index: usize) -> Imported<Option<ValueId>> {
    let Some(value) = node.optional(index) else { return Ok(None) };
    let is_empty = node.ty(value)?.static_dims().is_some_and(|dims| dims.contains(&0));
    Ok(if is_empty { None } else { Some(value) })
}

fn resize(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    if node.opset < 11 {
        let scales = node.input(1)?;
        return resize_asymmetric(node, x, scales);
    }
    let mut attributes = Vec::new();
    for name in ["antialias", "exclude_outside"] {
        attributes.extend(node.int(name)?.map(|value| (name, Attribute::i64(value))));
    }
    for name in ["cubic_coeff_a", "extrapolation_value"] {
        attributes.extend(node.float(name)?.map(|value| (name, Attribute::f32(value))));
    }
    for name in ["coordinate_transformation_mode", "keep_aspect_ratio_policy", "mode", "nearest_mode"] {
        attributes.extend(node.string(name)?.map(|value| (name, Attribute::string(value))));
    }
    attributes.extend(node.ints("axes")?.map(|axes| ("axes", ints(&axes))));
    let operands = [Some(x), elements(node, 1)?, elements(node, 2)?, elements(node, 3)?];
    node.onnx_ops("onnx.Resize", &operands, &attributes, 1)
}

/// As the op was before operator set 11.
fn resize_asymmetric(node: &mut Node<'_, '_>, x: ValueId, scales: ValueId) -> Imported {
    let attributes = [
        ("coordinate_transformation_mode", Attribute::string("asymmetric")),
        ("mode", Attribute::string(node.string_or("mode", "nearest")?)),
        ("nearest_mode", Attribute::string("floor")),
    ];
    node.onnx_ops("onnx.Resize", &[Some(x), None, Some(scales)], &attributes, 1)
}

/// Scales are an attribute before operator set 9, and an input since.
fn upsample(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let scales = match node.floats("scales")? {
        Some(scales) => node.builder().add_elements(&[scales.len()], &scales)?,
        None => node.input(1)?,
    };
    resize_asymmetric(node, x, scales)
}

fn center_crop_pad(node: &mut Node<'_, '_>) -> Imported {
    let inputs = [node.input(0)?, node.input(1)?];
    let axes: Vec<_> = node.ints("axes")?.map(|axes| ("axes", ints(&axes))).into_iter().collect();
    Ok(vec![node.op("onnx.CenterCropPad", &inputs, &axes)?])
}

fn col2im(node: &mut Node<'_, '_>) -> Imported {
    let inputs = [node.input(0)?, node.input(1)?, node.input(2)?];
    let mut attributes = Vec::new();
    for name in ["dilations", "pads", "strides"] {
        attributes.extend(node.ints(name)?.map(|values| (name, ints(&values))));
    }
    Ok(vec![node.op("onnx.Col2Im", &inputs, &attributes)?])
}

/// An image's extents, each as far as it is known, and the size of the blocks.
fn blocks(node: &Node<'_, '_>, x: ValueId) -> Imported<([Option<i64>; 4], i64)> {
    let dims = node.dims(x)?;
    let &[batch, channels, height, width] = &dims[..] else {
        return Err(format!("the op takes 4 dimensions, got {}", dims.len()).into());
    };
    let block = node.int("blocksize")?.ok_or("attribute 'blocksize' is missing")?;
    if !(1..1 << 15).contains(&block) {
        return Err(format!("attribute 'blocksize' must be positive, got {block}").into());
    }
    let known = |dim: Option<u64>| dim.and_then(|dim| i64::try_from(dim).ok());
    Ok(([batch, channels, height, width].map(known), block))
}

/// Extents with -1 for one that is not known; `None` if there are several.
fn inferred(dims: &[Option<i64>]) -> Option<Vec<i64>> {
    let unknown_count = dims.iter().filter(|dim| dim.is_none()).count();
    (unknown_count <= 1).then(|| dims.iter().map(|dim| dim.unwrap_or(-1)).collect())
}

fn depth_to_space(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let ([batch, channels, height, width], block) = blocks(node, x)?;
    if block == 1 {
        return Ok(vec![x]);
    }
    let channels = channels.ok_or("the number of channels is not known")?;
    if channels % (block * block) != 0 {
        return Err(format!("{channels} channels do not divide into blocks of {block} x {block}").into());
    }
    let (depth, size) = (channels / (block * block), Some(block));
    let is_channel_first = match node.string_or("mode", "DCR")?.as_str() {
        "DCR" => false,
        "CRD" => true,
        other => return Err(format!("'{other}' is not a value of attribute 'mode'").into()),
    };
    let (split, order) = if is_channel_first {
        ([batch, Some(depth), size, size, height, width], [0, 1, 4, 2, 5, 3])
    } else {
        ([batch, size, size, Some(depth), height, width], [0, 3, 4, 1, 5, 2])
    };
    let times = |dim: Option<i64>| dim.and_then(|dim| dim.checked_mul(block));
    let merged = [batch, Some(depth), times(height), times(width)];
    if let (Some(split), Some(merged)) = (inferred(&split), inferred(&merged)) {
        let x = node.reshape(x, &split)?;
        let x = node.transpose(x, &order)?;
        return Ok(vec![node.reshape(x, &merged)?]);
    }
    let mut x = x;
    if is_channel_first {
        // Bring the channels of one place in a block together.
        let places = block * block;
        let order: Vec<i64> = (0..channels).map(|to| to % depth * places + to / depth).collect();
        let (order, axis) = (node.add_integers(&order)?, node.add_integer(1)?);
        x = node.op("tf.GatherV2", &[x, order, axis], &[])?;
    }
    Ok(vec![channels_last(node, "tf.DepthToSpace", x, block)?])
}

fn space_to_depth(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let ([batch, channels, height, width], block) = blocks(node, x)?;
    if block == 1 {
        return Ok(vec![x]);
    }
    let over = |dim: Option<i64>| match dim {
        Some(dim) if dim % block != 0 => {
            Err(ImportError(format!("an extent of {dim} does not divide into blocks of {block}")))
        }
        dim => Ok(dim.map(|dim| dim / block)),
    };
    let (rows, columns, size) = (over(height)?, over(width)?, Some(block));
    let split = [batch, channels, rows, size, columns, size];
    let depth = channels.and_then(|channels| channels.checked_mul(block * block));
    if let (Some(split), Some(merged)) = (inferred(&split), inferred(&[batch, depth, rows, columns])) {
        let x = node.reshape(x, &split)?;
        let x = node.transpose(x, &[0, 3, 5, 1, 2, 4])?;
        return Ok(vec![node.reshape(x, &merged)?]);
    }
    Ok(vec![channels_last(node, "tf.SpaceToDepth", x, block)?])
}

/// An op on images whose channels are the last dimension.
fn channels_last(node: &mut Node<'_, '_>, op: &str, x: ValueId, block: i64) -> Imported<ValueId> {
    let x = node.transpose(x, &[0, 2, 3, 1])?;
    let y = node.op(op, &[x], &[("block_size", Attribute::i64(block))])?;
    node.transpose(y, &[0, 3, 1, 2])
}
