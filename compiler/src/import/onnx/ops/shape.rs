//! Shapes, and ops that move elements without computing.

use tfrt_host::DType;
use tfrt_ir::{Attribute, ValueId};
use tfrt_tensor::Accessor;

use super::Family;
use crate::import::onnx::node::{Imported, Node, ints, type_attribute};

static ME: Accessor = Accessor::new("import of ONNX shapes");

pub(super) const OPS: Family = &[
    ("Cast", cast),
    ("CastLike", cast_like),
    ("Concat", concat),
    ("Expand", expand),
    ("Flatten", flatten),
    ("Gather", gather),
    ("Range", range),
    ("Reshape", reshape),
    ("Shape", shape),
    ("Size", size),
    ("Slice", slice),
    ("Split", split),
    ("Squeeze", squeeze),
    ("Tile", tile),
    ("Transpose", transpose),
    ("Unsqueeze", unsqueeze),
];

fn cast(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let to = node.dtype_attribute("to")?.ok_or("attribute 'to' is missing")?;
    if let Some(narrow) = node.narrow_attribute("to")? {
        return Ok(vec![node.cast_narrow(x, narrow)?]);
    }
    Ok(vec![cast_to(node, x, to)?])
}

fn cast_like(node: &mut Node<'_, '_>) -> Imported {
    let (x, like) = (node.input(0)?, node.input(1)?);
    if let Some(narrow) = node.narrow(like) {
        return Ok(vec![node.cast_narrow(x, narrow)?]);
    }
    let to = node.dtype(like)?;
    Ok(vec![cast_to(node, x, to)?])
}

/// A cast, from and to strings too.
fn cast_to(node: &mut Node<'_, '_>, x: ValueId, to: DType) -> Imported<ValueId> {
    let from = node.dtype(x)?;
    match (from, to) {
        (from, to) if from == to => Ok(x),
        (DType::String, DType::F32 | DType::F64 | DType::I32 | DType::I64) => {
            node.op("tf.StringToNumber", &[x], &[("out_type", type_attribute(to))])
        }
        (DType::String, to) => {
            let numbers = node.op("tf.StringToNumber", &[x], &[("out_type", type_attribute(DType::F64))])?;
            node.cast(numbers, to)
        }
        // Truth values are written as numbers, as in ONNX Runtime.
        (DType::I1, DType::String) => {
            let numbers = node.cast(x, DType::I32)?;
            node.op("tf.AsString", &[numbers], &[])
        }
        (DType::F16 | DType::BF16 | DType::F32 | DType::F64, DType::String) => {
            node.op("tf.AsString", &[x], &[("shortest", Attribute::Bool(true))])
        }
        (_, DType::String) => node.op("tf.AsString", &[x], &[]),
        _ => node.cast(x, to),
    }
}

fn concat(node: &mut Node<'_, '_>) -> Imported {
    let mut inputs = node.all_inputs()?;
    let axis = node.int_or("axis", 1)?;
    if let [only] = inputs[..] {
        return Ok(vec![only]);
    }
    inputs.push(node.add_integer(axis)?);
    Ok(vec![node.op("tf.ConcatV2", &inputs, &[])?])
}

fn expand(node: &mut Node<'_, '_>) -> Imported {
    let (x, shape) = (node.input(0)?, node.input(1)?);
    // Where the result has the given shape TensorFlow's op does.
    if let (Some(to), Some(dims)) = (node.integers(shape), node.ty(x)?.static_dims())
        && to.len() >= dims.len()
        && to[to.len() - dims.len()..]
            .iter()
            .zip(&dims)
            .all(|(&to, &dim)| dim == 1 || i64::try_from(dim) == Ok(to))
    {
        return Ok(vec![node.op("tf.BroadcastTo", &[x, shape], &[])?]);
    }
    Ok(vec![node.op("onnx.Expand", &[x, shape], &[])?])
}

