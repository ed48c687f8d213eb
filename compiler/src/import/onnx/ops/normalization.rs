//! Normalization.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::{Family, dims::known_extent};
use crate::import::onnx::node::{ImportError, Imported, Node, ints};

pub(super) const OPS: Family = &[
    ("BatchNormalization", batch_normalization),
    ("GroupNormalization", group_normalization),
    ("InstanceNormalization", instance_normalization),
    ("LRN", local_response),
    ("LayerNormalization", layer_normalization),
    ("LpNormalization", lp_normalization),
    ("MeanVarianceNormalization", mean_variance_normalization),
    ("RMSNormalization", rms_normalization),
];

/// The default of the attribute `epsilon`.
const EPSILON: f32 = 1e-5;

fn batch_normalization(node: &mut Node<'_, '_>) -> Imported {
    let is_training = match node.opset {
        14.. => node.flag("training_mode")?,
        // Up to operator set 13 a model trains where it asks for the statistics.
        _ => (1..node.output_count()).any(|index| node.has_output(index)),
    };
    if is_training { train_batch_normalization(node) } else { apply_batch_normalization(node) }
}

/// `scale * (x - mean) / sqrt(variance + epsilon) + offset`, each channel by its own numbers: a
/// factor and a summand for each channel, which are computed once if the numbers are constants.
fn apply_batch_normalization(node: &mut Node<'_, '_>) -> Imported {
    let [x, scale, offset, mean, variance] = [0, 1, 2, 3, 4].map(|index| node.input(index));
    let (x, scale, offset, mean, variance) = (x?, scale?, offset?, mean?, variance?);
    let epsilon = node.add_number_like(variance, node.float_or("epsilon", EPSILON)?.into())?;
    let sum = node.op("tf.AddV2", &[variance, epsilon], &[])?;
    let root = node.op("tf.Sqrt", &[sum], &[])?;
    let dtype = node.dtype(root)?;
    let scale = node.cast(scale, dtype)?;
    let factor = node.op("tf.RealDiv", &[scale, root], &[])?;
    let mean = node.cast(mean, dtype)?;
    let shift = node.op("tf.Mul", &[mean, factor], &[])?;
    let offset = node.cast(offset, dtype)?;
    let summand = node.op("tf.Sub", &[offset, shift], &[])?;
    let dtype = node.dtype(x)?;
    let (factor, summand) = (node.cast(factor, dtype)?, node.cast(summand, dtype)?);
    // Up to operator set 8 each element of an image may have numbers of its own.
    let is_by_element = node.opset < 9 && node.int_or("spatial", 1)? == 0;
    Ok(vec![if is_by_element {
        scaled(node, x, factor, summand)?
    } else {
        affine(node, x, factor, summand)?
    }])
}

/// `x * factor + summand`, with a factor and a summand for each channel.
fn affine(node: &mut Node<'_, '_>, x: ValueId, factor: ValueId, summand: ValueId) -> Imported<ValueId> {
    let mut dims = vec![1; node.rank(x)?.saturating_sub(1).max(1)];
    dims[0] = -1;
    let (factor, summand) = (node.reshape(factor, &dims)?, node.reshape(summand, &dims)?);
    scaled(node, x, factor, summand)
}

fn scaled(node: &mut Node<'_, '_>, x: ValueId, factor: ValueId, summand: ValueId) -> Imported<ValueId> {
    let scaled = node.op("tf.Mul", &[x, factor], &[])?;
    node.op("tf.AddV2", &[scaled, summand], &[])
}

/// By the statistics of the batch. The outputs are followed by the running statistics, and up to
/// operator set 13 by those of the batch.
fn train_batch_normalization(node: &mut Node<'_, '_>) -> Imported {
    if node.opset < 9 && node.int_or("spatial", 1)? == 0 {
        return Err("batch normalization while training is not supported for attribute 'spatial' = 0".into());
    }
    let operands = (0..5).map(|index| node.input(index).map(Some)).collect::<Imported<Vec<_>>>()?;
    let attributes = |momentum: f32, epsilon: f32| {
        [
            ("epsilon", Attribute::f32(epsilon)),
            ("momentum", Attribute::f32(momentum)),
            ("training_mode", Attribute::i64(1)),
        ]
    };
    let (momentum, epsilon) = (node.float_or("momentum", 0.9)?, node.float_or("epsilon", EPSILON)?);
    let mut outputs = node.onnx_ops(
        "onnx.BatchNormalization",
        &operands,
        &with_results(&attributes(momentum, epsilon)),
        3,
    )?;
    if node.output_count() > 3 {
        // Without momentum the running statistics are those of the batch.
        let own = attributes(0.0, epsilon);
        let results = node.onnx_ops("onnx.BatchNormalization", &operands, &with_results(&own), 3)?;
        outputs.extend(&results[1..]);
    }
    Ok(outputs)
}

/// Attributes with the one that asks for three results.
fn with_results<'a>(attributes: &[(&'a str, Attribute)]) -> Vec<(&'a str, Attribute)> {
    attributes.iter().cloned().chain([("result_segment_sizes", ints(&[1, 1, 1]))]).collect()
}

/// By the mean and variance of each channel of each image.
fn instance_normalization(node: &mut Node<'_, '_>) -> Imported {
    let operands = [Some(node.input(0)?), Some(node.input(1)?), Some(node.input(2)?)];
    let attributes = [("epsilon", Attribute::f32(node.float_or("epsilon", EPSILON)?))];
    node.onnx_ops("onnx.InstanceNormalization", &operands, &attributes, 1)
}

