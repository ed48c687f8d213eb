//! Ops that are several of the default domain at once.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::{Family, float, int};
use crate::import::onnx::node::{Imported, Node};

pub(super) const OPS: Family = &[
    ("BiasAdd", bias_add),
    ("BiasDropout", bias_dropout),
    ("BiasGelu", |node| gelu(node, false)),
    ("BiasSoftmax", bias_softmax),
    ("EmbedLayerNormalization", embed),
    ("ExpandDims", |node| alike(node, "Unsqueeze")),
    ("FastGelu", |node| gelu(node, true)),
    ("FusedConv", convolution),
    ("FusedGemm", gemm),
    ("FusedMatMul", product),
    ("GatherND", |node| alike(node, "GatherND")),
    ("Gelu", |node| gelu(node, false)),
    ("GemmFastGelu", product_gelu),
    ("GridSample", |node| alike(node, "GridSample")),
    ("Pad", |node| alike(node, "Pad")),
    ("QuickGelu", quick_gelu),
    ("Range", |node| alike(node, "Range")),
    ("SkipLayerNormalization", |node| skip_normalization(node, true)),
    ("SkipSimplifiedLayerNormalization", |node| skip_normalization(node, false)),
    ("TorchEmbedding", embedding),
    ("TransposeMatMul", product),
    ("Trilu", |node| alike(node, "Trilu")),
];

/// An op that ONNX Runtime adds to the default domain.
pub(in super::super) const STANDARD: Family = &[("SimplifiedLayerNormalization", simplified_normalization)];

fn alike(node: &mut Node<'_, '_>, op: &str) -> Imported {
    let inputs = node.inputs.clone();
    Ok(vec![node.standard_alike(op, &inputs)?])
}

/// `a * b * alpha`, with the last two dimensions swapped where asked for, or the first one before
/// the last two put between them.
fn product(node: &mut Node<'_, '_>) -> Imported {
    let mut operands = [node.input(0)?, node.input(1)?];
    for (operand, [matrices, batches]) in
        operands.iter_mut().zip([["transA", "transBatchA"], ["transB", "transBatchB"]])
    {
        let rank = node.rank(*operand)?;
        if node.flag(batches)? && rank > 2 {
            // The first dimension stands before the last one: the others move to the front.
            let mut order: Vec<i64> = (1..rank as i64).collect();
            order.insert(rank - 2, 0);
            *operand = node.transpose(*operand, &order)?;
        }
        if node.flag(matrices)? && rank > 1 {
            let mut order: Vec<i64> = (0..rank as i64).collect();
            order.swap(rank - 2, rank - 1);
            *operand = node.transpose(*operand, &order)?;
        }
    }
    let product = node.standard("MatMul", &operands.map(Some), Vec::new(), 1)?[0];
    let alpha = node.float_or("alpha", 1.0)?;
    if alpha == 1.0 {
        return Ok(vec![product]);
    }
    let alpha = node.add_number_like(product, alpha.into())?;
    Ok(vec![node.op("tf.Mul", &[product, alpha], &[])?])
}

fn bias_add(node: &mut Node<'_, '_>) -> Imported {
    let (x, bias, skip) = (node.input(0)?, node.input(1)?, node.input(2)?);
    let sum = node.op("tf.AddV2", &[x, bias], &[])?;
    Ok(vec![node.op("tf.AddV2", &[sum, skip], &[])?])
}

/// The sum of an input, a bias and perhaps a residual. Dropout changes nothing outside of training.
fn bias_dropout(node: &mut Node<'_, '_>) -> Imported {
    let (x, bias) = (node.input(0)?, node.input(1)?);
    let sum = node.op("tf.AddV2", &[x, bias], &[])?;
    let sum = node.standard_alike("Dropout", &[Some(sum), node.optional(3), node.optional(4)])?;
    Ok(vec![match node.optional(2) {
        Some(residual) => node.op("tf.AddV2", &[sum, residual], &[])?,
        None => sum,
    }])
}

