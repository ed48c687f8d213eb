//! Optional inputs and outputs, and attributes as ONNX has them.

use smallvec::SmallVec;
use tfrt_host::{DType, Diagnostic};
use tfrt_tensor::{DenseHostTensor, HostTensor, TensorMetadata};

use crate::ops::support::{int_attr, invalid};
use crate::{AttrSpec, OpAttrs, attr};

/// The attribute that says which formal inputs are given.
pub(in crate::ops) const OPERANDS: AttrSpec = attr::ints("operand_segment_sizes").optional();
/// The attribute that says which outputs are wanted.
pub(super) const RESULTS: AttrSpec = attr::ints("result_segment_sizes").optional();

/// The formal inputs of a call, `None` where one is absent.
///
/// # Errors
/// InvalidArgument if `operand_segment_sizes` does not match the arguments, or there are more than
/// `N`.
pub(in crate::ops) fn formal<T: Copy, const N: usize>(
    arguments: &[T],
    attrs: &OpAttrs,
) -> Result<[Option<T>; N], Diagnostic> {
    let mut inputs = [None; N];
    let Some(sizes) = ints_attr(attrs, OPERANDS.name)? else {
        if arguments.len() > N {
            return Err(invalid(format!("the op takes up to {N} arguments, got {}", arguments.len())));
        }
        inputs.iter_mut().zip(arguments).for_each(|(input, &argument)| *input = Some(argument));
        return Ok(inputs);
    };
    let given = sizes.iter().filter(|&&size| size == 1).count();
    if sizes.len() > N || given != arguments.len() || sizes.iter().any(|size| !(0..=1).contains(size)) {
        return Err(invalid(format!(
            "operand_segment_sizes must have a 0 or 1 for each of up to {N} inputs, and a 1 for each of {} arguments, got {sizes:?}",
            arguments.len()
        )));
    }
    let places = inputs.iter_mut().zip(&sizes).filter(|&(_, &size)| size == 1);
    places.zip(arguments).for_each(|((input, _), &argument)| *input = Some(argument));
    Ok(inputs)
}

/// An input that must be given.
pub(in crate::ops) fn required<T>(input: Option<T>, name: &str) -> Result<T, Diagnostic> {
    input.ok_or_else(|| invalid(format!("input '{name}' is missing")))
}

/// A dense input that must be given.
pub(in crate::ops) fn dense<'a>(
    input: Option<&'a HostTensor>,
    name: &str,
) -> Result<&'a DenseHostTensor, Diagnostic> {
    required(input, name)?.dense()
}

/// A dense input that may be absent.
pub(in crate::ops) fn optional_dense(
    input: Option<&HostTensor>,
) -> Result<Option<&DenseHostTensor>, Diagnostic> {
    input.map(HostTensor::dense).transpose()
}

/// Which of the `N` outputs a call wants; by default those of `required`.
pub(in crate::ops) fn wanted<const N: usize>(
    attrs: &OpAttrs,
    required: [bool; N],
) -> Result<[bool; N], Diagnostic> {
    let Some(sizes) = ints_attr(attrs, RESULTS.name)? else { return Ok(required) };
    if sizes.len() > N || sizes.iter().any(|size| !(0..=1).contains(size)) {
        return Err(invalid(format!(
            "result_segment_sizes must have a 0 or 1 for each of up to {N} outputs, got {sizes:?}"
        )));
    }
    let mut wanted = [false; N];
    wanted.iter_mut().zip(&sizes).for_each(|(wanted, &size)| *wanted = size == 1);
    Ok(wanted)
}

/// The wanted ones of all outputs.
pub(in crate::ops) fn pick<T, const N: usize>(outputs: [T; N], wanted: [bool; N]) -> SmallVec<[T; 2]> {
    outputs.into_iter().zip(wanted).filter(|(_, wanted)| *wanted).map(|(output, _)| output).collect()
}

/// A list of integers, of either width.
pub(in crate::ops) fn ints_attr(
    attrs: &OpAttrs,
    name: &str,
) -> Result<Option<SmallVec<[i64; 8]>>, Diagnostic> {
    if let Some(crate::AttrValue::Array(DType::I32, _)) = attrs.get(name) {
        let values = attrs.required::<&[i32]>(name)?;
        return Ok(Some(values.iter().map(|&value| value.into()).collect()));
    }
    Ok(attrs.optional::<&[i64]>(name)?.map(SmallVec::from_slice))
}

