//! Ops of ONNX whose result shapes depend on the elements of arguments.

use tfrt_host::DType;
use tfrt_tensor::HostTensor;

use super::{Call, Function, Inferred, READ, extent, movement::strided_count};
use crate::TensorType;

/// The function of an op of this family.
pub(super) fn function(name: &str) -> Option<Function> {
    Some(match name {
        "onnx.CenterCropPad" => center_crop_pad,
        "onnx.Compress" => compress,
        "onnx.DFT" => dft,
        "onnx.GatherND" => gather_nd,
        "onnx.NonMaxSuppression" => |_| Ok(Some(vec![TensorType::ranked(DType::I64, vec![None, Some(3)])])),
        "onnx.OneHot" => one_hot,
        "onnx.Pad" => pad,
        "onnx.Resize" => resize,
        "onnx.ConcatFromSequence" => concat_from_sequence,
        "onnx.SequenceAt" => sequence_at,
        "onnx.SequenceErase" | "onnx.SequenceInsert" | "onnx.SplitToSequence" => sequence,
        "onnx.Slice" => slice,
        "onnx.Squeeze" => squeeze,
        "onnx.STFT" => stft,
        "onnx.StringNormalizer" => string_normalizer,
        "onnx.StringSplit" => string_split,
        "onnx.TfIdfVectorizer" => n_grams,
        "onnx.Tokenizer" => tokens,
        "onnx.TopK" => top_k,
        "onnx.Unique" => unique,
        "onnx.Unsqueeze" => unsqueeze,
        "onnx.BlackmanWindow" | "onnx.HammingWindow" | "onnx.HannWindow" => {
            |call| one(output_type(call), vec![extent(call.integer(0))])
        }
        "onnx.MelWeightMatrix" => mel_weights,
        _ => return None,
    })
}

fn one(dtype: DType, dims: Vec<Option<u64>>) -> Inferred {
    Ok(Some(vec![TensorType::ranked(dtype, dims)]))
}

/// A result of the first argument's data type, of which only the number of dimensions is known.
fn same_type(call: &Call<'_>, rank: usize) -> Inferred {
    Ok(call.dtype(0).map(|dtype| vec![TensorType::ranked(dtype, vec![None; rank])]))
}

/// The argument that a formal input is; `None` if it is absent.
pub(super) fn formal(call: &Call<'_>, input: usize) -> Option<usize> {
    match call.attrs.optional::<&[i64]>("operand_segment_sizes").ok().flatten() {
        None => (input < call.operands.len()).then_some(input),
        Some(sizes) => match *sizes.get(input)? {
            1 => Some(sizes[..input].iter().filter(|&&size| size == 1).count()),
            _ => None,
        },
    }
}

fn ints_attr(call: &Call<'_>, name: &str) -> Option<Vec<i64>> {
    call.attrs.optional::<&[i64]>(name).ok().flatten().map(<[_]>::to_vec)
}

/// An extent as an integer.
fn signed(dim: Option<u64>) -> Option<i64> {
    i64::try_from(dim?).ok()
}

/// The elements of a small tensor of floating-point numbers.
fn floats(tensor: &HostTensor) -> Option<Vec<f64>> {
    let dense = tensor.dense().ok()?;
    match dense.dtype() {
        DType::F32 => Some(dense.read::<f32>(&READ).ok()?.iter().map(|&x| x.into()).collect()),
        DType::F64 => Some(dense.read::<f64>(&READ).ok()?.to_vec()),
        _ => None,
    }
}

/// The places of axes, all of them if none are given; `None` if they are not known.
fn places(call: &Call<'_>, axes: Option<Vec<i64>>, rank: usize) -> Option<Vec<usize>> {
    match axes {
        None => Some((0..rank).collect()),
        Some(axes) => axes.iter().map(|&axis| call.axis(axis, rank).ok()).collect(),
    }
}

/// The axes of an input that may be absent: `None` if they are not known.
fn axes_input(call: &Call<'_>, input: usize) -> Option<Option<Vec<i64>>> {
    match formal(call, input) {
        None => Some(None),
        Some(index) => call.integers(index).map(Some),
    }
}

/// A sequence as two tensors: its elements, and a row of extents for each of its tensors.
fn sequence(call: &Call<'_>) -> Inferred {
    let (dtype, rank) = match call.name {
        "onnx.SequenceInsert" => (call.dtype(2), call.dims(2).map(<[_]>::len)),
        "onnx.SequenceErase" => (call.dtype(0), sequence_rank(call)),
        _ => {
            let drops = call.operands.len() == 1 && call.int_attr("keepdims") == Some(0);
            let rank = call.dims(0).map(<[_]>::len);
            (call.dtype(0), rank.and_then(|rank| rank.checked_sub(usize::from(drops))))
        }
    };
    let Some(dtype) = dtype else { return Ok(None) };
    let rank = rank.and_then(|rank| u64::try_from(rank).ok());
    Ok(Some(vec![TensorType::ranked(dtype, vec![None]), TensorType::ranked(DType::I64, vec![None, rank])]))
}

