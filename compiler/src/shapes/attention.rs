//! `onnx.Attention`: extents that arguments share are taken from the one that has them.

use super::{Call, Function, Inferred, onnx::formal, probe};
use crate::TensorType;

/// The function of an op of this family.
pub(super) fn function(name: &str) -> Option<Function> {
    (name == "onnx.Attention").then_some(attention)
}

/// What is known of heads: batch, how many they are, steps, size.
type Heads = [Option<u64>; 4];

/// `[batch, heads, steps, size]`, or `[batch, steps, heads * size]` with the attribute `count`.
fn heads(call: &Call<'_>, input: usize, count: &str) -> Option<Heads> {
    match *call.dims(formal(call, input)?)? {
        [batch, heads, steps, size] => Some([batch, heads, steps, size]),
        [batch, steps, row] => {
            let heads = call.int_attr(count).and_then(|heads| u64::try_from(heads).ok());
            let size = row.zip(heads).and_then(|(row, heads)| row.checked_div(heads));
            Some([batch, heads, steps, size])
        }
        _ => None,
    }
}

/// Keys or values with those of the past: `[batch, heads, steps, size]`.
fn joined(call: &Call<'_>, now: Heads, past: usize) -> Option<Heads> {
    let Some(past) = formal(call, past) else { return Some(now) };
    let &[batch, heads, before, size] = call.dims(past)? else { return None };
    let steps = before.zip(now[2]).and_then(|(before, steps)| before.checked_add(steps));
    Some([now[0].or(batch), now[1].or(heads), steps, now[3].or(size)])
}

fn attention(call: &Call<'_>) -> Inferred {
    if call.operands.iter().all(|operand| operand.ty.as_ref().is_some_and(|ty| ty.static_dims().is_some())) {
        return probe::infer(call);
    }
    let types = [0, 1, 2].map(|input| formal(call, input).and_then(|operand| call.dtype(operand)));
    let (Some(queries), Some(keys), Some(values), [Some(query_type), Some(key_type), Some(value_type)]) = (
        heads(call, 0, "q_num_heads"),
        heads(call, 1, "kv_num_heads"),
        heads(call, 2, "kv_num_heads"),
        types,
    ) else {
        return Ok(None);
    };
    let (Some(keys), Some(values)) = (joined(call, keys, 4), joined(call, values, 5)) else {
        return Ok(None);
    };
    let [batch, count, steps, _] = queries;
    let size = values[3];
    let is_packed = formal(call, 0).and_then(|x| call.dims(x)).is_some_and(|dims| dims.len() == 3);
    let y = match is_packed {
        true => vec![batch, steps, count.zip(size).and_then(|(count, size)| count.checked_mul(size))],
        false => vec![batch, count, steps, size],
    };
    let all = [
        TensorType::ranked(query_type, y),
        TensorType::ranked(key_type, keys),
        TensorType::ranked(value_type, values),
        TensorType::ranked(query_type, [batch, count, steps, keys[2]]),
    ];
    let wanted = call.attrs.optional::<&[i64]>("result_segment_sizes").ok().flatten();
    let is_wanted = |index: usize| match wanted {
        Some(sizes) => sizes.get(index) == Some(&1),
        None => index == 0,
    };
    Ok(Some(all.into_iter().enumerate().filter(|&(index, _)| is_wanted(index)).map(|(_, ty)| ty).collect()))
}
