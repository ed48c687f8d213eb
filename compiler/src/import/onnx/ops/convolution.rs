//! Convolutions.

use tfrt_ir::{Attribute, ValueId};

use super::{
    Family,
    dims::{Extent, known_extent, reshape},
    window::{Depth, TO_FIRST, TO_LAST, Window, insert, remove},
};
use crate::import::onnx::node::{ImportError, Imported, Node};

pub(super) const OPS: Family = &[("Conv", convolution), ("ConvTranspose", transposed_convolution)];

/// The fewest channels of a group of images that a convolution of volumes is worth turning into.
const MIN_STACKED_CHANNELS: i64 = 6;

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
    check_kernel(node, filter)?;
    let kernel = filter_dims[2..].iter().map(|dim| i64::try_from((*dim)?).ok()).collect::<Option<Vec<_>>>();
    let window = Window::new(node, x, kernel.ok_or("the filter's shape is not known")?)?;
    let group = node.int_or("group", 1)?;
    if let Some((depth, planes)) = window.split_depth() {
        let channels = known_extent(node, filter, 1, "the number of channels of the filter")?;
        // Groups of few channels are faster one plane after the other.
        if group == 1 || channels.saturating_mul(depth.kernel) >= MIN_STACKED_CHANNELS {
            return Ok(vec![volume_convolution(node, (x, filter, bias), (depth, planes), group)?]);
        }
    }
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

/// Checks that the attribute `kernel_shape` says what the filter's shape does.
fn check_kernel(node: &Node<'_, '_>, filter: ValueId) -> Imported<()> {
    let (Some(kernel), ty) = (node.ints("kernel_shape")?, node.ty(filter)?) else { return Ok(()) };
    let spatial = ty.dims.as_deref().and_then(|dims| dims.get(2..)).unwrap_or_default();
    let is_same =
        |(&dim, &extent): (&Option<u64>, &i64)| dim.is_none_or(|dim| i64::try_from(dim) == Ok(extent));
    match spatial.len() == kernel.len() && spatial.iter().zip(&kernel).all(is_same) {
        true => Ok(()),
        false => Err(ImportError(format!("attribute 'kernel_shape' is {kernel:?}, but the filter is {ty}"))),
    }
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

/// A convolution of volumes: one of images, whose channels are those of all planes of the volume
/// that a window sees at once.
fn volume_convolution(
    node: &mut Node<'_, '_>,
    (x, filter, bias): (ValueId, ValueId, Option<ValueId>),
    (depth, planes): (Depth, Window),
    group: i64,
) -> Imported<ValueId> {
    let channels = known_extent(node, filter, 1, "the number of channels of the filter")?;
    let stacked_channels = channels
        .checked_mul(depth.kernel)
        .filter(|channels| channels.checked_mul(group).is_some())
        .ok_or_else(|| ImportError("there are too many channels".to_owned()))?;
    let stacked = stacked_planes(node, x, [group, channels], &depth)?;
    let [height, width] = [3, 4].map(|axis| Extent::Of(x, axis));
    let images = [Extent::Number(-1), height, width, Extent::Number(stacked_channels * group)];
    let images = reshape(node, stacked, &images)?;

    let outputs = Extent::Of(filter, 0);
    let turned = node.transpose(filter, &[3, 4, 2, 1, 0])?;
    let [height, width] = [3, 4].map(|axis| Extent::Of(filter, axis));
    let turned = reshape(node, turned, &[height, width, Extent::Number(stacked_channels), outputs])?;

    let mut attributes = planes.image_attributes();
    attributes.push(("dilations", planes.each(&planes.dilations)));
    let mut y = node.op("tf.Conv2D", &[images, turned], &attributes)?;
    if let Some(bias) = bias {
        y = node.op("tf.BiasAdd", &[y, bias], &[])?;
    }
    let dims = [Extent::Of(x, 0), Extent::Of(stacked, 1), Extent::Of(y, 1), Extent::Of(y, 2), outputs];
    let y = reshape(node, y, &dims)?;
    node.transpose(y, &[0, 4, 1, 2, 3])
}

/// The planes that each plane of the result sees, one after the other along the channels, which are
/// the last dimension or, in groups, the last two. Each group has the planes of its channels.
fn stacked_planes(
    node: &mut Node<'_, '_>,
    x: ValueId,
    [group, channels]: [i64; 2],
    depth: &Depth,
) -> Imported<ValueId> {
    let reach = depth.kernel.checked_sub(1).and_then(|steps| steps.checked_mul(depth.dilation));
    let reach = reach.ok_or_else(|| ImportError("the window is too large".to_owned()))?;
    let extent = node.dims(x)?[2].and_then(|extent| i64::try_from(extent).ok());
    if let Some(extent) = extent.and_then(|extent| extent.checked_add(depth.pads[0] + depth.pads[1]))
        && extent <= reach
    {
        let message = format!("a window over {} planes does not fit {extent} padded ones", reach + 1);
        return Err(ImportError(message));
    }
    let mut volumes = node.transpose(x, &[0, 2, 3, 4, 1])?;
    if depth.pads != [0, 0] {
        let pads = [0, 0, depth.pads[0], depth.pads[1], 0, 0, 0, 0, 0, 0];
        let pads = node.builder().add_elements(&[5, 2], &pads)?;
        volumes = node.op("tf.Pad", &[volumes, pads], &[])?;
    }
    if group != 1 {
        let mut dims: Vec<_> = (0..4).map(|axis| Extent::Of(volumes, axis)).collect();
        dims.extend([group, channels].map(Extent::Number));
        volumes = reshape(node, volumes, &dims)?;
    }
    let mut planes = Vec::new();
    for plane in 0..depth.kernel {
        planes.push(every_plane(node, volumes, plane * depth.dilation, reach, depth.stride)?);
    }
    if let [only] = planes[..] {
        return Ok(only);
    }
    planes.push(node.add_integer(-1)?);
    node.op("tf.ConcatV2", &planes, &[])
}

/// The planes that one plane of a kernel meets: every `stride`-th one from `start`, and none in the
/// last `reach - start`.
fn every_plane(
    node: &mut Node<'_, '_>,
    volumes: ValueId,
    start: i64,
    reach: i64,
    stride: i64,
) -> Imported<ValueId> {
    let (begin, end) = (node.add_integers(&[0, start])?, node.add_integers(&[0, start - reach])?);
    let stride = node.add_integers(&[1, stride])?;
    let end_mask = if start == reach { 0b11 } else { 0b01 };
    let masks = [("begin_mask", Attribute::i64(0b01)), ("end_mask", Attribute::i64(end_mask))];
    node.op("tf.StridedSlice", &[volumes, begin, end, stride], &masks)
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
    check_kernel(node, node.input(1)?)?;
    if let Some(shape) = node.ints("output_shape")?
        && shape.len() > spatial
    {
        let shape = super::super::node::ints(&shape[shape.len() - spatial..]);
        attributes.retain(|(name, _)| *name != "output_shape");
        attributes.push(("output_shape", shape));
    }
    node.onnx_ops("onnx.ConvTranspose", &operands, &attributes, 1)
}