/// A matrix: the dimensions before `axis` are its rows, the others its columns.
pub(super) fn flattened(node: &mut Node<'_, '_>, x: ValueId, axis: usize) -> Imported<ValueId> {
    let dims = node.dims(x)?;
    let product = |dims: &[Option<u64>]| {
        let product = dims.iter().try_fold(1u64, |product, dim| product.checked_mul((*dim)?))?;
        i64::try_from(product).ok()
    };
    match (product(&dims[..axis]), product(&dims[axis..])) {
        (Some(rows), Some(columns)) => node.reshape(x, &[rows, columns]),
        (Some(rows), None) if rows > 0 => node.reshape(x, &[rows, -1]),
        (None, Some(columns)) if columns > 0 => node.reshape(x, &[-1, columns]),
        _ => {
            let shape = shape_of(node, x)?;
            let rows = extents(node, shape, 0, axis)?;
            let columns = extents(node, shape, axis, dims.len())?;
            let axes = node.add_integers(&[0])?;
            let keep = [("keep_dims", Attribute::Bool(true))];
            let (rows, columns) =
                (node.op("tf.Prod", &[rows, axes], &keep)?, node.op("tf.Prod", &[columns, axes], &keep)?);
            let axis = node.add_integer(0)?;
            let to = node.op("tf.ConcatV2", &[rows, columns, axis], &[])?;
            node.op("tf.Reshape", &[x, to], &[])
        }
    }
}

/// The shape of a value as a vector of i64.
pub(super) fn shape_of(node: &mut Node<'_, '_>, x: ValueId) -> Imported<ValueId> {
    node.op("tf.Shape", &[x], &[("out_type", type_attribute(DType::I64))])
}

/// Elements of a vector.
pub(super) fn extents(node: &mut Node<'_, '_>, vector: ValueId, from: usize, to: usize) -> Imported<ValueId> {
    let (from, to) = (node.add_integers(&[from as i64])?, node.add_integers(&[to as i64])?);
    let one = node.add_integers(&[1])?;
    node.op("tf.StridedSlice", &[vector, from, to, one], &[])
}

fn flatten(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let (rank, axis) = (node.rank(x)? as i64, node.int_or("axis", 1)?);
    let counted = if axis < 0 { axis + rank } else { axis };
    let place = usize::try_from(counted).ok().filter(|&place| place <= rank as usize);
    let axis = place.ok_or_else(|| format!("axis {axis} is outside of the range [-{rank}, {rank}]"))?;
    Ok(vec![flattened(node, x, axis)?])
}

fn gather(node: &mut Node<'_, '_>) -> Imported {
    let (x, indices) = (node.input(0)?, node.input(1)?);
    let axis = node.int_or("axis", 0)?;
    let indices = wrapped(node, indices, x, axis)?;
    let axis = node.add_integer(axis)?;
    Ok(vec![node.op("tf.GatherV2", &[x, indices, axis], &[])?])
}

/// Indices counted from the front. Negative ones count from the end of a dimension of `x`.
pub(super) fn wrapped(node: &mut Node<'_, '_>, indices: ValueId, x: ValueId, axis: i64) -> Imported<ValueId> {
    let is_negative = match node.constant(indices) {
        Some(_) => node.integers(indices).is_none_or(|indices| indices.iter().any(|&index| index < 0)),
        None => true,
    };
    if !is_negative {
        return Ok(indices);
    }
    let dtype = node.dtype(indices)?;
    let shape = node.op("tf.Shape", &[x], &[("out_type", type_attribute(dtype))])?;
    // An axis from the front needs no rank.
    let axis = match node.ty(x)?.rank() {
        None if axis >= 0 => axis,
        _ => node.axis(axis, node.rank(x)?)? as i64,
    };
    let (place, first) = (node.add_integer(axis)?, node.add_integer(0)?);
    let extent = node.op("tf.GatherV2", &[shape, place, first], &[])?;
    let zero = node.add_number_like(indices, 0.0)?;
    let is_negative = node.op("tf.Less", &[indices, zero], &[])?;
    let shifted = node.op("tf.AddV2", &[indices, extent], &[])?;
    node.op("tf.SelectV2", &[is_negative, shifted, indices], &[])
}

fn range(node: &mut Node<'_, '_>) -> Imported {
    let mut operands = Vec::new();
    for index in 0..3 {
        let x = node.input(index)?;
        // Some models give vectors of one element.
        operands.push(if node.ty(x)?.rank() == Some(1) { node.reshape(x, &[])? } else { x });
    }
    let [start, limit, delta] = operands[..] else { return Err("the op takes 3 inputs".into()) };
    let limit = reached_limit(node, start, limit, delta)?;
    Ok(vec![node.op("tf.Range", &[start, limit, delta], &[])?])
}

