//! Ops that move elements: what goes where is said by arguments.

use std::ops::Range;

use tfrt_host::{DType, Diagnostic};

use super::{Call, Function, Inferred, broadcast::show, extent};
use crate::TensorType;

/// The function of an op of this family.
pub(super) fn function(name: &str) -> Option<Function> {
    Some(match name {
        "tf.Reshape" => reshape,
        "onnx.Reshape" => onnx_reshape,
        "onnx.Expand" => expand,
        "tf.ExpandDims" => expand_dims,
        "tf.Squeeze" => squeeze,
        "tf.Transpose" => transpose,
        "tf.Concat" => |call| concat(call, 0, 1..call.operands.len()),
        "tf.ConcatOffset" => |call| Ok(call.operands.iter().skip(1).map(|part| part.ty.clone()).collect()),
        "tf.ConcatV2" => |call| {
            let last = call.operands.len().saturating_sub(1);
            concat(call, last, 0..last)
        },
        "tf.Gather" => gather_rows,
        "tf.GatherV2" => gather,
        "tf.GatherNd" => gather_nd,
        "tf.Pack" => pack,
        "tf.Split" => split,
        "tf.SplitV" => split_sizes,
        "tf.Unpack" => unpack,
        "tf.Slice" => slice,
        "tf.StridedSlice" => strided_slice,
        "tf.Pad" | "tf.PadV2" | "tf.MirrorPad" => pad,
        "tf.Tile" => tile,
        "tf.BroadcastArgs" => longer,
        "tf.BroadcastTo" => |call| shaped_by(call, 0, 1),
        "tf.Fill" => |call| shaped_by(call, 1, 0),
        "tf.ScatterNd" => |call| shaped_by(call, 1, 2),
        "tf.StridedSliceGrad" => |call| shaped_by(call, 4, 0),
        "tf.AvgPoolGrad" => |call| shaped_by(call, 1, 0),
        "tf.Conv2DBackpropInput" | "tf.DepthwiseConv2dNativeBackpropInput" => images_shaped_by,
        "tf.Conv2DBackpropFilter" | "tf.DepthwiseConv2dNativeBackpropFilter" => |call| shaped_by(call, 2, 1),
        "tf.Range" => range,
        "tf.OneHot" => one_hot,
        "tf.TopKV2" => top_k,
        "tf.SparseReshape" => sparse,
        "tf.Where" => positions,
        "tf.Identity"
        | "tf.InvertPermutation"
        | "tf.OnesLike"
        | "tf.ReverseSequence"
        | "tf.ReverseV2"
        | "tf.Roll"
        | "tf.ZerosLike" => same,
        "tf.IdentityN" => each,
        "tf.LinSpace" => line,
        _ => return None,
    })
}

fn one(dtype: DType, dims: Vec<Option<u64>>) -> Inferred {
    Ok(Some(vec![TensorType::ranked(dtype, dims)]))
}

fn same(call: &Call<'_>) -> Inferred {
    Ok(call.ty(0).map(|ty| vec![ty.clone()]))
}

fn each(call: &Call<'_>) -> Inferred {
    Ok(call.operands.iter().map(|operand| operand.ty.clone()).collect())
}

/// The longer one of two shapes.
fn longer(call: &Call<'_>) -> Inferred {
    let (Some(&[a]), Some(&[b]), Some(dtype)) = (call.dims(0), call.dims(1), call.dtype(0)) else {
        return Ok(None);
    };
    one(dtype, vec![a.zip(b).map(|(a, b)| a.max(b))])
}

/// As many numbers as the last argument says.
fn line(call: &Call<'_>) -> Inferred {
    let Some(dtype) = call.dtype(0) else { return Ok(None) };
    one(dtype, vec![extent(call.integer(2))])
}

/// Rows of the first argument in the place of each element of the second one.
fn gather_rows(call: &Call<'_>) -> Inferred {
    let (Some([_, row @ ..]), Some(indices), Some(dtype)) = (call.dims(0), call.dims(1), call.dtype(0))
    else {
        return Ok(None);
    };
    one(dtype, [indices, row].concat())
}

/// A result of the type of one argument in the shape that another one holds.
fn shaped_by(call: &Call<'_>, value: usize, shape: usize) -> Inferred {
    let Some(dtype) = call.dtype(value) else { return Ok(None) };
    if let Some(elements) = call.elements(shape) {
        return one(dtype, elements.into_iter().map(extent).collect());
    }
    // A vector's length is the rank of the result.
    match call.dims(shape) {
        Some(&[Some(rank)]) if rank < 256 => one(dtype, vec![None; rank as usize]),
        _ => Ok(Some(vec![TensorType::unranked(dtype)])),
    }
}