/// The softmax, over all dimensions from `axis` on, of the sum of an input and a bias. The bias
/// lacks dimensions before the axis: the nearest ones if the broadcast is an inner one, or the
/// first ones.
fn bias_softmax(node: &mut Node<'_, '_>) -> Imported {
    let (x, mut bias) = (node.input(0)?, node.input(1)?);
    let rank = node.rank(x)?;
    let axis = node.axis(node.int_or("axis", 1)?, rank)?;
    if node.int("is_inner_broadcast")?.is_some_and(|flag| flag != 0) {
        for missing in (1..=rank.saturating_sub(node.rank(bias)?)).rev() {
            let place = axis.checked_sub(missing).ok_or("the bias has too few dimensions")?;
            let place = node.add_integer(place as i64)?;
            bias = node.op("tf.ExpandDims", &[bias, place], &[])?;
        }
    }
    let sum = node.op("tf.AddV2", &[x, bias], &[])?;
    let shape = super::super::shape::shape_of(node, sum)?;
    let flat = super::super::shape::flattened(node, sum, axis)?;
    let y = node.op("tf.Softmax", &[flat], &[])?;
    Ok(vec![node.op("tf.Reshape", &[y, shape], &[])?])
}

/// GELU of a product and a bias, which may be absent.
fn product_gelu(node: &mut Node<'_, '_>) -> Imported {
    let operands = [node.input(0)?, node.input(1)?];
    let mut product = node.standard("MatMul", &operands.map(Some), Vec::new(), 1)?[0];
    if let Some(bias) = node.optional(2) {
        product = node.op("tf.AddV2", &[product, bias], &[])?;
    }
    Ok(vec![node.op("tf.Gelu", &[product], &[("approximate", Attribute::Bool(true))])?])
}

fn embedding(node: &mut Node<'_, '_>) -> Imported {
    let inputs = [node.input(0)?, node.input(1)?].map(Some);
    node.standard("Gather", &inputs, vec![int("axis", 0)], 1)
}

/// GELU of the sum of an input and a bias, which may be absent.
fn gelu(node: &mut Node<'_, '_>, is_approximate: bool) -> Imported {
    let mut x = node.input(0)?;
    if let Some(bias) = node.optional(1) {
        x = node.op("tf.AddV2", &[x, bias], &[])?;
    }
    Ok(vec![node.op("tf.Gelu", &[x], &[("approximate", Attribute::Bool(is_approximate))])?])
}

/// `x * sigmoid(alpha * x)`.
fn quick_gelu(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let alpha = node.add_number_like(x, node.float_or("alpha", 1.702)?.into())?;
    let scaled = node.op("tf.Mul", &[x, alpha], &[])?;
    let gate = node.op("tf.Sigmoid", &[scaled], &[])?;
    Ok(vec![node.op("tf.Mul", &[x, gate], &[])?])
}

/// Applies the activation that an attribute names, with its parameters.
fn activated(node: &mut Node<'_, '_>, x: ValueId, parameters: [Option<f32>; 2]) -> Imported<ValueId> {
    let name = node.string_or("activation", "")?;
    let [first, second] = parameters;
    let named = |names: [&str; 2]| {
        let given = names.into_iter().zip([first, second]);
        given.filter_map(|(name, value)| Some(float(name, value?))).collect::<Vec<_>>()
    };
    let attributes = match name.as_str() {
        "" => return Ok(x),
        "Clip" => {
            let mut bounds = vec![Some(x)];
            for bound in [first, second] {
                bounds.push(bound.map(|bound| node.add_number_like(x, bound.into())).transpose()?);
            }
            return Ok(node.standard("Clip", &bounds, Vec::new(), 1)?[0]);
        }
        "Relu" | "Sigmoid" | "Tanh" | "Softplus" | "HardSwish" => Vec::new(),
        "LeakyRelu" | "Elu" | "HardSigmoid" => named(["alpha", "beta"]),
        other => return Err(format!("the activation '{other}' is not supported").into()),
    };
    Ok(node.standard(&name, &[Some(x)], attributes, 1)?[0])
}

fn convolution(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    Ok(vec![convolve(node, x, node.optional(3))?])
}

/// A convolution of `x` by the node's filter, plus a residual, with an activation.
pub(super) fn convolve(node: &mut Node<'_, '_>, x: ValueId, residual: Option<ValueId>) -> Imported<ValueId> {
    let inputs = [Some(x), Some(node.input(1)?), node.optional(2)];
    let mut y = node.standard_alike("Conv", &inputs)?;
    if let Some(residual) = residual {
        y = node.op("tf.AddV2", &[y, residual], &[])?;
    }
    let parameters = node.floats("activation_params")?.unwrap_or_default();
    let parameters = [parameters.first().copied(), parameters.get(1).copied()];
    activated(node, y, parameters)
}

