//! Ops that return shapes, and ops that change shapes.

use smallvec::SmallVec;
use tfrt_host::{AsyncValue, DType, Diagnostic, ExecutionContext};
use tfrt_tensor::{
    DenseHostTensor, HostTensor, PartialTensorShape, ScalarHostTensor, StringHostTensor, TensorMetadata,
    TensorShape, with_element,
};

use super::support::{
    Computed, Described, axis_of, integer_within, integers, invalid, one, same, unsupported,
};
use super::types;
use crate::{AttrValue, CpuCall, Forms, MetadataCall, OpAttrs, OpRegistry, attr};

/// Returns the integer type that attribute `out_type` names; I32 without one.
pub(super) fn out_type(attrs: &OpAttrs) -> Result<DType, Diagnostic> {
    match attrs.optional::<DType>("out_type")?.unwrap_or(DType::I32) {
        dtype @ (DType::I32 | DType::I64) => Ok(dtype),
        other => Err(invalid(format!("Unsupported `out_type` value: {other}"))),
    }
}

fn shape_metadata(call: MetadataCall<'_>) -> Described {
    let [argument] = call.take()?;
    one(TensorMetadata::new(out_type(call.attrs)?, [argument.shape.rank()]))
}

fn number_metadata(call: MetadataCall<'_>) -> Described {
    call.take::<1>()?;
    one(TensorMetadata::new(out_type(call.attrs)?, TensorShape::scalar()))
}

/// Returns a tensor of these numbers, in the type of the op's result.
pub(super) fn numbers(
    result: &TensorMetadata,
    cx: &ExecutionContext,
    values: &[usize],
) -> Result<DenseHostTensor, Diagnostic> {
    let mut out = DenseHostTensor::allocate(result.clone(), cx.host().allocator())?;
    let too_large = |_| invalid(format!("{values:?} do not fit integers of type {}", DType::I32));
    match out.dtype() {
        DType::I64 => out.elements_mut::<i64>()?.iter_mut().zip(values).for_each(|(out, &n)| *out = n as i64),
        _ => {
            for (out, &n) in out.elements_mut::<i32>()?.iter_mut().zip(values) {
                *out = i32::try_from(n).map_err(too_large)?;
            }
        }
    }
    Ok(out)
}

/// Returns a tensor like [`numbers`], for a call.
fn described(call: &CpuCall<'_>, values: &[usize]) -> Computed {
    Ok(numbers(call.result(0)?, call.cx, values)?.into())
}

fn argument<'c>(call: &CpuCall<'c>) -> Result<&'c HostTensor, Diagnostic> {
    call.arguments.first().copied().ok_or_else(|| invalid("the op takes an argument, got none"))
}

/// Returns the elements in another shape. Dense tensors share their elements.
pub(super) fn reshaped(tensor: &HostTensor, shape: TensorShape) -> Computed {
    match tensor {
        HostTensor::Dense(dense) => Ok(dense.reshape(shape)?.into()),
        HostTensor::String(strings) => Ok(StringHostTensor::new(shape, strings.strings().to_vec())?.into()),
        HostTensor::Scalar(scalar) => with_element!(
            scalar.dtype(),
            |T| Ok(ScalarHostTensor::new(shape, scalar.value::<T>()?).into()),
            else Err(unsupported("a change of shape", scalar.dtype()))
        ),
        HostTensor::Coo(_) => Err(invalid(format!("a {} has no other shape", tensor.form()))),
    }
}

fn reshape(call: CpuCall<'_>) -> Computed {
    let [tensor, shape] = two(&call, "tf.Reshape")?;
    reshaped(tensor, reshaped_shape(tensor.shape(), shape)?)
}

/// Returns the shape of a tensor after it is reshaped to the shape in another one.
pub(super) fn reshaped_shape(from: &TensorShape, shape: &HostTensor) -> Result<TensorShape, Diagnostic> {
    if shape.shape().rank() > 1 {
        return Err(invalid(format!("sizes input must be 1-D, not {}", shape.shape())));
    }
    inferred_shape(from, integers(shape, "shape")?)
}