/// A gradient of images, whose whole shape an argument holds, or their height and width alone.
fn images_shaped_by(call: &Call<'_>) -> Inferred {
    match (call.dims(0), call.dtype(2)) {
        (Some(&[Some(4)]), _) => shaped_by(call, 2, 0),
        (_, Some(dtype)) => one(dtype, vec![None; 4]),
        (_, None) => Ok(None),
    }
}

fn reshape(call: &Call<'_>) -> Inferred {
    reshaped(call, false)
}

fn onnx_reshape(call: &Call<'_>) -> Inferred {
    reshaped(call, call.int_attr("allowzero").unwrap_or(0) == 0)
}

/// `copies_zeros` says that an extent of 0 stands for that of the argument in the same place.
fn reshaped(call: &Call<'_>, copies_zeros: bool) -> Inferred {
    let Some(x) = call.ty(0) else { return Ok(None) };
    let Some(elements) = call.elements(1) else { return shaped_by(call, 0, 1) };
    let from = |index: usize| x.dims.as_ref().and_then(|dims| dims.get(index).copied().flatten());
    let mut dims: Vec<Option<u64>> = (elements.iter().enumerate())
        .map(|(index, &element)| match element {
            Some(0) if copies_zeros => from(index),
            element => extent(element),
        })
        .collect();
    let is_inferred = |element: &Option<i64>| *element == Some(-1);
    let total = x.static_dims().and_then(|dims| dims.into_iter().try_fold(1, u64::checked_mul));
    let inferred = elements.iter().position(is_inferred);
    let others = dims.iter().enumerate().filter(|&(index, _)| Some(index) != inferred);
    let others = others.map(|(_, dim)| *dim).try_fold(1u64, |product, dim| product.checked_mul(dim?));
    if let (Some(total), Some(others)) = (total, others) {
        let fits = match inferred {
            Some(place) if others > 0 => {
                dims[place] = Some(total / others);
                total.is_multiple_of(others)
            }
            Some(_) => true,
            None => total == others,
        };
        if !fits {
            let (from, to) = (show(x.dims.as_deref().unwrap_or_default()), show(&dims));
            let message = format!("{}: a tensor of shape {from} cannot be reshaped to {to}", call.name);
            return Err(Diagnostic::invalid_argument(message));
        }
    } else if let (Some(place), Some(known)) = (inferred, &x.dims)
        && let Some(rest) = without_copies(&elements, known, copies_zeros)
        && let Some(total) = rest.into_iter().try_fold(1, u64::checked_mul)
        && let Some(others) = given(&elements, place)
        && others > 0
        && total.is_multiple_of(others)
    {
        dims[place] = Some(total / others);
    }
    one(x.dtype, dims)
}

/// The extents of the argument without those that the result copies by a zero, which cancel; `None`
/// if one is not known.
fn without_copies(elements: &[Option<i64>], known: &[Option<u64>], copies_zeros: bool) -> Option<Vec<u64>> {
    let is_copied = |place: usize| copies_zeros && elements.get(place) == Some(&Some(0));
    (0..known.len()).filter(|&place| !is_copied(place)).map(|place| known[place]).collect()
}

/// The product of the extents that a shape gives but for the one in `place` and those that it
/// copies.
fn given(elements: &[Option<i64>], place: usize) -> Option<u64> {
    let others =
        elements.iter().enumerate().filter(|&(index, element)| index != place && *element != Some(0));
    others.map(|(_, element)| extent(*element)).try_fold(1u64, |product, dim| product.checked_mul(dim?))
}

/// ONNX's Expand: both the argument's shape and the given one are broadcast.
fn expand(call: &Call<'_>) -> Inferred {
    let (Some(x), Some(elements)) = (call.ty(0), call.elements(1)) else { return shaped_rank(call) };
    let to = Some(elements.into_iter().map(extent).collect());
    let dims = super::broadcast::broadcast(call.name, &x.dims, &to)?;
    Ok(Some(vec![TensorType { dtype: x.dtype, dims }]))
}

fn shaped_rank(call: &Call<'_>) -> Inferred {
    let (Some(x), Some(&[Some(rank)])) = (call.ty(0), call.dims(1)) else { return Ok(None) };
    match x.rank() {
        Some(own) if rank < 256 => one(x.dtype, vec![None; own.max(rank as usize)]),
        _ => Ok(None),
    }
}

