//! Reductions over axes.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};

use super::Family;
use crate::import::onnx::node::{Imported, Node, type_attribute};

pub(super) const OPS: Family = &[
    ("ArgMax", |node| extreme(node, "tf.ArgMax")),
    ("ArgMin", |node| extreme(node, "tf.ArgMin")),
    ("ReduceL1", |node| {
        reduce(node, 18, |node, x, by| {
            let x = node.op("tf.Abs", &[x], &[])?;
            by.apply(node, "tf.Sum", x)
        })
    }),
    ("ReduceL2", |node| {
        reduce_as_floats(node, |node, x, by| {
            let x = node.op("tf.Square", &[x], &[])?;
            let sum = by.apply(node, "tf.Sum", x)?;
            node.op("tf.Sqrt", &[sum], &[])
        })
    }),
    ("ReduceLogSum", |node| {
        reduce_as_floats(node, |node, x, by| {
            let sum = by.apply(node, "tf.Sum", x)?;
            node.op("tf.Log", &[sum], &[])
        })
    }),
    ("ReduceLogSumExp", |node| reduce_as_floats(node, log_sum_exp)),
    ("ReduceMax", |node| reduce(node, 18, |node, x, by| by.apply_ordered(node, "tf.Max", x))),
    ("ReduceMean", |node| reduce(node, 18, |node, x, by| by.apply(node, "tf.Mean", x))),
    ("ReduceMin", |node| reduce(node, 18, |node, x, by| by.apply_ordered(node, "tf.Min", x))),
    ("ReduceProd", |node| reduce(node, 18, |node, x, by| by.apply(node, "tf.Prod", x))),
    ("ReduceSum", |node| reduce(node, 13, |node, x, by| by.apply(node, "tf.Sum", x))),
    ("ReduceSumSquare", |node| {
        reduce(node, 18, |node, x, by| {
            let x = node.op("tf.Square", &[x], &[])?;
            by.apply(node, "tf.Sum", x)
        })
    }),
];

/// The axes to reduce over, and whether they stay as extents of one.
struct Reduction {
    axes: ValueId,
    keeps: bool,
}

impl Reduction {
    fn apply(&self, node: &mut Node<'_, '_>, op: &str, x: ValueId) -> Imported<ValueId> {
        node.op(op, &[x, self.axes], &[("keep_dims", Attribute::Bool(self.keeps))])
    }

    /// As [`Self::apply`], for truth values too: false is less than true.
    fn apply_ordered(&self, node: &mut Node<'_, '_>, op: &str, x: ValueId) -> Imported<ValueId> {
        match (node.dtype(x)?, op) {
            (DType::I1, "tf.Max") => self.apply(node, "tf.Any", x),
            (DType::I1, _) => self.apply(node, "tf.All", x),
            _ => self.apply(node, op, x),
        }
    }
}

/// Computes a reduction from its operand.
type Compute = fn(&mut Node<'_, '_>, ValueId, &Reduction) -> Imported<ValueId>;

/// Reduces the first input. The axes are an attribute before operator set `since`.
fn reduce(node: &mut Node<'_, '_>, since: i64, compute: Compute) -> Imported {
    let x = node.input(0)?;
    let by = reduction(node, since, x)?;
    Ok(vec![compute(node, x, &by)?])
}

/// Reduces the first input. Integers are reduced as `f64`, as roots and logarithms need, and the
/// result is cast back.
fn reduce_as_floats(node: &mut Node<'_, '_>, compute: Compute) -> Imported {
    let x = node.input(0)?;
    let by = reduction(node, 18, x)?;
    let dtype = node.dtype(x)?;
    let x = match dtype {
        DType::I32 | DType::I64 | DType::UI32 | DType::UI64 => node.cast(x, DType::F64)?,
        _ => x,
    };
    let result = compute(node, x, &by)?;
    Ok(vec![node.cast(result, dtype)?])
}

