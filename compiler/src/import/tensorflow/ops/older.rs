//! Ops of older versions of TensorFlow that a newer op replaces, and others that a few ops make.

use tfrt_host::DType;
use tfrt_ir::Attribute;

use super::{
    Family, find,
    sparse::{column, gather, places_of},
    volumes::spatial,
};
use crate::import::tensorflow::{
    node::{Imported, Node, ints, type_attribute},
    proto::Attr,
};

pub(super) const OPS: Family = &[
    ("BandedTriangularSolve", solve_band),
    ("BatchCholesky", |node| renamed(node, "tf.Cholesky")),
    ("BatchFFT", |node| as_op(node, "FFT")),
    ("BatchFFT2D", |node| as_op(node, "FFT2D")),
    ("BatchFFT3D", |node| as_op(node, "FFT3D")),
    ("BatchIFFT", |node| as_op(node, "IFFT")),
    ("BatchIFFT2D", |node| as_op(node, "IFFT2D")),
    ("BatchIFFT3D", |node| as_op(node, "IFFT3D")),
    ("BatchMatrixBandPart", |node| renamed(node, "tf.MatrixBandPart")),
    ("BatchMatrixDeterminant", |node| renamed(node, "tf.MatrixDeterminant")),
    ("BatchMatrixDiag", |node| renamed(node, "tf.MatrixDiag")),
    ("BatchMatrixDiagPart", |node| renamed(node, "tf.MatrixDiagPart")),
    ("BatchMatrixInverse", |node| renamed(node, "tf.MatrixInverse")),
    ("BatchMatrixSetDiag", |node| renamed(node, "tf.MatrixSetDiag")),
    ("BatchMatrixSolve", |node| renamed(node, "tf.MatrixSolve")),
    ("BatchMatrixTriangularSolve", |node| renamed(node, "tf.MatrixTriangularSolve")),
    ("BatchSelfAdjointEigV2", |node| renamed(node, "tf.SelfAdjointEigV2")),
    ("BatchSvd", |node| renamed(node, "tf.Svd")),
    ("ComputeAccidentalHits", accidental_hits),
    ("ExtractVolumePatches", volume_patches),
    ("SegmentMaxV2", |node| renamed(node, "tf.UnsortedSegmentMax")),
    ("SegmentMinV2", |node| renamed(node, "tf.UnsortedSegmentMin")),
    ("SegmentProdV2", |node| renamed(node, "tf.UnsortedSegmentProd")),
    ("SegmentSumV2", |node| renamed(node, "tf.UnsortedSegmentSum")),
    ("SpaceToBatch", space_to_batch),
    ("SparseReduceMaxSparse", |node| reduced(node, "tf.UnsortedSegmentMax")),
    ("SparseReduceSumSparse", |node| reduced(node, "tf.UnsortedSegmentSum")),
    ("TensorListConcatLists", |node| {
        let axis = node.builder().add_integer(0)?;
        let operands = [node.input(0)?, node.input(1)?, axis];
        Ok(vec![node.op("tf.ConcatV2", &operands, &[])?.into()])
    }),
    ("ToBool", truth),
];

/// The most elements of a window, each of which becomes a slice.
const MAX_WINDOW: i64 = 4096;

/// The op of another name with the same inputs, attributes and outputs.
fn renamed(node: &mut Node<'_, '_>, op: &str) -> Imported {
    let (operands, attributes) = (node.inputs_from(0)?, node.forwarded(op)?);
    let count = node.output_count();
    Ok(node.ops(op, &operands, &attributes, count)?.into_iter().map(Into::into).collect())
}

/// The node, imported as another op.
fn as_op(node: &mut Node<'_, '_>, op: &str) -> Imported {
    find(op).map_or_else(|| Err(super::unsupported(op).into()), |import| import(node))
}

/// A system whose matrix is given by its diagonals, of which the main one is the last or, below it,
/// the first.
fn solve_band(node: &mut Node<'_, '_>) -> Imported {
    let (mut bands, right) = (node.input(0)?, node.input(1)?);
    let count = node.ty(bands)?.dims.and_then(|dims| *dims.get(dims.len().checked_sub(2)?)?);
    let count = count.filter(|&count| count > 0).ok_or("the number of diagonals is not known")? as i64;
    let is_lower = !matches!(node.attr("lower"), Some(Attr::B(false)));
    if count == 1 {
        bands = node.op("tf.Squeeze", &[bands], &[("squeeze_dims", ints(&[-2]))])?;
    }
    let range = if is_lower { [1 - count, 0] } else { [0, count - 1] };
    let mut builder = node.builder();
    let range = builder.add_elements::<i32>(&[2], &range.map(|diagonal| diagonal as i32))?;
    let unknown = builder.add_number(DType::I32, -1.0)?;
    let zero = node.add_number_like(bands, 0.0)?;
    let align = [("align", Attribute::string("LEFT_RIGHT"))];
    let matrix = node.op("tf.MatrixDiagV3", &[bands, range, unknown, unknown, zero], &align)?;
    let attributes =
        [("lower", Attribute::Bool(is_lower)), ("adjoint", Attribute::Bool(node.flag("adjoint")?))];
    Ok(vec![node.op("tf.MatrixTriangularSolve", &[matrix, right], &attributes)?.into()])
}

