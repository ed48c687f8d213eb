//! Ops that do what other ops do, with other inputs or attributes.

use tfrt_host::DType;
use tfrt_ir::Attribute;

use super::{Family, signal::conjugated, sparse::gather, variables::with_slice};
use crate::import::tensorflow::{
    node::{Imported, Node, ints, type_attribute},
    proto::Attr,
};

pub(super) const OPS: Family = &[
    ("AccumulateNV2", |node| named(node, "tf.AddN")),
    ("ApproximateEqual", approximately_equal),
    ("BatchNormWithGlobalNormalization", normalize),
    ("BatchToSpace", batch_to_space),
    ("CheckNumericsV2", |node| Ok(vec![node.value(0)?.clone()])),
    ("ConjugateTranspose", conjugate_transpose),
    ("DataFormatDimMap", |node| permuted_format(node, true)),
    ("DataFormatVecPermute", |node| permuted_format(node, false)),
    ("FusedPadConv2D", |node| padded_convolution(node, false)),
    ("FusedResizeAndPadConv2D", |node| padded_convolution(node, true)),
    ("ImageProjectiveTransformV2", projective_transform),
    ("InplaceAdd", |node| changed_rows(node, "tf.TensorScatterAdd")),
    ("InplaceSub", |node| changed_rows(node, "tf.TensorScatterSub")),
    ("InplaceUpdate", |node| changed_rows(node, "tf.TensorScatterUpdate")),
    ("MirrorPadGrad", mirror_pad_gradient),
    ("NthElement", nth_element),
    ("Print", print),
    ("Reverse", reverse),
    ("ShapeN", shapes),
    ("TensorStridedSliceUpdate", |node| {
        let (whole, inputs) =
            (node.input(0)?, [node.input(1)?, node.input(2)?, node.input(3)?, node.input(4)?]);
        Ok(vec![with_slice(node, whole, inputs)?.into()])
    }),
    ("TopK", top),
    ("TridiagonalMatMul", tridiagonal_product),
    ("Unique", |node| unique(node, false)),
    ("UniqueV2", |node| unique(node, false)),
    ("UniqueWithCounts", |node| unique(node, true)),
    ("UniqueWithCountsV2", |node| unique(node, true)),
];

/// The op of another name with the same inputs and attributes.
fn named(node: &mut Node<'_, '_>, op: &str) -> Imported {
    let (operands, attributes) = (node.inputs_from(0)?, node.forwarded(op)?);
    Ok(vec![node.op(op, &operands, &attributes)?.into()])
}

fn approximately_equal(node: &mut Node<'_, '_>) -> Imported {
    let tolerance = match node.attr("tolerance") {
        Some(Attr::F(tolerance)) => f64::from(*tolerance),
        _ => 1e-5,
    };
    let (x, y) = (node.input(0)?, node.input(1)?);
    let difference = node.op("tf.Sub", &[x, y], &[])?;
    let difference = node.op("tf.Abs", &[difference], &[])?;
    let tolerance = node.add_number_like(difference, tolerance)?;
    Ok(vec![node.op("tf.Less", &[difference, tolerance], &[])?.into()])
}

/// Batch normalization with the variance as it is.
fn normalize(node: &mut Node<'_, '_>) -> Imported {
    let [x, mean, variance, beta] = [node.input(0)?, node.input(1)?, node.input(2)?, node.input(3)?];
    let epsilon = match node.attr("variance_epsilon") {
        Some(Attr::F(epsilon)) => f64::from(*epsilon),
        _ => return Err("attribute 'variance_epsilon' is missing".into()),
    };
    let epsilon = node.add_number_like(variance, epsilon)?;
    let sum = node.op("tf.AddV2", &[variance, epsilon], &[])?;
    let mut factor = node.op("tf.Rsqrt", &[sum], &[])?;
    if node.flag("scale_after_normalization")? {
        let gamma = node.input(4)?;
        factor = node.op("tf.Mul", &[factor, gamma], &[])?;
    }
    let shift = node.op("tf.Mul", &[mean, factor], &[])?;
    let shift = node.op("tf.Sub", &[beta, shift], &[])?;
    let scaled = node.op("tf.Mul", &[x, factor], &[])?;
    Ok(vec![node.op("tf.AddV2", &[scaled, shift], &[])?.into()])
}