/// Returns the shape with these extents, one of which may be -1, for as many elements as another
/// shape has.
pub(super) fn inferred_shape(
    from: &TensorShape,
    mut dims: SmallVec<[i64; 8]>,
) -> Result<TensorShape, Diagnostic> {
    let count = from.num_elements()?;
    let unknown: SmallVec<[usize; 2]> = (0..dims.len()).filter(|&i| dims[i] == -1).collect();
    if let Some(&negative) = dims.iter().find(|&&dim| dim < -1) {
        return Err(invalid(format!("Size {negative} must be non-negative, not {negative}")));
    }
    let known = |dims: &[i64]| {
        dims.iter().filter(|&&dim| dim != -1).try_fold(1usize, |n, &dim| n.checked_mul(dim as usize))
    };
    let product = known(&dims).ok_or_else(|| invalid("a shape of too many elements"))?;
    match *unknown {
        [] => {}
        [place] => {
            // If both are empty, any extent would fit. The given extents that are not zero decide.
            let (count, divisor) = if product == 0 {
                let nonzero = |dims: &mut dyn Iterator<Item = usize>| {
                    dims.filter(|&dim| dim != 0)
                        .try_fold(1usize, usize::checked_mul)
                        .ok_or_else(|| invalid("a shape of too many elements"))
                };
                let given = nonzero(&mut dims.iter().filter(|&&dim| dim > 0).map(|&dim| dim as usize))?;
                (if count == 0 { nonzero(&mut from.dims().iter().copied())? } else { count }, given)
            } else {
                (count, product)
            };
            if !count.is_multiple_of(divisor) || (product == 0 && from.num_elements()? != 0) {
                return Err(invalid(format!(
                    "Input to reshape is a tensor with {} values, but the requested shape requires a multiple of \
                     {divisor}",
                    from.num_elements()?
                )));
            }
            dims[place] = (count / divisor) as i64;
        }
        [first, second, ..] => {
            return Err(invalid(format!("Only one input size may be -1, not both {first} and {second}")));
        }
    }
    let shape = TensorShape::from_signed(&dims)?;
    if shape.num_elements()? != count {
        let requested = shape.num_elements()?;
        return Err(invalid(format!(
            "Input to reshape is a tensor with {count} values, but the requested shape has {requested}"
        )));
    }
    Ok(shape)
}

pub(super) fn two<'c>(call: &CpuCall<'c>, op: &str) -> Result<[&'c HostTensor; 2], Diagnostic> {
    let arguments = call.arguments;
    arguments.try_into().map_err(|_| invalid(format!("{op} takes 2 arguments, got {}", arguments.len())))
}

fn expand_dims(call: CpuCall<'_>) -> Computed {
    let [tensor, axis] = two(&call, "tf.ExpandDims")?;
    reshaped(tensor, expanded_shape(tensor.shape(), axis)?)
}

/// Returns a shape with an additional dimension of extent 1 before the axis that a tensor names.
pub(super) fn expanded_shape(shape: &TensorShape, axis: &HostTensor) -> Result<TensorShape, Diagnostic> {
    if axis.shape().num_elements()? != 1 {
        return Err(invalid("Axis must be a scalar tensor"));
    }
    let (axis, rank) = (integer_within(axis, "axis", usize::MAX)?, shape.rank());
    let place = axis_of(axis, rank + 1, "axis")
        .map_err(|_| invalid(format!("Failed to expand axis {axis} for tensor of rank {rank}")))?;
    let mut dims = shape.dims().to_vec();
    dims.insert(place, 1);
    TensorShape::new(&dims)
}

/// Returns the axes of attribute `squeeze_dims` or `axis`.
fn squeezed_axes(attrs: &OpAttrs) -> Result<SmallVec<[i64; 4]>, Diagnostic> {
    let name = if attrs.get("axis").is_some() { "axis" } else { "squeeze_dims" };
    match attrs.get(name) {
        None => Ok(SmallVec::new()),
        Some(AttrValue::Array(DType::I32, _)) => {
            Ok(attrs.required::<&[i32]>(name)?.iter().map(|&axis| i64::from(axis)).collect())
        }
        Some(_) => Ok(SmallVec::from_slice(attrs.required::<&[i64]>(name)?)),
    }
}