/// Which samples are among the true classes of each example, with weights that rule them out.
fn accidental_hits(node: &mut Node<'_, '_>) -> Imported {
    let (classes, samples) = (node.input(0)?, node.input(1)?);
    let last = node.builder().add_integer(-1)?;
    let classes = node.op("tf.ExpandDims", &[classes, last], &[])?;
    let hits = node.op("tf.Equal", &[classes, samples], &[])?;
    let found = node.op("tf.Where", &[hits], &[])?;
    let mut columns = Vec::new();
    for number in [0, 2] {
        columns.push(column(node, found, number)?);
    }
    let examples = node.builder().cast(columns[0], DType::I32)?;
    let ones = node.op("tf.OnesLike", &[examples], &[])?;
    let ones = node.builder().cast(ones, DType::F32)?;
    let least = node.builder().add_number(DType::F32, f64::from(f32::MIN))?;
    let weights = node.op("tf.Mul", &[ones, least], &[])?;
    Ok(vec![examples.into(), columns[1].into(), weights.into()])
}

/// Windows of volumes, the elements of each behind each other: a slice for each element.
fn volume_patches(node: &mut Node<'_, '_>) -> Imported {
    let mut x = node.input(0)?;
    let extents = node.ty(x)?.dims.filter(|dims| dims.len() == 5);
    let extents = extents.ok_or("the input must have five dimensions")?;
    let (sizes, strides) = (spatial(node, "ksizes")?, spatial(node, "strides")?);
    let mut counts = sizes.iter().chain(&strides);
    if counts.any(|count| !(1..=MAX_WINDOW).contains(count)) || sizes.iter().product::<i64>() > MAX_WINDOW {
        return Err(format!("windows of {sizes:?} with strides {strides:?} are not supported").into());
    }
    let is_same = match node.string("padding")?.as_deref() {
        Some("SAME") => true,
        Some("VALID") => false,
        _ => return Err("attribute 'padding' is neither SAME nor VALID".into()),
    };
    let (mut pads, mut outputs) = (vec![0, 0], Vec::new());
    for axis in 0..3 {
        let extent = extents[axis + 1].ok_or("the extents of the volumes are not known")? as i64;
        let (size, stride) = (sizes[axis], strides[axis]);
        let output = if is_same { (extent + stride - 1) / stride } else { (extent - size) / stride + 1 };
        let missing = if is_same { ((output - 1) * stride + size - extent).max(0) } else { 0 };
        pads.extend([missing / 2, missing - missing / 2]);
        outputs.push(output.max(0));
    }
    pads.extend([0, 0]);
    if pads.iter().any(|&pad| pad > 0) {
        let pads = node.builder().add_elements::<i64>(&[5, 2], &pads)?;
        x = node.op("tf.Pad", &[x, pads], &[])?;
    }
    let mut parts = Vec::new();
    for place in 0..sizes.iter().product::<i64>() {
        let first = [place / (sizes[1] * sizes[2]), place / sizes[2] % sizes[1], place % sizes[2]];
        let end: Vec<i64> =
            (0..3).map(|axis| first[axis] + (outputs[axis] - 1) * strides[axis] + 1).collect();
        let mut builder = node.builder();
        let begin = builder.add_integers(&[0, first[0], first[1], first[2], 0])?;
        let end = builder.add_integers(&[0, end[0], end[1], end[2], 0])?;
        let steps = builder.add_integers(&[1, strides[0], strides[1], strides[2], 1])?;
        // The first and the last dimension are taken whole.
        let masks = [("begin_mask", Attribute::i64(0b10001)), ("end_mask", Attribute::i64(0b10001))];
        parts.push(node.op("tf.StridedSlice", &[x, begin, end, steps], &masks)?);
    }
    let axis = node.builder().add_integer(4)?;
    parts.push(axis);
    Ok(vec![node.op("tf.ConcatV2", &parts, &[])?.into()])
}

fn space_to_batch(node: &mut Node<'_, '_>) -> Imported {
    let (x, paddings) = (node.input(0)?, node.input(1)?);
    let block = node.int("block_size")?.ok_or("attribute 'block_size' is missing")?;
    let block = node.builder().add_integers(&[block, block])?;
    Ok(vec![node.op("tf.SpaceToBatchND", &[x, block, paddings], &[])?.into()])
}

/// The sums or greatest values along some axes, as a sparse tensor.
fn reduced(node: &mut Node<'_, '_>, op: &str) -> Imported {
    let [indices, values, shape, axes] = [node.input(0)?, node.input(1)?, node.input(2)?, node.input(3)?];
    let keep = [("keep_dims", Attribute::Bool(node.flag("keep_dims")?))];
    let groups = node.ops("tfrt.SparseGroups", &[indices, shape, axes], &keep, 3)?;
    let sums = node.op(op, &[values, groups[0], groups[1]], &[])?;
    let ones = node.op("tf.OnesLike", &[groups[0]], &[])?;
    let counts = node.op("tf.UnsortedSegmentSum", &[ones, groups[0], groups[1]], &[])?;
    let zero = node.builder().add_integer(0)?;
    let is_there = node.op("tf.Greater", &[counts, zero], &[])?;
    let places = places_of(node, is_there)?;
    let values = gather(node, sums, places)?;
    let is_there = node.op("tf.Reshape", &[is_there, groups[2]], &[])?;
    let indices = node.op("tf.Where", &[is_there], &[])?;
    let shape = node.builder().cast(groups[2], DType::I64)?;
    Ok(vec![indices.into(), values.into(), shape.into()])
}

/// A number is true if it is not zero, a text if it is not empty, and another tensor if it has
/// elements.
fn truth(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let ty = node.ty(x)?;
    let number = match ty.rank() {
        None => return Err("the rank of the input is not known".into()),
        Some(0) if ty.dtype == DType::I1 => return Ok(vec![x.into()]),
        Some(0) if ty.dtype == DType::String => node.op("tf.StringLength", &[x], &[])?,
        Some(0) => x,
        Some(_) => node.op("tf.Size", &[x], &[("out_type", type_attribute(DType::I64))])?,
    };
    let zero = node.add_number_like(number, 0.0)?;
    Ok(vec![node.op("tf.NotEqual", &[number, zero], &[])?.into()])
}