fn expand_dims(call: &Call<'_>) -> Inferred {
    let (Some(dims), Some(axis), Some(dtype)) = (call.dims(0), call.integer(1), call.dtype(0)) else {
        return Ok(None);
    };
    let axis = call.axis(axis, dims.len() + 1)?;
    let mut dims = dims.to_vec();
    dims.insert(axis, Some(1));
    one(dtype, dims)
}

/// Without axes every extent of 1 goes, and unknown ones may be 1.
fn squeeze(call: &Call<'_>) -> Inferred {
    let given = ["axis", "squeeze_dims"].map(|name| call.attrs.optional::<&[i64]>(name).ok().flatten());
    let has_axes = given.iter().flatten().any(|axes| !axes.is_empty());
    let is_static = call.ty(0).is_some_and(|ty| ty.static_dims().is_some());
    if is_static || has_axes {
        return super::probe::infer(call);
    }
    Ok(None)
}

fn transpose(call: &Call<'_>) -> Inferred {
    let Some(dtype) = call.dtype(0) else { return Ok(None) };
    let Some(dims) = call.dims(0) else {
        // The order has as many numbers as the argument has dimensions.
        return match call.dims(1) {
            Some(&[Some(rank)]) if rank < 256 => one(dtype, vec![None; rank as usize]),
            _ => Ok(None),
        };
    };
    let Some(order) = call.integers(1) else { return one(dtype, vec![None; dims.len()]) };
    let mut moved = Vec::new();
    for axis in order {
        moved.push(dims[call.axis(axis, dims.len())?]);
    }
    one(dtype, moved)
}

fn concat(call: &Call<'_>, axis: usize, parts: Range<usize>) -> Inferred {
    let (Some(axis), Some(dtype)) = (call.integer(axis), call.dtype(parts.start)) else { return Ok(None) };
    // The first part whose rank is known says how many dimensions there are.
    let Some(rank) = parts.clone().find_map(|part| call.dims(part).map(<[_]>::len)) else { return Ok(None) };
    let axis = call.axis(axis, rank)?;
    let mut dims: Vec<Option<u64>> = vec![None; rank];
    dims[axis] = Some(0);
    for part in parts {
        let Some(extents) = call.dims(part) else {
            dims[axis] = None;
            continue;
        };
        if extents.len() != rank {
            let message = format!("{}: parts have {} and {rank} dimensions", call.name, extents.len());
            return Err(Diagnostic::invalid_argument(message));
        }
        for (place, &extent) in extents.iter().enumerate() {
            dims[place] = match (place == axis, dims[place], extent) {
                (true, Some(sum), Some(extent)) => sum.checked_add(extent),
                (true, ..) => None,
                (false, Some(a), Some(b)) if a != b => {
                    let message = format!("{}: parts differ in dimension {place}: {a} and {b}", call.name);
                    return Err(Diagnostic::invalid_argument(message));
                }
                (false, a, b) => a.or(b),
            };
        }
    }
    one(dtype, dims)
}

fn gather(call: &Call<'_>) -> Inferred {
    let (Some(dims), Some(indices), Some(axis), Some(dtype)) =
        (call.dims(0), call.dims(1), call.integer(2), call.dtype(0))
    else {
        return Ok(None);
    };
    let axis = call.axis(axis, dims.len())?;
    let batch = match call.int_attr("batch_dims").unwrap_or(0) {
        batch if batch < 0 => batch + indices.len() as i64,
        batch => batch,
    };
    let batch = usize::try_from(batch).unwrap_or(usize::MAX);
    let Some(indices) = indices.get(batch..) else { return Ok(None) };
    let result = dims[..axis].iter().chain(indices).chain(&dims[axis + 1..]).copied();
    one(dtype, result.collect())
}

fn gather_nd(call: &Call<'_>) -> Inferred {
    let (Some(dims), Some(indices), Some(dtype)) = (call.dims(0), call.dims(1), call.dtype(0)) else {
        return Ok(None);
    };
    let Some((&Some(depth), outer)) = indices.split_last() else { return Ok(None) };
    match usize::try_from(depth).ok().and_then(|depth| dims.get(depth..)) {
        Some(rest) => one(dtype, outer.iter().chain(rest).copied().collect()),
        None => Err(Diagnostic::invalid_argument(format!(
            "{}: indices of {depth} numbers into a tensor of shape {}",
            call.name,
            show(dims)
        ))),
    }
}

fn pack(call: &Call<'_>) -> Inferred {
    let (Some(dims), Some(dtype)) = (call.dims(0), call.dtype(0)) else { return Ok(None) };
    let axis = call.axis(call.int_attr("axis").unwrap_or(0), dims.len() + 1)?;
    let mut dims = dims.to_vec();
    dims.insert(axis, Some(call.operands.len() as u64));
    one(dtype, dims)
}

