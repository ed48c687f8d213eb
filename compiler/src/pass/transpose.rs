//! Moves transposes behind operations, until they meet and cancel.
//!
//! Models with channels first come with a transpose before and behind each convolution, since the
//! ops compute with channels last. Between two convolutions there are operations to which the order
//! of dimensions does not matter, or which can be told of another one: axes, paddings and constants
//! are moved instead of the tensor.

use std::ops::Range;

use tfrt_ir::{Attribute, OpId, ValueId};

use super::rewrite::{Rewriter, apply};
use crate::{
    Evaluator, Graph,
    elementwise::{BINARY, UNARY},
};

/// Sinks and cancels transposes.
pub(super) fn run(graph: &mut Graph, evaluator: &Evaluator) {
    apply(
        graph,
        evaluator,
        &[
            merge,
            cancel_reshapes,
            sink_elementwise,
            sink_reduction,
            sink_concat,
            sink_pad,
            sink_split,
            sink_squeeze,
            sink_expand_dims,
            drop_before_reshape,
            merge_reshapes,
            sink_reshape,
            sink_slice,
            sink_resize,
            sink_gather,
            absorb_into_product,
        ],
    );
}

/// The argument of a transpose and the order in which it takes the dimensions.
pub(super) fn transposed(rewriter: &Rewriter<'_>, value: ValueId) -> Option<(ValueId, Vec<usize>)> {
    let op = rewriter.defined_by(value, "tf.Transpose")?;
    let operands = &rewriter.op(op).operands;
    Some((operands[0], order(rewriter, operands[1])?))
}

fn order(rewriter: &Rewriter<'_>, value: ValueId) -> Option<Vec<usize>> {
    let order = rewriter.integers(value)?;
    let rank = order.len() as i64;
    let place = |axis: i64| usize::try_from(if axis < 0 { axis + rank } else { axis }).ok();
    order.into_iter().map(|axis| place(axis).filter(|&axis| axis < rank as usize)).collect()
}

fn inverse(order: &[usize]) -> Vec<usize> {
    let mut inverse = vec![0; order.len()];
    order.iter().enumerate().for_each(|(to, &from)| inverse[from] = to);
    inverse
}

fn is_identity(order: &[usize]) -> bool {
    order.iter().enumerate().all(|(to, &from)| to == from)
}

fn transpose(rewriter: &mut Rewriter<'_>, value: ValueId, order: &[usize]) -> Option<ValueId> {
    if is_identity(order) {
        return Some(value);
    }
    let order = rewriter.create_integers(&order.iter().map(|&axis| axis as i64).collect::<Vec<_>>())?;
    rewriter.create("tf.Transpose", &[value, order], none())
}