/// The axes of a node that reduces `x`: where none are given, all are meant, or none if the node
/// says so.
fn reduction(node: &mut Node<'_, '_>, since: i64, x: ValueId) -> Imported<Reduction> {
    let keeps = node.int_or("keepdims", 1)? != 0;
    let computed = if node.opset >= since { node.optional(1) } else { None };
    let known = match computed {
        Some(axes) => node.integers(axes),
        None => Some(node.ints("axes")?.unwrap_or_default()),
    };
    let axes = match (known, computed) {
        (Some(axes), _) if axes.is_empty() && node.flag("noop_with_empty_axes")? => {
            // Without axes each element is a reduction of its own.
            node.add_integers(&[])?
        }
        (Some(axes), _) if axes.is_empty() => {
            let rank = node.rank(x)?;
            node.add_integers(&(0..rank as i64).collect::<Vec<_>>())?
        }
        (Some(axes), _) => node.add_integers(&axes)?,
        (None, Some(axes)) if node.flag("noop_with_empty_axes")? => axes,
        (None, Some(axes)) => all_if_empty(node, axes, x)?,
        (None, None) => return Err("the axes are missing".into()),
    };
    Ok(Reduction { axes, keeps })
}

/// Axes that the model computes, or all axes of `x` if there turn out to be none.
fn all_if_empty(node: &mut Node<'_, '_>, axes: ValueId, x: ValueId) -> Imported<ValueId> {
    if node.ty(axes)?.static_dims().is_some_and(|dims| dims != [0]) {
        return Ok(axes);
    }
    let dtype = node.dtype(axes)?;
    let rank = match node.ty(x)?.rank() {
        Some(rank) => node.add_integer(rank as i64)?,
        None => node.op("tf.Rank", &[x], &[])?,
    };
    let rank = node.cast(rank, dtype)?;
    let count = node.op("tf.Size", &[axes], &[("out_type", type_attribute(dtype))])?;
    let (zero, one) = (node.add_number_like(axes, 0.0)?, node.add_number_like(axes, 1.0)?);
    let is_empty = node.op("tf.Equal", &[count, zero], &[])?;
    let limit = node.op("tf.SelectV2", &[is_empty, rank, zero], &[])?;
    let all = node.op("tf.Range", &[zero, limit, one], &[])?;
    let axis = node.add_integer(0)?;
    node.op("tf.ConcatV2", &[axes, all, axis], &[])
}

/// `log(sum(exp(x)))`, with the greatest element taken out so that nothing overflows.
fn log_sum_exp(node: &mut Node<'_, '_>, x: ValueId, by: &Reduction) -> Imported<ValueId> {
    let kept = Reduction { axes: by.axes, keeps: true };
    let max = kept.apply(node, "tf.Max", x)?;
    // Where all elements are infinite the difference would be no number.
    let zero = node.add_number_like(x, 0.0)?;
    let is_finite = node.op("tf.IsFinite", &[max], &[])?;
    let max = node.op("tf.SelectV2", &[is_finite, max, zero], &[])?;
    let shifted = node.op("tf.Sub", &[x, max], &[])?;
    let grown = node.op("tf.Exp", &[shifted], &[])?;
    let sum = kept.apply(node, "tf.Sum", grown)?;
    let log = node.op("tf.Log", &[sum], &[])?;
    let result = node.op("tf.AddV2", &[log, max], &[])?;
    if by.keeps {
        return Ok(result);
    }
    // One element each: the sum only takes the dimensions away.
    by.apply(node, "tf.Sum", result)
}

fn extreme(node: &mut Node<'_, '_>, op: &str) -> Imported {
    let x = node.input(0)?;
    let (rank, selects_last) = (node.rank(x)?, node.flag("select_last_index")?);
    let axis = node.axis(node.int_or("axis", 0)?, rank.max(1))? as i64;
    let axis_value = node.add_integer(axis)?;
    let to = [("output_type", type_attribute(DType::I64))];
    let mut index = if selects_last {
        // The last of equal elements is the first from behind.
        let axes = node.add_integers(&[axis])?;
        let reversed = node.op("tf.ReverseV2", &[x, axes], &[])?;
        let behind = node.op(op, &[reversed, axis_value], &to)?;
        let shape = node.op("tf.Shape", &[x], &[("out_type", type_attribute(DType::I64))])?;
        let zero = node.add_integer(0)?;
        let extent = node.op("tf.GatherV2", &[shape, axis_value, zero], &[])?;
        let one = node.add_integer(1)?;
        let last = node.op("tf.Sub", &[extent, one], &[])?;
        node.op("tf.Sub", &[last, behind], &[])?
    } else {
        node.op(op, &[x, axis_value], &to)?
    };
    if node.int_or("keepdims", 1)? != 0 {
        index = node.op("tf.ExpandDims", &[index, axis_value], &[])?;
    }
    Ok(vec![index])
}
