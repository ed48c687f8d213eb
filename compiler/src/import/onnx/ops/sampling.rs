//! Ops that read images at positions that the model computes.

use tfrt_ir::Attribute;

use super::Family;
use crate::import::onnx::node::{Imported, Node};

pub(super) const OPS: Family = &[
    ("AffineGrid", affine_grid),
    ("DeformConv", deformable_convolution),
    ("GridSample", grid_sample),
    ("MaxRoiPool", max_roi_pool),
    ("RoiAlign", roi_align),
];

fn affine_grid(node: &mut Node<'_, '_>) -> Imported {
    let operands = [Some(node.input(0)?), Some(node.input(1)?)];
    let attributes = node.forwarded(&["align_corners"])?;
    node.onnx_ops("onnx.AffineGrid", &operands, &attributes, 1)
}

/// Up to operator set 19 the modes have the names of two dimensions.
fn grid_sample(node: &mut Node<'_, '_>) -> Imported {
    let operands = [Some(node.input(0)?), Some(node.input(1)?)];
    let mut attributes = node.forwarded(&["align_corners", "padding_mode"])?;
    let mode = node.string_or("mode", "linear")?;
    let mode = match mode.as_str() {
        "bilinear" => "linear",
        "bicubic" => "cubic",
        other => other,
    };
    attributes.push(("mode", Attribute::string(mode)));
    node.onnx_ops("onnx.GridSample", &operands, &attributes, 1)
}

/// Before operator set 16 the regions are not shifted by half a pixel.
fn roi_align(node: &mut Node<'_, '_>) -> Imported {
    let operands = [Some(node.input(0)?), Some(node.input(1)?), Some(node.input(2)?)];
    let mut attributes =
        node.forwarded(&["mode", "output_height", "output_width", "sampling_ratio", "spatial_scale"])?;
    let default = if node.opset < 16 { "output_half_pixel" } else { "half_pixel" };
    let mode = node.string_or("coordinate_transformation_mode", default)?;
    attributes.push(("coordinate_transformation_mode", Attribute::string(mode)));
    node.onnx_ops("onnx.RoiAlign", &operands, &attributes, 1)
}

fn max_roi_pool(node: &mut Node<'_, '_>) -> Imported {
    let operands = [Some(node.input(0)?), Some(node.input(1)?)];
    let attributes = node.forwarded(&["pooled_shape", "spatial_scale"])?;
    node.onnx_ops("onnx.MaxRoiPool", &operands, &attributes, 1)
}

fn deformable_convolution(node: &mut Node<'_, '_>) -> Imported {
    let operands: Vec<_> = (0..node.inputs.len()).map(|index| node.optional(index)).collect();
    let attributes =
        node.forwarded(&["dilations", "group", "kernel_shape", "offset_group", "pads", "strides"])?;
    node.onnx_ops("onnx.DeformConv", &operands, &attributes, 1)
}
