//! Attention with projections, packed heads and caches, as the op `Attention` of the default
//! domain.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::{Family, float, int, quantized::scaled_product};
use crate::import::onnx::{
    node::{Imported, Node},
    ops::dims::{Extent, known_extent, reshape},
};

pub(super) const OPS: Family = &[
    ("Attention", project_and_attend),
    ("MultiHeadAttention", attend),
    ("QAttention", project_integers_and_attend),
    ("RotaryEmbedding", rotary_embedding),
];

/// Queries, keys and values, each as `[batch, heads, steps, size]`, and what is added to their
/// products.
struct Operands {
    query: ValueId,
    key: ValueId,
    value: ValueId,
    bias: Option<ValueId>,
    past: [Option<ValueId>; 2],
}

impl Operands {
    /// Appends the op: `[batch, steps, heads * size]`, and the keys and values with the past ones.
    fn attend(self, node: &mut Node<'_, '_>, is_causal: bool, softcap: f32) -> Imported {
        let mut attributes = vec![int("is_causal", is_causal.into())];
        if softcap > 0.0 {
            attributes.push(float("softcap", softcap));
        }
        let scale = node.float_or("scale", 0.0)?;
        if scale != 0.0 {
            attributes.push(float("scale", scale));
        }
        let [past_key, past_value] = self.past;
        let inputs = [Some(self.query), Some(self.key), Some(self.value), self.bias, past_key, past_value];
        let mut outputs = node.standard("Attention", &inputs, attributes, 3)?;
        let heads = known_extent(node, outputs[0], 1, "the number of heads")?;
        let size = known_extent(node, outputs[0], 3, "the size of heads")?;
        let steps = node.transpose(outputs[0], &[0, 2, 1, 3])?;
        let dims = [Extent::Of(steps, 0), Extent::Of(steps, 1), Extent::Number(heads * size)];
        outputs[0] = reshape(node, steps, &dims)?;
        Ok(outputs)
    }
}

/// The greatest number of heads.
const MAX_HEADS: i64 = 1 << 16;

pub(super) fn head_count(node: &Node<'_, '_>, name: &str) -> Imported<i64> {
    match node.int(name)? {
        Some(count @ 1..=MAX_HEADS) => Ok(count),
        Some(count) => {
            Err(format!("attribute '{name}' must be between 1 and {MAX_HEADS}, and is {count}").into())
        }
        None => Err(format!("attribute '{name}' is missing").into()),
    }
}

/// `[batch, steps, heads * size]` as `[batch, heads, steps, size]`.
fn by_heads(node: &mut Node<'_, '_>, x: ValueId, heads: i64) -> Imported<ValueId> {
    let hidden = known_extent(node, x, 2, "the extent of rows")?;
    if hidden % heads != 0 {
        return Err(format!("rows of {hidden} elements cannot be divided into {heads} heads").into());
    }
    let dims = [Extent::Of(x, 0), Extent::Of(x, 1), Extent::Number(heads), Extent::Number(hidden / heads)];
    let split = reshape(node, x, &dims)?;
    node.transpose(split, &[0, 2, 1, 3])
}

/// Cuts the last dimension into parts of these sizes.
pub(super) fn parts(node: &mut Node<'_, '_>, x: ValueId, sizes: &[i64]) -> Imported {
    let axis = node.rank(x)? as i64 - 1;
    let (list, axis) = (node.add_integers(sizes)?, node.add_integer(axis)?);
    node.ops("tf.SplitV", &[x, list, axis], &[("num_split", Attribute::i64(sizes.len() as i64))], sizes.len())
}

/// The sum of what is added to the products.
pub(super) fn sum(node: &mut Node<'_, '_>, biases: [Option<ValueId>; 2]) -> Imported<Option<ValueId>> {
    match biases {
        [Some(a), Some(b)] => Ok(Some(node.op("tf.AddV2", &[a, b], &[])?)),
        [a, b] => Ok(a.or(b)),
    }
}

/// What a mask adds to the products of `[batch, heads, steps, keys]`: a number below all others
/// where it is zero. A vector has the number of keys of each row, a matrix a flag for each key, and
/// a mask of more dimensions one for each step, too.
fn bias_of_mask(
    node: &mut Node<'_, '_>,
    mask: ValueId,
    (x, key_count): (ValueId, ValueId),
    excluded: f32,
) -> Imported<ValueId> {
    let is_kept = match node.rank(mask)? {
        1 => {
            let (zero, one) = (node.add_integer(0)?, node.add_integer(1)?);
            let places = node.op("tf.Range", &[zero, key_count, one], &[])?;
            let places = node.reshape(places, &[1, 1, 1, -1])?;
            let counts = node.cast(mask, DType::I64)?;
            let counts = node.reshape(counts, &[-1, 1, 1, 1])?;
            node.op("tf.Less", &[places, counts], &[])?
        }
        rank @ 2..=4 => {
            let zero = node.add_number_like(mask, 0.0)?;
            let mut is_kept = node.op("tf.Greater", &[mask, zero], &[])?;
            for _ in rank..4 {
                let axis = node.add_integer(1)?;
                is_kept = node.op("tf.ExpandDims", &[is_kept, axis], &[])?;
            }
            is_kept
        }
        rank => return Err(format!("a mask of {rank} dimensions is not supported").into()),
    };
    let (zero, excluded) = (node.add_number_like(x, 0.0)?, node.add_number_like(x, excluded.into())?);
    node.op("tf.SelectV2", &[is_kept, zero, excluded], &[])
}

