//! `GroupQueryAttention`: several heads of queries share one of keys and values, with rotary
//! positions and a cache. All rows of a batch have the same number of steps.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::{
    Family,
    attention::{head_count, parts, sum},
    float, int,
};
use crate::import::onnx::{
    node::{Imported, Node},
    ops::dims::{Extent, known_extent, reshape},
};

pub(super) const OPS: Family = &[("GroupQueryAttention", attend)];

fn attend(node: &mut Node<'_, '_>) -> Imported {
    if node.int_or("qk_output", 0)? > 0 {
        return Err("attribute 'qk_output' is not supported".into());
    }
    if [12, 13, 16].into_iter().any(|index| node.optional(index).is_some()) {
        return Err("quantized caches and padded queries are not supported".into());
    }
    let heads = [head_count(node, "num_heads")?, head_count(node, "kv_num_heads")?];
    let [mut query, mut key, value] = operands(node, heads)?;
    let steps = Extent::Of(query, 1).to_scalar(node)?;
    let cache = Cache::of(node, steps)?;
    for (x, heads, weight, epsilon) in
        [(&mut query, heads[0], 14, "q_norm_epsilon"), (&mut key, heads[1], 15, "k_norm_epsilon")]
    {
        if let Some(weight) = node.optional(weight) {
            *x = normalized(node, *x, (heads, weight), epsilon)?;
        }
    }
    if node.flag("do_rotary")? {
        let places = cache.places(node, steps)?;
        query = rotated(node, query, heads[0], places)?;
        key = rotated(node, key, heads[1], places)?;
    }
    let mut mask = cache.mask(node)?;
    let window = node.int_or("local_window_size", -1)?;
    if window > 0 {
        let near = cache.window_mask(node, steps, (query, window))?;
        mask = sum(node, [mask, Some(near)])?;
    }
    let lengths = match cache.window {
        Some(_) => None,
        None => Some(lengths(node)?),
    };
    let [past_key, past_value] = cache.past;
    let operands = [Some(query), Some(key), Some(value), mask, past_key, past_value, lengths];
    let mut outputs = attention(node, &operands, heads)?;
    if let Some(scores) = outputs.get(3).copied() {
        outputs[0] = with_sinks(node, outputs[0], scores, heads[0])?;
    }
    for present in &mut outputs[1..3] {
        *present = cache.kept(node, *present)?;
    }
    Ok(outputs)
}

/// Queries, keys and values, which may lie one behind the other in rows.
fn operands(node: &mut Node<'_, '_>, [heads, shared]: [i64; 2]) -> Imported<[ValueId; 3]> {
    let x = node.input(0)?;
    if let (Some(key), Some(value)) = (node.optional(1), node.optional(2)) {
        return Ok([x, key, value]);
    }
    let size = known_extent(node, x, 2, "the extent of rows")? / (heads + 2 * shared);
    let split = parts(node, x, &[heads * size, shared * size, shared * size])?;
    Ok([split[0], split[1], split[2]])
}

/// The number of keys of each row, with those of the past and without what fills the row up.
fn lengths(node: &mut Node<'_, '_>) -> Imported<ValueId> {
    let last = node.cast(node.input(5)?, DType::I64)?;
    let (last, one) = (node.reshape(last, &[-1])?, node.add_integer(1)?);
    node.op("tf.AddV2", &[last, one], &[])
}

/// Normalizes each head of `x` by the root of its mean square.
fn normalized(
    node: &mut Node<'_, '_>,
    x: ValueId,
    (heads, weight): (i64, ValueId),
    epsilon: &str,
) -> Imported<ValueId> {
    let epsilon = match node.float(epsilon)? {
        Some(epsilon) => epsilon,
        None => node.float_or("qk_norm_epsilon", 1e-6)?,
    };
    let row = Extent::Number(known_extent(node, x, 2, "the extent of rows")?);
    let size = Extent::Number(known_extent(node, weight, 0, "the size of heads")?);
    let (batch, steps) = (Extent::Of(x, 0), Extent::Of(x, 1));
    let split = reshape(node, x, &[batch, steps, Extent::Number(heads), size])?;
    let attributes = vec![int("axis", -1), float("epsilon", epsilon)];
    let y = node.standard("RMSNormalization", &[Some(split), Some(weight)], attributes, 1)?[0];
    reshape(node, y, &[batch, steps, row])
}

/// Keys and values of earlier steps.
struct Cache {
    past: [Option<ValueId>; 2],
    /// How many steps there were before.
    before: ValueId,
    /// How many of them are in `past`.
    resident: ValueId,
    window: Option<Window>,
}

/// A cache of fixed capacity that drops old steps.
struct Window {
    capacity: ValueId,
    /// How many steps are kept after the call.
    kept: ValueId,
}

