//! Convolutions.

use tfrt_ir::{Attribute, ValueId};

use super::{
    Family,
    dims::known_extent,
    window::{TO_FIRST, TO_LAST, Window, insert, remove},
};
use crate::import::onnx::node::{ImportError, Imported, Node};

pub(super) const OPS: Family = &[("Conv", convolution), ("ConvTranspose", transposed_convolution)];

fn convolution(node: &mut Node<'_, '_>) -> Imported {
    let (x, filter, bias) = (node.input(0)?, node.input(1)?, node.optional(2));
    let filter_dims = node.dims(filter)?;
    // The input has as many dimensions as the filter, which says more than some models do.
    node.refine(x, vec![None; filter_dims.len()])?;
    let dims = node.dims(x)?;
    if dims.len() < 3 || dims.len() != filter_dims.len() {
        return Err(
            format!("input and filter have {} and {} dimensions", dims.len(), filter_dims.len()).into()
        );
    }
    let kernel = filter_dims[2..].iter().map(|dim| i64::try_from((*dim)?).ok()).collect::<Option<Vec<_>>>();
    let window = Window::new(node, x, kernel.ok_or("the filter's shape is not known")?)?;
    let group = node.int_or("group", 1)?;
    if !window.is_for_images() {
        let mut attributes = window.onnx_attributes();
        attributes.push(("group", Attribute::i64(group)));
        return node.onnx_ops("onnx.Conv", &[Some(x), Some(filter), bias], &attributes, 1);
    }
    if dims.len() == 4 {
        return Ok(vec![image_convolution(node, (x, filter, bias), &window, group)?]);
    }
    Ok(vec![row_convolution(node, (x, filter, bias), window, group)?])
}

/// A convolution of rows, which are images of height one.
fn row_convolution(
    node: &mut Node<'_, '_>,
    (x, filter, bias): (ValueId, ValueId, Option<ValueId>),
    window: Window,
    group: i64,
) -> Imported<ValueId> {
    let (x, filter) = (insert(node, x, 2)?, insert(node, filter, 2)?);
    let y = image_convolution(node, (x, filter, bias), &window.of_rows(), group)?;
    remove(node, y, 2)
}

/// A convolution of rows under windows that lie inside them.
pub(super) fn convolve_rows(
    node: &mut Node<'_, '_>,
    (x, filter, bias): (ValueId, ValueId, Option<ValueId>),
    group: i64,
) -> Imported<ValueId> {
    let kernel = known_extent(node, filter, 2, "the filter's shape")?;
    let window = Window::new(node, x, vec![kernel])?;
    row_convolution(node, (x, filter, bias), window, group)
}

/// A convolution of images, which TensorFlow has with the channels last.
fn image_convolution(
    node: &mut Node<'_, '_>,
    (x, filter, bias): (ValueId, ValueId, Option<ValueId>),
    window: &Window,
    group: i64,
) -> Imported<ValueId> {
    let (channels, filter_dims) = (node.dims(x)?[1], node.dims(filter)?);
    if let (Some(channels), Some(depth)) = (channels, filter_dims[1])
        && Some(channels) != u64::try_from(group).ok().and_then(|group| group.checked_mul(depth))
    {
        let message =
            format!("{channels} channels do not suit a filter of {depth} channels in {group} groups");
        return Err(ImportError(message));
    }
    let mut attributes = window.image_attributes();
    attributes.push(("dilations", window.each(&window.dilations)));
    let x = node.transpose(x, &TO_LAST)?;
    let filter = node.transpose(filter, &[2, 3, 1, 0])?;
    let mut y = node.op("tf.Conv2D", &[x, filter], &attributes)?;
    if let Some(bias) = bias {
        y = node.op("tf.BiasAdd", &[y, bias], &[])?;
    }
    node.transpose(y, &TO_FIRST)
}

/// What the output's extents leave open is padding: it follows from `output_shape`, which may have
/// the batch and the channels in front.
fn transposed_convolution(node: &mut Node<'_, '_>) -> Imported {
    let operands = [Some(node.input(0)?), Some(node.input(1)?), node.optional(2)];
    let mut attributes = node.forwarded(&[
        "auto_pad",
        "dilations",
        "group",
        "kernel_shape",
        "output_padding",
        "output_shape",
        "pads",
        "strides",
    ])?;
    let spatial = node.rank(node.input(1)?)?.saturating_sub(2);
    if let Some(shape) = node.ints("output_shape")?
        && shape.len() > spatial
    {
        let shape = super::super::node::ints(&shape[shape.len() - spatial..]);
        attributes.retain(|(name, _)| *name != "output_shape");
        attributes.push(("output_shape", shape));
    }
    node.onnx_ops("onnx.ConvTranspose", &operands, &attributes, 1)
}