/// As [`bias_of_mask`], with the number that the node's attribute gives for what is hidden.
fn scores_of_mask(
    node: &mut Node<'_, '_>,
    mask: ValueId,
    (query, key): (ValueId, ValueId),
    past: Option<ValueId>,
) -> Imported<ValueId> {
    let count = key_count(node, key, past)?;
    let excluded = node.float_or("mask_filter_value", -10000.0)?;
    bias_of_mask(node, mask, (query, count), excluded)
}

/// The number of keys with those of the past.
fn key_count(node: &mut Node<'_, '_>, key: ValueId, past: Option<ValueId>) -> Imported<ValueId> {
    let own = Extent::Of(key, 2).to_scalar(node)?;
    let Some(past) = past else { return Ok(own) };
    let before = Extent::Of(past, 2).to_scalar(node)?;
    node.op("tf.AddV2", &[own, before], &[])
}

/// Projects the input to queries, keys and values. Past keys and values are one tensor.
fn project_and_attend(node: &mut Node<'_, '_>) -> Imported {
    let (x, weights) = (node.input(0)?, node.input(1)?);
    let projected = node.standard("MatMul", &[Some(x), Some(weights)], Vec::new(), 1)?[0];
    let added = Added { bias: node.optional(2), mask: node.optional(3), scores: node.optional(5) };
    attend_projected(node, projected, added, node.optional(4))
}

/// As [`project_and_attend`], where input and weights are integers with scales and zero points.
fn project_integers_and_attend(node: &mut Node<'_, '_>) -> Imported {
    let (operands, scales) = ([node.input(0)?, node.input(1)?], [node.input(3)?, node.input(4)?]);
    let zeros = [node.optional(6), node.optional(7)];
    let projected = scaled_product(node, operands, scales, zeros)?;
    let added = Added { bias: node.optional(2), mask: node.optional(5), scores: None };
    attend_projected(node, projected, added, node.optional(8))
}

/// What is added to projections and to scores.
struct Added {
    bias: Option<ValueId>,
    mask: Option<ValueId>,
    scores: Option<ValueId>,
}

/// Attention of queries, keys and values that lie one behind the other in a row, after those of the
/// past.
fn attend_projected(
    node: &mut Node<'_, '_>,
    mut projected: ValueId,
    added: Added,
    past: Option<ValueId>,
) -> Imported {
    if node.flag("do_rotary")? || node.flag("past_present_share_buffer")? {
        return Err("rotary positions and shared buffers are not supported".into());
    }
    let (weights, heads) = (node.input(1)?, head_count(node, "num_heads")?);
    if let Some(bias) = added.bias {
        projected = node.op("tf.AddV2", &[projected, bias], &[])?;
    }
    let sizes = match node.ints("qkv_hidden_sizes")?.filter(|sizes| sizes.len() == 3) {
        Some(sizes) => sizes,
        None => vec![known_extent(node, weights, 1, "the number of columns of the weights")? / 3; 3],
    };
    let split = parts(node, projected, &sizes)?;
    let [query, key, value] = [split[0], split[1], split[2]].map(|part| by_heads(node, part, heads));
    let (query, key, value) = (query?, key?, value?);
    let past = match past {
        None => [None; 2],
        Some(both) => {
            let attributes = [("axis", Attribute::i64(0)), ("num", Attribute::i64(2))];
            let split = node.ops("tf.Unpack", &[both], &attributes, 2)?;
            [Some(split[0]), Some(split[1])]
        }
    };
    let mask = added.mask.map(|mask| scores_of_mask(node, mask, (query, key), past[0])).transpose()?;
    let bias = sum(node, [mask, added.scores])?;
    let is_causal = node.flag("unidirectional")?;
    let outputs = Operands { query, key, value, bias, past }.attend(node, is_causal, 0.0)?;
    let present = node.op("tf.Pack", &outputs[1..3], &[("axis", Attribute::i64(0))])?;
    Ok(vec![outputs[0], present])
}