fn squeeze_metadata(call: MetadataCall<'_>) -> Described {
    let [argument] = call.take()?;
    let (dims, rank) = (argument.shape.dims(), argument.shape.rank());
    let axes = squeezed_axes(call.attrs)?;
    let mut gone: SmallVec<[bool; 8]> = dims.iter().map(|&dim| axes.is_empty() && dim == 1).collect();
    for &axis in &axes {
        let place = axis_of(axis, rank, "axis").map_err(|_| {
            invalid(format!("Tried to squeeze dim index {axis} for tensor with {rank} dimensions."))
        })?;
        if dims[place] != 1 {
            return Err(invalid(format!(
                "Can not squeeze dim[{place}], expected a dimension of 1, got {}",
                dims[place]
            )));
        }
        gone[place] = true;
    }
    let kept: SmallVec<[usize; 8]> =
        dims.iter().zip(gone).filter(|(_, gone)| !gone).map(|(&dim, _)| dim).collect();
    one(TensorMetadata::new(argument.dtype, TensorShape::new(&kept)?))
}

fn identity(call: CpuCall<'_>) -> Computed {
    match call.arguments {
        [argument] => Ok(HostTensor::clone(argument).into()),
        _ => Err(invalid("the op takes one argument")),
    }
}

/// Checks that the argument has the shape in an attribute, as far as that is known.
fn ensure_shape_metadata(call: MetadataCall<'_>) -> Described {
    let [argument] = call.take()?;
    let expected = call.attrs.required::<&PartialTensorShape>("shape")?;
    if !expected.admits(&argument.shape) {
        return Err(invalid(format!(
            "Shape of tensor {} is not compatible with expected shape {expected}.",
            argument.shape
        )));
    }
    one(argument.clone())
}

fn identities(call: CpuCall<'_>) -> Computed {
    let tensors = call.arguments.iter().map(|&tensor| AsyncValue::new(tensor.clone())).collect();
    Ok(crate::OpResult { tensors, done: None })
}

fn size(call: CpuCall<'_>) -> Computed {
    described(&call, &[argument(&call)?.shape().num_elements()?])
}

fn rank_metadata(call: MetadataCall<'_>) -> Described {
    call.take::<1>()?;
    one(TensorMetadata::new(DType::I32, TensorShape::scalar()))
}

pub(super) fn register(ops: &mut OpRegistry) {
    ops.add("tf.Identity").types(types::ANY).metadata(same).cpu(identity).forms(Forms::ANY);
    ops.add("tf.StopGradient").types(types::ANY).metadata(same).cpu(identity).forms(Forms::ANY);
    ops.add("tf.PreventGradient").types(types::ANY).metadata(same).cpu(identity).forms(Forms::ANY);
    ops.add("tf.Snapshot").types(types::ANY).metadata(same).cpu(identity).forms(Forms::ANY);
    ops.add("tf.EnsureShape")
        .types(types::ANY)
        .attrs([attr::shape("shape")])
        .metadata(ensure_shape_metadata)
        .cpu(identity)
        .forms(Forms::ANY);
    ops.add("tf.IdentityN").types(types::ANY).cpu(identities).forms(Forms::ANY);
    ops.add("tf.Shape")
        .types(types::ANY)
        .attrs([attr::dtype_or("out_type", DType::I32)])
        .metadata(shape_metadata)
        .cpu(|call| described(&call, argument(&call)?.shape().dims()))
        .forms(Forms::ANY);
    ops.add("tf.Size")
        .types(types::ANY)
        .attrs([attr::dtype_or("out_type", DType::I32)])
        .metadata(number_metadata)
        .cpu(size)
        .forms(Forms::ANY);
    ops.add("tf.Rank")
        .types(types::ANY)
        .metadata(rank_metadata)
        .cpu(|call| described(&call, &[argument(&call)?.shape().rank()]))
        .forms(Forms::ANY);
    let forms = Forms::SCALAR_OR_STRING;
    ops.add("tf.Reshape").types(types::ANY).cpu(reshape).forms(forms);
    ops.add("tf.ExpandDims").types(types::ANY).cpu(expand_dims).forms(forms);
    ops.add("tf.Squeeze")
        .types(types::ANY)
        .attrs([attr::ints_or("squeeze_dims", &[]), attr::ints_or("axis", &[])])
        .metadata(squeeze_metadata)
        .cpu(|call| reshaped(argument(&call)?, call.result(0)?.shape.clone()))
        .forms(forms);
}
