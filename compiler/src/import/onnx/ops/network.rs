//! Convolution, pooling and what networks have besides.

use tfrt_ir::{Attribute, ValueId};

use super::Family;
use crate::import::onnx::node::{ImportError, Imported, Node, ints};

pub(super) const OPS: Family = &[
    ("AveragePool", average_pool),
    ("Conv", convolution),
    ("Dropout", dropout),
    ("GlobalAveragePool", |node| global_pool(node, "tf.Mean")),
    ("GlobalMaxPool", |node| global_pool(node, "tf.Max")),
    ("MaxPool", max_pool),
];

/// How a window moves over the spatial dimensions.
struct Window {
    kernel: Vec<i64>,
    strides: Vec<i64>,
    dilations: Vec<i64>,
    /// Before and after each dimension; `None` if they follow from the input's extents, as `SAME` has it.
    pads: Option<Vec<[i64; 2]>>,
    /// Whether what `SAME` cannot share evenly goes before.
    is_lower: bool,
}

impl Window {
    /// The window of a node, of a kernel that its attribute or its filter gives.
    fn new(node: &Node<'_, '_>, kernel: Vec<i64>) -> Imported<Self> {
        let rank = kernel.len();
        let list = |name: &str| -> Imported<Vec<i64>> {
            let list = node.ints(name)?.unwrap_or_else(|| vec![1; rank]);
            match list.len() == rank && list.iter().all(|&number| number > 0) {
                true => Ok(list),
                false => Err(ImportError(format!("attribute '{name}' must have {rank} positive numbers"))),
            }
        };
        let (strides, dilations) = (list("strides")?, list("dilations")?);
        let mode = node.string_or("auto_pad", "NOTSET")?;
        let pads = match mode.as_str() {
            "NOTSET" | "" => {
                let pads = node.ints("pads")?.unwrap_or_else(|| vec![0; 2 * rank]);
                if pads.len() != 2 * rank {
                    return Err(ImportError(format!("attribute 'pads' must have {} numbers", 2 * rank)));
                }
                Some((0..rank).map(|axis| [pads[axis], pads[axis + rank]]).collect())
            }
            "VALID" => Some(vec![[0, 0]; rank]),
            "SAME_UPPER" | "SAME_LOWER" => None,
            other => return Err(ImportError(format!("'{other}' is not a value of attribute 'auto_pad'"))),
        };
        Ok(Self { kernel, strides, dilations, pads, is_lower: mode == "SAME_LOWER" })
    }

    /// The padding for these spatial extents.
    fn padding(&self, extents: &[Option<u64>]) -> Imported<Vec<[i64; 2]>> {
        if let Some(pads) = &self.pads {
            return Ok(pads.clone());
        }
        let pad = |axis: usize| {
            let extent = extents.get(axis).copied().flatten().and_then(|extent| i64::try_from(extent).ok());
            let extent = extent.ok_or("auto_pad needs spatial dimensions that are known")?;
            let covered = (self.kernel[axis] - 1) * self.dilations[axis] + 1;
            let count = (extent + self.strides[axis] - 1) / self.strides[axis];
            let total = ((count - 1) * self.strides[axis] + covered - extent).max(0);
            let (less, more) = (total / 2, total - total / 2);
            Ok(if self.is_lower { [more, less] } else { [less, more] })
        };
        (0..self.kernel.len()).map(pad).collect()
    }

    /// The attributes of an `onnx.*` op with this window.
    fn onnx_attributes(&self, extents: &[Option<u64>]) -> Imported<Vec<(&'static str, Attribute)>> {
        let pads = self.padding(extents)?;
        let pads: Vec<i64> = pads.iter().map(|pad| pad[0]).chain(pads.iter().map(|pad| pad[1])).collect();
        Ok(vec![
            ("kernel_shape", ints(&self.kernel)),
            ("strides", ints(&self.strides)),
            ("dilations", ints(&self.dilations)),
            ("pads", ints(&pads)),
        ])
    }

