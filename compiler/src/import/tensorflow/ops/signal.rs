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
    ("FFT3D", |node| transform(node, 3, false)),
    ("IFFT", |node| transform(node, 1, true)),
    ("IFFT2D", |node| transform(node, 2, true)),
    ("IFFT3D", |node| transform(node, 3, true)),
    ("IRFFT", |node| real_inverse(node, 1)),
    ("IRFFT2D", |node| real_inverse(node, 2)),
    ("IRFFT3D", |node| real_inverse(node, 3)),
    ("Imag", |node| one_part(node, 1)),
    ("RFFT", |node| real_transform(node, 1)),
    ("RFFT2D", |node| real_transform(node, 2)),
    ("RFFT3D", |node| real_transform(node, 3)),
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
    Ok(vec![conjugated(node, value)?.into()])
}

/// The conjugates of complex numbers; other numbers are their own.
pub(super) fn conjugated(node: &mut Node<'_, '_>, value: ValueId) -> Imported<ValueId> {
    if part_type(node.dtype(value)?).is_none() {
        return Ok(value);
    }
    let (real, imaginary) = (part(node, value, 0)?, part(node, value, 1)?);
    let imaginary = node.op("tf.Neg", &[imaginary], &[])?;
    joined(node, real, imaginary)
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

/// One length of those that a transform is asked for.
fn length(node: &mut Node<'_, '_>, place: i64) -> Imported<ValueId> {
    let lengths = node.input(1)?;
    let mut builder = node.builder();
    let lengths = builder.cast(lengths, DType::I64)?;
    let (place, axis) = (builder.add_integer(place)?, builder.add_integer(0)?);
    node.op("tf.GatherV2", &[lengths, place, axis], &[])
}

/// Transforms the dimension `axis` of parts that are cut or filled with zeros to a length.
fn cut_transformed(
    node: &mut Node<'_, '_>,
    parts: ValueId,
    (axis, length): (i64, ValueId),
    (is_inverse, is_half): (bool, bool),
) -> Imported<ValueId> {
    let axis = node.builder().add_integer(axis)?;
    let flag = |flag: bool| Attribute::i64(i64::from(flag));
    let attributes = [("inverse", flag(is_inverse)), ("onesided", flag(is_half))];
    node.op("onnx.DFT", &[parts, length, axis], &attributes)
}

/// The transform of real numbers, of whose last dimension only the first half is given.
fn real_transform(node: &mut Node<'_, '_>, dimensions: i64) -> Imported {
    let value = node.input(0)?;
    let last = node.builder().add_integer(-1)?;
    let mut value = node.op("tf.ExpandDims", &[value, last], &[])?;
    for dimension in 0..dimensions {
        let length = length(node, dimensions - 1 - dimension)?;
        value = cut_transformed(node, value, (-2 - dimension, length), (false, dimension == 0))?;
    }
    Ok(vec![whole(node, value)?.into()])
}

/// Real numbers from the first half of their transform. The other half is the conjugate of what is
/// given, backwards.
fn real_inverse(node: &mut Node<'_, '_>, dimensions: i64) -> Imported {
    let value = node.input(0)?;
    let mut value = parts(node, value)?;
    for dimension in (1..dimensions).rev() {
        let length = length(node, dimensions - 1 - dimension)?;
        value = cut_transformed(node, value, (-2 - dimension, length), (true, false))?;
    }
    let length = length(node, dimensions - 1)?;
    let known = node.integers(length).and_then(|known| known.first().copied());
    let given = node.ty(value)?.dims.and_then(|dims| *dims.get(dims.len().checked_sub(2)?)?);
    match (known, given) {
        (Some(..=0), _) => return Err("the length of a transform must be positive".into()),
        (Some(length), Some(given)) if given <= length.unsigned_abs() / 2 => {
            let needed = length / 2 + 1;
            return Err(format!("a transform of length {length} needs {needed} elements, got {given}").into());
        }
        _ => {}
    }
    let dtype = node.dtype(value)?;
    let (order, signs) = mirrored(node, length, dtype)?;
    let axis = node.builder().add_integer(-2)?;
    let whole = node.op("tf.GatherV2", &[value, order, axis], &[])?;
    let whole = node.op("tf.Mul", &[whole, signs], &[])?;
    let numbers = transformed(node, whole, -2, true)?;
    let mut builder = node.builder();
    let (real, axis) = (builder.add_integer(0)?, builder.add_integer(-1)?);
    Ok(vec![node.op("tf.GatherV2", &[numbers, real, axis], &[])?.into()])
}

/// For each element of a transform of this length, its place in the first half, and the signs of
/// its parts there: elements of the second half are conjugates.
fn mirrored(node: &mut Node<'_, '_>, length: ValueId, dtype: DType) -> Imported<(ValueId, ValueId)> {
    let mut builder = node.builder();
    let (zero, one, two) = (builder.add_integer(0)?, builder.add_integer(1)?, builder.add_integer(2)?);
    let places = node.op("tf.Range", &[zero, length, one], &[])?;
    let half = node.op("tf.FloorDiv", &[length, two], &[])?;
    let is_second = node.op("tf.Greater", &[places, half], &[])?;
    let from_end = node.op("tf.Sub", &[length, places], &[])?;
    let order = node.op("tf.SelectV2", &[is_second, from_end, places], &[])?;
    let mut builder = node.builder();
    let (same, opposite) = (builder.add_number(dtype, 1.0)?, builder.add_number(dtype, -1.0)?);
    let imaginary = node.op("tf.SelectV2", &[is_second, opposite, same], &[])?;
    let real = node.op("tf.OnesLike", &[imaginary], &[])?;
    let signs = node.op("tf.Pack", &[real, imaginary], &[("axis", Attribute::i64(-1))])?;
    Ok((order, signs))
}