/// The number of dimensions of a sequence's tensors.
fn sequence_rank(call: &Call<'_>) -> Option<usize> {
    let rank = call.dims(1)?.get(1).copied().flatten()?;
    usize::try_from(rank).ok().filter(|&rank| rank < 256)
}

fn sequence_at(call: &Call<'_>) -> Inferred {
    Ok(sequence_rank(call)
        .zip(call.dtype(0))
        .map(|(rank, dtype)| vec![TensorType::ranked(dtype, vec![None; rank])]))
}

fn concat_from_sequence(call: &Call<'_>) -> Inferred {
    let added = usize::from(call.int_attr("new_axis").unwrap_or(0) != 0);
    let typed = sequence_rank(call).zip(call.dtype(0));
    Ok(typed.map(|(rank, dtype)| vec![TensorType::ranked(dtype, vec![None; rank + added])]))
}

fn slice(call: &Call<'_>) -> Inferred {
    let (Some(dims), Some(dtype)) = (call.dims(0), call.dtype(0)) else { return Ok(None) };
    let elements = |input: usize| formal(call, input).and_then(|index| call.elements(index));
    let axes = match formal(call, 3) {
        Some(index) => call.integers(index),
        None => elements(1).map(|starts| (0..starts.len() as i64).collect()),
    };
    let Some(places) = axes.and_then(|axes| places(call, Some(axes), dims.len())) else {
        return same_type(call, dims.len());
    };
    let count = places.len();
    let or_unknown = |elements: Option<Vec<Option<i64>>>| elements.unwrap_or_else(|| vec![None; count]);
    let (starts, ends) = (or_unknown(elements(1)), or_unknown(elements(2)));
    let steps = match formal(call, 4) {
        Some(_) => or_unknown(elements(4)),
        None => vec![Some(1); count],
    };
    let mut result = dims.to_vec();
    for (index, &place) in places.iter().enumerate() {
        let bounds = [&starts, &ends, &steps].map(|list| list.get(index).copied().flatten());
        result[place] = match (dims[place], bounds) {
            (Some(dim), [Some(start), Some(end), Some(step)]) => {
                // Steps back from before the first element begin at it.
                let least = i64::try_from(dim).map_or(i64::MIN, |dim| -dim);
                let start = if step < 0 { start.max(least) } else { start };
                strided_count(dim, Some(start), Some(end), step)
            }
            _ => None,
        };
    }
    one(dtype, result)
}

fn squeeze(call: &Call<'_>) -> Inferred {
    let (Some(dims), Some(dtype)) = (call.dims(0), call.dtype(0)) else { return Ok(None) };
    let Some(axes) = formal(call, 1) else { return Ok(None) };
    if let Some(places) = call.integers(axes).and_then(|axes| places(call, Some(axes), dims.len())) {
        let kept = dims.iter().enumerate().filter(|(place, _)| !places.contains(place));
        return one(dtype, kept.map(|(_, &dim)| dim).collect());
    }
    match call.dims(axes) {
        Some(&[Some(count)]) if count <= dims.len() as u64 => same_type(call, dims.len() - count as usize),
        _ => Ok(None),
    }
}

fn unsqueeze(call: &Call<'_>) -> Inferred {
    match (call.dims(0), call.dims(1)) {
        (Some(dims), Some(&[Some(count)])) if count < 64 => same_type(call, dims.len() + count as usize),
        (Some(dims), Some([])) => same_type(call, dims.len() + 1),
        _ => Ok(None),
    }
}

fn pad(call: &Call<'_>) -> Inferred {
    let (Some(dims), Some(dtype)) = (call.dims(0), call.dtype(0)) else { return Ok(None) };
    let (Some(pads), Some(axes)) =
        (formal(call, 1).and_then(|index| call.elements(index)), axes_input(call, 3))
    else {
        return same_type(call, dims.len());
    };
    let Some(places) = places(call, axes, dims.len()).filter(|places| pads.len() == 2 * places.len()) else {
        return same_type(call, dims.len());
    };
    let mut result = dims.to_vec();
    for (index, &place) in places.iter().enumerate() {
        let padded = || {
            let around = pads[index]?.checked_add(pads[index + places.len()]?)?;
            Some(signed(dims[place])?.checked_add(around)?.max(0))
        };
        result[place] = extent(padded());
    }
    one(dtype, result)
}

