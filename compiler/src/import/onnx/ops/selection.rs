//! Ops that choose, place and count elements.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::{Family, shape::extents, shape::shape_of};
use crate::import::onnx::node::{Imported, Node, ints};

pub(super) const OPS: Family = &[
    ("Compress", compress),
    ("EyeLike", eye_like),
    ("GatherElements", |node| along_axis(node, "onnx.GatherElements")),
    ("GatherND", gather_nd),
    ("NonMaxSuppression", non_max_suppression),
    ("NonZero", non_zero),
    ("OneHot", one_hot),
    ("ReverseSequence", reverse_sequence),
    ("Scatter", |node| along_axis(node, "onnx.ScatterElements")),
    ("ScatterElements", |node| along_axis(node, "onnx.ScatterElements")),
    ("ScatterND", scatter_nd),
    ("TensorScatter", tensor_scatter),
    ("Trilu", trilu),
    ("Unique", unique),
];

/// Attributes of a node that an op of the same meaning takes as they are.
fn axis_attribute(node: &Node<'_, '_>, default: i64) -> Imported<(&'static str, Attribute)> {
    Ok(("axis", Attribute::i64(node.int_or("axis", default)?)))
}

/// How elements of one place are combined, if the op has that.
fn reduction(node: &Node<'_, '_>) -> Imported<Vec<(&'static str, Attribute)>> {
    Ok(node.string("reduction")?.map(|name| ("reduction", Attribute::string(name))).into_iter().collect())
}

fn along_axis(node: &mut Node<'_, '_>, op: &str) -> Imported {
    let inputs = node.all_inputs()?;
    let mut attributes = reduction(node)?;
    attributes.push(axis_attribute(node, 0)?);
    Ok(vec![node.op(op, &inputs, &attributes)?])
}

fn gather_nd(node: &mut Node<'_, '_>) -> Imported {
    let inputs = [node.input(0)?, node.input(1)?];
    let batch = Attribute::i64(node.int_or("batch_dims", 0)?);
    Ok(vec![node.op("onnx.GatherND", &inputs, &[("batch_dims", batch)])?])
}

fn scatter_nd(node: &mut Node<'_, '_>) -> Imported {
    let inputs = [node.input(0)?, node.input(1)?, node.input(2)?];
    let attributes = reduction(node)?;
    Ok(vec![node.op("onnx.ScatterND", &inputs, &attributes)?])
}

fn tensor_scatter(node: &mut Node<'_, '_>) -> Imported {
    let operands = [Some(node.input(0)?), Some(node.input(1)?), node.optional(2)];
    let mode = Attribute::string(node.string_or("mode", "linear")?);
    let attributes = [axis_attribute(node, -2)?, ("mode", mode)];
    node.onnx_ops("onnx.TensorScatter", &operands, &attributes, 1)
}

fn compress(node: &mut Node<'_, '_>) -> Imported {
    let inputs = [node.input(0)?, node.input(1)?];
    let axis: Vec<_> = node.int("axis")?.map(|axis| ("axis", Attribute::i64(axis))).into_iter().collect();
    Ok(vec![node.op("onnx.Compress", &inputs, &axis)?])
}

/// Where elements are not zero, with a row for each dimension.
fn non_zero(node: &mut Node<'_, '_>) -> Imported {
    let mut x = node.input(0)?;
    if node.rank(x)? == 0 {
        x = node.reshape(x, &[1])?;
    }
    let places = node.op("tf.Where", &[x], &[])?;
    Ok(vec![node.transpose(places, &[1, 0])?])
}

fn one_hot(node: &mut Node<'_, '_>) -> Imported {
    let inputs = [node.input(0)?, node.input(1)?, node.input(2)?];
    let axis = axis_attribute(node, -1)?;
    Ok(vec![node.op("onnx.OneHot", &inputs, &[axis])?])
}

/// `0, 1, …` along a dimension of a matrix.
fn numbers_along(node: &mut Node<'_, '_>, shape: ValueId, axis: usize) -> Imported<ValueId> {
    let extent = extents(node, shape, axis, axis + 1)?;
    let extent = node.reshape(extent, &[])?;
    let (zero, one) = (node.add_integer(0)?, node.add_integer(1)?);
    node.op("tf.Range", &[zero, extent, one], &[])
}

fn eye_like(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    if node.rank(x)? != 2 {
        return Err("the input is not a matrix".into());
    }
    let dtype = match node.dtype_attribute("dtype")? {
        Some(dtype) => dtype,
        None => node.dtype(x)?,
    };
    let shape = shape_of(node, x)?;
    let (rows, columns) = (numbers_along(node, shape, 0)?, numbers_along(node, shape, 1)?);
    let rows = node.reshape(rows, &[-1, 1])?;
    let diagonal = node.add_integer(node.int_or("k", 0)?)?;
    let rows = node.op("tf.AddV2", &[rows, diagonal], &[])?;
    let is_diagonal = node.op("tf.Equal", &[rows, columns], &[])?;
    Ok(vec![node.cast(is_diagonal, dtype)?])
}

fn trilu(node: &mut Node<'_, '_>) -> Imported {
    let operands = [Some(node.input(0)?), node.optional(1)];
    let upper = Attribute::i64(node.int_or("upper", 1)?);
    node.onnx_ops("onnx.Trilu", &operands, &[("upper", upper)], 1)
}

fn unique(node: &mut Node<'_, '_>) -> Imported {
    let (x, count) = (node.input(0)?, node.output_count().clamp(1, 4));
    let mut attributes = vec![
        ("sorted", Attribute::i64(node.int_or("sorted", 1)?)),
        ("result_segment_sizes", ints(&vec![1; count])),
    ];
    if let Some(axis) = node.int("axis")? {
        attributes.push(("axis", Attribute::i64(axis)));
    }
    node.ops("onnx.Unique", &[x], &attributes, count)
}

fn reverse_sequence(node: &mut Node<'_, '_>) -> Imported {
    let inputs = [node.input(0)?, node.input(1)?];
    let attributes = [
        ("seq_dim", Attribute::i64(node.int_or("time_axis", 0)?)),
        ("batch_dim", Attribute::i64(node.int_or("batch_axis", 1)?)),
    ];
    Ok(vec![node.op("tf.ReverseSequence", &inputs, &attributes)?])
}

fn non_max_suppression(node: &mut Node<'_, '_>) -> Imported {
    let mut operands = vec![Some(node.input(0)?), Some(node.input(1)?)];
    for index in 2..5 {
        // A tensor without elements is an absent input.
        let given = node.optional(index);
        operands.push(match given {
            Some(value) if node.ty(value)?.static_dims().is_some_and(|dims| dims.contains(&0)) => None,
            given => given,
        });
    }
    // Scores of other types are compared as f32, as boxes are.
    for operand in operands[..2].iter_mut().flatten() {
        *operand = node.cast(*operand, DType::F32)?;
    }
    let center = Attribute::i64(node.int_or("center_point_box", 0)?);
    node.onnx_ops("onnx.NonMaxSuppression", &operands, &[("center_point_box", center)], 1)
}