impl Cache {
    fn of(node: &mut Node<'_, '_>, steps: ValueId) -> Imported<Self> {
        let past = [node.optional(3), node.optional(4)];
        let window = node.int_or("local_window_size", -1)?;
        if !node.flag("sliding_window_cache")? {
            let before = match past[0] {
                Some(past) => Extent::Of(past, 2).to_scalar(node)?,
                None => node.add_integer(0)?,
            };
            return Ok(Self { past, before, resident: before, window: None });
        }
        let ([Some(key), Some(value)], true) = (past, window > 0) else {
            return Err("a sliding cache needs a window and past keys and values".into());
        };
        let capacity = Extent::Of(key, 2).to_scalar(node)?;
        // All rows have the same length, so that the first one tells it.
        let lengths = lengths(node)?;
        let [zero, one] = [0, 1].map(|number| node.add_integers(&[number]));
        let total = node.op("tf.Slice", &[lengths, zero?, one?], &[])?;
        let total = node.reshape(total, &[])?;
        let before = node.op("tf.Sub", &[total, steps], &[])?;
        let resident = resident(node, before, (capacity, window))?;
        let kept = self::resident(node, total, (capacity, window))?;
        let first = [key, value].map(|past| {
            let (begin, one) = (node.add_integers(&[0; 4])?, node.add_integers(&[-1])?);
            let (count, axis) = (node.reshape(resident, &[1])?, node.add_integer(0)?);
            let size = node.op("tf.ConcatV2", &[one, one, count, one, axis], &[])?;
            node.op("tf.Slice", &[past, begin, size], &[])
        });
        let [key, value] = first;
        Ok(Self {
            past: [Some(key?), Some(value?)],
            before,
            resident,
            window: Some(Window { capacity, kept }),
        })
    }

    /// The places of the new steps: `[batch, steps]`.
    fn places(&self, node: &mut Node<'_, '_>, steps: ValueId) -> Imported<ValueId> {
        if let Some(places) = node.optional(9) {
            return node.cast(places, DType::I64);
        }
        let (one, end) = (node.add_integer(1)?, node.op("tf.AddV2", &[self.before, steps], &[])?);
        let places = node.op("tf.Range", &[self.before, end, one], &[])?;
        let places = node.reshape(places, &[1, -1])?;
        // As many rows as the batch has.
        let lengths = lengths(node)?;
        let rows = node.reshape(lengths, &[-1, 1])?;
        let rows = node.op("tf.ZerosLike", &[rows], &[])?;
        node.op("tf.AddV2", &[places, rows], &[])
    }

    /// What the model adds to scores: for the keys of all steps, of which a sliding cache lacks the
    /// first ones.
    fn mask(&self, node: &mut Node<'_, '_>) -> Imported<Option<ValueId>> {
        let mask = node.optional(10);
        let (Some(mask), Some(_)) = (mask, &self.window) else { return Ok(mask) };
        let dropped = node.op("tf.Sub", &[self.before, self.resident], &[])?;
        let (zeros, axis) = (node.add_integers(&[0; 3])?, node.add_integer(0)?);
        let dropped = node.reshape(dropped, &[1])?;
        let begin = node.op("tf.ConcatV2", &[zeros, dropped, axis], &[])?;
        let size = node.add_integers(&[-1; 4])?;
        Ok(Some(node.op("tf.Slice", &[mask, begin, size], &[])?))
    }

    /// What hides the steps before a window that ends with the own one: `[1, 1, steps, keys]`.
    fn window_mask(
        &self,
        node: &mut Node<'_, '_>,
        steps: ValueId,
        (query, window): (ValueId, i64),
    ) -> Imported<ValueId> {
        let (zero, one) = (node.add_integer(0)?, node.add_integer(1)?);
        let count = node.op("tf.AddV2", &[self.resident, steps], &[])?;
        let keys = node.op("tf.Range", &[zero, count, one], &[])?;
        let keys = node.reshape(keys, &[1, 1, 1, -1])?;
        let own = node.op("tf.Range", &[self.resident, count, one], &[])?;
        let own = node.reshape(own, &[1, 1, -1, 1])?;
        let window = node.add_integer(window)?;
        let first = node.op("tf.Sub", &[own, window], &[])?;
        let is_near = node.op("tf.Greater", &[keys, first], &[])?;
        let [nothing, excluded] = [0.0, f64::NEG_INFINITY].map(|number| node.add_number_like(query, number));
        node.op("tf.SelectV2", &[is_near, nothing?, excluded?], &[])
    }

    /// The keys or values that the next call takes.
    fn kept(&self, node: &mut Node<'_, '_>, all: ValueId) -> Imported<ValueId> {
        let Some(Window { capacity, kept }) = self.window else { return Ok(all) };
        let count = Extent::Of(all, 2).to_scalar(node)?;
        let dropped = node.op("tf.Sub", &[count, kept], &[])?;
        let free = node.op("tf.Sub", &[capacity, kept], &[])?;
        let (zero, axis) = (node.add_integers(&[0])?, node.add_integer(0)?);
        let dropped = node.reshape(dropped, &[1])?;
        let begin = node.op("tf.ConcatV2", &[zero, zero, dropped, zero, axis], &[])?;
        let size = node.add_integers(&[-1; 4])?;
        let last = node.op("tf.Slice", &[all, begin, size], &[])?;
        let free = node.reshape(free, &[1])?;
        let (outer, inner) = (node.add_integers(&[0; 5])?, node.add_integers(&[0; 2])?);
        let around = node.op("tf.ConcatV2", &[outer, free, inner, axis], &[])?;
        let around = node.reshape(around, &[4, 2])?;
        node.op("tf.Pad", &[last, around], &[])
    }
}