fn unpack(call: &Call<'_>) -> Inferred {
    let (Some(dims), Some(dtype)) = (call.dims(0), call.dtype(0)) else { return Ok(None) };
    let axis = call.axis(call.int_attr("axis").unwrap_or(0), dims.len())?;
    let mut dims = dims.to_vec();
    dims.remove(axis);
    Ok(Some(vec![TensorType::ranked(dtype, dims); call.result_count]))
}

fn split(call: &Call<'_>) -> Inferred {
    let (Some(axis), Some(dims), Some(dtype)) = (call.integer(0), call.dims(1), call.dtype(1)) else {
        return Ok(None);
    };
    let (axis, count) = (call.axis(axis, dims.len())?, call.result_count as u64);
    let mut dims = dims.to_vec();
    dims[axis] = dims[axis].map(|extent| extent / count.max(1));
    Ok(Some(vec![TensorType::ranked(dtype, dims); call.result_count]))
}

fn split_sizes(call: &Call<'_>) -> Inferred {
    let (Some(dims), Some(axis), Some(dtype)) = (call.dims(0), call.integer(2), call.dtype(0)) else {
        return Ok(None);
    };
    let axis = call.axis(axis, dims.len())?;
    let mut sizes = call.elements(1).unwrap_or_else(|| vec![None; call.result_count]);
    if let Some(rest) = sizes.iter().position(|&size| size == Some(-1)) {
        let others = sizes.iter().enumerate().filter(|&(place, _)| place != rest);
        let others = others.map(|(_, size)| extent(*size)).try_fold(0u64, |sum, size| sum.checked_add(size?));
        let size = dims[axis].zip(others).and_then(|(whole, others)| whole.checked_sub(others));
        sizes[rest] = size.and_then(|size| i64::try_from(size).ok());
    }
    let part = |size: Option<i64>| {
        let mut dims = dims.to_vec();
        dims[axis] = extent(size);
        TensorType::ranked(dtype, dims)
    };
    Ok(Some(sizes.into_iter().map(part).collect()))
}

fn slice(call: &Call<'_>) -> Inferred {
    let (Some(dims), Some(dtype)) = (call.dims(0), call.dtype(0)) else { return Ok(None) };
    let unknown = || vec![None; dims.len()];
    let (begins, sizes) =
        (call.elements(1).unwrap_or_else(unknown), call.elements(2).unwrap_or_else(unknown));
    let part = |((dim, begin), size): ((&Option<u64>, Option<i64>), Option<i64>)| match size {
        Some(-1) => dim.and_then(|dim| dim.checked_sub(u64::try_from(begin?).ok()?)),
        size => extent(size),
    };
    one(dtype, dims.iter().zip(begins).zip(sizes).map(part).collect())
}

/// The most entries of a slice, of which masks have a bit each.
const MAX_SLICES: usize = 63;

fn strided_slice(call: &Call<'_>) -> Inferred {
    let (Some(dims), Some(dtype)) = (call.dims(0), call.dtype(0)) else { return Ok(None) };
    let mask = |name: &str| call.int_attr(name).unwrap_or(0);
    let [begin_mask, end_mask, cut, added, ellipsis] =
        ["begin_mask", "end_mask", "shrink_axis_mask", "new_axis_mask", "ellipsis_mask"].map(mask);
    let count = call.dims(1).and_then(|dims| usize::try_from((*dims.first()?)?).ok());
    let Some(count) = count.filter(|&count| count <= MAX_SLICES) else {
        let keeps = cut == 0 && added == 0;
        return if keeps { one(dtype, vec![None; dims.len()]) } else { Ok(None) };
    };
    let has = |mask: i64, index: usize| mask >> index & 1 == 1;
    let taken = (0..count).filter(|&index| !has(added | ellipsis, index)).count();
    // More entries than dimensions are an error of the call.
    let Some(covered) = dims.len().checked_sub(taken) else { return Ok(None) };
    let [begins, ends, strides] = [1, 2, 3].map(|input| call.elements(input));
    let element =
        |list: &Option<Vec<Option<i64>>>, index: usize| list.as_ref()?.get(index).copied().flatten();
    let (mut rest, mut result) = (dims.iter().copied(), Vec::new());
    for index in 0..count {
        if has(ellipsis, index) {
            result.extend(rest.by_ref().take(covered));
            continue;
        }
        if has(added, index) {
            result.push(Some(1));
            continue;
        }
        let dim = rest.next().flatten();
        if has(cut, index) {
            continue;
        }
        let bound = |mask: i64, list: &Option<Vec<Option<i64>>>| match has(mask, index) {
            true => Some(None),
            false => element(list, index).map(Some),
        };
        let part = bound(begin_mask, &begins).zip(bound(end_mask, &ends)).zip(element(&strides, index));
        result
            .push(part.zip(dim).and_then(|(((begin, end), step), dim)| strided_count(dim, begin, end, step)));
    }
    result.extend(rest);
    one(dtype, result)
}

