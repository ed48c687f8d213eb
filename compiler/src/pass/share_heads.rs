//! Lets heads of attention share keys and values that a model repeats for each of them: repeated
//! ones are the result of `tf.BroadcastTo` along an axis behind that of heads, and of `tf.Reshape`,
//! which joins the two. The op then takes them with an axis of one, and queries with an axis more.

use tfrt_ir::{Attribute, OpId, ValueId};

use super::fuse_attention::{FUSED, OUTPUT_ORDER, order_attribute};
use super::rewrite::Rewriter;

/// The axis of heads, and how many axes all operands have.
const HEADS: usize = 1;
const RANK: usize = 4;

fn static_dims(rewriter: &Rewriter<'_>, value: ValueId) -> Option<Vec<i64>> {
    let dims = rewriter.ty(value)?.static_dims()?;
    dims.into_iter().map(|dim| i64::try_from(dim).ok()).collect()
}

/// What is repeated for each of some heads: `[batch, heads, 1, …]`, and how often.
fn repeated(rewriter: &Rewriter<'_>, value: ValueId) -> Option<(ValueId, i64)> {
    let reshape = rewriter.defined_by(value, "tf.Reshape")?;
    let wide = rewriter.op(reshape).operands[0];
    let broadcast = rewriter.defined_by(wide, "tf.BroadcastTo")?;
    let source = rewriter.op(broadcast).operands[0];
    let [before, wide, joined] = [source, wide, value].map(|value| static_dims(rewriter, value));
    let (before, wide, joined) = (before?, wide?, joined?);
    let (&[b, h, 1, rows, size], &[_, _, count, ..]) = (&before[..], &wide[..]) else { return None };
    let fits = wide == [b, h, count, rows, size] && joined == [b, h * count, rows, size] && count > 1;
    fits.then_some((source, count))
}

/// The order of axes after the axis `split` became two.
fn with_axis(order: &[usize], split: usize) -> Vec<usize> {
    let place = |axis: usize| if axis > split { axis + 1 } else { axis };
    let axes = |&axis: &usize| if axis == split { vec![axis, axis + 1] } else { vec![place(axis)] };
    order.iter().flat_map(axes).collect()
}

/// The extents after one of heads became two.
fn with_extent(dims: &[i64], axis: usize, count: i64) -> Vec<i64> {
    let heads = dims[axis];
    let two = if heads == 1 { [1, 1] } else { [heads / count, count] };
    [&dims[..axis], &two, &dims[axis + 1..]].concat()
}

fn reshaped(rewriter: &mut Rewriter<'_>, value: ValueId, dims: &[i64]) -> Option<ValueId> {
    let shape = rewriter.create_integers(dims)?;
    rewriter.create("tf.Reshape", &[value, shape], std::iter::empty::<(&str, Attribute)>())
}

/// Takes keys and values before they are repeated.
pub(super) fn share_heads(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operation = rewriter.op(op);
    if operation.name != *FUSED {
        return None;
    }
    let (operands, mut attributes) = (operation.operands.clone(), operation.attributes.clone());
    let (keys, count) = repeated(rewriter, operands[1])?;
    let (values, _) = repeated(rewriter, operands[2]).filter(|&(_, values)| values == count)?;
    let names = ["query_order", "key_order", "value_order", OUTPUT_ORDER];
    let mut split = None;
    for (index, name) in names.into_iter().enumerate() {
        let order = attributes.get(name)?.as_array()?;
        let order: Vec<usize> =
            order.iter().map(|axis| usize::try_from(axis.as_int()?).ok()).collect::<Option<_>>()?;
        let is_of_heads = order.get(HEADS) == Some(&HEADS);
        let axis = match index {
            0 => *split.insert(*order.get(HEADS)?),
            1 | 2 if !is_of_heads => return None,
            _ => HEADS,
        };
        if order.len() != RANK {
            return None;
        }
        attributes.set(name, order_attribute(&with_axis(&order, axis)));
    }
    let result = static_dims(rewriter, rewriter.result(op)?)?;
    let (query_dims, split) = (static_dims(rewriter, operands[0])?, split?);
    if query_dims[split] % count != 0 {
        return None;
    }
    let mask = match operands.get(3) {
        Some(&mask) => {
            let dims = static_dims(rewriter, mask)?;
            match dims.len().checked_sub(RANK - HEADS) {
                Some(axis) => Some(reshaped(rewriter, mask, &with_extent(&dims, axis, count))?),
                None => Some(mask),
            }
        }
        None => None,
    };
    let queries = reshaped(rewriter, operands[0], &with_extent(&query_dims, split, count))?;
    let operands: Vec<_> = [queries, keys, values].into_iter().chain(mask).collect();
    let shared = rewriter.create(FUSED, &operands, attributes.entries().to_vec())?;
    let joined = reshaped(rewriter, shared, &result)?;
    rewriter.replace(op, &[joined])
}