/// The limit of a range, or its start if the steps lead away from the limit: TensorFlow's op refuses
/// such ranges, which are empty in ONNX.
fn reached_limit(
    node: &mut Node<'_, '_>,
    start: ValueId,
    limit: ValueId,
    delta: ValueId,
) -> Imported<ValueId> {
    let zero = node.add_number_like(delta, 0.0)?;
    let is_down = node.op("tf.Less", &[delta, zero], &[])?;
    let known = node.constant(is_down).and_then(|constant| {
        let elements = constant.dense().ok()?.read::<bool>(&ME).ok()?;
        elements.first().copied()
    });
    match known {
        Some(true) => node.op("tf.Minimum", &[limit, start], &[]),
        Some(false) => node.op("tf.Maximum", &[limit, start], &[]),
        None => {
            let down = node.op("tf.Minimum", &[limit, start], &[])?;
            let up = node.op("tf.Maximum", &[limit, start], &[])?;
            node.op("tf.SelectV2", &[is_down, down, up], &[])
        }
    }
}

fn reshape(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let shape = match (node.opset < 5, node.optional(1)) {
        (false, Some(shape)) => shape,
        _ => {
            let shape = node.ints("shape")?.ok_or("the shape is missing")?;
            node.add_integers(&shape)?
        }
    };
    let allows_zero = node.flag("allowzero")?;
    let Some(mut to) = node.integers(shape) else {
        let attributes = [("allowzero", Attribute::i64(allows_zero.into()))];
        return Ok(vec![node.op("onnx.Reshape", &[x, shape], &attributes)?]);
    };
    if allows_zero || !to.contains(&0) {
        return Ok(vec![node.op("tf.Reshape", &[x, shape], &[])?]);
    }
    // A zero copies the extent in its place. If that is unknown, one such extent can be left to be
    // inferred.
    let Some(dims) = node.ty(x)?.dims else {
        let attributes = [("allowzero", Attribute::i64(0))];
        return Ok(vec![node.op("onnx.Reshape", &[x, shape], &attributes)?]);
    };
    for (place, extent) in to.iter_mut().enumerate() {
        if *extent == 0
            && let Some(Some(dim)) = dims.get(place)
        {
            *extent = i64::try_from(*dim).unwrap_or(-1);
        }
    }
    let left: Vec<_> =
        (0..to.len()).filter(|&place| to[place] == 0 && dims.get(place) == Some(&None)).collect();
    if let [place] = left[..]
        && !to.contains(&-1)
    {
        to[place] = -1;
    } else if !left.is_empty() {
        let attributes = [("allowzero", Attribute::i64(0))];
        return Ok(vec![node.op("onnx.Reshape", &[x, shape], &attributes)?]);
    }
    Ok(vec![node.reshape(x, &to)?])
}

fn shape(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let shape = shape_of(node, x)?;
    let (start, end) = (node.int_or("start", 0)?, node.int("end")?);
    if start == 0 && end.is_none() {
        return Ok(vec![shape]);
    }
    let Some(rank) = node.ty(x)?.rank() else {
        // Bounds count from either end, and beyond it they are cut to it.
        let bounds = [start, end.unwrap_or(i64::MAX), 1].map(|bound| node.add_integers(&[bound]));
        let [start, end, step] = bounds;
        return Ok(vec![node.op("tf.StridedSlice", &[shape, start?, end?, step?], &[])?]);
    };
    let rank = rank as i64;
    let place = |index: i64| if index < 0 { index + rank } else { index }.clamp(0, rank) as usize;
    let (start, end) = (place(start), place(end.unwrap_or(rank)));
    Ok(vec![extents(node, shape, start, end.max(start))?])
}

fn size(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    Ok(vec![node.op("tf.Size", &[x], &[("out_type", type_attribute(DType::I64))])?])
}