fn gemm(node: &mut Node<'_, '_>) -> Imported {
    let inputs: Vec<_> = (0..3).map(|index| node.optional(index)).collect();
    let y = node.standard_alike("Gemm", &inputs)?;
    let parameters = [node.float("activation_alpha")?, node.float("activation_beta")?];
    Ok(vec![activated(node, y, parameters)?])
}

/// Normalizes the sum of the inputs and a bias. The outputs are followed by statistics and by the
/// sum.
fn skip_normalization(node: &mut Node<'_, '_>, is_centered: bool) -> Imported {
    let (x, skip, scale) = (node.input(0)?, node.input(1)?, node.input(2)?);
    let (offset, bias) =
        if is_centered { (node.optional(3), node.optional(4)) } else { (None, node.optional(3)) };
    let mut sum = node.op("tf.AddV2", &[x, skip], &[])?;
    if let Some(bias) = bias {
        sum = node.op("tf.AddV2", &[sum, bias], &[])?;
    }
    let epsilon = node.float_or("epsilon", if is_centered { 1e-12 } else { 1e-5 })?;
    if (1..3).any(|index| node.has_output(index)) {
        return Err("the statistics of a normalization are not supported as outputs".into());
    }
    let y = normalized(node, sum, scale, offset, (is_centered, epsilon))?;
    Ok(vec![y, y, y, sum])
}

fn normalized(
    node: &mut Node<'_, '_>,
    x: ValueId,
    scale: ValueId,
    offset: Option<ValueId>,
    (is_centered, epsilon): (bool, f32),
) -> Imported<ValueId> {
    let op = if is_centered { "LayerNormalization" } else { "RMSNormalization" };
    let attributes = vec![int("axis", -1), float("epsilon", epsilon)];
    Ok(node.standard(op, &[Some(x), Some(scale), offset], attributes, 1)?[0])
}

/// Normalizes by the root of the mean square, computed in f32.
fn simplified_normalization(node: &mut Node<'_, '_>) -> Imported {
    let (x, scale) = (node.input(0)?, node.input(1)?);
    let attributes =
        vec![int("axis", node.int_or("axis", -1)?), float("epsilon", node.float_or("epsilon", 1e-5)?)];
    // The scale gives the result its type, which may be narrower than that of what is normalized.
    let wide = node.cast(scale, node.dtype(x)?)?;
    let y = node.standard("RMSNormalization", &[Some(x), Some(wide)], attributes, 1)?[0];
    Ok(vec![node.cast(y, node.dtype(scale)?)?])
}

/// The normalized sum of embeddings of words, positions and segments, and for each row how many
/// words its mask keeps.
pub(super) fn embed(node: &mut Node<'_, '_>) -> Imported {
    let (ids, words, positions) = (node.input(0)?, node.input(2)?, node.input(3)?);
    let axis = node.add_integer(0)?;
    let words = node.op("tf.GatherV2", &[words, ids, axis], &[])?;
    let places = match node.optional(8) {
        Some(places) => places,
        None => {
            let steps = super::super::dims::Extent::Of(ids, 1).to_scalar(node)?;
            let (zero, one) = (node.add_integer(0)?, node.add_integer(1)?);
            node.op("tf.Range", &[zero, steps, one], &[])?
        }
    };
    let positions = node.op("tf.GatherV2", &[positions, places, axis], &[])?;
    let mut sum = node.op("tf.AddV2", &[words, positions], &[])?;
    if let (Some(segments), Some(table)) = (node.optional(1), node.optional(4)) {
        let segments = node.op("tf.GatherV2", &[table, segments, axis], &[])?;
        sum = node.op("tf.AddV2", &[sum, segments], &[])?;
    }
    let (scale, offset) = (node.input(5)?, node.input(6)?);
    let epsilon = node.float_or("epsilon", 1e-12)?;
    let y = normalized(node, sum, scale, Some(offset), (true, epsilon))?;
    let counts = match node.optional(7) {
        Some(mask) => {
            let axes = node.add_integers(&[1])?;
            let mask = node.cast(mask, DType::I32)?;
            node.op("tf.Sum", &[mask, axes], &[("keep_dims", Attribute::Bool(false))])?
        }
        None => {
            let rows = super::super::dims::Extent::Of(ids, 0);
            let shape = super::super::dims::shape(node, &[rows])?;
            let zero = node.builder().add_number(DType::I32, 0.0)?;
            node.op("tf.Fill", &[shape, zero], &[])?
        }
    };
    Ok(vec![y, counts, sum])
}
