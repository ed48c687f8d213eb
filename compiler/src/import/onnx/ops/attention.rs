//! Attention and rotary positions, of operations that TensorFlow has.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::{
    Family,
    dims::{Extent, known_extent, reshape},
};
use crate::import::onnx::node::{Imported, Node};

pub(super) const OPS: Family = &[("Attention", attention), ("RotaryEmbedding", rotary_embedding)];

/// `[batch, steps, heads * size]` as `[batch, heads, steps, size]`.
fn split_heads(node: &mut Node<'_, '_>, x: ValueId, heads: i64) -> Imported<ValueId> {
    let split = by_heads(node, x, heads)?;
    node.transpose(split, &[0, 2, 1, 3])
}

/// `[batch, steps, heads * size]` as `[batch, steps, heads, size]`.
fn by_heads(node: &mut Node<'_, '_>, x: ValueId, heads: i64) -> Imported<ValueId> {
    let size = match Extent::Of(x, 2).known(node)? {
        Some(hidden) if heads < 1 || hidden % heads != 0 => {
            return Err(format!("rows of {hidden} elements cannot be divided into {heads} heads").into());
        }
        Some(hidden) => hidden / heads,
        None => -1,
    };
    let dims = [Extent::Of(x, 0), Extent::Of(x, 1), Extent::Number(heads), Extent::Number(size)];
    reshape(node, x, &dims)
}

/// Queries, keys and values by head, the latter two after those of earlier steps.
pub(super) struct Heads {
    pub(super) query: ValueId,
    pub(super) key: ValueId,
    pub(super) value: ValueId,
    /// The number of earlier steps.
    past: Option<Extent>,
    /// The numbers of heads.
    query_count: Extent,
    key_count: Extent,
}

impl Heads {
    pub(super) fn new(node: &mut Node<'_, '_>) -> Imported<Self> {
        let [query, key, value] = [0, 1, 2].map(|index| node.input(index));
        let (mut query, mut key, mut value) = (query?, key?, value?);
        let count = |node: &Node<'_, '_>, x: ValueId, name: &str| -> Imported<Extent> {
            match node.rank(x)? {
                4 => Ok(Extent::Of(x, 1)),
                3 => {
                    let count = node.int(name)?;
                    Ok(Extent::Number(count.ok_or_else(|| format!("attribute '{name}' is missing"))?))
                }
                rank => Err(format!("an input has {rank} dimensions instead of 3 or 4").into()),
            }
        };
        let query_count = count(node, query, "q_num_heads")?;
        let key_count = count(node, key, "kv_num_heads")?;
        let counts = query_count.known(node)?.zip(key_count.known(node)?);
        if let Some((queries, keys)) = counts.filter(|&(queries, keys)| keys < 1 || queries % keys != 0) {
            return Err(format!("{queries} heads of queries cannot share {keys} of keys").into());
        }
        if node.rank(query)? == 3
            && let Some((queries, keys)) = counts
        {
            query = split_heads(node, query, queries)?;
            key = split_heads(node, key, keys)?;
            value = split_heads(node, value, keys)?;
        }
        let past = node.optional(4).map(|past| Extent::Of(past, 2));
        key = after(node, node.optional(4), key)?;
        value = after(node, node.optional(5), value)?;
        Ok(Self { query, key, value, past, query_count, key_count })
    }

    /// `query * key^T * scale`, where attribute `scale` is by default one over the root of the size of
    /// a head.
    pub(super) fn products(&self, node: &mut Node<'_, '_>) -> Imported<ValueId> {
        let scale = match node.float("scale")? {
            Some(scale) => f64::from(scale),
            None => 1.0 / (known_extent(node, self.query, 3, "the size of heads")? as f64).sqrt(),
        };
        let scale = node.add_number_like(self.query, scale)?;
        let scaled = node.op("tf.Mul", &[self.query, scale], &[])?;
        let shared = self.share(node, scaled, true)?;
        let transposed = [("adj_y", Attribute::Bool(true))];
        let products = node.op("tf.BatchMatMulV2", &[shared, self.key], &transposed)?;
        self.share(node, products, false)
    }