/// Bounds are attributes before operator set 10, and inputs since.
fn slice(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let (starts, ends, axes, steps) = if node.opset < 10 {
        (node.ints("starts")?, node.ints("ends")?, node.ints("axes")?, None)
    } else {
        let mut known = |index: usize| match node.optional(index) {
            None => Ok(None),
            Some(value) => match node.integers(value) {
                Some(values) => Ok(Some(values)),
                None => Err(()),
            },
        };
        match (known(1), known(2), known(3), known(4)) {
            (Ok(starts), Ok(ends), Ok(axes), Ok(steps)) => (starts, ends, axes, steps),
            _ => return computed_slice(node),
        }
    };
    let (Some(starts), Some(ends)) = (starts, ends) else { return Err("the bounds are missing".into()) };
    let axes = axes.unwrap_or_else(|| (0..starts.len() as i64).collect());
    let steps = steps.unwrap_or_else(|| vec![1; starts.len()]);
    if [ends.len(), axes.len(), steps.len()].iter().any(|&len| len != starts.len()) {
        return Err("starts, ends, axes and steps have different lengths".into());
    }
    let Some(rank) = node.ty(x)?.rank() else {
        return onnx_slice(node, x, [&starts, &ends, &axes, &steps]);
    };
    let (mut begin, mut end, mut stride) = (vec![0; rank], vec![0; rank], vec![1; rank]);
    let (mut begin_mask, mut end_mask) = ((1i64 << rank) - 1, (1i64 << rank) - 1);
    for (index, &axis) in axes.iter().enumerate() {
        let axis = node.axis(axis, rank)?;
        (begin[axis], end[axis], stride[axis]) = (starts[index], ends[index], steps[index]);
        begin_mask &= !(1 << axis);
        end_mask &= !(1 << axis);
        let extent = node.dims(x)?[axis].and_then(|extent| i64::try_from(extent).ok());
        // Steps back from before the first element begin at it, and take nothing in TensorFlow.
        if stride[axis] < 0 && begin[axis] < -1 {
            let Some(extent) = extent else {
                return onnx_slice(node, x, [&starts, &ends, &axes, &steps]);
            };
            begin[axis] = begin[axis].max(-extent);
        }
        // From the end to the very beginning has no index in TensorFlow: it is an end that is
        // masked.
        let is_before_first = end[axis] < 0 && extent.is_some_and(|extent| end[axis] < -extent);
        if stride[axis] < 0 && (is_before_first || end[axis] <= i64::from(i32::MIN)) {
            end_mask |= 1 << axis;
            end[axis] = 0;
        }
    }
    let (begin, end) = (node.add_integers(&begin)?, node.add_integers(&end)?);
    let stride = node.add_integers(&stride)?;
    let masks = [("begin_mask", Attribute::i64(begin_mask)), ("end_mask", Attribute::i64(end_mask))];
    Ok(vec![node.op("tf.StridedSlice", &[x, begin, end, stride], &masks)?])
}

/// A slice by the op that has the bounds of ONNX: starts, ends, axes and steps.
fn onnx_slice(node: &mut Node<'_, '_>, x: ValueId, bounds: [&[i64]; 4]) -> Imported {
    let mut operands = vec![Some(x)];
    for numbers in bounds {
        operands.push(Some(node.add_integers(numbers)?));
    }
    node.onnx_ops("onnx.Slice", &operands, &[], 1)
}

/// A slice whose bounds the model computes.
fn computed_slice(node: &mut Node<'_, '_>) -> Imported {
    let operands: Vec<_> = (0..5).map(|index| node.optional(index)).collect();
    node.onnx_ops("onnx.Slice", &operands, &[], 1)
}

/// Sizes are an attribute before operator set 13, and an input since. Without them the parts are
/// equal, but the last one, which may be smaller.
fn split(node: &mut Node<'_, '_>) -> Imported {
    let (x, parts) = (node.input(0)?, node.output_count());
    let axis = node.int_or("axis", 0)?;
    let sizes = match node.opset < 13 {
        true => node.ints("split")?.map(|sizes| node.add_integers(&sizes)).transpose()?,
        false => node.optional(1),
    };
    let place = match node.ty(x)?.rank() {
        Some(rank) => Some(node.axis(axis, rank)?),
        None => usize::try_from(axis).ok(),
    };
    let extent = node.ty(x)?.dims.zip(place).and_then(|(dims, place)| dims[place]);
    let axis_value = node.add_integer(axis)?;
    let count = ("num_split", Attribute::i64(parts as i64));
    let sizes = match (sizes, extent) {
        (Some(sizes), _) => sizes,
        (None, Some(extent)) if !extent.is_multiple_of(parts.max(1) as u64) => {
            let each = extent.div_ceil(parts.max(1) as u64);
            let sizes: Vec<i64> =
                (0..parts as u64).map(|part| extent.saturating_sub(part * each).min(each) as i64).collect();
            node.add_integers(&sizes)?
        }
        (None, None)
            if let Some(place) = place
                && node.opset >= 18 =>
        {
            computed_sizes(node, x, place, parts)?
        }
        (None, _) => return node.ops("tf.Split", &[axis_value, x], &[count], parts),
    };
    node.ops("tf.SplitV", &[x, sizes, axis_value], &[count], parts)
}