fn batch_to_space(node: &mut Node<'_, '_>) -> Imported {
    let (x, crops) = (node.input(0)?, node.input(1)?);
    let block = node.int("block_size")?.ok_or("attribute 'block_size' is missing")?;
    let block = node.builder().add_integers(&[block, block])?;
    Ok(vec![node.op("tf.BatchToSpaceND", &[x, block, crops], &[])?.into()])
}

fn conjugate_transpose(node: &mut Node<'_, '_>) -> Imported {
    let (x, order) = (node.input(0)?, node.input(1)?);
    let x = conjugated(node, x)?;
    Ok(vec![node.op("tf.Transpose", &[x, order], &[])?.into()])
}

/// A vector over the dimensions of one image format in the order of another, or the numbers of
/// dimensions there.
fn permuted_format(node: &mut Node<'_, '_>, is_number: bool) -> Imported {
    let from = node.string("src_format")?.unwrap_or_else(|| "NHWC".to_owned());
    let to = node.string("dst_format")?.unwrap_or_else(|| "NCHW".to_owned());
    let place = |letters: &str, letter: char| letters.chars().position(|other| other == letter);
    let (of, among) = if is_number { (&from, &to) } else { (&to, &from) };
    let places: Option<Vec<i64>> =
        of.chars().map(|letter| place(among, letter).map(|at| at as i64)).collect();
    let places = places.ok_or_else(|| format!("formats {from} and {to} do not have the same dimensions"))?;
    let x = node.input(0)?;
    if is_number {
        let count = node.add_number_like(x, places.len() as f64)?;
        let x = node.op("tf.FloorMod", &[x, count], &[])?;
        let dtype = node.dtype(x)?;
        let table = node.builder().add_integers(&places)?;
        let table = node.builder().cast(table, dtype)?;
        return Ok(vec![gather(node, table, x)?.into()]);
    }
    let is_spatial = node.ty(x)?.dims.and_then(|dims| *dims.first()?) == Some(places.len() as u64 - 2);
    let spatial =
        |letters: &str| letters.chars().filter(|letter| !"NC".contains(*letter)).collect::<String>();
    if is_spatial {
        // The sizes of an image keep their order among each other.
        return match spatial(&from) == spatial(&to) {
            true => Ok(vec![x.into()]),
            false => Err(format!("formats {from} and {to} order the image's dimensions differently").into()),
        };
    }
    let order = node.builder().add_integers(&places)?;
    Ok(vec![gather(node, x, order)?.into()])
}

/// A convolution of an image that is mirrored at its borders, after it was given another size.
fn padded_convolution(node: &mut Node<'_, '_>, resizes: bool) -> Imported {
    let mut x = node.input(0)?;
    let next = if resizes { 2 } else { 1 };
    if resizes {
        let size = node.input(1)?;
        let align = [("align_corners", Attribute::Bool(node.flag("resize_align_corners")?))];
        x = node.op("tf.ResizeBilinear", &[x, size], &align)?;
    }
    let (paddings, filter) = (node.input(next)?, node.input(next + 1)?);
    let mode = node.string("mode")?.unwrap_or_else(|| "REFLECT".to_owned());
    x = node.op("tf.MirrorPad", &[x, paddings], &[("mode", Attribute::string(mode))])?;
    let attributes = node.forwarded("tf.Conv2D")?;
    Ok(vec![node.op("tf.Conv2D", &[x, filter], &attributes)?.into()])
}

/// The form that this op had before it took a number for places outside of the image.
fn projective_transform(node: &mut Node<'_, '_>) -> Imported {
    let mut operands = node.inputs_from(0)?;
    operands.push(node.builder().add_number(DType::F32, 0.0)?);
    let attributes = node.forwarded("tf.ImageProjectiveTransformV3")?;
    Ok(vec![node.op("tf.ImageProjectiveTransformV3", &operands, &attributes)?.into()])
}