/// An extent times a scale, as the op rounds it: in `f32` where that holds the extent.
fn scaled(extent: u64, scale: f64) -> u64 {
    if extent < 1 << f32::MANTISSA_DIGITS {
        (extent as f32 * scale as f32).floor() as u64
    } else {
        (extent as f64 * scale).floor() as u64
    }
}

/// By sizes or scales; where the aspect ratio is to be kept, what is resized is not known.
fn resize(call: &Call<'_>) -> Inferred {
    let (Some(dims), Some(dtype)) = (call.dims(0), call.dtype(0)) else { return Ok(None) };
    let unknown = || same_type(call, dims.len());
    let policy = call.attrs.optional::<&str>("keep_aspect_ratio_policy").ok().flatten();
    let Some(places) = places(call, ints_attr(call, "axes"), dims.len()) else { return unknown() };
    if policy.is_some_and(|policy| policy != "stretch") {
        return unknown();
    }
    let mut result = dims.to_vec();
    if let Some(sizes) = formal(call, 3) {
        let sizes = call.elements(sizes).unwrap_or_else(|| vec![None; places.len()]);
        for (&place, &size) in places.iter().zip(&sizes) {
            result[place] = extent(size);
        }
        return one(dtype, result);
    }
    let scales = formal(call, 2).and_then(|index| floats(call.operands.get(index)?.constant?));
    for (index, &place) in places.iter().enumerate() {
        let scale = scales.as_ref().and_then(|scales| scales.get(index)).filter(|scale| **scale > 0.0);
        result[place] = match (dims[place], scale) {
            // A scale of one keeps even an extent that is not known.
            (dim, Some(1.0)) => dim,
            (Some(dim), Some(&scale)) => Some(scaled(dim, scale)),
            _ => None,
        };
    }
    one(dtype, result)
}

fn center_crop_pad(call: &Call<'_>) -> Inferred {
    let (Some(dims), Some(dtype)) = (call.dims(0), call.dtype(0)) else { return Ok(None) };
    let Some(places) = places(call, ints_attr(call, "axes"), dims.len()) else { return Ok(None) };
    let wanted = call.elements(1).unwrap_or_else(|| vec![None; places.len()]);
    let mut result = dims.to_vec();
    for (&place, &size) in places.iter().zip(&wanted) {
        result[place] = extent(size);
    }
    one(dtype, result)
}

fn top_k(call: &Call<'_>) -> Inferred {
    let (Some(dims), Some(dtype)) = (call.dims(0), call.dtype(0)) else { return Ok(None) };
    let axis = call.axis(call.int_attr("axis").unwrap_or(-1), dims.len())?;
    let mut dims = dims.to_vec();
    dims[axis] = extent(call.integer(1));
    Ok(Some(vec![TensorType::ranked(dtype, dims.clone()), TensorType::ranked(DType::I64, dims)]))
}

fn one_hot(call: &Call<'_>) -> Inferred {
    let Some(dtype) = call.dtype(2) else { return Ok(None) };
    let Some(dims) = call.dims(0) else { return Ok(Some(vec![TensorType::unranked(dtype)])) };
    let axis = call.axis(call.int_attr("axis").unwrap_or(-1), dims.len() + 1)?;
    let mut dims = dims.to_vec();
    dims.insert(axis, extent(call.integer(1)));
    one(dtype, dims)
}

fn gather_nd(call: &Call<'_>) -> Inferred {
    let (Some(dims), Some(indices), Some(dtype)) = (call.dims(0), call.dims(1), call.dtype(0)) else {
        return Ok(None);
    };
    let batch = usize::try_from(call.int_attr("batch_dims").unwrap_or(0)).unwrap_or(usize::MAX);
    let Some((&Some(depth), outer)) = indices.split_last() else { return Ok(None) };
    let inner = usize::try_from(depth).ok().and_then(|depth| depth.checked_add(batch));
    match inner.and_then(|inner| dims.get(inner..)) {
        Some(rest) => one(dtype, outer.iter().chain(rest).copied().collect()),
        None => Ok(None),
    }
}

fn compress(call: &Call<'_>) -> Inferred {
    let Some(dtype) = call.dtype(0) else { return Ok(None) };
    let Some(axis) = call.int_attr("axis") else { return one(dtype, vec![None]) };
    let Some(dims) = call.dims(0) else { return Ok(None) };
    let axis = call.axis(axis, dims.len())?;
    let mut dims = dims.to_vec();
    dims[axis] = None;
    one(dtype, dims)
}