/// Queries, keys and values, which may be packed by head: `[batch, steps, heads, 3, size]`, or the
/// latter two in one.
fn attend(node: &mut Node<'_, '_>) -> Imported {
    let (x, heads) = (node.input(0)?, head_count(node, "num_heads")?);
    let unpack = |node: &mut Node<'_, '_>, x: ValueId, count: usize| -> Imported {
        let attributes = [("axis", Attribute::i64(3)), ("num", Attribute::i64(count as i64))];
        let split = node.ops("tf.Unpack", &[x], &attributes, count)?;
        split.into_iter().map(|part| node.transpose(part, &[0, 2, 1, 3])).collect()
    };
    let biases = match node.optional(3) {
        None => [None; 3],
        Some(bias) => projection_biases(node, bias, heads)?,
    };
    let mut operands = match (node.optional(1), node.optional(2)) {
        (None, _) => unpack(node, x, 3)?,
        (Some(key), None) => [vec![by_heads(node, x, heads)?], unpack(node, key, 2)?].concat(),
        (Some(key), Some(value)) => {
            let query = by_heads(node, x, heads)?;
            let [key, value] = [key, value].map(|x| match node.rank(x)? {
                4 => Ok(x),
                _ => by_heads(node, x, heads),
            });
            vec![query, key?, value?]
        }
    };
    for (operand, bias) in operands.iter_mut().zip(biases) {
        if let Some(bias) = bias {
            *operand = node.op("tf.AddV2", &[*operand, bias], &[])?;
        }
    }
    let (query, key, value) = (operands[0], operands[1], operands[2]);
    let past = [node.optional(6), node.optional(7)];
    let mask = node.optional(4);
    let mask = mask.map(|mask| scores_of_mask(node, mask, (query, key), past[0])).transpose()?;
    let bias = sum(node, [mask, node.optional(5)])?;
    let is_causal = node.flag("unidirectional")?;
    Operands { query, key, value, bias, past }.attend(node, is_causal, 0.0)
}

/// The biases of queries, keys and values, each in the shape of heads.
fn projection_biases(node: &mut Node<'_, '_>, bias: ValueId, heads: i64) -> Imported<[Option<ValueId>; 3]> {
    let whole = known_extent(node, bias, 0, "the number of biases")?;
    let own = match (node.rank(node.input(0)?)?, node.optional(2)) {
        (3, Some(_)) => known_extent(node, node.input(0)?, 2, "the extent of rows")?,
        _ => whole / 3,
    };
    let split = parts(node, bias, &[own, own, whole - 2 * own])?;
    let mut biases = [None; 3];
    for (to, part) in biases.iter_mut().zip(split) {
        *to = Some(node.reshape(part, &[heads, 1, -1])?);
    }
    Ok(biases)
}

/// The places come before the tables, and one number may be the first place of all rows.
fn rotary_embedding(node: &mut Node<'_, '_>) -> Imported {
    if node.flag("is_packed_batching")? || node.float_or("scale", 1.0)? != 1.0 {
        return Err("packed rows and a scale are not supported".into());
    }
    let (x, mut places) = (node.input(0)?, node.input(1)?);
    let tables = [node.input(2)?, node.input(3)?];
    let is_flat = node.rank(x)? == 3;
    let heads = match (is_flat, node.int_or("num_heads", 0)?) {
        (false, _) => known_extent(node, x, 1, "the number of heads")?,
        (true, 0) => {
            let half = known_extent(node, tables[0], 1, "the extent of the table of cosines")?;
            known_extent(node, x, 2, "the extent of rows")? / (2 * half).max(1)
        }
        (true, heads) => heads,
    };
    if node.rank(places)? == 1 {
        let (zero, one) = (node.add_integer(0)?, node.add_integer(1)?);
        let steps = Extent::Of(x, if is_flat { 1 } else { 2 }).to_scalar(node)?;
        let row = node.op("tf.Range", &[zero, steps, one], &[])?;
        let row = node.reshape(row, &[1, -1])?;
        let first = node.cast(places, DType::I64)?;
        let first = node.reshape(first, &[-1, 1])?;
        places = node.op("tf.AddV2", &[row, first], &[])?;
        let shape = super::super::dims::shape(node, &[Extent::Of(x, 0), Extent::Number(1)])?;
        let zeros = node.op("tf.Fill", &[shape, zero], &[])?;
        places = node.op("tf.AddV2", &[places, zeros], &[])?;
    }
    let attributes = vec![
        int("interleaved", node.int_or("interleaved", 0)?),
        int("rotary_embedding_dim", node.int_or("rotary_embedding_dim", 0)?),
        int("num_heads", heads),
    ];
    let inputs = [Some(x), Some(tables[0]), Some(tables[1]), Some(places)];
    node.standard("RotaryEmbedding", &inputs, attributes, 1)
}