/// How many elements `begin..end` takes in steps of `stride`, from `dim` of them; a bound that is
/// missing is that of the dimension.
pub(super) fn strided_count(dim: u64, begin: Option<i64>, end: Option<i64>, stride: i64) -> Option<u64> {
    let dim = i64::try_from(dim).ok()?;
    let (low, high) = if stride > 0 { (0, dim) } else { (-1, dim - 1) };
    let place = |index: i64| if index < 0 { index.saturating_add(dim) } else { index }.clamp(low, high);
    let (first, last) = if stride > 0 { (0, dim) } else { (dim - 1, -1) };
    let (begin, end) = (begin.map_or(first, place), end.map_or(last, place));
    let span = if stride > 0 { end.checked_sub(begin)? } else { begin.checked_sub(end)? };
    let step = stride.unsigned_abs();
    if step == 0 {
        return None;
    }
    Some(u64::try_from(span.max(0)).ok()?.div_ceil(step))
}

fn pad(call: &Call<'_>) -> Inferred {
    let (Some(dims), Some(dtype)) = (call.dims(0), call.dtype(0)) else { return Ok(None) };
    let Some(paddings) = call.elements(1) else { return one(dtype, vec![None; dims.len()]) };
    let padded = dims.iter().zip(paddings.chunks_exact(2)).map(|(&dim, around)| {
        let total = dim?.checked_add_signed(around[0]?)?;
        total.checked_add_signed(around[1]?)
    });
    one(dtype, padded.collect())
}

fn tile(call: &Call<'_>) -> Inferred {
    let (Some(dims), Some(dtype)) = (call.dims(0), call.dtype(0)) else { return Ok(None) };
    let times = call.elements(1).unwrap_or_else(|| vec![None; dims.len()]);
    let tiled = dims.iter().zip(times).map(|(&dim, times)| dim?.checked_mul(extent(times)?));
    one(dtype, tiled.collect())
}

fn range(call: &Call<'_>) -> Inferred {
    let Some(dtype) = call.dtype(0) else { return Ok(None) };
    let count = match (call.integer(0), call.integer(1), call.integer(2)) {
        (Some(start), Some(limit), Some(delta)) if delta != 0 => {
            let span = if delta > 0 { limit.saturating_sub(start) } else { start.saturating_sub(limit) };
            Some(u64::try_from(span.max(0)).unwrap_or(0).div_ceil(delta.unsigned_abs()))
        }
        _ => None,
    };
    one(dtype, vec![count])
}

fn one_hot(call: &Call<'_>) -> Inferred {
    let (Some(dims), Some(dtype)) = (call.dims(0), call.dtype(2)) else { return Ok(None) };
    let axis = match call.int_attr("axis").unwrap_or(-1) {
        -1 => dims.len(),
        axis => call.axis(axis, dims.len() + 1)?,
    };
    let mut dims = dims.to_vec();
    dims.insert(axis, extent(call.integer(1)));
    one(dtype, dims)
}

fn top_k(call: &Call<'_>) -> Inferred {
    let (Some(dims), Some(dtype)) = (call.dims(0), call.dtype(0)) else { return Ok(None) };
    let mut dims = dims.to_vec();
    if let Some(last) = dims.last_mut() {
        *last = extent(call.integer(1));
    }
    let indices = TensorType::ranked(call.type_attr("index_type").unwrap_or(DType::I32), dims.clone());
    Ok(Some(vec![TensorType::ranked(dtype, dims), indices]))
}

/// The positions and the shape of a sparse tensor with as many dimensions as the new shape has
/// numbers.
fn sparse(call: &Call<'_>) -> Inferred {
    let count = call.dims(0).and_then(|positions| positions.first().copied().flatten());
    let rank = call.dims(2).and_then(|shape| shape.first().copied().flatten());
    Ok(Some(vec![TensorType::ranked(DType::I64, [count, rank]), TensorType::ranked(DType::I64, [rank])]))
}

fn positions(call: &Call<'_>) -> Inferred {
    one(DType::I64, vec![None, call.dims(0).map(|dims| dims.len() as u64)])
}
