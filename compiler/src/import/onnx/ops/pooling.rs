//! Pooling.

use tfrt_ir::{Attribute, ValueId};

use super::{
    Family,
    window::{TO_FIRST, TO_LAST, Window, insert, remove},
};
use crate::import::onnx::node::{Imported, Node};

pub(super) const OPS: Family = &[
    ("AveragePool", average_pool),
    ("GlobalAveragePool", |node| global_pool(node, "tf.Mean")),
    ("GlobalLpPool", global_lp_pool),
    ("GlobalMaxPool", |node| global_pool(node, "tf.Max")),
    ("LpPool", lp_pool),
    ("MaxPool", max_pool),
    ("MaxUnpool", max_unpool),
];

/// The window of a pooling node over an input.
fn pooling_window(node: &Node<'_, '_>, x: ValueId) -> Imported<Window> {
    let kernel = node.ints("kernel_shape")?.ok_or("attribute 'kernel_shape' is missing")?;
    let window = Window::new(node, x, kernel)?;
    window.check_fits(&node.dims(x)?[2..])?;
    Ok(window)
}

/// The window as TensorFlow's ops have it, if they can.
fn image_window(node: &Node<'_, '_>, x: ValueId, window: &Window) -> Imported<Option<Window>> {
    let window = window.rounded_down(&node.dims(x)?[2..]);
    Ok(window.filter(|window| window.is_for_images() && window.dilations.iter().all(|&step| step == 1)))
}

fn max_pool(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let window = pooling_window(node, x)?;
    if !node.has_output(1)
        && let Some(window) = image_window(node, x, &window)?
    {
        return Ok(vec![image_pool(node, "tf.MaxPool", x, window)?]);
    }
    let mut attributes = window.onnx_attributes();
    attributes.extend(node.forwarded(&["storage_order"])?);
    node.onnx_outputs("onnx.MaxPool", &[Some(x)], &attributes, 2)
}

/// Pooling of images or rows, which TensorFlow has with the channels last.
fn image_pool(node: &mut Node<'_, '_>, op: &str, x: ValueId, window: Window) -> Imported<ValueId> {
    if window.kernel.len() == 1 {
        // A row is an image of height one.
        let x = insert(node, x, 2)?;
        let y = image_pool(node, op, x, window.of_rows())?;
        return remove(node, y, 2);
    }
    let mut attributes = window.image_attributes();
    attributes.push(("ksize", window.each(&window.kernel)));
    let x = node.transpose(x, &TO_LAST)?;
    let y = node.op(op, &[x], &attributes)?;
    node.transpose(y, &TO_FIRST)
}

fn average_pool(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let window = pooling_window(node, x)?;
    // In TensorFlow, what is added around an image does not count.
    let padding_counts = node.flag("count_include_pad")?;
    if let Some(window) = image_window(node, x, &window)?
        && (window.is_unpadded() || !padding_counts)
    {
        return Ok(vec![image_pool(node, "tf.AvgPool", x, window)?]);
    }
    let mut attributes = window.onnx_attributes();
    attributes.extend(node.forwarded(&["count_include_pad"])?);
    node.onnx_ops("onnx.AveragePool", &[Some(x)], &attributes, 1)
}

fn lp_pool(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let mut attributes = pooling_window(node, x)?.onnx_attributes();
    attributes.extend(node.forwarded(&["p"])?);
    node.onnx_ops("onnx.LpPool", &[Some(x)], &attributes, 1)
}

/// One number for each channel, of all its pixels.
fn global_pool(node: &mut Node<'_, '_>, op: &str) -> Imported {
    let x = node.input(0)?;
    let axes: Vec<i64> = (2..node.rank(x)? as i64).collect();
    let axes = node.add_integers(&axes)?;
    Ok(vec![node.op(op, &[x, axes], &[("keep_dims", Attribute::Bool(true))])?])
}

fn global_lp_pool(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let attributes = node.forwarded(&["p"])?;
    node.onnx_ops("onnx.GlobalLpPool", &[Some(x)], &attributes, 1)
}

/// Puts elements where max pooling took them from.
fn max_unpool(node: &mut Node<'_, '_>) -> Imported {
    let operands = [Some(node.input(0)?), Some(node.input(1)?), node.optional(2)];
    let attributes = node.forwarded(&["kernel_shape", "pads", "strides"])?;
    node.onnx_ops("onnx.MaxUnpool", &operands, &attributes, 1)
}