    /// The attributes of TensorFlow's ops on images with the channels last.
    fn image_attributes(&self, extents: &[Option<u64>]) -> Imported<Vec<(&'static str, Attribute)>> {
        let four = |list: &[i64]| ints(&[1, list[0], list[1], 1]);
        let pads = self.padding(extents)?;
        let mut attributes = vec![("strides", four(&self.strides))];
        if pads.iter().all(|pad| *pad == [0, 0]) {
            attributes.push(("padding", Attribute::string("VALID")));
        } else {
            let [[top, bottom], [left, right]] = [pads[0], pads[1]];
            attributes.push(("padding", Attribute::string("EXPLICIT")));
            attributes.push(("explicit_paddings", ints(&[0, 0, top, bottom, left, right, 0, 0])));
        }
        Ok(attributes)
    }
}

/// From channels first to channels last.
const TO_LAST: [i64; 4] = [0, 2, 3, 1];
/// From channels last to channels first.
const TO_FIRST: [i64; 4] = [0, 3, 1, 2];

fn convolution(node: &mut Node<'_, '_>) -> Imported {
    let (x, filter, bias) = (node.input(0)?, node.input(1)?, node.optional(2));
    let (dims, filter_dims) = (node.dims(x)?, node.dims(filter)?);
    if dims.len() < 3 || dims.len() != filter_dims.len() {
        return Err(
            format!("input and filter have {} and {} dimensions", dims.len(), filter_dims.len()).into()
        );
    }
    let kernel = filter_dims[2..].iter().map(|dim| i64::try_from((*dim)?).ok()).collect::<Option<Vec<_>>>();
    let kernel = kernel.ok_or("the filter's shape is not known")?;
    let window = Window::new(node, kernel)?;
    let group = node.int_or("group", 1)?;
    match dims.len() {
        4 => Ok(vec![image_convolution(node, (x, filter, bias), &window, group)?]),
        3 => {
            // A row is an image of height one.
            let (x, filter) = (insert(node, x, 2)?, insert(node, filter, 2)?);
            let window = Window {
                kernel: vec![1, window.kernel[0]],
                strides: vec![1, window.strides[0]],
                dilations: vec![1, window.dilations[0]],
                pads: window.pads.map(|pads| vec![[0, 0], pads[0]]),
                ..window
            };
            let y = image_convolution(node, (x, filter, bias), &window, group)?;
            Ok(vec![node.op("tf.Squeeze", &[y], &[("squeeze_dims", ints(&[2]))])?])
        }
        _ => {
            let mut attributes = window.onnx_attributes(&dims[2..])?;
            attributes.push(("group", Attribute::i64(group)));
            node.onnx_ops("onnx.Conv", &[Some(x), Some(filter), bias], &attributes, 1)
        }
    }
}

fn insert(node: &mut Node<'_, '_>, x: ValueId, axis: i64) -> Imported<ValueId> {
    let axis = node.add_integer(axis)?;
    node.op("tf.ExpandDims", &[x, axis], &[])
}

/// A convolution of images, which TensorFlow has with the channels last.
fn image_convolution(
    node: &mut Node<'_, '_>,
    (x, filter, bias): (ValueId, ValueId, Option<ValueId>),
    window: &Window,
    group: i64,
) -> Imported<ValueId> {
    let dims = node.dims(x)?;
    let (channels, filter_dims) = (dims[1], node.dims(filter)?);
    if let (Some(channels), Some(depth)) = (channels, filter_dims[1])
        && Some(channels) != u64::try_from(group).ok().and_then(|group| group.checked_mul(depth))
    {
        let message =
            format!("{channels} channels do not suit a filter of {depth} channels in {group} groups");
        return Err(ImportError(message));
    }
    let mut attributes = window.image_attributes(&dims[2..])?;
    attributes.push(("dilations", ints(&[1, window.dilations[0], window.dilations[1], 1])));
    let x = node.transpose(x, &TO_LAST)?;
    let filter = node.transpose(filter, &[2, 3, 1, 0])?;
    let mut y = node.op("tf.Conv2D", &[x, filter], &attributes)?;
    if let Some(bias) = bias {
        y = node.op("tf.BiasAdd", &[y, bias], &[])?;
    }
    node.transpose(y, &TO_FIRST)
}