/// By the mean and variance of groups of channels. Up to operator set 20 there is one scale for
/// each group, later for each channel.
fn group_normalization(node: &mut Node<'_, '_>) -> Imported {
    let (x, mut scale, mut offset) = (node.input(0)?, node.input(1)?, node.input(2)?);
    let groups = node.int("num_groups")?.ok_or("attribute 'num_groups' is missing")?;
    if node.opset < 21 {
        let channels = known_extent(node, x, 1, "the number of channels")?;
        if groups < 1 || channels % groups != 0 {
            return Err(format!("{channels} channels cannot be divided into {groups} groups").into());
        }
        let repeat = |node: &mut Node<'_, '_>, value: ValueId| {
            let column = node.reshape(value, &[groups, 1])?;
            let counts = node.add_integers(&[1, channels / groups])?;
            let table = node.op("tf.Tile", &[column, counts], &[])?;
            node.reshape(table, &[channels])
        };
        (scale, offset) = (repeat(node, scale)?, repeat(node, offset)?);
    }
    let attributes = [
        ("epsilon", Attribute::f32(node.float_or("epsilon", EPSILON)?)),
        ("num_groups", Attribute::i64(groups)),
    ];
    node.onnx_ops("onnx.GroupNormalization", &[Some(x), Some(scale), Some(offset)], &attributes, 1)
}

fn layer_normalization(node: &mut Node<'_, '_>) -> Imported {
    let operands = [Some(node.input(0)?), Some(node.input(1)?), node.optional(2)];
    let attributes = node.forwarded(&["axis", "epsilon", "stash_type"])?;
    node.onnx_outputs("onnx.LayerNormalization", &operands, &attributes, 3)
}

/// The scale may be of another type than the input, and decides that of the result.
fn rms_normalization(node: &mut Node<'_, '_>) -> Imported {
    let (mut x, mut scale) = (node.input(0)?, node.input(1)?);
    let attributes = node.forwarded(&["axis", "epsilon", "stash_type"])?;
    let (from, to) = (node.dtype(x)?, node.dtype(scale)?);
    if from != to {
        let common = if [from, to].contains(&DType::F64) { DType::F64 } else { DType::F32 };
        (x, scale) = (node.cast(x, common)?, node.cast(scale, common)?);
    }
    let y = node.onnx_ops("onnx.RMSNormalization", &[Some(x), Some(scale)], &attributes, 1)?;
    Ok(vec![node.cast(y[0], to)?])
}

/// `x / norm(x)` along an axis, and 0 where the norm is.
fn lp_normalization(node: &mut Node<'_, '_>) -> Imported {
    let (x, rank) = (node.input(0)?, node.rank(node.input(0)?)?);
    let axis = node.axis(node.int_or("axis", -1)?, rank)? as i64;
    let axes = node.add_integers(&[axis])?;
    let keep = [("keep_dims", Attribute::Bool(true))];
    let norm = match node.int_or("p", 2)? {
        1 => {
            let sizes = node.op("tf.Abs", &[x], &[])?;
            node.op("tf.Sum", &[sizes, axes], &keep)?
        }
        2 => {
            let squares = node.op("tf.Square", &[x], &[])?;
            let sum = node.op("tf.Sum", &[squares, axes], &keep)?;
            node.op("tf.Sqrt", &[sum], &[])?
        }
        other => return Err(ImportError(format!("attribute 'p' must be 1 or 2, and is {other}"))),
    };
    Ok(vec![node.op("tf.DivNoNan", &[x, norm], &[])?])
}

/// `(x - mean) / deviation` over some dimensions.
fn mean_variance_normalization(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let axes = node.ints("axes")?.unwrap_or_else(|| vec![0, 2, 3]);
    let axes = node.add_integers(&axes)?;
    let keep = [("keep_dims", Attribute::Bool(true))];
    let mean = node.op("tf.Mean", &[x, axes], &keep)?;
    let centred = node.op("tf.Sub", &[x, mean], &[])?;
    let squares = node.op("tf.Square", &[centred], &[])?;
    let variance = node.op("tf.Mean", &[squares, axes], &keep)?;
    let deviation = node.op("tf.Sqrt", &[variance], &[])?;
    let least = node.add_number_like(x, 1e-9)?;
    let divisor = node.op("tf.AddV2", &[deviation, least], &[])?;
    Ok(vec![node.op("tf.RealDiv", &[centred, divisor], &[])?])
}

/// By neighbouring channels. ONNX divides `alpha` by the size of the window, TensorFlow does not.
fn local_response(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let size = node.int("size")?.ok_or("attribute 'size' is missing")?;
    if size % 2 == 0 || node.rank(x)? != 4 {
        let attributes = node.forwarded(&["alpha", "beta", "bias", "size"])?;
        return node.onnx_ops("onnx.LRN", &[Some(x)], &attributes, 1);
    }
    let (alpha, beta) = (node.float_or("alpha", 1e-4)?, node.float_or("beta", 0.75)?);
    let attributes = [
        ("depth_radius", Attribute::i64(size / 2)),
        ("alpha", Attribute::f32(alpha / size as f32)),
        ("beta", Attribute::f32(beta)),
        ("bias", Attribute::f32(node.float_or("bias", 1.0)?)),
    ];
    let x = node.transpose(x, &[0, 2, 3, 1])?;
    let y = node.op("tf.LRN", &[x], &attributes)?;
    Ok(vec![node.transpose(y, &[0, 3, 1, 2])?])
}