/// A list of extents, none of which is negative.
pub(in crate::ops) fn extents_of(values: &[i64]) -> Result<Vec<usize>, Diagnostic> {
    let extent = |&value: &i64| {
        usize::try_from(value).map_err(|_| invalid(format!("an extent must not be negative, got {values:?}")))
    };
    values.iter().map(extent).collect()
}

/// A list of numbers, of either width.
pub(in crate::ops) fn floats_attr(
    attrs: &OpAttrs,
    name: &str,
) -> Result<Option<SmallVec<[f64; 8]>>, Diagnostic> {
    if let Some(crate::AttrValue::Array(DType::F64, _)) = attrs.get(name) {
        return Ok(Some(SmallVec::from_slice(attrs.required::<&[f64]>(name)?)));
    }
    let values = attrs.optional::<&[f32]>(name)?;
    Ok(values.map(|values| values.iter().map(|&value| value.into()).collect()))
}

/// An integer that says yes or no.
pub(in crate::ops) fn flag(attrs: &OpAttrs, name: &str, default: bool) -> Result<bool, Diagnostic> {
    if let Some(crate::AttrValue::Scalar(DType::I1, _)) = attrs.get(name) {
        return attrs.required::<bool>(name);
    }
    Ok(int_attr(attrs, name)?.map_or(default, |value| value != 0))
}

/// An integer with a default.
pub(in crate::ops) fn int_or(attrs: &OpAttrs, name: &str, default: i64) -> Result<i64, Diagnostic> {
    Ok(int_attr(attrs, name)?.unwrap_or(default))
}

/// A count, which must not be negative.
pub(in crate::ops) fn count_or(attrs: &OpAttrs, name: &str, default: usize) -> Result<usize, Diagnostic> {
    let Some(value) = int_attr(attrs, name)? else { return Ok(default) };
    usize::try_from(value)
        .map_err(|_| invalid(format!("attribute '{name}' must not be negative, got {value}")))
}

/// A text with a default.
pub(in crate::ops) fn text_or<'a>(
    attrs: &'a OpAttrs,
    name: &str,
    default: &'a str,
) -> Result<&'a str, Diagnostic> {
    Ok(attrs.optional::<&str>(name)?.unwrap_or(default))
}

/// The error of an attribute whose value is none of those that the op knows.
#[cold]
pub(in crate::ops) fn unknown(name: &str, value: &str) -> Diagnostic {
    invalid(format!("attribute '{name}' must not be '{value}'"))
}

/// That two inputs have one element type.
pub(in crate::ops) fn check_same_type(
    (name, left): (&str, &TensorMetadata),
    (other, right): (&str, &TensorMetadata),
) -> Result<(), Diagnostic> {
    if left.dtype == right.dtype {
        return Ok(());
    }
    Err(invalid(format!(
        "'{name}' and '{other}' must have one element type, got {} and {}",
        left.dtype, right.dtype
    )))
}

/// That an input has these extents.
pub(in crate::ops) fn check_dims(name: &str, found: &[usize], expected: &[usize]) -> Result<(), Diagnostic> {
    if found == expected {
        return Ok(());
    }
    Err(invalid(format!("'{name}' must have shape {expected:?}, got {found:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_inputs_are_found_by_segment_sizes() {
        let mut attrs = OpAttrs::new();
        assert_eq!(formal::<_, 3>(&[1, 2], &attrs), Ok([Some(1), Some(2), None]));
        assert!(formal::<_, 1>(&[1, 2], &attrs).is_err());
        attrs.set_array("operand_segment_sizes", &[1i64, 0, 1]).unwrap();
        assert_eq!(formal::<_, 3>(&[1, 2], &attrs), Ok([Some(1), None, Some(2)]));
        assert!(formal::<_, 3>(&[1], &attrs).is_err());
        assert!(formal::<_, 2>(&[1, 2], &attrs).is_err());
    }

    #[test]
    fn wanted_outputs_are_picked() {
        let mut attrs = OpAttrs::new();
        assert_eq!(wanted(&attrs, [true, false]), Ok([true, false]));
        attrs.set_array("result_segment_sizes", &[0i32, 1]).unwrap();
        assert_eq!(wanted(&attrs, [true, false]), Ok([false, true]));
        assert_eq!(pick(["y", "indices"], [false, true]).as_slice(), ["indices"]);
    }
}