/// The kernel of a pooling node.
fn pooling_window(node: &Node<'_, '_>) -> Imported<Window> {
    Window::new(node, node.ints("kernel_shape")?.ok_or("attribute 'kernel_shape' is missing")?)
}

fn max_pool(node: &mut Node<'_, '_>) -> Imported {
    let (x, window) = (node.input(0)?, pooling_window(node)?);
    let dims = node.dims(x)?;
    let is_plain = !node.flag("ceil_mode")?
        && !node.has_output(1)
        && dims.len() == 4
        && window.dilations.iter().all(|&dilation| dilation == 1)
        && node.int_or("storage_order", 0)? == 0;
    if is_plain {
        return Ok(vec![image_pool(node, "tf.MaxPool", x, &window)?]);
    }
    let mut attributes = window.onnx_attributes(dims.get(2..).unwrap_or_default())?;
    attributes.push(("ceil_mode", Attribute::i64(node.int_or("ceil_mode", 0)?)));
    attributes.push(("storage_order", Attribute::i64(node.int_or("storage_order", 0)?)));
    let outputs = 1 + usize::from(node.has_output(1));
    node.onnx_ops("onnx.MaxPool", &[Some(x)], &attributes, outputs)
}

/// Pooling of images, which TensorFlow has with the channels last.
fn image_pool(node: &mut Node<'_, '_>, op: &str, x: ValueId, window: &Window) -> Imported<ValueId> {
    let dims = node.dims(x)?;
    let mut attributes = window.image_attributes(&dims[2..])?;
    attributes.push(("ksize", ints(&[1, window.kernel[0], window.kernel[1], 1])));
    let x = node.transpose(x, &TO_LAST)?;
    let y = node.op(op, &[x], &attributes)?;
    node.transpose(y, &TO_FIRST)
}

fn average_pool(node: &mut Node<'_, '_>) -> Imported {
    let (x, window) = (node.input(0)?, pooling_window(node)?);
    let dims = node.dims(x)?;
    let is_unpadded = window.pads.as_ref().is_some_and(|pads| pads.iter().all(|pad| *pad == [0, 0]))
        && !node.flag("ceil_mode")?;
    if is_unpadded && dims.len() == 4 && window.dilations.iter().all(|&dilation| dilation == 1) {
        return Ok(vec![image_pool(node, "tf.AvgPool", x, &window)?]);
    }
    let mut attributes = window.onnx_attributes(dims.get(2..).unwrap_or_default())?;
    for name in ["ceil_mode", "count_include_pad"] {
        attributes.push((name, Attribute::i64(node.int_or(name, 0)?)));
    }
    node.onnx_ops("onnx.AveragePool", &[Some(x)], &attributes, 1)
}

/// One number a channel, of all its pixels.
fn global_pool(node: &mut Node<'_, '_>, op: &str) -> Imported {
    let x = node.input(0)?;
    let axes: Vec<i64> = (2..node.rank(x)? as i64).collect();
    let axes = node.add_integers(&axes)?;
    Ok(vec![node.op(op, &[x, axes], &[("keep_dims", Attribute::Bool(true))])?])
}

/// Nothing is dropped when a model is run.
fn dropout(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    if node.opset >= 12
        && let Some(training) = node.optional(2)
        && is_true(node, training) != Some(false)
        && !has_zero_ratio(node)
    {
        return Err("dropout while training is not supported".into());
    }
    if !node.has_output(1) {
        return Ok(vec![x]);
    }
    let (shape, truth) = (super::shape::shape_of(node, x)?, node.builder().add_elements(&[], &[true])?);
    Ok(vec![x, node.op("tf.Fill", &[shape, truth], &[])?])
}

fn is_true(node: &mut Node<'_, '_>, value: ValueId) -> Option<bool> {
    let number = node.cast(value, tfrt_host::DType::I64).ok()?;
    Some(node.integers(number)?.first()? != &0)
}

fn has_zero_ratio(node: &mut Node<'_, '_>) -> bool {
    let Some(ratio) = node.optional(1) else { return false };
    let sign = node.op("tf.Sign", &[ratio], &[]).and_then(|sign| node.cast(sign, tfrt_host::DType::I64));
    sign.is_ok_and(|sign| node.integers(sign).as_deref() == Some(&[0]))
}