fn none() -> [(&'static str, Attribute); 0] {
    []
}

/// An axis of a transposed tensor, as an axis of the tensor itself.
fn source_axis(axis: i64, order: &[usize]) -> Option<i64> {
    let rank = order.len() as i64;
    let place = usize::try_from(if axis < 0 { axis + rank } else { axis }).ok()?;
    Some(*order.get(place)? as i64)
}

/// A transpose of a transpose, and one that changes nothing.
fn merge(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let value = rewriter.result(op)?;
    let (source, outer) = transposed(rewriter, value)?;
    if is_identity(&outer) {
        return rewriter.replace(op, &[source]);
    }
    let (first, inner) = transposed(rewriter, source)?;
    let both: Vec<_> = outer.iter().map(|&axis| inner[axis]).collect();
    let merged = transpose(rewriter, first, &both)?;
    rewriter.replace(op, &[merged])
}

/// A dimension that is added where one was taken away.
fn cancel_reshapes(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operation = rewriter.op(op);
    if operation.name != "tf.ExpandDims" {
        return None;
    }
    let (squeezed, result) = (operation.operands[0], rewriter.result(op)?);
    let squeeze = rewriter.defined_by(squeezed, "tf.Squeeze")?;
    let source = rewriter.op(squeeze).operands[0];
    let (before, after) = (rewriter.ty(source)?, rewriter.ty(result)?);
    // With at most one unknown extent, equal types are equal shapes.
    let unknown = before.dims.as_ref()?.iter().filter(|dim| dim.is_none()).count();
    if before != after || unknown > 1 {
        return None;
    }
    rewriter.replace(op, &[source])
}

fn sink_elementwise(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    if !is_elementwise(rewriter, op) {
        return None;
    }
    let operands = rewriter.op(op).operands.clone();
    let (_, order) = operands.iter().find_map(|&operand| transposed(rewriter, operand))?;
    let mut moved = Vec::new();
    for &operand in &operands {
        moved.push(match transposed(rewriter, operand) {
            Some((source, own)) if own == order => source,
            _ => moved_operand(rewriter, operand, &order)?,
        });
    }
    let results = rewriter.create_like(op, &moved)?;
    let result = transpose(rewriter, results[0], &order)?;
    rewriter.replace(op, &[result])
}

/// Whether an op computes each element from those in the same place, and from single numbers.
pub(super) fn is_elementwise(rewriter: &Rewriter<'_>, op: OpId) -> bool {
    let name = rewriter.op(op).name.as_str();
    UNARY.contains(&name) || BINARY.contains(&name) || name == "tf.SelectV2" || has_one_scale(rewriter, op)
}

/// Whether an op quantizes or dequantizes all elements alike.
fn has_one_scale(rewriter: &Rewriter<'_>, op: OpId) -> bool {
    let operation = rewriter.op(op);
    let dims = |&scale: &ValueId| rewriter.ty(scale)?.static_dims();
    matches!(operation.name.as_str(), "onnx.QuantizeLinear" | "onnx.DequantizeLinear")
        && operation.operands.get(1).and_then(dims).is_some_and(|dims| dims.iter().all(|&dim| dim == 1))
        && operation.attr("block_size").and_then(Attribute::as_int).unwrap_or(0) == 0
}

/// An operand that is broadcast to a transposed tensor, as one that is broadcast to the tensor
/// itself: a constant, or one number for all.
fn moved_operand(rewriter: &mut Rewriter<'_>, operand: ValueId, order: &[usize]) -> Option<ValueId> {
    let dims = rewriter.ty(operand)?.static_dims();
    let is_single = dims.as_ref().is_some_and(|dims| dims.iter().all(|&dim| dim == 1));
    if is_single && dims.as_ref()?.len() <= 1 {
        return Some(operand);
    }
    rewriter.constant(operand)?;
    let dims = dims?;
    if dims.len() > order.len() {
        return None;
    }
    let mut padded: Vec<i64> = vec![1; order.len() - dims.len()];
    for dim in dims {
        padded.push(i64::try_from(dim).ok()?);
    }
    let shape = rewriter.create_integers(&padded)?;
    let padded = rewriter.create("tf.Reshape", &[operand, shape], none())?;
    transpose(rewriter, padded, &inverse(order))
}

fn sink_reduction(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operation = rewriter.op(op);
    if !matches!(operation.name.as_str(), "tf.Mean" | "tf.Sum" | "tf.Max" | "tf.Min" | "tf.Prod") {
        return None;
    }
    let (operand, axes) = (operation.operands[0], operation.operands[1]);
    let (source, order) = transposed(rewriter, operand)?;
    let axes = rewriter.integers(axes)?;
    let axes = axes.into_iter().map(|axis| source_axis(axis, &order)).collect::<Option<Vec<_>>>()?;
    let axes_value = rewriter.create_integers(&axes)?;
    let keeps = rewriter.flag(op, "keep_dims");
    let reduced = rewriter.create_like(op, &[source, axes_value])?[0];
    let result = if keeps {
        transpose(rewriter, reduced, &order)?
    } else {
        // What is left of the order, among the dimensions that are left.
        let left: Vec<_> = order.iter().copied().filter(|&axis| !axes.contains(&(axis as i64))).collect();
        let mut sorted = left.clone();
        sorted.sort_unstable();
        let order = left.iter().map(|axis| sorted.iter().position(|other| other == axis));
        transpose(rewriter, reduced, &order.collect::<Option<Vec<_>>>()?)?
    };
    rewriter.replace(op, &[result])
}

fn sink_concat(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operation = rewriter.op(op);
    if operation.name != "tf.ConcatV2" {
        return None;
    }
    let (&axis, parts) = operation.operands.split_last()?;
    let parts = parts.iter().map(|&part| transposed(rewriter, part)).collect::<Option<Vec<_>>>()?;
    let order = parts.first()?.1.clone();
    if parts.iter().any(|(_, own)| *own != order) {
        return None;
    }
    let &[axis] = &rewriter.integers(axis)?[..] else { return None };
    let axis = rewriter.create_integers(&[source_axis(axis, &order)?])?;
    let scalar = rewriter.create_integers(&[])?;
    let axis = rewriter.create("tf.Reshape", &[axis, scalar], none())?;
    let mut operands: Vec<_> = parts.iter().map(|(source, _)| *source).collect();
    operands.push(axis);
    let joined = rewriter.create_like(op, &operands)?[0];
    let result = transpose(rewriter, joined, &order)?;
    rewriter.replace(op, &[result])
}

fn sink_pad(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operation = rewriter.op(op);
    if !matches!(operation.name.as_str(), "tf.Pad" | "tf.PadV2" | "tf.MirrorPad") {
        return None;
    }
    let mut operands = operation.operands.clone();
    let (source, order) = transposed(rewriter, operands[0])?;
    let paddings = rewriter.integers(operands[1])?;
    if paddings.len() != 2 * order.len() {
        return None;
    }
    let moved: Vec<_> =
        inverse(&order).iter().flat_map(|&place| [paddings[2 * place], paddings[2 * place + 1]]).collect();
    let shape = rewriter.create_integers(&[order.len() as i64, 2])?;
    let moved = rewriter.create_integers(&moved)?;
    operands[1] = rewriter.create("tf.Reshape", &[moved, shape], none())?;
    operands[0] = source;
    let padded = rewriter.create_like(op, &operands)?[0];
    let result = transpose(rewriter, padded, &order)?;
    rewriter.replace(op, &[result])
}

fn sink_split(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operation = rewriter.op(op);
    let (tensor, axis) = match operation.name.as_str() {
        "tf.Split" => (1, 0),
        "tf.SplitV" => (0, 2),
        _ => return None,
    };
    let mut operands = operation.operands.clone();
    let (source, order) = transposed(rewriter, operands[tensor])?;
    let &[along] = &rewriter.integers(operands[axis])?[..] else { return None };
    let along = rewriter.create_integers(&[source_axis(along, &order)?])?;
    let scalar = rewriter.create_integers(&[])?;
    operands[axis] = rewriter.create("tf.Reshape", &[along, scalar], none())?;
    operands[tensor] = source;
    let parts = rewriter.create_like(op, &operands)?;
    let parts: Vec<_> =
        parts.into_iter().map(|part| transpose(rewriter, part, &order)).collect::<Option<_>>()?;
    rewriter.replace(op, &parts)
}

fn sink_squeeze(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operation = rewriter.op(op);
    if operation.name != "tf.Squeeze" {
        return None;
    }
    let axes = operation.attr("squeeze_dims")?.as_array()?;
    let axes = axes.iter().map(|axis| i64::try_from(axis.as_int()?).ok()).collect::<Option<Vec<_>>>()?;
    let (source, order) = transposed(rewriter, operation.operands[0])?;
    let axes = axes.into_iter().map(|axis| source_axis(axis, &order)).collect::<Option<Vec<_>>>()?;
    let left: Vec<_> = order.iter().copied().filter(|&axis| !axes.contains(&(axis as i64))).collect();
    if axes.is_empty() {
        return None;
    }
    let mut sorted = left.clone();
    sorted.sort_unstable();
    let after: Vec<_> =
        left.iter().filter_map(|axis| sorted.iter().position(|other| other == axis)).collect();
    let attribute = Attribute::array(axes.iter().map(|&axis| Attribute::i64(axis)).collect::<Vec<_>>());
    let squeezed = rewriter.create("tf.Squeeze", &[source], [("squeeze_dims", attribute)])?;
    let result = transpose(rewriter, squeezed, &after)?;
    rewriter.replace(op, &[result])
}

/// The new dimension goes to the same place among its neighbours: in front of the one that follows
/// it.
fn sink_expand_dims(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operation = rewriter.op(op);
    if operation.name != "tf.ExpandDims" {
        return None;
    }
    let (operand, axis) = (operation.operands[0], operation.operands[1]);
    let (source, order) = transposed(rewriter, operand)?;
    let &[axis] = &rewriter.integers(axis)?[..] else { return None };
    let rank = order.len();
    let axis = usize::try_from(if axis < 0 { axis + rank as i64 + 1 } else { axis }).ok()?;
    // Behind everything it goes last, else where the dimension lies that it is put in front of.
    let place = order.get(axis).copied().unwrap_or(rank);
    let mut after: Vec<_> = order.iter().map(|&from| if from >= place { from + 1 } else { from }).collect();
    after.insert(axis.min(rank), place);
    let place = rewriter.create_integers(&[place as i64])?;
    let scalar = rewriter.create_integers(&[])?;
    let place = rewriter.create("tf.Reshape", &[place, scalar], none())?;
    let expanded = rewriter.create("tf.ExpandDims", &[source, place], none())?;
    let result = transpose(rewriter, expanded, &after)?;
    rewriter.replace(op, &[result])
}

/// A slice with a begin, an end and a step for each dimension.
fn sink_slice(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operation = rewriter.op(op);
    if operation.name != "tf.StridedSlice" {
        return None;
    }
    let (mut operands, mut attributes) = (operation.operands.clone(), operation.attributes.clone());
    let (source, order) = transposed(rewriter, operands[0])?;
    let places = inverse(&order);
    let mask = |name: &str| {
        let value = attributes.get(name).map_or(Some(0), Attribute::as_int)?;
        i64::try_from(value).ok()
    };
    if ["ellipsis_mask", "new_axis_mask", "shrink_axis_mask"].into_iter().any(|name| mask(name) != Some(0)) {
        return None;
    }
    let masks = [("begin_mask", mask("begin_mask")?), ("end_mask", mask("end_mask")?)];
    for operand in &mut operands[1..] {
        let numbers = rewriter.integers(*operand).filter(|numbers| numbers.len() == order.len())?;
        let moved: Vec<_> = places.iter().map(|&place| numbers[place]).collect();
        *operand = rewriter.create_integers(&moved)?;
    }
    for (name, mask) in masks {
        let bits = places.iter().enumerate().map(|(to, &from)| (mask >> from & 1) << to);
        attributes.set(name, Attribute::i64(bits.sum()));
    }
    operands[0] = source;
    let sliced = rewriter.create("tf.StridedSlice", &operands, attributes.entries().to_vec())?;
    let result = transpose(rewriter, sliced, &order)?;
    rewriter.replace(op, &[result])
}

/// Moves a transpose behind a resize, and permutes the axes that the resize names.
fn sink_resize(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operation = rewriter.op(op);
    if operation.name != "onnx.Resize" {
        return None;
    }
    let (mut operands, mut attributes) = (operation.operands.clone(), operation.attributes.clone());
    let (source, order) = transposed(rewriter, operands[0])?;
    let axes = match attributes.get("axes") {
        Some(axes) => {
            let axes = axes.as_array()?.iter().map(|axis| i64::try_from(axis.as_int()?).ok());
            axes.collect::<Option<Vec<_>>>()?
        }
        None => (0..order.len() as i64).collect(),
    };
    let axes = axes.into_iter().map(|axis| source_axis(axis, &order)).collect::<Option<Vec<_>>>()?;
    let axes = Attribute::array(axes.into_iter().map(Attribute::i64).collect::<Vec<_>>());
    attributes.set("axes", axes);
    operands[0] = source;
    let resized = rewriter.create("onnx.Resize", &operands, attributes.entries().to_vec())?;
    let result = transpose(rewriter, resized, &order)?;
    rewriter.replace(op, &[result])
}

/// One slice of a transposed tensor is a transposed slice of the tensor.
fn sink_gather(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operation = rewriter.op(op);
    let batch = operation.attr("batch_dims").map_or(Some(0), Attribute::as_int)?;
    if operation.name != "tf.GatherV2" || batch != 0 {
        return None;
    }
    let (operand, index, axis) = (operation.operands[0], operation.operands[1], operation.operands[2]);
    let (source, order) = transposed(rewriter, operand)?;
    let &[axis] = &rewriter.integers(axis)?[..] else { return None };
    if rewriter.ty(index)?.rank()? != 0 {
        return None;
    }
    let along = source_axis(axis, &order)?;
    let axis = rewriter.create_integers(&[along])?;
    let scalar = rewriter.create_integers(&[])?;
    let axis = rewriter.create("tf.Reshape", &[axis, scalar], none())?;
    let gathered = rewriter.create_like(op, &[source, index, axis])?[0];
    // What is left of the order, among the dimensions that are left.
    let left = order.iter().filter(|&&axis| axis as i64 != along);
    let order: Vec<_> = left.map(|&axis| axis - usize::from(axis as i64 > along)).collect();
    let result = transpose(rewriter, gathered, &order)?;
    rewriter.replace(op, &[result])
}

/// A transpose that moves only dimensions of one is nothing to a reshape.
fn drop_before_reshape(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operation = rewriter.op(op);
    if operation.name != "tf.Reshape" {
        return None;
    }
    let (operand, shape) = (operation.operands[0], operation.operands[1]);
    let (source, order) = transposed(rewriter, operand)?;
    let dims = rewriter.ty(source)?.dims?;
    let kept: Vec<_> = order.iter().copied().filter(|&axis| dims[axis] != Some(1)).collect();
    if !kept.is_sorted() {
        return None;
    }
    let result = rewriter.create("tf.Reshape", &[source, shape], none())?;
    rewriter.replace(op, &[result])
}

/// A reshape of a reshape.
pub(super) fn merge_reshapes(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operation = rewriter.op(op);
    if operation.name != "tf.Reshape" {
        return None;
    }
    let (operand, shape) = (operation.operands[0], operation.operands[1]);
    let inner = rewriter.defined_by(operand, "tf.Reshape")?;
    let source = rewriter.op(inner).operands[0];
    let result = rewriter.create("tf.Reshape", &[source, shape], none())?;
    rewriter.replace(op, &[result])
}

/// Axes of two shapes that have the same elements, in order: each pair of ranges holds as many
/// elements on either side. At most one extent is unknown, which is alone then.
fn matching_axes(from: &[Option<u64>], to: &[Option<u64>]) -> Option<Vec<[Range<usize>; 2]>> {
    let (mut pairs, mut start) = (Vec::new(), [0, 0]);
    while start[0] < from.len() && start[1] < to.len() {
        let mut end = [start[0] + 1, start[1] + 1];
        match (from[start[0]], to[start[1]]) {
            (None, None) => {}
            (Some(a), Some(b)) => {
                let (mut a, mut b) = (a, b);
                while a != b {
                    if a < b {
                        a = a.checked_mul((*from.get(end[0])?)?)?;
                        end[0] += 1;
                    } else {
                        b = b.checked_mul((*to.get(end[1])?)?)?;
                        end[1] += 1;
                    }
                }
            }
            _ => return None,
        }
        pairs.push([start[0]..end[0], start[1]..end[1]]);
        start = end;
    }
    // Extents of one may be left over.
    let are_ones = |left: &[Option<u64>]| left.iter().all(|&extent| extent == Some(1));
    if !are_ones(&from[start[0]..]) || !are_ones(&to[start[1]..]) {
        return None;
    }
    let last = pairs.last_mut()?;
    (last[0].end, last[1].end) = (from.len(), to.len());
    let unknown = pairs.iter().filter(|[axes, _]| from[axes.clone()].contains(&None)).count();
    (unknown <= 1).then_some(pairs)
}

/// A reshape that divides or joins dimensions that also adjoin before the transpose comes first. If
/// a transpose joined them in another order, that much of it stays before the reshape.
fn sink_reshape(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operation = rewriter.op(op);
    if operation.name != "tf.Reshape" {
        return None;
    }
    let operand = operation.operands[0];
    let (source, order) = transposed(rewriter, operand)?;
    let (from, to) = (rewriter.ty(operand)?.dims?, rewriter.ty(rewriter.result(op)?)?.dims?);
    let pairs = matching_axes(&from, &to)?;
    // Groups of dimensions that stay together, by where they lie in the source.
    let start = |axes: &Range<usize>| order[axes.clone()].iter().copied().min().unwrap_or(0);
    let adjoin =
        |axes: &Range<usize>| order[axes.clone()].iter().all(|&axis| axis < start(axes) + axes.len());
    if !pairs.iter().all(|[axes, _]| adjoin(axes)) {
        return None;
    }
    let mut groups: Vec<usize> = (0..pairs.len()).collect();
    groups.sort_by_key(|&group| start(&pairs[group][0]));
    if groups.is_sorted() {
        return None;
    }
    let local: Vec<_> =
        groups.iter().flat_map(|&group| order[pairs[group][0].clone()].iter().copied()).collect();
    let inner = transpose(rewriter, source, &local)?;
    let extent = |axis: usize| to[axis].map_or(Some(-1), |extent| i64::try_from(extent).ok());
    let shape = groups.iter().flat_map(|&group| pairs[group][1].clone()).map(extent);
    let shape = rewriter.create_integers(&shape.collect::<Option<Vec<_>>>()?)?;
    let reshaped = rewriter.create("tf.Reshape", &[inner, shape], none())?;
    // Where each axis of the result is now.
    let mut places = vec![0; to.len()];
    for (place, axis) in groups.iter().flat_map(|&group| pairs[group][1].clone()).enumerate() {
        places[axis] = place;
    }
    let result = transpose(rewriter, reshaped, &places)?;
    rewriter.replace(op, &[result])
}

/// A product takes matrices whose last two dimensions are swapped as they lie.
fn absorb_into_product(rewriter: &mut Rewriter<'_>, op: OpId) -> Option<()> {
    let operation = rewriter.op(op);
    let flags = match operation.name.as_str() {
        "tf.BatchMatMulV2" => ["adj_x", "adj_y"],
        "tf.MatMul" => ["transpose_a", "transpose_b"],
        _ => return None,
    };
    let mut operands = operation.operands.clone();
    let mut attributes = operation.attributes.clone();
    let mut has_changed = false;
    for (operand, flag) in operands.iter_mut().zip(flags) {
        let Some((source, order)) = transposed(rewriter, *operand) else { continue };
        let rank = order.len();
        let mut swapped: Vec<_> = (0..rank).collect();
        if rank < 2 {
            continue;
        }
        swapped.swap(rank - 1, rank - 2);
        if order == swapped && !rewriter.ty(*operand)?.dtype.mlir_name().starts_with("complex") {
            *operand = source;
            let value = !rewriter.flag(op, flag);
            attributes.set(flag, Attribute::Bool(value));
            has_changed = true;
        }
    }
    if !has_changed {
        return None;
    }
    let name = rewriter.op(op).name.clone();
    let result = rewriter.create(&name, &operands, attributes.entries().to_vec())?;
    rewriter.replace(op, &[result])
}