fn unique(call: &Call<'_>) -> Inferred {
    let Some(dtype) = call.dtype(0) else { return Ok(None) };
    let values = match (call.int_attr("axis"), call.dims(0)) {
        (None, _) => TensorType::ranked(dtype, vec![None]),
        (Some(axis), Some(dims)) => {
            let axis = call.axis(axis, dims.len())?;
            let mut dims = dims.to_vec();
            dims[axis] = None;
            TensorType::ranked(dtype, dims)
        }
        (Some(_), None) => TensorType::unranked(dtype),
    };
    let mut types = vec![values];
    types.resize(4, TensorType::ranked(DType::I64, vec![None]));
    Ok(Some(types))
}

/// The transform's length is that of the axis unless another one is given.
fn dft(call: &Call<'_>) -> Inferred {
    let (Some(dims), Some(dtype)) = (call.dims(0), call.dtype(0)) else { return Ok(None) };
    let is_set = |name: &str| call.int_attr(name).unwrap_or(0) != 0;
    let (is_onesided, is_inverse) = (is_set("onesided"), is_set("inverse"));
    let axis = match formal(call, 2) {
        None => Some(-2),
        Some(index) => call.integer(index),
    };
    let (Some(axis), false) = (axis, dims.is_empty()) else { return same_type(call, dims.len()) };
    let (axis, last) = (call.axis(axis, dims.len())?, dims.len() - 1);
    let length = match formal(call, 1) {
        Some(index) => extent(call.integer(index)),
        None if is_onesided && is_inverse => dims[axis].map(|dim| 2 * dim.saturating_sub(1)),
        None => dims[axis],
    };
    let mut dims = dims.to_vec();
    dims[axis] = if is_onesided && !is_inverse { length.map(|length| length / 2 + 1) } else { length };
    dims[last] = Some(if is_onesided && is_inverse { 1 } else { 2 });
    one(dtype, dims)
}

fn stft(call: &Call<'_>) -> Inferred {
    let (Some(dims), Some(dtype)) = (call.dims(0), call.dtype(0)) else { return same_type(call, 4) };
    let (&[batch, samples] | &[batch, samples, _]) = dims else { return same_type(call, 4) };
    let step = extent(formal(call, 1).and_then(|step| call.integer(step))).filter(|&step| step > 0);
    let window = formal(call, 2).and_then(|window| match call.dims(window) {
        Some(&[length]) => length.filter(|&length| length > 0),
        _ => None,
    });
    let length = match formal(call, 3) {
        Some(length) => extent(call.integer(length)),
        None => window,
    };
    let frames = samples
        .zip(length)
        .zip(step)
        .map(|((samples, length), step)| samples.checked_sub(length).map_or(0, |rest| rest / step + 1));
    let is_onesided = call.int_attr("onesided").unwrap_or(1) != 0;
    let bins = match dims.get(2) {
        Some(None) => None,
        Some(Some(2)) => length,
        _ => length.map(|length| if is_onesided { length / 2 + 1 } else { length }),
    };
    one(dtype, vec![batch, frames, bins, Some(2)])
}

/// The data type that an attribute names, `f32` by default.
fn output_type(call: &Call<'_>) -> DType {
    call.type_attr("output_datatype").unwrap_or(DType::F32)
}

fn mel_weights(call: &Call<'_>) -> Inferred {
    let bins = extent(call.integer(1)).map(|length| length / 2 + 1);
    one(output_type(call), vec![bins, extent(call.integer(0))])
}

fn string_normalizer(call: &Call<'_>) -> Inferred {
    match call.dims(0) {
        Some([_]) => one(DType::String, vec![None]),
        Some([_, _]) => one(DType::String, vec![Some(1), None]),
        _ => Ok(None),
    }
}

/// One dimension more, of as many tokens as the text with most has.
fn tokens(call: &Call<'_>) -> Inferred {
    let Some(dims) = call.dims(0) else { return Ok(None) };
    one(DType::String, dims.iter().copied().chain([None]).collect())
}

fn string_split(call: &Call<'_>) -> Inferred {
    let Some(dims) = call.dims(0) else {
        return Ok(Some(vec![TensorType::unranked(DType::String), TensorType::unranked(DType::I64)]));
    };
    let mut parts = dims.to_vec();
    parts.push(None);
    Ok(Some(vec![TensorType::ranked(DType::String, parts), TensorType::ranked(DType::I64, dims.to_vec())]))
}

fn n_grams(call: &Call<'_>) -> Inferred {
    let indexes = ints_attr(call, "ngram_indexes").unwrap_or_default();
    let columns = indexes.iter().max().map_or(Some(0), |&index| extent(index.checked_add(1)));
    let Some(dims) = call.dims(0) else { return Ok(Some(vec![TensorType::unranked(DType::F32)])) };
    let mut dims = dims.to_vec();
    dims.pop();
    dims.push(columns);
    one(DType::F32, dims)
}
