//! Complex numbers, which are taken apart by their memory form, and Fourier transforms.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::Family;
use crate::import::tensorflow::node::{Imported, Node, type_attribute};

pub(super) const OPS: Family = &[
    ("Angle", angle),
    ("Complex", complex),
    ("ComplexAbs", magnitude),
    ("Conj", conjugate),
    ("FFT", |node| transform(node, 1, false)),
    ("FFT2D", |node| transform(node, 2, false)),
    ("IFFT", |node| transform(node, 1, true)),
    ("IFFT2D", |node| transform(node, 2, true)),
    ("Imag", |node| one_part(node, 1)),
    ("RFFT", real_transform),
    ("Real", |node| one_part(node, 0)),
];

/// The type of the parts of a complex number; `None` for other types.
fn part_type(dtype: DType) -> Option<DType> {
    match dtype {
        DType::Complex64 => Some(DType::F32),
        DType::Complex128 => Some(DType::F64),
        _ => None,
    }
}

/// Complex numbers as real and imaginary parts, in one more dimension.
fn parts(node: &mut Node<'_, '_>, value: ValueId) -> Imported<ValueId> {
    let dtype = part_type(node.dtype(value)?).ok_or("an input is not complex")?;
    node.op("tf.Bitcast", &[value], &[("type", type_attribute(dtype))])
}

/// Real and imaginary parts in the last dimension as complex numbers.
fn whole(node: &mut Node<'_, '_>, value: ValueId) -> Imported<ValueId> {
    let dtype = match node.dtype(value)? {
        DType::F64 => DType::Complex128,
        _ => DType::Complex64,
    };
    node.op("tf.Bitcast", &[value], &[("type", type_attribute(dtype))])
}

/// One part of each complex number; real numbers are their own real part.
fn part(node: &mut Node<'_, '_>, value: ValueId, index: i64) -> Imported<ValueId> {
    let parts = parts(node, value)?;
    let mut builder = node.builder();
    let (index, axis) = (builder.add_integer(index)?, builder.add_integer(-1)?);
    node.op("tf.GatherV2", &[parts, index, axis], &[])
}

fn one_part(node: &mut Node<'_, '_>, index: i64) -> Imported {
    let value = node.input(0)?;
    Ok(vec![part(node, value, index)?.into()])
}

/// Real and imaginary parts as complex numbers.
fn joined(node: &mut Node<'_, '_>, real: ValueId, imaginary: ValueId) -> Imported<ValueId> {
    let both = node.op("tf.Pack", &[real, imaginary], &[("axis", Attribute::i64(-1))])?;
    whole(node, both)
}

fn complex(node: &mut Node<'_, '_>) -> Imported {
    let (mut real, mut imaginary) = (node.input(0)?, node.input(1)?);
    // The parts are broadcast.
    let zero = node.add_number_like(real, 0.0)?;
    let none = node.op("tf.Mul", &[imaginary, zero], &[])?;
    let nothing = node.op("tf.ZerosLike", &[none], &[])?;
    real = node.op("tf.AddV2", &[real, nothing], &[])?;
    let nothing = node.op("tf.ZerosLike", &[real], &[])?;
    imaginary = node.op("tf.AddV2", &[imaginary, nothing], &[])?;
    Ok(vec![joined(node, real, imaginary)?.into()])
}

fn conjugate(node: &mut Node<'_, '_>) -> Imported {
    let value = node.input(0)?;
    if part_type(node.dtype(value)?).is_none() {
        return Ok(vec![value.into()]);
    }
    let (real, imaginary) = (part(node, value, 0)?, part(node, value, 1)?);
    let imaginary = node.op("tf.Neg", &[imaginary], &[])?;
    Ok(vec![joined(node, real, imaginary)?.into()])
}

/// The magnitude, scaled by the larger part so that its square does not overflow.
fn magnitude(node: &mut Node<'_, '_>) -> Imported {
    let value = node.input(0)?;
    let (real, imaginary) = (part(node, value, 0)?, part(node, value, 1)?);
    let (real, imaginary) = (node.op("tf.Abs", &[real], &[])?, node.op("tf.Abs", &[imaginary], &[])?);
    let large = node.op("tf.Maximum", &[real, imaginary], &[])?;
    let small = node.op("tf.Minimum", &[real, imaginary], &[])?;
    let ratio = node.op("tf.DivNoNan", &[small, large], &[])?;
    let square = node.op("tf.Square", &[ratio], &[])?;
    let one = node.add_number_like(square, 1.0)?;
    let sum = node.op("tf.AddV2", &[square, one], &[])?;
    let root = node.op("tf.Sqrt", &[sum], &[])?;
    Ok(vec![node.op("tf.Mul", &[large, root], &[])?.into()])
}

fn angle(node: &mut Node<'_, '_>) -> Imported {
    let value = node.input(0)?;
    let (real, imaginary) = (part(node, value, 0)?, part(node, value, 1)?);
    Ok(vec![node.op("tf.Atan2", &[imaginary, real], &[])?.into()])
}

/// Transforms the dimension `axis` of real and imaginary parts, which are the last dimension.
fn transformed(node: &mut Node<'_, '_>, parts: ValueId, axis: i64, is_inverse: bool) -> Imported<ValueId> {
    let axis = node.builder().add_integer(axis)?;
    let given = [1, 0, 1].map(Attribute::i64).to_vec();
    let attributes = [
        ("inverse", Attribute::i64(i64::from(is_inverse))),
        ("onesided", Attribute::i64(0)),
        ("operand_segment_sizes", Attribute::array(given)),
    ];
    node.op("onnx.DFT", &[parts, axis], &attributes)
}

fn transform(node: &mut Node<'_, '_>, dimensions: i64, is_inverse: bool) -> Imported {
    let value = node.input(0)?;
    let mut value = parts(node, value)?;
    for dimension in 0..dimensions {
        value = transformed(node, value, -2 - dimension, is_inverse)?;
    }
    Ok(vec![whole(node, value)?.into()])
}

/// The first half of the transform of real numbers, which are cut or filled with zeros to a length.
fn real_transform(node: &mut Node<'_, '_>) -> Imported {
    let (value, length) = (node.input(0)?, node.input(1)?);
    let scalar = node.builder().add_elements::<i64>(&[0], &[])?;
    let length = node.op("tf.Reshape", &[length, scalar], &[])?;
    let mut builder = node.builder();
    let length = builder.cast(length, DType::I64)?;
    let (last, axis) = (builder.add_integer(-1)?, builder.add_integer(-2)?);
    let value = node.op("tf.ExpandDims", &[value, last], &[])?;
    let attributes = [("inverse", Attribute::i64(0)), ("onesided", Attribute::i64(1))];
    let value = node.op("onnx.DFT", &[value, length, axis], &attributes)?;
    Ok(vec![whole(node, value)?.into()])
}
