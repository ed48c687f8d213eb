//! Random numbers.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::{Family, shape::shape_of};
use crate::import::onnx::node::{Imported, Node, type_attribute};

pub(super) const OPS: Family = &[
    ("Bernoulli", bernoulli),
    ("Multinomial", multinomial),
    ("RandomNormal", |node| shaped(node, normal)),
    ("RandomNormalLike", |node| like(node, normal)),
    ("RandomUniform", |node| shaped(node, uniform)),
    ("RandomUniformLike", |node| like(node, uniform)),
];

type Distribution = fn(&mut Node<'_, '_>, ValueId, DType) -> Imported<ValueId>;

/// Numbers of the node's seed. Without a seed they differ from call to call.
fn numbers(node: &mut Node<'_, '_>, op: &str, shape: ValueId, dtype: DType) -> Imported<ValueId> {
    let mut attributes = vec![("dtype", type_attribute(dtype))];
    if let Some(seed) = node.float("seed")? {
        // Two zeros would stand for no seed.
        attributes.push(("seed", Attribute::i64(seed.to_bits().into())));
        attributes.push(("seed2", Attribute::i64(1)));
    }
    node.op(op, &[shape], &attributes)
}

/// `x * factor + summand`.
fn affine(node: &mut Node<'_, '_>, x: ValueId, factor: f32, summand: f32) -> Imported<ValueId> {
    let (factor, summand) =
        (node.add_number_like(x, factor.into())?, node.add_number_like(x, summand.into())?);
    let scaled = node.op("tf.Mul", &[x, factor], &[])?;
    node.op("tf.AddV2", &[scaled, summand], &[])
}

fn normal(node: &mut Node<'_, '_>, shape: ValueId, dtype: DType) -> Imported<ValueId> {
    let (mean, scale) = (node.float_or("mean", 0.0)?, node.float_or("scale", 1.0)?);
    let x = numbers(node, "tf.RandomStandardNormal", shape, dtype)?;
    affine(node, x, scale, mean)
}

fn uniform(node: &mut Node<'_, '_>, shape: ValueId, dtype: DType) -> Imported<ValueId> {
    let (low, high) = (node.float_or("low", 0.0)?, node.float_or("high", 1.0)?);
    let x = numbers(node, "tf.RandomUniform", shape, dtype)?;
    affine(node, x, high - low, low)
}

fn shaped(node: &mut Node<'_, '_>, distribution: Distribution) -> Imported {
    let dims = node.ints("shape")?.ok_or("attribute 'shape' is missing")?;
    let dtype = node.dtype_attribute("dtype")?.unwrap_or(DType::F32);
    let shape = node.add_integers(&dims)?;
    Ok(vec![distribution(node, shape, dtype)?])
}

/// The data type that the node asks for, by default that of `x`.
fn dtype_or_of(node: &Node<'_, '_>, x: ValueId) -> Imported<DType> {
    match node.dtype_attribute("dtype")? {
        Some(dtype) => Ok(dtype),
        None => node.dtype(x),
    }
}

fn like(node: &mut Node<'_, '_>, distribution: Distribution) -> Imported {
    let x = node.input(0)?;
    let (shape, dtype) = (shape_of(node, x)?, dtype_or_of(node, x)?);
    Ok(vec![distribution(node, shape, dtype)?])
}

/// One with the probability that each element is, else zero.
fn bernoulli(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let (shape, own, dtype) = (shape_of(node, x)?, node.dtype(x)?, dtype_or_of(node, x)?);
    let drawn = numbers(node, "tf.RandomUniform", shape, own)?;
    let is_one = node.op("tf.Less", &[drawn, x], &[])?;
    Ok(vec![node.cast(is_one, dtype)?])
}

/// Classes by the logarithms of their probabilities.
fn multinomial(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let dtype = node.dtype_attribute("dtype")?.unwrap_or(DType::I32);
    let mut attributes = vec![
        ("dtype", type_attribute(dtype)),
        ("sample_size", Attribute::i64(node.int_or("sample_size", 1)?)),
    ];
    attributes.extend(node.float("seed")?.map(|seed| ("seed", Attribute::f32(seed))));
    Ok(vec![node.op("onnx.Multinomial", &[x], &attributes)?])
}