/// How many of `count` steps a sliding cache holds: all that fit; beyond that, it drops as many at
/// once as its capacity exceeds the window, and one more.
fn resident(
    node: &mut Node<'_, '_>,
    count: ValueId,
    (capacity, window): (ValueId, i64),
) -> Imported<ValueId> {
    let (zero, slack) = (node.add_integer(0)?, node.add_integer(window - 1)?);
    let at_once = node.op("tf.Sub", &[capacity, slack], &[])?;
    let excess = node.op("tf.Sub", &[count, capacity], &[])?;
    let excess = node.op("tf.Maximum", &[excess, zero], &[])?;
    let one = node.add_integer(1)?;
    let rounded = node.op("tf.AddV2", &[excess, at_once], &[])?;
    let rounded = node.op("tf.Sub", &[rounded, one], &[])?;
    let times = node.op("tf.FloorDiv", &[rounded, at_once], &[])?;
    let dropped = node.op("tf.Mul", &[times, at_once], &[])?;
    node.op("tf.Sub", &[count, dropped], &[])
}

/// Rotates heads, `[batch, steps, heads * size]`, by the tables of cosines and sines at these
/// places.
fn rotated(node: &mut Node<'_, '_>, x: ValueId, heads: i64, places: ValueId) -> Imported<ValueId> {
    let (cosines, sines) = (node.input(7)?, node.input(8)?);
    let half = known_extent(node, cosines, 1, "the extent of the table of cosines")?;
    let size = known_extent(node, x, 2, "the extent of rows")? / heads;
    let attributes = [
        ("num_heads", Attribute::i64(heads)),
        ("interleaved", Attribute::i64(node.int_or("rotary_interleaved", 0)?)),
        ("rotary_embedding_dim", Attribute::i64(if half * 2 < size { half * 2 } else { 0 })),
    ];
    let operands = [Some(x), Some(cosines), Some(sines), Some(places)];
    Ok(node.onnx_ops("onnx.RotaryEmbedding", &operands, &attributes, 1)?[0])
}

/// Appends the op: its output, keys, values, and the scores if the softmax has sinks.
fn attention(node: &mut Node<'_, '_>, operands: &[Option<ValueId>], [heads, shared]: [i64; 2]) -> Imported {
    let has_sinks = node.flag("smooth_softmax")? || node.optional(11).is_some();
    let mut attributes = vec![
        ("q_num_heads", Attribute::i64(heads)),
        ("kv_num_heads", Attribute::i64(shared)),
        ("is_causal", Attribute::i64(node.int_or("causal", 1)?)),
        ("softcap", Attribute::f32(node.float_or("softcap", 0.0)?)),
    ];
    let scale = node.float_or("scale", 0.0)?;
    if scale != 0.0 {
        attributes.push(("scale", Attribute::f32(scale)));
    }
    if has_sinks {
        // The scores as the softmax takes them.
        attributes.push(("qk_matmul_output_mode", Attribute::i64(2)));
    }
    let results = [1, 1, 1, has_sinks.into()].map(Attribute::i64);
    attributes.push(("result_segment_sizes", Attribute::array(results)));
    node.onnx_ops("onnx.Attention", operands, &attributes, 3 + usize::from(has_sinks))
}

/// The output if the softmax of each head had one score more, the head's sink, that takes part in
/// the sum alone: the logarithm of the other scores' sum tells which part of it they are.
fn with_sinks(node: &mut Node<'_, '_>, y: ValueId, scores: ValueId, heads: i64) -> Imported<ValueId> {
    let wide = node.cast(scores, DType::F32)?;
    let last = node.add_integers(&[-1])?;
    let sums = node.standard("ReduceLogSumExp", &[Some(wide), Some(last)], vec![int("keepdims", 1)], 1)?[0];
    let sinks = match node.optional(11) {
        Some(sinks) => {
            let sinks = node.cast(sinks, DType::F32)?;
            node.reshape(sinks, &[1, heads, 1, 1])?
        }
        None => node.add_number_like(sums, 0.0)?,
    };
    let difference = node.op("tf.Sub", &[sums, sinks], &[])?;
    let part = node.op("tf.Sigmoid", &[difference], &[])?;
    let part = node.transpose(part, &[0, 2, 1, 3])?;
    let dtype = node.dtype(y)?;
    let part = node.cast(part, dtype)?;
    let row = known_extent(node, y, 2, "the extent of rows")?;
    let (batch, steps) = (Extent::Of(y, 0), Extent::Of(y, 1));
    let split = reshape(node, y, &[batch, steps, Extent::Number(heads), Extent::Number(row / heads)])?;
    let split = node.op("tf.Mul", &[split, part], &[])?;
    reshape(node, split, &[batch, steps, Extent::Number(row)])
}