    /// Queries that share a head of keys as steps of that head, or back: `[batch, heads, steps,
    /// size]`.
    pub(super) fn share(&self, node: &mut Node<'_, '_>, x: ValueId, is_joined: bool) -> Imported<ValueId> {
        let counts = self.query_count.known(node)?.zip(self.key_count.known(node)?);
        if counts.is_some_and(|(queries, keys)| queries == keys) {
            return Ok(x);
        }
        let (heads, steps) = match (is_joined, counts, Extent::Of(self.query, 2).known(node)?) {
            (true, Some((queries, keys)), Some(steps)) => {
                (self.key_count, Extent::Number(steps * (queries / keys)))
            }
            (true, ..) => (self.key_count, Extent::Number(-1)),
            (false, ..) => (self.query_count, Extent::Of(self.query, 2)),
        };
        reshape(node, x, &[Extent::Of(x, 0), heads, steps, Extent::Of(x, 3)])
    }
}

/// Steps after those before, if there are any.
fn after(node: &mut Node<'_, '_>, past: Option<ValueId>, new: ValueId) -> Imported<ValueId> {
    let Some(past) = past else { return Ok(new) };
    let axis = node.add_integer(2)?;
    node.op("tf.ConcatV2", &[past, new, axis], &[])
}

/// `softmax(query * key^T * scale + bias) * value`, where queries may share keys and values.
fn attention(node: &mut Node<'_, '_>) -> Imported {
    let is_flat = node.rank(node.input(0)?)? == 3;
    let heads = Heads::new(node)?;
    let dtype = node.dtype(heads.query)?;
    let products = heads.products(node)?;
    let capped = capped(node, products)?;
    let mut scores = capped;
    for bias in biases(node, &heads)? {
        scores = node.op("tf.AddV2", &[scores, bias], &[])?;
    }
    let precise = match node.dtype_attribute("softmax_precision")? {
        Some(precision) => node.cast(scores, precision)?,
        None => scores,
    };
    let weights = node.op("tf.Softmax", &[precise], &[])?;
    let weights = node.cast(weights, dtype)?;
    let shared = heads.share(node, weights, true)?;
    let value = node.cast(heads.value, dtype)?;
    let result = node.op("tf.BatchMatMulV2", &[shared, value], &[])?;
    let mut result = heads.share(node, result, false)?;
    if is_flat {
        result = node.transpose(result, &[0, 2, 1, 3])?;
        let hidden = match (heads.query_count.known(node)?, Extent::Of(result, 3).known(node)?) {
            (Some(count), Some(size)) => Extent::Number(count * size),
            _ => Extent::Number(-1),
        };
        result = reshape(node, result, &[Extent::Of(result, 0), Extent::Of(result, 1), hidden])?;
    }
    let matrix = match node.int_or("qk_matmul_output_mode", 0)? {
        0 => products,
        1 => capped,
        2 => scores,
        3 => weights,
        other => return Err(format!("attribute 'qk_matmul_output_mode' must not be {other}").into()),
    };
    Ok(vec![result, heads.key, heads.value, matrix])
}

/// Scores within `softcap`, if that is given.
fn capped(node: &mut Node<'_, '_>, scores: ValueId) -> Imported<ValueId> {
    let bound = node.float_or("softcap", 0.0)?;
    if bound <= 0.0 {
        return Ok(scores);
    }
    let bound = node.add_number_like(scores, bound.into())?;
    let part = node.op("tf.RealDiv", &[scores, bound], &[])?;
    let part = node.op("tf.Tanh", &[part], &[])?;
    node.op("tf.Mul", &[part, bound], &[])
}