fn changed_rows(node: &mut Node<'_, '_>, op: &str) -> Imported {
    let (x, places, rows) = (node.input(0)?, node.input(1)?, node.input(2)?);
    let last = node.builder().add_integer(-1)?;
    let places = node.op("tf.ExpandDims", &[places, last], &[])?;
    Ok(vec![node.op(op, &[x, places, rows], &[])?.into()])
}

/// The sums of gradients over all places that mirror an element.
fn mirror_pad_gradient(node: &mut Node<'_, '_>) -> Imported {
    let (gradient, paddings) = (node.input(0)?, node.input(1)?);
    let mode = [("mode", Attribute::string(node.string("mode")?.unwrap_or_default()))];
    let wide = [("out_type", type_attribute(DType::I64))];
    let mut builder = node.builder();
    let (zero, one) = (builder.add_integer(0)?, builder.add_integer(1)?);
    let (flat, columns) = (builder.add_integers(&[-1])?, builder.add_integers(&[1])?);
    let added = builder.cast(paddings, DType::I64)?;
    let added = node.op("tf.Sum", &[added, columns], &[("keep_dims", Attribute::Bool(false))])?;
    let shape = node.op("tf.Shape", &[gradient], &wide)?;
    let shape = node.op("tf.Sub", &[shape, added], &[])?;
    let axes = node.builder().add_integers(&[0])?;
    let count = node.op("tf.Prod", &[shape, axes], &[("keep_dims", Attribute::Bool(false))])?;
    let places = node.op("tf.Range", &[zero, count, one], &[])?;
    let places = node.op("tf.Reshape", &[places, shape], &[])?;
    let places = node.op("tf.MirrorPad", &[places, paddings], &mode)?;
    let places = node.op("tf.Reshape", &[places, flat], &[])?;
    let gradient = node.op("tf.Reshape", &[gradient, flat], &[])?;
    let sums = node.op("tf.UnsortedSegmentSum", &[gradient, places, count], &[])?;
    Ok(vec![node.op("tf.Reshape", &[sums, shape], &[])?.into()])
}

/// The elements at a place of each row in its order.
fn nth_element(node: &mut Node<'_, '_>) -> Imported {
    let (x, n) = (node.input(0)?, node.input(1)?);
    let rank = node.ty(x)?.rank().ok_or("the rank of the input is not known")? as i64;
    let shape = node.op("tf.Shape", &[x], &[])?;
    let mut builder = node.builder();
    let (number, axis) = (builder.add_integer(rank - 1)?, builder.add_integer(-1)?);
    let mut place = builder.cast(n, DType::I32)?;
    let extent = gather(node, shape, number)?;
    let index = [("index_type", type_attribute(DType::I32))];
    let sorted = node.ops("tf.TopKV2", &[x, extent], &index, 2)?[0];
    if !node.flag("reverse")? {
        let one = node.builder().add_number(DType::I32, 1.0)?;
        let end = node.op("tf.Sub", &[extent, one], &[])?;
        place = node.op("tf.Sub", &[end, place], &[])?;
    }
    Ok(vec![node.op("tf.GatherV2", &[sorted, place, axis], &[])?.into()])
}

/// The op gives its first input.
fn print(node: &mut Node<'_, '_>) -> Imported {
    node.importer.warn("the model's prints are left out");
    Ok(vec![node.value(0)?.clone()])
}

/// The dimensions are truth values.
fn reverse(node: &mut Node<'_, '_>) -> Imported {
    let (x, dims) = (node.input(0)?, node.input(1)?);
    let dims = node.builder().cast(dims, DType::I64)?;
    let dims = node.integers(dims).ok_or("the dimensions to reverse are not known")?;
    let axes: Vec<i64> = (0..dims.len() as i64).filter(|&axis| dims[axis as usize] != 0).collect();
    let axes = node.builder().add_integers(&axes)?;
    Ok(vec![node.op("tf.ReverseV2", &[x, axes], &[])?.into()])
}