/// The sizes of the parts of a dimension whose extent is not known: all are equal but those at the
/// end, which have what is left.
fn computed_sizes(node: &mut Node<'_, '_>, x: ValueId, axis: usize, parts: usize) -> Imported<ValueId> {
    let shape = shape_of(node, x)?;
    let extent = extents(node, shape, axis, axis + 1)?;
    let (count, more) = (node.add_integer(parts as i64)?, node.add_integer(parts as i64 - 1)?);
    let sum = node.op("tf.AddV2", &[extent, more], &[])?;
    let each = node.op("tf.FloorDiv", &[sum, count], &[])?;
    let numbers = node.add_integers(&(0..parts as i64).collect::<Vec<_>>())?;
    let starts = node.op("tf.Mul", &[numbers, each], &[])?;
    let left = node.op("tf.Sub", &[extent, starts], &[])?;
    let zero = node.add_integer(0)?;
    let left = node.op("tf.Maximum", &[left, zero], &[])?;
    node.op("tf.Minimum", &[left, each], &[])
}

/// Axes that the model computes, in operator sets that give them by an input.
fn computed_axes(node: &mut Node<'_, '_>) -> Option<ValueId> {
    let axes = node.optional(1).filter(|_| node.opset >= 13)?;
    if node.integers(axes).is_some() { None } else { Some(axes) }
}

fn squeeze(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    if let Some(axes) = computed_axes(node) {
        return node.onnx_ops("onnx.Squeeze", &[Some(x), Some(axes)], &[], 1);
    }
    let axes = match node.axes(1, 13)? {
        Some(axes) => axes,
        None => {
            let dims = node.ty(x)?.dims.filter(|dims| !dims.contains(&None));
            // Unknown extents may turn out to be 1.
            let Some(dims) = dims else { return node.onnx_ops("onnx.Squeeze", &[Some(x)], &[], 1) };
            (0..dims.len()).filter(|&place| dims[place] == Some(1)).map(|place| place as i64).collect()
        }
    };
    if axes.is_empty() {
        return Ok(vec![x]);
    }
    Ok(vec![node.op("tf.Squeeze", &[x], &[("squeeze_dims", ints(&axes))])?])
}

fn unsqueeze(node: &mut Node<'_, '_>) -> Imported {
    let mut x = node.input(0)?;
    if let Some(axes) = computed_axes(node) {
        return Ok(vec![node.op("onnx.Unsqueeze", &[x, axes], &[])?]);
    }
    let axes = node.axes(1, 13)?.ok_or("the axes are missing")?;
    let rank = match node.ty(x)?.rank() {
        Some(rank) => rank + axes.len(),
        // Axes from the front need no rank.
        None if axes.iter().all(|&axis| axis >= 0) => usize::MAX >> 1,
        None => {
            let axes = node.add_integers(&axes)?;
            return Ok(vec![node.op("onnx.Unsqueeze", &[x, axes], &[])?]);
        }
    };
    let mut places = axes.iter().map(|&axis| node.axis(axis, rank)).collect::<Imported<Vec<_>>>()?;
    places.sort_unstable();
    for place in places {
        let axis = node.add_integer(place as i64)?;
        x = node.op("tf.ExpandDims", &[x, axis], &[])?;
    }
    Ok(vec![x])
}

fn tile(node: &mut Node<'_, '_>) -> Imported {
    let operands = [node.input(0)?, node.input(1)?];
    Ok(vec![node.op("tf.Tile", &operands, &[])?])
}

fn transpose(node: &mut Node<'_, '_>) -> Imported {
    let x = node.input(0)?;
    let order = match node.ints("perm")? {
        Some(order) => order,
        None => (0..node.rank(x)? as i64).rev().collect(),
    };
    Ok(vec![node.transpose(x, &order)?])
}