/// What is added to the scores: the mask, and minus infinity for later steps and for padding.
fn biases(node: &mut Node<'_, '_>, heads: &Heads) -> Imported {
    let mut biases = Vec::new();
    if let Some(mask) = node.optional(3) {
        let mask = match node.dtype(mask)? {
            DType::I1 => zero_where(node, mask, heads)?,
            _ => mask,
        };
        biases.push(padded_mask(node, mask, heads)?);
    }
    if node.flag("is_causal")? {
        let mut rows = count_to(node, Extent::Of(heads.query, 2), &[-1, 1])?;
        if let Some(past) = heads.past {
            let past = past.to_scalar(node)?;
            rows = node.op("tf.AddV2", &[rows, past], &[])?;
        }
        let columns = count_to(node, Extent::Of(heads.key, 2), &[1, -1])?;
        let is_known = node.op("tf.LessEqual", &[columns, rows], &[])?;
        biases.push(zero_where(node, is_known, heads)?);
    }
    if let Some(lengths) = node.optional(6) {
        let lengths = node.cast(lengths, DType::I64)?;
        let lengths = node.reshape(lengths, &[-1, 1, 1, 1])?;
        let columns = count_to(node, Extent::Of(heads.key, 2), &[1, 1, 1, -1])?;
        let is_used = node.op("tf.Less", &[columns, lengths], &[])?;
        biases.push(zero_where(node, is_used, heads)?);
    }
    Ok(biases)
}

/// The numbers from zero up to an extent, in this shape.
fn count_to(node: &mut Node<'_, '_>, end: Extent, dims: &[i64]) -> Imported<ValueId> {
    let (zero, end, one) = (node.add_integer(0)?, end.to_scalar(node)?, node.add_integer(1)?);
    let numbers = node.op("tf.Range", &[zero, end, one], &[])?;
    node.reshape(numbers, dims)
}

/// Zero where a condition holds, and minus infinity elsewhere.
fn zero_where(node: &mut Node<'_, '_>, condition: ValueId, heads: &Heads) -> Imported<ValueId> {
    let zero = node.add_number_like(heads.query, 0.0)?;
    let excluded = node.add_number_like(heads.query, f64::NEG_INFINITY)?;
    node.op("tf.SelectV2", &[condition, zero, excluded], &[])
}

/// The mask with minus infinity for the steps that it does not reach.
fn padded_mask(node: &mut Node<'_, '_>, mask: ValueId, heads: &Heads) -> Imported<ValueId> {
    let rank = node.rank(mask)?;
    let Some(last) = rank.checked_sub(1) else { return Ok(mask) };
    let (own, steps) = (Extent::Of(mask, last), Extent::Of(heads.key, 2));
    if let (Some(own), Some(steps)) = (own.known(node)?, steps.known(node)?)
        && own >= steps
    {
        return Ok(mask);
    }
    let (own, steps) = (own.to_scalar(node)?, steps.to_scalar(node)?);
    let missing = node.op("tf.Sub", &[steps, own], &[])?;
    let missing = node.reshape(missing, &[1])?;
    let before = node.add_integers(&vec![0; 2 * rank - 1])?;
    let axis = node.add_integer(0)?;
    let pads = node.op("tf.ConcatV2", &[before, missing, axis], &[])?;
    let pads = node.reshape(pads, &[rank as i64, 2])?;
    let excluded = node.add_number_like(mask, f64::NEG_INFINITY)?;
    node.op("tf.PadV2", &[mask, pads, excluded], &[])
}

/// Rotates pairs of elements by the angle of their position.
fn rotary_embedding(node: &mut Node<'_, '_>) -> Imported {
    let operands = [Some(node.input(0)?), Some(node.input(1)?), Some(node.input(2)?), node.optional(3)];
    let mut attributes = vec![
        ("interleaved", Attribute::i64(node.int_or("interleaved", 0)?)),
        ("rotary_embedding_dim", Attribute::i64(node.int_or("rotary_embedding_dim", 0)?)),
    ];
    if let Some(heads) = node.int("num_heads")? {
        attributes.push(("num_heads", Attribute::i64(heads)));
    }
    node.onnx_ops("onnx.RotaryEmbedding", &operands, &attributes, 1)
}