/// The shape of each input. As results of their own ops, elements are known one by one.
fn shapes(node: &mut Node<'_, '_>) -> Imported {
    let dtype = node.type_attr("out_type")?.unwrap_or(DType::I32);
    let inputs = node.inputs_from(0)?;
    let shape = |input| Ok(node.op("tf.Shape", &[input], &[("out_type", type_attribute(dtype))])?.into());
    inputs.into_iter().map(shape).collect()
}

/// How many elements are wanted is an attribute.
fn top(node: &mut Node<'_, '_>) -> Imported {
    let (x, k) = (node.input(0)?, node.int("k")?.ok_or("attribute 'k' is missing")?);
    let k = node.builder().add_number(DType::I32, k as f64)?;
    let attributes = node.forwarded("tf.TopKV2")?;
    Ok(node.ops("tf.TopKV2", &[x, k], &attributes, 2)?.into_iter().map(Into::into).collect())
}

/// Each diagonal times the rows that it meets: the row below, the same row and the row above.
/// Rolling brings rows from the other end, whose factors TensorFlow does not look at.
fn tridiagonal_product(node: &mut Node<'_, '_>) -> Imported {
    let right = node.input(3)?;
    let rank =
        node.ty(right)?.rank().filter(|&rank| rank >= 2).ok_or("the rank of an input is not known")? as i64;
    let order: Vec<i64> = (0..rank - 2).chain([rank - 1, rank - 2]).collect();
    let order = node.builder().add_integers(&order)?;
    let extents = node.op("tf.Shape", &[right], &[("out_type", type_attribute(DType::I64))])?;
    let number = node.builder().add_integer(rank - 2)?;
    let count = gather(node, extents, number)?;
    let (zero, one) = (node.builder().add_integer(0)?, node.builder().add_integer(1)?);
    let last = node.op("tf.Sub", &[count, one], &[])?;
    let numbers = node.op("tf.Range", &[zero, count, one], &[])?;
    let mut terms = Vec::new();
    for (input, by, outside) in [(0, -1.0, Some(last)), (1, 0.0, None), (2, 1.0, Some(zero))] {
        let mut diagonal = node.input(input)?;
        if let Some(outside) = outside {
            let is_inside = node.op("tf.NotEqual", &[numbers, outside], &[])?;
            let nothing = node.op("tf.ZerosLike", &[diagonal], &[])?;
            diagonal = node.op("tf.SelectV2", &[is_inside, diagonal, nothing], &[])?;
        }
        let factors = node.op("tf.Transpose", &[diagonal, order], &[])?;
        let mut builder = node.builder();
        let (by, axis) = (builder.add_number(DType::I32, by)?, builder.add_number(DType::I32, -2.0)?);
        let rows = node.op("tf.Roll", &[right, by, axis], &[])?;
        terms.push(node.op("tf.Mul", &[factors, rows], &[])?);
    }
    Ok(vec![node.op("tf.AddN", &terms, &[])?.into()])
}

/// The different elements, or slices along an axis, in the order in which they come.
fn unique(node: &mut Node<'_, '_>, has_counts: bool) -> Imported {
    let x = node.input(0)?;
    let index = node.type_attr("out_idx")?.unwrap_or(DType::I32);
    let segments = [1, 0, 1, i64::from(has_counts)];
    let mut attributes = vec![("sorted", Attribute::i64(0)), ("result_segment_sizes", ints(&segments))];
    if node.inputs.len() > 1 {
        let axis = node.input(1)?;
        let axis = node.integers(axis).ok_or("the axis is not known")?;
        attributes.extend(axis.first().map(|&axis| ("axis", Attribute::i64(axis))));
    }
    let results = node.ops("onnx.Unique", &[x], &attributes, 2 + usize::from(has_counts))?;
    let mut outputs = vec![results[0].into()];
    for &places in &results[1..] {
        outputs.push(node.builder().cast(places, index)?.into());
    }
    Ok(outputs)
}
