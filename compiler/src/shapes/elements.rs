//! Elements of small integer tensors that are known one by one, although the tensor is no constant:
//! a shape of which the batch is unknown, and what is computed from it.

use tfrt_host::DType;

use super::{Call, MAX_KNOWN_ELEMENTS, movement::strided_count};
use crate::TensorType;

type Elements = Vec<Option<i64>>;

/// What is known of the elements of a call's only result, which is of type `result`.
pub(crate) fn known_elements(call: &Call<'_>, result: &TensorType) -> Option<Elements> {
    if !matches!(result.dtype, DType::I32 | DType::I64) || result.rank()? > 1 {
        return None;
    }
    let elements = match call.name {
        "tf.Shape" => shape(call)?,
        "tf.Size" => vec![product(&shape(call)?)],
        "tf.Prod" if result.rank() == Some(0) => vec![product(&call.elements(0)?)],
        "tf.Cast" if matches!(call.dtype(0)?, DType::I32 | DType::I64) => call.elements(0)?,
        "tf.Identity" | "tf.ExpandDims" | "tf.Squeeze" | "tf.Reshape" | "onnx.Reshape" => call.elements(0)?,
        "tf.ConcatV2" => joined(call, call.operands.len().checked_sub(1)?)?,
        "tf.Pack" => joined(call, call.operands.len())?,
        "tf.GatherV2" => gather(call)?,
        "tf.Slice" => slice(call)?,
        "tf.StridedSlice" => strided_slice(call)?,
        "tf.AddV2" => binary(call, i64::checked_add)?,
        "tf.Sub" => binary(call, i64::checked_sub)?,
        "tf.Mul" => binary(call, i64::checked_mul)?,
        "tf.FloorDiv" => binary(call, floor_div)?,
        "tf.TruncateDiv" | "tf.Div" => binary(call, i64::checked_div)?,
        "tf.Maximum" => binary(call, |a, b| Some(a.max(b)))?,
        "tf.Minimum" => binary(call, |a, b| Some(a.min(b)))?,
        "tf.Neg" => call.elements(0)?.into_iter().map(|element| element?.checked_neg()).collect(),
        _ => return None,
    };
    let is_whole = match result.dims.as_deref()? {
        [] => elements.len() == 1,
        [Some(count)] => elements.len() as u64 == *count,
        _ => false,
    };
    (is_whole && elements.len() <= MAX_KNOWN_ELEMENTS).then_some(elements)
}

/// The elements of the first arguments, one after the other. An argument may be known by its length
/// alone.
fn joined(call: &Call<'_>, count: usize) -> Option<Elements> {
    let unknown = |part: usize| match *call.dims(part)? {
        [] => Some(vec![None]),
        [Some(length)] if length <= MAX_KNOWN_ELEMENTS as u64 => Some(vec![None; length as usize]),
        _ => None,
    };
    let parts = (0..count).map(|part| call.elements(part).or_else(|| unknown(part)));
    Some(parts.collect::<Option<Vec<_>>>()?.concat())
}

fn slice(call: &Call<'_>) -> Option<Elements> {
    let from = call.elements(0)?;
    let (begin, size) = (usize::try_from(call.integer(1)?).ok()?, call.integer(2)?);
    let end = match size {
        -1 => from.len(),
        size => begin.checked_add(usize::try_from(size).ok()?)?,
    };
    from.get(begin..end).map(<[_]>::to_vec)
}

fn shape(call: &Call<'_>) -> Option<Elements> {
    let extents = call.dims(0)?.iter().map(|dim| dim.and_then(|dim| i64::try_from(dim).ok()));
    Some(extents.collect())
}

fn product(elements: &[Option<i64>]) -> Option<i64> {
    elements.iter().try_fold(1i64, |product, element| product.checked_mul((*element)?))
}

fn floor_div(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
}

fn gather(call: &Call<'_>) -> Option<Elements> {
    if call.dims(0)?.len() != 1 || call.integer(2)? != 0 {
        return None;
    }
    let from = call.elements(0)?;
    let picked = call.integers(1)?.into_iter().map(|index| {
        let place = if index < 0 { index + from.len() as i64 } else { index };
        from.get(usize::try_from(place).ok()?).copied()
    });
    picked.collect()
}

fn strided_slice(call: &Call<'_>) -> Option<Elements> {
    let from = call.elements(0)?;
    if call.dims(0)?.len() != 1 {
        return None;
    }
    let mask = |name: &str| call.int_attr(name).unwrap_or(0);
    if mask("ellipsis_mask") != 0 || mask("new_axis_mask") != 0 {
        return None;
    }
    let (begin, end, stride) = (call.integer(1)?, call.integer(2)?, call.integer(3)?);
    let len = i64::try_from(from.len()).ok()?;
    let begin = if mask("begin_mask") & 1 == 1 { None } else { Some(begin) };
    if mask("shrink_axis_mask") & 1 == 1 {
        let index = begin?;
        let place = if index < 0 { index + len } else { index };
        return Some(vec![*from.get(usize::try_from(place).ok()?)?]);
    }
    let end = if mask("end_mask") & 1 == 1 { None } else { Some(end) };
    let count = strided_count(from.len() as u64, begin, end, stride)?;
    let first = match begin {
        Some(begin) => if begin < 0 { begin.saturating_add(len) } else { begin }.clamp(0, len),
        None => {
            if stride > 0 {
                0
            } else {
                len - 1
            }
        }
    };
    let first = if stride < 0 { first.min(len - 1) } else { first };
    let places = (0..i64::try_from(count).ok()?).map(|step| first + step * stride);
    places.map(|place| from.get(usize::try_from(place).ok()?).copied()).collect()
}

/// Element by element, or one with all of the other.
fn binary(call: &Call<'_>, f: impl Fn(i64, i64) -> Option<i64>) -> Option<Elements> {
    let (x, y) = (call.elements(0)?, call.elements(1)?);
    let count = match (x.len(), y.len()) {
        (a, b) if a == b => a,
        (1, b) => b,
        (a, 1) => a,
        _ => return None,
    };
    let at = |list: &[Option<i64>], index: usize| if list.len() == 1 { list[0] } else { list[index] };
    Some((0..count).map(|index| f(at(&x, index)?, at(&y, index)?)).collect())
}
