//! Normalization.

use tfrt_ir::{Attribute, ValueId};

use super::Family;
use crate::import::onnx::node::{Imported, Node};

pub(super) const OPS: Family = &[
    ("BatchNormalization", batch_normalization),
    ("InstanceNormalization", instance_normalization),
    ("LRN", local_response),
];

/// `scale * (x - mean) / sqrt(variance + epsilon) + offset`, each channel by its own numbers: a factor and a summand for each
/// channel, which are computed once if the numbers are constants.
fn batch_normalization(node: &mut Node<'_, '_>) -> Imported {
    if node.flag("training_mode")? {
        let operands: Vec<_> = (0..5).map(|index| node.optional(index)).collect();
        let attributes = [
            ("epsilon", Attribute::f32(node.float_or("epsilon", 1e-5)?)),
            ("momentum", Attribute::f32(node.float_or("momentum", 0.9)?)),
            ("training_mode", Attribute::i64(1)),
        ];
        let outputs = node.output_count();
        return node.onnx_ops("onnx.BatchNormalization", &operands, &attributes, outputs);
    }
    let [x, scale, offset, mean, variance] = [0, 1, 2, 3, 4].map(|index| node.input(index));
    let (x, scale, offset, mean, variance) = (x?, scale?, offset?, mean?, variance?);
    let epsilon = node.add_number_like(variance, node.float_or("epsilon", 1e-5)?.into())?;
    let sum = node.op("tf.AddV2", &[variance, epsilon], &[])?;
    let root = node.op("tf.Sqrt", &[sum], &[])?;
    let dtype = node.dtype(root)?;
    let scale = node.cast(scale, dtype)?;
    let factor = node.op("tf.RealDiv", &[scale, root], &[])?;
    let shift = node.op("tf.Mul", &[mean, factor], &[])?;
    let offset = node.cast(offset, dtype)?;
    let summand = node.op("tf.Sub", &[offset, shift], &[])?;
    let dtype = node.dtype(x)?;
    let (factor, summand) = (node.cast(factor, dtype)?, node.cast(summand, dtype)?);
    Ok(vec![affine(node, x, factor, summand)?])
}

/// `x * factor + summand`, with a factor and a summand for each channel.
fn affine(node: &mut Node<'_, '_>, x: ValueId, factor: ValueId, summand: ValueId) -> Imported<ValueId> {
    let mut dims = vec![1; node.rank(x)?.saturating_sub(1).max(1)];
    dims[0] = -1;
    let (factor, summand) = (node.reshape(factor, &dims)?, node.reshape(summand, &dims)?);
    let scaled = node.op("tf.Mul", &[x, factor], &[])?;
    node.op("tf.AddV2", &[scaled, summand], &[])
}

/// As batch normalization, by the mean and variance of each channel of each image.
fn instance_normalization(node: &mut Node<'_, '_>) -> Imported {
    let (x, scale, offset) = (node.input(0)?, node.input(1)?, node.input(2)?);
    let axes: Vec<i64> = (2..node.rank(x)? as i64).collect();
    let normalized = normalized(node, x, &axes, node.float_or("epsilon", 1e-5)?)?;
    Ok(vec![affine(node, normalized, scale, offset)?])
}

/// `(x - mean) / sqrt(variance + epsilon)` along some dimensions.
fn normalized(node: &mut Node<'_, '_>, x: ValueId, axes: &[i64], epsilon: f32) -> Imported<ValueId> {
    let axes = node.add_integers(axes)?;
    let keep = [("keep_dims", Attribute::Bool(true))];
    let mean = node.op("tf.Mean", &[x, axes], &keep)?;
    let centred = node.op("tf.Sub", &[x, mean], &[])?;
    let squared = node.op("tf.Square", &[centred], &[])?;
    let variance = node.op("tf.Mean", &[squared, axes], &keep)?;
    let epsilon = node.add_number_like(x, epsilon.into())?;
    let sum = node.op("tf.AddV2", &[variance, epsilon], &[])?;
    let factor = node.op("tf.Rsqrt", &[sum], &[])?;
    node.op("tf.Mul", &[centred, factor], &[])
}

/// Across channels. ONNX divides `alpha` by the size of the window, TensorFlow does not.
fn local_response(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let size = node.int("size")?.ok_or("attribute 'size' is missing")?;
    let (alpha, beta) = (node.float_or("alpha", 1e-4)?, node.float_or("beta", 0.75)?);
    let bias = node.float_or("bias", 1.0)?;
    if size % 2 == 0 || node.rank(x)? != 4 {
        let attributes = [
            ("alpha", Attribute::f32(alpha)),
            ("beta", Attribute::f32(beta)),
            ("bias", Attribute::f32(bias)),
            ("size", Attribute::i64(size)),
        ];
        return node.onnx_ops("onnx.LRN", &[Some(x)], &attributes, 1);
    }
    let attributes = [
        ("depth_radius", Attribute::i64(size / 2)),
        ("alpha", Attribute::f32(alpha / size as f32)),
        ("beta", Attribute::f32(beta)),
        ("bias", Attribute::f32(bias)),
    ];
    let x = node.transpose(x, &[0, 2, 3, 1])?;
    let y = node.op("tf.LRN", &[x], &attributes)?;
    Ok(vec![node.transpose(y, &[0, 3, 1, 2])?])
}
